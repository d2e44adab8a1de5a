//! `trailblaze check`.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde_json::json;
use trailblaze_protocol::exit::Exit;

use super::device::DeviceArgs;
use super::{Context, Refusal};
use crate::output::print;
use crate::output::progress::Progress;
use crate::run::check::{self, CheckOptions};

/// Check every file of the project and every trail, without running anything
#[derive(Args)]
pub struct CheckArgs {
    /// Trails, or folders of trails [default: all trails of the project]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    devices: DeviceArgs,
    /// Treat a tool that changed since recording as an error
    #[arg(long)]
    strict: bool,
    /// Start no tool servers; use the tools they listed when last started
    #[arg(long)]
    offline: bool,
    /// Print the problems as JSON
    #[arg(long)]
    json: bool,
}

pub async fn check(context: &Context, args: CheckArgs) -> Result<Exit, Refusal> {
    let loaded = context.load(args.paths.first())?;
    let options = CheckOptions {
        paths: args.paths,
        devices: context.resolve_devices(&loaded, &args.devices.device).await?,
        is_strict: args.strict,
        is_offline: args.offline,
        without_trails: false,
    };
    let wiring = context.wiring(&loaded, None);
    let has_servers = wiring.servers.has_any();
    let found = check::check(&loaded, wiring, &options, Arc::new(Progress::new(args.json))).await?;
    let n_errors = found.n_errors();
    if args.json {
        let problems: Vec<_> = found.problems.iter().map(check::as_json).collect();
        let failed: Vec<String> = found.failed.iter().map(ToString::to_string).collect();
        print::json(&json!({
            "trails": found.n_trails, "errors": n_errors, "problems": problems, "isOffline": args.offline,
            "serversNotStarted": failed, "serversUnknown": found.unknown,
        }));
        let files = if n_errors == 0 { Exit::Passed } else { Exit::Invalid };
        return Ok(if failed.is_empty() { files } else { files.worst(Exit::Environment) });
    }
    for name in &found.unknown {
        print::warning(format!("the tools of server `{name}` are not known; calls to them were not checked"));
        print::hint("run `trailblaze check` without `--offline` to start the server and cache its tools");
    }
    if args.offline && has_servers {
        print::say("offline: servers were not started; their tools are those they listed when last started");
    }
    let sound = Refusal::unless_sound(&found.problems);
    if let Some(error) = found.failed.into_iter().next() {
        sound.or_else(|refusal| {
            refusal.show();
            Ok::<(), Refusal>(())
        })?;
        return Err(error.into());
    }
    sound?;
    let names: Vec<String> = found.devices.all.iter().map(|device| device.id.to_string()).collect();
    print::data(format!("{}, no problems on {}", print::count(found.n_trails, "trail"), names.join(", ")));
    Ok(Exit::Passed)
}
