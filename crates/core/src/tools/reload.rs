//! Reading the tools anew, while calls in flight keep the ones they started with.

use serde_json::json;
use trailblaze_protocol::event::ToolKind;
use trailblaze_protocol::outcome::Outcome;

use super::row::Row;
use crate::cx::Cx;
use crate::fault::Stop;

pub const ROWS: &[Row] = &[Row::new(
    "reloadTools",
    ToolKind::Meta,
    "Read the tool files again, after adding or changing one.",
    &[],
    |cx, _| Box::pin(async move { reload(cx) }),
)];

fn reload(cx: &Cx) -> Result<Outcome, Stop> {
    let reloaded = cx.session.reload().map_err(Stop::failed)?;
    let words = |names: &[String]| if names.is_empty() { "none".to_string() } else { names.join(", ") };
    let text =
        format!("added: {}; removed: {}; {} in all", words(&reloaded.added), words(&reloaded.removed), reloaded.total);
    Ok(Outcome::value(text, json!({"added": reloaded.added, "removed": reloaded.removed, "total": reloaded.total})))
}
