//! Runs a program to its end, and passes on what it prints.

use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use trailblaze_supervise::{Launch, ProcessExit, Running, Supervisor};

use super::Refusal;
use super::interrupt::told_to_stop;
use crate::output::print;

/// How long to wait for a program's last output.
const END_GRACE: Duration = Duration::from_secs(1);
/// Longer lines of a program's output are truncated.
const LINE_BYTES: usize = 64 << 10;
/// How much of a program's output is kept to explain its failure.
const TAIL_BYTES: usize = 64 << 10;

/// A program to run.
pub struct ChildRun {
    pub launch: Launch,
    /// Such as `ran tests`, for messages.
    pub did: &'static str,
    pub limit: Duration,
    pub is_shown: bool,
}

impl ChildRun {
    /// Runs it to its end and prints its output. Also returns the last part of it.
    pub async fn ended(self, supervisor: &Supervisor) -> Result<(ProcessExit, String), Refusal> {
        let ChildRun { launch, did, limit, is_shown } = self;
        let program = Path::new(&launch.program).display().to_string();
        let failed = |error: trailblaze_supervise::StartError| Refusal::Environment {
            message: format!("`{program}` cannot run: {error}"),
        };
        let Running { stdin, stdout, stderr, child } = supervisor.start(launch).await.map_err(failed)?;
        drop(stdin);
        let talk = [tokio::spawn(pass_on(stdout, is_shown)), tokio::spawn(pass_on(stderr, is_shown))];
        let message = tokio::select! {
            ended = child.ended() => {
                let mut tail = String::new();
                for talk in talk {
                    if let Ok(Ok(said)) = tokio::time::timeout(END_GRACE, talk).await {
                        tail.push_str(&said);
                    }
                }
                child.stop().await;
                return Ok((ended, tail));
            }
            () = tokio::time::sleep(limit) => {
                let limit = humantime::format_duration(limit);
                format!("`{program}` {did} for longer than {limit}; `--timeout` allows more")
            }
            () = told_to_stop() => "cancelled".to_string(),
        };
        child.kill().await;
        Err(Refusal::Environment { message })
    }
}

/// Prints a program's output to stderr, line by line. Returns the last part of it.
async fn pass_on(mut from: impl AsyncRead + Unpin, is_shown: bool) -> String {
    let mut said: Vec<u8> = Vec::new();
    let mut chunk = [0; 8 << 10];
    let mut tail = String::new();
    let mut show = |line: &[u8]| {
        // Colours would be printed as the codes that they are.
        let line = anstream::adapter::strip_str(&String::from_utf8_lossy(line)).to_string();
        tail.push_str(&line);
        if tail.len() > 2 * TAIL_BYTES {
            tail.drain(..tail.ceil_char_boundary(tail.len() - TAIL_BYTES));
        }
        if is_shown {
            print::say(line.trim_end_matches(['\n', '\r']));
        }
    };
    while let Ok(n @ 1..) = from.read(&mut chunk).await {
        said.extend_from_slice(&chunk[..n]);
        while let Some(at) = said.iter().position(|byte| *byte == b'\n') {
            show(&said.drain(..=at).collect::<Vec<_>>());
        }
        if said.len() > LINE_BYTES {
            show(&std::mem::take(&mut said));
        }
    }
    if !said.is_empty() {
        show(&said);
    }
    tail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn colours_are_left_out() {
        let said = pass_on(&b"\x1b[1;31m[ERROR]\x1b[0m Tools.kt\nlast \x1b[0m"[..], false).await;
        assert_eq!(said, "[ERROR] Tools.kt\nlast ");
    }
}
