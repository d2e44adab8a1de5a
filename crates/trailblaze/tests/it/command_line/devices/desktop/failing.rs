//! Programs that hang or crash, and desktops that are gone.

use trailblaze_core::driver::{Action, ActionTarget, DeviceCommand, Driver, DriverError, LaunchMode, ObserveOptions};
use trailblaze_protocol::device_event::DeviceEvent;

use super::desk::{Desk, budget, has};

const EDITOR: &str = "mousepad --disable-server";

/// Sends a signal to the processes of a test whose command lines contain a text.
fn signal(desk: &Desk, text: &str, signal: &str) -> usize {
    let found = desk.mark.alive().into_iter().filter(|line| line.contains(text) && !line.contains("__guardian"));
    let pids: Vec<String> = found.map(|line| line.split_whitespace().next().unwrap_or_default().to_string()).collect();
    for pid in &pids {
        let status = std::process::Command::new("kill").args([signal, pid]).status().expect("kill starts");
        assert!(status.success(), "{pid}");
    }
    pids.len()
}

#[tokio::test]
async fn a_program_that_hangs_is_named_and_the_session_goes_on() {
    if !has(&["mousepad"]) {
        return;
    }
    let desk = Desk::open().await;
    desk.launch(EDITOR).await;
    desk.find("File").await;
    assert!(signal(&desk, EDITOR, "-STOP") > 0);
    let hanging = desk.driver.observe(&budget(), ObserveOptions::TREE).await.expect_err("it hangs");
    let DriverError::Refused { reason } = &hanging else { panic!("{hanging}") };
    assert!(reason.starts_with("`mousepad` (process ") && reason.contains("does not answer"), "{reason}");
    signal(&desk, EDITOR, "-CONT");
    desk.type_text("awake").await;
    desk.until("it goes on", |screen| screen.contains("awake")).await;
    desk.close().await;
}

#[tokio::test]
async fn a_program_that_crashes_is_reported_and_can_be_started_again() {
    if !has(&["mousepad"]) {
        return;
    }
    let desk = Desk::open().await;
    desk.launch(EDITOR).await;
    desk.find("File").await;
    signal(&desk, EDITOR, "-SEGV");
    let until = tokio::time::Instant::now() + crate::support::PATIENCE;
    let why = loop {
        desk.screen().await;
        let events = desk.driver.events().expect("it reports events").take();
        let why = events.into_iter().find_map(|event| match event {
            DeviceEvent::Crash { why } => Some(why),
            _ => None,
        });
        match why {
            Some(why) => break why,
            None => assert!(tokio::time::Instant::now() < until, "no crash was reported"),
        }
    };
    assert!(why.starts_with("`mousepad --disable-server` was killed by signal 11 (SIGSEGV)"), "{why}");
    desk.launch(EDITOR).await;
    desk.find("File").await;
    let none = DeviceCommand::LaunchApp { app: "no-such-program --x".to_string(), mode: LaunchMode::Resume };
    let refused = none.carry_out(&*desk.driver, &budget()).await.expect_err("there is none").to_string();
    assert!(refused.starts_with("there is no program `no-such-program`"), "{refused}");
    let none = DeviceCommand::LaunchApp { app: "false".to_string(), mode: LaunchMode::Resume };
    let refused = none.carry_out(&*desk.driver, &budget()).await.expect_err("it ends").to_string();
    assert!(refused.starts_with("`false` showed no window: it exited with code 1"), "{refused}");
    desk.close().await;
}

#[tokio::test]
async fn another_window_that_takes_the_keys_is_pushed_back() {
    if !has(&["mousepad"]) {
        return;
    }
    let desk = Desk::open().await;
    desk.launch(EDITOR).await;
    desk.type_text("mine").await;
    desk.until("it is typed", |screen| screen.contains("TextArea \"mine\"")).await;
    let mine = desk.find("mine").await;
    // Another window comes to the front between the look and the action.
    desk.launch("/usr/bin/mousepad --disable-server").await;
    let typed = Action::SetText { text: "still mine".to_string() };
    match desk.act(ActionTarget::Element(mine), typed.clone()).await {
        // It pushed itself to the front once more, as programs do that have just started.
        Err(DriverError::Evaded { .. }) => desk.on("mine", typed).await,
        done => drop(done.expect("its window comes back")),
    }
    desk.until("the first has it", |screen| screen.contains("TextArea \"still mine\"")).await;
    desk.close().await;
}

#[tokio::test]
async fn a_desktop_without_its_x_server_or_its_bus_is_lost() {
    if !has(&["mousepad"]) {
        return;
    }
    for (text, expected) in [("Xvfb -displayfd", "the X server of the desktop"), ("dbus-daemon --session", "bus")] {
        let desk = Desk::open().await;
        desk.launch(EDITOR).await;
        assert!(signal(&desk, text, "-KILL") > 0, "{:?}", desk.mark.alive());
        let until = tokio::time::Instant::now() + crate::support::PATIENCE;
        let error = loop {
            match desk.driver.observe(&budget(), ObserveOptions::TREE).await {
                Err(error) => break error,
                Ok(_) => assert!(tokio::time::Instant::now() < until, "it looks as if nothing happened"),
            }
        };
        let DriverError::Lost { evidence } = &error else { panic!("{error}") };
        assert!(evidence.contains(expected), "{evidence}");
        desk.close().await;
    }
}
