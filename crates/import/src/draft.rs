//! A trail that is being written, and its text.

use serde_json::{Map, Value};
use trailblaze_core::yaml::{block, inline};

use crate::words;

/// Longer calls are written in block style.
const LINE: usize = 140;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrailDraft {
    /// The lines of a comment at the top.
    pub head: Vec<String>,
    pub title: String,
    pub description: Option<String>,
    pub tags: Vec<String>,
    pub target: Option<String>,
    /// The platforms that it is for, as keys of `devices:`.
    pub drivers: Vec<(String, String)>,
    pub dialogs: Option<String>,
    /// Why nothing of it runs, by classifier.
    pub skip: Vec<(String, String)>,
    pub memory: Vec<(String, String)>,
    pub before: Vec<StepDraft>,
    pub trailhead: Option<StepDraft>,
    pub steps: Vec<StepDraft>,
    pub after: Vec<StepDraft>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepDraft {
    /// Its words; made of its calls if there are none.
    pub words: Option<String>,
    pub parts: Vec<StepPart>,
    pub when: Option<Value>,
    pub until: Option<(Value, u32)>,
    pub is_optional: bool,
    pub max_retries: Option<u32>,
    /// The classifiers that it is for, with the reason.
    pub only: Vec<(String, String)>,
    pub skip: Option<String>,
}

/// A call, or what was kept as a comment.
#[derive(Debug, Clone, PartialEq)]
pub enum StepPart {
    Call(Value),
    /// A call that differs by platform, because selectors do.
    ByPlatform {
        android: Value,
        ios: Value,
    },
    Comment(Vec<String>),
}

impl StepDraft {
    pub fn of(parts: Vec<StepPart>) -> StepDraft {
        StepDraft { parts, ..StepDraft::default() }
    }

    pub fn calls(&self) -> impl Iterator<Item = &Value> {
        self.parts.iter().filter_map(|part| match part {
            StepPart::Call(call) | StepPart::ByPlatform { android: call, .. } => Some(call),
            StepPart::Comment(_) => None,
        })
    }

    pub fn has_calls(&self) -> bool {
        self.calls().next().is_some()
    }

    fn differs(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, StepPart::ByPlatform { .. }))
    }

    /// Whether it is like any other step: carried out once, and always.
    pub fn is_plain(&self) -> bool {
        self.when.is_none()
            && self.until.is_none()
            && !self.is_optional
            && self.max_retries.is_none()
            && self.only.is_empty()
            && self.skip.is_none()
    }
}

/// Whether a call checks something.
pub fn is_check(call: &Value) -> bool {
    let Some((tool, args)) = call.as_object().and_then(|map| map.iter().next()) else { return false };
    let is_of_maestro = |args: &Value| {
        let commands = args.get("commands").and_then(Value::as_array);
        commands.is_some_and(|commands| {
            commands.iter().all(|command| {
                let name = command.as_object().and_then(|map| map.keys().next());
                name.is_some_and(|name| name.starts_with("assert") || name == "extendedWaitUntil")
            })
        })
    };
    tool.starts_with("assert")
        || tool.starts_with("verify")
        || tool.starts_with("web_verify")
        || tool.starts_with("web_assert")
        || (tool == "maestro" && is_of_maestro(args))
}

impl TrailDraft {
    /// The text of the file.
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.head.iter().for_each(|line| comment(&mut out, 0, line));
        out.push_str(&block(&Value::Object(Map::from_iter([("config".to_string(), self.config())])), 0));
        let mut pending = Vec::new();
        write_steps(&mut out, "before", &self.before, &mut pending);
        let trailhead = self.trailhead.as_ref().filter(|_| self.steps.iter().any(StepDraft::has_calls));
        if let Some(head) = trailhead {
            out.push_str("\ntrailhead:\n");
            write_body(&mut out, "step", head, 2);
        }
        let steps: Vec<StepDraft> = match (&self.trailhead, trailhead) {
            // A trail of a trailhead alone would have no steps.
            (Some(head), None) => std::iter::once(head).chain(&self.steps).cloned().collect(),
            _ => self.steps.clone(),
        };
        write_steps(&mut out, "trail", &steps, &mut pending);
        write_steps(&mut out, "after", &self.after, &mut pending);
        if !pending.is_empty() {
            out.push('\n');
        }
        pending.iter().for_each(|line| comment(&mut out, 0, line));
        out
    }

    fn config(&self) -> Value {
        let mut config = Map::new();
        let mut put = |key: &str, value: Value| config.insert(key.to_string(), value);
        put("title", self.title.as_str().into());
        let pairs = |pairs: &[(String, String)]| -> Value {
            pairs.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect::<Map<_, _>>().into()
        };
        if let Some(description) = &self.description {
            put("description", description.as_str().into());
        }
        if let Some(target) = &self.target {
            put("target", target.as_str().into());
        }
        if !self.tags.is_empty() {
            put("tags", self.tags.clone().into());
        }
        if !self.drivers.is_empty() {
            put("devices", pairs(&self.drivers));
        }
        if let Some(answer) = &self.dialogs {
            put("dialogs", answer.as_str().into());
        }
        if !self.skip.is_empty() {
            put("skip", pairs(&self.skip));
        }
        if !self.memory.is_empty() {
            put("memory", pairs(&self.memory));
        }
        config.into()
    }
}

