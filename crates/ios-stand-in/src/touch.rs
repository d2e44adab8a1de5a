//! Fingers and keys.

use std::time::Duration;

use serde_json::{Value, json};
use trailblaze_core::driver::{Action, ActionTarget, Key};
use trailblaze_protocol::geometry::Point;

use crate::answer::{WdaAnswer, WebDriverError};
use crate::iphone::Iphone;
use crate::routes::window_size;

/// A finger that stays at least this long is a long press.
const LONG_PRESS: Duration = Duration::from_millis(500);
/// A finger that moves less than this, in points, does not swipe.
const SLOP: f64 = 10.0;
/// Fingers that turn less than this, in degrees, pinch.
const TURNED: f64 = 5.0;
const ERASE: char = '\u{8}';

/// The numbers `x` and `y` of a request; the middle of the screen without them, as the app itself is then meant.
fn place(iphone: &Iphone, body: &Value) -> Result<(f64, f64), WebDriverError> {
    match (number(body, "x"), number(body, "y")) {
        (Some(x), Some(y)) => Ok((x, y)),
        (None, None) => {
            let size = iphone.size();
            Ok((f64::from(size.width) / 6.0, f64::from(size.height) / 6.0))
        }
        _ => Err(WebDriverError::invalid_argument("Both x and y coordinates must be provided")),
    }
}

fn number(body: &Value, key: &str) -> Option<f64> {
    body.get(key).and_then(Value::as_f64)
}

/// Whether the system itself took the touch: nothing reaches an app behind an alert or the lock screen.
fn is_taken(iphone: &Iphone, x: f64, y: f64) -> bool {
    let mut state = iphone.state();
    let point = Point { x: x as i32, y: y as i32 };
    match &state.alert {
        Some(alert) => {
            if alert.has_button_at(point) {
                state.alert = None;
            }
            true
        }
        None => state.is_locked,
    }
}

async fn touch(iphone: &Iphone, (x, y): (f64, f64), action: Action) {
    if !is_taken(iphone, x, y) {
        // A touch on nothing is no error.
        let _ = iphone.act(ActionTarget::Point(iphone.in_pixels(x, y)), action).await;
    }
}

pub async fn tap(iphone: &Iphone, body: &Value) -> WdaAnswer {
    touch(iphone, place(iphone, body)?, Action::Tap).await;
    Ok(Value::Null)
}

pub async fn double_tap(iphone: &Iphone, body: &Value) -> WdaAnswer {
    touch(iphone, place(iphone, body)?, Action::DoubleTap).await;
    Ok(Value::Null)
}

pub async fn hold(iphone: &Iphone, body: &Value) -> WdaAnswer {
    let seconds = number(body, "duration").unwrap_or_default();
    let action = if seconds >= LONG_PRESS.as_secs_f64() { Action::LongPress } else { Action::Tap };
    touch(iphone, place(iphone, body)?, action).await;
    Ok(Value::Null)
}

pub async fn drag(iphone: &Iphone, body: &Value) -> WdaAnswer {
    let [Some(from_x), Some(from_y), Some(to_x), Some(to_y)] =
        ["fromX", "fromY", "toX", "toY"].map(|key| number(body, key))
    else {
        return Err(WebDriverError::invalid_argument("fromX, fromY, toX and toY must be numbers"));
    };
    swipe(iphone, (from_x, from_y), (to_x, to_y), Duration::from_millis(500)).await;
    Ok(Value::Null)
}

/// A swipe over most of the screen, as XCTest makes it from the middle of the app.
pub async fn swipe_toward(iphone: &Iphone, body: &Value) -> WdaAnswer {
    let size = window_size(iphone);
    let side = |name: &str| size[name].as_f64().unwrap_or_default();
    let (width, height) = (side("width"), side("height"));
    let (x, y) = (width / 2.0, height / 2.0);
    let (from, to) = match body["direction"].as_str() {
        Some("up") => ((x, height * 0.75), (x, height * 0.25)),
        Some("down") => ((x, height * 0.25), (x, height * 0.75)),
        Some("left") => ((width * 0.75, y), (width * 0.25, y)),
        Some("right") => ((width * 0.25, y), (width * 0.75, y)),
        _ => return Err(WebDriverError::invalid_argument("Direction must be one of up, down, left and right")),
    };
    swipe(iphone, from, to, Duration::from_millis(300)).await;
    Ok(Value::Null)
}

pub async fn pinch(iphone: &Iphone, body: &Value) -> WdaAnswer {
    let scale = number(body, "scale").ok_or_else(|| WebDriverError::invalid_argument("scale must be a number"))?;
    zoom(iphone, scale).await;
    Ok(Value::Null)
}

/// Whether nothing of the system is in front of the app.
fn is_free(iphone: &Iphone) -> bool {
    let state = iphone.state();
    state.alert.is_none() && !state.is_locked
}

async fn zoom(iphone: &Iphone, scale: f64) {
    if is_free(iphone) {
        let _ = iphone.act(ActionTarget::Device, Action::Pinch { scale }).await;
    }
}

async fn swipe(iphone: &Iphone, from: (f64, f64), to: (f64, f64), duration: Duration) {
    if is_free(iphone) {
        let action =
            Action::Swipe { from: iphone.in_pixels(from.0, from.1), to: iphone.in_pixels(to.0, to.1), duration };
        let _ = iphone.act(ActionTarget::Device, action).await;
    }
}

/// One touch of one finger.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stroke {
    from: (f64, f64),
    to: (f64, f64),
    millis: f64,
}

impl Stroke {
    fn distance(&self) -> f64 {
        (self.from.0 - self.to.0).hypot(self.from.1 - self.to.1)
    }

    fn is_long(&self) -> bool {
        self.millis >= LONG_PRESS.as_secs_f64() * 1000.0
    }

