//! The scripts inside pages.

use super::backend::ExecutionWorld;

/// The function with which they report changes, and what a person does.
pub const CHANNEL: &str = "trailblazeChanged";

/// The parts share one function.
const PARTS: &str = concat!(
    include_str!("walker.js"),
    include_str!("acting.js"),
    include_str!("record_bar.js"),
    include_str!("recorder.js")
);

/// The script of each document, which makes `trailblaze` there: an expression.
pub fn walker(world: ExecutionWorld) -> String {
    let is_shared = world == ExecutionWorld::Page;
    let built_ins = include_str!("builtins.js").replace("/* isShared */", &is_shared.to_string());
    built_ins.replace("/* parts */", PARTS)
}
