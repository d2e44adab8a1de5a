//! Live progress: one live line per device on a terminal, plain lines elsewhere.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use parking_lot::Mutex;
use trailblaze_core::yaml::Problem;
use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::event::{Event, Level, ModelReplied, Verdict};
use trailblaze_protocol::ids::{DeviceId, Parent};

use crate::output::console::Console;
use crate::output::print::{self, StyledLine};
use crate::output::report::turns;
use crate::output::run_count::{PlannedTrails, RunCount};
use crate::output::tool_output::ToolOutput;

pub struct Progress {
    mode: ProgressMode,
    tool_output: Mutex<ToolOutput>,
    /// Whether what tools say is shown.
    shows_tool_output: bool,
    devices: Mutex<HashMap<DeviceId, DeviceProgress>>,
    /// How far the run is. There is none in a session.
    count: Mutex<Option<RunCount>>,
    /// The line that shows it on a terminal.
    count_bar: Mutex<Option<ProgressBar>>,
    /// Whether each trail that passes has a line, however many there are.
    lists_all: bool,
}

enum ProgressMode {
    Live(MultiProgress),
    Plain,
    Silent,
}

#[derive(Default)]
struct DeviceProgress {
    bar: Option<ProgressBar>,
    trail: String,
    step: String,
    started: Option<std::time::Instant>,
}

/// Whether a warning means that a trail may pass and yet not have tested what it says.
fn is_doubt(event: &Event) -> bool {
    matches!(
        event,
        Event::Noted { is_doubt: true, .. }
            | Event::Device { happened: DeviceEvent::Dialog { is_unexpected: true, .. }, .. }
    )
}

impl Progress {
    pub fn new(is_quiet: bool) -> Progress {
        let mode = match (is_quiet, std::io::stderr().is_terminal()) {
            (true, _) => ProgressMode::Silent,
            (false, true) => ProgressMode::Live(MultiProgress::new()),
            (false, false) => ProgressMode::Plain,
        };
        Progress {
            mode,
            tool_output: Mutex::default(),
            shows_tool_output: false,
            devices: Mutex::default(),
            count: Mutex::default(),
            count_bar: Mutex::default(),
            lists_all: false,
        }
    }

    /// Also shows what custom tools log and print.
    pub fn with_tool_output(self) -> Progress {
        Progress { shows_tool_output: true, ..self }
    }

    /// Also lists each trail that passes, however many there are.
    pub fn listing_all(self) -> Progress {
        Progress { lists_all: true, ..self }
    }

    /// Shows how far the run is, on the last line of a terminal.
    fn show_count(&self) {
        let text = match &*self.count.lock() {
            Some(count) if count.is_shown() => count.to_string(),
            _ => return,
        };
        let ProgressMode::Live(bars) = &self.mode else { return };
        let mut bar = self.count_bar.lock();
        let bar = bar.get_or_insert_with(|| {
            let bar = bars.add(ProgressBar::new_spinner());
            bar.set_style(
                ProgressStyle::with_template("  {msg:.dim}").unwrap_or_else(|_| ProgressStyle::default_spinner()),
            );
            bar
        });
        bar.set_message(text);
    }

    /// Whether a line tells of a trail that ended this way.
    fn is_listed(&self, verdict: Verdict) -> bool {
        let is_large = self.count.lock().as_ref().is_some_and(RunCount::is_large);
        !is_large || self.lists_all || !matches!(verdict, Verdict::Passed | Verdict::Skipped)
    }

    fn show_line(&self, line: StyledLine) {
        match &self.mode {
            // A closed terminal is no reason to stop.
            ProgressMode::Live(bars) if !print::is_prompt_open() => drop(bars.println(print::for_terminal(line))),
            _ => print::say(line),
        }
    }

    fn follow(&self, device: &DeviceId, event: &Event) {
        if matches!(self.mode, ProgressMode::Silent) {
            return;
        }
        let said = self.tool_output.lock().read(event);
        if let Some(said) = said.as_ref().filter(|_| self.shows_tool_output && !is_doubt(event)) {
            let is_only_device = self.devices.lock().len() <= 1;
            self.tool_output(&if is_only_device { said.clone() } else { format!("{device}  {said}") });
        }
        let mut devices = self.devices.lock();
        let progress = devices.entry(device.clone()).or_default();
        match event {
            Event::AttemptStarted { trail, number, repeat, .. } => {
                let repeat = repeat.map(|repeat| format!(" (repeat {repeat})")).unwrap_or_default();
                let number = if *number > 1 { format!(" (attempt {number})") } else { String::new() };
                progress.trail = format!("{}{repeat}{number}", trail.title);
                progress.step.clear();
                progress.started = Some(std::time::Instant::now());
                self.show(device, progress, "");
            }
            Event::StepStarted { text, .. } => {
                progress.step = text.lines().next().unwrap_or_default().to_string();
                self.show(device, progress, "");
            }
            Event::Called(called) => self.show(device, progress, &called.tool),
            Event::ModelAsked(asked) => self.show(device, progress, &format!("asking {}", asked.model)),
            Event::ModelReplied(replied) => {
                let line = replied_line(device, replied);
                drop(devices);
                self.show_line(line);
            }
            // How far a call is, in its own words.
            Event::Noted { about: Some(Parent::Call(_)), level: Level::Info, text, .. } => {
                self.show(device, progress, text)
            }
            Event::Noted { is_doubt: true, text, .. } => {
                drop(devices);
                // After the name of its tool, if it is about a call of one.
                let text = said.as_ref().unwrap_or(text);
                self.show_line(print::warning_line(format!("{device}: {text}")));
            }
            Event::Device { happened, .. } if is_doubt(event) => {
                drop(devices);
                self.show_line(print::warning_line(format!("{device}: {happened}")));
            }
            Event::AttemptEnded { verdict, message, .. } => {
                let micros =
                    progress.started.map_or(0, |started| u64::try_from(started.elapsed().as_micros()).unwrap_or(0));
                let line = ended(device, &progress.trail, *verdict, micros, message);
                if let Some(bar) = progress.bar.take() {
                    bar.finish_and_clear();
                }
                drop(devices);
                if self.is_listed(*verdict) {
                    self.show_line(line);
                }
            }
            _ => {}
        }
    }

