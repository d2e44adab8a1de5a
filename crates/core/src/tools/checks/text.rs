//! Checks of texts: of an element, of a field, of an attribute, of the page.

use fancy_regex::Regex;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::outcome::Outcome;

use super::super::assertions::differs;
use super::expected::ExpectedText;
use super::number::{ExpectedNumber, NoNumber, number_in};
use super::state::with_node;
use super::target::{CheckTarget, restate};
use super::wait;
use crate::driver::{Action, ActionTarget};
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::tool::Args;
use crate::query::{Checks, Find, Found, Query};
use crate::screen::{Field, Node, Prop, Screen};
use crate::selector::invalid_pattern;

/// What one look has read of an element; `Err` says why there was nothing to read.
type Reading = Result<String, String>;

/// Reads something of the element that was found.
type Reader = for<'a> fn(&'a Cx, Found, &'a str) -> BoxFuture<'a, Result<Reading, Stop>>;

pub async fn text(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let expected = ExpectedText::of(cx, args);
    element_is(cx, args, ("assertText", "text"), expected, |_, found, _| {
        async move { Ok(found.text.ok_or_else(|| "no text".to_string())) }.boxed()
    })
    .await
}

pub async fn value(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let expected = ExpectedText::of(cx, args).map(ExpectedText::exact);
    element_is(cx, args, ("assertValue", "value"), expected, |cx, found, _| value_of(cx, found, None).boxed()).await
}

pub async fn attribute(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let expected = ExpectedText::of(cx, args).map(ExpectedText::exact);
    element_is(cx, args, ("assertAttribute", args.required("name")), expected, |cx, found, name| {
        value_of(cx, found, Some(name)).boxed()
    })
    .await
}

/// Waits until what is read of an element is as expected.
async fn element_is(
    cx: &Cx,
    args: &Args,
    (tool, what): (&str, &str),
    expected: Result<ExpectedText, Stop>,
    read: Reader,
) -> Result<Outcome, Stop> {
    let (wait, target) = (wait(args), CheckTarget::of(cx, args)?);
    let expected = &expected?;
    let query = &match target {
        CheckTarget::Ref(reference) => return restate(cx, tool, &reference, tool == "assertText").await,
        CheckTarget::Stable(query) => query,
    };
    let named = if tool == "assertAttribute" { format!("attribute `{what}`") } else { what.to_string() };
    let wanted = &expected.of_a(&named);
    let named = &named;
    let ask = |_| {
        async move {
            let found = match find(cx, query).await? {
                Ok(found) => found,
                Err(why) => return Ok(Err(differs(&format!("{query} with {wanted}"), &why))),
            };
            let summary = found.summary.clone();
            Ok(match read(cx, found, what).await? {
                Ok(saw) if expected.holds(&saw) => Ok(Outcome::success(format!("{summary} has the {named} \"{saw}\""))),
                Ok(saw) => Err(differs(&format!("{summary} with {wanted}"), &format!("\"{saw}\""))),
                Err(why) => Err(differs(&format!("{summary} with {wanted}"), &why)),
            })
        }
        .boxed()
    };
    cx.session.device.await_answer(cx, wait, ask).await
}

pub async fn number(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let (wait, target, expected) = (wait(args), CheckTarget::of(cx, args)?, ExpectedNumber::of(args));
    let decimal = args.text("decimal").and_then(|mark| mark.chars().next());
    let pattern = args.text("pattern").map(|source| Regex::new(source).map_err(|_| source));
    let pattern = match pattern {
        Some(Err(source)) => return Err(Stop::failed(invalid_pattern(source))),
        Some(Ok(pattern)) if pattern.captures_len() < 2 => {
            return Err(Stop::failed("`pattern` needs a group around the number, as in `of (\\d+) items`"));
        }
        Some(Ok(pattern)) => Some(pattern),
        None => None,
    };
    let (expected, pattern) = (&expected?, &pattern);
    let query = &match target {
        CheckTarget::Ref(reference) => return restate(cx, "assertNumber", &reference, true).await,
        CheckTarget::Stable(query) => query,
    };
    let ask = |_| {
        async move {
            let found = match find(cx, query).await? {
                Ok(found) => found,
                Err(why) => return Ok(Err(differs(&format!("{query} with a number that is {expected}"), &why))),
            };
            let (summary, text) = (found.summary, found.text.unwrap_or_default());
            let number = match pattern {
                None => number_in(&text, decimal),
                Some(pattern) => match pattern.captures(&text).ok().flatten().and_then(|groups| groups.get(1)) {
                    Some(group) => number_in(group.as_str(), decimal),
                    None => Err(NoNumber::None),
                },
            };
            let wanted = || format!("{summary} with a number that is {expected}");
            Ok(match number {
                Ok(number) if expected.holds(number) => {
                    Ok(Outcome::success(format!("{number} in the text \"{text}\" of {summary} is {expected}")))
                }
                Ok(number) => Err(differs(&wanted(), &format!("{number} in the text \"{text}\""))),
                Err(why) => Err(differs(&wanted(), &format!("the text \"{text}\": {why}"))),
            })
        }
        .boxed()
    };
    cx.session.device.await_answer(cx, wait, ask).await
}

