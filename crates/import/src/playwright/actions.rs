//! What tests do with elements and pages.

use serde_json::{Map, Value, json};

use super::code::{CodeKind, TestCode};
use super::locator::{Aim, Locator};
use super::network;
use super::value::Scope;

/// The calls of a statement, and what of it is missing.
#[derive(Debug, Default)]
pub struct TestCalls {
    pub calls: Vec<Value>,
    pub missing: Vec<String>,
}

impl TestCalls {
    pub fn one(tool: &str, args: impl Into<Value>) -> TestCalls {
        TestCalls { calls: vec![json!({tool: args.into()})], missing: Vec::new() }
    }

    /// What nothing has to be done for.
    pub fn not_needed(why: &str) -> TestCalls {
        TestCalls { calls: Vec::new(), missing: vec![format!("not needed: {why}")] }
    }
}

type Done = Result<TestCalls, String>;

/// The address that a test opens. Relative ones are below `{{base}}`.
pub fn address(url: &str) -> String {
    match url {
        _ if url.contains("://") || url.starts_with("{{") || url.starts_with("about:") || url.starts_with("data:") => {
            url.to_string()
        }
        _ => format!("{{{{base}}}}/{}", url.trim_start_matches("./").trim_start_matches('/')),
    }
}

/// A method of a locator.
pub fn on_element(scope: &Scope, locator: &Locator, method: &str, args: &[TestCode]) -> Done {
    let first = args.first();
    let text = |code: Option<&TestCode>| scope.text(code.ok_or_else(|| format!("`{method}` without an argument"))?);
    let with = |role: Option<&str>, more: Value| {
        let mut own = locator.args(role);
        own.extend(more.as_object().cloned().unwrap_or_default());
        Value::from(own)
    };
    let field = Some("textbox");
    match method {
        "click" | "tap" => click(scope, locator, first, None),
        "dblclick" => click(scope, locator, first, Some(2)),
        "fill" => options(scope, TestCalls::one("web_type", with(field, json!({"text": text(first)?}))), args.get(1)),
        "clear" => Ok(TestCalls::one("web_type", with(field, json!({"text": ""})))),
        "pressSequentially" | "type" => {
            Ok(TestCalls::one("web_type", with(field, json!({"text": text(first)?, "clearFirst": false}))))
        }
        "press" => {
            let key = json!({"web_pressKey": {"key": text(first)?}});
            let focus = json!({"web_type": with(field, json!({"text": "", "clearFirst": false}))});
            Ok(TestCalls { calls: vec![focus, key], missing: Vec::new() })
        }
        "check" => options(scope, TestCalls::one("web_check", with(Some("checkbox"), json!({}))), first),
        "uncheck" => Ok(TestCalls::one("web_check", with(Some("checkbox"), json!({"checked": false})))),
        "setChecked" => {
            let is = scope.flag(first).ok_or("it is only known when the test runs whether to check it")?;
            Ok(TestCalls::one("web_check", with(Some("checkbox"), json!({"checked": is}))))
        }
        "selectOption" => {
            let values = chosen(scope, first.ok_or("`selectOption` without an option")?)?;
            Ok(TestCalls::one("web_selectOption", with(Some("combobox"), json!({"values": values}))))
        }
        "hover" => options(scope, TestCalls::one("web_hover", with(None, json!({}))), first),
        "setInputFiles" => {
            let files = texts(scope, first.ok_or("`setInputFiles` without a file")?)?;
            if files.is_empty() {
                Err("choosing no file has no counterpart".to_string())
            } else {
                Ok(TestCalls {
                    missing: vec!["the paths are relative to the trail".to_string()],
                    ..TestCalls::one("web_upload", with(None, json!({"files": files})))
                })
            }
        }
        "dragTo" => {
            let target = first.and_then(|first| Locator::of(scope, first)).ok_or("the target is no locator")??;
            let mut target = target.args(None);
            let mut more = Map::new();
            for (from, to) in [("ref", "toRef"), ("nodeSelector", "toNodeSelector"), ("index", "toIndex")] {
                more.extend(target.shift_remove(from).map(|value| (to.to_string(), value)));
            }
            options(scope, TestCalls::one("web_drag", with(None, more.into())), args.get(1))
        }
        "focus" => Ok(TestCalls::one("web_type", with(field, json!({"text": "", "clearFirst": false})))),
        "scrollIntoViewIfNeeded" => Ok(TestCalls::not_needed("a call scrolls to its element")),
        "highlight" => Ok(TestCalls::not_needed("it shows the element to a person")),
        "screenshot" => Ok(TestCalls {
            missing: vec!["a picture of the whole page".to_string()],
            ..TestCalls::one("takeSnapshot", json!({"screenName": "element"}))
        }),
        "waitFor" => {
            let state =
                first.and_then(|first| scope.value(first).field("state")).map(|state| scope.text(state)).transpose()?;
            match state.as_deref() {
                None | Some("visible") => visible(locator, true),
                Some("hidden" | "detached") => visible(locator, false),
                Some(other) => Err(format!("waiting for the state `{other}` has no counterpart")),
            }
        }
        other => Err(format!("`{other}` of an element has no counterpart")),
    }
}

