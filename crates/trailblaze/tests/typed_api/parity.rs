//! The same answers, the same recording and the same events, however a command is called.

use trailblaze_protocol::event::Event;

use super::cases::{Case, DEVICES, cases, project};
use super::served::Served;
use super::support::RunFolder;
use super::wire::{Caller, PROTOCOLS, normal, without_times};

#[tokio::test]
async fn every_protocol_gives_the_same_answers_recording_and_events() {
    let cases = cases();
    let (mut wrong, mut differing) = (Vec::new(), Vec::new());
    for device in DEVICES {
        let mut first = None;
        for protocol in PROTOCOLS {
            let project = project();
            let served = Served::on(&project, device);
            let caller = Caller::of(&served, protocol);
            for Case { name, method, params, answer, .. } in cases.iter().filter(|case| case.device == device) {
                let got = normal(method, caller.call(method, params.clone()).await);
                if got != *answer {
                    wrong.push(format!("{protocol:?} {device} {name}\n  got      {got}\n  expected {answer}"));
                }
            }
            served.end(&project).exits(0);
            let record = record(&project.last_run());
            match &first {
                None => first = Some(record),
                Some(first) if record == *first => {}
                Some(first) => differing.push(format!("{protocol:?} {device}\n  {record:?}\n  {first:?}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// The recording, and the tree of calls with their arguments and results.
pub fn record(run: &RunFolder) -> (String, Vec<String>) {
    let line = |event: Event| match event {
        Event::Called(called) => Some(format!("{:?} {} {:?}", called.origin, called.tool, called.args)),
        Event::Answered { answer, .. } => Some(without_times(&format!("{answer:?}"))),
        _ => None,
    };
    let recording = if run.has("recording.trail.yaml") { run.text("recording.trail.yaml") } else { String::new() };
    // Ids and times differ.
    let events = run.events().into_iter().filter_map(line).collect();
    (recording, events)
}
