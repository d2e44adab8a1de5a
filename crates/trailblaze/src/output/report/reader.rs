//! Builds a run from the lines of `events.jsonl`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::event::{CallResult, Called, Event, Header, Level, Line, ModelAsked, Parsed, ToolKind};
use trailblaze_protocol::ids::{AttemptId, CallId, DeviceId, ModelRequestId, Parent, SessionId, StepId};

use super::clip::clip;
use super::heals::Heal;
use super::model::{
    Answered, AttemptEnd, AttemptRecord, CallRecord, Closing, DeviceRecord, NotRun, Note, PictureRecord, RoleRecord,
    RunEnd, RunRecord, RunStart, ServerRecord, SessionRecord, Standing, StepEnd, StepRecord, Touch, Turn, Wait,
};

/// Assembles lines. The maps hold the indices of known items; if an id occurs twice, the latest item is meant.
#[derive(Default)]
pub struct Reader {
    pub run: RunRecord,
    sessions: HashMap<SessionId, usize>,
    attempts: HashMap<AttemptId, usize>,
    steps: HashMap<StepId, (usize, usize)>,
    calls: HashMap<CallId, (usize, usize)>,
    turns: HashMap<ModelRequestId, (usize, usize)>,
    /// The bytes of the results of queries so far.
    n_bytes: usize,
}

/// How many bytes of the results of queries are kept, and what is kept of each after that. A session may look at its screen all day.
const QUERIED: usize = 32 << 20;
const BEGINNING: usize = 1 << 10;

/// How much of what a device did by itself is kept of an attempt.
const ACTIVITY: usize = 5000;

/// The line is about something that is not in the file.
struct Stray;

impl Reader {
    pub fn take_line(&mut self, idx: usize, text: &str) {
        if idx == 0
            && let Ok(header) = serde_json::from_str::<Header>(text)
        {
            self.run.header = Some(header);
            return;
        }
        match Line::parse(text) {
            Parsed::Line(line) => {
                self.run.last_at = self.run.last_at.max(line.at);
                if self.take_event(line.at, line.event).is_err() {
                    self.run.unread.stray += 1;
                }
            }
            Parsed::Unknown(_) => self.run.unread.unknown += 1,
            Parsed::Torn => self.run.unread.torn += 1,
        }
    }

    fn take_event(&mut self, at: u64, event: Event) -> Result<(), Stray> {
        match event {
            Event::RunStarted { command, project, seed, trails, shard } => {
                self.run.start = Some(RunStart { command, project, seed, trails, shard });
            }
            Event::NotRun { trail, platform, repeat } => self.run.not_run.push(NotRun { trail, platform, repeat }),
            Event::SessionOpened { session: id, device, target, agent_mode, tools } => {
                self.sessions.insert(id.clone(), self.run.sessions.len());
                let session = SessionRecord { id, device, target, agent_mode, tools, opened_at: at, closed: None };
                self.run.sessions.push(session);
            }
            Event::AttemptStarted { .. } => self.take_attempt(at, event),
            Event::StepStarted { .. } => self.take_step(at, event)?,
            Event::Called(called) => self.take_call(at, Arc::unwrap_or_clone(called))?,
            Event::Touched { call, point, bounds, what, .. } => {
                self.call(&call)?.touches.push(Touch { at, point, bounds, what });
            }
            Event::Waited { call, what, micros, met, saw } => {
                self.call(&call)?.waits.push(Wait { what, micros, met, saw });
            }
            Event::Pictured(pictured) => {
                let pictures = match &pictured.about {
                    Parent::Step(step) => &mut self.step(step)?.pictures,
                    Parent::Call(call) => &mut self.call(call)?.pictures,
                };
                pictures.push(PictureRecord {
                    at,
                    moment: pictured.moment,
                    file: pictured.file,
                    screen: pictured.screen,
                    tree: pictured.tree,
                });
            }
            Event::Noted { about, level, text, .. } => self.notes(about.as_ref())?.push(Note { at, level, text }),
            Event::Device { session, about, happened } => {
                self.note_activity(at, &session, about.as_ref(), &happened);
                let notes = self.notes(about.as_ref())?;
                if !happened.is_routine() {
                    notes.push(Note { at, level: happened.level(), text: happened.to_string() });
                }
            }
            Event::HealSought(sought) => {
                let (place, step) = *self.steps.get(&sought.step).ok_or(Stray)?;
                self.run.attempts[place].heals.push(Heal { step, sought: *sought, tried: None });
            }
            Event::HealTried(tried) => {
                let (place, _) = *self.steps.get(&tried.step).ok_or(Stray)?;
                let mut heals = self.run.attempts[place].heals.iter_mut();
                let heal = heals.find(|heal| heal.sought.call == tried.failed).ok_or(Stray)?;
                heal.tried = Some(tried);
            }
            Event::EndState { step, .. } => drop(self.step(&step)?),
            Event::ModelAsked(asked) => self.take_request(at, *asked)?,
            Event::ModelReplied(replied) => {
                let (place, nth) = *self.turns.get(&replied.request).ok_or(Stray)?;
                self.run.attempts[place].turns[nth].replied = Some(*replied);
            }
            Event::Undone { what, .. } => {
                self.notes(Some(&what))?.push(Note { at, level: Level::Info, text: "undone".to_string() });
            }
            Event::StepsEdited { attempt, .. } => drop(self.attempt(&attempt)?),
            Event::Answered { call, micros, mut answer } => {
                if matches!(self.call(&call)?.kind, ToolKind::Query | ToolKind::Meta) {
                    self.shorten(&mut answer);
                }
                self.call(&call)?.answer = Some(Answered { micros, answer });
            }
            Event::StepEnded { step, verdict, message, choice } => {
                let choice = choice.unwrap_or_default();
                self.step(&step)?.end = Some(StepEnd { at, verdict, message, choice });
            }
            Event::AttemptEnded { attempt, verdict, message, failure } => {
                let attempt = self.attempt(&attempt)?;
                attempt.last_at = at;
                attempt.end = Some(AttemptEnd { verdict, message, failure });
            }
            Event::Attached { attempt, attachment } => self.attempt(&attempt)?.files.push(attachment),
            Event::SessionClosed { session, message } => {
                let place = *self.sessions.get(&session).ok_or(Stray)?;
                self.run.sessions[place].closed = Some(Closing { at, message });
            }
            Event::ServerStarted { server, session, protocol, log } => {
                self.run.servers.push(ServerRecord { name: server, session, protocol, log, at, ended: None });
            }
            Event::ServerEnded { server, session, message } => {
                let is_it = |known: &&mut ServerRecord| {
                    known.name == server && known.session == session && known.ended.is_none()
                };
                // A server that did not start has an end too. If two instances overlap, the older one ends first.
                if let Some(known) = self.run.servers.iter_mut().find(is_it) {
                    known.ended = Some(Closing { at, message });
                }
            }
            Event::RunEnded { exit, micros, leaked_processes } => {
                self.run.end = Some(RunEnd { exit, micros, leaked_processes })
            }
        }
        Ok(())
    }

