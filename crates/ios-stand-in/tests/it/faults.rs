//! What the driver makes of a stand-in that misbehaves.

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_core::driver::{Action, ActionTarget, Budget, DriverError, LaunchMode, ObserveOptions};
use trailblaze_ios_stand_in::Behaviour;
use trailblaze_protocol::geometry::Point;

use crate::support::{Connected, budget};

const CORNER: ActionTarget = ActionTarget::Point(Point { x: 5, y: 5 });

#[tokio::test]
async fn a_dropped_session_is_made_anew() {
    let iphone = Connected::open().await;
    iphone.launch(LaunchMode::Resume).await.expect("it is launched");
    iphone.stand_in.behave(Behaviour { dropped_sessions: 1, ..Behaviour::default() });
    iphone.act(iphone.id("email").await, Action::Tap).await;
    let made = iphone.stand_in.requests().iter().filter(|request| *request == "POST /session").count();
    assert_eq!(made, 2);
}

#[tokio::test]
async fn one_that_drops_every_session_is_lost() {
    let iphone = Connected::open().await;
    iphone.stand_in.behave(Behaviour { dropped_sessions: 100, ..Behaviour::default() });
    let error = iphone.try_act(CORNER, Action::Tap).await.expect_err("it is of no use");
    assert!(error.to_string().contains("drops every session"), "{error}");
}

#[tokio::test]
async fn html_in_place_of_an_answer_is_quoted() {
    let iphone = Connected::open().await;
    iphone.stand_in.behave(Behaviour { html_errors: 1, ..Behaviour::default() });
    iphone.screen().await;
    // A tree that is asked for and the app in front, each of them twice.
    iphone.stand_in.behave(Behaviour { html_errors: 100, ..Behaviour::default() });
    let query = iphone.driver.observe(&budget(), ObserveOptions::TREE).await.expect_err("it is no answer");
    assert!(matches!(&query, DriverError::Refused { reason } if reason.contains("502 Bad Gateway")), "{query:?}");
    iphone.stand_in.behave(Behaviour::default());
    iphone.screen().await;
}

#[tokio::test]
async fn a_slow_tree_ends_with_its_budget_and_the_next_one_is_waited_for() {
    let iphone = Connected::open().await;
    iphone.stand_in.behave(Behaviour { slow_tree: Duration::from_millis(400), ..Behaviour::default() });
    let brief = Budget::new(Instant::now() + Duration::from_millis(50), CancellationToken::new());
    let error = iphone.driver.observe(&brief, ObserveOptions::TREE).await.expect_err("it takes too long");
    assert!(matches!(error, DriverError::TimedOut { .. }), "{error:?}");
    iphone.screen().await;
}

#[tokio::test]
async fn a_stale_element_is_searched_for_again() {
    let iphone = Connected::open().await;
    iphone.launch(LaunchMode::Resume).await.expect("it is launched");
    iphone.act(iphone.id("email").await, Action::Tap).await;
    // The first of the requests about an element asks which has the focus.
    iphone.stand_in.behave(Behaviour { stale_elements: 2, ..Behaviour::default() });
    let typing = Action::InputText { text: "x".to_string() };
    iphone.try_act(ActionTarget::Device, typing.clone()).await.expect("it is found again");
    assert_eq!(iphone.id("email").await.text.as_deref(), Some("x"));
    iphone.stand_in.behave(Behaviour { stale_elements: 100, ..Behaviour::default() });
    let error = iphone.try_act(ActionTarget::Device, typing).await.expect_err("it is gone each time");
    assert!(matches!(error, DriverError::Evaded { .. }), "{error:?}");
}

#[tokio::test]
async fn code_words_of_trees_and_pictures_are_errors_of_the_device() {
    let iphone = Connected::open().await;
    iphone.stand_in.behave(Behaviour { timed_out_trees: 1, ..Behaviour::default() });
    let error = iphone.driver.observe(&budget(), ObserveOptions::TREE).await.expect_err("the app does not respond");
    assert!(matches!(&error, DriverError::TimedOut { what } if what.contains("(timeout)")), "{error:?}");
    iphone.stand_in.behave(Behaviour { failed_pictures: 1, ..Behaviour::default() });
    let error = iphone.driver.observe(&budget(), ObserveOptions::PICTURE).await.expect_err("there is no picture");
    assert!(matches!(&error, DriverError::Refused { reason } if reason.contains("unable to capture")), "{error:?}");
    iphone.screen().await;
}

