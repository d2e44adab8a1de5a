//! Saves a session as a trail: its steps, and the file that contains them.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};
use trailblaze_core::record::fold::{RecordedStep, is_bound_to_device};
use trailblaze_core::trail::{
    CallParts, Merge, MergedTrail, NewCalls, NewStep, SaveError, Trail, is_trail, merge, new_trail, parts_of,
};
use trailblaze_core::yaml::Source;
use trailblaze_protocol::event::StepKind;
use trailblaze_protocol::exit::Exit;

use super::SavePlace;
use super::command::Save;
use super::marks::mark_doubted;
use crate::files::lock::{self, ProjectLock};
use crate::files::{check_links, write_in_project};
use crate::output::report::turns;
use crate::output::words::count;
use crate::project::trail_schema;

/// The text of a step that was begun implicitly, by a call.
pub const EXPLORE: &str = "Explore";

/// Calls that start something: the tool, the argument that names it, and the text of a step that does nothing else. Such
/// calls at the beginning of a session become its trailhead.
const STARTS: [(&str, &str, &str); 4] = [
    ("launchApp", "packageId", "Start the app"),
    ("openUrl", "url", OPEN_PAGE),
    ("navigate", "url", OPEN_PAGE),
    ("web_navigate", "url", OPEN_PAGE),
];
const OPEN_PAGE: &str = "Open the page";

/// The arguments that name files: relative to the project in a session, and to the trail in a trail.
const FILES: [(&str, &str); 8] = [
    ("web_upload", "files"),
    ("web_navigate", "url"),
    ("web_mockRequest", "file"),
    ("web_changeResponse", "file"),
    ("web_recordHar", "file"),
    ("web_replayHar", "file"),
    ("mobile_installApp", "file"),
    ("mobile_pushFile", "file"),
];

/// The steps of a session in the form of a trail. Calls that are independent of the device are saved for all platforms;
/// others for the platform they were made on. A step that cannot be replayed completely is left to a model.
pub fn steps(recorded: &[RecordedStep], platform: &str) -> Vec<NewStep> {
    let mut steps: Vec<NewStep> = Vec::new();
    for step in recorded.iter().filter(|step| !is_empty(step)) {
        let is_first = steps.is_empty();
        let n_starts = if is_first && step.kind == StepKind::Step { n_starts(step) } else { 0 };
        let (starts, others) = step.calls.split_at(n_starts);
        if n_starts > 0 {
            let is_named = others.is_empty() && step.text != EXPLORE;
            let text = if is_named { step.text.clone() } else { start(&starts[0]).unwrap_or(EXPLORE).to_string() };
            steps.push(NewStep { kind: StepKind::Trailhead, text, calls: new_calls(starts, platform) });
        }
        if n_starts == 0 || !others.is_empty() {
            let calls = if step.needs_model.is_empty() && !others.is_empty() {
                new_calls(others, platform)
            } else {
                NewCalls::None
            };
            steps.push(NewStep { kind: step.kind, text: step.text.clone(), calls });
        }
    }
    // A trail needs more than a trailhead, and the recording of a trailhead holds a single call.
    let is_alone = steps.len() == 1;
    if let Some(head) = steps.first_mut().filter(|head| head.kind == StepKind::Trailhead)
        && (is_alone || !head.fits_trailhead())
    {
        head.kind = StepKind::Step;
    }
    steps
}

/// Names the target's app by the target, so that the trail fits all of its platforms and builds.
pub fn name_target_app(steps: &mut [NewStep], app: &str) {
    for step in steps {
        let (NewCalls::Anywhere(calls) | NewCalls::Recorded { calls, .. }) = &mut step.calls else { continue };
        let args = calls.iter_mut().filter_map(Value::as_object_mut).flat_map(Map::values_mut);
        for args in args.filter_map(Value::as_object_mut) {
            for key in ["packageId", "appId"] {
                if let Some(value) = args.get_mut(key).filter(|value| *value == app) {
                    *value = "{{target.appId}}".into();
                }
            }
        }
    }
}

fn new_calls(calls: &[Value], platform: &str) -> NewCalls {
    match calls.iter().any(is_bound_to_device) {
        false => NewCalls::Anywhere(calls.to_vec()),
        true => NewCalls::Recorded { classifier: platform.to_string(), calls: calls.to_vec() },
    }
}

/// How many calls at the beginning of a step start something.
fn n_starts(step: &RecordedStep) -> usize {
    if step.needs_model.is_empty() { step.calls.iter().take_while(|call| start(call).is_some()).count() } else { 0 }
}

