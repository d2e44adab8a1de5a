//! The interactive prompt: editing, history and completion. A thread reads from the terminal, because a blocking read
//! cannot be cancelled.

use std::borrow::Cow;
use std::io::IsTerminal;
use std::sync::mpsc;

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::config::{Behavior, CompletionType, Config};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{Context, Editor, ExternalPrinter, Helper};
use tokio::sync::mpsc as channel;

use super::complete::CompletionWords;
use super::history::LINES;
use crate::output::print;

const PROMPT: &str = "trailblaze> ";

/// How many messages may be queued for printing above the prompt.
const REMARKS: usize = 64;

/// What the user entered at the prompt.
pub enum ShellInput {
    Line(String),
    /// Ctrl-C: the line is discarded.
    Interrupted,
    /// Ctrl-D, or the terminal closed.
    End,
}

pub struct LineEditor {
    asks: mpsc::Sender<Ask>,
    heard: channel::Receiver<ShellInput>,
    /// Prints while the prompt is shown.
    remarks: mpsc::SyncSender<String>,
    /// The terminal's original settings, restored if the thread is abandoned in the middle of a line.
    terminal: Option<Termios>,
}

struct Ask {
    vocabulary: CompletionWords,
    /// The last line as it is saved in the history.
    last: Option<String>,
}

impl LineEditor {
    /// Takes over the terminal. `history` contains earlier lines, oldest first.
    pub fn open(history: Vec<String>) -> rustyline::Result<LineEditor> {
        let config = Config::builder()
            .behavior(Behavior::PreferTerm)
            .completion_type(CompletionType::List)
            // Pasted text with several lines is several commands.
            .bracketed_paste(false)
            .max_history_size(LINES)?
            .build();
        let lines = MemHistory::with_config(&config);
        let mut editor: Editor<Words, MemHistory> = Editor::with_history(config, lines)?;
        editor.set_helper(Some(Words { vocabulary: CompletionWords::default(), files: FilenameCompleter::new() }));
        for line in history {
            editor.add_history_entry(line)?;
        }
        let terminal = tcgetattr(std::io::stdin()).ok();
        let (remarks, waiting) = mpsc::sync_channel::<String>(REMARKS);
        if let Ok(mut printer) = editor.create_external_printer() {
            std::thread::spawn(move || while waiting.recv().is_ok_and(|text| printer.print(text).is_ok()) {});
        }
        // A line is only asked for after the one before was read.
        let (asks, asked) = mpsc::channel();
        let (say, heard) = channel::channel(1);
        std::thread::spawn(move || read(editor, &asked, &say));
        Ok(LineEditor { asks, heard, remarks, terminal })
    }

    /// Prompts for a line.
    pub async fn next(&mut self, vocabulary: CompletionWords, last: Option<String>) -> ShellInput {
        if self.asks.send(Ask { vocabulary, last }).is_err() {
            return ShellInput::End;
        }
        let _above = std::io::stderr().is_terminal().then(|| print::above_prompt(self.remarks.clone()));
        self.heard.recv().await.unwrap_or(ShellInput::End)
    }
}

impl Drop for LineEditor {
    fn drop(&mut self) {
        if let Some(terminal) = &self.terminal {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, terminal);
        }
    }
}

fn read(mut editor: Editor<Words, MemHistory>, asked: &mpsc::Receiver<Ask>, say: &channel::Sender<ShellInput>) {
    while let Ok(Ask { vocabulary, last }) = asked.recv() {
        if let Some(last) = last {
            let _ = editor.add_history_entry(last);
        }
        if let Some(words) = editor.helper_mut() {
            words.vocabulary = vocabulary;
        }
        let heard = match editor.readline(PROMPT) {
            Ok(line) => ShellInput::Line(line),
            Err(ReadlineError::Interrupted) => ShellInput::Interrupted,
            Err(_) => ShellInput::End,
        };
        if say.blocking_send(heard).is_err() {
            return;
        }
    }
}

/// The helper that rustyline calls while a line is edited.
struct Words {
    vocabulary: CompletionWords,
    files: FilenameCompleter,
}

impl Completer for Words {
    type Candidate = Pair;

    fn complete(&self, line: &str, cursor: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let completion = self.vocabulary.complete(line, cursor);
        if completion.takes_files && completion.words.is_empty() {
            return self.files.complete_path(line, cursor);
        }
        // A complete word is followed by a space; `name=` by its value.
        let end = |word: &str| if word.ends_with('=') { "" } else { " " };
        let pair = |word: String| Pair { replacement: format!("{word}{}", end(&word)), display: word };
        Ok((completion.start, completion.words.into_iter().map(pair).collect()))
    }
}

impl Hinter for Words {
    type Hint = String;
}

impl Highlighter for Words {
    fn highlight_candidate<'c>(&self, candidate: &'c str, _: CompletionType) -> Cow<'c, str> {
        Cow::Borrowed(candidate)
    }
}

impl Validator for Words {}

impl Helper for Words {}