/// That an element is visible, or is not.
pub fn visible(locator: &Locator, is: bool) -> Done {
    match (&locator.aim, &locator.within, locator.index) {
        (Aim::Text { text, is_exact: false }, None, None) if is => {
            Ok(TestCalls::one("web_verifyTextVisible", json!({"text": text})))
        }
        (Aim::Text { text, is_exact: true }, None, None) => {
            Ok(TestCalls::one(if is { "assertVisible" } else { "assertNotVisible" }, json!({"text": text})))
        }
        _ if is => Ok(TestCalls::one("web_verifyElementVisible", locator.args(None))),
        _ => Ok(TestCalls::one("assertNotVisible", locator.args(None))),
    }
}

fn click(scope: &Scope, locator: &Locator, given: Option<&TestCode>, count: Option<u32>) -> Done {
    let mut args = locator.args(None);
    if let Some(count) = count {
        args.insert("clickCount".to_string(), count.into());
    }
    let mut done = TestCalls::default();
    let fields = given.map(|given| scope.value(given));
    if let Some(CodeKind::Object(fields)) = fields.map(|fields| &fields.kind) {
        for (key, value) in fields {
            match key.as_str() {
                "button" => drop(args.insert("button".into(), scope.text(value)?.to_uppercase().into())),
                "clickCount" => drop(
                    args.insert("clickCount".into(), json!(scope.number(value).ok_or("unknown clickCount")? as u32)),
                ),
                "timeout" => {
                    drop(args.insert("timeoutMs".into(), json!(scope.number(value).ok_or("unknown timeout")? as u64)))
                }
                "modifiers" => {
                    let keys = texts(scope, value)?.into_iter();
                    let keys: Vec<String> =
                        keys.map(|key| {
                            if key == "ControlOrMeta" { "CONTROL_OR_META".to_string() } else { key.to_uppercase() }
                        })
                        .collect();
                    args.insert("modifiers".into(), keys.into());
                }
                "position" => {
                    for (from, to) in [("x", "offsetX"), ("y", "offsetY")] {
                        let offset =
                            scope.value(value).field(from).and_then(|at| scope.number(at)).ok_or("unknown position")?;
                        args.insert(to.into(), json!(offset as i64));
                    }
                }
                other => done.missing.push(format!("without `{other}`")),
            }
        }
    }
    done.calls.push(json!({"web_click": args}));
    Ok(done)
}

/// Adds `timeout`, and notes other options.
pub fn options(scope: &Scope, mut done: TestCalls, given: Option<&TestCode>) -> Done {
    let Some(CodeKind::Object(fields)) = given.map(|given| &scope.value(given).kind) else { return Ok(done) };
    for (key, value) in fields {
        match (key.as_str(), scope.number(value)) {
            ("timeout", Some(timeout)) => {
                for args in done.calls.iter_mut().filter_map(|call| call.as_object_mut()?.values_mut().next()) {
                    args["timeoutMs"] = json!(timeout as u64);
                }
            }
            (other, _) => done.missing.push(format!("without `{other}`")),
        }
    }
    Ok(done)
}

pub fn texts(scope: &Scope, code: &TestCode) -> Result<Vec<String>, String> {
    match &scope.value(code).kind {
        CodeKind::List(items) => items.iter().map(|item| scope.text(item)).collect(),
        _ => scope.text(code).map(|text| vec![text]),
    }
}

