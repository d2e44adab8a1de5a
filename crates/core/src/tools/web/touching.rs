//! Clicking, hovering, dragging, keys and files.

use serde_json::Value;
use trailblaze_protocol::outcome::Outcome;

use super::super::commands::act;
use super::super::elements::{act_on, visible};
use super::super::row::{P, Preset, REASON, Row, Ty, WEB, defaulted, optional, required};
use super::aim::{Aim, REF, SELECTOR, restate, restate_under};
use crate::cx::Cx;
use crate::driver::{Action, Direction};
use crate::fault::Stop;
use crate::tool::Args;

const TO_REF: P = optional("toRef", Ty::Text, "Where to drop it, in the same ways as ref.");
const TO_SELECTOR: P = optional("toNodeSelector", Ty::Selector, "Where to drop it, as recordings name it.");

pub const ROWS: &[Row] = &[
    Row::action(
        "web_click",
        "Click an element. Waits until it is there, at rest, enabled and not covered.",
        &[
            REF,
            SELECTOR,
            defaulted("button", Ty::Word(&["LEFT", "RIGHT"]), Preset::Word("LEFT"), "Which button of the mouse."),
            defaulted("clickCount", Ty::Integer, Preset::Integer(1), "2 is a double click."),
            REASON,
        ],
        |cx, args| Box::pin(on_element(cx, "web_click", args, click(args))),
    )
    .on(WEB),
    Row::action("web_hover", "Move the pointer onto an element.", &[REF, SELECTOR, REASON], |cx, args| {
        Box::pin(on_element(cx, "web_hover", args, Action::Hover))
    })
    .on(WEB),
    Row::action(
        "web_check",
        "Check a checkbox, radio button or switch, or uncheck it. Leaves it alone if it is so already.",
        &[REF, SELECTOR, defaulted("checked", Ty::Flag, Preset::Flag(true), "false unchecks it."), REASON],
        |cx, args| {
            let checked = args.flag("checked").unwrap_or(true);
            Box::pin(on_element(cx, "web_check", args, Action::SetChecked { checked }))
        },
    )
    .on(WEB),
    Row::action(
        "web_selectOption",
        "Choose from a list, by the value of an option or by its words.",
        &[required("values", Ty::Texts, "What to choose; several where the list allows it."), REF, SELECTOR, REASON],
        |cx, args| {
            let values = texts(args, "values");
            Box::pin(on_element(cx, "web_selectOption", args, Action::Choose { values }))
        },
    )
    .on(WEB),
    Row::action(
        "web_drag",
        "Drag an element onto another.",
        &[REF, SELECTOR, TO_REF, TO_SELECTOR, REASON],
        |cx, args| Box::pin(drag(cx, args)),
    )
    .on(WEB),
    Row::action(
        "web_upload",
        "Give files to a field for files, or to the file chooser that a click on the element opens.",
        &[required("files", Ty::Texts, "Paths of the files, beside the trail unless absolute."), REF, SELECTOR, REASON],
        |cx, args| {
            let files = texts(args, "files").iter().map(|file| cx.beside_trail(file)).collect();
            Box::pin(on_element(cx, "web_upload", args, Action::Upload { files }))
        },
    )
    .on(WEB),
    Row::action(
        "web_scroll",
        "Scroll the page, or what scrolls at an element.",
        &[
            defaulted("direction", Ty::Word(Direction::NAMES), Preset::Word("DOWN"), "Where the view goes."),
            optional("amount", Ty::Integer, "How far, in pixels; most of what is shown unless given."),
            REF,
            SELECTOR,
            REASON,
        ],
        |cx, args| Box::pin(scroll(cx, args)),
    )
    .on(WEB),
    Row::action(
        "web_pressKey",
        "Press a key, or keys together.",
        &[required("key", Ty::Text, "Such as Enter, ArrowDown, a, Control+K."), REASON],
        |cx, args| Box::pin(async move { act(cx, &Action::PressChord { chord: args.required("key").into() }).await }),
    )
    .on(WEB),
];

fn click(args: &Args) -> Action {
    match (args.text("button"), args.integer("clickCount")) {
        (Some("RIGHT"), _) => Action::SecondaryTap,
        (_, Some(2..)) => Action::DoubleTap,
        _ => Action::Tap,
    }
}

pub fn texts(args: &Args, name: &str) -> Vec<String> {
    let values = args.value(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    values.iter().filter_map(Value::as_str).map(str::to_string).collect()
}

/// Acts on an element; one that a ref names is restated first.
pub async fn on_element(cx: &Cx, tool: &str, args: &Args, action: Action) -> Result<Outcome, Stop> {
    match Aim::of(args)? {
        Aim::Passing(reference) => restate(cx, tool, &reference).await,
        Aim::Lasting(query) => act_on(cx, query, &action).await,
    }
}

async fn drag(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let to = Aim::under(args, "toRef", "toNodeSelector")?;
    let to = to.ok_or_else(|| Stop::failed("say where to drop it: `toRef` or `toNodeSelector`"))?;
    let names = match (Aim::of(args)?, to) {
        (Aim::Lasting(from), Aim::Lasting(to)) => {
            let to = Box::new(visible(cx, &to).await?);
            return act_on(cx, from, &Action::DragTo { to }).await;
        }
        (Aim::Passing(from), Aim::Passing(to)) => vec![("ref", from), ("toRef", to)],
        (Aim::Passing(from), Aim::Lasting(_)) => vec![("ref", from)],
        (Aim::Lasting(_), Aim::Passing(to)) => vec![("toRef", to)],
    };
    let selector = |parameter: &str| if parameter == "ref" { "nodeSelector" } else { "toNodeSelector" };
    let names: Vec<_> =
        names.iter().map(|(parameter, reference)| (*parameter, selector(parameter), reference.as_str())).collect();
    restate_under(cx, "web_drag", &names).await
}

async fn scroll(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let direction = args.text("direction").and_then(Direction::parse).unwrap_or(Direction::Down);
    let amount = args.integer("amount").and_then(|amount| u32::try_from(amount).ok());
    let action = Action::Scroll { direction, amount };
    match Aim::under(args, "ref", "nodeSelector")? {
        None => act(cx, &action).await,
        Some(_) => on_element(cx, "web_scroll", args, action).await,
    }
}
