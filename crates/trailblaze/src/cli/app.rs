//! The program with a team's own tools inside.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use trailblaze_tools::Toolset;

use super::ProgramName;
use crate::project::compiled_in::CompiledIn;

/// The whole command line, to which a team adds its own tools.
///
/// ```no_run
/// # use trailblaze_tools::{ToolContext, ToolResult, toolset};
/// # struct Acme;
/// # #[toolset]
/// # impl Acme {
/// #     /// Sign in.
/// #     #[tool(name = "acme_login")]
/// #     async fn login(&self, cx: &ToolContext) -> ToolResult<()> { Ok(()) }
/// # }
/// fn main() -> std::process::ExitCode {
///     trailblaze::app().toolset(Acme).main()
/// }
/// ```
///
/// Must be called before anything else in `main`: the program starts itself again as the supervisor of each child process, and to put back
/// what it changed on a device if it is killed.
pub fn app() -> App {
    let supervised = trailblaze_supervise::guardian_main()
        .or_else(trailblaze_drivers::ios::put_back_main)
        .or_else(trailblaze_drivers::web::end_sessions_main);
    App { supervised, toolsets: Vec::new() }
}

/// A program that consists of Trailblaze and a team's own tools.
#[must_use = "`main` runs it"]
pub struct App {
    /// How this process ends if it was started as a supervisor, or to put back what another one changed; its work is then done.
    supervised: Option<ExitCode>,
    toolsets: Vec<Arc<dyn Toolset>>,
}

impl App {
    /// Adds tools. They are listed, called and recorded like all others; a name that exists already is an error of the commands
    /// that use tools.
    pub fn toolset(mut self, toolset: impl Toolset) -> App {
        self.toolsets.push(Arc::new(toolset));
        self
    }

    /// Runs the command that was given.
    pub fn main(self) -> ExitCode {
        if let Some(code) = self.supervised {
            return code;
        }
        let started_as = std::env::args_os().next().unwrap_or_default();
        let name = Path::new(&started_as).file_stem().map(|name| name.to_string_lossy().into_owned());
        let program = match name {
            // Leaked, as the parser of arguments wants it; there is one for the whole process.
            Some(name) if !self.toolsets.is_empty() => {
                ProgramName { name: name.leak(), version: concat!("(trailblaze ", env!("CARGO_PKG_VERSION"), ")") }
            }
            _ => ProgramName { name: "trailblaze", version: env!("CARGO_PKG_VERSION") },
        };
        super::start(program, CompiledIn::new(self.toolsets))
    }
}
