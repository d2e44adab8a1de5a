//! Trails: tests in natural language, with recordings for each kind of device.

mod call;
mod classifier;
mod comments;
mod compose;
mod config;
mod convert;
mod excerpt;
mod flow;
mod folder;
mod items;
mod list_form;
mod merge;
mod repair;
mod revise;
mod rewrite;
mod rows;
mod save;
pub mod splice;
mod step;
mod stretch;

pub use call::{CALL_KEYS, CallParts, ToolCall, call_key_schemas, parts_of, same_calls, written_call, written_calls};
pub use classifier::{TrailDevice, TrailDevices, lineage};
pub use compose::{NewCalls, NewStep, new_trail};
pub use config::{ArgDeclaration, ArgType, DevicesOfTrail, TrailConfig};
pub use convert::{ConvertError, convert};
pub use excerpt::excerpt;
pub use flow::{Condition, Repeat, SkipReason, StepFlow};
pub use folder::{FOLDER_FILE, TrailFolder};
pub use items::StepGroup;
pub use merge::{Merge, MergedTrail, merge};
pub use repair::{Repair, RepairError, fingerprint, is_repaired, repair};
pub use revise::{Change, revise};
pub use rows::{ROW, TrailRow, TrailRows, csv_rows};
pub use save::{SaveError, Slot, StepCalls, save};
pub use step::{Step, StepPlan, Trailhead};
pub use stretch::{ReadStretch, StretchDocument, StretchStep, StretchUse, beside};

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::yaml::decode_root;
use crate::yaml::{Decode, Problem, Problems, Severity, Source, Spanned, YamlNode, read};
use items::{HookItems, StepItems};

/// Whether a file is a trail, judging by its name.
pub fn is_trail(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name == "trail.yaml" || name.ends_with(".trail.yaml")
}

#[derive(Debug, Clone)]
pub struct Trail {
    pub source: Arc<Source>,
    pub form: Form,
    pub config: TrailConfig,
    pub trailhead: Option<Trailhead>,
    pub steps: Vec<Step>,
    /// What is done before the trailhead.
    pub before: Vec<Hook>,
    /// What is done at the end, however the trail ended.
    pub after: Vec<Hook>,
    /// The rows of `forEach:`.
    pub rows: Option<TrailRows>,
    /// The one that it runs with.
    pub row: Option<TrailRow>,
    /// The files of the stretches that it uses.
    pub stretch_files: BTreeSet<String>,
}

/// A step that is not one of the trail's own. It is never recorded and never carried out by a model.
#[derive(Debug, Clone)]
pub struct Hook {
    pub step: Step,
    /// The file that it is in.
    pub source: Arc<Source>,
}

/// The layout of a trail file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A mapping of `config`, `trailhead` and `trail`.
    Unified,
    /// A list of `config`, `trailhead`, `prompts` and `tools`, as in older files.
    List,
}

crate::table! {
    /// A trail.
    pub struct Document {
        /// Information about the trail.
        "config" => config: Option<TrailConfig> = None,
        /// How to get to the starting point of the trail.
        "trailhead" => trailhead: Option<Trailhead> = None,
        /// Runs the trail once for each row: a table, or the path of a CSV file.
        "forEach" => rows: Option<TrailRows> = None,
        /// What is done before the trailhead: steps with `tools`.
        "before" => before: HookItems = HookItems::default(),
        /// The steps, in order.
        "trail" => trail: Option<StepItems> = None,
        /// What is done at the end, however the trail ended: steps with `tools`.
        "after" => after: HookItems = HookItems::default(),
    }
}

impl Trail {
    /// Reads a trail, or returns all its problems. A valid trail may come with warnings.
    pub fn read(source: &Arc<Source>) -> (Option<Trail>, Vec<Problem>) {
        let (trail, problems) = Trail::read_in_part(source);
        let is_sound = problems.iter().all(|problem| problem.severity != Severity::Error);
        (trail.filter(|_| is_sound), problems)
    }

