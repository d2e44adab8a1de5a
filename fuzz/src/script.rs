//! Scripts: whatever the source, it is refused, fails or returns within its limits, and every place is in the source.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use trailblaze_script::transpile::{SourceRole, transpile};
use trailblaze_script::world::WorldStep;
use trailblaze_script::{Abort, Limits, Program, World};

/// How often the host answers before a script is given up.
const ANSWERS: usize = 50;

/// Compiles the text as a tool and as a module, and runs the tool with a host that answers every call.
pub fn script_run(data: &[u8]) {
    let source = String::from_utf8_lossy(data);
    if let Err(errors) = transpile("a.ts", &source, SourceRole::Module) {
        let n_lines = u32::try_from(source.split('\n').count()).unwrap_or(u32::MAX);
        assert!(!errors.is_empty());
        assert!(
            errors.iter().all(|error| (1..=n_lines).contains(&error.at.line) && error.at.column >= 1),
            "{errors:?}"
        );
    }
    let Ok(program) = Program::single("a.ts", &source, None) else { return };
    let saved = serde_json::to_string(&program).expect("a program can be saved");
    assert_eq!(serde_json::from_str::<Program>(&saved).ok(), Some(program.clone()));
    let limits = Limits {
        busy: Duration::from_millis(50),
        memory_bytes: 8 << 20,
        output_bytes: 64 << 10,
        pending: 8,
        log_lines: 10,
        ..Limits::default()
    };
    let Ok(mut world) = World::new(&Arc::new(program), limits, &Abort::default()) else { return };
    let input =
        json!({"args": {"x": 1, "text": "a"}, "memory": {"m": [1]}, "platform": "android", "device": {"id": "d"}});
    let mut step = WorldStep::Call(input.to_string());
    for _ in 0..ANSWERS {
        let Ok(outbox) = world.advance(step) else { return };
        assert!(outbox.requests.len() <= limits.pending && outbox.log.len() <= limits.log_lines + 1);
        if outbox.requests.is_empty() {
            return;
        }
        world.answered(outbox.requests.len());
        let answer = json!({"isError": false, "text": "done", "structured": {"root": {"role": "a"}}}).to_string();
        let refusal = json!({"message": "no"}).to_string();
        let answers = outbox.requests.iter().map(|request| match request.operation.as_str() {
            "call" => (request.id, false, answer.clone()),
            _ => (request.id, true, refusal.clone()),
        });
        step = WorldStep::Answers(answers.collect());
    }
}
