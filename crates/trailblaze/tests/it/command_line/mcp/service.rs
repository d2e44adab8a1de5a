//! A service with one real session on a simulated device, and prepared answers for the rest.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use serde_json::json;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use trailblaze::api::ApiListener;
use trailblaze::api::mcp::{McpOptions, McpServer};
use trailblaze::output::console::Quiet;
use trailblaze::project::environment::Environment;
use trailblaze::project::loaded::Loaded;
use trailblaze::sessions::host::SessionHost;
use trailblaze::sessions::interactive::{self, CommandReply, InteractiveOptions, Opened, Usage};
use trailblaze::sessions::service::{
    Checked, ClientPlace, ClosedSession, DeviceInfo, Edited, OpenRequest, ProgressSink, Ran, Service, ServiceAnswer,
    ServiceError, ServiceRequest, SessionInfo,
};
use trailblaze::sessions::{toolbox, wiring};
use trailblaze_protocol::exit::Exit;

use crate::command_line::mcp::client::{Client, Generation};
use crate::support::{PATIENCE, Project};

pub struct OneSession {
    root: PathBuf,
    opened: Mutex<Option<Opened>>,
    /// Whether a request was cancelled.
    pub was_cancelled: AtomicBool,
}

const NAME: &str = "main";

impl OneSession {
    pub fn new(project: &Project) -> Arc<OneSession> {
        Arc::new(OneSession {
            root: project.root().to_path_buf(),
            opened: Mutex::default(),
            was_cancelled: AtomicBool::new(false),
        })
    }

    fn info(&self, is_new: bool) -> SessionInfo {
        SessionInfo {
            name: NAME.to_string(),
            id: "id".to_string(),
            device: "android/sim-1".to_string(),
            platform: "android".to_string(),
            project: self.root.clone(),
            target: None,
            run_folder: self.root.join("logs"),
            opened_by: "mcp".to_string(),
            opened_in: self.root.clone(),
            age_seconds: 0,
            idle_seconds: 0,
            steps: 0,
            is_new,
            lost: None,
            took_over: None,
        }
    }

    async fn open(&self, request: OpenRequest) -> Result<SessionInfo, ServiceError> {
        let mut opened = self.opened.lock().await;
        if opened.is_some() {
            return Ok(self.info(false));
        }
        let environment = Arc::new(Environment::of_process());
        let loaded = Loaded::read(&self.root, &environment).expect("the project can be read");
        let device = loaded.devices(&["android/sim-1".to_string()]).expect("the device exists").remove(0);
        let loaded = Arc::new(loaded);
        let invocations = Arc::default();
        let host = SessionHost::new(Arc::clone(&invocations), ApiListener::new(invocations, None));
        let options = InteractiveOptions {
            usage: Usage::Serve,
            device,
            is_headed: false,
            target: request.target,
            memory: Vec::new(),
            secrets: wiring::secrets(&loaded, &[]).expect("no secrets"),
            agent: request.agent,
            cassette: None,
            sim: request.sim,
            logs: self.root.join("logs"),
            current_dir: request.client.current_dir,
            command: request.client.command,
        };
        let session = interactive::open(&loaded, &host, options, Arc::new(Quiet)).await;
        *opened = Some(session.map_err(|error| ServiceError::environment(error.to_string()))?);
        Ok(self.info(true))
    }
}

fn no_session() -> ServiceError {
    ServiceError { is_no_session: true, ..ServiceError::invalid("no session is open") }
}

