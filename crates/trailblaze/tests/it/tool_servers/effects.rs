//! What custom tools did is kept beside a trail, is played without them, and is compared with what they do now.

use std::path::PathBuf;
use std::sync::LazyLock;

use crate::support::Project;
use crate::support::lab::{Lab, Runtime, parts};
use trailblaze_core::record::effects::{Effect, fold};
use trailblaze_core::yaml::{Problems, Source, loose, read};
use trailblaze_protocol::event::{CallOrigin, Event};
use trailblaze_protocol::ids::AttemptId;

/// A custom tool that calls another one and uses what that remembered.
const GREET: &str = "\
id: greetTwice
description: Greets somebody, and counts.
parameters:
  - {name: who, type: string, description: Who is greeted.}
tools:
  - keepName: {name: '{{who}}'}
  - tap: {id: name}
  - inputText: {text: '{{greeted}}'}
  - isVisible: {id: greeting}
  - assertVisible: {text: 'Hello, {{greeted}}'}
  - tap: {id: add}
";
const KEEP: &str = "\
id: keepName
description: Remembers a name.
parameters:
  - {name: name, type: string, description: The name.}
tools:
  - remember: {variable: greeted, value: 'dear {{name}}'}
";
const TRAIL: &str = "\
trail:
  - step: Start
    tools: [{launchApp: {packageId: com.example.counter}}]
  - step: Greet
    tools: [{greetTwice: {who: Ada}}]
  - verify: It counted
    tools: [{assertVisible: {text: 'Count: 1'}}]
";

fn greeting() -> Project {
    Project::counter()
        .with("trailblaze-config/tools/greetTwice.yaml", GREET)
        .with("trailblaze-config/tools/keepName.yaml", KEEP)
        .with("trails/a.trail.yaml", TRAIL)
}

const RUN: [&str; 3] = ["run", "--pictures", "off"];

fn run(project: &Project, args: &[&str], code: i32) -> crate::support::Ran {
    project.run(&[&RUN, args].concat()).exits(code)
}

/// What the custom calls of a run did, in order.
fn effects(run: &crate::support::RunFolder) -> Vec<Vec<Effect>> {
    let events = run.events();
    let attempts: Vec<AttemptId> = events
        .iter()
        .filter_map(|event| match event {
            Event::AttemptStarted { attempt, .. } => Some(attempt.clone()),
            _ => None,
        })
        .collect();
    let steps = attempts.iter().flat_map(|attempt| fold(attempt, &events));
    steps.flat_map(|step| step.recorded.into_iter().filter_map(|call| call.did)).collect()
}

