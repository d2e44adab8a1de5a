//! `trailblaze snapshot`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_core::driver::{Action, Budget, LaunchMode, Target, Want};
use trailblaze_core::screen::{Node, Picture, Screen};
use trailblaze_core::{limits, refs, snapshot as text};
use trailblaze_protocol::exit::Exit;

use super::{Refusal, load};
use crate::devices::DeviceArgs;
use crate::marks;
use crate::print;
use crate::recordings::write_atomically;
use crate::run_folder::{encode, pack, unpacked};
use crate::wire::Wiring;

/// Show what is on a device's screen, as text with refs
#[derive(Args)]
pub struct SnapshotArgs {
    #[command(flatten)]
    devices: DeviceArgs,
    /// Start this app first
    #[arg(long, value_name = "APP")]
    launch: Option<String>,
    /// Show where elements are
    #[arg(long)]
    bounds: bool,
    /// Show elements that are off the screen too
    #[arg(long)]
    offscreen: bool,
    /// Mark elements that others lie upon
    #[arg(long)]
    covered: bool,
    /// Show every element
    #[arg(long)]
    all: bool,
    /// Show only what is beneath the element with this ref
    #[arg(long, value_name = "REF")]
    within: Option<String>,
    /// Show only so many levels
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
    /// Write a picture, as PNG, or as WebP where the file ends in .webp
    #[arg(long, value_name = "FILE")]
    screenshot: Option<PathBuf>,
    /// Draw a box with its ref around each element that answers touches
    #[arg(long, requires = "screenshot")]
    marks: bool,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

pub async fn snapshot(project: Option<PathBuf>, args: SnapshotArgs) -> Result<Exit, Refusal> {
    let loaded = load(project, None)?;
    Refusal::unless_sound(&loaded.problems)?;
    let devices = loaded.devices(&args.devices.device)?;
    let [device] = devices.as_slice() else {
        return Err(Refusal::Usage {
            message: "a snapshot is of one device".into(),
            hint: Some(format!("name it with -d {}", devices[0].id)),
        });
    };
    let mut wiring = Wiring::new(&loaded, None);
    wiring.show_browser(args.devices.headed);
    let driver = wiring.driver(device);
    let budget = Budget::new(Instant::now() + limits::DRIVER_COMMAND, CancellationToken::new());
    if let Some(app) = &args.launch {
        let action = Action::LaunchApp { app: app.clone(), mode: LaunchMode::Reinstall };
        driver.act(&budget, &Target::Device, &action).await?;
    }
    // A picture is asked for only where it is wanted: it may be dear.
    let want = Want { picture: args.screenshot.is_some(), covers: args.covered, ..Want::TREE };
    let mut screen =
        driver.observe(&Budget { deadline: Instant::now() + Duration::from_secs(30), ..budget }, want).await?;
    refs::assign(&mut screen.root);
    driver.close().await;
    let within = args.within.as_deref().map(|reference| find_ref(&screen, reference)).transpose()?;
    let details = text::Details {
        bounds: args.bounds,
        offscreen: args.offscreen,
        covered: args.covered,
        css: false,
        all: args.all,
        within,
        depth: args.depth,
    };
    let shown = text::text(&screen, &details);
    if args.json {
        print::json(
            &json!({"device": device.id, "app": screen.app, "width": screen.size.width, "height": screen.size.height, "text": shown, "elements": text::elements(&screen)}),
        );
    } else {
        print::data(shown);
    }
    if let (Some(path), Some(picture)) = (&args.screenshot, &screen.picture) {
        let drawn = picture_file(path, picture, args.marks.then_some(&screen));
        let written = drawn.and_then(|bytes| write_atomically(path, bytes));
        written.map_err(|source| Refusal::Io { what: format!("cannot write {}", path.display()), source })?;
        print::say(format!("Screenshot: {}", path.display()));
    }
    Ok(Exit::Passed)
}

/// The bytes of a picture's file, of the kind that its name asks for.
fn picture_file(path: &Path, picture: &Picture, marked: Option<&Screen>) -> std::io::Result<Vec<u8>> {
    let is_webp = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("webp"));
    if !is_webp && marked.is_none() {
        return encode(picture, &[]);
    }
    let (mut pixels, size) = unpacked(picture)?;
    if let Some(screen) = marked {
        marks::draw(&mut pixels, size, screen);
    }
    if !is_webp {
        return pack(&pixels, size);
    }
    let mut out = Vec::new();
    let encoder = image_webp::WebPEncoder::new(&mut out);
    encoder.encode(&pixels, size.width, size.height, image_webp::ColorType::Rgba8).map_err(std::io::Error::other)?;
    Ok(out)
}

fn find_ref(screen: &Screen, reference: &str) -> Result<u64, Refusal> {
    let is_named = |node: &&Node| node.reference.as_deref() == Some(reference.trim_matches(['[', ']']));
    screen.root.walk().find(is_named).map(|node| node.id).ok_or_else(|| Refusal::Usage {
        message: format!("nothing on the screen has the ref `{reference}`"),
        hint: Some("a snapshot without `--within` shows the refs there are".into()),
    })
}
