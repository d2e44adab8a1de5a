//! Where in the author's code a tool failed.

use std::cell::RefCell;
use std::fmt;
use std::panic::Location;
use std::path::Path;
use std::sync::{Arc, Once};

use parking_lot::Mutex;

use crate::error::{ToolError, ToolResult};

/// A place in the author's code, such as `src/main.rs:12:9`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place(String);

impl Place {
    /// None if the place is in this crate, whose lines mean nothing to an author.
    pub fn of_author(location: &Location<'_>) -> Option<Place> {
        let own = Path::new(file!()).parent();
        let is_own = own.is_some_and(|own| Path::new(location.file()).starts_with(own));
        (!is_own).then(|| Place(location.to_string()))
    }

    /// The message with this place, ahead of a hint.
    pub fn after(&self, message: &str) -> String {
        let (said, hint) = message.split_at(message.rfind("\nhint: ").unwrap_or(message.len()));
        format!("{said} ({self}){hint}")
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

thread_local! {
    /// Where this thread panicked last.
    static PANICKED: RefCell<Option<Place>> = const { RefCell::new(None) };
}

/// The calls in progress, and what panicked during each while it was the only one.
static CALLS: Mutex<Vec<Arc<Mutex<Option<ToolError>>>>> = Mutex::new(Vec::new());

/// Notes where threads panic, in addition to what the present hook does: the payload of a panic does not say.
fn watch_panics() {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let place = panic.location().map(|location| Place(location.to_string()));
            // With several calls in progress, nothing tells which of them started what panicked.
            if let [only] = CALLS.lock().as_slice() {
                let text = panic.payload_as_str().unwrap_or("no message");
                only.lock().get_or_insert_with(|| ToolError::stray_panic(text, place.clone()));
            }
            PANICKED.set(place);
            report(panic);
        }));
    });
}

/// A call of a tool, for as long as it is in progress. Notices panics: of the tool, and of tasks and threads that it started.
pub struct WatchedCall(Arc<Mutex<Option<ToolError>>>);

impl WatchedCall {
    pub fn begin() -> WatchedCall {
        watch_panics();
        let call = Arc::default();
        CALLS.lock().push(Arc::clone(&call));
        WatchedCall(call)
    }

    /// The answer of the tool; an error if it succeeded although something that it started has panicked.
    pub fn end(self, answer: ToolResult) -> ToolResult {
        let output = answer?;
        match self.0.lock().take() {
            Some(panicked) => Err(panicked),
            None => Ok(output),
        }
    }
}

impl Drop for WatchedCall {
    fn drop(&mut self) {
        CALLS.lock().retain(|call| !Arc::ptr_eq(call, &self.0));
    }
}

/// Where this thread panicked last, if that has not been asked before.
pub fn take_of_panic() -> Option<Place> {
    PANICKED.take()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_comes_ahead_of_the_hint() {
        let place = Place("src/main.rs:3:5".to_string());
        assert_eq!(place.after("it broke"), "it broke (src/main.rs:3:5)");
        assert_eq!(place.after("no session\nhint: open one"), "no session (src/main.rs:3:5)\nhint: open one");
    }
}
