//! Expected pictures: written on request, compared in each run, shown where they differ.

use std::path::Path;

use trailblaze_protocol::event::{CallResult, Event};

use crate::support::{COUNTER_APP, Pixels, Project, RunFolder};

const TRAIL: &str = "\
trail:
  - step: Start
    tools:
      - launchApp: {packageId: com.example.counter}
      - assertVisible: {id: add}
  - verify: It looks as always
    tools:
      - assertPicture: {name: start, masks: [{id: count}]}
        soft: true
      - assertPicture: {name: add, id: add}
        soft: true
";
const RUN: [&str; 4] = ["run", "-d", "android/sim-1", "trails/look.trail.yaml"];
const RENEW: [&str; 5] = ["run", "-d", "android/sim-1", "--update-snapshots", "trails/look.trail.yaml"];
const FOLDER: &str = "trails/look.pictures";

fn project() -> Project {
    Project::counter().with("trails/look.trail.yaml", TRAIL)
}

/// The files of a folder by name.
fn names(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).map(|files| files.flatten().collect::<Vec<_>>()).unwrap_or_default();
    let mut names: Vec<String> = files.iter().map(|file| file.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// What was attached to each failed call of a run.
fn attached(run: &RunFolder) -> Vec<Vec<String>> {
    let failed = run.events().into_iter().filter_map(|event| match event {
        Event::Answered { answer: CallResult::Outcome(outcome), .. } if outcome.is_error() => Some(outcome),
        _ => None,
    });
    let stored = |file: &Option<String>| file.as_ref().is_some_and(|file| run.has(file));
    failed
        .map(|outcome| {
            assert!(outcome.attachments.iter().all(|attached| stored(&attached.file)), "{outcome:?}");
            outcome.attachments.iter().map(|attached| attached.name.clone()).collect()
        })
        .collect()
}

#[test]
fn expected_pictures_are_written_on_request_and_then_compared() {
    let project = project();
    // Nothing is expected yet.
    let ran = project.run(&RUN).exits(1);
    let file = format!("{FOLDER}/start.android-540x1200.png");
    let how = "`trailblaze run --update-snapshots trails/look.trail.yaml` writes it";
    assert!(ran.stdout.contains(&format!("there is no expected picture `{file}`; {how}")), "{}", ran.stdout);
    assert_eq!(attached(&project.last_run()), [["start (actual)"], ["add (actual)"]]);
    assert!(names(&project.root().join(FOLDER)).is_empty());

    let ran = project.run(&RENEW).exits(0);
    let written = ["add.android-540x1200.png", "start.android-540x1200.png"];
    assert_eq!(names(&project.root().join(FOLDER)), written);
    let told = format!("wrote expected pictures:\n  {FOLDER}/{}\n  {FOLDER}/{}\n", written[0], written[1]);
    assert!(ran.stderr.contains(&told), "{}", ran.stderr);
    let (whole, part) = (project.root().join(&file), project.root().join(FOLDER).join(written[0]));
    let (whole, part) = (Pixels::read(&whole), Pixels::read(&part));
    assert_eq!((whole.width, whole.height), (540, 1200));
    assert!(part.width < whole.width && part.height < whole.height, "{}x{}", part.width, part.height);

    project.run(&RUN).exits(0);
    let recording = project.last_run().text("recording.trail.yaml");
    assert!(recording.contains("assertPicture:") && recording.contains("soft: true"), "{recording}");
}

#[test]
fn a_screen_that_changed_is_shown_beside_the_expected_one() {
    let project = project();
    project.run(&RENEW).exits(0);
    // What is masked may change.
    project.write("counter.app.yaml", COUNTER_APP.replace("'Count: {{count}}'", "'Total: {{count}}'"));
    project.run(&RUN).exits(0);

    project.write("counter.app.yaml", COUNTER_APP.replace("Add one", "Add two"));
    let ran = project.run(&RUN).exits(1);
    assert!(ran.stdout.contains("2 checks failed"), "{}", ran.stdout);
    let file = format!("expected the picture `{FOLDER}/start.android-540x1200.png`, saw one in which");
    assert!(ran.stdout.contains(&file) && ran.stdout.contains("pixels differ ("), "{}", ran.stdout);
    let run = project.last_run();
    let shown = |name: &str| ["expected", "actual", "difference"].map(|what| format!("{name} ({what})")).to_vec();
    assert_eq!(attached(&run), [shown("start"), shown("add")]);
    assert!(run.text("report.html").contains("start (difference)"));
    let loose = TRAIL
        .replace("id: add}\n        soft", "id: add, threshold: 0.5}\n        soft")
        .replace("{name: start,", "{name: start, threshold: 0.1,");
    project.write("trails/look.trail.yaml", loose);
    project.run(&RUN).exits(0);

    // Only what differs is written again.
    project.write("trails/look.trail.yaml", TRAIL.replace("name: start", "name: start, threshold: 0.1"));
    let ran = project.run(&RENEW).exits(0);
    let told = format!("wrote expected pictures:\n  {FOLDER}/add.android-540x1200.png\n");
    assert!(ran.stderr.contains(&told) && !ran.stderr.contains("start.android"), "{}", ran.stderr);
    project.run(&RUN).exits(0);
}

#[test]
fn an_expected_picture_that_is_no_picture_or_leads_elsewhere_is_refused() {
    let project = project();
    let file = format!("{FOLDER}/start.android-540x1200.png");
    project.write(&file, "no picture");
    let ran = project.run(&RUN).exits(1);
    assert!(ran.stdout.contains(&format!("`{file}` is not a picture")), "{}", ran.stdout);
    assert!(!attached(&project.last_run())[0].contains(&"start (expected)".to_string()));
    project.run(&RENEW).exits(0);
    project.run(&RUN).exits(0);

    let outside = tempfile::NamedTempFile::new().unwrap();
    std::fs::remove_file(project.root().join(&file)).unwrap();
    std::os::unix::fs::symlink(outside.path(), project.root().join(&file)).unwrap();
    let ran = project.run(&RENEW).exits(1);
    assert!(ran.stdout.contains("is a link that leads out of the project"), "{}", ran.stdout);
    assert_eq!(std::fs::read(outside.path()).unwrap(), b"");
}
