//! The flat table of a session's tools. A registry is immutable: a reload creates a new one, and calls in flight keep the
//! one they started with.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use trailblaze_protocol::driver::{AgentMode, DriverKey, Platform};
use trailblaze_protocol::event::ToolKind;

use crate::config::{PlatformEntry, ToolsetConfig};
use crate::engine::aliases;
use crate::engine::source::SourceError;
use crate::engine::tool::{Contributor, Tool};
use crate::names::{Consequence, Objection, ToolOrigin};
use crate::screen::Shape;
use crate::yaml::nearest;

/// The tools of one contributor. They are registered all together or not at all.
#[derive(Clone)]
pub struct Batch {
    pub contributor: Contributor,
    /// Shared by all registries that have them.
    pub tools: Vec<Arc<Tool>>,
    pub groups: BTreeMap<String, ToolGroup>,
    /// Tools that cannot be used, each with the reason.
    pub unusable: Vec<(String, String)>,
    pub warnings: Vec<String>,
}

impl Batch {
    pub fn new(contributor: Contributor, tools: Vec<Tool>) -> Batch {
        let tools = tools.into_iter().map(Arc::new).collect();
        Batch { contributor, tools, groups: BTreeMap::new(), unusable: Vec::new(), warnings: Vec::new() }
    }
}

/// A group of tools that can be enabled as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolGroup {
    pub description: String,
    pub is_default: bool,
}

/// The properties of a session that decide which tools it has.
#[derive(Debug, Clone)]
pub struct ToolScope {
    pub platform: Platform,
    pub driver: DriverKey,
    pub agent_mode: AgentMode,
    pub toolsets: Vec<ToolsetConfig>,
    /// The target's entry for this platform.
    pub target: Option<PlatformEntry>,
    /// The requested groups; empty means the default ones.
    pub groups: Vec<String>,
    /// Only tools whose names start with one of these are offered; empty means all.
    pub prefixes: Vec<String>,
    pub reserved_prefixes: Vec<String>,
}

/// Which of the session's tools a trail wants its models to be offered. Empty lists mean what the session offers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Offer {
    pub groups: Vec<String>,
    pub prefixes: Vec<String>,
}

/// The tools of a session. Immutable.
pub struct Registry {
    pub generation: u64,
    /// The shape of the elements of the session's device, which decides the properties of selectors.
    pub shape: Shape,
    /// Whether some tools could not be listed, so that an unknown name may still exist.
    pub is_partial: bool,
    /// Servers that are unavailable and whose tools are unknown.
    pub absent: Vec<SourceError>,
    tools: BTreeMap<String, Arc<Tool>>,
    offered: BTreeSet<String>,
    /// The tools that would be offered without groups and prefixes.
    eligible: BTreeSet<String>,
    /// Tools that were left out, each with the reason.
    pub filtered: Vec<Filtered>,
    /// Batches that could not be registered.
    pub refused: Vec<RefusedBatch>,
    pub warnings: Vec<String>,
    /// Toolsets that the target lists and that neither a file nor a tool declares.
    pub undeclared_toolsets: Vec<String>,
    /// The toolsets that this session has, each with the tools it offers.
    pub toolsets: BTreeMap<String, ActiveToolset>,
    not_offered: BTreeMap<String, String>,
    /// The declared groups.
    pub groups: BTreeMap<String, ToolGroup>,
    /// The requested groups and prefixes.
    wanted_groups: Vec<String>,
    prefixes: Vec<String>,
    /// The tools that the target names.
    named: BTreeSet<String>,
    /// The URLs that belong to the app under test, or that its target allows models to open.
    pub own_urls: Vec<String>,
}

/// A toolset that is enabled in a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ActiveToolset {
    pub description: String,
    pub tools: BTreeSet<String>,
}

/// A tool that its contributor offers but this session does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filtered {
    pub tool: String,
    pub contributor: Contributor,
    pub reason: LeftOut,
    /// The platforms that have it; empty if the session's platform is one of them.
    pub platforms: Vec<Platform>,
}

/// Why a session does not have a tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LeftOut {
    #[error("it only supports the drivers {}, not {here}", supported.join(", "))]
    Driver { supported: Vec<String>, here: DriverKey },
    #[error("it is for {}, not {here}", names(supported))]
    Platform { supported: Vec<Platform>, here: Platform },
    #[error("it requires the host, but the agent runs on the device")]
    NeedsHost,
    /// Its schema or its name is invalid.
    #[error("{0}")]
    Unusable(String),
}

fn names(platforms: &[Platform]) -> String {
    platforms.iter().map(|platform| platform.name()).collect::<Vec<_>>().join(", ")
}

/// Explains to a caller why a session does not have a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingTool {
    pub message: String,
    pub hint: Option<String>,
}