    /// Keeps what a device did during an attempt. Between calls, that is the last attempt on the device, while it runs.
    fn note_activity(&mut self, at: u64, session: &SessionId, about: Option<&Parent>, happened: &DeviceEvent) {
        let place = match about {
            Some(Parent::Step(step)) => self.steps.get(step).map(|(place, _)| *place),
            Some(Parent::Call(call)) => self.calls.get(call).map(|(place, _)| *place),
            None => {
                let is_on = |attempt: &AttemptRecord| {
                    attempt.session == *session || attempt.roles.iter().any(|role| role.session == *session)
                };
                self.run.attempts.iter().rposition(is_on).filter(|place| self.run.attempts[*place].end.is_none())
            }
        };
        if let Some(place) = place {
            let activity = &mut self.run.attempts[place].activity;
            if activity.len() < ACTIVITY {
                activity.push(DeviceRecord { at, happened: happened.clone() });
            }
        }
    }

    fn take_attempt(&mut self, at: u64, event: Event) {
        let Event::AttemptStarted { attempt: id, session, roles, trail, number, repeat, is_repaired, sources } = event
        else {
            return;
        };
        self.attempts.insert(id.clone(), self.run.attempts.len());
        let device_of = |session: &SessionId| match self.sessions.get(session) {
            Some(place) => self.run.sessions[*place].device.id.clone(),
            None => DeviceId::new(session.as_str()),
        };
        let device = device_of(&session);
        let role = |(name, session)| RoleRecord { name, device: device_of(&session), session };
        let roles = roles.into_iter().map(role).collect();
        self.run.attempts.push(AttemptRecord {
            id,
            session,
            device,
            roles,
            trail,
            number,
            repeat,
            is_repaired,
            started_at: at,
            end: None,
            last_at: at,
            standing: Standing::default(),
            steps: Vec::new(),
            calls: Vec::new(),
            loose: Vec::new(),
            turns: Vec::new(),
            heals: Vec::new(),
            sources,
            activity: Vec::new(),
            files: Vec::new(),
        });
    }

    fn take_step(&mut self, at: u64, event: Event) -> Result<(), Stray> {
        let Event::StepStarted { step: id, attempt, index, kind, text, plan, role, hook, heading, place: written } =
            event
        else {
            return Ok(());
        };
        let place = *self.attempts.get(&attempt).ok_or(Stray)?;
        let attempt = &mut self.run.attempts[place];
        self.steps.insert(id.clone(), (place, attempt.steps.len()));
        attempt.steps.push(StepRecord {
            id,
            index,
            kind,
            text,
            plan,
            role,
            hook,
            heading,
            place: written,
            started_at: at,
            end: None,
            calls: Vec::new(),
            pictures: Vec::new(),
            notes: Vec::new(),
        });
        Ok(())
    }

