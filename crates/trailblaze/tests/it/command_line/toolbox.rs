//! What a project and its devices offer: tools, checks, devices, snapshots and schemas.

use crate::support::{Pixels, Project, files, repository};
use serde_json::{Value, json};

fn names(project: &Project, args: &[&str]) -> Vec<String> {
    let toolbox = project.run(&[&["toolbox", "--json"], args].concat()).exits(0).json();
    let tools = toolbox[0]["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_string()).collect()
}

#[test]
fn the_toolbox_lists_what_a_device_and_a_target_see() {
    let project = Project::wallet();
    let has = |args: &[&str], name: &str| names(&project, args).iter().any(|tool| tool == name);
    assert!(has(&["-d", "android/sim-1"], "pressHome") && !has(&["-d", "web/sim-1"], "pressHome"));
    assert!(has(&["-d", "web/sim-1"], "web_navigate") && !has(&["-d", "android/sim-1"], "web_navigate"));
    assert!(has(&["-d", "ios/sim-1"], "wallet_signIn"));
    // Hidden tools can be called, and are listed on request.
    assert!(!has(&["-d", "android/sim-1"], "maestro") && has(&["-d", "android/sim-1", "--all"], "maestro"));
    assert_eq!(
        names(&project, &["-d", "ios/sim-1", "--prefix", "wallet_*"]),
        ["wallet_balanceFell", "wallet_fillField", "wallet_signIn"]
    );
    assert_eq!(names(&project, &["-d", "ios/sim-1", "--search", "SIGN in"]), ["wallet_signIn"]);

    let text = project.run(&["toolbox", "-d", "ios/sim-1", "--search", "wallet"]).exits(0).stdout;
    insta::assert_snapshot!(text, @"
    # ios/sim-1 (wallet)

    ## wallet: Tools for the wallet's tests.
    wallet_balanceFell(from by)  Check that the balance is an amount lower than before.
    wallet_fillField(field text) Replace the text of a field.
    wallet_signIn(email? pin)    Sign in to the wallet, from its first screen.
    ");
}

#[test]
fn the_toolbox_says_that_there_are_tools_which_models_are_not_offered() {
    let project = Project::wallet();
    let list = |args: &[&str]| project.run(&[&["toolbox", "-d", "web/sim-1"], args].concat()).exits(0).stdout;
    let found = list(&["--search", "web_evaluate"]);
    assert!(found.contains("(1 more can be called but are not offered to models; `--all` lists them)"), "{found}");
    assert!(list(&["--search", "web_evaluate", "--all"]).contains("web_evaluate(script)"));
}

#[test]
fn a_tool_in_json_has_its_schema_and_its_facts() {
    let project = Project::wallet();
    let toolbox = project.run(&["toolbox", "-d", "ios/sim-1", "--search", "wallet_signIn", "--json"]).exits(0).json();
    assert_eq!(
        toolbox,
        json!([{"device": "ios/sim-1", "target": "wallet", "tools": [{
            "name": "wallet_signIn",
            "description": "Sign in to the wallet, from its first screen.\nAnswers no question that the app may ask afterwards.",
            "source": "trailblaze-config/tools/wallet_signIn.yaml",
            "kind": "action", "isForLlm": true, "isRecordable": true, "isDelegating": false, "requiresHost": false,
            "requiresContext": false, "supportedPlatforms": [], "supportedDrivers": [], "toolset": null, "groups": [],
            "offered": true, "toolsets": ["wallet"],
            "inputSchema": {
                "type": "object",
                "properties": {
                    "email": {"type": "string", "description": "Who signs in", "default": "ada@example.com"},
                    "pin": {"type": "string", "description": "The PIN"},
                },
                "required": ["pin"],
                "additionalProperties": false,
            },
        }]}])
    );
}

#[test]
fn why_a_tool_is_there_or_not() {
    let project = Project::wallet();
    project.write(
        "trailblaze-config/tools/wallet_inside.yaml",
        "id: wallet_inside\ndescription: Look inside.\nparameters: []\nisForLlm: false\n\
         supportedDrivers: [android-host]\ntools:\n  - pressBack: {}\n",
    );
    // What a schema costs changes with its words; that the count is right is tested apart.
    let why = |name: &str, device: &str| {
        let text = project.run(&["toolbox", "why", name, "-d", device]).exits(0).stdout;
        let words = text.split(' ').map(|word| if word.parse::<u32>().is_ok() { "[n]" } else { word });
        words.collect::<Vec<_>>().join(" ")
    };
    insta::assert_snapshot!(why("tap", "android/sim-1"), @"
    `tap` on android/sim-1
      built-in offers it; it can be called by name
      it is offered to models, through core_interaction
      it costs a model [n] characters: [n] of schema, [n] of description
    ");
    insta::assert_snapshot!(why("adbShell", "ios/sim-1"), @"
    `adbShell` on ios/sim-1
      built-in offers it, but it is for android, not ios
    ");
    insta::assert_snapshot!(why("maestro", "ios/sim-1"), @"
    `maestro` on ios/sim-1
      built-in offers it; it can be called by name
      it is not offered to models: it is not for models
      it costs a model [n] characters: [n] of schema, [n] of description
    ");
    insta::assert_snapshot!(why("wallet_signIn", "web/sim-1"), @"
    `wallet_signIn` on web/sim-1
      trailblaze-config/tools/wallet_signIn.yaml offers it; it can be called by name
      it is offered to models, through wallet
      it costs a model [n] characters: [n] of schema, [n] of description
    ");
    insta::assert_snapshot!(why("wallet_inside", "android/sim-1"), @"
    `wallet_inside` on android/sim-1
      trailblaze-config/tools/wallet_inside.yaml offers it, but it only supports the drivers android-host, not android-ondevice-accessibility
    ");
    insta::assert_snapshot!(project.run(&["toolbox", "why", "wallet_signin"]).refusal(), @"
    exit 3
    error: unknown tool `wallet_signin`
    hint: did you mean `wallet_signIn`?
    ");
    insta::assert_snapshot!(project.run(&["toolbox", "why", "bananas"]).refusal(), @"
    exit 3
    error: unknown tool `bananas`
    ");
    insta::assert_snapshot!(project.run(&["toolbox", "--target", "walet"]).refusal(), @"
    exit 3
    error: unknown target `walet`
    hint: did you mean `wallet`?
    ");
}

#[test]
fn why_counts_the_characters_of_the_schema() {
    let project = Project::wallet();
    let why = project.run(&["toolbox", "why", "tap", "-d", "android/sim-1", "--json"]).exits(0).json();
    let toolbox = project.run(&["toolbox", "-d", "android/sim-1", "--search", "tap", "--json"]).exits(0).json();
    let tap = toolbox[0]["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "tap").unwrap();
    assert_eq!(why[0]["schemaCharacters"], tap["inputSchema"].to_string().chars().count());
    assert_eq!((&why[0]["registered"], &why[0]["offered"]), (&json!(true), &json!(true)));
}

#[test]
fn a_sound_project_has_no_problems() {
    let project = Project::wallet();
    assert_eq!(project.run(&["check"]).exits(0).stdout, "3 trails, no problems on android/sim-1, ios/sim-1\n");
    let one = project.run(&["check", "trails/activity.trail.yaml", "-d", "web/sim-1"]).exits(0);
    assert_eq!(one.stdout, "1 trail, no problems on web/sim-1\n");
    let expected = json!({
        "trails": 3, "errors": 0, "problems": [], "isOffline": false, "serversNotStarted": [], "serversUnknown": [],
    });
    assert_eq!(project.run(&["check", "--json"]).exits(0).json(), expected);
    assert!(project.runs().is_empty(), "a check leaves nothing behind");
    // A project may have no trails yet.
    assert_eq!(Project::counter().run(&["check"]).exits(0).stdout, "0 trails, no problems on android/sim-1\n");
}

#[test]
fn a_check_tells_all_problems_with_their_places() {
    let project = Project::wallet()
        .with("trails/b.trail.yaml", "trail:\n  - step: Go\n    tools:\n      - tapp: {id: x}\n")
        .with("trailblaze-config/toolsets/wallet.yaml", "id: wallet\ntols: []\n");
    let found = project.run(&["check", "--json"]).exits(3).json();
    assert_eq!(
        found["problems"],
        json!([
            {"file": "trailblaze-config/toolsets/wallet.yaml", "line": 2, "column": 1, "severity": "error",
             "message": "unknown key `tols`", "hint": "did you mean `tools`?"},
            {"file": "trails/b.trail.yaml", "line": 4, "column": 9, "severity": "error",
             "message": "unknown tool `tapp`", "hint": "did you mean `tap`?"},
        ])
    );
    assert_eq!((&found["trails"], &found["errors"]), (&json!(4), &json!(2)));
    insta::assert_snapshot!(project.run(&["check"]).refusal(), @"
    exit 3
    error: unknown key `tols`
     --> trailblaze-config/toolsets/wallet.yaml:2:1
      |
    2 | tols: []
      | ^^^^
      |
      = help: did you mean `tools`?

    error: unknown tool `tapp`
     --> trails/b.trail.yaml:4:9
      |
    4 |       - tapp: {id: x}
      |         ^^^^
      |
      = help: did you mean `tap`?

    error: 2 problems
    ");
}

#[test]
fn devices_are_listed() {
    let ran = Project::counter().run(&["device", "list"]).exits(0);
    insta::assert_snapshot!(ran.stdout, @"
    android/sim-1    simulated android phone (1080×2400)  stands for android-ondevice-accessibility
    ios/sim-1        simulated iphone (1170×2532)         stands for ios-host
    web/sim-1        simulated web browser (1280×800)     stands for playwright-native
    desktop/sim-1    simulated desktop (1280×800)         stands for desktop-atspi
    web/chromium     Chromium (1280×800)                  playwright-native
    web/firefox      Firefox (1280×800)                   playwright-native
    desktop/xvfb     desktop under Xvfb (1280×800)        desktop-atspi
    ");
    let listed = Project::wallet().run(&["device", "list", "--json"]).exits(0).json();
    assert_eq!(
        listed[1],
        json!({"id": "ios/sim-1", "platform": "ios", "driver": "ios-host", "summary": "simulated iphone",
               "width": 1170, "height": 2532, "classifiers": ["ios", "iphone"]})
    );
}

#[test]
fn a_snapshot_shows_the_screen_in_text_and_picture() {
    let project = Project::counter();
    let snapshot = |args: &[&str]| {
        project.run(&[&["snapshot", "-d", "android/sim-1", "--launch", "com.example.counter"], args].concat()).exits(0)
    };
    let plain = snapshot(&[]).stdout;
    insta::assert_snapshot!(plain, @r#"
    ### Screen
    App: com.example.counter

    [g709] "Counter" [heading]
    [l31] "Count: 0" [id=count] [heading]
    [d454] Button "Add one" [id=add]
    [f271] EditText "Your name" [id=name]
    [a998] Button "More" [id=more]
    "#);
    insta::assert_snapshot!(snapshot(&["--bounds"]).stdout, @r#"
    ### Screen
    App: com.example.counter

    [g709] "Counter" [heading] {x:55,y:127,w:196,h:75}
    [l31] "Count: 0" [id=count] [heading] {x:55,y:297,w:970,h:75}
    [d454] Button "Add one" [id=add] {x:55,y:411,w:970,h:132}
    [f271] EditText "Your name" [id=name] {x:55,y:582,w:970,h:154}
    [a998] Button "More" [id=more] {x:55,y:775,w:970,h:132}
    "#);
    assert_eq!(snapshot(&["--json"]).json()["text"], plain.trim_end());

    let ran = snapshot(&["--screenshot", "shot.png"]);
    assert_eq!((ran.stdout, ran.stderr.as_str()), (plain, "Screenshot: shot.png\n"));
    let pixels = Pixels::read(&project.root().join("shot.png"));
    assert!(pixels.width * 2400 == pixels.height * 1080, "{} × {}", pixels.width, pixels.height);
    insta::assert_snapshot!(project.run(&["snapshot", "-d", "ios/sim-1", "--launch", "nowhere"]).refusal(), @"
    exit 2
    error: the app `nowhere` is not installed; installed apps: com.example.counter
    ");
}

#[test]
fn schemas_are_printed_by_kind() {
    let project = Project::empty();
    assert_eq!(
        project.run(&["schema"]).exits(0).stdout,
        "trail\nfolder\nstretch\nproject\ntarget\ntoolset\ntool\napp\neffects\ncassette\nreplies\n"
    );
    assert_eq!(project.run(&["schema", "trail"]).exits(0).json(), schema("trail"));
    insta::assert_snapshot!(project.run(&["schema", "trial"]).refusal(), @"
    exit 3
    error: unknown schema `trial`
    hint: did you mean `trail`?
    ");
}

/// The schema as it is committed: another test sees to that.
fn schema(kind: &str) -> Value {
    trailblaze::cli::schemas().into_iter().find(|(known, _)| *known == kind).expect("a kind of file").1
}

/// `UPDATE_SCHEMAS=1 cargo test -p trailblaze --test it toolbox` writes them again.
#[test]
fn the_committed_schemas_are_fresh() {
    for (kind, schema) in trailblaze::cli::schemas() {
        let file = repository().join(format!("schemas/{kind}.schema.json"));
        let fresh = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
        if std::env::var_os("UPDATE_SCHEMAS").is_some() {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, &fresh).unwrap();
        }
        let committed = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(committed == fresh, "{} is stale; UPDATE_SCHEMAS=1 writes it anew", file.display());
    }
}

/// The kind of file that a path of an example is.
fn kind(path: &str) -> Option<&'static str> {
    match path {
        path if !path.ends_with(".yaml") => None,
        path if ["/logs/", "/node_modules/", "/.venv/"].iter().any(|made| path.contains(made)) => None,
        path if path.contains("/targets/") => Some("target"),
        path if path.contains("/toolsets/") => Some("toolset"),
        path if path.contains("/tools/") => Some("tool"),
        path if path.ends_with("trailblaze.yaml") => Some("project"),
        path if path.ends_with(".app.yaml") => Some("app"),
        path if path.ends_with(".effects.yaml") => Some("effects"),
        path if path.ends_with("/_folder.yaml") => Some("folder"),
        path if path.contains("/trails/stretches/") => Some("stretch"),
        path if path.ends_with(".cassette.yaml") => Some("cassette"),
        path if path.ends_with("replies.yaml") => Some("replies"),
        path if path.ends_with("trail.yaml") => Some("trail"),
        other => panic!("no kind of file: {other}"),
    }
}

#[test]
fn the_examples_fit_the_committed_schemas() {
    use trailblaze_core::yaml::{Problems, Source, loose, read};
    let mut n_files = 0;
    for file in files(&repository().join("examples")) {
        let Some(kind) = kind(&file.to_string_lossy()) else { continue };
        let source = Source::new(file.to_string_lossy(), std::fs::read_to_string(&file).unwrap());
        let value = loose(&read(&source, &mut Problems::new(&source)).unwrap());
        let schema = schema(kind);
        let validator = jsonschema::validator_for(&schema).unwrap();
        let wrong: Vec<String> =
            validator.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert_eq!(wrong, Vec::<String>::new(), "{}", file.display());
        n_files += 1;
    }
    assert!(n_files >= 8, "only {n_files} files");
}

#[test]
fn a_schema_refuses_what_the_reader_refuses() {
    let is_valid = |kind: &str, value: &Value| jsonschema::validator_for(&schema(kind)).unwrap().is_valid(value);
    assert!(is_valid("trail", &json!({"trail": [{"step": "Go", "tools": [{"tap": {"id": "a"}}]}]})));
    assert!(!is_valid("trail", &json!({"trail": [{"stp": "Go"}]})));
    assert!(!is_valid("project", &json!({"targt": "a"})));
    assert!(!is_valid("tool", &json!({"description": "no id"})));
}

#[test]
fn the_tools_of_another_driver_and_agent_mode_are_listed() {
    let tool = |id: &str, keys: &str| {
        format!("id: {id}\ndescription: Go on.\nparameters: []\ntools: [{{hideKeyboard: {{}}}}]\n{keys}\n")
    };
    let project = Project::counter()
        .with("trailblaze-config/tools/acme_cloud.yaml", tool("acme_cloud", "supportedDrivers: [revyl-android]"))
        .with("trailblaze-config/tools/acme_host.yaml", tool("acme_host", "requiresHost: true"));
    let has = |args: &[&str], name: &str| {
        let listed = project.run(&[&["toolbox", "--json"], args].concat()).exits(0).json();
        assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
        listed[0]["tools"].as_array().expect("tools").iter().any(|tool| tool["name"] == name)
    };
    assert!(!has(&["-d", "android/sim-1"], "acme_cloud"));
    assert!(has(&["-d", "android/sim-1", "--driver", "revyl-android"], "acme_cloud"));
    assert!(has(&["--driver", "REVYL_ANDROID"], "acme_cloud"));
    assert!(has(&["--driver", "ios-host"], "acme_host"));
    assert!(has(&["--agent-mode", "host"], "acme_host"));
    assert!(!has(&["--agent-mode", "onDevice"], "acme_host"));
    let why = project.run(&["toolbox", "why", "acme_host", "--agent-mode", "onDevice"]).exits(0).stdout;
    assert!(why.contains("it requires the host, but the agent runs on the device"), "{why}");
    let wrong = project.run(&["toolbox", "-d", "android/sim-1", "--driver", "ios-host"]).exits(3).stderr;
    assert!(
        wrong.contains("`ios-host` cannot be used on android/sim-1: it is a driver of another platform"),
        "{wrong}"
    );
    let unknown = project.run(&["toolbox", "--driver", "nokia"]).exits(3).stderr;
    assert!(unknown.contains("unknown driver `nokia`; there are android-ondevice-accessibility"), "{unknown}");
}
