//! The world that pages see besides the network: the clock, the place, permissions, style, the clipboard, credentials and storage. What
//! is changed is put back at the end of the trail.

use serde_json::{Map, Value, json};
use trailblaze_protocol::outcome::Outcome;

use super::super::phones::degrees;
use super::super::requests::send;
use super::super::row::{ParamRow, ParamType, Preset, REASON, Row, WEB, defaulted, optional, required};
use super::network::{remembered, seconds, world};
use crate::driver::{ClockMode, DeviceCommand, MediaFeatures, PageWorldCommand, PermissionState};
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::tool::Args;
use crate::values::origin::origin;

/// How far a clock can be advanced at once, in seconds.
const FURTHEST: f64 = 366.0 * 24.0 * 3600.0;

const VARIABLE: ParamRow = optional("variable", ParamType::Text, "The name under which to remember it.");
const ORIGIN: ParamRow =
    optional("origin", ParamType::Text, "Whose it is, such as https://shop.example (default: that of the page).");

pub const ROWS: &[Row] = &[
    Row::action(
        "web_setClock",
        "Set the clock of the pages, until the end of the trail.",
        &[
            optional("time", ParamType::Text, "2026-01-31T08:15:00, in UTC unless it ends with an offset such as +01:00 (default: now)."),
            defaulted(
                "mode",
                ParamType::Word(ClockMode::NAMES),
                Preset::Word("RUNNING"),
                "RUNNING goes on from there; PAUSED stands still, with all timers, until web_advanceClock; FIXED always says this \
                 time, while timers run.",
            ),
            REASON,
        ],
        |cx, args| {
            Box::pin(async move {
                let time = args.text("time").map(instant).transpose()?;
                let mode = args.text("mode").and_then(ClockMode::parse).unwrap_or(ClockMode::Running);
                world(cx, PageWorldCommand::SetClock { time, mode }).await
            })
        },
    )
    .on(WEB),
    Row::action(
        "web_advanceClock",
        "Advance the clock of the pages, which web_setClock has set. Timers that are due by then run, in order.",
        &[required("seconds", ParamType::Number, "By how much."), REASON],
        |cx, args| {
            Box::pin(async move {
                let millis = seconds(args, "seconds", FURTHEST)?.as_secs_f64() * 1000.0;
                world(cx, PageWorldCommand::AdvanceClock { millis }).await
            })
        },
    )
    .on(WEB),
    Row::action(
        "web_setGeolocation",
        "Set where the pages are, and let them ask, until the end of the trail.",
        &[
            required("latitude", ParamType::Number, "In degrees, from -90 to 90."),
            required("longitude", ParamType::Number, "In degrees, from -180 to 180."),
            defaulted("accuracy", ParamType::Number, Preset::Number(10.0), "In meters."),
            REASON,
        ],
        |cx, args| {
            Box::pin(async move {
                let (latitude, longitude) = (degrees(args, "latitude", 90.0)?, degrees(args, "longitude", 180.0)?);
                let accuracy = args.number("accuracy").unwrap_or(10.0);
                if accuracy < 0.0 {
                    return Err(Stop::failed(format!("`accuracy` must not be negative, got {accuracy}")));
                }
                world(cx, PageWorldCommand::SetLocation { latitude, longitude, accuracy }).await
            })
        },
    )
    .on(WEB),
    Row::action(
        "web_setPermissions",
        "Decide what the pages may do, until the end of the trail.",
        &[
            required("permissions", ParamType::Texts, "geolocation, notifications, camera, microphone, clipboard-read, clipboard-write …"),
            defaulted("state", ParamType::Word(PermissionState::NAMES), Preset::Word("GRANTED"), "The answer."),
            optional("origin", ParamType::Text, "Only for this origin, such as https://shop.example (default: for all)."),
            REASON,
        ],
        |cx, args| {
            Box::pin(async move {
                let permissions: Vec<String> = args.texts("permissions").into_iter().map(str::to_string).collect();
                if permissions.is_empty() {
                    return Err(Stop::failed("`permissions` is empty; name at least one, such as geolocation"));
                }
                let state = args.text("state").and_then(PermissionState::parse).unwrap_or(PermissionState::Granted);
                let origin = given_origin(cx, args)?;
                world(cx, PageWorldCommand::SetPermissions { permissions, state, origin }).await
            })
        },
    )
    .on(WEB),
    Row::action(
        "web_setMedia",
        "Set what style sheets ask about: colors, motion, print. Until the end of the trail; what is not given stays.",
        &[
            optional("colorScheme", ParamType::Word(&["light", "dark"]), "Light or dark."),
            optional("reducedMotion", ParamType::Word(&["reduce", "no-preference"]), "Whether to avoid motion."),
            optional("contrast", ParamType::Word(&["more", "less", "custom", "no-preference"]), "How much contrast."),
            optional("forcedColors", ParamType::Word(&["active", "none"]), "Whether the user's colors replace those of pages."),
            optional("medium", ParamType::Word(&["screen", "print"]), "What the page is drawn for."),
            REASON,
        ],
        |cx, args| Box::pin(media(cx, args)),
    )
    .on(WEB),
    Row::action(
        "web_getClipboard",
        "Read the text that the page, or web_setClipboard, has put on the browser's clipboard.",
        &[VARIABLE, REASON],
        |cx, args| Box::pin(read(cx, args, PageWorldCommand::ReadClipboard)),
    )
    .on(WEB),
    Row::action(
        "web_setClipboard",
        "Put a text on the browser's clipboard, for Control+V and for pages that read it.",
        &[required("text", ParamType::Text, "The text."), REASON],
        |cx, args| {
            let text = args.required("text").to_string();
            Box::pin(async move { world(cx, PageWorldCommand::WriteClipboard { text }).await })
        },
    )
    .on(WEB),
    Row::action(
        "web_setCredentials",
        "Sign in where a server asks for a name and a password (HTTP authentication), until the end of the trail.",
        &[
            required("origin", ParamType::Text, "The server, such as https://staging.shop.example. No other one is told."),
            required("username", ParamType::Text, "The name."),
            required("password", ParamType::Text, "The password: a secret, such as {{STAGING_PASSWORD}}."),
            REASON,
        ],
        |cx, args| {
            Box::pin(async move {
                let origin = given_origin(cx, args)?.unwrap_or_default();
                let [username, password] = ["username", "password"].map(|name| args.required(name).to_string());
                world(cx, PageWorldCommand::SetCredentials { origin, username, password }).await
            })
        },
    )
    .on(WEB),
    Row::action(
        "web_savePdf",
        "Print the page to a PDF file, which is kept with the run.",
        &[defaulted("landscape", ParamType::Flag, Preset::Flag(false), "Whether the paper is wider than high."), REASON],
        |cx, args| {
            let is_landscape = args.flag("landscape").unwrap_or(false);
            Box::pin(async move { world(cx, PageWorldCommand::Pdf { is_landscape }).await })
        },
    )
    .on(WEB),
    Row::action(
        "web_getLocalStorage",
        "Read the local storage of an origin, whether a page of it is open or not.",
        &[ORIGIN, optional("key", ParamType::Text, "Only this item (default: all)."), VARIABLE, REASON],
        |cx, args| Box::pin(local_storage(cx, args)),
    )
    .on(WEB),
    Row::action(
        "web_setLocalStorage",
        "Change the local storage of an origin, whether a page of it is open or not.",
        &[required("items", ParamType::Object, "Items by key; null removes one. What is no text is stored as JSON."), ORIGIN, REASON],
        |cx, args| {
            Box::pin(async move {
                let items = args.value("items").and_then(Value::as_object).cloned().unwrap_or_default();
                let as_stored = |(key, value): (String, Value)| match value {
                    Value::String(_) | Value::Null => (key, value),
                    other => (key, Value::String(other.to_string())),
                };
                let items: Map<String, Value> = items.into_iter().map(as_stored).collect();
                let origin = given_origin(cx, args)?;
                world(cx, PageWorldCommand::SetLocalStorage { origin, items }).await
            })
        },
    )
    .on(WEB),
];

