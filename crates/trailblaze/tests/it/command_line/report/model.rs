use proptest::prelude::*;
use trailblaze::output::report::model::{AttemptState, RunRecord, Standing, Unread};
use trailblaze::output::report::{ReadError, summary};
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::event::Moment;
use trailblaze_protocol::geometry::Size;

use crate::support::run_fixture::{Recorder, failing, flaky, write_run};

fn read_fixture() -> RunRecord {
    let folder = tempfile::tempdir().unwrap();
    write_run(folder.path());
    RunRecord::read(folder.path()).unwrap()
}

fn small() -> String {
    let mut run = Recorder::new();
    run.start(2);
    let session = run.session("android/pixel-8", Platform::Android, Size { width: 1080, height: 2340 });
    failing(&mut run, &session);
    flaky(&mut run, &session);
    run.text()
}

#[test]
fn attempts_stand_as_they_ended_next_to_the_others_of_their_trail() {
    let run = read_fixture();
    let attempts: Vec<_> = run
        .attempts
        .iter()
        .filter(|attempt| !attempt.name().contains("script"))
        .map(|attempt| (attempt.name(), attempt.device.as_str(), attempt.number, attempt.state(), attempt.standing))
        .collect();
    assert_eq!(
        attempts,
        [
            ("Sign in and see the shelf", "android/pixel-8", 1, AttemptState::Passed, Standing::Counts),
            ("Empty the cart", "android/pixel-8", 1, AttemptState::Failed, Standing::Counts),
            ("Search for a plant", "ios/iphone-17", 1, AttemptState::Failed, Standing::Retried),
            ("Search for a plant", "ios/iphone-17", 2, AttemptState::Passed, Standing::Flaky),
            ("Pay with a card", "ios/iphone-17", 1, AttemptState::Errored, Standing::Counts),
            ("Scan a barcode", "ios/iphone-17", 1, AttemptState::Skipped, Standing::Counts),
            ("Return an order", "android/pixel-8", 1, AttemptState::Unfinished, Standing::Counts),
        ]
    );
    assert_eq!(run.unread, Unread { torn: 1, unknown: 1, stray: 1 });
}

#[test]
fn calls_hang_from_their_parents() {
    let run = read_fixture();
    let attempt = &run.attempts[0];
    let calls: Vec<_> = attempt.steps[1].calls.clone();
    let walked: Vec<_> = attempt.walk(&calls).into_iter().map(|(depth, call)| (depth, call.tool.as_str())).collect();
    assert_eq!(walked, [(0, "signIn"), (1, "tapOn"), (1, "inputText"), (1, "tapOn"), (2, "waitForIdle")]);
    let hostile = &run.attempts[2];
    let loose: Vec<_> = hostile.walk(&hostile.loose).into_iter().map(|(_, call)| call.tool.as_str()).collect();
    assert_eq!(loose, ["orphan"]);
}

#[test]
fn pictures_touches_and_waits_are_kept_where_they_belong() {
    let run = read_fixture();
    let step = &run.attempts[0].steps[1];
    let moments: Vec<_> = step.pictures.iter().map(|picture| (picture.moment, picture.file.as_str())).collect();
    assert_eq!(moments, [(Moment::Before, "pictures/start.png"), (Moment::After, "pictures/shelf.png")]);
    let tap = &run.attempts[0].calls[2];
    assert_eq!((tap.touches[0].what.as_str(), tap.waits[0].met), ("text field `Email`", true));
    let failed = &run.attempts[1];
    assert_eq!(failed.failing_step().unwrap().text, "The cart is empty");
    assert_eq!(failed.failure_pictures()[0].file, "pictures/failure.png");
}

#[test]
fn a_killed_run_is_read_up_to_any_byte() {
    let text = small();
    let whole = RunRecord::from_bytes(text.as_bytes());
    for len in 0..text.len() {
        let run = RunRecord::from_bytes(&text.as_bytes()[..len]);
        assert!(run.unread.torn <= 1, "at byte {len}");
        assert!(run.attempts.len() <= whole.attempts.len(), "at byte {len}");
        assert_eq!(run.end, None, "at byte {len}");
    }
}

#[test]
fn an_attempt_without_an_end_lasts_as_long_as_its_run() {
    let text = small();
    let cut = text.rfind("attemptEnded").unwrap();
    let run = RunRecord::from_bytes(&text.as_bytes()[..cut]);
    let last = run.attempts.last().unwrap();
    assert_eq!((last.state(), last.last_at), (AttemptState::Unfinished, run.last_at));
    assert!(!summary::summary(&run).is_finished);
}

#[test]
fn a_folder_without_events_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = RunRecord::read(folder.path()).unwrap_err();
    assert!(matches!(error, ReadError::NoEvents { .. }));
    assert_eq!(error.to_string(), format!("no `events.jsonl` in `{}`", folder.path().display()));
}

proptest! {
    #[test]
    fn bytes_after_a_run_take_nothing_from_it(garbage in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut bytes = small().into_bytes();
        let whole = RunRecord::from_bytes(&bytes);
        bytes.extend(&garbage);
        let run = RunRecord::from_bytes(&bytes);
        prop_assert_eq!(run.attempts, whole.attempts);
    }

    #[test]
    fn any_line_may_be_hit(at in any::<proptest::sample::Index>(), with in any::<u8>()) {
        let mut bytes = small().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = with;
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("events.jsonl"), bytes).unwrap();
        prop_assert!(trailblaze::output::report::write(folder.path()).is_ok());
    }

    #[test]
    fn any_bytes_are_a_run(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        RunRecord::from_bytes(&bytes);
    }
}
