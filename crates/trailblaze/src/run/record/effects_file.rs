//! The file next to a recorded trail, `<trail>.effects.yaml`: the tools that it calls, their effects, and which recordings
//! were made from `tools:`. It is a separate file because other readers of trail files refuse unknown keys.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use trailblaze_core::callers::recorded_effects::{RecordedEffects, recorded_effects};
use trailblaze_core::callers::shadow::both;
use trailblaze_core::engine::registry::Registry;
use trailblaze_core::record::effects::CallEffects;
use trailblaze_core::record::healing::{Identities, StepIdentities, keep_ends};
use trailblaze_core::table;
use trailblaze_core::trail::{Step, StepPlan, ToolCall, Trail, TrailDevice, TrailDevices, same_calls, written_calls};
use trailblaze_core::values::secret::Secrets;
use trailblaze_core::yaml::decode;
use trailblaze_core::yaml::{self, Entries, Problem, Problems, Source, YamlNode};
use trailblaze_protocol::heal::ElementIdentity;

use crate::files::hex;
use crate::files::write_in_project;
use crate::project::source::read_source;
use crate::run::record::RecordError;

table! {
    /// A custom tool, as it was when the trail was recorded.
    pub struct Pin {
        /// The server that offers it; absent for a tool defined in the project's files.
        "server" => server: Option<String> = None,
        /// Digest of its behavior: its calls, its script, or the files that its server is started from.
        "digest" => digest: Option<String> = None,
        /// What its script may do besides calling tools.
        "grants" => grants: Vec<String> = Vec::new(),
        /// Its description.
        "description" => description: String = String::new(),
        /// The JSON Schema of its arguments.
        "schema" => schema: Option<YamlNode> = None,
    }
}

table! {
    /// What is stored next to a recorded trail, by classifier, or `role@classifier`. Written by `trailblaze run --record`.
    pub struct EffectsFileContents {
        /// The custom tools that the trail calls, as they were when it was recorded.
        "tools" => tools: Entries<Entries<Pin>> = Entries::default(),
        /// The arguments that the trail had when the effects were recorded.
        "args" => args: Entries<YamlNode> = Entries::default(),
        /// What each call of a custom tool did, in the order of the trail.
        "effects" => effects: Entries<Vec<CallEffects>> = Entries::default(),
        /// Digests of the recordings that were made from a step's `tools:`, each including the contents of `tools:`.
        "recordedFrom" => recorded_from: Entries<Vec<String>> = Entries::default(),
        /// By what the elements of each step are recognized after the app has changed, and how the step ended.
        "healing" => healing: Entries<Vec<StepIdentities>> = Entries::default(),
    }
}

/// The contents of one trail's effects file, if it exists.
#[derive(Debug, Clone)]
pub struct EffectsFile {
    pub source: Arc<Source>,
    contents: Option<EffectsFileContents>,
}

/// What a run adds for one device.
pub struct Section {
    pub key: String,
    pub tools: Map<String, Value>,
    /// The trail's arguments, which its calls may depend on.
    pub args: Map<String, Value>,
    /// `None` keeps those of earlier runs, as long as the tools are unchanged.
    pub effects: Option<Vec<Value>>,
    pub origins: Vec<RecordedDigest>,
    /// What healing needs.
    pub healing: Vec<Value>,
}

/// A recording next to `tools:`.
pub struct RecordedDigest {
    digest: String,
    /// Whether this run made the recording from `tools:`.
    is_new: bool,
}

/// The recordings next to `tools:` that a device uses in a trail. `before` is the trail as it was run.
pub fn origins(before: &Trail, trail: &Trail, device: &TrailDevice) -> Vec<RecordedDigest> {
    let origin = |((_, before), (_, step)): ((usize, &Step), (usize, &Step))| {
        let (_, recorded, tools) = both(step, &device.lineage)?;
        let is_new = matches!(before.plan(&device.lineage), StepPlan::Authored(_));
        Some(RecordedDigest { digest: digest(tools, recorded), is_new })
    };
    before.steps_on(device).zip(trail.steps_on(device)).filter_map(origin).collect()
}

/// The digest of a recording and of the `tools:` that it was made from.
fn digest(tools: &[ToolCall], recorded: &[ToolCall]) -> String {
    let both = json!([written_calls(tools), written_calls(recorded)]);
    hex(&Sha256::digest(both.to_string().as_bytes()))
}

/// The effects file of a trail: `pay.effects.yaml` for `pay.trail.yaml`.
pub fn file(trail: &str) -> String {
    let stem = trail.strip_suffix(".trail.yaml").or_else(|| trail.strip_suffix(".yaml")).unwrap_or(trail);
    format!("{stem}.effects.yaml")
}

