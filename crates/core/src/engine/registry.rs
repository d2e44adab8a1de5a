//! The flat table of a session's tools. A registry is a value: a reload makes a new one, and calls in flight keep
//! the one they started with.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use trailblaze_protocol::driver::{AgentMode, DriverKey, Platform};

use crate::config::{PlatformEntry, Toolset};
use crate::engine::aliases;
use crate::engine::source::SourceError;
use crate::engine::tool::{Contributor, Tool};
use crate::names::{Consequence, Objection, Origin, judge};
use crate::screen::Shape;
use crate::yaml::nearest;

/// The tools of one contributor. They are registered together or not at all.
#[derive(Clone)]
pub struct Batch {
    pub contributor: Contributor,
    pub tools: Vec<Tool>,
    pub groups: BTreeMap<String, Group>,
    /// Tools that cannot be used, each with the reason.
    pub unusable: Vec<(String, String)>,
    pub warnings: Vec<String>,
}

impl Batch {
    pub fn new(contributor: Contributor, tools: Vec<Tool>) -> Batch {
        Batch { contributor, tools, groups: BTreeMap::new(), unusable: Vec::new(), warnings: Vec::new() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    pub description: String,
    pub is_default: bool,
}

/// What a session is, as far as its tools depend on it.
#[derive(Debug, Clone)]
pub struct ToolScope {
    pub platform: Platform,
    pub driver: DriverKey,
    pub agent_mode: AgentMode,
    pub toolsets: Vec<Toolset>,
    /// What the target says of this platform.
    pub target: Option<PlatformEntry>,
    /// Groups asked for; none asked for means the default ones.
    pub groups: Vec<String>,
    /// Only tools whose name begins with one of these are offered; none means all.
    pub prefixes: Vec<String>,
    pub reserved_prefixes: Vec<String>,
}

pub struct Registry {
    pub generation: u64,
    /// In what words selectors name the elements of the session's device.
    pub shape: Shape,
    /// Whether there are tools that nobody could ask about, so that a name may be known all the same.
    pub is_partial: bool,
    /// Why servers are not there of whose tools nothing is known.
    pub absent: Vec<SourceError>,
    tools: BTreeMap<String, Arc<Tool>>,
    offered: BTreeSet<String>,
    /// What was left out, and why.
    pub filtered: Vec<Filtered>,
    /// Batches that could not be registered.
    pub refused: Vec<Refusal>,
    pub warnings: Vec<String>,
    /// The toolsets that this session has, each with the tools it offers.
    pub toolsets: BTreeMap<String, ActiveToolset>,
    not_offered: BTreeMap<String, String>,
    /// The groups that are declared, and whether each is on by default.
    groups: BTreeMap<String, bool>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ActiveToolset {
    pub description: String,
    pub tools: BTreeSet<String>,
}

/// A tool that its contributor offers and that this session does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filtered {
    pub tool: String,
    pub contributor: Contributor,
    pub reason: LeftOut,
    /// The platforms that do have it, where the session's is none of them.
    pub platforms: Vec<Platform>,
}

/// Why a session does not have a tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LeftOut {
    #[error("it is for the drivers {}, not {here}", supported.join(", "))]
    Driver { supported: Vec<String>, here: DriverKey },
    #[error("it is for {}, not {here}", names(supported))]
    Platform { supported: Vec<Platform>, here: Platform },
    #[error("it needs the host, and the agent runs on the device")]
    NeedsHost,
    /// Its definition is of no use: its schema or its name.
    #[error("{0}")]
    Unusable(String),
}

fn names(platforms: &[Platform]) -> String {
    platforms.iter().map(|platform| platform.name()).collect::<Vec<_>>().join(", ")
}

/// That a session does not have a tool, in words for whoever called it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lack {
    pub message: String,
    pub hint: Option<String>,
}

