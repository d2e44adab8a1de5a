//! The network of pages: rules for requests, HAR files, speed, and waiting for requests.

use std::time::Duration;

use futures::FutureExt;
use serde_json::Value;
use trailblaze_protocol::outcome::{MemoryChanges, Outcome};

use super::super::arguments::timeout;
use super::super::assertions::differs;
use super::super::requests::send;
use super::super::row::{ParamRow, ParamType, Preset, REASON, Row, TIMEOUT, WEB, defaulted, optional, required};
use crate::driver::{
    AbortReason, BodySource, DeviceCommand, ExchangeQuery, ExchangeSide, MissingInHar, MockedResponse, NetworkRule,
    NetworkSpeed, PageWorldCommand, RequestPattern, ResponseChange, RuleEffect, json_at,
};
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::tool::Args;
use crate::limits;

const PATTERN: ParamRow =
    required("pattern", ParamType::Text, "Part of the URL, or the full URL with * as a wildcard.");
const ANY_PATTERN: ParamRow =
    optional("pattern", ParamType::Text, "Part of the URL, or the full URL with * as a wildcard (default: every URL).");
const METHOD: ParamRow = optional("method", ParamType::Text, "Only requests with this method, such as POST.");
const TIMES: ParamRow = optional("times", ParamType::Integer, "For how many requests (default: all).");
const HEADERS: ParamRow = optional("headers", ParamType::Map, "Headers of the response, by name.");
const JSON: ParamRow = optional("json", ParamType::Any, "The body, as JSON.");
const BODY: ParamRow = optional("body", ParamType::Text, "The body, as text.");
const FILE: ParamRow =
    optional("file", ParamType::Text, "The path of a file with the body, relative to the trail or absolute.");
const VARIABLE: ParamRow =
    optional("variable", ParamType::Text, "The name under which to remember the body, or the part of it at `path`.");
const PATH: ParamRow = optional(
    "path",
    ParamType::Text,
    "Where the value to remember is in a JSON body, as keys and numbers of items: order.items.0.id",
);
const PART: ParamRow =
    optional("json", ParamType::Any, "What the JSON body has at least: keys with values, items of lists.");
const CONTAINS: ParamRow = optional("contains", ParamType::Text, "A text that the body contains.");

