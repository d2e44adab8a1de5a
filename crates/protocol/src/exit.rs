//! What the process answers to its shell.

use serde::{Deserialize, Serialize};

/// How a run, or a part of it, ended.
///
/// The order of the variants is the order of severity: of several, the greatest is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Exit {
    /// Everything passed.
    Passed,
    /// A test failed; a fatal error of a tool counts as one.
    Failed,
    /// What was asked for is wrong: bad files, an unknown tool, a trail that needs a model where there is none.
    Invalid,
    /// The environment failed: a device was lost, a server died, the run was cancelled.
    Environment,
    /// A bug of Trailblaze itself.
    Bug,
}

impl Exit {
    pub const ALL: [Exit; 5] = [Exit::Passed, Exit::Failed, Exit::Invalid, Exit::Environment, Exit::Bug];

    pub fn code(self) -> u8 {
        match self {
            Exit::Passed => 0,
            Exit::Failed => 1,
            Exit::Environment => 2,
            Exit::Invalid => 3,
            Exit::Bug => 70,
        }
    }

    /// The graver of the two.
    pub fn worst(self, other: Exit) -> Exit {
        self.max(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_endings_the_gravest_is_reported() {
        let by_severity: Vec<u8> = Exit::ALL.iter().map(|exit| exit.code()).collect();
        assert_eq!(by_severity, [0, 1, 3, 2, 70]);
        assert_eq!(Exit::Failed.worst(Exit::Invalid), Exit::Invalid);
        assert_eq!(Exit::Bug.worst(Exit::Environment), Exit::Bug);
    }
}
