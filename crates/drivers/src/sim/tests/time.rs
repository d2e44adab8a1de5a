//! The effects of time, and waiting for changes.

use super::*;
use tokio::time::Instant;

#[tokio::test(start_paused = true)]
async fn a_change_that_is_due_wakes_the_waiter() {
    let hand = Hand::in_wallet(Platform::Android).await;
    hand.sign_in().await;
    let since = hand.look().await.snapshot;
    let started = Instant::now();
    hand.sim.changed(&hand.budget(), since).await.unwrap();
    assert_eq!(started.elapsed().as_millis(), 400);
    assert!(hand.find("notNow").await.is_some());
}

#[tokio::test(start_paused = true)]
async fn an_action_wakes_a_waiter() {
    let hand = Hand::in_wallet(Platform::Android).await;
    let since = hand.look().await.snapshot;
    let started = Instant::now();
    let budget = hand.budget();
    let (woken, ()) = tokio::join!(hand.sim.changed(&budget, since), hand.tap("email"));
    assert_eq!(woken, Ok(()));
    assert!(started.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_past_change_is_reported_immediately() {
    let hand = Hand::in_wallet(Platform::Android).await;
    let since = hand.look().await.snapshot;
    hand.tap("email").await;
    let started = Instant::now();
    hand.sim.changed(&hand.budget(), since).await.unwrap();
    assert_eq!(started.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_change_ends_with_the_budget_or_when_cancelled() {
    let hand = Hand::in_wallet(Platform::Android).await;
    let since = hand.look().await.snapshot;
    let started = Instant::now();
    hand.sim.changed(&hand.budget(), since).await.unwrap();
    assert_eq!(started.elapsed(), Duration::from_secs(5));
    let budget = hand.budget();
    budget.cancel.cancel();
    assert_eq!(hand.sim.changed(&budget, since).await, Err(DriverError::Cancelled));
}

#[tokio::test(start_paused = true)]
async fn a_toast_disappears_by_itself() {
    let hand = Hand::in_wallet(Platform::Android).await;
    hand.tap("forgot").await;
    let since = hand.look().await.snapshot;
    assert!(hand.sees("We sent you an email").await);
    hand.sim.changed(&hand.budget(), since).await.unwrap();
    assert!(!hand.sees("We sent you an email").await);
}

#[tokio::test(start_paused = true)]
async fn a_delayed_effect_is_dropped_when_its_screen_is_left() {
    let hand = Hand::in_wallet(Platform::Android).await;
    hand.sign_in().await;
    hand.tap("settingsTab").await;
    hand.wait(1000).await;
    assert_eq!(hand.find("notNow").await, None);
}

#[tokio::test(start_paused = true)]
async fn looking_changes_nothing() {
    let hand = Hand::in_wallet(Platform::Android).await;
    let (one, other) = (hand.look().await, hand.look().await);
    assert_eq!((one.snapshot, one.root), (other.snapshot, other.root));
}

#[tokio::test(start_paused = true)]
async fn an_effect_that_triggers_itself_does_not_hang_the_device() {
    let yaml = "
app: {id: a, name: A}
start: one
screens:
  one:
    arrive: [{after: 0ms, goto: one}, {after: 0ms, add: {count: 1}}]
    elements: [{id: count, text: '{{count}}'}, {text: hi, tap: {after: 9999999999999999s, back: true}}]
";
    let hand = Hand::in_app(yaml).await;
    hand.wait(5).await;
    hand.tap_text("hi").await;
    assert!(hand.find("count").await.is_some());
}
