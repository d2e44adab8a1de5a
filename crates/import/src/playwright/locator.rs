//! Locators of Playwright as descriptions of elements.

use serde_json::{Map, Value, json};

use super::code::{CodeKind, TestCode};
use super::value::{Scope, whole};

/// How an element is described.
#[derive(Debug, Clone, PartialEq)]
pub enum Aim {
    /// `button "Pay" [checked]`.
    Named {
        role: Option<String>,
        name: Option<String>,
        marks: String,
    },
    /// A field by its label; its role follows from what is done with it.
    Label(String),
    /// A text, or a part of one.
    Text {
        text: String,
        is_exact: bool,
    },
    Css {
        css: String,
        text: Option<String>,
    },
    /// A selector of recordings.
    Selector(Map<String, Value>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Locator {
    pub aim: Aim,
    /// `in listitem "Mug"`.
    pub within: Option<String>,
    pub index: Option<u32>,
    /// The tab that it is in.
    pub page: usize,
}

const DEPTH: usize = 60;

/// The roles of tags that are often used to scope locators.
const TAGS: [(&str, &str); 14] = [
    ("li", "listitem"),
    ("ul", "list"),
    ("ol", "list"),
    ("tr", "row"),
    ("table", "table"),
    ("nav", "navigation"),
    ("form", "form"),
    ("dialog", "dialog"),
    ("main", "main"),
    ("article", "article"),
    ("header", "banner"),
    ("footer", "contentinfo"),
    ("section", "region"),
    ("fieldset", "group"),
];

impl Locator {
    /// `None` if an expression is no locator.
    pub fn of(scope: &Scope, code: &TestCode) -> Option<Result<Locator, String>> {
        locator(scope, code, DEPTH)
    }

    /// The arguments of a tool that describe it. `role` is that of a field that is known by its label alone.
    pub fn args(&self, role: Option<&str>) -> Map<String, Value> {
        let around = self.within.as_ref().map(|within| format!(" in {within}")).unwrap_or_default();
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\\\""));
        let mut args = Map::new();
        let reference = match &self.aim {
            Aim::Named { role, name, marks } => {
                let name = name.as_deref().map(|name| format!(" {}", quoted(name))).unwrap_or_default();
                format!("{}{name}{marks}{around}", role.as_deref().unwrap_or_default())
            }
            Aim::Label(label) => format!("{} {}{around}", role.unwrap_or_default(), quoted(label)),
            Aim::Text { text, .. } => format!("{}{around}", quoted(text)),
            Aim::Css { css, text } => {
                let text = text.as_deref().map(|text| format!(" {}", quoted(text))).unwrap_or_default();
                format!("css={css}{text}")
            }
            Aim::Selector(selector) => {
                args.insert("nodeSelector".to_string(), json!({"web": selector}));
                String::new()
            }
        };
        if !reference.is_empty() {
            args.insert("ref".to_string(), reference.trim().into());
        }
        if let Some(index) = self.index {
            args.insert("index".to_string(), index.into());
        }
        args
    }

    /// How it is called as the place of another element.
    fn as_place(&self) -> Result<String, String> {
        if self.index.is_some() || self.within.is_some() {
            return Err("an element in one that is itself chosen by its place cannot be described; write a YAML tool"
                .to_string());
        }
        match &self.aim {
            Aim::Named { role: Some(role), name, marks } if marks.is_empty() => {
                Ok(name.as_ref().map_or(role.clone(), |name| format!("{role} \"{}\"", name.replace('"', "\\\""))))
            }
            Aim::Css { css, text } => match TAGS.iter().find(|(tag, _)| tag == css) {
                Some((_, role)) => Ok(text
                    .as_ref()
                    .map_or(role.to_string(), |text| format!("{role} \"{}\"", text.replace('"', "\\\"")))),
                None => Err("an element in one that CSS describes cannot be described by its role".to_string()),
            },
            _ => Err("this cannot be the place of an element".to_string()),
        }
    }

