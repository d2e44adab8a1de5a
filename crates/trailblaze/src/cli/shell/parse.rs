//! Parses the lines of a shell into commands for the session.

use std::path::PathBuf;

use trailblaze_core::trail::Merge;
use trailblaze_protocol::event::StepKind;

use crate::sessions::interactive::{CallArguments, InteractiveCommand, Save, Snapshot};

/// One line of a shell.
#[derive(Debug, PartialEq)]
pub enum ShellLine {
    /// A command for the session.
    Command(InteractiveCommand),
    Help,
    Quit,
}

/// Why a line is not a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    #[error("a quote is not closed, or the line ends with a backslash")]
    NotClosed,
    #[error("`{verb}` needs text: {verb} \"Pay Ada\"")]
    NoWords { verb: String },
    #[error("`{flag}` needs {what}")]
    NoValue { flag: &'static str, what: &'static str },
    #[error("`{verb}` does not take `{word}`; it takes {takes}")]
    UnknownWord { verb: &'static str, word: String, takes: &'static str },
    #[error("`--marks` requires `--screenshot`: snapshot --screenshot page.png --marks")]
    MarksWithoutPicture,
    #[error("`--append` and `--force` cannot be used together")]
    AppendOrForce,
    #[error("`tool` needs a name: tool tap text=Pay")]
    NoTool,
    #[error("`save` needs one file: save pay.trail.yaml")]
    NoFile,
    #[error("expected an argument as name=value, got `{0}`")]
    NoPair(String),
}

/// The commands, as `help` lists them: usage and description.
pub const COMMANDS: [(&str, &str); 13] = [
    ("step \"WORDS\"", "begin a step: what the next calls are for"),
    ("verify \"WORDS\"", "begin a step that checks something"),
    ("trailhead \"WORDS\"", "begin the steps that reach the trail's starting point; only as the first step"),
    ("do \"WORDS\"", "let the model carry out a step; `do verify \"WORDS\"` lets it check something"),
    ("ask \"WORDS\"", "let the model answer a question about the screen"),
    (
        "snapshot [--bounds] [--offscreen] [--covered] [--all] [--within REF] [--depth N] [--find TEXT] \
         [--changes] [--tree] [--screenshot FILE [--marks]]",
        "show the screen with refs, or what changed since the last snapshot; optionally save a screenshot",
    ),
    ("tool NAME k=v ...", "call a tool; `tool` is optional"),
    ("tools [WORD]", "list the tools"),
    ("memory", "show the values in memory"),
    ("undo", "remove the last call from the steps; the device is not changed"),
    (
        "save FILE [--append | --force] [--title WORDS]",
        "save the steps as a trail; --append adds them to an existing one, --force replaces its steps",
    ),
    ("help", "show this"),
    ("quit", "leave; the steps stay in the run folder"),
];

pub const SNAPSHOT_FLAGS: [&str; 11] = [
    "--bounds",
    "--offscreen",
    "--covered",
    "--all",
    "--within",
    "--depth",
    "--find",
    "--changes",
    "--tree",
    "--screenshot",
    "--marks",
];
pub const SAVE_FLAGS: [&str; 3] = ["--append", "--force", "--title"];

/// The help text: all commands.
pub fn help() -> String {
    let line = |(usage, about): &(&str, &str)| match usage.len() {
        0..24 => format!("{usage:<24}{about}"),
        _ => format!("{usage}\n{:24}{about}", ""),
    };
    COMMANDS.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The words that a line may begin with, apart from tool names.
pub fn verbs() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().filter_map(|(usage, _)| usage.split(' ').next())
}

