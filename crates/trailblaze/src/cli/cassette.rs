//! `--cassette`, for every command that calls tools.

use clap::Args;
use trailblaze_core::yaml::Problem;
use trailblaze_protocol::exit::Exit;

use super::Refusal;
use crate::output::print;
use crate::project::loaded::Loaded;
use crate::servers::cassettes::{Cassettes, Use};
use crate::servers::tool_servers::ToolServers;

#[derive(Args, Clone, Copy, Default)]
pub struct CassetteArgs {
    /// Keep what tool servers say on cassettes, in cassettes/ of the project, or play it in their place
    #[arg(long, value_enum, value_name = "USE")]
    pub cassette: Option<Use>,
}

impl CassetteArgs {
    /// The cassettes that were asked for, and what is wrong with them.
    pub fn read(self, loaded: &Loaded) -> (Option<Cassettes>, Vec<Problem>) {
        match self.cassette.map(|wanted| Cassettes::open(wanted, loaded)) {
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

/// Writes what was recorded, and says so. Half of a run does not take the place of a whole one.
pub fn save_cassettes(servers: &ToolServers, is_cancelled: bool, say: impl Fn(&str)) -> Exit {
    let Some(recording) = servers.recording() else { return Exit::Passed };
    if is_cancelled {
        print::warning("the run was cancelled, so its cassettes were not saved");
        return Exit::Passed;
    }
    let mut exit = Exit::Passed;
    for saved in recording.save(servers.root()) {
        match saved {
            Ok(saved) => {
                let calls = print::count(saved.n_calls, "call");
                say(&format!("kept {calls} of server `{}` in {}", saved.server, saved.file));
            }
            Err(error) => {
                print::error(format!("the cassette was not saved: {error}"));
                exit = Exit::Environment;
            }
        }
    }
    exit
}
