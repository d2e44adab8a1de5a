use trailblaze::output::report::summary::summary;
use trailblaze::output::report::{RunRecord, write};
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::geometry::Size;

use crate::support::run_fixture::{Recorder, failing, flaky, passing, write_run};

#[test]
fn a_summary_tells_how_the_run_went() {
    let mut run = Recorder::new();
    run.start(3);
    let session = run.session("android/pixel-8", Platform::Android, Size { width: 1080, height: 2340 });
    passing(&mut run, &session);
    failing(&mut run, &session);
    flaky(&mut run, &session);
    run.end(Exit::Failed);
    let summary = summary(&RunRecord::from_bytes(run.text().as_bytes()));
    insta::assert_snapshot!(serde_json::to_string_pretty(&summary).unwrap());
}

#[test]
fn all_three_files_are_written_and_nothing_is_left_beside_them() {
    let folder = tempfile::tempdir().unwrap();
    write_run(folder.path());
    let written = write(folder.path()).unwrap();
    for path in [&written.html, &written.junit, &written.summary] {
        assert!(path.metadata().unwrap().len() > 0, "{}", path.display());
    }
    let mut names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["attachments", "events.jsonl", "junit.xml", "pictures", "report.html", "summary.json", "trees"]);
}
