//! What only desktops have, beyond the commands: other buttons of the mouse, lists of options, pictures of one window.

use std::sync::Arc;

use serde_json::{Value, json};
use trailblaze_protocol::geometry::{Rect, Size};
use trailblaze_protocol::outcome::{Attachment, Outcome};

use super::arguments::{find_wait, texts};
use super::elements::act_on;
use super::phones::{DESCRIBED, DRAG, described, drag};
use super::requests::send;
use super::row::{DESKTOP, ParamRow, ParamType, Preset, REASON, Row, TIMEOUT, defaulted, optional, required};
use crate::driver::{Action, Button, ClickOptions, DeviceCommand, Modifier};
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::tool::Args;
use crate::screen::{Picture, Pixels};
use crate::snapshot;

const TEXT: ParamRow = optional("text", ParamType::Text, "The element's text.");
const ID: ParamRow = optional("id", ParamType::Text, "The element's id.");
/// The most clicks of one call.
const MOST_CLICKS: i64 = 10;

pub const ROWS: &[Row] = &[
    Row::action(
        "desktop_click",
        "Click an element with the pointer, with any button, several times, or while keys are held down.",
        &[
            TEXT,
            ID,
            defaulted("button", ParamType::Word(Button::NAMES), Preset::Word("LEFT"), "The mouse button."),
            defaulted("clickCount", ParamType::Integer, Preset::Integer(1), "How many clicks; 2 is a double click."),
            optional("modifiers", ParamType::Words(Modifier::NAMES), "Keys to hold down while clicking."),
            TIMEOUT,
            REASON,
        ],
        |cx, args| Box::pin(async move { on_element(cx, args, click(args)?).await }),
    )
    .needing(&[DESCRIBED])
    .on(DESKTOP),
    Row::action("desktop_hover", "Move the pointer over an element.", &[TEXT, ID, TIMEOUT, REASON], |cx, args| {
        Box::pin(on_element(cx, args, Action::Hover { at: None }))
    })
    .needing(&[DESCRIBED])
    .on(DESKTOP),
    Row::action(
        "desktop_drag",
        "Drag an element onto another element, to a point on the screen, or by a distance.",
        DRAG,
        |cx, args| Box::pin(drag(cx, args)),
    )
    .needing(&[DESCRIBED])
    .on(DESKTOP),
    Row::action(
        "desktop_check",
        "Check or uncheck a box, radio button or switch. Does nothing if it already has that state.",
        &[TEXT, ID, defaulted("checked", ParamType::Flag, Preset::Flag(true), "false unchecks it."), TIMEOUT, REASON],
        |cx, args| {
            let checked = args.flag("checked").unwrap_or(true);
            Box::pin(on_element(cx, args, Action::SetChecked { checked }))
        },
    )
    .needing(&[DESCRIBED])
    .on(DESKTOP),
    Row::action(
        "desktop_selectOption",
        "Select options of a list or a combo box, by their texts.",
        &[
            required("values", ParamType::Texts, "The options to select; several if the list allows it."),
            TEXT,
            ID,
            TIMEOUT,
            REASON,
        ],
        |cx, args| Box::pin(on_element(cx, args, Action::Choose { values: texts(args, "values") })),
    )
    .needing(&[DESCRIBED])
    .on(DESKTOP),
    Row::query(
        "desktop_captureWindow",
        "Take a picture of one window, with secrets masked. It is brought to the front first.",
        &[optional("id", ParamType::Text, "The id of the window, or its title; by default, the one in front.")],
        |cx, args| Box::pin(capture_window(cx, args)),
    )
    .on(DESKTOP),
];

async fn on_element(cx: &Cx, args: &Args, action: Action) -> Result<Outcome, Stop> {
    let query = described(args, "text", "id").ok_or_else(|| DESCRIBED.stop())?;
    act_on(cx, query, &action, find_wait(args)).await
}

fn click(args: &Args) -> Result<Action, Stop> {
    let given = args.integer("clickCount").unwrap_or(1);
    let count = u32::try_from(given).ok().filter(|_| (1..=MOST_CLICKS).contains(&given));
    let count =
        count.ok_or_else(|| Stop::failed(format!("`clickCount` must be between 1 and {MOST_CLICKS}, got {given}")))?;
    Ok(Action::Click(ClickOptions {
        button: args.text("button").and_then(Button::parse).unwrap_or(Button::Left),
        count,
        modifiers: texts(args, "modifiers").iter().filter_map(|word| Modifier::parse(word)).collect(),
        at: None,
    }))
}

