//! `run --record`: what is written into trails, what is not, and what is said when a recording and `tools:` disagree.

use trailblaze_protocol::event::{Event, Plan};

use crate::support::{Project, Ran, parcels};

const TRAIL: &str = "trails/a.trail.yaml";

/// A trail that counts to one, and checks it.
fn counting(expected: &str) -> String {
    format!(
        "trail:\n  - step: Count\n    tools:\n      - launchApp: {{packageId: com.example.counter}}\n      \
         - isVisible: {{text: Counter}}\n      - tap: {{id: add, index: 0}}\n  - verify: It counted\n    tools:\n      \
         - assertVisible: {{text: '{expected}', timeoutMs: 10}}\n"
    )
}

fn plans(project: &Project) -> Vec<Plan> {
    let plan = |event: Event| match event {
        Event::StepStarted { plan, .. } => Some(plan),
        _ => None,
    };
    project.last_run().events().into_iter().filter_map(plan).collect()
}

fn record(project: &Project, device: &str) -> Ran {
    project.run(&["run", TRAIL, "--record", "-d", device]).exits(0)
}

#[test]
fn a_changed_assertion_is_not_hidden_by_a_recording_of_the_old_one() {
    let project = Project::counter().with(TRAIL, counting("Count: 1"));
    let ran = record(&project, "android/sim-1");
    let told = "nothing to record in trails/a.trail.yaml; trails/a.effects.yaml, which describes its tools and elements, was updated";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert_eq!(project.read(TRAIL), counting("Count: 1"), "what `tools:` says is not copied");
    let again = record(&project, "android/sim-1");
    assert!(again.stderr.contains("nothing to record in trails/a.trail.yaml: it is up to date"), "{}", again.stderr);

    project.write(TRAIL, counting("Count: 9"));
    project.run(&["run", TRAIL, "-d", "android/sim-1"]).exits(1);
}

/// The same trail, with a recording as earlier versions wrote it.
fn copied(expected: &str, recorded: &str) -> String {
    let verify = format!(
        "    recording:\n      android:\n        # of June\n        - assertVisible:\n            text: '{recorded}'\n            timeoutMs: 10\n      ios: []\n"
    );
    format!("{}{verify}# end\n", counting(expected))
}

#[test]
fn a_recording_that_differs_from_tools_is_pointed_out() {
    let project = Project::counter().with(TRAIL, copied("Count: 9", "Count: 1"));
    let warning = "\
warning: the recording for `android` differs from the step's `tools:`, and the recording is used
  --> trails/a.trail.yaml:11:7";
    let ran = project.run(&["run", TRAIL, "-d", "android/sim-1"]).exits(0);
    assert!(ran.stderr.contains(warning), "{}", ran.stderr);
    assert!(ran.stderr.contains("if `tools:` is right, remove the recording"), "{}", ran.stderr);
    let checked = project.run(&["check", TRAIL, "-d", "android/sim-1"]).exits(0);
    assert!(checked.stderr.contains(warning), "{}", checked.stderr);
    let problems = project.run(&["check", TRAIL, "-d", "android/sim-1,web/sim-1", "--json"]).exits(0).json();
    assert_eq!(problems["problems"].as_array().unwrap().len(), 1, "a device without the recording has no say");
    assert_eq!(
        (&problems["problems"][0]["severity"], &problems["problems"][0]["line"]),
        (&"warning".into(), &11.into())
    );

    // Recording again plays the recording, so it cannot tell which of the two is right, and changes neither.
    let before = project.read(TRAIL);
    record(&project, "android/sim-1");
    assert_eq!(project.read(TRAIL), before);
}

#[test]
fn a_copy_of_tools_is_removed_when_the_trail_is_recorded_again() {
    let project = Project::counter().with(TRAIL, copied("Count: 1", "Count: 1"));
    let ran = record(&project, "android/sim-1");
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
    let removed = "removed recordings for android from trails/a.trail.yaml that equal `tools:`";
    assert!(ran.stderr.contains(removed), "{}", ran.stderr);
    let expected = format!("{}    recording:\n      ios: []\n# end\n", counting("Count: 1"));
    assert_eq!(project.read(TRAIL), expected, "only this device's copy goes");
}

#[test]
fn a_copy_that_a_broader_recording_would_replace_stays() {
    let copy = "- assertVisible: {text: 'Count: 1', timeoutMs: 10}";
    let text =
        format!("{}    recording:\n      android-phone:\n        {copy}\n      android: []\n", counting("Count: 1"));
    let project = Project::counter().with(TRAIL, &text);
    let devices = "devices:\n  - {id: android/sim-1, classifiers: [phone]}\n";
    project.write("trailblaze.yaml", format!("sim:\n  apps: [counter.app.yaml]\n{devices}"));
    record(&project, "android/sim-1");
    assert_eq!(project.read(TRAIL), text);
}