/// The key that a device's effects are stored under: the closest classifier that the trail has recordings for, otherwise
/// the platform, after the role if the trail has roles. Devices that share recordings share this too.
pub fn key(trail: &Trail, device: &TrailDevice) -> String {
    let lineage = &device.lineage;
    let is_used = |name: &&String| {
        let uses_it = |(_, step): (usize, &Step)| matches!(step.plan(lineage), StepPlan::Recording { classifier, .. } if classifier == **name);
        trail.steps_on(device).any(uses_it)
    };
    let classifier = lineage.iter().find(is_used).or(lineage.last()).map_or("", String::as_str);
    device.role.as_ref().map_or_else(|| classifier.to_string(), |role| format!("{role}@{classifier}"))
}

impl EffectsFile {
    /// The effects of a trail's calls on a device, or why they cannot be played or compared.
    pub fn recorded_effects(
        &self,
        trail: &Trail,
        registry: &Registry,
        device: &TrailDevice,
    ) -> Result<RecordedEffects, Vec<Problem>> {
        recorded_effects(trail, registry, device, (&self.source, self.effects(&key(trail, device))))
    }

    /// Reads a trail's effects file, and reports its problems.
    pub fn read(root: &Path, trail: &str) -> (EffectsFile, Vec<Problem>) {
        let path = root.join(file(trail));
        let nothing = || EffectsFile { source: Source::new(file(trail), ""), contents: None };
        if !path.is_file() {
            return (nothing(), Vec::new());
        }
        let mut found = Vec::new();
        let Some(source) = read_source(root, &path, &mut found) else { return (nothing(), found) };
        let mut problems = Problems::new(&source);
        let contents = decode(&source, &mut problems);
        found.extend(problems.into_vec());
        for problem in &mut found {
            problem.hint.get_or_insert_with(|| "remove the file and record the trail again".to_string());
        }
        (EffectsFile { source, contents }, found)
    }

    pub fn tools(&self, key: &str) -> Option<&Entries<Pin>> {
        self.contents.as_ref()?.tools.get(key)
    }

    /// The arguments that the trail's effects were recorded with.
    pub fn args(&self, key: &str) -> Value {
        let args = self.contents.as_ref().and_then(|contents| contents.args.get(key));
        args.map_or_else(|| Value::Object(Map::new()), yaml::loose)
    }

    /// Whether a recording was made from these `tools:` and neither has changed since.
    pub fn is_derived(&self, key: &str, tools: &[ToolCall], recorded: &[ToolCall]) -> bool {
        let known = self.contents.as_ref().and_then(|contents| contents.recorded_from.get(key));
        known.is_some_and(|known| known.contains(&digest(tools, recorded)))
    }

    /// What is known about the elements and end states of a trail on a device.
    pub fn identities(&self, trail: &Trail, device: &TrailDevice) -> Identities {
        let stored = self.contents.as_ref().and_then(|contents| contents.healing.get(&key(trail, device)));
        Identities::new(trail, device, stored.map_or(&[], Vec::as_slice))
    }

    pub fn effects(&self, key: &str) -> &[CallEffects] {
        self.contents.as_ref().and_then(|contents| contents.effects.get(key)).map_or(&[], Vec::as_slice)
    }
}

/// Stores the results of a run, and keeps those of other devices. Returns whether the file changed. The caller must hold the
/// project's lock.
pub fn keep(root: &Path, trail: &str, sections: Vec<Section>) -> Result<bool, RecordError> {
    let name = file(trail);
    let path = root.join(&name);
    let (kept, problems) = EffectsFile::read(root, trail);
    if let Some(problem) = problems.first() {
        return Err(RecordError::EffectsFile { path: name, problem: problem.message.clone() });
    }
    let old = document(&kept);
    let (mut tools, mut args, mut effects) = (part(&old, "tools"), part(&old, "args"), part(&old, "effects"));
    let (mut recorded_from, mut healing) = (part(&old, "recordedFrom"), part(&old, "healing"));
    for Section { key, tools: pins, args: given, effects: new, origins, healing: seen } in sections {
        let before = healing.get(&key).and_then(Value::as_array).cloned().unwrap_or_default();
        match seen.is_empty() {
            true => drop(healing.remove(&key)),
            false => drop(healing.insert(key.clone(), keep_ends(&before, seen).into())),
        }
        let known = recorded_from.get(&key).and_then(Value::as_array).cloned().unwrap_or_default();
        let is_kept = |origin: &RecordedDigest| origin.is_new || known.iter().any(|digest| *digest == origin.digest);
        let kept: BTreeSet<String> = origins.into_iter().filter(is_kept).map(|origin| origin.digest).collect();
        match kept.is_empty() {
            true => drop(recorded_from.remove(&key)),
            false => drop(recorded_from.insert(key.clone(), json!(kept))),
        }
        match &new {
            Some(new) if new.is_empty() || given.is_empty() => drop(args.remove(&key)),
            Some(_) => drop(args.insert(key.clone(), given.into())),
            None => {}
        }
        let are_unchanged = tools.get(&key) == Some(&json!(pins));
        match new {
            Some(new) if new.is_empty() => drop(effects.remove(&key)),
            Some(new) => drop(effects.insert(key.clone(), new.into())),
            None if are_unchanged => {}
            None => {
                effects.remove(&key);
                args.remove(&key);
            }
        }
        match pins.is_empty() {
            true => drop(tools.remove(&key)),
            false => drop(tools.insert(key, pins.into())),
        }
    }
    let parts =
        [("tools", tools), ("args", args), ("effects", effects), ("recordedFrom", recorded_from), ("healing", healing)];
    let parts = parts.into_iter().filter(|(_, part)| !part.is_empty());
    let new: Map<String, Value> = parts.map(|(name, part)| (name.to_string(), part.into())).collect();
    let write_error = |source| RecordError::Write { path: name.clone(), source };
    if new.is_empty() {
        let was_there = path.is_file();
        return if was_there { std::fs::remove_file(path).map(|()| true).map_err(write_error) } else { Ok(false) };
    }
    let new = Value::Object(new);
    let text = format!("{HEAD}{}", yaml::block(&new, 0));
    if text == kept.source.text {
        return Ok(false);
    }
    if !says(&name, &text, &new) {
        return Err(RecordError::EffectsFile { path: name, problem: "it would not read back the same".to_string() });
    }
    write_in_project(root, &path, &text).map(|()| true).map_err(write_error)
}

