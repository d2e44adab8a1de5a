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
    #[error("it never ends: it waits for a promise that nothing can settle{}{}", if *.is_loading { ", while its module is loaded" } else { "" }, at(.place.as_deref()))]
    Stuck { is_loading: bool, place: Option<String> },
    #[error("it used more than {} MB of memory{}", .limit >> 20, at(.place.as_deref()))]
    Memory { limit: usize, place: Option<String> },
    #[error("its result has {bytes} bytes; the limit is {limit}{}", at(.place.as_deref()))]
    TooMuchOutput { bytes: usize, limit: usize, place: Option<String> },
    #[error("it serves no tools: it must call `run()` of @trailblaze/scripting while it is loaded")]
    ServesNothing,
    #[error("it was cancelled")]
    Cancelled,
    #[error(
        "the default export of {module} is not a function\nhint: write `export default async (args, {{ tools }}) => {{ … }}`"
    )]
    NoFunction { module: String },
    /// The engine itself failed.
    #[error("the script engine failed: {0}")]
    Engine(String),
}

fn in_loop(place: Option<&str>) -> String {
    place.map(|place| format!(", in the loop at {place}")).unwrap_or_default()
}

fn at(place: Option<&str>) -> String {
    place.map(|place| format!(" ({place})")).unwrap_or_default()
}

/// How many callers a message names.
const CALLERS: usize = 3;

/// Whether a module is part of a package, whose places mean little to an author.
pub(crate) fn is_in_package(module: &str) -> bool {
    // Copies of our own packages are in `.trailblaze`.
    let folders = ["node_modules/", ".trailblaze/", "trailblaze:"];
    folders.iter().any(|folder| module.starts_with(folder)) || module.contains("/node_modules/")
}

/// Something that a script threw.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Thrown {
    pub name: String,
    pub message: String,
    /// Where it was thrown, and the callers, innermost first.
    pub stack: Vec<StackFrame>,
}

/// A place in a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackFrame {
    pub function: String,
    pub module: String,
    pub at: Position,
}

impl StackFrame {
    pub fn is_in_package(&self) -> bool {
        is_in_package(&self.module)
    }

    fn is_on_line_of(&self, other: &StackFrame) -> bool {
        self.module == other.module && self.at.line == other.at.line
    }
}

impl fmt::Display for StackFrame {
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

    /// Where the author's code threw, or called what threw.
    pub fn place(&self) -> Option<&StackFrame> {
        self.stack.iter().find(|frame| !frame.is_in_package())
    }

    /// The innermost place, if it is the author's and not that of a package.
    pub fn own_place(&self) -> Option<&StackFrame> {
        self.stack.first().filter(|frame| !frame.is_in_package())
    }

    /// The stack as the engine reports it.
    pub fn trace(&self) -> String {
        self.stack.iter().map(|frame| format!("    at {} ({frame})\n", frame.function)).collect()
    }

    /// The message and its place, which comes ahead of a hint: `it broke (tools/a.ts:3:5)`.
    pub fn message_at_place(&self) -> String {
        let Some(place) = self.place_and_callers() else { return self.message.clone() };
        let (said, hint) = self.message.split_at(self.message.rfind("\nhint: ").unwrap_or(self.message.len()));
        format!("{said} ({place}){hint}")
    }

    /// The place, and the author's lines that called it: `tools/a.ts:3:5, called from tools/b.ts:7:1`.
    pub fn place_and_callers(&self) -> Option<String> {
        let innermost = self.place().or(self.stack.first())?;
        let mut lines = vec![innermost];
        for frame in self.stack.iter().filter(|frame| !frame.is_in_package()) {
            if lines.len() <= CALLERS && !lines.iter().any(|line| line.is_on_line_of(frame)) {
                lines.push(frame);
            }
        }
        let callers: Vec<String> = lines[1..].iter().map(ToString::to_string).collect();
        let called = if callers.is_empty() { String::new() } else { format!(", called from {}", callers.join(", ")) };
        Some(format!("{innermost}{called}"))
    }

    /// Whether this happened in a function that the innermost line of the other stack called: its stack ends with the same lines. Columns
    /// differ between the call of a function and the `await` for what it returned.
    pub fn is_called_from(&self, other: &Thrown) -> bool {
        let (own, others) = (&self.stack, &other.stack);
        own.len() > others.len()
            && own.iter().rev().zip(others.iter().rev()).all(|(one, other)| one.is_on_line_of(other))
    }

    /// The same message with a hint, unless it has one.
    pub fn with_hint(mut self, hint: &str) -> Thrown {
        if !self.message.contains("\nhint: ") {
            self.message.push_str("\nhint: ");
            self.message.push_str(hint);
        }
        self
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
fn frame(line: &str) -> Option<StackFrame> {
    let line = line.trim().strip_prefix("at ")?;
    let (function, place) = match line.strip_suffix(')').and_then(|line| line.rsplit_once(" (")) {
        Some((function, place)) => (function, place),
        None => ("", line),
    };
    let (rest, column) = place.rsplit_once(':')?;
    let (module, line) = rest.rsplit_once(':')?;
    let at = Position { line: line.parse().ok()?, column: column.parse().ok()? };
    Some(StackFrame { function: function.to_string(), module: module.to_string(), at })
}

impl fmt::Display for Thrown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.name.is_empty() && self.name != "Error" {
            write!(f, "{}: ", self.name)?;
        }
        f.write_str(&self.message_at_place())
    }
}

impl std::error::Error for Thrown {}

impl From<Thrown> for ScriptError {
    fn from(thrown: Thrown) -> ScriptError {
        ScriptError::Thrown(Box::new(thrown))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_that_of_the_author_and_comes_ahead_of_a_hint() {
        let stack = "    at parse (node_modules/zod/index.js:9:1)\n    at run (tools/a.ts:3:5)\n    at <anonymous> (tools/b.ts:1:1)";
        let thrown = Thrown::new("TypeError", "it broke", stack);
        assert_eq!(thrown.to_string(), "TypeError: it broke (tools/a.ts:3:5, called from tools/b.ts:1:1)");
        let hinted = Thrown { message: "it broke\nhint: mend it".to_string(), ..thrown.clone() };
        let expected = "TypeError: it broke (tools/a.ts:3:5, called from tools/b.ts:1:1)\nhint: mend it";
        assert_eq!(hinted.to_string(), expected);
        assert_eq!(Thrown::new("", "", &thrown.trace()).stack, thrown.stack);
    }
}