#[async_trait]
impl Service for OneSession {
    async fn request(
        &self,
        request: ServiceRequest,
        progress: &dyn ProgressSink,
        cancel: &CancellationToken,
    ) -> Result<ServiceAnswer, ServiceError> {
        match request {
            ServiceRequest::Open(request) => Ok(ServiceAnswer::Session(Box::new(self.open(*request).await?))),
            ServiceRequest::Execute(request) => {
                let mut opened = self.opened.lock().await;
                let opened = opened.as_mut().filter(|_| request.session.name.is_none_or(|name| name == NAME));
                let Some(opened) = opened else { return Err(no_session()) };
                let mut replies = Vec::new();
                for command in request.commands {
                    replies.push(opened.session.execute(command, cancel).await);
                    if matches!(replies.last(), Some(CommandReply::Failed { .. })) {
                        break;
                    }
                }
                Ok(ServiceAnswer::Replies(replies))
            }
            ServiceRequest::Sessions => {
                let is_open = self.opened.lock().await.is_some();
                Ok(ServiceAnswer::Sessions(is_open.then(|| self.info(false)).into_iter().collect()))
            }
            ServiceRequest::Close { .. } => match self.opened.lock().await.take() {
                None => Err(no_session()),
                Some(opened) => {
                    let unsaved = opened.session.unsaved();
                    let closed = opened.close(Exit::Passed, false).await;
                    let report = closed.written.ok().map(|written| written.html);
                    Ok(ServiceAnswer::Closed(ClosedSession { name: NAME.to_string(), report, unsaved }))
                }
            },
            ServiceRequest::Toolbox(request) => {
                let opened = self.opened.lock().await;
                let Some(opened) = opened.as_ref() else { return Err(no_session()) };
                let registry = opened.session.registry();
                let listed = match request.tool {
                    _ if request.has_schemas => toolbox::all(&registry),
                    Some(tool) => toolbox::describe(&registry, &tool)
                        .map_err(|missing| ServiceError::invalid(missing.to_string()))?,
                    None => toolbox::list(&registry, request.search.as_deref()),
                };
                Ok(ServiceAnswer::Toolbox(listed))
            }
            ServiceRequest::Devices(_) => Ok(ServiceAnswer::Devices(vec![DeviceInfo {
                id: "android/sim-1".to_string(),
                platform: "android".to_string(),
                driver: "sim".to_string(),
                summary: "a simulated phone".to_string(),
                width: 1080,
                height: 2400,
                sessions: vec![NAME.to_string()],
            }])),
            ServiceRequest::Run(_) => {
                for at in 1..=3 {
                    progress.say(&format!("trail {at} of 3"));
                }
                let ended = tokio::time::timeout(PATIENCE, cancel.cancelled());
                if self.root.join("slow").exists() && ended.await.is_ok() {
                    self.was_cancelled.store(true, Ordering::SeqCst);
                    return Err(ServiceError::environment("cancelled"));
                }
                let summary = summary();
                Ok(ServiceAnswer::Ran(Ran { exit: Exit::Failed, text: "1 failed".to_string(), summary, report: None }))
            }
            ServiceRequest::Report(_) => Ok(ServiceAnswer::Report(Box::new(summary()))),
            ServiceRequest::Check(_) => Ok(ServiceAnswer::Checked(Checked {
                trails: 1,
                errors: 1,
                problems: vec![json!({
                    "file": "a.trail.yaml", "line": 3, "column": 5, "severity": "error", "message": "unknown tool `tapp`",
                    "hint": "did you mean `tap`?",
                })],
            })),
            ServiceRequest::Edit(request) => Ok(ServiceAnswer::Trail(match request.path {
                None => Edited::List(vec![
                    json!({"path": "a.trail.yaml", "title": "First"}),
                    json!({"path": "b/c d.trail.yaml"}),
                ]),
                Some(path) if request.replace.is_some() => Edited::Written { path, warnings: Vec::new() },
                Some(path) => {
                    let text = std::fs::read_to_string(self.root.join(&path));
                    Edited::Text { text: text.map_err(|error| ServiceError::invalid(error.to_string()))?, path }
                }
            })),
            other => Err(ServiceError::environment(format!("not in this test: {other:?}"))),
        }
    }
}

fn summary() -> serde_json::Value {
    json!({
        "run": "2026-11-16_1", "isFinished": true, "exit": "failed", "code": 1,
        "counts": {"total": 1, "passed": 0, "failed": 1},
        "attempts": [{
            "trail": {"id": "a", "title": "First", "path": "a.trail.yaml"}, "device": "android/sim-1", "verdict": "failed",
            "failure": {
                "step": "Pay", "tool": "tap", "message": "no element has the text `Pay`", "expected": null, "saw": "Cancel",
                "place": {"file": "a.trail.yaml", "line": 7}, "pictures": ["pictures/ab.png"],
            },
        }],
    })
}

/// A client of a server in this process, in the folder of the project.
pub fn client(project: &Project, generation: Generation) -> Client {
    client_of(project, OneSession::new(project), generation, McpOptions::default())
}

pub fn client_of(project: &Project, service: Arc<OneSession>, generation: Generation, options: McpOptions) -> Client {
    let root = project.root().to_path_buf();
    let place = ClientPlace { current_dir: root.clone(), project: Some(root), ..ClientPlace::default() };
    Client::in_process(McpServer::new(service, McpOptions { place, ..options }), generation)
}
