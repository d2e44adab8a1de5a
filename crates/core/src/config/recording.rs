//! How trails are recorded by hand.

use crate::{table, words};

table! {
    /// How trails are recorded by hand.
    pub struct RecordingConfig {
        /// Whether a recording is replayed once, to see whether it holds: never, ask or always. A replay repeats what was done.
        "verify" => verify: VerifyWord = VerifyWord::Never,
    }
}

words! {
    pub enum VerifyWord {
        "never" => Never,
        "ask" => Ask,
        "always" => Always,
    }
}