async fn capture_window(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    if let Some(window) = args.text("id") {
        send(cx, &DeviceCommand::ActivateWindow { window: window.to_string() }).await?;
    }
    let listed = send(cx, &DeviceCommand::Windows).await?.structured.unwrap_or_default();
    let windows = listed["windows"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_wanted = |window: &&Value| match args.text("id") {
        Some(id) => window["id"] == id || window["title"] == id,
        None => window["active"] == true,
    };
    let window = windows.iter().rev().find(is_wanted).ok_or_else(|| Stop::failed("no window is in front"))?;
    let device = &cx.session.device;
    let (screen, masks) = device.show_pictured(cx, &snapshot::Details::default()).await?;
    let whole = Rect::new(0, 0, screen.size.width.cast_signed(), screen.size.height.cast_signed());
    let bounds =
        serde_json::from_value::<Rect>(window["bounds"].clone()).ok().and_then(|bounds| bounds.intersect(&whole));
    let cut = bounds.and_then(|bounds| Some((bounds, cut_out(screen.picture.as_ref()?, bounds)?)));
    let (bounds, picture) = cut.ok_or_else(|| Stop::failed("the window is not on the screen"))?;
    let masks: Vec<Rect> = masks.iter().filter_map(|mask| inside(mask, &bounds)).collect();
    let encoded = cx.session.artifacts.encode(&picture, &masks, picture.size);
    let bytes = encoded.ok_or_else(|| Stop::failed("the device cannot take screenshots"))?;
    let Size { width, height } = picture.size;
    let title = window["title"].as_str().unwrap_or_default();
    let value = json!({"id": window["id"], "title": title, "width": width, "height": height});
    let attachments = vec![Attachment { name: "window".into(), mime: "image/png".into(), file: None, bytes }];
    Ok(Outcome { attachments, ..Outcome::value(format!("the window \"{title}\", {width} x {height}"), value) })
}

/// A part of a picture of the screen.
fn cut_out(picture: &Picture, part: Rect) -> Option<Picture> {
    let Pixels::Rgba(pixels) = &picture.pixels else { return None };
    let column = |x: i32| usize::try_from(x).ok().map(|x| x * 4);
    let (from, to) = (column(part.left)?, column(part.right)?);
    let rows = pixels.chunks_exact(picture.size.width as usize * 4);
    let (top, height) = (usize::try_from(part.top).ok()?, usize::try_from(part.height()).ok()?);
    let kept: Vec<u8> = rows.skip(top).take(height).filter_map(|row| row.get(from..to)).flatten().copied().collect();
    let size = Size { width: u32::try_from(part.width()).ok()?, height: u32::try_from(part.height()).ok()? };
    let is_whole = kept.len() == size.width as usize * size.height as usize * 4;
    is_whole.then(|| Picture { size, pixels: Pixels::Rgba(Arc::from(kept)) })
}

/// The part of a mask that is in a window, as the window counts.
fn inside(mask: &Rect, window: &Rect) -> Option<Rect> {
    let common = mask.intersect(window)?;
    Some(Rect::new(common.left - window.left, common.top - window.top, common.width(), common.height()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_cut_out_of_the_screen_with_its_masks() {
        let pixels: Vec<u8> = (0..4 * 3).flat_map(|number| [number, number, number, 255]).collect();
        let size = Size { width: 4, height: 3 };
        let screen = Picture { size, pixels: Pixels::Rgba(Arc::from(pixels)) };
        let window = Rect::new(1, 1, 2, 2);
        let picture = cut_out(&screen, window).expect("it is on the screen");
        let Pixels::Rgba(pixels) = picture.pixels else { panic!("it has pixels") };
        assert_eq!(pixels.iter().step_by(4).copied().collect::<Vec<u8>>(), [5, 6, 9, 10]);
        assert_eq!(inside(&Rect::new(0, 0, 2, 2), &window), Some(Rect::new(0, 0, 1, 1)));
        assert_eq!(inside(&Rect::new(3, 0, 1, 1), &window), None);
        assert!(cut_out(&screen, Rect::new(3, 0, 2, 1)).is_none());
    }
}
