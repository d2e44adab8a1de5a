//! The tests of a file, with what is done before and after each.

use super::body::TestBody;
use super::code::{CodeFunction, CodeKind, CodeStatement, StatementKind, TestCode};
use super::span;
use super::value::Scope;
use crate::draft::{StepDraft, StepPart, TrailDraft};
use crate::naming::{file_stem, stem_of};
use crate::{ForeignFile, Imported, ImportedStatement, StatementFate, words};

/// How deep groups of tests may be nested.
const DEPTH: usize = 10;
/// How many tests one file may become.
const TESTS: usize = 500;

/// What the groups around a test give it.
#[derive(Clone, Default)]
struct Group<'c> {
    titles: Vec<String>,
    tags: Vec<String>,
    before: Vec<(&'c CodeStatement, &'c CodeFunction)>,
    after: Vec<(&'c CodeStatement, &'c CodeFunction)>,
    skip: Option<String>,
    scope: Scope,
    notes: Vec<String>,
}

struct TestFile<'f> {
    file: &'f ForeignFile,
    base: String,
    imported: &'f mut Imported,
    n_tests: usize,
}

pub fn translate(file: &ForeignFile, statements: &[CodeStatement], base_url: Option<&str>, imported: &mut Imported) {
    let base = base_url.unwrap_or("http://localhost:3000").trim_end_matches('/').to_string();
    let mut tests = TestFile { file, base, imported, n_tests: 0 };
    tests.group(statements, Group::default(), DEPTH);
}

