//! Python servers: the environment that they run in, missing modules, and FastMCP 2.

use trailblaze_protocol::event::Level;

use crate::support::lab::{Lab, Played, Runtime, parts, python, python_with_fastmcp_2};

/// A server with FastMCP 2 and additional keys in its entry.
fn second(keys: &str) -> Option<Lab> {
    let lab = Lab::new()?;
    let entry = python_with_fastmcp_2("second")?.replace('}', &format!("{keys}}}"));
    lab.fixture("second.py").configured(&format!("mcpServers: [{entry}]\n"));
    Some(lab)
}

fn warnings(played: &Played) -> Vec<String> {
    played.notes().into_iter().filter(|(level, _)| *level == Level::Warning).map(|(_, text)| text).collect()
}

/// The tools that ran, in order.
fn ran(played: &Played) -> Vec<String> {
    let log = played.log("second");
    log.lines().filter_map(|line| line.strip_suffix(" ran")).map(str::to_string).collect()
}

const DEVICE: [&str; 2] = ["-d", "android/sim-1"];

#[test]
fn fastmcp_2_is_called_without_the_argument_that_it_refuses() {
    let Some(lab) = second("") else { return };
    let calls = ["second_echo: {word: hello}", "second_where: {}", "second_echo: {word: again}", "second_declared: {}"];
    let played = lab.calls(&calls).run(&DEVICE, 0);
    assert_eq!(played.texts("second_echo"), ["hello", "again"]);
    assert_eq!(played.texts("second_where"), ["android/sim-1"]);
    assert_eq!(played.texts("second_declared"), ["ANDROID"], "who asks for it gets it all the same");
    assert_eq!(ran(&played), ["echo", "where", "echo", "declared"], "each ran once");
    let warned = warnings(&played);
    assert!(warned.len() == 1 && warned[0].contains("it refuses the argument `_trailblazeContext`"), "{warned:?}");
    assert_eq!(played.ran.stderr.matches("it refuses the argument").count(), 1, "{}", played.ran.stderr);
}

#[test]
fn a_tool_of_fastmcp_2_that_fails_is_run_once() {
    let Some(lab) = second("") else { return };
    let played = lab.calls(&["second_echo: {word: a}", "second_fails: {word: paid}"]).run(&DEVICE, 1);
    assert_eq!(ran(&played), ["echo", "fails"]);
    assert!(played.texts("second_fails")[0].contains("paid: Unexpected keyword argument"), "{:?}", played.ran);
}

#[test]
fn doctor_finds_that_fastmcp_2_refuses_the_argument() {
    let Some(lab) = second("") else { return };
    let told = lab.go(&["tool", "doctor", "second"]).exits(0).stdout;
    let sign = "`second_echo` and 2 other tools refuse the argument `_trailblazeContext` although the schema allows it";
    assert!(told.contains(sign) && told.contains("hint: `context: meta` in the server's entry"), "{told}");

    let Some(lab) = second(", context: meta") else { return };
    let told = lab.go(&["tool", "doctor", "second"]).exits(0).stdout;
    assert!(!told.contains("_trailblazeContext"), "{told}");
    let played = lab.calls(&["second_echo: {word: hello}"]).run(&DEVICE, 0);
    assert_eq!((played.texts("second_echo"), warnings(&played)), (vec!["hello".to_string()], vec![]));
}

#[test]
fn a_failing_registry_of_fastmcp_2_is_reported_and_a_missing_one_is_not() {
    let Some(lab) = second(", context: meta") else { return };
    let lab = lab.calls(&["second_echo: {word: hello}"]);
    assert_eq!(warnings(&lab.run(&DEVICE, 0)), Vec::<String>::new());
    let warned = warnings(&lab.env("SECOND_REGISTRY", "1").run(&DEVICE, 0));
    let expected = "server `second`: its `trailblaze://registry` could not be read and is ignored: \
                    Error reading resource";
    assert!(warned.len() == 1 && warned[0].starts_with(expected), "{warned:?}");
}

