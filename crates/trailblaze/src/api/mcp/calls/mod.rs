//! The calls of the tools, as requests to the service.

mod project;
mod screen;
mod session;

use std::path::{Path, PathBuf};

use rmcp::ErrorData;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::Inner;
use super::answer::{McpCallError, McpCallResult};
use super::arguments::read;
use crate::sessions::interactive::{CommandReply, InteractiveCommand};
use crate::sessions::service::{
    ClientPlace, ExecuteRequest, OpenRequest, ProgressSink, ServiceAnswer, ServiceError, ServiceRequest, SessionChoice,
    SessionInfo,
};

/// One request of a client, and how it is told what goes on.
pub struct McpRequest<'c> {
    pub server: &'c Inner,
    pub progress: &'c dyn ProgressSink,
    pub cancel: &'c CancellationToken,
}

impl McpRequest<'_> {
    /// Calls one of the tools in the fixed list.
    pub async fn call(&self, tool: &str, args: Map<String, Value>) -> McpCallResult {
        match tool {
            "devices" => self.devices(read(tool, args)?).await,
            "session" => self.session(read(tool, args)?).await,
            "snapshot" => self.snapshot(read(tool, args)?).await,
            "act" => self.act(read(tool, args)?).await,
            "step" => self.step(read(tool, args)?).await,
            "verify" => self.verify(read(tool, args)?).await,
            "trail" => self.trail(read(tool, args)?).await,
            "toolbox" => self.toolbox(read(tool, args)?).await,
            "report" => self.report(read(tool, args)?).await,
            "screenshot" => self.screenshot(read(tool, args)?).await,
            _ => {
                let message = format!("unknown tool `{tool}`; tools that `toolbox` finds are called through `act`");
                Err(McpCallError::Broken(ErrorData::invalid_params(message, None)))
            }
        }
    }

    pub async fn request(&self, request: ServiceRequest) -> Result<ServiceAnswer, ServiceError> {
        self.server.service.request(request, self.progress, self.cancel).await
    }

    /// Which session a call is for.
    pub fn choice(&self, session: Option<&str>) -> SessionChoice {
        let options = &self.server.options;
        match session.or(options.session.as_deref()) {
            // A name is enough to find it, wherever it was opened.
            Some(name) => SessionChoice { name: Some(name.to_string()), ..SessionChoice::default() },
            None => {
                SessionChoice { name: None, project: options.place.project.clone(), device: options.device.clone() }
            }
        }
    }

    /// Executes commands in a session. If none is named and none is open, the default one is opened.
    pub async fn execute(
        &self,
        session: Option<&str>,
        commands: Vec<InteractiveCommand>,
    ) -> Result<Vec<CommandReply>, McpCallError> {
        match self.execute_in(self.choice(session), commands.clone()).await {
            Err(error) if error.is_no_session && session.is_none() && !self.is_homeless() => {
                let opened = self.open(self.opening()).await?;
                self.progress.say(&format!("opened session `{}` on {}", opened.name, opened.device));
                let choice = SessionChoice { name: Some(opened.name), ..SessionChoice::default() };
                Ok(self.execute_in(choice, commands).await?)
            }
            Err(error) => Err(self.explained(error)),
            Ok(replies) => Ok(replies),
        }
    }

    async fn execute_in(
        &self,
        session: SessionChoice,
        commands: Vec<InteractiveCommand>,
    ) -> Result<Vec<CommandReply>, ServiceError> {
        let current_dir = &self.server.options.place.current_dir;
        let current_dir = (!current_dir.as_os_str().is_empty()).then(|| current_dir.clone());
        match self
            .request(ServiceRequest::Execute(ExecuteRequest { session, current_dir, commands, opening: None }))
            .await?
        {
            ServiceAnswer::Replies(replies) => Ok(replies),
            other => Err(unexpected(&other)),
        }
    }

    /// Executes commands in a session that is open.
    pub async fn execute_open(
        &self,
        session: Option<&str>,
        commands: Vec<InteractiveCommand>,
    ) -> Result<Vec<CommandReply>, McpCallError> {
        self.execute_in(self.choice(session), commands).await.map_err(|error| self.explained(error))
    }

    pub async fn open(&self, request: OpenRequest) -> Result<SessionInfo, McpCallError> {
        match self.request(ServiceRequest::Open(Box::new(request))).await? {
            ServiceAnswer::Session(info) => Ok(*info),
            other => Err(McpCallError::unexpected(&other)),
        }
    }

    /// The request to open the default session.
    pub fn opening(&self) -> OpenRequest {
        let options = &self.server.options;
        OpenRequest {
            client: options.place.clone(),
            name: options.session.clone(),
            device: options.device.clone(),
            target: options.target.clone(),
            allowed_secrets: Some(options.allowed_secrets.clone()),
            ..OpenRequest::default()
        }
    }

    /// Says how to get a session, if there is none.
    pub fn explained(&self, error: ServiceError) -> McpCallError {
        if !error.is_no_session {
            return error.into();
        }
        let project = if self.is_homeless() { r#","project":"/the/project's/folder""# } else { "" };
        let hint = format!(r#"open one with `session` {{"action":"open"{project}}}"#);
        ServiceError { hint: Some(hint), ..error }.into()
    }

    /// Whether the client has no folder of its own, as over HTTP.
    fn is_homeless(&self) -> bool {
        let place = &self.server.options.place;
        place.project.is_none() && place.current_dir.as_os_str().is_empty()
    }

    /// Where the project of a request is: the client's own, or that of its session.
    pub async fn place(&self, session: Option<&str>) -> Result<ClientPlace, McpCallError> {
        let own = &self.server.options.place;
        if !self.is_homeless() && session.is_none() {
            return Ok(own.clone());
        }
        let sessions = match self.request(ServiceRequest::Sessions).await? {
            ServiceAnswer::Sessions(sessions) => sessions,
            other => return Err(McpCallError::unexpected(&other)),
        };
        let name = session.or(self.server.options.session.as_deref());
        let mut found = sessions.into_iter().filter(|open| name.is_none_or(|name| open.name == name));
        match (found.next(), found.next(), name) {
            (Some(one), None, _) => Ok(at(own, &one.project)),
            (None, _, Some(name)) => Err(McpCallError::failed(format!(
                "no session is named `{name}`\nhint: `session` {{\"action\":\"list\"}} lists the open ones"
            ))),
            (None, _, None) => Err(McpCallError::failed(
                "there is no project\nhint: open a session with `session` {\"action\":\"open\",\"project\":\"/the/project's/folder\"}",
            )),
            _ => Err(McpCallError::failed("several sessions are open\nhint: name one with `session`")),
        }
    }
}

/// The place of a client in a project: the paths that it names are relative to the project's folder.
pub fn at(place: &ClientPlace, project: &Path) -> ClientPlace {
    let project: PathBuf = place.current_dir.join(project);
    ClientPlace { current_dir: project.clone(), project: Some(project), ..place.clone() }
}

fn unexpected(answer: &ServiceAnswer) -> ServiceError {
    match McpCallError::unexpected(answer) {
        McpCallError::Failed(message) => ServiceError::environment(message),
        McpCallError::Broken(error) => ServiceError::environment(error.message),
    }
}

/// The text of a reply, or its failure.
pub fn said(reply: CommandReply) -> Result<String, McpCallError> {
    match reply {
        CommandReply::Done { text, .. } => Ok(text),
        CommandReply::Failed { message, exit } => Err(McpCallError::of_exit(exit, message)),
    }
}

/// The last of some replies.
pub fn last(replies: Vec<CommandReply>) -> Result<CommandReply, McpCallError> {
    replies.into_iter().next_back().ok_or_else(|| McpCallError::failed("nothing was done"))
}