/// The step text for a call that starts something.
fn start(call: &Value) -> Option<&'static str> {
    let CallParts { tool, args, .. } = parts_of(call)?;
    let (_, arg, words) = STARTS.iter().find(|(name, arg, _)| *name == tool && args.get(arg).is_some())?;
    let is_page = args[arg].as_str().is_some_and(|what| what.contains("://"));
    Some(if is_page { OPEN_PAGE } else { words })
}

pub fn is_empty(step: &RecordedStep) -> bool {
    step.calls.is_empty() && step.needs_model.is_empty() && !step.is_edited
}

/// The numbers of steps, from 1, as in the file and in reports: a trailhead has none.
pub fn numbers(steps: &[NewStep]) -> impl Iterator<Item = Option<usize>> {
    steps.iter().scan(0, |n_before, step| {
        let has_number = step.kind != StepKind::Trailhead;
        *n_before += usize::from(has_number);
        Some(has_number.then_some(*n_before))
    })
}

/// The number of a step that is added. What only starts an app becomes the trailhead of what follows it.
pub fn next_number(steps: &[NewStep]) -> usize {
    let is_start = |step: &NewStep| match &step.calls {
        NewCalls::Anywhere(calls) | NewCalls::Recorded { calls, .. } => calls.iter().all(|call| start(call).is_some()),
        NewCalls::None => false,
    };
    match steps {
        [only] if only.kind == StepKind::Step && only.fits_trailhead() && is_start(only) => 1,
        _ => numbers(steps).flatten().count() + 1,
    }
}

/// Keeps only the steps with these numbers. The trailhead stays if no first one is given.
pub fn cut(steps: &mut Vec<NewStep>, from: Option<usize>, to: Option<usize>) -> Result<(), KeepError> {
    let n_steps = numbers(steps).flatten().count();
    let (first, last) = (from.unwrap_or(1), to.unwrap_or(n_steps));
    let is_known = |number: usize| (1..=n_steps).contains(&number);
    if from.is_some_and(|from| !is_known(from)) || to.is_some_and(|to| !is_known(to)) || n_steps > 0 && first > last {
        return Err(KeepError::Stretch { first, last, n_steps });
    }
    let numbered: Vec<Option<usize>> = numbers(steps).collect();
    let is_kept = |number: &Option<usize>| number.map_or(from.is_none(), |number| (first..=last).contains(&number));
    let mut kept = numbered.iter().map(is_kept);
    steps.retain(|_| kept.next().unwrap_or_default());
    // Only the first steps of a session can be a trailhead, and a trail needs more than that.
    let is_alone = steps.len() == 1;
    if let Some(head) = steps.first_mut().filter(|head| is_alone && head.kind == StepKind::Trailhead) {
        head.kind = StepKind::Step;
    }
    Ok(())
}

/// A list of steps: of each its number, its text and its calls.
pub fn list(steps: &[NewStep]) -> String {
    let line = |(number, step): (Option<usize>, &NewStep)| {
        let title = match number {
            Some(number) => format!("{number}. {}", title_of(step)),
            None => title_of(step),
        };
        let (NewCalls::Anywhere(calls) | NewCalls::Recorded { calls, .. }) = &step.calls else {
            return format!("{title} (left to a model)");
        };
        let calls: Vec<String> = calls.iter().map(|call| format!("\n   {}", turns::written(call))).collect();
        format!("{title}{}", calls.concat())
    };
    numbers(steps).zip(steps).map(line).collect::<Vec<_>>().join("\n")
}

fn title_of(step: &NewStep) -> String {
    match step.kind {
        StepKind::Step => step.text.clone(),
        StepKind::Verify => format!("verify: {}", step.text),
        StepKind::Trailhead => format!("trailhead: {}", step.text),
    }
}

/// The steps for programs.
pub fn as_json(steps: &[NewStep]) -> Value {
    let row = |(number, step): (Option<usize>, &NewStep)| {
        let calls = match &step.calls {
            NewCalls::Anywhere(calls) | NewCalls::Recorded { calls, .. } => calls.as_slice(),
            NewCalls::None => &[],
        };
        json!({"number": number, "kind": step.kind, "text": step.text, "calls": calls})
    };
    numbers(steps).zip(steps).map(row).collect()
}

