//! What an iPhone can do beyond its apps, on the stand-in for WebDriverAgent.

use serde_json::json;
use trailblaze_core::driver::{
    Action, ActionOutput, ActionTarget, Appearance, AuditScope, DeviceCommand, DeviceSetting, DriverError, Key,
    LaunchMode, LaunchSettings, ObserveOptions, Orientation, PhoneCommand,
};
use trailblaze_ios_stand_in::Behaviour;

use crate::support::{Connected, WALLET, budget};

impl Connected {
    async fn send(&self, command: DeviceCommand) -> Result<ActionOutput, DriverError> {
        command.carry_out(&*self.driver, &budget()).await
    }

    async fn phone(&self, command: PhoneCommand) -> Result<ActionOutput, DriverError> {
        self.send(DeviceCommand::Phone(command)).await
    }

    async fn change(&self, setting: DeviceSetting) {
        self.send(DeviceCommand::Change(setting)).await.expect("it is changed");
    }

    fn told(&self) -> String {
        format!("{:?}", self.driver.events().expect("events").take())
    }
}

async fn launched() -> Connected {
    let iphone = Connected::open().await;
    iphone.launch(LaunchMode::Resume).await.expect("it is launched");
    iphone
}

#[tokio::test]
async fn a_screen_that_is_turned_is_touched_in_the_right_places_and_turned_back() {
    let iphone = launched().await;
    // The places of elements are wrong for a while after a turn.
    iphone.stand_in.behave(Behaviour { unturned_trees: 3, ..Behaviour::default() });
    iphone.change(DeviceSetting::Orientation(Orientation::Landscape)).await;
    assert!(iphone.stand_in.is_landscape());
    let screen = iphone.driver.observe(&budget(), ObserveOptions::PICTURE).await.expect("a screen");
    assert_eq!((screen.size.width, screen.size.height), (2532, 1170));
    assert_eq!(screen.picture.expect("a picture").size, screen.size);
    iphone.fill("email", "ada@example.com").await;
    assert_eq!(iphone.id("email").await.text.as_deref(), Some("ada@example.com"));
    iphone.driver.close().await;
    assert!(!iphone.stand_in.is_landscape());
}

#[tokio::test]
async fn appearance_and_location_are_put_back_at_the_end() {
    let iphone = launched().await;
    iphone.change(DeviceSetting::Appearance(Appearance::Dark)).await;
    iphone.change(DeviceSetting::Location { latitude: 52.5, longitude: 13.4 }).await;
    assert_eq!((iphone.stand_in.is_dark(), iphone.stand_in.location()), (true, Some((52.5, 13.4))));
    iphone.driver.close().await;
    assert_eq!((iphone.stand_in.is_dark(), iphone.stand_in.location()), (false, None));
}

#[tokio::test]
async fn an_app_is_launched_with_its_language_arguments_and_environment() {
    let iphone = launched().await;
    let setting = DeviceSetting::Locale { app: WALLET.to_string(), locale: "de-DE".to_string() };
    iphone.change(setting).await;
    let how = LaunchSettings {
        mode: LaunchMode::ForceRestart,
        arguments: vec!["--fast".to_string()],
        environment: vec![("API".to_string(), "test".to_string())],
    };
    iphone.phone(PhoneCommand::LaunchWith { app: WALLET.to_string(), how }).await.expect("it is launched");
    let expected = json!({
        "arguments": ["--fast", "-AppleLanguages", "(de-DE)", "-AppleLocale", "de_DE"], "environment": {"API": "test"},
    });
    assert_eq!(iphone.stand_in.launched_with(), expected);
}

#[tokio::test]
async fn buttons_the_lock_and_the_clipboard_are_those_of_the_device() {
    let iphone = launched().await;
    for key in [Key::VolumeUp, Key::VolumeDown] {
        iphone.try_act(ActionTarget::Device, Action::PressKey { key }).await.expect("it is pressed");
    }
    assert_eq!(iphone.stand_in.pressed(), ["volumeup", "volumedown"]);
    iphone.phone(PhoneCommand::Lock).await.expect("it is locked");
    assert!(iphone.stand_in.is_locked());
    iphone.phone(PhoneCommand::Unlock).await.expect("it is unlocked");
    iphone.try_act(ActionTarget::Device, Action::PressKey { key: Key::Power }).await.expect("it is pressed");
    assert!(iphone.stand_in.is_locked());
    iphone.phone(PhoneCommand::Unlock).await.expect("it is unlocked");
    iphone.send(DeviceCommand::SetClipboard { text: "Grüße".to_string() }).await.expect("it is copied");
    assert_eq!(iphone.phone(PhoneCommand::GetClipboard).await.expect("it is read").text, "Grüße");
    for degrees in [90.0, -30.0] {
        iphone.try_act(ActionTarget::Device, Action::Twist { degrees }).await.expect("two fingers turn");
    }
    assert_eq!(iphone.stand_in.twists(), [90, -30]);
}

