//! Android phones and tablets, over adb. Nothing is installed on them: the driver uses the commands that every Android has.
//!
//! `adb` reaches the device, [`Phone`](phone::Phone) runs its commands, `hierarchy` makes a tree of what `uiautomator` prints, and the
//! driver does one action at a time.

mod abilities;
mod act;
pub mod adb;
mod apps;
mod dialogs;
mod driver;
mod facts;
mod hierarchy;
mod look;
mod phone;
mod program;
mod provider;
mod readiness;
mod touch;
mod typing;
mod undo;

#[cfg(test)]
mod tests;

pub use driver::AndroidDriver;
pub use hierarchy::ViewHierarchy;
pub use provider::PROVIDER;
