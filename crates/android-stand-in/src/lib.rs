//! A stand-in for an Android phone, for tests. It is no phone: what it proves is that a client speaks adb's protocol to a real
//! adbd, and understands what the commands of a phone's shell print.
//!
//! [`launch`] starts the real adb server and the real adbd, which is confined to namespaces of its own, with the real shell
//! (mksh) and the real toybox. The commands that belong to the Android framework (`uiautomator`, `input`, `am` …) are this
//! program under their names: each sends its arguments to one process, which has the state of the phone and runs the simulated
//! app of `crates/drivers`. They print what those of Android 14 are known to print; none was compared with a real phone.
//!
//! The body of the phone can also be the real Android framework on a JVM: `scripts/test-android-framework phone SOCKET` with the socket
//! `framework` in the folder of the phone. Commands about the screen and about apps then reach that.
//!
//! An app can show a web view whose page is that of a real Chromium: [`StandInPhone::show_web_view`](launch::StandInPhone::show_web_view).
//!
//! To try things by hand: `cargo run -p trailblaze-android-stand-in -- phone --parts .parts/android` prints the variables that make
//! adb use a phone, which ends with the standard input.
//!
//! What differs from a phone: the screen does not rotate, no keyboard is drawn, `screenrecord` writes no frames, two taps may be a
//! second apart to be a double tap, each app has one activity, `.MainActivity`, and an app is installed again by any file that has
//! its id. Debian's adbd has no `abb`, so that `adb install` needs `--no-streaming`.

mod boot;
mod client;
pub mod control;
pub mod launch;
mod log;
mod phone;
mod program;
mod serve;
mod wire;

mod commands;
mod framework;
mod hierarchy;
mod keycodes;
mod picture;
mod web_view;

pub use program::main;
