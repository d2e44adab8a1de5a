//! `--cassette`, for every command that calls tools.

use clap::Args;
use trailblaze_core::yaml::Problem;

use super::Refusal;
use crate::project::loaded::Loaded;
use crate::servers::cassettes::{Cassettes, Use};

#[derive(Args, Clone, Copy, Default)]
pub struct CassetteArgs {
    /// Keep what tool servers say on cassettes, in cassettes/ of the project, or play it in their place
    #[arg(long, value_enum, value_name = "USE")]
    pub cassette: Option<CassetteUse>,
}

/// What to do with cassettes.
#[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum CassetteUse {
    /// The servers run, and what they list and answer is kept
    Record,
    /// No server is started: its cassette answers, and calls back as its tools did
    Replay,
}

impl CassetteArgs {
    pub fn wanted(self) -> Option<Use> {
        self.cassette.map(|wanted| match wanted {
            CassetteUse::Record => Use::Record,
            CassetteUse::Replay => Use::Replay,
        })
    }

    /// The cassettes that were asked for, and what is wrong with them.
    pub fn read(self, loaded: &Loaded) -> (Option<Cassettes>, Vec<Problem>) {
        match self.wanted().map(|wanted| Cassettes::open(wanted, loaded)) {
            None => (None, Vec::new()),
            Some(Ok(cassettes)) => (Some(cassettes), Vec::new()),
            Some(Err(problems)) => (None, problems),
        }
    }

    /// The cassettes that were asked for, if they are sound.
    pub fn open(self, loaded: &Loaded) -> Result<Option<Cassettes>, Refusal> {
        let (cassettes, problems) = self.read(loaded);
        Refusal::unless_sound(&problems)?;
        Ok(cassettes)
    }
}
