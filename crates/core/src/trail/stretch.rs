//! Stretches: steps that several trails share. `use:` names the file, and `with:` gives its parameters.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use trailblaze_protocol::event::StepKind;

use super::flow::StepFlow;
use super::items::StepItems;
use super::{ArgDeclaration, ArgType, Hook, Step, Trail, assign_role, is_trail};
use crate::template::{self, Replacement, Token, Uncoercible};
use crate::yaml::{
    Decode, Entries, Problem, Problems, Source, Span, Spanned, Style, YamlKind, YamlNode, decode, nearest, read,
    to_json,
};
use crate::{names, table};

/// The most steps that the stretches of a trail can add.
const STEPS: usize = 1_000;

table! {
    /// Steps of another file, in the place of this one.
    pub struct RawUse {
        /// The file with the steps, relative to this one.
        "use" => file: Spanned<String>,
        /// The values of its parameters.
        "with" => with: Entries<YamlNode> = Entries::default(),
        /// What the steps do together, in natural language; default: the title of the file.
        "step" => step: Option<Spanned<String>> = None,
        /// The device that carries them out, by its role in `devices:` of `config:`, unless they say it themselves.
        "on" => on: Option<Spanned<String>> = None,
    }
}

table! {
    /// Steps that trails share.
    pub struct StretchDocument {
        /// What the steps do, for people and reports.
        "title" => title: Option<String> = None,
        /// More about them, for people.
        "description" => description: String = String::new(),
        /// The values that each use gives: `name: type`, or `name: {type, description, default, required}`. The steps use them as `{{name}}`.
        "parameters" => parameters: Entries<ArgDeclaration> = Entries::default(),
        /// The steps, in order.
        "steps" => steps: StepItems,
    }
}

/// The use of a stretch, in the place of its steps.
#[derive(Debug, Clone, PartialEq)]
pub struct StretchUse {
    pub file: Spanned<String>,
    pub with: Entries<YamlNode>,
    pub has_own_text: bool,
    /// The title of the file, once it is read.
    pub title: Option<String>,
    /// Its steps, and those of the stretches that it uses; empty until the files are read.
    pub steps: Vec<StretchStep>,
}

/// A step of a stretch, with its parameters filled in.
#[derive(Debug, Clone)]
pub struct StretchStep {
    pub step: Step,
    /// The file that it is in.
    pub source: Arc<Source>,
}

impl PartialEq for StretchStep {
    fn eq(&self, other: &Self) -> bool {
        self.step == other.step && self.source.path == other.source.path
    }
}

impl RawUse {
    /// A step without calls of its own.
    pub(super) fn step(self, problems: &mut Problems) -> Step {
        let has_own_text = self.step.is_some();
        if self.file.value.trim().is_empty() {
            problems.error(self.file.span, "`use` needs the name of a file");
        }
        Step {
            kind: StepKind::Step,
            text: self.step.unwrap_or_else(|| self.file.clone()),
            recording: Entries::default(),
            tools: Some(Vec::new()),
            is_recordable: false,
            max_retries: None,
            on: self.on,
            flow: StepFlow::default(),
            group: None,
            stretch: Some(Box::new(StretchUse {
                file: self.file,
                with: self.with,
                has_own_text,
                title: None,
                steps: Vec::new(),
            })),
        }
    }
}

impl StretchUse {
    /// What its steps do together, given the words of the step that uses them.
    pub fn heading<'t>(&'t self, text: &'t str) -> &'t str {
        self.title.as_deref().filter(|_| !self.has_own_text).unwrap_or(text).trim()
    }
}

impl StretchDocument {
    /// Whether a file is a stretch, judging by its content.
    pub fn is_one(source: &Arc<Source>) -> bool {
        let root = read(source, &mut Problems::new(source));
        root.is_some_and(|root| root.get("steps").is_some() && root.get("trail").is_none())
    }