    /// An element in this one.
    fn containing(self, inner: Locator) -> Result<Locator, String> {
        match (&self.aim, &inner.aim) {
            (Aim::Css { css: outer, text: None }, Aim::Css { css, text })
                if self.index.is_none() && !outer.contains(',') && !css.contains(',') =>
            {
                let aim = Aim::Css { css: format!("{outer} {css}"), text: text.clone() };
                Ok(Locator { aim, within: self.within, index: inner.index, page: self.page })
            }
            (_, Aim::Css { .. } | Aim::Selector(_)) => {
                Err("CSS in an element that is not described by CSS cannot be described".to_string())
            }
            _ => Ok(Locator { within: Some(self.as_place()?), page: self.page, ..inner }),
        }
    }
}

/// The number of the page that an expression is, if it is one, or a frame of one.
pub fn page(scope: &Scope, code: &TestCode) -> Option<usize> {
    match &code.awaited().kind {
        CodeKind::Name(name) => scope.pages.get(name).copied(),
        CodeKind::Member(object, property) if property == "page" && matches!(object.kind, CodeKind::Name(_)) => {
            scope.pages.get("page").copied()
        }
        CodeKind::Call(callee, _) => match &callee.kind {
            CodeKind::Member(object, method) if method == "frameLocator" || method == "mainFrame" => {
                page(scope, object)
            }
            // `locator('iframe').contentFrame()`
            CodeKind::Member(object, method) if method == "contentFrame" => root_page(scope, object),
            _ => None,
        },
        _ => None,
    }
}

fn root_page(scope: &Scope, code: &TestCode) -> Option<usize> {
    match &code.kind {
        CodeKind::Call(callee, _) => root_page(scope, callee),
        CodeKind::Member(object, _) => page(scope, object).or_else(|| root_page(scope, object)),
        _ => None,
    }
}

fn locator(scope: &Scope, code: &TestCode, depth: usize) -> Option<Result<Locator, String>> {
    if depth == 0 {
        return None;
    }
    match &code.awaited().kind {
        CodeKind::Name(name) => locator(scope, scope.values.get(name)?, depth - 1),
        CodeKind::Call(callee, args) => {
            let CodeKind::Member(object, method) = &callee.kind else { return None };
            if let Some(page) = page(scope, object) {
                let aim = aim(scope, method, args)?;
                return Some(aim.map(|(aim, index)| Locator { aim, within: None, index, page }));
            }
            let outer = locator(scope, object, depth - 1)?;
            let outer = match outer {
                Ok(outer) => outer,
                Err(reason) => return Some(Err(reason)),
            };
            narrowed(scope, outer, method, args, depth)
        }
        _ => None,
    }
}

/// A locator with a method that makes another one of it.
fn narrowed(
    scope: &Scope,
    outer: Locator,
    method: &str,
    args: &[TestCode],
    depth: usize,
) -> Option<Result<Locator, String>> {
    let first = args.first();
    Some(match method {
        "first" => Ok(Locator { index: Some(0), ..outer }),
        "last" => Err("the last of several elements cannot be described; write `index` or a name".to_string()),
        "nth" => match first.and_then(|first| scope.number(first)) {
            Some(n) if n >= 0.0 => Ok(Locator { index: Some(n as u32), ..outer }),
            _ => Err("an element counted from the end cannot be described".to_string()),
        },
        "describe" => Ok(outer),
        "and" | "or" => Err(format!("`{method}` of locators has no counterpart")),
        "filter" => filtered(scope, outer, first?, depth),
        "locator"
            if first.is_some_and(|first| {
                !matches!(scope.value(first).kind, CodeKind::Text(_) | CodeKind::Template(..))
            }) =>
        {
            match locator(scope, first?, depth - 1)? {
                Ok(inner) => outer.containing(inner),
                Err(reason) => Err(reason),
            }
        }
        _ => match aim(scope, method, args)? {
            Ok((aim, index)) => outer.containing(Locator { aim, within: None, index, page: 0 }),
            Err(reason) => Err(reason),
        },
    })
}