/// Warnings about steps that are not saved exactly as they were made.
pub fn remarks(recorded: &[RecordedStep]) -> Vec<String> {
    let remark = |(at, step): (usize, &RecordedStep)| {
        let text = &step.text;
        let is_followed =
            |n_before: usize| step.calls.len() > n_before || recorded[at + 1..].iter().any(|step| !is_empty(step));
        let halfway = step.failed_halfway.iter().filter(|failed| is_followed(failed.n_before)).map(|failed| {
            format!(
                "step \"{text}\": `{}` failed after it had called {}, and was not saved; what follows may depend on what it did",
                failed.tool,
                quoted(&failed.done)
            )
        });
        let other = match step.needs_model.as_slice() {
            // A step that was tried again is there.
            [] if is_empty(step) && recorded.iter().any(|other| other.text == *text && !is_empty(other)) => None,
            [] if is_empty(step) && text != EXPLORE => {
                Some(format!("step \"{text}\" was left out: it has no passing call that can be replayed"))
            }
            [] => step.why_not_replaced(),
            tools => {
                let tools = tools.join(", ");
                Some(format!("step \"{text}\" needs a model: {tools} cannot be replayed, so only its text was saved"))
            }
        };
        halfway.chain(other).collect::<Vec<_>>()
    };
    recorded.iter().enumerate().flat_map(remark).collect()
}

fn quoted(tools: &[String]) -> String {
    tools.iter().map(|tool| format!("`{tool}`")).collect::<Vec<_>>().join(", ")
}

/// Why a session was not saved.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    #[error("there are no steps yet")]
    Nothing,
    #[error("there are no steps {first} to {last}; the session has {}", count(*.n_steps, "step"))]
    Stretch { first: usize, last: usize, n_steps: usize },
    #[error(
        "{path} exists; `--append` adds the steps behind its last one, and `--force` replaces its steps, but keeps comments \
         and what other devices have"
    )]
    Exists { path: String },
    #[error("`--title` is only for a new file; {path} already has a title")]
    Title { path: String },
    #[error("cannot read {path}: {source}")]
    Read { path: String, source: std::io::Error },
    #[error("{path} was not changed: {problem}")]
    Merge { path: String, problem: SaveError },
    #[error("the trail would not read back: {problems}")]
    Unreadable { problems: String },
    #[error("cannot write {path}: {source}")]
    Write { path: String, source: std::io::Error },
}

impl KeepError {
    pub fn exit(&self) -> Exit {
        match self {
            KeepError::Nothing
            | KeepError::Stretch { .. }
            | KeepError::Exists { .. }
            | KeepError::Title { .. }
            | KeepError::Merge { .. } => Exit::Invalid,
            KeepError::Unreadable { .. } => Exit::Bug,
            KeepError::Read { .. } | KeepError::Write { .. } => Exit::Environment,
        }
    }
}

/// Where a session's trail is saved.
pub struct Home<'a> {
    pub place: &'a SavePlace,
    /// The classifiers of the device, the closest first.
    pub lineage: &'a [String],
    /// The steps that may not do the same when they are replayed, from 0, with the reason. Only a new file is marked with them.
    pub doubts: &'a [(usize, String)],
}

/// Saves the steps of a session. Returns a description of the change.
pub fn save(home: &Home<'_>, steps: &[NewStep], wish: &Save) -> Result<String, KeepError> {
    let shown = wish.path.display().to_string();
    let folder = if wish.is_own { &home.place.root } else { &home.place.current_dir };
    let path = &folder.join(&wish.path);
    if steps.is_empty() {
        return Err(KeepError::Nothing);
    }
    let steps = &with_files_from(&home.place.root, path, steps);
    // The file must not change between reading and writing.
    let _lock = ProjectLock::take(&home.place.root).map_err(|source| write_error(Path::new(lock::PATH), source))?;
    let read_error = |source| KeepError::Read { path: shown.clone(), source };
    let existing = match (path.exists(), wish.merge) {
        (false, _) => None,
        (true, None) => return Err(KeepError::Exists { path: shown }),
        (true, Some(how)) => {
            let source =
                Source::new(shown.as_str(), String::from_utf8_lossy(&std::fs::read(path).map_err(read_error)?));
            let merged = merge(&source, home.lineage, steps, how);
            Some((merged.map_err(|problem| KeepError::Merge { path: shown.clone(), problem })?, how))
        }
    };
    let (text, said) = match existing {
        Some(_) if wish.title.is_some() => return Err(KeepError::Title { path: shown }),
        Some((merged, how)) => {
            let said = merged_words(&merged, how, &shown);
            (merged.text, said)
        }
        None => {
            let made = check_links(&home.place.root, path);
            let made = made.and_then(|()| path.parent().map_or(Ok(()), std::fs::create_dir_all));
            made.map_err(|source| write_error(path, source))?;
            let title = wish.title.clone().unwrap_or_else(|| title(&id(path)));
            let text =
                schema_line(&home.place.root, path).unwrap_or_default() + &text(&id(path), &title, home.place, steps);
            let text = mark_doubted(&text, home.doubts).unwrap_or(text);
            let count = match steps.iter().filter(|step| step.kind != StepKind::Trailhead).count() {
                n_steps if n_steps < steps.len() => format!("a trailhead and {}", count(n_steps, "step")),
                n_steps => count(n_steps, "step"),
            };
            let mut said = format!("saved {count} in {shown}");
            if !is_trail(path) {
                said.push_str("\nwarning: only files named trail.yaml or *.trail.yaml are found by `run` and `check`");
            }
            (text, said)
        }
    };
    check(&shown, &text)?;
    write_in_project(&home.place.root, path, &text).map_err(|source| write_error(&wish.path, source))?;
    Ok(said)
}

