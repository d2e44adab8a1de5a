//! `expect(…)`.

use serde_json::{Map, Value, json};

use super::actions::{TestCalls, options, texts, url, visible};
use super::code::{CodeKind, TestCode};
use super::locator::{Locator, page};
use super::snapshots::{aria, screenshot};
use super::value::Scope;

/// An expectation as written.
pub struct Expectation<'c> {
    subject: &'c TestCode,
    is_soft: bool,
    is_not: bool,
    matcher: &'c str,
    args: &'c [TestCode],
}

/// `expect(subject).not.toBeVisible()`, or nothing if it is another call.
pub fn expectation(code: &TestCode) -> Option<Result<Expectation<'_>, String>> {
    let CodeKind::Call(callee, args) = &code.kind else { return None };
    let CodeKind::Member(object, matcher) = &callee.kind else { return None };
    let (object, is_not) = match &object.kind {
        CodeKind::Member(inner, not) if not == "not" => (inner, true),
        _ => (object, false),
    };
    let CodeKind::Call(expect, subjects) = &object.kind else { return None };
    let names = expect.names()?;
    match names.as_slice() {
        ["expect"] | ["expect", "soft"] => {
            let is_soft = names.len() == 2;
            let subject = subjects.first()?;
            Some(Ok(Expectation { subject, is_soft, is_not, matcher, args }))
        }
        ["expect", "poll"] => Some(Err("`expect.poll` needs a script".to_string())),
        _ => None,
    }
}