fn filtered(scope: &Scope, outer: Locator, options: &TestCode, depth: usize) -> Result<Locator, String> {
    let CodeKind::Object(fields) = &scope.value(options).kind else {
        return Err("a filter that is not written out".to_string());
    };
    let mut result = outer;
    for (key, value) in fields {
        let text = match key.as_str() {
            "hasText" if scope.pattern(value).is_some() => {
                return Err("a filter by a pattern cannot be described".to_string());
            }
            "hasText" => scope.text(value)?,
            "visible" if scope.flag(Some(value)) == Some(true) => continue,
            "has" => match locator(scope, value, depth.saturating_sub(1)) {
                Some(Ok(Locator { aim: Aim::Named { name: Some(name), .. }, .. })) => name,
                Some(Ok(Locator { aim: Aim::Text { text, .. } | Aim::Label(text), .. })) => text,
                _ => return Err("a filter by an element without a name cannot be described".to_string()),
            },
            other => return Err(format!("the filter `{other}` cannot be described")),
        };
        match &mut result.aim {
            Aim::Named { name: name @ None, .. } => *name = Some(text),
            Aim::Css { text: own @ None, .. } => *own = Some(text),
            _ => return Err("a filter of an element that already has a name cannot be described".to_string()),
        }
    }
    Ok(result)
}

/// What `getBy…` and `locator` find. `None` if the method makes no locator.
fn aim(scope: &Scope, method: &str, args: &[TestCode]) -> Option<Result<(Aim, Option<u32>), String>> {
    let known = [
        "getByRole",
        "getByText",
        "getByLabel",
        "getByPlaceholder",
        "getByTestId",
        "getByAltText",
        "getByTitle",
        "locator",
    ];
    known.contains(&method).then(|| aim_of(scope, method, args))
}

fn aim_of(scope: &Scope, method: &str, args: &[TestCode]) -> Result<(Aim, Option<u32>), String> {
    let first = args.first().ok_or_else(|| format!("`{method}` without an argument"))?;
    let options = args.get(1).map(|options| scope.value(options));
    let is_exact = scope.flag(options.and_then(|options| options.field("exact"))) == Some(true);
    let by_attribute = |attribute: &str| -> Result<(Aim, Option<u32>), String> {
        if scope.pattern(first).is_some() {
            return Err(format!("`{method}` with a pattern cannot be described"));
        }
        let text = scope.text(first)?.replace('\\', "\\\\").replace('"', "\\\"");
        let css = if is_exact { format!("[{attribute}=\"{text}\"]") } else { format!("[{attribute}*=\"{text}\" i]") };
        Ok((Aim::Css { css, text: None }, None))
    };
    let by_pattern = |property: &str, pattern: String| {
        let selector = Map::from_iter([(format!("{property}Regex"), pattern.into())]);
        Ok((Aim::Selector(selector), None))
    };
    match method {
        "getByRole" => role(scope, first, options).map(|aim| (aim, None)),
        "getByText" => match scope.pattern(first) {
            Some(pattern) => by_pattern("text", pattern),
            None => Ok((Aim::Text { text: scope.text(first)?, is_exact }, None)),
        },
        "getByLabel" => match scope.pattern(first) {
            Some(pattern) => by_pattern("ariaName", pattern),
            None => Ok((Aim::Label(scope.text(first)?), None)),
        },
        "getByPlaceholder" => by_attribute("placeholder"),
        "getByAltText" => by_attribute("alt"),
        "getByTitle" => by_attribute("title"),
        "getByTestId" => match scope.pattern(first) {
            Some(pattern) => by_pattern("dataTestId", pattern),
            None => {
                let id = scope.text(first)?.replace('\\', "\\\\").replace('"', "\\\"");
                Ok((Aim::Css { css: format!("[data-testid=\"{id}\"]"), text: None }, None))
            }
        },
        _ => {
            let (mut aim, index) = selector(&scope.text(first)?)?;
            for (key, value) in options.map(fields).unwrap_or_default() {
                match (key.as_str(), &mut aim) {
                    ("hasText", Aim::Css { text: text @ None, .. }) if scope.pattern(value).is_none() => {
                        *text = Some(scope.text(value)?);
                    }
                    (other, _) => return Err(format!("the option `{other}` cannot be described")),
                }
            }
            Ok((aim, index))
        }
    }
}

fn fields(code: &TestCode) -> &[(String, TestCode)] {
    match &code.kind {
        CodeKind::Object(fields) => fields,
        _ => &[],
    }
}

