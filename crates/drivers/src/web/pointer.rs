//! Mouse and touch input.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use trailblaze_core::driver::{ActionTarget, Button, ClickOptions, Direction, DragEnd, DriverError, Offset};
use trailblaze_protocol::geometry::Point;

use super::act::Actor;
use super::backend::DragStep;
use super::input::{BrowserInput, MouseInput, MouseKind, Spot, TouchInput};
use super::keys::HeldKeys;
use super::look::{Contact, ElementUse};

/// How long a long press lasts; Chromium recognizes one after half a second.
const LONG_PRESS: Duration = Duration::from_millis(700);
/// How long a finger rests at the end of a drag. A finger that is lifted in motion starts a fling, even where nothing
/// scrolls, and Chromium does not turn a tap that stops a fling into a click.
const REST: Duration = Duration::from_millis(100);
/// The number of moves in a drag.
const MOVES: i32 = 8;
/// How long a browser may take to start a drag.
const BEGINNING: Duration = Duration::from_secs(5);
/// The fastest scroll, in pixels per second: one turn of the wheel.
const AT_ONCE: i64 = 1_000_000;
/// How long one move of a finger takes.
const FINGER_MOVE: Duration = Duration::from_millis(16);

impl Actor<'_> {
    /// Clicks, or on a phone taps, in the middle of the target.
    pub async fn tap(&self, target: &ActionTarget, count: u32) -> Result<(), DriverError> {
        self.click(target, &ClickOptions { button: Button::Left, count, modifiers: Vec::new(), at: None }).await
    }

    /// Clicks, once or several times. The page suppresses a click that would land on another element.
    pub async fn click(&self, target: &ActionTarget, click: &ClickOptions) -> Result<(), DriverError> {
        let point = self.aim(target, click.at).await?;
        // A finger has no buttons and holds no modifier keys.
        if self.page.is_mobile() && click.button == Button::Left && click.modifiers.is_empty() {
            for _ in 0..click.count {
                self.finger(&[TouchInput::Start(point), TouchInput::End]).await?;
            }
        } else {
            self.click_mouse(point, click).await?;
        }
        self.check_landed(target, Contact::Press).await
    }

    async fn click_mouse(&self, point: Spot, click: &ClickOptions) -> Result<(), DriverError> {
        let keys = HeldKeys::of(&click.modifiers);
        let mouse = |kind: MouseKind, clicks: u32| {
            let button = (clicks > 0).then_some(click.button);
            BrowserInput::Mouse(MouseInput { kind, at: point, button, clicks, modifiers: keys.bits() })
        };
        let mut inputs: Vec<BrowserInput> = keys.down().map(BrowserInput::Key).collect();
        inputs.push(mouse(MouseKind::Moved, 0));
        for count in 1..=click.count {
            inputs.extend([mouse(MouseKind::Pressed, count), mouse(MouseKind::Released, count)]);
        }
        inputs.extend(keys.up().map(BrowserInput::Key));
        self.page.input(self.budget, &inputs).await
    }

    async fn mouse(&self, inputs: &[MouseInput]) -> Result<(), DriverError> {
        let inputs: Vec<BrowserInput> = inputs.iter().cloned().map(BrowserInput::Mouse).collect();
        self.page.input(self.budget, &inputs).await
    }

    async fn finger(&self, inputs: &[TouchInput]) -> Result<(), DriverError> {
        let inputs: Vec<BrowserInput> = inputs.iter().copied().map(BrowserInput::Touch).collect();
        self.page.input(self.budget, &inputs).await
    }

    async fn check_landed(&self, target: &ActionTarget, contact: Contact) -> Result<(), DriverError> {
        let ActionTarget::Element(found) = target else { return Ok(()) };
        match self.page.landed(self.budget, found.node, contact).await? {
            Some(how) => Err(DriverError::Evaded { how }),
            None => Ok(()),
        }
    }

    /// Where to touch. A point means whatever is there; an element was made ready when it was found, unless it is
    /// touched at an offset.
    async fn aim(&self, target: &ActionTarget, at: Option<Offset>) -> Result<Spot, DriverError> {
        match (target, at) {
            (ActionTarget::Element(found), Some(_)) => {
                let ready = self.page.ready(self.budget, found.node, ElementUse::Touch { at }).await?;
                let how = match ready.why.as_deref() {
                    None => return Ok(Spot { x: ready.x, y: ready.y }),
                    Some("outside") => {
                        let reason =
                            format!("the offset is outside of {}, which is {} pixels", found.summary, ready.by);
                        return Err(DriverError::Refused { reason });
                    }
                    Some("covered") => format!("covered by {} at the offset", ready.by),
                    Some("moving") => "it keeps moving".to_string(),
                    Some(why) => format!("it is {why}"),
                };
                return Err(DriverError::Evaded { how });
            }
            (ActionTarget::Point(_), _) => {
                self.page.ask(self.budget, "trailblaze.landed('none')").await?;
            }
            _ => {}
        }
        let exact = match target {
            ActionTarget::Element(found) => found.exact.map(|(x, y)| Spot { x, y }),
            ActionTarget::Device | ActionTarget::Point(_) => None,
        };
        exact
            .or_else(|| target.point().map(Spot::from))
            .ok_or_else(|| DriverError::Refused { reason: "this action needs an element or a point".to_string() })
    }

    pub async fn long_press(&self, target: &ActionTarget) -> Result<(), DriverError> {
        let point = self.aim(target, None).await?;
        match self.page.is_mobile() {
            true => self.long_press_finger(target, point).await?,
            false => self.long_press_mouse(point).await?,
        }
        self.check_landed(target, Contact::Press).await
    }

    async fn long_press_mouse(&self, point: Spot) -> Result<(), DriverError> {
        self.mouse(&[moved(point, None), pressed(point)]).await?;
        let lasted = self.rest("the press to last", LONG_PRESS).await;
        self.mouse(&[released(point)]).await?;
        lasted
    }

    async fn long_press_finger(&self, target: &ActionTarget, point: Spot) -> Result<(), DriverError> {
        let pressed = self.finger(&[TouchInput::Hold(point)]).await;
        let lasted = self.held(target).await;
        let released = self.finger(&[TouchInput::Release(point)]).await;
        // The release is answered before the page has the touch, and the end of the hold would take it back.
        let seen = self.page.next_frame(self.budget).await;
        let off = self.finger(&[TouchInput::EndHold]).await;
        pressed.and(lasted).and(released).and(seen).and(off)
    }

    /// Waits until the finger has been down for as long as a long press takes.
    async fn held(&self, target: &ActionTarget) -> Result<(), DriverError> {
        let node = if let ActionTarget::Element(found) = target { found.node } else { 0 };
        self.page.held(self.budget, node, LONG_PRESS).await
    }

    async fn rest(&self, what: &str, duration: Duration) -> Result<(), DriverError> {
        self.budget.run(what, tokio::time::sleep(duration)).await
    }

    pub async fn hover(&self, target: &ActionTarget, at: Option<Offset>) -> Result<(), DriverError> {
        let point = self.aim(target, at).await?;
        self.mouse(&[moved(point, None)]).await?;
        self.check_landed(target, Contact::Hover).await
    }

    /// Drags with the mouse, or on a phone with a finger. If the page makes it a native drag, continues that one.
    /// Phones start native drags in different ways, so a native drag always uses the mouse.
    pub async fn drag(&self, target: &ActionTarget, at: Option<Offset>, to: &DragEnd) -> Result<(), DriverError> {
        let from = self.aim(target, at).await?;
        if self.page.is_mobile() && !self.is_draggable(target).await? {
            return self.drag_finger(target, from, to).await;
        }
        self.page.shared.state().drag = None;
        self.page.intercept_drags(self.budget, true).await?;
        let dragged = self.drag_mouse(target, from, to).await;
        let let_go = match dragged {
            Ok(()) => Ok(()),
            Err(_) => self.mouse(&[released(from)]).await,
        };
        let off = self.page.intercept_drags(self.budget, false).await;
        dragged.and(let_go).and(off)
    }

    async fn drag_mouse(&self, target: &ActionTarget, from: Spot, to: &DragEnd) -> Result<(), DriverError> {
        self.mouse(&[moved(from, None), pressed(from)]).await?;
        self.check_landed(target, Contact::Press).await?;
        let end = self.drag_end(from, to).await?;
        let mut data = None;
        // Each move is awaited: moves sent together would arrive as one.
        for point in path(from, end) {
            if let Some(data) = &data {
                self.drag_event(DragStep::Over, point, data).await?;
                self.await_motion(target).await?;
                continue;
            }
            self.mouse(&[moved(point, Some(Button::Left))]).await?;
            data = self.begun_drag(target).await?;
            if let Some(data) = &data {
                self.drag_event(DragStep::Enter, point, data).await?;
                self.drag_event(DragStep::Over, point, data).await?;
            }
            self.await_motion(target).await?;
        }
        if let Some(data) = &data {
            self.drag_event(DragStep::Drop, end, data).await?;
        }
        self.mouse(&[released(end)]).await
    }

    /// The data of a native drag, if the page let the browser start one.
    async fn begun_drag(&self, target: &ActionTarget) -> Result<Option<Value>, DriverError> {
        let has_begun: Value = match target {
            ActionTarget::Element(found) => {
                self.page.ask_about(self.budget, found.node, |_| "trailblaze.dragged()".to_string()).await?
            }
            _ => self.page.ask(self.budget, "trailblaze.dragged()").await?,
        };
        if has_begun == Value::Bool(true) && self.page.intercepts() {
            let until = self.budget.deadline.min(Instant::now() + BEGINNING);
            self.page.wait(self.budget, until, |state| state.drag.is_some()).await?;
        }
        Ok(self.page.shared.state().drag.take())
    }

    async fn drag_event(&self, step: DragStep, point: Spot, data: &Value) -> Result<(), DriverError> {
        let (interception, tab) = (self.page.interception("drag")?, self.page.front()?);
        self.page.call(self.budget, "the drag", interception.drag(&tab, step, point, data)).await
    }

    async fn drag_finger(&self, target: &ActionTarget, from: Spot, to: &DragEnd) -> Result<(), DriverError> {
        self.finger(&[TouchInput::Start(from)]).await?;
        let dragged = self.drag_finger_down(target, from, to).await;
        self.finger(&[TouchInput::End]).await?;
        dragged
    }

    async fn drag_finger_down(&self, target: &ActionTarget, from: Spot, to: &DragEnd) -> Result<(), DriverError> {
        self.check_landed(target, Contact::Press).await?;
        let end = self.drag_end(from, to).await?;
        for point in path(from, end) {
            self.finger(&[TouchInput::Move(point)]).await?;
            self.await_motion(target).await?;
        }
        self.rest("the drag to end", REST).await
    }

    async fn is_draggable(&self, target: &ActionTarget) -> Result<bool, DriverError> {
        let ActionTarget::Element(found) = target else { return Ok(false) };
        self.page.ask_about(self.budget, found.node, |id| format!("trailblaze.isDraggable({id})")).await
    }

    async fn drag_end(&self, from: Spot, to: &DragEnd) -> Result<Spot, DriverError> {
        match to {
            DragEnd::Point(point) => Ok((*point).into()),
            DragEnd::By(Offset { x, y }) => Ok(Spot { x: from.x + f64::from(*x), y: from.y + f64::from(*y) }),
            DragEnd::Element { found, at } => {
                let there = self.page.ready(self.budget, found.node, ElementUse::Drop { at: *at }).await?;
                match there.why.as_deref() {
                    None => Ok(Spot { x: there.x, y: there.y }),
                    Some("outside") => Err(DriverError::Refused {
                        reason: format!("the offset is outside of {}, which is {} pixels", found.summary, there.by),
                    }),
                    Some(why) => Err(DriverError::Refused {
                        reason: format!("nothing can be dropped on {}: it is {why}", found.summary),
                    }),
                }
            }
        }
    }

    /// Waits until what a move has set in motion rests, as the items of a list that make room for another one.
    async fn await_motion(&self, target: &ActionTarget) -> Result<(), DriverError> {
        let rested = "trailblaze.rested()";
        let _: Value = match target {
            ActionTarget::Element(found) => {
                self.page.ask_about(self.budget, found.node, |_| rested.to_string()).await?
            }
            _ => self.page.ask(self.budget, rested).await?,
        };
        Ok(())
    }

    /// Moves a finger, or turns the mouse wheel by the same distance in the same time.
    pub async fn swipe(&self, from: Point, to: Point, duration: Duration) -> Result<(), DriverError> {
        if !self.page.is_mobile() {
            let (dx, dy) = (i64::from(from.x - to.x), i64::from(from.y - to.y));
            let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX).max(1);
            let speed = dx.abs().max(dy.abs()) * 1000 / millis;
            return self.wheel(&ActionTarget::Point(from), from, (dx, dy), speed.clamp(1, AT_ONCE)).await;
        }
        let steps = i32::try_from(duration.as_millis() / FINGER_MOVE.as_millis()).unwrap_or(i32::MAX).clamp(1, 1000);
        self.finger(&[TouchInput::Start(from.into())]).await?;
        let mut moved = Ok(());
        for step in 1..=steps {
            let next = Instant::now() + FINGER_MOVE;
            moved = self.finger(&[TouchInput::Move(between(from.into(), to.into(), step, steps))]).await;
            if moved.is_err() {
                break;
            }
            self.budget.run("the swipe to end", tokio::time::sleep_until(next)).await?;
        }
        self.finger(&[TouchInput::End]).await?;
        moved?;
        self.page.ask(self.budget, "trailblaze.scrolled()").await?;
        // The fling goes on where nothing scrolls, and would swallow the next tap.
        self.finger(&[TouchInput::EndGesture]).await
    }

    /// Turns the wheel, and waits until scrolling has ended.
    async fn wheel(&self, target: &ActionTarget, at: Point, by: (i64, i64), speed: i64) -> Result<(), DriverError> {
        self.page.input(self.budget, &[BrowserInput::Wheel { at, by, speed }]).await?;
        let scrolled = "trailblaze.scrolled()";
        let _: Value = match target {
            ActionTarget::Element(found) => {
                self.page.ask_about(self.budget, found.node, |_| scrolled.to_string()).await?
            }
            _ => self.page.ask(self.budget, scrolled).await?,
        };
        Ok(())
    }

    pub async fn scroll(
        &self,
        target: &ActionTarget,
        direction: Direction,
        amount: Option<u32>,
    ) -> Result<(), DriverError> {
        let area = match target {
            ActionTarget::Element(found) => {
                self.page.ask_about(self.budget, found.node, |id| format!("trailblaze.scroller({id})")).await?
            }
            _ => self.page.ask(self.budget, "trailblaze.scroller(0)").await?,
        };
        let side = |key: &str| area.get(key).and_then(Value::as_f64).unwrap_or(600.0);
        let middle = Point { x: side("x").round() as i32, y: side("y").round() as i32 };
        let at = target.point().unwrap_or(middle);
        let by = |whole: f64| amount.map_or((whole * 0.8) as i64, i64::from);
        let by = match direction {
            Direction::Down => (0, by(side("height"))),
            Direction::Up => (0, -by(side("height"))),
            Direction::Right => (by(side("width")), 0),
            Direction::Left => (-by(side("width")), 0),
        };
        self.wheel(target, at, by, AT_ONCE).await?;
        self.check_landed(target, Contact::None).await
    }
}

/// The points of a drag. The last one is repeated, because many pages update what is under the pointer only at the next
/// move.
fn path(from: Spot, end: Spot) -> impl Iterator<Item = Spot> {
    (1..=MOVES).map(move |step| between(from, end, step, MOVES)).chain([end])
}

fn between(from: Spot, end: Spot, step: i32, steps: i32) -> Spot {
    let part = |from: f64, end: f64| from + (end - from) * f64::from(step) / f64::from(steps);
    Spot { x: part(from.x, end.x), y: part(from.y, end.y) }
}

fn moved(at: Spot, held: Option<Button>) -> MouseInput {
    MouseInput { kind: MouseKind::Moved, at, button: held, clicks: 0, modifiers: 0 }
}

fn pressed(at: Spot) -> MouseInput {
    MouseInput { kind: MouseKind::Pressed, at, button: Some(Button::Left), clicks: 1, modifiers: 0 }
}

fn released(at: Spot) -> MouseInput {
    MouseInput { kind: MouseKind::Released, ..pressed(at) }
}
