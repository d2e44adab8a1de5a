//! Latency and faults, and that randomness is reproducible.

use super::*;
use tokio::time::Instant;

#[tokio::test(start_paused = true)]
async fn every_command_takes_the_latency_and_some_jitter() {
    let hand = Hand::with_faults(&["latency=100ms", "jitter=30ms"]);
    let mut times = Vec::new();
    for _ in 0..20 {
        let started = Instant::now();
        hand.look().await;
        times.push(started.elapsed().as_millis());
    }
    assert!(times.iter().all(|millis| (70..=130).contains(millis)), "{times:?}");
    assert!(times.iter().any(|millis| *millis != times[0]), "{times:?}");
}

#[tokio::test(start_paused = true)]
async fn a_command_that_takes_longer_than_its_budget_times_out() {
    let hand = Hand::with_faults(&["latency=10s"]);
    assert_eq!(hand.try_look().await.err(), Some(DriverError::TimedOut { what: "observe".to_string() }));
}

#[tokio::test(start_paused = true)]
async fn a_drifting_layout_moves_from_look_to_look_and_touches_move_with_it() {
    let hand = Hand::with_faults(&["drift=12"]);
    hand.launch(LaunchMode::Reinstall).await;
    let mut places = Vec::new();
    let mut snapshots = Vec::new();
    for _ in 0..10 {
        let screen = hand.look().await;
        let email = screen.root.walk().find(|node| node.has_id("email")).unwrap();
        places.push(email.bounds.unwrap().left);
        snapshots.push(screen.snapshot);
    }
    let (least, most) = (places.iter().min().unwrap(), places.iter().max().unwrap());
    assert!(most > least && most - least <= 24, "{places:?}");
    assert!(snapshots.windows(2).all(|pair| pair[0] <= pair[1]) && snapshots[0] < snapshots[9]);
    hand.tap("email").await;
    assert!(hand.node("email").await.is_focused());
}

#[tokio::test(start_paused = true)]
async fn a_device_that_is_lost_stays_lost() {
    let hand = Hand::with_faults(&["lostAfter=2"]);
    hand.launch(LaunchMode::Reinstall).await;
    hand.tap("email").await;
    let lost = DriverError::Lost { evidence: "it disconnected after 2 actions (injected fault)".to_string() };
    assert_eq!(hand.try_look().await.err(), Some(lost.clone()));
    assert_eq!(hand.send(DeviceCommand::ListApps).await, Err(lost.clone()));
    assert_eq!(hand.sim.changed(&hand.budget(), Default::default()).await, Err(lost));
}

#[tokio::test(start_paused = true)]
async fn an_action_may_lose_the_device() {
    let hand = Hand::with_faults(&["lostAt=1"]);
    let lost = DriverError::Lost { evidence: "it disconnected during `listApps` (injected fault)".to_string() };
    assert_eq!(hand.send(DeviceCommand::ListApps).await, Err(lost.clone()));
    assert_eq!(hand.try_look().await.err(), Some(lost));
}

#[tokio::test(start_paused = true)]
async fn a_refused_action_leaves_the_device_usable() {
    let hand = Hand::with_faults(&["refuse=1"]);
    let reason = "the device refused `tap` (injected fault)".to_string();
    let refused = hand.act_at(Point { x: 1, y: 1 }, Action::Tap).await;
    assert_eq!(refused, Err(DriverError::Refused { reason }));
    assert!(hand.sees("Wallet").await);
}

#[tokio::test(start_paused = true)]
async fn a_slow_screen_is_empty_at_first() {
    let hand = Hand::with_faults(&["slowScreen=300ms"]);
    hand.launch(LaunchMode::Reinstall).await;
    let since = hand.look().await.snapshot;
    assert_eq!(hand.find("email").await, None);
    let started = Instant::now();
    hand.sim.changed(&hand.budget(), since).await.unwrap();
    assert_eq!(started.elapsed().as_millis(), 300);
    assert!(hand.find("email").await.is_some());
}

#[tokio::test(start_paused = true)]
async fn looking_more_often_does_not_change_which_actions_fail() {
    let refused = async |looks: usize| {
        let hand = Hand::seeded(3, &["refuse=0.5", "jitter=2ms", "drift=3"]);
        let mut refused = Vec::new();
        for _ in 0..20 {
            for _ in 0..looks {
                hand.look().await;
            }
            refused.push(hand.send(DeviceCommand::ListApps).await.is_err());
        }
        refused
    };
    assert_eq!(refused(0).await, refused(3).await);
}

#[tokio::test(start_paused = true)]
async fn randomness_depends_on_seed_and_device_alone() {
    async fn refusals(seed: u64) -> Vec<bool> {
        let hand = Hand::seeded(seed, &["refuse=0.5"]);
        let mut refused = Vec::new();
        for _ in 0..40 {
            refused.push(hand.send(DeviceCommand::ListApps).await.is_err());
        }
        refused
    }
    let first = refusals(1).await;
    assert_eq!(first, refusals(1).await);
    assert_ne!(first, refusals(2).await);
    assert!(first.contains(&true) && first.contains(&false));
}
