//! The stand-in as a program, to try things by hand.

use std::process::ExitCode;

fn main() -> ExitCode {
    trailblaze_ios_stand_in::main(std::env::args_os())
}
