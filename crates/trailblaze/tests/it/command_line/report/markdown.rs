use trailblaze::output::report::RunRecord;
use trailblaze::output::report::markdown::{MOST, markdown};
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::event::{Level, Verdict};
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::geometry::Size;

use crate::support::run_fixture::{HOSTILE, Recorder, errored, failing, flaky, hostile, passing};

const PHONE: Size = Size { width: 1080, height: 2340 };

#[test]
fn what_needs_a_look_comes_first_and_what_passed_is_folded_away() {
    let mut run = Recorder::new();
    run.start(4);
    let session = run.session("ios/iphone-17", Platform::Ios, PHONE);
    passing(&mut run, &session);
    failing(&mut run, &session);
    flaky(&mut run, &session);
    errored(&mut run, &session);
    run.note(None, Level::Warning, "the run in `shard-2` did not finish");
    run.end(Exit::Environment);
    insta::assert_snapshot!(markdown(&RunRecord::from_bytes(run.text().as_bytes())));
}

#[test]
fn nothing_from_a_trail_becomes_markup() {
    let mut run = Recorder::new();
    run.start(1);
    let session = run.session("ios/| @all", Platform::Ios, PHONE);
    hostile(&mut run, &session);
    run.note(None, Level::Error, HOSTILE);
    let text = markdown(&RunRecord::from_bytes(run.text().as_bytes()));
    let rest = text.replace("<details>", "").replace("<summary>", "");
    assert!(!rest.contains(['<', '\u{202e}', '\u{7}']) && !rest.contains("@all"), "{text}");
    let row = text.lines().find(|line| line.starts_with("| failed")).unwrap();
    assert_eq!(row.matches('|').count(), 7, "{row}");
}

#[test]
fn a_long_run_is_cut_with_a_count() {
    for verdict in [Verdict::Failed, Verdict::Passed, Verdict::Skipped] {
        let mut run = Recorder::new();
        run.start(500);
        let session = run.session("ios/iphone-17", Platform::Ios, PHONE);
        for nth in 0..500 {
            let attempt = run.attempt(&session, &format!("{nth} {}", "<&>$".repeat(80)), 1, &[]);
            run.end_attempt(&attempt, verdict, &"$".repeat(900), None);
            run.note(None, Level::Error, &"|".repeat(900));
        }
        let text = markdown(&RunRecord::from_bytes(run.text().as_bytes()));
        let n_rows = text.matches("\n| failed").count()
            + text.matches("\n| passed").count()
            + text.matches("\n| skipped").count();
        assert!(text.len() < MOST, "{} bytes", text.len());
        assert!(n_rows > 3 && text.contains(&format!("… and {} more; the report has all of them", 500 - n_rows)));
    }
}
