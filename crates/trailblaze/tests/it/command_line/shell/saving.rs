//! What is kept of a session: in a new trail, in one that exists, and in the run folder.

use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};

use crate::support::{Project, Running, parcels, wait_until};

const COUNTER: &[&str] = &["shell", "-d", "android/sim-1"];
const LAUNCH: &str = "launchApp packageId=com.example.counter";

#[test]
fn a_step_that_cannot_be_replayed_is_saved_as_one_that_needs_a_model() {
    let judge = "id: judge\ndescription: Judges.\nisRecordable: false\nparameters: []\ntools:\n  - tap: {id: add}\n";
    let project = Project::counter().with("trailblaze-config/tools/judge.yaml", judge);
    let lines = format!(
        "{LAUNCH}\nverify \"The colours match\"\njudge\nstep \"Add and judge\"\ntap id=add\njudge\nsave trails/a.trail.yaml\n"
    );
    let ran = project.feed(COUNTER, &lines).exits(0);
    for step in ["The colours match", "Add and judge"] {
        let remark = format!("step \"{step}\" needs a model: judge cannot be replayed, so only its text was saved");
        assert!(ran.stdout.contains(&remark), "{}", ran.stdout);
    }
    insta::assert_snapshot!(project.read("trails/a.trail.yaml"), @r"
    # yaml-language-server: $schema=../.trailblaze/schemas/trail.schema.json
    config:
      id: a
      title: A
    trailhead:
      step: Start the app
      tools:
        - launchApp:
            packageId: com.example.counter
    trail:
      - verify: The colours match
      - step: Add and judge
    ");
    let refused = project.run(&["run", "-d", "android/sim-1"]).exits(3);
    assert_eq!(refused.stderr.matches("the step needs a model").count(), 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("trails/a.trail.yaml:11:13"), "{}", refused.stderr);
}

#[test]
fn the_app_of_a_target_is_saved_as_that_of_the_target() {
    let target = "id: counter\nplatforms:\n  android:\n    app_ids: [com.example.counter]\n";
    let project = Project::counter().with("trailblaze-config/targets/counter.yaml", target);
    let shell = [COUNTER, &["--target", "counter"]].concat();
    project.feed(&shell, &format!("{LAUNCH}\nstep Add\ntap id=add\nsave trails/a.trail.yaml\n")).exits(0);
    let saved = project.read("trails/a.trail.yaml");
    assert!(saved.contains("packageId: '{{target.appId}}'") && saved.contains("target: counter"), "{saved}");
    project.run(&["run", "-d", "android/sim-1"]).exits(0);
}

#[test]
fn arguments_of_any_shape_run_as_they_were_saved() {
    let project = parcels();
    let lines = "step \"Store it\"\n\
                 parcel_store data='{\"n\": 2, \"b\": true, \"s\": \"2\", \"deep\": [{\"f\": 1.5}, null, \"no\"]}' any=5 \
                 count=7 point='{\"x\": 3, \"label\": \"4\"}' tags='[\"1\", \"two\"]'\n\
                 parcel_store any='\"5\"' count={{n}}\n\
                 save trails/a.trail.yaml\n";
    let shell = ["shell", "-d", "android/sim-1", "--memory", "n=7"];
    let stored = |texts: &str| -> Vec<Value> {
        texts.lines().filter(|line| line.starts_with('{')).map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let explored = stored(&project.feed(&shell, lines).exits(0).stdout);
    let expected = json!({
        "data": {"n": 2, "b": true, "s": "2", "deep": [{"f": 1.5}, null, "no"]}, "any": 5, "count": 7,
        "point": {"x": 3, "label": "4"}, "tags": ["1", "two"],
    });
    assert_eq!(explored, [expected, json!({"any": "5", "count": 7})]);

    project.run(&["run", "-d", "android/sim-1", "--memory", "n=7"]).exits(0);
    let calls = project.last_run().calls();
    let replayed: Vec<Value> = calls.iter().map(|call| json!(call.args)).collect();
    assert_eq!(replayed[0], explored[0]);
    assert_eq!(replayed[1], json!({"any": "5", "count": "{{n}}"}), "templates stay templates");
}

#[test]
fn a_list_that_is_not_json_is_answered_with_an_example() {
    let project = parcels();
    let ran = project.feed(COUNTER, "parcel_store tags=a,b\nparcel_store count=many\n").exits(3);
    let expected = r#"error: `tags` must be a list, written as JSON: tags='["one", "two"]'"#;
    assert!(ran.stderr.starts_with(expected), "{}", ran.stderr);
    assert!(ran.stderr.contains("error: `count` must be a whole number, got `many`"), "{}", ran.stderr);
    let ran = project.run(&["tool", "parcel_store", "tags=a,b", "-d", "android/sim-1"]).exits(3);
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
}

const EXISTING: &str = "\
# Counts, in two ways.
config: {id: mine, title: 'Mine'}
trail:
  - step: Open it # by hand
    tools: [{launchApp: {packageId: com.example.counter}}]
  # Twice would be too much.
  - step: Count
    recording:
      ios:
        - tap: {text: Add one}
      android: # slow
        - wait: {timeToWaitInSeconds: 1}
";

#[test]
fn a_trail_that_exists_is_changed_only_if_that_is_said() {
    let project = Project::counter().with("mine.trail.yaml", EXISTING);
    let ran = project.feed(COUNTER, &format!("{LAUNCH}\nsave mine.trail.yaml\n")).exits(3);
    assert!(ran.stderr.contains("mine.trail.yaml exists; `--append` adds"), "{}", ran.stderr);
    assert_eq!(project.read("mine.trail.yaml"), EXISTING);
}

#[test]
fn a_file_that_is_not_a_trail_is_never_overwritten() {
    let config = "target: counter\n";
    for (file, text) in [("notes.txt", "precious\n"), ("data.yaml", "a: 1\n"), ("other.yaml", config)] {
        let project = Project::counter().with(file, text);
        for how in ["--append", "--force"] {
            let ran = project.feed(COUNTER, &format!("{LAUNCH}\nsave {file} {how}\n")).exits(3);
            assert!(ran.stderr.contains(&format!("{file} was not changed")), "{}", ran.stderr);
            assert_eq!(project.read(file), text);
        }
    }
}

#[test]
fn a_new_trail_that_no_command_would_find_is_saved_with_a_warning() {
    let project = Project::counter();
    let ran = project.feed(COUNTER, &format!("{LAUNCH}\nsave trails/new\n")).exits(0);
    assert!(ran.stdout.contains("only files named trail.yaml or *.trail.yaml are found"), "{}", ran.stdout);
}

#[test]
fn steps_are_appended_to_a_trail_that_exists() {
    let project = Project::counter().with("mine.trail.yaml", EXISTING);
    let lines = format!(
        "step \"Open it\"\n{LAUNCH}\nstep \"Count\"\ntap id=add\nverify \"It counted\"\nassertVisible text='Count: 1'\n\
         save mine.trail.yaml --append\n"
    );
    // The session began with the steps of the trail, so only what came after them is new.
    let ran = project.feed(COUNTER, &lines).exits(0);
    assert!(
        ran.stdout.ends_with(
            "added 1 step to mine.trail.yaml
"
        ),
        "{}",
        ran.stdout
    );
    let added = "  - verify: It counted\n    tools:\n      - assertVisible:\n          text: 'Count: 1'\n";
    assert_eq!(project.read("mine.trail.yaml"), format!("{EXISTING}{added}"));

    let ran = project.feed(COUNTER, &format!("{LAUNCH}\nstep \"Again\"\ntap id=add\nsave mine.trail.yaml --append\n"));
    assert!(ran.exits(0).stdout.ends_with("added 2 steps to mine.trail.yaml\n"));
    assert!(project.read("mine.trail.yaml").starts_with(&format!("{EXISTING}{added}  - step: Start the app\n")));
}

#[test]
fn replacing_the_steps_of_a_trail_keeps_comments_and_what_other_devices_have() {
    let project = Project::counter().with("mine.trail.yaml", EXISTING);
    let lines = format!(
        "step \"Open it\"\n{LAUNCH}\nstep \"Count\"\ntap id=add\nverify \"It counted\"\nassertVisible text='Count: 1'\n\
         save mine.trail.yaml --force\n"
    );
    let ran = project.feed(COUNTER, &lines).exits(0);
    assert!(ran.stdout.ends_with("updated mine.trail.yaml: 2 steps kept, 1 added, 0 removed\n"), "{}", ran.stdout);
    let expected = EXISTING
        .replace("        - wait: {timeToWaitInSeconds: 1}\n", "        - tap:\n            id: add\n")
        + "  - verify: It counted\n    tools:\n      - assertVisible:\n          text: 'Count: 1'\n";
    assert_eq!(project.read("mine.trail.yaml"), expected);
    project.run(&["run", "mine.trail.yaml", "-d", "android/sim-1"]).exits(0);
}

#[test]
fn saving_follows_a_link_and_keeps_the_permissions_of_its_file() {
    let project = Project::counter().with("real.trail.yaml", EXISTING);
    let (link, real) = (project.root().join("link.trail.yaml"), project.root().join("real.trail.yaml"));
    symlink("real.trail.yaml", &link).unwrap();
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o604)).unwrap();
    project.feed(COUNTER, &format!("{LAUNCH}\nsave link.trail.yaml --append\n")).exits(0);
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(project.read("real.trail.yaml").ends_with("packageId: com.example.counter\n"));
    assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o604);
    // One that leads to a file that is not there yet creates it.
    symlink("new.trail.yaml", project.root().join("dangling.trail.yaml")).unwrap();
    project.feed(COUNTER, &format!("{LAUNCH}\nsave dangling.trail.yaml\n")).exits(0);
    assert!(project.read("new.trail.yaml").contains("launchApp"));
}

