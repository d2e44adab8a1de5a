//! Files for file fields of a browser on another machine. They are sent as Selenium does it, which also most farms and chromedriver
//! understand: as a ZIP archive with one file, whose path there is the answer.

use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hyper::Method;
use serde_json::{Value, json};

use super::super::backend::BackendError;
use super::error::EndpointError;
use super::http::WebDriverRequest;
use super::session::WebDriverSession;

/// The largest file that is sent.
const LARGEST: u64 = 100 << 20;

/// Makes a file of this machine available to the browser. Returns the path that it has there, which is the same if the endpoint takes no
/// files: then it has to be able to read ours.
pub async fn upload(session: &WebDriverSession, path: &str) -> Result<String, BackendError> {
    let unreadable = |why: String| BackendError::Refused(format!("`{path}` cannot be sent to the browser: {why}"));
    let n_bytes = std::fs::metadata(path).map_err(|error| unreadable(error.to_string()))?.len();
    if n_bytes > LARGEST {
        return Err(unreadable(format!("it has {n_bytes} bytes, and {LARGEST} is the most")));
    }
    let content = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    let name = Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let body = json!({"file": BASE64_STANDARD.encode(archive(&name, &content))});
    drop(content);
    let request = WebDriverRequest {
        method: Method::POST,
        path: format!("/session/{}/se/file", session.id),
        shown: "/se/file".to_string(),
        body: Some(body),
        is_repeatable: true,
    };
    // Not as a command of the session: a strange answer to a command that is no part of the standard says nothing about it.
    match session.http.send(request).await {
        Ok(Value::String(there)) => Ok(there),
        Ok(_) => Ok(path.to_string()),
        Err(error) if is_unknown(&error) => Ok(path.to_string()),
        Err(error) => Err(error.in_page()),
    }
}

/// Whether the endpoint does not have the command.
fn is_unknown(error: &EndpointError) -> bool {
    let is_coded =
        ["unknown command", "unknown method", "unsupported operation"].iter().any(|code| error.is_code(code));
    is_coded || matches!(error, EndpointError::NotWebDriver { .. })
}

/// A ZIP archive with one file, which is not compressed.
fn archive(name: &str, content: &[u8]) -> Vec<u8> {
    // Checked against the largest file before.
    let size = u32::try_from(content.len()).unwrap_or(u32::MAX);
    let n_name = u16::try_from(name.len()).unwrap_or(u16::MAX);
    let mut shared = Vec::new();
    // Version 2.0, the name is UTF-8, not compressed, 1980-01-01 00:00.
    for number in [20_u16, 1 << 11, 0, 0, 0x21] {
        shared.extend(number.to_le_bytes());
    }
    for number in [crc32fast::hash(content), size, size] {
        shared.extend(number.to_le_bytes());
    }
    for number in [n_name, 0] {
        shared.extend(number.to_le_bytes());
    }
    let local = [b"PK\x03\x04", &*shared, name.as_bytes(), content].concat();
    // The entry of the directory: version made by, what the local header has, no comment, disk 0, no attributes, at offset 0.
    let mut entry = [b"PK\x01\x02", &20_u16.to_le_bytes()[..], &shared].concat();
    entry.extend([0; 14]);
    entry.extend(name.as_bytes());
    let number = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    // The end: one disk with one entry, the size of the directory, where it is, no comment.
    let counts = [0, 0, 0, 0, 1, 0, 1, 0];
    let (n_entry, at) = (number(entry.len()), number(local.len()));
    [&*local, &entry, b"PK\x05\x06", &counts, &n_entry, &at, &[0, 0]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_has_the_file_and_says_where_it_is() {
        let archive = archive("käse.txt", b"hello");
        assert_eq!(&archive[..4], b"PK\x03\x04");
        let at = 30 + "käse.txt".len();
        assert_eq!(&archive[at..at + 5], b"hello");
        let directory = archive.len() - 22;
        assert_eq!(&archive[directory..directory + 4], b"PK\x05\x06");
        let offset = u32::from_le_bytes(archive[directory + 16..directory + 20].try_into().unwrap());
        assert_eq!(&archive[offset as usize..offset as usize + 4], b"PK\x01\x02");
    }
}
