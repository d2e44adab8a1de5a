//! The process that has the state of the phone: it answers each connection of a command or a test.

use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::{UnixListener, UnixStream};

use crate::commands;
use crate::phone::SimulatedPhone;
use crate::wire::{ShellFrame, StandInRequest};

/// Answers until it is dropped.
pub async fn serve(phone: Arc<SimulatedPhone>, socket: &Path) -> io::Result<()> {
    let listener = UnixListener::bind(socket)?;
    loop {
        let (connection, _) = listener.accept().await?;
        let phone = Arc::clone(&phone);
        // Detached: ends with the command. One that was killed no longer reads.
        tokio::spawn(async move { drop(answer(&phone, connection).await) });
    }
}

/// Does the work until the standard input ends, which happens when the program that started this one ends.
pub async fn until_stdin_ends(work: impl Future<Output = io::Result<()>>) -> io::Result<()> {
    let (ended, mut has_ended) = tokio::sync::oneshot::channel::<()>();
    // A thread, because reading cannot be cancelled: it must not keep the runtime from ending.
    std::thread::spawn(move || {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        drop(ended);
    });
    tokio::select! {
        _ = &mut has_ended => Ok(()),
        done = work => done,
    }
}

async fn answer(phone: &Arc<SimulatedPhone>, connection: UnixStream) -> io::Result<()> {
    let (reading, mut writing) = connection.into_split();
    let mut reading = BufReader::new(reading);
    let mut line = String::new();
    reading.read_line(&mut line).await?;
    match serde_json::from_str(&line)? {
        StandInRequest::Command { name, arguments, input } => {
            let mut content = vec![0; input];
            reading.read_exact(&mut content).await?;
            let answering = commands::run(phone, &name, &arguments, &content, &mut writing);
            // The end of the command's process ends what it waits for.
            let mut rest = [0; 1];
            tokio::select! {
                done = answering => done,
                _ = reading.read(&mut rest) => Ok(()),
            }
        }
        StandInRequest::Control(control) => {
            let text = phone.control(control).await;
            ShellFrame::Stdout(text.into_bytes()).send(&mut writing).await?;
            ShellFrame::Exit(0).send(&mut writing).await
        }
    }
}
