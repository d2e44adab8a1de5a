//! `trailblaze import`: files of other tools become a project whose trails run.

use crate::support::Project;

const FLOW: &str = "\
appId: com.example.wallet
name: Sign in
env:
  PIN: \"1234\"
---
- launchApp:
    clearState: true
# Sign in as Ada
- runFlow:
    file: shared/sign-in.yaml
    env:
      PIN: ${PIN}
- runFlow:
    when:
      visible: Not now
    commands:
      - tapOn: Not now
- assertVisible: €120\\.00
- tapOn: Activity
- repeat:
    times: 20
    while:
      notVisible: Nothing
    commands:
      - scroll
- addMedia:
    - photo.png
";

const SIGN_IN: &str = "\
appId: com.example.wallet
---
- tapOn: Email
- inputText: ada@example.com
- tapOn:
    id: pin
- inputText: ${PIN}
- tapOn: Sign in
";

#[test]
fn a_flow_of_maestro_passes_on_a_simulated_phone() {
    let project = Project::empty()
        .with("trailblaze.yaml", "")
        .with("flows/flow.yaml", FLOW)
        .with("flows/shared/sign-in.yaml", SIGN_IN);
    let imported = project.run(&["import", "maestro", "flows/flow.yaml"]);
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    assert_eq!(imported.stdout, "trails/flow.trail.yaml\ntrailblaze-config/tools/wallet_signIn.yaml\n");
    assert!(
        imported.stderr.contains("flows/flow.yaml:26:3: addMedia: kept: there is no tool for it"),
        "{}",
        imported.stderr
    );

    // What is the same already is no reason to refuse; what was changed is.
    assert_eq!(project.run(&["import", "maestro", "flows/flow.yaml"]).code, Some(0));
    let checked = project.run(&["check"]);
    assert_eq!(checked.code, Some(0), "{}{}", checked.stdout, checked.stderr);
    let ran = project.run(&["run", "-d", "android/sim-1"]);
    assert_eq!(ran.code, Some(0), "{}{}\n{}", ran.stdout, ran.stderr, project.read("trails/flow.trail.yaml"));

    let project = project.with("trails/flow.trail.yaml", "config: {title: Mine}\n");
    let refused = project.run(&["import", "maestro", "flows/flow.yaml"]);
    assert_eq!(refused.code, Some(3), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("trails/flow.trail.yaml") && refused.stderr.contains("--force"),
        "{}",
        refused.stderr
    );
    assert_eq!(project.read("trails/flow.trail.yaml"), "config: {title: Mine}\n");
    let forced = project.run(&["import", "maestro", "flows/flow.yaml", "--force", "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&forced.stdout).expect("the answer is JSON");
    assert_eq!((&answer["kept"], &answer["statements"][0]["name"]), (&1.into(), &"appId".into()), "{answer}");
    assert!(project.read("trails/flow.trail.yaml").contains("title: Sign in"));
}

#[test]
fn what_cannot_be_read_is_refused_with_its_place_and_nothing_is_written() {
    let project = Project::empty()
        .with("trailblaze.yaml", "")
        .with("bad.yaml", "appId: a\n---\n- tapOn: [\n")
        .with("good.yaml", "appId: a\n---\n- back\n")
        .with("bad.spec.ts", "import x from 'y';\ntest('a', async ( => {});\n");
    for (args, expected) in [
        (&["import", "maestro", "good.yaml", "bad.yaml"][..], "bad.yaml:"),
        (&["import", "playwright", "bad.spec.ts"], "bad.spec.ts:2:"),
        (&["import", "maestro", "missing.yaml"], "cannot read `missing.yaml`"),
        (&["import", "kotlin", "missing"], "`missing` is not a folder"),
        (&["import", "kotlin", "."], "has no folder `trails`"),
    ] {
        let refused = project.run(args);
        assert!(matches!(refused.code, Some(2 | 3)), "{args:?}: {:?}", refused.code);
        assert!(refused.stderr.contains(expected), "{args:?}: {}", refused.stderr);
        assert!(!project.root().join("trails").exists());
    }
}

#[test]
fn a_project_of_the_kotlin_trailblaze_becomes_one_that_is_checked() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../import/tests/corpus/kotlin/wallet");
    let project = Project::empty();
    let imported = project.run(&["import", "kotlin", &corpus.display().to_string(), "--out", "new"]);
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    assert!(
        imported.stderr.contains("trails/config/trailmaps/wallet/trailmap.yaml:3:1: dependencies: kept"),
        "{}",
        imported.stderr
    );
    let checked = project.run(&["-C", "new", "check"]);
    assert_eq!(checked.code, Some(0), "{}{}", checked.stdout, checked.stderr);
}
