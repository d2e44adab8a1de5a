//! Trails that are made by pointing: our own trails drive the studio in a real browser, and what they save replays.

use crate::browser::studio::opening::{address, address_with};
use crate::support::Project;
use crate::support::chromium;
use crate::support::home::Home;
use crate::support::web_shop::{Shop, node};

/// Runs a trail of the example project on a page of the studio.
fn point(trail: &str, address: &str) {
    let address = format!("address={address}");
    let example = Project::copy_of("examples/studio");
    let ran = example.run(&["run", trail, "--memory", &address]);
    ran.exits(0);
}

#[test]
fn a_trail_for_the_wallet_is_made_by_pointing() {
    if chromium::find().is_none() {
        return;
    }
    let home = Home::new(Project::wallet());
    let pin = [("PIN", "1234")];
    let args = ["-d", "android/sim-1", "--launch", "{{target.appId}}", "--secret", "PIN"];
    point("trails/wallet.trail.yaml", &address_with(&home, &args, &pin));
    let saved = home.project.read("trails/pointed.trail.yaml");
    assert!(saved.contains("{{PIN}}") && !saved.contains("1234"), "{saved}");
    assert!(saved.contains("verify: 'balance says \"€120.00\"'"), "{saved}");
    // Made on one phone, it passes on the other.
    let run = ["run", "trails/pointed.trail.yaml", "-d", "android/sim-1,ios/sim-1", "--secret", "PIN"];
    home.run_with(&run, &pin).exits(0);
}

#[test]
fn a_trail_for_the_shop_is_made_by_pointing() {
    let (Some(_), Some(node)) = (chromium::find(), node()) else { return };
    let home = Home::new(Project::copy_of("examples/web-shop"));
    let shop = Shop::open(&node, home.project.root());
    point("trails/shop.trail.yaml", &address(&home, &["-d", "web/chromium", "--launch", &shop.address]));
    let saved = home.project.read("trails/pointed.trail.yaml");
    assert!(saved.contains("Open the cart") && saved.contains("dataTestId: mug-red"), "{saved}");
    home.run(&["run", "trails/pointed.trail.yaml"]).exits(0);
}