    /// Keeps the result of a query as the text that the report shows, and only its beginning if there were many.
    fn shorten(&mut self, answer: &mut CallResult) {
        let CallResult::Outcome(outcome) = answer else { return };
        let longest = if self.n_bytes < QUERIED { usize::MAX } else { BEGINNING };
        if let Cow::Owned(beginning) = clip(&outcome.text, longest) {
            outcome.text = beginning;
        }
        self.n_bytes += outcome.text.len();
        if let Some(value @ (Value::Object(_) | Value::Array(_))) = &mut outcome.structured {
            let text = format!("{value:#}");
            if text.len() > BEGINNING {
                let text = clip(&text, longest).into_owned();
                self.n_bytes += text.len();
                *value = Value::String(text);
            }
        }
    }

    fn notes(&mut self, about: Option<&Parent>) -> Result<&mut Vec<Note>, Stray> {
        Ok(match about {
            None => &mut self.run.notes,
            Some(Parent::Step(step)) => &mut self.step(step)?.notes,
            Some(Parent::Call(call)) => &mut self.call(call)?.notes,
        })
    }

    fn take_call(&mut self, at: u64, called: Called) -> Result<(), Stray> {
        let place = *self.attempts.get(&called.attempt).ok_or(Stray)?;
        let nth = self.run.attempts[place].calls.len();
        let parent = match &called.parent {
            Parent::Step(id) => self.steps.get(id),
            Parent::Call(id) => self.calls.get(id),
        };
        let parent = parent.filter(|(attempt, _)| *attempt == place).map(|(_, nth)| *nth);
        let attempt = &mut self.run.attempts[place];
        let siblings = match (&called.parent, parent) {
            (Parent::Step(_), Some(step)) => &mut attempt.steps[step].calls,
            (Parent::Call(_), Some(call)) => &mut attempt.calls[call].children,
            (_, None) => &mut attempt.loose,
        };
        siblings.push(nth);
        attempt.calls.push(CallRecord {
            id: called.call.clone(),
            tool: called.tool,
            args: Arc::unwrap_or_clone(called.args),
            origin: called.origin,
            kind: called.kind,
            is_recordable: called.is_recordable,
            is_delegating: called.is_delegating,
            source: called.source.to_string(),
            place: called.place,
            at,
            children: Vec::new(),
            touches: Vec::new(),
            waits: Vec::new(),
            notes: Vec::new(),
            pictures: Vec::new(),
            answer: None,
        });
        self.calls.insert(called.call, (place, nth));
        Ok(())
    }

    fn take_request(&mut self, at: u64, asked: ModelAsked) -> Result<(), Stray> {
        let (place, step) = match &asked.about {
            Parent::Step(id) => self.steps.get(id).map(|(place, nth)| (*place, Some(*nth))),
            Parent::Call(id) => self.calls.get(id).map(|(place, nth)| (*place, self.step_of(*place, *nth))),
        }
        .ok_or(Stray)?;
        let turns = &mut self.run.attempts[place].turns;
        self.turns.insert(asked.request.clone(), (place, turns.len()));
        turns.push(Turn { at, step, asked, replied: None });
        Ok(())
    }

    /// The step that a call was made in, directly or through other calls.
    fn step_of(&self, place: usize, call: usize) -> Option<usize> {
        let attempt = &self.run.attempts[place];
        let mut top = call;
        while let Some(parent) = attempt.calls[..top].iter().position(|above| above.children.contains(&top)) {
            top = parent;
        }
        attempt.steps.iter().position(|step| step.calls.contains(&top))
    }

    fn attempt(&mut self, id: &AttemptId) -> Result<&mut AttemptRecord, Stray> {
        let place = *self.attempts.get(id).ok_or(Stray)?;
        Ok(&mut self.run.attempts[place])
    }

    fn step(&mut self, id: &StepId) -> Result<&mut StepRecord, Stray> {
        let (place, nth) = *self.steps.get(id).ok_or(Stray)?;
        Ok(&mut self.run.attempts[place].steps[nth])
    }

    fn call(&mut self, id: &CallId) -> Result<&mut CallRecord, Stray> {
        let (place, nth) = *self.calls.get(id).ok_or(Stray)?;
        Ok(&mut self.run.attempts[place].calls[nth])
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use trailblaze_protocol::outcome::Outcome;

    use super::*;

    #[test]
    fn of_many_answers_of_queries_only_the_beginnings_are_kept() {
        let kept = |reader: &mut Reader| {
            let outcome = Outcome::value("y".repeat(2000), json!({"root": "x".repeat(2000)}));
            let mut answer = CallResult::Outcome(Box::new(outcome));
            reader.shorten(&mut answer);
            let CallResult::Outcome(outcome) = answer else { panic!("an outcome") };
            (outcome.text, outcome.structured.and_then(|value| value.as_str().map(str::to_string)).expect("a text"))
        };
        let mut reader = Reader::default();
        let (text, shown) = kept(&mut reader);
        assert!(text.len() == 2000 && shown.starts_with("{\n  \"root\": \"xxx"), "{shown}");
        assert_eq!(reader.n_bytes, text.len() + shown.len());
        reader.n_bytes = QUERIED;
        for text in <[String; 2]>::from(kept(&mut reader)) {
            assert!(text.len() < 2 * BEGINNING && text.ends_with("more bytes are in events.jsonl)"), "{text}");
        }
    }
}