impl Expectation<'_> {
    pub fn name(&self) -> String {
        format!("expect.{}{}", if self.is_not { "not." } else { "" }, self.matcher)
    }

    pub fn translate(&self, scope: &Scope) -> Result<TestCalls, String> {
        let mut done = match (page(scope, self.subject), Locator::of(scope, self.subject)) {
            (Some(_), _) => self.of_page(scope)?,
            (None, Some(locator)) => self.of_element(scope, &locator?)?,
            (None, None) => {
                return Err("only what a page shows can be checked; use `assertEquals` or a script".to_string());
            }
        };
        if self.is_soft {
            for call in done.calls.iter_mut().filter_map(Value::as_object_mut) {
                call.insert("soft".to_string(), true.into());
            }
        }
        Ok(done)
    }

    fn first(&self) -> Result<&TestCode, String> {
        self.args.first().ok_or_else(|| format!("`{}` without an argument", self.matcher))
    }

    fn of_page(&self, scope: &Scope) -> Result<TestCalls, String> {
        if self.is_not {
            return Err(format!("`not.{}` has no counterpart", self.matcher));
        }
        let done = match self.matcher {
            "toHaveScreenshot" => return screenshot(scope, (self.subject, None), self.args),
            "toMatchAriaSnapshot" => aria(scope, None, self.first()?)?,
            "toHaveURL" => url(scope, self.first()?)?,
            "toHaveTitle" => match scope.pattern(self.first()?) {
                Some(pattern) => TestCalls::one("web_assertTitle", json!({"matches": pattern})),
                None => TestCalls::one("web_assertTitle", json!({"is": scope.text(self.first()?)?})),
            },
            other => return Err(format!("`{other}` has no counterpart")),
        };
        options(scope, done, self.args.get(1))
    }

    fn of_element(&self, scope: &Scope, locator: &Locator) -> Result<TestCalls, String> {
        let flag = |name: &str| scope.flag(self.args.first().and_then(|given| scope.value(given).field(name)));
        let is = |default: Option<bool>| default.unwrap_or(true) != self.is_not;
        let state = |name: &str, is: bool, role: Option<&str>| {
            let mut args = locator.args(role);
            args.insert(name.to_string(), is.into());
            TestCalls::one("assertState", args)
        };
        let first = self.args.first();
        let done = match self.matcher {
            "toBeVisible" => visible(locator, is(flag("visible")))?,
            "toBeHidden" => visible(locator, !is(None))?,
            "toBeAttached" if self.is_not => visible(locator, false)?,
            "toBeChecked" => state("checked", is(flag("checked")), Some("checkbox")),
            "toBeEnabled" => state("enabled", is(flag("enabled")), None),
            "toBeDisabled" => state("enabled", !is(None), None),
            "toBeFocused" => state("focused", is(None), Some("textbox")),
            "toBeInViewport" => state("inView", is(None), None),
            "toBeEditable" if !self.is_not => state("enabled", true, Some("textbox")),
            "toHaveCount" if !self.is_not => {
                let n = scope.number(self.first()?).ok_or("the number is only known when the test runs")?;
                let mut args = locator.args(None);
                args.insert("equals".to_string(), json!(n as u64));
                TestCalls::one("assertCount", args)
            }
            other if self.is_not => return Err(format!("`not.{other}` has no counterpart")),
            "toHaveText" | "toContainText" => self.text(scope, locator)?,
            "toHaveScreenshot" => return screenshot(scope, (self.subject, Some(locator)), self.args),
            "toMatchAriaSnapshot" => aria(scope, Some(locator), self.first()?)?,
            "toHaveValue" => self.about(scope, locator, "assertValue", Some("textbox"), "is", Map::new(), first)?,
            "toBeEmpty" => {
                let mut args = locator.args(Some("textbox"));
                args.insert("is".to_string(), "".into());
                TestCalls::one("assertValue", args)
            }
            "toHaveAttribute" if self.args.len() >= 2 => {
                let named = Map::from_iter([("name".to_string(), Value::from(scope.text(self.first()?)?))]);
                self.about(scope, locator, "assertAttribute", None, "is", named, self.args.get(1))?
            }
            "toHaveClass" | "toContainClass" | "toHaveId" => {
                let name = if self.matcher == "toHaveId" { "id" } else { "class" };
                let how = if self.matcher == "toContainClass" { "contains" } else { "is" };
                let named = Map::from_iter([("name".to_string(), Value::from(name))]);
                self.about(scope, locator, "assertAttribute", None, how, named, first)?
            }
            other => return Err(format!("`{other}` has no counterpart")),
        };
        let given = self.args.iter().rev().find(|given| matches!(scope.value(given).kind, CodeKind::Object(_)));
        let known = ["visible", "checked", "enabled"].map(|name| format!("without `{name}`"));
        let mut done = options(scope, done, given)?;
        done.missing.retain(|missing| !known.contains(missing));
        Ok(done)
    }

    fn text(&self, scope: &Scope, locator: &Locator) -> Result<TestCalls, String> {
        let how = if self.matcher == "toHaveText" { "is" } else { "contains" };
        let first = self.first()?;
        if matches!(scope.value(first).kind, CodeKind::List(_)) {
            let items = texts(scope, first)?;
            let place = locator.within.clone();
            let mut args = Map::from_iter([("items".to_string(), items.into()), ("ordered".to_string(), true.into())]);
            args.extend(place.map(|place| ("ref".to_string(), place.into())));
            let missing = vec!["other texts may be there too".to_string()];
            return Ok(TestCalls { missing, ..TestCalls::one("web_verifyListVisible", args) });
        }
        self.about(scope, locator, "assertText", None, how, Map::new(), Some(first))
    }

    #[expect(clippy::too_many_arguments, reason = "they are the parts of one call")]
    fn about(
        &self,
        scope: &Scope,
        locator: &Locator,
        tool: &str,
        role: Option<&str>,
        how: &str,
        more: Map<String, Value>,
        expected: Option<&TestCode>,
    ) -> Result<TestCalls, String> {
        let expected = expected.ok_or_else(|| format!("`{}` without an argument", self.matcher))?;
        let mut args = locator.args(role);
        args.extend(more);
        match scope.pattern(expected) {
            Some(pattern) => args.insert("matches".to_string(), pattern.into()),
            None => args.insert(how.to_string(), scope.text(expected)?.into()),
        };
        Ok(TestCalls::one(tool, args))
    }
}