pub const ROWS: &[Row] = &[
    Row::action(
        "web_mockRequest",
        "Answer requests of the pages without asking the server, until the end of the trail.",
        &[
            PATTERN,
            METHOD,
            defaulted("status", ParamType::Integer, Preset::Integer(200), "The status."),
            HEADERS,
            JSON,
            BODY,
            FILE,
            TIMES,
            REASON,
        ],
        |cx, args| Box::pin(mock(cx, args)),
    )
    .on(WEB),
    Row::action(
        "web_abortRequest",
        "Let requests of the pages fail, until the end of the trail.",
        &[
            PATTERN,
            METHOD,
            defaulted("error", ParamType::Word(AbortReason::NAMES), Preset::Word("FAILED"), "How they fail."),
            TIMES,
            REASON,
        ],
        |cx, args| {
            let error = args.text("error").and_then(AbortReason::parse).unwrap_or(AbortReason::Failed);
            Box::pin(add(cx, args, RuleEffect::Abort(error)))
        },
    )
    .on(WEB),
    Row::action(
        "web_delayRequest",
        "Let requests of the pages wait before they are sent, until the end of the trail.",
        &[PATTERN, METHOD, required("seconds", ParamType::Number, "How long, at most 60."), TIMES, REASON],
        |cx, args| {
            Box::pin(async move {
                let by = seconds(args, "seconds", 60.0)?;
                add(cx, args, RuleEffect::Delay(by)).await
            })
        },
    )
    .on(WEB),
    Row::action(
        "web_changeResponse",
        "Change what servers answer to requests of the pages, until the end of the trail. What is not given stays.",
        &[
            PATTERN,
            METHOD,
            optional("status", ParamType::Integer, "Another status."),
            optional("headers", ParamType::Map, "Headers that are added or replaced, by name."),
            optional("json", ParamType::Any, "Is merged into the JSON body: null removes a key, lists are replaced."),
            optional("body", ParamType::Text, "Another body."),
            optional("file", ParamType::Text, "The path of a file with another body, relative to the trail or absolute."),
            TIMES,
            REASON,
        ],
        |cx, args| Box::pin(change(cx, args)),
    )
    .on(WEB),
    Row::action(
        "web_removeNetworkRules",
        "Let requests of the pages go to their servers again.",
        &[optional("pattern", ParamType::Text, "Only the rules with exactly this pattern (default: all)."), REASON],
        |cx, args| {
            let url = args.text("pattern").map(str::to_string);
            Box::pin(async move { world(cx, PageWorldCommand::RemoveRules { url }).await })
        },
    )
    .on(WEB),
    Row::action(
        "web_throttle",
        "Make the network of the pages slower, until the end of the trail.",
        &[
            optional(
                "preset",
                ParamType::Word(&["SLOW_3G", "FAST_3G", "SLOW_4G", "NONE"]),
                "A known kind of network; NONE is as fast as it is.",
            ),
            optional("latencyMs", ParamType::Integer, "How much longer each answer takes, in milliseconds."),
            optional("downloadKbps", ParamType::Integer, "How fast answers come, in kilobits per second."),
            optional("uploadKbps", ParamType::Integer, "How fast requests go, in kilobits per second."),
            REASON,
        ],
        |cx, args| Box::pin(throttle(cx, args)),
    )
    .on(WEB),
    Row::action(
        "web_setOffline",
        "Disconnect the pages from the network, or connect them again, until the end of the trail.",
        &[defaulted("offline", ParamType::Flag, Preset::Flag(true), "false connects them again."), REASON],
        |cx, args| {
            let connected = !args.flag("offline").unwrap_or(true);
            Box::pin(async move { send(cx, &DeviceCommand::SetNetwork { connected }).await })
        },
    )
    .on(WEB),
    Row::action(
        "web_recordHar",
        "Record the requests of the pages in a HAR file, until web_saveHar or the end of the trail. Secrets are replaced by their names.",
        &[
            required("file", ParamType::Text, "The path of the file, relative to the trail or absolute."),
            ANY_PATTERN,
            REASON,
        ],
        |cx, args| {
            Box::pin(async move {
                let (file, url) = (cx.resolve_path(args.required("file")), text(args, "pattern"));
                world(cx, PageWorldCommand::RecordHar { file, url, redact: cx.session.device.redacting() }).await
            })
        },
    )
    .on(WEB),
    Row::action("web_saveHar", "Write the HAR file that is being recorded, and end recording.", &[REASON], |cx, _| {
        Box::pin(async move { world(cx, PageWorldCommand::SaveHar).await })
    })
    .on(WEB),
    Row::action(
        "web_replayHar",
        "Answer requests of the pages from a HAR file, until the end of the trail.",
        &[
            required("file", ParamType::Text, "The path of the file, relative to the trail or absolute."),
            ANY_PATTERN,
            defaulted(
                "missing",
                ParamType::Word(MissingInHar::NAMES),
                Preset::Word("ABORT"),
                "What becomes of a request that the file does not answer: it fails, or goes to its server.",
            ),
            REASON,
        ],
        |cx, args| {
            Box::pin(async move {
                let missing = args.text("missing").and_then(MissingInHar::parse).unwrap_or(MissingInHar::Abort);
                let (file, url) = (cx.resolve_path(args.required("file")), text(args, "pattern"));
                let redact = cx.session.device.redacting();
                world(cx, PageWorldCommand::ReplayHar { file, url, missing, redact }).await
            })
        },
    )
    .on(WEB),
    Row::assertion(
        "web_waitForRequest",
        "Wait for a request of the pages that no earlier wait has returned; it may have been sent before. Check its body, and \
         remember it or a part of it.",
        &[PATTERN, METHOD, PART, CONTAINS, VARIABLE, PATH, TIMEOUT, REASON],
        |cx, args| Box::pin(wait_for(cx, args, ExchangeSide::Request)),
    )
    .on(WEB),
    Row::assertion(
        "web_waitForResponse",
        "Wait for the answer to a request of the pages that no earlier wait has returned; it may have come before. Check its \
         status and body, and remember the body or a part of it.",
        &[
            PATTERN,
            METHOD,
            optional("status", ParamType::Integer, "The status that it has."),
            PART,
            CONTAINS,
            VARIABLE,
            PATH,
            TIMEOUT,
            REASON,
        ],
        |cx, args| Box::pin(wait_for(cx, args, ExchangeSide::Response)),
    )
    .on(WEB),
];

