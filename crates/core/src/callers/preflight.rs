//! Checks of a trail before anything starts: unknown tools, wrong arguments, steps that need a model.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use serde_json::{Map, Value};
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::event::ToolKind;

use crate::engine::registry::{MissingTool, Registry};
use crate::engine::source::SourceError;
use crate::engine::tool::{Body, Tool};
use crate::expected_tree::{ExpectedTree, TreeSyntaxError};
use crate::refs;
use crate::screen::Shape;
use crate::selector::{Case, Pattern, Selector, invalid_pattern};
use crate::template::{self, Token};
use crate::trail::{Hook, Step, StepPlan, ToolCall, Trail, TrailDevice};
use crate::yaml::{Problem, Problems, Source, Span, YamlNode, loose, nearest, to_json};

/// The tool that asserts that what a selector matches is absent.
pub const ASSERT_ABSENT: &str = "assertNotVisibleBySelector";
/// The tool that compares a screen with expected text.
pub const ASSERT_TREE: &str = "assertTree";
/// The tool that compares a screen with a picture.
pub const ASSERT_PICTURE: &str = "assertPicture";

/// All problems that keep the trail from running on this device with these tools.
/// `no_model` says why steps that need a model cannot be carried out; `None` if they can.
pub fn preflight(trail: &Trail, registry: &Registry, device: &TrailDevice, no_model: Option<&str>) -> Vec<Problem> {
    preflight_calls(trail, registry, device, no_model, |_| true)
}

/// The same if the recorded effects of custom tools are played instead of calling them.
pub fn preflight_played(
    trail: &Trail,
    registry: &Registry,
    device: &TrailDevice,
    no_model: Option<&str>,
) -> Vec<Problem> {
    let is_called = |call: &ToolCall| registry.get(&call.tool.value).is_some_and(|tool| !tool.is_custom());
    preflight_calls(trail, registry, device, no_model, is_called)
}

fn preflight_calls(
    trail: &Trail,
    registry: &Registry,
    device: &TrailDevice,
    no_model: Option<&str>,
    is_called: impl Fn(&ToolCall) -> bool,
) -> Vec<Problem> {
    if trail.config.skip_reason(&device.lineage).is_some() {
        return Vec::new();
    }
    let mut found = ProblemsByFile::default();
    let called: Vec<&ToolCall> = calls(trail, device).filter(|call| is_called(call)).collect();
    check_refs(&called, registry, &mut found);
    check_pictures(&called, registry, &mut found);
    check_conditions(trail, registry, device, &mut found);
    if let Some(why) = no_model {
        check_models(trail, registry, device, why, &mut found);
    }
    for (source, called) in by_file(trail, &called) {
        let problems = found.of(&source);
        check_calls(&called, registry, device, problems);
        check_arguments(trail, &called, registry, problems);
        check_columns(trail, &called, problems);
    }
    found.into_vec()
}

/// Problems in the trail and in the files of its folders.
#[derive(Default)]
struct ProblemsByFile(Vec<Problems>);

impl ProblemsByFile {
    fn of(&mut self, source: &Arc<Source>) -> &mut Problems {
        let known = self.0.iter().position(|problems| problems.source().path == source.path);
        let at = known.unwrap_or_else(|| {
            self.0.push(Problems::new(source));
            self.0.len() - 1
        });
        &mut self.0[at]
    }

    fn into_vec(self) -> Vec<Problem> {
        self.0.into_iter().flat_map(Problems::into_vec).collect()
    }
}

/// The calls by the file that they are in: the trail, or one of its folder.
fn by_file<'t>(trail: &Trail, called: &[&'t ToolCall]) -> Vec<(Arc<Source>, Vec<&'t ToolCall>)> {
    let mut files: Vec<(Arc<Source>, Vec<&ToolCall>)> = vec![(Arc::clone(&trail.source), Vec::new())];
    for call in called {
        match files.iter_mut().find(|(source, _)| source.path == call.source.path) {
            Some((_, calls)) => calls.push(call),
            None => files.push((Arc::clone(&call.source), vec![call])),
        }
    }
    files
}

