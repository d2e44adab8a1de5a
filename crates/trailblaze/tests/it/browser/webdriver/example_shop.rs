//! The web shop of the examples: the same trails pass on Chromium through chromedriver, and on WebKit.

use serde_json::json;

use super::{devices, entry};
use crate::support::lab::{Lab, Runtime};
use crate::support::web_shop::Shop;
use crate::support::webdriver::{chromedriver, has_webkit, sessions};
use crate::support::{files, is_full_tier};

/// Trails that need what classic WebDriver does not have, as `docs/guide/grid.md` says.
const UNSUPPORTED: [(&str, &str); 4] = [
    ("web-tools/files.trail.yaml", "a file chooser"),
    ("web-tools/trouble.trail.yaml", "the console"),
    ("web-tools/dialogs.trail.yaml", "a page that is left only after a question"),
    ("web-tools/drag.trail.yaml", "a native drag"),
];
/// Trails that do not pass through chromedriver besides.
const UNSUPPORTED_BY_CHROMEDRIVER: &[(&str, &str)] =
    &[("web-tools/canvas.trail.yaml", "a pointer that an element captures")];
/// What the quick tier runs. The full tier runs all others, too.
const QUICK: [&str; 4] = [
    "basics/checkout.trail.yaml",
    "basics/shopping.trail.yaml",
    "basics/sign-in.trail.yaml",
    "web-tools/checkout.trail.yaml",
];

/// Trails that need what WebKit does not do besides, as `docs/guide/firefox-and-webkit.md` says.
const UNSUPPORTED_BY_WEBKIT: &[(&str, &str)] = &[
    ("web-tools/frames.trail.yaml", "a field in a frame that is filled without a click"),
    ("basics/trouble.trail.yaml", "a request that times out with the error of the standard"),
    ("web-tools/scrolling.trail.yaml", "an element that is scrolled into view beneath another"),
    ("web-tools/shadow.trail.yaml", "closed shadow roots"),
    ("web-tools/windows.trail.yaml", "pictures of tabs in the background"),
];

/// Runs the trails of the shop on these devices, but not those that are unsupported.
fn run_shop(devices: &str, device: &str, unsupported: &[(&str, &str)]) -> Option<Lab> {
    let lab = Lab::under(Runtime::Node)?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    lab.example("web-shop").env("PATH", path.to_string_lossy());
    lab.with("trailblaze.yaml", &format!("platform: web\n{devices}"));
    for (trail, what) in UNSUPPORTED.iter().chain(unsupported) {
        let file = lab.project.root().join("trails").join(trail);
        std::fs::remove_file(&file).unwrap_or_else(|error| panic!("{trail}, which needs {what}: {error}"));
    }
    let all = files(&lab.project.root().join("trails"));
    for file in all.iter().filter(|file| {
        !is_full_tier()
            && file.to_string_lossy().ends_with(".trail.yaml")
            && !QUICK.iter().any(|quick| file.ends_with(quick))
    }) {
        std::fs::remove_file(file).expect("a file");
    }
    let server = Shop::open(&lab.project.root().join("bin/node"), lab.project.root());
    let base = format!("base={}", server.address);
    let played = lab.run(&["-d", device, "--memory", &base], 0);
    let trails = files(&lab.project.root().join("trails"));
    let trails = trails.iter().filter(|path| path.to_string_lossy().ends_with(".trail.yaml")).count();
    assert_eq!(played.run.summary()["counts"]["passed"], json!(trails), "{}", played.ran.stdout);
    Some(lab)
}

#[test]
fn its_trails_pass_through_chromedriver_on_as_many_sessions_as_the_entry_has_slots() {
    let Some(endpoint) = chromedriver() else { return };
    let Some(lab) = run_shop(&devices(endpoint, 2), "web/grid", UNSUPPORTED_BY_CHROMEDRIVER) else { return };
    let used = lab.project.last_run().text("events.jsonl");
    assert!(used.contains("\"web/grid\"") && used.contains("\"web/grid-2\""), "both slots are used");
    assert!(!sessions(endpoint).iter().any(|id| used.contains(id.as_str())), "ids of sessions are not recorded");
}

#[test]
fn its_trails_pass_on_webkit() {
    if has_webkit() {
        run_shop("devices: [{id: web/webkit}]\n", "web/webkit", UNSUPPORTED_BY_WEBKIT);
    }
}

#[test]
fn webkit_is_what_a_device_of_that_name_or_with_that_browser_is() {
    let Some(lab) = Lab::under(Runtime::Nothing) else { return };
    lab.with("trails/a.trail.yaml", "trail:\n  - step: Go\n    tools: [web_navigate: {url: 'about:blank'}]\n");
    for (project, device) in
        [("devices: [{id: web/webkit}]\n", "web/webkit"), (&entry(json!({"browser": "webkit"})), "web/grid")]
    {
        lab.with("trailblaze.yaml", project);
        let played = lab.run(&["-d", device], 2);
        let told = format!("{}{}", played.ran.stdout, played.ran.stderr);
        assert!(told.contains("no WebKitWebDriver found on PATH") && told.contains("TRAILBLAZE_WEBKIT"), "{told}");
    }
}
