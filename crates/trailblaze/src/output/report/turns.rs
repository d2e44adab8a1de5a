//! Requests to models: what was sent, what came back, and what it cost.

use serde::Serialize;
use serde_json::Value;
use trailblaze_core::trail::{CallParts, parts_of};
use trailblaze_protocol::event::{ModelPurpose, ModelReplied};

use super::clip::clip;
use super::model::{AttemptRecord, RunRecord, Turn};
use super::page_files::{FileInPage, PageFiles};

/// Characters of one message in the page.
const LONGEST: usize = 64 * 1024;

/// What some requests to models used.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelUse {
    pub requests: usize,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub tokens_cached: u64,
    /// US dollars; `null` if the price of a model is unknown.
    pub cost: Option<f64>,
}

impl ModelUse {
    /// `None` if there are no requests.
    pub fn of<'t>(turns: impl IntoIterator<Item = &'t Turn>) -> Option<ModelUse> {
        let mut sum = ModelUse { cost: Some(0.0), ..ModelUse::default() };
        for turn in turns {
            sum.requests += 1;
            // A request without a reply may have cost something, but nobody can say how much.
            let Some(replied) = &turn.replied else { continue };
            sum.tokens_in += replied.tokens_in;
            sum.tokens_out += replied.tokens_out;
            sum.tokens_cached += replied.tokens_cached;
            let is_free = replied.tokens_in + replied.tokens_out == 0;
            sum.cost = match replied.cost {
                Some(cost) => sum.cost.map(|sum| sum + cost),
                None if is_free => sum.cost,
                None => None,
            };
        }
        (sum.requests > 0).then_some(sum)
    }

    pub fn of_run(run: &RunRecord) -> Option<ModelUse> {
        ModelUse::of(run.attempts.iter().flat_map(|attempt| &attempt.turns))
    }
}

impl std::fmt::Display for ModelUse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ModelUse { requests, tokens_in, tokens_out, tokens_cached, cost } = self;
        let plural = if *requests == 1 { "" } else { "s" };
        write!(f, "{requests} model call{plural}, {tokens_in} tokens in")?;
        if *tokens_cached > 0 {
            write!(f, " ({tokens_cached} cached)")?;
        }
        write!(f, ", {tokens_out} out, ")?;
        match cost {
            Some(cost) => write!(f, "{}", dollars(*cost)),
            None => f.write_str("cost unknown"),
        }
    }
}

/// An amount of US dollars, precise enough for small ones.
pub fn dollars(amount: f64) -> String {
    if amount != 0.0 && amount < 0.01 { format!("${amount:.5}") } else { format!("${amount:.2}") }
}

/// A request to a model.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnView<'a> {
    /// Microseconds since the run started.
    at: u64,
    purpose: ModelPurpose,
    model: &'a str,
    /// The file with the system prompt and the tools.
    setup: &'a str,
    messages: Vec<String>,
    /// The files of the pictures that were sent, and where the page finds them.
    pictures: Vec<(&'a str, FileInPage)>,
    /// `null` if there was none.
    reply: Option<ReplyView<'a>>,
}

/// What a model replied.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReplyView<'a> {
    text: String,
    /// Each as `tool {args}`.
    calls: Vec<String>,
    problem: Option<&'a str>,
    micros: u64,
    tokens_in: u64,
    tokens_out: u64,
    tokens_cached: u64,
    /// `null` if the price of the model is unknown.
    cost: Option<String>,
}

/// The requests of a step.
pub fn of_step<'a>(attempt: &'a AttemptRecord, step: usize, page_files: &mut PageFiles) -> Vec<TurnView<'a>> {
    let own = attempt.turns.iter().filter(|turn| turn.step == Some(step));
    own.map(|turn| view(turn, page_files)).collect()
}

fn view<'a>(turn: &'a Turn, page_files: &mut PageFiles) -> TurnView<'a> {
    let asked = &turn.asked;
    TurnView {
        at: turn.at,
        purpose: asked.purpose,
        model: &asked.model,
        setup: &asked.setup,
        messages: asked.messages.iter().map(|message| clip(message, LONGEST).into_owned()).collect(),
        pictures: asked.pictures.iter().map(|file| (file.as_str(), page_files.attachment(file, "image/png"))).collect(),
        reply: turn.replied.as_ref().map(reply),
    }
}

fn reply(replied: &ModelReplied) -> ReplyView<'_> {
    ReplyView {
        text: clip(&replied.text, LONGEST).into_owned(),
        calls: replied.calls.iter().map(|call| clip(&written(call), LONGEST).into_owned()).collect(),
        problem: replied.problem.as_deref(),
        micros: replied.micros,
        tokens_in: replied.tokens_in,
        tokens_out: replied.tokens_out,
        tokens_cached: replied.tokens_cached,
        cost: replied.cost.map(dollars),
    }
}

/// A call on one line: `tap {"ref": …}`, or `getOrder {} as order`.
pub fn written(call: &Value) -> String {
    let Some(CallParts { tool, args, result_name, is_soft }) = parts_of(call) else { return String::new() };
    let result_name = result_name.map(|name| format!(" as {name}")).unwrap_or_default();
    let soft = if is_soft { " (soft)" } else { "" };
    format!("{tool} {args}{result_name}{soft}")
}
