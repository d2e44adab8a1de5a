//! `trailblaze skill`: instructions for coding agents. The long text is part of the program, so that it matches its commands.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use trailblaze_core::yaml::nearest;
use trailblaze_protocol::exit::Exit;

use super::{Context, Refusal};
use crate::files::write_in_project;
use crate::output::print;

const STUB: &str = include_str!("skill/stub.md");
const FULL: &str = include_str!("skill/full.md");

/// Print instructions for coding agents
#[derive(Args)]
pub struct SkillArgs {
    /// Print all instructions, or those on one topic
    #[arg(long, value_name = "TOPIC", num_args = 0..=1, default_missing_value = "", conflicts_with = "install")]
    full: Option<String>,
    /// Write the short text to DIR/trailblaze/SKILL.md, such as in .claude/skills
    #[arg(long, value_name = "DIR")]
    install: Option<PathBuf>,
    /// Replace a SKILL.md with other content
    #[arg(long, requires = "install")]
    force: bool,
    /// Print as JSON: the topics and the text, or the written file
    #[arg(long)]
    json: bool,
}

pub fn skill(context: &Context, args: &SkillArgs) -> Result<Exit, Refusal> {
    if let Some(folder) = &args.install {
        return install(&context.root(Path::new(".")), &context.absolute(folder), args);
    }
    let text = match args.full.as_deref() {
        None => STUB,
        Some("") => FULL,
        Some(topic) => section(topic)?,
    };
    match args.json {
        true => print::json(&json!({"topics": topics().map(|(topic, _)| topic).collect::<Vec<_>>(), "text": text})),
        false => print::data(text.trim_end()),
    }
    Ok(Exit::Passed)
}

fn install(root: &Path, folder: &Path, args: &SkillArgs) -> Result<Exit, Refusal> {
    let file = folder.join("trailblaze").join("SKILL.md");
    let failed = |did: &str, source| Refusal::Io { what: format!("cannot {did} `{}`", file.display()), source };
    let before = match std::fs::read(&file) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed("read", error)),
    };
    let is_changed = before.as_deref() != Some(STUB.as_bytes());
    if is_changed && before.is_some() && !args.force {
        let message = format!("`{}` has other content", file.display());
        return Err(Refusal::Usage { message, hint: Some("`--force` replaces it".to_string()) });
    }
    if is_changed {
        write_in_project(root, &file, STUB).map_err(|error| failed("write", error))?;
    }
    match (args.json, is_changed) {
        (true, _) => print::json(&json!({"file": file, "changed": is_changed})),
        (false, true) => print::data(format!("wrote {}", file.display())),
        (false, false) => print::data(format!("{} is up to date", file.display())),
    }
    Ok(Exit::Passed)
}

/// The sections of the long text, by their headings in lower case.
fn topics() -> impl Iterator<Item = (String, &'static str)> {
    let starts = FULL.match_indices("\n## ").map(|(at, _)| at + 1).collect::<Vec<_>>();
    let ends = starts.clone().into_iter().skip(1).chain([FULL.len()]);
    starts.into_iter().zip(ends).map(|(start, end)| {
        let section = &FULL[start..end];
        (section.lines().next().unwrap_or_default().trim_start_matches("## ").to_lowercase(), section)
    })
}

fn section(topic: &str) -> Result<&'static str, Refusal> {
    let topics: Vec<_> = topics().collect();
    if let Some((_, section)) = topics.iter().find(|(known, _)| known.eq_ignore_ascii_case(topic)) {
        return Ok(section);
    }
    let known = || topics.iter().map(|(topic, _)| topic.as_str());
    let hint = match nearest(topic, known()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("expected one of: {}", known().collect::<Vec<_>>().join(", ")),
    };
    Err(Refusal::Usage { message: format!("unknown topic `{topic}`"), hint: Some(hint) })
}
