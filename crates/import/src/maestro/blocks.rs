//! Commands that contain others: other flows, conditions, repetitions.

use serde_json::{Map, Value, json};
use trailblaze_core::yaml::{YamlNode, inline};

use super::commands::assert_true;
use super::elements::check;
use super::flow::Flow;
use super::scripts::default_of;
use super::selector::FlowElement;
use super::text::template;
use super::{MadeTool, Translation};
use crate::draft::{StepDraft, StepPart, write_call};
use crate::grouping;
use crate::naming::{beside, stem_of, tool_name, value_name};
use crate::{ImportedStatement, StatementFate};

/// How deep flows may run each other.
const DEPTH: usize = 8;
/// How many blocks one flow may have, with those that it runs.
const BLOCKS: usize = 500;
/// How often something is repeated without a bound.
const ROUNDS: u32 = 100;
/// Repetitions without a condition are written out up to this many calls.
const CALLS: usize = 30;
const RESERVED: [&str; 6] = ["android", "ios", "web", "desktop", "mobile", "org"];

/// When the commands of a block are carried out.
#[derive(Default)]
pub struct BlockCondition {
    pub when: Option<Value>,
    only: Vec<(String, String)>,
}

impl Translation<'_, '_> {
    pub fn block(&mut self, name: &str, value: Option<&YamlNode>, node: &YamlNode) -> Vec<StepDraft> {
        self.n_blocks += 1;
        let done = match (value, self.n_blocks > BLOCKS || self.paths.len() > DEPTH) {
            (_, true) => Err("blocks are nested too deeply".to_string()),
            (None, _) => Err("it has no commands".to_string()),
            (Some(value), _) => match name {
                "repeat" => self.repeat(value, node),
                "retry" => self.retry(value, node),
                _ => self.run_flow(value, node),
            },
        };
        match done {
            Ok(units) => units,
            Err(reason) => vec![self.keep(node, name, &reason)],
        }
    }

    fn translated(&mut self, node: &YamlNode, name: &str) {
        let path = self.path().to_string();
        self.note(ImportedStatement::new(&path, node.span, name, StatementFate::Translated));
    }

    /// The commands of a block as one step, or why they are none. Statements are listed if it is one.
    fn one_step(&mut self, value: &YamlNode, node: &YamlNode, name: &str) -> Result<StepDraft, String> {
        let commands = value.get("commands").and_then(YamlNode::items);
        let was_trial = std::mem::replace(&mut self.is_trial, true);
        let tried = match commands {
            Some(commands) => self.commands(commands),
            None => match value.get("file").and_then(YamlNode::raw) {
                Some(file) => self.flow_units(file, value).unwrap_or_default(),
                None => Vec::new(),
            },
        };
        self.is_trial = was_trial;
        let step = joined(tried)?;
        if !step.has_calls() {
            return Err("none of its commands can be imported".to_string());
        }
        self.translated(node, name);
        match commands {
            Some(commands) => drop(self.commands(commands)),
            None => {
                if let Some(file) = value.get("file").and_then(YamlNode::raw) {
                    self.flow_units(file, value)?;
                }
            }
        }
        Ok(step)
    }

    fn repeat(&mut self, value: &YamlNode, node: &YamlNode) -> Result<Vec<StepDraft>, String> {
        let times = match value.get("times").and_then(YamlNode::raw) {
            Some(raw) => Some(raw.parse::<u32>().map_err(|_| format!("`times: {raw}` is not a number"))?),
            None => None,
        };
        let Some(while_) = value.get("while") else {
            let times = times.ok_or("it has neither `times` nor `while`")? as usize;
            let step = self.one_step(value, node, "repeat")?;
            if times == 0 || times * step.parts.len() > CALLS || !step.is_plain() {
                return Err(format!("a repetition without a condition is only written out up to {CALLS} calls"));
            }
            let parts = step.parts.iter().cycle().take(times * step.parts.len()).cloned().collect();
            return Ok(vec![StepDraft { parts, words: Some(format!("Do this {times} times")), ..step }]);
        };
        let until = self.opposite(while_)?;
        let step = self.one_step(value, node, "repeat")?;
        if step.until.is_some() || step.max_retries.is_some() {
            return Err("there are no repetitions within repetitions; write a script".to_string());
        }
        Ok(vec![StepDraft { until: Some((until, times.unwrap_or(ROUNDS).clamp(1, 1000))), ..step }])
    }

