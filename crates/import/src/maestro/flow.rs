//! A flow as written: its configuration, and a list of commands.

use std::sync::Arc;

use trailblaze_core::yaml::{Problem, Problems, Source, YamlNode, read};

use crate::ForeignFile;

pub struct Flow {
    pub source: Arc<Source>,
    pub header: Option<YamlNode>,
    pub commands: Vec<YamlNode>,
}

impl Flow {
    pub fn read(file: &ForeignFile) -> Result<Flow, Vec<Problem>> {
        let source = Source::new(file.path.as_str(), file.text.as_str());
        let mut problems = Problems::new(&source);
        let (header, commands) = parts(&file.text);
        let header = header.and_then(|text| document(&file.path, &text, &mut problems));
        let body = document(&file.path, &commands, &mut problems);
        let commands = match body {
            None => Vec::new(),
            Some(node) => match node.items() {
                Some(items) => items.to_vec(),
                None => {
                    problems.error_with_hint(
                        node.span,
                        format!("a flow is a list of commands, not {}", node.noun()),
                        "a workspace's config.yaml is no flow; name the files of flows",
                    );
                    Vec::new()
                }
            },
        };
        if let Some(header) = &header
            && header.entries().is_none()
        {
            problems.error(header.span, format!("the configuration of a flow is a mapping, not {}", header.noun()));
        }
        if problems.has_errors() {
            return Err(problems.into_vec());
        }
        Ok(Flow { source, header, commands })
    }

    pub fn header_text(&self, key: &str) -> Option<String> {
        self.header.as_ref()?.get(key)?.raw().map(str::to_string)
    }

    /// Visits all values of the flow.
    pub fn walk<'n>(&'n self, visit: &mut impl FnMut(&'n YamlNode)) {
        self.header.iter().chain(&self.commands).for_each(|node| node.walk(visit));
    }
}

fn document(path: &str, text: &str, problems: &mut Problems) -> Option<YamlNode> {
    let source = Source::new(path, text);
    let mut own = Problems::new(&source);
    let root = read(&source, &mut own);
    for problem in own.into_vec() {
        match problem.hint {
            Some(hint) => problems.error_with_hint(problem.span, problem.message, hint),
            None => problems.error(problem.span, problem.message),
        }
    }
    root
}

/// The configuration and the commands, each with spaces in place of the other, so that places are those of the file.
fn parts(text: &str) -> (Option<String>, String) {
    let mut start = 0;
    let mut separators = Vec::new();
    for line in text.split_inclusive('\n') {
        if line.trim_end() == "---" || line.starts_with("--- ") {
            separators.push((start, start + line.len()));
        }
        start += line.len();
    }
    let is_blank = |text: &str| text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'));
    let is_first_empty = separators.first().is_some_and(|(at, _)| is_blank(&text[..*at]));
    let separator = if is_first_empty { separators.get(1) } else { separators.first() };
    match (separator, is_first_empty.then(|| separators.first()).flatten()) {
        (Some((at, end)), skipped) => {
            let from = skipped.map_or(0, |(_, end)| *end);
            (Some(blanked(text, from, *at)), blanked(text, *end, text.len()))
        }
        (None, Some((_, end))) => (None, blanked(text, *end, text.len())),
        (None, None) => (None, text.to_string()),
    }
}

/// The text with spaces outside of a range.
fn blanked(text: &str, start: usize, end: usize) -> String {
    let blank = |part: &str| -> String {
        part.chars().map(|c| if c == '\n' || c == '\r' { c.to_string() } else { " ".repeat(c.len_utf8()) }).collect()
    };
    [blank(&text[..start]), text[start..end].to_string(), blank(&text[end..])].concat()
}
