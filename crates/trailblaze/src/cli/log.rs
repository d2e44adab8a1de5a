//! `TRAILBLAZE_LOG`: the program's own log, for debugging Trailblaze itself. Off by default.

use std::io::{self, Write};

use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::output::print;
use crate::project::environment::Environment;

/// The variable: a level such as `debug`, or levels by target, such as `trailblaze::server=trace,trailblaze::web=debug`.
const VARIABLE: &str = "TRAILBLAZE_LOG";

/// Starts logging to stderr if the variable is set. An invalid value is a warning.
pub fn start(environment: &Environment) {
    let Some(wanted) = environment.text(VARIABLE).filter(|wanted| !wanted.trim().is_empty()) else { return };
    let targets = match wanted.parse::<Targets>() {
        Ok(targets) => targets,
        Err(error) => return print::warning(format!("{VARIABLE}=`{wanted}` has no effect: {error}")),
    };
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(Stderr);
    // Only a second call in one process could fail.
    let _ = tracing_subscriber::registry().with(targets).with(lines).try_init();
}

/// Prints each line the way all output is printed: sanitized, and without secrets.
struct Stderr;

impl MakeWriter<'_> for Stderr {
    type Writer = PrintedLine;

    fn make_writer(&self) -> PrintedLine {
        PrintedLine::default()
    }
}

#[derive(Default)]
struct PrintedLine(Vec<u8>);

impl Write for PrintedLine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for PrintedLine {
    fn drop(&mut self) {
        if !self.0.is_empty() {
            print::say(String::from_utf8_lossy(&self.0).trim_end());
        }
    }
}
