//! All printing. Stdout is data, stderr is talk; colours only on terminals, and `NO_COLOR` is respected.

use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, OnceLock, PoisonError};

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use anstyle::{AnsiColor, Style};
use trailblaze_core::yaml::{Problem, Severity};

const BAD: Style = AnsiColor::Red.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default();
pub const GOOD: Style = AnsiColor::Green.on_default();
pub const WORSE: Style = AnsiColor::Red.on_default();
pub const DIM: Style = Style::new().dimmed();

/// Why standard output took no more, the first time. It belongs to the process, like standard output itself.
static LOST: OnceLock<std::io::Error> = OnceLock::new();

/// Why data that was printed is lost, if it is.
pub fn lost() -> Option<&'static std::io::Error> {
    LOST.get()
}

/// Data, for people or programs. Whoever stops reading it has read enough; what is lost otherwise is told at the end, when
/// everything that could still be done is done.
pub fn data(text: impl Display) {
    let mut stdout = anstream::stdout();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => drop(LOST.set(error)),
        _ => {}
    }
}

/// Data that is passed on as it is, such as a script.
pub fn bytes(bytes: &[u8]) -> std::io::Result<()> {
    match std::io::stdout().write_all(bytes) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Where talk goes while a person edits a line, so that it does not tear that line apart. It belongs to the process, like
/// the terminal.
static ABOVE_PROMPT: Mutex<Option<SyncSender<String>>> = Mutex::new(None);

/// Sends talk to whoever draws the prompt, until the answer is dropped.
pub fn above_prompt(to: SyncSender<String>) -> AbovePrompt {
    *ABOVE_PROMPT.lock().unwrap_or_else(PoisonError::into_inner) = Some(to);
    AbovePrompt(())
}

/// While it lives, talk is printed above the prompt.
pub struct AbovePrompt(());

impl Drop for AbovePrompt {
    fn drop(&mut self) {
        *ABOVE_PROMPT.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Talk. There is nobody to tell that it cannot be heard.
pub fn say(text: impl Display) {
    if let Some(prompt) = &*ABOVE_PROMPT.lock().unwrap_or_else(PoisonError::into_inner) {
        let mut line = anstream::AutoStream::new(Vec::new(), anstream::AutoStream::choice(&std::io::stderr()));
        let _ = writeln!(line, "{text}");
        if prompt.try_send(String::from_utf8_lossy(&line.into_inner()).into_owned()).is_ok() {
            return;
        }
    }
    let _ = writeln!(anstream::stderr(), "{text}");
}

pub fn error(message: impl Display) {
    say(format_args!("{BAD}error:{BAD:#} {message}"));
}

pub fn hint(message: impl Display) {
    say(format_args!("{HINT}hint:{HINT:#} {message}"));
}

pub fn warning(message: impl Display) {
    let style = AnsiColor::Yellow.on_default().bold();
    say(format_args!("{style}warning:{style:#} {message}"));
}

/// A JSON value on stdout, for programs.
pub fn json(value: &impl serde::Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => data(text),
        Err(problem) => error(format!("the answer is not JSON: {problem}")),
    }
}

/// Everything that is wrong with some files, each with its place in the source.
pub fn problems(problems: &[Problem]) {
    let renderer = Renderer::styled();
    for problem in problems {
        say(renderer.render(&[group(problem)]));
        say("");
    }
}

fn group(problem: &Problem) -> annotate_snippets::Group<'_> {
    let level = match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let text = &problem.source.text;
    let start = problem.span.start.min(text.len());
    // A whole block would be shown in full; its first line says where it is.
    let line_end = text[start..].find(['\n', '\r']).map_or(text.len(), |at| start + at);
    let end = problem.span.end.clamp(start, line_end);
    let snippet = Snippet::source(text.as_str())
        .path(problem.source.path.as_str())
        .line_start(1)
        .annotation(AnnotationKind::Primary.span(start..end));
    let group = level.primary_title(problem.message.as_str()).element(snippet);
    match &problem.hint {
        Some(hint) => group.element(Level::HELP.message(hint.as_str())),
        None => group,
    }
}

/// `1 step`, `2 steps`.
pub fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// A length of time for people.
pub fn seconds(micros: u64) -> String {
    match micros {
        0..1_000_000 => format!("{} ms", micros / 1000),
        1_000_000..60_000_000 => format!("{:.1} s", micros as f64 / 1e6),
        _ => format!("{} min {:02} s", micros / 60_000_000, micros / 1_000_000 % 60),
    }
}
