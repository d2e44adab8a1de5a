//! An interactive session on one device: steps, calls and snapshots, which can be saved as a trail. Used by a person, a
//! script or an agent.

mod appeared;
mod by_hand;
mod command;
mod edit;
mod keep;
mod marks;
mod open;
mod replay;
mod snapshots;
mod undo;

pub use command::{CallArguments, InteractiveCommand, Save, Snapshot};
pub use edit::{Handled, StepsState, StudioCommand};
pub use marks::mark_failed;
pub use open::{ClosedInteractive, InteractiveOptions, OpenError, Opened, Usage, open};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use trailblaze_core::callers::agent::{self, Task};
use trailblaze_core::callers::passwords;
use trailblaze_core::callers::step_result::{StepResult, failure};
use trailblaze_core::engine::ask::{AskError, ModelAccess, Spent};
use trailblaze_core::engine::cx::{Attempt, Cx};
use trailblaze_core::engine::dispatch::{Arguments, Call, dispatch_named};
use trailblaze_core::engine::fault::Fault;
use trailblaze_core::engine::registry::{Offer, Registry};
use trailblaze_core::engine::session::Session;
use trailblaze_core::engine::session_key::SessionKey;
use trailblaze_core::ids;
use trailblaze_core::trail::{NewStep, lineage};
use trailblaze_core::values::memory::Memory;
use trailblaze_core::values::secret::Secrets;
use trailblaze_core::yaml;
use trailblaze_protocol::driver::DriverKey;
use trailblaze_protocol::event::{CallOrigin, Event, Failure, Moment, Plan, StepKind, TrailRef, Verdict};
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::ids::{SessionId, StepId};

use crate::files::private;
use crate::output::console::Console;
use crate::output::report::turns::{self, ModelUse};
use crate::output::run_folder::RECORDING;
use crate::project::select::own_trail;
use crate::sessions::arguments::typed;
use crate::sessions::device_log::DeviceLog;
use crate::sessions::toolbox::{self, Listed};
use crate::sessions::viewing::Viewer;
use by_hand::ByHand;
use edit::EditHistory;
use keep::{EXPLORE, Home};
use snapshots::ShownSnapshots;

/// A session on one device that is used call by call. It has one step open at a time, records what passes, and can be saved as a
/// trail. Commands are executed one after the other.
pub struct Interactive {
    usage: Usage,
    session: Arc<Session>,
    sink: Arc<DeviceLog>,
    attempt: Arc<Attempt>,
    place: SavePlace,
    console: Arc<dyn Console>,
    step: Option<OpenStep>,
    n_steps: usize,
    /// The steps that the model has carried out.
    earlier: Vec<String>,
    failures: Failures,
    sights: ShownSnapshots,
    /// The recording in the run folder, as it was last written.
    kept: Option<String>,
    /// What the session remembered when it was opened.
    initial_memory: Memory,
    /// The last saved steps.
    saved: Vec<NewStep>,
    /// Why the device can no longer be used.
    lost: Option<String>,
    history: EditHistory,
    /// Assertions for what appeared after the last action: in words, and the call.
    proposals: Vec<(String, Value)>,
    viewer: Arc<Viewer>,
    by_hand: ByHand,
    /// How many dialogs, errors and downloads of pages were replied.
    n_remarks: usize,
}

/// The key in the value of a reply with the dialogs, errors and downloads of pages.
const REMARKS: &str = "happened";

struct OpenStep {
    id: StepId,
    verdict: Verdict,
}

/// The calls that failed.
struct Failures {
    worst: Exit,
    first: Option<Failure>,
}

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CommandReply {
    /// The result as text, and as JSON for programs.
    Done {
        text: String,
        value: Value,
    },
    Failed {
        message: String,
        exit: Exit,
    },
}

impl CommandReply {
    /// The dialogs, errors and downloads of pages that it tells, one on each line.
    pub fn remarks(&self) -> Vec<String> {
        let CommandReply::Done { value, .. } = self else { return Vec::new() };
        let told = value.get(REMARKS).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        remark_lines(&told.iter().filter_map(Value::as_str).map(str::to_string).collect::<Vec<_>>())
    }
}

