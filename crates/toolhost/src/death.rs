//! How an instance of a server ended.

use trailblaze_core::engine::source::SourceError;

/// How an instance ended, as those that wait for its answers are told.
#[derive(Debug, Clone)]
pub(crate) struct Death {
    pub server: String,
    pub reason: String,
    /// Whether its process ended by itself. Otherwise the reason is a wrong answer, and names the request.
    pub is_exit: bool,
    /// What it printed, and what else may be the cause.
    pub details: String,
}

impl Death {
    pub fn error(&self) -> SourceError {
        self.told("")
    }

    /// The same for a call of a tool, which may be the cause.
    pub fn during(&self, tool: &str, defined_at: Option<&str>) -> SourceError {
        let place = defined_at.map(|place| format!(" (defined at {place})")).unwrap_or_default();
        self.told(&if self.is_exit { format!(" during `{tool}`{place}") } else { String::new() })
    }

    fn told(&self, during: &str) -> SourceError {
        let evidence = format!("{}{during}{}", self.reason, self.details);
        SourceError::Died { source_name: self.server.clone(), evidence }
    }
}
