//! Commands that use a session of the daemon: how they name it, and how it is opened when it is first needed.

use clap::Args;
use tokio_util::sync::CancellationToken;
use trailblaze_protocol::exit::Exit;

use super::interrupt::told_to_stop;
use super::shell::{OnDeviceArgs, show};
use super::{Context, Refusal, pairs};
use crate::daemon::{DaemonClient, client_variables};
use crate::output::print;
use crate::sessions::interactive::{CommandReply, InteractiveCommand};
use crate::sessions::service::{
    ClientPlace, ExecuteRequest, OpenRequest, ProgressSink, Service, ServiceAnswer, ServiceError, ServiceRequest,
    SessionChoice, SessionInfo,
};

/// Which session a command uses.
#[derive(Args, Debug, Clone, Default)]
pub struct SessionArgs {
    /// Use the session with this name [default: the one of this project, on the device given by `-d`]
    #[arg(long, value_name = "NAME", env = "TRAILBLAZE_SESSION")]
    pub session: Option<String>,
}

/// Prints progress to stderr.
pub struct Say;

impl ProgressSink for Say {
    fn say(&self, text: &str) {
        print::say(text);
    }

    fn tool_output(&self, text: &str) {
        print::say(print::StyledLine::styled(print::DIM, text));
    }
}

impl Context {
    /// The client of this program's daemon.
    pub fn daemon(&self) -> Result<DaemonClient, Refusal> {
        let client = DaemonClient::new(&self.environment, self.program, self.version.clone());
        client.map_err(|error| Refusal::Environment { message: error.to_string() })
    }

    /// Sends a request to the daemon. Ctrl-C cancels it.
    pub async fn ask(&self, request: ServiceRequest) -> Result<ServiceAnswer, Refusal> {
        let daemon = self.daemon()?;
        let cancel = CancellationToken::new();
        let asking = daemon.request(request, &Say, &cancel);
        tokio::pin!(asking);
        let answer = loop {
            tokio::select! {
                answer = &mut asking => break answer,
                () = told_to_stop(), if !cancel.is_cancelled() => cancel.cancel(),
            }
        };
        Ok(answer?)
    }

    /// Which session is meant.
    pub fn choice(&self, session: &SessionArgs, device: &[String]) -> SessionChoice {
        let project = Some(self.root(std::path::Path::new(".")));
        SessionChoice { name: session.session.clone(), project, device: device.first().cloned() }
    }

    /// Where this command runs, with its variables.
    pub fn place(&self) -> ClientPlace {
        ClientPlace { variables: client_variables(&self.environment), ..self.bare_place() }
    }

    /// The same without variables, for requests that start nothing.
    pub fn bare_place(&self) -> ClientPlace {
        ClientPlace {
            current_dir: self.environment.current_dir().to_path_buf(),
            project: Some(self.root(std::path::Path::new("."))),
            variables: Default::default(),
            command: self.command_line(),
        }
    }
}

/// The request that opens a session with these options.
pub fn open_request(context: &Context, on: &OnDeviceArgs, session: &SessionArgs) -> Result<OpenRequest, Refusal> {
    let agent = on.agent.options()?;
    Ok(OpenRequest {
        client: context.place(),
        name: session.session.clone(),
        device: one_device(&on.device)?,
        is_headed: on.headed,
        follows_person: false,
        asserts_what_appears: false,
        ends_in_window: false,
        target: on.target.clone(),
        memory: pairs("memory", &on.memory)?,
        secrets: on.secret.clone(),
        allowed_secrets: None,
        agent,
        cassette: on.cassettes.wanted(),
        sim: on.sim.clone().into(),
        logs: on.logs.as_ref().map(|logs| context.absolute(logs)),
        takes_over: false,
    })
}

fn one_device(named: &[String]) -> Result<Option<String>, Refusal> {
    match named {
        [] => Ok(None),
        [device] => Ok(Some(device.clone())),
        [first, ..] => Err(Refusal::Usage {
            message: "a session uses one device".to_string(),
            hint: Some(format!("choose one, such as `-d {first}`")),
        }),
    }
}

/// Starts an app or opens a page in a session that was opened. If that fails, prints why and returns the exit code.
pub async fn launch(context: &Context, info: &SessionInfo, what: &str, json: bool) -> Result<Option<Exit>, Refusal> {
    let choice = SessionChoice { name: Some(info.name.clone()), project: Some(info.project.clone()), device: None };
    let replies = execute_in(context, choice, vec![InteractiveCommand::launch(what)]).await?;
    if exit_of(&replies) == Exit::Passed {
        return Ok(None);
    }
    print::say(format!("session `{}` stays open", info.name));
    Ok(Some(show_all(&replies, json)))
}

/// Opens a session, or returns the one that is open.
pub async fn open(context: &Context, request: OpenRequest) -> Result<SessionInfo, Refusal> {
    match context.ask(ServiceRequest::Open(Box::new(request))).await? {
        ServiceAnswer::Session(info) => Ok(*info),
        other => Err(unexpected(&other)),
    }
}

/// Executes commands in a session, which is opened first if it is not open.
pub async fn execute(
    context: &Context,
    on: &OnDeviceArgs,
    session: &SessionArgs,
    commands: Vec<InteractiveCommand>,
) -> Result<Vec<CommandReply>, Refusal> {
    let mut choice = context.choice(session, &on.device);
    // The options of a session are compared with those given now.
    if on.has_options() {
        let info = open(context, open_request(context, on, session)?).await?;
        if info.is_new {
            print::say(format!("opened session `{}`; `trailblaze session close` ends it", info.name));
        }
        choice.name = Some(info.name);
    }
    let mut request = execute_request(context, choice, commands);
    match executed(context, request.clone()).await {
        // Only now, because it has all variables of this command.
        Err(Refusal::Service(ServiceError { is_no_session: true, .. })) => {
            request.opening = Some(Box::new(open_request(context, on, session)?));
            executed(context, request).await
        }
        executed => executed,
    }
}

/// Executes commands in a session that is open.
pub async fn execute_in(
    context: &Context,
    session: SessionChoice,
    commands: Vec<InteractiveCommand>,
) -> Result<Vec<CommandReply>, Refusal> {
    executed(context, execute_request(context, session, commands)).await
}

fn execute_request(context: &Context, session: SessionChoice, commands: Vec<InteractiveCommand>) -> ExecuteRequest {
    let current_dir = Some(context.environment.current_dir().to_path_buf());
    ExecuteRequest { session, current_dir, commands, opening: None }
}

async fn executed(context: &Context, request: ExecuteRequest) -> Result<Vec<CommandReply>, Refusal> {
    match context.ask(ServiceRequest::Execute(request)).await? {
        ServiceAnswer::Replies(replies) => Ok(replies),
        other => Err(unexpected(&other)),
    }
}

/// Prints replies. The exit code is that of the last one, because a failure ends the list.
pub fn show_all(replies: &[CommandReply], as_json: bool) -> Exit {
    replies.iter().for_each(|reply| show(reply, as_json));
    exit_of(replies)
}

pub fn exit_of(replies: &[CommandReply]) -> Exit {
    match replies.last() {
        Some(CommandReply::Failed { exit, .. }) => *exit,
        _ => Exit::Passed,
    }
}

/// An answer that does not fit the request.
pub fn unexpected(answer: &ServiceAnswer) -> Refusal {
    let text = format!("{answer:?}");
    let name = text.split(['(', ' ', '{']).next().unwrap_or_default();
    Refusal::Environment { message: format!("the daemon answered with `{name}`; this is a bug in Trailblaze") }
}
