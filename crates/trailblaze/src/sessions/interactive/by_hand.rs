//! What a person does on the device itself becomes steps of the session, with calls as if they had been made in it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use trailblaze_core::callers::passwords;
use trailblaze_core::driver::{Button, ClickOptions, ObservedAction, Offset, Person, PersonAction};
use trailblaze_core::ids;
use trailblaze_core::query::{Stable, alternatives, stable};
use trailblaze_core::screen::{Field, Node, Screen};
use trailblaze_core::tools::tap_on;
use trailblaze_core::trail::{NewCalls, NewStep};
use trailblaze_protocol::event::{CallOrigin, CallResult, Called, Event, Plan, StepKind, ToolKind};
use trailblaze_protocol::geometry::Point;
use trailblaze_protocol::ids::Parent;
use trailblaze_protocol::outcome::{Delegate, Outcome};

use super::appeared::proposals;
use super::{CommandReply, Interactive};
use crate::output::words::count;
use crate::sessions::viewing::{asserted, called, delegate_of};

/// How long the screen must not change after an action before what it made appear is asserted, and how long that may take.
const QUIET: Duration = Duration::from_millis(250);
const SETTLE: Duration = Duration::from_secs(4);
/// The same if nothing is asserted.
const SHORT_QUIET: Duration = Duration::from_millis(50);
const SHORT_SETTLE: Duration = Duration::from_millis(500);

/// The person who is followed, and what appeared last.
#[derive(Default)]
pub struct ByHand {
    person: Option<Person>,
    /// Whether what appears is asserted.
    has_assertions: bool,
    /// Whether the person can end the session in the window.
    can_end: bool,
    /// An action that came while the screen was watched, or the end of all actions.
    next: Option<Option<ObservedAction>>,
    /// The screen before the last action, if another one came before the page had settled.
    before: Option<Screen>,
    /// What was clicked last, and in which document, if that was the last step.
    last_clicked: Option<(u64, Option<u64>)>,
    /// Calls that may not do the same when they are replayed, with the reason.
    doubts: Vec<(Value, String)>,
}

/// The step that an action becomes.
#[derive(Debug, PartialEq)]
struct MadeByHand {
    kind: StepKind,
    text: String,
    call: Delegate,
    /// Why it may not do the same when it is replayed.
    doubt: Option<String>,
}

impl Interactive {
    /// Records what a person does on the device itself, from now on, possibly with an assertion for what appears.
    pub async fn follow_person(
        &mut self,
        has_assertions: bool,
        can_end: bool,
        cancel: &CancellationToken,
    ) -> Result<(), CommandReply> {
        let cx = self.cx(cancel);
        match self.session.device.follow_person(&cx).await {
            Ok(person) => {
                self.by_hand.person = Some(person);
                self.by_hand.has_assertions = has_assertions;
                self.by_hand.can_end = can_end;
                Ok(())
            }
            Err(stop) => Err(self.not_seen("follow the person", stop)),
        }
    }

    /// Waits for the next action of the person who is followed; `None` if the window was closed. Does not return if nobody is
    /// followed.
    pub async fn next_observed(&mut self) -> Option<ObservedAction> {
        if let Some(next) = self.by_hand.next.take() {
            return next;
        }
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
        while self.by_hand.person.is_some() {
            let next = match self.by_hand.next.take() {
                Some(next) => next,
                None => match self.by_hand.person.as_mut().and_then(|person| person.actions.try_recv().ok()) {
                    Some(observed) => Some(observed),
                    None => break,
                },
            };
            self.record_observed(next, cancel).await;
        }
        if self.by_hand.before.is_some()
            && let Some(after) = self.look_after(None, cancel).await
        {
            self.assert_appeared(&after);
        }
    }

    /// Looks at the screen once the page has settled, and what it has asked for has arrived. `None` if the person acts before that: then
    /// it is too late to say what the last action has caused. `begun` is how many actions had begun with the last one, if that is known.
    async fn look_after(&mut self, begun: Option<u64>, cancel: &CancellationToken) -> Option<Screen> {
        let cx = self.cx(cancel);
        let (quiet, settle) = if self.by_hand.has_assertions { (QUIET, SETTLE) } else { (SHORT_QUIET, SHORT_SETTLE) };
        if self.by_hand.next.is_some() {
            return None;
        }
        let look = self.session.device.look_settled(&cx, quiet, settle);
        let Some(person) = &mut self.by_hand.person else { return look.await.ok() };
        let now = *person.begun.borrow();
        let begun = begun.unwrap_or(now);
        let mut counted = person.begun.clone();
        tokio::select! {
            biased;
            next = person.actions.recv() => {
                self.by_hand.next = Some(next);
                None
            }
            Ok(_) = counted.wait_for(|n| *n != begun) => None,
            after = look => after.ok().filter(|_| *person.begun.borrow() == begun),
        }
    }

