//! The exit codes of the process.

use serde::{Deserialize, Serialize};

/// How a run, or a part of it, ended.
///
/// Variants are ordered by severity; of several, the most severe is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Exit {
    /// Everything passed.
    Passed,
    /// A test failed, or a tool reported a fatal error.
    Failed,
    /// The request is wrong: bad files, an unknown tool, or a trail that needs a model but none is configured.
    Invalid,
    /// The environment failed: a device was lost, a server died, the run was cancelled.
    Environment,
    /// A bug in Trailblaze.
    Bug,
}

impl Exit {
    pub const ALL: [Exit; 5] = [Exit::Passed, Exit::Failed, Exit::Invalid, Exit::Environment, Exit::Bug];

    /// The exit code of the process.
    pub fn code(self) -> u8 {
        match self {
            Exit::Passed => 0,
            Exit::Failed => 1,
            Exit::Environment => 2,
            Exit::Invalid => 3,
            Exit::Bug => 70,
        }
    }

    /// The more severe of the two.
    pub fn worst(self, other: Exit) -> Exit {
        self.max(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_severe_exit_is_reported() {
        let by_severity: Vec<u8> = Exit::ALL.iter().map(|exit| exit.code()).collect();
        assert_eq!(by_severity, [0, 1, 3, 2, 70]);
        assert_eq!(Exit::Failed.worst(Exit::Invalid), Exit::Invalid);
        assert_eq!(Exit::Bug.worst(Exit::Environment), Exit::Bug);
    }
}
