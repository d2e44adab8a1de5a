//! Phones behind the real adb and adbd. The commands of the phone's shell are stand-ins on the simulated app: no phone was used.

mod acting;
mod on_device;
mod trouble;
mod web_views;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

use serde_json::Value;
use trailblaze_android_stand_in::launch::{AndroidParts, StandInPhone, StandInStartError, TestAdbServer};

use crate::support::{PATIENCE, Project, Ran, example, is_full_tier, repository, skip};

/// `None` if this machine cannot have a phone.
fn android_parts() -> Option<AndroidParts> {
    let own = repository().join(".parts/android");
    let folder = std::env::var_os("TRAILBLAZE_TEST_ANDROID").map_or(own, Into::into);
    match AndroidParts::find(Path::new(&folder)) {
        Ok(parts) => Some(parts),
        Err(error @ StandInStartError::NotInstalled(_)) => {
            skip::without_part(&error.to_string());
            None
        }
        Err(error) => {
            skip::without(&error.to_string());
            None
        }
    }
}

/// A project, and a phone that it uses.
struct ProjectPhone {
    project: Project,
    server: TestAdbServer,
    phone: StandInPhone,
}

impl ProjectPhone {
    /// `None` if this machine cannot have a phone.
    fn connect() -> Option<ProjectPhone> {
        let project = Project::wallet();
        let app = project.root().join("wallet.app.yaml");
        ProjectPhone::of(project, &[app])
    }

    /// A project, and a phone that has these apps.
    fn of(project: Project, apps: &[PathBuf]) -> Option<ProjectPhone> {
        let parts = android_parts()?;
        let phone = StandInPhone::start(&parts, &example("android_stand_in"), apps).expect("a phone");
        Some(ProjectPhone::reached(&parts, project, phone))
    }

    /// With the wallet, on a phone that also runs programs for ARM, in this emulator.
    fn connect_with_arm(emulator: &Path) -> Option<ProjectPhone> {
        let (parts, project) = (android_parts()?, Project::wallet());
        let app = project.root().join("wallet.app.yaml");
        let phone = StandInPhone::start_with_arm(&parts, &example("android_stand_in"), &[app], emulator);
        Some(ProjectPhone::reached(&parts, project, phone.expect("a phone")))
    }

    fn reached(parts: &AndroidParts, project: Project, phone: StandInPhone) -> ProjectPhone {
        let server = TestAdbServer::start(parts).expect("an adb server");
        server.connect(&phone).expect("adb reaches it");
        ProjectPhone { project, server, phone }
    }

    /// Adds the phone to the project's devices.
    fn add_device(&self, looking: &str) {
        let file = self.project.root().join("trailblaze.yaml");
        let text = std::fs::read_to_string(&file).expect("the project");
        let (before, others) = text.split_once("devices:\n").expect("its devices");
        let entry = format!("{before}devices:\n  - id: {}\n    looking: {looking}\n{others}", self.device());
        std::fs::write(&file, entry).expect("the project is written");
    }

    fn device(&self) -> String {
        format!("android/{}", self.phone.serial())
    }

    fn run(&self, args: &[&str]) -> Ran {
        let mut command = self.project.command(args);
        command.env("ADB_SERVER_SOCKET", self.server.socket());
        self.project.finish(command)
    }

    /// What a command of the phone's shell prints.
    fn shell(&self, command: &str) -> String {
        let mut adb = self.server.adb();
        adb.args(["-s", &self.phone.serial(), "shell", command]);
        String::from_utf8(adb.output().expect("adb runs").stdout).expect("text")
    }

    /// A setting of the phone.
    fn animation_scale(&self) -> String {
        self.shell("settings get global window_animation_scale")
    }
}

#[test]
fn trails_run_on_a_phone_and_leave_it_as_it_was() {
    let Some(wallet) = ProjectPhone::connect() else { return };
    let before = wallet.animation_scale();
    let listed = wallet.run(&["device", "list"]).exits(0);
    assert!(listed.stdout.contains(&wallet.device()), "{}", listed.stdout);
    let ran = wallet.run(&["run", "-d", &wallet.device()]).exits(0);
    assert!(ran.stdout.contains("3 passed"), "{}", ran.stdout);
    assert_eq!(wallet.animation_scale(), before);
}