pub async fn world(cx: &Cx, command: PageWorldCommand) -> Result<Outcome, Stop> {
    send(cx, &DeviceCommand::World(command)).await
}

fn text(args: &Args, name: &str) -> String {
    args.text(name).unwrap_or_default().to_string()
}

async fn add(cx: &Cx, args: &Args, effect: RuleEffect) -> Result<Outcome, Stop> {
    let times = args.count("times")?;
    if times == Some(0) {
        return Err(Stop::failed("`times` must be at least 1"));
    }
    world(cx, PageWorldCommand::AddRule(NetworkRule { pattern: pattern(args)?, effect, times })).await
}

fn pattern(args: &Args) -> Result<RequestPattern, Stop> {
    let url = args.required("pattern").trim();
    if url.is_empty() {
        return Err(Stop::failed(
            "`pattern` is empty; give a part of the URL, such as /api/orders, or * for every request",
        ));
    }
    if url.contains(char::is_whitespace) {
        return Err(Stop::failed(format!(
            "`pattern` is `{url}`, but no URL has a space in it; give a part of the URL, and the method in `method`"
        )));
    }
    let method = args.text("method").map(str::to_ascii_uppercase);
    match method {
        Some(method) if method.is_empty() || !method.chars().all(|sign| sign.is_ascii_alphabetic()) => {
            Err(Stop::failed(format!("`method` is `{method}`; give a method such as GET or POST, or leave it out")))
        }
        method => Ok(RequestPattern { url: url.to_string(), method }),
    }
}

fn status(args: &Args) -> Result<Option<u16>, Stop> {
    let Some(status) = args.integer("status") else { return Ok(None) };
    let known = u16::try_from(status).ok().filter(|status| (200..=599).contains(status));
    known.map(Some).ok_or_else(|| Stop::failed(format!("`status` must be between 200 and 599, got {status}")))
}

fn headers(args: &Args) -> Vec<(String, String)> {
    let given = args.value("headers").and_then(Value::as_object).into_iter().flatten();
    given.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_string())).collect()
}

fn body(cx: &Cx, args: &Args, json: Option<&Value>) -> Result<Option<BodySource>, Stop> {
    let body = args.text("body").map(|body| BodySource::Text(body.to_string()));
    let file = args.text("file").map(|file| BodySource::File(cx.resolve_path(file)));
    let json = json.map(|json| BodySource::Json(json.clone()));
    let mut given = [json, body, file].into_iter().flatten();
    match (given.next(), given.next()) {
        (_, Some(_)) => Err(Stop::failed("give only one of `json`, `body` and `file`")),
        (given, None) => Ok(given),
    }
}

async fn mock(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let body = body(cx, args, args.value("json"))?.unwrap_or_else(|| BodySource::Text(String::new()));
    let status = status(args)?.unwrap_or(200);
    add(cx, args, RuleEffect::Mock(MockedResponse { status, headers: headers(args), body })).await
}

async fn change(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let (merge, body) = (args.value("json").cloned(), body(cx, args, None)?);
    if merge.is_some() && body.is_some() {
        return Err(Stop::failed("`json` changes the body, so `body` and `file` cannot be given too"));
    }
    let change = ResponseChange { status: status(args)?, headers: headers(args), body, merge };
    if change == ResponseChange::default() {
        return Err(Stop::failed("nothing is changed; give `status`, `headers`, `json`, `body` or `file`"));
    }
    add(cx, args, RuleEffect::Change(change)).await
}

