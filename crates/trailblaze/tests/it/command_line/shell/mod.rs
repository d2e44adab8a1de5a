//! `trailblaze shell`, fed from standard input: from a first look to a trail that runs elsewhere.

mod saving;
mod terminal;

use crate::support::Project;
use serde_json::{Value, json};
use trailblaze_protocol::event::CallOrigin;

const COUNTER: &[&str] = &["shell", "-d", "android/sim-1"];

/// The ref of the first line of a snapshot that holds these words.
fn reference(snapshot: &str, words: &str) -> String {
    let line = snapshot.lines().find(|line| line.starts_with('[') && line.contains(words));
    let line = line.unwrap_or_else(|| panic!("no line with `{words}` in\n{snapshot}"));
    line[1..line.find(']').expect("a ref ends")].to_string()
}

#[test]
fn an_app_can_be_started_first() {
    let project = Project::counter();
    let launched: Vec<&str> = [COUNTER, &["--launch", "com.example.counter"]].concat();
    project.feed(&launched, "assertVisible text='Count: 0'\n").exits(0);
    let unknown: Vec<&str> = [COUNTER, &["--launch", "com.example.none"]].concat();
    let refused = project.feed(&unknown, "assertVisible text='Count: 0'\n").exits(1);
    assert!(refused.stderr.contains("com.example.none"), "{}", refused.stderr);
}