/// Checks that the columns used by calls are those of the trail's rows.
fn check_columns(trail: &Trail, called: &[&ToolCall], problems: &mut Problems) {
    let Some(row) = &trail.row else { return };
    let columns = || row.values.iter().map(|(column, _)| column.as_str());
    for call in called {
        call.args.walk(&mut |node| {
            for token in node.raw().into_iter().flat_map(template::tokens) {
                let Some(column) = token.path.strip_prefix("row.").filter(|name| !columns().any(|own| own == *name))
                else {
                    continue;
                };
                let message = format!("`{}` refers to a column that `forEach` does not have", token.raw);
                let hint = match nearest(column, columns()) {
                    Some(near) => format!("did you mean `{{{{row.{near}}}}}`?"),
                    None => format!("its columns are {}", columns().collect::<Vec<_>>().join(", ")),
                };
                problems.error_with_hint(node.span, message, hint);
            }
        });
    }
}

/// Reports every step and every call that needs a model.
fn check_models(trail: &Trail, registry: &Registry, device: &TrailDevice, why: &str, found: &mut ProblemsByFile) {
    let name = device.name();
    for step in made_steps(trail, device).filter(|step| step.plan(&device.lineage) == StepPlan::Model) {
        found.of(&trail.source).error_with_hint(
            step.text.span,
            format!("the step needs a model: it has no `tools` and no recording for {name}"),
            format!("{why}; or record the step once in `trailblaze shell`, or write its `tools:`"),
        );
    }
    let needs_model = |call: &&ToolCall| registry.get(&call.tool.value).is_some_and(|tool| tool.needs_model);
    for call in calls(trail, device).filter(needs_model) {
        let message = format!("`{}` needs a model, and none is chosen", call.tool.value);
        found.of(&call.source).error_with_hint(call.tool.span, message, why.to_string());
    }
}

/// The same for a trail that has problems already: only checks the calls that could be read, because anything missing may
/// be under a key that was not understood.
pub fn preflight_broken(trail: &Trail, registry: &Registry, device: &TrailDevice) -> Vec<Problem> {
    let called: Vec<&ToolCall> = calls(trail, device).collect();
    let of_file = |(source, called): (Arc<Source>, Vec<&ToolCall>)| {
        let mut problems = Problems::new(&source);
        check_calls(&called, registry, device, &mut problems);
        problems.into_vec()
    };
    by_file(trail, &called).into_iter().flat_map(of_file).collect()
}

/// The steps that a device carries out, with those of stretches, and those before and after the trail's own.
fn made_steps<'t>(trail: &'t Trail, device: &'t TrailDevice) -> impl Iterator<Item = &'t Step> {
    let hooks = |hooks: &'t [Hook]| hooks.iter().map(|hook| &hook.step);
    let own = trail.all_steps().filter(|step| step.stretch.is_none());
    let inner = trail.stretch_steps().map(|inner| &inner.step);
    let all = hooks(&trail.before).chain(own).chain(inner).chain(hooks(&trail.after));
    all.filter(|step| device.carries_out(step) && step.flow.skip_reason(&device.lineage).is_none())
}

/// The calls that may be made on a device, in order.
fn calls<'t>(trail: &'t Trail, device: &'t TrailDevice) -> impl Iterator<Item = &'t ToolCall> {
    made_steps(trail, device).flat_map(|step| {
        let planned: &[ToolCall] = match step.plan(&device.lineage) {
            StepPlan::Recording { calls, .. } | StepPlan::Authored(calls) => calls,
            StepPlan::Model => &[],
        };
        step.flow.calls().chain(planned)
    })
}

/// Reports conditions that act instead of asking.
fn check_conditions(trail: &Trail, registry: &Registry, device: &TrailDevice, found: &mut ProblemsByFile) {
    for call in made_steps(trail, device).flat_map(|step| step.flow.conditions()) {
        let name = &call.tool.value;
        let acts = |tool: &Tool| !tool.is_custom() && !matches!(tool.kind, ToolKind::Assertion | ToolKind::Query);
        if registry.get(name).is_some_and(|tool| acts(tool)) {
            found.of(&call.source).error_with_hint(
                call.tool.span,
                format!("a condition asks or checks something, and `{name}` acts"),
                "use a check such as `assertVisible`, or a question such as `isVisible`",
            );
        }
    }
}

