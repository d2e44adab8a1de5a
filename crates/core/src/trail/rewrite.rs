//! Rewrites values in block style, keeping their quotes and comments.

use std::collections::VecDeque;

use super::comments::{Comment, comments};
use crate::yaml::{Style, YamlKind, YamlNode, inline};

/// A text under construction. Each write passes a position of the old text, up to which comments are copied.
pub struct Rewrite<'t> {
    text: &'t str,
    /// The comments that are not written yet.
    comments: VecDeque<Comment>,
    out: String,
}

impl<'t> Rewrite<'t> {
    pub fn new(text: &'t str, root: &YamlNode) -> Rewrite<'t> {
        Rewrite { text, comments: comments(text, root).into(), out: String::new() }
    }

    /// Writes what precedes a position of the old text: comments, and a blank line if there was one.
    pub fn before(&mut self, at: usize, indent: usize) {
        while let Some(comment) = self.comments.pop_front_if(|comment| comment.start < at) {
            self.blank_line(comment.start, comment.is_own_line);
            self.start_line(indent);
            self.out.push_str(&comment.text);
            self.out.push('\n');
        }
        self.blank_line(at, true);
    }

    /// Writes `- ` for an item whose first line follows.
    pub fn dash(&mut self, indent: usize) {
        self.start_line(indent);
        self.out.push_str("- ");
    }

    pub fn name(&mut self, name: &str, indent: usize) {
        self.start_line(indent);
        self.out.push_str(name);
        self.out.push(':');
    }

    /// Writes an entry that the old text does not have.
    pub fn line(&mut self, name: &str, value: &str, indent: usize) {
        self.name(name, indent);
        self.out.push(' ');
        self.out.push_str(value);
        self.out.push('\n');
    }

    /// Writes whole lines in place of something that ended at `end`.
    pub fn lines(&mut self, lines: &str, end: usize) {
        let lines = if self.is_in_line() { lines.trim_start() } else { lines };
        self.out.push_str(lines.trim_end_matches('\n'));
        self.end_line(end);
    }

    /// Writes an entry unchanged.
    pub fn entry(&mut self, key: &YamlNode, value: &YamlNode, indent: usize) {
        let name = self.scalar(key, indent);
        self.name(&name, indent);
        self.value(value, key.span.end + 1, indent);
    }

    /// Writes the value of the last written key, whose colon ended at `colon`.
    pub fn value(&mut self, node: &YamlNode, colon: usize, indent: usize) {
        match &node.kind {
            YamlKind::Scalar { .. } if node.is_null() => self.end_line(node.span.end),
            YamlKind::Map(entries) if !entries.is_empty() && !self.is_on_one_line(node) => {
                self.end_line(colon);
                self.entries(entries, indent + 2);
            }
            YamlKind::Seq(items) if !items.is_empty() && !self.is_on_one_line(node) => {
                self.end_line(colon);
                self.items(items, indent + 2);
            }
            _ => {
                self.out.push(' ');
                self.inline(node, indent);
            }
        }
    }

    /// Ends the line, with the comment that followed `end` on the same line.
    pub fn end_line(&mut self, end: usize) {
        let text = self.text;
        let is_behind = |comment: &mut Comment| {
            !comment.is_own_line && comment.start >= end && !text[end..comment.start].contains(['\n', '\r'])
        };
        if let Some(comment) = self.comments.pop_front_if(is_behind) {
            self.out.push(' ');
            self.out.push_str(&comment.text);
        }
        self.out.push('\n');
    }

    /// The finished text, with the remaining comments at its end.
    pub fn finish(mut self) -> String {
        while let Some(comment) = self.comments.pop_front() {
            self.blank_line(comment.start, comment.is_own_line);
            self.out.push_str(&comment.text);
            self.out.push('\n');
        }
        self.out
    }

    fn entries(&mut self, entries: &[(YamlNode, YamlNode)], indent: usize) {
        for (key, value) in entries {
            self.before(key.span.start, indent);
            self.entry(key, value, indent);
        }
    }

    fn items(&mut self, items: &[YamlNode], indent: usize) {
        for item in items {
            self.before(item.span.start, indent);
            self.dash(indent);
            match &item.kind {
                YamlKind::Map(entries) if !entries.is_empty() && !self.is_on_one_line(item) => {
                    self.entries(entries, indent + 2);
                }
                YamlKind::Seq(inner) if !inner.is_empty() && !self.is_on_one_line(item) => {
                    self.items(inner, indent + 2)
                }
                _ => self.inline(item, indent),
            }
        }
    }

    fn inline(&mut self, node: &YamlNode, indent: usize) {
        let written = match &node.kind {
            YamlKind::Scalar { .. } => self.scalar(node, indent),
            YamlKind::Seq(items) if items.is_empty() => "[]".to_string(),
            YamlKind::Map(entries) if entries.is_empty() => "{}".to_string(),
            _ => self.text[node.span.start..node.span.end].to_string(),
        };
        self.out.push_str(&written);
        self.end_line(node.span.end);
    }

    /// A scalar as written if it is one line; otherwise the same value in another style.
    fn scalar(&self, node: &YamlNode, indent: usize) -> String {
        let YamlKind::Scalar { raw, style, tag } = &node.kind else { return String::new() };
        let tag = tag.as_ref().map_or(String::new(), |tag| format!("!!{tag} "));
        let written = &self.text[node.span.start..node.span.end];
        let is_as_it_was = !written.contains(['\n', '\r']) && !written.starts_with('*');
        let value = match style {
            Style::Quoted if is_as_it_was => written.to_string(),
            Style::Plain if !raw.contains('\n') => raw.clone(),
            Style::Block if is_plain_block(raw) => {
                let lines = raw.strip_suffix('\n').map_or(("|-", raw.as_str()), |lines| ("|", lines));
                let lead = " ".repeat(indent + 2);
                let body = lines.1.split('\n').map(|line| match line {
                    "" => String::from("\n"),
                    line => format!("\n{lead}{line}"),
                });
                format!("{}{}", lines.0, body.collect::<String>())
            }
            _ => inline(&raw.as_str().into()),
        };
        format!("{tag}{value}")
    }

    /// Whether a flow collection can be copied unchanged.
    fn is_on_one_line(&self, node: &YamlNode) -> bool {
        let text = &self.text[node.span.start..node.span.end];
        text.starts_with(['[', '{']) && !text.contains(['\n', '\r', '#', '&', '*'])
    }

    fn start_line(&mut self, indent: usize) {
        if !self.is_in_line() {
            self.out.push_str(&" ".repeat(indent));
        }
    }

    fn is_in_line(&self) -> bool {
        !self.out.is_empty() && !self.out.ends_with('\n')
    }

    /// Writes a blank line if there was one before this line.
    fn blank_line(&mut self, at: usize, starts_line: bool) {
        let line_start = self.text[..at].rfind('\n').unwrap_or(0);
        let before = self.text[..line_start].trim_end_matches('\r');
        let was_blank = before.ends_with('\n') || before.trim_end_matches([' ', '\t']).ends_with('\n');
        if starts_line && was_blank && !self.out.is_empty() && !self.is_in_line() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }
}

/// Whether a text can be a `|` block at any indentation, followed by any lines.
fn is_plain_block(raw: &str) -> bool {
    let lines = raw.strip_suffix('\n').unwrap_or(raw);
    !lines.is_empty()
        && !lines.starts_with([' ', '\t', '\n'])
        && !lines.ends_with([' ', '\t', '\n'])
        && lines.chars().all(|c| c == '\n' || c == '\t' || !c.is_control())
        && !lines.contains(['\u{85}', '\u{2028}', '\u{2029}', '\u{feff}'])
}
