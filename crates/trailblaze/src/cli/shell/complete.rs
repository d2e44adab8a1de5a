//! Tab completion: commands, tools, their arguments, and the refs of the last snapshot.

use serde_json::Value;
use trailblaze_core::engine::registry::Registry;

use super::parse::{SAVE_FLAGS, SNAPSHOT_FLAGS, verbs};

/// The words that can be completed, fixed when the prompt is shown.
#[derive(Debug, Clone, Default)]
pub struct CompletionWords {
    /// In alphabetical order.
    tools: Vec<ToolWords>,
    refs: Vec<String>,
}

#[derive(Debug, Clone)]
struct ToolWords {
    name: String,
    /// Each with its allowed values, if they can be listed.
    args: Vec<(String, Vec<String>)>,
}

/// Candidates to replace the word that begins at `start`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Completion {
    pub start: usize,
    pub words: Vec<String>,
    /// Whether file names are candidates too.
    pub takes_files: bool,
}

impl CompletionWords {
    /// The tools of a session, and the refs of its last snapshot.
    pub fn new(registry: &Registry, snapshot: &str) -> CompletionWords {
        let mut tools: Vec<ToolWords> = registry.offered().map(|tool| words(&tool.name, tool.schema.json())).collect();
        tools.sort_by(|one, other| one.name.cmp(&other.name));
        let reference = |line: &str| Some(line.trim_start().strip_prefix('[')?.split_once(']')?.0.to_string());
        CompletionWords { tools, refs: snapshot.lines().filter_map(reference).collect() }
    }

    /// The candidates at the cursor.
    pub fn complete(&self, line: &str, cursor: usize) -> Completion {
        let line = line.get(..cursor).unwrap_or(line);
        let Some(start) = word_start(line) else { return Completion { start: cursor, ..Completion::default() } };
        let word = &line[start..];
        let before: Vec<&str> = line[..start].split_whitespace().collect();
        let tools = || self.tools.iter().map(|tool| tool.name.clone());
        let flags = |flags: &[&str]| flags.iter().map(ToString::to_string).collect::<Vec<String>>();
        let (words, takes_files): (Vec<String>, bool) = match before.as_slice() {
            [] => (verbs().map(String::from).chain(tools()).collect(), false),
            ["tool"] => (tools().collect(), false),
            ["step" | "verify" | "trailhead" | "tools" | "memory" | "undo" | "help" | "quit", ..] => {
                (Vec::new(), false)
            }
            ["snapshot", .., "--within"] => (self.refs.clone(), false),
            ["snapshot", .., "--screenshot"] => (Vec::new(), true),
            ["snapshot", ..] => (flags(&SNAPSHOT_FLAGS), false),
            ["save", .., "--title"] => (Vec::new(), false),
            ["save", ..] => (flags(&SAVE_FLAGS), true),
            ["tool", name, given @ ..] | [name, given @ ..] => (self.arguments(name, given, word), false),
        };
        let mut words: Vec<String> = words.into_iter().filter(|offered| offered.starts_with(word)).collect();
        words.dedup();
        Completion { start, words, takes_files: takes_files && !word.starts_with('-') }
    }

    /// `name=` for each argument not given yet, or the values of the one being typed.
    fn arguments(&self, tool: &str, given: &[&str], word: &str) -> Vec<String> {
        let Some(tool) = self.tools.iter().find(|known| known.name == tool) else { return Vec::new() };
        if let Some((name, _)) = word.split_once('=') {
            let known = tool.args.iter().find(|(known, _)| known == name).map(|(_, values)| values.as_slice());
            let values = if name == "ref" { self.refs.as_slice() } else { known.unwrap_or_default() };
            return values.iter().map(|value| format!("{name}={value}")).collect();
        }
        let is_given = |name: &str| given.iter().any(|arg| arg.split('=').next() == Some(name));
        tool.args.iter().filter(|(name, _)| !is_given(name)).map(|(name, _)| format!("{name}=")).collect()
    }
}

fn words(name: &str, schema: &Value) -> ToolWords {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let args = properties.map(|(name, property)| {
        let listed = property.get("enum").and_then(Value::as_array).into_iter().flatten();
        let listed = listed.map(|value| value.as_str().map_or_else(|| value.to_string(), String::from));
        let flags = ["true", "false"].iter().filter(|_| property["type"] == "boolean").map(ToString::to_string);
        (name.clone(), listed.chain(flags).collect())
    });
    ToolWords { name: name.to_string(), args: args.collect() }
}

/// Where the last word of a line begins; `None` within quotes.
fn word_start(line: &str) -> Option<usize> {
    let mut start = 0;
    let mut quote = None;
    let mut chars = line.char_indices();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (Some('"') | None, '\\') => drop(chars.next()),
            (None, c) if c.is_whitespace() => start = at + c.len_utf8(),
            _ => {}
        }
    }
    quote.is_none().then_some(start)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(line: &str, start: usize, expected: &[&str]) {
        let scroll = json!({"properties": {
            "direction": {"enum": ["UP", "DOWN"]}, "ref": {"type": "string"}, "fast": {"type": "boolean"},
        }});
        let tools = vec![words("scroll", &scroll), words("step_by_step", &json!({}))];
        let vocabulary = CompletionWords { tools, refs: vec!["e1".into(), "e12".into()] };
        let completion = vocabulary.complete(line, line.len());
        assert_eq!(
            (completion.start, completion.words),
            (start, expected.iter().map(ToString::to_string).collect()),
            "{line}"
        );
    }

    #[test]
    fn the_first_word_is_a_command_or_a_tool() {
        check("s", 0, &["step", "snapshot", "save", "scroll", "step_by_step"]);
        check("un", 0, &["undo"]);
        check("tool s", 5, &["scroll", "step_by_step"]);
        check("nope", 0, &[]);
    }

    #[test]
    fn a_tool_offers_the_arguments_that_it_does_not_have_yet_and_their_values() {
        check("scroll ", 7, &["direction=", "ref=", "fast="]);
        check("scroll fast=true d", 17, &["direction="]);
        check("tool scroll direction=D", 12, &["direction=DOWN"]);
        check("scroll fast=", 7, &["fast=true", "fast=false"]);
        check("scroll ref=e1", 7, &["ref=e1", "ref=e12"]);
        check("nope a", 5, &[]);
    }

    #[test]
    fn commands_offer_their_flags_and_words_are_left_alone() {
        check("snapshot --of", 9, &["--offscreen"]);
        check("snapshot --within e", 18, &["e1", "e12"]);
        check("save a.trail.yaml --f", 18, &["--force"]);
        check("step s", 5, &[]);
        check("scroll text=\"s", 14, &[]);
    }
}
