//! The second shell protocol of adb: packets with standard output, standard error and the exit code apart.

use trailblaze_core::driver::Budget;

use super::connection::AdbConnection;
use super::error::{AdbError, within};

/// The largest packet that a daemon sends.
const PACKET: usize = 1024 * 1024;
/// The longest line that a session reads.
const LINE: usize = 64 * 1024;

pub(super) const STDIN: u8 = 0;
pub(super) const STDOUT: u8 = 1;
pub(super) const STDERR: u8 = 2;
pub(super) const EXIT: u8 = 3;
pub(super) const CLOSE_STDIN: u8 = 4;

/// What a command printed, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AdbShellOutput {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub exit_code: u8,
}

impl AdbShellOutput {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub fn error_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    pub fn is_success(&self) -> bool {
        self.exit_code == 0
    }

    /// The first line that says what went wrong: of standard error, or else of the output. Where Android's framework threw an
    /// exception, the line above it only says in which command.
    pub fn complaint(&self) -> String {
        let (errors, output) = (self.error_text(), self.text());
        let says = |line: &&str| !line.is_empty() && !line.starts_with("Exception occurred while executing");
        let mut lines = errors.lines().chain(output.lines()).map(str::trim).filter(says);
        lines.next().map_or_else(|| format!("exit code {}", self.exit_code), str::to_string)
    }
}

/// One word of a command, whatever it contains.
pub fn quote(word: &str) -> String {
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "_-./:=@,+".contains(sign);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Reads the packets of a command until it ends.
pub async fn output(connection: &mut AdbConnection, limit: usize) -> Result<AdbShellOutput, AdbError> {
    let mut output = AdbShellOutput::default();
    loop {
        let (kind, bytes) = packet(connection).await?;
        match kind {
            STDOUT => output.stdout.extend(bytes),
            STDERR => output.stderr.extend(bytes),
            EXIT => {
                output.exit_code = exit_code(&bytes)?;
                return Ok(output);
            }
            _ => {}
        }
        if output.stdout.len() + output.stderr.len() > limit {
            return Err(AdbError::TooLarge { what: "the output of a command".to_string(), limit });
        }
    }
}

async fn packet(connection: &mut AdbConnection) -> Result<(u8, Vec<u8>), AdbError> {
    let header = connection.exact(5, "the output of a command").await?;
    let length = u32::from_le_bytes([header[1], header[2], header[3], header[4]]);
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length > PACKET {
        return Err(AdbError::TooLarge { what: "a packet of the shell".to_string(), limit: PACKET });
    }
    Ok((header[0], connection.exact(length, "the output of a command").await?))
}

fn exit_code(bytes: &[u8]) -> Result<u8, AdbError> {
    bytes.first().copied().ok_or_else(|| AdbError::Protocol { what: "an end without an exit code".to_string() })
}

/// A command that runs on the device until its input ends. Dropping it closes the connection: the daemon then hangs up on the command.
pub struct ShellSession {
    connection: AdbConnection,
    printed: Vec<u8>,
    /// The start of what it printed on its standard error.
    errors: Vec<u8>,
}

impl ShellSession {
    pub(super) fn new(connection: AdbConnection) -> ShellSession {
        ShellSession { connection, printed: Vec::new(), errors: Vec::new() }
    }

    /// Sends a line, and reads the line that answers it.
    pub async fn exchange(&mut self, budget: &Budget, line: &str) -> Result<String, AdbError> {
        let exchange = async {
            let packet = packed(STDIN, format!("{line}\n").as_bytes());
            self.connection.send(&packet).await?;
            self.line().await
        };
        within(budget, "a command of the device", exchange).await
    }

    /// Reads the next line that it prints.
    pub async fn next_line(&mut self, budget: &Budget) -> Result<String, AdbError> {
        within(budget, "a command of the device", self.line()).await
    }

    /// The first line of its standard error.
    pub fn complaint(&self) -> Option<String> {
        let errors = String::from_utf8_lossy(&self.errors);
        errors.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_string)
    }

    /// Ends its input, and waits for its exit code.
    pub async fn finish(mut self, budget: &Budget) -> Result<u8, AdbError> {
        let finish = async {
            self.connection.send(&packed(CLOSE_STDIN, &[])).await?;
            Ok(output(&mut self.connection, LINE).await?.exit_code)
        };
        within(budget, "a command of the device", finish).await
    }

    async fn line(&mut self) -> Result<String, AdbError> {
        loop {
            if let Some(end) = self.printed.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.printed.drain(..=end).collect();
                return Ok(String::from_utf8_lossy(&line).trim_end().to_string());
            }
            if self.printed.len() > LINE {
                return Err(AdbError::TooLarge { what: "a line of the shell".to_string(), limit: LINE });
            }
            match packet(&mut self.connection).await? {
                (STDOUT, bytes) => self.printed.extend(bytes),
                (STDERR, bytes) if self.errors.len() < LINE => self.errors.extend(bytes),
                (EXIT, _) => return Err(AdbError::Closed { doing: "waiting for a command".to_string() }),
                _ => {}
            }
        }
    }
}

pub(super) fn packed(kind: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let mut packet = vec![kind];
    packet.extend(length.to_le_bytes());
    packet.extend(bytes);
    packet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_is_the_line_that_says_what_went_wrong() {
        let stderr =
            b"\nException occurred while executing 'grant':\njava.lang.SecurityException: no\n\tat a.B.c(B.java:1)\n";
        let output = AdbShellOutput { stderr: stderr.to_vec(), exit_code: 255, ..AdbShellOutput::default() };
        assert_eq!(output.complaint(), "java.lang.SecurityException: no");
        assert_eq!(AdbShellOutput { exit_code: 7, ..AdbShellOutput::default() }.complaint(), "exit code 7");
    }

    #[test]
    fn a_quoted_word_is_one_word_of_the_shell() {
        assert_eq!(quote("com.example.app"), "com.example.app");
        assert_eq!(quote(""), "''");
        assert_eq!(quote("it's $HOME; rm -rf /"), r"'it'\''s $HOME; rm -rf /'");
    }
}
