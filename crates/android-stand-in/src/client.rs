//! A command of the shell: it asks the phone's process, prints what that answers, and writes the files itself, so that a full disk
//! or a missing folder is a real one.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::picture;
use crate::wire::{SOCKET, SOCKET_VARIABLE, ShellFrame, StandInRequest, send_request};

/// The exit code of a command whose process was killed, which is what the end of the phone's process means.
const KILLED: u8 = 137;

pub fn run(name: &str, arguments: Vec<String>) -> u8 {
    match converse(name, arguments) {
        Ok(code) => code,
        // The reader of a pipe left, as `head` does.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => 141,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{name}: the phone does not answer: {error}");
            KILLED
        }
    }
}

fn converse(name: &str, arguments: Vec<String>) -> io::Result<u8> {
    if name == "app_process" {
        delete_program();
    }
    let socket = std::env::var(SOCKET_VARIABLE).unwrap_or_else(|_| SOCKET.to_string());
    let mut connection = UnixStream::connect(socket)?;
    let mut input = Vec::new();
    if let Some(size) = size_of_input(&arguments) {
        io::stdin().take(size).read_to_end(&mut input)?;
    }
    let request = StandInRequest::Command { name: name.to_string(), arguments, input: input.len() };
    send_request(&mut connection, &request, &input)?;
    let (mut stdout, mut stderr) = (io::stdout(), io::stderr());
    while let Some(frame) = ShellFrame::read(&mut connection)? {
        match frame {
            ShellFrame::Stdout(bytes) => {
                stdout.write_all(&bytes)?;
                stdout.flush()?;
            }
            ShellFrame::Stderr(bytes) => stderr.write_all(&bytes)?,
            ShellFrame::QuietFile(path, bytes) => drop(write_file(&path, &bytes)),
            ShellFrame::File(path, bytes) => match open_file(&path) {
                Ok(mut file) => {
                    if file.write_all(&bytes).is_err() {
                        writeln!(stderr, "Failed to compress PNG (error code: -2)")?;
                    }
                }
                Err(error) => {
                    writeln!(stderr, "Error opening file: {path} ({})", reason(&error))?;
                    return Ok(1);
                }
            },
            ShellFrame::FileAtTheEnd(path, millis) => {
                let recorded = record(&path, Duration::from_millis(millis));
                if let Err(error) = recorded {
                    writeln!(stderr, "ERROR: unable to open '{path}': {}", reason(&error))?;
                    return Ok(1);
                }
            }
            ShellFrame::Exit(code) => return Ok(code),
        }
    }
    writeln!(stderr, "Killed ")?;
    Ok(KILLED)
}

/// What the server for phones does first: it deletes the file that it was started from.
fn delete_program() {
    let is_program = |path: &String| std::fs::read(path).is_ok_and(|content| content.starts_with(b"dex\n"));
    if let Some(path) = std::env::var("CLASSPATH").ok().filter(is_program) {
        let _ = std::fs::remove_file(path);
    }
}

/// How many bytes an installation reads from its standard input: `cmd package install -S 1234`.
fn size_of_input(arguments: &[String]) -> Option<u64> {
    let is_install = arguments.iter().any(|argument| argument.starts_with("install"));
    let at = arguments.iter().position(|argument| argument == "-S").filter(|_| is_install)?;
    arguments.get(at + 1)?.parse().ok()
}

fn write_file(path: &str, bytes: &[u8]) -> io::Result<()> {
    open_file(path)?.write_all(bytes)
}

/// `/dev/tty` is a terminal, not a file to be created.
fn open_file(path: &str) -> io::Result<File> {
    let is_device = path.starts_with("/dev/");
    File::options().write(true).create(!is_device).truncate(!is_device).open(path)
}

/// The words of the C library, without the number that Rust adds.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_string()
}

/// The file is there as soon as an interrupt would end the recording properly, and complete at its end.
fn record(path: &str, most: Duration) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut interrupts = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())?;
        let mut file = open_file(path)?;
        tokio::select! {
            _ = interrupts.recv() => {}
            () = tokio::time::sleep(most) => {}
        }
        file.write_all(&picture::EMPTY_MOVIE)
    })
}