fn role(scope: &Scope, first: &TestCode, options: Option<&TestCode>) -> Result<Aim, String> {
    let role = scope.text(first)?;
    let mut name = None;
    let mut marks = String::new();
    let mut pattern = None;
    let mut level = None;
    for (key, value) in options.map(fields).unwrap_or_default() {
        match key.as_str() {
            "name" => match scope.pattern(value) {
                Some(found) => pattern = Some(found),
                None => name = Some(scope.text(value)?),
            },
            "exact" | "includeHidden" => {}
            "checked" => {
                marks.push_str(if scope.flag(Some(value)) == Some(false) { " [unchecked]" } else { " [checked]" })
            }
            "selected" if scope.flag(Some(value)) == Some(true) => marks.push_str(" [selected]"),
            "disabled" if scope.flag(Some(value)) == Some(true) => marks.push_str(" [disabled]"),
            "level" => level = scope.number(value),
            other => return Err(format!("`{other}` of a role cannot be described")),
        }
    }
    if let Some(level) = level {
        marks.push_str(&format!(" [level={level}]"));
    }
    match pattern {
        Some(pattern) if marks.is_empty() => {
            let selector = [("ariaRole".to_string(), role.into()), ("ariaNameRegex".to_string(), pattern.into())];
            Ok(Aim::Selector(Map::from_iter(selector)))
        }
        Some(_) => Err("a pattern with a state cannot be described".to_string()),
        None => Ok(Aim::Named { role: Some(role), name, marks }),
    }
}

/// A selector of `locator('…')`.
fn selector(text: &str) -> Result<(Aim, Option<u32>), String> {
    let text = text.trim();
    if let Some((before, nth)) = text.rsplit_once(">>") {
        let Some(n) = nth.trim().strip_prefix("nth=").and_then(|n| n.parse().ok()) else {
            return Err("a chain of selectors with `>>` cannot be described".to_string());
        };
        return Ok((selector(before)?.0, Some(n)));
    }
    if text.starts_with("//") || text.starts_with("..") || text.starts_with("xpath=") {
        return Err("XPath is not available".to_string());
    }
    if let Some(pattern) = text.strip_prefix("text=/").and_then(|rest| rest.rsplit_once('/')) {
        let selector = Map::from_iter([("textRegex".to_string(), whole(pattern.0, pattern.1.contains('i')).into())]);
        return Ok((Aim::Selector(selector), None));
    }
    if let Some(shown) = text.strip_prefix("text=") {
        let is_exact = shown.len() > 1 && shown.starts_with(['"', '\'']);
        let shown = if is_exact { shown.trim_matches(['"', '\'']) } else { shown };
        return Ok((Aim::Text { text: shown.to_string(), is_exact }, None));
    }
    for attribute in ["id", "data-testid", "data-test-id", "data-test"] {
        if let Some(value) = text.strip_prefix(attribute).and_then(|rest| rest.strip_prefix('=')) {
            return Ok((Aim::Css { css: format!("[{attribute}=\"{value}\"]"), text: None }, None));
        }
    }
    let css = text.strip_prefix("css=").unwrap_or(text).replace(":visible", "");
    if css.is_empty() || css.chars().any(char::is_control) {
        return Err("the selector is empty or has line breaks".to_string());
    }
    if let Some((before, rest)) = css.split_once(":has-text(") {
        let shown = rest.strip_suffix(')').map(|shown| shown.trim_matches(['"', '\'']));
        return match shown.filter(|shown| !shown.contains(['(', ')', '"']) && !before.is_empty()) {
            Some(shown) => Ok((Aim::Css { css: before.to_string(), text: Some(shown.to_string()) }, None)),
            None => Err("this selector is only understood by Playwright".to_string()),
        };
    }
    let own =
        [":text", ":nth-match", ":right-of", ":left-of", ":above", ":below", ":near", "_react=", "_vue=", "internal:"];
    if own.iter().any(|own| css.contains(own)) || css.contains('"') && css.contains(" \"") {
        return Err("this selector is only understood by Playwright".to_string());
    }
    Ok((Aim::Css { css, text: None }, None))
}
