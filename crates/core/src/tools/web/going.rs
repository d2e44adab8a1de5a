//! Navigation, history, tabs, dialogs, downloads and windows.

use futures::FutureExt;
use serde_json::Value;
use trailblaze_protocol::geometry::Size;
use trailblaze_protocol::outcome::{Outcome, Variant};

use super::super::arguments::{LOAD_TIMEOUT, timeout};
use super::super::requests::{send, send_within};
use super::super::row::{ParamType, Preset, REASON, Row, TIMEOUT, WEB, defaulted, optional, required};
use super::network::remembered;
use crate::driver::{Browse, DeviceCommand, url_matches};
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::tool::Args;
use crate::limits;
use crate::screen::Screen;

pub const ROWS: &[Row] = &[
    Row::action(
        "web_navigate",
        "Open a URL, go back or forward, or reload the page.",
        &[
            defaulted("action", ParamType::Word(&["GOTO", "BACK", "FORWARD", "RELOAD"]), Preset::Word("GOTO"), "Where to navigate."),
            optional("url", ParamType::Text, "The URL, for GOTO. Without a scheme, it is a file path relative to the trail."),
            LOAD_TIMEOUT,
            REASON,
        ],
        |cx, args| Box::pin(navigate(cx, args)),
    )
    .on(WEB),
    Row::action(
        "web_waitForUrl",
        "Wait until the URL of the page matches a pattern.",
        &[required("pattern", ParamType::Text, "Part of the URL, or the full URL with * as a wildcard."), TIMEOUT, REASON],
        |cx, args| Box::pin(wait_for_url(cx, args)),
    )
    .on(WEB),
    Row::action(
        "web_wait",
        "Wait for a fixed time. Prefer waiting for something specific.",
        &[defaulted("seconds", ParamType::Number, Preset::Number(1.0), "How long to wait, in seconds."), REASON],
        |cx, args| {
            Box::pin(async move { super::super::waiting::wait_for(cx, args.number("seconds").unwrap_or(1.0)).await })
        },
    )
    .on(WEB),
    Row::action(
        "web_resize",
        "Resize the window.",
        &[required("width", ParamType::Integer, "The width, in pixels."), required("height", ParamType::Integer, "The height, in pixels."), REASON],
        |cx, args| Box::pin(resize(cx, args)),
    )
    .on(WEB),
    Row::action(
        "web_tabs",
        "List the tabs, or select, open or close one.",
        &[
            defaulted("action", ParamType::Word(&["LIST", "SELECT", "NEW", "CLOSE"]), Preset::Word("LIST"), "What to do."),
            optional(
                "index",
                ParamType::Integer,
                "Which tab to SELECT or CLOSE, from 0 (default for CLOSE: the active tab).",
            ),
            optional("url", ParamType::Text, "The URL that a NEW tab opens."),
            optional(
                "timeoutMs",
                ParamType::Integer,
                "How long to wait for the tab (default 3000), or for the page of a NEW tab to load, in milliseconds.",
            ),
            REASON,
        ],
        |cx, args| Box::pin(tabs(cx, args)),
    )
    .on(WEB),
    Row::action(
        "web_dialogs",
        "Choose how alerts, confirmations and prompts are answered from now on (default: accepted). Returns the dialogs \
         that were shown so far.",
        &[
            optional("answer", ParamType::Word(&["ACCEPT", "DISMISS"]), "How to answer dialogs."),
            optional("text", ParamType::Text, "The text to type into a prompt before accepting it."),
            REASON,
        ],
        |cx, args| Box::pin(dialogs(cx, args)),
    )
    .on(WEB),
    Row::action(
        "web_download",
        "Wait for a download that an earlier action started, and save the file with the run.",
        &[
            optional("name", ParamType::Text, "The file name that the download must have."),
            optional(
                "variable",
                ParamType::Text,
                "The name under which to remember its `name`, its size in `bytes`, and its `text` if it is a short text.",
            ),
            TIMEOUT,
            REASON,
        ],
        |cx, args| Box::pin(download(cx, args)),
    )
    .on(WEB),
    Row::action(
        "web_saveStorageState",
        "Save cookies and local storage in a file, with which another trail or a device can start.",
        &[required("file", ParamType::Text, "The path of the file, relative to the trail or absolute."), REASON],
        |cx, args| {
            Box::pin(async move {
                let file = cx.resolve_path(args.required("file"));
                send(cx, &DeviceCommand::Browse(Browse::SaveStorageState { file })).await
            })
        },
    )
    .on(WEB),
    Row::action(
        "web_applyCookies",
        "Set cookies, and local storage if the JSON contains any.",
        &[
            required("cookiesJson", ParamType::Text, "A list of cookies, or the result of web_getStorageState, as JSON."),
            REASON,
        ],
        |cx, args| {
            Box::pin(async move {
                let text = args.required("cookiesJson");
                let state = serde_json::from_str(text)
                    .map_err(|error| Stop::failed(format!("`cookiesJson` is not valid JSON: {error}")))?;
                send(cx, &DeviceCommand::Browse(Browse::Restore { state })).await
            })
        },
    )
    .on(WEB),
];

