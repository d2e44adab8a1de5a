//! Every command with its flags, from the definitions that also make `--help`.

use std::fmt::Write;

use clap::{Arg, Command, CommandFactory};
use trailblaze::cli::Cli;

use super::{cell, prose};

pub fn page() -> String {
    let mut all = Cli::command().disable_help_subcommand(true);
    all.build();
    let mut out = String::from(
        "# Commands\n\nEvery command with its arguments and flags, as `--help` shows them. [Running](../running.md) explains the commands.\n\
         All commands take `--help`, and these:\n\n",
    );
    table(&mut out, all.get_arguments().filter(|arg| arg.is_global_set()));
    for command in all.get_subcommands() {
        add(&mut out, command);
    }
    out
}

fn add(out: &mut String, command: &Command) {
    if command.is_hide_set() {
        return;
    }
    let name = command.get_bin_name().unwrap_or_default();
    write!(out, "\n## {name}\n\n").expect("text can be written to");
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    for paragraph in about.split("\n\n") {
        writeln!(out, "{}\n", sentence(&prose(paragraph))).expect("text can be written to");
    }
    let usage = command.clone().render_usage().to_string();
    let usage: Vec<&str> =
        usage.trim_start_matches("Usage:").lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    writeln!(out, "```text\n{}\n```\n", usage.join("\n")).expect("text can be written to");
    table(out, command.get_arguments().filter(|arg| !arg.is_global_set()));
    for command in command.get_subcommands() {
        add(out, command);
    }
}

fn table<'a>(out: &mut String, arguments: impl Iterator<Item = &'a Arg>) {
    let shown = |arg: &&Arg| !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str());
    let mut arguments: Vec<&Arg> = arguments.filter(shown).collect();
    arguments.sort_by_key(|arg| !arg.is_positional());
    if arguments.is_empty() {
        // Keeps one empty line between sections.
        out.truncate(out.trim_end().len());
        out.push('\n');
        return;
    }
    out.push_str("| | |\n|---|---|\n");
    for arg in arguments {
        writeln!(out, "| {} | {} |", names(arg), about(arg)).expect("text can be written to");
    }
}

/// `` `-d`, `--device <DEVICE>` ``
fn names(arg: &Arg) -> String {
    let values =
        arg.get_value_names().unwrap_or_default().iter().map(|name| format!("<{name}>")).collect::<Vec<_>>().join(" ");
    let takes_value = arg.get_action().takes_values();
    if arg.is_positional() {
        return format!("`{values}`");
    }
    let value = if takes_value && !values.is_empty() { format!(" {values}") } else { String::new() };
    let mut names: Vec<String> = arg.get_short().iter().map(|short| format!("`-{short}`")).collect();
    let long = arg.get_long().into_iter().chain(arg.get_visible_aliases().unwrap_or_default());
    names.extend(long.map(|long| format!("`--{long}{value}`")));
    names.join(", ").replace('|', "\\|")
}

fn about(arg: &Arg) -> String {
    let mut text = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if arg.get_action().takes_values() && !values.is_empty() && !arg.is_hide_possible_values_set() {
        write!(text, " [values: {}]", values.join(", ")).expect("text can be written to");
    }
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
    if arg.get_action().takes_values() && !defaults.is_empty() && !arg.is_hide_default_value_set() {
        write!(text, " [default: {}]", defaults.join(", ")).expect("text can be written to");
    }
    if let Some(variable) = arg.get_env() {
        write!(text, " [variable: {}]", variable.to_string_lossy()).expect("text can be written to");
    }
    cell(&text)
}

/// Help has no full stop at its end.
fn sentence(text: &str) -> String {
    if text.is_empty() || text.ends_with(['.', ':', '?', '!']) { text.to_string() } else { format!("{text}.") }
}
