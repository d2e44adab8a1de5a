//! What a test can do to the phone besides using it: make it misbehave, break an app, see what happened.

use serde::{Deserialize, Serialize};
use trailblaze_protocol::geometry::Rect;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Control {
    /// Replaces how the phone misbehaves.
    Behave(PhoneBehaviour),
    /// The app in front throws an exception: its process ends, its stack trace is in the log, and a dialog of the system is shown.
    Crash { exception: String },
    /// The app in front does not respond: a dialog of the system is shown, and its log says so.
    StopResponding,
    /// Writes lines to the log, as the app in front.
    Log { level: char, tag: String, message: String, count: u32 },
    /// Turns the screen off, as the power button does. `locked` also shows the lock screen afterwards.
    Sleep { locked: bool },
    /// The app in front shows a web view there, with the page of the browser that [`launch`](crate::launch) passes connections on to.
    ShowWebView { area: Rect },
    /// The clock of the phone is wrong by so many seconds.
    SetClock { ahead: i64 },
    /// The clipboard.
    Clipboard,
    /// The settings, one `namespace key=value` per line, and what else is set: night mode, languages of apps, locations.
    Settings,
    /// The permissions of an app that are granted, one per line.
    Permissions { package: String },
}

/// How the phone misbehaves; the default is that it does not.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PhoneBehaviour {
    /// How many milliseconds each dump takes longer.
    pub slow_dump: u64,
    /// How many of the next dumps never find the screen idle.
    pub idle_errors: u32,
    /// How many of the next dumps find no window.
    pub null_roots: u32,
    /// How many of the next dumps end in the middle.
    pub truncated_dumps: u32,
    /// How many of the next pictures end in the middle.
    pub truncated_pictures: u32,
    /// How many of the next commands are killed before they say anything.
    pub killed_commands: u32,
    /// Whether `app_process` starts no programs.
    pub no_programs: bool,
    /// Whether lines end in CR LF, as behind a terminal.
    pub crlf: bool,
}