fn remark_lines(remarks: &[String]) -> Vec<String> {
    remarks.iter().map(|remark| format!("page: {}", remark.replace('\n', " "))).collect()
}

/// The folders and settings that a session saves with.
pub struct SavePlace {
    /// The project's folder.
    pub root: PathBuf,
    /// The folder that paths of commands are relative to.
    pub current_dir: PathBuf,
    /// The run folder.
    pub folder: PathBuf,
    pub target: Option<String>,
    /// The driver to name in new trails; simulated devices need none.
    pub driver: Option<DriverKey>,
}

impl Interactive {
    fn new(
        usage: Usage,
        session: Arc<Session>,
        sink: Arc<DeviceLog>,
        memory: Memory,
        model: Option<Arc<ModelAccess>>,
        place: SavePlace,
        console: Arc<dyn Console>,
    ) -> Interactive {
        let initial_memory = memory.clone();
        let attempt = Attempt::with_model(ids::attempt(), memory, "", model);
        let viewer = Viewer::new(Arc::clone(&session));
        let name = usage.name().to_string();
        let trail = TrailRef { id: name.clone(), title: name, path: String::new(), tags: Vec::new(), row: None };
        session.emit(Event::AttemptStarted {
            attempt: attempt.id.clone(),
            session: session.id.clone(),
            roles: BTreeMap::new(),
            trail,
            number: 1,
            repeat: None,
            is_repaired: false,
            sources: BTreeMap::new(),
        });
        Interactive {
            usage,
            session,
            sink,
            attempt,
            place,
            console,
            step: None,
            n_steps: 0,
            earlier: Vec::new(),
            failures: Failures { worst: Exit::Passed, first: None },
            sights: ShownSnapshots::default(),
            kept: None,
            initial_memory,
            saved: Vec::new(),
            lost: None,
            history: EditHistory::default(),
            proposals: Vec::new(),
            viewer,
            by_hand: ByHand::default(),
            n_remarks: 0,
        }
    }

    /// Executes a command, unless it is cancelled. Nothing in the reply is secret.
    pub async fn execute(&mut self, command: InteractiveCommand, cancel: &CancellationToken) -> CommandReply {
        let reply = self.answer(command, cancel).await;
        let reply = self.with_remarks(reply);
        self.note_steps();
        self.keep();
        self.fit_to_show(reply)
    }

    /// Adds the dialogs, errors and downloads of pages since the last reply that could say so.
    fn with_remarks(&mut self, reply: CommandReply) -> CommandReply {
        let takes_remarks = match &reply {
            CommandReply::Done { value, .. } => value.is_object(),
            CommandReply::Failed { .. } => true,
        };
        let new = if takes_remarks { self.session.device.remarks_since(&mut self.n_remarks) } else { Vec::new() };
        match reply {
            reply if new.is_empty() => reply,
            CommandReply::Done { text, mut value } => {
                value[REMARKS] = json!(new);
                CommandReply::Done { text, value }
            }
            CommandReply::Failed { message, exit } => {
                // A script that throws is an error of the page too.
                let is_new = |remark: &&String| {
                    let thrown = remark.rsplit("threw: ").next().and_then(|error| error.split(" (at ").next());
                    thrown.is_none_or(|error| !message.contains(error))
                };
                let new: Vec<String> = new.iter().filter(is_new).cloned().collect();
                CommandReply::Failed { message: [vec![message], remark_lines(&new)].concat().join("\n"), exit }
            }
        }
    }

    /// Lets bearers of the session's key make calls, in a step of their own, until the token is cancelled. Returns the
    /// session's id.
    pub fn admit_calls(&mut self, cancel: &CancellationToken) -> SessionId {
        let cx = self.cx(cancel);
        self.session.admit_calls(&self.attempt, cx.step(), cancel);
        self.session.feed();
        self.session.id.clone()
    }

    /// Waits for the calls in flight, which must be cancelled.
    pub async fn end_calls(&self) {
        self.session.end_calls().await;
    }