    /// What is wrong in a file that no trail uses, as far as that can be known without a trail: its parameters are left open.
    pub fn problems_of(source: &Arc<Source>, read: &mut ReadStretch<'_>) -> Vec<Problem> {
        let document: Option<StretchDocument> = decode(source, &mut Problems::new(source));
        let (parameters, steps) =
            document.map_or_else(Default::default, |document| (document.parameters, document.steps.0));
        let open = |(name, _): (Spanned<String>, ArgDeclaration)| {
            let value = placed(&left_open(&name.value), name.span);
            (name, value)
        };
        let file = source.path.rsplit('/').next().unwrap_or_default().to_string();
        let used = RawUse {
            file: Spanned { value: file, span: Span::default() },
            with: Entries(parameters.0.into_iter().map(open).collect()),
            step: None,
            on: None,
            span: Span::default(),
        };
        let mut step = used.step(&mut Problems::new(source));
        // Only a trail says which devices there are.
        let roles: Vec<_> = steps.iter().filter_map(|step| step.on.clone()).map(|on| (on.clone(), on)).collect();
        let mut taking = Taking { read, roles: &roles, n_steps: 0, found: Vec::new(), files: BTreeSet::new() };
        taking.take(&mut step, source, &mut Vec::new());
        taking.found
    }

    /// The parameters of a file, each with what is said about it.
    pub fn parameters_of(source: &Arc<Source>) -> Vec<(String, String)> {
        let document: Option<StretchDocument> = decode(source, &mut Problems::new(source));
        let parameters = document.map(|document| document.parameters).unwrap_or_default();
        let about = |declared: &ArgDeclaration| {
            let kind = declared.kind.json();
            [kind["type"].as_str().unwrap_or_default(), declared.description.as_str()].join(" ").trim().to_string()
        };
        parameters.iter().map(|(name, declared)| (name.to_string(), about(declared))).collect()
    }

    /// The schema of files with shared steps.
    pub fn whole_schema() -> Value {
        let mut schema = StretchDocument::schema();
        schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
        schema["title"] = json!("Trailblaze stretch");
        schema
    }
}

/// Reads the file of a stretch by its path in the project, or says why that is not possible.
pub type ReadStretch<'r> = dyn FnMut(&str) -> Result<Arc<Source>, String> + 'r;

impl Trail {
    /// Puts the steps of other files in the place of each `use:`. Returns what is wrong, at its place in the file where it is.
    pub fn take_stretches(&mut self, read: &mut ReadStretch<'_>) -> Vec<Problem> {
        let roles = self.config.devices.roles.0.clone();
        let mut taking = Taking { read, roles: &roles, n_steps: 0, found: Vec::new(), files: BTreeSet::new() };
        let source = Arc::clone(&self.source);
        let mut chain = vec![source.path.clone()];
        for step in &mut self.steps {
            taking.take(step, &source, &mut chain);
        }
        for hooks in [&mut self.before, &mut self.after] {
            *hooks = std::mem::take(hooks).into_iter().flat_map(|hook| taking.take_hook(hook)).collect();
        }
        self.stretch_files = taking.files;
        taking.found
    }

    /// The steps of its stretches, in order.
    pub fn stretch_steps(&self) -> impl Iterator<Item = &StretchStep> {
        self.steps.iter().flat_map(|step| step.stretch.iter().flat_map(|stretch| &stretch.steps))
    }

    /// Takes over what is not in the file itself from an earlier reading of it.
    pub fn completed_by(mut self, earlier: &Trail) -> Trail {
        for (step, before) in self.steps.iter_mut().zip(&earlier.steps) {
            if step.stretch.is_some() {
                step.stretch.clone_from(&before.stretch);
            }
        }
        let Trail { before, after, row, stretch_files, .. } = earlier.clone();
        Trail { before, after, row, stretch_files, ..self }
    }
}

/// The reading of a trail's stretches.
struct Taking<'t, 'r> {
    read: &'t mut ReadStretch<'r>,
    roles: &'t [(Spanned<String>, Spanned<String>)],
    n_steps: usize,
    found: Vec<Problem>,
    files: BTreeSet<String>,
}

