//! Many devices in one process.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_thousand_devices_share_one_app() {
    // A separate copy: other tests hold the built-in one at the same time.
    let app = Arc::new(SimApp::clone(&demo_app()));
    let before = Arc::strong_count(&app);
    let devices: Vec<Hand> =
        (0..1000).map(|_| Hand::on(Platform::Android, Arc::clone(&app), Options::default())).collect();
    assert_eq!(Arc::strong_count(&app), before + 1000);
    for hand in &devices {
        hand.launch(LaunchMode::Reinstall).await;
        hand.fill("email", "ada@example.com").await;
    }
    for hand in &devices {
        let device = hand.sim.device(tokio::time::Instant::now());
        let shown = &device.front_state().shown;
        assert_eq!((shown.values.len(), shown.lists.len()), (1, 0), "only what differs from the file is kept");
    }
}
