//! A tool. There is one type for all tools; differences are fields.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Map, Value};
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::event::ToolKind;
use trailblaze_protocol::outcome::{Outcome, Variant};

use crate::engine::code::ToolCode;
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::source::ToolSource;
use crate::names::{self, Objection, ToolOrigin};
use crate::record::effects::Effect;
use crate::schema::Schema;
use crate::trail::ToolCall;

/// A tool that can be called. Its name is unique in a registry.
#[derive(Clone)]
pub struct Tool {
    pub name: String,
    pub description: String,
    pub schema: Arc<Schema>,
    pub kind: ToolKind,
    pub contributor: Contributor,
    /// Whether the tool may be offered to models.
    pub is_for_llm: bool,
    /// Whether its calls are recorded.
    pub is_recordable: bool,
    /// Whether they are recorded even if the tool is a query and they changed nothing: its author says explicitly that it is
    /// recordable.
    pub is_always_recorded: bool,
    /// Whether it asks a model in every call.
    pub needs_model: bool,
    /// The parameter that it types into a field. A tool server that does not list a secret may use it only there.
    pub typed_param: Option<&'static str>,
    /// Which of its optional parameters a call needs.
    pub needs: &'static [Need],
    /// Whether it returns delegates instead of acting.
    pub is_delegating: bool,
    /// Whether it only works if the agent runs on the host.
    pub requires_host: bool,
    /// Passed on to the tool's server; never used as a filter.
    pub requires_context: bool,
    /// Driver keys or platforms that it supports; empty means all.
    pub supported_drivers: Vec<String>,
    /// Platforms that it supports; empty means all.
    pub supported_platforms: Vec<Platform>,
    /// The toolset that the tool itself asks to be part of.
    pub toolset: Option<String>,
    pub groups: Vec<String>,
    /// Whether it replaces the built-in tool of the same name.
    pub overrides: bool,
    /// Where its author defined it, if its server says so: `tools/orders.ts:12:1`.
    pub defined_at: Option<String>,
    pub body: Body,
}

/// Optional parameters of which a call needs one or more.
#[derive(Debug, Clone, Copy)]
pub struct Need {
    pub one_of: &'static [&'static str],
    /// What to say if a call has none of them.
    pub otherwise: &'static str,
}

/// Where a tool comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contributor {
    /// A label for people: `built-in`, `trailblaze-config/tools/login.yaml`, `server acme-tools`.
    pub label: Arc<str>,
    pub origin: ToolOrigin,
    /// The file of its author, if the label does not name it: the script of a server.
    pub file: Option<Arc<str>>,
    /// Whether its tools may have reserved prefixes, whatever the project grants.
    pub allows_reserved: bool,
}

impl Contributor {
    pub fn new(label: &str, origin: ToolOrigin) -> Contributor {
        Contributor { label: Arc::from(label), origin, file: None, allows_reserved: false }
    }

    /// The label, with the file of the author.
    pub fn with_file(&self) -> String {
        match &self.file {
            Some(file) => format!("{} ({file})", self.label),
            None => self.label.to_string(),
        }
    }

    /// Checks the name of one of its tools. `granted` are the reserved prefixes that the project may use.
    pub fn judge(&self, name: &str, granted: &[String]) -> Option<Objection> {
        match self.allows_reserved {
            true => names::judge(name, self.origin, &names::RESERVED_PREFIXES),
            false => names::judge(name, self.origin, granted),
        }
    }
}

/// What happens when a tool is called.
#[derive(Clone)]
pub enum Body {
    BuiltIn(BuiltIn),
    /// The calls of a YAML tool.
    Expansion(Arc<[ToolCall]>),
    /// Code in this process: a script, or a tool of a team's own binary.
    Code(Arc<dyn ToolCode>),
    /// A call to a tool server.
    Foreign(Arc<dyn ToolSource>),
    /// The recorded effects of another tool, played in its place.
    Effects(Arc<[Effect]>),
}

pub type BuiltIn = for<'a> fn(&'a Cx, &'a Args) -> BoxFuture<'a, Result<Outcome, Stop>>;