#[tokio::test]
async fn the_state_of_an_app_is_told_and_its_crash_reported() {
    let iphone = launched().await;
    let state =
        async || iphone.phone(PhoneCommand::GetAppState { app: WALLET.to_string() }).await.expect("a state").text;
    assert_eq!(state().await, "FOREGROUND");
    assert_eq!(iphone.send(DeviceCommand::CurrentApp).await.expect("an app").text, WALLET);
    iphone.try_act(ActionTarget::Device, Action::PressKey { key: Key::Home }).await.expect("it goes home");
    assert_eq!(state().await, "BACKGROUND");
    iphone.screen().await;
    assert!(!iphone.told().contains("Crash"), "it still runs");
    iphone.launch(LaunchMode::Resume).await.expect("it is launched");
    iphone.screen().await;
    iphone.stand_in.crash(WALLET);
    assert_eq!(state().await, "NOT_RUNNING");
    iphone.screen().await;
    let told = iphone.told();
    assert!(told.contains("the app `com.example.Wallet` has ended by itself"), "{told}");
}

#[tokio::test]
async fn alerts_are_read_answered_and_put_into_the_record() {
    let iphone = launched().await;
    assert_eq!(iphone.phone(PhoneCommand::GetAlert).await.expect("an answer").value, Some(json!(null)));
    let none = PhoneCommand::AnswerAlert { accept: true, button: None };
    assert_eq!(iphone.phone(none.clone()).await.expect_err("there is none").to_string(), "no alert is shown");
    let show =
        || iphone.stand_in.show_alert("“Wallet” Would Like to Use Your Location", &["Don’t Allow", "Allow Once"]);
    show();
    let alert = iphone.phone(PhoneCommand::GetAlert).await.expect("an alert").value.expect("a value");
    assert_eq!(alert["buttons"], json!(["Don’t Allow", "Allow Once"]));
    let wrong = PhoneCommand::AnswerAlert { accept: true, button: Some("Always".to_string()) };
    let error = iphone.phone(wrong).await.expect_err("it has no such button").to_string();
    assert!(error.contains("Allow Once"), "{error}");
    iphone.phone(none).await.expect("it is accepted");
    assert!(!iphone.stand_in.has_alert());
    let told = iphone.told();
    assert!(told.contains("Would Like to Use Your Location") && told.contains("is_accepted: true"), "{told}");
    show();
    let named = PhoneCommand::AnswerAlert { accept: false, button: Some("Don’t Allow".to_string()) };
    iphone.phone(named).await.expect("it is dismissed");
    assert!(iphone.told().contains("is_accepted: false"));
}

#[tokio::test]
async fn an_alert_in_the_way_of_typing_is_named() {
    let iphone = launched().await;
    iphone.act(iphone.id("email").await, Action::Tap).await;
    iphone.stand_in.behave(Behaviour { refuses_beneath_alert: true, ..Behaviour::default() });
    iphone.stand_in.show_alert("Low Battery", &["Close"]);
    let typing = Action::InputText { text: "x".to_string() };
    let expected = "an alert is in the way; tap one of its buttons first: Low Battery (buttons: \"Close\")";
    // The alert has taken the focus from the field.
    let error = iphone.try_act(ActionTarget::Device, typing.clone()).await.expect_err("it is in the way");
    assert_eq!(error.to_string(), expected);
    let error = iphone.try_act(ActionTarget::Device, Action::PressKey { key: Key::Enter }).await;
    assert_eq!(error.expect_err("it is in the way").to_string(), expected);
    iphone.act(iphone.text("Close").await, Action::Tap).await;
    iphone.try_act(ActionTarget::Device, typing).await.expect("nothing is in the way any more");
    assert_eq!(iphone.id("email").await.text.as_deref(), Some("x"));
}

#[tokio::test]
async fn an_audit_returns_what_it_finds() {
    let iphone = launched().await;
    let audit = async |rules: &[&str]| {
        let rules = rules.iter().map(|rule| rule.to_string()).collect();
        let scope = AuditScope { rules, ..AuditScope::default() };
        iphone.send(DeviceCommand::Audit(scope)).await.expect("an audit").text
    };
    assert_eq!(audit(&[]).await, "");
    iphone.stand_in.add_fault("XCUIAccessibilityAuditTypeContrast", "Contrast failed", "\"Sign in\" Button");
    let expected = "XCUIAccessibilityAuditTypeContrast: Contrast failed (\"Sign in\" Button)";
    assert_eq!(audit(&[]).await, expected);
    assert_eq!(audit(&["XCUIAccessibilityAuditTypeContrast"]).await, expected);
    assert_eq!(audit(&["XCUIAccessibilityAuditTypeTrait"]).await, "");
}

#[tokio::test]
async fn what_only_a_mac_can_do_says_so() {
    let iphone = Connected::open().await;
    for command in [
        DeviceCommand::GrantPermission { app: WALLET.to_string(), permission: "camera".to_string() },
        DeviceCommand::InstallApp { file: "Wallet.app".to_string() },
        DeviceCommand::StopRecording,
    ] {
        let error = iphone.send(command.clone()).await.expect_err("it cannot").to_string();
        assert!(error.contains("is possible only on a simulator of this Mac"), "{}: {error}", command.name());
    }
}
