//! What actions cost on a phone, against the bare round trips of adb that they consist of; on ten phones at once, against one; and for an
//! agent, against mobile-mcp. The phones are stand-ins behind the real adb and adbd: the numbers say what we add, not how fast a phone is.
//! Prints a table; no number fails it. `docs/benchmarks.md` says what was measured where. Needs `scripts/parts bench`.

#[path = "../support/mod.rs"]
mod support;

mod agents;
mod bare;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use support::{Measure, Row, quantile};
use tokio_util::sync::CancellationToken;
use trailblaze_android_stand_in::control::{Control, PhoneBehaviour};
use trailblaze_android_stand_in::launch::{AndroidParts, StandInPhone, StandInStartError, TestAdbServer};
use trailblaze_core::driver::{Action, ActionTarget, Budget, DeviceCommand, Driver, LaunchMode, ObserveOptions};
use trailblaze_core::yaml::{Source, YamlKind, YamlNode};
use trailblaze_drivers::android::PROVIDER;
use trailblaze_drivers::provider::{FileError, Machine, ProjectPart, WantedDevice};
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::geometry::Point;
use trailblaze_supervise::Supervisor;

use bare::BareAdb;

const WALLET: &str = "com.example.wallet";
/// Where both tap: fields of the wallet.
const FIELDS: [Point; 2] = [Point { x: 200, y: 200 }, Point { x: 200, y: 300 }];
const ACTIONS: usize = 30;
const RUNS: usize = 5;
/// Many phones, and how often each is looked at and tapped.
const PHONES: usize = 10;
const ACTIONS_OF_MANY: usize = 3;
/// How long `uiautomator` takes on most phones, for the measure of many.
const SLOW_DUMP: u64 = 1500;

fn main() -> ExitCode {
    // The programs of a phone, and its first process, are this program under other names.
    let own_name = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    if !own_name.file_name().is_some_and(|name| name.to_string_lossy().starts_with("phone-")) {
        return trailblaze_android_stand_in::main(std::env::args_os());
    }
    if let Some(code) = trailblaze_supervise::guardian_main() {
        return code;
    }
    support::head();
    match rows() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("phones could not be measured: {why}");
            ExitCode::FAILURE
        }
    }
}

fn rows() -> Result<(), StandInStartError> {
    let parts = AndroidParts::find(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.parts/android"))?;
    let server = TestAdbServer::start(&parts)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let phone = start_phone(&parts, &server)?;
    round_trips(&runtime, &server, &phone);
    agents::rows(&server, &phone);
    drop(phone);
    many(&runtime, &parts, &server)
}

fn start_phone(parts: &AndroidParts, server: &TestAdbServer) -> Result<StandInPhone, StandInStartError> {
    let program = std::env::current_exe().expect("the path of this program");
    let app = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/wallet/wallet.app.yaml");
    let phone = StandInPhone::start(parts, &program, &[app])?;
    server.connect(&phone)?;
    Ok(phone)
}

/// One look is a tree and a picture, then comes a tap.
fn round_trips(runtime: &tokio::runtime::Runtime, server: &TestAdbServer, phone: &StandInPhone) {
    let driver = runtime.block_on(open(server, phone));
    let bare = BareAdb::new(server.port(), &phone.serial());
    let (mut own, mut sum) = (Vec::new(), Vec::new());
    for run in 0..=RUNS {
        let (began, mut trips) = (Instant::now(), Duration::ZERO);
        runtime.block_on(use_phone(&*driver, ACTIONS));
        let took = began.elapsed();
        for index in 0..ACTIONS {
            let Point { x, y } = FIELDS[index % 2];
            trips += bare.command("uiautomator dump /dev/tty").max(bare.command("screencap -p"));
            trips += bare.command(&format!("input tap {x} {y}"));
        }
        // The first run warms up.
        if run > 0 {
            own.push(took);
            sum.push(trips);
        }
    }
    runtime.block_on(driver.close());
    let (own, sum) = (quantile(&mut own, 0.5), quantile(&mut sum, 0.5));
    Row {
        what: "30 looks with a picture and taps",
        measured: Measure::Time(own),
        against: Some(Measure::Time(sum)),
        goal: "≤ 1.3 × round trips",
        is_met: Some(own.as_secs_f64() <= sum.as_secs_f64() * 1.3),
    }
    .print();
}

fn many(
    runtime: &tokio::runtime::Runtime,
    parts: &AndroidParts,
    server: &TestAdbServer,
) -> Result<(), StandInStartError> {
    let phones = (0..PHONES).map(|_| start_phone(parts, server)).collect::<Result<Vec<_>, _>>()?;
    let mut drivers = Vec::new();
    for phone in &phones {
        drivers.push(runtime.block_on(open(server, phone)));
        let slow = PhoneBehaviour { slow_dump: SLOW_DUMP, ..PhoneBehaviour::default() };
        phone.control(Control::Behave(slow)).expect("it becomes slow");
    }
    let timed = |drivers: &[Arc<dyn Driver>]| {
        let began = Instant::now();
        runtime.block_on(async {
            let mut all = tokio::task::JoinSet::new();
            for driver in drivers.iter().cloned() {
                all.spawn(async move { use_phone(&*driver, ACTIONS_OF_MANY).await });
            }
            all.join_all().await;
        });
        began.elapsed()
    };
    timed(&drivers);
    let (one, ten) = (timed(&drivers[..1]), timed(&drivers));
    for driver in drivers {
        runtime.block_on(driver.close());
    }
    Row {
        what: "10 phones whose looks take 1.5 s, at once",
        measured: Measure::Time(ten),
        against: Some(Measure::Time(one)),
        goal: "≤ 1.5 × one phone",
        is_met: Some(ten.as_secs_f64() <= one.as_secs_f64() * 1.5),
    }
    .print();
    Ok(())
}

fn budget() -> Budget {
    Budget::new(tokio::time::Instant::now() + Duration::from_secs(120), CancellationToken::new())
}

async fn use_phone(driver: &dyn Driver, actions: usize) {
    for index in 0..actions {
        driver.observe(&budget(), ObserveOptions::PICTURE).await.expect("it is looked at");
        let target = ActionTarget::Point(FIELDS[index % 2]);
        driver.act(&budget(), &target, &Action::Tap).await.expect("it is tapped");
    }
}

/// The driver of a phone, with the wallet in front.
async fn open(server: &TestAdbServer, phone: &StandInPhone) -> Arc<dyn Driver> {
    let source = Source::new("trailblaze.yaml", "");
    let section = YamlNode { span: Default::default(), kind: YamlKind::Map(Vec::new()) };
    let file = |_: &str| Err(FileError::Missing);
    let part = ProjectPart { root: "/".as_ref(), source: &source, section, devices: Vec::new(), read: &file };
    let config = (PROVIDER.read)(&part, &mut Vec::new());
    let (serial, id) = (phone.serial(), format!("android/{}", phone.serial()));
    let wanted = WantedDevice { id: &id, platform: Platform::Android, name: &serial, driver: None, classifiers: &[] };
    let spec = config.device(&wanted).expect("a phone").expect("it can be had");
    let variables = [("ADB_SERVER_SOCKET".into(), server.socket().into())].into_iter().collect();
    let devices = config.open(&Machine::new(Supervisor::new(), Arc::new(variables))).expect("adb is found");
    let driver = devices.acquire(&spec, &budget()).await.expect("it is ready");
    let launch = DeviceCommand::LaunchApp { app: WALLET.to_string(), mode: LaunchMode::Resume };
    launch.carry_out(&*driver, &budget()).await.expect("it is launched");
    driver
}
