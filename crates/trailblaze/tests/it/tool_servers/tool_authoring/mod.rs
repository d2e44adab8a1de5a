//! What tool authors are given: a tool to start from, its tests, a look at what it costs, and at what is odd about it.

mod kotlin;
mod output;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::support::lab::{Lab, Runtime, parts};
use crate::support::{Project, files, repository};
use serde_json::{Value, json};

/// A lab with Python on the PATH too.
fn with_python(runtime: Runtime) -> Option<Lab> {
    let lab = Lab::under(runtime)?;
    let path = format!("{}:{}", lab.path("bin"), parts()?.join("python/bin").display());
    lab.env("PATH", path);
    // As if the package had been installed.
    lab.env("PYTHONPATH", repository().join("sdks/python/src").display().to_string());
    lab.env("PYTHONDONTWRITEBYTECODE", "1");
    Some(lab)
}

/// The rule and the words of each finding.
fn findings(answer: &Value) -> Vec<(String, String)> {
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_string();
    let all = answer["findings"].as_array().expect("a list of findings").iter();
    all.map(|finding| (text(finding, "rule"), text(finding, "message"))).collect()
}

#[test]
fn a_new_yaml_tool_runs_at_once() {
    let project = Project::counter();
    let before = project.read("trailblaze.yaml");
    let new = project.run(&["tool", "new", "acme_without", "--lang", "yaml"]).exits(0);
    assert_eq!(new.stdout, "trailblaze-config/tools/acme_without.yaml\ntrails/tools/acme_without.trail.yaml\n");
    assert_eq!(project.read("trailblaze.yaml"), before, "a YAML tool needs no entry");
    project.run(&["check"]).exits(0);
    project.run(&["run"]).exits(0);
    project.run(&["tool", "acme_without", "text=Pay"]).exits(0);
    let failed = ["tool", "acme_without", "text=Count: 0", "timeoutMs=0", "--launch", "com.example.counter"];
    project.run(&failed).exits(1);
    project.run(&["tool", "test", "acme_without"]).exits(0);
    assert_eq!(project.run(&["tool", "lint"]).exits(0).stdout, "1 tool, no problems\n");
}

#[test]
fn tool_test_says_which_tests_in_rust_it_does_not_run() {
    let project = Project::counter();
    project.run(&["tool", "new", "acme_without", "--lang", "yaml"]).exits(0);
    let words = "does not run unit tests in Rust";
    assert!(!project.run(&["tool", "test"]).exits(0).stderr.contains(words));
    project.run(&["tool", "new", "acme_countText", "--lang", "rust"]).exits(0);
    let tested = project.run(&["tool", "test", "acme_without"]).exits(0).stderr;
    let hint = format!("hint: `tool test` {words}; `cargo test --manifest-path tools/Cargo.toml` does\n");
    assert!(tested.contains(&hint), "{tested}");
}

#[test]
fn a_new_typescript_tool_runs_at_once() {
    for runtime in [Runtime::Bun, Runtime::Node] {
        let Some(lab) = Lab::under(runtime) else { return };
        let before = "# the counter\nsim:\n  apps: [counter.app.yaml] # ours\n";
        lab.with("trailblaze.yaml", before);
        lab.go(&["tool", "new", "acme_countText", "--lang", "ts"]).exits(0);
        let entry = "mcpServers:\n  tools:\n    script: tools/tool-server.ts\n    multiDevice: stdio\n";
        assert_eq!(lab.project.read("trailblaze.yaml"), format!("{before}{entry}"));
        let called = lab.go(&["tool", "acme_countText", "text=Count: 0", "--launch", "com.example.counter"]).exits(0);
        assert_eq!(called.stdout, "1 on the screen\n");
        let played = lab.run(&[], 0);
        assert_eq!(played.texts("acme_countText"), ["0 on the screen"]);
        let tested = lab.go(&["tool", "test"]).exits(0);
        assert!(tested.stdout.starts_with("passed  tools/acme_countText.test.ts\n"), "{}", tested.stdout);
        assert!(tested.stdout.ends_with("1 of 1 test file passed\n"), "{}", tested.stdout);
        assert_eq!(lab.go(&["tool", "lint"]).exits(0).stdout, "1 tool, no problems\n");

        // A second one joins the server of the first.
        lab.go(&["tool", "new", "acme_countAgain", "--lang", "ts"]).exits(0);
        assert_eq!(lab.project.read("trailblaze.yaml"), format!("{before}{entry}"));
        assert_eq!(lab.offered(&["--prefix", "acme_*"]), ["acme_countAgain", "acme_countText"]);
    }
}

