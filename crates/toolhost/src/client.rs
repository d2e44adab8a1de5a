//! The client side of the Model Context Protocol, in both of its generations.
//!
//! The older generation starts with `initialize`. The newer one has no handshake: every request carries the protocol
//! version, and `server/discover` returns what the server can do. `initialize` is tried first because some servers
//! refuse it after `server/discover`, and none has been seen that does not answer it.

use std::collections::HashSet;

use serde_json::{Map, Value, json};
use trailblaze_protocol::callback;

use crate::connection::{Connection, OutgoingRequest, Parts, RequestError, RpcError};
use crate::envelope::{ARGUMENT, INVOCATION_ARGUMENT, ToolCallParams};
use crate::http::Protocol;
use crate::limits;
use crate::listing::ParamHeader;

/// The newest version that starts with `initialize`.
const NEWEST_WITH_OPENING: &str = "2025-11-25";
const WITH_OPENING: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", NEWEST_WITH_OPENING];
/// The version without `initialize`.
const WITHOUT_OPENING: &str = "2026-07-28";

const REGISTRY: &str = "trailblaze://registry";

/// The result of a handshake with a server.
#[derive(Debug, Clone, PartialEq)]
pub struct Handshake {
    pub version: String,
    pub generation: Generation,
    /// What the server can do.
    pub capabilities: Value,
    /// Whether it was told that it may ask for completions.
    pub may_sample: bool,
}

