//! Starts a program in a desktop session of its own, does a few things with it, and prints what it then says about its windows.
//!
//! `cargo run -p trailblaze-drivers --example desktop_look -- mousepad 'type hello' 'keys Control+A' 'tap File' 'shot mousepad.rgba'`

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use trailblaze_core::driver::{Action, ActionTarget, AppControl, Budget, Driver, LaunchMode, ObserveOptions};
use trailblaze_core::query::{Checks, ElementProperties, Find, Query, QueryTarget, TextMatch};
use trailblaze_core::screen::Pixels;
use trailblaze_core::snapshot::{self, Details};
use trailblaze_drivers::desktop::{DesktopDriver, DesktopPlace, DesktopSettings, desktop_device};
use trailblaze_drivers::provider::Machine;
use trailblaze_protocol::geometry::Size;
use trailblaze_supervise::Supervisor;

fn main() -> ExitCode {
    if let Some(code) = trailblaze_supervise::guardian_main() {
        return code;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    runtime.block_on(run(std::env::args().skip(1).collect()));
    ExitCode::SUCCESS
}

fn budget() -> Budget {
    Budget::new(tokio::time::Instant::now() + Duration::from_secs(60), CancellationToken::new())
}

async fn run(words: Vec<String>) {
    let (app, orders) = words.split_first().expect("the first argument is a program");
    let supervisor = Supervisor::new();
    let machine = Machine::new(supervisor.clone(), Arc::new(std::env::vars_os().collect()));
    let place = DesktopPlace::Xvfb { size: Size { width: 1280, height: 800 } };
    let settings = DesktopSettings { place, app: None };
    let spec = desktop_device("desktop/xvfb", None, &[], settings.clone());
    let started = Instant::now();
    let driver = DesktopDriver::open(&spec, settings, &machine, &budget()).await.expect("the desktop starts");
    eprintln!("desktop after {:?}", started.elapsed());
    driver.launch(&budget(), app, LaunchMode::ForceRestart).await.expect("the program starts");
    eprintln!("window after {:?}", started.elapsed());
    for order in orders {
        if let Err(error) = carry_out(&driver, order).await {
            eprintln!("{order}: {error}");
        }
    }
    let looked = Instant::now();
    match driver.observe(&budget(), ObserveOptions::TREE).await {
        Ok(mut screen) => {
            eprintln!("looked at {} elements in {:?}", screen.root.walk().count(), looked.elapsed());
            trailblaze_core::refs::assign(&mut screen.root, false);
            println!("{}", snapshot::text(&screen, &Details { bounds: true, ..Details::default() }));
        }
        Err(error) => eprintln!("{error}"),
    }
    for event in driver.events().expect("it has events").take() {
        eprintln!("{event}");
    }
    driver.close().await;
    supervisor.settled().await;
}

async fn carry_out(driver: &DesktopDriver, order: &str) -> Result<(), String> {
    let (verb, rest) = order.split_once(' ').unwrap_or((order, ""));
    let text = |error: trailblaze_core::driver::DriverError| error.to_string();
    let act = async |target: ActionTarget, action: Action| {
        driver.act(&budget(), &target, &action).await.map(drop).map_err(text)
    };
    match verb {
        "tap" | "fill" | "double" => {
            let (name, value) = rest.split_once('=').unwrap_or((rest, ""));
            let properties =
                ElementProperties { text: Some(TextMatch::Exact(name.to_string())), ..ElementProperties::default() };
            let query = Query { what: QueryTarget::Element(properties), index: Some(0) };
            let until = Instant::now() + Duration::from_secs(5);
            loop {
                let found = driver.find(&budget(), &query, Checks::Actionable).await.map_err(text)?;
                match found {
                    Find::Found(found) => {
                        let action = match verb {
                            "tap" => Action::Tap,
                            "double" => Action::DoubleTap,
                            _ => Action::SetText { text: value.to_string() },
                        };
                        return act(ActionTarget::Element(found), action).await;
                    }
                    Find::Not(why) if Instant::now() > until => return Err(why.to_string()),
                    Find::Not(_) => tokio::time::sleep(Duration::from_millis(50)).await,
                }
            }
        }
        "type" => act(ActionTarget::Device, Action::InputText { text: rest.to_string() }).await,
        "keys" => act(ActionTarget::Device, Action::PressChord { chord: rest.to_string(), count: 1, repeats: 0 }).await,
        "time" => {
            let mut taken = Vec::new();
            let mut count = 0;
            for _ in 0..rest.parse().unwrap_or(20) {
                let started = Instant::now();
                let screen = driver.observe(&budget(), ObserveOptions::TREE).await.map_err(text)?;
                taken.push(started.elapsed());
                count = screen.root.walk().count();
            }
            taken.sort();
            eprintln!(
                "{count} elements: median {:?}, {:?} to {:?}",
                taken[taken.len() / 2],
                taken[0],
                taken[taken.len() - 1]
            );
            Ok(())
        }
        "launch" => driver.launch(&budget(), rest, LaunchMode::ForceRestart).await.map_err(text),
        "wait" => {
            tokio::time::sleep(Duration::from_millis(rest.parse().unwrap_or(500))).await;
            Ok(())
        }
        "shot" => {
            let screen = driver.observe(&budget(), ObserveOptions::PICTURE).await.map_err(text)?;
            if let Some(Pixels::Rgba(bytes)) = screen.picture.map(|picture| picture.pixels) {
                std::fs::write(rest, &bytes).map_err(|error| error.to_string())?;
            }
            Ok(())
        }
        _ => Err("unknown".to_string()),
    }
}