/// Reads a text, and remembers it if that is wanted.
async fn read(cx: &Cx, args: &Args, command: PageWorldCommand) -> Result<Outcome, Stop> {
    let read = send(cx, &DeviceCommand::World(command)).await?;
    let value = read.structured.clone().unwrap_or_default();
    Ok(match args.text("variable") {
        Some(variable) => remembered(read, variable, value),
        None => read,
    })
}

async fn local_storage(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let origin = given_origin(cx, args)?;
    let Some(key) = args.text("key") else { return read(cx, args, PageWorldCommand::LocalStorage { origin }).await };
    let all = send(cx, &DeviceCommand::World(PageWorldCommand::LocalStorage { origin })).await?;
    // The device returns the real values of secrets.
    let key = cx.session.secrets.reveal(key);
    let stored = all.structured.as_ref().and_then(|items| items.get(&key)).cloned();
    let Some(stored) = stored else {
        let keys: Vec<&String> =
            all.structured.as_ref().and_then(Value::as_object).into_iter().flat_map(Map::keys).collect();
        return Err(Stop::failed(format!("the local storage has no item `{key}`; its items are {}", json!(keys))));
    };
    let text = stored.as_str().unwrap_or_default().to_string();
    let outcome = Outcome { text, structured: Some(stored.clone()), ..Outcome::default() };
    Ok(match args.text("variable") {
        Some(variable) => remembered(outcome, variable, stored),
        None => outcome,
    })
}

