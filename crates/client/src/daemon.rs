//! Finds the session of a client that was told nothing: in this user's daemon, by the file that has its address and key.

#[cfg(unix)]
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::header::HeaderValue;
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

use crate::address::Address;
use crate::connection::{Outgoing, Pool};
use crate::error::{Code, Error};

/// The variable that names the session, if several are open.
const SESSION: &str = "TRAILBLAZE_SESSION";
/// How long the daemon may take. It answers at once, unless the session is being opened.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A daemon, as its file describes it.
#[derive(Deserialize)]
struct FoundDaemon {
    address: String,
    key: String,
}

/// A session, and how to use it.
#[derive(Deserialize)]
pub struct Session {
    pub name: String,
    pub address: String,
    pub key: String,
}

/// The last line of an answer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum DaemonLine {
    Answer(DaemonAnswer),
    Error(DaemonRefusal),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum DaemonAnswer {
    Access(Session),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DaemonRefusal {
    message: String,
    #[serde(default)]
    hint: Option<String>,
    #[serde(default)]
    exit: String,
    #[serde(default)]
    is_no_session: bool,
}

/// The session that TRAILBLAZE_SESSION names, or the only one that is open.
pub async fn find(pool: &Pool) -> Result<Session, Error> {
    let name = std::env::var(SESSION).ok().filter(|name| !name.is_empty());
    let (mut sessions, mut missing, mut problems) = (Vec::new(), Vec::new(), Vec::new());
    for daemon in daemons()? {
        match ask(pool, &daemon, name.as_deref()).await? {
            Some(DaemonLine::Answer(DaemonAnswer::Access(session))) => sessions.push(session),
            Some(DaemonLine::Error(error)) if error.is_no_session => missing.push(error),
            Some(DaemonLine::Error(error)) => problems.push(error),
            // It has just ended.
            None => {}
        }
    }
    if sessions.len() == 1 && problems.is_empty() {
        return Ok(sessions.remove(0));
    }
    if !sessions.is_empty() || problems.len() > 1 || problems.first().is_some_and(|error| error.exit == "invalid") {
        let open = sessions.iter().map(|session| format!("session `{}` is open", session.name));
        let texts: Vec<String> = problems.into_iter().map(|error| error.message).chain(open).collect();
        let text = format!("{}; set {SESSION} to the name of one", texts.join("; "));
        return Err(Error::api(Code::FailedPrecondition, text));
    }
    let code = if problems.is_empty() { Code::FailedPrecondition } else { Code::Unavailable };
    let refusal = problems.into_iter().chain(missing).next();
    let text = refusal.map(|DaemonRefusal { message, hint, .. }| match hint {
        Some(hint) => format!("{message}; {hint}"),
        None => message,
    });
    let none = || "no Trailblaze session is open; `trailblaze device connect` opens one".to_string();
    Err(Error::api(code, text.unwrap_or_else(none)))
}

/// Asks a daemon for access to a session. `None` if it is gone.
async fn ask(pool: &Pool, daemon: &FoundDaemon, name: Option<&str>) -> Result<Option<DaemonLine>, Error> {
    let session = name.map_or_else(|| json!({}), |name| json!({ "name": name }));
    let unknown = || {
        let text = "the daemon answers in a way that this version of the client does not understand";
        Error::api(Code::Internal, text)
    };
    let mut key = HeaderValue::try_from(format!("Bearer {}", daemon.key)).map_err(|_| unknown())?;
    key.set_sensitive(true);
    let outgoing = Outgoing {
        address: Arc::new(Address::parse(&daemon.address)?),
        package: "",
        path: "daemon".into(),
        content_type: "application/json",
        authorization: Some(key),
        called_at: None,
        timeout: None,
        body: Bytes::from(json!({ "access": { "session": session } }).to_string()),
        deadline: Instant::now() + TIMEOUT,
    };
    let body = match pool.exchange(&outgoing).await {
        Ok(whole) => whole.body,
        Err(error) if error.code() == Some(Code::Unavailable) => return Ok(None),
        Err(error) => return Err(error),
    };
    // Lines before the last one are progress.
    let last = body.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    serde_json::from_slice(last).map(Some).map_err(|_| unknown())
}

/// The daemons of this user that live. A program that a team built with tools of its own has its own daemon.
#[cfg(unix)]
fn daemons() -> Result<Vec<FoundDaemon>, Error> {
    let folder = folder();
    let Ok(entries) = std::fs::read_dir(&folder) else { return Ok(Vec::new()) };
    let paths = entries.flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.to_string_lossy().ends_with(".daemon.json")).collect();
    paths.sort();
    if !paths.is_empty() {
        // Before anything in it is believed: it may be in a folder that all users share.
        check(&folder)?;
    }
    let found = paths.iter().map(|path| read(path)).filter_map(Result::transpose);
    found.collect()
}

#[cfg(not(unix))]
fn daemons() -> Result<Vec<FoundDaemon>, Error> {
    Ok(Vec::new())
}

#[cfg(unix)]
fn folder() -> PathBuf {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let user = rustix::process::geteuid().as_raw();
    // Agents start servers without most variables.
    let usual = PathBuf::from(format!("/run/user/{user}"));
    match variable("XDG_RUNTIME_DIR").into_iter().chain([usual]).find(|folder| folder.is_dir()) {
        Some(folder) => folder.join("trailblaze"),
        None => variable("TMPDIR").unwrap_or_else(|| PathBuf::from("/tmp")).join(format!("trailblaze-{user}")),
    }
}

/// Fails unless a file or folder belongs to this user, and no other user may use it.
#[cfg(unix)]
fn check(path: &Path) -> Result<(), Error> {
    use std::os::unix::fs::MetadataExt;
    // It may have ended in the meantime.
    let Ok(facts) = path.symlink_metadata() else { return Ok(()) };
    if facts.is_symlink() || facts.uid() != rustix::process::geteuid().as_raw() || facts.mode() & 0o077 != 0 {
        let path = path.display();
        let text = format!(
            "`{path}` is not used: it belongs to another user, or other users may use it; `chmod go= {path}` changes that"
        );
        return Err(Error::api(Code::PermissionDenied, text));
    }
    Ok(())
}

/// `None` for what a killed daemon left: without the lock of one that lives.
#[cfg(unix)]
fn read(path: &Path) -> Result<Option<FoundDaemon>, Error> {
    use std::io::Read;
    check(path)?;
    let Ok(mut file) = std::fs::File::open(path) else { return Ok(None) };
    if !matches!(file.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock)) {
        return Ok(None);
    }
    let mut text = String::new();
    let daemon = file.read_to_string(&mut text).ok().and_then(|_| serde_json::from_str(&text).ok());
    daemon.map(Some).ok_or_else(|| {
        let text = format!("`{}` is not the file of a daemon that this version understands", path.display());
        Error::api(Code::Internal, text)
    })
}
