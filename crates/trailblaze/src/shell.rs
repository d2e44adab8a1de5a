//! A stateful prompt on one device: steps, calls and snapshots, kept as a trail when it is worth keeping. Fed by a
//! person, a script or an agent.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use trailblaze_core::cx::{Attempt, Cx};
use trailblaze_core::dispatch::{Arguments, Call, dispatch};
use trailblaze_core::ids;
use trailblaze_core::memory::Memory;
use trailblaze_core::record::{RecordedStep, is_bound_to_device};
use trailblaze_core::registry::Registry;
use trailblaze_core::session::Session;
use trailblaze_core::trail::{NewCalls, NewStep, Trail, lineage, new_trail};
use trailblaze_core::yaml::Source;
use trailblaze_core::{snapshot, yaml};
use trailblaze_protocol::event::{Event, Origin, Plan, StepKind, TrailRef, Verdict};
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::ids::StepId;

use crate::arguments::typed;
use crate::lane::LaneSink;
use crate::print;
use crate::recordings::write_atomically;

pub struct Shell {
    session: Arc<Session>,
    sink: Arc<LaneSink>,
    attempt: Arc<Attempt>,
    cancel: CancellationToken,
    target: Option<String>,
    step: Option<OpenStep>,
    steps: usize,
    has_failed: bool,
    last_snapshot: Option<String>,
}

struct OpenStep {
    id: StepId,
    has_failed: bool,
}

/// What a line came to.
#[derive(Debug, PartialEq)]
pub enum Answer {
    /// Text for people, and the same for programs.
    Done {
        text: String,
        value: Value,
    },
    Failed {
        message: String,
        exit: Exit,
    },
    Quit,
    Nothing,
}

/// A line, taken apart.
#[derive(Debug, PartialEq)]
pub enum Line {
    Step { kind: StepKind, text: String },
    Snapshot { details: snapshot::Details, within: Option<String>, only_changes: bool },
    Tool { name: String, args: Vec<(String, String)> },
    Tools { search: Option<String> },
    Memory,
    Save { path: PathBuf, overwrite: bool },
    Help,
    Quit,
}

pub const HELP: &str = "\
step \"WORDS\"            begin a step: what the next calls are for
verify \"WORDS\"          begin a step that checks something
snapshot [--bounds] [--offscreen] [--covered] [--all] [--within REF] [--depth N] [--changes]
                        show the screen, with refs to tap; or what changed since the last one
tool NAME k=v ...       call a tool; `tool` may be left out
tools [WORD]            list the tools
memory                  show what is remembered
save FILE [--force]     keep the steps as a trail
quit                    leave";

impl Shell {
    pub fn open(
        session: Arc<Session>,
        sink: Arc<LaneSink>,
        memory: Memory,
        target: Option<String>,
        cancel: CancellationToken,
    ) -> Shell {
        let attempt = Attempt::new(ids::attempt(), memory, "");
        let trail = TrailRef { id: "shell".into(), title: "shell".into(), path: String::new(), tags: Vec::new() };
        session.emit(Event::AttemptStarted {
            attempt: attempt.id.clone(),
            session: session.id.clone(),
            trail,
            number: 1,
            repeat: None,
        });
        Shell { session, sink, attempt, cancel, target, step: None, steps: 0, has_failed: false, last_snapshot: None }
    }

    /// Carries out one line. What it answers is fit to be shown: a message may repeat what was typed.
    pub async fn line(&mut self, text: &str) -> Answer {
        let answer = self.answer(text).await;
        self.fit_to_show(answer)
    }

    pub fn registry(&self) -> Arc<Registry> {
        self.session.registry()
    }

    /// Calls a tool, as a line that names it does.
    pub async fn call(&mut self, name: &str, args: &[(String, String)]) -> Answer {
        let answer = self.tool(name, args).await;
        self.fit_to_show(answer)
    }

    fn fit_to_show(&self, mut answer: Answer) -> Answer {
        let secrets = &self.session.secrets;
        match &mut answer {
            Answer::Done { text, value } => {
                secrets.redact_in_place(text);
                secrets.redact_value(value);
            }
            Answer::Failed { message, .. } => secrets.redact_in_place(message),
            Answer::Quit | Answer::Nothing => {}
        }
        answer
    }

