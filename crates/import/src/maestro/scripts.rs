//! JavaScript of flows: assignments become remembered values, and files without requests become tools.

use trailblaze_core::yaml::{YamlNode, inline};

use serde_json::{Map, Value, json};

use super::text::{literal, name, operand, template};
use super::{MadeTool, Translation};
use crate::draft::{StepDraft, StepPart};
use crate::naming::{beside, stem_of, value_name};
use crate::{ImportedStatement, StatementFate};

/// The name and the value of `${output.x = 'y'}`.
pub fn assigned(script: &str) -> Option<(String, String)> {
    let inside = script.trim().strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).unwrap_or(script);
    let (left, right) = inside.trim().trim_end_matches(';').split_once('=')?;
    let name = name(left.trim()).filter(|name| !name.contains('.'))?;
    Some((name, operand(right)?))
}

/// What the scripts of Maestro have and ours have not.
const FOREIGN: [&str; 8] = ["http.", "maestro.", "import ", "require(", "java.", "Java.", "faker.", "MAESTRO_"];

impl Translation<'_, '_> {
    pub fn run_script(&mut self, value: Option<&YamlNode>, node: &YamlNode) -> Vec<StepDraft> {
        match self.script_call(value) {
            Ok((part, when)) => {
                self.note(ImportedStatement::new(self.path(), node.span, "runScript", StatementFate::Translated));
                vec![StepDraft { when, ..StepDraft::of(vec![part]) }]
            }
            Err(reason) => vec![self.keep(node, "runScript", &reason)],
        }
    }

    fn script_call(&mut self, value: Option<&YamlNode>) -> Result<(StepPart, Option<Value>), String> {
        let value = value.ok_or("it names no file")?;
        let named = value.raw().or_else(|| value.get("file")?.raw()).ok_or("it names no file")?;
        let path = beside(self.path(), named);
        let when = match value.get("when") {
            Some(when) => self.condition(when)?.when,
            None => None,
        };
        let mut args = Map::new();
        for (key, value) in value.get("env").and_then(YamlNode::entries).unwrap_or_default() {
            let raw = value.raw().unwrap_or_default();
            let value = template(raw).map_err(|text| format!("the expression `{text}` needs a script"))?;
            args.insert(value_name(key.raw().unwrap_or_default()), value.into());
        }
        let tool = self.script_tool(&path, named)?;
        for name in &tool.required {
            args.entry(name.clone()).or_insert_with(|| format!("{{{{{name}}}}}").into());
        }
        Ok((StepPart::Call(json!({tool.name: args})), when))
    }

    fn script_tool(&mut self, path: &str, named: &str) -> Result<MadeTool, String> {
        if let Some(Some(tool)) = self.importer.tools.get(path) {
            return Ok(tool.clone());
        }
        let file = self.importer.other(path).ok_or_else(|| format!("`{named}` could not be read"))?;
        let body = file.text.replace("\r\n", "\n");
        if let Some(word) = FOREIGN.into_iter().find(|word| body.contains(word)) {
            let word = word.trim().trim_end_matches(['.', '(']);
            return Err(format!("`{named}` uses `{word}`; write a script or a tool server"));
        }
        if body.chars().any(|c| {
            (c.is_control() && !matches!(c, '\n' | '\t'))
                || matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
        }) {
            return Err(format!("`{named}` has characters that a script cannot have"));
        }
        let params: Vec<String> =
            self.importer.passed.get(path).into_iter().flatten().map(|name| value_name(name)).collect();
        let name = self.tool_name(path);
        let text = script_text(&name, stem_of(path), path, &params, &body);
        let tool = MadeTool { name, text, required: params, optional: Vec::new() };
        self.importer.tools.insert(path.to_string(), Some(tool.clone()));
        Ok(tool)
    }
}

fn script_text(name: &str, stem: &str, path: &str, params: &[String], body: &str) -> String {
    let mut out = format!("# Imported from {}, a script of Maestro.\n", path.replace(|c: char| c.is_control(), " "));
    out.push_str(&format!("id: {name}\ndescription: {}\n", inline(&format!("Runs the script {stem}").into())));
    out.push_str(&super::blocks::parameters(params, &[]));
    out.push_str("script:\n  source: |\n    const output = {};\n");
    if body.contains("json(") {
        out.push_str("    const json = JSON.parse;\n");
    }
    for param in params {
        out.push_str(&format!("    const {param} = args.{param};\n"));
    }
    for line in body.trim_end().lines() {
        out.push_str(&if line.trim().is_empty() { "\n".to_string() } else { format!("    {line}\n") });
    }
    out.push_str("    for (const [name, value] of Object.entries(output)) memory.set(`output_${name}`, value);\n");
    out
}

/// The default of a value, if the text of the flow has one.
pub fn default_of(raw: &str) -> Option<String> {
    super::header::env_default(raw).or_else(|| literal(raw))
}