    /// How many events the session has had since its feed was opened.
    pub fn n_events(&self) -> i32 {
        *self.session.feed().subscribe().borrow()
    }

    /// How many steps would be saved.
    pub fn n_steps(&self) -> usize {
        self.steps().len()
    }

    /// The number of the last step.
    fn n_numbered(&self) -> usize {
        keep::numbers(&self.steps()).flatten().count()
    }

    /// Why the session can no longer be used: its device was lost.
    pub fn lost(&self) -> Option<String> {
        self.lost.clone()
    }

    /// Sets the folder that paths of commands are relative to.
    pub fn set_current_dir(&mut self, folder: PathBuf) {
        self.place.current_dir = folder;
    }

    /// Shows the screen to people.
    pub fn viewer(&self) -> &Arc<Viewer> {
        &self.viewer
    }

    /// The folder with the record of the session.
    pub fn run_folder(&self) -> &Path {
        &self.place.folder
    }

    /// The capability to make calls in the session.
    pub fn key(&self) -> &SessionKey {
        self.session.key()
    }

    pub fn registry(&self) -> Arc<Registry> {
        self.session.registry()
    }

    pub fn secrets(&self) -> &Secrets {
        &self.session.secrets
    }

    /// The text of the last snapshot.
    pub fn last_snapshot(&self) -> Option<&str> {
        self.sights.last()
    }

    /// The most severe failure of a call. A call cancelled by the user did not fail.
    pub fn worst(&self) -> Exit {
        self.failures.worst
    }

    /// The file that contains the unsaved steps, if there are any.
    pub fn unsaved(&self) -> Option<PathBuf> {
        (self.kept.is_some() && self.steps() != self.saved).then(|| self.place.folder.join(RECORDING))
    }

    /// Records the end of the session with its overall result.
    pub async fn close(mut self, exit: Exit, is_cancelled: bool) {
        self.end_step();
        let verdict = match exit {
            Exit::Passed => Verdict::Passed,
            Exit::Failed => Verdict::Failed,
            Exit::Invalid => Verdict::Invalid,
            Exit::Environment if is_cancelled => Verdict::Cancelled,
            Exit::Environment => Verdict::Errored,
            Exit::Bug => Verdict::Bug,
        };
        let failure = self.failures.first.take();
        let message = failure.as_ref().map(|failure| failure.message.clone()).unwrap_or_default();
        let attempt = self.attempt.id.clone();
        self.session.emit(Event::AttemptEnded { attempt, verdict, message, failure: failure.map(Box::new) });
        self.session.close("").await;
    }

    fn fit_to_show(&self, mut reply: CommandReply) -> CommandReply {
        let secrets = &self.session.secrets;
        match &mut reply {
            CommandReply::Done { text, value } => {
                secrets.redact_in_place(text);
                secrets.redact_value(value);
            }
            CommandReply::Failed { message, .. } => secrets.redact_in_place(message),
        }
        reply
    }