impl std::fmt::Display for MissingTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.hint {
            Some(hint) => write!(f, "{}; {hint}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// A batch that was not registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedBatch {
    pub contributor: Contributor,
    pub reason: String,
    /// The names of its tools.
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
            eligible: BTreeSet::new(),
            prefixes: scope.prefixes.clone(),
            wanted_groups: scope.groups.clone(),
            filtered: Vec::new(),
            refused: Vec::new(),
            warnings: Vec::new(),
            undeclared_toolsets: Vec::new(),
            toolsets: BTreeMap::new(),
            not_offered: BTreeMap::new(),
            groups: BTreeMap::new(),
            named: scope.target.iter().flat_map(|target| &target.tools).map(|tool| tool.value.clone()).collect(),
            own_urls: scope.target.iter().flat_map(own_urls).cloned().collect(),
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

    /// The tools that are offered to models.
    pub fn offered(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.offered.iter().filter_map(|name| self.tools.get(name))
    }

    /// The tools that are offered in a trail with wishes of its own.
    pub fn offered_with<'a>(&'a self, offer: &'a Offer) -> impl Iterator<Item = &'a Arc<Tool>> {
        let groups = if offer.groups.is_empty() { &self.wanted_groups } else { &offer.groups };
        let prefixes = if offer.prefixes.is_empty() { &self.prefixes } else { &offer.prefixes };
        self.eligible.iter().filter_map(|name| self.tools.get(name)).filter(move |tool| {
            hidden_by_group(tool, &self.groups, groups).is_none() && hidden_by_prefix(&tool.name, prefixes).is_none()
        })
    }

    pub fn is_offered(&self, name: &str) -> bool {
        self.offered.contains(name)
    }

    /// Whether the target names this tool.
    pub fn is_named(&self, name: &str) -> bool {
        self.named.contains(name)
    }

    /// Why a registered tool is not offered to models.
    pub fn why_not_offered(&self, name: &str) -> Option<&str> {
        self.not_offered.get(name).map(String::as_str)
    }

    /// Whether something offers a tool of this name, even if this session cannot use it.
    pub fn knows(&self, name: &str) -> bool {
        self.tools.contains_key(name) || self.filtered.iter().any(|filtered| filtered.tool == name)
    }

    /// Explains why there is no tool of this name.
    pub fn explain_missing(&self, name: &str) -> MissingTool {
        let unknown = format!("unknown tool `{name}`");
        let alias = self.alias(name).map(|ours| format!("did you mean `{ours}`?"));
        if let Some(filtered) = self.filtered.iter().find(|filtered| filtered.tool == name) {
            let offered = || format!("{} offers it, but {}", filtered.contributor.label, filtered.reason);
            let message = match &filtered.reason {
                LeftOut::Platform { here, .. } => format!("`{name}` is unsupported on {here}"),
                LeftOut::Driver { here, .. } => format!("`{name}` is not supported by the driver {here}"),
                LeftOut::NeedsHost | LeftOut::Unusable(_) => unknown,
            };
            return MissingTool { message, hint: Some(alias.unwrap_or_else(offered)) };
        }
        if let Some(hint) = alias {
            return MissingTool { message: unknown, hint: Some(hint) };
        }
        if let Some(refused) = self.refused.iter().find(|refused| refused.tools.iter().any(|tool| tool == name)) {
            let hint = format!("{} offers it, but none of its tools can be used", refused.contributor.label);
            return MissingTool { message: unknown, hint: Some(hint) };
        }
        let near = nearest(name, self.tools.keys().map(String::as_str));
        MissingTool { message: unknown, hint: near.map(|near| format!("did you mean `{near}`?")) }
    }

    /// Whether a file defines this tool, but has errors, which are reported for themselves.
    pub fn is_of_broken_file(&self, name: &str) -> bool {
        let is_file = |contributor: &Contributor| matches!(contributor.origin, ToolOrigin::Yaml | ToolOrigin::Script);
        let mut filtered = self.filtered.iter().filter(|filtered| filtered.tool == name);
        filtered.any(|filtered| matches!(filtered.reason, LeftOut::Unusable(_)) && is_file(&filtered.contributor))
    }

    /// Our tool that corresponds to a name that other test tools use.
    pub fn alias(&self, name: &str) -> Option<&'static str> {
        aliases::ours(name).iter().copied().find(|ours| self.tools.contains_key(*ours))
    }