/// Reports calls of tools that only exist on other platforms as one mistake: the trail runs on the wrong device.
fn check_calls(called: &[&ToolCall], registry: &Registry, device: &TrailDevice, problems: &mut Problems) {
    let mut elsewhere: Vec<(Vec<Platform>, Vec<&ToolCall>)> = Vec::new();
    for call in called {
        let platforms = registry.platforms_elsewhere(&call.tool.value);
        if platforms.is_empty() {
            check_call(call, registry, problems);
            continue;
        }
        match elsewhere.iter_mut().find(|(known, _)| *known == platforms) {
            Some((_, calls)) => calls.push(call),
            None => elsewhere.push((platforms, vec![call])),
        }
    }
    for (platforms, calls) in elsewhere {
        let (first, here) = (&calls[0].tool, device.platform().unwrap_or("this device"));
        let names = platforms.iter().map(|platform| platform.name()).collect::<Vec<_>>().join(" and ");
        let message = match calls.len() - 1 {
            0 => format!("`{}` is for {names}, but this runs on {here}", first.value),
            1 => format!("`{}` and 1 more call are for {names}, but this runs on {here}", first.value),
            n => format!("`{}` and {n} more calls are for {names}, but this runs on {here}", first.value),
        };
        let hint = format!("choose a device of {} with `-d`; `trailblaze device list` lists them", platforms[0]);
        problems.error_with_hint(first.span, message, hint);
    }
}

/// Reports refs of pages that no run can resolve: a ref is valid for the snapshot that showed it, and nothing in the trail
/// takes one before. A selector takes precedence, if it is one for pages.
fn check_refs(called: &[&ToolCall], registry: &Registry, found: &mut ProblemsByFile) {
    if registry.shape != Shape::Web {
        return;
    }
    for call in called {
        let is_built_in = registry.get(&call.tool.value).is_some_and(|tool| !tool.is_custom());
        // The code of another tool may take a snapshot.
        if !is_built_in || matches!(call.tool.value.as_str(), "captureScreen" | "web_requestDetails") {
            return;
        }
        let problems = found.of(&call.source);
        call.args.walk(&mut |node| {
            for (selector, reference) in [("nodeSelector", "ref"), ("toNodeSelector", "toRef")] {
                let has_selector =
                    node.get(selector).is_some_and(|selector| Selector::is_for(&loose(selector), Shape::Web));
                let Some(given) = node.get(reference).filter(|_| !has_selector) else { continue };
                let text = given.raw().unwrap_or_default().trim();
                if refs::is_of_page(text) {
                    let message = format!("`{text}` is a ref of a snapshot that no run takes, so nothing can be found");
                    let hint = "record this step again, or describe the element, as in `button \"Pay\"`";
                    problems.error_with_hint(given.span, message, hint);
                }
            }
        });
    }
}

/// Reports expected pictures of one name: the file of one would be that of the other.
fn check_pictures(called: &[&ToolCall], registry: &Registry, found: &mut ProblemsByFile) {
    let mut known: Vec<(&str, &ToolCall)> = Vec::new();
    for call in called {
        let is_picture = call.tool.value == ASSERT_PICTURE;
        if !is_picture || registry.get(ASSERT_PICTURE).is_none_or(|tool| tool.is_custom()) {
            continue;
        }
        let Some(name) = call.args.get("name").and_then(|given| Some((given, given.raw()?))) else { continue };
        let (given, name) = name;
        if template::has_token(name) {
            continue;
        }
        match known.iter().find(|(other, _)| *other == name) {
            None => known.push((name, call)),
            // A stretch that is used twice.
            Some((_, other)) if other.tool.span == call.tool.span && other.source.path == call.source.path => {}
            Some((_, other)) => {
                let place = format!("{}:{}", other.source.path, other.tool.span.line);
                let message = format!("the picture `{name}` is already that of {place}");
                found.of(&call.source).error_with_hint(
                    given.span,
                    message,
                    "give each picture of a trail its own name",
                );
            }
        }
    }
}

