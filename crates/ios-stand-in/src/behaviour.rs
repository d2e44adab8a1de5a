//! How the stand-in misbehaves.

use std::time::Duration;

/// How it misbehaves; the default is that it does not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Behaviour {
    /// How much longer each tree takes.
    pub slow_tree: Duration,
    /// How many of the next requests to a session find that it was dropped.
    pub dropped_sessions: u32,
    /// How many of the next answers are a status 500 with HTML, as from a proxy that has lost WebDriverAgent.
    pub html_errors: u32,
    /// How many of the next requests about an element find that it is gone.
    pub stale_elements: u32,
    /// How many of the trees after the screen is turned have the places of elements from before.
    pub unturned_trees: u32,
    /// How many cells every tree has in addition.
    pub extra_elements: u32,
    /// Whether nothing can be typed while an alert is shown.
    pub refuses_beneath_alert: bool,
    /// How many of the next trees end with the code word `timeout`, as of an app that does not respond.
    pub timed_out_trees: u32,
    /// How many of the next pictures cannot be taken.
    pub failed_pictures: u32,
    /// Whether no tree is answered, although everything else is.
    pub has_no_trees: bool,
    /// Whether nothing is answered, from the next request on and until the end. WebDriverAgent does everything in one thread, so that one
    /// that hangs does not answer `GET /status` either.
    pub hangs: bool,
}

/// Whether one of so many is left, which is then used up.
pub fn use_up(count: &mut u32) -> bool {
    let is_left = *count > 0;
    *count = count.saturating_sub(1);
    is_left
}
