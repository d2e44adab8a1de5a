//! The stand-in for WebDriverAgent, built beside the program that tests use it with.

use std::process::ExitCode;

fn main() -> ExitCode {
    trailblaze_ios_stand_in::main(std::env::args_os())
}
