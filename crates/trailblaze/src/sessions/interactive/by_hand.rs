//! What a person does on the device itself becomes steps of the session, with calls as if they had been made in it.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use trailblaze_core::callers::passwords;
use trailblaze_core::driver::{Button, ClickOptions, ObservedAction, Person, PersonAction};
use trailblaze_core::ids;
use trailblaze_core::query::{Stable, alternatives, stable};
use trailblaze_core::screen::{Field, Node, Screen};
use trailblaze_core::tools::tap_on;
use trailblaze_protocol::event::{CallOrigin, CallResult, Called, Event, Plan, StepKind, ToolKind};
use trailblaze_protocol::geometry::Point;
use trailblaze_protocol::ids::Parent;
use trailblaze_protocol::outcome::{Delegate, Outcome};

use super::appeared::proposals;
use super::{CommandReply, Interactive};
use crate::sessions::viewing::{called, delegate_of};

/// The person who is followed, and what appeared last.
#[derive(Default)]
pub struct ByHand {
    person: Option<Person>,
    /// Whether what appears is asserted.
    has_assertions: bool,
    /// The screen before the last action, until what appeared after it is asserted.
    before: Option<Screen>,
    /// The screen after the last action, if there was time to look at it.
    after: Option<Screen>,
}

/// The step that an action becomes.
#[derive(Debug, PartialEq)]
struct MadeByHand {
    text: String,
    call: Delegate,
}

impl Interactive {
    /// Records what a person does on the device itself, from now on, possibly with an assertion for what appears.
    pub async fn follow_person(
        &mut self,
        has_assertions: bool,
        cancel: &CancellationToken,
    ) -> Result<(), CommandReply> {
        let cx = self.cx(cancel);
        match self.session.device.follow_person(&cx).await {
            Ok(person) => {
                self.by_hand.person = Some(person);
                self.by_hand.has_assertions = has_assertions;
                Ok(())
            }
            Err(stop) => Err(self.not_seen("follow the person", stop)),
        }
    }

    /// Waits for the next action of the person who is followed; `None` if the window was closed. Does not return if nobody is
    /// followed.
    pub async fn next_observed(&mut self) -> Option<ObservedAction> {
        match &mut self.by_hand.person {
            Some(person) => person.actions.recv().await,
            None => std::future::pending().await,
        }
    }

    /// Records what the person has begun, such as a text that is being typed.
    pub async fn finish_deeds(&mut self, cancel: &CancellationToken) {
        let Some(person) = &mut self.by_hand.person else { return };
        let (done, is_done) = oneshot::channel();
        if person.flush.send(done).await.is_err() || is_done.await.is_err() {
            return;
        }
        while let Some(Ok(observed)) = self.by_hand.person.as_mut().map(|person| person.actions.try_recv()) {
            self.record_observed(Some(observed), cancel).await;
        }
        let cx = self.cx(cancel);
        if self.by_hand.before.is_some()
            && let Ok(after) = self.session.device.look(&cx).await
        {
            self.assert_appeared(&after);
        }
    }

    /// Records an assertion for what appeared after the last action. Nothing is looked at now, because another action may have
    /// changed the screen already.
    fn assert_appeared(&mut self, after: &Screen) {
        let Some(before) = self.by_hand.before.take() else { return };
        let best = proposals(&before, after).into_iter().next();
        if let Some((text, call)) = best
            && let Some(call) = delegate_of(&call)
        {
            self.begin(StepKind::Verify, &text, Plan::Interactive);
            self.note_call(call);
            self.end_step();
        }
    }

