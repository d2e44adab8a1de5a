//! What is sent with every call: the device, the memory, and where to call back.
//!
//! Borrows its contents and serializes straight into the outgoing line, to keep the cost of a call close to that of the
//! pipe.

use std::borrow::Cow;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use trailblaze_core::driver::DeviceDescription;
use trailblaze_core::engine::cx::Cx;
use trailblaze_core::values::memory::Memory;
use trailblaze_core::values::secret::Secrets;
use trailblaze_protocol::driver::DriverKey;
use trailblaze_protocol::ids::{DeviceId, SessionId};

/// Whether the context is sent in the arguments as well as in `_meta`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// Older tools read it from their arguments.
    ArgumentsAndMeta,
    /// Strict tools refuse undeclared arguments.
    Meta,
}

/// The name of the argument that carries the context.
pub const ARGUMENT: &str = "_trailblazeContext";

/// The name of the argument that tells a tool that declares it where it runs.
pub const INVOCATION_ARGUMENT: &str = "_trailblaze";

/// The parameters of `tools/call`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallParams<'a> {
    pub name: &'a str,
    pub arguments: EnvelopeArguments<'a>,
    #[serde(rename = "_meta")]
    meta: Meta<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_responses: Option<&'a Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_state: Option<&'a Value>,
}

/// What a call that is repeated carries: the input that the server asked for, and the state that it wants back.
#[derive(Clone, Copy, Default)]
pub struct RepeatedInput<'a> {
    pub responses: Option<&'a Map<String, Value>>,
    pub state: Option<&'a Value>,
}

/// What a call is built from.
pub struct CallRequest<'a> {
    pub cx: &'a Cx,
    pub memory: &'a Memory,
    pub tool: &'a str,
    pub args: &'a Map<String, Value>,
    pub carrier: Carrier,
    /// Whether the tool declares [`INVOCATION_ARGUMENT`].
    pub declares_invocation: bool,
    pub base_url: &'a str,
    pub progress_token: u64,
    /// Whether the tool can ask a model.
    pub can_sample: bool,
    pub input: RepeatedInput<'a>,
}

impl<'a> ToolCallParams<'a> {
    pub fn new(asked: &CallRequest<'a>) -> ToolCallParams<'a> {
        let session = &asked.cx.session;
        let description = session.device.description();
        let memory = RememberedValues { memory: asked.memory, secrets: &session.secrets };
        let context = || EnvelopeContext { memory, device: EnvelopeDevice::new(description, LetterCase::Upper) };
        let invocation_id = asked.cx.call_id().map_or("", |id| id.as_str());
        let trailblaze = Trailblaze {
            base_url: asked.base_url,
            session_id: &session.id,
            invocation_id,
            device: MetaDevice {
                device: EnvelopeDevice {
                    id: Some(&description.id),
                    ..EnvelopeDevice::new(description, LetterCase::Lower)
                },
                width: description.size.width,
                height: description.size.height,
            },
            memory,
            capabilities: Capabilities { sampling: asked.can_sample },
        };
        ToolCallParams {
            name: asked.tool,
            arguments: EnvelopeArguments {
                given: asked.args,
                context: (asked.carrier == Carrier::ArgumentsAndMeta).then(context),
                invocation: asked.declares_invocation.then(|| Invocation {
                    device_id: &description.id,
                    session_id: &session.id,
                    platform: description.platform.name(),
                    invocation_id,
                    base_url: asked.base_url,
                }),
            },
            meta: Meta { trailblaze, invocation_id, progress_token: asked.progress_token, further: Map::new() },
            input_responses: asked.input.responses,
            request_state: asked.input.state,
        }
    }

    pub fn progress_token(&self) -> u64 {
        self.meta.progress_token
    }

    /// Adds other entries to `_meta`.
    pub fn with_meta(mut self, further: Map<String, Value>) -> ToolCallParams<'a> {
        self.meta.further = further;
        self
    }
}

