//! The official TypeScript client, in a process of its own, which times itself.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::stage::Script;

pub struct Official {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Official {
    /// Under one runtime, of a server under the same or another.
    pub fn open(script: &Script, runtime: &str) -> Official {
        let mut command = Command::new(script.program.with_file_name(runtime));
        command.arg(script.path("client.ts")).arg(&script.program).arg(script.path("server.ts"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the client starts");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
        Official { child, stdin, stdout }
    }

    /// How long each of these calls takes.
    pub fn calls(&mut self, n_calls: usize) -> Vec<Duration> {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        writeln!(stdin, "{n_calls}").expect("the client listens");
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("the client answers");
        let micros: Vec<f64> = serde_json::from_str(&line).expect("the client answers in JSON");
        micros.into_iter().map(|micros| Duration::from_secs_f64(micros / 1e6)).collect()
    }
}

impl Drop for Official {
    fn drop(&mut self) {
        self.stdin.take();
        let _ = self.child.wait();
    }
}