    async fn answer(&mut self, text: &str) -> Answer {
        let line = match parse(text) {
            Ok(Some(line)) => line,
            Ok(None) => return Answer::Nothing,
            Err(message) => return Answer::Failed { message, exit: Exit::Invalid },
        };
        match line {
            Line::Step { kind, text } => {
                self.begin(kind, &text);
                done(format!("step {}: {text}", self.steps), json!({"step": self.steps, "text": text}))
            }
            Line::Snapshot { details, within, only_changes } => self.snapshot(details, within, only_changes).await,
            Line::Tool { name, args } => self.tool(&name, &args).await,
            Line::Tools { search } => self.tools(search.as_deref()),
            Line::Memory => {
                let values = Value::Object(self.attempt.memory().values().clone());
                done(yaml::block(&values, 0).trim_end().to_string(), values)
            }
            Line::Save { path, overwrite } => self.save(&path, overwrite),
            Line::Help => done(HELP.to_string(), json!(HELP)),
            Line::Quit => Answer::Quit,
        }
    }

    fn begin(&mut self, kind: StepKind, text: &str) {
        self.end_step();
        let id = StepId::new(format!("{}/{}.1", self.attempt.id, self.steps));
        self.session.emit(Event::StepStarted {
            step: id.clone(),
            attempt: self.attempt.id.clone(),
            index: self.steps,
            kind,
            text: text.to_string(),
            plan: Plan::Interactive,
        });
        self.steps += 1;
        self.step = Some(OpenStep { id, has_failed: false });
    }

    fn end_step(&mut self) {
        if let Some(step) = self.step.take() {
            let verdict = if step.has_failed { Verdict::Failed } else { Verdict::Passed };
            self.session.emit(Event::StepEnded { step: step.id, verdict, message: String::new() });
        }
    }

    /// Ends the session in the record.
    pub async fn close(mut self) {
        self.end_step();
        let verdict = if self.has_failed { Verdict::Failed } else { Verdict::Passed };
        let attempt = self.attempt.id.clone();
        self.session.emit(Event::AttemptEnded { attempt, verdict, message: String::new(), failure: None });
        self.session.close("").await;
    }

    fn cx(&mut self) -> Cx {
        if self.step.is_none() {
            self.begin(StepKind::Step, "Explore");
        }
        let step = self.step.as_ref().map(|step| step.id.clone()).expect("a step was begun");
        Cx::for_step(&self.session, &self.attempt, step, self.cancel.clone())
    }

    async fn snapshot(&mut self, mut details: snapshot::Details, within: Option<String>, only_changes: bool) -> Answer {
        let cx = self.cx();
        match self.session.device.show_with(&cx, &details).await {
            Ok(screen) => {
                if let Some(reference) = within {
                    let found = screen.root.walk().find(|node| node.reference.as_deref() == Some(&reference));
                    let Some(found) = found else {
                        let message = format!("nothing on the screen has the ref `{reference}`");
                        return Answer::Failed { message, exit: Exit::Failed };
                    };
                    details.within = Some(found.id);
                }
                let text = snapshot::text(&screen, &details);
                let before = self.last_snapshot.replace(text.clone()).filter(|_| only_changes);
                let text = before.map_or_else(|| text.clone(), |before| snapshot::changes(&before, &text));
                done(text.clone(), json!({"app": screen.app, "text": text}))
            }
            Err(trailblaze_core::fault::Stop::Fault(fault)) => {
                Answer::Failed { message: fault.to_string(), exit: fault.exit() }
            }
            Err(trailblaze_core::fault::Stop::Failed(outcome)) => {
                Answer::Failed { message: outcome.text, exit: Exit::Failed }
            }
        }
    }

    async fn tool(&mut self, name: &str, args: &[(String, String)]) -> Answer {
        let registry = self.session.registry_with(name).await;
        let args = match registry.get(name) {
            Some(tool) => typed(tool, args),
            None => {
                let mut lack = registry.lack(name);
                lack.hint.get_or_insert_with(|| "`tools` lists what there is".to_string());
                return self.failed(lack.to_string(), Exit::Invalid);
            }
        };
        let args = match args {
            Ok(args) => args,
            Err(error) => return Answer::Failed { message: error.to_string(), exit: Exit::Invalid },
        };
        let cx = self.cx();
        let answer = dispatch(&cx, Call::new(name, Arguments::Json(args), Origin::Step)).await;
        match answer {
            Ok(outcome) if !outcome.is_error() => {
                let delegates: Vec<String> = outcome
                    .delegates
                    .iter()
                    .map(|delegate| format!("{} {}", delegate.tool, Value::Object(delegate.args.clone())))
                    .collect();
                let text = match delegates.as_slice() {
                    [] if outcome.text.is_empty() => "done".to_string(),
                    [] => outcome.text.clone(),
                    delegates => delegates.join("\n"),
                };
                done(text, serde_json::to_value(&outcome).unwrap_or_default())
            }
            Ok(outcome) => self.failed(outcome.text, Exit::Failed),
            Err(fault) => self.failed(fault.to_string(), fault.exit()),
        }
    }

