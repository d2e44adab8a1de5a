//! Web views of an app: through what Android says about them, and through their pages, where these can be inspected. The page is that of a
//! real Chromium behind a socket which adb forwards; the app around it is simulated, and no web view of Android takes part.

use std::io::Write;
use std::process::{Child, Command, Stdio};

use trailblaze_protocol::geometry::Rect;

use super::ProjectPhone;
use crate::support::{chromium, wait_until};

const PAGE: &str = "<!doctype html><title>Offer</title><style>body { margin: 20px; font: 16px sans-serif }</style>
<h1>Offers</h1><form autocomplete=off>
<label>Your code <input id=code></label>
<label><input type=checkbox id=terms> I agree</label>
<p><button id=redeem type=button onclick=\"answer.textContent = terms.checked ? `Redeemed ${code.value}` : 'Agree first'\">Redeem</button></form>
<p><a href='' onclick='location.reload(); return false'>Start again</a>
<p id=answer></p>
<iframe srcdoc=\"<button onclick=&quot;this.textContent = 'Closed'&quot;>Close the note</button>\" width=300 height=60></iframe>
<div style='height: 3000px'></div><p>At the very end</p>";

/// A Chromium that shows the page.
struct PageBrowser {
    process: Child,
    port: u16,
    profile: tempfile::TempDir,
}

impl PageBrowser {
    /// `None` if there is no Chromium.
    fn start() -> Option<PageBrowser> {
        let program = chromium::find()?;
        let profile = tempfile::tempdir().expect("a folder");
        let page = profile.path().join("page.html");
        std::fs::File::create(&page).and_then(|mut file| file.write_all(PAGE.as_bytes())).expect("the page");
        let mut browser = Command::new(program);
        browser.args(["--headless=new", "--no-sandbox", "--remote-debugging-port=0", "--window-size=360,600"]);
        browser.arg(format!("--user-data-dir={}", profile.path().join("profile").display()));
        browser.arg(format!("file://{}", page.display()));
        let process = browser.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("Chromium starts");
        let mut browser = PageBrowser { process, port: 0, profile };
        browser.port = wait_until("it listens", || {
            let told = std::fs::read_to_string(browser.profile.path().join("profile/DevToolsActivePort")).ok()?;
            told.lines().next()?.parse().ok()
        });
        Some(browser)
    }
}

impl Drop for PageBrowser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const TRAIL: &str = "\
trail:
  - step: Redeem a code in the page
    tools:
      - assertVisible: {text: Offers}
      - tap: {text: Start again}
      - assertNotVisible: {text: Redeemed AUTUMN 26}
      - assertNotVisible: {text: At the very end}
      - tap: {id: redeem}
      - assertVisible: {text: Agree first}
      - tap: {id: code}
      - inputText: {text: SPRING 26}
      - assertVisible: {id: code, expectedText: SPRING 26}
      - tap: {id: code}
      - eraseText: {}
      - inputText: {text: AUTUMN 26}
      - tap: {text: I agree}
      - tap: {text: Redeem}
      - assertVisible: {text: Redeemed AUTUMN 26}
  - step: Close the note, which is in a frame
    tools:
      - tap: {text: Close the note}
      - assertVisible: {text: Closed}
";

#[test]
fn a_page_in_an_app_is_read_over_its_forwarded_socket_and_touched_as_a_part_of_the_screen() {
    let Some(browser) = PageBrowser::start() else { return };
    let Some(mut wallet) = ProjectPhone::connect() else { return };
    wallet.shell("am start -n com.example.wallet/.MainActivity");
    wallet.phone.show_web_view(browser.port, Rect::new(0, 300, 1080, 1800)).expect("the app shows a page");
    wallet.project.write("trails/offer.trail.yaml", TRAIL);
    for looking in ["plain", "fast"] {
        wallet.shell("am start -n com.example.wallet/.MainActivity");
        let project = wallet.project.read("trailblaze.yaml");
        wallet.add_device(looking);
        let ran = wallet.run(&["run", "trails/offer.trail.yaml", "-d", &wallet.device()]).exits(0);
        assert!(ran.stdout.contains("1 passed"), "{}", ran.stdout);
        wallet.project.write("trailblaze.yaml", &project);
    }
    let forwards = wallet.server.adb().args(["forward", "--list"]).output().expect("adb runs");
    assert_eq!(String::from_utf8_lossy(&forwards.stdout).trim(), "", "nothing is left forwarded");

    // Without its page, the app is what Android says about it.
    drop(browser);
    wallet.project.write(
        "trails/around.trail.yaml",
        "trail:\n  - step: Look\n    tools:\n      - assertNotVisible: {text: Offers}\n      - assertVisible: {text: Welcome back}\n",
    );
    let ran = wallet.run(&["run", "trails/around.trail.yaml", "-d", &wallet.device()]).exits(0);
    assert!(ran.stdout.contains("1 passed"), "{}", ran.stdout);
}
