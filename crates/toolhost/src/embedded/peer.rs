//! The other end of the connection: answers MCP's requests for a toolset in the engine.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use async_trait::async_trait;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio_util::sync::CancellationToken;
use trailblaze_script::{HostError, LogLine, ScriptHost, Served, ServedCall};

use super::EmbeddedError;
use super::host::EmbeddedCallHost;
use crate::connection::RpcError;
use crate::notification_router::NotificationRouter;

pub struct Peer {
    served: Served,
    router: Arc<NotificationRouter>,
    /// What the toolset listed when it was loaded.
    listed: Value,
}

/// What a toolset lists.
pub async fn list(served: &Served) -> Result<Value, EmbeddedError> {
    match served.call(&json!({"method": "list"}), &Nothing, std::future::pending()).await {
        ServedCall::Answered(listed) => Ok(listed),
        ServedCall::Threw(thrown) => Err(EmbeddedError::List(thrown.to_string())),
        ServedCall::Failed(error) => Err(EmbeddedError::List(error.to_string())),
    }
}

/// A list needs nothing.
struct Nothing;

#[async_trait]
impl ScriptHost for Nothing {
    async fn ask(&self, operation: &str, _: Value) -> Result<Value, HostError> {
        Err(HostError::Refused(format!("`{operation}` is not available here")))
    }

    fn log(&self, _: LogLine) {}

    fn doubt(&self, _: String) {}
}

impl Peer {
    pub async fn new(served: Served, router: Arc<NotificationRouter>) -> Result<Peer, EmbeddedError> {
        let listed = list(&served).await?;
        Ok(Peer { served, router, listed })
    }

    /// Answers until the connection closes. Calls in progress end with it.
    pub async fn run(self, input: DuplexStream, mut output: DuplexStream) {
        let mut lines = BufReader::new(input).lines();
        let mut working: FuturesUnordered<BoxFuture<'_, (Value, Value)>> = FuturesUnordered::new();
        let mut open: HashMap<String, CancellationToken> = HashMap::new();
        loop {
            let answer = tokio::select! {
                line = lines.next_line() => {
                    let Ok(Some(line)) = line else { return };
                    let Ok(mut message) = serde_json::from_str::<Value>(&line) else { continue };
                    let (id, params) = (message["id"].take(), message["params"].take());
                    let method = message["method"].as_str().unwrap_or_default();
                    match (method, id.is_null()) {
                        ("notifications/cancelled", _) => {
                            if let Some(call) = open.get(&params["requestId"].to_string()) {
                                call.cancel();
                            }
                            continue;
                        }
                        (_, true) => continue,
                        ("tools/call" | "resources/read", _) => {
                            let cancelled = CancellationToken::new();
                            open.insert(id.to_string(), cancelled.clone());
                            working.push(Box::pin(self.work(id, method == "tools/call", params, cancelled)));
                            continue;
                        }
                        (method, _) => (id, self.answer(method, &params)),
                    }
                }
                Some(answer) = working.next() => {
                    open.remove(&answer.0.to_string());
                    answer
                }
            };
            let (id, mut answer) = answer;
            answer["jsonrpc"] = "2.0".into();
            answer["id"] = id;
            if output.write_all(format!("{answer}\n").as_bytes()).await.is_err() {
                return;
            }
        }
    }

    fn answer(&self, method: &str, params: &Value) -> Value {
        let has_resources = self.listed["resources"].as_array().is_some_and(|resources| !resources.is_empty());
        match method {
            "initialize" => {
                let mut capabilities = json!({"tools": {}, "logging": {}});
                if has_resources {
                    capabilities["resources"] = json!({});
                }
                json!({"result": {
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": capabilities,
                    "serverInfo": self.listed["serverInfo"],
                    "instructions": self.listed["instructions"],
                }})
            }
            "ping" => json!({"result": {}}),
            "tools/list" => json!({"result": {"tools": self.listed["tools"]}}),
            "resources/list" => json!({"result": {"resources": self.listed["resources"]}}),
            method => error(RpcError::METHOD_NOT_FOUND, &format!("there is no `{method}`")),
        }
    }

    fn has_resource(&self, uri: &Value) -> bool {
        self.listed["resources"].as_array().into_iter().flatten().any(|resource| resource["uri"] == *uri)
    }

    async fn work(&self, id: Value, is_call: bool, params: Value, cancelled: CancellationToken) -> (Value, Value) {
        if !is_call && !self.has_resource(&params["uri"]) {
            return (id, error(RpcError::INVALID_PARAMS, &format!("unknown resource {}", params["uri"])));
        }
        let token = params["_meta"]["progressToken"].as_u64().unwrap_or_default();
        let name = params["_meta"]["trailblazeInvocationId"].clone();
        let (router, cx) = (Arc::clone(&self.router), self.router.context(token));
        let host = EmbeddedCallHost { cx, router, token, n_steps: AtomicU64::new(0) };
        let method = if is_call { "call" } else { "read" };
        let request = json!({"method": method, "params": params, "name": name});
        let answer = match self.served.call(&request, &host, cancelled.cancelled()).await {
            ServedCall::Answered(result) => json!({"result": result}),
            ServedCall::Threw(thrown) => error(RpcError::INTERNAL, &thrown.message),
            // The toolset starts again with the next call, so this is the failure of a tool.
            ServedCall::Failed(why) if is_call => {
                json!({"result": {"content": [{"type": "text", "text": why.to_string()}], "isError": true}})
            }
            ServedCall::Failed(why) => error(RpcError::INTERNAL, &why.to_string()),
        };
        (id, answer)
    }
}

fn error(code: i64, message: &str) -> Value {
    json!({"error": {"code": code, "message": message}})
}
