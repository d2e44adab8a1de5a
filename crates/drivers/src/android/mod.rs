//! Android phones and tablets, over adb. Nothing is installed on them: the driver uses the commands that every Android has, or a server
//! that it starts on the device.
//!
//! `adb` reaches the device, [`Phone`](phone::Phone) runs its commands, `automation` looks at the screen and touches it, `hierarchy` makes
//! a tree of what it sees, `web_views` adds pages that an app shows, and the driver does one action at a time.

mod abilities;
mod act;
pub mod adb;
mod app_log;
mod apps;
mod automation;
mod dialogs;
mod driver;
mod facts;
mod files;
mod hierarchy;
mod install;
mod phone;
mod program;
mod provider;
mod readiness;
mod recording;
mod settings;
mod touch;
mod typing;
mod undo;
mod web_views;

#[cfg(test)]
mod tests;

pub use driver::AndroidDriver;
pub use hierarchy::ViewHierarchy;
pub use provider::PROVIDER;