/// The steps with the files that they name relative to the trail. A recording in the browser only knows the names of files.
fn with_files_from(root: &Path, trail: &Path, steps: &[NewStep]) -> Vec<NewStep> {
    let mut steps = steps.to_vec();
    let folder = trail.parent().and_then(|folder| folder.strip_prefix(root).ok());
    let is_plain = |folder: &&Path| folder.components().all(|part| matches!(part, Component::Normal(_)));
    let Some(folder) = folder.filter(is_plain) else { return steps };
    let seen = |file: &mut Value| {
        let path = file.as_str().map(Path::new).filter(|path| path.is_relative() && root.join(path).exists());
        if let Some(path) = path.and_then(|path| seen_from(folder, path)) {
            *file = path.display().to_string().into();
        }
    };
    for step in &mut steps {
        let (NewCalls::Anywhere(calls) | NewCalls::Recorded { calls, .. }) = &mut step.calls else { continue };
        for call in calls {
            for (tool, argument) in FILES {
                match call.get_mut(tool).and_then(|call| call.get_mut(argument)) {
                    Some(Value::Array(files)) => files.iter_mut().for_each(seen),
                    Some(file) => seen(file),
                    None => {}
                }
            }
        }
    }
    steps
}

/// A path in the project, as seen from a folder of the project.
fn seen_from(folder: &Path, path: &Path) -> Option<PathBuf> {
    let above = |(depth, above): (usize, &Path)| {
        let rest = path.strip_prefix(above).ok()?;
        Some(std::iter::repeat_n("..", depth).collect::<PathBuf>().join(rest))
    };
    folder.ancestors().enumerate().find_map(above)
}

fn write_error(path: &Path, source: std::io::Error) -> KeepError {
    KeepError::Write { path: path.display().to_string(), source }
}

fn merged_words(merged: &MergedTrail, how: Merge, path: &str) -> String {
    match how {
        Merge::Append if merged.n_added == 0 => format!("{path} already has these steps"),
        Merge::Append => format!("added {} to {path}", count(merged.n_added, "step")),
        Merge::Replace => {
            let MergedTrail { n_kept, n_added, n_removed, .. } = merged;
            format!("updated {path}: {} kept, {n_added} added, {n_removed} removed", count(*n_kept, "step"))
        }
    }
}

/// The text of a new trail.
pub fn text(id: &str, title: &str, place: &SavePlace, steps: &[NewStep]) -> String {
    let mut config = Map::new();
    config.insert("id".into(), id.into());
    config.insert("title".into(), title.into());
    if let Some(target) = &place.target {
        config.insert("target".into(), target.as_str().into());
    }
    // Without it, a run without `--device` would use a simulated device.
    if let Some(driver) = &place.driver
        && let Some(platform) = driver.platform()
    {
        config.insert("devices".into(), json!({ platform.name(): driver.as_str() }));
    }
    new_trail(config, steps)
}

/// A trail that cannot be read back is not written.
fn check(path: &str, text: &str) -> Result<(), KeepError> {
    let source: Arc<Source> = Source::new(path, text);
    match Trail::read(&source) {
        (Some(_), _) => Ok(()),
        (None, problems) => {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            Err(KeepError::Unreadable { problems: problems.join("; ") })
        }
    }
}

/// `pay-ada` of `trails/pay-ada.trail.yaml`.
fn id(path: &Path) -> String {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("trail");
    name.strip_suffix(".trail.yaml").or(name.strip_suffix(".yaml")).unwrap_or(name).to_string()
}

