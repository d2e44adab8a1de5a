//! Checks and their results, as `doctor` commands print them.

use serde_json::{Value, json};

use crate::output::print;

/// A check and its result.
pub struct Sign {
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

impl Sign {
    pub fn good(about: &'static str, message: impl Into<String>) -> Sign {
        Sign { state: State::Good, about, message: message.into(), hint: None }
    }

    pub fn note(about: &'static str, message: impl Into<String>) -> Sign {
        Sign { state: State::Note, ..Sign::good(about, message) }
    }

    pub fn warning(about: &'static str, message: impl Into<String>) -> Sign {
        Sign { state: State::Warning, ..Sign::good(about, message) }
    }

    pub fn bad(about: &'static str, message: impl Into<String>) -> Sign {
        Sign { state: State::Bad, ..Sign::good(about, message) }
    }

    pub fn hint(self, hint: impl Into<String>) -> Sign {
        Sign { hint: Some(hint.into()), ..self }
    }
}

pub fn json(signs: &[Sign]) -> Vec<Value> {
    let one = |sign: &Sign| json!({"state": sign.state.word(), "about": sign.about, "message": sign.message, "hint": sign.hint});
    signs.iter().map(one).collect()
}

pub fn show(signs: &[Sign]) {
    for sign in signs {
        print::data(format!("  {:<8} {}", sign.state.word(), sign.message.replace('\n', "\n           ")));
        if let Some(hint) = &sign.hint {
            print::data(format!("           hint: {hint}"));
        }
    }
}
