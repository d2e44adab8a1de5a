//! Values of a test that are known before it runs.

use std::collections::BTreeMap;

use super::code::{CodeFunction, CodeKind, TestCode};

/// How deep constants may be made of each other.
const DEPTH: usize = 12;

/// What the names of a file stand for.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    pub values: BTreeMap<String, TestCode>,
    pub functions: BTreeMap<String, CodeFunction>,
    /// Names of pages, by the number of their tab.
    pub pages: BTreeMap<String, usize>,
    /// Promises of pages and downloads that were not awaited yet.
    pub promises: BTreeMap<String, &'static str>,
}

impl Scope {
    pub fn text(&self, code: &TestCode) -> Result<String, String> {
        self.text_within(code, DEPTH)
    }

    fn text_within(&self, code: &TestCode, depth: usize) -> Result<String, String> {
        if depth == 0 {
            return Err("a value is nested too deeply".to_string());
        }
        match &code.kind {
            CodeKind::Text(text) => Ok(text.clone()),
            CodeKind::Template(texts, values) => {
                let mut out = texts.first().cloned().unwrap_or_default();
                for (value, text) in values.iter().zip(texts.iter().skip(1)) {
                    out.push_str(&self.text_within(value, depth - 1)?);
                    out.push_str(text);
                    if out.len() > 1 << 16 {
                        return Err("a text is too long".to_string());
                    }
                }
                Ok(out)
            }
            CodeKind::Number(number) => Ok(number.to_string()),
            CodeKind::Flag(flag) => Ok(flag.to_string()),
            CodeKind::Sum(left, right) => {
                let text = self.text_within(left, depth - 1)? + &self.text_within(right, depth - 1)?;
                if text.len() > 1 << 16 { Err("a text is too long".to_string()) } else { Ok(text) }
            }
            CodeKind::Name(name) => match self.values.get(name) {
                Some(value) => self.text_within(value, depth - 1),
                None => Err(format!("the value of `{name}` is only known when the test runs")),
            },
            CodeKind::Member(object, property) => {
                if object.names().as_deref() == Some(&["process", "env"]) {
                    return Ok(format!("{{{{{property}}}}}"));
                }
                match self.resolved(object, depth - 1).and_then(|object| object.field(property)) {
                    Some(value) => self.text_within(value, depth - 1),
                    None => Err(format!("the value of `{property}` is only known when the test runs")),
                }
            }
            _ => Err("a value is only known when the test runs".to_string()),
        }
    }

    /// What a name stands for.
    pub fn resolved<'s>(&'s self, code: &'s TestCode, depth: usize) -> Option<&'s TestCode> {
        match &code.kind {
            _ if depth == 0 => None,
            CodeKind::Name(name) => self.resolved(self.values.get(name)?, depth - 1),
            CodeKind::Member(object, property) => {
                let value = self.resolved(object, depth - 1)?.field(property)?;
                self.resolved(value, depth - 1)
            }
            _ => Some(code),
        }
    }

    pub fn value<'s>(&'s self, code: &'s TestCode) -> &'s TestCode {
        self.resolved(code, DEPTH).unwrap_or(code)
    }

    pub fn flag(&self, code: Option<&TestCode>) -> Option<bool> {
        match self.value(code?).kind {
            CodeKind::Flag(flag) => Some(flag),
            _ => None,
        }
    }

    pub fn number(&self, code: &TestCode) -> Option<f64> {
        match self.value(code).kind {
            CodeKind::Number(number) => Some(number),
            _ => None,
        }
    }

    /// A regular expression of ours that matches the whole text.
    pub fn pattern(&self, code: &TestCode) -> Option<String> {
        match &self.value(code).kind {
            CodeKind::Pattern { source, flags } => Some(whole(source, flags.contains('i'))),
            _ => None,
        }
    }
}

/// A pattern for the whole text, of one for a part of it.
pub fn whole(source: &str, ignores_case: bool) -> String {
    let source = source.replace("\\/", "/");
    let (start, rest) = source.strip_prefix('^').map_or((".*", source.as_str()), |rest| ("", rest));
    let is_end = rest.ends_with('$') && !rest.ends_with("\\$");
    let (rest, end) = if is_end { (&rest[..rest.len() - 1], "") } else { (rest, ".*") };
    let rest = if rest.contains('|') { format!("(?:{rest})") } else { rest.to_string() };
    format!("{}{start}{rest}{end}", if ignores_case { "(?i)" } else { "" })
}