/// What a server's entry says about the handshake.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    /// The version of the protocol to use.
    pub pinned: Option<&'a str>,
    /// Whether the server may ask for completions.
    pub may_sample: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generation {
    /// Starts with `initialize`.
    Opening,
    /// Sends the version with every request.
    PerRequest,
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum HandshakeError {
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error("it refused `{method}`: {error}")]
    RefusedOne { method: &'static str, error: RpcError },
    #[error("it refuses version {pinned} of the protocol, which was requested: {error}")]
    RefusedPinned { pinned: String, error: RpcError },
    #[error("it refuses `initialize` ({initialize}) and `server/discover` ({discover})")]
    Refused { initialize: RpcError, discover: RpcError },
    #[error("it speaks version {theirs} of the protocol; this build speaks {}, {WITHOUT_OPENING}", WITH_OPENING.join(", "))]
    UnknownVersion { theirs: String },
    #[error("it speaks version {theirs} of the protocol, but its entry pins {pinned}")]
    OtherVersion { theirs: String, pinned: String },
    #[error("its answer to `{method}` does not follow the protocol: {what}")]
    Malformed { method: &'static str, what: String },
    #[error("its list of {key} does not end: more than {} pages", limits::LIST_PAGES)]
    EndlessPages { key: &'static str },
    #[error("its list of {key} does not end: the page after `{cursor}` is `{cursor}` again")]
    RepeatedPage { key: &'static str, cursor: String },
    #[error("it lists more than {} {key}", limits::LIST_TOOLS)]
    TooMany { key: &'static str },
}

impl HandshakeError {
    fn malformed(method: &'static str, what: impl Into<String>) -> HandshakeError {
        HandshakeError::Malformed { method, what: what.into() }
    }
}

/// Why the registry of a server that has one could not be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RegistryError {
    #[error(transparent)]
    Refused(RpcError),
    #[error("it has no text")]
    NoText,
}

/// Negotiates the protocol: the version that the server's entry pins, or else the generation that the server speaks.
pub async fn handshake(connection: &Connection, terms: Terms<'_>) -> Result<Handshake, HandshakeError> {
    let Terms { pinned, may_sample } = terms;
    if pinned == Some(WITHOUT_OPENING) {
        return match discover(connection, may_sample).await {
            Err(HandshakeError::Request(RequestError::Refused(error))) => {
                Err(HandshakeError::RefusedPinned { pinned: WITHOUT_OPENING.to_string(), error })
            }
            result => result,
        };
    }
    let initialize = match initialize(connection, pinned.unwrap_or(NEWEST_WITH_OPENING), may_sample).await {
        Err(HandshakeError::Request(RequestError::Refused(error))) => error,
        result => {
            let handshake = result?;
            return match pinned {
                Some(pinned) if pinned != handshake.version => {
                    Err(HandshakeError::OtherVersion { theirs: handshake.version, pinned: pinned.to_string() })
                }
                _ => Ok(handshake),
            };
        }
    };
    if let Some(pinned) = pinned {
        return Err(HandshakeError::RefusedPinned { pinned: pinned.to_string(), error: initialize });
    }
    match discover(connection, may_sample).await {
        Err(HandshakeError::Request(RequestError::Refused(discover))) => {
            Err(HandshakeError::Refused { initialize, discover })
        }
        result => result,
    }
}

async fn initialize(connection: &Connection, version: &str, may_sample: bool) -> Result<Handshake, HandshakeError> {
    let params =
        json!({"protocolVersion": version, "capabilities": capabilities(may_sample), "clientInfo": client_info()});
    let answer = connection.request("initialize", &params).answer().await?;
    let version = text(&answer, "protocolVersion")
        .ok_or_else(|| HandshakeError::malformed("initialize", "it has no `protocolVersion`"))?;
    if !WITH_OPENING.contains(&version.as_str()) {
        return Err(HandshakeError::UnknownVersion { theirs: version });
    }
    connection.use_protocol(Protocol { version: version.clone(), is_stateless: false });
    connection.notify_first("notifications/initialized", &json!({})).await?;
    let capabilities = answer.get("capabilities").cloned().unwrap_or_default();
    Ok(Handshake { version, generation: Generation::Opening, capabilities, may_sample })
}

async fn discover(connection: &Connection, may_sample: bool) -> Result<Handshake, HandshakeError> {
    let params = json!({"_meta": per_request_meta(WITHOUT_OPENING, may_sample)});
    connection.use_protocol(Protocol { version: WITHOUT_OPENING.to_string(), is_stateless: true });
    let answer = connection.request("server/discover", &params).answer().await?;
    let versions = answer.get("supportedVersions").and_then(Value::as_array);
    let versions =
        versions.ok_or_else(|| HandshakeError::malformed("server/discover", "it has no `supportedVersions`"))?;
    if !versions.iter().any(|version| version == WITHOUT_OPENING) {
        let theirs: Vec<&str> = versions.iter().filter_map(Value::as_str).collect();
        return Err(HandshakeError::UnknownVersion { theirs: theirs.join(", ") });
    }
    Ok(Handshake {
        version: WITHOUT_OPENING.to_string(),
        generation: Generation::PerRequest,
        capabilities: answer.get("capabilities").cloned().unwrap_or_default(),
        may_sample,
    })
}

/// The header that names the tool or resource of a request.
const NAME: &str = "mcp-name";

/// Tells servers what they may use: where calls carry our context, how to call back, what results may contain, and whether they
/// may ask for completions.
fn capabilities(may_sample: bool) -> Value {
    let supported = json!({
        "context": ["_meta.trailblaze", ARGUMENT, INVOCATION_ARGUMENT],
        "callback": {"versions": [callback::VERSION]},
        "api": ["trailblaze.v1"],
        "registry": true,
        "results": ["variant", "memoryDelta", "memoryDeletions", "_trailblaze_delegates"],
    });
    let mut capabilities = json!({"extensions": {"trailblaze/v1": supported}});
    if may_sample {
        capabilities["sampling"] = json!({});
    }
    capabilities
}

fn client_info() -> Value {
    json!({"name": "trailblaze", "version": env!("CARGO_PKG_VERSION")})
}

fn per_request_meta(version: &str, may_sample: bool) -> Map<String, Value> {
    Map::from_iter([
        ("io.modelcontextprotocol/protocolVersion".to_string(), version.into()),
        ("io.modelcontextprotocol/clientInfo".to_string(), client_info()),
        ("io.modelcontextprotocol/clientCapabilities".to_string(), capabilities(may_sample)),
    ])
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::to_string)
}

/// A connection after its handshake.
pub struct McpClient<'a> {
    pub connection: &'a Connection,
    pub handshake: &'a Handshake,
}

impl<'a> McpClient<'a> {
    /// Makes a request in the negotiated generation.
    pub fn request(&self, method: &str, mut params: Map<String, Value>) -> OutgoingRequest<'a> {
        if self.handshake.generation == Generation::PerRequest {
            params.insert("_meta".to_string(), self.meta().into());
        }
        let headers = params.get("uri").and_then(Value::as_str).map(|uri| (NAME.to_string(), uri.to_string()));
        let parts = Parts { headers: headers.into_iter().collect(), call: None };
        self.connection.request_as(method, parts, &params)
    }

    fn meta(&self) -> Map<String, Value> {
        per_request_meta(&self.handshake.version, self.handshake.may_sample)
    }

    /// Calls a tool. In the newer generation, each call requests log messages, and headers carry the tool's name and
    /// the arguments that its schema marks for headers.
    pub fn call(&self, call: ToolCallParams<'_>, headers: &[ParamHeader]) -> OutgoingRequest<'a> {
        let token = Some(call.progress_token());
        if self.handshake.generation == Generation::Opening {
            return self.connection.request_as("tools/call", Parts { headers: Vec::new(), call: token }, &call);
        }
        let mut meta = self.meta();
        meta.insert("io.modelcontextprotocol/logLevel".to_string(), "info".into());
        let named = [(NAME.to_string(), call.name.to_string())];
        let told = headers.iter().filter_map(|header| header.pair(call.arguments.given));
        let parts = Parts { headers: named.into_iter().chain(told).collect(), call: token };
        self.connection.request_as("tools/call", parts, &call.with_meta(meta))
    }

    /// A request that does nothing. The newer generation has no `ping`; every server answers `server/discover`.
    pub fn ping(&self) -> OutgoingRequest<'a> {
        let method = if self.handshake.generation == Generation::Opening { "ping" } else { "server/discover" };
        self.request(method, Map::new())
    }

    pub async fn tools(&self) -> Result<Vec<Value>, HandshakeError> {
        if self.handshake.capabilities.get("tools").is_none() {
            return Ok(Vec::new());
        }
        self.all_pages("tools/list", "tools").await
    }

    /// Fetches all pages of a list.
    async fn all_pages(&self, method: &'static str, key: &'static str) -> Result<Vec<Value>, HandshakeError> {
        let mut items = Vec::new();
        let mut cursor: Option<String> = None;
        let mut seen = HashSet::new();
        for _ in 0..limits::LIST_PAGES {
            let params = cursor.iter().map(|cursor| ("cursor".to_string(), Value::from(cursor.as_str()))).collect();
            let mut page = self.request(method, params).answer().await.map_err(|unanswered| match unanswered {
                RequestError::Refused(error) => HandshakeError::RefusedOne { method, error },
                closed => closed.into(),
            })?;
            match page.get_mut(key).map(Value::take) {
                Some(Value::Array(page)) => items.extend(page),
                _ => return Err(HandshakeError::malformed(method, format!("it has no list of `{key}`"))),
            }
            if items.len() > limits::LIST_TOOLS {
                return Err(HandshakeError::TooMany { key });
            }
            cursor = text(&page, "nextCursor").filter(|cursor| !cursor.is_empty());
            let Some(next) = &cursor else { return Ok(items) };
            if !seen.insert(next.clone()) {
                return Err(HandshakeError::RepeatedPage { key, cursor: next.clone() });
            }
        }
        Err(HandshakeError::EndlessPages { key })
    }

    /// Returns the text of the server's registry, or `None` if it has none. A registry that exists but cannot be read
    /// is an error, because the metadata in it would be lost silently.
    pub async fn registry(&self) -> Result<Result<Option<String>, RegistryError>, RequestError> {
        if self.handshake.capabilities.get("resources").is_none() {
            return Ok(Ok(None));
        }
        let params = [("uri".to_string(), Value::from(REGISTRY))].into_iter().collect();
        match self.request("resources/read", params).answer().await {
            Ok(answer) => {
                let text = answer.pointer("/contents/0").and_then(|content| text(content, "text"));
                Ok(text.map(Some).ok_or(RegistryError::NoText))
            }
            Err(RequestError::Refused(error)) if error.is_missing_resource() || !self.may_have_registry().await => {
                Ok(Ok(None))
            }
            Err(RequestError::Refused(error)) => Ok(Err(RegistryError::Refused(error))),
            Err(closed) => Err(closed),
        }
    }

    /// Whether the server lists the registry among its resources; true if it does not answer that either. Some
    /// libraries use the same error code for a missing resource and for a handler that failed.
    async fn may_have_registry(&self) -> bool {
        match self.all_pages("resources/list", "resources").await {
            Ok(resources) => resources.iter().any(|resource| resource["uri"] == REGISTRY),
            Err(_) => true,
        }
    }

    /// Whether the server sends notifications when its tools change.
    pub fn tells_changes(&self) -> bool {
        self.handshake.capabilities.pointer("/tools/listChanged") == Some(&Value::Bool(true))
    }

    /// Subscribes to changes of the tools, in the generation that requires it. The request stays open.
    pub fn listen(&self) -> Option<OutgoingRequest<'a>> {
        let must_ask = self.handshake.generation == Generation::PerRequest && self.tells_changes();
        must_ask.then(|| {
            let params = json!({"notifications": {"toolsListChanged": true}});
            self.request("subscriptions/listen", params.as_object().cloned().unwrap_or_default())
        })
    }
}
