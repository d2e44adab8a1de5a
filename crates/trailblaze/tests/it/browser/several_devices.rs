//! A trail on two phones and a page of a real browser.

use crate::support::{COUNTER_PROJECT, Project, chromium};

const TRAIL: &str = "\
config:
  devices: {alice: android, bob: android, desk: web/chromium}
trail:
  - step: Alice counts
    on: alice
    tools:
      - launchApp: {packageId: com.example.counter}
      - tap: {id: add}
      - rememberElementText: {id: count, variable: hers}
  - step: The desk notes it
    on: desk
    tools:
      - web_navigate: {url: 'data:text/html,<label>Note <input></label><button>Send</button>'}
      - web_type: {ref: 'textbox \"Note\"', text: '{{hers}}'}
      - web_verifyValue: {ref: 'textbox \"Note\"', expected: 'Count: 1'}
  - step: Bob counts as far as the note says
    on: bob
    tools:
      - launchApp: {packageId: com.example.counter}
      - tap: {id: add}
      - assertVisible: {text: '{{hers}}'}
  - verify: Alice has not moved
    on: alice
    tools: [assertVisible: {text: 'Count: 1', timeoutMs: 10}]
";

#[test]
fn two_phones_and_a_page_run_one_trail_and_its_replay() {
    let Some(shared) = chromium::shared() else { return };
    let project = Project::counter().with("trails/a.trail.yaml", TRAIL);
    project.write("trailblaze.yaml", format!("{COUNTER_PROJECT}browser: {{attach: '{shared}'}}\n"));
    for _ in 0..2 {
        let ran = project.run(&["run", "--record"]).exits(0);
        assert!(ran.stderr.contains("android/sim-1 + android/sim-2 + web/chromium"), "{}", ran.stderr);
    }
    let beside = project.read("trails/a.effects.yaml");
    for key in ["alice@android:", "bob@android:", "desk@web:"] {
        assert!(beside.contains(key), "{key} in {beside}");
    }
    let run = project.last_run();
    run.assert_finished(0);
    run.assert_calls_have_parents();
}