    fn show(&self, device: &DeviceId, progress: &mut DeviceProgress, tool: &str) {
        let ProgressMode::Live(bars) = &self.mode else { return };
        let bar = progress.bar.get_or_insert_with(|| {
            let new = ProgressBar::new_spinner();
            // Above the line that shows how far the run is.
            let bar = match &*self.count_bar.lock() {
                Some(count) => bars.insert_before(count, new),
                None => bars.add(new),
            };
            let style = ProgressStyle::with_template("{spinner:.dim} {prefix:<16} {elapsed:>4} {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.set_prefix(print::one_line(device.as_str()));
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        let parts: Vec<&str> = [progress.trail.as_str(), progress.step.as_str(), tool]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect();
        bar.set_message(print::one_line(&parts.join(" › ")));
    }
}

/// Prints without disturbing the live lines.
impl Console for Progress {
    fn say(&self, text: &str) {
        if !matches!(self.mode, ProgressMode::Silent) {
            self.show_line(StyledLine::new(text));
        }
    }

    fn warn(&self, text: &str) {
        self.show_line(print::warning_line(text));
    }

    fn error(&self, text: &str) {
        self.show_line(print::error_line(text));
    }

    fn problems(&self, problems: &[Problem]) {
        print::problems(problems);
    }

    fn trails_planned(&self, planned: PlannedTrails) {
        *self.count.lock() = Some(RunCount::new(planned));
        self.show_count();
    }

    fn trail_done(&self, is_good: bool, took: Duration) {
        let due = {
            let mut count = self.count.lock();
            let Some(count) = &mut *count else { return };
            count.add(is_good, took);
            (count.is_due() && !self.lists_all).then(|| count.to_string())
        };
        match (&self.mode, due) {
            (ProgressMode::Live(_), _) => self.show_count(),
            (ProgressMode::Plain, Some(text)) => self.show_line(StyledLine::styled(print::DIM, text)),
            _ => {}
        }
    }

    fn run_done(&self) {
        if let Some(bar) = self.count_bar.lock().take() {
            bar.finish_and_clear();
        }
    }

    fn event(&self, device: &DeviceId, event: &Event) {
        self.follow(device, event);
    }

    fn tool_output(&self, text: &str) {
        self.show_line(StyledLine::styled(print::DIM, text));
    }

    fn rescue(&self, text: &str) {
        match &self.mode {
            // Stdout is reserved for data.
            ProgressMode::Silent => print::say(text),
            ProgressMode::Live(_) | ProgressMode::Plain => print::data(text),
        }
    }
}

/// What a model decided, and what that cost.
fn replied_line(device: &DeviceId, replied: &ModelReplied) -> StyledLine {
    let calls: Vec<String> = replied.calls.iter().map(turns::written).collect();
    let said = match &replied.problem {
        Some(problem) => problem.clone(),
        None if calls.is_empty() => replied.text.clone(),
        None => calls.join(", "),
    };
    let cost = replied.cost.map(|cost| format!(", {}", turns::dollars(cost))).unwrap_or_default();
    let tokens = format!(" {} + {} tokens{cost}, ", replied.tokens_in, replied.tokens_out);
    let said: String = said.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(200).collect();
    StyledLine::styled(print::DIM, "·")
        .then(format!(" {:<14} {said}", device.to_string()))
        .then_styled(print::DIM, tokens + &print::seconds(replied.micros))
}

/// How an attempt ended, on one line.
fn ended(device: &DeviceId, trail: &str, verdict: Verdict, micros: u64, message: &str) -> StyledLine {
    let mark = match verdict {
        Verdict::Passed => StyledLine::styled(print::GOOD, "✓"),
        Verdict::Skipped => StyledLine::styled(print::DIM, "-"),
        _ => StyledLine::styled(print::WORSE, "✗"),
    };
    let line =
        mark.then(format!(" {:<14} {trail} ", device.to_string())).then_styled(print::DIM, print::seconds(micros));
    match verdict {
        Verdict::Skipped => line.then_styled(print::DIM, format!(" skipped: {message}")),
        Verdict::Cancelled => line.then(" cancelled"),
        _ => line,
    }
}
