//! Documents name only commands and flags that exist. The help of the program itself says which do.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::documentation::source_rules::documents::Code;
use crate::documentation::source_rules::support::*;

#[test]
fn documents_name_only_commands_that_exist() {
    let (mut violations, program, targets) = (Violations::default(), Program::read(), targets());
    for file in files(&root(), "md") {
        let path = shown(&file);
        // A changelog also names what an earlier version had; the reference is made from the commands themselves.
        if path == "CHANGELOG.md" || path == "docs/reference/commands.md" {
            continue;
        }
        let code = Code::of(&read(&file));
        let lines = code.fenced.iter().flat_map(|(line, text)| text.split("&&").map(move |text| (line, text)));
        let inline = code.inline.iter().map(|(line, text)| (line, text.as_str()));
        for (line, text) in lines.chain(inline) {
            for problem in problems(&words(text), &program, &targets, &file) {
                violations.add(&path, *line, &problem);
            }
        }
        for (line, text) in &code.inline {
            let words = words(text);
            let problem = match words.as_slice() {
                [first, ..] if first.starts_with('-') && is_about_the_program(&path) => program.misses_flag(&words),
                // `run --record` is short for `trailblaze run --record`.
                [first, second, ..] if program.is_command(first, second) => program.problem(&words),
                _ => None,
            };
            if let Some(problem) = problem {
                violations.add(&path, *line, &problem);
            }
        }
    }
    violations.check();
}

#[test]
fn mistakes_in_documents_are_found() {
    let (program, targets) = (Program::read(), targets());
    for (text, expected) in [
        ("trailblaze run trails -d android/sim-1 --json", ""),
        ("trailblaze tool tap id=pay # presses it", ""),
        ("trailblaze -C shop tool new acme_pay --lang ts", ""),
        ("trailblaze fly", "`trailblaze` has no command `fly`"),
        ("trailblaze runs prune", "`trailblaze runs` has no command `prune`"),
        ("$ trailblaze run --fly", "`trailblaze run` has no flag `--fly`"),
        ("trailblaze run [--fly]", "`trailblaze run` has no flag `--fly`"),
        ("trailblaze -C shop fly", "`trailblaze` has no command `fly`"),
        ("cargo run -p trailblaze -- fly", "`trailblaze` has no command `fly`"),
        ("SOAK=1 cargo test -p trailblaze --test fly", "`trailblaze` has no test `fly`"),
        ("cargo build -p fly", "the workspace has no package `fly`"),
        ("./scripts/fly", "`./scripts/fly` is not a script"),
    ] {
        let found = problems(&words(text), &program, &targets, &root().join("README.md"));
        assert_eq!(found.join("\n"), expected, "{text}");
    }
    assert_eq!(
        program.misses_flag(&words("--retries 2, --fly")).unwrap_or_default(),
        "no command has the flag `--fly`"
    );
}

/// Whether flags that a document names without their command are those of the program.
fn is_about_the_program(path: &str) -> bool {
    path == "README.md" || path.starts_with("docs/") || path.starts_with("examples/")
}

/// What is wrong with a command line. A text that is not one has no problems.
fn problems(words: &[String], program: &Program, targets: &[Target], file: &Path) -> Vec<String> {
    let is_assignment = |word: &&String| word.split_once('=').is_some_and(|(name, _)| name == name.to_uppercase());
    let words = &words[words.iter().take_while(is_assignment).count()..];
    let Some((first, rest)) = words.split_first() else { return Vec::new() };
    let mut found = Vec::new();
    let is_command = |word: &String| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '-');
    if first == "trailblaze" && rest.first().is_some_and(is_command) {
        found.extend(program.problem(rest));
    }
    if first == "cargo" {
        let (own, passed) = rest.split_at(rest.iter().position(|word| word == "--").unwrap_or(rest.len()));
        found.extend(cargo_problem(own, targets));
        let is_ours = own.windows(2).any(|pair| pair == ["-p", "trailblaze"]);
        if own.first().is_some_and(|word| word == "run") && is_ours && !passed.is_empty() {
            found.extend(program.problem(&passed[1..]));
        }
    }
    if let Some(script) = first.strip_prefix("./scripts/").or_else(|| first.strip_prefix("scripts/")) {
        // `scripts/lib.sh` is read by the others.
        let is_script = is_executable(&root().join("scripts").join(script)) || script == "lib.sh";
        if !is_script && !is_executable(&file.with_file_name("scripts").join(script)) {
            found.push(format!("`{first}` is not a script"));
        }
    }
    found
}

/// The words of a command line up to the first redirection, pipe or comment, without the brackets of what is optional.
fn words(text: &str) -> Vec<String> {
    let text = text.trim().trim_start_matches("$ ");
    let ends = |word: &&str| !word.starts_with(['#', '|', '>', ';', '(']) && *word != "\\";
    let words = text.split_whitespace().take_while(ends);
    words.map(|word| word.trim_matches(['[', ']', ';', ',']).to_string()).filter(|word| !word.is_empty()).collect()
}

/// What the program's help says: each command by its path, such as `["tool", "new"]`.
struct Program(BTreeMap<Vec<String>, Help>);

struct Help {
    commands: Vec<String>,
    /// Each flag, and whether a value must follow it.
    flags: BTreeMap<String, bool>,
    /// Whether it takes words that are not commands.
    takes_words: bool,
}

