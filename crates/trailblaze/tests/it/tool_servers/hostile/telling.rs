//! Servers that leak or inject: secrets, terminal commands, HTML, names that are not theirs.

use std::path::Path;
use std::process::Command;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use crate::support::stage::Stage;
use crate::support::{Ran, files, wait_until};

fn leaky(behaviour: &str) -> Stage {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers/leaky.py");
    Stage::new("good").program(&format!("python3\n    args: ['{}', {behaviour}, rogue]", script.display()))
}

fn run(stage: &Stage, args: &[&str], secrets: &[(&str, &str)]) -> Ran {
    stage.finish(command(stage, &[&["run", "-d", "android/sim-1"], args].concat(), secrets))
}

fn command(stage: &Stage, args: &[&str], secrets: &[(&str, &str)]) -> Command {
    let mut args = args.to_vec();
    secrets.iter().for_each(|(name, _)| args.extend(["--secret", name]));
    let mut command = stage.command(&args);
    command.envs(secrets.iter().copied());
    command
}

/// Whatever a server does with a secret that it may have, in any encoding: the secret appears in no file of the run, in no
/// cache of the project, and not on the screen.
#[test]
fn a_secret_appears_nowhere_in_any_encoding() {
    let n_secrets = if crate::support::is_full_tier() { 40 } else { 2 };
    let mut runner = TestRunner::default();
    let random = proptest::string::string_regex("[!-~äß€😀][ -~äß€😀]{6,22}[!-~äß€😀]").expect("a pattern");
    let fixed =
        ["p\"a\\s/s wörd & <1>%2 +x?", "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nAb+/cd==\n-----END KEY-----\n"];
    let drawn = (0..n_secrets).map(|_| random.new_tree(&mut runner).expect("a secret").current());
    for secret in fixed.into_iter().map(str::to_string).chain(drawn) {
        let stage = leaky("tells_a_secret").with("secrets: [PIN]").calls_each(&[
            "{text: '{{PIN}}'}",
            "{text: 'a {{PIN}} b'}",
            "{text: fail}",
        ]);
        let ran = run(&stage, &["--pictures", "off"], &[("PIN", &secret)]);
        assert_eq!(ran.code, Some(1), "{secret:?}\n{}{}", ran.stdout, ran.stderr);
        let spelled: Vec<String> = serde_json::from_str(&stage.project().read("spelled.json")).expect("a list");
        // The description of its tool has the secret as well.
        let mut toolbox = stage.command(&["toolbox", "--json", "--all", "-d", "android/sim-1"]);
        toolbox.env("PIN", &secret);
        let listed = stage.finish(toolbox);
        assert!(listed.stdout.contains("rogue_act"), "{}{}", listed.stdout, listed.stderr);
        let (said, root) =
            (format!("{}{}{}{}", ran.stdout, ran.stderr, listed.stdout, listed.stderr), stage.project().root());
        assert!(said.contains("{{PIN}}"), "{said}");
        let written = files(&stage.project().last_run().path).into_iter().chain(files(&root.join(".trailblaze")));
        let written: Vec<_> =
            written.map(|file| (file.display().to_string(), std::fs::read(&file).expect("bytes"))).collect();
        for spelling in spelled.iter().filter(|spelling| spelling.trim().chars().count() >= 4) {
            let spelling = spelling.trim().as_bytes();
            let holds = |bytes: &[u8]| bytes.windows(spelling.len()).any(|window| window == spelling);
            let shown = String::from_utf8_lossy(spelling);
            assert!(!holds(said.as_bytes()), "{secret:?} as {shown} on the screen:\n{said}");
            for (name, bytes) in &written {
                assert!(!holds(bytes) && !holds(name.as_bytes()), "{secret:?} as {shown} in {name}");
            }
        }
    }
}

#[test]
fn a_secret_is_sent_only_to_servers_that_list_it() {
    let secrets = [("PIN", "canary-7f3a91"), ("TOKEN", "canary-55aa12")];
    let told = |stage: Stage| {
        let ran = run(&stage, &["--pictures", "off"], &secrets);
        stage.judge(ran.exits(0), 0).answers("rogue_act")
    };
    assert_eq!(told(leaky("tells_its_environment")), ["nothing"]);
    let listing = leaky("tells_its_environment").with("secrets: [TOKEN]");
    assert!(told(listing)[0].starts_with("TOKEN"));
}

#[test]
fn a_server_that_does_not_list_a_secret_can_only_have_it_typed() {
    let stage = leaky("passes_a_secret_on");
    let ran = run(&stage, &["--pictures", "off"], &[("PIN", "canary-7f3a91")]);
    let record = stage.project().last_run().text("events.jsonl");
    let refused = |call: &str| {
        format!(
            "server `rogue` does not list the secret `PIN`, so its tools may only type it into a field, not pass it to {call}"
        )
    };
    assert!(record.contains(&refused("`command` of `adbShell`")), "{record}");
    assert!(
        ran.stdout.contains(&format!("its delegate `openUrl` failed: {}", refused("`url` of `openUrl`"))),
        "{}",
        ran.stdout
    );
    assert!(!record.contains(&refused("`text` of `inputText`")), "{record}");
    stage.judge(ran.exits(1), 1);
}

