//! `trailblaze`.

use std::process::ExitCode;

fn main() -> ExitCode {
    trailblaze::cli::main()
}
