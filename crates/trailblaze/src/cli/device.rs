//! `trailblaze device`.

use clap::{Args, Subcommand};
use serde_json::json;
use trailblaze_protocol::exit::Exit;

use super::findings::{self, Finding, FindingState};
use super::in_session::{self, SessionArgs};
use super::shell::OnDeviceArgs;
use super::{Context, Refusal};
use crate::output::print;
use crate::project::devices::DeviceSpec;
use crate::sessions::service::OpenRequest;

/// Options that choose devices.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct DeviceArgs {
    /// Use this device, written platform/name, such as android/sim-1, or the only one of a platform; repeat or separate by commas for several
    #[arg(short, long = "device", value_name = "DEVICE", value_delimiter = ',', env = "TRAILBLAZE_DEVICE")]
    pub device: Vec<String>,
    /// Show the browser window of web devices
    #[arg(long)]
    pub headed: bool,
}

/// List devices, and open one that stays open between commands
#[derive(Args)]
pub struct DeviceVerbArgs {
    #[command(subcommand)]
    verb: DeviceVerb,
}

#[derive(Subcommand)]
enum DeviceVerb {
    /// List the devices that `--device` accepts
    List {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Check whether everything is there that devices need: browsers, programs, connections
    ///
    /// With the id of a device, it also opens that device as a session would, looks at its screen, and puts it back as it was.
    ///
    /// Exit codes: 0 all is well · 2 something that a device of this project needs is missing
    Doctor {
        /// A device to try, such as android/emulator-5554
        device: Option<String>,
        /// Print the findings as JSON
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

pub async fn device(context: &Context, command: DeviceVerbArgs) -> Result<Exit, Refusal> {
    match command.verb {
        DeviceVerb::List { json } => list(context, json).await,
        DeviceVerb::Doctor { device, json } => doctor(context, device, json).await,
        DeviceVerb::Connect(args) => connect(context, *args).await,
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

async fn doctor(context: &Context, device: Option<String>, json: bool) -> Result<Exit, Refusal> {
    let loaded = context.load(None)?;
    Refusal::unless_sound(&loaded.problems)?;
    let named: Vec<DeviceSpec> = match device {
        Some(device) => loaded.devices(&context.resolve_devices(&loaded, &[device]).await?)?,
        None => Vec::new(),
    };
    let wiring = context.wiring(&loaded, None);
    let wanted = if named.is_empty() { loaded.all_devices()? } else { named.clone() };
    let mut found = wiring.devices.check(&wanted).await;
    for device in &named {
        found.extend(wiring.devices.examine(device).await);
    }
    wiring.close().await;
    if found.is_empty() {
        found.push(Finding::good("devices", "the devices of this project need nothing"));
    }
    findings::print(("project", &loaded.root.display().to_string()), &found, json);
    let is_bad = found.iter().any(|finding| finding.state == FindingState::Bad);
    Ok(if is_bad { Exit::Environment } else { Exit::Passed })
}

async fn list(context: &Context, json: bool) -> Result<Exit, Refusal> {
    let loaded = context.load(None)?;
    Refusal::unless_sound(&loaded.problems)?;
    let wiring = context.wiring(&loaded, None);
    let mut devices = loaded.all_devices()?;
    for found in wiring.devices.discover().await {
        if !devices.iter().any(|device| device.id == found.id) && !found.id.is_simulated() {
            devices.push(found);
        }
    }
    wiring.close().await;
    if json {
        let rows: Vec<_> = devices
            .iter()
            .map(|device| {
                json!({
                    "id": device.id, "platform": device.platform, "driver": device.driver, "summary": device.summary,
                    "width": device.size.width, "height": device.size.height, "classifiers": device.classifiers,
                })
            })
            .collect();
        print::json(&rows);
        return Ok(Exit::Passed);
    }
    for device in devices {
        let about = match device.size.width {
            0 => device.summary.clone(),
            width => format!("{} ({width}×{})", device.summary, device.size.height),
        };
        let stands_for = if device.id.is_simulated() { "stands for " } else { "" };
        print::data(format!("{:<16} {about:<36} {stands_for}{}", device.id.to_string(), device.driver));
    }
    print::say("\nMore simulated devices need no setup: android/sim-2, android/sim-3 and so on.");
    Ok(Exit::Passed)
}