#[test]
fn a_new_trail_says_what_it_is_and_where_its_schema_is() {
    let project = Project::counter();
    let lines =
        format!("{LAUNCH}\ntap id=add\nsave trails/pay/pay-ada.trail.yaml\nsave b.trail.yaml --title 'Pay Ada: now'\n");
    project.feed(COUNTER, &lines).exits(0);
    let text = project.read("trails/pay/pay-ada.trail.yaml");
    let head = "# yaml-language-server: $schema=../../.trailblaze/schemas/trail.schema.json\nconfig:\n  id: pay-ada\n  title: Pay ada\n";
    assert!(text.starts_with(head), "{text}");
    assert!(project.read("b.trail.yaml").contains("  title: 'Pay Ada: now'\n"));
    let schema: Value = serde_json::from_str(&project.read(".trailblaze/schemas/trail.schema.json")).unwrap();
    assert_eq!(schema["title"], "Trailblaze trail");
}

#[test]
fn a_trailhead_is_begun_first_or_not_at_all() {
    let project = Project::counter();
    let lines = format!(
        "trailhead \"Begin with one\"\n{LAUNCH}\ntap id=add\nverify \"It is one\"\nassertVisible text='Count: 1'\n\
         trailhead \"Too late\"\nsave a.trail.yaml\n"
    );
    let ran = project.feed(COUNTER, &lines).exits(3);
    assert!(ran.stderr.contains("a trailhead must come before all steps"), "{}", ran.stderr);
    let text = project.read("a.trail.yaml");
    assert!(text.contains("trailhead:\n  step: Begin with one\n  tools:\n    - launchApp:"), "{text}");
    project.run(&["run", "a.trail.yaml", "-d", "android/sim-1"]).exits(0);
}