/// A call that was healed.
#[derive(Debug, Clone)]
pub struct HealedCall {
    /// The text of its step.
    pub step: String,
    /// The call before and after, as `{tool: args}`.
    pub from: Value,
    pub to: Value,
    /// By what its element is recognized from now on.
    pub identity: ElementIdentity,
}

/// Replaces calls that were healed, in a trail as it was and as it is now. The caller must hold the project's lock.
pub fn heal(
    root: &Path,
    (before, after): (&Trail, &Trail),
    devices: &TrailDevices,
    healed: &[HealedCall],
) -> Result<(), RecordError> {
    let trail = &before.source.path;
    let name = file(trail);
    let (kept, _) = EffectsFile::read(root, trail);
    let mut new = document(&kept);
    devices.0.iter().for_each(|device| heal_on(device, (before, after), healed, &mut new));
    if kept.contents.is_none() {
        return Ok(());
    }
    let text = format!("{HEAD}{}", yaml::block(&new, 0));
    if !says(&name, &text, &new) {
        return Err(RecordError::EffectsFile { path: name, problem: "it would not read back the same".to_string() });
    }
    write_in_project(root, &root.join(&name), &text).map_err(|source| RecordError::Write { path: name, source })
}

fn heal_on(device: &TrailDevice, (before, after): (&Trail, &Trail), healed: &[HealedCall], new: &mut Value) {
    let (key, lineage) = (key(before, device), &device.lineage);
    let stored = new.pointer_mut("/healing").and_then(|healing| healing.get_mut(&key));
    for step in stored.and_then(Value::as_array_mut).into_iter().flatten() {
        let of_step: Vec<&HealedCall> = healed.iter().filter(|healed| step["step"] == healed.step.as_str()).collect();
        for call in step.get_mut("calls").and_then(Value::as_array_mut).into_iter().flatten() {
            let is_it = |healed: &&&HealedCall| same_calls(&[call["call"].clone()], std::slice::from_ref(&healed.from));
            if let Some(healed) = of_step.iter().find(is_it) {
                *call = json!({"call": healed.to, "element": healed.identity});
            }
        }
    }
    // A recording that was made from `tools:` still was.
    let derived = new.pointer_mut("/recordedFrom").and_then(|derived| derived.get_mut(&key));
    for known in derived.and_then(Value::as_array_mut).into_iter().flatten() {
        let is_it = |step: &Step| both(step, lineage).is_some_and(|(_, calls, tools)| *known == digest(tools, calls));
        let mut both_trails = before.steps_on(device).zip(after.steps_on(device));
        let now = both_trails.find(|((_, step), _)| is_it(step)).map(|(_, (_, step))| step);
        if let Some((_, calls, tools)) = now.and_then(|step| both(step, lineage)) {
            *known = digest(tools, calls).into();
        }
    }
}

const HEAD: &str = "# What was recorded with the trail next to this file. Written by `trailblaze run --record`.\n";

/// Whether the text is a valid effects file with these values.
fn says(name: &str, text: &str, meant: &Value) -> bool {
    let source = Source::new(name, text);
    let mut problems = Problems::new(&source);
    let contents = decode(&source, &mut problems);
    !problems.has_errors() && contents.is_some() && document(&EffectsFile { source, contents }) == *meant
}

/// The file as a value.
fn document(kept: &EffectsFile) -> Value {
    let root = kept.contents.as_ref().and_then(|_| yaml::read(&kept.source, &mut Problems::new(&kept.source)));
    root.map_or(Value::Null, |root| yaml::loose(&root))
}

fn part(document: &Value, name: &str) -> Map<String, Value> {
    document.get(name).and_then(Value::as_object).cloned().unwrap_or_default()
}

/// A trail's arguments as they are stored: as in a file, and without secrets.
pub fn kept_args(secrets: &Secrets, args: &Map<String, Value>) -> Map<String, Value> {
    let mut args = Value::Object(args.clone());
    secrets.redact_value(&mut args);
    match args {
        Value::Object(args) => args,
        _ => Map::new(),
    }
}
