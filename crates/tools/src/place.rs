//! Where in the author's code a tool failed.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::poll_fn;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::pin::pin;
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
        (!is_own).then(|| Place::of(location))
    }

    fn of(location: &Location<'_>) -> Place {
        Place(format!("{}:{}:{}", from_project(location.file()), location.line(), location.column()))
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

/// The folders of the crates that have toolsets. The compiler names files relative to these, or to a folder around them.
static SOURCE_ROOTS: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

/// Remembers the folder of a crate that has toolsets.
pub fn add_source_root(root: &'static str) {
    let mut roots = SOURCE_ROOTS.lock();
    if !root.is_empty() && !roots.contains(&root) {
        roots.push(root);
    }
}

/// A path of the compiler, relative to the project. As it is if the sources are not on this machine.
pub fn from_project(file: &str) -> String {
    let found = SOURCE_ROOTS.lock().iter().find_map(|root| {
        Path::new(root).ancestors().map(|folder| folder.join(file)).find(|path| path.is_file())?.canonicalize().ok()
    });
    let Some(found) = found else { return file.to_string() };
    let project = std::env::var_os("TRAILBLAZE_PROJECT_DIR").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let project = project.or_else(|| std::env::current_dir().ok()).and_then(|folder| folder.canonicalize().ok());
    let inside = project.as_deref().and_then(|project| found.strip_prefix(project).ok());
    inside.unwrap_or(&found).display().to_string()
}

thread_local! {
    /// Where this thread panicked last.
    static PANICKED: RefCell<Option<Place>> = const { RefCell::new(None) };
    /// Whether this thread runs the code of a tool itself, and not a task that a tool started.
    static IN_TOOL: Cell<bool> = const { Cell::new(false) };
}

/// Tells people that something which a tool had started has failed. The flag says whether it certainly belongs to the call of the report.
pub type LateReport = Arc<dyn Fn(String, bool) + Send + Sync>;

/// A call in progress, or the one that ended last.
struct CallWithReport {
    tool: String,
    report: LateReport,
    /// What panicked during the call while it was the only one.
    panicked: Mutex<Option<ToolError>>,
}

/// The calls in progress.
static CALLS: Mutex<Vec<Arc<CallWithReport>>> = Mutex::new(Vec::new());
static LAST: Mutex<Option<Arc<CallWithReport>>> = Mutex::new(None);

/// Notes where threads panic, in addition to what the present hook does: the payload of a panic does not say.
fn watch_panics() {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let place = panic.location().map(Place::of);
            if !IN_TOOL.get() {
                let text = panic.payload_as_str().unwrap_or("no message");
                note_stray_panic(text, place.as_ref());
            }
            PANICKED.set(place);
            report(panic);
        }));
    });
}

/// A task or thread has panicked that is not the tool itself.
fn note_stray_panic(text: &str, place: Option<&Place>) {
    let at_place = |said: String| place.map_or_else(|| said.clone(), |place| place.after(&said));
    let calls = CALLS.lock().clone();
    match calls.as_slice() {
        [only] => {
            let mut panicked = only.panicked.lock();
            panicked.get_or_insert_with(|| ToolError::stray_panic(text, place.cloned()));
        }
        [] => {
            if let Some(last) = LAST.lock().clone() {
                // An earlier call may have started it.
                let said =
                    format!("something panicked that `{}` or an earlier tool had started: {text}{AWAIT}", last.tool);
                (last.report)(at_place(said), true);
            }
        }
        // Nothing tells which of them started what panicked.
        [first, ..] => {
            let tools: Vec<String> = calls.iter().map(|call| format!("`{}`", call.tool)).collect();
            let said =
                format!("something panicked that {} or an earlier tool had started: {text}{AWAIT}", tools.join(", "));
            (first.report)(at_place(said), false);
        }
    }
}

const AWAIT: &str = "\nhint: return errors from tasks instead, and await the tasks";

/// A call of a tool, for as long as it is in progress. Notices panics: of the tool, and of tasks and threads that it started.
pub struct WatchedCall(Arc<CallWithReport>);

impl WatchedCall {
    /// `report` is used for what fails after the call.
    pub fn begin(tool: &str, report: LateReport) -> WatchedCall {
        watch_panics();
        let call = Arc::new(CallWithReport { tool: tool.to_string(), report, panicked: Mutex::default() });
        CALLS.lock().push(Arc::clone(&call));
        WatchedCall(call)
    }

    /// Runs the code of the tool itself, whose panics are its own.
    pub async fn run<F: Future>(&self, code: F) -> F::Output {
        let mut code = pin!(code);
        poll_fn(move |task| {
            let _inside = InTool::enter();
            code.as_mut().poll(task)
        })
        .await
    }

    /// The answer of the tool; an error if it succeeded although something that it started has panicked.
    pub fn end(self, answer: ToolResult) -> ToolResult {
        let output = answer?;
        match self.0.panicked.lock().take() {
            Some(panicked) => Err(panicked),
            None => Ok(output),
        }
    }
}

impl Drop for WatchedCall {
    fn drop(&mut self) {
        CALLS.lock().retain(|call| !Arc::ptr_eq(call, &self.0));
        *LAST.lock() = Some(Arc::clone(&self.0));
    }
}

/// Whether this is the code of a tool itself, and not a task that a tool started.
pub fn is_in_tool() -> bool {
    IN_TOOL.get()
}

/// Marks the thread until it is dropped, also by a panic.
struct InTool(bool);

impl InTool {
    fn enter() -> InTool {
        InTool(IN_TOOL.replace(true))
    }
}

impl Drop for InTool {
    fn drop(&mut self) {
        IN_TOOL.set(self.0);
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