#[test]
fn what_was_explored_on_one_phone_runs_on_others() {
    let project = Project::wallet();
    let shell: &[&str] = &["shell", "-d", "android/sim-1", "--memory", "pin=1234"];
    let open = "step \"Open the wallet\"\nlaunchApp packageId='{{target.appId}}'\n";
    let seen = project.feed(shell, &format!("{open}snapshot\n")).exits(0).stdout;
    let (email, pin) = (reference(&seen, "Email"), reference(&seen, "PIN"));

    // Whatever was tapped by its ref on one platform must be found on the other.
    let lines = format!(
        "{open}snapshot\n\
         step \"Sign in\"\ntap ref={email}\ninputText text=ada@example.com\n\
         tap ref={pin}\ninputText text=1234\ntap id=submit\n\
         step \"Decline\"\ntap text=\"Not now\"\n\
         verify \"There is money\"\nassertVisible id=balance expectedText=€120.00\n\
         save explored.trail.yaml\n"
    );
    let ran = project.feed(shell, &lines).exits(0);
    assert!(ran.stdout.ends_with("saved a trailhead and 3 steps in explored.trail.yaml\n"), "{}", ran.stdout);
    insta::assert_snapshot!(project.read("explored.trail.yaml"), @"
    # yaml-language-server: $schema=.trailblaze/schemas/trail.schema.json
    config:
      id: explored
      title: Explored
      target: wallet
    trailhead:
      step: Open the wallet
      tools:
        - launchApp:
            packageId: '{{target.appId}}'
    trail:
      - step: Sign in
        tools:
          - tap:
              id: email
          - inputText:
              text: ada@example.com
          - tap:
              id: pin
          - inputText:
              text: '1234'
          - tap:
              id: submit
      - step: Decline
        tools:
          - tap:
              text: Not now
      - verify: There is money
        tools:
          - assertVisible:
              id: balance
              expectedText: '€120.00'
    ");
    let summary =
        project.run(&["run", "explored.trail.yaml", "-d", "android/sim-2,ios/sim-1", "--json"]).exits(0).json();
    assert_eq!(summary["counts"]["passed"], 2);
    project.last_run().assert_calls_have_parents();
}

#[test]
fn a_shell_leaves_a_folder_like_any_run() {
    let project = Project::counter();
    let ran = project.feed(COUNTER, "launchApp packageId=com.example.counter\nsnapshot\ntap id=add\n").exits(0);
    insta::assert_snapshot!(ran.stdout, @r#"
    done
    ### Screen
    App: com.example.counter

    [g709] "Counter" [heading]
    [l31] "Count: 0" [id=count] [heading]
    [d454] Button "Add one" [id=add]
    [f271] EditText "Your name" [id=name]
    [a998] Button "More" [id=more]
    tap on Button "Add one"
    "#);
    let run = project.last_run();
    run.assert_finished(0);
    run.assert_calls_have_parents();
    assert!(ran.stderr.contains("Report: "), "{}", ran.stderr);
}

#[test]
fn every_line_is_answered_with_a_line_of_json() {
    let project = Project::counter();
    let lines = "step \"Open it\"\nlaunchApp packageId=com.example.counter\n\n# a remark\nisVisible text=More\n\
                 tap text=Nowhere timeoutMs=10\nfoo\nmemory\nquit\nsnapshot\n";
    let ran = project.feed(&["shell", "-d", "android/sim-1", "--json"], lines).exits(3);
    let answers = ran.json_lines();
    let ok: Vec<&Value> = answers.iter().map(|answer| &answer["ok"]).collect();
    assert_eq!(ok, [true, true, true, false, false, true]);
    assert_eq!(answers[0], json!({"ok": true, "answer": {"step": 1, "text": "Open it"}}));
    assert_eq!(answers[2]["answer"]["structured"], true);
    assert_eq!(answers[3]["code"], 1);
    assert_eq!(answers[4]["code"], 3);
}

#[test]
fn a_bad_line_is_explained_and_the_shell_goes_on() {
    let project = Project::counter();
    let lines = "foo\ntapp id=add\ntap Add\ntap \"Add\ntap nonsense=1\ntap id=add index=many\ntap id=a id=b\ntool\n\
                 step\nsnapshot --wide\nsave\nsave a b\ntap ref=zzz\nisVisible text=Counter\n";
    let ran = project.feed(COUNTER, lines).exits(3);
    assert_eq!(ran.stdout, "true\n", "the last line is still answered");
    insta::assert_snapshot!(ran.normal(&ran.stderr), @r#"
    error: unknown tool `foo`; `tools` lists the tools
    error: unknown tool `tapp`; did you mean `tap`?
    error: expected an argument as name=value, got `Add`
    error: a quote is not closed, or the line ends with a backslash
    error: `tap`: unknown argument `nonsense`; expected one of: ref, text, id, index, x, y, longPress, timeoutMs, reasoning
    error: `index` must be a whole number, got `many`
    error: `id` is given twice
    error: `tool` needs a name: tool tap text=Pay
    error: `step` needs text: step "Pay Ada"
    error: `snapshot` does not take `--wide`; it takes --bounds, --offscreen, --covered, --all, --within REF, --depth N, --find TEXT, --changes, --tree, --screenshot FILE and --marks
    error: `save` needs one file: save pay.trail.yaml
    error: `save` needs one file: save pay.trail.yaml
    error: unknown ref `zzz`: no snapshot has shown it; take a snapshot and use a ref from it
    Report: [project]/logs/[run]/report.html
    "#);
    project.last_run().assert_finished(3);
}

#[test]
fn a_ref_of_an_earlier_screen_is_stale() {
    let project = Project::counter();
    let open = "launchApp packageId=com.example.counter\nsnapshot\n";
    let seen = project.feed(COUNTER, open).exits(0).stdout;
    let add = reference(&seen, "Add one");
    let ran = project.feed(COUNTER, &format!("{open}tap id=more\nassertVisible id=motto\ntap ref={add}\n")).exits(1);
    assert_eq!(
        ran.stderr.lines().next(),
        Some(format!("error: ref {add} is no longer on the screen; take a new snapshot").as_str())
    );
}

#[test]
fn saving_says_what_may_depend_on_a_call_that_failed_halfway() {
    let tool = "id: addAndFail\ndescription: Adds and fails.\nparameters: []\ntools:\n  - tap: {id: add}\n  \
                - assertVisible: {text: Nowhere, timeoutMs: 0}\n";
    let project = Project::counter().with("trailblaze-config/tools/addAndFail.yaml", tool);
    let start = "launchApp packageId=com.example.counter\nstep \"Add\"\naddAndFail\n";
    let warning = "step \"Add\": `addAndFail` failed after it had called `tap`, and was not saved; what follows may depend on \
                   what it did";
    let ran = project.feed(COUNTER, &format!("{start}tap id=add\nsave a.trail.yaml\n")).exits(1);
    assert!(ran.stdout.contains(warning), "{}", ran.stdout);
    // Nothing follows.
    let ran = project.feed(COUNTER, &format!("{start}save b.trail.yaml\n")).exits(1);
    assert!(!ran.stdout.contains("may depend"), "{}", ran.stdout);
}

#[test]
fn steps_are_kept_in_order_without_failures_and_questions() {
    let project = Project::counter();
    let lines = "launchApp packageId=com.example.counter\n\
                 step \"Add: one, 'then' more\"\ntap id=nowhere timeoutMs=10\ntap nonsense=1\ntap text=Nowhere index=0 timeoutMs=10\ntap id=add\nisVisible text=More\ntap id=add\n\
                 step \"Nothing comes of this\"\nhasText text=Count\n\
                 verify \"It counted\"\nassertVisible text='Count: 9' timeoutMs=10\nassertVisible text='Count: 2'\nsave a.trail.yaml\n";
    let ran = project.feed(COUNTER, lines).exits(3);
    let left_out = "step \"Nothing comes of this\" was left out: it has no passing call that can be replayed\n";
    assert!(ran.stdout.ends_with(left_out), "{}", ran.stdout);
    insta::assert_snapshot!(project.read("a.trail.yaml"), @"
    # yaml-language-server: $schema=.trailblaze/schemas/trail.schema.json
    config:
      id: a
      title: A
    trailhead:
      step: Start the app
      tools:
        - launchApp:
            packageId: com.example.counter
    trail:
      - step: 'Add: one, ''then'' more'
        tools:
          - tap:
              id: add
          - tap:
              id: add
      - verify: It counted
        tools:
          - assertVisible:
              text: 'Count: 2'
    ");
    project.run(&["run", "a.trail.yaml", "-d", "desktop/sim-1"]).exits(0);
}

#[test]
fn a_delegating_tool_is_kept_as_what_it_delegated() {
    let project = Project::counter();
    let open = "launchApp packageId=com.example.counter\nsnapshot\n";
    let add = reference(&project.feed(COUNTER, open).exits(0).stdout, "Add one");
    project.feed(COUNTER, &format!("{open}tap ref={add}\nsave a.trail.yaml\n")).exits(0);
    let saved = project.read("a.trail.yaml");
    assert!(!saved.contains("ref") && saved.contains("add"), "{saved}");
    let run = project.last_run();
    let calls = run.calls();
    let delegates: Vec<_> = calls.iter().filter(|call| call.origin == CallOrigin::Delegate).collect();
    let [delegate] = delegates.as_slice() else { panic!("{delegates:?}") };
    assert_eq!((delegate.tool.as_str(), &delegate.args["id"]), ("tap", &json!("add")));
}

#[test]
fn a_shell_is_on_one_known_device_with_a_known_target() {
    let project = Project::wallet();
    insta::assert_snapshot!(project.feed(&["shell"], "").refusal(), @"
    exit 3
    error: `trailblaze shell` uses one device
    hint: choose one, such as `-d android/sim-1`
    ");
    insta::assert_snapshot!(project.feed(&["shell", "-d", "ios/sim-0"], "").refusal(), @"
    exit 3
    error: there is no device `ios/sim-0`; there are ios/sim-1, ios/sim-2 and so on
    hint: `trailblaze device list` lists the devices
    ");
    insta::assert_snapshot!(project.feed(&["shell", "-d", "ios/sim-1", "--target", "walet"], "").refusal(), @"
    exit 3
    error: unknown target `walet`
    hint: did you mean `wallet`?
    ");
    assert!(project.runs().is_empty(), "nothing ran");
}

#[test]
fn tools_are_read_anew_while_the_shell_goes_on() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;

    let project = Project::counter();
    let tool = |wait: &str| {
        format!("id: later\ndescription: Waits.\nparameters: []\ntools:\n  - wait: {{timeToWaitInSeconds: {wait}}}\n")
    };
    let mut command = project.command(&["shell", "-d", "android/sim-1", "--json"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut say = |line: &str| -> Value {
        writeln!(input, "{line}").unwrap();
        serde_json::from_str(&output.next().unwrap().unwrap()).unwrap()
    };
    assert_eq!(say("reloadTools")["answer"]["structured"]["added"], json!([]));
    project.write("trailblaze-config/tools/later.yaml", tool("0.01"));
    assert_eq!(say("later")["ok"], json!(false));
    assert_eq!(say("reloadTools")["answer"]["structured"]["added"], json!(["later"]));
    assert_eq!(say("later")["answer"]["text"], json!("waited 0.01 s"));
    // A broken file changes nothing: the tools stay as they were.
    project.write("trailblaze-config/tools/later.yaml", "id: [\n");
    let refused = say("reloadTools");
    assert!(refused["error"].as_str().unwrap().contains("trailblaze-config/tools/later.yaml:2:1"), "{refused}");
    assert_eq!(say("later")["ok"], json!(true));
    std::fs::remove_file(project.root().join("trailblaze-config/tools/later.yaml")).unwrap();
    assert_eq!(say("reloadTools")["answer"]["structured"]["removed"], json!(["later"]));
    drop(input);
    assert!(child.wait().unwrap().code().is_some());
}
