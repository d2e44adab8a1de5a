//! The stand-in as a program, to try things by hand: prints where it answers, and ends with the standard input.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut apps = Vec::new();
    for option in arguments.chunks(2) {
        match option {
            [name, file] if name == "--app" => apps.push(PathBuf::from(file)),
            _ => {
                let _ = writeln!(std::io::stderr(), "usage: ios-stand-in [--app FILE]…");
                return ExitCode::from(2);
            }
        }
    }
    let stand_in = match trailblaze_ios_stand_in::start(&apps) {
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