    /// The platforms that have a tool of this name, if the platform is the only reason why this session does not.
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
                RefusedBatch { contributor: contributor.clone(), reason, tools }
            };
            if let Some(Objection { consequence, message }) = contributor.judge(&tool.name, &scope.reserved_prefixes) {
                match consequence {
                    Consequence::RefuseBatch => return self.refused.push(refuse(message)),
                    Consequence::LeaveOut => {
                        warnings.push(format!("{}: a tool was left out: {message}", contributor.label));
                        filtered.push(unusable(&(tool.name.clone(), message)));
                        continue;
                    }
                    Consequence::Warn => warnings.push(format!("{}: {message}", contributor.label)),
                }
            }
            let earlier = self.tools.get(&tool.name).or(accepted.get(&tool.name));
            if let Some(earlier) = earlier.filter(|earlier| !replaces(tool, earlier)) {
                return self.refused.push(refuse(taken(tool, earlier)));
            }
            accepted.insert(tool.name.clone(), Arc::clone(tool));
        }
        self.tools.append(&mut accepted);
        self.filtered.append(&mut filtered);
        self.warnings.append(&mut warnings);
        self.groups.extend(batch.groups.iter().map(|(name, group)| (name.clone(), group.clone())));
    }

    /// Decides which tools are offered to models, by toolsets, groups and prefixes.
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
                None if tool.contributor.origin == ToolOrigin::TargetServer => {
                    Some("tools of a target's servers are only offered through toolsets, and it is in none".to_string())
                }
                None if tool.contributor.origin == ToolOrigin::BuiltIn => Some("it is not in any toolset".to_string()),
                None => None,
            };
            if reason.is_none() {
                self.eligible.insert(name.clone());
            }
            let reason = reason
                .or_else(|| hidden_by_group(tool, &self.groups, &scope.groups))
                .or_else(|| hidden_by_prefix(name, &scope.prefixes));
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

    /// Collects the toolsets of each tool, declared by the toolset or by the tool, and fills in the active toolsets.
    fn memberships(&mut self, scope: &ToolScope) -> BTreeMap<String, BTreeSet<String>> {
        let wanted = scope.target.as_ref().and_then(|target| target.tool_sets.as_ref());
        // If the target lists no toolsets, all toolsets of the platform are enabled.
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
            // A toolset that no file declares is created by its first tool.
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
            let text = format!("the target lists the toolset `{}`, which is not declared anywhere", set.value);
            self.warnings.push(text);
            self.undeclared_toolsets.push(set.value.clone());
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

/// Whether a tool of a file takes the place of a built-in one. What ends a step cannot be replaced.
fn replaces(tool: &Tool, earlier: &Tool) -> bool {
    tool.overrides && earlier.contributor.origin == ToolOrigin::BuiltIn && earlier.kind != ToolKind::Meta
}

/// Why a tool cannot have the name of an earlier one.
fn taken(tool: &Tool, earlier: &Tool) -> String {
    let (name, by, earlier_by) = (&tool.name, &tool.contributor, &earlier.contributor);
    let is_file = matches!(by.origin, ToolOrigin::Yaml | ToolOrigin::Script);
    if earlier_by.label == by.label {
        let places: Vec<&str> = [earlier, tool].iter().filter_map(|tool| tool.defined_at.as_deref()).collect();
        let at = if places.is_empty() { String::new() } else { format!(", at {}", places.join(" and at ")) };
        format!("{} offers the tool `{name}` twice{at}", by.with_file())
    } else if is_file && replaces(&Tool { overrides: true, ..tool.clone() }, earlier) {
        let about = earlier.description.lines().next().unwrap_or_default();
        format!(
            "`{name}` is a built-in tool (\"{about}\"); choose another id, or write `override: true` to replace it in this project"
        )
    } else {
        format!("the tool `{name}` is offered twice: by {} and by {}", earlier.offered_by(), tool.offered_by())
    }
}

fn own_urls(target: &PlatformEntry) -> impl Iterator<Item = &String> {
    target.base_url.iter().chain(&target.app_ids).chain(&target.allowed_urls).filter(|url| url.contains("://"))
}

/// Applies the filters, in order. A filtered tool is not an error.
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
    scope.target.as_ref().is_some_and(|target| target.excluded_tools.iter().any(|excluded| excluded.value == name))
}

fn is_named_by_target(name: &str, scope: &ToolScope) -> bool {
    scope.target.as_ref().is_some_and(|target| target.tools.iter().any(|named| named.value == name))
}

/// A tool is shown if any of its groups is enabled. Undeclared groups count as enabled, as does having no group.
fn hidden_by_group(tool: &Tool, groups: &BTreeMap<String, ToolGroup>, wanted: &[String]) -> Option<String> {
    let is_enabled = |name: &String| match groups.get(name) {
        None => true,
        Some(_) if !wanted.is_empty() => wanted.contains(name),
        Some(group) => group.is_default,
    };
    let is_hidden = !tool.groups.is_empty() && !tool.groups.iter().any(is_enabled);
    is_hidden.then(|| format!("none of its groups ({}) is enabled", tool.groups.join(", ")))
}

fn hidden_by_prefix(name: &str, prefixes: &[String]) -> Option<String> {
    let matches = |prefix: &String| name.starts_with(prefix.trim_end_matches('*'));
    let is_hidden = !prefixes.is_empty() && !prefixes.iter().any(matches);
    is_hidden.then(|| format!("only tools whose names start with {} were requested", prefixes.join(", ")))
}
