//! The older form of a trail: a list of `- config:`, `- trailhead:`, `- prompts:` and `- tools:`. Its recordings have no
//! classifier, so they apply to every device, as `tools:` does.

use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::event::StepKind;

use super::config::{ArgDeclaration, DevicesOfTrail, TrailConfig, TrailSkip};
use super::flow::StepFlow;
use super::step::{Step, Trailhead};
use super::{TextMap, ToolCall};
use crate::table;
use crate::yaml::{Decode, Entries, Problems, Span, Spanned, YamlNode};

/// A trail in the list form, in the types of the unified form.
pub struct ListTrail {
    pub config: Option<TrailConfig>,
    /// The platform that the trail is for, if it has one.
    pub platform: Option<Platform>,
    pub trailhead: Option<Trailhead>,
    pub steps: Vec<Step>,
}

table! {
    /// The `config` of the list form.
    pub struct ListConfig {
        "id" => id: Option<String> = None,
        "target" => target: Option<Spanned<String>> = None,
        "title" => title: Option<String> = None,
        "description" => description: Option<String> = None,
        "priority" => priority: Option<String> = None,
        "source" => source: Option<ListSource> = None,
        "platform" => platform: Option<Platform> = None,
        "driver" => driver: Option<Spanned<DriverKey>> = None,
        "tags" => tags: Vec<String> = Vec::new(),
        "skip" => skip: Option<Spanned<String>> = None,
        "memory" => memory: TextMap = TextMap::default(),
        "args" => args: Entries<ArgDeclaration> = Entries::default(),
        "context" => context: Option<String> = None,
        "metadata" => metadata: TextMap = TextMap::default(),
    }
}

table! {
    /// Where a trail comes from.
    pub struct ListSource {
        "type" => kind: Option<String> = None,
        "reason" => reason: Option<String> = None,
    }
}

table! {
    /// A step of the list form.
    pub struct Prompt {
        "step" => step: Option<Spanned<String>> = None,
        "verify" => verify: Option<Spanned<String>> = None,
        "recordable" => recordable: bool = true,
        "recording" => recording: Option<Recording> = None,
        "maxRetries" => max_retries: Option<u32> = None,
    }
}

table! {
    /// A recording of the list form: `tools: []` deliberately does nothing.
    pub struct Recording {
        "tools" => tools: Vec<ToolCall>,
    }
}

table! {
    /// The trailhead of the list form.
    pub struct ListHead {
        "step" => step: Option<Spanned<String>> = None,
        "tools" => tools: Option<Vec<ToolCall>> = None,
        "maxRetries" => max_retries: Option<u32> = None,
    }
}

/// Reads the items in order.
pub fn decode(items: &[YamlNode], problems: &mut Problems) -> ListTrail {
    let mut trail = ListTrail { config: None, platform: None, trailhead: None, steps: Vec::new() };
    let mut has_steps = false;
    for (index, item) in items.iter().enumerate() {
        if item.get("step").or(item.get("verify")).is_some() {
            problems.error_with_hint(item.span, "a step is outside of `trail:`", "write `trail:` above the steps");
            break;
        }
        let [(key, value)] = item.entries().unwrap_or_default() else {
            let message = "an item must be one of `config:`, `trailhead:`, `prompts:` and `tools:`";
            problems.error(item.span, format!("{message}; found {}", item.noun()));
            continue;
        };
        match key.raw().unwrap_or_default() {
            "config" => {
                if index > 0 {
                    problems.error(key.span, "`config` must occur only once, as the first item");
                }
                if let Some(config) = ListConfig::decode(value, problems) {
                    trail.platform = config.platform();
                    trail.config = Some(config.unified());
                }
            }
            "trailhead" => {
                if trail.trailhead.is_some() || has_steps {
                    problems.error(key.span, "`trailhead` must occur only once, before `prompts` and `tools`");
                }
                trail.trailhead = head(value, problems);
            }
            "prompts" => {
                has_steps = true;
                trail.steps.extend(prompts(value, problems));
            }
            "tools" => {
                has_steps = true;
                let calls = Vec::<ToolCall>::decode(value, problems);
                if value.items().is_some_and(<[_]>::is_empty) {
                    problems.error(value.span, "`tools` has no calls");
                }
                trail.steps.extend(calls.map(|calls| tools_step(key.span, calls)));
            }
            other => problems.unknown(key.span, "item", other, ["config", "trailhead", "prompts", "tools"]),
        }
    }
    trail
}