/// `Pay ada` of `pay-ada`.
fn title(id: &str) -> String {
    let words = id.replace(['-', '_'], " ");
    let mut chars = words.trim().chars();
    chars.next().map_or_else(|| id.to_string(), |first| first.to_uppercase().chain(chars).collect())
}

/// The line by which editors find the schema. Writes the schema if the project has none. `None` for a file outside the
/// project.
fn schema_line(root: &Path, path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (root, folder) = (root.canonicalize().ok()?, folder.canonicalize().ok()?);
    let depth = folder.strip_prefix(&root).ok()?.components().count();
    let schema: PathBuf = root.join(trail_schema::FILE);
    if !schema.exists() {
        let text = serde_json::to_string_pretty(&Trail::schema()).ok()? + "\n";
        write_in_project(&root, &schema, text).ok()?;
    }
    Some(format!("# yaml-language-server: $schema={}{}\n", "../".repeat(depth), trail_schema::FILE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(kind: StepKind, text: &str, calls: Value, needs_model: &[&str]) -> RecordedStep {
        RecordedStep {
            index: 0,
            kind,
            text: text.into(),
            calls: calls.as_array().cloned().unwrap(),
            needs_model: needs_model.iter().map(ToString::to_string).collect(),
            is_by_model: false,
            is_edited: false,
            has_stand_ins: false,
            not_replaced: Vec::new(),
            failed_halfway: Vec::new(),
        }
    }

    fn check(recorded: &[RecordedStep], expected: Value) {
        let kinds = |kind| match kind {
            StepKind::Trailhead => "trailhead",
            StepKind::Step => "step",
            StepKind::Verify => "verify",
        };
        let steps: Vec<Value> = steps(recorded, "android")
            .iter()
            .map(|step| match &step.calls {
                NewCalls::Anywhere(calls) => json!([kinds(step.kind), step.text, calls]),
                NewCalls::Recorded { classifier, calls } => json!([kinds(step.kind), step.text, {classifier: calls}]),
                NewCalls::None => json!([kinds(step.kind), step.text]),
            })
            .collect();
        assert_eq!(Value::from(steps), expected);
    }

    #[test]
    fn what_starts_the_app_is_the_trailhead() {
        let launch = json!({"launchApp": {"packageId": "a"}});
        let tap = json!({"tap": {"text": "Pay"}});
        let whole = step(StepKind::Step, "Open it", json!([launch]), &[]);
        let mixed = step(StepKind::Step, EXPLORE, json!([launch, tap]), &[]);
        let next = || step(StepKind::Verify, "It is open", json!([tap]), &[]);
        check(&[whole.clone(), next()], json!([["trailhead", "Open it", [launch]], ["verify", "It is open", [tap]]]));
        check(&[mixed], json!([["trailhead", "Start the app", [launch]], ["step", "Explore", [tap]]]));
        // Alone, it is an ordinary step.
        check(std::slice::from_ref(&whole), json!([["step", "Open it", [launch]]]));
        check(&[next(), whole], json!([["verify", "It is open", [tap]], ["step", "Open it", [launch]]]));
    }

    #[test]
    fn the_app_of_the_target_is_named_by_the_target() {
        let calls = json!([{"launchApp": {"packageId": "com.acme"}}, {"stopApp": {"appId": "com.acme"}},
                           {"launchApp": {"packageId": "com.acme.other"}}, {"inputText": {"text": "com.acme"}}]);
        let mut steps = steps(&[step(StepKind::Verify, "Go", calls, &[])], "android");
        name_target_app(&mut steps, "com.acme");
        let NewCalls::Anywhere(calls) = &steps[0].calls else { panic!("{steps:?}") };
        let app = "{{target.appId}}";
        let expected = json!([{"launchApp": {"packageId": app}}, {"stopApp": {"appId": app}},
                              {"launchApp": {"packageId": "com.acme.other"}}, {"inputText": {"text": "com.acme"}}]);
        assert_eq!(json!(calls), expected);
    }

    #[test]
    fn a_step_that_cannot_be_replayed_whole_keeps_its_words() {
        let tap = json!({"tap": {"x": 1, "y": 2}});
        let step = |needs_model: &[&str]| step(StepKind::Step, "Judge", json!([tap]), needs_model);
        check(&[step(&["judge"])], json!([["step", "Judge"]]));
        check(&[step(&[])], json!([["step", "Judge", {"android": [tap]}]]));
    }

    #[test]
    fn a_title_is_made_of_the_name() {
        assert_eq!(title(&id(Path::new("trails/pay-ada_now.trail.yaml"))), "Pay ada now");
        assert_eq!(title("-"), "-");
    }
}
