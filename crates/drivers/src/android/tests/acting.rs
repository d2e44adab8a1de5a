//! Which commands an action becomes.

use trailblaze_core::driver::{Direction, DragEnd, Key, LaunchMode, Offset};

use super::*;

async fn done(target: ActionTarget, action: Action) -> Vec<String> {
    let (acted, commands) = commands(&[], target, action).await;
    acted.expect("it is done");
    commands
}

async fn not_done(script: Script, action: Action) -> String {
    commands(script, ActionTarget::Device, action).await.0.expect_err("it is refused").to_string()
}

async fn refused(script: Script, command: DeviceCommand) -> String {
    sent(script, command).await.0.expect_err("it is refused").to_string()
}

#[tokio::test]
async fn fingers_are_commands_of_the_phone() {
    assert_eq!(done(at(3, 4), Action::Tap).await, ["input tap 3 4"]);
    assert_eq!(done(at(3, 4), Action::LongPress).await, ["input swipe 3 4 3 4 1000"]);
    let to = DragEnd::By(Offset { x: 10, y: -1 });
    assert_eq!(done(at(3, 4), Action::Drag { at: None, to }).await, ["input draganddrop 3 4 13 3 1000"]);
    let scroll = Action::Scroll { direction: Direction::Down, amount: None };
    assert_eq!(done(ActionTarget::Device, scroll).await, ["input swipe 540 1680 540 720 500"]);
    assert_eq!(done(ActionTarget::Device, Action::PressKey { key: Key::Back }).await, ["input keyevent KEYCODE_BACK"]);
    assert_eq!(not_done(&[], Action::Tap).await, "`tap` needs an element or a point");
}

#[tokio::test]
async fn a_text_replaces_that_of_a_field() {
    let action = Action::SetText { text: "Bo".to_string() };
    let commands = done(at(5, 6), action).await;
    assert_eq!(commands[..2], ["input tap 5 6", "uiautomator dump /dev/tty"]);
    // The field has seven characters.
    assert_eq!(commands[2].matches("KEYCODE_DEL").count(), 7);
    assert_eq!(commands[2].matches("KEYCODE_FORWARD_DEL").count(), 7);
    assert_eq!(commands[3..], ["input text Bo"]);
}

#[tokio::test]
async fn nothing_is_touched_for_a_text_that_cannot_be_typed() {
    let (acted, commands) = commands(&[], at(5, 6), Action::InputText { text: "ü".to_string() }).await;
    assert!(acted.expect_err("it cannot be typed").to_string().contains("outside of ASCII"));
    assert_eq!(commands, Vec::<String>::new());
}

#[tokio::test]
async fn erasing_needs_a_field_with_the_focus() {
    let screen = ("uiautomator dump", "<hierarchy><node class=\"android.widget.EditText\"/></hierarchy>");
    let script: Script = Box::leak(Box::new([screen]));
    let error = not_done(script, Action::EraseText { count: None }).await;
    assert_eq!(error, "no field has the focus; tap a field first");
}

#[tokio::test]
async fn the_keyboard_is_hidden_only_if_it_is_shown() {
    let shown: Script = &[("dumpsys input_method", "  mShowRequested=true mInputShown=true\n")];
    let (_, with) = commands(shown, ActionTarget::Device, Action::HideKeyboard).await;
    assert_eq!(with, ["dumpsys input_method", "input keyevent KEYCODE_BACK"]);
    assert_eq!(done(ActionTarget::Device, Action::HideKeyboard).await, ["dumpsys input_method"]);
}

#[tokio::test]
async fn an_app_is_launched_as_a_launcher_does() {
    const SCRIPT: Script = &[
        ("cmd package resolve-activity", "priority=0 preferredOrder=0\ncom.x/.Main\n"),
        ("pm clear", "Success\n"),
        ("am start", "Starting: Intent\nStatus: ok\n"),
    ];
    let launch = async |mode| {
        let command = DeviceCommand::LaunchApp { app: "com.x".to_string(), mode };
        let (acted, commands) = sent(SCRIPT, command).await;
        acted.expect("it is launched");
        commands
    };
    let resumed = launch(LaunchMode::Resume).await;
    assert!(
        resumed[1].starts_with("am start -W -a android.intent.action.MAIN") && resumed[1].ends_with(" -n com.x/.Main")
    );
    assert_eq!(resumed[2..], ["pidof com.x"]);
    assert_eq!(launch(LaunchMode::ForceRestart).await[1], "pm path com.x && am force-stop com.x");
    assert_eq!(launch(LaunchMode::Reinstall).await[1], "pm clear com.x");
}

