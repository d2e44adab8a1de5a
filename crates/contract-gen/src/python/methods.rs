//! `commands.py` and `blocking.py`: a class for each service.

use std::fmt::Write;

use heck::ToSnakeCase;

use super::{WIDTH, header, identifier, is_nullable, one, present, wrap, zero};
use crate::model::{CommandKind, Contract, FieldDef, FieldType, MessageDef, MethodDef, ServiceDef};

/// How a class is called.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MethodStyle {
    Asynchronous,
    Blocking,
}

pub fn asynchronous(model: &Contract) -> String {
    emit(model, MethodStyle::Asynchronous)
}

pub fn blocking(model: &Contract) -> String {
    emit(model, MethodStyle::Blocking)
}

fn emit(model: &Contract, style: MethodStyle) -> String {
    let (about, generator, base) = match style {
        MethodStyle::Asynchronous => {
            ("The methods, for asynchronous callers.", "AsyncGenerator, Coroutine", "AsyncApi")
        }
        MethodStyle::Blocking => ("The methods, for blocking callers.", "Generator", "BlockingApi"),
    };
    let mut out = header(about);
    let mut used: Vec<&str> = model.enums.iter().map(|listed| listed.name.as_str()).collect();
    let responses = model.services.iter().flat_map(|service| &service.methods).map(|method| method.response.as_str());
    used.extend(responses.filter(|name| model.message(name).value().is_none()));
    used.sort_unstable();
    used.dedup();
    let _ = write!(
        out,
        "from __future__ import annotations\n\n\
         from .._api import {base}\n\n\
         # pytest shows the test that called, not these frames.\n\
         __tracebackhide__ = True\n\n\
         # As in `typing`, which takes long to import.\n\
         TYPE_CHECKING = False\n\
         if TYPE_CHECKING:\n\
         \x20   from collections.abc import {generator}, Mapping, Sequence\n\
         \x20   from typing import Any, ClassVar\n\n\
         \x20   from .types import (\n{}    )\n",
        used.iter().map(|name| format!("        {name},\n")).collect::<String>()
    );
    for service in &model.services {
        class(&mut out, model, service, style, base);
    }
    out
}

fn class(out: &mut String, model: &Contract, service: &ServiceDef, style: MethodStyle, base: &str) {
    let prefix = if style == MethodStyle::Blocking { "Sync" } else { "" };
    let _ = write!(out, "\n\nclass {prefix}{}({base}):\n    \"\"\"{}\"\"\"\n\n", service.name, service.doc);
    out.push_str("    __slots__ = ()\n");
    if !service.platforms.is_empty() {
        let _ = writeln!(
            out,
            "\n    PLATFORMS: ClassVar[frozenset[str]] = frozenset({:?})\n    \
             \"\"\"The platforms that it is for.\"\"\"",
            service.platforms
        );
    }
    for listed in &service.methods {
        method(out, model, service, listed, style);
    }
}

fn method(out: &mut String, model: &Contract, service: &ServiceDef, method: &MethodDef, style: MethodStyle) {
    let (request, response) = (model.message(&method.request), model.message(&method.response));
    let (returns, call, end) = match response.value() {
        _ if method.is_streaming => {
            let generator = match style {
                MethodStyle::Asynchronous => format!("AsyncGenerator[{}, None]", response.name),
                MethodStyle::Blocking => format!("Generator[{}, None, None]", response.name),
            };
            (generator, "stream", format!("{:?}", response.name))
        }
        Some(value) => {
            let ty = match (&value.ty, is_nullable(value)) {
                (FieldType::Value, _) => "Any".to_string(),
                (FieldType::Struct, _) => "dict[str, Any]".to_string(),
                (_, true) => format!("{} | None", present(value)),
                (_, false) => present(value),
            };
            if response.is_result() {
                // The name of no message: the value itself is returned.
                (ty, "act", "\"\"".to_string())
            } else {
                (ty, "ask", if value.ty == FieldType::Struct { "{}".to_string() } else { zero(value).to_string() })
            }
        }
        None if response.is_result() => {
            let is_assertion = method.command.as_ref().is_some_and(|command| command.kind == CommandKind::Assertion);
            let assertion = if is_assertion { ", is_assertion=True" } else { "" };
            (response.name.clone(), "act", format!("{:?}{assertion}", response.name))
        }
        None => (response.name.clone(), "get", format!("{:?}", response.name)),
    };
    let returns = match style {
        MethodStyle::Asynchronous if !method.is_streaming => format!("Coroutine[Any, Any, {returns}]"),
        _ => returns,
    };
    let name = method.name.to_snake_case();
    let params = parameters(request, method.command.is_some());
    let mut signature = vec!["self".to_string()];
    signature.extend(params.iter().filter(|param| param.is_positional).map(PythonParam::declare));
    signature.push("*".to_string());
    signature.extend(params.iter().filter(|param| !param.is_positional).map(PythonParam::declare));
    signature.push("timeout: float | None = None".to_string());
    let _ = write!(out, "\n    def {name}(");
    let line = format!("    def {name}({}) -> {returns}:", signature.join(", "));
    if line.len() <= WIDTH {
        let _ = writeln!(out, "{}) -> {returns}:", signature.join(", "));
    } else {
        out.push('\n');
        signature.iter().for_each(|part| writeln!(out, "        {part},").expect("text"));
        let _ = writeln!(out, "    ) -> {returns}:");
    }
    documentation(out, method, &params);
    let pairs: Vec<String> = params.iter().map(|param| format!("{:?}: {}", param.json, param.name)).collect();
    let path = format!("/trailblaze.v1.{}/{}", service.name, method.name);
    let start = format!("        return self._calls.{call}(");
    let line = format!("{start}{path:?}, {{{}}}, timeout, {end})", pairs.join(", "));
    if line.len() <= WIDTH {
        let _ = writeln!(out, "{line}");
    } else {
        let _ = writeln!(out, "{start}\n            {path:?},\n            {{");
        pairs.iter().for_each(|pair| writeln!(out, "                {pair},").expect("text"));
        let _ = writeln!(out, "            }},\n            timeout,\n            {end},\n        )");
    }
}