#[test]
fn what_a_tool_delegated_is_recorded_beside_tools_until_one_of_them_changes() {
    let text = |id: &str| {
        format!(
            "trail:\n  - step: Count # here\n    tools:\n      - launchApp: {{packageId: com.example.counter}}\n      \
             - parcel_tap: {{id: {id}}}\n  - verify: It is open\n    tools: [assertVisible: {{text: Counter}}]\n"
        )
    };
    let project = parcels().with(TRAIL, text("add"));
    let ran = record(&project, "android/sim-1");
    assert!(ran.stderr.contains("recorded android in trails/a.trail.yaml"), "{}", ran.stderr);
    let recording = "    recording:\n      android:\n        - launchApp:\n            packageId: com.example.counter\n        \
                     - tap:\n            id: add\n";
    let recorded = text("add").replace("  - verify", &format!("{recording}  - verify"));
    assert_eq!(project.read(TRAIL), recorded);

    // It was made from `tools:`, so it is no surprise that it says something else.
    let ran = record(&project, "android/sim-1");
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
    assert_eq!(plans(&project), [Plan::Recording { classifier: "android".into() }, Plan::Authored]);
    assert_eq!(project.read(TRAIL), recorded);
    // Another device records its own, and both stay known.
    record(&project, "ios/sim-1");
    let ran = project.run(&["check", TRAIL, "-d", "android/sim-1,ios/sim-1"]).exits(0);
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);

    project.write(TRAIL, project.read(TRAIL).replace("parcel_tap: {id: add}", "parcel_tap: {id: more}"));
    let ran = project.run(&["run", TRAIL, "-d", "android/sim-1"]).exits(0);
    assert!(ran.stderr.contains("the recording for `android` differs from the step's `tools:`"), "{}", ran.stderr);
}

#[test]
fn a_recording_follows_a_link_and_keeps_the_permissions_of_its_file() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let text = "trail:\n  - step: Count\n    tools:\n      - launchApp: {packageId: com.example.counter}\n      \
                - parcel_tap: {id: add}\n";
    let project = parcels().with("shared/real.trail.yaml", text);
    std::fs::create_dir_all(project.root().join("trails")).unwrap();
    let (link, real) = (project.root().join(TRAIL), project.root().join("shared/real.trail.yaml"));
    symlink("../shared/real.trail.yaml", &link).unwrap();
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    record(&project, "android/sim-1");
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(project.read("shared/real.trail.yaml").contains("recording:"));
    assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn tools_that_change_while_they_run_are_not_recorded_over() {
    let trail = "trail:\n  - step: Count\n    tools:\n      - launchApp: {packageId: com.example.counter}\n      \
                 - parcel_tap: {id: add}\n      - edit_trail: {}\n";
    // The tool stands for a person who edits the file during the run.
    let project = parcels().with(TRAIL, trail);
    let edited = trail.replace("id: add", "id: more");
    project.write("edited.yaml", &edited);
    let config = project.read("trailblaze.yaml");
    let script = "import json,shutil,sys\\nfor line in sys.stdin:\\n m=json.loads(line)\\n if 'id' not in m: continue\\n \
                  k=m['method']\\n if k=='tools/call': shutil.copy('edited.yaml','trails/a.trail.yaml')\\n \
                  r={'initialize':{'protocolVersion':'2025-06-18','capabilities':{'tools':{}},'serverInfo':{'name':'e','version':'1'}},\
                  'tools/list':{'tools':[{'name':'edit_trail','inputSchema':{'type':'object'}}]},\
                  'tools/call':{'content':[{'type':'text','text':'done'}]}}.get(k)\\n \
                  print(json.dumps({'jsonrpc':'2.0','id':m['id'],**({'result':r} if r else {'error':{'code':-32601,'message':'no'}})}),flush=True)\\n";
    project.write(
        "trailblaze.yaml",
        format!("{config}  editor:\n    command: python3\n    args: ['-c', \"{}\"]\n", script.replace('"', "\\\"")),
    );
    let ran = project.run(&["run", TRAIL, "--record", "-d", "android/sim-1"]).exits(3);
    assert!(ran.stderr.contains("`trails/a.trail.yaml` changed during the run"), "{}", ran.stderr);
    assert_eq!(project.read(TRAIL), edited);
}
