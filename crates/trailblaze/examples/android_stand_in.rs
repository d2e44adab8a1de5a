//! The stand-in for a phone, built beside the program that tests use it with.

use std::process::ExitCode;

fn main() -> ExitCode {
    trailblaze_android_stand_in::main(std::env::args_os())
}
