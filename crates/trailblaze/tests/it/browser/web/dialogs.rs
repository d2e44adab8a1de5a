//! The dialogs of pages: who says how they are answered, and who is told.

use crate::browser::web::shop::{Shop, calls};
use crate::support::chromium;

const ASKING: &str = "<!doctype html><button onclick=\"said.textContent = confirm('Really?') ? 'Agreed' : 'Refused'\">Ask</button><p id=said></p>";

/// Runs a trail that is asked a question, in a project with these lines and with this in the trail.
fn ask(project: &str, device: &str, config: &str, made: &[&str]) -> Option<Shop> {
    let shop = Shop::open("")?;
    shop.project.write("trailblaze.yaml", chromium::devices(device) + project);
    shop.project.write("trails/page.html", ASKING);
    let made = calls(&[&["web_navigate: {url: page.html}"], made].concat());
    let config = if config.is_empty() { String::new() } else { format!("config: {config}\n") };
    shop.project.write("trails/shop.trail.yaml", format!("{config}trail:\n  - step: Ask\n    tools:\n{made}"));
    Some(shop)
}

const PLAIN: &str = "[{id: web/chromium}]";
const ASK: &str = "web_click: {ref: 'button \"Ask\"'}";

#[test]
fn a_dialog_is_answered_as_the_closest_rule_says() {
    for (project, device, config, before, answer) in [
        ("", PLAIN, "", None, "Agreed"),
        ("dialogs: dismiss\n", PLAIN, "", None, "Refused"),
        ("dialogs: dismiss\n", "[{id: web/chromium, dialogs: accept}]", "", None, "Agreed"),
        ("", "[{id: web/chromium, dialogs: accept}]", "{dialogs: dismiss}", None, "Refused"),
        ("", PLAIN, "{dialogs: dismiss}", Some("web_dialogs: {answer: ACCEPT}"), "Agreed"),
    ] {
        let check = format!("assertVisible: {{text: {answer}}}");
        let made: Vec<&str> = before.into_iter().chain([ASK, check.as_str()]).collect();
        let Some(shop) = ask(project, device, config, &made) else { return };
        let ran = shop.run(&[], 0);
        let is_warned = format!("{}{}", ran.stdout, ran.stderr).contains("confirm \"Really?\" was accepted, because");
        assert_eq!(is_warned, answer == "Agreed" && project.is_empty() && device == PLAIN && config.is_empty());
    }
}

#[test]
fn each_dialog_that_nothing_is_said_about_is_warned_of_once() {
    let Some(shop) = ask("", PLAIN, "", &[ASK, ASK]) else { return };
    shop.run(&["--repeat-each", "2"], 0);
    let warnings = shop.project.last_run().warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let ran = ask("dialogs: maybe\n", PLAIN, "", &[]).expect("there is a browser").run(&[], 3);
    assert!(ran.stderr.contains("unknown answer `maybe`"), "{}", ran.stderr);
}

#[test]
fn leaving_a_page_is_accepted_unless_a_call_says_otherwise() {
    let leaving = "<!doctype html><button>Stay</button><script>onbeforeunload = (e) => e.preventDefault()</script>";
    let go = "web_navigate: {url: shop.html}";
    let made = ["web_click: {ref: 'button \"Stay\"'}", go, "web_waitForUrl: {pattern: shop.html}"];
    let Some(shop) = ask("dialogs: dismiss\n", PLAIN, "", &made) else { return };
    shop.project.write("trails/page.html", leaving);
    shop.project.write("trails/shop.html", "<p>Elsewhere</p>");
    shop.run(&[], 0);
}

#[test]
fn what_a_page_does_is_in_the_answer_of_a_call() {
    let Some(shop) = Shop::open("") else { return };
    let page = "<!doctype html><button onclick=\"alert('Hi'); console.error('a bad day'); file.click(); lost()\">Press</button>\
                <a id=file download='report.txt' href='data:text/plain,words'>Report</a>";
    shop.project.write("page.html", page);
    let address = format!("file://{}/page.html", shop.project.root().display());
    let lines = format!("web_navigate url={address}\nweb_click ref='button \"Press\"'\nweb_download\nsnapshot\nquit\n");
    let ran = shop.project.feed(&["shell", "--json", "-d", "web/chromium"], &lines);
    let told: Vec<String> = ran
        .json_lines()
        .iter()
        .flat_map(|line| line["answer"]["happened"].as_array().cloned().unwrap_or_default())
        .map(|remark| remark.as_str().unwrap_or_default().to_string())
        .collect();
    let expected = [
        "alert \"Hi\" was accepted",
        "console.error: a bad day",
        "the page threw: ReferenceError",
        "downloaded `report.txt`",
    ];
    for words in expected {
        assert_eq!(told.iter().filter(|line| line.starts_with(words)).count(), 1, "{words} in {told:?}");
    }
    let ran = shop.project.feed(&["shell", "-d", "web/chromium"], &lines).exits(0);
    assert!(ran.stderr.contains("page: console.error: a bad day"), "{}", ran.stderr);
}