impl Tool {
    pub fn new(name: &str, description: &str, schema: Schema, contributor: Contributor, body: Body) -> Tool {
        Tool {
            name: name.to_string(),
            description: description.to_string(),
            schema: Arc::new(schema),
            kind: ToolKind::Action,
            contributor,
            is_for_llm: true,
            is_recordable: true,
            is_always_recorded: false,
            needs_model: false,
            typed_param: None,
            needs: &[],
            is_delegating: false,
            requires_host: false,
            requires_context: false,
            supported_drivers: Vec::new(),
            supported_platforms: Vec::new(),
            toolset: None,
            groups: Vec::new(),
            overrides: false,
            defined_at: None,
            body,
        }
    }

    /// Who offers it, with its place in the author's code as far as that is known.
    pub fn offered_by(&self) -> String {
        match (&self.defined_at, &self.contributor) {
            (Some(place), Contributor { label, file: Some(file), .. }) if !place.starts_with(&**file) => {
                format!("{label} ({file}, defined at {place})")
            }
            (Some(place), Contributor { label, .. }) => format!("{label} ({place})"),
            (None, contributor) => contributor.with_file(),
        }
    }

    /// Whether the tool is the project's own. An alias of a built-in tool still counts as built in.
    pub fn is_custom(&self) -> bool {
        !matches!(self.body, Body::BuiltIn(_)) && self.contributor.origin != ToolOrigin::BuiltIn
    }

    /// Whether a file of the project defines it.
    pub fn is_of_file(&self) -> bool {
        matches!(self.contributor.origin, ToolOrigin::Yaml | ToolOrigin::Script)
    }

    /// Its code, if it is a script or compiled in.
    pub fn code(&self) -> Option<&Arc<dyn ToolCode>> {
        match &self.body {
            Body::Code(code) => Some(code),
            Body::BuiltIn(_) | Body::Expansion(_) | Body::Foreign(_) | Body::Effects(_) => None,
        }
    }

    /// The source that runs it; `None` for tools that run in this process.
    pub fn source(&self) -> Option<&Arc<dyn ToolSource>> {
        match &self.body {
            Body::Foreign(source) => Some(source),
            Body::BuiltIn(_) | Body::Expansion(_) | Body::Code(_) | Body::Effects(_) => None,
        }
    }
}

impl Need {
    pub fn is_met(&self, args: &Map<String, Value>) -> bool {
        self.one_of.iter().any(|name| args.get(*name).is_some_and(|value| !value.is_null()))
    }

    pub fn stop(&self) -> Stop {
        let missing = self.one_of.iter().map(ToString::to_string).collect();
        Stop::error(Variant::MissingRequiredArgs { missing }, self.otherwise)
    }
}

/// The arguments of a call: valid against the tool's schema, templates resolved, defaults filled in.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Args(pub Map<String, Value>);

impl Args {
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    /// A text argument that the schema requires.
    pub fn required(&self, name: &str) -> &str {
        self.text(name).unwrap_or_default()
    }

    pub fn integer(&self, name: &str) -> Option<i64> {
        self.get(name)?.as_i64()
    }

    /// A non-negative integer. The schema does not state the minimum: a tool that moves from code to YAML keeps its
    /// schema, and parameters in YAML have no minimum.
    pub fn count(&self, name: &str) -> Result<Option<u64>, Stop> {
        let Some(number) = self.integer(name) else { return Ok(None) };
        let count = u64::try_from(number);
        count.map(Some).map_err(|_| Stop::failed(format!("`{name}` must be a non-negative integer, got {number}")))
    }

    pub fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?.as_f64()
    }

    pub fn flag(&self, name: &str) -> Option<bool> {
        self.get(name)?.as_bool()
    }

    /// The texts of a list.
    pub fn texts(&self, name: &str) -> Vec<&str> {
        let list = self.get(name).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    pub fn value(&self, name: &str) -> Option<&Value> {
        self.get(name).filter(|value| !value.is_null())
    }

    /// All reads of arguments go through here.
    fn get(&self, name: &str) -> Option<&Value> {
        #[cfg(test)]
        READ.with_borrow_mut(|read| read.insert(name.to_string()));
        self.0.get(name)
    }
}

#[cfg(test)]
thread_local! {
    /// The names of arguments that were read on this thread, so that a test can find those that a tool ignores.
    pub static READ: std::cell::RefCell<std::collections::BTreeSet<String>> = const { std::cell::RefCell::new(std::collections::BTreeSet::new()) };
}
