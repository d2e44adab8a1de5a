//! Trails that are made by pointing: our own trails drive the studio in a real browser, and what they save replays.

use crate::home::Home;
use crate::opening::address;
use crate::shop::{Shop, has_chromium, node};
use crate::support::Project;

/// Runs a trail of the example project on a page of the studio.
fn point(home: &Home, trail: &str, args: &[&str]) {
    let address = format!("address={}", address(home, args));
    let example = Project::copy_of("examples/studio");
    let ran = example.run(&["run", trail, "--memory", &address]);
    ran.exits(0);
}

#[test]
fn a_trail_for_the_wallet_is_made_by_pointing() {
    if !has_chromium() {
        return;
    }
    let home = Home::new(Project::wallet());
    point(&home, "trails/wallet.trail.yaml", &["-d", "android/sim-1", "--launch", "{{target.appId}}"]);
    let saved = home.project.read("trails/pointed.trail.yaml");
    assert!(saved.contains("verify: 'balance says \"€120.00\"'"), "{saved}");
    // Made on one phone, it passes on the other.
    home.run(&["run", "trails/pointed.trail.yaml", "-d", "android/sim-1,ios/sim-1"]).exits(0);
}

#[test]
fn a_trail_for_the_shop_is_made_by_pointing() {
    let (true, Some(node)) = (has_chromium(), node()) else { return };
    let home = Home::new(Project::copy_of("examples/web-shop"));
    let shop = Shop::open(&node, home.project.root());
    point(&home, "trails/shop.trail.yaml", &["-d", "web/chromium", "--launch", &shop.address]);
    let saved = home.project.read("trails/pointed.trail.yaml");
    assert!(saved.contains("Open the cart") && saved.contains("dataTestId: mug-red"), "{saved}");
    home.run(&["run", "trails/pointed.trail.yaml"]).exits(0);
}