/// In the full tier, because only a long wait says that something hangs.
#[tokio::test]
async fn one_that_hangs_is_named_and_not_waited_for_twice() {
    if std::env::var_os("SOAK").is_none() {
        return;
    }
    let limited = |seconds| Budget::new(Instant::now() + Duration::from_secs(seconds), CancellationToken::new());
    for (behaviour, expected) in [
        (
            Behaviour { has_no_trees: true, ..Behaviour::default() },
            "hangs: it answers `GET /status`, but has not answered `GET /source`",
        ),
        (Behaviour { hangs: true, ..Behaviour::default() }, "is slow: it has worked on `GET /"),
    ] {
        let iphone = Connected::open().await;
        iphone.stand_in.behave(behaviour);
        let error = iphone.driver.observe(&limited(12), ObserveOptions::TREE).await.expect_err("it hangs");
        assert!(matches!(error, DriverError::TimedOut { .. }), "{error:?}");
        let before = iphone.stand_in.requests().len();
        let error = iphone.driver.observe(&limited(12), ObserveOptions::TREE).await.expect_err("it hangs");
        assert!(error.to_string().contains(expected), "{error}");
        let asked = iphone.stand_in.requests().split_off(before);
        assert!(asked.contains(&"GET /status".to_string()), "{asked:?}");
    }
}

#[tokio::test]
async fn an_alert_of_the_system_is_reported_and_can_be_answered() {
    let iphone = Connected::open().await;
    iphone.launch(LaunchMode::Resume).await.expect("it is launched");
    iphone.stand_in.show_alert("“Wallet” Would Like to Send You Notifications", &["Don’t Allow", "Allow"]);
    let screen = iphone.screen().await;
    assert_eq!(screen.app, None, "it is not the app that asks");
    let events = format!("{:?}", iphone.driver.events().expect("events").take());
    assert!(events.contains("an alert of iOS is in front of the app: “Wallet” Would Like"), "{events}");
    iphone.act(iphone.text("Allow").await, Action::Tap).await;
    assert!(!iphone.stand_in.has_alert());
    iphone.id("email").await;
}

#[tokio::test]
async fn a_locked_device_is_unlocked() {
    let iphone = Connected::open().await;
    iphone.stand_in.lock();
    let (source, spec) = crate::support::device(&iphone.stand_in);
    source.acquire(&spec, &budget()).await.expect("it has no code");
    assert!(iphone.stand_in.requests().iter().any(|request| request == "POST /wda/unlock"));
}

#[tokio::test]
async fn two_drivers_take_the_session_from_each_other_and_go_on() {
    let iphone = Connected::open().await;
    let (source, spec) = crate::support::device(&iphone.stand_in);
    let other = source.acquire(&spec, &budget()).await.expect("it is ready");
    for _ in 0..2 {
        iphone.try_act(CORNER, Action::Tap).await.expect("it taps");
        other.act(&budget(), &CORNER, &Action::Tap).await.expect("it taps");
    }
}

#[tokio::test]
async fn a_web_driver_agent_that_starts_again_is_used_again() {
    let Connected { stand_in, driver } = Connected::open().await;
    let port = stand_in.port();
    driver.act(&budget(), &CORNER, &Action::Tap).await.expect("it taps");
    drop(stand_in);
    let error = driver.act(&budget(), &CORNER, &Action::Tap).await.expect_err("it is gone");
    assert!(matches!(error, DriverError::Lost { .. }), "{error:?}");
    let stand_in = trailblaze_ios_stand_in::start_at(&[crate::support::wallet_app()], port).expect("a stand-in");
    driver.act(&budget(), &CORNER, &Action::Tap).await.expect("it taps in a session of its own");
    assert!(stand_in.has_session());
    driver.close().await;
    assert!(!stand_in.has_session());
}

#[tokio::test]
async fn a_tree_of_three_thousand_elements_is_read() {
    let iphone = Connected::open().await;
    iphone.launch(LaunchMode::Resume).await.expect("it is launched");
    iphone.stand_in.behave(Behaviour { extra_elements: 3000, ..Behaviour::default() });
    let screen = iphone.screen().await;
    assert!(screen.root.walk().count() > 3000);
    iphone.fill("email", "ada@example.com").await;
    assert_eq!(iphone.id("email").await.text.as_deref(), Some("ada@example.com"));
}
