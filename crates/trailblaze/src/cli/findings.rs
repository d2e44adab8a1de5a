//! Checks and their results, as `doctor` commands print them.

use serde_json::{Value, json};

use crate::output::print;

/// A check and its result.
pub struct Finding {
    pub state: State,
    pub about: &'static str,
    pub message: String,
    pub hint: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum State {
    Good,
    /// Worth knowing; nothing to fix.
    Note,
    Warning,
    Bad,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            State::Good => "ok",
            State::Note => "note",
            State::Warning => "warning",
            State::Bad => "error",
        }
    }
}

impl Finding {
    pub fn good(about: &'static str, message: impl Into<String>) -> Finding {
        Finding { state: State::Good, about, message: message.into(), hint: None }
    }

    pub fn note(about: &'static str, message: impl Into<String>) -> Finding {
        Finding { state: State::Note, ..Finding::good(about, message) }
    }

    pub fn warning(about: &'static str, message: impl Into<String>) -> Finding {
        Finding { state: State::Warning, ..Finding::good(about, message) }
    }

    pub fn bad(about: &'static str, message: impl Into<String>) -> Finding {
        Finding { state: State::Bad, ..Finding::good(about, message) }
    }

    pub fn hint(self, hint: impl Into<String>) -> Finding {
        Finding { hint: Some(hint.into()), ..self }
    }
}

fn json(findings: &[Finding]) -> Vec<Value> {
    let one = |finding: &Finding| json!({"state": finding.state.word(), "about": finding.about, "message": finding.message, "hint": finding.hint});
    findings.iter().map(one).collect()
}

/// Prints them, after what they are about.
pub fn print((what, name): (&str, &str), findings: &[Finding], is_json: bool) {
    if is_json {
        return print::json(&json!({what: name, "findings": json(findings)}));
    }
    print::data(format!("{what} `{name}`"));
    for finding in findings {
        print::data(format!("  {:<8} {}", finding.state.word(), finding.message.replace('\n', "\n           ")));
        if let Some(hint) = &finding.hint {
            print::data(format!("           hint: {hint}"));
        }
    }
}
