//! `trailblaze snapshot`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_core::driver::{Action, Budget, LaunchMode, Target, Want};
use trailblaze_core::screen::{Node, Screen};
use trailblaze_core::{limits, refs, snapshot as text};
use trailblaze_protocol::exit::Exit;

use super::device::DeviceArgs;
use super::{Context, Refusal};
use crate::output::print;
use crate::output::screenshot;

/// Show a device's screen as text with refs
#[derive(Args)]
pub struct SnapshotArgs {
    #[command(flatten)]
    devices: DeviceArgs,
    /// Start this app first
    #[arg(long, value_name = "APP")]
    launch: Option<String>,
    /// Show the bounds of elements
    #[arg(long)]
    bounds: bool,
    /// Also show elements that are off the screen
    #[arg(long)]
    offscreen: bool,
    /// Mark elements that are covered by others
    #[arg(long)]
    covered: bool,
    /// Show every element
    #[arg(long)]
    all: bool,
    /// Show only the descendants of the element with this ref
    #[arg(long, value_name = "REF")]
    within: Option<String>,
    /// Show at most N levels
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
    /// Save a screenshot to this file, as WebP if it ends in .webp, otherwise as PNG
    #[arg(long, value_name = "FILE")]
    screenshot: Option<PathBuf>,
    /// Draw a box with its ref around each touchable element
    #[arg(long, requires = "screenshot")]
    marks: bool,
    /// Print the snapshot as JSON
    #[arg(long)]
    json: bool,
}

pub async fn snapshot(context: &Context, args: SnapshotArgs) -> Result<Exit, Refusal> {
    let loaded = context.load(None)?;
    Refusal::unless_sound(&loaded.problems)?;
    let devices = loaded.devices(&args.devices.device)?;
    let [device] = devices.as_slice() else {
        return Err(Refusal::Usage {
            message: "`trailblaze snapshot` uses one device".into(),
            hint: Some(format!("choose one, such as `-d {}`", devices[0].id)),
        });
    };
    let mut wiring = context.wiring(&loaded, None);
    wiring.show_browser(args.devices.headed);
    let driver = wiring.driver(device);
    let budget = Budget::new(Instant::now() + limits::DRIVER_COMMAND, CancellationToken::new());
    if let Some(app) = &args.launch {
        let action = Action::LaunchApp { app: app.clone(), mode: LaunchMode::Reinstall };
        driver.act(&budget, &Target::Device, &action).await?;
    }
    let mut details = text::Details {
        bounds: args.bounds,
        offscreen: args.offscreen,
        covered: args.covered,
        css: false,
        all: args.all,
        opaque: false,
        within: None,
        depth: args.depth,
    };
    let want = Want { picture: args.screenshot.is_some(), ..Want::for_snapshot(&details) };
    let mut screen =
        driver.observe(&Budget { deadline: Instant::now() + Duration::from_secs(30), ..budget }, want).await?;
    refs::assign(&mut screen.root);
    driver.close().await;
    details.within = args.within.as_deref().map(|reference| find_ref(&screen, reference)).transpose()?;
    let shown = text::text(&screen, &details);
    if args.json {
        print::json(
            &json!({"device": device.id, "app": screen.app, "width": screen.size.width, "height": screen.size.height, "text": shown, "elements": text::elements(&screen)}),
        );
    } else {
        print::data(shown);
    }
    if let Some(path) = &args.screenshot {
        screenshot::write(path, &screen, &[], args.marks)
            .map_err(|source| Refusal::Io { what: format!("cannot write {}", path.display()), source })?;
        print::say(format!("Screenshot: {}", path.display()));
    }
    Ok(Exit::Passed)
}

fn find_ref(screen: &Screen, reference: &str) -> Result<u64, Refusal> {
    let is_named = |node: &&Node| node.reference.as_deref() == Some(reference.trim_matches(['[', ']']));
    screen.root.walk().find(is_named).map(|node| node.id).ok_or_else(|| Refusal::Usage {
        message: format!("no element on the screen has the ref `{reference}`"),
        hint: Some("a snapshot without `--within` lists the refs".into()),
    })
}
