//! Mouse and touch input.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use trailblaze_core::driver::{Button, Click, Direction, DragEnd, DriverError, Modifier, Offset, Target};
use trailblaze_protocol::geometry::Point;

use super::act::Actor;
use super::keys::HeldKeys;
use super::look::{Contact, Use};

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

/// The pressure of a pointer that cannot measure it, while it is down.
const PRESSURE: f64 = 0.5;

/// The touches of one finger.
const TOUCH: &str = "Input.dispatchTouchEvent";
const MOUSE: &str = "Input.dispatchMouseEvent";

/// A point in the window, not rounded: an element may begin within a pixel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spot {
    x: f64,
    y: f64,
}

impl From<Point> for Spot {
    fn from(point: Point) -> Spot {
        Spot { x: f64::from(point.x), y: f64::from(point.y) }
    }
}

impl Actor<'_> {
    /// Clicks, or on a phone taps, in the middle of the target.
    pub async fn tap(&self, target: &Target, count: u32) -> Result<(), DriverError> {
        self.click(target, &Click { button: Button::Left, count, modifiers: Vec::new(), at: None }).await
    }

    /// Clicks, once or several times. The page suppresses a click that would land on another element.
    pub async fn click(&self, target: &Target, click: &Click) -> Result<(), DriverError> {
        let point = self.aim(target, click.at).await?;
        // A finger has no buttons and holds no modifier keys.
        if self.page.is_mobile() && click.button == Button::Left && click.modifiers.is_empty() {
            let tap = [touch("touchStart", Some(point)), touch("touchEnd", None)];
            for _ in 0..click.count {
                self.page.commands(self.budget, tap.iter().map(|event| (TOUCH, event.clone())).collect()).await?;
            }
        } else {
            self.click_mouse(point, click).await?;
        }
        self.check_landed(target, Contact::Press).await
    }

    async fn click_mouse(&self, point: Spot, click: &Click) -> Result<(), DriverError> {
        let keys = HeldKeys::of(&click.modifiers);
        let mouse = |kind: &str, buttons: u32, count: u32| {
            let button = if count == 0 { "none" } else { name(click.button) };
            (MOUSE, mouse(kind, point, (button, buttons), count, &click.modifiers))
        };
        let mut events: Vec<(&str, Value)> = keys.down().map(|event| ("Input.dispatchKeyEvent", event)).collect();
        events.push(mouse("mouseMoved", 0, 0));
        for count in 1..=click.count {
            events.push(mouse("mousePressed", held(click.button), count));
            events.push(mouse("mouseReleased", 0, count));
        }
        events.extend(keys.up().map(|event| ("Input.dispatchKeyEvent", event)));
        self.page.commands(self.budget, events).await
    }

    async fn mouse(&self, events: Vec<Value>) -> Result<(), DriverError> {
        self.page.commands(self.budget, events.into_iter().map(|event| (MOUSE, event)).collect()).await
    }

    async fn finger(&self, event: Value) -> Result<(), DriverError> {
        self.page.commands(self.budget, vec![(TOUCH, event)]).await
    }

    async fn check_landed(&self, target: &Target, contact: Contact) -> Result<(), DriverError> {
        let Target::Element(found) = target else { return Ok(()) };
        match self.page.landed(self.budget, found.node, contact).await? {
            Some(how) => Err(DriverError::Evaded { how }),
            None => Ok(()),
        }
    }

    /// Where to touch. A point means whatever is there; an element was made ready when it was found, unless it is
    /// touched at an offset.
    async fn aim(&self, target: &Target, at: Option<Offset>) -> Result<Spot, DriverError> {
        match (target, at) {
            (Target::Element(found), Some(_)) => {
                let ready = self.page.ready(self.budget, found.node, Use::Touch { at }).await?;
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
            (Target::Point(_), _) => {
                self.page.ask(self.budget, "trailblaze.landed('none')").await?;
            }
            _ => {}
        }
        let exact = match target {
            Target::Element(found) => found.exact.map(|(x, y)| Spot { x, y }),
            Target::Device | Target::Point(_) => None,
        };
        exact
            .or_else(|| target.point().map(Spot::from))
            .ok_or_else(|| DriverError::Refused { reason: "this action needs an element or a point".to_string() })
    }

    pub async fn long_press(&self, target: &Target) -> Result<(), DriverError> {
        let point = self.aim(target, None).await?;
        match self.page.is_mobile() {
            true => self.long_press_finger(target, point).await?,
            false => self.long_press_mouse(point).await?,
        }
        self.check_landed(target, Contact::Press).await
    }

    async fn long_press_mouse(&self, point: Spot) -> Result<(), DriverError> {
        self.mouse(vec![moved(point, 0), pressed(point)]).await?;
        let lasted = self.rest("the press to last", LONG_PRESS).await;
        self.mouse(vec![released(point)]).await?;
        lasted
    }

    /// Chromium recognizes a long press, which opens a context menu instead of clicking, only in touches that it makes
    /// of mouse events itself.
    async fn long_press_finger(&self, target: &Target, point: Spot) -> Result<(), DriverError> {
        const PRESS: &str = "Input.emulateTouchFromMouseEvent";
        // This command takes whole numbers only.
        let (x, y) = (point.x.round() as i64, point.y.round() as i64);
        let event = |kind: &str| json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1});
        self.emit_touches(true).await?;
        let pressed = self.page.commands(self.budget, vec![(PRESS, event("mousePressed"))]).await;
        let lasted = self.held(target).await;
        let released = self.page.commands(self.budget, vec![(PRESS, event("mouseReleased"))]).await;
        // The command is answered before the page has the touch, and the change below would take it back.
        let seen = self.page.next_frame(self.budget).await;
        let off = self.emit_touches(false).await;
        pressed.and(lasted).and(released).and(seen).and(off)
    }

    /// Waits until the finger has been down for as long as a long press takes.
    async fn held(&self, target: &Target) -> Result<(), DriverError> {
        let node = if let Target::Element(found) = target { found.node } else { 0 };
        self.page.held(self.budget, node, LONG_PRESS).await
    }

    /// Whether mouse events become touches. Either change also ends the gesture that Chromium is in, without an event.
    async fn emit_touches(&self, enabled: bool) -> Result<(), DriverError> {
        let params = json!({"enabled": enabled, "configuration": "mobile"});
        self.page.commands(self.budget, vec![("Emulation.setEmitTouchEventsForMouse", params)]).await
    }

    async fn rest(&self, what: &str, duration: Duration) -> Result<(), DriverError> {
        self.budget.run(what, tokio::time::sleep(duration)).await
    }

    pub async fn hover(&self, target: &Target, at: Option<Offset>) -> Result<(), DriverError> {
        let point = self.aim(target, at).await?;
        self.mouse(vec![moved(point, 0)]).await?;
        self.check_landed(target, Contact::Hover).await
    }

    /// Drags with the mouse, or on a phone with a finger. If the page makes it a native drag, continues that one.
    /// Phones start native drags in different ways, so a native drag always uses the mouse.
    pub async fn drag(&self, target: &Target, at: Option<Offset>, to: &DragEnd) -> Result<(), DriverError> {
        let from = self.aim(target, at).await?;
        if self.page.is_mobile() && !self.is_draggable(target).await? {
            return self.drag_finger(target, from, to).await;
        }
        self.page.shared.state().drag = None;
        self.page.command(self.budget, "Input.setInterceptDrags", json!({"enabled": true})).await?;
        let dragged = self.drag_mouse(target, from, to).await;
        let let_go = match dragged {
            Ok(()) => Ok(()),
            Err(_) => self.mouse(vec![released(from)]).await,
        };
        let off = self.page.command(self.budget, "Input.setInterceptDrags", json!({"enabled": false})).await;
        dragged.and(let_go).and(off.map(drop))
    }

    async fn drag_mouse(&self, target: &Target, from: Spot, to: &DragEnd) -> Result<(), DriverError> {
        self.mouse(vec![moved(from, 0), pressed(from)]).await?;
        self.check_landed(target, Contact::Press).await?;
        let end = self.drag_end(from, to).await?;
        let mut data = None;
        // Each move is awaited: moves sent together would arrive as one.
        for point in path(from, end) {
            if let Some(data) = &data {
                self.drag_event("dragOver", point, data).await?;
                self.await_motion(target).await?;
                continue;
            }
            self.mouse(vec![moved(point, 1)]).await?;
            data = self.begun_drag(target).await?;
            if let Some(data) = &data {
                self.drag_event("dragEnter", point, data).await?;
                self.drag_event("dragOver", point, data).await?;
            }
            self.await_motion(target).await?;
        }
        if let Some(data) = &data {
            self.drag_event("drop", end, data).await?;
        }
        self.mouse(vec![released(end)]).await
    }

    /// The data of a native drag, if the page let the browser start one.
    async fn begun_drag(&self, target: &Target) -> Result<Option<Value>, DriverError> {
        let has_begun: Value = match target {
            Target::Element(found) => {
                self.page.ask_about(self.budget, found.node, |_| "trailblaze.dragged()".to_string()).await?
            }
            _ => self.page.ask(self.budget, "trailblaze.dragged()").await?,
        };
        if has_begun == Value::Bool(true) {
            let until = self.budget.deadline.min(Instant::now() + BEGINNING);
            self.page.wait(self.budget, until, |state| state.drag.is_some()).await?;
        }
        Ok(self.page.shared.state().drag.take())
    }

    async fn drag_event(&self, kind: &str, point: Spot, data: &Value) -> Result<(), DriverError> {
        let event = json!({"type": kind, "x": point.x, "y": point.y, "data": data});
        self.page.command(self.budget, "Input.dispatchDragEvent", event).await.map(drop)
    }

    async fn drag_finger(&self, target: &Target, from: Spot, to: &DragEnd) -> Result<(), DriverError> {
        self.finger(touch("touchStart", Some(from))).await?;
        let dragged = self.drag_finger_down(target, from, to).await;
        self.finger(touch("touchEnd", None)).await?;
        dragged
    }

    async fn drag_finger_down(&self, target: &Target, from: Spot, to: &DragEnd) -> Result<(), DriverError> {
        self.check_landed(target, Contact::Press).await?;
        let end = self.drag_end(from, to).await?;
        for point in path(from, end) {
            self.finger(touch("touchMove", Some(point))).await?;
            self.await_motion(target).await?;
        }
        self.rest("the drag to end", REST).await
    }

    async fn is_draggable(&self, target: &Target) -> Result<bool, DriverError> {
        let Target::Element(found) = target else { return Ok(false) };
        self.page.ask_about(self.budget, found.node, |id| format!("trailblaze.isDraggable({id})")).await
    }

    async fn drag_end(&self, from: Spot, to: &DragEnd) -> Result<Spot, DriverError> {
        match to {
            DragEnd::Point(point) => Ok((*point).into()),
            DragEnd::By(Offset { x, y }) => Ok(Spot { x: from.x + f64::from(*x), y: from.y + f64::from(*y) }),
            DragEnd::Element { found, at } => {
                let there = self.page.ready(self.budget, found.node, Use::Drop { at: *at }).await?;
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
    async fn await_motion(&self, target: &Target) -> Result<(), DriverError> {
        let rested = "trailblaze.rested()";
        let _: Value = match target {
            Target::Element(found) => self.page.ask_about(self.budget, found.node, |_| rested.to_string()).await?,
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
            return self.wheel(&Target::Point(from), from, (dx, dy), speed.clamp(1, AT_ONCE)).await;
        }
        let steps = i32::try_from(duration.as_millis() / FINGER_MOVE.as_millis()).unwrap_or(i32::MAX).clamp(1, 1000);
        self.finger(touch("touchStart", Some(from.into()))).await?;
        let mut moved = Ok(());
        for step in 1..=steps {
            let next = Instant::now() + FINGER_MOVE;
            moved = self.finger(touch("touchMove", Some(between(from.into(), to.into(), step, steps)))).await;
            if moved.is_err() {
                break;
            }
            self.budget.run("the swipe to end", tokio::time::sleep_until(next)).await?;
        }
        self.finger(touch("touchEnd", None)).await?;
        moved?;
        self.page.ask(self.budget, "trailblaze.scrolled()").await?;
        // The fling goes on where nothing scrolls, and would swallow the next tap.
        self.emit_touches(true).await?;
        self.emit_touches(false).await
    }

    /// Turns the wheel, and waits until scrolling has ended.
    async fn wheel(&self, target: &Target, at: Point, by: (i64, i64), speed: i64) -> Result<(), DriverError> {
        let params = json!({
            "x": at.x, "y": at.y, "xDistance": -by.0, "yDistance": -by.1, "speed": speed, "gestureSourceType": "mouse",
        });
        self.page.command(self.budget, "Input.synthesizeScrollGesture", params).await?;
        let scrolled = "trailblaze.scrolled()";
        let _: Value = match target {
            Target::Element(found) => self.page.ask_about(self.budget, found.node, |_| scrolled.to_string()).await?,
            _ => self.page.ask(self.budget, scrolled).await?,
        };
        Ok(())
    }

    pub async fn scroll(&self, target: &Target, direction: Direction, amount: Option<u32>) -> Result<(), DriverError> {
        let area = match target {
            Target::Element(found) => {
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

fn name(button: Button) -> &'static str {
    match button {
        Button::Left => "left",
        Button::Right => "right",
        Button::Middle => "middle",
    }
}

/// The bit of a button that is held.
fn held(button: Button) -> u32 {
    match button {
        Button::Left => 1,
        Button::Right => 2,
        Button::Middle => 4,
    }
}

fn mouse(kind: &str, at: Spot, (button, buttons): (&str, u32), clicks: u32, modifiers: &[Modifier]) -> Value {
    let modifiers = HeldKeys::of(modifiers).bits();
    json!({
        "type": kind, "x": at.x, "y": at.y, "button": button, "buttons": buttons, "clickCount": clicks,
        "modifiers": modifiers, "force": if buttons == 0 { 0.0 } else { PRESSURE },
    })
}

fn moved(at: Spot, buttons: u32) -> Value {
    let button = if buttons == 0 { "none" } else { "left" };
    mouse("mouseMoved", at, (button, buttons), 0, &[])
}

fn pressed(at: Spot) -> Value {
    mouse("mousePressed", at, ("left", 1), 1, &[])
}

fn released(at: Spot) -> Value {
    mouse("mouseReleased", at, ("left", 0), 1, &[])
}

fn touch(kind: &str, at: Option<Spot>) -> Value {
    let points: Vec<Value> = at.iter().map(|at| json!({"x": at.x, "y": at.y, "force": PRESSURE})).collect();
    json!({"type": kind, "touchPoints": points})
}