    /// The same, but returns the readable part even if there are problems: for inspection, not for running.
    pub fn read_in_part(source: &Arc<Source>) -> (Option<Trail>, Vec<Problem>) {
        let mut problems = Problems::new(source);
        let root = read(source, &mut problems);
        if let Some(steps) = root.as_ref().filter(|root| root.get("trail").is_none()).and_then(|root| root.get("steps"))
            && !is_trail(Path::new(&source.path))
        {
            let message = format!("`{}` is a stretch: its steps run where a trail uses it", source.path);
            problems.error_with_hint(steps.span, message, "write `- use: FILE` into a trail, and run that");
            return (None, problems.into_vec());
        }
        let mut trail = match root.as_ref().and_then(|root| Some((root, root.items()?))) {
            Some((root, items)) => Some(Trail::of_list(root, items, &mut problems)),
            None => Trail::unified(root.as_ref(), &mut problems),
        };
        if let Some(trail) = &mut trail {
            trail.config.check(&mut problems);
            trail.assign_roles(&mut problems);
        }
        (trail, problems.into_vec())
    }

    fn unified(root: Option<&YamlNode>, problems: &mut Problems) -> Option<Trail> {
        let document: Document = decode_root(root, problems)?;
        match (&document.trail, &document.trailhead, &document.config) {
            (Some(steps), ..) if steps.0.is_empty() => problems.error(document.span, "`trail` has no steps"),
            (None, Some(_), _) => {
                problems.error(document.span, "a trail with a trailhead needs steps: `trail` is missing");
            }
            (None, None, None) => problems.error(document.span, "the file contains no trail"),
            _ => {}
        }
        let before = hooks(document.before, problems);
        let after = hooks(document.after, problems);
        Some(Trail {
            source: Arc::clone(problems.source()),
            form: Form::Unified,
            config: document.config.unwrap_or_default(),
            trailhead: document.trailhead,
            steps: document.trail.map(|items| items.0).unwrap_or_default(),
            before,
            after,
            rows: document.rows,
            row: None,
            stretch_files: BTreeSet::new(),
        })
    }

    fn of_list(root: &YamlNode, items: &[YamlNode], problems: &mut Problems) -> Trail {
        let list = list_form::decode(items, problems);
        if list.steps.is_empty() && !problems.has_errors() {
            match (&list.trailhead, &list.config) {
                (Some(_), _) => problems.error(root.span, "a trail with a trailhead needs steps: `prompts` is missing"),
                (None, None) => problems.error(root.span, "the file contains no trail"),
                (None, Some(_)) => {}
            }
        }
        Trail {
            source: Arc::clone(problems.source()),
            form: Form::List,
            config: list.config.unwrap_or_default(),
            trailhead: list.trailhead,
            steps: list.steps,
            before: Vec::new(),
            after: Vec::new(),
            rows: None,
            row: None,
            stretch_files: BTreeSet::new(),
        }
    }

    /// The trailhead and the steps, in order.
    pub fn all_steps(&self) -> impl Iterator<Item = &Step> {
        self.trailhead.iter().map(|head| &head.0).chain(&self.steps)
    }

    /// The steps before and after those of the trail itself.
    pub fn hooks(&self) -> impl Iterator<Item = &Hook> {
        self.before.iter().chain(&self.after)
    }

    /// Whether it runs on devices that it names by their roles.
    pub fn has_roles(&self) -> bool {
        !self.config.devices.roles.is_empty()
    }

    /// Leaves out the steps after this number of them. Parts that run at the same time are not divided.
    pub fn keep_until(&mut self, number: usize) {
        let group = number.checked_sub(1).and_then(|last| self.steps.get(last)?.group.clone());
        let rest = self.steps.iter().skip(number);
        let n_beside = rest.take_while(|step| group.is_some() && step.group == group).count();
        self.steps.truncate(number.saturating_add(n_beside));
    }

    /// Those that a device carries out, each with its index in an attempt, which counts the trailhead. The steps of stretches come after
    /// all others.
    pub fn steps_on(&self, device: &TrailDevice) -> impl Iterator<Item = (usize, &Step)> {
        let first = self.first_of_stretches();
        let inner = self.stretch_steps().enumerate().map(move |(nth, inner)| (first + nth, &inner.step));
        let own = self.all_steps().enumerate().filter(|(_, step)| step.stretch.is_none());
        own.chain(inner).filter(|(_, step)| device.carries_out(step))
    }

