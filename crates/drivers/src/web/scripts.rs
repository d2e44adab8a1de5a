//! The scripts inside pages.

use super::backend::World;

/// The function with which they report changes, and what a person does.
pub const CHANNEL: &str = "trailblazeChanged";

/// The script of each document, which makes `trailblaze` there: an expression. Its parts share one function.
pub fn walker(_: World) -> String {
    concat!(
        "(() => {\nif (globalThis.trailblaze) return;\n",
        include_str!("walker.js"),
        include_str!("acting.js"),
        include_str!("recorder.js"),
        "})()"
    )
    .to_string()
}