#[test]
fn the_packages_for_typescript_come_along_where_there_are_none() {
    let Some(lab) = Lab::under(Runtime::Node) else { return };
    let root = lab.project.root();
    let names = ["client", "scripting"];
    let installed = |name: &str| root.join("node_modules/@trailblaze").join(name);
    names.iter().for_each(|name| std::fs::remove_file(installed(name)).expect("it is a link"));
    std::fs::remove_file(root.join("package.json")).expect("it is a file");
    let new = lab.go(&["tool", "new", "acme_countText", "--lang", "ts", "--json"]).exits(0).json();
    assert_eq!(new["next"][0], "npm install");
    let manifest = |text: &str| -> Value { serde_json::from_str(text).expect("JSON") };
    let project = manifest(&lab.project.read("package.json"));
    for name in names {
        assert_eq!(project["dependencies"][format!("@trailblaze/{name}")], format!("file:.trailblaze/{name}"));
        // Every source of the package is there, and nothing else.
        let sources = repository().join(format!("sdks/typescript/{name}/src"));
        let copy = root.join(format!(".trailblaze/{name}"));
        let inside = |folder: &std::path::Path| -> Vec<(String, String)> {
            let name = |path: &std::path::PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
            files(folder).iter().map(|path| (name(path), std::fs::read_to_string(path).unwrap())).collect()
        };
        for folder in ["src", "types"] {
            assert_eq!(inside(&copy.join(folder)), inside(&sources.with_file_name(folder)));
        }
        assert!(copy.join("README.md").is_file());
        let own = manifest(&lab.project.read(&format!(".trailblaze/{name}/package.json")));
        let package = manifest(&std::fs::read_to_string(sources.with_file_name("package.json")).unwrap());
        for key in ["name", "version", "license", "type", "dependencies", "peerDependencies"] {
            assert_eq!(own[key], package[key], "`{key}` of the copy of {name}");
        }
        let entries =
            |manifest: &Value| manifest["exports"].as_object().expect("exports").keys().cloned().collect::<Vec<_>>();
        assert_eq!(entries(&own), entries(&package), "exports of the copy of {name}");
        // As `npm install` links it.
        std::os::unix::fs::symlink(format!("../../.trailblaze/{name}"), installed(name)).expect("a link");
    }
    lab.run(&[], 0);
    lab.go(&["tool", "test"]).exits(0);
}

#[test]
fn a_new_python_tool_runs_at_once() {
    let Some(lab) = with_python(Runtime::Nothing) else { return };
    lab.configured("mcpServers: {} # those of the project\n");
    let new = lab.go(&["tool", "new", "acme_newEmail", "--lang", "py"]).exits(0);
    assert_eq!(
        new.stdout,
        "tools/acme_newEmail_tool.py\ntools/test_acme_newEmail.py\ntrails/tools/acme_newEmail.trail.yaml\n\
         tools/tool_server.py\nrequirements.txt\n.trailblaze/python/\ntrailblaze.yaml (changed)\n"
    );
    let next =
        "Next:\n  python3 -m venv .venv\n  .venv/bin/python -m pip install -r requirements.txt\n  trailblaze tool ";
    assert!(new.stderr.contains(next), "{}", new.stderr);
    assert!(lab.project.read("trailblaze.yaml").contains("mcpServers: # those of the project\n  python-tools:\n"));
    // As if the package had been installed.
    let package = lab.project.root().join(".trailblaze/python/src/trailblaze");
    std::os::unix::fs::symlink(package, lab.project.root().join("tools/trailblaze")).expect("a link");
    // Another tool joins the same server.
    let second = lab.go(&["tool", "new", "acme_otherEmail", "--lang", "py", "--json"]).exits(0).json();
    assert_eq!(second["changed"], json!(["tools/tool_server.py"]), "{second}");
    for name in ["acme_newEmail", "acme_otherEmail"] {
        let called = lab.go(&["tool", name, "name=ada"]).exits(0);
        assert!(called.stdout.starts_with("ada+") && called.stdout.ends_with("@example.com\n"), "{}", called.stdout);
    }
    lab.run(&[], 0);
    lab.with("lines", "launchApp packageId=com.example.counter\nacme_newEmail name=ada field='Your name'\nsnapshot\n");
    let mut shell = lab.command(&["shell", "-d", "android/sim-1"]);
    shell.stdin(std::fs::File::open(lab.path("lines")).expect("a file"));
    let shown = lab.finish(shell).exits(0).stdout;
    assert!(shown.contains("Hello, ada+"), "it was typed: {shown}");
    let tested = lab.go(&["tool", "test", "acme_newEmail"]).exits(0);
    assert!(tested.stdout.starts_with("passed  tools/test_acme_newEmail.py\n"), "{}", tested.stdout);
    assert_eq!(lab.go(&["tool", "lint", "acme_newEmail"]).exits(0).stdout, "1 tool, no problems\n");
    assert!(lab.project.read("requirements.txt").lines().any(|line| line == "./.trailblaze/python"));
    let ours = repository().join("sdks/python/src/trailblaze");
    let copy = lab.project.root().join(".trailblaze/python/src/trailblaze");
    let sources = |folder: &Path| {
        let is_source = |path: &PathBuf| !path.components().any(|part| part.as_os_str() == "__pycache__");
        let relative = |path: &PathBuf| path.strip_prefix(folder).expect("a file of the folder").to_path_buf();
        let read = |path: PathBuf| (relative(&path), std::fs::read_to_string(&path).expect("text"));
        files(folder).into_iter().filter(is_source).map(read).collect::<Vec<_>>()
    };
    assert_eq!(sources(&copy), sources(&ours), "the whole package, in the version of this build");
}

