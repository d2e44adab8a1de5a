//! Programs on a Linux desktop.
//!
//! `atspi` asks programs for their windows over `dbus`, `x11` has the windows themselves, the pointer, keys, pictures and the clipboard,
//! `session` starts an X server and a bus of our own, `look` makes a screen of all this, and the driver does one action at a time.

mod act;
mod apps;
mod atspi;
pub mod dbus;
mod driver;
mod elements;
mod launch;
mod look;
mod output;
mod place;
mod programs;
mod props;
mod provider;
mod session;
mod windows;
mod x11;

pub use driver::DesktopDriver;
pub(crate) use output::ProgramOutput;
pub use place::{DesktopPlace, DesktopSettings};
pub(crate) use programs::Programs;
pub use provider::{PROVIDER, desktop_device};
pub(crate) use session::PrivateSession;