    fn is_tap(&self) -> bool {
        self.distance() <= SLOP && !self.is_long()
    }
}

/// The pointers of WebDriver: one finger taps, presses or swipes, and two pinch or turn.
pub async fn actions(iphone: &Iphone, body: &Value) -> WdaAnswer {
    let sources = body.get("actions").and_then(Value::as_array).filter(|sources| !sources.is_empty());
    let sources = sources.ok_or_else(|| WebDriverError::unknown("'actions' must have an array of input sources"))?;
    let fingers: Vec<Vec<Stroke>> = sources.iter().map(strokes).collect::<Result<_, _>>()?;
    match fingers.as_slice() {
        [finger] => {
            if let [first, second] = finger.as_slice()
                && first.is_tap()
                && second.is_tap()
            {
                touch(iphone, first.from, Action::DoubleTap).await;
                return Ok(Value::Null);
            }
            for stroke in finger {
                match (stroke.distance() > SLOP, stroke.is_long()) {
                    (true, _) => {
                        let duration = Duration::from_millis(stroke.millis as u64);
                        swipe(iphone, stroke.from, stroke.to, duration).await;
                    }
                    (false, true) => touch(iphone, stroke.from, Action::LongPress).await,
                    (false, false) => touch(iphone, stroke.from, Action::Tap).await,
                }
            }
        }
        [one, other] => {
            let (Some(one), Some(other)) = (one.first(), other.first()) else {
                return Err(WebDriverError::unknown("a finger touches nothing"));
            };
            let angle = |a: (f64, f64), b: (f64, f64)| (b.1 - a.1).atan2(b.0 - a.0).to_degrees();
            let turned = (angle(one.to, other.to) - angle(one.from, other.from) + 540.0).rem_euclid(360.0) - 180.0;
            if turned.abs() > TURNED {
                iphone.state().twists.push(turned.round() as i32);
                return Ok(Value::Null);
            }
            let apart = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).hypot(a.1 - b.1).max(1.0);
            zoom(iphone, apart(one.to, other.to) / apart(one.from, other.from)).await;
        }
        _ => return Err(WebDriverError::unknown("more than two fingers are not simulated")),
    }
    Ok(Value::Null)
}

fn strokes(source: &Value) -> Result<Vec<Stroke>, WebDriverError> {
    let wrong = |what: &str| WebDriverError::unknown(format!("{what}: {source}"));
    if source["type"] != "pointer" || source["parameters"]["pointerType"] != "touch" {
        return Err(wrong("only pointers of the type touch are simulated"));
    }
    let items = source["actions"].as_array().ok_or_else(|| wrong("'actions' must be an array"))?;
    let (mut at, mut down, mut done) = (None, None, Vec::new());
    for item in items {
        let millis = number(item, "duration").unwrap_or_default();
        if let Some(Stroke { millis: so_far, .. }) = &mut down {
            *so_far += millis;
        }
        match item["type"].as_str() {
            Some("pointerMove") => {
                let (Some(x), Some(y)) = (number(item, "x"), number(item, "y")) else {
                    return Err(wrong("a move needs x and y"));
                };
                at = Some((x, y));
                if let (Some(Stroke { to, .. }), Some(at)) = (&mut down, at) {
                    *to = at;
                }
            }
            Some("pointerDown") => {
                let at = at.ok_or_else(|| wrong("a finger goes down nowhere"))?;
                down = Some(Stroke { from: at, to: at, millis: 0.0 });
            }
            Some("pointerUp") => done.extend(down.take()),
            Some("pause") => {}
            _ => return Err(wrong("an action of an unknown type")),
        }
    }
    Ok(done)
}

/// Types into whatever has the focus. Letters that nothing takes are lost, as on a device.
pub async fn type_text(iphone: &Iphone, text: &str) {
    let mut letters = String::new();
    for sign in text.chars() {
        let key = match sign {
            '\n' => Key::Enter,
            ERASE => Key::Backspace,
            sign => {
                letters.push(sign);
                continue;
            }
        };
        flush(iphone, &mut letters).await;
        let _ = iphone.act(ActionTarget::Device, Action::PressKey { key }).await;
    }
    flush(iphone, &mut letters).await;
}

async fn flush(iphone: &Iphone, letters: &mut String) {
    if !letters.is_empty() {
        let text = std::mem::take(letters);
        let _ = iphone.act(ActionTarget::Device, Action::InputText { text }).await;
    }
}

/// The text of a request: a list of parts, or one text.
pub fn text_of(body: &Value) -> Result<String, WebDriverError> {
    let value = body.get("value").or_else(|| body.get("text"));
    match value {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Array(parts)) => Ok(parts.iter().filter_map(Value::as_str).collect()),
        _ => Err(WebDriverError::invalid_argument("Neither 'value' nor 'text' parameter is provided")),
    }
}

pub async fn keys(iphone: &Iphone, body: &Value) -> WdaAnswer {
    type_text(iphone, &text_of(body)?).await;
    Ok(json!(null))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finger_that_goes_down_and_up_is_a_stroke() {
        let finger = json!({
            "type": "pointer", "id": "f", "parameters": {"pointerType": "touch"},
            "actions": [
                {"type": "pointerMove", "x": 1, "y": 2, "duration": 0},
                {"type": "pointerDown"},
                {"type": "pause", "duration": 100},
                {"type": "pointerMove", "x": 1, "y": 50, "duration": 200},
                {"type": "pointerUp"},
            ],
        });
        assert_eq!(strokes(&finger), Ok(vec![Stroke { from: (1.0, 2.0), to: (1.0, 50.0), millis: 300.0 }]));
        assert!(strokes(&json!({"type": "key", "actions": []})).is_err());
    }
}
