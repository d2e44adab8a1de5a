//! Names of things in a run. Call ids and session keys are capabilities: whoever holds one may act.

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
    /// One command and its folder.
    RunId
);
id!(
    /// One device's lane of a run.
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
    /// A device, as `platform/name`.
    DeviceId
);

/// What a call hangs from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Parent {
    Step(StepId),
    Call(CallId),
}
