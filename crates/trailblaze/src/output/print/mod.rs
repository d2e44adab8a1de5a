//! All printing. Stdout is data, stderr is talk; colours only on terminals, and `NO_COLOR` is respected.
//!
//! Text that is printed may come from a tool, a server or the page under test, so all of it is made [safe] first:
//! only styles of ours reach the terminal, and no secret does.

mod safe;

pub use super::words::{count, seconds};

use std::backtrace::{Backtrace, BacktraceStatus};
use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::panic::PanicHookInfo;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, OnceLock};

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use anstyle::{AnsiColor, Style};
use parking_lot::{Mutex, RwLock};
use trailblaze_core::values::secret::Secrets;
use trailblaze_core::yaml::{Problem, Severity};

const BAD: Style = AnsiColor::Red.on_default().bold();
const CAUTION: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default();
pub const GOOD: Style = AnsiColor::Green.on_default();
pub const WORSE: Style = AnsiColor::Red.on_default();
pub const DIM: Style = Style::new().dimmed();

/// The first error of standard output. Global to the process, like standard output itself.
static LOST: OnceLock<std::io::Error> = OnceLock::new();

/// The secrets that this process must not print.
static HIDDEN: RwLock<Option<Arc<Secrets>>> = RwLock::new(None);

/// Why printed data was lost, if it was.
pub fn lost() -> Option<&'static std::io::Error> {
    LOST.get()
}

/// From now on these secrets are printed as their names.
pub fn hide(secrets: &Arc<Secrets>) {
    *HIDDEN.write() = Some(Arc::clone(secrets));
}

/// Text in styles of ours. What is added to it is made safe.
#[derive(Default)]
pub struct StyledLine {
    text: String,
    /// Whether only blanks came since the line began.
    has_words: bool,
}

impl StyledLine {
    pub fn new(text: impl Display) -> StyledLine {
        StyledLine::default().then(text)
    }

    pub fn styled(style: Style, text: impl Display) -> StyledLine {
        StyledLine::default().then_styled(style, text)
    }

    pub fn then(mut self, text: impl Display) -> StyledLine {
        let text = text.to_string();
        let hidden = HIDDEN.read();
        let text = hidden.as_ref().map_or(text.as_str().into(), |secrets| secrets.redact(&text));
        safe::push(&mut self.text, &text, &mut self.has_words);
        self
    }

    pub fn then_styled(mut self, style: Style, text: impl Display) -> StyledLine {
        self.text.push_str(&style.render().to_string());
        self = self.then(text);
        self.text.push_str(&style.render_reset().to_string());
        self
    }
}

impl<T: Display> From<T> for StyledLine {
    fn from(text: T) -> StyledLine {
        StyledLine::new(text)
    }
}

/// Prints data to stdout. A closed pipe is not an error; data that is lost for other reasons is reported at the end of the
/// program.
pub fn data(line: impl Into<StyledLine>) {
    print_data(&line.into().text);
}