/// Writes a list of steps. Comments of steps without calls come before the next step.
fn write_steps(out: &mut String, key: &str, steps: &[StepDraft], pending: &mut Vec<String>) {
    if !steps.iter().any(StepDraft::has_calls) {
        pending.extend(steps.iter().flat_map(comments));
        return;
    }
    out.push_str(&format!("\n{key}:\n"));
    let mut is_first = true;
    for step in steps {
        if !step.has_calls() {
            pending.extend(comments(step));
            continue;
        }
        if !is_first {
            out.push('\n');
        }
        is_first = false;
        pending.drain(..).for_each(|line| comment(out, 2, &line));
        out.push_str("  - ");
        let kind = if step.until.is_none() && step.calls().all(is_check) { "verify" } else { "step" };
        let kind = if key == "trail" && !step.is_optional { kind } else { "step" };
        write_body(out, kind, step, 4);
    }
}

fn comments(step: &StepDraft) -> Vec<String> {
    let lines = step.parts.iter().filter_map(|part| match part {
        StepPart::Comment(lines) => Some(lines.clone()),
        _ => None,
    });
    lines.flatten().collect()
}

/// Writes the keys of a step. The first one follows the dash.
fn write_body(out: &mut String, kind: &str, step: &StepDraft, indent: usize) {
    let pad = " ".repeat(indent);
    let words = step.words.clone().filter(|words| !words.trim().is_empty());
    let words = words.unwrap_or_else(|| words::of_calls(step.calls()));
    let words = if words.trim().is_empty() { "Go on".to_string() } else { words::one_line(&words) };
    if !out.ends_with("- ") {
        out.push_str(&pad);
    }
    out.push_str(&format!("{kind}: {}\n", inline(&words.into())));
    let mut key = |name: &str, value: &Value| out.push_str(&format!("{pad}{name}: {}\n", inline(value)));
    let pairs = |pairs: &[(String, String)]| -> Value {
        pairs.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect::<Map<_, _>>().into()
    };
    if let Some(reason) = &step.skip {
        key("skip", &reason.as_str().into());
    }
    if !step.only.is_empty() {
        key("only", &pairs(&step.only));
    }
    if step.is_optional {
        key("optional", &true.into());
    }
    if let Some(when) = &step.when {
        key("when", when);
    }
    if let Some(n) = step.max_retries {
        key("maxRetries", &n.into());
    }
    if let Some((until, times)) = &step.until {
        out.push_str(&format!("{pad}repeat:\n{pad}  until: {}\n{pad}  times: {times}\n", inline(until)));
    }
    if step.differs() {
        out.push_str(&format!("{pad}recording:\n"));
        for platform in ["android", "ios"] {
            out.push_str(&format!("{pad}  {platform}:\n"));
            write_parts(out, step, platform, indent + 4);
        }
    } else {
        out.push_str(&format!("{pad}tools:\n"));
        write_parts(out, step, "", indent + 2);
    }
}

fn write_parts(out: &mut String, step: &StepDraft, platform: &str, indent: usize) {
    for part in &step.parts {
        match part {
            StepPart::Call(call) => write_call(out, call, indent),
            StepPart::ByPlatform { android, ios } => {
                write_call(out, if platform == "ios" { ios } else { android }, indent);
            }
            StepPart::Comment(lines) => lines.iter().for_each(|line| comment(out, indent, line)),
        }
    }
}

/// Writes a call as an item of a list.
pub fn write_call(out: &mut String, call: &Value, indent: usize) {
    let pad = " ".repeat(indent);
    let lines: Vec<String> = call
        .as_object()
        .map(|map| {
            map.iter().map(|(key, value)| format!("{}: {}", inline(&key.as_str().into()), inline(value))).collect()
        })
        .unwrap_or_default();
    if lines.iter().all(|line| line.chars().count() + indent <= LINE) {
        out.push_str(&format!("{pad}- {}\n", lines.join(&format!("\n{pad}  "))));
    } else {
        out.push_str(&block(&Value::Array(vec![call.clone()]), indent));
    }
}

/// Writes one line of a comment. A text from a file has no line breaks of any kind in it.
pub fn comment(out: &mut String, indent: usize, line: &str) {
    let is_odd =
        |c: char| (c.is_control() && c != '\t') || matches!(c, '\u{2028}' | '\u{2029}' | '\u{85}' | '\u{feff}');
    let line: String = line.chars().map(|c| if is_odd(c) { ' ' } else { c }).collect();
    let line = line.trim_end();
    let pad = " ".repeat(indent);
    out.push_str(&if line.is_empty() { format!("{pad}#\n") } else { format!("{pad}# {line}\n") });
}
