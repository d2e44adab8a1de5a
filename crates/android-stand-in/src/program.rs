//! What the program does depends on the name that it was started under, as with toybox.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use trailblaze_core::yaml::{Problems, Source};
use trailblaze_drivers::sim::{SimApp, demo_app};

use crate::launch::{AndroidParts, StandInPhone, TestAdbServer};
use crate::phone::SimulatedPhone;
use crate::{boot, client, commands, serve};

const USAGE: &str = "\
usage: android-stand-in phone --parts FOLDER [--app FILE]…  starts an adb server and a phone, until the standard input ends
       android-stand-in serve --socket PATH [--app FILE]…   answers the commands of a phone
       android-stand-in boot [--app FILE]…                  does so as the first process of a phone, with adbd
";

/// Runs the program with its arguments, the first of which is the name that it was started under.
pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.map(|argument| argument.to_string_lossy().into_owned());
    let name = arguments.next().unwrap_or_default();
    let name = Path::new(&name).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let arguments: Vec<String> = arguments.collect();
    if commands::NAMES.contains(&name.as_str()) {
        return ExitCode::from(client::run(&name, arguments));
    }
    match start(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "error: {message}");
            ExitCode::from(2)
        }
    }
}

fn start(arguments: &[String]) -> Result<(), String> {
    let (mut files, mut socket, mut parts) = (Vec::new(), None, None);
    let Some((command, options)) = arguments.split_first() else { return Err(USAGE.to_string()) };
    for option in options.chunks(2) {
        match option {
            [name, value] if name == "--app" => files.push(PathBuf::from(value)),
            [name, value] if name == "--parts" => parts = Some(PathBuf::from(value)),
            [name, value] if name == "--socket" => socket = Some(PathBuf::from(value)),
            _ => return Err(format!("`{}` is no option\n{USAGE}", option.join(" "))),
        }
    }
    let mut apps = files.iter().map(|file| read_app(file)).collect::<Result<Vec<_>, String>>()?;
    if apps.is_empty() {
        apps.push(demo_app());
    }
    match (command.as_str(), socket) {
        ("phone", None) => start_phone(&parts.ok_or(USAGE)?, &files).map_err(|error| error.to_string()),
        ("serve", Some(socket)) => in_runtime(async {
            let phone = Arc::new(SimulatedPhone::new(apps));
            serve::until_stdin_ends(serve::serve(phone, &socket)).await
        }),
        ("boot", None) => in_runtime(async { boot::boot(Arc::new(SimulatedPhone::new(apps))).await }),
        _ => Err(USAGE.to_string()),
    }
}

/// For trying things by hand: prints the variables that make adb use the phone.
fn start_phone(parts: &Path, apps: &[PathBuf]) -> Result<(), Box<dyn std::error::Error>> {
    let parts = AndroidParts::find(parts)?;
    let server = TestAdbServer::start(&parts)?;
    let phone = StandInPhone::start(&parts, &std::env::current_exe()?, apps)?;
    server.connect(&phone)?;
    let mut out = std::io::stdout();
    writeln!(out, "export ADB_SERVER_SOCKET={} ANDROID_SERIAL={}", server.socket(), phone.serial())?;
    out.flush()?;
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(())
}

fn read_app(path: &Path) -> Result<Arc<SimApp>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let source = Source::new(path.display().to_string(), &text);
    let mut problems = Problems::new(&source);
    SimApp::read(&source, &mut problems).map(Arc::new).ok_or_else(|| format!("{}: {problems:?}", path.display()))
}

fn in_runtime(work: impl Future<Output = std::io::Result<()>>) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.and_then(|runtime| runtime.block_on(work)).map_err(|error| error.to_string())
}