fn documentation(out: &mut String, method: &MethodDef, params: &[PythonParam]) {
    let mut lines = wrap(&method.doc, 11, 8);
    if let Some(command) = method.command.as_ref().filter(|command| !command.platforms.is_empty()) {
        lines.extend([String::new(), format!("On {} only.", command.platforms.join(" and "))]);
    }
    lines.extend([String::new(), "Args:".to_string()]);
    for param in params.iter().filter(|param| !param.doc.is_empty()) {
        let mut wrapped = wrap(&format!("{}: {}", param.name, param.doc), 12, 16).into_iter();
        lines.extend(wrapped.next().map(|line| format!("    {line}")));
        lines.extend(wrapped.map(|line| format!("        {line}")));
    }
    let timeout = if method.is_streaming {
        "timeout: How long to follow them, in seconds (default: without end)."
    } else {
        "timeout: How long the whole call may take, in seconds (default: the client's timeout)."
    };
    lines.push(format!("    {timeout}"));
    let _ = writeln!(out, "        \"\"\"{}", lines.remove(0));
    for line in lines {
        let _ = writeln!(out, "{}", format!("        {line}").trim_end());
    }
    out.push_str("        \"\"\"\n");
}

struct PythonParam {
    name: String,
    json: String,
    doc: String,
    ty: String,
    /// None if it must be given.
    default: Option<&'static str>,
    is_positional: bool,
}

impl PythonParam {
    fn declare(&self) -> String {
        match self.default {
            Some("None") if self.ty == "Any" => format!("{}: Any = None", self.name),
            Some("None") => format!("{}: {} | None = None", self.name, self.ty),
            Some(default) => format!("{}: {} = {default}", self.name, self.ty),
            None => format!("{}: {}", self.name, self.ty),
        }
    }
}

fn parameters(request: &MessageDef, is_command: bool) -> Vec<PythonParam> {
    let marked: Vec<&str> = request.positional().iter().map(|field| field.name.as_str()).collect();
    let param = |field: &FieldDef| {
        assert!(field.name != "timeout", "{}: `timeout` is the name of the deadline of a call", request.name);
        // In requests that are not commands, a text without presence must be given, and what has no presence or is an
        // object can be passed by position.
        let is_plain = !is_command && marked.is_empty() && (!is_nullable(field) || field.ty == FieldType::Struct);
        let is_required = field.is_required || (is_plain && field.ty == FieldType::Text);
        let preset = field.preset.as_ref().map(|preset| format!(" Default: {}.", python(preset)));
        PythonParam {
            name: identifier(&field.name),
            json: field.json.clone(),
            doc: format!("{}{}", in_python(request, &field.doc), preset.unwrap_or_default()),
            // Any list will do, not only a tuple.
            ty: if field.is_repeated { format!("Sequence[{}]", one(field)) } else { present(field) },
            default: (!is_required).then(|| zero(field)),
            is_positional: is_plain || marked.contains(&field.name.as_str()),
        }
    };
    let mut params: Vec<PythonParam> = request.params().map(param).collect();
    // Parameters that must be given come first.
    params.sort_by_key(|param| param.default.is_some());
    params
}

/// A default value as it is written in Python.
fn python(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Bool(true) => "True".to_string(),
        serde_json::Value::Bool(false) => "False".to_string(),
        other => other.to_string(),
    }
}

/// A comment with the names of parameters as they are in Python.
fn in_python(request: &MessageDef, doc: &str) -> String {
    request
        .params()
        .filter(|field| field.json != field.name)
        .fold(doc.to_string(), |doc, field| doc.replace(&field.json, &identifier(&field.name)))
}