    fn failed(&mut self, message: String, exit: Exit) -> Answer {
        self.has_failed = true;
        let message = self.session.secrets.redact(&message).into_owned();
        if let Some(step) = &mut self.step {
            step.has_failed = true;
        }
        Answer::Failed { message, exit }
    }

    fn tools(&self, search: Option<&str>) -> Answer {
        let registry = self.session.registry();
        let found = registry.offered().filter(|tool| {
            search.is_none_or(|word| {
                format!("{} {}", tool.name, tool.description).to_lowercase().contains(&word.to_lowercase())
            })
        });
        let rows: Vec<(String, String)> = found
            .map(|tool| (tool.name.clone(), tool.description.lines().next().unwrap_or_default().to_string()))
            .collect();
        let text = rows.iter().map(|(name, about)| format!("{name:<26} {about}")).collect::<Vec<_>>().join("\n");
        done(text, json!(rows.iter().map(|(name, _)| name).collect::<Vec<_>>()))
    }

    /// Writes the steps so far as a trail that runs wherever it can.
    fn save(&self, path: &Path, overwrite: bool) -> Answer {
        let refuse = |message: String| Answer::Failed { message, exit: Exit::Invalid };
        if path.exists() && !overwrite {
            return refuse(format!("{} exists; `save {} --force` replaces it", path.display(), path.display()));
        }
        let recorded = self.sink.recording(&self.attempt.id);
        let description = self.session.device.description();
        let platform =
            lineage(&description.classifiers).last().cloned().unwrap_or_else(|| description.platform.to_string());
        let steps: Vec<NewStep> =
            recorded.iter().filter(|step| !step.calls.is_empty()).map(|step| new_step(step, &platform)).collect();
        if steps.is_empty() {
            return refuse("nothing was done yet that could be replayed".to_string());
        }
        let mut config = Map::new();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("trail");
        let id = name.strip_suffix(".trail.yaml").or(name.strip_suffix(".yaml")).unwrap_or(name);
        config.insert("id".into(), id.into());
        if let Some(target) = &self.target {
            config.insert("target".into(), target.as_str().into());
        }
        let text = new_trail(config, &steps);
        // What cannot be read back is not written.
        let (trail, problems) = Trail::read(&Source::new(path.display().to_string(), text.as_str()));
        if trail.is_none() {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            return Answer::Failed {
                message: format!("the trail would not read back: {}", problems.join("; ")),
                exit: Exit::Bug,
            };
        }
        if let Err(error) = write_atomically(path, &text) {
            return Answer::Failed {
                message: format!("cannot write {}: {error}", path.display()),
                exit: Exit::Environment,
            };
        }
        let mut lines = vec![format!("saved {} in {}", print::count(steps.len(), "step"), path.display())];
        for step in recorded.iter().filter(|step| !step.needs_model.is_empty()) {
            lines.push(format!(
                "step \"{}\" depends on a model: {} cannot be replayed",
                step.text,
                step.needs_model.join(", ")
            ));
        }
        done(lines.join("\n"), json!({"saved": path, "steps": steps.len()}))
    }
}

fn done(text: String, value: Value) -> Answer {
    Answer::Done { text, value }
}

/// Calls that speak of no platform go anywhere; others belong to the platform that they were made on.
fn new_step(step: &RecordedStep, platform: &str) -> NewStep {
    let calls = match step.calls.iter().any(is_bound_to_device) {
        false => NewCalls::Anywhere(step.calls.clone()),
        true => NewCalls::Recorded { classifier: platform.to_string(), calls: step.calls.clone() },
    };
    NewStep { kind: step.kind, text: step.text.clone(), calls }
}