/// Checks that arguments used by calls are declared by the trail. A YAML tool uses those of the trail that calls it.
fn check_arguments(trail: &Trail, called: &[&ToolCall], registry: &Registry, problems: &mut Problems) {
    let declared: Vec<&str> = trail.config.args.iter().map(|(name, _)| name).collect();
    for call in called {
        for (token, span) in undeclared(call, &declared) {
            let name = argument(token).unwrap_or_default();
            let message = format!("`{}` refers to an argument that the trail does not declare", token.raw);
            let hint = match nearest(name, declared.iter().copied()) {
                Some(near) => format!("did you mean `{{{{args.{near}}}}}`?"),
                None => format!("declare it under `args:` of `config:`, as `{name}: string`"),
            };
            problems.error_with_hint(span, message, hint);
        }
        let mut reached = HashSet::new();
        let mut inner: Vec<&ToolCall> = expansion(registry, call).collect();
        while let Some(beneath) = inner.pop() {
            if !reached.insert((&beneath.source.path, beneath.tool.span.start)) {
                continue;
            }
            for (token, span) in undeclared(beneath, &declared) {
                let place = format!("{}:{}:{}", beneath.source.path, span.line, span.column);
                let message =
                    format!("`{}` uses `{}` ({place}), which the trail does not declare", call.tool.value, token.raw);
                let name = argument(token).unwrap_or_default();
                let hint = format!("declare it under `args:` of `config:`, as `{name}: string`");
                problems.error_with_hint(call.tool.span, message, hint);
            }
            inner.extend(expansion(registry, beneath));
        }
    }
}

/// The calls of a YAML tool.
fn expansion<'r>(registry: &'r Registry, call: &ToolCall) -> impl Iterator<Item = &'r ToolCall> {
    let calls = match registry.get(&call.tool.value).map(|tool| &tool.body) {
        Some(Body::Expansion(calls)) => &calls[..],
        _ => &[],
    };
    calls.iter()
}

/// The name in `{{args.name}}`.
fn argument<'t>(token: Token<'t>) -> Option<&'t str> {
    token.path.strip_prefix("args.")?.split('.').next()
}

fn undeclared<'c>(call: &'c ToolCall, declared: &[&str]) -> Vec<(Token<'c>, Span)> {
    let mut found = Vec::new();
    call.args.walk(&mut |node| {
        let tokens = node.raw().into_iter().flat_map(template::tokens);
        let is_undeclared = |token: &Token<'_>| argument(*token).is_some_and(|name| !declared.contains(&name));
        found.extend(tokens.filter(is_undeclared).map(|token| (token, node.span)));
    });
    found
}

/// The unavailable servers that a trail would need on such a device, so that nothing is started in vain. An unknown tool
/// may belong to any server whose tools are unknown.
pub fn missing(trail: &Trail, registry: &Registry, device: &TrailDevice) -> Vec<SourceError> {
    let mut missing: Vec<SourceError> = Vec::new();
    for name in reached(trail, registry, device) {
        let absent = match registry.get(name).map(|tool| &tool.body) {
            None => registry.absent.clone(),
            Some(Body::Foreign(source)) => source.unavailable().into_iter().collect(),
            Some(_) => continue,
        };
        let is_new = |error: &SourceError| !missing.contains(error);
        let new: Vec<SourceError> = absent.into_iter().filter(is_new).collect();
        missing.extend(new);
    }
    missing
}

/// The servers whose tools a trail calls on such a device, also through YAML tools; `None` if that cannot be known, because
/// a step is carried out by a model, which is offered all tools, or because a call names a tool that nothing is known to
/// offer.
pub fn called_servers(
    trail: &Trail,
    registry: &Registry,
    device: &TrailDevice,
    has_model: bool,
) -> Option<BTreeSet<String>> {
    let is_run = trail.config.skip_reason(&device.lineage).is_none();
    let needs_model = |(_, step): (usize, &Step)| matches!(step.plan(&device.lineage), StepPlan::Model);
    if has_model && is_run && trail.steps_on(device).any(needs_model) {
        return None;
    }
    let mut servers = BTreeSet::new();
    for name in reached(trail, registry, device) {
        match registry.get(name) {
            Some(tool) => servers.extend(tool.source().map(|source| source.name().to_string())),
            None if registry.knows(name) => {}
            None => return None,
        }
    }
    Some(servers)
}

/// Whether all calls of YAML tools name tools that something offers.
pub fn is_closed(registry: &Registry) -> bool {
    let mut calls = registry.tools().flat_map(|tool| match &tool.body {
        Body::Expansion(calls) => &calls[..],
        _ => &[],
    });
    calls.all(|call| registry.knows(&call.tool.value))
}

