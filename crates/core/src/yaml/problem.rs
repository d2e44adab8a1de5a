//! Problems of files and their places. Readers collect all problems before they fail.

use std::fmt;
use std::sync::Arc;

use super::node::{Source, Span};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    Warning,
    Error,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    pub source: Arc<Source>,
    pub span: Span,
    pub severity: Severity,
    pub message: String,
    pub hint: Option<String>,
}

/// One line, where there is no room for a snippet.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.source.path, self.span.line, self.span.column, self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

/// The problems of one file, as they are found.
#[derive(Debug)]
pub struct Problems {
    source: Arc<Source>,
    found: Vec<Problem>,
}

impl Problems {
    pub fn new(source: &Arc<Source>) -> Problems {
        Problems { source: Arc::clone(source), found: Vec::new() }
    }

    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// Overwrites a part of the text that problems quote, because it is secret.
    pub fn hide(&mut self, span: Span) {
        let Some(secret) = self.source.text.get(span.start..span.end) else { return };
        let stars: String =
            secret.chars().map(|c| if c == '\n' { "\n".to_string() } else { "*".repeat(c.len_utf8()) }).collect();
        let text = [&self.source.text[..span.start], &stars, &self.source.text[span.end..]].concat();
        let hidden = Source::new(self.source.path.as_str(), text);
        self.found.iter_mut().for_each(|problem| problem.source = Arc::clone(&hidden));
        self.source = hidden;
    }

    pub fn error(&mut self, span: Span, message: impl Into<String>) {
        self.push(Severity::Error, span, message.into(), None);
    }

    pub fn error_with_hint(&mut self, span: Span, message: impl Into<String>, hint: impl Into<String>) {
        self.push(Severity::Error, span, message.into(), Some(hint.into()));
    }

    pub fn warning(&mut self, span: Span, message: impl Into<String>) {
        self.push(Severity::Warning, span, message.into(), None);
    }

    pub fn warning_with_hint(&mut self, span: Span, message: impl Into<String>, hint: impl Into<String>) {
        self.push(Severity::Warning, span, message.into(), Some(hint.into()));
    }

    /// Reports an unknown word, and suggests the most similar of `known`.
    pub fn unknown<'a>(&mut self, span: Span, what: &str, word: &str, known: impl IntoIterator<Item = &'a str>) {
        let known: Vec<&str> = known.into_iter().collect();
        let hint = match crate::nearest::nearest(word, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => "none exist yet".to_string(),
            None => format!("expected one of: {}", known.join(", ")),
        };
        self.error_with_hint(span, format!("unknown {what} `{word}`"), hint);
    }

    fn push(&mut self, severity: Severity, span: Span, message: String, hint: Option<String>) {
        self.found.push(Problem { source: Arc::clone(&self.source), span, severity, message, hint });
    }

    pub fn has_errors(&self) -> bool {
        self.found.iter().any(|problem| problem.severity == Severity::Error)
    }

    pub fn into_vec(self) -> Vec<Problem> {
        self.found
    }
}
