//! Healing on simulated devices.

use crate::support::{Project, Ran};

/// A shop with a form, a list, and a page that says that something was bought.
const APP: &str = "\
app: {id: com.example.shop, name: Shop}
start: checkout
state: {seconds: 0, count: 0}
screens:
  checkout:
    title: Checkout
    elements:
      - {role: heading, text: Your order}
      - {id: clock, text: 'Updated at 10:{{seconds}}'}
      - {id: name, role: field, hint: Your name}
      - id: actions
        role: card
        elements:
          - {text: Total due}
          - {id: pay, role: button, text: Pay, tap: [{add: {count: 1}}, {goto: done}]}
          - {id: later, role: button, text: Save for later, tap: {goto: saved}}
      - {id: help, role: link, text: Help, tap: {toast: Call us}}
  done:
    title: Thank you
    elements:
      - {role: heading, text: Order placed}
      - {id: receipt, text: 'Receipt number {{count}}'}
      - {id: home, role: button, text: Back to the shop, tap: {goto: checkout}}
  saved:
    title: Saved
    elements:
      - {role: heading, text: Saved for later}
      - {id: open, role: button, text: Open the list, tap: {goto: checkout}}
";

const TRAIL: &str = "\
config: {id: buy, title: Buy it}
trailhead:
  step: Start the shop
  tools:
    - launchApp: {packageId: com.example.shop}
trail:
  - step: Pay
    # How it is paid.
    recording:
      android:
        - tap: {text: Pay, timeoutMs: 300} # the big one
  - verify: It was bought
    tools:
      - assertVisible: {text: Order placed, timeoutMs: 300}
";

/// A project whose trail was recorded.
fn recorded() -> Project {
    let project = Project::empty()
        .with("trailblaze.yaml", "sim:\n  apps: [shop.app.yaml]\n")
        .with("shop.app.yaml", APP)
        .with("trails/buy.trail.yaml", TRAIL);
    run(&project, &["--record"], 0);
    assert_eq!(project.read("trails/buy.trail.yaml"), TRAIL, "it already has its recording");
    project
}

fn run(project: &Project, args: &[&str], code: i32) -> Ran {
    project.run(&[&["run", "--pictures", "off"], args].concat()).exits(code)
}

/// The app with other texts.
fn changed(project: &Project, changes: &[(&str, &str)]) {
    let app = changes.iter().fold(APP.to_string(), |app, (old, new)| {
        assert!(app.contains(old), "{old}");
        app.replace(old, new)
    });
    project.write("shop.app.yaml", app);
}

