//! Projects in temporary folders, the real program run in them, and what it leaves behind.

pub mod chromium;
pub mod firefox;
pub mod hand;
pub mod home;
pub mod lab;
pub mod marked;
pub mod net_server;
pub mod permits;
pub mod run_fixture;
pub mod selenium_grid;
pub mod skip;
pub mod stage;
pub mod terminal;
pub mod web_shop;
pub mod webdriver;
pub mod x_screen;

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use trailblaze_protocol::event::{Called, Event, Header, Level, Line, Parsed};
use trailblaze_protocol::ids::Parent;

/// How long anything may take before a test gives up.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// Whether this is the full tier of tests, which `SOAK=1` chooses: large counts, and what takes long.
pub fn is_full_tier() -> bool {
    std::env::var_os("SOAK").is_some()
}

/// A small app: a counter, a visible field, and a page that opens after a while.
pub const COUNTER_APP: &str = "\
app: {id: com.example.counter, web: https://counter.example, name: Counter}
start: counter
state: {count: 0}
screens:
  counter:
    title: Counter
    elements:
      - {id: count, role: heading, text: 'Count: {{count}}'}
      - {id: add, role: button, text: Add one, tap: {add: {count: 1}}}
      - {id: name, role: field, hint: Your name}
      - {id: greeting, text: 'Hello, {{name}}', unless: {name: ''}}
      - {id: more, role: button, text: More, tap: {goto: more}}
  more:
    title: More
    elements:
      - {id: motto, text: Less is more}
";

pub const COUNTER_PROJECT: &str = "sim:\n  apps: [counter.app.yaml]\n";

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_trailblaze");

/// An example that cargo built beside it.
pub fn example(name: &str) -> PathBuf {
    let path = Path::new(PROGRAM).with_file_name("examples").join(name);
    assert!(path.is_file(), "the example `{name}` is not built; `cargo build --workspace --examples` does it");
    path
}

pub struct Project {
    folder: TempDir,
}

