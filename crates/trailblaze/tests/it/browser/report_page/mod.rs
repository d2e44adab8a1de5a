//! The page in a real Chromium: it shows what the events say, everywhere and without complaint.

mod browser;

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::chromium;
use crate::support::run_fixture::{Recorder, write_run};
use browser::Browser;
use serde_json::json;
use trailblaze::output::report::write;
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::event::{
    CallOrigin, Event, Line, ModelAsked, ModelPurpose, ModelReplied, Parsed, Plan, StepChoice, StepKind, Verdict,
};
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::geometry::Size;
use trailblaze_protocol::ids::{ModelRequestId, Parent};
use trailblaze_protocol::outcome::Outcome;

/// What the tests ask of the page, once it is open.
const ASK: &str = include_str!("ask.js");

/// Makes a report of a run folder and opens it. `None` where there is no browser.
fn open(folder: &Path) -> Option<Browser> {
    let program = chromium::find()?;
    let written = write(folder).unwrap();
    let mut browser = Browser::start(&program);
    browser.open(&written.html);
    browser.eval(ASK);
    Some(browser)
}

fn fixture() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_run(folder.path());
    folder
}

fn events(folder: &Path) -> Vec<Event> {
    let text = std::fs::read_to_string(folder.join("events.jsonl")).unwrap();
    let lines = text.lines().filter_map(|line| match Line::parse(line) {
        Parsed::Line(line) => Some(line.event),
        _ => None,
    });
    lines.collect()
}

/// The calls of each attempt, as the events have them.
fn calls(events: &[Event]) -> BTreeMap<String, Vec<String>> {
    let mut calls: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for event in events {
        match event {
            Event::AttemptStarted { attempt, .. } => drop(calls.entry(attempt.to_string()).or_default()),
            Event::Called(called) => calls.entry(called.attempt.to_string()).or_default().push(called.call.to_string()),
            _ => {}
        }
    }
    calls.values_mut().for_each(|calls| calls.sort());
    calls
}

const SHOWN_CALLS: &str = r##"(async () => {
  const shown = {};
  for (const attempt of index.attempts) {
    await show(attempt.id);
    shown[attempt.id] = [...document.querySelectorAll("#detail [data-call]")].map((call) => call.dataset.call).sort();
  }
  return shown;
})()"##;

#[test]
fn every_call_of_every_attempt_is_shown() {
    let folder = fixture();
    let Some(mut browser) = open(folder.path()) else { return };
    let shown = browser.eval(SHOWN_CALLS);
    assert_eq!(shown, json!(calls(&events(folder.path()))));
    assert_eq!(browser.errors, [] as [String; 0]);
}

#[test]
fn every_picture_decodes() {
    let folder = fixture();
    let Some(mut browser) = open(folder.path()) else { return };
    let widths = browser.eval(
        r##"(async () => {
          const widths = { overview: await pictures() };
          for (const attempt of index.attempts) { await show(attempt.id); widths[attempt.name] = await pictures(); }
          return widths;
        })()"##,
    );
    let of =
        |name: &str| widths[name].as_array().unwrap().iter().map(|width| width.as_u64().unwrap()).collect::<Vec<_>>();
    // Before, after, again after, and what is attached.
    assert_eq!(of("Sign in and see the shelf"), [270; 5]);
    assert_eq!(of("Empty the cart"), [270; 3]);
    assert_eq!(of("overview"), [270]);
    assert_eq!(browser.errors, [] as [String; 0]);
}

#[test]
fn outlines_lie_on_the_bounds() {
    let folder = fixture();
    let Some(mut browser) = open(folder.path()) else { return };
    for width in [1280, 360] {
        browser.resize(width, 900);
        let shown = browser.eval(
            r##"(async () => {
              await show(index.attempts[0].id);
              return [...document.querySelectorAll(".touch:not(.point)")].map((touch) => {
                const frame = touch.parentElement.getBoundingClientRect();
                const at = touch.getBoundingClientRect();
                return [(at.left - frame.left) / frame.width, (at.top - frame.top) / frame.height,
                  (at.right - frame.left) / frame.width, (at.bottom - frame.top) / frame.height];
              });
            })()"##,
        );
        let shown: Vec<[f64; 4]> = serde_json::from_value(shown).unwrap();
        let attempt = "a3";
        let own = calls(&events(folder.path()))[attempt].clone();
        let touched = events(folder.path()).into_iter().filter_map(|event| match event {
            Event::Touched { call, bounds, .. } if own.contains(&call.to_string()) => bounds,
            _ => None,
        });
        let expected: Vec<[f64; 4]> = touched
            .map(|at| [(at.left, 1080), (at.top, 2340), (at.right, 1080), (at.bottom, 2340)])
            .map(|sides| sides.map(|(at, whole)| f64::from(at) / f64::from(whole)))
            .collect();
        assert_eq!((shown.len(), expected.len()), (2, 2), "{shown:?}");
        for (shown, expected) in shown.iter().flatten().zip(expected.iter().flatten()) {
            assert!((shown - expected).abs() < 0.01, "at {width} px: {shown} is not {expected}");
        }
    }
}