fn print_data(text: &str) {
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

/// Where messages are sent while the user edits a line, so that they do not break it up. Global to the process, like the
/// terminal.
static ABOVE_PROMPT: Mutex<Option<SyncSender<String>>> = Mutex::new(None);

/// Sends messages to the thread that draws the prompt, until the returned value is dropped.
pub fn above_prompt(to: SyncSender<String>) -> AbovePrompt {
    *ABOVE_PROMPT.lock() = Some(to);
    AbovePrompt(())
}

/// Whether the user is editing a line.
pub fn is_prompt_open() -> bool {
    ABOVE_PROMPT.lock().is_some()
}

/// Until it is dropped, messages are printed above the prompt.
pub struct AbovePrompt(());

impl Drop for AbovePrompt {
    fn drop(&mut self) {
        *ABOVE_PROMPT.lock() = None;
    }
}

/// Shows a line that is being typed, in the place of what it was before. `None` removes it.
pub fn typed_line(text: Option<&str>) {
    let line = StyledLine::new(text.unwrap_or_default()).text;
    let mut stderr = std::io::stderr().lock();
    let _ = write!(stderr, "\r\x1b[K{line}").and_then(|()| stderr.flush());
}

/// Prints a message to stderr. If it cannot be written, there is nowhere to report that.
pub fn say(line: impl Into<StyledLine>) {
    say_raw(&line.into().text);
}

fn say_raw(text: &str) {
    if let Some(prompt) = &*ABOVE_PROMPT.lock() {
        let mut line = anstream::AutoStream::new(Vec::new(), anstream::AutoStream::choice(&std::io::stderr()));
        let _ = writeln!(line, "{text}");
        if prompt.try_send(String::from_utf8_lossy(&line.into_inner()).into_owned()).is_ok() {
            return;
        }
    }
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// A command to the runner of GitHub Actions, whose parts were escaped for it.
pub fn workflow_command(command: &str) {
    say_raw(&safe::line(command));
}

/// Text for a line of which other parts are drawn elsewhere.
pub fn one_line(text: &str) -> String {
    StyledLine { text: String::new(), has_words: true }.then(text).text.replace('\n', " ")
}

pub fn error(message: impl Display) {
    say(error_line(message));
}

pub fn error_line(message: impl Display) -> StyledLine {
    StyledLine::styled(BAD, "error:").then(" ").then(message)
}

pub fn hint(message: impl Display) {
    say(StyledLine::styled(HINT, "hint:").then(" ").then(message));
}

pub fn warning(message: impl Display) {
    say(warning_line(message));
}

pub fn warning_line(message: impl Display) -> StyledLine {
    StyledLine::styled(CAUTION, "warning:").then(" ").then(message)
}

/// A message that another component writes to the terminal, in colours if supported.
pub fn for_terminal(line: impl Into<StyledLine>) -> String {
    let StyledLine { text, .. } = line.into();
    match anstream::AutoStream::choice(&std::io::stderr()) {
        anstream::ColorChoice::Never => anstream::adapter::strip_str(&text).to_string(),
        _ => text,
    }
}

/// A bug. Its message may quote anything.
pub fn panic(panic: &PanicHookInfo<'_>) {
    let thread = std::thread::current();
    say(format!("thread `{}` {panic}", thread.name().unwrap_or("without a name")));
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured {
        say(backtrace);
    }
}

/// A JSON value on stdout, for programs.
pub fn json(value: &impl serde::Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => print_data(&safe::json(&text)),
        Err(problem) => error(format!("the answer is not JSON: {problem}")),
    }
}

/// The same on a line of its own.
pub fn json_line(value: &serde_json::Value) {
    print_data(&safe::json(&value.to_string()));
}

/// The most problems that are printed at once; nobody reads more.
const PROBLEMS_SHOWN: usize = 50;

/// Prints the problems of files, each with its place in the source: errors first if there are too many.
pub fn problems(problems: &[Problem]) {
    let renderer = Renderer::styled();
    let n_more = problems.len().saturating_sub(PROBLEMS_SHOWN);
    let mut shown: Vec<&Problem> = problems.iter().collect();
    if n_more > 0 {
        shown.sort_by_key(|problem| problem.severity != Severity::Error);
        shown.truncate(PROBLEMS_SHOWN);
    }
    for problem in shown {
        say_raw(&rendered(&renderer, problem));
        say_raw("");
    }
    if n_more > 0 {
        say(format!("and {}", count(n_more, "more problem")));
    }
}

fn rendered(renderer: &Renderer, problem: &Problem) -> String {
    let level = match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let text = &problem.source.text;
    let start = problem.span.start.min(text.len());
    // Only the first line of a block, which is enough to find it. The rest of a large file is not even looked at.
    let (line_start, line) = match text[..start].rfind(['\n', '\r']).map_or(0, |at| at + 1) {
        // The end of the file is shown behind its last line.
        at if at == text.len() && at > 0 => {
            let last = text.strip_suffix('\n').unwrap_or(text);
            let last = last.strip_suffix('\r').unwrap_or(last);
            (last.rfind(['\n', '\r']).map_or(0, |at| at + 1), problem.span.line.saturating_sub(1))
        }
        at => (at, problem.span.line),
    };
    let line_end = text[start..].find(['\n', '\r']).map_or(text.len(), |at| start + at);
    let end = problem.span.end.clamp(start, line_end);
    let parts = [&text[line_start..start], &text[start..end], &text[end..line_end]];
    let [before, marked, after] = parts.map(safe::source);
    let span = before.len()..before.len() + marked.len();
    let source = [before, marked, after].concat();
    let [message, path, hint] =
        [&problem.message, &problem.source.path, problem.hint.as_ref().unwrap_or(&String::new())]
            .map(|text| StyledLine { text: String::new(), has_words: true }.then(text).text);
    let annotation = AnnotationKind::Primary.span(span);
    let snippet = Snippet::source(source).path(path).line_start(line.max(1)).annotation(annotation);
    let group = level.primary_title(message.as_str()).element(snippet);
    let group = if hint.is_empty() { group } else { group.element(Level::HELP.message(hint.as_str())) };
    renderer.render(&[group])
}