/// Parses a line. Returns `None` for blank lines and comments.
pub fn parse(text: &str) -> Result<Option<ShellLine>, CommandError> {
    let words = split(text)?;
    let [first, rest @ ..] = words.as_slice() else { return Ok(None) };
    if first.starts_with('#') {
        return Ok(None);
    }
    let step = |kind: StepKind| match rest.join(" ") {
        text if text.trim().is_empty() => Err(CommandError::NoWords { verb: first.clone() }),
        text => Ok(InteractiveCommand::Step { kind, text }),
    };
    let line = match first.as_str() {
        "help" | "?" => ShellLine::Help,
        "quit" | "exit" => ShellLine::Quit,
        "step" => ShellLine::Command(step(StepKind::Step)?),
        "verify" => ShellLine::Command(step(StepKind::Verify)?),
        "trailhead" => ShellLine::Command(step(StepKind::Trailhead)?),
        "do" => ShellLine::Command(match rest {
            [kind] if kind == "verify" => return Err(CommandError::NoWords { verb: "do verify".to_string() }),
            [kind, ..] if kind == "verify" => {
                InteractiveCommand::Do { kind: StepKind::Verify, text: rest[1..].join(" ") }
            }
            _ => match step(StepKind::Step)? {
                InteractiveCommand::Step { kind, text } => InteractiveCommand::Do { kind, text },
                other => other,
            },
        }),
        "ask" => match step(StepKind::Step)? {
            InteractiveCommand::Step { text: question, .. } => ShellLine::Command(InteractiveCommand::Ask { question }),
            other => ShellLine::Command(other),
        },
        "snapshot" => ShellLine::Command(snapshot(rest)?),
        "tool" => match rest {
            [] => return Err(CommandError::NoTool),
            [name, args @ ..] => ShellLine::Command(call(name, args)?),
        },
        "tools" => ShellLine::Command(InteractiveCommand::Tools { search: rest.first().cloned() }),
        "memory" => ShellLine::Command(InteractiveCommand::Memory),
        "undo" => ShellLine::Command(InteractiveCommand::Undo),
        "save" => ShellLine::Command(save(rest)?),
        name => ShellLine::Command(call(name, rest)?),
    };
    Ok(Some(line))
}

fn snapshot(words: &[String]) -> Result<InteractiveCommand, CommandError> {
    let mut wish = Snapshot::default();
    let mut words = words.iter();
    while let Some(flag) = words.next() {
        match flag.as_str() {
            "--bounds" => wish.details.bounds = true,
            "--offscreen" => wish.details.offscreen = true,
            "--covered" => wish.details.covered = true,
            "--all" => wish.details.all = true,
            "--changes" => wish.only_changes = true,
            "--tree" => wish.as_tree = true,
            "--within" => match words.next() {
                Some(reference) => wish.within = Some(reference.trim_matches(['[', ']']).to_string()),
                None => return Err(CommandError::NoValue { flag: "--within", what: "a ref: snapshot --within e7" }),
            },
            "--depth" => match words.next().and_then(|depth| depth.parse().ok()) {
                Some(depth) => wish.details.depth = Some(depth),
                None => return Err(CommandError::NoValue { flag: "--depth", what: "a number: snapshot --depth 2" }),
            },
            "--find" => match words.next() {
                Some(text) => wish.find = Some(text.clone()),
                None => return Err(CommandError::NoValue { flag: "--find", what: "a text: snapshot --find Pay" }),
            },
            "--screenshot" => match words.next() {
                Some(path) => wish.screenshot = Some(PathBuf::from(path)),
                None => {
                    let what = "a file: snapshot --screenshot page.png";
                    return Err(CommandError::NoValue { flag: "--screenshot", what });
                }
            },
            "--marks" => wish.has_marks = true,
            other => {
                let takes = "--bounds, --offscreen, --covered, --all, --within REF, --depth N, --find TEXT, --changes, \
                             --tree, --screenshot FILE and --marks";
                return Err(CommandError::UnknownWord { verb: "snapshot", word: other.to_string(), takes });
            }
        }
    }
    if wish.has_marks && wish.screenshot.is_none() {
        return Err(CommandError::MarksWithoutPicture);
    }
    Ok(InteractiveCommand::Snapshot(wish))
}

