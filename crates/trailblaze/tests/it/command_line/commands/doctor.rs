//! `doctor`: what is missing is told, and the exit code tells what kind of problem it is.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::Value;

use crate::support::{Project, Ran};

/// Runs `doctor` where only these programs are on PATH; each prints its name and a version.
fn doctor(project: &Project, programs: &[&str], args: &[&str]) -> Ran {
    project.finish(command(project, programs, args))
}

fn command(project: &Project, programs: &[&str], args: &[&str]) -> Command {
    for program in programs {
        project.write(&format!("bin/{program}"), format!("#!/bin/sh\necho {program} 7.0\n"));
        let file = project.root().join("bin").join(program);
        std::fs::set_permissions(file, PermissionsExt::from_mode(0o755)).expect("a file");
    }
    let mut command = project.command(&[&["doctor"], args].concat());
    command.env("PATH", project.root().join("bin")).env("XDG_RUNTIME_DIR", project.root());
    command.env_remove("TRAILBLAZE_DEFAULT_MODEL").env_remove("ANTHROPIC_API_KEY");
    command
}

fn finding<'a>(told: &'a Value, about: &str, words: &str) -> &'a Value {
    let findings = told["findings"].as_array().expect("findings");
    let fits = |finding: &&Value| {
        finding["about"] == about && finding["message"].as_str().is_some_and(|text| text.contains(words))
    };
    findings.iter().find(fits).unwrap_or_else(|| panic!("no {about} with `{words}`: {told:#}"))
}

#[test]
fn a_project_that_has_what_it_needs_is_well() {
    let project = Project::empty();
    project.write(
        "trailblaze.yaml",
        "devices: [{id: web/chromium}]\nmcpServers:\n  own: {command: acme-tools}\n  far: {url: 'http://127.0.0.1:9/mcp'}\n",
    );
    let told = doctor(&project, &["chromium", "adb", "acme-tools"], &["--json"]).exits(0).json();
    assert_eq!(finding(&told, "browser", "chromium 7.0")["state"], "ok");
    assert_eq!(finding(&told, "adb", "adb 7.0")["state"], "ok");
    assert_eq!(finding(&told, "server", "server `own` can be started")["state"], "ok");
    assert_eq!(finding(&told, "server", "`far` at `http://127.0.0.1:9/mcp` was not contacted")["state"], "note");
    assert_eq!(finding(&told, "model", "no model is chosen")["state"], "note");
    assert_eq!(finding(&told, "project", "can be read")["state"], "ok");
}

#[test]
fn the_port_that_the_environment_names_is_checked() {
    let project = Project::empty();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("an address").port().to_string();
    for (value, words, exit) in [(port.as_str(), "cannot be used", 0), ("many", "which is no port", 2)] {
        let mut command = command(&project, &[], &["--json"]);
        command.env("TRAILBLAZE_PORT", value);
        let told = project.finish(command).exits(exit).json();
        let message = finding(&told, "daemon", words)["message"].as_str().expect("a message").to_string();
        assert!(message.contains(value), "{message}");
    }
}

#[test]
fn a_project_for_the_web_without_devices_needs_a_browser() {
    let project = Project::empty().with("trailblaze.yaml", "platform: web\n");
    let told = doctor(&project, &["chromium"], &["--json"]).exits(0).json();
    assert_eq!(finding(&told, "browser", "chromium 7.0")["state"], "ok");
    let bare = Project::empty().with("trailblaze.yaml", "platform: web\nbrowser: {program: /nowhere/chromium}\n");
    assert_eq!(finding(&doctor(&bare, &[], &["--json"]).exits(2).json(), "browser", "/nowhere")["state"], "error");
}

