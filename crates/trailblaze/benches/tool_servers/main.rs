//! What tool servers cost, each number beside what it is to be judged by. Prints a table; no number fails it, because a
//! number depends on the machine. `docs/benchmarks.md` says what was measured where. Needs what `scripts/parts` sets up.

mod callbacks;
mod calls;
mod crowd;
mod official;
mod pipe;
mod slow_start;
mod stage;
#[path = "../support/mod.rs"]
mod support;

use std::process::ExitCode;

use stage::Script;

fn main() -> ExitCode {
    // Guardians are this program, started again; so are servers that start slowly.
    if let Some(code) = trailblaze_supervise::guardian_main() {
        return code;
    }
    if std::env::args().nth(1).as_deref() == Some(slow_start::FIXTURE) {
        slow_start::fixture();
        return ExitCode::SUCCESS;
    }
    support::head();
    for runtime in ["bun", "node"] {
        let Some(script) = Script::find(runtime) else {
            println!("{runtime} is not in `.parts`: run `./scripts/parts`");
            return ExitCode::FAILURE;
        };
        calls::row(&script);
        callbacks::row(&script);
        crowd::row(&script);
        slow_start::scripts(&script);
    }
    slow_start::row();
    ExitCode::SUCCESS
}