/// A name that one server lists is secret for the others, even where the command does not use it.
#[test]
fn the_secrets_of_one_server_are_kept_from_the_others() {
    let stage = leaky("tells_its_environment");
    let good = stage.project().read("good.yaml");
    stage.project().write("good.yaml", format!("{good}\n    secrets: [PIN]"));
    let mut command = stage.command(&["run", "--pictures", "off", "-d", "android/sim-1"]);
    command.env("PIN", "canary-7f3a91");
    let ran = stage.finish(command).exits(0);
    assert_eq!(stage.judge(ran, 0).answers("rogue_act"), ["nothing"]);
}

/// The output contains no control characters except line ends and tabs, and no line is a command to a CI system.
#[track_caller]
fn assert_harmless(ran: &Ran, own_commands: usize) {
    let said = format!("{}\n{}", ran.stdout, ran.stderr);
    let odd: Vec<char> =
        said.chars().filter(|c| (c.is_control() && !"\n\t".contains(*c)) || *c == '\u{202e}').collect();
    assert!(odd.is_empty(), "{odd:?} in\n{said:?}");
    let commands: Vec<&str> = said.lines().filter(|line| line.trim_start().starts_with("::")).collect();
    assert_eq!(commands.len(), own_commands, "{commands:?}");
    assert!(commands.iter().all(|line| line.starts_with("::error file=")), "{commands:?}");
    assert!(!said.contains("##[") && !said.contains("##vso["), "{said}");
}

#[test]
fn the_text_of_a_server_does_not_control_the_terminal() {
    for github in ["", "true"] {
        let play = |stage: &Stage, args: &[&str]| {
            let mut command = stage.command(args);
            command.env("GITHUB_ACTIONS", github).env("CLICOLOR_FORCE", "");
            stage.finish(command)
        };
        let n_own = usize::from(github == "true");
        let stage = leaky("speaks_to_the_terminal").calls("{text: fail}");
        let title = "config: {title: \"::error::of a trail \\e[2J\"}\n";
        let trail = stage.project().read("trails/a.trail.yaml");
        stage.project().write("trails/a.trail.yaml", format!("{title}{trail}"));
        let ran = play(&stage, &["run", "--pictures", "off", "-d", "android/sim-1"]);
        assert!(ran.stdout.contains(r"\x1b]0;owned\x07"), "it is shown, escaped: {}", ran.stdout);
        assert_harmless(&ran.exits(1), n_own);
        let tool = ["tool", "call", "rogue_act", "-d", "android/sim-1"];
        for args in [
            &tool[..],
            &["toolbox", "-d", "android/sim-1"],
            &["check"],
            &["tool", "doctor", "rogue"],
            &["report", "--markdown"],
        ] {
            assert_harmless(&play(&stage, args), 0);
        }
        let summary = play(&stage, &["run", "--json", "--pictures", "off", "-d", "android/sim-1"]);
        let message = summary.json()["attempts"][0]["message"].as_str().expect("a message").to_string();
        assert!(message.contains("\u{1b}]0;owned"), "JSON means the same: {message:?}");
        assert_harmless(&summary, n_own);
        let dying = leaky("dies_with_commands");
        assert_harmless(&play(&dying, &["run", "--pictures", "off", "-d", "android/sim-1"]).exits(2), n_own);
    }
}

#[test]
fn html_from_a_server_is_not_rendered() {
    let stage = leaky("sends_pages");
    let ran = run(&stage, &["--pictures", "off"], &[]);
    let played = stage.judge(ran.exits(0), 0);
    let attached = files(&played.run.path.join("attachments"));
    assert_eq!(attached.len(), 8);
    for file in attached {
        assert_eq!(file.extension().and_then(|ending| ending.to_str()), Some("txt"), "{}", file.display());
    }
}

#[test]
fn a_server_cannot_change_memory_that_trailblaze_owns() {
    let stage = leaky("takes_what_is_not_its_own");
    stage.project().write(
        "trailblaze-config/targets/acme.yaml",
        "id: acme\ndisplay_name: Acme\nplatforms: {android: {app_ids: [com.example.counter]}}\n",
    );
    stage.project().write(
        "trails/a.trail.yaml",
        "config: {target: acme}\ntrail:\n  - step: Act\n    tools:\n      - rogue_act: {}\n",
    );
    let ran = run(&stage, &["--pictures", "off"], &[("PIN", "canary-7f3a91")]);
    let played = stage.judge(ran.exits(1), 1);
    let failure = "`rogue_act` failed: `target.appId` (and 5 more) was not changed in memory: the name is reserved";
    assert!(played.said().contains(failure), "{}", played.said());
}

/// On Linux; elsewhere, processes that left the session of a killed guardian are not found.
#[test]
fn a_daemon_whose_guardian_is_killed_ends_too() {
    use rustix::process::{Pid, Signal, kill_process};

    let stage = Stage::new("daemonises_in_its_call");
    let running = stage.start();
    let place = stage.project().root().join("daemon.pid");
    let read = || std::fs::read_to_string(&place).ok()?.trim().parse::<u32>().ok();
    let daemon = wait_until("the daemon runs", read);
    let session = crate::support::marked::stat(daemon).session;
    let guardian = crate::support::marked::stat(daemon).parent;
    assert_ne!(session, crate::support::marked::stat(guardian.cast_unsigned()).session, "it left the session");
    kill_process(Pid::from_raw(guardian).expect("a pid"), Signal::KILL).expect("it can be killed");
    // The run ends by itself, because its server is gone.
    let ran = stage.project().ended(running).exits(2);
    stage.judge(ran, 2);
}
