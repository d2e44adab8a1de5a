//! Why a script failed.

use std::fmt;
use std::time::Duration;

use crate::program::Program;
use crate::text::Position;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ScriptError {
    #[error(transparent)]
    Thrown(#[from] Box<Thrown>),
    #[error("it was stopped: it computed for {} s without waiting for anything{}", .limit.as_secs_f32(), in_loop(.place.as_deref()))]
    Busy { limit: Duration, place: Option<String> },
    #[error("it never ends: it waits for a promise that nothing can settle{}", if *.is_loading { ", while its module is loaded" } else { "" })]
    Stuck { is_loading: bool },
    #[error("it used more than {} MB of memory", .limit >> 20)]
    Memory { limit: usize },
    #[error("its result has {bytes} bytes; the limit is {limit}")]
    TooMuchOutput { bytes: usize, limit: usize },
    #[error("it serves no tools: it must call `run()` of @trailblaze/scripting while it is loaded")]
    ServesNothing,
    #[error("it was cancelled")]
    Cancelled,
    #[error("its default export is not a function")]
    NoFunction,
    /// The engine itself failed.
    #[error("the script engine failed: {0}")]
    Engine(String),
}

fn in_loop(place: Option<&str>) -> String {
    place.map(|place| format!(", in the loop at {place}")).unwrap_or_default()
}

/// Something that a script threw.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Thrown {
    pub name: String,
    pub message: String,
    /// Where it was thrown, and the callers, innermost first.
    pub stack: Vec<Frame>,
}

/// A place in a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub function: String,
    pub module: String,
    pub at: Position,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.module, self.at.line, self.at.column)
    }
}

impl Thrown {
    /// Reads what the engine reports. The places are those in the generated code.
    pub fn new(name: &str, message: impl Into<String>, stack: &str) -> Thrown {
        let stack = stack.lines().filter_map(frame).collect();
        Thrown { name: name.to_string(), message: message.into(), stack }
    }

    /// The same with places in the sources.
    pub fn mapped(mut self, program: &Program) -> Thrown {
        self.stack.retain_mut(|frame| match program.original(&frame.module, frame.at) {
            Some(at) => {
                frame.at = at;
                true
            }
            None => false,
        });
        self
    }
}

/// A line of a stack, such as `    at run (tools/a.ts:3:5)`.
fn frame(line: &str) -> Option<Frame> {
    let line = line.trim().strip_prefix("at ")?;
    let (function, place) = match line.strip_suffix(')').and_then(|line| line.rsplit_once(" (")) {
        Some((function, place)) => (function, place),
        None => ("", line),
    };
    let (rest, column) = place.rsplit_once(':')?;
    let (module, line) = rest.rsplit_once(':')?;
    let at = Position { line: line.parse().ok()?, column: column.parse().ok()? };
    Some(Frame { function: function.to_string(), module: module.to_string(), at })
}

impl fmt::Display for Thrown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.name.is_empty() && self.name != "Error" {
            write!(f, "{}: ", self.name)?;
        }
        write!(f, "{}", self.message)?;
        match self.stack.first() {
            Some(frame) => write!(f, " ({frame})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Thrown {}

impl From<Thrown> for ScriptError {
    fn from(thrown: Thrown) -> ScriptError {
        ScriptError::Thrown(Box::new(thrown))
    }
}