    async fn answer(&mut self, command: InteractiveCommand, cancel: &CancellationToken) -> CommandReply {
        if let Some(lost) = self.lost().filter(|_| command.needs_device() && self.usage == Usage::Daemon) {
            let message = format!("{lost}\nclose the session and open it again; its steps can still be saved");
            return CommandReply::Failed { message, exit: Exit::Environment };
        }
        // The call that needs a tool which cannot be loaded says why.
        let _ = cancel.run_until_cancelled(self.session.refresh(false)).await;
        match command {
            InteractiveCommand::Step { kind: StepKind::Trailhead, .. } if self.n_steps() > 0 => {
                refused("a trailhead must come before all steps, but a step has already begun")
            }
            InteractiveCommand::Step { kind, text } => {
                let number = (kind != StepKind::Trailhead).then(|| keep::next_number(&self.steps()));
                self.begin(kind, &text, Plan::Interactive);
                let called = number.map_or("trailhead".to_string(), |number| format!("step {number}"));
                done(format!("{called}: {text}"), json!({"step": number, "text": text}))
            }
            InteractiveCommand::Do { kind, text } => self.carry_out(kind, &text, cancel).await,
            InteractiveCommand::Ask { question } => self.ask(&question, cancel).await,
            InteractiveCommand::Snapshot(wish) => self.snapshot(wish, cancel).await,
            InteractiveCommand::Screenshot { has_marks } => self.screenshot(has_marks, cancel).await,
            InteractiveCommand::Call { tool, args } => self.make_call(&tool, args, cancel).await,
            InteractiveCommand::Tools { search } => self.tools(search.as_deref()),
            InteractiveCommand::AllTools => {
                let Listed { text, value } = toolbox::all(&self.session.registry());
                done(text, value)
            }
            InteractiveCommand::Describe { tool } => self.describe(&tool).await,
            InteractiveCommand::Memory => {
                let values = Value::Object(self.attempt.memory().values().clone());
                done(yaml::block(&values, 0).trim_end().to_string(), values)
            }
            InteractiveCommand::Steps => self.list_steps(),
            InteractiveCommand::Undo => self.undo(),
            InteractiveCommand::UndoStep => self.undo_step(),
            InteractiveCommand::Save(save) => {
                self.finish_deeds(cancel).await;
                self.save(&save)
            }
        }
    }

    /// Lets the model carry out a step.
    async fn carry_out(&mut self, kind: StepKind, text: &str, cancel: &CancellationToken) -> CommandReply {
        if self.attempt.model().is_none() {
            return refused(AskError::NoModel.advice());
        }
        let earlier = std::mem::take(&mut self.earlier);
        self.begin(kind, text, Plan::Model);
        let cx = self.cx(cancel);
        let task = Task { kind, text, context: None, earlier: &earlier };
        let before = self.bill();
        let ended = agent::carry_out(&cx, task, &Offer::default()).await;
        self.earlier = earlier;
        match ended {
            Ok(()) => {
                self.earlier.push(text.to_string());
                let recorded = self.sink.recording(&self.attempt.id).pop().map(|step| step.calls).unwrap_or_default();
                let calls: Vec<String> = recorded.iter().map(turns::written).collect();
                let spent = self.bill().since(&before);
                let price = self.attempt.model().and_then(|access| access.model.describe().price);
                let cost = price.map(|_| spent.dollars);
                let said = ModelUse {
                    requests: usize::try_from(spent.calls).unwrap_or(usize::MAX),
                    tokens_in: spent.usage.input,
                    tokens_out: spent.usage.output,
                    tokens_cached: spent.usage.cached,
                    cost,
                };
                let value = json!({"step": self.n_numbered(), "text": text, "calls": recorded, "modelUse": said});
                done([calls, vec![format!("({said})")]].concat().join("\n"), value)
            }
            Err(ended) => self.not_carried_out(ended),
        }
    }

    async fn ask(&mut self, question: &str, cancel: &CancellationToken) -> CommandReply {
        if self.attempt.model().is_none() {
            return refused(AskError::NoModel.advice());
        }
        self.begin(StepKind::Verify, question, Plan::Model);
        let cx = self.cx(cancel);
        match agent::answer(&cx, question).await {
            Ok(answer) => done(answer.clone(), json!({"question": question, "answer": answer})),
            Err(ended) => self.not_carried_out(ended),
        }
    }

    /// What was spent on models so far.
    fn bill(&self) -> Spent {
        self.attempt.model().map(|access| access.spent.so_far()).unwrap_or_default()
    }

    fn not_carried_out(&mut self, ended: StepResult) -> CommandReply {
        match ended.verdict {
            Verdict::Cancelled => self.faulted("model", &Fault::Cancelled),
            Verdict::Invalid => refused(ended.message),
            verdict => {
                let own = failure(None, &ended.message, None);
                let failure = Failure { message: ended.message, ..ended.failure.map_or(own, |failure| *failure) };
                self.failed(failure, verdict.exit())
            }
        }
    }

