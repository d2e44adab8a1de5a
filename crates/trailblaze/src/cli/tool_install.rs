//! `trailblaze tool install`: installs the npm packages that the project's tool servers need.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use trailblaze_protocol::exit::Exit;
use trailblaze_supervise::{ProcessExit, Supervisor};
use trailblaze_toolhost::launch::{Install, InstallError, Runtimes};

use super::child::ChildRun;
use super::{Context, Refusal};
use crate::output::print;
use crate::project::loaded::Loaded;
use crate::servers::entries::entries;

/// Install the npm packages of the project's tool servers, with the package manager whose lock file is there
#[derive(Args)]
pub struct ToolInstallArgs {
    /// A folder with a package.json, or in one [default: those of the project and of all servers with a `script:`]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Limit each installation to this time
    #[arg(long, default_value = "15m", value_parser = humantime::parse_duration)]
    timeout: Duration,
}

pub async fn install(context: &Context, args: &ToolInstallArgs) -> Result<Exit, Refusal> {
    let loaded = context.load(None)?;
    // Files may have problems that end when the packages are there.
    let folders = match &args.folder {
        Some(folder) => vec![folder.clone()],
        None => script_folders(&loaded),
    };
    let supervisor = Supervisor::new();
    let runtimes = Runtimes::new(loaded.environment.path().to_os_string(), supervisor.clone());
    let mut installs: Vec<Install> = Vec::new();
    for folder in &folders {
        match runtimes.install(folder).await {
            Ok(install) if installs.iter().any(|known| known.folder == install.folder) => {}
            Ok(install) => installs.push(install),
            // A script may do without packages.
            Err(InstallError::NoPackage { .. }) if args.folder.is_none() => {}
            Err(error @ InstallError::NoPackage { .. }) => return Err(Refusal::usage(error.to_string())),
            Err(error) => return Err(Refusal::Environment { message: error.to_string() }),
        }
    }
    if installs.is_empty() {
        let hint = Some("`trailblaze tool install DIR` installs those of a folder".to_string());
        return Err(Refusal::Usage {
            message: "neither the project nor a tool server of it has a package.json".to_string(),
            hint,
        });
    }
    for install in installs {
        let shown = shown(&loaded.root, &install.folder);
        print::say(format!("running `{}` in {shown}", install.command));
        let run = ChildRun { launch: install.launch, did: "installed packages", limit: args.timeout, is_shown: true };
        match run.ended(&supervisor).await?.0 {
            ProcessExit::Code(0) => print::data(format!("installed  {shown}")),
            ended => {
                return Err(Refusal::Environment { message: format!("`{}` in {shown} {ended}", install.command) });
            }
        }
    }
    Ok(Exit::Passed)
}

fn script_folders(loaded: &Loaded) -> Vec<PathBuf> {
    let scripts = entries(loaded).into_iter().filter_map(|named| named.entry.script);
    let of_servers = scripts.filter_map(|script| loaded.root.join(script).parent().map(Path::to_path_buf));
    // Scripts of tool files use the packages of the project.
    of_servers.chain([loaded.root.clone()]).collect()
}

/// A folder as it is shown: from the root of the project, if it is inside.
fn shown(root: &Path, folder: &Path) -> String {
    match folder.strip_prefix(root) {
        Ok(inside) if inside.as_os_str().is_empty() => "the project's folder".to_string(),
        Ok(inside) => inside.display().to_string(),
        Err(_) => folder.display().to_string(),
    }
}
