//! Ends sessions, also if this program is killed: an endpoint does not notice that its client is gone, and keeps the browser.
//!
//! This program starts itself again as a process that is told of each session. It ends those that are left when its input ends.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::timeout;
use trailblaze_http::ProxySettings;
use trailblaze_supervise::{Child, Grace, Launch, Running, Supervisor};

use super::backend::SessionOwner;
use super::http::{EndpointAddress, WebDriverHttp};
use super::session::end_session;

/// The argument that starts this program to end the sessions of another one.
const END_SESSIONS: &str = "__end-sessions";
/// How long the process may take to answer, and to end what is left.
const ANSWERING: Duration = Duration::from_secs(5);
const GRACE: Duration = Duration::from_secs(25);

/// What the process is told, one per line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum EndingOrder {
    Begun { id: String, url: String, headers: Vec<(String, String)>, proxies: [String; 4] },
    Ended { id: String },
}

/// The sessions of a run, and the process that knows of them.
pub struct SessionEndings {
    supervisor: Supervisor,
    proxies: ProxySettings,
    process: tokio::sync::Mutex<EndingProcess>,
}

enum EndingProcess {
    /// It is started with the first session.
    NotStarted,
    Running(Box<RunningEndings>),
    /// Sessions stay if this program is killed, until the endpoint ends them.
    Missing,
}

struct RunningEndings {
    stdin: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    child: Child,
    n_told: u64,
}

impl SessionEndings {
    pub fn new(supervisor: Supervisor, proxies: ProxySettings) -> SessionEndings {
        SessionEndings { supervisor, proxies, process: tokio::sync::Mutex::new(EndingProcess::NotStarted) }
    }

    /// Must be called as soon as a session exists.
    pub async fn has_begun(&self, address: &EndpointAddress, id: &str) {
        let ProxySettings { https, http, all, no } = self.proxies.clone();
        self.tell(&EndingOrder::Begun {
            id: id.to_string(),
            url: address.shown().to_string(),
            headers: address.headers(),
            proxies: [https, http, all, no],
        })
        .await;
    }

    async fn tell(&self, order: &EndingOrder) {
        let mut process = self.process.lock().await;
        let running = match std::mem::replace(&mut *process, EndingProcess::Missing) {
            EndingProcess::Missing => return,
            EndingProcess::NotStarted if matches!(order, EndingOrder::Ended { .. }) => {
                *process = EndingProcess::NotStarted;
                return;
            }
            EndingProcess::NotStarted => self.start().await,
            EndingProcess::Running(running) => Ok(running),
        };
        let told = match running {
            Ok(mut running) => match timeout(ANSWERING, running.tell(order)).await {
                Ok(told) => told.map(|()| running).map_err(|error| error.to_string()),
                Err(_) => Err("it does not answer".to_string()),
            },
            Err(why) => Err(why),
        };
        match told {
            Ok(running) => *process = EndingProcess::Running(running),
            Err(why) => tracing::warn!(
                target: "trailblaze::webdriver", why,
                "if Trailblaze is killed, its sessions stay until the endpoint ends them"
            ),
        }
    }

    async fn start(&self) -> Result<Box<RunningEndings>, String> {
        let mut launch = Launch::new(self.supervisor.own_program(), std::env::temp_dir());
        launch.args = vec![OsString::from(END_SESSIONS)];
        launch.grace = Grace { after_stdin: GRACE, ..Grace::default() };
        let started = self.supervisor.start(launch).await.map_err(|error| error.to_string())?;
        let Running { stdin, stdout, child, .. } = started;
        Ok(Box::new(RunningEndings { stdin, answers: BufReader::new(stdout).lines(), child, n_told: 0 }))
    }

    /// Ends the process, and the sessions that are left.
    pub async fn close(&self) {
        let process = std::mem::replace(&mut *self.process.lock().await, EndingProcess::Missing);
        if let EndingProcess::Running(running) = process {
            let RunningEndings { stdin, child, .. } = *running;
            drop(stdin);
            let _ = timeout(GRACE, child.ended()).await;
        }
    }
}

#[async_trait]
impl SessionOwner for SessionEndings {
    async fn has_ended(&self, session: &str) {
        self.tell(&EndingOrder::Ended { id: session.to_string() }).await;
    }

    fn end(&self) -> Option<String> {
        None
    }
}

impl RunningEndings {
    /// Returns when the process has understood it.
    async fn tell(&mut self, order: &EndingOrder) -> io::Result<()> {
        let line = serde_json::to_string(order)?;
        self.n_told += 1;
        self.stdin.write_all(format!("{line}\n").as_bytes()).await?;
        // The answer is how many it has understood. There may be one to an order whose sender was cancelled.
        while let Some(answer) = self.answers.next_line().await? {
            if answer.parse() == Ok(self.n_told) {
                return Ok(());
            }
        }
        Err(io::Error::from(io::ErrorKind::UnexpectedEof))
    }
}

/// Ends the sessions of another process, if this one was started for that. Must be called at the start of `main`.
pub fn end_sessions_main() -> Option<ExitCode> {
    if std::env::args_os().nth(1)? != END_SESSIONS {
        return None;
    }
    Some(match end_sessions() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: `{END_SESSIONS}` is for Trailblaze itself: {error}");
            ExitCode::from(3)
        }
    })
}

fn end_sessions() -> io::Result<()> {
    let mut left: BTreeMap<String, EndingOrder> = BTreeMap::new();
    for (index, line) in io::stdin().lock().lines().enumerate() {
        match serde_json::from_str(&line?)? {
            EndingOrder::Ended { id } => drop(left.remove(&id)),
            EndingOrder::Begun { ref id, .. } if left.contains_key(id) => {}
            begun @ EndingOrder::Begun { .. } => {
                let EndingOrder::Begun { id, .. } = &begun else { continue };
                left.insert(id.clone(), begun);
            }
        }
        // One that no longer reads it is about to end our input.
        let _ = writeln!(io::stdout(), "{}", index + 1);
    }
    if left.is_empty() {
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let ends = left.into_values().filter_map(|order| {
            let EndingOrder::Begun { id, url, headers, proxies: [https, http, all, no] } = order else { return None };
            let address = EndpointAddress::parse(&url, None, &headers).ok()?;
            let http = WebDriverHttp::new(address, &ProxySettings { https, http, all, no }).ok()?;
            Some(async move { end_session(&http, &id).await })
        });
        futures::future::join_all(ends).await;
    });
    Ok(())
}
