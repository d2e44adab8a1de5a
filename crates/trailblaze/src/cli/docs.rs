//! `trailblaze docs`: man pages, generated from the same table as `--help`.

use std::path::{Path, PathBuf};

use clap::{Args, Command, CommandFactory, Subcommand};
use clap_mangen::Man;
use trailblaze_protocol::exit::Exit;

use super::{Cli, Refusal};
use crate::files::write_atomically;
use crate::output::print;

/// Write man pages
#[derive(Args)]
pub struct DocsCommand {
    #[command(subcommand)]
    verb: DocsVerb,
}

#[derive(Subcommand)]
enum DocsVerb {
    /// Write man pages for all commands
    Man {
        /// Write each page to a file in this folder [default: standard output]
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// Print the file names as JSON
        #[arg(long, requires = "out")]
        json: bool,
    },
}

pub fn docs(command: DocsCommand) -> Result<Exit, Refusal> {
    let DocsVerb::Man { out, json } = command.verb;
    let pages = pages()?;
    let Some(folder) = out else {
        for (_, page) in &pages {
            print::bytes(page).map_err(|source| Refusal::Io { what: "cannot print the pages".into(), source })?;
        }
        return Ok(Exit::Passed);
    };
    let failed = |what: &Path, source| Refusal::Io { what: format!("cannot write `{}`", what.display()), source };
    std::fs::create_dir_all(&folder).map_err(|source| failed(&folder, source))?;
    let mut files = Vec::new();
    for (name, page) in &pages {
        let file = folder.join(name);
        write_atomically(&file, page).map_err(|source| failed(&file, source))?;
        files.push(file.display().to_string());
    }
    match json {
        true => print::json(&files),
        false => files.iter().for_each(print::data),
    }
    Ok(Exit::Passed)
}

/// The pages by file name.
fn pages() -> Result<Vec<(String, Vec<u8>)>, Refusal> {
    let mut all = Cli::command().disable_help_subcommand(true);
    all.build();
    let mut pages = Vec::new();
    add(&all, &mut pages).map_err(|source| Refusal::Io { what: "cannot generate the pages".into(), source })?;
    Ok(pages)
}

fn add(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) -> std::io::Result<()> {
    let man = Man::new(command.clone());
    let mut page = Vec::new();
    man.render(&mut page)?;
    pages.push((man.get_filename(), page));
    command.get_subcommands().filter(|verb| !verb.is_hide_set()).try_for_each(|verb| add(verb, pages))
}
