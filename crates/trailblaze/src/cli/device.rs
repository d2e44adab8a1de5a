//! `trailblaze device`.

use clap::{Args, Subcommand};
use serde_json::json;
use trailblaze_protocol::exit::Exit;

use super::in_session::{self, SessionArgs};
use super::shell::OnDeviceArgs;
use super::{Context, Refusal};
use crate::output::print;
use crate::sessions::service::OpenRequest;

/// Options that choose devices.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct DeviceArgs {
    /// Use this device, written platform/name, such as android/sim-1; repeat or separate by commas for several
    #[arg(short, long = "device", value_name = "DEVICE", value_delimiter = ',', env = "TRAILBLAZE_DEVICE")]
    pub device: Vec<String>,
    /// Show the browser window of web devices
    #[arg(long)]
    pub headed: bool,
}

/// List devices, and open one that stays open between commands
#[derive(Args)]
pub struct DeviceCommand {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// List the devices that `--device` accepts
    List {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Open a device that stays open between commands; `snapshot`, `tool`, `do`, `batch` and `session` then use it
    Connect(Box<ConnectArgs>),
}

#[derive(Args)]
struct ConnectArgs {
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    on: OnDeviceArgs,
    /// Start this app, or open this page
    #[arg(long, value_name = "APP|URL")]
    launch: Option<String>,
    /// End the session that uses the device
    #[arg(long)]
    take_over: bool,
    /// Print the session as JSON
    #[arg(long)]
    json: bool,
}

pub async fn device(context: &Context, command: DeviceCommand) -> Result<Exit, Refusal> {
    match command.verb {
        Verb::List { json } => list(context, json),
        Verb::Connect(args) => connect(context, *args).await,
    }
}

async fn connect(context: &Context, args: ConnectArgs) -> Result<Exit, Refusal> {
    let request = in_session::open_request(context, &args.on, &args.session)?;
    let info = in_session::open(context, OpenRequest { takes_over: args.take_over, ..request }).await?;
    if let Some(what) = &args.launch
        && let Some(exit) = in_session::launch(context, &info, what, args.json).await?
    {
        return Ok(exit);
    }
    if args.json {
        print::json(&info);
        return Ok(Exit::Passed);
    }
    if let Some(ended) = &info.took_over {
        print::say(format!("ended session `{}`", ended.name));
        if let Some(unsaved) = &ended.unsaved {
            print::say(format!("Its steps were not saved as a trail; they are recorded in {}", unsaved.display()));
        }
    }
    let verb = if info.is_new { "opened" } else { "already open:" };
    print::data(format!("{verb} session `{}` on {}", info.name, info.device));
    print::say("`trailblaze snapshot` shows its screen; `trailblaze session close` ends it");
    Ok(Exit::Passed)
}

fn list(context: &Context, json: bool) -> Result<Exit, Refusal> {
    let loaded = context.load(None)?;
    Refusal::unless_sound(&loaded.problems)?;
    let wiring = context.wiring(&loaded, None);
    let devices = loaded.all_devices()?;
    let rows: Vec<_> = devices.iter().map(|device| wiring.driver(device).describe().clone()).collect();
    if json {
        let rows: Vec<_> = rows
            .iter()
            .map(|row| {
                json!({
                    "id": row.id, "platform": row.platform, "driver": row.driver, "summary": row.summary,
                    "width": row.size.width, "height": row.size.height, "classifiers": row.classifiers,
                })
            })
            .collect();
        print::json(&rows);
        return Ok(Exit::Passed);
    }
    for row in rows {
        let about = format!("{} ({}×{})", row.summary, row.size.width, row.size.height);
        let stands_for = if row.id.is_simulated() { "stands for " } else { "" };
        print::data(format!("{:<16} {about:<36} {stands_for}{}", row.id.to_string(), row.driver));
    }
    print::say(
        "\nMore simulated devices need no setup: android/sim-2, android/sim-3 and so on. web/chromium is a real browser.",
    );
    Ok(Exit::Passed)
}
