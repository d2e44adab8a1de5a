//! The files of a project: `trailblaze.yaml` and `trailblaze-config/{targets,toolsets,tools}/*.yaml`.

mod add_server;
mod agent;
mod llm;
mod project;
mod server;
mod target;
mod tool_file;
mod toolset;

pub use add_server::{AddServerError, NewServer, add_server};
pub use agent::{Agent, Limits as AgentLimits, VisionWord};
pub use llm::{
    Auth, AuthEntry, Cost, Dimensions, Llm, LlmDefaults, ModelEntry, Provider, ProviderKind, Providers, Screenshot,
};
pub use project::{DeviceEntry, Project, ProjectSecrets, is_origin};
pub use server::{Context, MultiDevice, Restart, Runtime, Server, Servers, Transport};
pub use target::{PlatformEntry, Target};
pub use tool_file::{Grants, Mode, Parameter, ParameterType, ScriptEntry, ToolFile};
pub use toolset::Toolset;