/// The argument `origin`: a URL is as good as its origin.
fn given_origin(cx: &Cx, args: &Args) -> Result<Option<String>, Stop> {
    let Some(given) = args.text("origin") else { return Ok(None) };
    // The whole URL may be a secret.
    if cx.session.secrets.is_sealed_in(given) {
        return Ok(Some(given.to_string()));
    }
    let found = origin(given).filter(|origin| origin.starts_with("http://") || origin.starts_with("https://"));
    let found = found.filter(|origin| !origin.ends_with('/'));
    found.map(Some).ok_or_else(|| {
        Stop::failed(format!(
            "`origin` is `{given}`; give a scheme, a host and its port if any, such as https://shop.example:8443"
        ))
    })
}

async fn media(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    const FEATURES: [(&str, &str); 4] = [
        ("colorScheme", "prefers-color-scheme"),
        ("reducedMotion", "prefers-reduced-motion"),
        ("contrast", "prefers-contrast"),
        ("forcedColors", "forced-colors"),
    ];
    let given = FEATURES.iter().filter_map(|(param, name)| Some((name.to_string(), args.text(param)?.to_string())));
    let media = MediaFeatures { medium: args.text("medium").map(str::to_string), features: given.collect() };
    if media == MediaFeatures::default() {
        let names: Vec<String> = FEATURES.iter().map(|(param, _)| format!("`{param}`")).collect();
        return Err(Stop::failed(format!("nothing is changed; give {} or `medium`", names.join(", "))));
    }
    world(cx, PageWorldCommand::SetMedia(media)).await
}

/// A date and time, in milliseconds since 1970.
fn instant(text: &str) -> Result<f64, Stop> {
    let wrong = || {
        Stop::failed(format!(
            "`time` is `{text}`; write a date, or a date and a time, such as 2026-01-31, 2026-01-31T08:15:00 or \
             2026-01-31T08:15:00+01:00"
        ))
    };
    let given = text.trim();
    let (date, offset) = match given.char_indices().rev().find(|(at, sign)| *at > 10 && matches!(sign, '+' | '-')) {
        Some((at, sign)) => {
            let (hours, minutes) = given[at + 1..].split_once(':').unwrap_or((&given[at + 1..], "0"));
            let minutes = hours.parse::<u16>().ok().zip(minutes.parse::<u16>().ok());
            let minutes = minutes.filter(|(hours, minutes)| *hours < 24 && *minutes < 60).ok_or_else(wrong)?;
            let minutes = f64::from(minutes.0 * 60 + minutes.1);
            (&given[..at], if sign == '+' { minutes } else { -minutes })
        }
        None => (given.strip_suffix('Z').unwrap_or(given), 0.0),
    };
    let whole = match date.len() {
        10 => format!("{date}T00:00:00"),
        16 => format!("{date}:00"),
        _ => date.to_string(),
    };
    let time = humantime::parse_rfc3339_weak(&whole).map_err(|_| wrong())?;
    let since = time.duration_since(std::time::UNIX_EPOCH).map_err(|_| wrong())?;
    Ok(since.as_secs_f64() * 1000.0 - offset * 60_000.0)
}

#[cfg(test)]
mod tests {
    use super::instant;

    #[test]
    fn a_time_is_read_as_utc_unless_it_has_an_offset() {
        for (text, expected) in [
            ("2026-01-31", Some(1_769_817_600_000.0)),
            ("2026-01-31T08:15", Some(1_769_847_300_000.0)),
            ("2026-01-31 08:15:00", Some(1_769_847_300_000.0)),
            ("2026-01-31T08:15:00.250Z", Some(1_769_847_300_250.0)),
            ("2026-01-31T09:15:00+01:00", Some(1_769_847_300_000.0)),
            ("2026-01-31T02:45:00-05:30", Some(1_769_847_300_000.0)),
            ("tomorrow", None),
            ("2026-13-01", None),
            ("2026-01-31T09:15:00+1x", None),
        ] {
            assert_eq!(instant(text).ok(), expected, "{text}");
        }
    }
}