pub struct EnvelopeArguments<'a> {
    pub given: &'a Map<String, Value>,
    context: Option<EnvelopeContext<'a>>,
    invocation: Option<Invocation<'a>>,
}

impl Serialize for EnvelopeArguments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // A caller cannot forge what we add.
        let is_ours = |name: &str| {
            name == ARGUMENT && self.context.is_some() || name == INVOCATION_ARGUMENT && self.invocation.is_some()
        };
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.given.iter().filter(|(name, _)| !is_ours(name)) {
            map.serialize_entry(name, value)?;
        }
        if let Some(context) = &self.context {
            map.serialize_entry(ARGUMENT, context)?;
        }
        if let Some(invocation) = &self.invocation {
            map.serialize_entry(INVOCATION_ARGUMENT, invocation)?;
        }
        map.end()
    }
}

/// What a script gets when it is called, as JSON.
pub fn script_input(cx: &Cx, args: &Map<String, Value>) -> String {
    #[derive(Serialize)]
    struct Input<'a> {
        args: &'a Map<String, Value>,
        memory: RememberedValues<'a>,
        platform: &'a str,
        device: EnvelopeDevice<'a>,
    }
    let session = &cx.session;
    let description = session.device.description();
    let memory = cx.attempt.memory();
    let input = Input {
        args,
        memory: RememberedValues { memory: &memory, secrets: &session.secrets },
        platform: description.platform.name(),
        device: EnvelopeDevice { id: Some(&description.id), ..EnvelopeDevice::new(description, LetterCase::Lower) },
    };
    serde_json::to_string(&input).unwrap_or_default()
}

#[derive(Serialize)]
struct EnvelopeContext<'a> {
    memory: RememberedValues<'a>,
    device: EnvelopeDevice<'a>,
}

/// Where a tool runs, and where it calls back, for a client that is made from it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation<'a> {
    device_id: &'a DeviceId,
    session_id: &'a SessionId,
    platform: &'a str,
    invocation_id: &'a str,
    base_url: &'a str,
}

struct Meta<'a> {
    trailblaze: Trailblaze<'a>,
    invocation_id: &'a str,
    progress_token: u64,
    further: Map<String, Value>,
}

impl Serialize for Meta<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("trailblaze", &self.trailblaze)?;
        map.serialize_entry("trailblazeInvocationId", self.invocation_id)?;
        map.serialize_entry("progressToken", &self.progress_token)?;
        for (name, value) in &self.further {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Trailblaze<'a> {
    base_url: &'a str,
    session_id: &'a SessionId,
    invocation_id: &'a str,
    device: MetaDevice<'a>,
    memory: RememberedValues<'a>,
    capabilities: Capabilities,
}

/// The device in `_meta`, whose size has two names.
#[derive(Serialize)]
struct MetaDevice<'a> {
    #[serde(flatten)]
    device: EnvelopeDevice<'a>,
    width: u32,
    height: u32,
}

#[derive(Serialize)]
struct Capabilities {
    sampling: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EnvelopeDevice<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a DeviceId>,
    platform: Cow<'a, str>,
    width_pixels: u32,
    height_pixels: u32,
    driver_type: &'a DriverKey,
}

enum LetterCase {
    Upper,
    Lower,
}

impl<'a> EnvelopeDevice<'a> {
    fn new(description: &'a DeviceDescription, case: LetterCase) -> EnvelopeDevice<'a> {
        let platform = description.platform.name();
        EnvelopeDevice {
            id: None,
            platform: match case {
                LetterCase::Upper => platform.to_ascii_uppercase().into(),
                LetterCase::Lower => platform.into(),
            },
            width_pixels: description.size.width,
            height_pixels: description.size.height,
            driver_type: &description.driver,
        }
    }
}

/// The memory without secrets.
#[derive(Clone, Copy)]
struct RememberedValues<'a> {
    memory: &'a Memory,
    secrets: &'a Secrets,
}

impl Serialize for RememberedValues<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.memory.without_secrets(self.secrets))
    }
}