/// Flags in the documents that belong to others: tool servers, and commands of the shell.
const FOREIGN_FLAGS: &[&str] = &["--transport", "--append", "--force", "--title", "--changes"];

impl Program {
    fn read() -> Program {
        let mut program = BTreeMap::new();
        let mut unread = vec![Vec::new()];
        while let Some(path) = unread.pop() {
            let help = Help::read(&path);
            for command in &help.commands {
                unread.push([path.as_slice(), std::slice::from_ref(command)].concat());
            }
            program.insert(path, help);
        }
        Program(program)
    }

    fn is_command(&self, first: &str, second: &str) -> bool {
        let help = self.0.get([first.to_string()].as_slice());
        help.is_some_and(|help| second.starts_with("--") || help.commands.iter().any(|command| command == second))
    }

    fn problem(&self, words: &[String]) -> Option<String> {
        let mut path: Vec<String> = Vec::new();
        let (mut is_descending, mut is_value) = (true, false);
        for word in words {
            let help = &self.0[&path];
            let shown = ["trailblaze".to_string()].iter().chain(&path).cloned().collect::<Vec<_>>().join(" ");
            if word.starts_with('-') && word.len() > 1 {
                let flag = flag(word);
                let Some(takes_value) = help.flags.get(flag) else {
                    return Some(format!("`{shown}` has no flag `{flag}`"));
                };
                is_value = *takes_value && !word.contains('=');
            } else if is_value {
                is_value = false;
            } else if is_descending && help.commands.contains(word) {
                path.push(word.clone());
            } else if is_descending && !help.commands.is_empty() && !help.takes_words {
                return Some(format!("`{shown}` has no command `{word}`"));
            } else {
                is_descending = false;
            }
        }
        None
    }

    /// Flags that are named without a command must belong to some command.
    fn misses_flag(&self, words: &[String]) -> Option<String> {
        let known =
            |flag: &str| self.0.values().any(|help| help.flags.contains_key(flag)) || FOREIGN_FLAGS.contains(&flag);
        let flags = words.iter().filter(|word| word.starts_with('-') && *word != "--").map(|word| flag(word));
        flags.filter(|flag| !known(flag)).map(|flag| format!("no command has the flag `{flag}`")).next()
    }
}

/// The name of a flag, without its value.
fn flag(word: &str) -> &str {
    word.split(['=', '[']).next().unwrap_or(word)
}

impl Help {
    fn read(path: &[String]) -> Help {
        let output = Command::new(env!("CARGO_BIN_EXE_trailblaze")).args(path).arg("--help").output();
        let help = String::from_utf8(output.expect("the program starts").stdout).expect("help is UTF-8");
        let indented = |line: &&str| line.starts_with(' ') || line.is_empty();
        let section = |title: &str| {
            let lines = help.lines().skip_while(move |line| !line.starts_with(title)).skip(1);
            lines.take_while(indented).map(String::from).collect::<Vec<_>>()
        };
        let commands = section("Commands:").into_iter().filter_map(|line| {
            let name = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' '))?;
            name.split_whitespace().next().filter(|name| *name != "help").map(String::from)
        });
        // `  -d, --device <DEVICE>  The device to use`, `      --strict[=<WHAT>]`
        let options = section("Options:");
        let starts = options.iter().map(|line| line.trim_start()).filter(|line| line.starts_with('-'));
        let flags = starts.flat_map(|line| {
            let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_end_matches(',')).collect();
            let names = words.iter().take_while(|word| word.starts_with('-')).count();
            let takes_value = words.get(names).is_some_and(|word| word.starts_with('<'));
            words[..names].iter().map(|name| (flag(name).to_string(), takes_value)).collect::<Vec<_>>()
        });
        // `Usage: trailblaze tool [OPTIONS] <NAME> [NAME=VALUE]...`
        let usage = help.lines().skip_while(|line| !line.starts_with("Usage:")).take_while(|line| !line.is_empty());
        let takes_words = usage
            .flat_map(str::split_whitespace)
            .any(|word| word.starts_with(['<', '[']) && !["[OPTIONS]", "<COMMAND>", "[COMMAND]"].contains(&word));
        Help { commands: commands.collect(), flags: flags.collect(), takes_words }
    }
}

/// A test or benchmark: its package, its kind and its name.
type Target = (String, String, String);

fn targets() -> Vec<Target> {
    let mut found = Vec::new();
    for package in packages() {
        for target in package["targets"].as_array().into_iter().flatten() {
            found.push((text(&package["name"]), text(&target["kind"][0]), text(&target["name"])));
        }
    }
    found
}

fn cargo_problem(words: &[String], targets: &[Target]) -> Option<String> {
    let value = |flag: &str| words.iter().skip_while(|word| *word != flag).nth(1);
    let package = value("-p")?;
    let of_package = || targets.iter().filter(|(name, ..)| name == package);
    if of_package().next().is_none() {
        return Some(format!("the workspace has no package `{package}`"));
    }
    for kind in ["test", "bench"] {
        let Some(named) = value(&format!("--{kind}")) else { continue };
        if !of_package().any(|(_, of, name)| of == kind && name == named) {
            return Some(format!("`{package}` has no {kind} `{named}`"));
        }
    }
    None
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}