    fn begin(&mut self, kind: StepKind, text: &str, plan: Plan) {
        self.end_step();
        let id = StepId::new(format!("{}/{}.1", self.attempt.id, self.n_steps));
        self.session.emit(Event::StepStarted {
            step: id.clone(),
            attempt: self.attempt.id.clone(),
            index: self.n_steps,
            kind,
            text: text.to_string(),
            plan,
            role: None,
            hook: None,
            heading: None,
            place: None,
        });
        self.n_steps += 1;
        self.step = Some(OpenStep { id, verdict: Verdict::Passed });
    }

    fn end_step(&mut self) {
        if let Some(OpenStep { id, verdict }) = self.step.take() {
            self.session.emit(Event::StepEnded { step: id, verdict, message: String::new(), choice: None });
        }
    }

    fn cx(&mut self, cancel: &CancellationToken) -> Cx {
        if self.step.is_none() {
            self.begin(StepKind::Step, EXPLORE, Plan::Interactive);
        }
        let step = self.step.as_ref().map(|step| step.id.clone()).expect("a step was begun");
        Cx::for_step(&self.session, &self.attempt, step, cancel.clone())
    }

    async fn make_call(&mut self, tool: &str, args: CallArguments, cancel: &CancellationToken) -> CommandReply {
        let registry = self.session.registry_with(tool).await;
        let Some(known) = registry.get(tool) else {
            let mut missing = registry.explain_missing(tool);
            let list = if self.usage == Usage::Shell { "`tools`" } else { "`trailblaze toolbox`" };
            missing.hint.get_or_insert_with(|| format!("{list} lists the tools"));
            return refused(missing);
        };
        let mut args = match args {
            CallArguments::Json(args) => args,
            CallArguments::Words(words) => match typed(known, &words) {
                Ok(args) => args,
                Err(error) => return refused(error),
            },
        };
        let cx = self.cx(cancel);
        // What an agent types may come from anywhere; a person at a shell knows what is saved.
        let hidden = match self.usage {
            Usage::Daemon => passwords::hide(&cx, known, &mut args).await,
            Usage::Shell | Usage::Tool | Usage::Serve => Vec::new(),
        };
        let (call, answer) = dispatch_named(&cx, Call::new(tool, Arguments::Json(args), CallOrigin::Step)).await;
        match answer {
            Ok(outcome) if !outcome.is_error() => {
                let delegates: Vec<String> = outcome
                    .delegates
                    .iter()
                    .map(|delegate| format!("{} {}", delegate.tool, Value::Object(delegate.args.clone())))
                    .collect();
                let mut text = match delegates.as_slice() {
                    [] if outcome.text.is_empty() => "done".to_string(),
                    [] => outcome.text.clone(),
                    delegates => delegates.join("\n"),
                };
                let mut value = serde_json::to_value(&outcome).unwrap_or_default();
                if !hidden.is_empty() {
                    let warning = passwords::warning(&hidden);
                    text.push_str(&format!("\nwarning: {warning}"));
                    value["warning"] = warning.into();
                }
                done(text, value)
            }
            Ok(outcome) => {
                // Without pictures before each touch, at least how it looked when it failed.
                let _ = self.session.device.shoot(&cx, cx.parent(), Moment::Failure).await;
                let failure = failure(Some(tool), &outcome.text, outcome.structured.as_ref());
                self.failed(Failure { call, ..failure }, Exit::Failed)
            }
            Err(fault) => self.faulted(tool, &fault),
        }
    }

    /// The reply to a call that could not be carried out.
    fn faulted(&mut self, tool: &str, fault: &Fault) -> CommandReply {
        let message = fault.to_string();
        if matches!(fault, Fault::DeviceLost { .. }) {
            self.lost = Some(message.clone());
        }
        match fault.exit() {
            _ if matches!(fault, Fault::Cancelled) => {
                if let Some(step) = &mut self.step {
                    step.verdict = Verdict::Cancelled;
                }
                CommandReply::Failed { message, exit: fault.exit() }
            }
            // The call was not made.
            Exit::Invalid => refused(message),
            exit => self.failed(failure(Some(tool), &message, None), exit),
        }
    }