    /// The index of the first step of a stretch in an attempt.
    pub fn first_of_stretches(&self) -> usize {
        self.all_steps().count() + self.before.len() + self.after.len()
    }

    /// Whether each step has a device. Where there is one role, it is that of all steps.
    fn assign_roles(&mut self, problems: &mut Problems) {
        let roles = &self.config.devices.roles.0;
        let hooks = self.before.iter_mut().chain(&mut self.after).map(|hook| &mut hook.step);
        for step in self.trailhead.iter_mut().map(|head| &mut head.0).chain(&mut self.steps).chain(hooks) {
            // The steps of a stretch may say it themselves.
            if step.stretch.is_none() || step.on.is_some() {
                assign_role(step, roles, problems);
            }
        }
    }

    /// The id, or the path without its extension, and the number of its row.
    pub fn id(&self) -> String {
        let id = self.config.id.clone().unwrap_or_else(|| {
            let path = self.source.path.trim_start_matches("./");
            path.strip_suffix(".trail.yaml").or_else(|| path.strip_suffix(".yaml")).unwrap_or(path).to_string()
        });
        match &self.row {
            Some(row) => format!("{id}[{}]", row.number),
            None => id,
        }
    }

    pub fn title(&self) -> String {
        match (&self.config.title, &self.row) {
            (None, _) => self.id(),
            (Some(title), None) => title.clone(),
            (Some(title), Some(row)) => format!("{title} [{}]", row.name()),
        }
    }

    pub fn schema() -> Value {
        let mut schema = Document::schema();
        schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
        schema["title"] = json!("Trailblaze trail");
        schema
    }
}

/// Checks that a step has a device. Where there is one role, it is that of all steps.
fn assign_role(step: &mut Step, roles: &[(Spanned<String>, Spanned<String>)], problems: &mut Problems) {
    match (&step.on, roles) {
        (None, []) => {}
        (None, [(role, _)]) => step.on = Some(role.clone()),
        (None, [(role, _), ..]) => problems.error_with_hint(
            step.text.span,
            "the trail runs on several devices, and the step does not say on which of them",
            format!("add `on:` with a role of `devices:`, such as `on: {}`", role.value),
        ),
        (Some(on), []) => problems.error_with_hint(
            on.span,
            format!("the trail has no role `{}`", on.value),
            format!("add it to `config:`, as `devices: {{{}: android}}`", on.value),
        ),
        (Some(on), roles) if roles.iter().all(|(role, _)| role.value != on.value) => {
            problems.unknown(on.span, "role", &on.value, roles.iter().map(|(role, _)| role.value.as_str()));
        }
        (Some(_), _) => {}
    }
}

/// The steps of `before:` or `after:`, as they are in the file that is read.
fn hooks(HookItems(steps): HookItems, problems: &mut Problems) -> Vec<Hook> {
    for step in &steps {
        if step.tools.is_none() || !step.recording.is_empty() {
            problems.error_with_hint(
                step.text.span,
                "a step of `before` or `after` needs `tools`, and cannot have a recording",
                "write its calls under `tools:`; what a model or a recording does belongs to the trail itself",
            );
        }
    }
    let source = problems.source();
    steps.into_iter().map(|step| Hook { step, source: Arc::clone(source) }).collect()
}

/// A mapping whose values are scalars, read as text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TextMap(pub Vec<(String, String)>);

impl Decode for TextMap {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        let entries = crate::yaml::Entries::<YamlNode>::decode(node, problems)?;
        let mut texts = Vec::new();
        for (key, value) in entries.0 {
            match value.raw() {
                Some(raw) => texts.push((key.value, raw.to_string())),
                None => {
                    problems.error(value.span, format!("`{}` must be a single value, not {}", key.value, value.noun()))
                }
            }
        }
        Some(TextMap(texts))
    }

    fn schema() -> Value {
        json!({"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}})
    }
}
