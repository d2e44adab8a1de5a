//! Messages of the language server protocol on stdin and stdout. `lsp_server` has them too, but reserves as much memory as a message
//! claims to have.

use std::io::{self, BufRead, Read, Write};
use std::thread::JoinHandle;

use lsp_server::Message;
use tokio::sync::mpsc;

/// The largest message, in bytes. An editor sends the whole text of a file.
const MOST_BYTES: u64 = 64 << 20;
/// The longest line of a header.
const HEADER_BYTES: u64 = 4096;

/// Reads messages until the editor is gone, or sends one that cannot be understood, which is the last item. The thread ends with the
/// channel; the process does not wait for it.
pub fn read_all(sender: mpsc::Sender<io::Result<Message>>) {
    std::thread::spawn(move || {
        let mut stdin = io::stdin().lock();
        while let Some(message) = read(&mut stdin).transpose() {
            let is_last = message.is_err();
            if sender.blocking_send(message).is_err() || is_last {
                return;
            }
        }
    });
}

/// Writes messages until nobody can send more, or the editor is gone.
pub fn write_all(messages: std::sync::mpsc::Receiver<Message>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut stdout = io::stdout().lock();
        for message in messages {
            if message.write(&mut stdout).is_err() {
                return;
            }
        }
        let _ = stdout.flush();
    })
}

/// The next message; `None` at the end of the input.
fn read(input: &mut impl BufRead) -> io::Result<Option<Message>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        let n_bytes = input.by_ref().take(HEADER_BYTES).read_line(&mut line)?;
        if n_bytes == 0 {
            return Ok(None);
        }
        let line = line.strip_suffix("\r\n").ok_or_else(|| wrong("a header does not end with a line break"))?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').ok_or_else(|| wrong(format!("`{line}` is not a header")))?;
        if name.eq_ignore_ascii_case("Content-Length") {
            let bytes = value.trim().parse::<u64>();
            length = Some(bytes.map_err(|_| wrong(format!("`{}` is not a Content-Length", value.trim())))?);
        }
    }
    let length = length.ok_or_else(|| wrong("a message has no Content-Length"))?;
    if length > MOST_BYTES {
        return Err(wrong(format!("a message of {length} bytes is too large; the limit is {MOST_BYTES}")));
    }
    // Grows with what arrives.
    let mut body = Vec::new();
    if input.by_ref().take(length).read_to_end(&mut body)? as u64 != length {
        return Err(wrong("the input ended within a message"));
    }
    serde_json::from_slice(&body).map(Some).map_err(|error| wrong(format!("a message is not understood: {error}")))
}

fn wrong(text: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_only_if_it_is_whole_and_not_too_large() {
        let body = r#"{"jsonrpc":"2.0","method":"exit"}"#;
        let whole = format!("content-length: {}\r\nContent-Type: x\r\n\r\n{body}", body.len());
        let mut input = io::Cursor::new(format!("{whole}{whole}"));
        assert!(matches!(read(&mut input), Ok(Some(Message::Notification(note))) if note.method == "exit"));
        assert!(matches!(read(&mut input), Ok(Some(_))));
        assert!(matches!(read(&mut input), Ok(None)));
        for (text, words) in [
            ("Content-Length: 99999999999999\r\n\r\n{}", "a message of 99999999999999 bytes is too large"),
            ("Content-Length: 99999999999999999999999\r\n\r\n{}", "is not a Content-Length"),
            ("Content-Length: -1\r\n\r\n{}", "is not a Content-Length"),
            ("Content-Length: 5\r\n\r\n{}", "the input ended within a message"),
            ("Content-Length: 2\r\n\r\n[]", "a message is not understood"),
            ("Host: a\r\n\r\n{}", "a message has no Content-Length"),
            ("garbage\r\n\r\n", "`garbage` is not a header"),
            ("garbage", "a header does not end with a line break"),
        ] {
            let error = read(&mut io::Cursor::new(text)).expect_err(text).to_string();
            assert!(error.contains(words), "{text:?}: {error}");
        }
        let endless = "a".repeat(100_000);
        assert!(read(&mut io::Cursor::new(endless)).is_err());
    }
}
