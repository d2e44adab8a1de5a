//! An iPhone on a cable beside a simulated one and an Android phone: all are stand-ins, and no phone was used.

use std::path::{Path, PathBuf};

use trailblaze_android_stand_in::launch::{AndroidParts, StandInPhone, StandInStartError, TestAdbServer};
use trailblaze_ios_stand_in::{CLEAR_DATA, StandIn, StandInUsbmuxd};

use crate::support::{Project, Ran, example, repository, skip};

/// The wallet, and an iPhone on a cable that has it.
struct CabledIphone {
    project: Project,
    usbmuxd: StandInUsbmuxd,
    stand_in: StandIn,
    /// Its own: only one session of this machine at a time can have a device.
    udid: String,
}

impl CabledIphone {
    fn plug_in() -> CabledIphone {
        CabledIphone::of(Project::wallet())
    }

    fn of(project: Project) -> CabledIphone {
        let stand_in = trailblaze_ios_stand_in::start(&[project.root().join("wallet.app.yaml")]).expect("a stand-in");
        let usbmuxd = StandInUsbmuxd::start(&project.root().join("usbmuxd")).expect("a stand-in");
        let udid = format!("00008110-{:08X}{:08X}", std::process::id(), stand_in.port());
        usbmuxd.attach(&udid, &[(8100, stand_in.port())]);
        let text = project.read("trailblaze.yaml");
        let entry =
            format!("devices:\n  - id: {}\n    clearDataArguments: [{CLEAR_DATA}]\n", format_args!("ios/{udid}"));
        project.write("trailblaze.yaml", text.replacen("devices:\n", &entry, 1));
        CabledIphone { project, usbmuxd, stand_in, udid }
    }

    fn device(&self) -> String {
        format!("ios/{}", self.udid)
    }

    fn run(&self, args: &[&str], more: &[(&str, String)]) -> Ran {
        let mut command = self.project.command(args);
        command.env("USBMUXD_SOCKET_ADDRESS", self.usbmuxd.variable());
        command.envs(more.iter().map(|(name, value)| (*name, value.as_str())));
        self.project.finish(command)
    }
}

/// The recordings of the last run, by their names.
fn recordings(project: &Project) -> Vec<(String, String)> {
    let run = project.last_run();
    let names = ["activity", "send-money", "wrong-pin"];
    names.map(|name| (name.to_string(), run.text(&format!("recordings/{name}.trail.yaml")))).to_vec()
}

#[test]
fn recordings_of_a_cabled_iphone_are_those_of_a_simulated_one() {
    let iphone = CabledIphone::plug_in();
    let listed = iphone.run(&["device", "list"], &[]).exits(0);
    assert!(listed.stdout.contains(&iphone.device()), "{}", listed.stdout);
    iphone.run(&["run", "-d", "ios/sim-1"], &[]).exits(0);
    let simulated = recordings(&iphone.project);
    let ran = iphone.run(&["run", "-d", &iphone.device()], &[]).exits(0);
    assert!(ran.stdout.contains("3 passed"), "{}", ran.stdout);
    assert_eq!(recordings(&iphone.project), simulated);
    assert!(!iphone.stand_in.has_session());
}

const SCRIPTED: [&str; 5] =
    ["run", "plain-words", "--record", "--model", "scripted/plain-words/send-money.replies.yaml"];

/// The steps that a model carried out are recorded as on a simulated iPhone.
#[test]
fn steps_that_a_model_carries_out_are_recorded_as_on_a_simulated_iphone() {
    let project = Project::wallet();
    // What the model was last shown decides how a call is recorded, so that the dialog must not be late on one of the devices.
    let app = project.read("wallet.app.yaml");
    let prompt = app.replace("after: 20ms, dialog:", "dialog:");
    assert_ne!(app, prompt, "the example no longer takes its time");
    project.write("wallet.app.yaml", prompt);
    let iphone = CabledIphone::of(project);
    let trail = iphone.project.read("plain-words/send-money.trail.yaml");
    let recorded = |device: &str| {
        iphone.project.write("plain-words/send-money.trail.yaml", &trail);
        iphone.run(&[&SCRIPTED[..], &["-d", device]].concat(), &[]).exits(0);
        iphone.project.read("plain-words/send-money.trail.yaml")
    };
    let simulated = recorded("ios/sim-1");
    assert!(simulated.contains("recording:"), "{simulated}");
    assert_eq!(recorded(&iphone.device()), simulated);
    let replayed = iphone.run(&["run", "plain-words", "--model", "none", "-d", &iphone.device()], &[]).exits(0);
    assert!(replayed.stdout.contains("1 passed"), "{}", replayed.stdout);
    assert!(!iphone.stand_in.has_session());
}

#[test]
fn a_platform_stands_for_the_only_iphone_on_a_cable() {
    let iphone = CabledIphone::plug_in();
    let text = iphone.project.read("trailblaze.yaml");
    let (before, rest) = text.split_once("devices:\n").expect("its devices");
    let (_, after) = rest.split_once("\nsim:").expect("its apps");
    iphone.project.write("trailblaze.yaml", format!("{before}sim:{after}"));
    iphone.project.write(
        "trails/look.trail.yaml",
        "trail:\n  - verify: It starts\n    tools:\n      - launchApp: {packageId: com.example.Wallet, launchMode: FORCE_RESTART}\n      \
         - assertVisible: {text: Welcome back}\n",
    );
    let ran = iphone.run(&["run", "trails/look.trail.yaml", "-d", "ios"], &[]).exits(0);
    assert!(ran.stderr.contains(&iphone.device()), "{}", ran.stderr);
}

/// A trail with a custom tool, as somebody wrote it for Android: it names no platform, and its tool none.
const TRAIL: &str = "\
config:
  title: Written for Android
  tags: [shared]

trailhead:
  step: Start the wallet with fresh data
  tools:
    - launchApp: {packageId: '{{target.appId}}'}

trail:
  - step: Sign in
    tools:
      - wallet_signIn: {pin: '1234'}
      - tap: {id: notNow}

  - verify: The balance is shown
    tools:
      - assertVisible: {id: balance, expectedText: €120.00}
";

#[test]
fn a_trail_written_for_android_runs_on_both_without_change() {
    let own = repository().join(".parts/android");
    let folder = std::env::var_os("TRAILBLAZE_TEST_ANDROID").map_or(own, PathBuf::from);
    let parts = match AndroidParts::find(Path::new(&folder)) {
        Ok(parts) => parts,
        Err(error @ StandInStartError::NotInstalled(_)) => return skip::without_part(&error.to_string()),
        Err(error) => return skip::without(&error.to_string()),
    };
    let iphone = CabledIphone::plug_in();
    let project = &iphone.project;
    project.write("trails/shared.trail.yaml", TRAIL);
    let app = project.root().join("wallet.app.yaml");
    let server = TestAdbServer::start(&parts).expect("an adb server");
    let phone = StandInPhone::start(&parts, &example("android_stand_in"), &[app]).expect("a phone");
    server.connect(&phone).expect("adb reaches it");
    let adb = [("ADB_SERVER_SOCKET", server.socket().to_string())];
    for device in [format!("android/{}", phone.serial()), iphone.device()] {
        let ran = iphone.run(&["run", "trails/shared.trail.yaml", "-d", &device], &adb).exits(0);
        assert!(ran.stdout.contains("1 passed"), "{device}: {}", ran.stdout);
    }
    assert_eq!(project.read("trails/shared.trail.yaml"), TRAIL);
}
