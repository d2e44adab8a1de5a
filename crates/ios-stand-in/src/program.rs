//! The stand-in as a program: prints where it answers, and ends with the standard input.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::serve::start_at;

/// Runs it with the arguments of a process, the first of which is its name.
pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.skip(1).collect();
    let (mut apps, mut port) = (Vec::new(), 0);
    for option in arguments.chunks(2) {
        match option {
            [name, file] if name == "--app" => apps.push(PathBuf::from(file)),
            [name, number] if name == "--port" => port = number.to_string_lossy().parse().unwrap_or_default(),
            _ => {
                let _ = writeln!(std::io::stderr(), "usage: ios-stand-in [--app FILE]… [--port PORT]");
                return ExitCode::from(2);
            }
        }
    }
    let stand_in = match start_at(&apps, port) {
        Ok(stand_in) => stand_in,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            return ExitCode::from(2);
        }
    };
    let _ = writeln!(std::io::stdout(), "{}", stand_in.address());
    let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
    ExitCode::SUCCESS
}
