//! How long a look at a window with 500 elements takes, against pyatspi, which walks the same tree in the same run. Prints a table; no number
//! fails it. `docs/benchmarks.md` says what was measured where. Needs Xvfb, GTK 3 for Python, and pyatspi.

#[path = "../support/mod.rs"]
mod support;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use support::{Measure, Row, quantile};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_core::driver::{AppControl, Budget, Driver, LaunchMode, ObserveOptions};
use trailblaze_drivers::desktop::{DesktopDriver, DesktopPlace, DesktopSettings, desktop_device};
use trailblaze_drivers::provider::Machine;
use trailblaze_protocol::geometry::Size;
use trailblaze_supervise::Supervisor;

/// How often each of the two looks.
const TIMES: usize = 20;
/// Debian's, which has the packages of Debian.
const PYTHON: &str = "/usr/bin/python3";

fn main() -> ExitCode {
    // Guardians are this program, started again.
    if let Some(code) = trailblaze_supervise::guardian_main() {
        return code;
    }
    support::head();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    match runtime.block_on(looks()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("the desktop could not be measured: {why}");
            ExitCode::FAILURE
        }
    }
}

fn budget() -> Budget {
    Budget::new(Instant::now() + Duration::from_secs(120), CancellationToken::new())
}

async fn looks() -> Result<(), String> {
    let machine = Machine::new(Supervisor::new(), Arc::new(std::env::vars_os().collect()));
    let place = DesktopPlace::Xvfb { size: Size { width: 1280, height: 900 } };
    let settings = DesktopSettings { place, app: None };
    let spec = desktop_device("desktop/xvfb", None, &[], settings.clone());
    let driver = DesktopDriver::open(&spec, settings, &machine, &budget()).await.map_err(|error| error.to_string())?;
    let measured = measure(&driver).await;
    driver.close().await;
    let (mut ours, mut theirs, elements) = measured?;
    let (ours, theirs) = (quantile(&mut ours, 0.5), quantile(&mut theirs, 0.5));
    Row {
        what: &format!("a look at a window with {elements} elements, p50"),
        measured: Measure::Time(ours),
        against: Some(Measure::Time(theirs)),
        goal: "≤ 0.5 × pyatspi",
        is_met: Some(ours.as_secs_f64() <= theirs.as_secs_f64() * 0.5),
    }
    .print();
    Ok(())
}

/// Our times, those of pyatspi, and how many elements there are.
async fn measure(driver: &DesktopDriver) -> Result<(Vec<Duration>, Vec<Duration>, usize), String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/desktop");
    let file = std::env::temp_dir().join(format!("trailblaze-bench-desktop-{}.json", std::process::id()));
    let launch = async |command: String| {
        driver.launch(&budget(), &command, LaunchMode::Resume).await.map_err(|error| error.to_string())
    };
    launch(format!("{PYTHON} '{}' 500", here.join("window.py").display())).await?;
    let mut ours = Vec::new();
    let mut elements = 0;
    for _ in 0..=TIMES {
        let started = Instant::now();
        let screen = driver.observe(&budget(), ObserveOptions::TREE).await.map_err(|error| error.to_string())?;
        ours.push(started.elapsed());
        elements = screen.root.walk().count();
    }
    // Both start with a tree that nobody has looked at yet.
    ours.remove(0);
    launch(format!("{PYTHON} '{}' '{}' {}", here.join("walk.py").display(), file.display(), TIMES + 1)).await?;
    let written = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
    let _ = std::fs::remove_file(&file);
    let walked: Value = serde_json::from_str(&written).map_err(|error| error.to_string())?;
    let millis = walked["millis"].as_array().ok_or("pyatspi wrote no times")?;
    let theirs = millis.iter().skip(1).filter_map(Value::as_f64).map(|millis| Duration::from_secs_f64(millis / 1e3));
    Ok((ours, theirs.collect(), elements))
}
