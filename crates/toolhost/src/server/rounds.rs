//! Calls that need input: in the newer generation of the protocol, a tool that wants a completion answers with what it asks for, and
//! the call is repeated with the reply. To the engine, all rounds are one call.

use serde_json::{Map, Value};
use trailblaze_core::engine::cx::Cx;

use super::ToolServer;
use super::calling::CallStyle;
use crate::answer;
use crate::client::Generation;
use crate::connection::{RequestError, brief};
use crate::envelope::{Carrier, RepeatedInput};
use crate::instance::InUse;
use crate::limits;
use crate::sampling;

impl ToolServer {
    /// Makes a call, and repeats it with the input that the server asks for until it returns a result.
    pub(super) async fn call_with_input(
        &self,
        instance: &InUse,
        cx: &Cx,
        (tool, args): (&str, &Map<String, Value>),
        (style, carrier): (&CallStyle, Carrier),
    ) -> Result<Value, RequestError> {
        let mut answered =
            self.send_call(instance, cx, (tool, args), (style, carrier), RepeatedInput::default()).await?;
        let mut pause = limits::INPUT_PAUSE;
        for _ in 0..limits::INPUT_ROUNDS {
            if instance.handshake.generation == Generation::Opening || !answer::needs_input(&answered) {
                return Ok(answered);
            }
            let state = answered.get_mut("requestState").map(Value::take).filter(|state| !state.is_null());
            let requests = answered.get_mut("inputRequests").map(Value::take).filter(|requests| !requests.is_null());
            let responses = match requests {
                Some(requests) => {
                    pause = limits::INPUT_PAUSE;
                    Some(self.input(cx, &requests).await.map_err(|error| RequestError::NoInput(error.to_string()))?)
                }
                // It only wants to be asked again.
                None if state.is_some() => {
                    let _ = cx.cancel.run_until_cancelled(tokio::time::sleep(pause)).await;
                    pause = (pause * 2).min(limits::LONGEST_INPUT_PAUSE);
                    None
                }
                None => return Err(RequestError::NoInput(NoInput::Nothing.to_string())),
            };
            let input = RepeatedInput { responses: responses.as_ref(), state: state.as_ref() };
            answered = Box::pin(self.send_call(instance, cx, (tool, args), (style, carrier), input)).await?;
        }
        if answer::needs_input(&answered) {
            return Err(RequestError::NoInput(NoInput::Rounds.to_string()));
        }
        Ok(answered)
    }

    /// The responses to all requests of a round, by their names.
    async fn input(&self, cx: &Cx, requests: &Value) -> Result<Map<String, Value>, NoInput> {
        let requests = requests.as_object().ok_or_else(|| NoInput::Malformed(brief(requests)))?;
        let method = |request: &Value| request.get("method").and_then(Value::as_str).unwrap_or_default().to_string();
        // Nothing is asked if one of them has to be refused.
        for request in requests.values() {
            match method(request).as_str() {
                sampling::METHOD if !self.spec.may_sample => return Err(NoInput::NotAllowed),
                sampling::METHOD => {}
                other => return Err(NoInput::Method(brief(&other))),
            }
        }
        let mut responses = Map::new();
        for (name, request) in requests {
            let params = request.get("params").unwrap_or(&Value::Null);
            let response = sampling::create_message(cx, params).await;
            responses.insert(name.clone(), response.map_err(|error| NoInput::Model(error.message))?);
        }
        Ok(responses)
    }
}

/// Why a server does not get the input that it asks for.
#[derive(Debug, thiserror::Error)]
enum NoInput {
    #[error("its entry does not have `sampling: true`, so it may not ask a model")]
    NotAllowed,
    #[error("Trailblaze does not offer `{0}` to its tool servers")]
    Method(String),
    #[error("`inputRequests` must be an object, got {0}")]
    Malformed(String),
    #[error("its answer has neither `inputRequests` nor a `requestState`")]
    Nothing,
    #[error("{0}")]
    Model(String),
    #[error("more than {} times in one call", limits::INPUT_ROUNDS)]
    Rounds,
}