fn chosen(scope: &Scope, code: &TestCode) -> Result<Vec<String>, String> {
    let value = scope.value(code);
    match &value.kind {
        CodeKind::List(items) => {
            Ok(items.iter().map(|item| chosen(scope, item)).collect::<Result<Vec<_>, _>>()?.concat())
        }
        CodeKind::Object(_) => {
            let named =
                value.field("label").or(value.field("value")).ok_or("an option by its index cannot be described")?;
            Ok(vec![scope.text(named)?])
        }
        _ => Ok(vec![scope.text(value)?]),
    }
}

/// A method of a page.
pub fn on_page(scope: &Scope, page: usize, method: &str, args: &[TestCode]) -> Done {
    let first = args.first();
    let text = |code: Option<&TestCode>| scope.text(code.ok_or_else(|| format!("`{method}` without an argument"))?);
    let at = |code: Option<&TestCode>| code.and_then(|code| scope.number(code));
    match method {
        "goto" => {
            let mut done = TestCalls::one("web_navigate", json!({"url": address(&text(first)?)}));
            done = options(scope, done, args.get(1))?;
            // Every navigation waits until the page is loaded.
            done.missing.retain(|missing| missing != "without `waitUntil`");
            Ok(done)
        }
        "goBack" => Ok(TestCalls::one("web_navigate", json!({"action": "BACK"}))),
        "goForward" => Ok(TestCalls::one("web_navigate", json!({"action": "FORWARD"}))),
        "reload" => Ok(TestCalls::one("web_navigate", json!({"action": "RELOAD"}))),
        "waitForURL" => url(scope, first.ok_or("`waitForURL` without an address")?),
        "waitForLoadState" => Ok(TestCalls::not_needed("calls wait for their elements")),
        "waitForTimeout" => {
            let ms = at(first).ok_or("the time is only known when the test runs")?;
            Ok(TestCalls::one("web_wait", json!({"seconds": ms / 1000.0})))
        }
        "setViewportSize" => {
            let size = scope.value(first.ok_or("no size")?);
            let side = |name: &str| {
                size.field(name).and_then(|side| scope.number(side)).map(|side| side as u64).ok_or("unknown size")
            };
            Ok(TestCalls::one("web_resize", json!({"width": side("width")?, "height": side("height")?})))
        }
        "screenshot" => {
            let path =
                first.and_then(|first| scope.value(first).field("path")).map(|path| scope.text(path)).transpose()?;
            let name = path.as_deref().map(crate::naming::stem_of).unwrap_or("page").to_string();
            Ok(TestCalls::one("takeSnapshot", json!({"screenName": name})))
        }
        "pause" => Ok(TestCalls::not_needed("`trailblaze run --until N` stops after a step")),
        "bringToFront" => Ok(TestCalls::one("web_tabs", json!({"action": "SELECT", "index": page}))),
        "close" if page > 0 => Ok(TestCalls::one("web_tabs", json!({"action": "CLOSE", "index": page}))),
        "on" | "once" => dialog(scope, args),
        "waitForSelector" => {
            let found = element_of(scope, page, first)?;
            on_element(scope, &found, "waitFor", args.get(1..).unwrap_or_default())
        }
        "click" | "dblclick" | "fill" | "check" | "uncheck" | "hover" | "press" | "type" | "selectOption"
        | "setInputFiles" | "focus" | "tap" | "setChecked" => {
            let found = element_of(scope, page, first)?;
            on_element(scope, &found, method, args.get(1..).unwrap_or_default())
        }
        "dragAndDrop" => {
            let (from, to) = (element_of(scope, page, first)?, element_of(scope, page, args.get(1))?);
            let mut own = from.args(None);
            own.extend(to.args(None).shift_remove("ref").map(|to| ("toRef".to_string(), to)));
            Ok(TestCalls::one("web_drag", own))
        }
        "route" => network::route(scope, args),
        "unroute" => network::unroute(scope, args),
        "routeFromHAR" => network::route_from_har(scope, args),
        "addInitScript" | "exposeFunction" => Err("code in the page before it loads has no counterpart".to_string()),
        other => Err(format!("`{other}` of a page has no counterpart")),
    }
}

