//! Types into fields, one or a whole form.

use serde_json::{Map, Value, json};
use trailblaze_protocol::outcome::{Delegate, Outcome};

use super::super::arguments::find_wait;
use super::super::elements::{act_on, delegate, present};
use super::super::requests::act_within;
use super::super::row::{ParamType, Preset, REASON, Row, TIMEOUT, WEB, defaulted, required};
use super::aim::{AIM, ELEMENT, INDEX, REF, SELECTOR, WebTarget, describe, restate};
use crate::driver::Action;
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::tool::Args;
use crate::screen::Node;

pub const ROWS: &[Row] = &[
    Row::action(
        "web_type",
        "Type text into a field, or into the focused field if none is given. With clearFirst, the text replaces the \
         current value in one go; without, it is typed key by key after it.",
        &[
            required("text", ParamType::Text, "The text."),
            REF,
            SELECTOR,
            INDEX,
            defaulted("clearFirst", ParamType::Flag, Preset::Flag(true), "Replace the current value."),
            TIMEOUT,
            REASON,
        ],
        |cx, args| Box::pin(type_text(cx, args)),
    )
    .typing("text")
    .on(WEB),
    Row::action(
        "web_fillSecret",
        "Fill a field with a secret.",
        &[
            required("value", ParamType::Text, "The secret to fill in, as {{NAME}}."),
            REF,
            SELECTOR,
            INDEX,
            TIMEOUT,
            REASON,
        ],
        |cx, args| Box::pin(fill_secret(cx, args)),
    )
    .typing("value")
    .needing(&[AIM])
    .on(WEB),
    Row::action(
        "web_fillForm",
        "Fill several fields in one call: text fields, checkboxes and lists.",
        &[
            required(
                "fields",
                ParamType::Fields,
                "Each with ref or nodeSelector, index if several match, and value: a text, true or false, or a list.",
            ),
            TIMEOUT,
            REASON,
        ],
        |cx, args| Box::pin(fill_form(cx, args)),
    )
    // It delegates to a tool for each field, and those are checked again.
    .typing("fields")
    .delegating()
    .on(WEB),
];

async fn type_text(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let text = args.required("text").to_string();
    let replaces = args.flag("clearFirst").unwrap_or(true);
    let action = if replaces { Action::SetText { text } } else { Action::InputText { text } };
    match WebTarget::under(cx, args, &ELEMENT)? {
        None => act_within(cx, args.integer("timeoutMs"), &action).await,
        Some(WebTarget::Ref(reference)) => restate(cx, "web_type", &reference).await,
        Some(WebTarget::Stable(query)) => act_on(cx, query, &action, find_wait(args)).await,
    }
}

/// A field must not get the name of a secret that this run does not have.
async fn fill_secret(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let text = args.required("value").to_string();
    if let Some(name) = text.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}")) {
        let name = name.trim();
        return Err(Stop::failed(format!(
            "the secret `{name}` is not set; set {name} in the environment, and run with `--secret {name}`"
        )));
    }
    super::touching::on_element(cx, "web_fillSecret", args, Action::SetText { text }).await
}

/// Delegates to one call per field, of the tool that fits its role.
async fn fill_form(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let fields = args.value("fields").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut delegates = Vec::new();
    for field in fields {
        let named = Args(field.as_object().cloned().unwrap_or_default());
        let (screen, node, mut names) = match WebTarget::of(cx, &named)? {
            WebTarget::Ref(reference) => {
                let (screen, node) = cx.session.device.resolve_ref(cx, &reference).await?;
                let selector = describe(&screen, node, &reference)?.swap_remove(0);
                (screen, node, Map::from_iter([("nodeSelector".to_string(), selector)]))
            }
            // A stable description is passed on unchanged.
            WebTarget::Stable(query) => {
                // The field may be scrolled out of view; it only has to exist.
                let node = present(cx, &query, find_wait(args)).await?.node;
                (cx.session.device.look(cx).await?, node, named.0)
            }
        };
        names.shift_remove("value");
        let value = field.get("value").cloned().unwrap_or_default();
        let node = screen.root.walk().find(|candidate| candidate.id == node);
        let mut delegate = one_field(node, names, &value)?;
        delegate.args.extend(args.value("timeoutMs").map(|wait| ("timeoutMs".to_string(), wait.clone())));
        delegates.push(delegate);
    }
    Ok(Outcome::delegating(delegates))
}

/// The call that fills a field. `args` identify the field.
fn one_field(node: Option<&Node>, mut args: Map<String, Value>, value: &Value) -> Result<Delegate, Stop> {
    let text = || value.as_str().map_or_else(|| value.to_string(), str::to_string);
    let role = node.and_then(Node::class).unwrap_or_default();
    let tool = match (role, value) {
        ("checkbox" | "radio" | "switch", value) => {
            let word = text().to_ascii_lowercase();
            let checked = value.as_bool().or_else(|| word.parse().ok());
            let checked = checked
                .ok_or_else(|| Stop::failed(format!("the value of a {role} must be true or false, got {value}")))?;
            args.insert("checked".to_string(), checked.into());
            "web_check"
        }
        (_, Value::Array(values)) => {
            args.insert("values".to_string(), values.clone().into());
            "web_selectOption"
        }
        ("combobox" | "listbox", _) if !node.is_some_and(Node::is_editable) => {
            args.insert("values".to_string(), json!([text()]));
            "web_selectOption"
        }
        _ => {
            args.insert("text".to_string(), text().into());
            "web_type"
        }
    };
    Ok(Delegate { args, ..delegate(tool, json!({})) })
}