/// The names of the tools that a trail calls on such a device, also through YAML tools.
fn reached<'a>(trail: &'a Trail, registry: &'a Registry, device: &'a TrailDevice) -> Vec<&'a str> {
    if trail.config.skip_reason(&device.lineage).is_some() {
        return Vec::new();
    }
    let (mut reached, mut seen) = (Vec::new(), HashSet::new());
    let mut names: Vec<&str> = calls(trail, device).map(|call| call.tool.value.as_str()).collect();
    while let Some(name) = names.pop() {
        if !seen.insert(name) {
            continue;
        }
        reached.push(name);
        if let Some(Body::Expansion(calls)) = registry.get(name).map(|tool| &tool.body) {
            names.extend(calls.iter().map(|call| call.tool.value.as_str()));
        }
    }
    reached
}

/// The problems of the calls of YAML tools.
pub fn check_tools(registry: &Registry) -> Vec<Problem> {
    let mut found = Vec::new();
    for tool in registry.tools() {
        let Body::Expansion(calls) = &tool.body else { continue };
        for call in calls.iter() {
            let mut problems = Problems::new(&call.source);
            check_call(call, registry, &mut problems);
            found.extend(problems.into_vec());
        }
    }
    let tools: Vec<&Tool> = registry.tools().map(AsRef::as_ref).collect();
    for cycle in crate::tool_files::cycles(&tools) {
        let Some(Body::Expansion(calls)) = registry.get(&cycle[0]).map(|tool| &tool.body) else { continue };
        let Some(call) = calls.iter().find(|call| call.tool.value == cycle[1]) else { continue };
        let mut problems = Problems::new(&call.source);
        problems.error(call.tool.span, format!("these tools call each other endlessly: {}", cycle.join(" → ")));
        found.extend(problems.into_vec());
    }
    found
}

fn check_call(call: &ToolCall, registry: &Registry, problems: &mut Problems) {
    let name = &call.tool.value;
    let Some(tool) = registry.get(name) else {
        let MissingTool { message, hint } = registry.explain_missing(name);
        match hint {
            // Reported for the trails that need it, with the reason why its server is unavailable.
            _ if !registry.absent.is_empty() => {}
            _ if registry.is_of_broken_file(name) => {}
            _ if registry.is_partial => {
                let text = format!("`{name}` may be a tool of a server that was not queried; it was not checked");
                problems.warning(call.tool.span, text);
            }
            Some(hint) => problems.error_with_hint(call.tool.span, message, hint),
            None => problems.error(call.tool.span, message),
        }
        return;
    };
    // What a built-in action leaves undone, later steps need.
    if call.is_soft && !tool.is_custom() && tool.kind != ToolKind::Assertion {
        problems.error_with_hint(
            call.tool.span,
            format!("`soft:` is for checks, and `{name}` is none"),
            "remove `soft:`; if the call may fail, make it in a step with `optional: true`",
        );
    }
    let mut typing = Problems::new(problems.source());
    let args = match to_json(&call.args, tool.schema.json(), &mut typing) {
        Some(Value::Object(args)) => args,
        _ => {
            for problem in typing.into_vec() {
                match problem.hint {
                    Some(hint) => problems.error_with_hint(problem.span, problem.message, hint),
                    None => problems.error(problem.span, problem.message),
                }
            }
            return;
        }
    };
    if let Body::BuiltIn(_) = tool.body {
        check_selectors(&call.args, registry.shape, problems);
        check_absent(name, &call.args, problems);
        check_tree(name, &call.args, problems);
        check_patterns(tool, &call.args, problems);
    }
    let Err(invalid) = tool.schema.check(&args) else {
        check_needs(tool, call, &args, problems);
        return;
    };
    let has_templates = args.values().any(template::holds_token);
    for missing in &invalid.missing {
        problems.error(call.tool.span, format!("`{name}` is missing the argument `{missing}`"));
    }
    for unknown in &invalid.unknown {
        let message = format!("`{name}`: {unknown}");
        match registry.alias(name) {
            Some(ours) => problems.error_with_hint(call.args.span, message, format!("did you mean `{ours}`?")),
            None => problems.error(call.args.span, message),
        }
    }
    // The value of a template is only known when the call is made.
    if !has_templates {
        for wrong in &invalid.wrong {
            problems.error(call.args.span, format!("`{name}`: {wrong}"));
        }
    }
}

