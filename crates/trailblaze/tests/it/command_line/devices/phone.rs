//! Phones behind the real adb and adbd. The commands of the phone's shell are stand-ins on the simulated app: no phone was used.

use std::path::Path;

use trailblaze_android_stand_in::launch::{AdbServer, AndroidParts, StandInPhone, StartError};

use crate::support::{Project, Ran, example, repository, skip};

/// The wallet's project, and a phone that has the app.
struct WalletPhone {
    project: Project,
    server: AdbServer,
    phone: StandInPhone,
}

impl WalletPhone {
    /// `None` if this machine cannot have a phone.
    fn connect() -> Option<WalletPhone> {
        let own = repository().join(".parts/android");
        let folder = std::env::var_os("TRAILBLAZE_TEST_ANDROID").map_or(own, Into::into);
        let parts = match AndroidParts::find(Path::new(&folder)) {
            Ok(parts) => parts,
            Err(error @ StartError::NotInstalled(_)) => {
                skip::without_part(&error.to_string());
                return None;
            }
            Err(error) => {
                skip::without(&error.to_string());
                return None;
            }
        };
        let project = Project::wallet();
        let app = project.root().join("wallet.app.yaml");
        let server = AdbServer::start(&parts).expect("an adb server");
        let phone = StandInPhone::start(&parts, &example("android_stand_in"), &[app]).expect("a phone");
        server.connect(&phone).expect("adb reaches it");
        Some(WalletPhone { project, server, phone })
    }

    fn device(&self) -> String {
        format!("android/{}", self.phone.serial())
    }

    fn run(&self, args: &[&str]) -> Ran {
        let mut command = self.project.command(args);
        command.env("ADB_SERVER_SOCKET", self.server.socket());
        self.project.finish(command)
    }

    /// A setting of the phone.
    fn animation_scale(&self) -> String {
        let mut adb = self.server.adb();
        adb.args(["-s", &self.phone.serial(), "shell", "settings get global window_animation_scale"]);
        String::from_utf8(adb.output().expect("adb runs").stdout).expect("text")
    }
}

#[test]
fn trails_run_on_a_phone_and_leave_it_as_it_was() {
    let Some(wallet) = WalletPhone::connect() else { return };
    let before = wallet.animation_scale();
    let listed = wallet.run(&["device", "list"]).exits(0);
    assert!(listed.stdout.contains(&wallet.device()), "{}", listed.stdout);
    let ran = wallet.run(&["run", "-d", &wallet.device()]).exits(0);
    assert!(ran.stdout.contains("3 passed"), "{}", ran.stdout);
    assert_eq!(wallet.animation_scale(), before);
}

#[test]
fn a_phone_that_is_unplugged_is_named_with_what_to_do() {
    let Some(wallet) = WalletPhone::connect() else { return };
    wallet.phone.unplug();
    let ran = wallet.run(&["run", "trails/send-money.trail.yaml", "-d", &wallet.device()]).exits(2);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains(&wallet.phone.serial()), "{said}");
    assert!(said.contains("adb devices") || said.contains("not connected") || said.contains("offline"), "{said}");
}