#[test]
fn trails_run_on_a_phone_in_the_fast_way() {
    let Some(wallet) = ProjectPhone::connect() else { return };
    wallet.add_device("fast");
    let before = wallet.animation_scale();
    let ran = wallet.run(&["run", "-d", &wallet.device()]).exits(0);
    assert!(ran.stdout.contains("3 passed"), "{}", ran.stdout);
    assert_eq!(wallet.animation_scale(), before);
}

#[test]
fn a_phone_that_is_unplugged_is_named_with_what_to_do() {
    let Some(wallet) = ProjectPhone::connect() else { return };
    wallet.phone.unplug();
    let ran = wallet.run(&["run", "trails/send-money.trail.yaml", "-d", &wallet.device()]).exits(2);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains(&wallet.phone.serial()), "{said}");
    assert!(said.contains("adb devices") || said.contains("not connected") || said.contains("offline"), "{said}");
}

#[test]
fn a_platform_stands_for_the_only_phone_that_is_connected() {
    let Some(wallet) = ProjectPhone::connect() else { return };
    let project = wallet.project.read("trailblaze.yaml");
    let (before, _) = project.split_once("devices:\n").expect("its devices");
    wallet.project.write("trailblaze.yaml", before);
    let ran = wallet.run(&["run", "trails/send-money.trail.yaml", "-d", "android"]).exits(0);
    assert!(ran.stderr.contains(&wallet.device()), "{}", ran.stderr);
}

#[test]
fn the_doctor_tries_one_phone_and_says_what_is_wrong_with_it() {
    let Some(wallet) = ProjectPhone::connect() else { return };
    let before = wallet.animation_scale();
    let well = wallet.run(&["device", "doctor", &wallet.device()]).exits(0);
    assert!(well.stdout.contains("its screen was looked at in "), "{}", well.stdout);
    assert_eq!(wallet.animation_scale(), before);
    wallet.phone.unplug();
    let found = wallet.run(&["device", "doctor", &wallet.device(), "--json"]).exits(2).json();
    let is_bad = |finding: &Value| {
        finding["state"] == "error" && finding["message"].to_string().contains(&wallet.phone.serial())
    };
    assert!(found["findings"].as_array().expect("findings").iter().any(is_bad), "{found}");
}

/// Appium's ApiDemos in the real Android 14 framework on a JVM. It ends with its standard input.
struct FrameworkBody(Child);

impl FrameworkBody {
    fn start(phone: &StandInPhone) -> FrameworkBody {
        let mut process = Command::new(repository().join("scripts/test-android-framework"))
            .arg("phone")
            .arg(phone.folder().join("framework"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let output = BufReader::new(process.stdout.take().expect("its output"));
        let body = FrameworkBody(process);
        let (ready, is_ready) = mpsc::channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if line == "ready" {
                    let _ = ready.send(());
                }
            }
        });
        is_ready.recv_timeout(PATIENCE).expect("the framework says that it is ready");
        body
    }
}

impl Drop for FrameworkBody {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// With `SOAK=1`, because the framework takes a minute to start and all replays half an hour. No phone takes part, and no system of
/// Android: the commands of the shell and the stack of activities are ours.
#[test]
fn trails_run_on_an_app_in_the_real_android_framework() {
    if !is_full_tier() {
        return;
    }
    if !repository().join(".parts/android-framework/app/classes.jar").is_file() {
        skip::without_part("the Android framework is not installed");
        return;
    }
    // The framework keeps what belonged to screens that were left, and is started again before its memory is full.
    for (looking, bodies, replays) in [("fast", 2, 5), ("plain", 1, 2)] {
        for _ in 0..bodies {
            let project = Project::copy_of("tests/android-framework/project");
            let Some(demos) = ProjectPhone::of(project, &[]) else { return };
            let trails = std::fs::read_dir(demos.project.root().join("trails")).expect("its trails").count();
            let _body = FrameworkBody::start(&demos.phone);
            demos.add_device(looking);
            for _ in 0..replays {
                let ran = demos.run(&["run", "-d", &demos.device()]).exits(0);
                assert!(ran.stdout.contains(&format!("{trails} passed")), "{}", ran.stdout);
            }
        }
    }
}