impl std::fmt::Display for Lack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.hint {
            Some(hint) => write!(f, "{}; {hint}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub contributor: Contributor,
    pub reason: String,
    /// What it would have brought.
    pub tools: Vec<String>,
}

impl Registry {
    pub fn build<'a>(generation: u64, batches: impl IntoIterator<Item = &'a Batch>, scope: &ToolScope) -> Registry {
        let mut registry = Registry {
            generation,
            shape: Shape::for_driver(&scope.driver, scope.platform),
            is_partial: false,
            absent: Vec::new(),
            tools: BTreeMap::new(),
            offered: BTreeSet::new(),
            filtered: Vec::new(),
            refused: Vec::new(),
            warnings: Vec::new(),
            toolsets: BTreeMap::new(),
            not_offered: BTreeMap::new(),
            groups: BTreeMap::new(),
        };
        for batch in batches {
            registry.add(batch, scope);
        }
        registry.offer(scope);
        registry
    }

    pub fn get(&self, name: &str) -> Option<&Arc<Tool>> {
        self.tools.get(name)
    }

    pub fn tools(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.tools.values()
    }

    pub fn len(&self) -> usize {
        self.tools.len()
    }

    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// What a model sees.
    pub fn offered(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.offered.iter().filter_map(|name| self.tools.get(name))
    }

    pub fn is_offered(&self, name: &str) -> bool {
        self.offered.contains(name)
    }

    /// Why a registered tool is not offered to models.
    pub fn why_not_offered(&self, name: &str) -> Option<&str> {
        self.not_offered.get(name).map(String::as_str)
    }

    /// What to say to whoever called a tool that is not there.
    pub fn lack(&self, name: &str) -> Lack {
        let unknown = format!("unknown tool `{name}`");
        if let Some(ours) = self.alias(name) {
            return Lack { message: unknown, hint: Some(format!("did you mean `{ours}`?")) };
        }
        if let Some(filtered) = self.filtered.iter().find(|filtered| filtered.tool == name) {
            let offered = format!("{} offers it, but {}", filtered.contributor.label, filtered.reason);
            let message = match &filtered.reason {
                LeftOut::Platform { here, .. } => format!("`{name}` is unsupported on {here}"),
                LeftOut::Driver { here, .. } => format!("`{name}` is unsupported by the driver {here}"),
                LeftOut::NeedsHost | LeftOut::Unusable(_) => unknown,
            };
            return Lack { message, hint: Some(offered) };
        }
        if let Some(refused) = self.refused.iter().find(|refused| refused.tools.iter().any(|tool| tool == name)) {
            let hint = format!("{} offers it, but none of its tools can be used", refused.contributor.label);
            return Lack { message: unknown, hint: Some(hint) };
        }
        let near = nearest(name, self.tools.keys().map(String::as_str));
        Lack { message: unknown, hint: near.map(|near| format!("did you mean `{near}`?")) }
    }

