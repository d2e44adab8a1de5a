//! What a script can do: call tools of its session, wait, log, and what it was granted.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use trailblaze_core::engine::cx::Cx;
use trailblaze_core::engine::fault::Fault;
use trailblaze_protocol::event::{Level, ToolKind};
use trailblaze_script::{HostError, LogLine, ScriptHost};

use super::grants::Granted;
use crate::limits;

pub struct ScriptCallHost<'c> {
    pub cx: &'c Cx,
    pub granted: &'c Granted,
}

#[async_trait]
impl ScriptHost for ScriptCallHost<'_> {
    async fn ask(&self, operation: &str, mut payload: Value) -> Result<Value, HostError> {
        let text = |name: &str| payload[name].as_str().unwrap_or_default().to_string();
        match operation {
            "call" => {
                let (tool, args) = (text("tool"), payload["args"].take());
                self.call(&tool, args.as_object().cloned().unwrap_or_default()).await
            }
            "sleep" | "timer" => {
                let ms = payload["ms"].as_f64().unwrap_or(0.0).clamp(0.0, 1e9);
                tokio::time::sleep(Duration::from_secs_f64(ms / 1000.0)).await;
                Ok(json!({}))
            }
            "readFile" => self.granted.read_file(&text("path")).await.map(|text| json!({"text": text})),
            "env" => self.granted.env(&text("name")).map(|value| json!({"value": value})),
            "fetch" => self.granted.fetch(&payload).await,
            other => Err(HostError::Refused(format!("there is no `{other}`"))),
        }
    }

    fn log(&self, line: LogLine) {
        let level = match line.level.as_str() {
            "error" => Level::Error,
            "warning" => Level::Warning,
            "debug" => Level::Debug,
            _ => Level::Info,
        };
        let mut text = line.text;
        if text.len() > limits::SCRIPT_LOG_BYTES {
            text.truncate(text.floor_char_boundary(limits::SCRIPT_LOG_BYTES));
            text.push('…');
        }
        self.cx.note(level, text);
    }

    fn doubt(&self, text: String) {
        self.cx.doubt(text);
    }
}

impl ScriptCallHost<'_> {
    async fn call(&self, tool: &str, args: Map<String, Value>) -> Result<Value, HostError> {
        match self.cx.expand(tool, args).await {
            Ok(outcome) => {
                let (is_error, variant) = (outcome.is_error(), outcome.variant.name());
                let is_query = self.cx.session.registry().get(tool).is_some_and(|tool| tool.kind == ToolKind::Query);
                let mut answer =
                    json!({"isError": is_error, "text": outcome.text, "variant": variant, "isQuery": is_query});
                if let Some(value) = outcome.structured {
                    answer["structured"] = value;
                }
                Ok(answer)
            }
            // Mistakes of the script; it may catch them.
            Err(
                fault @ (Fault::UnknownTool { .. }
                | Fault::BadArguments { .. }
                | Fault::BadTemplate { .. }
                | Fault::BadFile(_)),
            ) => Err(HostError::Refused(fault.to_string())),
            Err(fault) => Err(HostError::End(Box::new(fault))),
        }
    }
}
