//! Identifiers of things in a run. Call ids and session ids are capabilities: holding one is permission to act.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                $name(text.into())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id!(
    /// One run of the program, with its run folder.
    RunId
);
id!(
    /// One device in a run, with its registry and its tool servers.
    SessionId
);
id!(
    /// One try of one trail.
    AttemptId
);
id!(
    /// One step of an attempt.
    StepId
);
id!(
    /// One tool call. Unguessable; valid from `called` to `answered`.
    CallId
);
id!(
    /// One request to a language model.
    ModelRequestId
);
id!(
    /// A device, as `platform/name`.
    DeviceId
);

impl DeviceId {
    /// Whether it is a simulated device, whose name is `sim-1`, `sim-2` and so on.
    pub fn is_simulated(&self) -> bool {
        let name = self.as_str().split_once('/').and_then(|(_, name)| name.strip_prefix("sim-"));
        let number = name.and_then(|number| number.parse::<u32>().ok());
        number.is_some_and(|number| number > 0)
    }
}

/// A step or a call, by its id.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Parent {
    /// A step.
    Step(StepId),
    /// A tool call.
    Call(CallId),
}
