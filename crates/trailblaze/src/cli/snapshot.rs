//! `trailblaze snapshot`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_core::driver::{Budget, DeviceCommand, LaunchMode, ObserveOptions};
use trailblaze_core::screen::{Node, Screen};
use trailblaze_core::{expected_tree, limits, refs, snapshot as text};
use trailblaze_protocol::exit::Exit;

use super::device::DeviceArgs;
use super::in_session::{self, SessionArgs};
use super::shell::{OnDeviceArgs, show};
use super::{Context, Refusal};
use crate::files::check_links;
use crate::output::print;
use crate::output::screenshot;
use crate::project::sim::SimOptions;
use crate::sessions::devices::Acquired;
use crate::sessions::interactive::{CommandReply, InteractiveCommand, Snapshot};

/// Show the screen of a session as text with refs
#[derive(Args)]
pub struct SnapshotArgs {
    #[command(flatten)]
    devices: DeviceArgs,
    #[command(flatten)]
    session: SessionArgs,
    /// Use a fresh device in this process, and close it afterwards
    #[arg(long, env = "TRAILBLAZE_FRESH", value_parser = clap::builder::BoolishValueParser::new(), action = clap::ArgAction::SetTrue)]
    fresh: bool,
    /// Show only what contains this text, and the elements around it
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["fresh", "changes"])]
    find: Option<String>,
    /// Show what changed since the last snapshot of the session
    #[arg(long, conflicts_with = "fresh")]
    changes: bool,
    /// Show it as the text of an `assertTree` that expects what is there
    #[arg(long, conflicts_with_all = ["find", "changes", "bounds", "offscreen", "covered", "depth", "screenshot"])]
    tree: bool,
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

/// Takes a snapshot of a session of the daemon.
async fn in_session(context: &Context, args: SnapshotArgs) -> Result<Exit, Refusal> {
    let details = text::Details {
        bounds: args.bounds,
        offscreen: args.offscreen,
        covered: args.covered,
        all: args.all,
        depth: args.depth,
        ..text::Details::default()
    };
    let snapshot = InteractiveCommand::Snapshot(Snapshot {
        details,
        within: args.within.map(|reference| reference.trim_matches(['[', ']']).to_string()),
        find: args.find,
        only_changes: args.changes,
        as_tree: args.tree,
        has_elements: args.json,
        screenshot: args.screenshot,
        has_marks: args.marks,
        ..Snapshot::default()
    });
    let launch = args.launch.map(InteractiveCommand::launch);
    let commands = launch.into_iter().chain([snapshot]).collect();
    let on = OnDeviceArgs::on(args.devices.device, args.devices.headed);
    let replies = in_session::execute(context, &on, &args.session, commands).await?;
    match replies.last() {
        Some(CommandReply::Done { value, .. }) if args.json => print::json(value),
        Some(reply) => show(reply, args.json),
        None => {}
    }
    Ok(in_session::exit_of(&replies))
}

pub async fn snapshot(context: &Context, args: SnapshotArgs) -> Result<Exit, Refusal> {
    if !args.fresh {
        return in_session(context, args).await;
    }
    let loaded = context.load(None)?;
    Refusal::unless_sound(&loaded.problems)?;
    let devices = loaded.devices(&context.resolve_devices(&loaded, &args.devices.device).await?)?;
    let [device] = devices.as_slice() else {
        return Err(Refusal::Usage {
            message: "`trailblaze snapshot` uses one device".into(),
            hint: Some(format!("choose one, such as `-d {}`", devices[0].id)),
        });
    };
    let mut wiring = context.wiring(&loaded, None);
    wiring
        .set_up_devices(args.devices.headed, &SimOptions::default())
        .map_err(|error| Refusal::usage(error.to_string()))?;
    let Acquired { driver, claim: _claim } = wiring.devices.acquire(device).await?;
    let budget = Budget::new(Instant::now() + limits::DRIVER_COMMAND, CancellationToken::new());
    if let Some(app) = &args.launch {
        let launch = DeviceCommand::LaunchApp { app: app.clone(), mode: LaunchMode::Reinstall };
        launch.carry_out(&*driver, &budget).await?;
    }
    let mut details = text::Details {
        bounds: args.bounds,
        offscreen: args.offscreen,
        covered: args.covered,
        css: false,
        all: args.all,
        within: None,
        depth: args.depth,
    };
    let want = ObserveOptions { picture: args.screenshot.is_some(), ..ObserveOptions::for_snapshot(&details) };
    let budget = Budget { deadline: Instant::now() + Duration::from_secs(30), ..budget };
    let mut screen = driver.observe(&budget, want).await?;
    let end = Instant::now() + limits::LOADING;
    while screen.is_loading() && Instant::now() < end {
        let until = Budget { deadline: end.min(Instant::now() + limits::POLL), ..budget.clone() };
        driver.changed(&until, screen.snapshot).await?;
        screen = driver.observe(&budget, want).await?;
    }
    refs::assign(&mut screen.root, details.all);
    driver.close().await;
    details.within = args.within.as_deref().map(|reference| find_ref(&screen, reference)).transpose()?;
    if args.tree {
        let root = details.within.and_then(|id| screen.root.walk().find(|node| node.id == id));
        let tree = expected_tree::expected_of(root.unwrap_or(&screen.root));
        match args.json {
            true => print::json(&json!({"device": device.id, "app": screen.app, "tree": tree})),
            false => print::data(tree),
        }
        return Ok(Exit::Passed);
    }
    let shown = text::text(&screen, &details);
    if args.json {
        print::json(
            &json!({"device": device.id, "app": screen.app, "width": screen.size.width, "height": screen.size.height, "text": shown, "elements": text::elements(&screen)}),
        );
    } else {
        print::data(shown);
    }
    if let Some(path) = &args.screenshot {
        check_links(&loaded.root, &context.absolute(path))
            .and_then(|()| screenshot::write(path, &screen, &[], args.marks))
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
