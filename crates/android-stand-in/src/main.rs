//! The program that a test starts as a phone, and that the phone's shell runs as `uiautomator`, `input` and the others.

use std::process::ExitCode;

fn main() -> ExitCode {
    trailblaze_android_stand_in::main(std::env::args_os())
}
