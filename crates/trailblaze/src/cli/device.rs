//! `trailblaze device`.

use clap::{Args, Subcommand};
use serde_json::json;
use trailblaze_protocol::exit::Exit;

use super::{Context, Refusal};
use crate::output::print;

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

/// List devices
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
}

pub fn device(context: &Context, command: DeviceCommand) -> Result<Exit, Refusal> {
    let Verb::List { json } = command.verb;
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
        print::data(format!(
            "{:<16} {:<32} {} ({}×{})",
            row.id.to_string(),
            row.driver.to_string(),
            row.summary,
            row.size.width,
            row.size.height
        ));
    }
    print::say(
        "\nMore simulated devices need no setup: android/sim-2, android/sim-3 and so on. web/chromium is a real browser.",
    );
    Ok(Exit::Passed)
}