#[test]
fn a_new_rust_tool_is_a_crate_of_its_own_that_cargo_accepts() {
    let project = Project::counter();
    let new = project.run(&["tool", "new", "acme_countText", "--lang", "rust"]).exits(0);
    assert_eq!(
        new.stdout,
        "tools/src/acme_count_text_tool.rs\ntrails/tools/acme_countText.trail.yaml\ntools/src/main.rs\ntools/Cargo.toml\n\
         .trailblaze/rust/\ntrailblaze.yaml (changed)\n"
    );
    assert!(
        new.stderr.contains("Next:\n  cargo build --manifest-path tools/Cargo.toml\n  trailblaze tool "),
        "{}",
        new.stderr
    );
    let second = project.run(&["tool", "new", "acme_other", "--lang", "rust", "--json"]).exits(0).json();
    assert_eq!(second["changed"], json!(["tools/src/main.rs"]), "{second}");
    // As in our own workspace, whose crates are there without a network.
    std::fs::copy(repository().join("Cargo.lock"), project.root().join("tools/Cargo.lock")).expect("a copy");
    let cargo = |args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO"));
        command.args(args).args(["--offline", "--manifest-path", "tools/Cargo.toml"]).current_dir(project.root());
        command.env_remove("RUSTC_WORKSPACE_WRAPPER").env_remove("CARGO_TARGET_DIR");
        let output = command.output().expect("cargo starts");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    // For this machine only: nothing has downloaded what other systems need.
    let tree = String::from_utf8(cargo(&["tree", "--prefix", "none"])).expect("text");
    let in_a_folder = tree.lines().filter(|line| line.contains(" (/"));
    let ours: BTreeSet<&str> = in_a_folder.filter_map(|line| line.split_once(' ')).map(|(name, _)| name).collect();
    let expected =
        ["rust-tools", "trailblaze-client", "trailblaze-protocol", "trailblaze-tools", "trailblaze-tools-macros"];
    assert_eq!(ours, BTreeSet::from(expected), "the product is not built");
    if crate::support::is_full_tier() {
        cargo(&["test"]);
        cargo(&["build"]);
        project.run(&["tool", "acme_countText", "text=Pay", "-d", "android/sim-1"]).exits(0);
        project.run(&["tool", "test", "-d", "android/sim-1"]).exits(0);
    }
}

#[test]
fn a_python_tool_calls_back_as_its_guide_says() {
    let Some(lab) = with_python(Runtime::Nothing) else { return };
    let guide = std::fs::read_to_string(repository().join("docs/tools-python.md")).expect("the guide");
    let (_, after) = guide.split_once("## Calling back").expect("a chapter");
    let (_, block) = after.split_once("```python\n").expect("a block");
    let code = block.split_once("```").expect("its end").0;
    let (head, tail) = ("from fastmcp import FastMCP\n\ntools = FastMCP('acme')\n", "\ntools.run(show_banner=False)\n");
    let (_, tool) = code.split_once("@tools.tool").expect("a tool");
    // The same tool, which does not wait for a button that never appears.
    let impatient = tool.replace("acme_pressAndRead", "acme_pressNow").replace("=button)", "=button, timeout_ms=50)");
    lab.project.write("tools/acme.py", format!("{head}{code}\n@tools.tool{impatient}{tail}"));
    // As if it had been installed.
    let package = repository().join("sdks/python/src");
    let server = format!(
        "{{name: acme, command: python3, args: [tools/acme.py], env: {{PYTHONPATH: '{}'}}}}",
        package.display()
    );
    lab.configured(&format!("mcpServers: [{server}]\n"));
    let lines = "launchApp packageId=com.example.counter\nacme_pressAndRead button='Add one' label=count\n\
                 acme_pressNow button='Add two' label=count\n";
    lab.with("lines", lines);
    let mut shell = lab.command(&["shell", "--json"]);
    shell.stdin(std::fs::File::open(lab.path("lines")).expect("a file"));
    let answers = lab.finish(shell).json_lines();
    assert_eq!(answers[1]["answer"]["text"], "Count: 1", "{answers:?}");
    let failed = answers[2]["error"].as_str().unwrap_or_default();
    assert!(failed.contains("nothing on the screen has the text \"Add two\""), "{answers:?}");
}