#[test]
fn what_healing_needs_is_kept_beside_the_trail() {
    let project = recorded();
    let kept = project.read("trails/buy.effects.yaml");
    insta::assert_snapshot!(kept, @r#"
    # What was recorded with the trail next to this file. Written by `trailblaze run --record`.
    healing:
      android:
        - step: Start the shop
          end: '1ed0db09 3871a3fa 4db95739 510b5dd3 5e560689 79c12d9d 86f5f064 87f83216 ca71006c'
        - step: Pay
          calls:
            - call:
                tap:
                  text: Pay
                  timeoutMs: 300
              element:
                kind: press
                role: Button
                id: pay
                name: Pay
                about:
                  -
                    - Total due
                  -
                    - 'Updated at #'
                    - Your order
                  -
                    - Checkout
                within:
                  - '[id=actions]'
                near:
                  - Total due
                  - Your name
                  - 'Updated at #'
                  - Save for later
                  - Help
                  - Your order
                others:
                  - 'Button "Save for later" [id=later]'
                  - 'TextView "Help" [id=help]'
          end: '080f1cb8 3c694558 44678d0f 53069b2c b59cd19d ca71006c'
        - step: It was bought
          end: '080f1cb8 3c694558 44678d0f 53069b2c b59cd19d ca71006c'
    "#);
    run(&project, &["--record"], 0);
    assert_eq!(project.read("trails/buy.effects.yaml"), kept, "another run writes the same");
}

#[test]
fn a_renamed_element_is_suggested_and_the_trail_fails() {
    let project = recorded();
    changed(&project, &[("text: Pay,", "text: Buy now,")]);
    let ran = run(&project, &[], 1);
    insta::assert_snapshot!(ran.normal(&ran.stdout), @r#"

    Buy it on android/sim-1 (trails/buy.trail.yaml:11:11)
      step 1 "Pay": `tap` failed: could not tap text "Pay" within [time]: nothing on the screen has the text "Pay"
      instead, it could be:
        1. `tap: {id: pay, timeoutMs: 300}` on Button "Buy now" (same id, another name, same role, same container, same neighbors; 85 of 100)

    0 passed, 1 failed in [time]
    Report: [project]/logs/[run]/report.html
    "#);
    let junit = project.last_run().text("junit.xml");
    assert!(junit.contains("suggestion: `tap: {id: pay, timeoutMs: 300}` on Button"), "{junit}");
    let summary = project.last_run().summary();
    assert_eq!(summary["attempts"][0]["failure"]["suggestions"][0]["call"]["tap"]["id"], "pay", "{summary:#}");
    assert_eq!(project.read("trails/buy.trail.yaml"), TRAIL);
    assert!(!run(&project, &["--heal", "off"], 1).stdout.contains("instead"));
}

#[test]
fn an_element_that_says_the_same_is_healed_and_the_trail_runs_again() {
    let project = recorded();
    changed(&project, &[("text: Pay,", "text: PAY…,")]);
    let ran = run(&project, &["--heal", "apply"], 0);
    insta::assert_snapshot!(ran.normal(&ran.stdout), @r#"

    healed: Buy it on android/sim-1
      step "Pay": `tap: {text: Pay, timeoutMs: 300}` became `tap: {id: pay, timeoutMs: 300}` on Button "PAY…"

    1 passed, 1 of them healed in [time]
    Report: [project]/logs/[run]/report.html
    "#);
    assert_eq!(project.read("trails/buy.trail.yaml"), TRAIL, "a run does not write");
    let summary = project.last_run().summary();
    assert_eq!(summary["counts"]["healed"], 1, "{summary:#}");
    assert_eq!((&summary["counts"]["total"], &summary["counts"]["flaky"]), (&1.into(), &0.into()));
    let heal = &summary["attempts"][0]["heals"][0];
    assert_eq!((&heal["result"], &heal["suggestions"][0]["element"]), (&"healed".into(), &"Button \"PAY…\"".into()));
    assert_eq!(summary["attempts"][1]["isHealed"], true);
    let junit = project.last_run().text("junit.xml");
    assert!(junit.contains(r#"<property name="healed" value="true"/>"#), "{junit}");
    assert!(junit.contains("`tap: {text: Pay, timeoutMs: 300}` became `tap: {id: pay, timeoutMs: 300}`"), "{junit}");
}

#[test]
fn a_healed_trail_runs_only_up_to_the_step_that_was_asked_for() {
    let project = recorded();
    changed(&project, &[("text: Pay,", "text: PAY…,")]);
    run(&project, &["--heal", "apply", "--until", "1"], 0);
    let record = project.last_run().text("events.jsonl");
    assert_eq!(record.matches("\"stepStarted\"").count(), 4, "the trailhead and a step, twice: {record}");
    assert!(!record.contains("It was bought"), "{record}");
    let refused = run(&project, &["--until", "1", "--model-cassette", "record"], 3);
    assert!(refused.stderr.contains("the replies to the other steps would be lost"), "{}", refused.stderr);
}

#[test]
fn the_repair_is_shown_and_written_into_the_trail() {
    let project = recorded();
    changed(&project, &[("text: Pay,", "text: PAY…,")]);
    run(&project, &["--heal", "apply"], 0);
    let shown = project.run(&["heal"]).exits(0);
    insta::assert_snapshot!(shown.stdout, @r#"
    trails/buy.trail.yaml (healed)
      step "Pay": `tap: {text: Pay, timeoutMs: 300}` became `tap: {id: pay, timeoutMs: 300}` on Button "PAY…"
      …
          recording:
            android:
    -         - tap: {text: Pay, timeoutMs: 300} # the big one
    +         - tap: {id: pay, timeoutMs: 300} # the big one
        - verify: It was bought
          tools:
      …
    "#);
    assert_eq!(project.read("trails/buy.trail.yaml"), TRAIL, "showing does not write");
    project.run(&["heal", "--write"]).exits(0);
    assert_eq!(project.read("trails/buy.trail.yaml"), TRAIL.replace("{text: Pay, ", "{id: pay, "));
    let kept = project.read("trails/buy.effects.yaml");
    assert!(kept.contains("tap:\n              id: pay\n") && kept.contains("name: 'PAY…'"), "{kept}");
    run(&project, &[], 0);
    assert_eq!(project.last_run().summary()["counts"]["healed"], 0, "it needs no healing any more");
    // The new recording can be healed too.
    changed(&project, &[("id: pay, role: button, text: Pay,", "id: buy, role: button, text: PAY…,")]);
    run(&project, &["--heal", "apply"], 0);
    project.write("trails/buy.trail.yaml", TRAIL.replace("{text: Pay, ", "{text: Purchase, "));
    let refused = project.run(&["heal", "--write"]).exits(3);
    insta::assert_snapshot!(refused.refusal(), @r#"
    exit 3
    error: trails/buy.trail.yaml has changed since the run: its steps or their calls are no longer those that ran
    hint: run the trail again, then heal that run
    "#);
}

#[test]
fn a_trail_whose_steps_changed_since_the_run_is_not_written() {
    let project = recorded();
    changed(&project, &[("text: Pay,", "text: PAY…,")]);
    run(&project, &["--heal", "apply"], 0);
    for (old, new) in
        [("verify: It was bought", "verify: It was paid"), ("{text: Order placed, ", "{text: Order sent, ")]
    {
        let edited = TRAIL.replace(old, new);
        project.write("trails/buy.trail.yaml", &edited);
        let refused = project.run(&["heal", "--write"]).exits(3);
        assert!(
            refused.stderr.contains("error: trails/buy.trail.yaml has changed since the run"),
            "{}",
            refused.stderr
        );
        assert_eq!(project.read("trails/buy.trail.yaml"), edited);
    }
    // A comment is not a step.
    let commented = format!("# Every day.\n{TRAIL}");
    project.write("trails/buy.trail.yaml", &commented);
    project.run(&["heal", "--write"]).exits(0);
    let healed = commented.replace("{text: Pay, ", "{id: pay, ");
    assert_eq!(project.read("trails/buy.trail.yaml"), healed);
    let again = project.run(&["heal", "--write"]).exits(0);
    assert_eq!(again.stdout, "");
    let said = "nothing left to write: trails/buy.trail.yaml has the repairs of this run";
    assert!(again.stderr.contains(said) && !again.stderr.contains("wrote"), "{}", again.stderr);
    assert_eq!(project.read("trails/buy.trail.yaml"), healed);
}

#[test]
fn a_call_that_was_healed_before_a_later_failure_is_shown_as_not_confirmed() {
    let trail = format!(
        "{TRAIL}  - step: Go back\n    tools: [{{tap: {{id: home}}}}]\n  - verify: There is help\n    tools: [{{assertVisible: {{text: Help, timeoutMs: 300}}}}]\n"
    );
    let project = Project::empty()
        .with("trailblaze.yaml", "sim:\n  apps: [shop.app.yaml]\n")
        .with("shop.app.yaml", APP)
        .with("trails/buy.trail.yaml", trail);
    run(&project, &["--record"], 0);
    changed(&project, &[("text: Pay,", "text: PAY…,"), ("text: Help,", "text: Support,")]);
    let ran = run(&project, &["--heal", "apply"], 1);
    let told = "nothing on the screen has the text \"Help\"\n  healed before that, not confirmed by a second run:\n    \
                step \"Pay\": `tap: {text: Pay, timeoutMs: 300}` became `tap: {id: pay, timeoutMs: 300}` on Button \"PAY…\"\n";
    assert!(ran.stdout.contains(told), "{}", ran.stdout);
    assert!(ran.stderr.contains("`trailblaze heal` shows the repairs"), "{}", ran.stderr);
    let shown = project.run(&["heal"]).exits(0);
    let head = "trails/buy.trail.yaml (healed, not confirmed by a second run)\n  \
                step \"Pay\": `tap: {text: Pay, timeoutMs: 300}` became `tap: {id: pay, timeoutMs: 300}` on Button \"PAY…\"\n";
    assert!(shown.stdout.starts_with(head), "{}", shown.stdout);
    assert!(shown.stderr.contains("a later step failed"), "{}", shown.stderr);
    assert_eq!(project.run(&["heal", "--json"]).exits(0).json()[0]["isConfirmed"], false);
}

#[test]
fn a_suggestion_can_be_written_without_being_tried() {
    let project = recorded();
    changed(&project, &[("text: Pay,", "text: PAY…,")]);
    run(&project, &[], 1);
    let shown = project.run(&["heal", "--write"]).exits(0);
    assert!(shown.stdout.starts_with("trails/buy.trail.yaml (suggested)\n"), "{}", shown.stdout);
    assert!(shown.stderr.contains("`trailblaze run --heal apply` tries them"), "{}", shown.stderr);
    run(&project, &[], 0);
    let nothing = project.run(&["heal"]).exits(0);
    assert_eq!(nothing.stdout, "");
}

#[test]
fn a_heal_that_leads_elsewhere_is_withdrawn() {
    let project = recorded();
    changed(&project, &[("text: Pay, tap: [{add: {count: 1}}, {goto: done}]", "text: PAY…, tap: {goto: saved}")]);
    let ran = run(&project, &["--heal", "apply"], 1);
    insta::assert_snapshot!(ran.normal(&ran.stdout), @r#"

    Buy it on android/sim-1 (trails/buy.trail.yaml:11:11)
      step 1 "Pay": `tap` failed: could not tap text "Pay" within [time]: nothing on the screen has the text "Pay"; the nearest is Button "PAY…" [id=pay] under heading "Your order"
      healing tried Button "PAY…" instead, but the step did not end as it was recorded

    0 passed, 1 failed in [time]
    Report: [project]/logs/[run]/report.html
    "#);
    assert_eq!(project.last_run().summary()["attempts"][0]["heals"][0]["result"], "withdrawn");
    assert_eq!(project.run(&["heal"]).exits(0).stdout, "", "there is nothing to write");
}

#[test]
fn an_assertion_and_a_trailhead_are_never_healed() {
    let project = recorded();
    changed(&project, &[("text: Order placed", "text: Order is placed")]);
    let ran = run(&project, &["--heal", "apply"], 1);
    assert!(!ran.stdout.contains("instead"), "{}", ran.stdout);
    assert_eq!(project.last_run().summary()["attempts"][0]["heals"].as_array(), None);
    let head =
        TRAIL.replace("    - launchApp: {packageId: com.example.shop}\n", "    - tap: {text: Shop, timeoutMs: 300}\n");
    let project = Project::empty()
        .with("trailblaze.yaml", "sim:\n  apps: [shop.app.yaml]\n")
        .with("shop.app.yaml", APP)
        .with("trails/buy.trail.yaml", head);
    run(&project, &["--record"], 0);
    project.write("shop.app.yaml", APP.replace("name: Shop}", "name: Shops}"));
    run(&project, &["--heal", "apply"], 1);
    assert_eq!(project.last_run().summary()["attempts"][0]["heals"].as_array(), None);
}

#[test]
fn healing_needs_tools_that_run() {
    let project = recorded();
    let refused = run(&project, &["--heal", "apply", "--replay", "effects"], 3);
    assert!(refused.stderr.contains("`--heal apply` requires `--replay intent`"), "{}", refused.stderr);
}

/// A button that has neither the id nor the name of the recorded one.
const REPLACED: (&str, &str) = ("{id: pay, role: button, text: Pay,", "{id: purchase, role: button, text: Buy it,");

/// The ref of the element with this text on the first screen.
fn reference(project: &Project, text: &str) -> String {
    let shown =
        project.feed(&["shell", "-d", "android/sim-1"], "launchApp packageId=com.example.shop\nsnapshot\nquit\n");
    let line = shown.stdout.lines().find(|line| line.contains(text)).unwrap_or_else(|| panic!("{}", shown.stdout));
    let (_, rest) = line.split_once('[').expect("a ref");
    rest.split_once(']').expect("a ref").0.to_string()
}

fn replies(project: &Project, reference: &str) {
    let reply = format!(
        "replies:\n  - expect: {{contains: ['Recorded call: {{\"tap\":{{\"text\":\"Pay\",\"timeoutMs\":300}}}}', '<screen-'], tools: [useElement]}}\n    \
         reply:\n      calls:\n        - useElement: {{ref: {reference}, reason: it finishes the order}}\n"
    );
    project.write("heal.replies.yaml", reply);
}

const ASK: [&str; 4] = ["--heal", "apply", "--model", "scripted/heal.replies.yaml"];

#[test]
fn a_model_is_asked_if_the_recorded_properties_do_not_decide() {
    let project = recorded();
    changed(&project, &[REPLACED]);
    let alone = run(&project, &["--heal", "apply"], 1);
    assert!(alone.stdout.contains("Button \"Buy it\""), "it is only suggested: {}", alone.stdout);
    replies(&project, &reference(&project, "Buy it"));
    run(&project, &ASK, 0);
    let summary = project.last_run().summary();
    let heal = &summary["attempts"][0]["heals"][0];
    assert_eq!((&heal["result"], &heal["suggestions"][0]["isByModel"]), (&"healed".into(), &true.into()), "{heal:#}");
    assert_eq!(heal["suggestions"][0]["reason"], "chosen by the model: it finishes the order");
    assert_eq!(heal["suggestions"][0]["score"].as_u64(), None, "{heal:#}");
    let junit = project.last_run().text("junit.xml");
    assert!(junit.contains("(chosen by the model: it finishes the order)"), "{junit}");
    project.run(&["heal", "--write"]).exits(0);
    assert!(project.read("trails/buy.trail.yaml").contains("- tap: {id: purchase, timeoutMs: 300} # the big one\n"));
    run(&project, &["--model", "none"], 0);
    // A run may forbid it.
    let project = recorded();
    changed(&project, &[REPLACED]);
    replies(&project, &reference(&project, "Buy it"));
    run(&project, &[&ASK[..], &["--heal-without-model"]].concat(), 1);
    assert_eq!(project.last_run().summary()["attempts"][0]["heals"][0]["result"], "suggested");
}

#[test]
fn what_a_model_chooses_is_checked() {
    let project = recorded();
    changed(&project, &[REPLACED]);
    // A text cannot be pressed, a ref may not exist, and there may be no such element.
    for (choice, why) in [
        (reference(&project, "Total due"), "with which the same cannot be done"),
        ("e999".to_string(), "which is not on the screen"),
        ("none".to_string(), "the model chose no element"),
    ] {
        replies(&project, &choice);
        run(&project, &ASK, 1);
        let heal = &project.last_run().summary()["attempts"][0]["heals"][0];
        assert_eq!(heal["result"], "suggested", "{choice}: {heal:#}");
        assert!(heal["message"].as_str().unwrap_or_default().contains(why), "{choice}: {heal:#}");
    }
    // The step has to end as it was recorded.
    changed(&project, &[REPLACED, ("[{add: {count: 1}}, {goto: done}]", "{goto: saved}")]);
    replies(&project, &reference(&project, "Buy it"));
    let ran = run(&project, &ASK, 1);
    assert!(ran.stdout.contains("healing tried Button \"Buy it\" instead"), "{}", ran.stdout);
}

#[test]
fn a_model_may_not_choose_what_is_known_to_be_something_else() {
    for (text, line, why) in [
        ("Save for later", "text: Buy it,", "it was there when the trail was recorded, as another element"),
        ("Do not pay", "text: Do not pay,", "its name is \"Do not pay\", not \"Pay\""),
        ("Buy 1000", "text: Buy 1000,", "its name is \"Buy 1000\", not \"Pay\""),
        ("Buy it", "text: Buy it, enabledWhen: {count: 5},", "with which the same cannot be done"),
    ] {
        let project = recorded();
        changed(&project, &[("{id: pay, role: button, text: Pay,", &format!("{{id: purchase, role: button, {line}"))]);
        replies(&project, &reference(&project, text));
        run(&project, &ASK, 1);
        let heal = &project.last_run().summary()["attempts"][0]["heals"][0];
        assert_eq!(heal["result"], "suggested", "{text}: {heal:#}");
        assert!(heal["message"].as_str().unwrap_or_default().contains(why), "{text}: {heal:#}");
    }
}

#[test]
fn a_model_may_not_choose_what_is_in_another_dialog() {
    let project = recorded();
    changed(&project, &[REPLACED, ("text: Total due", "text: Close your account?")]);
    replies(&project, &reference(&project, "Buy it"));
    run(&project, &ASK, 1);
    let heal = &project.last_run().summary()["attempts"][0]["heals"][0];
    let why = "around it is \"Close your account?\", not \"Total due\"";
    assert!(heal["message"].as_str().unwrap_or_default().contains(why), "{heal:#}");
}

#[test]
fn what_a_model_chooses_is_only_suggested_if_nothing_is_recorded() {
    let project = recorded();
    std::fs::remove_file(project.root().join("trails/buy.effects.yaml")).expect("it was recorded");
    changed(&project, &[REPLACED]);
    replies(&project, &reference(&project, "Buy it"));
    run(&project, &ASK, 1);
    let heal = &project.last_run().summary()["attempts"][0]["heals"][0];
    assert_eq!(
        (&heal["result"], &heal["suggestions"][0]["isByModel"]),
        (&"suggested".into(), &true.into()),
        "{heal:#}"
    );
    assert_eq!(heal["message"], "nothing is recorded about the element");
}

/// Three buttons whose ids are their numbers.
const NUMBERED: &str = "\
app: {id: com.example.shop, name: Shop}
start: main
screens:
  main:
    title: Draft
    elements:
      - {role: heading, text: Your draft}
      - {id: btn-1, role: button, text: Archive, tap: {toast: Archived}}
      - {id: btn-2, role: button, text: Publish, tap: {toast: Published}}
      - {id: btn-3, role: button, text: Export, tap: {toast: Exported}}
";

#[test]
fn an_element_that_was_there_as_another_one_is_not_used_if_it_got_the_id() {
    let trail = TRAIL.replace("{text: Pay, ", "{text: Publish, ");
    let (trail, _) = trail.split_once("  - verify:").expect("a check");
    for name in ["Export", "Archive"] {
        let project = Project::empty()
            .with("trailblaze.yaml", "sim:\n  apps: [shop.app.yaml]\n")
            .with("shop.app.yaml", NUMBERED)
            .with("trails/buy.trail.yaml", trail);
        run(&project, &["--record"], 0);
        let lines = NUMBERED.lines().filter(|line| !line.contains("Publish"));
        let moved = |line: &str| match line.contains(name) {
            true => line.replace("btn-1", "btn-2").replace("btn-3", "btn-2"),
            false => line.to_string(),
        };
        project.write("shop.app.yaml", lines.map(moved).collect::<Vec<_>>().join("\n"));
        let ran = run(&project, &["--heal", "apply"], 1);
        assert!(!ran.stdout.contains("instead, it could be"), "it is no suggestion: {}", ran.stdout);
        let heal = &project.last_run().summary()["attempts"][0]["heals"][0];
        assert_eq!(heal["result"], "suggested", "{heal:#}");
        let why = format!("\"{name}\" [id=btn-2] has its id, but it was there when the trail was recorded");
        assert!(heal["message"].as_str().unwrap_or_default().contains(&why), "{heal:#}");
    }
}

#[test]
fn every_platform_heals_the_tools_that_its_devices_share() {
    let tools = TRAIL.replace(
        "    recording:\n      android:\n        - tap: {text: Pay, timeoutMs: 300} # the big one\n",
        "    tools: [{tap: {text: Pay, timeoutMs: 300}}]\n",
    );
    let project = Project::empty()
        .with("trailblaze.yaml", "sim:\n  apps: [shop.app.yaml]\n")
        .with("shop.app.yaml", APP)
        .with("trails/buy.trail.yaml", &tools);
    run(&project, &["--record", "--all-devices"], 0);
    assert_eq!(project.read("trails/buy.trail.yaml"), tools);
    changed(&project, &[("text: Pay,", "text: PAY…,")]);
    run(&project, &["--heal", "apply", "--all-devices"], 0);
    let counts = &project.last_run().summary()["counts"];
    assert_eq!((&counts["total"], &counts["healed"]), (&4.into(), &4.into()), "{counts:#}");
    project.run(&["heal", "--write"]).exits(0);
    assert_eq!(project.read("trails/buy.trail.yaml"), tools.replace("{text: Pay, ", "{id: pay, "));
    run(&project, &["--heal", "off", "--all-devices"], 0);
}

/// A form with two buttons. Neither its end nor a check tells what was pressed.
const FORM: &str = "\
app: {id: com.example.shop, name: Shop}
start: main
screens:
  main:
    title: Form
    elements:
      - {role: heading, text: Your draft}
      - {id: save, role: button, text: Save, tap: {goto: saved}}
      - {id: delete, role: button, text: Delete, tap: {goto: deleted}}
  saved:
    title: Done
    elements: [{role: heading, text: It was saved}, {text: You find it in your list}]
  deleted:
    title: Done
    elements: [{role: heading, text: It was deleted}, {text: You find it in the trash}]
";

/// The trail up to its first check, with another call.
fn trail_with(call: &str) -> String {
    let (trail, _) = TRAIL.split_once("  - verify:").expect("a check");
    trail.replace("tap: {text: Pay, timeoutMs: 300} # the big one", call)
}

fn recorded_form(call: &str) -> Project {
    let project = Project::empty()
        .with("trailblaze.yaml", "sim:\n  apps: [shop.app.yaml]\n")
        .with("shop.app.yaml", FORM)
        .with("trails/buy.trail.yaml", trail_with(call));
    run(&project, &["--record"], 0);
    project
}

/// The form after its two labels, and what they do, were swapped.
fn swapped() -> String {
    FORM.replace("id: save,", "id: other,").replace("id: delete,", "id: save,").replace("id: other,", "id: delete,")
}

#[test]
fn an_element_that_has_another_name_than_recorded_is_told() {
    let project = recorded_form("tap: {id: save, timeoutMs: 300}");
    let told = "Button \"Delete\" is not named \"Save\" any more, as when the trail was recorded";
    let same = run(&project, &["--strict=names"], 0);
    assert!(!same.stderr.contains("any more"), "{}", same.stderr);
    project.write("shop.app.yaml", swapped());
    let warned = run(&project, &[], 0);
    assert!(warned.stderr.contains(&format!("warning: android/sim-1: {told}")), "{}", warned.stderr);
    let strict = run(&project, &["--strict=tools,names"], 1);
    // How long it waited depends on the machine.
    let is_refused =
        strict.stdout.contains("could not tap id \"save\" within ") && strict.stdout.contains(&format!(" s: {told}"));
    assert!(is_refused, "{}", strict.stdout);
    assert!(
        strict.stdout.contains("instead, it could be:\n    1. `tap: {id: delete, timeoutMs: 300}`"),
        "{}",
        strict.stdout
    );
    assert!(!project.last_run().text("events.jsonl").contains("\"touched\""), "nothing was pressed");
    project.write("trailblaze.yaml", "strictNames: true\nsim:\n  apps: [shop.app.yaml]\n");
    run(&project, &["--heal", "off"], 1);
    // Case and punctuation do not change a name.
    project.write("shop.app.yaml", FORM.replace("text: Save,", "text: SAVE…,"));
    run(&project, &[], 0);
}

#[test]
fn healing_finds_the_element_that_has_the_recorded_name() {
    let project = recorded_form("tap: {id: save, timeoutMs: 300}");
    project.write("shop.app.yaml", swapped());
    run(&project, &["--heal", "apply"], 0);
    let heal = &project.last_run().summary()["attempts"][0]["heals"][0];
    assert_eq!(heal["suggestions"][0]["element"], "Button \"Save\"", "{heal:#}");
    project.run(&["heal", "--write"]).exits(0);
    run(&project, &["--strict=names"], 0);
    // If there is none, the call is made as it is written.
    let project = recorded_form("tap: {id: save, timeoutMs: 300}");
    project.write("shop.app.yaml", FORM.replace("text: Save,", "text: Save it,"));
    let ran = run(&project, &["--heal", "apply"], 0);
    assert!(ran.stderr.contains("Button \"Save it\" is not named \"Save\" any more"), "{}", ran.stderr);
    assert_eq!(project.last_run().summary()["counts"]["healed"], 0);
}

#[test]
fn strict_takes_a_list_and_alone_means_tools() {
    let project = recorded_form("tap: {id: save, timeoutMs: 300}");
    project.write("shop.app.yaml", swapped());
    run(&project, &["--strict"], 0);
    run(&project, &["--strict=results", "trails/buy.trail.yaml"], 0);
    run(&project, &["--strict", "trails/buy.trail.yaml"], 0);
    run(&project, &["--strict=names", "--strict=tools"], 1);
    let refused = run(&project, &["--strict=name"], 3);
    assert!(refused.stderr.contains("invalid value 'name'") && refused.stderr.contains("names"), "{}", refused.stderr);
}

#[test]
fn a_name_that_is_made_during_the_run_is_not_compared() {
    let project = Project::empty()
        .with("trailblaze.yaml", "sim:\n  apps: [shop.app.yaml]\n")
        .with("shop.app.yaml", FORM)
        .with("trails/buy.trail.yaml", trail_with("tap: {id: '{{button}}', timeoutMs: 300}"));
    run(&project, &["--memory", "button=save", "--record"], 0);
    let ran = run(&project, &["--memory", "button=delete", "--strict=names"], 0);
    assert!(!ran.stderr.contains("any more"), "{}", ran.stderr);
}

#[test]
fn what_an_older_version_recorded_replays_and_is_only_suggested() {
    let project = recorded();
    let kept = project.read("trails/buy.effects.yaml");
    let mut is_about = false;
    let is_left = |line: &&str| {
        is_about = line.trim() == "about:" || is_about && line.trim_start().starts_with('-');
        !is_about
    };
    let old: Vec<&str> = kept.lines().filter(is_left).collect();
    assert!(old.len() < kept.lines().count(), "{kept}");
    project.write("trails/buy.effects.yaml", format!("{}\n", old.join("\n")));
    run(&project, &["--heal", "apply"], 0);
    changed(&project, &[("text: Pay,", "text: PAY…,")]);
    let ran = run(&project, &["--heal", "apply"], 1);
    assert!(ran.stdout.contains("instead, it could be:\n    1. `tap: {id: pay, timeoutMs: 300}`"), "{}", ran.stdout);
    let heal = &project.last_run().summary()["attempts"][0]["heals"][0];
    let why = "it was recorded by an older version, which noted less about it; record the trail again";
    assert!(heal["message"].as_str().unwrap_or_default().contains(why), "{heal:#}");
}

#[test]
fn a_repair_that_nothing_would_show_to_be_wrong_is_only_suggested() {
    let quiet = FORM.replace("tap: {goto: saved}", "tap: {toast: Saved}");
    let project = Project::empty()
        .with("trailblaze.yaml", "sim:\n  apps: [shop.app.yaml]\n")
        .with("shop.app.yaml", &quiet)
        .with("trails/buy.trail.yaml", trail_with("tap: {id: save, timeoutMs: 300}"));
    run(&project, &["--record"], 0);
    let changed = quiet.replace("id: save,", "id: keep,");
    project.write("shop.app.yaml", &changed);
    run(&project, &["--heal", "apply"], 1);
    let heal = &project.last_run().summary()["attempts"][0]["heals"][0];
    assert!(heal["message"].as_str().unwrap_or_default().contains("no check follows"), "{heal:#}");
    // A check after it would show it.
    let check = "  - verify: It is a draft\n    tools: [{assertVisible: {text: Your draft, timeoutMs: 300}}]\n";
    project.write("trails/buy.trail.yaml", format!("{}{check}", trail_with("tap: {id: save, timeoutMs: 300}")));
    run(&project, &["--heal", "apply"], 0);
}

#[test]
fn a_suggestion_that_may_mean_something_else_is_written_if_it_is_asked_for() {
    let project = recorded();
    changed(&project, &[("text: Pay,", "text: Buy now,")]);
    run(&project, &["--heal", "apply"], 1);
    let nothing = project.run(&["heal", "--write"]).exits(0);
    assert_eq!(nothing.stdout, "");
    assert!(nothing.stderr.contains("`trailblaze heal --unclear` shows"), "{}", nothing.stderr);
    let shown = project.run(&["heal", "--unclear", "--write"]).exits(0);
    assert!(shown.stdout.starts_with("trails/buy.trail.yaml (suggested)\n"), "{}", shown.stdout);
    run(&project, &["--strict=names"], 0);
}
