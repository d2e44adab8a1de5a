//! Lint rules for tools, from the point of view of a model: name, description, schema and size.

use serde_json::Value;
use trailblaze_core::engine::registry::Batch;
use trailblaze_core::engine::tool::Tool;
use trailblaze_core::yaml::Severity;
use trailblaze_protocol::driver::{DriverKey, Platform};

use super::cost;

/// The longest description that all model APIs accept.
const DESCRIPTION_CHARS: usize = 1024;
/// What one tool should cost at most; all offered tools are sent with every request.
const TOOL_TOKENS: usize = 600;

/// A problem found in a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct LintFinding {
    pub severity: Severity,
    pub rule: &'static str,
    pub tool: Option<String>,
    /// The source of the tool.
    pub source: String,
    pub message: String,
    pub hint: Option<String>,
}

/// All findings for the tools of one contributor. `granted` are the reserved prefixes that the project may use.
pub fn lint(batch: &Batch, granted: &[String]) -> Vec<LintFinding> {
    let source = batch.contributor.label.to_string();
    let mut findings = Vec::new();
    for (tool, reason) in &batch.unusable {
        findings.push(LintFinding {
            severity: Severity::Error,
            rule: "schema",
            tool: Some(tool.clone()),
            source: source.clone(),
            message: format!("`{tool}` cannot be used: {reason}"),
            hint: None,
        });
    }
    // A tool that cannot be used was reported above.
    let is_told = |warning: &&String| {
        batch.unusable.iter().any(|(name, _)| warning.starts_with(&format!("`{name}` is left out")))
    };
    for warning in batch.warnings.iter().filter(|warning| !is_told(warning)) {
        let tool = batch.tools.iter().find(|tool| warning.starts_with(&format!("`{}`:", tool.name)));
        findings.push(LintFinding {
            severity: Severity::Warning,
            rule: "metadata",
            tool: tool.map(|tool| tool.name.clone()),
            source: source.clone(),
            message: warning.clone(),
            hint: None,
        });
    }
    for tool in &batch.tools {
        let mut found = LintFindings { tool, findings: &mut findings };
        if let Some(objection) = tool.contributor.judge(&tool.name, granted) {
            found.add(objection.consequence.severity(), "name", objection.message, None);
        }
        description(&mut found);
        parameters(&mut found);
        metadata(&mut found, batch);
        size(&mut found);
    }
    findings
}

struct LintFindings<'a> {
    tool: &'a Tool,
    findings: &'a mut Vec<LintFinding>,
}

impl LintFindings<'_> {
    fn add(&mut self, severity: Severity, rule: &'static str, message: String, hint: Option<&str>) {
        self.findings.push(LintFinding {
            severity,
            rule,
            tool: Some(self.tool.name.clone()),
            source: self.tool.contributor.label.to_string(),
            message,
            hint: hint.map(str::to_string),
        });
    }

    fn warn(&mut self, rule: &'static str, message: String, hint: Option<&str>) {
        self.add(Severity::Warning, rule, message, hint);
    }
}

fn description(found: &mut LintFindings<'_>) {
    let (name, about) = (&found.tool.name, found.tool.description.trim());
    let n_chars = about.chars().count();
    if about.is_empty() {
        let hint = "describe in one sentence what it does, and on which screen";
        found.warn(
            "description",
            format!("`{name}` has no description, so a model must guess what it does"),
            Some(hint),
        );
    } else if n_chars > DESCRIPTION_CHARS {
        let message = format!(
            "the description of `{name}` has {n_chars} characters; some models accept at most {DESCRIPTION_CHARS}"
        );
        found.warn(
            "description",
            message,
            Some("begin with what it does, and move the rest to the project's documentation"),
        );
    }
}

fn parameters(found: &mut LintFindings<'_>) {
    let schema = found.tool.schema.json();
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let name = &found.tool.name;
    // The tool is borrowed, but the findings are owned.
    let mut odd: Vec<(&'static str, String, Option<&str>)> = Vec::new();
    for (parameter, property) in properties {
        if !is_model_safe(parameter) {
            let message = format!(
                "the parameter `{}` of `{name}` has a name that some models do not accept",
                parameter.escape_debug()
            );
            odd.push(("schema", message, Some("use 1 to 64 letters, digits, _, . and -")));
        }
        let has_words =
            property.get("description").and_then(Value::as_str).is_some_and(|about| !about.trim().is_empty());
        if !has_words {
            odd.push(("description", format!("the parameter `{parameter}` of `{name}` has no description"), None));
        }
        let kinds = ["type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"];
        if !kinds.iter().any(|kind| property.get(kind).is_some()) {
            odd.push(("schema", format!("the parameter `{parameter}` of `{name}` has no type"), None));
        }
    }
    for required in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        let is_declared = |name: &str| schema.get("properties").and_then(|all| all.get(name)).is_some();
        if let Some(parameter) = required.as_str().filter(|parameter| !is_declared(parameter)) {
            odd.push(("schema", format!("`{name}` requires `{parameter}`, which its schema does not describe"), None));
        }
    }
    odd.into_iter().for_each(|(rule, message, hint)| found.warn(rule, message, hint));
}

fn is_model_safe(parameter: &str) -> bool {
    (1..=64).contains(&parameter.len())
        && parameter.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}

fn metadata(found: &mut LintFindings<'_>, batch: &Batch) {
    let tool = found.tool;
    let name = &tool.name;
    for driver in &tool.supported_drivers {
        let is_known = DriverKey::new(driver).is_known()
            || Platform::parse(driver).is_some()
            || driver.eq_ignore_ascii_case("all");
        if !is_known {
            let known: Vec<&str> = DriverKey::known_keys().collect();
            let hint = format!("known drivers: {}", known.join(", "));
            found.warn("metadata", format!("`{name}` is for the unknown driver `{driver}`"), Some(&hint));
        }
    }
    for group in tool.groups.iter().filter(|group| !batch.groups.contains_key(*group)) {
        let hint = "declare it in `groups` of the server's `trailblaze://registry`";
        found.warn(
            "metadata",
            format!("`{name}` is in the group `{group}`, which is not declared anywhere"),
            Some(hint),
        );
    }
    if !tool.is_for_llm && (tool.toolset.is_some() || !tool.groups.is_empty()) {
        let message = format!("`{name}` is not for models, so its toolset and groups have no effect");
        found.warn("metadata", message, None);
    }
}

fn size(found: &mut LintFindings<'_>) {
    let cost = cost::of(found.tool);
    if found.tool.is_for_llm && cost.tokens > TOOL_TOKENS {
        let message = format!(
            "`{}` costs a model about {} tokens with every request; more than {TOOL_TOKENS} is a lot for one tool",
            found.tool.name, cost.tokens
        );
        found.warn(
            "size",
            message,
            Some("shorten its descriptions, or split it; `trailblaze toolbox budget` shows the cost"),
        );
    }
}