#[test]
fn what_the_project_needs_and_is_missing_is_told_with_what_to_do() {
    let project = Project::empty();
    project.write(
        "trailblaze.yaml",
        "devices: [{id: web/chromium}]\nllm: {defaults: {model: anthropic/claude-sonnet-4-5}}\nbrowser: {program: /nowhere/chromium}\nmcpServers:\n  own: {command: acme-tools}\n  typed: {script: tools.ts}\n  kotlin: {command: java, args: [-jar, tools/target/kotlin-tools.jar]}\n",
    );
    project.write("tools.ts", "export {};\n");
    project.write("tools/pom.xml", "<project/>\n");
    let ran = doctor(&project, &["java"], &["--json"]).exits(2);
    let told = ran.json();
    for (about, words) in [
        ("browser", "`/nowhere/chromium` is not a program"),
        ("server", "server `own` cannot start: there is no program `acme-tools`"),
        ("server", "server `typed` cannot start: No compatible TypeScript runtime"),
        ("server", "server `kotlin` cannot start: `tools/target/kotlin-tools.jar` does not exist"),
        ("model", "needs a key in the environment variable `ANTHROPIC_API_KEY`"),
    ] {
        assert_eq!(finding(&told, about, words)["state"], "error");
    }
    let hint = finding(&told, "server", "`own`")["hint"].as_str().unwrap_or_default();
    assert_eq!(hint, "install it, or correct `command` at trailblaze.yaml:5:18");
    let hint = finding(&told, "server", "kotlin")["hint"].as_str().unwrap_or_default();
    assert!(hint.starts_with("run `mvn -q -f tools package` in `"), "{hint}");
    assert_eq!(finding(&told, "adb", "does not need it")["state"], "note");
    let text = doctor(&project, &[], &[]).exits(2).stdout;
    assert!(text.contains("hint: set it for this command: ANTHROPIC_API_KEY=… trailblaze …"), "{text}");
}

#[test]
fn a_project_with_errors_is_invalid_and_no_project_is_only_noted() {
    let project = Project::empty();
    let told = doctor(&project, &["chromium"], &["--json"]).exits(0).json();
    assert_eq!(finding(&told, "project", "there is no trailblaze.yaml")["hint"], "`trailblaze init` makes a project");
    project.write("trailblaze.yaml", "platfrom: web\n");
    let told = doctor(&project, &["chromium"], &["--json"]).exits(3).json();
    assert_eq!(finding(&told, "project", "1 error")["hint"], "`trailblaze check` lists them with their places");
}

#[test]
fn tools_that_run_inside_the_program_need_no_runtime() {
    let project = Project::empty();
    project.write(
        "trailblaze.yaml",
        "mcpServers:\n  inside: {script: tools.ts, runtime: embedded}\n  bundled: {script: acme.bundle.json}\n",
    );
    project.write("tools.ts", "export {};\n");
    let told = doctor(&project, &[], &["--json"]).exits(2).json();
    assert_eq!(finding(&told, "server", "`inside` runs inside Trailblaze, from `tools.ts`")["state"], "ok");
    assert_eq!(finding(&told, "server", "`bundled` cannot start: `acme.bundle.json` does not exist")["state"], "error");
}

#[test]
fn a_path_of_a_server_that_does_not_exist_is_told_with_its_line() {
    let project = Project::empty();
    let entry = "mcpServers:\n  acme:\n    command: python3\n    args: [-u, tools/acme.py]\n";
    project.write("trailblaze.yaml", entry);
    project.write("trails/a.trail.yaml", "trail:\n  - step: Go back\n    tools: [{pressBack: {}}]\n");
    let told = doctor(&project, &["python3"], &["--json"]).exits(2).json();
    let missing = finding(&told, "server", "`acme` cannot start: `tools/acme.py` does not exist");
    assert_eq!(
        (&missing["state"], &missing["hint"]),
        (&"error".into(), &"correct `args` at trailblaze.yaml:4:16".into())
    );
    let found = project.run(&["check", "--offline", "--json"]).exits(0).json();
    let problem = &found["problems"][0];
    assert_eq!(
        (&problem["file"], &problem["line"], &problem["column"]),
        (&"trailblaze.yaml".into(), &4.into(), &16.into())
    );
    assert_eq!(problem["message"], "`tools/acme.py` does not exist, so the server `acme` cannot start");
    project.write("tools/acme.py", "");
    assert_eq!(
        project.run(&["check", "--offline", "--json"]).exits(0).json()["problems"].as_array().map(Vec::len),
        Some(0)
    );
}