fn parse(text: &str) -> Result<Option<Line>, String> {
    let words = split(text)?;
    let [first, rest @ ..] = words.as_slice() else { return Ok(None) };
    if first.starts_with('#') {
        return Ok(None);
    }
    let say = |kind: StepKind| match rest.join(" ") {
        text if text.trim().is_empty() => Err(format!("`{first}` needs words: {first} \"Pay Ada\"")),
        text => Ok(Some(Line::Step { kind, text })),
    };
    match first.as_str() {
        "step" => say(StepKind::Step),
        "verify" => say(StepKind::Verify),
        "snapshot" => {
            let mut details = snapshot::Details::default();
            let (mut within, mut only_changes) = (None, false);
            let mut words = rest.iter();
            while let Some(flag) = words.next() {
                match flag.as_str() {
                    "--bounds" => details.bounds = true,
                    "--offscreen" => details.offscreen = true,
                    "--covered" => details.covered = true,
                    "--all" => details.all = true,
                    "--changes" => only_changes = true,
                    "--within" => match words.next() {
                        Some(reference) => within = Some(reference.trim_matches(['[', ']']).to_string()),
                        None => return Err("`--within` needs a ref: snapshot --within e7".to_string()),
                    },
                    "--depth" => match words.next().and_then(|depth| depth.parse().ok()) {
                        Some(depth) => details.depth = Some(depth),
                        None => return Err("`--depth` needs a number: snapshot --depth 2".to_string()),
                    },
                    other => {
                        return Err(format!(
                            "`snapshot` has no `{other}`; it takes --bounds, --offscreen, --covered, --all, --within REF, \
                             --depth N and --changes"
                        ));
                    }
                }
            }
            Ok(Some(Line::Snapshot { details, within, only_changes }))
        }
        "tool" => match rest {
            [] => Err("`tool` needs a name: tool tap text=Pay".to_string()),
            [name, args @ ..] => call(name, args),
        },
        "tools" => Ok(Some(Line::Tools { search: rest.first().cloned() })),
        "memory" => Ok(Some(Line::Memory)),
        "save" => {
            let overwrite = rest.iter().any(|word| word == "--force");
            let paths: Vec<&String> = rest.iter().filter(|word| *word != "--force").collect();
            match paths.as_slice() {
                [path] => Ok(Some(Line::Save { path: PathBuf::from(path.as_str()), overwrite })),
                _ => Err("`save` needs one file: save pay.trail.yaml".to_string()),
            }
        }
        "help" | "?" => Ok(Some(Line::Help)),
        "quit" | "exit" => Ok(Some(Line::Quit)),
        name => call(name, rest),
    }
}

fn call(name: &str, args: &[String]) -> Result<Option<Line>, String> {
    let args = args
        .iter()
        .map(|arg| match arg.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok((name.to_string(), value.to_string())),
            _ => Err(format!("arguments are written name=value, not `{arg}`")),
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Some(Line::Tool { name: name.to_string(), args }))
}

/// Splits a line into words, as a shell does: quotes of either kind hold a word together, a backslash takes the next
/// character as it is.
fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('\''), c) => word.get_or_insert_default().push(c),
            (_, '\\') => match chars.next() {
                Some(next) => word.get_or_insert_default().push(next),
                None => return Err("the line ends with a lone backslash".to_string()),
            },
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                word.get_or_insert_default();
                quote = Some(c);
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    if let Some(open) = quote {
        return Err(format!("a quote {open} is not closed"));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_as_a_shell_does() {
        let check = |text: &str, expected: &[&str]| assert_eq!(split(text).unwrap(), expected, "{text}");
        check(r#"tap text="Send money"  index=0"#, &["tap", "text=Send money", "index=0"]);
        check(r"step 'it is' it\'s", &["step", "it is", "it's"]);
        check(r#"a "" b"#, &["a", "", "b"]);
        assert_eq!(split("a 'b").unwrap_err(), "a quote ' is not closed");
    }

    #[test]
    fn what_is_no_verb_is_a_tool() {
        let check = |text: &str, expected: Result<Option<Line>, &str>| {
            assert_eq!(parse(text), expected.map_err(String::from), "{text}")
        };
        check("", Ok(None));
        check("# a remark", Ok(None));
        let tap = || Line::Tool { name: "tap".into(), args: vec![("text".into(), "a=b".into())] };
        check("tap text=a=b", Ok(Some(tap())));
        check("tool tap text=a=b", Ok(Some(tap())));
        check("tap Pay", Err("arguments are written name=value, not `Pay`"));
        check("step", Err("`step` needs words: step \"Pay Ada\""));
        check("save a b", Err("`save` needs one file: save pay.trail.yaml"));
        check("save a --force", Ok(Some(Line::Save { path: "a".into(), overwrite: true })));
    }
}
