//! What differs from platform to platform.

use super::*;
use serde_json::json;
use trailblaze_core::driver::{Appearance, DeviceSetting, Key, Orientation, PhoneCommand};
use trailblaze_core::screen::{Field, Shape};

#[tokio::test(start_paused = true)]
async fn a_platform_without_a_command_says_so() {
    let shell = || DeviceCommand::Shell { command: "ls".to_string() };
    let script = || DeviceCommand::EvaluateJs { script: "1".to_string() };
    let grant = || DeviceCommand::GrantPermission { app: "x".to_string(), permission: "camera".to_string() };
    let network = || DeviceCommand::SetNetwork { connected: false };
    let install = || DeviceCommand::InstallApp { file: "a.apk".to_string() };
    let dark = || DeviceCommand::Change(DeviceSetting::Appearance(Appearance::Dark));
    let turn = || DeviceCommand::Change(DeviceSetting::Orientation(Orientation::Landscape));
    let current = || DeviceCommand::CurrentApp;
    let record = || DeviceCommand::StopRecording;
    let windows = || DeviceCommand::Windows;
    let unsupported = [
        (Platform::Android, vec![script(), install(), turn(), record(), windows()]),
        (Platform::Ios, vec![shell(), grant(), script(), network(), install(), turn(), record()]),
        (Platform::Web, vec![shell(), grant(), install(), dark(), current(), windows()]),
        (Platform::Desktop, vec![shell(), grant(), script(), network(), install(), dark(), current()]),
    ];
    for (platform, commands) in unsupported {
        let hand = Hand::in_wallet(platform).await;
        for command in commands {
            let sent = hand.send(command.clone()).await;
            assert!(matches!(sent, Err(DriverError::Unsupported { .. })), "{platform} {command:?}: {sent:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_platform_without_a_key_or_gesture_says_so() {
    let key = |key| Action::PressKey { key };
    let unsupported = [
        (Platform::Android, vec![key(Key::Escape), key(Key::Tab)]),
        (Platform::Ios, vec![key(Key::Back)]),
        (Platform::Web, vec![key(Key::Back), key(Key::Home), Action::HideKeyboard, Action::Pinch { scale: 2.0 }]),
        (Platform::Desktop, vec![key(Key::Back)]),
    ];
    for (platform, actions) in unsupported {
        let hand = Hand::in_wallet(platform).await;
        for action in actions {
            let acted = hand.act(action.clone()).await;
            assert!(matches!(acted, Err(DriverError::Unsupported { .. })), "{platform} {action:?}: {acted:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_shell_answers_a_handful_of_commands() {
    let hand = Hand::in_wallet(Platform::Android).await;
    let centre = hand.node("email").await.bounds.unwrap().center();
    let run = async |command: &str| {
        let acted = hand.send(DeviceCommand::Shell { command: command.to_string() }).await.unwrap();
        acted.value.unwrap()
    };
    let fine = |stdout: &str| json!({"exitCode": 0, "stdout": stdout, "stderr": ""});
    assert_eq!(run("getprop ro.product.model").await, fine("Trailblaze Sim\n"));
    assert_eq!(run("pm list packages").await, fine("package:com.example.wallet\n"));
    assert_eq!(run(&format!("input tap {} {}", centre.x, centre.y)).await, fine(""));
    assert_eq!(run("input text ada%slovelace").await, fine(""));
    assert_eq!(run("input keyevent KEYCODE_DEL").await, fine(""));
    assert_eq!(hand.node("email").await.text(), Some("ada lovelac"));
    assert_eq!(run("reboot now").await["exitCode"], 127);
}

#[tokio::test(start_paused = true)]
async fn a_browser_reports_its_title_and_address() {
    let hand = Hand::at_home(Platform::Web).await;
    let evaluate = |script: &str| hand.send(DeviceCommand::EvaluateJs { script: script.to_string() });
    assert_eq!(evaluate("document.title").await.unwrap().text, "Wallet");
    assert_eq!(evaluate("location.href").await.unwrap().value, Some(json!("https://wallet.example/")));
    assert!(matches!(evaluate("alert(1)").await, Err(DriverError::Refused { .. })));
}

#[tokio::test(start_paused = true)]
async fn installed_apps_have_the_identifiers_of_the_platform() {
    let ids = ["com.example.wallet", "com.example.Wallet", "https://wallet.example", "wallet"];
    for (platform, id) in Platform::ALL.into_iter().zip(ids) {
        let hand = Hand::in_wallet(platform).await;
        assert_eq!(hand.send(DeviceCommand::ListApps).await.unwrap().value, Some(json!([id])), "{platform}");
    }
}

/// The properties of the sign-in button and the PIN in each vocabulary.
#[tokio::test(start_paused = true)]
async fn elements_use_the_vocabulary_of_their_driver() {
    use Field as F;
    let drivers = [
        (
            "android-ondevice-accessibility",
            Platform::Android,
            F::ResourceId,
            "com.example.wallet:id/submit",
            F::ClassName,
            "android.widget.Button",
        ),
        (
            "android-ondevice-instrumentation",
            Platform::Android,
            F::ResourceId,
            "com.example.wallet:id/submit",
            F::Text,
            "Sign in",
        ),
        ("ios-host", Platform::Ios, F::ResourceId, "submit", F::ClassName, "Button"),
        ("ios-axe", Platform::Ios, F::UniqueId, "submit", F::Role, "AXButton"),
        ("playwright-native", Platform::Web, F::CssSelector, "#submit", F::AriaDescriptor, "button \"Sign in\""),
        ("compose", Platform::Desktop, F::TestTag, "submit", F::Role, "Button"),
    ];
    for (driver, platform, id_field, id, field, value) in drivers {
        let driver = DriverKey::new(driver);
        let shape = Shape::for_driver(&driver, platform);
        let device = DeviceId::new("x/sim-1");
        let hand = Hand { sim: Sim::open(device, platform, driver, vec![demo_app()], Options::default()) };
        hand.launch(LaunchMode::Reinstall).await;
        hand.fill("pin", "12").await;
        let submit = hand.node("submit").await;
        assert_eq!(submit.props.shape, shape);
        assert_eq!(submit.props.text(id_field), Some(id));
        assert_eq!(submit.props.text(field), Some(value));
        assert_eq!(submit.text(), Some("Sign in"));
        assert!(submit.is_clickable() && !submit.is_enabled(), "{shape:?}");
        let pin = hand.node("pin").await;
        assert!(pin.is_editable() && pin.is_focused() && pin.text() == Some("••"), "{shape:?}");
        let root = hand.look().await.root;
        let mut ids: Vec<u64> = root.walk().map(|node| node.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), root.walk().count(), "{shape:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn elements_differ_by_platform() {
    for (platform, expected) in
        [(Platform::Android, Some("Fingerprint")), (Platform::Ios, Some("Face ID")), (Platform::Web, None)]
    {
        let hand = Hand::at_home(platform).await;
        hand.tap("settingsTab").await;
        let found = hand.find("faceId").await;
        assert_eq!(found.as_ref().and_then(Node::text), expected, "{platform}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_phone_can_be_pinched_granted_and_cut_off() {
    let yaml = "
app: {id: a, name: A}
start: one
screens:
  one:
    elements:
      - {id: said, text: 'zoom {{zoom}}, {{network}}, camera {{permission.camera}}'}
";
    let hand = Hand::in_app(yaml).await;
    hand.act(Action::Pinch { scale: 2.0 }).await.unwrap();
    hand.send(DeviceCommand::SetNetwork { connected: false }).await.unwrap();
    let (app, permission) = ("a".to_string(), "camera".to_string());
    hand.send(DeviceCommand::GrantPermission { app, permission }).await.unwrap();
    assert_eq!(hand.node("said").await.text(), Some("zoom 2.00, offline, camera granted"));
}

#[tokio::test(start_paused = true)]
async fn apps_see_what_is_set_on_a_phone() {
    let yaml = "
app: {id: a, name: A}
start: one
screens:
  one:
    elements:
      - {id: said, text: '{{appearance}} {{locale}} {{location}} {{permission.camera}}'}
";
    let hand = Hand::in_app(yaml).await;
    let set = async |setting| hand.send(DeviceCommand::Change(setting)).await.map(drop);
    set(DeviceSetting::Appearance(Appearance::Dark)).await.unwrap();
    set(DeviceSetting::Locale { app: "a".to_string(), locale: "de-DE".to_string() }).await.unwrap();
    set(DeviceSetting::Location { latitude: 52.5, longitude: -13.4 }).await.unwrap();
    assert_eq!(hand.node("said").await.text(), Some("dark de-DE 52.5,-13.4 "));
    let current = hand.send(DeviceCommand::CurrentApp).await.unwrap();
    assert_eq!((current.text.as_str(), current.value), ("a", Some(json!({"appId": "a", "activity": null}))));
    let unknown = set(DeviceSetting::Locale { app: "b".to_string(), locale: "de".to_string() }).await;
    assert!(unknown.is_err(), "{unknown:?}");
    let (app, permission) = ("a".to_string(), "camera".to_string());
    hand.send(DeviceCommand::RevokePermission { app: app.clone(), permission }).await.unwrap();
    hand.send(DeviceCommand::LaunchApp { app, mode: LaunchMode::Resume }).await.unwrap();
    assert_eq!(hand.node("said").await.text(), Some("dark de-DE 52.5,-13.4 denied"));
}

#[tokio::test(start_paused = true)]
async fn files_are_kept_until_the_session_ends() {
    let hand = Hand::in_wallet(Platform::Android).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.txt");
    std::fs::write(&file, "hello").unwrap();
    let (file, path) = (file.display().to_string(), "/sdcard/a.txt".to_string());
    hand.send(DeviceCommand::PushFile { file, path: path.clone() }).await.unwrap();
    let pulled = hand.send(DeviceCommand::PullFile { path }).await.unwrap();
    assert_eq!((pulled.text.as_str(), &*pulled.files[0].bytes), ("hello", b"hello".as_slice()));
    let missing = hand.send(DeviceCommand::PullFile { path: "/sdcard/b.txt".to_string() }).await;
    assert!(missing.unwrap_err().to_string().contains("/sdcard/b.txt"));
}

#[tokio::test(start_paused = true)]
async fn a_desktop_has_windows_menus_and_a_clipboard() {
    let yaml = "app: {id: a, name: Notes}\nstart: note\nscreens:\n  note:\n    title: Note\n    elements:\n      - {id: file, role: button, \
                text: File, tap: {dialog: file}}\n      - {id: text, role: field, hint: Text}\ndialogs:\n  file:\n    elements:\n      - {role: \
                button, text: Greet, tap: [{set: {text: Hello}}, dismiss]}\n";
    let hand = Hand::on(Platform::Desktop, Arc::new(app(yaml)), Options::default());
    let windows = async || hand.send(DeviceCommand::Windows).await.unwrap().value.unwrap()["windows"].clone();
    let refused = async |command: DeviceCommand| hand.send(command).await.unwrap_err().to_string();
    assert_eq!(windows().await, json!([]));
    let none = refused(DeviceCommand::ActivateWindow { window: "Note".to_string() }).await;
    assert_eq!(none, "no window has the id or the title \"Note\"; no window is open");
    hand.send(DeviceCommand::LaunchApp { app: "a".to_string(), mode: LaunchMode::Reinstall }).await.unwrap();
    let bounds = json!({"left": 0, "top": 0, "right": 1280, "bottom": 800});
    let window = json!({"id": "1", "title": "Note", "app": "a", "bounds": bounds, "active": true});
    assert_eq!(windows().await, json!([window]));
    let path = ["File", "Greet"].map(str::to_string).to_vec();
    hand.send(DeviceCommand::ChooseMenu { path }).await.unwrap();
    assert_eq!(hand.node("text").await.text(), Some("Hello"));
    let none = refused(DeviceCommand::ChooseMenu { path: vec!["Edit".to_string()] }).await;
    assert_eq!(none, "no menu of the window in front has an item `Edit`; there is `File`, `Hello`");
    let press = |chord: &str| hand.act(Action::PressChord { chord: chord.to_string(), count: 1, repeats: 1 });
    assert_eq!(hand.send(DeviceCommand::GetClipboard).await.unwrap().value, Some(json!(null)));
    hand.tap("text").await;
    press("control+c").await.unwrap();
    press("!").await.unwrap();
    press("Control+V").await.unwrap();
    assert_eq!(hand.node("text").await.text(), Some("Hello!!HelloHello"));
    assert!(press("F5").await.unwrap_err().to_string().starts_with("a simulated desktop has no use for `F5`"));
    hand.send(DeviceCommand::CloseWindow { window: "Note".to_string() }).await.unwrap();
    assert_eq!(windows().await, json!([]));
}

#[tokio::test(start_paused = true)]
async fn a_phone_knows_which_apps_run() {
    for platform in [Platform::Android, Platform::Ios] {
        let hand = Hand::in_wallet(platform).await;
        let wallet = demo_app().id_for(platform).to_string();
        let state = async |app: &str| {
            let command = PhoneCommand::GetAppState { app: app.to_string() };
            hand.send(DeviceCommand::Phone(command)).await.unwrap().text
        };
        assert_eq!((state(&wallet).await.as_str(), state("nobody").await.as_str()), ("FOREGROUND", "NOT_INSTALLED"));
        hand.act(Action::PressKey { key: Key::Home }).await.unwrap();
        assert_eq!(state(&wallet).await, "BACKGROUND", "{platform}");
        hand.send(DeviceCommand::StopApp { app: wallet.clone() }).await.unwrap();
        assert_eq!(state(&wallet).await, "NOT_RUNNING", "{platform}");
        hand.send(DeviceCommand::SetClipboard { text: "Zoë".to_string() }).await.unwrap();
        let read = hand.send(DeviceCommand::Phone(PhoneCommand::GetClipboard)).await;
        match platform {
            Platform::Ios => assert_eq!(read.unwrap().text, "Zoë"),
            _ => assert!(matches!(read, Err(DriverError::Unsupported { .. })), "{read:?}"),
        }
        let locked = hand.send(DeviceCommand::Phone(PhoneCommand::Lock)).await;
        assert!(matches!(locked, Err(DriverError::Unsupported { .. })), "{locked:?}");
    }
}