#[test]
fn a_torn_last_line_still_opens() {
    let folder = fixture();
    let path = folder.path().join("events.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &text[..text.rfind("runEnded").unwrap()]).unwrap();
    let Some(mut browser) = open(folder.path()) else { return };
    let head = browser.eval("document.getElementById('head').textContent");
    assert!(head.as_str().unwrap().contains("This run did not finish."), "{head}");
    assert_eq!(browser.eval(SHOWN_CALLS), json!(calls(&events(folder.path()))));
    assert_eq!(browser.errors, [] as [String; 0]);
}

#[test]
fn light_and_dark_and_narrow_show_everything_without_complaint() {
    let folder = fixture();
    let Some(mut browser) = open(folder.path()) else { return };
    let mut papers = Vec::new();
    for (scheme, width) in [("light", 1280), ("dark", 1280), ("light", 360), ("dark", 360)] {
        browser.prefer(scheme);
        browser.resize(width, 1600);
        browser.open(&folder.path().join("report.html"));
        browser.eval(ASK);
        papers.push(browser.eval("getComputedStyle(document.body).backgroundColor"));
        browser.shoot(&format!("overview-{scheme}-{width}"));
        assert_eq!(browser.eval("overflow()"), 0, "the overview in {scheme} at {width} px");
        let wide = browser.eval(
            r##"(async () => {
              const wide = [];
              for (const attempt of index.attempts) {
                await show(attempt.id);
                for (const call of document.querySelectorAll("#detail .call > .open")) call.click();
                await drawn();
                if (overflow() > 0) wide.push([attempt.name, overflow()]);
              }
              return wide;
            })()"##,
        );
        assert_eq!(wide, json!([]), "in {scheme} at {width} px");
        for nth in [0, 1] {
            browser.eval(&format!("show(index.attempts[{nth}].id)"));
            browser.shoot(&format!("attempt-{nth}-{scheme}-{width}"));
        }
    }
    assert_eq!((&papers[0], &papers[1]), (&papers[2], &papers[3]));
    assert_ne!(papers[0], papers[1]);
    assert_eq!(browser.errors, [] as [String; 0]);
}

#[test]
fn failures_that_are_alike_stand_in_one_card() {
    let folder = tempfile::tempdir().unwrap();
    large(folder.path(), 1_000, 1);
    let Some(mut browser) = open(folder.path()) else { return };
    let cards = browser.eval("[...document.querySelectorAll('.failure .alike')].map((card) => card.textContent)");
    assert_eq!(cards, json!(["100 trails failed alike"]));
    browser.shoot("alike");
    browser.eval("document.querySelector('.failure .others button').click()");
    assert_eq!(browser.eval("document.querySelectorAll('.failure .others li').length"), 99);
    assert_eq!(browser.errors, [] as [String; 0]);
}

#[test]
fn a_thousand_attempts_with_ten_thousand_calls_open_and_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    large(folder.path(), 1_000, 10);
    let Some(mut browser) = open(folder.path()) else { return };
    let n_rows = browser.eval("until(() => document.querySelectorAll('.rows li').length === 1000).then(() => 1000)");
    assert_eq!(n_rows, 1_000);
    let n_calls = browser.eval("index.attempts.reduce((sum, attempt) => sum + attempt.nCalls, 0)");
    assert_eq!(n_calls, 10_000);
    let found = browser.eval(
        r##"(async () => {
          const search = document.getElementById("search");
          search.value = "number 777";
          search.dispatchEvent(new Event("input"));
          await drawn();
          const titles = [...document.querySelectorAll(".rows .title")].map((title) => title.textContent);
          await show(index.attempts[777].id);
          return [titles, document.querySelectorAll("#detail [data-call]").length];
        })()"##,
    );
    assert_eq!(found, json!([["Trail number 777"], 10]));
    assert_eq!(browser.errors, [] as [String; 0]);
}

/// Many attempts; each tenth fails.
fn large(folder: &Path, n_attempts: usize, n_calls: usize) {
    let mut run = Recorder::new();
    run.start(n_attempts);
    let session = run.session("android/pixel-8", Platform::Android, Size { width: 1080, height: 2340 });
    for nth in 0..n_attempts {
        let attempt = run.attempt(&session, &format!("Trail number {nth}"), 1, &[]);
        let step = run.step(&attempt, 0, StepKind::Step, "Do it", Plan::Authored);
        for place in 0..n_calls {
            let parent = Parent::Step(step.clone());
            let call =
                run.call(&attempt, parent, CallOrigin::Step, "tapOn", json!({"text": format!("Button {place}")}));
            run.answer(&call, 1_000, Outcome::success(""));
        }
        let (verdict, message) = match nth % 10 {
            0 => (Verdict::Failed, format!("no element with text `Button {nth}` within {nth} s")),
            _ => (Verdict::Passed, String::new()),
        };
        run.end_step(&step, verdict, &message);
        run.end_attempt(&attempt, verdict, &message, None);
    }
    run.end(Exit::Failed);
    std::fs::write(folder.join("events.jsonl"), run.text()).unwrap();
}

