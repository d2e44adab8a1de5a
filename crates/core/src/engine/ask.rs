//! The one entry point of every request to a language model: check the budget, redact, send, record, count.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::Instant;
use trailblaze_protocol::event::{Event, ModelAsked, ModelPurpose, ModelReplied};
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::ids::ModelRequestId;
use trailblaze_protocol::outcome::Attachment;

use crate::driver::Budget;
use crate::engine::cx::Cx;
use crate::engine::fault::Fault;
use crate::ids;
use crate::limits;
use crate::model::{
    ChatMessage, ContentPart, Model, ModelError, ModelErrorKind, ModelReply, ModelRequest, RequestedArguments,
    StopReason, TokenUsage,
};
use crate::record::artifacts::ArtifactKind;

/// How an attempt reaches its model.
pub struct ModelAccess {
    pub model: Arc<dyn Model>,
    /// What all attempts of the run have spent together.
    pub spent: Arc<Spending>,
    pub settings: ModelSettings,
}

#[derive(Debug, Clone)]
pub struct ModelSettings {
    pub vision: Vision,
    /// What one step may spend.
    pub per_step: Allowance,
    /// What the whole run may spend.
    pub per_run: Allowance,
    /// Marks text from the screen, which must not be taken for instructions. The same for the whole session.
    pub nonce: String,
}

/// When the model gets a picture of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Vision {
    /// If the text of the screen is not enough.
    #[default]
    Auto,
    Always,
    Never,
}

/// A limit of what may be spent; `None` means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Allowance {
    pub calls: Option<u64>,
    pub tokens: Option<u64>,
    /// US dollars. Ignored if the price of the model is unknown.
    pub dollars: Option<f64>,
    /// Of requests, and of the calls that the model makes.
    pub time: Option<Duration>,
}

/// What was spent on models.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spent {
    pub calls: u64,
    pub usage: TokenUsage,
    /// US dollars, as far as prices are known.
    pub dollars: f64,
    pub time: Duration,
}

/// A running sum of what was spent.
#[derive(Debug, Default)]
pub struct Spending(Mutex<Spent>);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    #[error("no model is configured")]
    NoModel,
    #[error("{0}")]
    OverBudget(String),
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl Spending {
    pub fn so_far(&self) -> Spent {
        *self.0.lock()
    }

    pub fn add(&self, usage: TokenUsage, dollars: f64, time: Duration) {
        let mut spent = self.0.lock();
        spent.calls += 1;
        spent.usage += usage;
        spent.dollars += dollars;
        spent.time += time;
    }

    /// Counts the time of a call that a model made.
    pub fn add_time(&self, time: Duration) {
        self.0.lock().time += time;
    }
}

impl Allowance {
    /// Why nothing more may be spent: the limit that is used up.
    pub fn exceeded(&self, spent: &Spent) -> Option<String> {
        let tokens = spent.usage.input + spent.usage.output;
        let (calls, dollars, time) = (spent.calls, spent.dollars, spent.time);
        let over = |text: String| Some(text);
        match self {
            Allowance { calls: Some(most), .. } if calls >= *most => over(format!("{most} model calls")),
            Allowance { tokens: Some(most), .. } if tokens >= *most => over(format!("{most} tokens")),
            Allowance { dollars: Some(most), .. } if dollars >= *most => over(format!("${most}")),
            Allowance { time: Some(most), .. } if time >= *most => over(format!("{most:?}")),
            _ => None,
        }
    }
}

impl Spent {
    /// What was spent since `earlier`.
    pub fn since(&self, earlier: &Spent) -> Spent {
        Spent {
            calls: self.calls - earlier.calls,
            usage: TokenUsage {
                input: self.usage.input - earlier.usage.input,
                output: self.usage.output - earlier.usage.output,
                cached: self.usage.cached - earlier.usage.cached,
                cache_written: self.usage.cache_written - earlier.usage.cache_written,
            },
            dollars: self.dollars - earlier.dollars,
            time: self.time.saturating_sub(earlier.time),
        }
    }
}

impl AskError {
    /// The message, with what the user can do about it.
    pub fn advice(&self) -> String {
        match self {
            AskError::NoModel => format!("{self}; choose one with --model, or with `llm:` in trailblaze.yaml"),
            AskError::Model(ModelError { message, hint: Some(hint), .. }) => format!("{message}; {hint}"),
            AskError::OverBudget(_) | AskError::Model(_) => self.to_string(),
        }
    }