    fn retry(&mut self, value: &YamlNode, node: &YamlNode) -> Result<Vec<StepDraft>, String> {
        let n = value.get("maxRetries").and_then(YamlNode::raw).and_then(|raw| raw.parse().ok()).unwrap_or(1);
        let step = self.one_step(value, node, "retry")?;
        if step.until.is_some() || step.max_retries.is_some() {
            return Err("there are no repetitions within repetitions; write a script".to_string());
        }
        Ok(vec![StepDraft { max_retries: Some(n), ..step }])
    }

    /// The check that ends `while:`.
    fn opposite(&self, while_: &YamlNode) -> Result<Value, String> {
        let keys: Vec<&str> = while_.entries().unwrap_or_default().iter().filter_map(|(key, _)| key.raw()).collect();
        match keys.as_slice() {
            ["visible"] => condition_call(false, while_.get("visible"), Some(0)),
            ["notVisible"] => condition_call(true, while_.get("notVisible"), Some(0)),
            ["true"] => {
                let raw = while_.get("true").and_then(YamlNode::raw).unwrap_or_default();
                let StepPart::Call(call) = assert_true(raw)?.parts.remove(0) else { return Err("?".to_string()) };
                let (tool, args) = call.as_object().and_then(|map| map.iter().next()).ok_or("?")?;
                let other = if tool == "assertEquals" { "assertNotEquals" } else { "assertEquals" };
                Ok(json!({other: args}))
            }
            _ => Err("only one condition can be imported".to_string()),
        }
    }

    /// `when:` of a block.
    pub fn condition(&self, when: &YamlNode) -> Result<BlockCondition, String> {
        let mut found = BlockCondition::default();
        for (key, value) in when.entries().ok_or("`when` is a mapping")? {
            let call = match key.raw().unwrap_or_default() {
                "platform" => {
                    let platform = value.raw().unwrap_or_default().to_lowercase();
                    if !matches!(platform.as_str(), "android" | "ios" | "web") {
                        return Err(format!("there is no platform `{platform}`"));
                    }
                    found.only.push((platform, "as in the flow of Maestro".to_string()));
                    continue;
                }
                "visible" => condition_call(true, Some(value), None)?,
                "notVisible" => condition_call(false, Some(value), None)?,
                "true" => match assert_true(value.raw().unwrap_or_default())?.parts.remove(0) {
                    StepPart::Call(call) => call,
                    _ => return Err("?".to_string()),
                },
                "label" => continue,
                other => return Err(format!("there is no condition `{other}`")),
            };
            if found.when.replace(call).is_some() {
                return Err("a step has one condition; write a script for several".to_string());
            }
        }
        Ok(found)
    }

    fn run_flow(&mut self, value: &YamlNode, node: &YamlNode) -> Result<Vec<StepDraft>, String> {
        let condition = match value.get("when") {
            Some(when) => self.condition(when)?,
            None => BlockCondition::default(),
        };
        let is_free = condition.when.is_none() && condition.only.is_empty();
        let file = value.raw().or_else(|| value.get("file")?.raw());
        if let Some(file) = file {
            if let Some(call) = self.tool_call(file, value)? {
                self.translated(node, "runFlow");
                let parts = vec![StepPart::Call(call)];
                return Ok(vec![StepDraft { when: condition.when, only: condition.only, ..StepDraft::of(parts) }]);
            }
            if is_free {
                self.translated(node, "runFlow");
                return self.flow_units(file, value);
            }
        } else if is_free {
            self.translated(node, "runFlow");
            let commands = value.get("commands").and_then(YamlNode::items).unwrap_or_default();
            let mut units = self.remembered(value)?;
            units.extend(self.commands(commands));
            return Ok(units);
        }
        let mut step = self.one_step(value, node, "runFlow")?;
        if step.when.is_some() && condition.when.is_some() {
            return Err("there are no conditions within conditions; write a script".to_string());
        }
        let mut parts: Vec<StepPart> = self.remembered(value)?.into_iter().flat_map(|unit| unit.parts).collect();
        parts.append(&mut step.parts);
        let when = condition.when.or(step.when.take());
        let only = if condition.only.is_empty() { std::mem::take(&mut step.only) } else { condition.only };
        Ok(vec![StepDraft { when, only, parts, ..step }])
    }