impl Project {
    pub fn empty() -> Project {
        Project { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// An empty one in a folder, such as one on another disk.
    pub fn within(folder: &Path) -> Project {
        Project { folder: tempfile::tempdir_in(folder).expect("a temporary folder") }
    }

    /// The counter app and no trails.
    pub fn counter() -> Project {
        Project::empty().with("trailblaze.yaml", COUNTER_PROJECT).with("counter.app.yaml", COUNTER_APP)
    }

    /// A copy of `examples/wallet`, whose dialogs and receipts do not keep a test waiting.
    pub fn wallet() -> Project {
        let project = Project::copy_of("examples/wallet");
        let app = project.read("wallet.app.yaml");
        let brisk = app.replace("after: 400ms", "after: 20ms").replace("after: 600ms", "after: 20ms");
        assert_ne!(app, brisk, "the example no longer takes its time");
        project.write("wallet.app.yaml", brisk);
        project
    }

    /// A copy of a folder of the repository.
    pub fn copy_of(folder: &str) -> Project {
        let project = Project::empty();
        copy(&repository().join(folder), project.root());
        project
    }

    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    pub fn with(self, path: &str, content: impl AsRef<[u8]>) -> Project {
        self.write(path, content);
        self
    }

    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
        std::fs::write(path, content).expect("a file");
    }

    pub fn read(&self, path: &str) -> String {
        let path = self.root().join(path);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The program, ready to be started in the project, with an environment of its own.
    pub fn command(&self, args: &[&str]) -> Command {
        self.command_of(PROGRAM, args)
    }

    /// The same, with another build of the program.
    pub fn command_of(&self, program: impl AsRef<Path>, args: &[&str]) -> Command {
        let mut command = Command::new(program.as_ref());
        command.args(args).current_dir(self.root()).env_clear().env("HOME", self.root().join("home"));
        // Most tests are about one command, which must leave nothing behind.
        command.env("TRAILBLAZE_FRESH", "1");
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command
    }

    /// The same, started by a shell that does something first.
    pub fn command_after(&self, setup: &str, args: &[&str]) -> Command {
        self.command_through("sh", &["-c", &format!(r#"{setup}; exec "$0" "$@""#)], args)
    }

    /// The same, as the arguments of another program, which becomes it.
    fn command_through(&self, starter: &str, own_args: &[&str], args: &[&str]) -> Command {
        let program = self.command(args);
        let mut command = Command::new(starter);
        command.args(own_args).arg(program.get_program()).args(program.get_args());
        command.current_dir(self.root()).env_clear();
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
    }

    /// The same, with a terminal whose closing it hears of, even if the tests were started by `nohup`.
    pub fn command_that_hears_hangups(&self, args: &[&str]) -> Command {
        const LISTEN: &str = "import os, signal, sys\n\
                              signal.signal(signal.SIGHUP, signal.SIG_DFL)\n\
                              os.execv(sys.argv[1], sys.argv[1:])";
        self.command_through("python3", &["-c", LISTEN], args)
    }

    /// Runs the program to its end.
    pub fn run(&self, args: &[&str]) -> Ran {
        self.finish(self.command(args))
    }

    /// Runs the program with lines on its standard input.
    pub fn feed(&self, args: &[&str], lines: &str) -> Ran {
        let mut command = self.command(args);
        command.stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("its input is ours");
        let lines = lines.to_string();
        let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
        let output = child.wait_with_output().expect("the program ends");
        // A shell that was told to quit need not read the rest.
        let _ = writer.join();
        self.ran(output)
    }

    pub fn finish(&self, mut command: Command) -> Ran {
        command.stdin(Stdio::null());
        // A copy of the program cannot start while a process that another test has just forked still holds it open.
        let output = wait_until("the program is no longer written", || match command.output() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => None,
            output => Some(output.expect("the program starts")),
        });
        self.ran(output)
    }

    /// Starts the program and leaves it running.
    pub fn start(&self, args: &[&str]) -> Running {
        self.start_of(self.command(args))
    }

    pub fn start_of(&self, mut command: Command) -> Running {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Running::of(command.spawn().expect("the program starts"))
    }

    pub fn ran(&self, output: Output) -> Ran {
        Ran {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("stdout is text"),
            stderr: String::from_utf8(output.stderr).expect("stderr is text"),
            root: self.root().display().to_string(),
        }
    }

    pub fn ended(&self, running: Running) -> Ran {
        self.ran(running.end())
    }

    /// Every run folder, oldest first.
    pub fn runs(&self) -> Vec<RunFolder> {
        let entries = std::fs::read_dir(self.root().join("logs")).into_iter().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
        // Names of one second are in no order; the header is finer. A folder that has none yet is the latest.
        paths.sort_by_key(|path| {
            let text = std::fs::read_to_string(path.join("events.jsonl")).unwrap_or_default();
            let header = text.lines().next().and_then(|line| serde_json::from_str::<Header>(line).ok());
            header.map_or_else(|| "~".to_string(), |header| header.started_at)
        });
        paths.into_iter().map(|path| RunFolder { path }).collect()
    }

    /// The only run, or the latest one.
    pub fn last_run(&self) -> RunFolder {
        self.runs().pop().expect("a run left its folder")
    }
}

/// The counter app, and a server whose tools take arguments of any shape or delegate.
pub fn parcels() -> Project {
    let script = repository().join("crates/trailblaze/tests/servers/parcels.py");
    let server = format!(
        "mcpServers:\n  parcels:\n    command: python3\n    args: ['{}']\n    multiDevice: stdio\n",
        script.display()
    );
    Project::counter().with("trailblaze.yaml", format!("{COUNTER_PROJECT}{server}"))
}

/// The folder of the whole repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn copy(from: &Path, to: &Path) {
    for file in files(from) {
        let inside = file.strip_prefix(from).expect("a file is in its folder");
        // A run of the example by hand leaves a folder that is no part of it.
        if inside.starts_with("logs") {
            continue;
        }
        let target = to.join(inside);
        std::fs::create_dir_all(target.parent().expect("a file has a folder")).expect("a folder");
        std::fs::copy(&file, target).expect("a copy");
    }
}

/// All files below a folder, in order.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("an entry").path();
            // Links lead out of the folder: those of an example to the libraries of its tool servers.
            if path.is_symlink() {
                continue;
            }
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// A process of the program. It does not outlive its test.
pub struct Running {
    child: Option<Child>,
}

impl Running {
    /// A process whose output is piped.
    pub fn of(child: Child) -> Running {
        Running { child: Some(child) }
    }

    pub fn id(&self) -> u32 {
        self.child.as_ref().expect("it runs").id()
    }

    /// Ctrl-C.
    pub fn interrupt(&self) {
        self.signal("INT");
    }

    pub fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().expect("a shell").success());
    }

    pub fn kill(&mut self) {
        self.child.as_mut().expect("it runs").kill().expect("it can be killed");
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.as_mut().expect("it runs").try_wait().expect("it can be waited for").is_some()
    }

    /// How it ended.
    pub fn status(&mut self) -> ExitStatus {
        self.child.as_mut().expect("it runs").wait().expect("it can be waited for")
    }

    fn end(mut self) -> Output {
        wait_until("the program ends", || self.has_ended().then_some(()));
        self.child.take().expect("it runs").wait_with_output().expect("the program ends")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Asks until there is an answer.
pub fn wait_until<T>(what: &str, mut answer: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let asked = Instant::now();
        if let Some(answer) = answer() {
            return answer;
        }
        assert!(Instant::now() < deadline, "gave up waiting until {what}");
        // An answer that costs a process is asked for less often.
        std::thread::sleep(asked.elapsed().max(Duration::from_millis(5)));
    }
}

/// How a process ended and what it said.
#[derive(Debug)]
pub struct Ran {
    /// `None` where a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    root: String,
}

impl Ran {
    #[track_caller]
    pub fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, Some(code), "\n--- stdout\n{}\n--- stderr\n{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {}", self.stdout))
    }

    /// The lines of standard output, each as JSON.
    #[track_caller]
    pub fn json_lines(&self) -> Vec<Value> {
        let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"));
        self.stdout.lines().map(parse).collect()
    }

    /// Exit code and talk, for snapshots.
    pub fn refusal(&self) -> String {
        assert_eq!(self.stdout, "", "a refusal is talk, not data");
        format!("exit {}\n{}", self.code.unwrap_or(-1), self.normal(&self.stderr))
    }

    pub fn normal(&self, text: &str) -> String {
        normal(&text.replace(&self.root, "[project]"))
    }
}