#[tokio::test]
async fn an_app_that_is_not_there_is_named_with_those_that_are() {
    const SCRIPT: Script = &[
        ("cmd package resolve-activity", "No activity found\n"),
        ("pm path", "!"),
        ("pm list packages -3", "package:com.b\npackage:com.a\n"),
        ("pm clear", "Failed\n"),
    ];
    let expected = "the app `com.x` is not installed; installed apps: com.a, com.b";
    let app = || "com.x".to_string();
    assert_eq!(refused(SCRIPT, DeviceCommand::LaunchApp { app: app(), mode: LaunchMode::Resume }).await, expected);
    assert_eq!(refused(SCRIPT, DeviceCommand::StopApp { app: app() }).await, expected);
    assert_eq!(refused(SCRIPT, DeviceCommand::ClearAppData { app: app() }).await, expected);
    let grant = DeviceCommand::GrantPermission { app: app(), permission: "CAMERA".to_string() };
    assert_eq!(refused(SCRIPT, grant).await, expected);
}

#[tokio::test]
async fn a_link_that_nobody_opens_is_refused() {
    const SCRIPT: Script = &[("am start", "Starting: Intent\nError: Activity not started, unable to resolve Intent\n")];
    let error = refused(SCRIPT, DeviceCommand::OpenUrl { url: "wallet://x?a=1&b='".to_string() }).await;
    assert_eq!(error, "`am start` failed on the phone: Error: Activity not started, unable to resolve Intent");
    let (_, commands) = sent(SCRIPT, DeviceCommand::OpenUrl { url: "wallet://x?a=1&b='".to_string() }).await;
    assert_eq!(commands, [r"am start -W -a android.intent.action.VIEW -d 'wallet://x?a=1&b='\'''"]);
}

#[tokio::test]
async fn a_command_of_the_shell_has_its_exit_code() {
    let (acted, _) = sent(&[("ls", "!no such file")], DeviceCommand::Shell { command: "ls /x".to_string() }).await;
    let value = acted.expect("it ran").value.expect("a value");
    assert_eq!((&value["exitCode"], &value["stderr"]), (&1.into(), &"no such file".into()));
}

#[tokio::test]
async fn a_phone_that_does_not_let_us_touch_it_says_where_to_allow_it() {
    let script: Script = &[("input tap", "!java.lang.SecurityException: requires INJECT_EVENTS permission")];
    let error = commands(script, at(1, 2), Action::Tap).await.0.expect_err("it is refused").to_string();
    assert!(error.contains("\"USB debugging (Security settings)\""), "{error}");
}

#[tokio::test]
async fn what_is_copied_is_typed_when_it_is_pasted() {
    let adb = phone(&[]).await;
    let driver = open(&adb).await.expect("it opens");
    let send = async |command: DeviceCommand| command.carry_out(&*driver, &budget()).await.expect("it is done");
    send(DeviceCommand::SetClipboard { text: "a b".to_string() }).await;
    send(DeviceCommand::PasteClipboard).await;
    assert_eq!(adb.commands().last().map(String::as_str), Some("input text 'a%sb'"));
}

#[tokio::test]
async fn what_a_session_changes_is_put_back_when_it_is_closed() {
    let adb = phone(&[]).await;
    let driver = open(&adb).await.expect("it opens");
    DeviceCommand::SetNetwork { connected: false }.carry_out(&*driver, &budget()).await.expect("it is offline");
    let changed = |command: &String| command.contains("put") || command.contains("airplane-mode");
    let changes: Vec<String> = adb.commands().into_iter().filter(changed).collect();
    let off = "settings put global window_animation_scale 0; settings put global transition_animation_scale 0; \
               settings put global animator_duration_scale 0";
    assert_eq!(changes, [off, "cmd connectivity airplane-mode enable"]);
    driver.close().await;
    assert_eq!(adb.noted().await, UNDONE);
}

#[tokio::test]
async fn what_a_session_changes_is_put_back_if_the_connection_ends() {
    let adb = phone(&[]).await;
    let driver = open(&adb).await.expect("it opens");
    DeviceCommand::SetNetwork { connected: false }.carry_out(&*driver, &budget()).await.expect("it is offline");
    drop(driver);
    assert_eq!(adb.noted().await, UNDONE);
}

const UNDONE: [&str; 4] = [
    "settings put global window_animation_scale 1.0",
    "settings delete global transition_animation_scale",
    "settings put global animator_duration_scale 0.5",
    "cmd connectivity airplane-mode disable",
];
