//! What tool servers cost, each number beside what it is to be judged by. Prints a table; no number fails it, because a
//! number depends on the machine. `docs/benchmarks.md` says what was measured where. Needs what `scripts/parts` sets up.

mod callbacks;
mod calls;
mod crowd;
mod embedded;
mod official;
mod pipe;
mod slow_start;
mod spin;
mod stage;
#[path = "../support/mod.rs"]
mod support;
mod swap;

use std::process::ExitCode;

use stage::Script;

/// What servers and the official client run under.
const RUNTIMES: [&str; 2] = ["bun", "node"];

/// One part of the table.
type Part = fn(&Script);

fn main() -> ExitCode {
    // Guardians are this program, started again; so are servers that start slowly.
    if let Some(code) = trailblaze_supervise::guardian_main() {
        return code;
    }
    // Cargo adds a flag of its own.
    let asked: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    if asked == [slow_start::FIXTURE] {
        slow_start::fixture();
        return ExitCode::SUCCESS;
    }
    let is_wanted = |name: &str| asked.is_empty() || asked.iter().any(|asked| asked == name);
    support::head();
    for runtime in RUNTIMES {
        let Some(script) = Script::find(runtime) else {
            println!("{runtime} is not in `.parts`: run `./scripts/parts`");
            return ExitCode::FAILURE;
        };
        let parts: [(&str, Part); 7] = [
            ("calls", calls::row),
            ("callbacks", callbacks::row),
            ("crowd", crowd::row),
            ("spin", spin::row),
            ("start", slow_start::scripts),
            ("swap", swap::row),
            ("scripts", embedded::row),
        ];
        parts.iter().filter(|(name, _)| is_wanted(name)).for_each(|(_, row)| row(&script));
    }
    if is_wanted("start") {
        slow_start::row();
    }
    if is_wanted("scripts") {
        embedded::first_call();
        embedded::many_sessions();
    }
    ExitCode::SUCCESS
}