    /// The values that a block passes to its commands, remembered.
    fn remembered(&mut self, value: &YamlNode) -> Result<Vec<StepDraft>, String> {
        let mut units = Vec::new();
        for (key, value) in value.get("env").and_then(YamlNode::entries).unwrap_or_default() {
            let text = template(value.raw().unwrap_or_default()).map_err(|text| format!("`{text}` needs a script"))?;
            let args = json!({"variable": value_name(key.raw().unwrap_or_default()), "value": text});
            units.push(StepDraft::of(vec![StepPart::Call(json!({"remember": args}))]));
        }
        Ok(units)
    }

    /// The units of another flow, in place.
    fn flow_units(&mut self, named: &str, value: &YamlNode) -> Result<Vec<StepDraft>, String> {
        let path = beside(self.path(), named);
        if self.paths.contains(&path) {
            return Err(format!("`{named}` runs itself"));
        }
        let file = self.importer.other(&path).ok_or_else(|| format!("`{named}` could not be read"))?.clone();
        let flow = Flow::read(&file)
            .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
        let mut units = self.remembered(value)?;
        let passed: Vec<&str> = value
            .get("env")
            .and_then(YamlNode::entries)
            .unwrap_or_default()
            .iter()
            .filter_map(|(key, _)| key.raw())
            .collect();
        let own =
            flow.header.as_ref().and_then(|header| header.get("env")).and_then(YamlNode::entries).unwrap_or_default();
        for (key, value) in own.iter().filter(|(key, _)| key.raw().is_some_and(|key| !passed.contains(&key))) {
            if let (Some(key), Some(text)) = (key.raw(), value.raw().and_then(default_of)) {
                let args = json!({"variable": value_name(key), "value": text});
                units.push(StepDraft::of(vec![StepPart::Call(json!({"remember": args}))]));
            }
        }
        let text = std::mem::replace(&mut self.text, flow.source.text.clone());
        let app = self.app.clone();
        self.app = flow.header_text("appId").or(app.clone());
        self.paths.push(path);
        units.extend(self.commands(&flow.commands));
        self.paths.pop();
        self.text = text;
        self.app = app;
        Ok(units)
    }

    /// The call of the tool that a flow becomes, if it can be one.
    fn tool_call(&mut self, named: &str, value: &YamlNode) -> Result<Option<Value>, String> {
        let path = beside(self.path(), named);
        let Some(tool) = self.flow_tool(&path, named)? else { return Ok(None) };
        let mut args = Map::new();
        for (key, value) in value.get("env").and_then(YamlNode::entries).unwrap_or_default() {
            let text = template(value.raw().unwrap_or_default()).map_err(|text| format!("`{text}` needs a script"))?;
            let name = value_name(key.raw().unwrap_or_default());
            if tool.required.contains(&name) || tool.optional.contains(&name) {
                args.insert(name, text.into());
            }
        }
        for name in &tool.required {
            args.entry(name.clone()).or_insert_with(|| format!("{{{{{name}}}}}").into());
        }
        Ok(Some(json!({tool.name: args})))
    }

    fn flow_tool(&mut self, path: &str, named: &str) -> Result<Option<MadeTool>, String> {
        if let Some(made) = self.importer.tools.get(path) {
            return Ok(made.clone());
        }
        let file = self.importer.other(path).ok_or_else(|| format!("`{named}` could not be read"))?.clone();
        let flow = Flow::read(&file)
            .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
        if self.paths.iter().any(|outer| outer == path) {
            return Err(format!("`{named}` runs itself"));
        }
        let text = std::mem::replace(&mut self.text, flow.source.text.clone());
        let app = self.app.clone();
        self.app = flow.header_text("appId").or(app.clone());
        self.paths.push(path.to_string());
        let was_trial = std::mem::replace(&mut self.is_trial, true);
        let units = self.commands(&flow.commands);
        self.is_trial = was_trial;
        let has_hooks = ["onFlowStart", "onFlowComplete"]
            .iter()
            .any(|hook| flow.header.as_ref().is_some_and(|header| header.get(hook).is_some()));
        let fits = |unit: &StepDraft| {
            unit.is_plain() && unit.parts.iter().all(|part| !matches!(part, StepPart::ByPlatform { .. }))
        };
        let made = (!has_hooks && units.iter().all(fits) && units.iter().any(StepDraft::has_calls)).then(|| {
            // Once more, so that its statements are listed.
            if !was_trial {
                self.commands(&flow.commands);
            }
            self.made_tool(path, &flow, &units)
        });
        self.paths.pop();
        self.text = text;
        self.app = app;
        // A trial must not keep the statements from being listed later.
        if !was_trial {
            self.importer.tools.insert(path.to_string(), made.clone());
        }
        Ok(made)
    }