#[test]
fn the_python_of_the_project_comes_before_that_of_the_machine() {
    let Some(lab) = with_python(Runtime::Nothing) else { return };
    let own = lab.project.root().join(".venv/bin");
    std::fs::create_dir_all(&own).expect("a folder");
    let Some(python) = parts().map(|parts| parts.join("python/bin/python3")) else { return };
    std::os::unix::fs::symlink(std::fs::canonicalize(python).expect("Python"), own.join("python")).expect("a link");
    // This file makes it a virtual environment, which has no libraries of its own.
    lab.project.write(".venv/pyvenv.cfg", "home = /nowhere\n");
    lab.project.write("tools/acme.py", "import sys\nprint(sys.executable, file=sys.stderr)\nimport fastmcp\n");
    lab.configured("mcpServers: [{name: acme, command: python3, args: [tools/acme.py]}]\n");
    let ran = lab.go(&["toolbox"]).exits(2);
    assert!(ran.stderr.contains(".venv/bin/python"), "{}", ran.stderr);
}

#[test]
fn a_tool_of_one_app_goes_into_its_target() {
    let Some(lab) = Lab::new() else { return };
    let target = "id: fixture # an app\nplatforms:\n  android:\n    app_ids: [com.example.counter]\n";
    lab.configured("").with("trailblaze-config/targets/fixture.yaml", target);
    let args = ["tool", "new", "acme_countText", "--lang", "ts", "--target", "fixture"];
    let new = lab.go(&[&args[..], &["--json"]].concat()).exits(0).json();
    assert_eq!(new["changed"], json!(["trailblaze-config/targets/fixture.yaml"]));
    assert_eq!(new["next"][0], "trailblaze tool acme_countText text=Pay --target fixture");
    let after = format!(
        "{target}mcp_servers:\n  fixture-tools:\n    script: tools/tool-server-fixture.ts\n    multiDevice: stdio\n    \
         toolset: fixture-tools\n"
    );
    assert_eq!(lab.project.read("trailblaze-config/targets/fixture.yaml"), after);
    lab.go(&["tool", "acme_countText", "text=Pay", "--target", "fixture"]).exits(0);
    let offered = lab.offered(&["--target", "fixture"]);
    assert!(offered.contains(&"acme_countText".to_string()), "models are offered it: {offered:?}");
    // Its trail uses the target. A tool of the whole project does not collide with it.
    lab.go(&["tool", "new", "acme_countAll", "--lang", "ts"]).exits(0);
    let played = lab.run(&[], 0);
    assert_eq!(played.run.summary()["counts"]["passed"], 2);
    lab.go(&["tool", "test", "acme_countText"]).exits(0);
}