impl Taking<'_, '_> {
    /// Reads the steps of one use. `chain` names the files that are being read, the trail first.
    fn take(&mut self, step: &mut Step, source: &Arc<Source>, chain: &mut Vec<String>) {
        let Some(stretch) = &mut step.stretch else { return };
        let mut problems = Problems::new(source);
        let document = self.document(stretch, chain, &mut problems);
        let Some((document, inner, path)) = document else {
            self.found.extend(problems.into_vec());
            return;
        };
        stretch.title.clone_from(&document.title);
        let values = values(&document.parameters, stretch, &path, &mut problems);
        self.found.extend(problems.into_vec());
        let mut problems = Problems::new(&inner);
        let filling = Filling { values, problems: &mut problems };
        let mut steps = filling.steps(document.steps.0);
        for own in &mut steps {
            own.on = own.on.take().or_else(|| step.on.clone());
            if own.stretch.is_none() || own.on.is_some() {
                assign_role(own, self.roles, &mut problems);
            }
            if own.tools.is_none() && own.recording.is_empty() {
                problems.error_with_hint(
                    own.text.span,
                    "a step of a stretch needs `tools`, because no run records it",
                    "write its calls under `tools:`; leave a step to a model in the trail itself",
                );
            }
        }
        self.n_steps += steps.len();
        self.found.extend(problems.into_vec());
        chain.push(path);
        for mut own in steps {
            self.take(&mut own, &inner, chain);
            match own.stretch {
                Some(nested) => stretch.steps.extend(nested.steps),
                None => stretch.steps.push(StretchStep { step: own, source: Arc::clone(&inner) }),
            }
        }
        chain.pop();
    }

    /// The steps of a stretch that is used before or after a trail; a step as it is.
    fn take_hook(&mut self, mut hook: Hook) -> Vec<Hook> {
        if hook.step.stretch.is_none() {
            return vec![hook];
        }
        self.take(&mut hook.step, &hook.source, &mut vec![hook.source.path.clone()]);
        let steps = hook.step.stretch.map(|stretch| stretch.steps).unwrap_or_default();
        steps.into_iter().map(|StretchStep { step, source }| Hook { step, source }).collect()
    }

    fn document(
        &mut self,
        stretch: &StretchUse,
        chain: &[String],
        problems: &mut Problems,
    ) -> Option<(StretchDocument, Arc<Source>, String)> {
        let (file, from) = (&stretch.file, problems.source().path.clone());
        let Some(path) = beside(&from, &file.value) else {
            let message = format!("`{}` is not in the project", file.value);
            problems.error_with_hint(file.span, message, "name a file of the project, relative to this one");
            return None;
        };
        if is_trail(std::path::Path::new(&path)) {
            problems.error_with_hint(
                file.span,
                format!("`{path}` is a trail, and only a stretch can be used"),
                "put the steps that both need into a file with `steps:`, and use it in both",
            );
            return None;
        }
        if let Some(first) = chain.iter().position(|known| *known == path) {
            let files: Vec<&str> = chain[first..].iter().map(String::as_str).chain([path.as_str()]).collect();
            problems.error(file.span, format!("`{path}` uses itself: {}", files.join(" → ")));
            return None;
        }
        if self.n_steps > STEPS {
            problems.error(file.span, format!("the stretches of the trail have more than {STEPS} steps"));
            return None;
        }
        let source = match (self.read)(&path) {
            Ok(source) => {
                self.files.insert(path.clone());
                source
            }
            Err(message) => {
                problems.error_with_hint(file.span, message, "name a file of the project, relative to this one");
                return None;
            }
        };
        let mut inner = Problems::new(&source);
        let document: Option<StretchDocument> = decode(&source, &mut inner);
        if let Some(document) = &document {
            check(document, &mut inner);
        }
        let is_wrong = inner.has_errors();
        self.found.extend(inner.into_vec());
        document.filter(|_| !is_wrong).map(|document| (document, source, path))
    }
}

