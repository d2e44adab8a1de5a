//! `agent:` in `trailblaze.yaml`: how models carry out steps, and what they may spend.

use crate::yaml::Millis;
use crate::{table, words};

table! {
    /// How models carry out steps.
    pub struct Agent {
        /// When a model gets a picture of the screen, besides its text: auto, always or never.
        "vision" => vision: VisionWord = VisionWord::Auto,
        /// What one step may spend.
        "step" => step: Option<SpendingLimits> = None,
        /// What a whole run may spend; default: no limit.
        "run" => run: Option<SpendingLimits> = None,
    }
}

words! {
    pub enum VisionWord {
        "auto" => Auto,
        "always" => Always,
        "never" => Never,
    }
}

table! {
    /// What may be spent on models.
    pub struct SpendingLimits {
        /// How many requests.
        "calls" => calls: Option<u64> = None,
        /// How many tokens, in and out.
        "tokens" => tokens: Option<u64> = None,
        /// How many US dollars; requires that the price of the model is configured.
        "dollars" => dollars: Option<f64> = None,
        /// How long: 5m.
        "time" => time: Option<Millis> = None,
    }
}
