//! The verbs around `run`: a new project, earlier runs, single calls, the configuration, completions and man pages.

mod doctor;
mod lsp;
mod mcp_clients;
mod models;
mod schema;
mod skill;

use std::path::Path;
use std::process::Stdio;

use crate::support::{Project, Ran, files};
use serde_json::{Value, json};
use trailblaze_core::yaml::{Problems, Source, loose, read};

const PASSES: &str = "\
config: {title: It counts}
trail:
  - step: Start
    tools:
      - launchApp: {packageId: com.example.counter}
";
const FAILS: &str = "\
config: {title: It is nowhere}
trail:
  - verify: It is there
    tools:
      - assertVisible: {text: Nowhere, timeoutMs: 10}
";

/// What was printed, and what was said besides.
fn both(ran: &Ran) -> String {
    format!("{}\n--- stderr\n{}", ran.normal(&ran.stdout), ran.normal(&ran.stderr))
}

/// The files of a folder, by their paths in it.
fn names(folder: &Path) -> Vec<String> {
    let name = |file: std::path::PathBuf| file.strip_prefix(folder).expect("inside").display().to_string();
    files(folder).into_iter().map(name).collect()
}

#[test]
fn a_new_project_is_sound_and_runs_at_once() {
    let project = Project::empty();
    let ran = project.run(&["init"]).exits(0);
    insta::assert_snapshot!(both(&ran), @"
    trailblaze.yaml
    hello.app.yaml
    trailblaze-config/targets/hello.yaml
    trailblaze-config/tools/hello_greet.yaml
    trailblaze-config/toolsets/hello.yaml
    trails/hello.trail.yaml
    .gitignore
    .trailblaze/schemas/trail.schema.json
    .trailblaze/schemas/folder.schema.json
    .trailblaze/schemas/stretch.schema.json
    .trailblaze/schemas/project.schema.json
    .trailblaze/schemas/target.schema.json
    .trailblaze/schemas/toolset.schema.json
    .trailblaze/schemas/tool.schema.json
    .trailblaze/schemas/app.schema.json
    .trailblaze/schemas/effects.schema.json
    .trailblaze/schemas/cassette.schema.json
    .trailblaze/schemas/replies.schema.json
    --- stderr

    Next:
      trailblaze check                   find mistakes in the files
      trailblaze run                     run trails/hello.trail.yaml on two simulated phones
      trailblaze shell -d android/sim-1  explore the app, to write the next trail
    ");
    let checked = project.run(&["check"]).exits(0);
    assert_eq!(checked.stdout, "1 trail, no problems on android/sim-1, ios/sim-1\n");
    assert_eq!(checked.stderr, "");
    let summary = project.run(&["run", "--json"]).exits(0).json();
    assert_eq!(summary["counts"]["passed"], 2);
    project.run(&["run", "-d", "web/sim-1,desktop/sim-1"]).exits(0);
}

#[test]
fn a_new_project_of_a_web_app_has_its_address_and_is_sound() {
    let project = Project::empty();
    let ran = project.run(&["init", "--web", "https://Shop.example:8080/a?b='c': {d}"]).exits(3);
    assert!(ran.stderr.contains("is not the address of a web app"), "{}", ran.stderr);
    let ran = project.run(&["init", "--web", "localhost:3000"]).exits(3);
    assert!(ran.stderr.contains("as in --web http://localhost:3000"), "{}", ran.stderr);
    assert!(!project.root().join("trailblaze.yaml").exists(), "nothing was written");
    let ran = project.run(&["init", "--web", "https://ada:x@Shop.example:8080/a?b='c':{d}#e"]).exits(0);
    assert!(ran.stderr.contains("trailblaze record --url https://ada:x@Shop.example:8080/a"), "{}", ran.stderr);
    let target = project.read("trailblaze-config/targets/site.yaml");
    assert!(target.contains("app_ids: [\"https://ada:x@Shop.example:8080/a?b='c':{d}#e\"]"), "{target}");
    assert!(project.read("trails/open.trail.yaml").contains("contains: \"shop.example:8080\""));
    let checked = project.run(&["check"]).exits(0);
    assert_eq!((checked.stdout.as_str(), checked.stderr.as_str()), ("1 trail, no problems on web/chromium\n", ""));
}

#[test]
fn every_file_of_a_new_project_names_a_schema_that_it_fits() {
    let project = Project::empty();
    project.run(&["init", "app"]).exits(0);
    let root = project.root().join("app");
    let yaml: Vec<_> = files(&root).into_iter().filter(|file| file.extension().is_some_and(|e| e == "yaml")).collect();
    assert_eq!(yaml.len(), 6);
    for file in yaml {
        let text = std::fs::read_to_string(&file).expect("a file");
        let first = text.lines().next().expect("a line");
        let schema = first.strip_prefix("# yaml-language-server: $schema=").expect("a schema line");
        let schema = file.parent().expect("a folder").join(schema);
        let schema: Value =
            serde_json::from_slice(&std::fs::read(&schema).expect("the schema is there")).expect("JSON");
        let source = Source::new("file", text);
        let node = read(&source, &mut Problems::new(&source)).expect("YAML");
        let errors: Vec<String> = jsonschema::validator_for(&schema)
            .expect("a schema")
            .iter_errors(&loose(&node))
            .map(|error| error.to_string())
            .collect();
        assert_eq!(errors, Vec::<String>::new(), "{}", file.display());
    }
    // What editors need is kept in the repository; what runs leave is not.
    insta::assert_snapshot!(project.read("app/.gitignore"), @"
    logs/
    .trailblaze/history.json
    .trailblaze/save.lock
    .trailblaze/tools/
    node_modules/
    .venv/
    target/
    ");
}

#[test]
fn init_changes_no_file_that_is_there() {
    let project = Project::empty().with(".gitignore", "target\n").with("trails/hello.trail.yaml", "mine\n");
    let ran = project.run(&["init"]).exits(3);
    insta::assert_snapshot!(ran.refusal(), @"
    exit 3
    error: these files exist in `.`:
      trails/hello.trail.yaml
      .gitignore
    hint: `--force` writes the missing files and leaves these unchanged
    ");
    assert_eq!(names(project.root()), [".gitignore", "trails/hello.trail.yaml"], "nothing was written");

    let answer = project.run(&["init", "--force", "--json"]).exits(0).json();
    assert_eq!(answer["kept"], json!(["trails/hello.trail.yaml", ".gitignore"]));
    assert_eq!(answer["written"].as_array().map(Vec::len), Some(16));
    assert_eq!(project.read(".gitignore"), "target\n");
    assert_eq!(project.read("trails/hello.trail.yaml"), "mine\n");
}

#[test]
fn init_needs_folders_where_folders_belong() {
    let project = Project::empty().with("trails", "a file");
    let ran = project.run(&["init", "--force"]).exits(3);
    insta::assert_snapshot!(ran.refusal(), @"
    exit 3
    error: `trails` is a file, but a folder is needed there
    ");
    assert_eq!(names(project.root()), ["trails"]);
}

/// A project with a run that passed, then one that failed.
fn two_runs() -> Project {
    let project = Project::counter().with("pass.trail.yaml", PASSES).with("fail.trail.yaml", FAILS);
    project.run(&["run", "pass.trail.yaml", "--seed", "7"]).exits(0);
    project.run(&["run", "pass.trail.yaml", "fail.trail.yaml", "--seed", "7"]).exits(1);
    project
}

#[test]
fn runs_are_listed_newest_first() {
    let project = two_runs();
    insta::assert_snapshot!(both(&project.run(&["runs", "list"]).exits(0)), @"
    [run]  [when]  failed              1 of 2 trails passed, 1 failed in [time] on 1 device
    [run]  [when]  passed              1 of 1 trail passed in [time] on 1 device
    --- stderr
    ");
    insta::assert_snapshot!(both(&project.run(&["runs", "list", "-n", "1"]).exits(0)), @"
    [run]  [when]  failed              1 of 2 trails passed, 1 failed in [time] on 1 device
    --- stderr
    1 more; -n 2 lists all
    ");
    let rows = project.run(&["runs", "list", "--json"]).exits(0).json();
    let codes: Vec<&Value> = rows.as_array().expect("a list").iter().map(|row| &row["code"]).collect();
    assert_eq!(codes, [1, 0]);
}

#[test]
fn a_project_that_never_ran_has_no_sessions() {
    let project = Project::counter();
    insta::assert_snapshot!(both(&project.run(&["runs", "list"]).exits(0)), @"

    --- stderr
    No runs in [project]/logs.
    ");
    assert_eq!(project.run(&["runs", "list", "--json"]).exits(0).json(), json!([]));
    insta::assert_snapshot!(project.run(&["runs", "show"]).exits(3).refusal(), @"
    exit 3
    error: no runs in `[project]/logs`
    ");
    assert!(!project.root().join("logs").exists(), "looking leaves nothing");
}

#[test]
fn one_run_is_shown_by_how_its_id_begins() {
    let project = two_runs();
    insta::assert_snapshot!(both(&project.run(&["runs", "show"]).exits(0)), @r#"
    [run]: failed
    1 of 2 trails passed, 1 failed in [time] on 1 device
    Started: [when]
    Command: trailblaze run pass.trail.yaml fail.trail.yaml --seed 7
      passed     It counts on android/sim-1 in [time]
      failed     It is nowhere on android/sim-1 in [time]
                 could not see text "Nowhere": nothing on the screen has the text "Nowhere"
    Report: [project]/logs/[run]/report.html
    --- stderr
    "#);
    let first = project.runs()[0].path.file_name().expect("a name").to_string_lossy().into_owned();
    let shown = project.run(&["runs", "show", &first[..first.len() - 1], "--json"]).exits(0).json();
    assert_eq!((&shown["id"], &shown["code"]), (&json!(first), &json!(0)));
    assert!(Path::new(shown["report"].as_str().expect("a path")).is_file());

    let ambiguous = project.run(&["runs", "show", "2"]).exits(3);
    insta::assert_snapshot!(ambiguous.refusal(), @"
    exit 3
    error: 2 runs begin with `2`: `[run]`, `[run]`
    hint: give more of the id
    ");
    let unknown = project.run(&["runs", "show", "nothing"]).exits(3);
    insta::assert_snapshot!(unknown.refusal(), @"
    exit 3
    error: no run begins with `nothing`
    hint: `trailblaze runs list` lists the runs
    ");
}

/// Makes a run look as if it had been killed just now.
fn cut_short(project: &Project, run: usize) {
    let events = project.runs()[run].path.join("events.jsonl");
    let text = std::fs::read_to_string(&events).expect("events");
    let kept: Vec<&str> = text.lines().filter(|line| !line.contains("runEnded")).collect();
    assert_eq!(kept.len() + 1, text.lines().count(), "one line is the end");
    std::fs::write(&events, kept.join("\n")).expect("events");
}

#[test]
fn a_killed_run_is_unfinished_and_stays_while_it_may_go_on() {
    let project = two_runs();
    cut_short(&project, 0);
    let rows = project.run(&["runs", "list", "--json"]).exits(0).json();
    assert_eq!((&rows[1]["isFinished"], &rows[1]["exit"]), (&json!(false), &Value::Null));
    let cleaned = project.run(&["runs", "clean", "--keep", "0"]).exits(0);
    insta::assert_snapshot!(without_sizes(&both(&cleaned)), @"
    [run]
    --- stderr
    kept [run]: it has no end and may still be running
    removed 1 run, freed [size] kB
    ");
    assert_eq!(project.runs().len(), 1);

    let events = std::fs::File::options().append(true).open(project.runs()[0].path.join("events.jsonl"));
    events.expect("events").set_modified(std::time::SystemTime::UNIX_EPOCH).expect("a time");
    project.run(&["runs", "clean", "--keep", "0"]).exits(0);
    assert_eq!(project.runs().len(), 0);
}

fn without_sizes(text: &str) -> String {
    let words = text.split(' ').collect::<Vec<_>>();
    let is_size = |index: usize| words.get(index + 1).is_some_and(|unit| matches!(unit.trim_end(), "kB" | "MB"));
    let word = |(index, word): (usize, &&str)| if is_size(index) { "[size]".to_string() } else { word.to_string() };
    words.iter().enumerate().map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn clean_removes_run_folders_and_nothing_else() {
    let project = two_runs()
        .with("logs/notes.txt", "mine")
        .with("logs/other/events.jsonl", "{\"not\": \"ours\"}\n")
        .with("logs/more/report.html", "mine")
        .with("elsewhere/events.jsonl", std::fs::read(two_runs().runs()[0].path.join("events.jsonl")).expect("events"));
    #[cfg(unix)]
    std::os::unix::fs::symlink(project.root().join("elsewhere"), project.root().join("logs/link")).expect("a link");
    let before = names(project.root());

    insta::assert_snapshot!(project.run(&["runs", "clean"]).exits(3).refusal(), @"
    exit 3
    error: `runs clean` needs `--keep` or `--older-than`
    hint: `--keep 10` keeps the newest ten, `--older-than 7d` keeps those of the last week, `--keep 0` keeps none
    ");
    let dry = project.run(&["runs", "clean", "--keep", "1", "--dry-run"]).exits(0);
    insta::assert_snapshot!(without_sizes(&both(&dry)), @"
    [run]
    --- stderr
    would remove 1 run, free [size] kB
    ");
    project.run(&["runs", "clean", "--older-than", "1h"]).exits(0);
    assert_eq!(names(project.root()), before, "nothing was removed");

    let removed = project.run(&["runs", "clean", "--keep", "0", "--json"]).exits(0).json();
    assert_eq!(removed["removed"].as_array().map(Vec::len), Some(2));
    assert!(removed["bytes"].as_u64() > Some(1000), "{removed}");
    let left = ["logs/more/report.html", "logs/notes.txt", "logs/other/events.jsonl", "elsewhere/events.jsonl"];
    left.iter().for_each(|file| assert!(project.root().join(file).is_file(), "{file}"));
    assert!(project.root().join("logs/link").exists());
    assert_eq!(std::fs::read_dir(project.root().join("logs")).expect("logs").count(), 4);
}

#[test]
fn a_log_is_written_only_if_it_is_asked_for() {
    let project = Project::counter();
    let logged = |value: &str| {
        let mut command = project.command(&["tool", "isVisible", "text=Nowhere"]);
        let output = command.env("TRAILBLAZE_LOG", value).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(!logged("").contains("trailblaze::call"));
    let calls = logged("trailblaze::call=debug");
    assert!(calls.contains("DEBUG trailblaze::call: called tool=\"isVisible\" depth=1"), "{calls}");
    assert!(!logged("warn").contains("trailblaze::call"));
    assert!(logged("call=loudly").contains("warning: TRAILBLAZE_LOG=`call=loudly` has no effect"));
}

#[test]
fn a_tool_is_called_on_a_device_of_its_own() {
    let project = Project::counter();
    let launch: &[&str] = &["--launch", "com.example.counter"];
    let ran = project.run(&[&["tool", "tap", "id=add"], launch].concat()).exits(0);
    insta::assert_snapshot!(both(&ran), @r#"
    tap on Button "Add one"
    --- stderr
    Report: [project]/logs/[run]/report.html
    "#);
    let run = project.last_run();
    run.assert_finished(0);
    run.assert_calls_have_parents();
    assert_eq!(run.calls().iter().map(|call| call.tool.as_str()).collect::<Vec<_>>(), ["launchApp", "tap"]);

    let answer = project.run(&[&["tool", "isVisible", "text=More", "--json"], launch].concat()).exits(0).json();
    assert_eq!((&answer["ok"], &answer["answer"]["structured"]), (&json!(true), &json!(true)));
    let failed = project.run(&["tool", "assertVisible", "text=More", "timeoutMs=10", "--json"]).exits(1).json();
    assert_eq!((&failed["ok"], &failed["code"]), (&json!(false), &json!(1)));
}

#[test]
fn a_tool_says_what_it_takes() {
    let project = Project::wallet();
    let help = project.run(&["tool", "wallet_signIn", "--help-tool"]).exits(0);
    insta::assert_snapshot!(both(&help), @r#"
    wallet_signIn: Sign in to the wallet, from its first screen.
    Answers no question that the app may ask afterwards.
      email            Who signs in (string, default "ada@example.com")
      pin              The PIN (string, required)
    --- stderr
    "#);
    let missing = project.run(&["tool", "wallet_fillField", "field=pin", "-d", "ios/sim-1"]).exits(3);
    insta::assert_snapshot!(missing.refusal(), @"
    exit 3
    wallet_fillField: Replace the text of a field.
      field            The field's id (string, required)
      text             What to type (string, required)
    error: `wallet_fillField` needs `text`
    ");
    let unknown = project.run(&["tool", "wallet_signin", "-d", "ios/sim-1"]).exits(3);
    insta::assert_snapshot!(unknown.refusal(), @"
    exit 3
    error: unknown tool `wallet_signin`
    hint: did you mean `wallet_signIn`?
    ");
    let several = project.run(&["tool", "pressHome"]).exits(3);
    insta::assert_snapshot!(several.refusal(), @"
    exit 3
    error: `trailblaze tool` uses one device
    hint: choose one, such as `-d android/sim-1`
    ");
    let form = project.run(&["tool", "tap", "Pay", "-d", "ios/sim-1"]).exits(3);
    insta::assert_snapshot!(form.refusal(), @"
    exit 3
    error: expected an argument as name=value, got `Pay`
    ");
    assert!(!project.root().join("logs").exists(), "nothing was called");
}

#[test]
fn a_secret_of_a_tool_is_shown_nowhere() {
    let project = Project::counter();
    let mut command =
        project.command(&["tool", "tapOnElementWithText", "text={{PIN}}", "timeoutMs=10", "--secret", "PIN"]);
    command.env("PIN", "correct-horse");
    let ran = project.finish(command).exits(1);
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("correct-horse"), "{ran:?}");
    assert_eq!(project.last_run().mentions("correct-horse"), 0);

    let mut command = project.command(&["tool", "tap", "index=correct-horse", "--secret", "PIN"]);
    command.env("PIN", "correct-horse");
    let ran = project.finish(command).exits(3);
    assert!(!ran.stderr.contains("correct-horse"), "{ran:?}");
}

#[test]
fn the_configuration_is_shown_with_defaults_and_without_values_that_may_be_secret() {
    let servers = "\
mcpServers:
  acme: {url: 'https://user:hunter22@acme.example', headers: {Authorization: Bearer hunter22}}
  local: {command: server, args: [--token, hunter22], env: {TOKEN: hunter22}}
browser: {attach: 'ws://user:hunter22@127.0.0.1:9222/hunter22?token=hunter22', args: ['--proxy-server=hunter22', --mute-audio]}
sim: {faults: {}}
";
    let project = Project::empty().with("trailblaze.yaml", servers);
    let ran = project.run(&["config"]).exits(0);
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("hunter22"), "{}", ran.stdout);
    let shown = ran.stdout.split("toolsets:").next().expect("a first part");
    insta::assert_snapshot!(ran.normal(shown), @"
    root: [project]
    file: [project]/trailblaze.yaml
    target: null
    platform: android
    trailsDir: './trails'
    agentMode: host
    devices:
      - id: android/sim-1
        driver: android-ondevice-accessibility
        classifiers:
          - android
          - phone
    reservedPrefixes: []
    strictResults: false
    strictNames: false
    servers:
      acme:
        transport: http
        headers:
          - Authorization
        env: []
      local:
        transport: stdio
        headers: []
        env:
          - TOKEN
    targets: {}
    ");
    let browser = json!({"attach": "ws://127.0.0.1:9222", "args": ["--proxy-server", "--mute-audio"]});
    assert_eq!(project.run(&["config", "browser", "--json"]).exits(0).json(), browser);
    assert_eq!(project.run(&["config", "sim.faults", "--json"]).exits(0).json(), json!({}));
    assert_eq!(project.run(&["config", "servers.acme.transport"]).exits(0).stdout, "http\n");
}

#[test]
fn a_part_of_the_configuration_is_asked_for_by_its_key() {
    let project = Project::wallet();
    assert_eq!(project.run(&["config", "target"]).exits(0).stdout, "wallet\n");
    assert_eq!(project.run(&["config", "devices.1.id"]).exits(0).stdout, "ios/sim-1\n");
    insta::assert_snapshot!(project.run(&["config", "toolsets.wallet"]).exits(0).stdout, @"
    file: trailblaze-config/toolsets/wallet.yaml
    tools:
      - wallet_signIn
      - wallet_fillField
      - wallet_balanceFell
    ");
    insta::assert_snapshot!(project.run(&["config", "tools"]).exits(0).stdout, @"
    wallet_balanceFell:
      file: trailblaze-config/tools/wallet_balanceFell.yaml
    wallet_fillField:
      file: trailblaze-config/tools/wallet_fillField.yaml
    wallet_signIn:
      file: trailblaze-config/tools/wallet_signIn.yaml
    ");
    assert_eq!(project.run(&["config", "sim", "--json"]).exits(0).json(), json!({"apps": ["wallet.app.yaml"]}));
    insta::assert_snapshot!(project.run(&["config", "targts"]).exits(3).refusal(), @"
    exit 3
    error: the configuration has no `targts`
    hint: did you mean `targets`?
    ");
}

#[test]
fn shells_complete_every_verb() {
    let project = Project::empty();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = project.run(&["completions", shell]).exits(0).stdout;
        verbs(&project).iter().for_each(|verb| assert!(script.contains(verb.as_str()), "{shell} knows {verb}"));
    }
    project.run(&["completions", "csh"]).exits(3);
}

#[test]
fn every_verb_has_a_man_page() {
    let project = Project::empty();
    let pages = project.run(&["docs", "man", "--out", "man", "--json"]).exits(0).json();
    let pages: Vec<&str> = pages.as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert_eq!(names(project.root()).len(), pages.len());
    for verb in verbs(&project) {
        let page = format!("man/trailblaze-{verb}.1");
        assert!(pages.contains(&page.as_str()), "{page}");
        assert!(project.read(&page).contains(".SH SYNOPSIS"), "{page}");
    }
    assert!(pages.contains(&"man/trailblaze-runs-clean.1"), "{pages:?}");
    let all = project.run(&["docs", "man"]).exits(0).stdout;
    assert_eq!(all.matches(".SH NAME").count(), pages.len());
}

#[test]
fn whoever_stops_reading_has_read_enough() {
    let project = Project::wallet();
    let mut command = project.command(&["config", "--json"]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("the program ends").code(), Some(0));
}

/// The verbs that `--help` lists.
fn verbs(project: &Project) -> Vec<String> {
    let help = project.run(&["--help"]).exits(0).stdout;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let name = |line: &str| Some(line.strip_prefix("  ")?.split(' ').next()?.to_string());
    listed.filter_map(name).filter(|name| !name.is_empty() && name != "help").collect()
}

#[test]
fn every_verb_that_prints_data_can_print_json() {
    let project = Project::empty();
    for verb in verbs(&project) {
        let args: &[&str] = match verb.as_str() {
            // Neither is a script for a shell or a protocol.
            "completions" | "lsp" => continue,
            "device" => &["device", "list", "--help"],
            "model" => &["model", "list", "--help"],
            "session" => &["session", "list", "--help"],
            "daemon" => &["daemon", "status", "--help"],
            "docs" => &["docs", "man", "--help"],
            "mcp" => &["mcp", "install", "--help"],
            "trail" => &["trail", "convert", "--help"],
            "import" => &["import", "maestro", "--help"],
            verb => &[verb, "--help"],
        };
        assert!(project.run(args).exits(0).stdout.contains("--json"), "{verb}");
    }
    assert_eq!(project.run(&["schema", "--json"]).exits(0).json()[0], "trail");
}

#[test]
fn escape_codes_are_for_terminals() {
    let project = two_runs();
    let all: &[&[&str]] = &[
        &["--help"],
        &["run", "fail.trail.yaml"],
        &["run", "missing"],
        &["check", "fail.trail.yaml"],
        &["runs", "list"],
        &["runs", "show"],
        &["runs", "show", "x"],
        &["runs", "clean", "--keep", "9"],
        &["tool", "tap", "id=nowhere", "--sim", "drift=x"],
        &["config"],
        &["docs", "man"],
        &["completions", "zsh"],
        &["nonsense"],
    ];
    for args in all {
        for set in [&[] as &[&str], &["NO_COLOR"], &["NO_COLOR", "CLICOLOR_FORCE"]] {
            let mut command = project.command(args);
            command.envs(set.iter().map(|name| (name, "1")));
            let ran = project.finish(command);
            assert!(!format!("{}{}", ran.stdout, ran.stderr).contains('\x1b'), "{args:?} with {set:?}: {ran:?}");
        }
    }
    // The test can tell: asked for colours, the same words have them.
    let mut command = project.command(&["run", "missing"]);
    command.env("CLICOLOR_FORCE", "1");
    assert!(project.finish(command).stderr.contains('\x1b'));
}

#[test]
fn help_of_the_program() {
    insta::assert_snapshot!(Project::empty().run(&["--help"]).exits(0).stdout, @"
    UI tests in natural language, recorded as they run and replayed without a model

    Usage: trailblaze [OPTIONS] <COMMAND>

    Commands:
      init         Create a project that is ready to run, on simulated phones or in a browser
      run          Run trails on devices
      heal         Show how healing changes the trails of a run, and write it into them
      check        Check every file of the project and every trail, without running anything
      doctor       Check that everything is there that the project needs, and say what to do about what
                   is not
      studio       Work on a device in a browser page: record by pointing, edit and save steps, watch
                   runs
      record       Open a page in a browser window, and record what you do there as a trail
      shell        Explore a device interactively, or by commands from standard input, and save the
                   steps as a trail
      serve        Let other programs use a device through the typed API
      mcp          Let an agent use devices and write trails, as an MCP server
      skill        Print instructions for coding agents
      tool         Call one tool in a session; create, test and check your own tools
      snapshot     Show the screen of a session as text with refs
      do           Let the model carry out a step in a session
      ask          Let the model answer a question about the screen of a session
      batch        Run several commands in a session, and stop at the first one that fails
      session      List, save, replay and end the sessions that stay open between commands
      daemon       See and end the background process that keeps sessions open between commands
      toolbox      List the tools available for a device and a target
      types        Write TypeScript declarations of the tools, so that editors complete them in scripts
      device       List devices, and open one that stays open between commands
      model        List and test language models
      runs         List, show and remove the folders of earlier runs
      report       Write the report of a run again, even of a run that was killed
      config       Show the project's configuration, with defaults filled in and the path of each file
      schema       Print the JSON Schema for a kind of file, or write all of them for the editor
      lsp          Serve an editor over stdin and stdout with the language server protocol
      trail        Work on trail files
      import       Make trails of the files of other tools
      completions  Print a completion script for a shell
      docs         Write man pages
      help         Print this message or the help of the given subcommand(s)

    Options:
      -C, --project <DIR>  The project's folder [default: the nearest one upward that contains a
                           trailblaze.yaml]
      -h, --help           Print help
      -V, --version        Print version
    ");
}

#[test]
fn help_of_run() {
    insta::assert_snapshot!(Project::empty().run(&["run", "--help"]).exits(0).stdout, @"
    Run trails on devices

    Usage: trailblaze run [OPTIONS] [PATHS]...

    Arguments:
      [PATHS]...
              Trails, folders of trails, or patterns such as trails/**/pay*.trail.yaml [default: all
              trails of the project]

    Options:
      -C, --project <DIR>
              The project's folder [default: the nearest one upward that contains a trailblaze.yaml]

      -d, --device <DEVICE>
              Use this device, written platform/name, such as android/sim-1, or the only one of a
              platform; repeat or separate by commas for several
              
              [env: TRAILBLAZE_DEVICE=]

          --headed
              Show the browser window of web devices

          --all-devices
              Run every trail on every device of the project, or on one simulated device of each
              platform if it has none

          --target <TARGET>
              The app under test, by its id in trailblaze-config/targets [default: the project's target]
              
              [env: TRAILBLAZE_TARGET=]

          --until <N>
              Run only the first N steps of each trail

          --record [<LEVEL>]
              Save recordings of passing trails: `calls` writes the calls into the trails, `effects`
              also saves what custom tools did in files next to them [default: calls]

          --replay <REPLAY>
              How to replay calls to custom tools

              Possible values:
              - intent:  Run the tools
              - effects: Play their recorded effects instead, and start no tool servers
              - verify:  Run the tools, and fail the trail if they behave differently from their
                recording
              
              [default: intent]

          --heal <HEAL>
              What to do if a call does not find its element because the app has changed

              Possible values:
              - off:     Fail
              - suggest: Fail, and suggest other calls
              - apply:   Use the best other call if it is clear, and then run the repaired trail from
                its start
              
              [default: suggest]

          --heal-without-model
              Heal only by what was recorded, without asking the model

          --cassette <USE>
              Record the answers of tool servers as cassettes, in cassettes/ in the project, or replay
              them

              Possible values:
              - record: Start the servers, and record their tool lists and answers
              - replay: Start no servers: cassettes answer instead, and repeat the callbacks of the
                tools

          --model <MODEL>
              Carry out steps without recordings with this language model, written provider/model; none
              for no model [default: TRAILBLAZE_DEFAULT_MODEL, else llm.defaults.model of
              trailblaze.yaml]

          --model-cassette <USE>
              Record what the model replies, in cassettes/models/ in the project, or replay it

              Possible values:
              - record: Ask the model, and record its replies
              - replay: Ask no model: cassettes reply instead, to exactly the same requests

          --vision <WHEN>
              When the model gets a picture of the screen, besides its text [default: auto]

              Possible values:
              - auto:   If the text is not enough: drawings, unnamed icons, steps about looks
              - always
              - never

          --model-budget <KEY=VALUE>
              Limit what the run may spend on models: calls=100, tokens=1000000, dollars=2.50 or
              time=10m

          --group <GROUP>
              Offer the model these groups of tools instead of the default ones

          --prefix <PREFIX>
              Offer the model only tools whose names begin with this, such as myapp_*

          --strict[=<WHAT>]
              What is an error instead of a warning; --strict alone means tools

              Possible values:
              - tools:   A custom tool that changed since recording
              - results: A tool that returns success: false
              - names:   An element with another name than when the trail was recorded

          --pictures <PICTURES>
              When to take screenshots [default: step]

              Possible values:
              - off:     Never
              - failure: When something fails
              - step:    Also before and after each step
              - action:  Also before each touch

          --trace <TRACE>
              Which attempts keep a trace: how the screen and its documents looked all along [default:
              failure]

              Possible values:
              - on:      All
              - failure: Those of attempts that do not pass
              - off:     None, and nothing is collected for them

          --update-snapshots
              Write the expected pictures of assertPicture that are missing or differ, instead of
              failing

          --memory <NAME=VALUE>
              Set a value in memory before the start, as name=value

          --arg <NAME=VALUE>
              Pass an argument to the trails, as name=value

          --secret <NAME>
              Use an environment variable as a secret: {{NAME}} types its value, which is never shown

          --tags <TAG>
              Run only trails with one of these tags; !tag excludes trails

          --grep <WORDS>
              Run only trails whose id, title or path contains this, ignoring case

          --workers <N>
              Use up to N devices in parallel; opens more devices of the same kind as needed

          --retries <N>
              Retry a failed trail up to N times; a fatal error is never retried
              
              [default: 0]

          --repeat-each <N>
              Run each trail N times
              
              [default: 1]

          --fail-fast
              Start no more trails after the first failure

          --last-failed
              Run only trails that failed when they last ran

          --shard <I/N>
              Run one shard of several, such as 2/5, balanced by how long trails took before

          --timeout <TIME>
              Limit each attempt at a trail to this time, such as 90s

          --dry-run
              Print what would run, without running it

          --watch
              Rerun the trails that a changed file affects, and hot-swap changed tools during a run

          --seed <SEED>
              Seed for jitter, drift and faults of simulated devices; if random, it is printed

          --sim <KEY=VALUE>
              Configure simulated devices: latency=20ms, jitter=5ms, drift=3, slowScreen=1s,
              refuse=0.05, lostAfter=12, lostAt=0.01

          --logs <DIR>
              Create run folders here [default: logs/ in the project]

          --port <PORT>
              The port on 127.0.0.1 that tools call back to [default: 52525, or a free port]
              
              [env: TRAILBLAZE_PORT=]

          --ui
              Choose, run and watch trails in a browser page instead; the given trails are selected
              there

      -v, --verbose
              Show what custom tools log and print

          --json
              Print the summary as JSON

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version
    ");
}
