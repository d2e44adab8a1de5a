//! What a toolset is to those that call its tools.

use std::future::Future;
use std::pin::Pin;

use serde_json::{Map, Value};
use trailblaze_protocol::driver::Platform;

use crate::context::ToolContext;
use crate::error::ToolResult;
use crate::place::from_project;

/// What a call of a tool becomes.
pub type Answer<'a> = Pin<Box<dyn Future<Output = ToolResult> + Send + 'a>>;

/// A set of tools. `#[toolset]` implements it. Calls may run concurrently, on several devices.
pub trait Toolset: Send + Sync + 'static {
    /// Its name in listings and messages.
    fn name(&self) -> &'static str;

    /// Its tools.
    fn tools(&self) -> Vec<Tool>;

    /// The groups that it declares. Tools of a group that is not declared are always offered.
    fn groups(&self) -> Vec<Group> {
        Vec::new()
    }

    /// Calls one of its tools.
    fn call<'a>(&'a self, tool: &'a str, cx: &'a ToolContext, args: Map<String, Value>) -> Answer<'a>;

    /// Its source as far as it is known. Trailblaze notices when it changes after a trail was recorded.
    fn definition(&self) -> &'static str {
        ""
    }

    /// The folder of its crate, where it was compiled. Messages name files relative to the project.
    fn source_root(&self) -> &'static str {
        ""
    }
}

/// A group of tools, which a session enables as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    pub name: &'static str,
    pub description: &'static str,
    /// Whether it is enabled if a session does not say which are.
    pub is_enabled: bool,
}

/// A tool as it is listed.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    pub name: &'static str,
    pub description: &'static str,
    /// The JSON Schema of its arguments.
    pub schema: Value,
    /// The platforms that it supports; all if empty.
    pub platforms: &'static [Platform],
    /// The drivers that it supports; all if empty.
    pub drivers: &'static [&'static str],
    pub groups: &'static [&'static str],
    /// The toolset that it joins.
    pub toolset: Option<&'static str>,
    pub is_recordable: bool,
    pub is_for_model: bool,
    /// Whether it returns calls instead of acting itself.
    pub is_delegating: bool,
    /// Whether it only works if the agent runs on the host.
    pub requires_host: bool,
    /// The file, relative to the crate or to its workspace, and the line where it is defined.
    pub place: (&'static str, u32),
}

impl Tool {
    /// Where it is defined: `tools/src/orders.rs:12`.
    pub fn defined_at(&self) -> String {
        let (file, line) = self.place;
        format!("{}:{line}", from_project(file))
    }
}