#[test]
fn a_failing_registry_of_fastmcp_4_is_reported_and_a_missing_one_is_not() {
    let Some(lab) = Lab::new() else { return };
    let head =
        "from fastmcp import FastMCP\nserver = FastMCP('x')\n\n@server.tool\ndef x_act() -> str:\n    return 'x'\n";
    let resource = |uri: &str, body: &str| format!("\n@server.resource('{uri}')\ndef r() -> str:\n    {body}\n");
    let tail = "\nserver.run(show_banner=False)\n";
    let lab = lab.configured(&format!("mcpServers: [{}]\n", python("x"))).calls(&["x_act: {}"]);
    let other = format!("{head}{}{tail}", resource("other://thing", "return 'x'"));
    assert_eq!(warnings(&lab.with("tools/x.py", &other).run(&DEVICE, 0)), Vec::<String>::new());
    let failing = format!("{head}{}{tail}", resource("trailblaze://registry", "raise KeyError('shelf')"));
    let warned = warnings(&lab.with("tools/x.py", &failing).run(&DEVICE, 0));
    assert!(warned.len() == 1 && warned[0].contains("could not be read"), "{warned:?}");
}

/// A lab with Python on the PATH, and FastMCP in it.
fn with_python() -> Option<Lab> {
    let lab = Lab::under(Runtime::Nothing)?;
    lab.env("PATH", format!("{}:{}", lab.path("bin"), parts()?.join("python/bin").display()));
    Some(lab)
}

/// An empty virtual environment in the project.
fn make_venv(lab: &Lab) {
    let python = parts().expect("the parts are there").join("python/bin/python3");
    lab.finish(lab.program(python, &["-m", "venv", "--without-pip", ".venv"])).exits(0);
}

const TEST: &str = "\
import sys
import unittest


class Environment(unittest.TestCase):
    def test_it_is_the_projects_own(self):
        self.assertTrue(sys.prefix.endswith('/.venv'), sys.prefix)
";

#[test]
fn tests_run_in_the_environment_of_the_project() {
    let Some(lab) = with_python() else { return };
    lab.with("tools/test_environment.py", TEST);
    for servers in ["", "mcpServers: [{name: acme, command: python3, args: [tools/acme.py]}]\n"] {
        lab.configured(servers);
        if !lab.project.root().join(".venv").exists() {
            lab.go(&["tool", "test", "tools/test_environment.py"]).exits(1);
            make_venv(&lab);
        }
        lab.go(&["tool", "test", "tools/test_environment.py"]).exits(0);
    }
}

#[test]
fn a_missing_module_is_named_with_the_commands_that_install_it() {
    let Some(lab) = with_python() else { return };
    lab.configured("mcpServers: [{name: acme, command: python3, args: [tools/acme.py]}]\n");
    lab.with("tools/acme.py", "import acme_sdk.parts\n");
    lab.with("tools/test_acme.py", "import acme_sdk.parts\n");
    let told = |args: &[&str], code: i32| {
        let ran = lab.go(args).exits(code);
        let hint = ran.stderr.lines().find(|line| line.trim_start().starts_with("hint: "));
        ran.normal(hint.unwrap_or_else(|| panic!("no hint in {}", ran.stderr)).trim())
    };
    let check = |commands: &str| {
        let hint = format!("hint: the Python module `acme_sdk` is not installed; run `{commands}` in `[project]`");
        assert_eq!(told(&["toolbox"], 2), hint);
        assert_eq!(told(&["tool", "test", "tools/test_acme.py"], 1), hint);
    };
    check("python3 -m venv .venv && .venv/bin/python -m pip install acme_sdk");
    lab.with("requirements.txt", "acme_sdk\n");
    check("python3 -m venv .venv && .venv/bin/python -m pip install -r requirements.txt");
    make_venv(&lab);
    check(".venv/bin/python -m pip install -r requirements.txt");
}

#[test]
fn the_error_above_a_long_stack_trace_is_shown() {
    let Some(lab) = with_python() else { return };
    let print = "import sys\nprint('Error: the config file is gone', file=sys.stderr)\n\
                 for n in range(40):\n    print(f'    at frame {n}', file=sys.stderr)\nsys.exit(1)\n";
    lab.with("tools/acme.py", print)
        .configured("mcpServers: [{name: acme, command: python3, args: [tools/acme.py]}]\n");
    let told = lab.go(&["toolbox"]).exits(2).stderr;
    let words = ["Error: the config file is gone", "at frame 6", "… 17 lines left out", "at frame 24", "at frame 39"];
    assert!(words.iter().all(|words| told.contains(words)), "{told}");
    assert!(!told.contains("at frame 7\n") && !told.contains("at frame 23"), "{told}");
}
