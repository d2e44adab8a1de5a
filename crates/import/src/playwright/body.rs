//! The statements of a test.

use serde_json::json;

use super::actions::{TestCalls, on_element, on_input, on_page};
use super::checks::expectation;
use super::code::{CodeFunction, CodeKind, CodeParam, CodeStatement, ParamBinding, StatementKind, TestCode};
use super::locator::{Locator, page};
use super::span;
use super::value::Scope;
use crate::draft::{StepDraft, StepPart};
use crate::{ForeignFile, ImportedStatement, StatementFate, grouping};

/// How deep functions of a file may call each other.
const DEPTH: usize = 6;
/// How many rounds of a loop are written out.
const ROUNDS: usize = 20;
/// How many statements one test may become.
const STATEMENTS: usize = 2_000;

/// The translation of the body of a test.
pub struct TestBody<'f> {
    pub file: &'f ForeignFile,
    pub scope: Scope,
    pub statements: Vec<ImportedStatement>,
    units: Vec<StepDraft>,
    /// The tab that is active.
    page: usize,
    depth: usize,
}

impl<'f> TestBody<'f> {
    pub fn new(file: &'f ForeignFile, scope: Scope) -> TestBody<'f> {
        TestBody { file, scope, statements: Vec::new(), units: Vec::new(), page: 0, depth: 0 }
    }

    /// The steps of the statements so far.
    pub fn take_steps(&mut self) -> Vec<StepDraft> {
        grouping::steps(std::mem::take(&mut self.units))
    }

    pub fn run(&mut self, function: &CodeFunction) {
        for param in &function.params {
            if let CodeParam::Fields(fields) = param
                && fields.iter().any(|(field, _)| field == "page")
            {
                self.scope.pages.insert("page".to_string(), 0);
            }
        }
        function.body.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &CodeStatement) {
        if self.statements.len() >= STATEMENTS {
            return;
        }
        match &statement.kind {
            StatementKind::Nothing => {}
            StatementKind::Expression(code) => self.expression(statement, code),
            StatementKind::Const(declared) => {
                for (name, value) in declared {
                    self.constant(statement, name.as_deref(), value.as_ref());
                }
            }
            StatementKind::Function(name, function) => {
                self.scope.functions.insert(name.clone(), (**function).clone());
            }
            StatementKind::ForOf { name, list, body } => self.for_of(statement, name.as_deref(), list, body),
            StatementKind::Other(word) => {
                self.keep(statement, word, format!("`{word}` needs `when:`, `repeat:` or a script"));
            }
        }
    }

    fn for_of(&mut self, statement: &CodeStatement, name: Option<&str>, list: &TestCode, body: &[CodeStatement]) {
        let (Some(name), CodeKind::List(items)) = (name, self.scope.value(list).kind.clone()) else {
            return self.keep(statement, "for", "a loop over what is only known when the test runs".to_string());
        };
        if items.len() > ROUNDS || self.depth >= DEPTH {
            return self.keep(
                statement,
                "for",
                format!("a loop of more than {ROUNDS} rounds needs `forEach:` or a script"),
            );
        }
        self.depth += 1;
        for item in items {
            self.scope.values.insert(name.to_string(), item);
            body.iter().for_each(|statement| self.statement(statement));
        }
        self.depth -= 1;
    }

    fn constant(&mut self, statement: &CodeStatement, name: Option<&str>, value: Option<&TestCode>) {
        let (Some(name), Some(value)) = (name, value) else {
            return self.keep(statement, "const", "a value that is only known when the test runs".to_string());
        };
        let inner = value.awaited();
        // `page.waitForEvent('popup')`
        if let CodeKind::Call(callee, args) = &inner.kind
            && let CodeKind::Member(object, method) = &callee.kind
        {
            let event = args.first().map(|event| self.scope.text(event));
            match (method.as_str(), event, &object.kind) {
                ("waitForEvent", Some(Ok(event)), _) if event == "popup" || event == "page" => {
                    self.scope.promises.insert(name.to_string(), "page");
                    return self.done(statement, "waitForEvent", TestCalls::default());
                }
                ("waitForEvent", Some(Ok(event)), _) if event == "download" => {
                    self.scope.promises.insert(name.to_string(), "download");
                    return self.done(statement, "waitForEvent", TestCalls::default());
                }
                ("newPage", _, CodeKind::Name(context)) if context == "context" => {
                    let n = self.next_page();
                    self.scope.pages.insert(name.to_string(), n);
                    self.page = n;
                    return self.done(statement, "newPage", TestCalls::one("web_tabs", json!({"action": "NEW"})));
                }
                _ => {}
            }
        }
        if let CodeKind::Name(promise) = &inner.kind
            && let Some(kind) = self.scope.promises.remove(promise)
        {
            if kind == "download" {
                return self.done(statement, "download", TestCalls::one("web_download", json!({})));
            }
            let n = self.next_page();
            self.scope.pages.insert(name.to_string(), n);
            // A tab that a page opens becomes the active one.
            self.page = n;
            return self.done(statement, "popup", TestCalls::default());
        }
        self.scope.pages.remove(name);
        let is_known = Locator::of(&self.scope, value).is_some_and(|found| found.is_ok())
            || self.scope.text(value).is_ok()
            || matches!(value.kind, CodeKind::Object(_) | CodeKind::List(_) | CodeKind::Pattern { .. });
        if let CodeKind::Function(function) = &value.kind {
            self.scope.functions.insert(name.to_string(), (**function).clone());
        } else if is_known {
            // A name that stands for itself would never be resolved.
            self.scope.values.insert(name.to_string(), value.clone());
        } else {
            let reason = match Locator::of(&self.scope, value) {
                Some(Err(reason)) => reason,
                _ => "a value that is only known when the test runs".to_string(),
            };
            self.scope.values.remove(name);
            self.keep(statement, "const", reason);
        }
    }

    fn next_page(&self) -> usize {
        self.scope.pages.values().max().map_or(0, |last| last + 1)
    }

    fn expression(&mut self, statement: &CodeStatement, code: &TestCode) {
        let code = code.awaited();
        let CodeKind::Call(callee, args) = &code.kind else {
            // `await promise` alone.
            if let CodeKind::Name(promise) = &code.kind
                && let Some(kind) = self.scope.promises.remove(promise)
            {
                let calls =
                    if kind == "download" { TestCalls::one("web_download", json!({})) } else { TestCalls::default() };
                return self.done(statement, "await", calls);
            }
            return self.keep(statement, "statement", "it needs a script".to_string());
        };
        if let Some(expected) = expectation(code) {
            return match expected {
                Ok(expected) => {
                    let name = expected.name();
                    match expected.translate(&self.scope) {
                        Ok(calls) => self.done(statement, &name, calls),
                        Err(reason) => self.keep(statement, &name, reason),
                    }
                }
                Err(reason) => self.keep(statement, "expect", reason),
            };
        }
        let names = callee.names().unwrap_or_default();
        match names.as_slice() {
            ["test", "step"] => return self.test_step(statement, args),
            ["test", "slow" | "setTimeout" | "info"] => {
                return self.done(statement, "test.slow", TestCalls::not_needed("`run --timeout` limits trails"));
            }
            ["Promise", "all"] => {
                return self.keep(
                    statement,
                    "Promise.all",
                    "calls are made one after another; write them so".to_string(),
                );
            }
            ["console", _] => {
                return self.done(statement, "console", TestCalls::not_needed("the report shows each call"));
            }
            [function] if self.scope.functions.contains_key(*function) && self.depth < DEPTH => {
                let function = self.scope.functions[*function].clone();
                return self.inline(&function, args);
            }
            _ => {}
        }
        let CodeKind::Member(object, method) = &callee.kind else {
            return self.keep(
                statement,
                names.first().copied().unwrap_or("call"),
                "a function of another file needs a YAML tool".to_string(),
            );
        };
        if let Some(number) = page(&self.scope, object) {
            let called = match (method.as_str(), args.first()) {
                ("evaluate", Some(script)) => Ok(self.evaluate(script, args.len())),
                _ => Ok(on_page(&self.scope, number, method, args)),
            };
            let called = called.and_then(|called: Result<TestCalls, String>| called);
            return self.on_tab(statement, &format!("page.{method}"), number, called);
        }
        if let CodeKind::Member(of, device) = &object.kind
            && let Some(number) = page(&self.scope, of)
        {
            let called = on_input(&self.scope, device, method, args);
            return self.on_tab(statement, &format!("page.{device}.{method}"), number, called);
        }
        match Locator::of(&self.scope, object) {
            Some(Ok(locator)) => {
                let called = on_element(&self.scope, &locator, method, args);
                self.on_tab(statement, &format!("locator.{method}"), locator.page, called);
            }
            Some(Err(reason)) => self.keep(statement, &format!("locator.{method}"), reason),
            None => {
                self.keep(statement, method, "it is no page and no locator; write a YAML tool or a script".to_string())
            }
        }
    }

    /// `page.evaluate(() => …)` without arguments.
    fn evaluate(&self, script: &TestCode, n_args: usize) -> Result<TestCalls, String> {
        let source = self.file.text.get(script.start..script.end).unwrap_or_default();
        let script = match &script.kind {
            CodeKind::Function(function) if function.params.is_empty() && n_args == 1 => format!("({source})()"),
            CodeKind::Text(text) => text.clone(),
            _ => return Err("a function with arguments needs a script".to_string()),
        };
        Ok(TestCalls::one("web_evaluate", json!({"script": script})))
    }

    fn test_step(&mut self, statement: &CodeStatement, args: &[TestCode]) {
        let (Some(title), Some(CodeKind::Function(function))) = (args.first(), args.get(1).map(|body| &body.kind))
        else {
            return self.keep(statement, "test.step", "a step is a title and a function".to_string());
        };
        let before = self.units.len();
        let title = self.scope.text(title).ok();
        self.depth += 1;
        if self.depth < DEPTH {
            function.body.iter().for_each(|statement| self.statement(statement));
        }
        self.depth -= 1;
        if let Some(first) = self.units.get_mut(before) {
            first.words = title;
        }
    }

    /// A function of the file, in place.
    fn inline(&mut self, function: &CodeFunction, args: &[TestCode]) {
        let outer = self.scope.clone();
        for (nth, param) in function.params.iter().enumerate() {
            let arg = args.get(nth);
            match param {
                CodeParam::Name(binding) => self.bind(&outer, binding, arg),
                CodeParam::Fields(fields) => {
                    let given = arg.map(|arg| outer.value(arg));
                    fields.iter().for_each(|(field, binding)| {
                        self.bind(&outer, binding, given.and_then(|given| given.field(field)));
                    });
                }
                CodeParam::Other => {}
            }
        }
        self.depth += 1;
        function.body.iter().for_each(|statement| self.statement(statement));
        self.depth -= 1;
        self.scope.values = outer.values;
        self.scope.pages = outer.pages;
    }

    /// Gives a parameter of a function its value, which is known outside of it, or its default.
    fn bind(&mut self, outer: &Scope, binding: &ParamBinding, arg: Option<&TestCode>) {
        let name = binding.name.clone();
        let Some(arg) = arg.or(binding.default.as_ref()) else {
            self.scope.values.remove(&name);
            return;
        };
        if let Some(number) = page(outer, arg) {
            self.scope.pages.insert(name, number);
            return;
        }
        let value = outer.value(arg);
        let value = match (&value.kind, outer.text(arg)) {
            // A number chooses an element, and a pattern matches.
            (CodeKind::Number(_) | CodeKind::Flag(_) | CodeKind::Pattern { .. }, _) | (_, Err(_)) => value.clone(),
            (_, Ok(text)) => TestCode { kind: CodeKind::Text(text), ..arg.clone() },
        };
        self.scope.values.insert(name, value);
    }

    fn on_tab(&mut self, statement: &CodeStatement, name: &str, tab: usize, called: Result<TestCalls, String>) {
        match called {
            Ok(mut calls) => {
                if tab != self.page && !calls.calls.is_empty() {
                    calls.calls.insert(0, json!({"web_tabs": {"action": "SELECT", "index": tab}}));
                    self.page = tab;
                }
                if name == "page.close" {
                    self.page = 0;
                }
                self.done(statement, name, calls);
            }
            Err(reason) => self.keep(statement, name, reason),
        }
    }

    fn done(&mut self, statement: &CodeStatement, name: &str, calls: TestCalls) {
        let at = span(&self.file.text, statement.start);
        let fate = match calls.missing.is_empty() {
            true => StatementFate::Translated,
            false => StatementFate::Partly(calls.missing.join(", ")),
        };
        let mut parts: Vec<StepPart> = Vec::new();
        if let StatementFate::Partly(note) = &fate {
            parts.push(StepPart::Comment(vec![format!("{}:{}:{}: {note}", self.file.path, at.line, at.column)]));
        }
        parts.extend(calls.calls.into_iter().map(StepPart::Call));
        self.statements.push(ImportedStatement::new(&self.file.path, at, name, fate));
        if !parts.is_empty() {
            self.units.push(StepDraft { words: self.comment_above(statement), ..StepDraft::of(parts) });
        }
    }

    pub fn keep(&mut self, statement: &CodeStatement, name: &str, reason: String) {
        let at = span(&self.file.text, statement.start);
        let mut lines = vec![format!("Not imported, {}:{}:{}: {reason}:", self.file.path, at.line, at.column)];
        let source = self.file.text.get(statement.start..statement.end).unwrap_or_default();
        lines.extend(source.lines().map(|line| format!("  {}", line.trim_end())));
        self.statements.push(ImportedStatement::new(&self.file.path, at, name, StatementFate::Kept(reason)));
        self.units.push(StepDraft::of(vec![StepPart::Comment(lines)]));
    }

    /// The `//` comment on the lines right above a statement.
    fn comment_above(&self, statement: &CodeStatement) -> Option<String> {
        let before = self.file.text.get(..statement.start)?;
        let before = &before[..before.rfind('\n')?];
        let lines: Vec<&str> =
            before.lines().rev().map(str::trim).take_while(|line| line.starts_with("//")).take(3).collect();
        let words: Vec<&str> = lines.iter().rev().map(|line| line.trim_start_matches('/').trim()).collect();
        let words = words.join(" ");
        (!words.trim().is_empty() && !words.starts_with("origin:")).then_some(words)
    }
}