/// Reports selectors that are empty or made for another driver, since they match nothing. A ref takes precedence.
fn check_selectors(args: &YamlNode, shape: Shape, problems: &mut Problems) {
    args.walk(&mut |node| {
        for (selector, reference) in [("nodeSelector", "ref"), ("toNodeSelector", "toRef")] {
            let Some(given) = node.get(selector).filter(|_| node.get(reference).is_none()) else { continue };
            if template::has_token(given.raw().unwrap_or_default()) || Selector::is_for(&loose(given), shape) {
                continue;
            }
            let message = if given.entries().is_none_or(<[_]>::is_empty) {
                format!("`{selector}` is empty")
            } else {
                format!("`{selector}` has no `{}`, so it matches nothing on this device", shape.key())
            };
            problems.error_with_hint(given.span, message, "record this step on this platform");
        }
    });
}

/// Reports invalid patterns of a selector whose absence is asserted, which would always hold.
fn check_absent(name: &str, args: &YamlNode, problems: &mut Problems) {
    if name != ASSERT_ABSENT {
        return;
    }
    args.walk(&mut |node| {
        for (_, value) in node.entries().into_iter().flatten().filter(|(key, _)| is_pattern_key(key)) {
            let source = value.raw().filter(|source| !template::has_token(source));
            if let Some(source) = source.filter(|source| Pattern::new(*source, Case::Sensitive).is_invalid()) {
                problems.error(value.span, format!("`{name}`: {}", invalid_pattern(source)));
            }
        }
    });
}

/// Reports that a call has none of several arguments, of which it needs one.
fn check_needs(tool: &Tool, call: &ToolCall, args: &Map<String, Value>, problems: &mut Problems) {
    for need in tool.needs.iter().filter(|need| !need.is_met(args)) {
        problems.error(call.tool.span, format!("`{}`: {}", tool.name, need.otherwise));
    }
}

/// Reports invalid patterns, which would only fail when the call is made.
fn check_patterns(tool: &Tool, args: &YamlNode, problems: &mut Problems) {
    let properties = tool.schema.json().get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        if property.get("format").and_then(Value::as_str) != Some("regex") {
            continue;
        }
        let Some((given, source)) = args.get(name).and_then(|given| Some((given, given.raw()?))) else { continue };
        if !template::has_token(source) && Pattern::new(source, Case::Sensitive).is_invalid() {
            problems.error(given.span, format!("`{}`: `{name}`: {}", tool.name, invalid_pattern(source)));
        }
    }
}

/// Reports the first mistake in an expected tree, where it is.
fn check_tree(name: &str, args: &YamlNode, problems: &mut Problems) {
    let Some(given) = args.get("tree").filter(|_| name == ASSERT_TREE) else { return };
    let text = given.raw().unwrap_or_default();
    if let Err(error) = ExpectedTree::parse(text) {
        let message = format!("`{name}`: {}", error.message);
        let span = place_in(given, text, &error, problems.source()).unwrap_or(given.span);
        problems.error(span, message);
    }
}

/// Where a line and column of a block of text are in its file; `None` if the text is not written as a block.
fn place_in(node: &YamlNode, text: &str, error: &TreeSyntaxError, source: &Source) -> Option<Span> {
    let wrong = text.lines().nth(error.line - 1)?;
    let before = text.lines().take(error.line - 1).filter(|line| line.trim() == wrong.trim()).count();
    let mut start = node.span.start;
    let mut seen = 0;
    for (number, line) in (node.span.line..).zip(source.text.get(node.span.start..node.span.end)?.split('\n')) {
        if line.trim() == wrong.trim() && !wrong.trim().is_empty() {
            if seen == before {
                // The first line of the node may start within a line of the file.
                let own = if number == node.span.line { node.span.column - 1 } else { 0 };
                let indent = line.len() - line.trim_start().len();
                let inner = error.column.saturating_sub(1 + wrong.len() - wrong.trim_start().len());
                let words = line.trim();
                let bytes = words.char_indices().nth(inner).map_or(words.len(), |(at, _)| at);
                let (at, end) = (start + indent + bytes, start + line.trim_end().len());
                return Some(Span { start: at, end, line: number, column: own + indent + inner + 1 });
            }
            seen += 1;
        }
        start += line.len() + 1;
    }
    None
}

fn is_pattern_key(key: &YamlNode) -> bool {
    key.raw().is_some_and(|key| key.ends_with("Regex"))
}
