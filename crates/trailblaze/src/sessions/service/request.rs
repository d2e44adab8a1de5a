//! The requests.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::project::sim::SimOptions;
use crate::servers::cassettes::CassetteMode;
use crate::sessions::interactive::InteractiveCommand;
use crate::sessions::models::AgentOptions;

/// One request of a client.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ServiceRequest {
    /// Open a session, or return the one that is open. Answered by `Session`.
    Open(Box<OpenRequest>),
    /// Execute commands in a session, in order, until one fails. Answered by `Replies`.
    Execute(ExecuteRequest),
    /// The open sessions. Answered by `Sessions`.
    Sessions,
    /// End a session. Answered by `Closed`.
    Close { session: SessionChoice },
    /// Run the steps of a session from their start. Answered by `Ran`.
    Replay(ReplayRequest),
    /// The address and key with which programs use a session through the typed API. Answered by `Access`.
    Access { session: SessionChoice },
    /// The devices of a project, and which sessions use them. Answered by `Devices`.
    Devices(DevicesRequest),
    /// The tools of a project, or one tool with its schema. Answered by `Toolbox`.
    Toolbox(ToolboxRequest),
    /// Run trails. Answered by `Ran`.
    Run(Box<RunRequest>),
    /// Check trails and tools without running them. Answered by `Checked`.
    Check(CheckRequest),
    /// List, read or change trails. Answered by `Trail`.
    Edit(EditRequest),
    /// The result of a run. Answered by `Report`.
    Report(ReportRequest),
    /// Admit a page to the studio. Answered by `Studio`.
    Studio(StudioRequest),
    /// Answered by `Status`.
    Status,
    /// End all sessions and the process. Answered by `Stopping`.
    Stop,
}

impl ServiceRequest {
    /// Where the client is, if the request may start processes, which get the client's variables.
    pub fn starting_place(&mut self) -> Option<&mut ClientPlace> {
        match self {
            ServiceRequest::Open(request) => Some(&mut request.client),
            ServiceRequest::Execute(request) => request.opening.as_mut().map(|opening| &mut opening.client),
            ServiceRequest::Run(request) => Some(&mut request.client),
            ServiceRequest::Replay(request) => Some(&mut request.client),
            ServiceRequest::Check(request) => Some(&mut request.client),
            ServiceRequest::Studio(request) => Some(&mut request.client),
            _ => None,
        }
    }
}

/// Where a client is: paths are relative to its folder, and child processes get its variables and no others.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientPlace {
    pub current_dir: PathBuf,
    /// The project's folder. Without it, the nearest project from the current folder upward.
    pub project: Option<PathBuf>,
    pub variables: BTreeMap<String, String>,
    /// The command line, for the record.
    pub command: Vec<String>,
}

/// Without the variables, which are not for logs.
impl fmt::Debug for ClientPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ClientPlace { current_dir, project, variables: _, command } = self;
        let mut shown = f.debug_struct("ClientPlace");
        shown.field("current_dir", current_dir).field("project", project).field("command", command);
        shown.finish_non_exhaustive()
    }
}

/// Which session a request is for. Without a name, it is the session of the project on the named device, or the only session of
/// the project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionChoice {
    pub name: Option<String>,
    /// The project's folder; without one, sessions of all projects count.
    pub project: Option<PathBuf>,
    /// Such as `web/chromium`.
    pub device: Option<String>,
}

/// The secrets that an agent may name besides those of the project, with the origins of pages that they are for. `None` if a person
/// named the secrets, who may name any.
pub type AllowedSecrets = Option<Vec<(String, Vec<String>)>>;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OpenRequest {
    pub client: ClientPlace,
    /// By default, one for each project and device.
    pub name: Option<String>,
    pub device: Option<String>,
    /// Show the browser window.
    pub is_headed: bool,
    /// Record what a person does in the browser window.
    pub follows_person: bool,
    /// With that, make an assertion after each step that made something appear.
    pub asserts_what_appears: bool,
    /// With that, the person can end the session in the window.
    pub ends_in_window: bool,
    pub target: Option<String>,
    pub memory: Vec<(String, String)>,
    /// The names of variables that contain secrets.
    pub secrets: Vec<String>,
    pub allowed_secrets: AllowedSecrets,
    pub agent: AgentOptions,
    pub cassette: Option<CassetteMode>,
    pub sim: SimOptions,
    /// The folder in which run folders are created [default: logs/ in the project].
    pub logs: Option<PathBuf>,
    /// End the session that uses the device.
    pub takes_over: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecuteRequest {
    pub session: SessionChoice,
    /// The folder that paths in the commands are relative to; without one, the folder in which the session was opened.
    pub current_dir: Option<PathBuf>,
    pub commands: Vec<InteractiveCommand>,
    /// Opens the session first, if it is not open. A daemon that is about to end finishes a request, but not the next one.
    #[serde(default)]
    pub opening: Option<Box<OpenRequest>>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReplayRequest {
    pub session: SessionChoice,
    pub client: ClientPlace,
    /// Another device [default: the session's own].
    pub device: Option<String>,
    /// The first and the last step, from 1.
    pub from: Option<usize>,
    pub to: Option<usize>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DevicesRequest {
    pub client: ClientPlace,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolboxRequest {
    pub client: ClientPlace,
    /// Its tools, if it is open; otherwise those that a session on the device would have, as far as they are known without
    /// starting tool servers.
    pub session: SessionChoice,
    /// Words that names and descriptions contain.
    pub search: Option<String>,
    /// The tool whose schema is wanted.
    pub tool: Option<String>,
    /// Return `tools`, all of them, each with its name, description, schema and the rest of its metadata, and `groups`.
    pub has_schemas: bool,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RunRequest {
    pub client: ClientPlace,
    /// Trails, folders and patterns; if empty, all trails of the project.
    pub paths: Vec<PathBuf>,
    pub devices: Vec<String>,
    pub target: Option<String>,
    /// Write what passes into the trails.
    pub records: bool,
    /// The names of variables that contain secrets.
    pub secrets: Vec<String>,
    pub allowed_secrets: AllowedSecrets,
    pub agent: AgentOptions,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CheckRequest {
    pub client: ClientPlace,
    pub paths: Vec<PathBuf>,
}

/// A list of trails, the text of one, or a change to one. A change is written only if the trail can be read afterwards.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EditRequest {
    pub client: ClientPlace,
    /// Without one, all trails of the project are listed.
    pub path: Option<PathBuf>,
    /// The whole new text.
    pub text: Option<String>,
    /// A part of the text that occurs exactly once, and what replaces it.
    pub replace: Option<(String, String)>,
}

/// The project that a page of the studio is for.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StudioRequest {
    pub client: ClientPlace,
    /// The device to open.
    pub device: Option<String>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReportRequest {
    pub client: ClientPlace,
    /// A run folder or its name [default: the last run].
    pub run: Option<String>,
}
