//! Checks of what must be there, and their results.

/// A check and its result, as `doctor` commands print it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub state: FindingState,
    pub about: &'static str,
    pub message: String,
    pub hint: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingState {
    Good,
    /// Worth knowing; nothing to fix.
    Note,
    Warning,
    Bad,
}

impl FindingState {
    pub fn word(self) -> &'static str {
        match self {
            FindingState::Good => "ok",
            FindingState::Note => "note",
            FindingState::Warning => "warning",
            FindingState::Bad => "error",
        }
    }
}

impl Finding {
    pub fn good(about: &'static str, message: impl Into<String>) -> Finding {
        Finding { state: FindingState::Good, about, message: message.into(), hint: None }
    }

    pub fn note(about: &'static str, message: impl Into<String>) -> Finding {
        Finding { state: FindingState::Note, ..Finding::good(about, message) }
    }

    pub fn warning(about: &'static str, message: impl Into<String>) -> Finding {
        Finding { state: FindingState::Warning, ..Finding::good(about, message) }
    }

    pub fn bad(about: &'static str, message: impl Into<String>) -> Finding {
        Finding { state: FindingState::Bad, ..Finding::good(about, message) }
    }

    pub fn hint(self, hint: impl Into<String>) -> Finding {
        Finding { hint: Some(hint.into()), ..self }
    }
}
