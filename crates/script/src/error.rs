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
        // Copies of our own packages are in `.trailblaze`.
        let folders = ["node_modules/", ".trailblaze/", "trailblaze:"];
        folders.iter().any(|folder| self.module.starts_with(folder)) || self.module.contains("/node_modules/")
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
        let Some(frame) = self.place().or(self.stack.first()) else { return self.message.clone() };
        let (said, hint) = self.message.split_at(self.message.rfind("\nhint: ").unwrap_or(self.message.len()));
        format!("{said} ({frame}){hint}")
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
        assert_eq!(thrown.to_string(), "TypeError: it broke (tools/a.ts:3:5)");
        let hinted = Thrown { message: "it broke\nhint: mend it".to_string(), ..thrown.clone() };
        assert_eq!(hinted.to_string(), "TypeError: it broke (tools/a.ts:3:5)\nhint: mend it");
        assert_eq!(Thrown::new("", "", &thrown.trace()).stack, thrown.stack);
    }
}
