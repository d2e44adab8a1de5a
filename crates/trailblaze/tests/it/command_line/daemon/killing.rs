//! Nothing is left when something is killed.

use crate::support::home::{Home, kill};
use crate::support::{parcels, wait_until};

/// How often things are killed: rarely in CI, often in the soak tier.
fn times(often: usize) -> usize {
    if crate::support::is_full_tier() { often } else { 4 }
}

/// The processes of the test whose command line contains this.
fn processes(home: &Home, word: &str) -> Vec<u64> {
    let alive = home.mark.alive();
    let is_it = alive.iter().filter(|line| line.contains(word));
    is_it.filter_map(|line| line.split(' ').next()?.parse().ok()).collect()
}

#[test]
fn a_killed_daemon_leaves_no_process_and_the_next_command_starts_another() {
    let home = Home::new(parcels());
    for _ in 0..times(20) {
        home.run(&["device", "connect"]).exits(0);
        assert!(!processes(&home, "parcels.py").is_empty());
        kill(home.pid());
        home.mark.wait_until_none_left_blocking();
        assert!(home.run(&["session", "list"]).exits(0).stdout.is_empty(), "a stale key file is no daemon");
    }
    home.run(&["snapshot"]).exits(0);
}

#[test]
fn a_killed_server_is_started_again_by_the_next_call_of_its_tools() {
    let home = Home::new(parcels());
    home.run(&["device", "connect"]).exits(0);
    let servers = processes(&home, "python3");
    servers.into_iter().for_each(kill);
    home.run(&["tool", "launchApp", "packageId=com.example.counter"]).exits(0);
    let called = wait_until("it is started again", || {
        // Its death may be noticed by a call, which fails.
        let called = home.run(&["tool", "parcel_store"]);
        (called.code == Some(0)).then_some(called)
    });
    let told = "it died, and was started again for this call; what it kept in memory is lost";
    assert!(called.stderr.contains(told), "{}", called.stderr);
    assert!(!home.run(&["tool", "parcel_store"]).exits(0).stderr.contains(told), "once");
    assert!(!processes(&home, "parcels.py").is_empty());
    home.run(&["daemon", "stop"]).exits(0);
    home.mark.wait_until_none_left_blocking();
}

#[test]
fn a_killed_browser_is_reported_and_not_started_again() {
    let home = Home::counter();
    home.run(&["device", "connect", "-d", "web/chromium", "--launch", "data:text/html,<h1>Shop</h1>"]).exits(0);
    let browser = processes(&home, "--remote-debugging-pipe");
    browser.into_iter().for_each(kill);
    let lost = home.run(&["snapshot"]).exits(2);
    assert!(lost.stderr.contains("the device was lost"), "{}", lost.stderr);
    let still = home.run(&["snapshot"]).exits(2);
    assert!(still.stderr.contains("close the session and open it again"), "{}", still.stderr);
    assert!(processes(&home, "--remote-debugging-pipe").is_empty());
    let connect = home.run(&["device", "connect", "-d", "web/chromium"]).exits(2);
    assert!(
        connect.stderr.contains("the device was lost") && connect.stderr.contains("--take-over"),
        "{}",
        connect.stderr
    );
    // Its steps can still be saved.
    home.run(&["session", "save", "trails/shop.trail.yaml"]).exits(0);
    home.run(&["session", "close"]).exits(0);
    home.run(&["daemon", "stop"]).exits(0);
    home.mark.wait_until_none_left_blocking();
    assert_eq!(home.leftovers(), Vec::<String>::new());
}

#[test]
fn a_client_that_goes_away_ends_its_call_but_not_the_session() {
    let home = Home::counter();
    home.run(&["tool", "launchApp", "packageId=com.example.counter"]).exits(0);
    let mut waiting = home.command(&["tool", "assertVisible", "text=Never", "timeoutMs=600000"]);
    let mut child = waiting.spawn().expect("it starts");
    home.wait_for_call("assertVisible");
    child.kill().expect("it is killed");
    child.wait().expect("it ended");
    // The next command does not wait for ten minutes.
    home.run(&["tool", "tap", "id=add"]).exits(0);
}

#[test]
fn kills_at_random_moments_leave_nothing() {
    let home = Home::new(parcels());
    let mut seed = 7_u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for round in 0..times(200) {
        let web = round % 2 == 1;
        let device = if web { "web/chromium" } else { "android/sim-1" };
        let mut command = home.command(&["batch", "-d", device, "snapshot", "snapshot", "snapshot"]);
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        // A daemon whose client was killed before it could be asked to stop ends by itself.
        command.env("TRAILBLAZE_DAEMON_IDLE", "3s");
        let mut client = command.spawn().expect("it starts");
        std::thread::sleep(std::time::Duration::from_millis(random(if web { 1500 } else { 400 })));
        let alive = home.mark.alive();
        let victim = alive.get(usize::try_from(random(alive.len().max(1) as u64)).expect("small"));
        let pid = victim.and_then(|line| line.split(' ').next()?.parse::<u64>().ok());
        if let Some(pid) = pid {
            let _ = std::process::Command::new("sh").args(["-c", &format!("kill -9 {pid} 2>/dev/null")]).status();
        }
        let _ = client.wait();
        let _ = home.command(&["daemon", "stop"]).output();
        home.mark.wait_until_none_left_blocking();
        let mut left = Vec::new();
        wait_until("nothing is left", || {
            let now = home.leftovers();
            if now != left {
                eprintln!("left in round {round}: {now:?}");
                left.clone_from(&now);
            }
            now.is_empty().then_some(())
        });
    }
}