#[test]
fn what_a_custom_tool_did_is_kept_beside_the_trail() {
    let project = greeting();
    let ran = run(&project, &["--record", "effects"], 0);
    assert!(ran.stderr.contains("saved the effects of 1 call in trails/a.effects.yaml\n"), "{}", ran.stderr);
    let kept = project.read("trails/a.effects.yaml");
    let source = Source::new("a.effects.yaml", kept.clone());
    let value = loose(&read(&source, &mut Problems::new(&source)).expect("it is YAML"));
    let schema = trailblaze::cli::schemas().into_iter().find(|(kind, _)| *kind == "effects").expect("a schema").1;
    assert!(jsonschema::validator_for(&schema).expect("a schema").is_valid(&value), "{kept}");
    let (_, effects) = kept.split_once("effects:\n").expect("effects");
    let (effects, _) = effects.split_once("healing:\n").expect("what healing needs");
    insta::assert_snapshot!(effects, @r"
    android:
      - call:
          greetTwice:
            who: Ada
        did:
          - remember:
              variable: greeted
              value: dear Ada
          - tap:
              id: name
          - inputText:
              text: '{{greeted}}'
          - assertVisible:
              text: 'Hello, {{greeted}}'
          - tap:
              id: add
    ");
    let (first, again) = (project.read("trails/a.trail.yaml"), kept.clone());
    run(&project, &["--record", "effects"], 0);
    assert_eq!((project.read("trails/a.trail.yaml"), project.read("trails/a.effects.yaml")), (first, again));
    let leftovers: Vec<_> = crate::support::files(&project.root().join("trails"));
    assert_eq!(leftovers.len(), 2, "nothing else is left: {leftovers:?}");
}

#[test]
fn record_alone_records_the_calls_and_takes_a_path() {
    let project = greeting();
    run(&project, &["--record", "trails/a.trail.yaml"], 0);
    assert_eq!(project.read("trails/a.trail.yaml"), TRAIL, "`tools:` say it already");
    assert!(!project.read("trails/a.effects.yaml").contains("effects:"), "the tools are pinned, and no more");
    run(&project, &["--record=calls", "trails/a.trail.yaml"], 0);
    let ran = run(&project, &["--record", "efects"], 3);
    assert!(ran.stderr.contains("efects"), "{}", ran.stderr);
}

#[test]
fn effects_are_played_and_leave_the_same_record() {
    let project = greeting();
    run(&project, &["--record", "effects"], 0);
    let recorded = effects(&project.last_run());
    assert_eq!(recorded.len(), 1);
    run(&project, &["--replay", "effects"], 0);
    let played = project.last_run();
    assert_eq!(effects(&played), recorded);
    let calls = played.calls();
    let greet = calls.iter().find(|call| call.tool == "greetTwice").expect("the call stands in the record");
    assert_eq!((&*greet.source, greet.is_custom), ("trails/a.effects.yaml", true));
    assert!(calls.iter().all(|call| call.tool != "keepName" && call.tool != "isVisible"), "only effects are played");
    assert!(calls.iter().filter(|call| call.origin == CallOrigin::Expansion).count() == 5, "beneath it");
}

#[test]
fn a_trail_without_effects_is_refused_before_it_starts() {
    let project = greeting();
    for mode in ["effects", "verify"] {
        let ran = run(&project, &["--replay", mode], 3);
        insta::allow_duplicates! { insta::assert_snapshot!(ran.refusal(), @r"
        exit 3
        error: no effects of `greetTwice` are recorded for android-phone
         --> trails/a.trail.yaml:5:14
          |
        5 |     tools: [{greetTwice: {who: Ada}}]
          |              ^^^^^^^^^^
          |
          = help: record them with `trailblaze run --record effects`

        error: 1 problem
        "); }
        project.last_run().assert_refused();
    }
    run(&project, &["--record", "--replay", "effects"], 3);
}

#[test]
fn effects_of_another_call_are_out_of_date() {
    let project = greeting();
    run(&project, &["--record", "effects"], 0);
    let recorded = project.read("trails/a.trail.yaml");
    project.write("trails/a.trail.yaml", recorded.replace("who: Ada", "who: Grace"));
    insta::assert_snapshot!(run(&project, &["--replay", "effects"], 3).refusal(), @r"
    exit 3
    error: the effects of `greetTwice` are out of date: the trail's call has changed since they were recorded
     --> trails/a.trail.yaml:5:14
      |
    5 |     tools: [{greetTwice: {who: Grace}}]
      |              ^^^^^^^^^^
      |
      = help: record them with `trailblaze run --record effects`

    error: 1 problem
    ");
    project.last_run().assert_refused();
    project.write(
        "trails/a.trail.yaml",
        recorded.replace("tools: [{greetTwice: {who: Ada}}]", "tools: [{tap: {id: add}}]"),
    );
    insta::assert_snapshot!(run(&project, &["--replay", "effects"], 3).refusal(), @r"
    exit 3
    error: the effects are out of date: the trail no longer calls `greetTwice` here
      --> trails/a.effects.yaml:31:9
       |
    31 |         greetTwice:
       |         ^^^^^^^^^^
       |
       = help: record them with `trailblaze run --record effects`

    error: 1 problem
    ");
    // An additional step does not affect the existing ones.
    project.write("trails/a.trail.yaml", format!("{recorded}  - step: Count on\n    tools: [{{tap: {{id: add}}}}]\n"));
    run(&project, &["--replay", "effects"], 0);
}

#[test]
fn effects_of_a_tool_that_changed_are_out_of_date() {
    let project = greeting();
    run(&project, &["--record", "effects"], 0);
    project.write("trailblaze-config/tools/keepName.yaml", KEEP.replace("dear", "good"));
    let ran = run(&project, &["--replay", "effects"], 3);
    assert!(ran.stderr.contains("the tool `keepName` changed since they were recorded"), "{}", ran.stderr);
    // Recording only the calls removes the old effects, because the tool has changed.
    run(&project, &["--record"], 0);
    assert!(!project.read("trails/a.effects.yaml").contains("effects:"));
}

#[test]
fn effects_of_other_arguments_are_out_of_date() {
    let trail = format!("config: {{args: {{who: {{type: string, default: Ada}}}}}}\n{TRAIL}")
        .replace("who: Ada}}]", "who: '{{args.who}}'}}]");
    let project = greeting().with("trails/a.trail.yaml", trail);
    run(&project, &["--record", "effects"], 0);
    assert!(project.read("trails/a.effects.yaml").contains("args:\n  android:\n    who: Ada\n"));
    run(&project, &["--replay", "effects"], 0);
    run(&project, &["--replay", "effects", "--arg", "who=Ada"], 0);
    let refused = run(&project, &["--replay", "effects", "--arg", "who=Zoe"], 3);
    let expected = "the effects were recorded with other arguments: {who: Ada}; the trail now has {who: Zoe}";
    assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    run(&project, &["--arg", "who=Zoe"], 0);
}

#[test]
fn what_a_server_loads_from_beside_it_is_part_of_what_it_is() {
    let Some(lab) = acme() else { return };
    lab.project.write("tools/amounts.py", "FEE = 1\n");
    lab.project.write("tools/accounts.py", format!("import amounts\n{}", lab.project.read("tools/accounts.py")));
    let trail = ["-d", "android/sim-1", "trails/pay-a-friend.trail.yaml"];
    let replay = [&["--replay", "effects"], &trail[..]].concat();
    lab.run(&[&["--record", "effects"], &trail[..]].concat(), 0);
    lab.run(&replay, 0);
    lab.project.write("tools/amounts.py", "FEE = 2\n");
    let refused = lab.go(&[&["run"], &replay[..]].concat()).exits(3);
    assert!(refused.stderr.contains("the tool `acme_signInAs` changed since they were recorded"), "{}", refused.stderr);
    lab.project.write("tools/amounts.py", "FEE = 1\n");
    // Files that it does not import are not part of it, nor are installed packages.
    lab.project.write("tools/test_amounts.py", "pass\n");
    lab.project.write("tools/unrelated.py", "pass\n");
    lab.project.write("tools/node_modules/amounts/index.js", "1\n");
    lab.run(&replay, 0);
}

#[test]
fn verify_passes_what_did_the_same_and_shows_every_difference() {
    let project = greeting();
    run(&project, &["--record", "effects"], 0);
    run(&project, &["--replay", "verify"], 0);
    project.write("trailblaze-config/tools/keepName.yaml", KEEP.replace("dear", "good"));
    project.write(
        "trailblaze-config/tools/greetTwice.yaml",
        GREET.replace("- tap: {id: name}", "- tap: {text: Your name}"),
    );
    let ran = run(&project, &["--replay", "verify"], 1);
    let (_, told) = ran.stdout.split_once("trails/a.trail.yaml)\n").expect("a failure");
    insta::assert_snapshot!(ran.normal(told.split("\n\n").next().unwrap()), @r"
    step 2: `greetTwice` behaved differently from its recording:
      - remember: {variable: greeted, value: dear Ada}
      - tap: {id: name}
      + remember: {variable: greeted, value: good Ada}
      + tap: {text: Your name}
        inputText: {text: '{{greeted}}'}
        assertVisible: {text: 'Hello, {{greeted}}'}
        …
    ");
    let noted = project.last_run().events().into_iter().any(
        |event| matches!(&event, Event::Noted { about: Some(_), text, .. } if text.starts_with("`greetTwice` behaved differently")),
    );
    assert!(noted, "it is told at the call");
}

#[test]
fn a_tool_that_changed_is_shown_with_what_changed() {
    let project = greeting();
    run(&project, &["--record"], 0);
    project.write(
        "trailblaze-config/tools/keepName.yaml",
        KEEP.replace("Remembers a name", "Keeps a name").replace("description: The name.", "description: Whose."),
    );
    let ran = run(&project, &[], 0);
    insta::assert_snapshot!(ran.stderr.split("✓").next().unwrap(), @r"
    warning: the tool `keepName` changed since this was recorded:
               digest: '41c7bda6fc8d1b0427db975cfaaee024'
             - description: Remembers a name.
             + description: Keeps a name.
               schema:
                 type: object
               …
                   name:
                     type: string
             -       description: The name.
             +       description: Whose.
                 additionalProperties: false
                 required:
               …
     --> trails/a.trail.yaml:5:14
      |
    5 |     tools: [{greetTwice: {who: Ada}}]
      |              ^^^^^^^^^^
      |
      = help: if the trail still does what it should, `trailblaze run trails/a.trail.yaml --record` records it again
    ");
    let checked = project.run(&["check"]).exits(0);
    assert!(checked.stderr.contains("Keeps a name"), "{}", checked.stderr);
    project.run(&["check", "--strict"]).exits(3);
    run(&project, &["--strict"], 3);
    run(&project, &["--record"], 0);
    run(&project, &["--strict"], 0);
}

#[test]
fn devices_keep_their_effects_apart_and_at_the_same_time() {
    let project = greeting();
    let record = |device: &str| project.start(&[&RUN, &["--record", "effects", "-d", device][..]].concat());
    let both = [record("android/sim-1"), record("ios/sim-1")];
    both.into_iter().for_each(|running| drop(project.ended(running).exits(0)));
    for device in ["android/sim-1", "ios/sim-1"] {
        run(&project, &["--replay", "effects", "-d", device], 0);
    }
    let ran = run(&project, &["--replay", "effects", "-d", "desktop/sim-1"], 3);
    assert!(ran.stderr.contains("no effects of `greetTwice` are recorded for desktop"), "{}", ran.stderr);
}

#[test]
fn a_file_that_is_no_effects_file_is_an_error_with_its_place() {
    let project = greeting().with("trails/a.effects.yaml", "effects:\n  android:\n    - calls: {}\n");
    let before = project.read("trails/a.effects.yaml");
    let ran = run(&project, &["--record", "effects"], 3);
    assert!(ran.stderr.contains("trails/a.effects.yaml:3:7"), "{}", ran.stderr);
    assert!(ran.stderr.contains("remove the file"), "{}", ran.stderr);
    assert_eq!(project.read("trails/a.effects.yaml"), before);
}

/// A copy of `examples/acme-tools` whose servers can start.
fn acme() -> Option<Lab> {
    let lab = Lab::under(Runtime::Bun)?;
    let path = format!("{}:{}", lab.path("bin"), parts()?.join("python/bin").display());
    lab.example("acme-tools").env("PATH", path);
    Some(lab)
}

/// The trails of `examples/acme-tools` with the files beside them, and the effects of a run that recorded them.
struct Recorded {
    trails: Vec<(String, String)>,
    effects: Vec<Vec<Effect>>,
}

/// A copy of `examples/acme-tools` whose effects are recorded, which is done once.
fn recorded_acme() -> Option<(Lab, &'static [Vec<Effect>])> {
    static RECORDED: LazyLock<Option<Recorded>> = LazyLock::new(|| {
        let lab = acme()?;
        let effects = effects(&lab.run(&["--record", "effects"], 0).run);
        let folder = lab.project.root().join("trails");
        let name = |path: &PathBuf| path.strip_prefix(lab.project.root()).expect("a file of the project").to_path_buf();
        let read = |path: PathBuf| (name(&path).display().to_string(), std::fs::read_to_string(&path).expect("text"));
        Some(Recorded { trails: crate::support::files(&folder).into_iter().map(read).collect(), effects })
    });
    let Recorded { trails, effects } = RECORDED.as_ref()?;
    let lab = acme()?;
    trails.iter().for_each(|(path, text)| lab.project.write(path, text));
    Some((lab, effects))
}

#[test]
fn what_servers_did_is_played_where_they_cannot_start() {
    let Some((lab, recorded)) = recorded_acme() else { return };
    let kept = lab.project.read("trails/pay-a-friend.effects.yaml");
    assert!(kept.contains("    - call:\n        acme_sendMoney:\n"), "{kept}");
    // Neither Node nor Bun nor Python is on the PATH, and a server's program does not exist.
    lab.env("PATH", lab.path("nowhere"));
    let config = lab.project.read("trailblaze.yaml").replace("command: python3", "command: no-such-program");
    lab.project.write("trailblaze.yaml", config);
    lab.run(&[], 2);
    let played = lab.run(&["--replay", "effects"], 0);
    assert_eq!(played.run.summary()["counts"]["passed"], 6);
    let is_server = |event: &Event| matches!(event, Event::ServerStarted { .. } | Event::ServerEnded { .. });
    assert!(!played.run.events().iter().any(is_server), "no server is started");
    assert!(!played.run.has("servers"));
    let sort = |mut effects: Vec<Vec<Effect>>| {
        effects.sort_by_key(|effects| format!("{effects:?}"));
        effects
    };
    assert_eq!(sort(effects(&played.run)), sort(recorded.to_vec()));
    // Without its effects, a trail is refused with the reason.
    std::fs::remove_file(lab.project.root().join("trails/pay-a-friend.effects.yaml")).expect("it was there");
    let refused = lab.go(&["run", "--replay", "effects"]).exits(3);
    assert!(refused.stderr.contains("no effects of `acme_sendMoney` are recorded for"), "{}", refused.stderr);
}

#[test]
fn what_servers_do_is_compared_with_what_they_did() {
    let Some((lab, _)) = recorded_acme() else { return };
    lab.run(&["--replay", "verify"], 0);
    let tools = lab.project.read("tools/payments.ts");
    let other = tools.replace("description: 'Fail unless", "description: 'Fails unless").replace(
        "await tap({ id: 'review' });",
        "await ctx.assertVisible({ id: 'review' });\n    await tap({ id: 'review' });",
    );
    assert_ne!(tools, other);
    lab.with("tools/payments.ts", &other);
    let trail = ["-d", "android/sim-1", "trails/pay-a-friend.trail.yaml"];
    let differs = lab.run(&[&["--replay", "verify"], &trail[..]].concat(), 1).ran;
    assert!(differs.stdout.contains("`acme_sendMoney` behaved differently from its recording:"), "{}", differs.stdout);
    assert!(differs.stdout.contains("+ assertVisible: {id: review}"), "{}", differs.stdout);
    assert!(
        differs.stderr.contains("+ description: Fails unless the home screen shows this balance."),
        "{}",
        differs.stderr
    );
    lab.run(&[&["--strict"], &trail[..]].concat(), 3);
    // A change of the file that the entry names is known without starting it.
    lab.with("tools/wallet.ts", "throw new Error('never started');\n");
    let stale = lab.go(&["run", "--replay", "effects"]).exits(3);
    assert!(stale.stderr.contains("the tool `acme_sendMoney` changed since they were recorded"), "{}", stale.stderr);
}

const CANARY: &str = "canary-7d20c4";

#[test]
fn a_secret_that_a_server_typed_is_kept_by_its_name_and_typed_again() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab
        .fixture("calls.ts")
        .configured("mcpServers: [{name: calls, script: tools/calls.ts, secrets: [PIN]}]\n")
        .env("PIN", CANARY)
        .calls(&[
            "launchApp: {packageId: com.example.counter}",
            "call_type: {text: '{{PIN}}'}",
            "assertVisible: {id: greeting, expectedText: 'Hello, {{PIN}}'}",
        ]);
    lab.run(&["--secret", "PIN", "--record", "effects"], 0);
    let kept = lab.project.read("trails/a.effects.yaml");
    assert!(kept.contains("        - inputText:\n            text: '{{PIN}}'\n"), "{kept}");
    std::fs::remove_file(lab.path("bin/bun")).expect("it was there");
    lab.run(&["--secret", "PIN", "--replay", "effects"], 0);
    for file in ["logs", "trails"].iter().flat_map(|folder| crate::support::files(&lab.project.root().join(folder))) {
        let bytes = std::fs::read(&file).expect("a file");
        assert!(!bytes.windows(CANARY.len()).any(|part| part == CANARY.as_bytes()), "{}", file.display());
    }
}