#[test]
fn what_was_undone_is_not_saved() {
    let project = Project::counter();
    let lines = format!(
        "{LAUNCH}\nstep \"Add\"\ntap id=add\ntap id=more\nisVisible text=More\nundo\nstep \"Wrong\"\nundo\n\
         verify \"It is there\"\nassertVisible id=motto\nsave a.trail.yaml\nundo\nundo\nundo\nundo\nundo\nundo\n"
    );
    let ran = project.feed(COUNTER, &lines).exits(3);
    insta::assert_snapshot!(ran.stdout, @r#"
    done
    step 1: Add
    tap on Button "Add one"
    tap on Button "More"
    true
    undid tap {"id":"more"}; the device is not changed
    step 2: Wrong
    undid step "Wrong"
    step 2: It is there
    TextView "Less is more" is visible
    saved a trailhead and 2 steps in a.trail.yaml
    undid assertVisible {"id":"motto"}; the device is not changed
    undid step "It is there"
    undid tap {"id":"add"}; the device is not changed
    undid step "Add"
    undid launchApp {"packageId":"com.example.counter"}; the device is not changed
    "#);
    assert!(ran.stderr.starts_with("error: there is nothing to undo\n"), "{}", ran.stderr);
    let saved = project.read("a.trail.yaml");
    assert!(saved.contains("id: add") && !saved.contains("id: more") && !saved.contains("Wrong"), "{saved}");
    let run = project.last_run();
    run.assert_calls_have_parents();
    assert!(!run.has("recording.trail.yaml"), "nothing is left");
}

#[test]
fn a_session_that_was_not_saved_is_kept_in_its_run_folder() {
    let project = Project::counter();
    project.feed(COUNTER, &format!("{LAUNCH}\nstep \"Add\"\ntap id=add\nquit\n")).exits(0);
    let kept = project.last_run().path.join("recording.trail.yaml");
    let summary = project.run(&["run", kept.to_str().unwrap(), "-d", "ios/sim-1", "--json"]).exits(0).json();
    assert_eq!(summary["counts"]["passed"], 1);
}

#[test]
fn a_session_that_was_killed_is_kept_up_to_its_last_call() {
    use std::io::Write;
    use std::process::Stdio;

    let project = Project::counter();
    let mut command = project.command(COUNTER);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "{LAUNCH}\nstep \"Add\"\ntap id=add").unwrap();
    let mut running = Running::of(child);
    let kept = wait_until("the call is kept", || {
        let text = std::fs::read_to_string(project.runs().first()?.path.join("recording.trail.yaml")).ok()?;
        text.contains("id: add").then_some(text)
    });
    running.kill();
    assert!(kept.contains("step: Add"), "{kept}");
}

#[test]
fn a_session_in_which_a_call_failed_did_not_pass() {
    let project = Project::counter();
    let ran = project.feed(COUNTER, &format!("{LAUNCH}\nstep \"Look\"\nassertVisible text=Nowhere timeoutMs=10\n"));
    ran.exits(1);
    let shown = project.run(&["runs", "show"]).exits(0).stdout;
    assert!(shown.contains(": failed\n0 of 1 trail passed, 1 failed"), "{shown}");
    assert!(shown.contains("nothing on the screen has the text \"Nowhere\""), "it says what failed: {shown}");
    let failure = project.last_run().summary()["attempts"][0]["failure"].clone();
    assert_eq!((&failure["step"], &failure["tool"]), (&json!("Look"), &json!("assertVisible")));
}