#[test]
fn a_step_shows_what_was_decided_in_it_and_an_optional_one_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = Recorder::new();
    run.start(1);
    let session = run.session("android/sim-1", Platform::Android, Size { width: 400, height: 800 });
    let attempt = run.attempt(&session, "Decide", 1, &[]);
    let mut step = |text: &str, verdict: Verdict, choice: StepChoice| {
        let step = run.step(&attempt, 0, StepKind::Step, text, Plan::Authored);
        run.add(Event::StepEnded { step, verdict, message: "why".into(), choice: Some(choice) });
    };
    step("Rate it", Verdict::Failed, StepChoice { is_tolerated: true, ..StepChoice::default() });
    step("Close it", Verdict::Passed, StepChoice { held: Some(false), ..StepChoice::default() });
    step("Count", Verdict::Passed, StepChoice { rounds: Some(3), ..StepChoice::default() });
    run.end_attempt(&attempt, Verdict::Passed, "", None);
    run.end(Exit::Passed);
    std::fs::write(folder.path().join("events.jsonl"), run.text()).unwrap();
    let Some(mut browser) = open(folder.path()) else { return };
    let shown = browser.eval(
        r##"(async () => {
          await show(index.attempts[0].id);
          return [...document.querySelectorAll("#detail .step")].map((step) =>
            [step.className, step.querySelector(".under").textContent, step.querySelector(".state").textContent]);
        })()"##,
    );
    let expected = json!([
        ["step skipped", "authoredoptional", "Failed"],
        ["step passed", "authoredelse", "Passed"],
        ["step passed", "authored3 rounds", "Passed"],
    ]);
    assert_eq!(shown, expected);
    assert_eq!(browser.errors, [] as [String; 0]);
}

#[test]
fn a_step_of_a_model_shows_what_was_sent_and_why_it_did_that() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = Recorder::new();
    run.start(1);
    let session = run.session("android/sim-1", Platform::Android, Size { width: 400, height: 800 });
    let attempt = run.attempt(&session, "Pay", 1, &[]);
    let step = run.step(&attempt, 0, StepKind::Step, "Pay Grace", Plan::Model);
    let request = ModelRequestId::new("m-1");
    run.add(Event::ModelAsked(Box::new(ModelAsked {
        request: request.clone(),
        about: Parent::Step(step.clone()),
        purpose: ModelPurpose::Step,
        model: "demo/model".into(),
        setup: "attachments/setup.json".into(),
        messages: vec!["Step: Pay Grace\n[e1] button \"Pay\" <img src=x onerror=alert(1)>".into()],
        pictures: Vec::new(),
    })));
    run.pass(900_000);
    run.add(Event::ModelReplied(Box::new(ModelReplied {
        request,
        micros: 900_000,
        text: "Only this button pays.".into(),
        calls: vec![json!({"tap": {"ref": "e1"}})],
        problem: None,
        tokens_in: 1234,
        tokens_out: 17,
        tokens_cached: 1000,
        cost: Some(0.0021),
    })));
    let call = run.call(&attempt, Parent::Step(step.clone()), CallOrigin::Step, "tap", json!({"ref": "e1"}));
    run.answer(&call, 10, Outcome::success("tapped"));
    run.end_step(&step, Verdict::Passed, "");
    run.end_attempt(&attempt, Verdict::Passed, "", None);
    run.end(Exit::Passed);
    std::fs::write(folder.path().join("events.jsonl"), run.text()).unwrap();
    let Some(mut browser) = open(folder.path()) else { return };
    let shown = browser.eval(
        r##"(async () => {
          await show(index.attempts[0].id);
          document.querySelector("#detail .turn > .open").click();
          await drawn();
          return [document.querySelector("#head").textContent, document.querySelector("#detail .turn").textContent,
            document.querySelector("#detail .turn").nextElementSibling.dataset.call != null, document.querySelectorAll("#detail img[src=x]").length];
        })()"##,
    );
    let [head, turn] = [&shown[0], &shown[1]].map(|text| text.as_str().unwrap().to_string());
    assert!(head.contains("1 model call, 1234 tokens in (1000 cached), 17 out, $0.00210"), "{head}");
    for part in ["Only this button pays.", "Step: Pay Grace", "tap {\"ref\":\"e1\"}", "$0.00210", "<img src=x"] {
        assert!(turn.contains(part), "{part} in {turn}");
    }
    // The call follows the reply that asked for it, and nothing of the app becomes part of the page.
    assert_eq!((&shown[2], &shown[3]), (&json!(true), &json!(0)));
    browser.shoot("model");
    assert_eq!(browser.errors, [] as [String; 0]);
}