#[test]
fn a_tool_without_a_server_can_be_checked_too() {
    let project = Project::empty();
    project.write(
        "trailblaze-config/tools/login.yaml",
        "id: login\ndescription: Log in.\nparameters: []\ntools: [{pressBack: {}}]\n",
    );
    let told = project.run(&["tool", "doctor", "login", "--json"]).exits(0).json();
    assert_eq!(told["tool"], "login");
    let first = "it is defined in trailblaze-config/tools/login.yaml, and needs no server";
    assert_eq!(finding(&told, "start", first)["state"], "ok");
    let told = project.run(&["tool", "doctor", "tap"]).exits(0).stdout;
    assert!(told.contains("it is built in, and needs no server"), "{told}");
}

#[test]
fn calls_of_a_tool_whose_file_is_broken_are_not_reported_too() {
    let project = Project::empty();
    project.write(
        "trailblaze-config/tools/login.yaml",
        "id: login\ndescripton: Log in.\nparameters: []\ntools: [{pressBack: {}}]\n",
    );
    project.write("trails/a.trail.yaml", "trail:\n  - step: Log in\n    tools: [{login: {}}, {logout: {}}]\n");
    let found = project.run(&["check", "--json"]).exits(3).json();
    let problems = found["problems"].as_array().expect("problems");
    let messages: Vec<&str> = problems.iter().filter_map(|problem| problem["message"].as_str()).collect();
    assert!(messages.iter().any(|message| message.contains("descripton")), "{messages:?}");
    assert!(messages.contains(&"unknown tool `logout`"), "{messages:?}");
    assert!(!messages.contains(&"unknown tool `login`"), "{messages:?}");
}

#[test]
fn a_wrong_device_or_model_of_the_project_is_an_error() {
    let project = Project::empty();
    project.write("trailblaze.yaml", "devices: [{id: ios/sim-0}]\n");
    let told = doctor(&project, &[], &["--json"]).exits(3).json();
    assert_eq!(finding(&told, "project", "there is no device `ios/sim-0`")["state"], "error");
    project.write("trailblaze.yaml", "llm: {defaults: {model: scripted/replies.yaml}}\n");
    let told = doctor(&project, &[], &["--json"]).exits(2).json();
    assert_eq!(finding(&told, "model", "`replies.yaml` is not a file of replies")["state"], "error");
}

#[test]
fn a_browser_that_does_not_start_is_told() {
    let project = Project::empty();
    project.write("trailblaze.yaml", "devices: [{id: web/chromium}]\n");
    project.write("bin/chromium", "#!/bin/sh\nexit 3\n");
    let file = project.root().join("bin/chromium");
    std::fs::set_permissions(file, PermissionsExt::from_mode(0o755)).expect("a file");
    let told = doctor(&project, &[], &["--json"]).exits(2).json();
    let found = finding(&told, "browser", "does not start: it exited with code 3, and printed nothing");
    assert_eq!(found["hint"], "set TRAILBLAZE_CHROMIUM to the path of another browser");
}

#[test]
fn devices_alone_can_be_checked() {
    let needed = "devices: [{id: web/chromium}]\nbrowser: {program: /nowhere/chromium}\n";
    let project = Project::empty().with("trailblaze.yaml", needed);
    let told = project.run(&["device", "doctor", "--json"]).exits(2).json();
    assert_eq!(finding(&told, "browser", "/nowhere")["state"], "error");
    let unneeded = "devices: [{id: android/sim-1}]\nbrowser: {program: /nowhere/chromium}\n";
    let project = Project::empty().with("trailblaze.yaml", unneeded);
    let told = project.run(&["device", "doctor", "--json"]).exits(0).json();
    assert_eq!(finding(&told, "browser", "this project does not need it")["state"], "note");
}

#[test]
fn one_device_is_tried_by_its_name() {
    let project = Project::counter();
    let tried = project.run(&["device", "doctor", "android/sim-1"]).exits(0);
    assert!(tried.stdout.contains("its screen was looked at in "), "{}", tried.stdout);
    let unknown = project.run(&["device", "doctor", "ios/sim-0"]).exits(3);
    assert!(unknown.stderr.contains("there is no device `ios/sim-0`"), "{}", unknown.stderr);
}