    /// Records an assertion for what appeared after the last action.
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
            return self.end_recording("the window was closed");
        };
        if let PersonAction::Upload { names } = &mut observed.what {
            for name in names {
                // A trail names files of its project from there.
                let inner = Path::new(name.as_str()).strip_prefix(&self.place.root).ok();
                if let Some(inner) = inner.map(|inner| inner.display().to_string()) {
                    *name = inner;
                }
            }
        }
        self.session.device.redact_observed(&mut observed);
        match observed.what {
            PersonAction::Finish if !self.by_hand.can_end => {
                self.tell_person("this session is ended in the studio");
            }
            PersonAction::Finish => {
                self.settle_last(&observed.screen, cancel).await;
                return self.end_recording("the recording was finished");
            }
            PersonAction::Undo => {
                self.by_hand.before = None;
                self.by_hand.last_clicked = None;
                let undone = self.undo_step();
                self.tell_person(&match undone {
                    CommandReply::Done { text, .. } => text,
                    CommandReply::Failed { message, .. } => message,
                });
            }
            _ => self.record_action(observed, cancel).await,
        }
        self.note_steps();
        self.keep();
    }

    fn end_recording(&mut self, why: &str) {
        self.by_hand.person = None;
        self.lost = Some(why.to_string());
    }

    /// Asserts what the last action made appear, by a screen on which nothing else has been done, if there is one.
    async fn settle_last(&mut self, before_next: &Screen, cancel: &CancellationToken) {
        if self.by_hand.before.is_none() {
            return;
        }
        if !before_next.root.children.is_empty() {
            return self.assert_appeared(before_next);
        }
        match self.look_after(None, cancel).await {
            Some(after) => self.assert_appeared(&after),
            None => self.by_hand.before = None,
        }
    }

    async fn record_action(&mut self, observed: ObservedAction, cancel: &CancellationToken) {
        let Some(MadeByHand { kind, text, call, mut doubt }) = made(&observed) else { return };
        if let PersonAction::Upload { names } = &observed.what
            && let Some(name) = names.iter().find(|name| !self.place.root.join(name).exists())
        {
            doubt = Some(format!("where `{name}` is, is not known; put it beside the trail"));
        }
        // What the person saw before this action is what appeared after the last one. It is all that is known if the page is gone.
        let is_known = !observed.screen.root.children.is_empty();
        match is_known {
            true => self.assert_appeared(&observed.screen),
            false => self.by_hand.before = None,
        }
        let mut after = None;
        if is_bare_click(&observed) {
            after = self.look_after(Some(observed.begun), cancel).await;
            if after.as_ref().is_some_and(|after| is_same(&observed.screen, after)) {
                return;
            }
        }
        let node = observed.node.and_then(|id| observed.screen.root.walk().find(|node| node.id == id));
        let target = node.map(|node| (node.id, node.document));
        // The click that opened the choice of a file is part of it.
        if matches!(observed.what, PersonAction::Upload { .. })
            && target.is_some()
            && self.by_hand.last_clicked.take() == target
        {
            self.undo_step();
        }
        let is_click = matches!(&observed.what, PersonAction::Click { click, .. } if click.count == 1);
        self.by_hand.last_clicked = target.filter(|_| is_click);
        self.begin(kind, &text, Plan::Interactive);
        for hover in hovers(&observed) {
            self.note_call(hover);
        }
        if let Some(doubt) = doubt {
            self.by_hand.doubts.push((json!({ call.tool.as_str(): call.args }), doubt));
        }
        self.note_call(call);
        self.end_step();
        self.tell_person(&text);
        self.proposals.clear();
        if kind == StepKind::Verify {
            return;
        }
        // The step is shown at once; what it made appear comes when the page has settled.
        self.note_steps();
        self.keep();
        if after.is_none() {
            after = self.look_after(Some(observed.begun), cancel).await;
        }
        self.by_hand.before = Some(observed.screen).filter(|_| self.by_hand.has_assertions && is_known);
        if let Some(after) = after {
            if let Some(before) = &self.by_hand.before {
                self.proposals = proposals(before, &after);
            }
            self.assert_appeared(&after);
        }
    }

    /// Shows the person what was recorded.
    fn tell_person(&self, text: &str) {
        if let Some(person) = &self.by_hand.person {
            let _ = person.said.try_send(format!("{} · {text}", count(self.n_steps(), "step")));
        }
    }

    /// The steps that may not do the same when they are replayed, from 0, with the reason.
    pub(super) fn doubts(&self, steps: &[NewStep]) -> Vec<(usize, String)> {
        let doubt = |(at, step): (usize, &NewStep)| {
            let (NewCalls::Anywhere(calls) | NewCalls::Recorded { calls, .. }) = &step.calls else { return None };
            let known = self.by_hand.doubts.iter().find(|(call, _)| calls.contains(call));
            known.map(|(_, why)| (at, why.clone()))
        };
        steps.iter().enumerate().filter_map(doubt).collect()
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
    let mut doubt = node.and_then(|node| doubt(screen, node));
    let (text, call) = match &observed.what {
        PersonAction::Click { click, point } => clicked(screen, node, click, *point, &mut doubt)?,
        PersonAction::Drag { at, by: Offset { x, y }, onto } => {
            let target = onto.and_then(|onto| Some((onto, screen.root.walk().find(|node| node.id == onto.node)?)));
            let found =
                target.and_then(|(onto, node)| Some((onto, node, alternatives(screen, node).into_iter().next()?)));
            let (text, mut args) = match found {
                Some((onto, target, selector)) => {
                    let mut args = json!({"toNodeSelector": selector.to_json()});
                    if let Some(Offset { x, y }) = onto.at {
                        (args["toOffsetX"], args["toOffsetY"]) = (json!(x), json!(y));
                    }
                    (format!("Drag {name} onto {}", called(target)), args)
                }
                None => (format!("Drag {name} {}", direction_words(*x, *y)), json!({"byX": x, "byY": y})),
            };
            if let Some(Offset { x, y }) = at {
                (args["offsetX"], args["offsetY"]) = (json!(x), json!(y));
            }
            (text, on("web_drag", args)?)
        }
        PersonAction::Scroll { by } => return scrolled(by, node, |args| on("web_scroll", args)),
        PersonAction::Assert { part } => {
            let (text, call) = asserted(screen, node?, *part)?;
            return Some(MadeByHand { kind: StepKind::Verify, text, call, doubt });
        }
        PersonAction::Undo | PersonAction::Finish => return None,
        PersonAction::Type { text } => {
            let words = match text.as_str() {
                "" => format!("Clear {name}"),
                text => format!("Type \"{}\" into {name}", cut(text)),
            };
            (words, on("web_type", json!({"text": text, "clearFirst": true}))?)
        }
        PersonAction::Append { text } => {
            doubt = None;
            (format!("Go on typing \"{}\" in {name}", cut(text)), call("inputText", json!({ "text": text })))
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
        PersonAction::Press { chord } => {
            // The element has the focus, which is not looked for.
            doubt = None;
            (format!("Press {chord}"), call("web_pressKey", json!({ "key": chord })))
        }
        PersonAction::Choose { values } => {
            (format!("Choose {} in {name}", quoted(values)), on("web_selectOption", json!({ "values": values }))?)
        }
        PersonAction::SetChecked { checked } => {
            let verb = if *checked { "Check" } else { "Uncheck" };
            (format!("{verb} {name}"), on("web_check", json!({ "checked": checked }))?)
        }
        PersonAction::Upload { names } => {
            let files: Vec<&str> = names.iter().map(|name| name.rsplit('/').next().unwrap_or(name)).collect();
            if let Some(file) = names.iter().find(|name| Path::new(name.as_str()).is_absolute()) {
                doubt = Some(format!("`{file}` is not in the project"));
            }
            (format!("Upload {} to {name}", quoted(&files)), on("web_upload", json!({ "files": names }))?)
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
    Some(MadeByHand { kind: StepKind::Step, text, call, doubt })
}

/// Why an element may not be found again: nothing that lasts tells it apart from others, or only one thing does.
fn doubt(screen: &Screen, node: &Node) -> Option<String> {
    let found = alternatives(screen, node);
    let first = found.first()?.to_json().to_string();
    let why = if first.contains("\"index\"") || first.contains("\"nthIndex\"") {
        "only its position tells it apart from others"
    } else if first.contains(" > ") && first.contains("\"cssSelector\"") {
        "it has neither a name nor an id, and is found by its place in the page"
    } else if found.len() == 1 {
        "there is only one way to find it"
    } else {
        return None;
    };
    Some(why.to_string())
}

/// One scroll for all turns of the wheel: along the axis that moved further.
fn scrolled(by: &Offset, area: Option<&Node>, on: impl Fn(Value) -> Option<Delegate>) -> Option<MadeByHand> {
    let (direction, amount) = match (by.x.abs() > by.y.abs(), by.x > 0, by.y > 0) {
        (true, true, _) => ("RIGHT", by.x.abs()),
        (true, false, _) => ("LEFT", by.x.abs()),
        (false, _, true) => ("DOWN", by.y.abs()),
        (false, _, false) => ("UP", by.y.abs()),
    };
    let args = json!({"direction": direction, "amount": amount});
    let around = area.and_then(|area| Some((on(args.clone())?, called(area))));
    let text = format!("Scroll {} by {amount}", direction.to_lowercase());
    let (text, call) = match around {
        Some((call, name)) => (format!("{text} at {name}"), call),
        None => (text, call("web_scroll", args)),
    };
    Some(MadeByHand { kind: StepKind::Step, text, call, doubt: None })
}

/// `by 40 right and 3 up`.
fn direction_words(x: i32, y: i32) -> String {
    let across = (x != 0).then(|| format!("{} {}", x.abs(), if x > 0 { "right" } else { "left" }));
    let down = (y != 0).then(|| format!("{} {}", y.abs(), if y > 0 { "down" } else { "up" }));
    format!("by {}", [across, down].into_iter().flatten().collect::<Vec<_>>().join(" and "))
}

/// Whether a click was on nothing that has a name or a function, so that it may not mean anything.
fn is_bare_click(observed: &ObservedAction) -> bool {
    let PersonAction::Click { click, .. } = &observed.what else { return false };
    let node = observed.node.and_then(|id| observed.screen.root.walk().find(|node| node.id == id));
    let is_bare = |node: &Node| {
        let has_words = [node.text(), node.label()].into_iter().flatten().any(|text| !text.trim().is_empty());
        !has_words && !node.is_interactive() && click.at.is_some() && node.class() == Some("generic")
    };
    node.is_none_or(is_bare)
}

/// Makes the element visible that an action was done to.
fn hovers(observed: &ObservedAction) -> Vec<Delegate> {
    let screen = &observed.screen;
    let over = observed.over.iter().filter_map(|id| screen.root.walk().find(|node| node.id == *id));
    let hover = |over: &Node| {
        let selector = alternatives(screen, over).into_iter().next()?;
        Some(call("web_hover", json!({"nodeSelector": selector.to_json()})))
    };
    over.filter_map(hover).collect()
}

fn clicked(
    screen: &Screen,
    node: Option<&Node>,
    click: &ClickOptions,
    point: Point,
    doubt: &mut Option<String>,
) -> Option<(String, Delegate)> {
    let verb = match (click.button, click.count) {
        (Button::Right, _) => "Right-click",
        (Button::Middle, _) => "Middle-click",
        (Button::Left, 2) => "Double-click",
        (Button::Left, _) => "Click",
    };
    let mut at_point = |text: String| {
        *doubt = Some("it is a point in the window, whatever is there".to_string());
        Some((text, call("tapOnPoint", json!({"x": point.x, "y": point.y}))))
    };
    let is_plain = click.button == Button::Left && click.count == 1 && click.modifiers.is_empty();
    let Some(node) = node else {
        // A point can only be tapped.
        return if is_plain { at_point(format!("Click at {}, {}", point.x, point.y)) } else { None };
    };
    let place = click.at.map(|Offset { x, y }| format!(" at {x}, {y}")).unwrap_or_default();
    let text = format!("{verb} {}{place}", called(node));
    if is_plain && click.at.is_none() {
        return match stable(screen, node) {
            Stable::Point(_) => at_point(text),
            stable => Some((text, tap_on(&stable))),
        };
    }
    let Some(selector) = alternatives(screen, node).into_iter().next() else {
        return if is_plain { at_point(text) } else { None };
    };
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
    if let Some(Offset { x, y }) = click.at {
        call.args.extend([("offsetX".to_string(), x.into()), ("offsetY".to_string(), y.into())]);
    }
    Some((text, call))
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

fn quoted(texts: &[impl AsRef<str>]) -> String {
    texts.iter().map(|text| format!("\"{}\"", cut(text.as_ref()))).collect::<Vec<_>>().join(", ")
}

/// A text in the words of a step.
fn cut(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
