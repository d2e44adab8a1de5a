//! Writes everything that is generated from the contract and from types in Rust; with `--check`, only says which files are out of date.

use std::process::ExitCode;

fn main() -> ExitCode {
    let root = trailblaze_contract_gen::root();
    let outputs = match trailblaze_contract_gen::outputs(&root) {
        Ok(outputs) => outputs,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let is_check = std::env::args().any(|arg| arg == "--check");
    let mut stale = false;
    for output in outputs.iter().filter(|output| output.is_stale(&root)) {
        if is_check {
            stale = true;
            eprintln!("{} is out of date; run `./scripts/contract`", output.path);
        } else if let Err(error) = output.write(&root) {
            eprintln!("error: {}: {error}", output.path);
            return ExitCode::FAILURE;
        } else {
            println!("wrote {}", output.path);
        }
    }
    if stale { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