#[test]
fn nothing_that_exists_is_written_over_unless_asked() {
    let project = Project::counter().with("trailblaze-config/tools/acme_a.yaml", "id: acme_b\nclass: tap\n");
    let new = ["tool", "new", "acme_a", "--lang", "yaml"];
    insta::assert_snapshot!(project.run(&new).refusal(), @"
    exit 3
    error: these files exist in `[project]`:
      trailblaze-config/tools/acme_a.yaml
    hint: `--force` overwrites them
    ");
    assert_eq!(project.read("trailblaze-config/tools/acme_a.yaml"), "id: acme_b\nclass: tap\n");
    assert!(!project.root().join("trails").exists(), "nothing at all was written");
    project.run(&[&new[..], &["--force"]].concat()).exits(0);
    project.run(&[&new[..], &["--force"]].concat()).exits(0);
    project.run(&["tool", "acme_a", "text=Pay"]).exits(0);

    // A file in the way of a folder is kept, too.
    let project = Project::empty().with("tools", "mine");
    insta::assert_snapshot!(project.run(&["tool", "new", "acme_b", "--lang", "ts"]).refusal(), @"
    exit 3
    error: `tools` is a file, but a folder is needed there
    ");
    assert_eq!(files(project.root()).len(), 1, "nothing was written");

    // If the list of servers cannot be extended safely, the user is asked to do it, and nothing is written.
    let project = Project::empty().with("trailblaze.yaml", "? mcpServers\n: {}\n");
    insta::assert_snapshot!(project.run(&["tool", "new", "acme_b", "--lang", "py"]).refusal(), @"
    exit 3
    error: the servers of `trailblaze.yaml` are written in a way that cannot be extended safely
    hint: add this by hand and try again:
      mcpServers:
        python-tools:
          command: python3
          args:
            - tools/tool_server.py
    ");
    assert_eq!(files(project.root()).len(), 1, "nothing was written");
}

#[test]
fn a_bad_name_gets_the_rule() {
    let project = Project::counter();
    let refused = |name: &str| project.run(&["tool", "new", name, "--lang", "yaml"]).refusal();
    insta::assert_snapshot!(refused("Sign-In"), @"
    exit 3
    error: the name `Sign-In` does not follow the convention: camelCase words joined by _
    hint: names look like signIn, acme_signIn or acme_ios_acceptCookies_v2
    ");
    insta::assert_snapshot!(refused("../x"), @"
    exit 3
    error: `../x` is not a valid tool name: use 1 to 64 of the characters a-z, A-Z, 0-9, _ and -
    hint: names look like signIn, acme_signIn or acme_ios_acceptCookies_v2
    ");
    insta::assert_snapshot!(refused("web_x"), @"
    exit 3
    error: the name `web_x` starts with the reserved prefix `web_`; to allow it, add `reservedPrefixes: [web_]` to trailblaze.yaml
    hint: names look like signIn, acme_signIn or acme_ios_acceptCookies_v2
    ");
    insta::assert_snapshot!(refused("tap"), @"
    exit 3
    error: a tool `tap` already exists: built-in
    hint: choose another name; prefix it with the name of the app, such as acme_…
    ");
    insta::assert_snapshot!(refused("test"), @"
    exit 3
    error: `test` is a command of `trailblaze tool` and would hide the tool
    hint: prefix it with the name of the app, such as acme_…
    ");
    assert_eq!(files(project.root()).len(), 2, "nothing was written");
    let unknown = ["tool", "new", "acme_a", "--lang", "ts", "--target", "x"];
    insta::assert_snapshot!(project.run(&unknown).refusal(), @"
    exit 3
    error: unknown target `x`
    ");
}

#[test]
fn commands_win_over_tools_of_their_name_and_flags_do_not_hide_them() {
    let project = Project::counter();
    insta::assert_snapshot!(project.run(&["tool", "-d", "android/sim-1", "lint"]).refusal(), @"
    exit 3
    error: unknown tool `lint`
    hint: `lint` is a command and must come before any flag: trailblaze tool lint
    ");
    let help = project.run(&["tool", "--help"]).exits(0).stdout;
    assert!(help.contains("A first word that is a command is never a tool name."), "{help}");
    project.run(&["tool"]).exits(3);
    project.run(&["tool", "isVisible", "text=x"]).exits(0);
}

#[test]
fn a_failing_test_of_a_tool_is_a_failed_test() {
    let Some(lab) = with_python(Runtime::Bun) else { return };
    lab.configured("");
    lab.with(
        "tools/a.test.ts",
        "import { test } from 'node:test';\ntest('a', () => { throw new Error('acme_a'); });\n",
    );
    lab.with("tools/b.test.ts", "import { test } from 'node:test';\ntest('acme_b', () => {});\n");
    lab.with(
        "tools/test_c.py",
        "import unittest\nclass C(unittest.TestCase):\n  def test_c(self): self.fail('acme_c')\n",
    );
    lab.with(
        "trails/d.trail.yaml",
        "trail:\n  - step: Go\n    tools:\n      - assertVisible: {text: acme_d, timeoutMs: 0}\n",
    );
    assert_eq!(lab.go(&["tool", "test", "acme_a"]).exits(1).stdout, "failed  tools/a.test.ts\n");
    assert_eq!(lab.go(&["tool", "test", "acme_b"]).exits(0).stdout, "passed  tools/b.test.ts\n");
    let python = lab.go(&["tool", "test", "tools/test_c.py"]).exits(1);
    assert_eq!(python.stdout, "failed  tools/test_c.py\n");
    assert!(python.stderr.contains("acme_c"), "what the runner says is shown: {}", python.stderr);
    assert!(!python.stderr.contains("panicked"), "{}", python.stderr);
    lab.go(&["tool", "test", "trails/d.trail.yaml"]).exits(1);
    insta::assert_snapshot!(lab.go(&["tool", "test", "acme_e"]).refusal(), @"
    exit 3
    error: no test for a tool `acme_e`
    hint: add a test file next to the tools that mentions it, such as tools/acme_e.test.ts, or a trail that calls it
    ");
    insta::assert_snapshot!(lab.go(&["tool", "test", "tools/x.test.ts"]).refusal(), @"
    exit 3
    error: `tools/x.test.ts` does not exist
    hint: test files are named *.test.ts (or .js), test_*.py and *Test.kt, trails *.trail.yaml
    ");
    insta::assert_snapshot!(Project::counter().run(&["tool", "test"]).refusal(), @"
    exit 3
    error: the project has no tests for tools
    hint: a test is a file next to its tool, named *.test.ts, test_*.py or *Test.kt, or a trail that calls it
    ");
}

#[test]
fn a_test_that_never_ends_is_ended() {
    let Some(lab) = Lab::new() else { return };
    lab.configured("").with("tools/a.test.ts", "setInterval(() => {}, 1000);\nawait new Promise(() => {});\n");
    let ran = lab.go(&["tool", "test", "--timeout", "1s"]).exits(2);
    assert!(ran.stderr.contains("ran tests for longer than 1s"), "{}", ran.stderr);
}

#[test]
fn lint_names_what_a_model_would_stumble_over() {
    let long = "word ".repeat(300);
    let yaml = format!(
        "id: acme_long\ndescription: {long}\nparameters:\n  - {{name: x, type: string}}\nsupportedDrivers: [andriod-host]\n\
         tools:\n  - pressBack: {{}}\n"
    );
    let project = Project::counter().with("trailblaze-config/tools/acme_long.yaml", yaml);
    let linted = project.run(&["tool", "lint", "--json"]).exits(0).json();
    let found = findings(&linted);
    let has = |rule: &str, words: &str| found.iter().any(|(known, message)| known == rule && message.contains(words));
    assert!(has("description", "has 1499 characters"), "{found:?}");
    assert!(has("description", "the parameter `x` of `acme_long` has no description"), "{found:?}");
    assert!(has("metadata", "the unknown driver `andriod-host`"), "{found:?}");
    assert_eq!(found.len(), 3, "{found:?}");
    project.run(&["tool", "lint", "--strict"]).exits(3);
    insta::assert_snapshot!(project.run(&["tool", "lint", "acme_lnog"]).refusal(), @"
    exit 3
    error: the project defines no tool `acme_lnog`
    hint: did you mean `acme_long`?
    ");
    project.write(
        "trailblaze-config/tools/web_bad.yaml",
        "id: web_bad\ndescription: Bad.\nparameters: []\ntools: [pressBack: {}]\n",
    );
    let linted = project.run(&["tool", "lint", "--json"]).exits(3).json();
    assert_eq!(linted["errors"], 1, "{linted}");
}

#[test]
fn the_examples_have_nothing_to_mend() {
    assert_eq!(Project::wallet().run(&["tool", "lint", "--strict"]).exits(0).stdout, "3 tools, no problems\n");
    let Some(lab) = with_python(Runtime::Bun) else { return };
    lab.example("acme-tools");
    assert_eq!(lab.go(&["tool", "lint", "--strict"]).exits(0).stdout, "6 tools, no problems\n");
    assert!(
        lab.go(&["tool", "test", "acme_checkBalance"]).exits(0).stdout.contains("passed  tools/payments.test.ts\n")
    );
}

/// A server that answers what it is told to, in one generation.
const SMALL: &str = r#"
import json, sys
TOOLS = json.load(open("tools.json"))
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    if asked["method"] == "initialize":
        answer["result"] = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif asked["method"] == "tools/list":
        answer["result"] = {"tools": TOOLS}
    else:
        answer["error"] = {"code": -32601, "message": "method not found"}
    print(json.dumps(answer), flush=True)
if "--stay" in sys.argv:
    sys.exit(7)
"#;

#[test]
fn lint_asks_servers_and_doctor_says_what_to_mend() {
    let Some(lab) = with_python(Runtime::Nothing) else { return };
    let small = "mcpServers:\n  small: {command: python3, args: [small.py]}\n  odd: {command: python3, args: [small.py, --stay]}\n  gone: {command: no-such-program}\n";
    let tools = json!([
        {"name": "acme_good", "description": "Good.", "inputSchema": {"type": "object"}},
        {"name": "acme bad", "description": "Bad.", "inputSchema": {"type": "object"}},
        {"name": "acme_silent", "inputSchema": {"type": "object", "properties": {"x": {}}, "required": ["y"]}},
        {"name": "acme_none", "description": "None.", "inputSchema": {"type": "string"}},
        {"name": "acme_meta", "description": "Meta.", "inputSchema": {"type": "object"}, "_meta": {"trailblaze/isForLlm": "yes", "trailblaze/groups": ["g"]}},
    ]);
    lab.configured(small).with("small.py", SMALL).with("tools.json", &tools.to_string());
    let doctor = |server: &str, code: i32| lab.go(&["tool", "doctor", server, "--json"]).exits(code).json();
    let states = |answer: &Value| -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        let findings = answer["findings"].as_array().expect("findings").iter();
        findings.map(|finding| (text(&finding["state"]), text(&finding["message"]))).collect()
    };
    let found = states(&doctor("small", 3));
    let has = |state: &str, words: &str| found.iter().any(|(known, message)| known == state && message.contains(words));
    assert!(has("ok", "it starts, and negotiates version 2025-06-18 of the protocol"), "{found:?}");
    assert!(has("note", "it does not support version 2026-07-28, which is fine"), "{found:?}");
    assert!(has("ok", "it lists 4 tools"), "{found:?}");
    assert!(has("error", "`acme bad` is not a valid tool name"), "{found:?}");
    assert!(
        has("error", "`acme_none` cannot be used: its `inputSchema` must be for an object, got \"string\""),
        "{found:?}"
    );
    assert!(has("warning", "`acme_silent` has no description"), "{found:?}");
    assert!(has("warning", "the parameter `x` of `acme_silent` has no type"), "{found:?}");
    assert!(has("warning", "`acme_silent` requires `y`, which its schema does not describe"), "{found:?}");
    assert!(has("warning", "`isForLlm` in its _meta must be a boolean, got \"yes\""), "{found:?}");
    assert!(has("warning", "the group `g`, which is not declared anywhere"), "{found:?}");
    assert!(has("ok", "it exits when its stdin closes"), "{found:?}");

    lab.with("tools.json", &json!([tools[0]]).to_string());
    let found = states(&doctor("odd", 0));
    assert!(found.contains(&("warning".into(), "when its stdin closed, it exited with code 7".into())), "{found:?}");
    let found = states(&doctor("gone", 2));
    assert!(found[0].0 == "error" && found[0].1.contains("there is no program `no-such-program`"), "{found:?}");
    insta::assert_snapshot!(lab.go(&["tool", "doctor", "smal"]).refusal(), @"
    exit 3
    error: the project has no tool server `smal`
    hint: did you mean `small`?
    ");
    insta::assert_snapshot!(lab.go(&["tool", "doctor", "small"]).exits(0).stdout, @"
    server `small`
      ok       it starts, and negotiates version 2025-06-18 of the protocol
      note     it does not support version 2026-07-28, which is fine: it refuses version 2026-07-28 of the protocol, which was requested: method not found (-32601)
      ok       it lists 1 tool
      ok       it exits when its stdin closes
    ");
    // A server that cannot be asked cannot be judged.
    lab.go(&["tool", "lint"]).exits(2);
}

#[test]
fn what_a_tool_says_of_itself_is_listed_and_the_flags_of_a_delegating_one_are_fine() {
    let Some(lab) = with_python(Runtime::Nothing) else { return };
    let meta = json!({
        "trailblaze/isDelegating": true, "trailblaze/isRecordable": false, "trailblaze/requiresContext": true,
        "trailblaze/supportedPlatforms": ["ANDROID", "IOS"], "trailblaze/supportedDrivers": ["android-ondevice-accessibility"],
        "trailblaze/toolset": "acme",
    });
    let schema = json!({"type": "object"});
    let tools = json!([{"name": "acme_pick", "description": "Pick.", "inputSchema": schema, "_meta": meta}]);
    lab.configured("mcpServers:\n  small: {command: python3, args: [small.py]}\n");
    lab.with("small.py", SMALL).with("tools.json", &tools.to_string());
    let device = ["-d", "android/sim-1", "--json"];
    let toolbox = lab.go(&[&["toolbox", "--all", "--search", "acme_pick"], &device[..]].concat()).exits(0).json();
    let tool = &toolbox[0]["tools"][0];
    let listed = [
        ("requiresContext", json!(true)),
        ("supportedPlatforms", json!(["android", "ios"])),
        ("supportedDrivers", json!(["android-ondevice-accessibility"])),
        ("toolset", json!("acme")),
        ("toolsets", json!(["acme"])),
        ("groups", json!([])),
    ];
    for (key, value) in listed {
        assert_eq!(tool[key], value, "{key} of {tool}");
    }
    assert_eq!(lab.go(&["tool", "lint", "--strict"]).exits(0).stdout, "1 tool, no problems\n");
}

#[test]
fn doctor_finds_both_generations_of_a_server_that_speaks_them() {
    let Some(lab) = Lab::new() else { return };
    lab.fixture("newer.ts").configured("mcpServers:\n  newer: {script: ./tools/newer.ts}\n");
    let answer = lab.go(&["tool", "doctor", "newer", "--json"]).exits(0).json();
    let first = answer["findings"][0]["message"].as_str().expect("a message");
    assert!(
        first.contains("2026-07-28") || answer.to_string().contains("it also supports version 2026-07-28"),
        "{answer}"
    );
}

#[test]
fn doctor_finds_a_context_that_the_library_removes() {
    let Some(lab) = Lab::new() else { return };
    lab.fixture("context.ts").configured("mcpServers:\n  context: {script: ./tools/context.ts}\n");
    let answer = lab.go(&["tool", "doctor", "context"]).exits(0).stdout;
    let words = "its script reads `_trailblazeContext`, but `McpServer` removes arguments that a tool does not declare, so \
                 `context_undeclared` never gets it";
    assert!(answer.contains(words), "{answer}");
}

#[test]
fn the_budget_counts_what_models_are_offered() {
    let project = Project::wallet();
    let budget = project.run(&["toolbox", "budget", "-d", "android/sim-1", "--json"]).exits(0).json();
    let toolbox = project.run(&["toolbox", "--for-model", "-d", "android/sim-1"]).exits(0).json();
    let offered = toolbox.as_array().unwrap();
    assert_eq!(budget[0]["total"]["tools"], offered.len());
    let row = |kind: &str, name: &str| -> Value {
        let rows = budget[0][kind].as_array().unwrap().iter();
        rows.filter(|row| row["name"] == name).cloned().collect()
    };
    // The same count, computed from the toolbox.
    let tool = offered.iter().find(|tool| tool["name"] == "wallet_signIn").unwrap();
    let characters = tool.to_string().chars().count();
    let expected =
        json!([{"name": "wallet_signIn", "tools": 1, "characters": characters, "tokens": characters.div_ceil(4)}]);
    assert_eq!(row("tools", "wallet_signIn"), expected);
    assert_eq!(row("toolsets", "wallet")[0]["tools"], 3);
    assert_eq!(row("sources", "trailblaze-config/tools/wallet_signIn.yaml")[0]["tokens"], expected[0]["tokens"]);
    let sum: u64 = budget[0]["tools"].as_array().unwrap().iter().map(|row| row["tokens"].as_u64().unwrap()).sum();
    assert_eq!(budget[0]["total"]["tokens"], sum);

    let max = |tokens: u64| {
        vec![
            "toolbox".to_string(),
            "budget".into(),
            "-d".into(),
            "ios/sim-1".into(),
            "--max".into(),
            tokens.to_string(),
        ]
    };
    let run = |args: Vec<String>| project.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
    run(max(1_000_000)).exits(0);
    let over = run(max(10)).exits(1);
    assert!(over.stderr.contains("error: the tools of ios/sim-1 cost about "), "{}", over.stderr);
    assert!(over.stderr.contains("one token for 4 characters"), "how it is counted is said: {}", over.stderr);
}

/// The fenced block of a document that follows a line naming a file.
fn shown_file(document: &str, path: &str) -> String {
    let text = std::fs::read_to_string(repository().join(document)).expect(document);
    let (_, after) =
        text.split_once(&format!("`{path}`:\n\n```")).unwrap_or_else(|| panic!("{document} shows no `{path}`"));
    let (_, block) = after.split_once('\n').expect("a block");
    block.split_once("```").expect("its end").0.to_string()
}

#[test]
fn the_guides_show_what_is_written() {
    let cases = [
        ("docs/tools-typescript.md", "ts", "acme_countText"),
        ("docs/tools-python.md", "py", "acme_newEmail"),
        ("docs/kotlin.md", "kotlin", "acme_countText"),
        ("docs/tools-yaml.md", "yaml", "acme_without"),
        ("docs/tools-script.md", "js", "acme_count"),
    ];
    for (document, lang, name) in cases {
        let project = Project::empty();
        let new = project.run(&["tool", "new", name, "--lang", lang, "--json"]).exits(0).json();
        let written = new["written"].as_array().unwrap().iter().map(|path| path.as_str().unwrap());
        let is_told = |path: &&str| {
            let is_copy = path.starts_with(".trailblaze/");
            let is_shared =
                path.ends_with("tool-server.ts") || path.ends_with("/Main.kt") || *path == "trailblaze.yaml";
            !is_copy && (path.contains(name) || path.contains("AcmeCountText") || is_shared)
        };
        for path in written.filter(is_told) {
            assert_eq!(shown_file(document, path), project.read(path), "{document}: {path}");
        }
    }
}
