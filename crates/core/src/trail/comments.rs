//! The comments of a YAML file.

use crate::yaml::{YamlKind, YamlNode, line_end};

#[derive(Debug, Clone, PartialEq)]
pub struct Comment {
    pub start: usize,
    /// The text, including `#`.
    pub text: String,
    /// Whether it is alone on its line.
    pub is_own_line: bool,
}

/// All comments, in order: the text after a `#` outside of values.
pub fn comments(text: &str, root: &YamlNode) -> Vec<Comment> {
    let mut values = Vec::new();
    collect_values(root, &mut values);
    values.sort_unstable();
    let mut values = values.into_iter().peekable();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = text[at..].find('#').map(|next| at + next) {
        let mut end_of_value = None;
        while let Some((start, end)) = values.peek().copied().filter(|(start, _)| *start <= next) {
            // An alias has the place of its anchor, so places may occur twice.
            end_of_value = end_of_value.max((start <= next && next < end).then_some(end));
            if end > next {
                break;
            }
            values.next();
        }
        let before = text[..next].chars().next_back();
        let is_comment = before.is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{feff}'));
        match end_of_value {
            Some(end) => at = end,
            None if is_comment => {
                let line_start = text[..next].rfind(['\n', '\r']).map_or(0, |at| at + 1);
                let lead = text[line_start..next].trim_start_matches('\u{feff}');
                let end = line_end(text, next);
                found.push(Comment {
                    start: next,
                    text: text[next..end].trim_end().to_string(),
                    is_own_line: lead.trim().is_empty(),
                });
                at = end;
            }
            None => at = next + 1,
        }
    }
    found
}

fn collect_values(node: &YamlNode, values: &mut Vec<(usize, usize)>) {
    match &node.kind {
        YamlKind::Scalar { .. } => values.push((node.span.start, node.span.end)),
        YamlKind::Seq(items) => items.iter().for_each(|item| collect_values(item, values)),
        YamlKind::Map(entries) => entries.iter().for_each(|(key, value)| {
            collect_values(key, values);
            collect_values(value, values);
        }),
    }
}
