//! Exit codes, with the comments of their enum.

use std::fmt::Write;

use trailblaze_protocol::exit::Exit;

use super::cell;

const SOURCE: &str = include_str!("../../../../protocol/src/exit.rs");

pub fn page() -> String {
    let mut out = String::from(
        "# Exit codes\n\nEvery command exits with one of these codes. If a command does several things, such as a run of several \
         trails,\nits code is that of the most severe result; the table is in this order.\n\n| code | means |\n|---|---|\n",
    );
    for exit in Exit::ALL {
        writeln!(out, "| {} | {} |", exit.code(), cell(&comment(&format!("{exit:?}"))))
            .expect("text can be written to");
    }
    out
}

/// The comment above a variant.
fn comment(variant: &str) -> String {
    let lines: Vec<&str> = SOURCE.lines().map(str::trim).collect();
    let at = lines.iter().position(|line| *line == format!("{variant},")).expect("the enum has the variant");
    let comment = lines[..at].iter().rev().map_while(|line| line.strip_prefix("/// ")).collect::<Vec<_>>();
    comment.into_iter().rev().collect::<Vec<_>>().join(" ")
}
