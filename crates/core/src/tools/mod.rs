//! The built-in tools, as tables of rows. Names, descriptions and schemas are all defined by the rows.

mod apps;
mod arguments;
mod assertions;
mod checks;
mod commands;
mod desktop;
mod elements;
#[rustfmt::skip]
mod generated;
mod judging;
mod keyboard;
mod maestro;
mod phone_state;
mod phones;
mod reload;
mod remember;
mod requests;
mod row;
mod shipped;
#[cfg(test)]
mod tests;
mod toolsets;
mod waiting;
mod web;

pub use toolsets::toolsets;

use std::sync::LazyLock;

use crate::engine::registry::Batch;
pub use assertions::visible_at;
pub use elements::tap_on;
use generated as contract;

/// All built-in tools: compiled rows first, then the YAML tools that ship with the program. Their schemas are large, so all sessions
/// of a process share them.
pub fn batches() -> Vec<Batch> {
    static BUILT_IN: LazyLock<Vec<Batch>> = LazyLock::new(built_in);
    BUILT_IN.clone()
}

fn built_in() -> Vec<Batch> {
    let rows = [
        elements::ROWS,
        assertions::ROWS,
        checks::ROWS,
        keyboard::ROWS,
        apps::ROWS,
        phones::ROWS,
        phone_state::ROWS,
        desktop::ROWS,
        waiting::ROWS,
        remember::ROWS,
        maestro::ROWS,
        reload::ROWS,
        judging::ROWS,
    ];
    let mut batches = vec![row::batch(commands::rows(), rows.into_iter().flatten().chain(web::rows()))];
    batches.extend(shipped::batches());
    batches
}
