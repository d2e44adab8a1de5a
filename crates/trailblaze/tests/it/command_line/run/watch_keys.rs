//! The keys of `run --watch` on a terminal.

use crate::support::Project;
use crate::support::terminal::Terminal;

const LEGEND: &str = "watching for changes; a: all trails, f: those that failed, p: by title or path";
const WATCH: [&str; 6] = ["run", "--pictures", "off", "-d", "android/sim-1", "--watch"];
const OPENS: &str = "    tools: [launchApp: {packageId: com.example.counter}]\n";

/// Two trails, of which the second fails.
fn project() -> Project {
    let trail = |title: &str, more: &str| format!("config: {{title: {title}}}\ntrail:\n  - step: Open\n{OPENS}{more}");
    let fails = "  - verify: It is done\n    tools: [assertVisible: {text: Done, timeoutMs: 0}]\n";
    Project::counter()
        .with("trails/first.trail.yaml", trail("Open the counter", ""))
        .with("trails/second.trail.yaml", trail("Fail at once", fails))
}

/// The trails of the newest run, by their paths.
fn ran(project: &Project) -> Vec<String> {
    let summary = project.last_run().summary();
    let attempts = summary["attempts"].as_array().expect("a list");
    attempts.iter().filter_map(|attempt| attempt["trail"]["path"].as_str().map(str::to_string)).collect()
}

#[test]
fn each_key_runs_its_trails_and_the_terminal_is_as_it_was() {
    let project = project();
    let mut terminal = Terminal::open(&project, &WATCH, &[]);
    let (first, second) = ("trails/first.trail.yaml", "trails/second.trail.yaml");
    terminal.sees(LEGEND);
    assert_eq!(ran(&project), [first, second]);
    terminal.types("f");
    terminal.sees(LEGEND);
    assert_eq!(ran(&project), [second]);
    terminal.types("pOPENX\x7f the");
    terminal.sees("title or path: OPEN the");
    terminal.types("\r");
    terminal.sees(LEGEND);
    assert_eq!(ran(&project), [first], "titles are compared without regard to case");
    terminal.types("\r");
    terminal.sees(LEGEND);
    assert_eq!((ran(&project), project.runs().len()), (vec![first.to_string()], 4));
    terminal.types("pfirst");
    terminal.sees("title or path: first");
    terminal.types("\x1b");
    // The line is removed.
    terminal.sees("\x1b[K");
    terminal.types("a");
    terminal.sees(LEGEND);
    assert_eq!(ran(&project), [first, second]);
    project.write(first, project.read(first).replace("Open the counter", "Open it"));
    terminal.sees("trails/first.trail.yaml changed");
    terminal.sees(LEGEND);
    assert_eq!(ran(&project), [first]);
    terminal.types("q");
    assert_eq!(terminal.ends(), 0);
    assert_eq!(project.runs().len(), 6);
}

#[test]
fn a_key_writes_expected_pictures_once() {
    let looks = "  - verify: It looks as always\n    tools: [assertPicture: {name: counter, timeoutMs: 0}]\n";
    let trail = format!("trail:\n  - step: Open\n{OPENS}{looks}");
    let project = Project::counter().with("trails/look.trail.yaml", trail);
    let mut terminal = Terminal::open(&project, &WATCH, &[]);
    terminal.sees("1 failed");
    terminal.sees(LEGEND);
    let pictures = project.root().join("trails/look.pictures");
    assert!(!pictures.exists());
    terminal.types("u");
    terminal.sees("1 passed");
    terminal.sees(LEGEND);
    let written = std::fs::read_dir(&pictures).expect("a folder").flatten().next().expect("a picture").path();
    std::fs::remove_file(written).expect("it is there");
    terminal.types("\r");
    terminal.sees("1 failed");
    terminal.sees(LEGEND);
    terminal.types("q");
    assert_eq!(terminal.ends(), 0);
}

#[test]
fn ctrl_c_leaves_the_terminal_as_it_was() {
    let project = project();
    let mut terminal = Terminal::open(&project, &WATCH, &[]);
    terminal.sees(LEGEND);
    terminal.types("pfir");
    terminal.sees("title or path: fir");
    terminal.types("\x03");
    assert_eq!(terminal.ends(), 0);
}

#[test]
fn a_key_that_finds_nothing_says_so_and_the_watch_goes_on() {
    let project = project();
    std::fs::remove_file(project.root().join("trails/second.trail.yaml")).expect("it is there");
    let mut terminal = Terminal::open(&project, &WATCH, &[]);
    terminal.sees(LEGEND);
    terminal.types("f");
    terminal.sees("no trail failed when it last ran");
    terminal.types("pnothing\r");
    terminal.sees("error");
    terminal.sees(LEGEND);
    terminal.types("q");
    assert_eq!(terminal.ends(), 0);
}
