//! The files of a project: `trailblaze.yaml` and `trailblaze-config/{targets,toolsets,tools}/*.yaml`.

mod add_server;
mod agent;
mod llm;
mod project;
mod recording;
mod server;
mod target;
mod tool_file;
mod toolset;

pub use add_server::{AddServerError, NewServer, add_server};
pub use agent::{Agent, SpendingLimits as AgentLimits, VisionWord};
pub use llm::{
    Auth, AuthEntry, Cost, Dimensions, Llm, LlmDefaults, ModelEntry, Provider, ProviderKind, Providers, Screenshot,
};
pub use project::{DeviceEntry, Project, ProjectSecrets, is_origin};
pub use recording::{RecordingConfig, VerifyWord};
pub use server::{ContextDelivery, MultiDevice, Restart, Runtime, ServerTransport, Servers, ToolServerConfig};
pub use target::{PlatformEntry, TargetConfig};
pub use tool_file::{Grants, Mode, Parameter, ParameterType, ScriptEntry, ToolFile};
pub use toolset::ToolsetConfig;
