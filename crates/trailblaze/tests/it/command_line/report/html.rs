use std::fs;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use trailblaze::output::report::html::html;
use trailblaze::output::report::{RunRecord, alike};
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::event::Verdict;
use trailblaze_protocol::geometry::Size;

use crate::support::run_fixture::{Recorder, write_run};

struct Page {
    folder: tempfile::TempDir,
    html: String,
}

impl Page {
    fn new() -> Page {
        let folder = tempfile::tempdir().unwrap();
        write_run(folder.path());
        let html = html(&RunRecord::read(folder.path()).unwrap(), folder.path());
        Page { folder, html }
    }

    /// The JSON of every script element whose id starts so.
    fn stored(&self, prefix: &str) -> Vec<Value> {
        let mark = format!(r#"<script type="application/json" id="{prefix}"#);
        let after = self.html.split(&mark).skip(1);
        after
            .map(|rest| {
                let (_, json) = rest.split_once('>').unwrap();
                serde_json::from_str(json.split("</script>").next().unwrap()).unwrap()
            })
            .collect()
    }
}

#[test]
fn no_text_of_the_run_becomes_markup() {
    let page = Page::new();
    let n_elements = 2 + page.stored("attempt-").len() + page.stored("tree-").len() + page.stored("picture-").len();
    assert_eq!(page.html.matches("</script").count(), n_elements);
    assert_eq!(page.html.matches("<img").count(), 0);
    assert_eq!(page.html.matches("<svg onload").count(), 0);
}

#[test]
fn a_page_needs_nothing_from_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    // Names of namespaces, which nothing loads.
    let namespaces = ["2000/svg", "1999/xhtml", "1998/Math/MathML"].map(|name| format!("http://www.w3.org/{name}"));
    let html = html(&RunRecord::default(), folder.path());
    let html = namespaces.iter().fold(html, |html, name| html.replace(name, ""));
    for way_out in [" src=", "http:", "https:", "//cdn", "@import", "XMLHttpRequest"] {
        assert!(!html.contains(way_out), "{way_out}");
    }
    // Traces are read from the folder of the run.
    let policy = html.split("Content-Security-Policy\" content=\"").nth(1).and_then(|rest| rest.split('"').next());
    let policy = policy.expect("a policy");
    assert!(policy.starts_with("default-src 'none';"), "{policy}");
    let known = |source: &str| {
        ["'self'", "'none'", "data:", "file:"].contains(&source)
            || source.starts_with("'sha256-")
            || source.ends_with("-src")
    };
    let words = policy.split([' ', ';']).filter(|word| !word.is_empty());
    let other: Vec<&str> = words.filter(|word| !known(word) && !["base-uri", "form-action"].contains(word)).collect();
    assert!(other.is_empty(), "{other:?}");
}

#[test]
fn each_picture_is_embedded_once_by_content() {
    let page = Page::new();
    // `shelf-again.png` is `shelf.png` under another name, and `start.png` is shown twice.
    assert_eq!(page.stored("picture-").len(), 4);
    for name in ["start", "shelf", "cart", "failure"] {
        let bytes = fs::read(page.folder.path().join(format!("pictures/{name}.png"))).unwrap();
        let uri = format!("data:image/png;base64,{}", STANDARD.encode(bytes));
        assert_eq!(page.html.matches(&uri).count(), 1, "{name}");
    }
}

#[test]
fn a_picture_that_cannot_be_shown_says_why() {
    let page = Page::new();
    let hostile = &page.stored("attempt-")[2];
    let pictures = hostile["steps"][0]["pictures"].as_array().unwrap();
    let kept: Vec<_> = pictures.iter().map(|picture| picture["kept"]["missing"].as_str().unwrap()).collect();
    assert_eq!(kept, ["is missing", "is outside the run folder", "is not a picture"]);
    assert_eq!(pictures[1]["tree"]["missing"], "is outside the run folder");
}

#[test]
fn the_detail_of_an_attempt_has_all_of_its_calls_and_exact_numbers() {
    let page = Page::new();
    let detail = &page.stored("attempt-")[0];
    let calls = detail["steps"][1]["calls"].as_array().unwrap();
    let tools: Vec<_> =
        calls.iter().map(|call| (call["depth"].as_u64().unwrap(), call["tool"].as_str().unwrap())).collect();
    assert_eq!(tools, [(0, "signIn"), (1, "tapOn"), (1, "inputText"), (1, "tapOn"), (2, "waitForIdle")]);
    assert!(calls[3]["args"][1][1].as_str().unwrap().contains("9007199254740993"));
    assert_eq!(page.stored("index")[0]["seed"], "18446744073709551557");
}

#[test]
fn a_long_value_is_cut_and_says_so() {
    let page = Page::new();
    let long = page.stored("attempt-")[2]["steps"][0]["calls"][0]["args"][1][1].as_str().unwrap().to_string();
    assert!(long.len() < 70_000 && long.ends_with("more bytes are in events.jsonl)"), "{} bytes", long.len());
}

#[test]
fn attachments_are_in_the_page_or_beside_it_and_never_from_elsewhere() {
    let page = Page::new();
    let answer = &page.stored("attempt-")[0]["steps"][2]["calls"][0]["answer"]["outcome"];
    let kept: Vec<_> = answer["attachments"].as_array().unwrap().iter().map(|each| each["kept"].clone()).collect();
    assert_eq!(kept, [json!({"embedded": 3}), json!("nextToPage"), json!({"missing": "is outside the run folder"})]);
}

/// The record may come from elsewhere, or from an older version that named files as tools asked for.
#[test]
fn a_file_that_would_run_as_a_page_is_not_linked() {
    let folder = tempfile::tempdir().unwrap();
    write_run(folder.path());
    let (log, events) = (folder.path().join("attachments/server log.txt"), folder.path().join("events.jsonl"));
    fs::rename(&log, log.with_extension("html")).unwrap();
    let text = fs::read_to_string(&events).unwrap().replace("server log.txt", "server log.html");
    fs::write(&events, text).unwrap();
    let page = Page { html: html(&RunRecord::read(folder.path()).unwrap(), folder.path()), folder };
    let kept = &page.stored("attempt-")[0]["steps"][2]["calls"][0]["answer"]["outcome"]["attachments"][1]["kept"];
    assert_eq!(*kept, json!({"missing": "is not linked: opened from here, it could run as a page"}));
}

#[test]
fn failures_that_say_the_same_stand_together() {
    let mut run = Recorder::new();
    run.start(4);
    let session = run.session("android/pixel-8", Platform::Android, Size { width: 1080, height: 2340 });
    for (nth, text) in ["no `Cart` within 5 s", "crashed", "no `Shelf` within 10 s"].into_iter().enumerate() {
        let attempt = run.attempt(&session, &format!("trail {nth}"), 1, &[]);
        run.end_attempt(&attempt, Verdict::Failed, text, None);
    }
    assert_eq!(alike::failures(&RunRecord::from_bytes(run.text().as_bytes())), [vec![0, 2], vec![1]]);
}

#[test]
fn a_reader_without_javascript_gets_the_counts() {
    let page = Page::new();
    let noscript = page.html.split("<noscript>").nth(1).unwrap();
    let counts = "<h1>Trailblaze: environment failed</h1>\n<p>2 of 7 trails passed, 2 failed, 1 errored, 1 unfinished, 1 skipped, 1 flaky in ";
    assert!(noscript.contains(counts), "{}", &noscript[..300]);
}
