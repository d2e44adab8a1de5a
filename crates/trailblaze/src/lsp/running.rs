//! Runs that an editor asks for: a process of its own, whose output goes to the editor's log.

use std::path::PathBuf;
use std::sync::Arc;

use lsp_server::{Message, Notification};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio_util::sync::CancellationToken;
use trailblaze_supervise::{Launch, Supervisor};

use super::Out;

/// The run in progress, if any: an editor shows the state of one.
pub struct Runs {
    program: Option<PathBuf>,
    root: PathBuf,
    out: Out,
    current: CancellationToken,
}

impl Runs {
    pub fn new(program: Option<PathBuf>, root: PathBuf, out: Out) -> Runs {
        let current = CancellationToken::new();
        current.cancel();
        Runs { program, root, out, current }
    }

    pub fn stop(&self) {
        self.current.cancel();
    }

    /// Starts a run. It replaces the one in progress.
    pub fn start(&mut self, file: PathBuf, until: Option<u64>) -> Result<(), String> {
        let program = self.program.clone().ok_or("the program's own path is not known")?;
        self.stop();
        let stop = CancellationToken::new();
        self.current = stop.clone();
        let mut launch = Launch::new(program, self.root.clone());
        launch.args = vec!["run".into(), file.clone().into_os_string()];
        if let Some(until) = until {
            launch.args.extend(["--until".into(), until.to_string().into()]);
        }
        let out = Arc::clone(&self.out);
        tokio::spawn(async move {
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let log = |text: &str| tell(&out, "window/logMessage", 4, text);
            let mut running = match Supervisor::new().start(launch).await {
                Ok(running) => running,
                Err(error) => return tell(&out, "window/showMessage", 1, &format!("{name}: {error}")),
            };
            let mut lines = BufReader::new(&mut running.stdout).lines();
            let mut errors = BufReader::new(&mut running.stderr).lines();
            let mut last = String::new();
            loop {
                tokio::select! {
                    () = stop.cancelled() => {
                        running.child.terminate().await;
                        return log(&format!("{name}: stopped"));
                    }
                    line = lines.next_line() => match line {
                        Ok(Some(line)) => {
                            log(&line);
                            if line.contains(" passed") || line.contains(" failed") {
                                last = line;
                            }
                        }
                        _ => break,
                    },
                    Ok(Some(line)) = errors.next_line() => log(&line),
                }
            }
            let ended = running.child.ended().await.to_string();
            let has_passed = ended.ends_with("code 0");
            let text = if last.is_empty() { ended } else { last };
            tell(&out, "window/showMessage", if has_passed { 3 } else { 1 }, &format!("{name}: {text}"));
        });
        Ok(())
    }
}

fn tell(out: &Out, method: &str, kind: u8, text: &str) {
    let note = Notification::new(method.to_string(), json!({"type": kind, "message": text}));
    out(Message::Notification(note));
}