impl<'f> TestFile<'f> {
    fn group<'c>(&mut self, statements: &'c [CodeStatement], mut group: Group<'c>, depth: usize) {
        // Hooks and constants count for all tests of their group, wherever they are.
        for statement in statements {
            self.declaration(statement, &mut group);
        }
        for statement in statements {
            match &statement.kind {
                StatementKind::Expression(code) => self.call(statement, code.awaited(), &group, depth),
                StatementKind::ForOf { name: Some(name), list, body } if depth > 0 => {
                    let CodeKind::List(items) = group.scope.value(list).kind.clone() else {
                        self.keep(statement, "for", "a loop over what is only known when the test runs");
                        continue;
                    };
                    for item in items {
                        let mut round = group.clone();
                        round.scope.values.insert(name.clone(), item);
                        self.group(body, round, depth - 1);
                    }
                }
                StatementKind::ForOf { .. } => self.keep(statement, "for", "a loop that is not understood"),
                StatementKind::Other(word) if *word != "class" => {
                    self.keep(statement, word, "only tests can be imported");
                }
                _ => {}
            }
        }
    }

    fn declaration<'c>(&mut self, statement: &'c CodeStatement, group: &mut Group<'c>) {
        match &statement.kind {
            StatementKind::Const(declared) => {
                for (name, value) in declared {
                    let (Some(name), Some(value)) = (name, value) else { continue };
                    match &value.kind {
                        CodeKind::Function(function) => {
                            group.scope.functions.insert(name.clone(), (**function).clone());
                        }
                        _ => drop(group.scope.values.insert(name.clone(), value.clone())),
                    }
                }
            }
            StatementKind::Function(name, function) => {
                group.scope.functions.insert(name.clone(), (**function).clone());
            }
            StatementKind::Expression(code) => {
                let CodeKind::Call(callee, args) = &code.awaited().kind else { return };
                let function = args.iter().rev().find_map(|arg| match &arg.kind {
                    CodeKind::Function(function) => Some(&**function),
                    _ => None,
                });
                match (callee.names().unwrap_or_default().as_slice(), function) {
                    (["test", "beforeEach"], Some(function)) => group.before.push((statement, function)),
                    (["test", "afterEach"], Some(function)) => group.after.push((statement, function)),
                    (["test", "use"], _) => self.options(statement, args.first(), group),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// `test.use({…})`.
    fn options(&mut self, statement: &CodeStatement, options: Option<&TestCode>, group: &mut Group<'_>) {
        let Some(CodeKind::Object(fields)) = options.map(|options| &options.kind) else {
            return self.keep(statement, "test.use", "options that are not written out");
        };
        for (key, value) in fields {
            match (key.as_str(), group.scope.text(value)) {
                ("baseURL", Ok(url)) => {
                    self.base = url.trim_end_matches('/').to_string();
                    self.note(statement, "test.use", StatementFate::Translated);
                }
                _ => {
                    let reason = format!("`{key}` belongs to a device in trailblaze.yaml");
                    let source = self.file.text.get(value.start..value.end).unwrap_or_default();
                    group.notes.push(format!("Not imported: {reason}: {key}: {}", words::one_line(source)));
                    self.note(statement, "test.use", StatementFate::Kept(reason));
                }
            }
        }
    }

    fn call<'c>(&mut self, statement: &'c CodeStatement, code: &'c TestCode, group: &Group<'c>, depth: usize) {
        let CodeKind::Call(callee, args) = &code.kind else { return };
        let names = callee.names().unwrap_or_default();
        let names = if names.first() == Some(&"it") { [vec!["test"], names[1..].to_vec()].concat() } else { names };
        match names.as_slice() {
            ["test", "describe", kind @ ..] | ["describe", kind @ ..] if *kind != ["configure"] => {
                let mut inner = group.clone();
                let title = args.first().and_then(|title| group.scope.text(title).ok());
                inner.titles.extend(title);
                inner.tags.extend(args.get(1).map(|details| tags(&group.scope, details)).unwrap_or_default());
                if *kind == ["skip"] || *kind == ["fixme"] {
                    inner.skip = Some("skipped in Playwright".to_string());
                }
                let body = args.iter().rev().find_map(|arg| match &arg.kind {
                    CodeKind::Function(function) => Some(function),
                    _ => None,
                });
                match body {
                    Some(function) if depth > 0 => self.group(&function.body, inner, depth - 1),
                    _ => self.keep(statement, "test.describe", "a group without a function"),
                }
            }
            ["test"] | ["test", "only" | "skip" | "fixme" | "fail" | "slow"] => {
                self.test(statement, &names, args, group)
            }
            ["test", "beforeEach" | "afterEach" | "use"] => {}
            ["test", "beforeAll" | "afterAll"] => {
                self.keep(statement, &names.join("."), "what is done once for a file needs a tool");
            }
            ["test", "describe", "configure"] | ["test", "setTimeout"] => {
                self.note(
                    statement,
                    &names.join("."),
                    StatementFate::Partly("not needed: trails do not depend on each other".to_string()),
                );
            }
            _ => self.keep(statement, names.last().copied().unwrap_or("call"), "only tests can be imported"),
        }
    }

    fn test<'c>(&mut self, statement: &'c CodeStatement, names: &[&str], args: &'c [TestCode], group: &Group<'c>) {
        let body = args.iter().rev().find_map(|arg| match &arg.kind {
            CodeKind::Function(function) => Some(&**function),
            _ => None,
        });
        let (Some(title), Some(function)) = (args.first().map(|title| group.scope.text(title)), body) else {
            return self.keep(statement, &names.join("."), "only tests with a title and a function can be imported");
        };
        let title = title.unwrap_or_else(|_| "test".to_string());
        self.n_tests += 1;
        if self.n_tests > TESTS {
            return;
        }
        let mut body = TestBody::new(self.file, group.scope.clone());
        group.before.iter().for_each(|(_, hook)| body.run(hook));
        body.run(function);
        let steps = body.take_steps();
        group.after.iter().rev().for_each(|(_, hook)| body.run(hook));
        let after = body.take_steps();
        let skip = match names.get(1).copied() {
            Some("skip" | "fixme") => Some("skipped in Playwright".to_string()),
            Some("fail") => Some("expected to fail in Playwright".to_string()),
            _ => group.skip.clone(),
        };
        let mut tags_of_test = group.tags.clone();
        tags_of_test.extend(args.get(1).map(|details| tags(&group.scope, details)).unwrap_or_default());
        let mut titles = group.titles.clone();
        titles.push(title.clone());
        let mut draft = TrailDraft {
            head: vec![format!("Imported from {}, a test of Playwright.", self.file.path)],
            title: words::one_line(&titles.join(": ")),
            tags: tags_of_test,
            drivers: vec![("web".to_string(), "playwright-native".to_string())],
            skip: skip.map(|reason| ("web".to_string(), reason)).into_iter().collect(),
            steps,
            after,
            ..TrailDraft::default()
        };
        draft.head.extend(group.notes.iter().cloned());
        take_trailhead(&mut draft);
        let uses_base = |step: &StepDraft| step.calls().any(|call| call.to_string().contains("{{base}}"));
        if draft.trailhead.iter().chain(&draft.steps).chain(&draft.after).any(uses_base) {
            draft.memory.push(("base".to_string(), self.base.clone()));
        }
        self.imported.statements.append(&mut body.statements);
        let folder = format!("trails/{}/", file_stem(stem_of(&self.file.path)));
        self.imported.add(&folder, &file_stem(&titles.join(" ")), ".trail.yaml", draft.text());
    }

    fn note(&mut self, statement: &CodeStatement, name: &str, fate: StatementFate) {
        let at = span(&self.file.text, statement.start);
        self.imported.statements.push(ImportedStatement::new(&self.file.path, at, name, fate));
    }

    fn keep(&mut self, statement: &CodeStatement, name: &str, reason: &str) {
        self.note(statement, name, StatementFate::Kept(reason.to_string()));
    }
}

fn tags(scope: &Scope, details: &TestCode) -> Vec<String> {
    let Some(tag) = details.field("tag") else { return Vec::new() };
    let texts = super::actions::texts(scope, tag).unwrap_or_default();
    texts.into_iter().map(|tag| tag.trim_start_matches('@').to_string()).collect()
}

/// The first page that is opened is the trailhead, as a new visitor: each test of Playwright is one.
fn take_trailhead(draft: &mut TrailDraft) {
    let Some(first) = draft.steps.first_mut().filter(|first| first.is_plain()) else { return };
    let Some(at) = first.parts.iter().position(|part| !matches!(part, StepPart::Comment(_))) else { return };
    let StepPart::Call(call) = &first.parts[at] else { return };
    let Some(url) = call.pointer("/web_navigate/url").and_then(|url| url.as_str()).map(str::to_string) else { return };
    if !(url.starts_with("http") || url.starts_with("{{base}}")) || call.pointer("/web_navigate/timeoutMs").is_some() {
        return;
    }
    let mut parts: Vec<StepPart> = first.parts.drain(..=at).collect();
    parts[at] = StepPart::Call(serde_json::json!({"launchApp": {"packageId": url}}));
    let words = "Open the page as a new visitor".to_string();
    draft.trailhead = Some(StepDraft { words: Some(words), ..StepDraft::of(parts) });
    if first.parts.is_empty() {
        draft.steps.remove(0);
    }
}
