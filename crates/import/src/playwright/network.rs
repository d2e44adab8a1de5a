//! Requests that a test answers itself.

use serde_json::{Map, Value, json};

use super::actions::TestCalls;
use super::code::{CodeFunction, CodeKind, StatementKind, TestCode};
use super::value::Scope;

type Done = Result<TestCalls, String>;

/// `page.route(address, handler, options)`.
pub fn route(scope: &Scope, args: &[TestCode]) -> Done {
    let pattern = address_pattern(scope, args.first())?;
    let Some(CodeKind::Function(handler)) = args.get(1).map(|handler| &scope.value(handler).kind) else {
        return Err("how requests are answered is not written here".to_string());
    };
    let (method, given, scope) = answer(scope, handler)?;
    let mut own = Map::from_iter([("pattern".to_string(), pattern.into())]);
    let mut missing = Vec::new();
    let tool = match method.as_str() {
        "abort" => {
            if let Some(reason) = given.first() {
                own.insert("error".into(), abort_reason(&scope.text(reason)?).into());
            }
            "web_abortRequest"
        }
        "fulfill" => {
            let none = CodeKind::Object(Vec::new());
            let CodeKind::Object(fields) = given.first().map_or(&none, |given| &scope.value(given).kind) else {
                return Err("the answer is only known when the test runs".to_string());
            };
            for (key, value) in fields {
                match key.as_str() {
                    "status" | "json" | "body" | "headers" => drop(own.insert(key.clone(), known(&scope, value)?)),
                    "contentType" => {
                        let headers = own.entry("headers").or_insert_with(|| json!({}));
                        headers["content-type"] = scope.text(value)?.into();
                    }
                    "path" => {
                        missing.push("the path is relative to the trail".to_string());
                        own.insert("file".into(), scope.text(value)?.into());
                    }
                    other => return Err(format!("`{other}` of an answer has no counterpart")),
                }
            }
            "web_mockRequest"
        }
        "continue" | "fallback" if given.is_empty() => {
            return Ok(TestCalls::not_needed("requests go to their servers"));
        }
        other => return Err(format!("`{other}` of a request has no counterpart")),
    };
    let times = args.get(2).and_then(|options| scope.value(options).field("times"));
    if let Some(times) = times.and_then(|times| scope.number(times)) {
        own.insert("times".into(), json!(times as u64));
    }
    Ok(TestCalls { missing, ..TestCalls::one(tool, own) })
}

/// `page.unroute(address)`.
pub fn unroute(scope: &Scope, args: &[TestCode]) -> Done {
    let pattern = address_pattern(scope, args.first())?;
    Ok(TestCalls::one("web_removeNetworkRules", json!({ "pattern": pattern })))
}

/// `page.routeFromHAR(file, options)`.
pub fn route_from_har(scope: &Scope, args: &[TestCode]) -> Done {
    let file = scope.text(args.first().ok_or("`routeFromHAR` without a file")?)?;
    let option = |name: &str| args.get(1).and_then(|options| scope.value(options).field(name));
    let mut own = Map::from_iter([("file".to_string(), file.into())]);
    if let Some(url) = option("url") {
        own.insert("pattern".into(), address_pattern(scope, Some(url))?.into());
    }
    if scope.flag(option("update")) == Some(true) {
        return Ok(TestCalls::one("web_recordHar", own));
    }
    if option("notFound").and_then(|missing| scope.text(missing).ok()).as_deref() == Some("fallback") {
        own.insert("missing".into(), "CONTINUE".into());
    }
    Ok(TestCalls {
        missing: vec!["the path is relative to the trail".to_string()],
        ..TestCalls::one("web_replayHar", own)
    })
}

/// The method of the request that a handler calls, with its arguments, and what the names in the handler stand for.
fn answer<'h>(scope: &Scope, handler: &'h CodeFunction) -> Result<(String, &'h [TestCode], Scope), String> {
    let mut inner = scope.clone();
    let mut found = None;
    for statement in &handler.body {
        match &statement.kind {
            StatementKind::Const(names) => {
                let named = names.iter().filter_map(|(name, value)| Some((name.clone()?, value.clone()?)));
                inner.values.extend(named);
            }
            StatementKind::Expression(code) => {
                let CodeKind::Call(callee, given) = &code.awaited().kind else { return Err(undecided()) };
                let CodeKind::Member(_, method) = &callee.kind else { return Err(undecided()) };
                if found.replace((method.clone(), given.as_slice())).is_some() {
                    return Err(undecided());
                }
            }
            StatementKind::Nothing => {}
            _ => return Err(undecided()),
        }
    }
    let (method, given) = found.ok_or_else(undecided)?;
    Ok((method, given, inner))
}

fn undecided() -> String {
    "a handler that decides how requests are answered has no counterpart".to_string()
}

/// An address as the network tools take it: a part of it, or all of it with `*`.
fn address_pattern(scope: &Scope, code: Option<&TestCode>) -> Result<String, String> {
    let code = code.ok_or("no address")?;
    if let CodeKind::Pattern { source, .. } = &scope.value(code).kind {
        let part = source.replace("\\/", "/").replace("\\.", ".").replace(".*", "*");
        let is_plain = !part.contains(['\\', '^', '$', '(', '[', '+', '?', '|', '{']);
        return match (is_plain, part.contains('*')) {
            (true, false) => Ok(part),
            (true, true) => Ok(format!("*{part}*")),
            (false, _) => Err(format!("the pattern /{source}/ of addresses has no counterpart")),
        };
    }
    let text = scope.text(code)?;
    match text.contains(['{', '}', '[', ']']) && !text.contains("{{") {
        true => Err(format!("the pattern `{text}` of addresses has no counterpart")),
        false => Ok(text),
    }
}

fn abort_reason(reason: &str) -> &'static str {
    match reason {
        "timedout" => "TIMED_OUT",
        "connectionrefused" => "CONNECTION_REFUSED",
        "connectionreset" => "CONNECTION_RESET",
        "namenotresolved" => "NAME_NOT_RESOLVED",
        "internetdisconnected" => "INTERNET_DISCONNECTED",
        "blockedbyclient" => "BLOCKED_BY_CLIENT",
        _ => "FAILED",
    }
}

/// A value as JSON, if it is known before the test runs.
fn known(scope: &Scope, code: &TestCode) -> Result<Value, String> {
    let value = scope.value(code);
    Ok(match &value.kind {
        CodeKind::Object(fields) => {
            let field = |(key, value): &(String, TestCode)| match key.as_str() {
                "..." => Err("a value is only known when the test runs".to_string()),
                _ => Ok((key.clone(), known(scope, value)?)),
            };
            Value::Object(fields.iter().map(field).collect::<Result<_, String>>()?)
        }
        CodeKind::List(items) => {
            Value::Array(items.iter().map(|item| known(scope, item)).collect::<Result<_, String>>()?)
        }
        CodeKind::Flag(flag) => json!(flag),
        CodeKind::Number(number) if number.fract() == 0.0 && number.abs() < 1e15 => json!(*number as i64),
        CodeKind::Number(number) => json!(number),
        CodeKind::Name(name) if name == "null" => Value::Null,
        CodeKind::Call(callee, given)
            if callee.names().as_deref() == Some(&["JSON", "stringify"]) && given.len() == 1 =>
        {
            known(scope, &given[0])?.to_string().into()
        }
        _ => scope.text(value)?.into(),
    })
}
