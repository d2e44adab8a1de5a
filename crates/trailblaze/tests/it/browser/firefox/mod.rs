//! Trails on a real Firefox: what differs from Chromium beneath, and what must not differ above. Every test of `browser::web` also runs on
//! Firefox with `TRAILBLAZE_TEST_ENGINE=firefox`.

mod acting;
mod life;
mod recording;
mod watching;

use crate::browser::web::shop::{Shop, calls};
use crate::support::firefox;

/// A shop with its trail, on a Firefox that its runs start and end. `None` where there is no Firefox; CI must have one.
pub fn open(made: &[&str]) -> Option<Shop> {
    open_on("[{id: web/firefox}]", made)
}

/// The same, on these devices.
pub fn open_on(devices: &str, made: &[&str]) -> Option<Shop> {
    firefox::find()?;
    let shop = Shop::with_own_browser(&calls(made))?;
    shop.project.write("trailblaze.yaml", format!("devices: {devices}\n"));
    Some(shop)
}

/// Runs a trail that opens a page of this markup, then makes calls; all of them must pass.
#[track_caller]
pub fn check(markup: &str, made: &[&str]) {
    check_on("[{id: web/firefox}]", markup, made);
}

/// The same, on these devices.
#[track_caller]
pub fn check_on(devices: &str, markup: &str, made: &[&str]) {
    let Some(shop) = open_on(devices, &[&["web_navigate: {url: page.html}"], made].concat()) else { return };
    shop.project.write("trails/page.html", format!("<!doctype html>{markup}"));
    shop.run(&[], 0);
}