/// A number of seconds, as long as it is not too long.
pub fn seconds(args: &Args, name: &str, most: f64) -> Result<Duration, Stop> {
    let seconds = args.number(name).unwrap_or_default();
    if !(0.0..=most).contains(&seconds) {
        return Err(Stop::failed(format!("`{name}` must be between 0 and {most}, got {seconds}")));
    }
    Ok(Duration::from_secs_f64(seconds))
}

async fn throttle(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    // Milliseconds, and kilobits per second, as browsers' own tools have them.
    let preset = args.text("preset").map(|preset| match preset {
        "SLOW_3G" => (2000, 400, 400),
        "FAST_3G" => (563, 1440, 675),
        "SLOW_4G" => (170, 9000, 1500),
        _ => (0, 0, 0),
    });
    let names = ["latencyMs", "downloadKbps", "uploadKbps"];
    let mut given = [None; 3];
    for (place, name) in given.iter_mut().zip(names) {
        *place = args.count(name)?;
    }
    if preset.is_none() && given == [None; 3] {
        return Err(Stop::failed("nothing is changed; give `preset`, `latencyMs`, `downloadKbps` or `uploadKbps`"));
    }
    let (latency, download, upload) = preset.unwrap_or_default();
    let bytes = |kilobits: u64| kilobits.saturating_mul(1000) / 8;
    let speed = NetworkSpeed {
        latency: Duration::from_millis(given[0].unwrap_or(latency).min(60_000)),
        download: bytes(given[1].unwrap_or(download)),
        upload: bytes(given[2].unwrap_or(upload)),
    };
    world(cx, PageWorldCommand::SetSpeed(speed)).await
}

async fn wait_for(cx: &Cx, args: &Args, side: ExchangeSide) -> Result<Outcome, Stop> {
    if args.text("path").is_some() && args.text("variable").is_none() {
        return Err(Stop::failed("`path` says which part of the body to remember; give `variable` too"));
    }
    let query = ExchangeQuery {
        pattern: pattern(args)?,
        side,
        status: status(args)?,
        contains: args.text("contains").map(str::to_string),
        json: args.value("json").cloned(),
    };
    let expected = described(&query);
    let command = &DeviceCommand::World(PageWorldCommand::FindExchange(query));
    let expected = &expected;
    let ask = |_| {
        async move {
            let found = send(cx, command).await?;
            Ok(if found.structured.is_some() { Ok(found) } else { Err(differs(expected, &found.text)) })
        }
        .boxed()
    };
    let found = cx.session.device.await_answer(cx, timeout(args, limits::ASSERT_WAIT), ask).await?;
    let Some(variable) = args.text("variable") else { return Ok(found) };
    let body = found.structured.as_ref().map(|found| &found["body"]).unwrap_or(&Value::Null);
    let path = args.text("path").unwrap_or_default();
    match json_at(body, path).filter(|value| !value.is_null()) {
        Some(value) => Ok(remembered(found.clone(), variable, value.clone())),
        None if path.is_empty() => Err(Stop::failed(format!("`{}` has no body to remember", found.text))),
        None => Err(Stop::failed(format!("the body of `{}` has no `{path}`: {body}", found.text))),
    }
}

/// The outcome, which also remembers a value.
pub fn remembered(outcome: Outcome, variable: &str, value: Value) -> Outcome {
    let set = [(variable.to_string(), value)].into_iter().collect();
    Outcome { memory: MemoryChanges { set, deleted: Vec::new() }, ..outcome }
}

fn described(query: &ExchangeQuery) -> String {
    let ExchangeQuery { pattern, side, status, contains, json } = query;
    let mut all = match side {
        ExchangeSide::Request => format!("a request {pattern}"),
        ExchangeSide::Response => format!("a response to {pattern}"),
    };
    if let Some(status) = status {
        all += &format!(" with the status {status}");
    }
    if let Some(json) = json {
        all += &format!(" with {json}");
    }
    if let Some(text) = contains {
        all += &format!(" that contains \"{text}\"");
    }
    all
}