    fn failed(&mut self, mut failure: Failure, exit: Exit) -> CommandReply {
        self.failures.worst = self.failures.worst.worst(exit);
        if let Some(step) = &mut self.step {
            step.verdict = Verdict::Failed;
            failure.step = Some(step.id.clone());
        }
        let message = failure.message.clone();
        self.failures.first.get_or_insert(failure);
        CommandReply::Failed { message, exit }
    }

    fn tools(&self, search: Option<&str>) -> CommandReply {
        let Listed { text, value } = toolbox::list(&self.session.registry(), search);
        done(text, value)
    }

    async fn describe(&self, tool: &str) -> CommandReply {
        match toolbox::describe(&*self.session.registry_with(tool).await, tool) {
            Ok(Listed { text, value }) => done(text, value),
            Err(missing) => refused(missing),
        }
    }

    /// The steps that would be saved, with the numbers by which `save` and `replay` choose some of them.
    fn list_steps(&self) -> CommandReply {
        let steps = self.steps();
        let text = if steps.is_empty() { "no steps yet".to_string() } else { keep::list(&steps) };
        let mut value = keep::as_json(&steps);
        for (at, why) in self.doubts(&steps) {
            value[at]["mayNotHold"] = why.into();
        }
        done(text, value)
    }

    /// The steps so far, in the form of a portable trail.
    fn steps(&self) -> Vec<NewStep> {
        let description = self.session.device.description();
        let platform =
            lineage(&description.classifiers).last().cloned().unwrap_or_else(|| description.platform.to_string());
        let mut steps = keep::steps(&self.sink.recording(&self.attempt.id), &platform);
        if let Some(app) = self.initial_memory.values().get("target.appId").and_then(Value::as_str) {
            keep::name_target_app(&mut steps, app);
        }
        steps
    }

    fn save(&mut self, wish: &Save) -> CommandReply {
        if wish.is_own
            && let Err(error) = own_trail(&self.place.root, &wish.path)
        {
            return refused(error);
        }
        let mut steps = self.steps();
        if let Err(error) = keep::cut(&mut steps, wish.from, wish.to) {
            return CommandReply::Failed { exit: error.exit(), message: error.to_string() };
        }
        let lineage = lineage(&self.session.device.description().classifiers);
        let doubts = self.doubts(&steps);
        let home = Home { place: &self.place, lineage: &lineage, doubts: &doubts };
        match keep::save(&home, &steps, wish) {
            Ok(said) => {
                let is_whole = wish.from.is_none() && wish.to.is_none();
                let recorded = if is_whole { self.sink.recording(&self.attempt.id) } else { Vec::new() };
                let remarks = keep::remarks(&recorded);
                let value = json!({"saved": wish.path, "steps": steps.len(), "remarks": remarks});
                let lines: Vec<String> = std::iter::once(said).chain(remarks).collect();
                self.saved = steps;
                done(lines.join("\n"), value)
            }
            Err(error) => CommandReply::Failed { exit: error.exit(), message: error.to_string() },
        }
    }

    /// Saves the steps in the run folder, so that nothing is lost when the user quits.
    pub fn keep(&mut self) {
        let steps = self.steps();
        let text = keep::text(self.usage.name(), self.usage.title(), &self.place, &steps);
        let is_new = match &self.kept {
            Some(kept) => *kept != text,
            None => !steps.is_empty(),
        };
        if !is_new {
            return;
        }
        let path = self.place.folder.join(RECORDING);
        let stored = match steps.is_empty() {
            true => std::fs::remove_file(&path),
            false => private::write(&path, &text),
        };
        if let Err(error) = stored {
            self.console.warn(&format!("cannot save the steps in `{}`: {error}", path.display()));
        }
        self.kept = (!steps.is_empty()).then_some(text);
    }
}

fn done(text: String, value: Value) -> CommandReply {
    CommandReply::Done { text, value }
}

fn refused(why: impl ToString) -> CommandReply {
    CommandReply::Failed { message: why.to_string(), exit: Exit::Invalid }
}