    /// The tool that does what other test tools have this name for.
    pub fn alias(&self, name: &str) -> Option<&'static str> {
        aliases::ours(name).iter().copied().find(|ours| self.tools.contains_key(*ours))
    }

    /// The platforms that have a tool of this name, where this session has none for no other reason.
    pub fn platforms_elsewhere(&self, name: &str) -> Vec<Platform> {
        if self.tools.contains_key(name) || self.alias(name).is_some() {
            return Vec::new();
        }
        let filtered = self.filtered.iter().filter(|filtered| filtered.tool == name);
        let mut platforms: Vec<Platform> = filtered.flat_map(|filtered| filtered.platforms.iter().copied()).collect();
        platforms.sort();
        platforms.dedup();
        platforms
    }

    fn add(&mut self, batch: &Batch, scope: &ToolScope) {
        let contributor = &batch.contributor;
        let unusable = |(tool, reason): &(String, String)| Filtered {
            tool: tool.clone(),
            contributor: contributor.clone(),
            reason: LeftOut::Unusable(reason.clone()),
            platforms: Vec::new(),
        };
        let mut filtered: Vec<Filtered> = batch.unusable.iter().map(unusable).collect();
        let mut warnings: Vec<String> =
            batch.warnings.iter().map(|warning| format!("{}: {warning}", contributor.label)).collect();
        let mut accepted: BTreeMap<String, Arc<Tool>> = BTreeMap::new();
        for tool in &batch.tools {
            if let Some(reason) = filter(tool, scope) {
                let is_here = tool.supported_platforms.contains(&scope.platform);
                let platforms = if is_here { Vec::new() } else { tool.supported_platforms.clone() };
                let (tool, contributor) = (tool.name.clone(), contributor.clone());
                filtered.push(Filtered { tool, contributor, reason, platforms });
                continue;
            }
            let refuse = |reason: String| {
                let tools = batch.tools.iter().map(|tool| tool.name.clone()).collect();
                Refusal { contributor: contributor.clone(), reason, tools }
            };
            if let Some(Objection { consequence, message }) =
                judge(&tool.name, contributor.origin, &scope.reserved_prefixes)
            {
                match consequence {
                    Consequence::RefuseBatch => return self.refused.push(refuse(message)),
                    Consequence::LeaveOut => {
                        warnings.push(format!("{}: a tool is left out: {message}", contributor.label));
                        filtered.push(unusable(&(tool.name.clone(), message)));
                        continue;
                    }
                    Consequence::Warn => warnings.push(format!("{}: {message}", contributor.label)),
                }
            }
            let earlier = self.tools.get(&tool.name).map(|tool| &tool.contributor);
            let earlier = earlier.or(accepted.get(&tool.name).map(|tool| &tool.contributor));
            if let Some(earlier) = earlier {
                let reason = match earlier.label == contributor.label {
                    true => format!("{} offers the tool `{}` twice", contributor.label, tool.name),
                    false => format!(
                        "the tool `{}` is offered twice: by {} and by {}",
                        tool.name, earlier.label, contributor.label
                    ),
                };
                return self.refused.push(refuse(reason));
            }
            accepted.insert(tool.name.clone(), Arc::new(tool.clone()));
        }
        self.tools.append(&mut accepted);
        self.filtered.append(&mut filtered);
        self.warnings.append(&mut warnings);
        self.groups.extend(batch.groups.iter().map(|(name, group)| (name.clone(), group.is_default)));
    }

    /// Decides what a model sees: toolsets, groups, prefixes.
    fn offer(&mut self, scope: &ToolScope) {
        let memberships = self.memberships(scope);
        for tool in self.tools.values() {
            let name = &tool.name;
            let reason = match memberships.get(name) {
                _ if !tool.is_for_llm => Some("it is not for models".to_string()),
                _ if is_excluded(name, scope) => Some("the target excludes it".to_string()),
                _ if is_named_by_target(name, scope) => None,
                Some(sets) if sets.iter().any(|set| self.toolsets.contains_key(set)) => None,
                Some(sets) => Some(format!(
                    "none of its toolsets ({}) is in this session",
                    sets.iter().cloned().collect::<Vec<_>>().join(", ")
                )),
                None if tool.contributor.origin == Origin::TargetServer => {
                    Some("tools of a target's servers are offered through toolsets, and it is in none".to_string())
                }
                None if tool.contributor.origin == Origin::BuiltIn => Some("it is in no toolset".to_string()),
                None => None,
            };
            let reason =
                reason.or_else(|| hidden_by_group(tool, &self.groups, scope)).or_else(|| hidden_by_prefix(name, scope));
            match reason {
                Some(reason) => {
                    self.not_offered.insert(name.clone(), reason);
                }
                None => {
                    self.offered.insert(name.clone());
                }
            }
        }
        let offered = &self.offered;
        for toolset in self.toolsets.values_mut() {
            toolset.tools.retain(|name| offered.contains(name));
        }
    }

    /// The toolsets of each tool, pushed and pulled; fills in the active ones.
    fn memberships(&mut self, scope: &ToolScope) -> BTreeMap<String, BTreeSet<String>> {
        let wanted = scope.target.as_ref().and_then(|target| target.tool_sets.as_ref());
        // Without a word from the target, every toolset of the platform is there.
        let is_wanted = |id: &str| wanted.is_none_or(|wanted| wanted.iter().any(|wanted| wanted.value == id));
        let mut memberships: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for toolset in &scope.toolsets {
            let id = &toolset.id.value;
            for name in &toolset.tools {
                memberships.entry(name.value.clone()).or_default().insert(id.clone());
            }
            if toolset.is_for(scope.platform, &scope.driver) && (toolset.always_enabled || is_wanted(id)) {
                let active = self.toolsets.entry(id.clone()).or_default();
                active.description = toolset.description.clone();
            }
        }
        for tool in self.tools.values() {
            let Some(id) = &tool.toolset else { continue };
            memberships.entry(tool.name.clone()).or_default().insert(id.clone());
            // A toolset that no file declares comes into being with its first tool.
            let is_declared = scope.toolsets.iter().any(|toolset| toolset.id.value == *id);
            if !is_declared && is_wanted(id) {
                self.toolsets.entry(id.clone()).or_default();
            }
        }
        let known: BTreeSet<&String> = scope
            .toolsets
            .iter()
            .map(|toolset| &toolset.id.value)
            .chain(self.tools.values().filter_map(|tool| tool.toolset.as_ref()))
            .collect();
        for set in wanted.into_iter().flatten().filter(|set| !known.contains(&set.value)) {
            let text = format!("the target asks for the toolset `{}`, which nobody declares", set.value);
            self.warnings.push(text);
        }
        for (tool, sets) in &memberships {
            for set in sets {
                if let Some(active) = self.toolsets.get_mut(set) {
                    active.tools.insert(tool.clone());
                }
            }
        }
        memberships
    }
}

