//! Expected pictures, and expected text of the tree.

use serde_json::{Map, Value, json};
use trailblaze_core::expected_tree::ExpectedTree;

use super::actions::{TestCalls, texts};
use super::code::{CodeKind, TestCode};
use super::locator::Locator;
use super::value::{Scope, whole};
use crate::naming::picture_name;

/// `toHaveScreenshot(name, options)` of the page, or of an element. Its expected picture has to be written again.
pub fn screenshot(
    scope: &Scope,
    (subject, locator): (&TestCode, Option<&Locator>),
    args: &[TestCode],
) -> Result<TestCalls, String> {
    let is_options = |code: &&TestCode| matches!(scope.value(code).kind, CodeKind::Object(_));
    let options = args.iter().find(is_options).map(|code| scope.value(code));
    let name = match args.iter().find(|code| !is_options(code)) {
        Some(name) => picture_name(&texts(scope, name)?.join("-")),
        // Playwright numbers them.
        None => format!("{}-{}", if locator.is_some() { "element" } else { "page" }, subject.start),
    };
    let mut call = Map::from_iter([("name".to_string(), Value::from(name))]);
    call.extend(locator.map(|locator| locator.args(None)).unwrap_or_default());
    let mut missing = Vec::new();
    let fields = match options.map(|options| &options.kind) {
        Some(CodeKind::Object(fields)) => fields.as_slice(),
        _ => &[],
    };
    for (key, value) in fields {
        let number = scope.number(value);
        match (key.as_str(), number) {
            ("maxDiffPixelRatio", Some(share)) => drop(call.insert("threshold".to_string(), json!(share))),
            ("threshold", Some(tolerance)) => drop(call.insert("tolerance".to_string(), json!(tolerance))),
            ("timeout", Some(timeout)) => drop(call.insert("timeoutMs".to_string(), json!(timeout as u64))),
            ("mask", _) => drop(call.insert("masks".to_string(), masks(scope, value)?)),
            // How it is taken in any case, or how it looks in their report.
            ("maskColor", _) => {}
            ("scale", _) if scope.text(value).as_deref() == Ok("device") => {}
            ("fullPage", _) if scope.flag(Some(value)) == Some(false) => {}
            (other, _) => missing.push(format!("without `{other}`")),
        }
    }
    Ok(TestCalls { missing, ..TestCalls::one("assertPicture", call) })
}

fn masks(scope: &Scope, code: &TestCode) -> Result<Value, String> {
    let CodeKind::List(items) = &scope.value(code).kind else {
        return Err("masks that are not written out".to_string());
    };
    let mask = |item: &TestCode| {
        let locator = Locator::of(scope, item).ok_or("a mask that is no locator")??;
        let mut args = locator.args(None);
        // All that match are masked.
        if args.remove("index").is_some() {
            return Err("a mask that is one of several elements cannot be described".to_string());
        }
        Ok(Value::from(args))
    };
    items.iter().map(mask).collect()
}

/// `toMatchAriaSnapshot(text)`.
pub fn aria(scope: &Scope, locator: Option<&Locator>, text: &TestCode) -> Result<TestCalls, String> {
    let text = scope.text(text)?;
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).collect();
    let indent = lines.iter().map(|line| line.len() - line.trim_start().len()).min().unwrap_or_default();
    let lines =
        lines.iter().map(|line| tree_line(line.get(indent..).unwrap_or_default())).collect::<Result<Vec<_>, _>>()?;
    let tree = lines.join("\n");
    ExpectedTree::parse(&tree).map_err(|error| format!("its text is not understood here, {error}"))?;
    let mut args = locator.map(|locator| locator.args(None)).unwrap_or_default();
    args.insert("tree".to_string(), tree.into());
    Ok(TestCalls::one("assertTree", args))
}

/// A line with patterns for whole texts, and without the quotes of YAML.
fn tree_line(line: &str) -> Result<String, String> {
    let words = line.trim_start();
    let indent = &line[..line.len() - words.len()];
    let item = words.strip_prefix("- ").unwrap_or(words).trim_start();
    if let Some(property) =
        item.strip_prefix('/').filter(|_| item.split(':').next().is_some_and(|key| !key.contains(' ')))
    {
        let name = property.split(':').next().unwrap_or_default();
        if ["url", "placeholder", "children"].contains(&name) {
            return Err(format!("`/{name}` of a tree has no counterpart"));
        }
    }
    // `'button "a: b"':` is quoted for YAML.
    let unquoted = item.strip_prefix('\'').and_then(|rest| {
        let (key, rest) = rest.rsplit_once('\'')?;
        Some(format!("{}{rest}", key.replace("''", "'")))
    });
    let item = unquoted.unwrap_or_else(|| item.to_string());
    Ok(format!("{indent}- {}", with_whole_pattern(&item)))
}

/// The line with a pattern for the whole text, of one for a part of it.
fn with_whole_pattern(item: &str) -> String {
    let start = if item.starts_with('/') { Some(0) } else { item.find(" /").map(|at| at + 1) };
    let is_in_quotes = |at: usize| item[..at].matches('"').count() % 2 == 1;
    let Some(start) = start.filter(|start| !is_in_quotes(*start)) else { return item.to_string() };
    match item.rfind('/').filter(|end| *end > start) {
        Some(end) => {
            let flags = item[end + 1..].starts_with('i');
            let rest = if flags { &item[end + 2..] } else { &item[end + 1..] };
            format!("{}/{}/{rest}", &item[..start], whole(&item[start + 1..end], flags).replace('/', "\\/"))
        }
        None => item.to_string(),
    }
}
