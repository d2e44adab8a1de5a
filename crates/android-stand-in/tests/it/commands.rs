//! What the commands print, without adb.

use trailblaze_android_stand_in::control::{Control, PhoneBehaviour};

use crate::support::{Serving, find, has_text, until};

fn in_wallet() -> Serving {
    let phone = Serving::start();
    phone.out("am start -n com.example.wallet/.MainActivity");
    phone
}

#[test]
fn a_dump_has_the_attributes_of_android_14() {
    let phone = in_wallet();
    let dump = phone.dump();
    let email = find(&dump, "email");
    let expected = "index text resource-id class package content-desc checkable checked clickable enabled focusable focused scrollable \
                    long-clickable password selected bounds";
    assert_eq!(email.names(), expected.split_whitespace().collect::<Vec<_>>());
    assert_eq!(email.get("text"), "Email", "an empty field shows its hint");
    assert_eq!((email.get("class"), email.get("package")), ("android.widget.EditText", "com.example.wallet"));
    assert_eq!(find(&dump, "submit").get("enabled"), "false");
    assert_eq!(find(&dump, "logo").get("content-desc"), "Wallet logo");

    phone.type_into("email", "Tom&Jerry<\"it's\">%sx");
    phone.type_into("pin", "1234");
    let dump = phone.dump();
    assert_eq!(find(&dump, "email").get("text"), "Tom&Jerry<\"it's\"> x");
    assert_eq!(find(&dump, "pin").get("password"), "true");
    assert_eq!(find(&dump, "pin").get("text"), "••••");
    assert_eq!(find(&dump, "pin").get("focused"), "true");
}

#[test]
fn a_dialog_is_a_window_of_its_own_and_back_hides_the_keyboard_first() {
    let phone = in_wallet();
    phone.type_into("email", "ada");
    phone.type_into("pin", "1234");
    assert!(phone.out("dumpsys input_method").contains("mInputShown=true"));
    phone.out("input keyevent KEYCODE_BACK");
    assert!(phone.out("dumpsys input_method").contains("mInputShown=false"));
    assert!(has_text(&phone.dump(), "Welcome back"));
    phone.tap("submit");
    until(|| has_text(&phone.dump(), "Stay up to date?"));
    assert!(!has_text(&phone.dump(), "Recent payments"), "it is behind the dialog");
    phone.out("input keyevent 4");
    assert!(has_text(&phone.dump(), "Recent payments"));

    let before = phone.dump();
    phone.out("input swipe 500 2000 500 1400 100");
    assert_ne!(texts(&before), texts(&phone.dump()), "the list scrolled");
}

fn texts(dump: &[crate::support::Element]) -> Vec<&str> {
    dump.iter().map(|element| element.get("text")).collect()
}

#[test]
fn apps_start_stop_and_are_cleared() {
    let phone = Serving::start();
    assert_eq!(phone.out("pm list packages -3"), "package:com.example.wallet\n");
    assert_eq!(phone.failure("pidof com.example.wallet").0, 1);
    assert_eq!(
        phone.out("cmd package resolve-activity --brief com.example.wallet").lines().last(),
        Some("com.example.wallet/.MainActivity")
    );
    let said = phone.out("am start -W -n com.example.wallet/.MainActivity");
    assert!(said.contains("Status: ok\nLaunchState: COLD\nActivity: com.example.wallet/.MainActivity\n"), "{said}");
    assert!(phone.out("pidof com.example.wallet").trim().parse::<u32>().is_ok());
    assert!(phone.out("dumpsys window").contains("com.example.wallet/com.example.wallet.MainActivity}"));
    phone.out("am force-stop com.example.wallet");
    assert_eq!(phone.failure("pidof com.example.wallet").0, 1);
    let (code, said) = phone.failure("monkey -p com.example.wallet -c android.intent.category.LAUNCHER 1");
    assert_eq!((code, said.starts_with("args: [-p, ")), (0, true));
    assert_eq!(phone.out("pm clear com.example.wallet"), "Success\n");
    assert_eq!(
        phone.failure("am start -n com.example.none/.Main"),
        (
            1,
            "Error type 3\nError: Activity class {com.example.none/com.example.none.Main} does not exist.\n"
                .to_string()
        )
    );
    let said = phone.out("am start -a android.intent.action.VIEW -d wallet://settings");
    assert_eq!(said, "Starting: Intent { act=android.intent.action.VIEW dat=wallet://settings }\n");
    assert!(has_text(&phone.dump(), "Settings"));
    assert_eq!(phone.out("pm uninstall com.example.wallet"), "Success\n");
    assert_eq!(phone.failure("pm path com.example.wallet").0, 1);
}