    /// Records an action as a step of its own.
    pub async fn record_observed(&mut self, observed: Option<ObservedAction>, cancel: &CancellationToken) {
        let Some(mut observed) = observed else {
            self.by_hand.person = None;
            self.lost = Some("the window was closed".to_string());
            return;
        };
        self.session.device.redact_observed(&mut observed);
        let Some(MadeByHand { text, call }) = made(&observed) else { return };
        if observed.node.is_none() && matches!(observed.what, PersonAction::Click { .. }) {
            let cx = self.cx(cancel);
            let after = self.session.device.look(&cx).await;
            if after.is_ok_and(|after| is_same(&observed.screen, &after)) {
                return;
            }
        }
        // What the person saw before this action is what appeared after the last one.
        match self.by_hand.after.take() {
            Some(after) if observed.screen.root.children.is_empty() => self.assert_appeared(&after),
            _ if observed.screen.root.children.is_empty() => self.by_hand.before = None,
            _ => self.assert_appeared(&observed.screen),
        }
        self.begin(StepKind::Step, &text, Plan::Interactive);
        let cx = self.cx(cancel);
        if let Some(hover) = hover(&observed) {
            self.note_call(hover);
        }
        self.note_call(call);
        let is_last = self.by_hand.person.as_ref().is_none_or(|person| person.actions.is_empty());
        self.proposals.clear();
        // What another action has changed already is not the effect of this one.
        if is_last && let Ok(after) = self.session.device.look(&cx).await {
            self.proposals = proposals(&observed.screen, &after);
            self.by_hand.after = Some(after);
        }
        self.by_hand.before = Some(observed.screen).filter(|_| self.by_hand.has_assertions);
        self.end_step();
        self.note_steps();
        self.keep();
    }

    /// Records a call that the person has carried out.
    fn note_call(&self, Delegate { tool, args }: Delegate) {
        let Some(step) = &self.step else { return };
        let registry = self.session.registry();
        let known = registry.get(&tool);
        let call = ids::call();
        self.session.emit(Event::Called(Arc::new(Called {
            place: None,
            call: call.clone(),
            parent: Parent::Step(step.id.clone()),
            session: self.session.id.clone(),
            attempt: self.attempt.id.clone(),
            args: Arc::new(args),
            origin: CallOrigin::Person,
            kind: known.map_or(ToolKind::Action, |known| known.kind),
            is_recordable: true,
            is_always_recorded: false,
            is_delegating: false,
            is_custom: known.is_some_and(|known| known.is_custom()),
            result_name: None,
            is_soft: false,
            is_condition: false,
            source: known.map_or_else(|| Arc::from("unknown"), |known| Arc::clone(&known.contributor.label)),
            tool,
        })));
        let outcome = Box::new(Outcome::success("done by a person"));
        self.session.emit(Event::Answered { call, micros: 0, answer: CallResult::Outcome(outcome) });
    }
}

/// The step and the call that replays an action; `None` if nothing can.
fn made(observed: &ObservedAction) -> Option<MadeByHand> {
    let screen = &observed.screen;
    let node = observed.node.and_then(|id| screen.root.walk().find(|node| node.id == id));
    let name = node.map(called).unwrap_or_default();
    let on = |tool: &str, args: Value| {
        let selector = alternatives(screen, node?).into_iter().next()?;
        let mut delegate = call(tool, json!({"nodeSelector": selector.to_json()}));
        delegate.args.extend(args.as_object().cloned().unwrap_or_default());
        Some(delegate)
    };
    let (text, call) = match &observed.what {
        PersonAction::Click { click, point } => return clicked(screen, node, click, *point),
        PersonAction::Drag { onto, point } => {
            let target = screen.root.walk().find(|node| Some(node.id) == *onto);
            let selector = target.and_then(|target| Some((target, alternatives(screen, target).into_iter().next()?)));
            match selector {
                Some((target, selector)) => {
                    let args = json!({"toNodeSelector": selector.to_json()});
                    (format!("Drag {name} onto {}", called(target)), on("web_drag", args)?)
                }
                None => {
                    let args = json!({"toX": point.x, "toY": point.y});
                    (format!("Drag {name} to {}, {}", point.x, point.y), on("web_drag", args)?)
                }
            }
        }
        PersonAction::Type { text } => {
            let words = match text.as_str() {
                "" => format!("Clear {name}"),
                text => format!("Type \"{}\" into {name}", cut(text)),
            };
            (words, on("web_type", json!({"text": text, "clearFirst": true}))?)
        }
        PersonAction::TypeSecret => {
            let secret = passwords::secret_name(node);
            let words = format!("Type the secret {secret} into {name}");
            (words, on("web_fillSecret", json!({"value": format!("{{{{{secret}}}}}")}))?)
        }
        PersonAction::AnswerDialog { message, accept, text } => {
            let (verb, answer) = if *accept { ("Accept", "ACCEPT") } else { ("Dismiss", "DISMISS") };
            let mut answer = json!({ "answer": answer });
            if let Some(text) = text {
                answer["text"] = json!(text);
            }
            (format!("{verb} the dialog \"{}\"", cut(message)), call("web_dialogs", answer))
        }
        PersonAction::Press { chord } => (format!("Press {chord}"), call("web_pressKey", json!({ "key": chord }))),
        PersonAction::Choose { values } => {
            (format!("Choose {} in {name}", quoted(values)), on("web_selectOption", json!({ "values": values }))?)
        }
        PersonAction::SetChecked { checked } => {
            let verb = if *checked { "Check" } else { "Uncheck" };
            (format!("{verb} {name}"), on("web_check", json!({ "checked": checked }))?)
        }
        PersonAction::Upload { names } => {
            (format!("Upload {} to {name}", quoted(names)), on("web_upload", json!({ "files": names }))?)
        }
        PersonAction::Open { url } => (format!("Open {}", cut(url)), call("web_navigate", json!({ "url": url }))),
        PersonAction::Back => ("Go back".to_string(), call("web_navigate", json!({"action": "BACK"}))),
        PersonAction::Forward => ("Go forward".to_string(), call("web_navigate", json!({"action": "FORWARD"}))),
        PersonAction::Reload => ("Reload the page".to_string(), call("web_navigate", json!({"action": "RELOAD"}))),
        PersonAction::NewTab => ("Open a new tab".to_string(), call("web_tabs", json!({"action": "NEW"}))),
        PersonAction::SelectTab { index } => {
            (format!("Switch to tab {}", index + 1), call("web_tabs", json!({"action": "SELECT", "index": index})))
        }
        PersonAction::CloseTab { index } => {
            (format!("Close tab {}", index + 1), call("web_tabs", json!({"action": "CLOSE", "index": index})))
        }
    };
    Some(MadeByHand { text, call })
}

