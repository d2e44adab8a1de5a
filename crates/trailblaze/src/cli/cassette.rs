//! `--cassette`, shared by all commands that call tools.

use clap::Args;
use trailblaze_core::yaml::Problem;

use super::Refusal;
use crate::project::loaded::Loaded;
use crate::servers::cassettes::{CassetteMode, Cassettes};

#[derive(Args, Clone, Copy, Default)]
pub struct CassetteArgs {
    /// Record the answers of tool servers as cassettes, in cassettes/ in the project, or replay them
    #[arg(long, value_enum, value_name = "USE")]
    pub cassette: Option<CassetteUse>,
}

/// Whether to record cassettes or replay them.
#[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum CassetteUse {
    /// Start the servers, and record their tool lists and answers
    Record,
    /// Start no servers: cassettes answer instead, and repeat the callbacks of the tools
    Replay,
}

impl CassetteArgs {
    pub fn wanted(self) -> Option<CassetteMode> {
        self.cassette.map(|wanted| match wanted {
            CassetteUse::Record => CassetteMode::Record,
            CassetteUse::Replay => CassetteMode::Replay,
        })
    }

    /// The requested cassettes, and the problems found in them.
    pub fn read(self, loaded: &Loaded) -> (Option<Cassettes>, Vec<Problem>) {
        match self.wanted().map(|wanted| Cassettes::open(wanted, loaded)) {
            None => (None, Vec::new()),
            Some(Ok(cassettes)) => (Some(cassettes), Vec::new()),
            Some(Err(problems)) => (None, problems),
        }
    }

    /// The requested cassettes, if they are valid.
    pub fn open(self, loaded: &Loaded) -> Result<Option<Cassettes>, Refusal> {
        let (cassettes, problems) = self.read(loaded);
        Refusal::unless_sound(&problems)?;
        Ok(cassettes)
    }
}