fn save(words: &[String]) -> Result<InteractiveCommand, CommandError> {
    let (mut paths, mut merges, mut title) = (Vec::new(), Vec::new(), None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--append" => merges.push(Merge::Append),
            "--force" => merges.push(Merge::Replace),
            "--title" => match words.next() {
                Some(words) => title = Some(words.clone()),
                None => return Err(CommandError::NoValue { flag: "--title", what: "words: --title \"Pay Ada\"" }),
            },
            flag if flag.starts_with("--") => {
                let takes = "--append, --force and --title WORDS";
                return Err(CommandError::UnknownWord { verb: "save", word: flag.to_string(), takes });
            }
            path => paths.push(PathBuf::from(path)),
        }
    }
    merges.dedup();
    match (paths.len(), merges.as_slice()) {
        (_, [_, _, ..]) => Err(CommandError::AppendOrForce),
        (1, merges) => Ok(InteractiveCommand::Save(Save {
            path: paths.remove(0),
            merge: merges.first().copied(),
            title,
            from: None,
            to: None,
            is_own: false,
        })),
        _ => Err(CommandError::NoFile),
    }
}

fn call(name: &str, args: &[String]) -> Result<InteractiveCommand, CommandError> {
    let pair = |arg: &String| match arg.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_string(), value.to_string())),
        _ => Err(CommandError::NoPair(arg.clone())),
    };
    let args = args.iter().map(pair).collect::<Result<_, _>>()?;
    Ok(InteractiveCommand::Call { tool: name.to_string(), args: CallArguments::Words(args) })
}

/// Splits a line into words, as a POSIX shell does.
pub fn split(text: &str) -> Result<Vec<String>, CommandError> {
    shlex::split(text).ok_or(CommandError::NotClosed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_as_a_shell_does() {
        let check = |text: &str, expected: &[&str]| assert_eq!(split(text).unwrap(), expected, "{text}");
        check(r#"tap text="Send money"  index=0"#, &["tap", "text=Send money", "index=0"]);
        check(r"step 'it is' it\'s", &["step", "it is", "it's"]);
        check(r#"a "" b"#, &["a", "", "b"]);
        assert_eq!(split("a 'b").unwrap_err().to_string(), "a quote is not closed, or the line ends with a backslash");
    }

    #[test]
    fn a_line_is_a_command_or_the_call_of_a_tool() {
        let check = |text: &str, expected: Result<Option<ShellLine>, &str>| {
            assert_eq!(parse(text).map_err(|error| error.to_string()), expected.map_err(String::from), "{text}")
        };
        check("", Ok(None));
        check("# a remark", Ok(None));
        let tap = || {
            ShellLine::Command(InteractiveCommand::Call {
                tool: "tap".into(),
                args: CallArguments::Words(vec![("text".into(), "a=b".into())]),
            })
        };
        check("tap text=a=b", Ok(Some(tap())));
        check("tool tap text=a=b", Ok(Some(tap())));
        check("tap Pay", Err("expected an argument as name=value, got `Pay`"));
        check("step", Err("`step` needs text: step \"Pay Ada\""));
        check("ask", Err("`ask` needs text: ask \"Pay Ada\""));
        let act = |kind, text: &str| Ok(Some(ShellLine::Command(InteractiveCommand::Do { kind, text: text.into() })));
        check("do 'pay Ada' 5", act(StepKind::Step, "pay Ada 5"));
        check("do verify 'it is paid'", act(StepKind::Verify, "it is paid"));
        check("do verify", Err("`do verify` needs text: do verify \"Pay Ada\""));
        check("save a b", Err("`save` needs one file: save pay.trail.yaml"));
        let save = |merge, title: Option<&str>| {
            Ok(Some(ShellLine::Command(InteractiveCommand::Save(Save {
                path: "a".into(),
                merge,
                title: title.map(String::from),
                from: None,
                to: None,
                is_own: false,
            }))))
        };
        check("save a", save(None, None));
        check("save a --force --force", save(Some(Merge::Replace), None));
        check("save --title 'Pay Ada' a --append", save(Some(Merge::Append), Some("Pay Ada")));
        check("save a --append --force", Err("`--append` and `--force` cannot be used together"));
        check("save a --wide", Err("`save` does not take `--wide`; it takes --append, --force and --title WORDS"));
    }
}