/// The text without what differs from run to run: seeds, run ids, times.
pub fn normal(text: &str) -> String {
    let lines = text.lines().map(|line| match line.strip_prefix("seed ") {
        Some(number) if number.chars().all(|c| c.is_ascii_digit()) => "seed [seed]".to_string(),
        _ => without_times(&without_stamps(&without_run_ids(line))),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// `logs/20260101-120000-000abc123` is `logs/[run]`.
fn without_run_ids(line: &str) -> String {
    let Some((before, after)) = line.split_once("logs/") else { return line.to_string() };
    let rest = after.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '-');
    format!("{before}logs/[run]{rest}")
}

/// Ids of runs and moments, wherever they stand.
fn without_stamps(line: &str) -> String {
    let shapes = [
        ("dddddddd-dddddd-dddxxxxxx", "[run]"),
        ("dddd-dd-dd dd:dd:dd UTC,    just now", "[when]"),
        ("dddd-dd-dd dd:dd:dd UTC,   d min ago", "[when]"),
        ("dddd-dd-dd dd:dd:dd UTC", "[when]"),
        ("dddd-dd-ddTdd:dd:dd.dddZ", "[when]"),
    ];
    shapes.iter().fold(line.to_string(), |line, (shape, name)| without_shape(&line, shape, name))
}

/// Replaces whatever looks like the shape: `d` is a digit, `x` a letter or a digit.
fn without_shape(line: &str, shape: &str, name: &str) -> String {
    let fits = |text: &str| {
        text.chars().count() == shape.len()
            && text.chars().zip(shape.chars()).all(|(c, shape)| match shape {
                'd' => c.is_ascii_digit(),
                'x' => c.is_ascii_alphanumeric(),
                shape => c == shape,
            })
    };
    let mut out = String::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        match rest.get(..shape.len()) {
            Some(text) if fits(text) => {
                out.push_str(name);
                rest = &rest[shape.len()..];
            }
            _ => {
                out.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    out
}

/// `12 ms` and `1.2 s` are `[time]`.
pub fn without_times(line: &str) -> String {
    let mut words: Vec<String> = line.split(' ').map(str::to_string).collect();
    for index in 1..words.len() {
        let unit = words[index].trim_end_matches([':', ';', ',']);
        if matches!(unit, "ms" | "s") && words[index - 1].parse::<f64>().is_ok() {
            words[index] = format!("[time]{}", &words[index][unit.len()..]);
            words[index - 1] = String::new();
        }
    }
    words.join(" ").replace("  [time]", " [time]")
}

/// What a run leaves behind.
pub struct RunFolder {
    pub path: PathBuf,
}

impl RunFolder {
    pub fn text(&self, name: &str) -> String {
        let path = self.path.join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    pub fn has(&self, name: &str) -> bool {
        self.path.join(name).exists()
    }

    pub fn summary(&self) -> Value {
        serde_json::from_str(&self.text("summary.json")).expect("the summary is JSON")
    }

    /// The events of a run that ended by itself: every line is one that this build knows.
    pub fn events(&self) -> Vec<Event> {
        let text = self.text("events.jsonl");
        let mut lines = text.lines();
        let header: Header = serde_json::from_str(lines.next().expect("a header")).expect("a header");
        assert_eq!(header.trailblaze_events, trailblaze_protocol::event::VERSION);
        let parse = |line: &str| match Line::parse(line) {
            Parsed::Line(line) => line.event,
            other => panic!("{other:?}"),
        };
        lines.map(parse).collect()
    }

    /// The texts of warnings, those about the device included.
    pub fn warnings(&self) -> Vec<String> {
        let warning = |event: Event| match event {
            Event::Noted { level: Level::Warning, text, .. } => Some(text),
            Event::Device { happened, .. } if happened.level() == Level::Warning => Some(happened.to_string()),
            _ => None,
        };
        self.events().into_iter().filter_map(warning).collect()
    }

    pub fn calls(&self) -> Vec<Called> {
        let call = |event: Event| match event {
            Event::Called(called) => Some(Arc::unwrap_or_clone(called)),
            _ => None,
        };
        self.events().into_iter().filter_map(call).collect()
    }

    /// How many lines of the events hold these words, of a run that may still go on.
    pub fn mentions(&self, words: &str) -> usize {
        let text = std::fs::read_to_string(self.path.join("events.jsonl")).unwrap_or_default();
        text.lines().filter(|line| line.contains(words)).count()
    }

    /// A run that was refused: nothing started, and the folder is whole all the same.
    #[track_caller]
    pub fn assert_refused(&self) {
        let events = self.events();
        let started = events.iter().find(|event| {
            matches!(event, Event::SessionOpened { .. } | Event::AttemptStarted { .. } | Event::Called(_))
        });
        assert_eq!(started, None, "nothing starts");
        self.assert_finished(3);
    }

    /// The folder holds all its parts, and they agree on how the run ended.
    #[track_caller]
    pub fn assert_finished(&self, code: i32) {
        match self.events().last() {
            Some(Event::RunEnded { exit, .. }) => assert_eq!(i32::from(exit.code()), code),
            other => panic!("the last event is {other:?}"),
        }
        let summary = self.summary();
        assert_eq!((&summary["isFinished"], &summary["code"]), (&true.into(), &code.into()));
        assert!(self.text("report.html").ends_with("</html>\n"), "the page is whole");
        quick_junit::Report::deserialize_from_str(&self.text("junit.xml")).expect("JUnit XML");
        self.assert_no_leftovers();
    }

    /// No file that was being written beside its place is left.
    #[track_caller]
    pub fn assert_no_leftovers(&self) {
        let is_left = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.starts_with('.') || name.ends_with(".part")
        };
        let left: Vec<PathBuf> = files(&self.path).into_iter().filter(is_left).collect();
        assert_eq!(left, Vec::<PathBuf>::new());
    }

    /// Every call hangs from a step or a call that was opened before it and not closed since.
    #[track_caller]
    pub fn assert_calls_have_parents(&self) {
        let mut open: HashSet<Parent> = HashSet::new();
        for event in self.events() {
            match event {
                Event::StepStarted { step, .. } => assert!(open.insert(Parent::Step(step))),
                Event::StepEnded { step, .. } => assert!(open.remove(&Parent::Step(step))),
                Event::Called(called) => {
                    assert!(open.contains(&called.parent), "{} has no parent", called.tool);
                    assert!(open.insert(Parent::Call(called.call.clone())), "an id is given once");
                }
                Event::Answered { call, .. } => assert!(open.remove(&Parent::Call(call))),
                _ => {}
            }
        }
        assert_eq!(open, HashSet::new(), "whatever was opened was closed");
    }
}

/// A picture, as rows of RGBA.
pub struct Pixels {
    pub width: usize,
    pub height: usize,
    rgba: Vec<u8>,
}

impl Pixels {
    pub fn read(path: &Path) -> Pixels {
        let file = std::io::BufReader::new(std::fs::File::open(path).expect("a picture"));
        let mut reader = png::Decoder::new(file).read_info().expect("a PNG");
        let mut rgba = vec![0; reader.output_buffer_size().expect("a size")];
        let info = reader.next_frame(&mut rgba).expect("whole rows");
        assert_eq!(info.color_type, png::ColorType::Rgba);
        Pixels { width: info.width as usize, height: info.height as usize, rgba }
    }

    /// Whether any pixel has this color.
    pub fn contains(&self, color: [u8; 3]) -> bool {
        self.rgba.chunks_exact(4).any(|pixel| pixel[..3] == color)
    }

    pub fn at(&self, x: usize, y: usize) -> [u8; 4] {
        let start = (y * self.width + x) * 4;
        self.rgba[start..start + 4].try_into().expect("four bytes")
    }
}
