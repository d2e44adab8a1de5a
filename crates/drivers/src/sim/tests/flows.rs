//! What a user of the wallet does.

use super::*;
use trailblaze_core::driver::Key;

#[tokio::test(start_paused = true)]
async fn the_home_screen_lists_the_apps_and_opens_them() {
    for platform in Platform::ALL {
        let hand = Hand::on(platform, demo_app(), Options::default());
        assert_eq!(hand.look().await.app, None);
        hand.tap_text("Wallet").await;
        assert!(hand.sees("Welcome back").await, "{platform}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_user_signs_in_and_sends_money_on_every_platform() {
    for platform in Platform::ALL {
        let hand = Hand::at_home(platform).await;
        hand.tap("sendMoney").await;
        hand.fill("recipient", "Ada").await;
        hand.fill("amount", "12.50").await;
        hand.tap("review").await;
        assert!(hand.sees("Send €12.50?").await, "{platform}");
        hand.tap("confirmSend").await;
        assert!(hand.find("progress").await.is_some(), "{platform}");
        hand.wait(600).await;
        assert_eq!(hand.node("sent").await.text(), Some("Sent €12.50 to Ada"), "{platform}");
        assert_eq!(hand.node("newBalance").await.text(), Some("€107.50"), "{platform}");
        hand.tap("done").await;
        assert_eq!(hand.node("balance").await.text(), Some("€107.50"), "{platform}");
        assert!(hand.sees("-€12.50").await, "{platform}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wrong_pin_is_reported_and_typing_clears_the_message() {
    let hand = Hand::in_wallet(Platform::Android).await;
    hand.fill("email", "ada@example.com").await;
    hand.fill("pin", "12").await;
    hand.tap("submit").await;
    assert_eq!(hand.node("error").await.text(), Some("Wrong PIN. Try again"));
    hand.fill("pin", "34").await;
    assert_eq!(hand.find("error").await, None);
}

#[tokio::test(start_paused = true)]
async fn launch_modes_differ_in_what_survives() {
    let hand = Hand::at_home(Platform::Android).await;
    hand.tap("settingsTab").await;
    hand.tap("newsletter").await;

    hand.launch(LaunchMode::Resume).await;
    assert_eq!(hand.node("newsletter").await.is_checked(), Some(true), "resuming keeps the screen");
    hand.launch(LaunchMode::ForceRestart).await;
    assert_eq!(hand.node("email").await.text(), Some("ada@example.com"), "a restart keeps the state");
    hand.launch(LaunchMode::Reinstall).await;
    assert_eq!(hand.node("email").await.text(), Some("Email"), "a fresh install has only the hint");
}

#[tokio::test(start_paused = true)]
async fn stopping_shows_the_home_screen_and_clearing_resets_the_state() {
    let hand = Hand::at_home(Platform::Ios).await;
    let app = demo_app().id_for(Platform::Ios).to_string();
    hand.send(DeviceCommand::StopApp { app: app.clone() }).await.unwrap();
    assert_eq!(hand.look().await.app, None);
    hand.send(DeviceCommand::ClearAppData { app }).await.unwrap();
    hand.launch(LaunchMode::Resume).await;
    assert_eq!(hand.node("email").await.text(), Some("Email"));
}

#[tokio::test(start_paused = true)]
async fn an_unknown_app_is_refused_with_the_known_ones() {
    let hand = Hand::in_wallet(Platform::Ios).await;
    let launch = DeviceCommand::LaunchApp { app: "com.example.Walet".to_string(), mode: LaunchMode::Resume };
    let reason = "the app `com.example.Walet` is not installed; installed apps: com.example.Wallet".to_string();
    assert_eq!(hand.send(launch).await, Err(DriverError::Refused { reason }));
}

#[tokio::test(start_paused = true)]
async fn addresses_open_screens() {
    let web = Hand::on(Platform::Web, demo_app(), Options::default());
    web.send(DeviceCommand::OpenUrl { url: "https://wallet.example/settings?x=1".to_string() }).await.unwrap();
    assert!(web.find("signOut").await.is_some());
    assert_eq!(web.look().await.app.as_deref(), Some("https://wallet.example/settings"));
    let phone = Hand::on(Platform::Android, demo_app(), Options::default());
    phone.send(DeviceCommand::OpenUrl { url: "wallet://send".to_string() }).await.unwrap();
    assert!(phone.find("recipient").await.is_some());
    let nowhere = phone.send(DeviceCommand::OpenUrl { url: "https://other.example".to_string() }).await;
    assert!(matches!(nowhere, Err(DriverError::Refused { .. })), "{nowhere:?}");
}

#[tokio::test(start_paused = true)]
async fn one_app_opens_another_and_changes_its_lists() {
    let notes = "
app: {id: notes, name: Notes}
start: notes
state: {draft: Milk}
lists: {notes: [{text: Eggs}]}
screens:
  notes:
    elements:
      - {id: pay, role: button, text: Pay, tap: {open: com.example.wallet}}
      - {id: add, role: button, text: Add, tap: {append: {to: notes, item: {text: '{{draft}}'}}}}
      - {id: link, role: button, text: Send, tap: {open: 'wallet://send'}}
      - {id: wipe, role: button, text: Wipe, tap: {empty: notes}}
      - {repeat: notes, text: '{{item.text}}'}
";
    let apps = vec![Arc::new(app(notes)), demo_app()];
    let (id, driver) = (DeviceId::new("android/sim-1"), DriverKey::new(DriverKey::SIM));
    let hand = Hand { sim: Sim::open(id, Platform::Android, driver, apps, Options::default()) };
    hand.tap_text("Notes").await;
    hand.tap("add").await;
    assert_eq!(hand.texts().await, ["Pay", "Add", "Send", "Wipe", "Milk", "Eggs"]);
    hand.tap("wipe").await;
    assert_eq!(hand.texts().await, ["Pay", "Add", "Send", "Wipe"]);
    hand.tap("pay").await;
    assert_eq!(hand.look().await.app.as_deref(), Some("com.example.wallet"));
    assert!(hand.find("submit").await.is_some());
    hand.act(Action::PressKey { key: Key::Home }).await.unwrap();
    hand.tap_text("Notes").await;
    hand.tap("link").await;
    assert!(hand.find("recipient").await.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_text_appears_once_in_a_row_although_its_picture_shows_its_letter() {
    for platform in Platform::ALL {
        let hand = Hand::at_home(platform).await;
        let grace = hand.texts().await.iter().filter(|text| *text == "Grace Hopper").count();
        assert_eq!(grace, 1, "{platform}");
    }
}