    /// How severe it is for the run.
    pub fn exit(&self) -> Exit {
        match self {
            AskError::NoModel => Exit::Invalid,
            AskError::OverBudget(_) => Exit::Failed,
            AskError::Model(error) => match error.kind {
                ModelErrorKind::Setup | ModelErrorKind::Unscripted => Exit::Invalid,
                ModelErrorKind::TooLong => Exit::Failed,
                ModelErrorKind::Quota
                | ModelErrorKind::Unavailable
                | ModelErrorKind::Unreadable
                | ModelErrorKind::TimedOut
                | ModelErrorKind::Cancelled => Exit::Environment,
            },
        }
    }
}

impl From<AskError> for Fault {
    fn from(error: AskError) -> Fault {
        match &error {
            AskError::Model(ModelError { kind: ModelErrorKind::Cancelled, .. }) => Fault::Cancelled,
            other => Fault::Model { message: other.advice(), exit: other.exit() },
        }
    }
}

/// Sends a request to the model of this attempt, on behalf of the step or call that `cx` belongs to.
pub async fn ask(cx: &Cx, purpose: ModelPurpose, mut request: ModelRequest) -> Result<ModelReply, AskError> {
    let access = Arc::clone(cx.attempt.model().ok_or(AskError::NoModel)?);
    if let Some(limit) = access.settings.per_run.exceeded(&access.spent.so_far()) {
        return Err(AskError::OverBudget(format!("the run has used up its budget of {limit}")));
    }
    redact(cx, &mut request);
    let id = ids::model_request();
    let info = access.model.describe();
    let (messages, pictures) = shown(cx, &request);
    cx.emit(Event::ModelAsked(Box::new(ModelAsked {
        request: id.clone(),
        about: cx.parent(),
        purpose,
        model: info.id.clone(),
        setup: store(cx, "setup", "application/json", setup(&request).to_string().as_bytes()),
        messages,
        pictures,
    })));
    let mut open = OpenModelRequest { cx, access: &access, id, started: Instant::now(), is_recorded: false };
    let mut answer = answered(cx, &access, &request).await;
    if let Ok(reply) = &mut answer {
        reply.redact(&cx.session.secrets);
    }
    open.record(&answer);
    Ok(answer?)
}

/// A request that was sent. Its end is recorded even if its future is dropped.
struct OpenModelRequest<'a> {
    cx: &'a Cx,
    access: &'a ModelAccess,
    id: ModelRequestId,
    started: Instant,
    is_recorded: bool,
}

impl OpenModelRequest<'_> {
    fn record(&mut self, answer: &Result<ModelReply, ModelError>) {
        self.is_recorded = true;
        let time = self.started.elapsed();
        let usage = answer.as_ref().map_or_else(|_| TokenUsage::default(), |reply| reply.usage);
        let cost = self.access.model.describe().price.as_ref().map(|price| usage.cost(price));
        self.access.spent.add(usage, cost.unwrap_or_default(), time);
        let (text, calls, problem) = match answer {
            Ok(reply) => (reply.text.clone(), reply.calls.iter().map(written).collect(), problem(&reply.stop)),
            Err(error) => (String::new(), Vec::new(), Some(error.to_string())),
        };
        self.cx.emit(Event::ModelReplied(Box::new(ModelReplied {
            request: self.id.clone(),
            micros: u64::try_from(time.as_micros()).unwrap_or(u64::MAX),
            text,
            calls,
            problem,
            tokens_in: usage.input,
            tokens_out: usage.output,
            tokens_cached: usage.cached,
            cost,
        })));
    }
}

impl Drop for OpenModelRequest<'_> {
    fn drop(&mut self) {
        if !self.is_recorded {
            self.record(&Err(cancelled()));
        }
    }
}

fn cancelled() -> ModelError {
    ModelError { kind: ModelErrorKind::Cancelled, message: "cancelled".to_string(), hint: None }
}