/// Makes the element visible that an action was done to.
fn hover(observed: &ObservedAction) -> Option<Delegate> {
    let over = observed.screen.root.walk().find(|node| Some(node.id) == observed.over)?;
    let selector = alternatives(&observed.screen, over).into_iter().next()?;
    Some(call("web_hover", json!({"nodeSelector": selector.to_json()})))
}

fn clicked(screen: &Screen, node: Option<&Node>, click: &ClickOptions, point: Point) -> Option<MadeByHand> {
    let verb = match (click.button, click.count) {
        (Button::Right, _) => "Right-click",
        (Button::Middle, _) => "Middle-click",
        (Button::Left, 2) => "Double-click",
        (Button::Left, _) => "Click",
    };
    let at_point = call("tapOnPoint", json!({"x": point.x, "y": point.y}));
    let is_plain = click.button == Button::Left && click.count == 1 && click.modifiers.is_empty();
    let Some(node) = node else {
        // A point can only be tapped.
        return is_plain.then(|| MadeByHand { text: format!("Click at {}, {}", point.x, point.y), call: at_point });
    };
    let text = format!("{verb} {}", called(node));
    if is_plain {
        let call = match stable(screen, node) {
            Stable::Point(_) => at_point,
            stable => tap_on(&stable),
        };
        return Some(MadeByHand { text, call });
    }
    let selector = alternatives(screen, node).into_iter().next()?;
    let mut call = call("web_click", json!({"nodeSelector": selector.to_json()}));
    if click.button != Button::Left {
        call.args.insert("button".to_string(), click.button.name().into());
    }
    if click.count > 1 {
        call.args.insert("clickCount".to_string(), click.count.into());
    }
    if !click.modifiers.is_empty() {
        let names: Vec<&str> = click.modifiers.iter().map(|modifier| modifier.name()).collect();
        call.args.insert("modifiers".to_string(), json!(names));
    }
    Some(MadeByHand { text, call })
}

fn call(tool: &str, args: Value) -> Delegate {
    Delegate { tool: tool.to_string(), args: args.as_object().cloned().unwrap_or_else(Map::new) }
}

/// Whether two screens show the same, wherever that is.
fn is_same(before: &Screen, after: &Screen) -> bool {
    let shown = |screen: &Screen| {
        let of = |node: &Node| {
            let text = |field| node.props.text(field).map(str::to_string);
            (node.class().map(str::to_string), text(Field::Text), text(Field::AriaName), node.is_checked())
        };
        screen.root.walk().map(of).collect::<Vec<_>>()
    };
    before.app == after.app && shown(before) == shown(after)
}

fn quoted(texts: &[String]) -> String {
    texts.iter().map(|text| format!("\"{}\"", cut(text))).collect::<Vec<_>>().join(", ")
}

/// A text in the words of a step.
fn cut(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