pub async fn address(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    page_is(cx, args, "address", |screen| screen.app.clone().unwrap_or_default()).await
}

pub async fn title(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    // The root of a page is its document, which is named by the title.
    page_is(cx, args, "title", |screen| screen.root.label().unwrap_or_default().to_string()).await
}

async fn page_is(cx: &Cx, args: &Args, what: &'static str, read: fn(&Screen) -> String) -> Result<Outcome, Stop> {
    let wait = wait(args);
    let expected = &ExpectedText::of(cx, args)?;
    let ask = |screen: Screen| {
        async move {
            let saw = read(&screen);
            Ok(if expected.holds(&saw) {
                Ok(Outcome::success(format!("the {what} of the page is \"{saw}\"")))
            } else {
                Err(differs(&expected.of_a(what), &format!("\"{saw}\"")))
            })
        }
        .boxed()
    };
    cx.session.device.await_answer(cx, wait, ask).await
}

/// The only visible element that a query means, or why there is none.
pub async fn find(cx: &Cx, query: &Query) -> Result<Result<Found, String>, Stop> {
    Ok(match cx.session.device.find(cx, query, Checks::Visible).await? {
        Find::Found(found) => Ok(found),
        Find::Not(why) => Err(why.to_string()),
    })
}

/// The value of a field, or an attribute.
async fn value_of(cx: &Cx, found: Found, name: Option<&str>) -> Result<Reading, Stop> {
    if cx.session.device.description().platform == Platform::Web {
        let action = Action::Attribute { name: name.map(str::to_string) };
        let read = cx.session.device.act(cx, &ActionTarget::Element(found), &action).await?;
        return Ok(match read.value {
            Some(Value::Null) | None if name.is_some() => Err("no such attribute".to_string()),
            _ => Ok(read.text),
        });
    }
    let text = found.text.clone();
    let read = |_: &Screen, node: &Node| match name {
        Some(name) => property(node, name),
        None => Ok(value_of_field(node, text.clone())),
    };
    Ok(with_node(cx, &found, read).await?.unwrap_or_else(|| Err("an element that changes".to_string())))
}

/// What was typed into a field. A secret is only in the text that was found, not in what is observed.
fn value_of_field(node: &Node, text: Option<String>) -> String {
    let own = [Field::EditableText, Field::Value].into_iter().find_map(|field| node.props.text(field));
    match own {
        Some(value) => value.to_string(),
        // What an empty field shows is its hint.
        None if node.is_editable() && node.props.text(Field::Text).is_none_or(str::is_empty) => String::new(),
        None => text.unwrap_or_default(),
    }
}

fn property(node: &Node, name: &str) -> Reading {
    let found = node.props.iter().find(|(field, _)| field.name() == name);
    found.map(|(_, value)| shown(value)).ok_or_else(|| {
        let names: Vec<&str> = node.props.iter().map(|(field, _)| field.name()).collect();
        format!("no such property; it has {}", names.join(", "))
    })
}

fn shown(value: &Prop) -> String {
    match value {
        Prop::Text(text) => text.clone(),
        Prop::Flag(flag) => flag.to_string(),
        Prop::Number(number) => number.to_string(),
    }
}