/// Waits for the model, which counts as activity of the call.
async fn answered(cx: &Cx, access: &ModelAccess, request: &ModelRequest) -> Result<ModelReply, ModelError> {
    let model = access.model.as_ref();
    let left = access.settings.per_run.time.map(|most| most.saturating_sub(access.spent.so_far().time));
    let limit = [Some(limits::MODEL_REPLY), access.settings.per_step.time, left].into_iter().flatten().min();
    let limit = limit.unwrap_or(limits::MODEL_REPLY);
    let budget = Budget::new(Instant::now() + limit, cx.cancel.clone());
    let idle = cx.frames().map(|frame| frame.deadline.idle).min().unwrap_or(limits::CALL_IDLE);
    let mut renewal = tokio::time::interval((idle / 4).max(Duration::from_millis(1)));
    let completing = model.complete(&budget, request);
    tokio::pin!(completing);
    loop {
        tokio::select! {
            biased;
            () = cx.cancel.cancelled() => return Err(cancelled()),
            reply = &mut completing => {
                cx.renew();
                return reply;
            }
            () = tokio::time::sleep_until(budget.deadline) => {
                let message = format!("{} did not reply within {limit:?}", model.describe().id);
                return Err(ModelError { kind: ModelErrorKind::TimedOut, message, hint: None });
            }
            _ = renewal.tick() => cx.renew(),
        }
    }
}

/// Replaces secrets by their placeholders in everything that is sent.
fn redact(cx: &Cx, request: &mut ModelRequest) {
    let secrets = &cx.session.secrets;
    if secrets.is_empty() {
        return;
    }
    let redact_parts = |parts: &mut Vec<ContentPart>| {
        for part in parts {
            if let ContentPart::Text(text) = part {
                secrets.redact_in_place(text);
            }
        }
    };
    request.system = secrets.redact(&request.system).into();
    request.stop_sequences.iter_mut().for_each(|text| secrets.redact_in_place(text));
    for message in &mut request.messages {
        match message {
            ChatMessage::User(parts) => redact_parts(parts),
            ChatMessage::Results(results) => results.iter_mut().for_each(|result| redact_parts(&mut result.parts)),
            ChatMessage::Assistant(reply) => secrets.redact_in_place(&mut reply.text),
        }
    }
}

fn setup(request: &ModelRequest) -> Value {
    json!({"system": &*request.system, "tools": &*request.tools})
}

/// The messages as text, and the files of their pictures.
fn shown(cx: &Cx, request: &ModelRequest) -> (Vec<String>, Vec<String>) {
    let mut pictures = Vec::new();
    let mut text = |parts: &[ContentPart]| {
        let mut texts = Vec::new();
        for part in parts {
            match part {
                ContentPart::Text(text) => texts.push(text.clone()),
                ContentPart::Picture(picture) => {
                    pictures.push(store(cx, "picture", &picture.media_type, &picture.bytes))
                }
            }
        }
        texts.join("\n")
    };
    let messages = request
        .messages
        .iter()
        .map(|message| match message {
            ChatMessage::User(parts) => text(parts),
            ChatMessage::Assistant(reply) => {
                let calls: Vec<String> = reply.calls.iter().map(|call| written(call).to_string()).collect();
                [reply.text.clone()]
                    .into_iter()
                    .chain(calls)
                    .filter(|text| !text.is_empty())
                    .collect::<Vec<_>>()
                    .join("\n")
            }
            ChatMessage::Results(results) => {
                results.iter().map(|result| text(&result.parts)).collect::<Vec<_>>().join("\n")
            }
        })
        .collect();
    (messages, pictures)
}

fn store(cx: &Cx, name: &str, mime: &str, bytes: &[u8]) -> String {
    let attachment = Attachment { name: name.into(), mime: mime.into(), file: None, bytes: bytes.into() };
    cx.session.artifacts.keep(ArtifactKind::ModelMessage, &attachment)
}

/// A call as it is recorded.
fn written(call: &crate::model::RequestedCall) -> Value {
    let args = match &call.arguments {
        RequestedArguments::Object(args) => Value::Object(args.clone()),
        RequestedArguments::Malformed(text) => Value::String(text.clone()),
    };
    json!({ &call.name: args })
}

fn problem(stop: &StopReason) -> Option<String> {
    match stop {
        StopReason::End => None,
        StopReason::CutOff => Some("the reply was cut off at the limit of output tokens".to_string()),
        StopReason::Refused(why) if why.is_empty() => Some("the model refused".to_string()),
        StopReason::Refused(why) => Some(format!("the model refused: {why}")),
        StopReason::Malformed => Some("the provider could not parse the call that the model wrote".to_string()),
    }
}