fn check(document: &StretchDocument, problems: &mut Problems) {
    if document.steps.0.is_empty() {
        problems.error(document.span, "`steps` has no steps");
    }
    for (name, _) in document.parameters.0.iter().filter(|(name, _)| !names::is_parameter(&name.value)) {
        let message = format!("`{}` is not a valid name of a parameter; use letters, digits and _", name.value);
        problems.error(name.span, message);
    }
}

/// The value of each parameter; `None` for one that is not required and not given.
fn values(
    parameters: &Entries<ArgDeclaration>,
    stretch: &StretchUse,
    path: &str,
    problems: &mut Problems,
) -> Vec<(String, Option<YamlNode>)> {
    for (name, _) in &stretch.with.0 {
        if parameters.get(&name.value).is_none() {
            let known: Vec<&str> = parameters.iter().map(|(known, _)| known).collect();
            let hint = match nearest(&name.value, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if known.is_empty() => "it has no parameters".to_string(),
                None => format!("its parameters are {}", known.join(", ")),
            };
            problems.error_with_hint(name.span, format!("`{path}` has no parameter `{}`", name.value), hint);
        }
    }
    let mut values = Vec::new();
    for (name, declared) in parameters.iter() {
        let given = stretch.with.get(name);
        if given.is_none() && declared.is_required {
            let message = format!("`{path}` needs `{name}`");
            problems.error_with_hint(stretch.file.span, message, format!("add it to `with:`, as `{name}: …`"));
        }
        if let Some(given) = given.filter(|given| !given.raw().is_some_and(template::has_token)) {
            // Reports a value of another type.
            let _ = to_json(given, &declared.kind.json(), problems);
        }
        let mut given = given.cloned();
        // Digits without quotes are a text where a text is wanted.
        if let (ArgType::String, Some(YamlKind::Scalar { style, tag: None, .. })) =
            (declared.kind, given.as_mut().map(|given| &mut given.kind))
        {
            *style = Style::Quoted;
        }
        let default = || match &declared.default {
            Some(default) => Some(written(default)),
            // Reported above; nothing else is to be said about it.
            None if declared.is_required => Some(left_open(name)),
            None => None,
        };
        values.push((name.to_string(), given.or_else(default)));
    }
    values
}

/// What stands for the value of a parameter that is not known.
fn left_open(name: &str) -> YamlNode {
    written(&Value::from(format!("{{{{{name}}}}}")))
}

/// A value as it would be written.
fn written(value: &Value) -> YamlNode {
    let text = |raw: String, style| YamlKind::Scalar { raw, style, tag: None };
    let kind = match value {
        Value::String(raw) => text(raw.clone(), Style::Quoted),
        Value::Array(items) => YamlKind::Seq(items.iter().map(written).collect()),
        Value::Object(map) => YamlKind::Map(
            map.iter().map(|(key, value)| (written(&Value::from(key.as_str())), written(value))).collect(),
        ),
        other => text(other.to_string(), Style::Plain),
    };
    YamlNode { span: Span::default(), kind }
}

/// A path in the project, given relative to a file of it. `None` if it leads out of the project.
pub fn beside(from: &str, file: &str) -> Option<String> {
    if file.starts_with('/') {
        return None;
    }
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in file.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Puts the values of parameters into steps.
struct Filling<'p> {
    values: Vec<(String, Option<YamlNode>)>,
    problems: &'p mut Problems,
}

