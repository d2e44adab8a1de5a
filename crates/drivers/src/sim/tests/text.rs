//! Typing and keys.

use super::*;
use trailblaze_core::driver::Key;

#[tokio::test(start_paused = true)]
async fn text_is_typed_into_the_focused_field_and_erased_from_its_end() {
    for platform in Platform::ALL {
        let hand = Hand::in_wallet(platform).await;
        hand.tap("email").await;
        assert!(hand.node("email").await.is_focused(), "{platform}");
        hand.act(Action::InputText { text: "ada@x".to_string() }).await.unwrap();
        assert_eq!(hand.node("email").await.text(), Some("ada@x"), "{platform}");
        hand.act(Action::EraseText { count: Some(2) }).await.unwrap();
        assert_eq!(hand.node("email").await.text(), Some("ada"), "{platform}");
        hand.act(Action::PressKey { key: Key::Backspace }).await.unwrap();
        hand.send(DeviceCommand::SetClipboard { text: "!é".to_string() }).await.unwrap();
        hand.send(DeviceCommand::PasteClipboard).await.unwrap();
        assert_eq!(hand.node("email").await.text(), Some("ad!é"), "{platform}");
        hand.act(Action::SetText { text: "grace".to_string() }).await.unwrap();
        assert_eq!(hand.node("email").await.text(), Some("grace"), "{platform}");
        hand.act(Action::EraseText { count: None }).await.unwrap();
        assert_eq!(hand.node("email").await.text(), Some("Email"), "{platform}: only the hint is left");
    }
}

#[tokio::test(start_paused = true)]
async fn a_password_shows_as_dots() {
    for platform in Platform::ALL {
        let hand = Hand::in_wallet(platform).await;
        hand.fill("pin", "1234").await;
        let pin = hand.node("pin").await;
        assert_eq!(pin.text(), Some("••••"), "{platform}");
        assert!(pin.is_password(), "{platform}");
        let tree = format!("{:?}", hand.look().await.root);
        assert!(!tree.contains("1234"), "{platform}");
    }
}

#[tokio::test(start_paused = true)]
async fn typing_without_a_focus_is_refused() {
    let hand = Hand::in_wallet(Platform::Android).await;
    let reason = "no field has the focus; tap a field first".to_string();
    let typed = hand.act(Action::InputText { text: "x".to_string() }).await;
    assert_eq!(typed, Err(DriverError::Refused { reason }));
}

#[tokio::test(start_paused = true)]
async fn a_field_keeps_the_focus_when_its_keyboard_is_hidden() {
    for platform in [Platform::Android, Platform::Ios] {
        let hand = Hand::in_wallet(platform).await;
        hand.tap("email").await;
        for part in ["ada", "@x"] {
            hand.act(Action::InputText { text: part.to_string() }).await.unwrap();
            hand.act(Action::HideKeyboard).await.unwrap();
        }
        assert_eq!(hand.node("email").await.text(), Some("ada@x"), "{platform}");
    }
}

#[tokio::test(start_paused = true)]
async fn enter_in_a_field_does_what_the_field_says() {
    let hand = Hand::in_wallet(Platform::Desktop).await;
    hand.tap("email").await;
    hand.act(Action::InputText { text: "ada".to_string() }).await.unwrap();
    hand.act(Action::PressKey { key: Key::Tab }).await.unwrap();
    hand.act(Action::InputText { text: "1234".to_string() }).await.unwrap();
    hand.act(Action::PressKey { key: Key::Enter }).await.unwrap();
    assert!(hand.find("balance").await.is_some());
}

#[tokio::test(start_paused = true)]
async fn back_closes_a_dialog_then_a_screen_then_the_app() {
    let hand = Hand::at_home(Platform::Android).await;
    hand.tap("sendMoney").await;
    hand.fill("recipient", "Ada").await;
    hand.fill("amount", "1").await;
    hand.tap("review").await;
    let back = Action::PressKey { key: Key::Back };
    hand.act(back.clone()).await.unwrap();
    assert_eq!(hand.find("confirmSend").await, None);
    assert!(hand.find("recipient").await.is_some());
    hand.act(back.clone()).await.unwrap();
    assert!(hand.find("balance").await.is_some());
    hand.act(back).await.unwrap();
    assert_eq!(hand.look().await.app, None);
}

#[tokio::test(start_paused = true)]
async fn the_bar_of_a_phone_has_a_back_button() {
    for (platform, label) in [(Platform::Android, "Navigate up"), (Platform::Ios, "‹ Back")] {
        let hand = Hand::at_home(platform).await;
        hand.tap("sendMoney").await;
        hand.tap_text(label).await;
        assert!(hand.find("balance").await.is_some(), "{platform}");
    }
}
