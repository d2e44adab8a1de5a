//! Typing, erasing, keys and the clipboard.

use serde_json::{Value, json};
use trailblaze_protocol::outcome::{MemoryChanges, Outcome};

use super::requests::{act, press, send};
use super::row::{MOBILE, NOT_WEB, ParamType, Preset, REASON, Row, defaulted, required};
use crate::driver::{Action, DeviceCommand, Key};
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::tool::Args;

pub const ROWS: &[Row] = &[
    Row::action(
        "inputTextRandom",
        "Type a random text, different each time, and remember it.",
        &[
            required("variable", ParamType::Text, "The name to store it under."),
            defaulted("prefix", ParamType::Text, Preset::Word("TBZ-"), "What the text starts with."),
            defaulted(
                "digitCount",
                ParamType::Integer,
                Preset::Integer(6),
                "How many random digits follow, from 1 to 18.",
            ),
            REASON,
        ],
        |cx, args| Box::pin(input_random(cx, args)),
    ),
    Row::action("clearText", "Erase all text in the focused field.", &[REASON], |cx, _| {
        Box::pin(async move { act(cx, &Action::EraseText { count: None }).await })
    }),
    Row::action("hideKeyboard", "Hide the on-screen keyboard.", &[REASON], |cx, _| {
        Box::pin(async move { act(cx, &Action::HideKeyboard).await })
    })
    .on(MOBILE),
    Row::action(
        "pressKey",
        "Press a key.",
        &[required("keyCode", ParamType::Word(Key::NAMES), "The key to press."), REASON],
        |cx, args| Box::pin(async move { press(cx, Key::parse(args.required("keyCode")).unwrap_or(Key::Enter)).await }),
    ),
    Row::action(
        "mobile_setClipboard",
        "Copy text to the clipboard.",
        &[required("text", ParamType::Text, "The text."), REASON],
        |cx, args| {
            Box::pin(async move { send(cx, &DeviceCommand::SetClipboard { text: args.required("text").into() }).await })
        },
    )
    .on(NOT_WEB),
    Row::action("mobile_pasteClipboard", "Paste the clipboard into the focused field.", &[REASON], |cx, _| {
        Box::pin(async move { send(cx, &DeviceCommand::PasteClipboard).await })
    })
    .on(NOT_WEB),
];

async fn input_random(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let wanted = args.count("digitCount")?.unwrap_or(6);
    let mut bytes = [0u8; 18];
    let digits = usize::try_from(wanted).ok().filter(|digits| (1..=bytes.len()).contains(digits));
    let digits = digits.ok_or_else(|| Stop::failed(format!("`digitCount` must be between 1 and 18, got {wanted}")))?;
    getrandom::fill(&mut bytes[..digits])
        .map_err(|error| Stop::failed(format!("could not generate random digits: {error}")))?;
    let number: String = bytes[..digits].iter().map(|byte| char::from(b'0' + byte % 10)).collect();
    let text = format!("{}{number}", args.text("prefix").unwrap_or_default());
    act(cx, &Action::InputText { text: text.clone() }).await?;
    let set = [(args.required("variable").to_string(), Value::from(text.as_str()))].into_iter().collect();
    let memory = MemoryChanges { set, deleted: Vec::new() };
    Ok(Outcome { text: format!("typed {text}"), structured: Some(json!(text)), memory, ..Outcome::default() })
}
