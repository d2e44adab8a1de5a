//! Runs that an editor asks for: a process of its own, whose output goes to the editor's log.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lsp_server::{Message, Notification};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio_util::sync::CancellationToken;
use trailblaze_supervise::{Launch, ProcessExit, Supervisor};

use super::Out;

/// The run in progress, if any: an editor shows the state of one.
pub struct EditorRuns {
    program: Option<PathBuf>,
    out: Out,
    current: CancellationToken,
}

impl EditorRuns {
    pub fn new(program: Option<PathBuf>, out: Out) -> EditorRuns {
        let current = CancellationToken::new();
        current.cancel();
        EditorRuns { program, out, current }
    }

    pub fn stop(&self) {
        self.current.cancel();
    }

    /// Starts a run. It replaces the one in progress.
    pub fn start(&mut self, root: &Path, file: PathBuf, until: Option<u64>) -> Result<(), String> {
        let program = self.program.clone().ok_or("the program's own path is not known")?;
        self.stop();
        let stop = CancellationToken::new();
        self.current = stop.clone();
        let mut launch = Launch::new(program, root.to_path_buf());
        launch.args = vec!["run".into(), file.clone().into_os_string()];
        if let Some(until) = until {
            launch.args.extend(["--until".into(), until.to_string().into()]);
        }
        let out = Arc::clone(&self.out);
        // Detached: ends with its process, which `stop` ends. The language server waits until it can say nothing more.
        tokio::spawn(async move {
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let log = |text: &str| tell(&out, "window/logMessage", 4, text);
            let mut running = match Supervisor::new().start(launch).await {
                Ok(running) => running,
                Err(error) => return tell(&out, "window/showMessage", 1, &format!("{name}: {error}")),
            };
            let mut lines = BufReader::new(&mut running.stdout).split(b'\n');
            let mut errors = BufReader::new(&mut running.stderr).split(b'\n');
            let (mut has_lines, mut has_errors) = (true, true);
            let (mut summary, mut refusal) = (String::new(), String::new());
            let talk = async {
                while has_lines || has_errors {
                    tokio::select! {
                        line = lines.next_segment(), if has_lines => match text_of(line) {
                            None => has_lines = false,
                            Some(line) => {
                                log(&line);
                                if line.contains(" passed") || line.contains(" failed") {
                                    summary = line;
                                }
                            }
                        },
                        line = errors.next_segment(), if has_errors => match text_of(line) {
                            None => has_errors = false,
                            Some(line) => {
                                log(&line);
                                if refusal.is_empty() && line.starts_with("error: ") {
                                    refusal = line;
                                }
                            }
                        },
                    }
                }
                running.child.ended().await
            };
            let ended = tokio::select! {
                () = stop.cancelled() => {
                    running.child.terminate().await;
                    return log(&format!("{name}: stopped"));
                }
                ended = talk => ended,
            };
            let texts = [summary, refusal, ended.to_string()];
            let text = texts.iter().find(|text| !text.is_empty()).map(String::as_str).unwrap_or_default();
            let kind = if ended == ProcessExit::Code(0) { 3 } else { 1 };
            tell(&out, "window/showMessage", kind, &format!("{name}: {text}"));
        });
        Ok(())
    }
}

/// A line of output; `None` at its end.
fn text_of(line: std::io::Result<Option<Vec<u8>>>) -> Option<String> {
    Some(String::from_utf8_lossy(&line.ok()??).trim_end().to_string())
}

fn tell(out: &Out, method: &str, kind: u8, text: &str) {
    let note = Notification::new(method.to_string(), json!({"type": kind, "message": text}));
    out(Message::Notification(note));
}