    fn made_tool(&mut self, path: &str, flow: &Flow, units: &[StepDraft]) -> MadeTool {
        let own =
            flow.header.as_ref().and_then(|header| header.get("env")).and_then(YamlNode::entries).unwrap_or_default();
        let optional: Vec<(String, String)> =
            own.iter().filter_map(|(key, value)| Some((value_name(key.raw()?), default_of(value.raw()?)?))).collect();
        let passed = self.importer.passed.get(path).into_iter().flatten().map(|name| value_name(name));
        let required: Vec<String> = passed.filter(|name| optional.iter().all(|(known, _)| known != name)).collect();
        let name = self.tool_name(path);
        let about = flow.header_text("name").unwrap_or_else(|| stem_of(path).replace(['-', '_'], " "));
        let mut text = format!("# Imported from {}, a flow of Maestro.\n", path.replace(|c: char| c.is_control(), " "));
        text.push_str(&format!("id: {name}\ndescription: {}\n", inline(&about.as_str().into())));
        text.push_str(&parameters(&required, &optional));
        text.push_str("tools:\n");
        for part in units.iter().flat_map(|unit| &unit.parts) {
            match part {
                StepPart::Call(call) => write_call(&mut text, call, 2),
                StepPart::Comment(lines) => lines.iter().for_each(|line| crate::draft::comment(&mut text, 2, line)),
                StepPart::ByPlatform { .. } => {}
            }
        }
        MadeTool { name, text, required, optional: optional.into_iter().map(|(name, _)| name).collect() }
    }

    /// A name for the tool of a file that no other has.
    pub fn tool_name(&self, path: &str) -> String {
        let app = self.app.as_deref().filter(|app| !app.contains('/')).and_then(|app| app.rsplit('.').next());
        let prefix =
            app.map(|app| tool_name("", app)).filter(|app| !app.is_empty() && !RESERVED.contains(&app.as_str()));
        let own = tool_name(prefix.as_deref().unwrap_or("flow"), stem_of(path));
        let taken = |name: &str| self.importer.tools.values().flatten().any(|tool| tool.name == name);
        (1..)
            .map(|n| if n == 1 { own.clone() } else { format!("{own}{n}") })
            .find(|name| !taken(name))
            .unwrap_or(own.clone())
    }
}

fn condition_call(is_visible: bool, element: Option<&YamlNode>, timeout: Option<u32>) -> Result<Value, String> {
    let element = FlowElement::read(element.ok_or("the condition names no element")?, &["label"])?;
    let call = check(is_visible, &element, timeout)?.parts.remove(0);
    match call {
        // The tool `maestro` acts, and a condition asks.
        StepPart::Call(call) if call.get("maestro").is_none() => Ok(call),
        _ => Err("this element cannot be described in a condition".to_string()),
    }
}

/// The commands of a block as one step. What is special of a single one is that of the step.
fn joined(units: Vec<StepDraft>) -> Result<StepDraft, String> {
    let steps = grouping::steps(units);
    let n_special = steps.iter().filter(|step| !step.is_plain()).count();
    if n_special == 1 && steps.iter().filter(|step| step.has_calls()).count() == 1 {
        let mut special = StepDraft::default();
        let mut parts = Vec::new();
        for mut step in steps {
            parts.append(&mut step.parts);
            if !step.is_plain() {
                special = step;
            }
        }
        return Ok(StepDraft { parts, ..special });
    }
    if n_special > 0 {
        return Err("a block within a block, or an optional command in it, needs a script".to_string());
    }
    let words = steps.iter().find_map(|step| step.words.clone());
    Ok(StepDraft { words, ..StepDraft::of(steps.into_iter().flat_map(|step| step.parts).collect()) })
}

/// `parameters:` of a tool.
pub fn parameters(required: &[String], optional: &[(String, String)]) -> String {
    if required.is_empty() && optional.is_empty() {
        return "parameters: []\n".to_string();
    }
    let required = required.iter().map(|name| json!({"name": name, "type": "string", "description": name}));
    let optional = optional
        .iter()
        .map(|(name, default)| json!({"name": name, "type": "string", "default": default, "description": name}));
    let rows: String = required.chain(optional).map(|row| format!("  - {}\n", inline(&row))).collect();
    format!("parameters:\n{rows}")
}
