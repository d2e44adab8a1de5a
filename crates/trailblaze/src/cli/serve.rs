//! `trailblaze serve`: a session that other programs use through the typed API.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use trailblaze_protocol::exit::Exit;

use super::interrupt::told_to_stop;
use super::shell::{OnDeviceArgs, on_device};
use super::{Context, Refusal};
use crate::files::{private, runtime};
use crate::output::print;
use crate::sessions::interactive::{Interactive, Usage};

/// Let other programs use a device through the typed API
///
/// Opens a session, which lasts until Ctrl-C. Programs need the address and the session's key, which is in a file that only you can read.
#[derive(Args)]
pub struct ServeArgs {
    #[command(flatten)]
    on: OnDeviceArgs,
    /// The port on 127.0.0.1 [default: 52525, or a free port]
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Write the session's key to this file [default: a new file for this user]
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Stop when standard input is closed, so that nothing is left if the program that started this one ends
    #[arg(long)]
    until_stdin_closes: bool,
    /// Print the address, the key file, the session, the device and the run folder as one line of JSON
    #[arg(long)]
    json: bool,
}

/// How often the steps are saved in the run folder, if there are new ones.
const KEEP_EVERY: Duration = Duration::from_secs(1);

pub async fn serve(context: &Context, args: ServeArgs) -> Result<Exit, Refusal> {
    let loaded = context.load(None)?;
    Refusal::unless_sound(&loaded.problems)?;
    let device = args.on.device(context, &loaded, "`trailblaze serve` uses").await?;
    let name = device.id.clone();
    let callback = context.host(args.port).process.callback;
    let served = on_device(context, &loaded, &args.on, (Usage::Serve, device), async |session, _, cancel| {
        let address = callback.base_url().await;
        let address = address.map_err(|error| Refusal::Environment { message: error.to_string() })?;
        let id = session.admit_calls(cancel);
        let path = match &args.key_file {
            Some(path) => unused(context.absolute(path))?,
            None => {
                let environment = &context.environment;
                let folder = runtime::folder(environment.text("XDG_RUNTIME_DIR"), environment.text("TMPDIR"));
                remove_stale(&folder);
                folder.join(format!("{id}.{EXTENSION}"))
            }
        };
        let key = ServeKeyFile::write(path, session)?;
        let folder = session.run_folder();
        let shown = json!({"address": address, "keyFile": key.0, "session": id, "device": name, "runFolder": folder});
        if args.json {
            print::json_line(&shown);
        } else {
            print::data(format!("{name} is served at {address}\nThe session's key is in {}", key.0.display()));
            print::say("Press Ctrl-C to stop.");
        }
        wait(session, args.until_stdin_closes, cancel).await;
        Ok(Exit::Passed)
    })
    .await;
    // Streams of events end with the session; their clients read that before the process ends.
    callback.close().await;
    served
}

/// Returns when the command is told to stop. Calls in flight are cancelled.
async fn wait(session: &mut Interactive, until_stdin_closes: bool, cancel: &CancellationToken) {
    let mut keep = tokio::time::interval(KEEP_EVERY);
    let stop = async {
        tokio::select! {
            () = told_to_stop() => {}
            () = stdin_closed(), if until_stdin_closes => {}
        }
    };
    tokio::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            _ = keep.tick() => session.keep(),
        }
    }
    cancel.cancel();
    session.end_calls().await;
    session.keep();
}

async fn stdin_closed() {
    let (send, closed) = tokio::sync::oneshot::channel();
    // Reading blocks, so it has a thread of its own, which ends with the process.
    std::thread::spawn(move || {
        let mut buffer = [0; 1024];
        while matches!(std::io::stdin().read(&mut buffer), Ok(1..)) {}
        let _ = send.send(());
    });
    let _ = closed.await;
}

/// A path at which a file can be written and removed again: nothing is there, and its folder exists.
pub fn unused(path: PathBuf) -> Result<PathBuf, Refusal> {
    let usage = |message: String, hint: &str| Refusal::Usage { message, hint: Some(hint.to_string()) };
    if path.symlink_metadata().is_ok() {
        return Err(usage(format!("`{}` exists", path.display()), "choose another file, or remove it"));
    }
    if !path.parent().is_some_and(Path::is_dir) {
        return Err(usage(format!("there is no folder for `{}`", path.display()), "create it, or choose another file"));
    }
    Ok(path)
}

/// Removes the key files of processes that were killed. The others are locked.
fn remove_stale(folder: &Path) {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    for path in files.filter(|path| path.extension().is_some_and(|extension| extension == EXTENSION)) {
        // Opening a pipe would wait.
        let is_file = path.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
        if is_file && File::open(&path).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = std::fs::remove_file(&path);
        }
    }
}

/// The extension of key files in the default folder.
const EXTENSION: &str = "key";

/// The file with a session's key, and its lock, which the operating system releases when the process ends. Removed when
/// dropped: the key is worthless once the session has ended.
struct ServeKeyFile(PathBuf, #[allow(dead_code, reason = "it is held, not used")] File);

impl ServeKeyFile {
    fn write(path: PathBuf, session: &Interactive) -> Result<ServeKeyFile, Refusal> {
        let written = private::write_locked(&path, format!("{}\n", session.key().expose()));
        let failed = |source| Refusal::Io { what: format!("cannot write `{}`", path.display()), source };
        let file = written.map_err(failed)?;
        Ok(ServeKeyFile(path, file))
    }
}

impl Drop for ServeKeyFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