impl ListConfig {
    fn platform(&self) -> Option<Platform> {
        self.platform.or_else(|| self.driver.as_ref().and_then(|driver| driver.value.platform()))
    }

    fn unified(self) -> TrailConfig {
        let platforms = self.platform().map_or(Platform::ALL.to_vec(), |platform| vec![platform]);
        let mut metadata = self.metadata;
        let source = self.source.map(|source| [("source", source.kind), ("sourceReason", source.reason)]);
        for (key, value) in source.into_iter().flatten() {
            let is_new = metadata.0.iter().all(|(known, _)| known != key);
            metadata.0.extend(value.filter(|_| is_new).map(|value| (key.to_string(), value)));
        }
        TrailConfig {
            id: self.id,
            target: self.target,
            title: self.title,
            description: self.description,
            priority: self.priority,
            tags: self.tags,
            devices: DevicesOfTrail { drivers: by_platform(&platforms, self.driver), ..DevicesOfTrail::default() },
            skip: TrailSkip {
                everywhere: None,
                by_classifier: by_platform(
                    &platforms,
                    self.skip.map(|skip| Spanned { value: Some(skip.value), span: skip.span }),
                ),
            },
            only: Entries::default(),
            memory: self.memory,
            args: self.args,
            groups: Vec::new(),
            prefixes: Vec::new(),
            dialogs: None,
            storage_state: None,
            context: self.context,
            metadata,
            span: self.span,
        }
    }
}

fn by_platform<T: Clone>(platforms: &[Platform], value: Option<Spanned<T>>) -> Entries<T> {
    let Some(Spanned { value, span }) = value else { return Entries::default() };
    let name = |platform: &Platform| Spanned { value: platform.name().to_string(), span };
    Entries(platforms.iter().map(|platform| (name(platform), value.clone())).collect())
}

impl Prompt {
    fn step(self, problems: &mut Problems) -> Option<Step> {
        let (kind, text) = super::step::kind_and_text(self.step, self.verify, self.span, problems)?;
        let place = self.recording.as_ref().map_or(self.span, |recording| recording.span);
        let tools = self.recording.map(|recording| recording.tools);
        if !self.recordable && tools.as_ref().is_some_and(|tools| !tools.is_empty()) {
            problems.error_with_hint(
                place,
                "a step that is not recordable has a recording",
                "remove `recordable: false` or the recording",
            );
        }
        let step = Step {
            kind,
            text,
            recording: Entries::default(),
            tools,
            is_recordable: self.recordable,
            max_retries: self.max_retries,
            flow: StepFlow::default(),
            on: None,
            group: None,
            stretch: None,
        };
        step.check(place, problems);
        Some(step)
    }
}

/// Reads all steps of one item, so that all problems are found.
fn prompts(node: &YamlNode, problems: &mut Problems) -> Vec<Step> {
    match node.items() {
        None => problems.error(node.span, format!("expected a list, found {}", node.noun())),
        Some([]) => problems.error(node.span, "`prompts` has no steps"),
        Some(_) => {}
    }
    let items = node.items().unwrap_or_default().iter();
    items.filter_map(|item| Prompt::decode(item, problems)?.step(problems)).collect()
}

fn head(node: &YamlNode, problems: &mut Problems) -> Option<Trailhead> {
    if node.entries().is_none() {
        return Trailhead::decode(node, problems);
    }
    let head = ListHead::decode(node, problems)?;
    let mut step = match (head.step, head.tools) {
        (Some(text), tools) => Step { text, tools, ..tools_step(node.span, Vec::new()) },
        (None, Some(calls)) if !calls.is_empty() => tools_step(node.span, calls),
        (None, _) => {
            problems.error(node.span, "a trailhead requires `step` or `tools`");
            return None;
        }
    };
    step.kind = StepKind::Trailhead;
    step.max_retries = head.max_retries;
    step.check(node.span, problems);
    Some(Trailhead(step))
}

/// The text of a step that has only calls: their names.
fn tools_step(span: Span, calls: Vec<ToolCall>) -> Step {
    Step {
        kind: StepKind::Step,
        text: Spanned { value: names(&calls), span },
        recording: Entries::default(),
        tools: Some(calls),
        is_recordable: true,
        max_retries: None,
        flow: StepFlow::default(),
        on: None,
        group: None,
        stretch: None,
    }
}

fn names(calls: &[ToolCall]) -> String {
    calls.iter().map(|call| call.tool.value.as_str()).collect::<Vec<_>>().join(", ")
}
