//! How the driver looks at the screen of a phone and acts on it: with the commands that every phone has, or with a server of our own that
//! is started on the phone.

mod choice;
mod fallback;
mod server;
mod shell;

pub use choice::open;
pub use server::random_name;

use std::time::Duration;

use async_trait::async_trait;
use trailblaze_core::driver::{Budget, DriverError};
use trailblaze_core::screen::Picture;
use trailblaze_core::words;

use super::hierarchy::ViewHierarchy;
use crate::gesture::Gesture;

/// The most that a tree and a picture may have.
const TREE: usize = 32 * 1024 * 1024;
const PICTURE: usize = 128 * 1024 * 1024;
/// How many times a tree or a picture is asked for before it is given up.
const TRIES: u32 = 5;
/// The pause before the second try; each one after it is longer by this.
const PAUSE: Duration = Duration::from_millis(100);

words! {
    /// Which way is used.
    #[derive(Default)]
    pub enum Looking {
        /// The fast way where it works, and otherwise the plain one.
        "auto" => Auto,
        /// The commands of the phone.
        #[default]
        "plain" => Plain,
        /// The server.
        "fast" => Fast,
    }
}

/// Looks at the screen of a phone and acts on it.
#[async_trait]
pub trait Automation: Send + Sync {
    /// The elements on the screen.
    async fn tree(&self, budget: &Budget) -> Result<ViewHierarchy, DriverError>;

    async fn picture(&self, budget: &Budget) -> Result<Picture, DriverError>;

    async fn touch(&self, budget: &Budget, gesture: &Gesture) -> Result<(), DriverError>;

    /// Presses keys by their names, such as `KEYCODE_BACK`.
    async fn press(&self, budget: &Budget, keys: &[&str]) -> Result<(), DriverError>;

    /// Whether a text can be typed, found out before anything is touched.
    fn check_text(&self, text: &str) -> Result<(), DriverError>;

    /// Types at the cursor of the focused field.
    async fn type_text(&self, budget: &Budget, text: &str) -> Result<(), DriverError>;

    /// Types a text in the place of that of the focused field, if that is one request; false if it is not.
    async fn replace_text(&self, _: &Budget, _: &str) -> Result<bool, DriverError> {
        Ok(false)
    }

    /// Ends what was started on the phone.
    async fn close(&self) {}
}

/// Waits before another try; an error if none is left or the time is up.
async fn pause(budget: &Budget, number: u32) -> Result<(), DriverError> {
    let pause = PAUSE * number;
    if number == TRIES || budget.remaining() <= pause {
        return Err(DriverError::TimedOut { what: "looking at the screen".to_string() });
    }
    budget.run("looking at the screen", tokio::time::sleep(pause)).await
}