impl Filling<'_> {
    fn steps(mut self, steps: Vec<Step>) -> Vec<Step> {
        steps.into_iter().map(|step| self.step(step)).collect()
    }

    fn step(&mut self, mut step: Step) -> Step {
        let span = step.text.span;
        step.text.value = self.text(&step.text.value, span);
        if let Some(group) = &mut step.group {
            group.text.value = self.text(&group.text.value, span);
        }
        step.recording.0.iter_mut().for_each(|(_, calls)| self.calls(calls));
        step.tools.iter_mut().for_each(|calls| self.calls(calls));
        if let Some(when) = &mut step.flow.when {
            self.calls(std::slice::from_mut(&mut when.call));
            when.otherwise.iter_mut().for_each(|calls| self.calls(calls));
        }
        if let Some(repeat) = &mut step.flow.repeat {
            self.calls(std::slice::from_mut(&mut repeat.until));
        }
        if let Some(stretch) = &mut step.stretch {
            for (_, value) in &mut stretch.with.0 {
                *value = self.node(value).unwrap_or_else(|| written(&Value::Null));
            }
        }
        step
    }

    fn calls(&mut self, calls: &mut [super::ToolCall]) {
        for call in calls {
            if let Some(args) = self.node(&call.args) {
                call.args = Arc::new(args);
            }
        }
    }

    fn value(&self, token: &Token<'_>) -> Option<&Option<YamlNode>> {
        self.values.iter().find(|(name, _)| name == token.path).map(|(_, value)| value)
    }

    /// The value with the parameters in it; `None` if it is `{{?name}}` of a parameter without a value.
    fn node(&mut self, node: &YamlNode) -> Option<YamlNode> {
        let span = node.span;
        let kind = match &node.kind {
            YamlKind::Seq(items) => YamlKind::Seq(items.iter().filter_map(|item| self.node(item)).collect()),
            YamlKind::Map(entries) => YamlKind::Map(
                entries.iter().filter_map(|(key, value)| Some((key.clone(), self.node(value)?))).collect(),
            ),
            YamlKind::Scalar { raw, style, tag } => {
                if let Some(token) = template::whole(raw)
                    && let Some(value) = self.value(&token)
                {
                    return match value {
                        Some(value) if token.coercion.is_none() => Some(placed(value, span)),
                        Some(value) => Some(YamlNode { span, kind: converted(value, token) }),
                        None if token.drops => None,
                        None => Some(placed(&written(&Value::Null), span)),
                    };
                }
                YamlKind::Scalar { raw: self.text(raw, span), style: *style, tag: tag.clone() }
            }
        };
        Some(YamlNode { span, kind })
    }

    /// A text with the parameters in it.
    fn text(&mut self, text: &str, span: Span) -> String {
        let mut wrong = None;
        let filled = template::fill::<Uncoercible>(&Value::from(text), &mut |token| {
            Ok(match self.value(token) {
                None => Replacement::Keep,
                Some(None) => Replacement::Nothing,
                Some(Some(value)) => match value.raw() {
                    Some(raw) => Replacement::Value(raw.into()),
                    None => {
                        wrong = Some(format!("`{}` is {}, which cannot be a part of a text", token.raw, value.noun()));
                        Replacement::Keep
                    }
                },
            })
        });
        match (filled, wrong) {
            (Ok(Some(Value::String(filled))), None) => return filled,
            (Err(error), _) => self.problems.error(span, error.to_string()),
            (_, Some(wrong)) => self.problems.error(span, wrong),
            (Ok(Some(other)), None) => return other.to_string(),
            (Ok(None), None) => return String::new(),
        }
        text.to_string()
    }
}

/// `{{int:name}}`: the text of a value without quotes, as the tool then reads it; a template keeps the wish.
fn converted(value: &YamlNode, token: Token<'_>) -> YamlKind {
    let raw = value.raw().unwrap_or_default();
    match template::whole(raw) {
        Some(inner) if inner.coercion.is_none() => {
            let raw = token.raw.replace(token.path, inner.path);
            YamlKind::Scalar { raw, style: Style::Plain, tag: None }
        }
        _ if token.coercion == Some(template::Coercion::Text) => {
            YamlKind::Scalar { raw: raw.to_string(), style: Style::Quoted, tag: None }
        }
        _ => YamlKind::Scalar { raw: raw.to_string(), style: Style::Plain, tag: None },
    }
}

/// The same value at a place of another file, where problems with it are reported.
fn placed(value: &YamlNode, span: Span) -> YamlNode {
    let kind = match &value.kind {
        YamlKind::Seq(items) => YamlKind::Seq(items.iter().map(|item| placed(item, span)).collect()),
        YamlKind::Map(entries) => {
            YamlKind::Map(entries.iter().map(|(key, value)| (placed(key, span), placed(value, span))).collect())
        }
        scalar => scalar.clone(),
    };
    YamlNode { span, kind }
}