/// The filters, in order. A filtered tool is not an error.
fn filter(tool: &Tool, scope: &ToolScope) -> Option<LeftOut> {
    if !tool.supported_drivers.is_empty()
        && !tool.supported_drivers.iter().any(|pattern| scope.driver.matches(pattern, scope.platform))
    {
        return Some(LeftOut::Driver { supported: tool.supported_drivers.clone(), here: scope.driver.clone() });
    }
    if !tool.supported_platforms.is_empty() && !tool.supported_platforms.contains(&scope.platform) {
        return Some(LeftOut::Platform { supported: tool.supported_platforms.clone(), here: scope.platform });
    }
    if tool.requires_host && scope.agent_mode == AgentMode::OnDevice && scope.driver.runs_agent_on_device() {
        return Some(LeftOut::NeedsHost);
    }
    None
}

fn is_excluded(name: &str, scope: &ToolScope) -> bool {
    scope.target.as_ref().is_some_and(|target| target.excluded_tools.iter().any(|excluded| excluded == name))
}

fn is_named_by_target(name: &str, scope: &ToolScope) -> bool {
    scope.target.as_ref().is_some_and(|target| target.tools.iter().any(|named| named.value == name))
}

/// A tool shows if any of its groups does; one in no group, or in a group that nobody declared, always does.
fn hidden_by_group(tool: &Tool, groups: &BTreeMap<String, bool>, scope: &ToolScope) -> Option<String> {
    let is_enabled = |name: &String| match groups.get(name) {
        None => true,
        Some(_) if !scope.groups.is_empty() => scope.groups.contains(name),
        Some(is_default) => *is_default,
    };
    let is_hidden = !tool.groups.is_empty() && !tool.groups.iter().any(is_enabled);
    is_hidden.then(|| format!("none of its groups ({}) is enabled", tool.groups.join(", ")))
}

fn hidden_by_prefix(name: &str, scope: &ToolScope) -> Option<String> {
    let matches = |prefix: &String| name.starts_with(prefix.trim_end_matches('*'));
    let is_hidden = !scope.prefixes.is_empty() && !scope.prefixes.iter().any(matches);
    is_hidden.then(|| format!("only names that begin with {} are asked for", scope.prefixes.join(", ")))
}
