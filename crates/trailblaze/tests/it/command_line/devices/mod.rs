//! Kinds of devices: a new one, and who may use a device that exists only once.

mod appium;
#[cfg(target_os = "linux")]
mod desktop;
mod iphone_stand_in;
mod lamp;
mod phone;

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze::project::compiled_in::CompiledIn;
use trailblaze::project::environment::Environment;
use trailblaze::project::loaded::Loaded;
use trailblaze::sessions::host::SessionHost;
use trailblaze::sessions::wiring::{NotOpened, SessionSinks, Wiring};
use trailblaze_core::driver::{Action, ActionTarget, Budget, ObserveOptions};
use trailblaze_core::snapshot::{Details, text};
use trailblaze_core::testing::TestEvents;
use trailblaze_protocol::geometry::Size;

use crate::support::{PATIENCE, Project};

const LAMP: &str = "desktop/lamp-7";

/// A project with lamps, as a program that has such devices loads it.
struct Room {
    loaded: Arc<Loaded>,
    project: Project,
}

impl Room {
    fn new(config: &str, runtime_dir: &Path) -> Room {
        let project = Project::empty();
        project.write("trailblaze.yaml", config);
        let variables = [(OsString::from("XDG_RUNTIME_DIR"), runtime_dir.as_os_str().to_os_string())];
        let compiled_in = CompiledIn::default().with_provider(&lamp::PROVIDER);
        let environment = Environment::of_client(variables, project.root().to_path_buf(), Vec::new(), compiled_in);
        let loaded = Loaded::read(project.root(), &Arc::new(environment)).expect("it is read");
        Room { loaded: Arc::new(loaded), project }
    }

    fn problems(&self) -> Vec<String> {
        self.loaded.problems.iter().map(|problem| problem.message.clone()).collect()
    }

    fn wiring(&self) -> Wiring {
        let invocations = Arc::default();
        let listener = trailblaze::api::ApiListener::new(Arc::clone(&invocations), None);
        Wiring::new(&self.loaded, &SessionHost::new(invocations, listener), None)
    }
}

fn budget() -> Budget {
    Budget::new(Instant::now() + PATIENCE, CancellationToken::new())
}

fn sinks() -> SessionSinks {
    let events = Arc::new(TestEvents::default());
    SessionSinks { events: Arc::clone(&events) as _, artifacts: events }
}

#[tokio::test]
async fn a_new_kind_of_devices_is_configured_found_acquired_and_used() {
    let runtime_dir = tempfile::tempdir().expect("a folder");
    let config = format!("lamps: ['7', '8']\ndevices: [{{id: {LAMP}, lit: true}}]\n");
    let room = Room::new(&config, runtime_dir.path());
    assert_eq!(room.problems(), Vec::<String>::new());
    let device = room.loaded.devices(&[]).expect("it is known").remove(0);
    assert_eq!(device.size, Size { width: 0, height: 0 }, "nobody has asked it yet");

    let wiring = room.wiring();
    let found: Vec<String> = wiring.devices.discover().await.iter().map(|found| found.id.to_string()).collect();
    assert!([LAMP, "desktop/lamp-8", "web/chromium"].iter().all(|id| found.contains(&id.to_string())), "{found:?}");
    let checked = wiring.devices.check(std::slice::from_ref(&device)).await;
    assert!(checked.iter().any(|finding| finding.message == "2 plugged in"), "{checked:?}");

    let driver = wiring.devices.acquire(&device).await.expect("it is there").driver;
    assert_eq!(driver.describe().size, Size { width: 30, height: 40 });
    let shown =
        async || text(&driver.observe(&budget(), ObserveOptions::TREE).await.expect("a screen"), &Details::default());
    assert!(shown().await.contains("The lamp is on"), "as its entry says");
    driver.act(&budget(), &ActionTarget::Device, &Action::Tap).await.expect("it is switched");
    assert!(shown().await.contains("The lamp is off"));
    wiring.close().await;
}

#[test]
fn keys_belong_to_the_devices_that_read_them() {
    let runtime_dir = tempfile::tempdir().expect("a folder");
    let room = Room::new("lampz: ['7']\ndevices: [{id: desktop/lamp-7, lti: true}]\n", runtime_dir.path());
    let problems = room.problems();
    assert!(problems[0].contains("unknown key `lampz`"), "{problems:?}");
    assert!(problems[1].contains("unknown key `lti`"), "{problems:?}");
    let room = Room::new("devices: [{id: web/chromium, lit: true}]\n", runtime_dir.path());
    let refused = room.loaded.devices(&[]).expect_err("browsers do not shine").to_string();
    assert!(refused.starts_with("`lit` of `web/chromium` is for lamps, not for browsers"), "{refused}");
    drop(room.project);
}

#[tokio::test]
async fn a_device_that_exists_once_belongs_to_one_session_across_projects() {
    let runtime_dir = tempfile::tempdir().expect("a folder");
    let config = "lamps: ['7']\n";
    let (first, second) = (Room::new(config, runtime_dir.path()), Room::new(config, runtime_dir.path()));
    let device = first.loaded.devices(&[LAMP.to_string()]).expect("it is known").remove(0);
    let (mine, theirs) = (first.wiring(), second.wiring());
    let session = match mine.open_whole(&device, None, sinks()).await {
        Ok(session) => session,
        Err(NotOpened { error, .. }) => panic!("{error}"),
    };
    let Err(refused) = theirs.open_whole(&device, None, sinks()).await else {
        panic!("the lamp has two masters");
    };
    let error = refused.error.to_string();
    assert!(error.contains("it is in use by process"), "{error}");
    assert!(error.contains(&first.project.root().display().to_string()), "it says for which project: {error}");
    refused.session.close("it is in use").await;

    session.close("done").await;
    let again = theirs.open_whole(&device, None, sinks()).await;
    assert!(again.is_ok(), "it is free again");
    mine.close().await;
    theirs.close().await;
}

#[tokio::test]
async fn a_device_that_is_gone_is_told_in_the_record() {
    let runtime_dir = tempfile::tempdir().expect("a folder");
    let room = Room::new("lamps: ['8']\n", runtime_dir.path());
    let device = room.loaded.devices(&[LAMP.to_string()]).expect("the name is one of a lamp").remove(0);
    let wiring = room.wiring();
    let Err(refused) = wiring.open_whole(&device, None, sinks()).await else {
        panic!("it is not there");
    };
    assert_eq!(refused.error.to_string(), "the device did not start: desktop/lamp-7 is not plugged in");
    refused.session.close("it is not there").await;
    wiring.close().await;
}