async fn navigate(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let command = match args.text("action") {
        Some("BACK") => DeviceCommand::Browse(Browse::Back),
        Some("FORWARD") => DeviceCommand::Browse(Browse::Forward),
        Some("RELOAD") => DeviceCommand::Browse(Browse::Reload),
        _ => {
            let url = args.text("url").filter(|url| !url.trim().is_empty());
            DeviceCommand::OpenUrl { url: resolve_url(cx, url.ok_or_else(|| missing("url", "the URL to open"))?) }
        }
    };
    if !matches!(command, DeviceCommand::OpenUrl { .. }) {
        forbid(args, &["url"])?;
    }
    send_within(cx, args.integer("timeoutMs"), &command).await
}

fn missing(name: &str, what: &str) -> Stop {
    let variant = Variant::MissingRequiredArgs { missing: vec![name.to_string()] };
    Stop::error(variant, format!("`{name}` is missing: {what}"))
}

/// Rejects parameters that have no effect with this action.
fn forbid(args: &Args, names: &[&str]) -> Result<(), Stop> {
    match names.iter().find(|name| args.value(name).is_some()) {
        Some(name) => Err(Stop::failed(format!("`{name}` cannot be used with `{}`", args.required("action")))),
        None => Ok(()),
    }
}

/// A URL unchanged, or the URL of a file relative to the trail.
fn resolve_url(cx: &Cx, url: &str) -> String {
    // The whole URL may be a secret.
    let revealed = cx.session.secrets.reveal(url);
    let scheme = revealed.split_once(':').map(|(scheme, _)| scheme).unwrap_or_default();
    let is_scheme = |sign: char| sign.is_ascii_alphanumeric() || "+-.".contains(sign);
    if !scheme.is_empty() && scheme.chars().all(is_scheme) {
        return url.to_string();
    }
    let path = cx.resolve_path(url.strip_prefix("./").unwrap_or(url));
    format!("file://{}", path.replace('%', "%25").replace(' ', "%20"))
}

async fn wait_for_url(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    // Secrets in the URL are already replaced by placeholders.
    let pattern = &*cx.session.secrets.redact(args.required("pattern"));
    let is_there = |screen: Screen| {
        let url = screen.app.unwrap_or_default();
        if url_matches(&url, pattern) {
            Ok(Outcome::success(url))
        } else {
            Err(Box::new(Outcome::failed(format!("the URL does not match `{pattern}`: it is `{url}`"))))
        }
    };
    let ask = |screen: Screen| async move { Ok(is_there(screen)) }.boxed();
    cx.session.device.await_answer(cx, timeout(args, limits::ASSERT_WAIT), ask).await
}

async fn resize(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let side = |name: &str| {
        let pixels = args.integer(name).and_then(|pixels| u32::try_from(pixels).ok());
        pixels.filter(|pixels| (1..=10_000).contains(pixels))
    };
    let (Some(width), Some(height)) = (side("width"), side("height")) else {
        return Err(Stop::failed("`width` and `height` must be between 1 and 10000 pixels"));
    };
    send(cx, &DeviceCommand::Browse(Browse::Resize { size: Size { width, height } })).await
}

async fn tabs(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let index = args.integer("index").map(|index| usize::try_from(index).unwrap_or(usize::MAX));
    let (browse, unused): (_, &[&str]) = match args.text("action") {
        Some("SELECT") => {
            (Browse::SelectTab { index: index.ok_or_else(|| missing("index", "the tab to select"))? }, &["url"])
        }
        Some("NEW") => (Browse::NewTab { url: args.text("url").map(|url| resolve_url(cx, url)) }, &["index"]),
        Some("CLOSE") => (Browse::CloseTab { index }, &["url"]),
        _ => (Browse::Tabs, &["index", "url"]),
    };
    forbid(args, unused)?;
    send_within(cx, args.integer("timeoutMs"), &DeviceCommand::Browse(browse)).await
}

async fn dialogs(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let text = args.text("text").map(str::to_string);
    let accept = match (args.text("answer"), &text) {
        (Some("DISMISS"), Some(_)) => return Err(Stop::failed("`text` cannot be used with `DISMISS`")),
        (Some(answer), _) => Some(answer == "ACCEPT"),
        (None, Some(_)) => Some(true),
        (None, None) => None,
    };
    send(cx, &DeviceCommand::Browse(Browse::Dialogs { accept, text })).await
}

async fn download(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let ask = |_| {
        async move {
            let outcome = send(cx, &DeviceCommand::Browse(Browse::Download)).await?;
            Ok(outcome
                .structured
                .is_some()
                .then_some(outcome)
                .ok_or_else(|| Box::new(Outcome::failed("no download finished in time"))))
        }
        .boxed()
    };
    let outcome = cx.session.device.await_answer(cx, timeout(args, limits::ASSERT_WAIT), ask).await?;
    let name = outcome.structured.as_ref().and_then(|value| value.get("name")).and_then(Value::as_str);
    // The device returns the real values of secrets.
    let wanted = args.text("name").map(|name| cx.session.secrets.reveal(name));
    match (&wanted, name) {
        (Some(wanted), Some(name)) if wanted != name => {
            return Err(Stop::failed(format!("expected a download named `{wanted}`, got `{name}`")));
        }
        _ => {}
    }
    let Some(variable) = args.text("variable") else { return Ok(outcome) };
    let mut value = outcome.structured.clone().unwrap_or_default();
    if let Some(value) = value.as_object_mut() {
        value.remove("file");
    }
    Ok(remembered(outcome, variable, value))
}