/// The element of a method such as `page.click('#pay')`.
fn element_of(scope: &Scope, page: usize, selector: Option<&TestCode>) -> Result<Locator, String> {
    let selector = selector.ok_or("no selector")?;
    let place = |kind: CodeKind| Box::new(TestCode { start: selector.start, end: selector.end, kind });
    let mut pages = scope.clone();
    pages.pages.insert("page".to_string(), page);
    let callee = CodeKind::Member(place(CodeKind::Name("page".to_string())), "locator".to_string());
    let call = TestCode {
        start: selector.start,
        end: selector.end,
        kind: CodeKind::Call(place(callee), vec![selector.clone()]),
    };
    Locator::of(&pages, &call).ok_or("no locator")?
}

/// An address as a pattern or a text.
pub fn url(scope: &Scope, code: &TestCode) -> Done {
    if let Some(pattern) = scope.pattern(code) {
        return Ok(TestCalls::one("web_assertUrl", json!({"matches": pattern})));
    }
    let text = scope.text(code)?;
    if text.contains('*') {
        let pattern = text.replace("**", "*");
        return Ok(TestCalls::one("web_waitForUrl", json!({"pattern": pattern})));
    }
    Ok(TestCalls::one("web_assertUrl", json!({"is": address(&text)})))
}

fn dialog(scope: &Scope, args: &[TestCode]) -> Done {
    if args.first().map(|event| scope.text(event)) != Some(Ok("dialog".to_string())) {
        return Err("only dialogs can be listened to".to_string());
    }
    let Some(CodeKind::Function(function)) = args.get(1).map(|handler| &handler.kind) else {
        return Err("how the dialog is answered is not written here".to_string());
    };
    let mut answer = None;
    for statement in &function.body {
        let super::code::StatementKind::Expression(code) = &statement.kind else { continue };
        let CodeKind::Call(callee, given) = &outermost_call(code.awaited()).kind else { continue };
        let CodeKind::Member(_, method) = &callee.kind else { continue };
        match method.as_str() {
            "accept" => {
                let mut accepted = json!({"answer": "ACCEPT"});
                if let Some(text) = given.first() {
                    accepted["text"] = scope.text(text)?.into();
                }
                answer = Some(accepted);
            }
            "dismiss" => answer = Some(json!({"answer": "DISMISS"})),
            _ => {}
        }
    }
    match answer {
        Some(args) => Ok(TestCalls::one("web_dialogs", args)),
        None => Err("how the dialog is answered is not written here".to_string()),
    }
}

/// `dialog.dismiss()` of `dialog.dismiss().catch(() => {})`.
fn outermost_call(code: &TestCode) -> &TestCode {
    match &code.kind {
        CodeKind::Call(callee, _) => match &callee.kind {
            CodeKind::Member(object, method) if method == "catch" || method == "then" => outermost_call(object),
            _ => code,
        },
        _ => code,
    }
}

/// `page.keyboard` and `page.mouse`.
pub fn on_input(scope: &Scope, device: &str, method: &str, args: &[TestCode]) -> Done {
    let number =
        |at: usize| args.get(at).and_then(|code| scope.number(code)).ok_or("a number is only known when the test runs");
    let text = || scope.text(args.first().ok_or("no text")?);
    match (device, method) {
        ("keyboard", "press") => Ok(TestCalls::one("web_pressKey", json!({"key": text()?}))),
        ("keyboard", "type" | "insertText") => {
            Ok(TestCalls::one("web_type", json!({"text": text()?, "clearFirst": false})))
        }
        ("mouse", "wheel") => {
            let (x, y) = (number(0)?, number(1)?);
            let (direction, amount) = match (x, y) {
                (_, y) if y > 0.0 => ("DOWN", y),
                (_, y) if y < 0.0 => ("UP", -y),
                (x, _) if x < 0.0 => ("LEFT", -x),
                _ => ("RIGHT", x),
            };
            Ok(TestCalls::one("web_scroll", json!({"direction": direction, "amount": amount as u64})))
        }
        ("mouse", "click") => Ok(TestCalls::one("tapOnPoint", json!({"x": number(0)? as i64, "y": number(1)? as i64}))),
        _ => Err(format!("`{device}.{method}` has no counterpart")),
    }
}