#[test]
fn the_phone_can_misbehave() {
    let phone = in_wallet();
    let behave = |behaviour| phone.control(Control::Behave(behaviour));
    behave(PhoneBehaviour { idle_errors: 1, null_roots: 1, ..PhoneBehaviour::default() });
    assert_eq!(phone.failure("uiautomator dump x"), (0, "ERROR: could not get idle state.\n".to_string()));
    let no_root = "ERROR: null root node returned by UiTestAutomationBridge.\n".to_string();
    behave(PhoneBehaviour { null_roots: 1, ..PhoneBehaviour::default() });
    assert_eq!(phone.failure("uiautomator dump x"), (0, no_root.clone()));
    phone.dump();

    behave(PhoneBehaviour { truncated_pictures: 1, ..PhoneBehaviour::default() });
    let (half, whole) = (phone.command("screencap -p").stdout, phone.command("screencap -p").stdout);
    assert_eq!(half, whole[..whole.len() / 2]);

    behave(PhoneBehaviour { crlf: true, ..PhoneBehaviour::default() });
    assert_eq!(phone.out("wm size"), "Physical size: 1080x2400\r\n");
    behave(PhoneBehaviour { killed_commands: 1, ..PhoneBehaviour::default() });
    assert_eq!(phone.failure("wm size").0, 137);

    phone.control(Control::Sleep { locked: true });
    assert!(phone.out("dumpsys power").contains("mWakefulness=Asleep"));
    assert_eq!(phone.failure("uiautomator dump x"), (0, no_root));
    phone.out("input keyevent KEYCODE_WAKEUP");
    assert!(has_text(&phone.dump(), "Swipe up to open"));
    assert!(phone.out("dumpsys window").contains("mDreamingLockscreen=true"));
    phone.out("input swipe 500 2000 500 500 1");
    assert!(has_text(&phone.dump(), "Welcome back"));
}

#[test]
fn a_crash_is_in_the_log_and_has_a_dialog() {
    let phone = in_wallet();
    let pid = phone.out("pidof com.example.wallet").trim().to_string();
    phone.control(Control::Crash { exception: "java.lang.IllegalStateException: no money".to_string() });
    let log = phone.out(&format!("logcat -d -v threadtime --pid {pid}"));
    assert!(log.contains(" E AndroidRuntime: java.lang.IllegalStateException: no money\n"), "{log}");
    assert!(
        phone.out("dumpsys window").contains("mCurrentFocus=Window{8c1d2e3 u0 Application Error: com.example.wallet}")
    );
    let crashes = phone.out("logcat -b crash -d -v raw -t 200");
    assert!(crashes.starts_with("--------- beginning of crash\nFATAL EXCEPTION: main\n"), "{crashes}");
    let dump = phone.dump();
    assert!(has_text(&dump, "Wallet keeps stopping"));
    let (x, y) = dump.iter().find(|element| element.get("text") == "Close app").unwrap().center();
    phone.out(&format!("input tap {x} {y}"));
    assert!(has_text(&phone.dump(), "Hello"), "the home screen is behind it");
}

#[test]
fn settings_and_text_behave_as_on_a_phone() {
    let phone = in_wallet();
    assert_eq!(phone.out("settings get global window_animation_scale"), "1.0\n");
    phone.out("settings put global window_animation_scale 0");
    assert_eq!(phone.out("settings get global window_animation_scale"), "0\n");
    assert_eq!(phone.out("settings delete global window_animation_scale"), "Deleted 1 rows\n");
    assert_eq!(phone.out("settings get global window_animation_scale"), "null\n");
    assert_eq!(phone.out("cmd uimode night yes"), "Night mode: yes\n");
    assert_eq!(phone.out("ime list -s"), "com.android.inputmethod.latin/.LatinIME\n");

    let (code, said) = phone.failure("input text grüße");
    assert_eq!(code, 255);
    assert!(said.contains("java.lang.NullPointerException: Attempt to get length of null array"), "{said}");
    phone.type_into("email", "abc");
    phone.out("input keycombination KEYCODE_CTRL_LEFT KEYCODE_A");
    phone.out("input keyevent DEL");
    phone.out("input keyevent KEYCODE_X 8");
    assert_eq!(find(&phone.dump(), "email").get("text"), "x1");
    assert_eq!(phone.failure("cmd nonsense").0, 20);

    let missing = phone.failure("screencap -p /nowhere/picture.png");
    assert_eq!(missing, (1, "Error opening file: /nowhere/picture.png (No such file or directory)\n".to_string()));
    let compressed = phone.out("uiautomator dump --compressed dump.xml");
    assert_eq!(compressed, "UI hierchary dumped to: /dump.xml\n");
}

const GESTURES: &str = "\
app: {id: com.example.gestures, name: Gestures}
start: main
state: {last: none}
screens:
  main:
    elements:
      - {id: last, text: 'last: {{last}}'}
      - id: pad
        role: button
        text: Pad
        tap: {set: {last: tap}}
        doubleTap: {set: {last: double}}
        longPress: {set: {last: long}}
        swipe: {left: {set: {last: left}}}
";

#[test]
fn gestures_are_told_apart() {
    let phone = Serving::with(&[GESTURES]);
    phone.out("am start -n com.example.gestures/.MainActivity");
    let pad = phone.dump();
    let (x, y) = pad.iter().find(|element| element.get("text") == "Pad").unwrap().center();
    let left = x - 300;
    for (command, expected) in [
        (format!("input swipe {x} {y} {x} {y} 500"), "long"),
        (format!("input swipe {x} {y} {left} {y} 50"), "left"),
        (format!("input tap {x} {y}"), "tap"),
        (format!("input motionevent DOWN {x} {y}"), "tap"),
        (format!("input motionevent MOVE {left} {y}"), "tap"),
        (format!("input motionevent UP {left} {y}"), "left"),
    ] {
        phone.out(&command);
        assert!(has_text(&phone.dump(), &format!("last: {expected}")), "{command}: {:?}", texts(&phone.dump()));
    }
    // On a busy machine two may be too far apart.
    until(|| {
        phone.out(&format!("input tap {x} {y}"));
        has_text(&phone.dump(), "last: double")
    });
}
