//! Pins the custom tools of a trail as they were when it was recorded, and compares them with the current ones.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use trailblaze_core::diff::diff;
use trailblaze_core::engine::registry::Registry;
use trailblaze_core::engine::tool::{Body, Tool};
use trailblaze_core::trail::{StepPlan, ToolCall, Trail, TrailDevice};
use trailblaze_core::yaml::{self, Entries, Problem, Problems, Severity};

use crate::files::hex;
use crate::run::record::effects_file::{EffectsFile, Pin, key};
use crate::servers::digest::ServerFiles;

fn pinned(pin: &Pin) -> Value {
    let schema = pin.schema.as_ref().map(yaml::loose);
    whole(pin.server.as_deref(), pin.digest.as_deref(), &pin.grants, &pin.description, schema.as_ref())
}

fn whole(
    server: Option<&str>,
    digest: Option<&str>,
    grants: &[String],
    description: &str,
    schema: Option<&Value>,
) -> Value {
    let parts = [
        ("server", json!(server)),
        ("digest", json!(digest)),
        ("grants", if grants.is_empty() { Value::Null } else { json!(grants) }),
        ("description", json!(description)),
        ("schema", json!(schema)),
    ];
    parts
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.to_string(), value))
        .collect::<Map<_, _>>()
        .into()
}

/// The tools of one session, and where their code is.
#[derive(Clone, Copy)]
pub struct Tools<'a> {
    pub registry: &'a Registry,
    pub files: &'a ServerFiles,
    pub target: Option<&'a str>,
}

impl Tools<'_> {
    fn custom(&self, name: &str) -> Option<&Tool> {
        self.registry.get(name).map(AsRef::as_ref).filter(|tool| tool.is_custom())
    }

    /// The pin of a tool as it is now.
    fn pin(&self, name: &str) -> Option<Value> {
        let tool = self.custom(name)?;
        let server = tool.source().map(|source| source.name().to_string());
        let digest = self.digest(name, server.as_deref());
        let grants = tool.code().map(|code| code.permissions()).unwrap_or_default();
        Some(whole(server.as_deref(), digest.as_deref(), grants, &tool.description, Some(tool.schema.json())))
    }

    /// The digest of a tool's behavior, as far as it can be known without starting its server.
    fn digest(&self, name: &str, server: Option<&str>) -> Option<String> {
        if let Some(server) = server {
            return self.files.digest(self.target, server).map(str::to_string);
        }
        let definition = match &self.custom(name)?.body {
            Body::Expansion(calls) => {
                let call = |call: &ToolCall| match (&call.result_name, call.is_soft) {
                    (None, false) => json!([call.tool.value, yaml::loose(&call.args)]),
                    (Some(name), false) => json!([call.tool.value, yaml::loose(&call.args), name.value]),
                    (_, true) => call.written_with(yaml::loose(&call.args)),
                };
                Value::from(calls.iter().map(call).collect::<Vec<_>>()).to_string().into_bytes()
            }
            Body::Code(code) => code.definition()?.to_vec(),
            _ => return None,
        };
        Some(hex(&Sha256::digest(&definition)))
    }

    /// A custom tool and the tools it calls, as far as the files show.
    fn reached(&self, name: &str, found: &mut BTreeSet<String>) {
        let Some(tool) = self.custom(name) else { return };
        if found.insert(name.to_string())
            && let Body::Expansion(calls) = &tool.body
        {
            calls.iter().for_each(|call| self.reached(&call.tool.value, found));
        }
    }

    /// The pins of the tools that a trail calls on a device, and of the tools that these call.
    pub fn pins(&self, trail: &Trail, device: &TrailDevice, also: &BTreeSet<String>) -> Map<String, Value> {
        let mut names = also.clone();
        calls(trail, device).for_each(|call| self.reached(&call.tool.value, &mut names));
        names.into_iter().filter_map(|name| Some((name.clone(), self.pin(&name)?))).collect()
    }

    /// Reports tools that changed since recording, and how, as warnings or errors.
    pub fn drift(&self, trail: &Trail, kept: &EffectsFile, device: &TrailDevice, severity: Severity) -> Vec<Problem> {
        self.changed(trail, kept, device, |problems, call, name, pin| {
            let Some(now) = self.pin(name) else { return };
            let lines = |pin: &Value| yaml::block(pin, 0).lines().map(str::to_string).collect::<Vec<_>>();
            let then = pinned(pin);
            let Some(diff) = diff(&lines(&then), &lines(&now)).filter(|_| then != now) else { return };
            let message = format!("the tool `{name}` changed since this was recorded:\n{diff}");
            let path = &trail.source.path;
            let hint =
                format!("if the trail still does what it should, `trailblaze run {path} --record` records it again");
            match severity {
                Severity::Error => problems.error_with_hint(call.tool.span, message, hint),
                Severity::Warning => problems.warning_with_hint(call.tool.span, message, hint),
            }
        })
    }

    /// Reports tools whose effects are out of date because their sources changed.
    pub fn stale(&self, trail: &Trail, kept: &EffectsFile, device: &TrailDevice) -> Vec<Problem> {
        self.changed(trail, kept, device, |problems, call, name, pin| {
            let now = self.digest(name, pin.server.as_deref());
            if now.is_some() && pin.digest.is_some() && now != pin.digest {
                let message =
                    format!("the effects are out of date: the tool `{name}` changed since they were recorded");
                let hint = "record them again with `--record effects`; `--replay verify` shows what differs";
                problems.error_with_hint(call.tool.span, message, hint);
            }
        })
    }

    /// Checks each pinned tool once, at the first call that leads to it.
    fn changed(
        &self,
        trail: &Trail,
        kept: &EffectsFile,
        device: &TrailDevice,
        tell: impl Fn(&mut Problems, &ToolCall, &str, &Pin),
    ) -> Vec<Problem> {
        let mut found = Vec::new();
        let Some(Entries(pins)) = kept.tools(&key(trail, device)) else { return Vec::new() };
        if trail.config.skip_reason(&device.lineage).is_some() {
            return Vec::new();
        }
        for (name, pin) in pins {
            let leads = |call: &&ToolCall| {
                let mut reached = BTreeSet::from([call.tool.value.clone()]);
                self.reached(&call.tool.value, &mut reached);
                reached.contains(&name.value)
            };
            let is_custom = |call: &&ToolCall| pins.iter().any(|(pinned, _)| pinned.value == call.tool.value);
            // A call made by a tool's own code is in no file; it is attributed to a call of the trail.
            let call = calls(trail, device).find(leads).or_else(|| calls(trail, device).find(is_custom));
            if let Some(call) = call {
                let mut problems = Problems::new(&call.source);
                tell(&mut problems, call, &name.value, pin);
                found.extend(problems.into_vec());
            }
        }
        found
    }
}

fn calls<'t>(trail: &'t Trail, device: &'t TrailDevice) -> impl Iterator<Item = &'t ToolCall> {
    trail.steps_on(device).flat_map(move |(_, step)| match step.plan(&device.lineage) {
        StepPlan::Recording { calls, .. } | StepPlan::Authored(calls) => calls,
        StepPlan::Model => &[],
    })
}
