//! Input as commands of the protocol.

use serde_json::{Value, json};
use trailblaze_core::driver::Button;

use super::super::input::{BrowserInput, KeyInput, MouseInput, MouseKind, Spot, TouchInput};

/// The pressure of a pointer that cannot measure it, while it is down.
const PRESSURE: f64 = 0.5;

type Command = (&'static str, Value);

/// Commands in groups: those of a group are sent in one go, and answered before the next group is sent.
pub fn commands(inputs: &[BrowserInput]) -> Vec<Vec<Command>> {
    let mut groups: Vec<Vec<Command>> = vec![Vec::new()];
    for input in inputs {
        let own = match input {
            BrowserInput::Touch(TouchInput::Hold(at)) => {
                groups.push(vec![emit_touches(true)]);
                groups.push(vec![emulated_touch("mousePressed", *at)]);
                groups.push(Vec::new());
                continue;
            }
            // Either change ends the gesture that Chromium is in, without an event.
            BrowserInput::Touch(TouchInput::EndGesture) => {
                groups.extend([vec![emit_touches(true)], vec![emit_touches(false)], Vec::new()]);
                continue;
            }
            BrowserInput::Touch(TouchInput::EndHold) => emit_touches(false),
            BrowserInput::Touch(TouchInput::Release(at)) => emulated_touch("mouseReleased", *at),
            BrowserInput::Touch(TouchInput::Start(at)) => touch("touchStart", Some(*at)),
            BrowserInput::Touch(TouchInput::Move(at)) => touch("touchMove", Some(*at)),
            BrowserInput::Touch(TouchInput::End) => touch("touchEnd", None),
            BrowserInput::Key(key) => ("Input.dispatchKeyEvent", key_event(key)),
            BrowserInput::Text(text) => ("Input.insertText", json!({"text": text})),
            BrowserInput::Mouse(mouse) => ("Input.dispatchMouseEvent", mouse_event(mouse)),
            BrowserInput::Wheel { at, by, speed } => {
                let params = json!({
                    "x": at.x, "y": at.y, "xDistance": -by.0, "yDistance": -by.1, "speed": speed,
                    "gestureSourceType": "mouse",
                });
                ("Input.synthesizeScrollGesture", params)
            }
        };
        groups.last_mut().expect("there is a first one").push(own);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

fn key_event(key: &KeyInput) -> Value {
    let kind = match (key.is_down, &key.text) {
        (true, Some(_)) => "keyDown",
        (true, None) => "rawKeyDown",
        (false, _) => "keyUp",
    };
    let mut event = json!({
        "type": kind, "key": key.key, "code": key.code, "windowsVirtualKeyCode": key.number,
        "modifiers": key.modifiers,
    });
    if let Some(text) = &key.text {
        event["text"] = text.as_str().into();
        event["unmodifiedText"] = text.as_str().into();
    }
    if key.is_repeat {
        event["autoRepeat"] = true.into();
    }
    event
}

fn mouse_event(mouse: &MouseInput) -> Value {
    let kind = match mouse.kind {
        MouseKind::Moved => "mouseMoved",
        MouseKind::Pressed => "mousePressed",
        MouseKind::Released => "mouseReleased",
    };
    let button = match mouse.button {
        None => "none",
        Some(Button::Left) => "left",
        Some(Button::Right) => "right",
        Some(Button::Middle) => "middle",
    };
    // The bit of a button that is held.
    let buttons = match mouse.button {
        Some(_) if mouse.kind == MouseKind::Released => 0,
        None => 0,
        Some(Button::Left) => 1,
        Some(Button::Right) => 2,
        Some(Button::Middle) => 4,
    };
    json!({
        "type": kind, "x": mouse.at.x, "y": mouse.at.y, "button": button, "buttons": buttons,
        "clickCount": mouse.clicks, "modifiers": mouse.modifiers,
        "force": if buttons == 0 { 0.0 } else { PRESSURE },
    })
}

fn touch(kind: &str, at: Option<Spot>) -> Command {
    let points: Vec<Value> = at.iter().map(|at| json!({"x": at.x, "y": at.y, "force": PRESSURE})).collect();
    ("Input.dispatchTouchEvent", json!({"type": kind, "touchPoints": points}))
}

/// Chromium recognizes a long press, which opens a context menu instead of clicking, only in touches that it makes of mouse
/// events itself. This command takes whole numbers only.
fn emulated_touch(kind: &str, at: Spot) -> Command {
    let (x, y) = (at.x.round() as i64, at.y.round() as i64);
    let event = json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1});
    ("Input.emulateTouchFromMouseEvent", event)
}

/// Whether mouse events become touches.
fn emit_touches(enabled: bool) -> Command {
    ("Emulation.setEmitTouchEventsForMouse", json!({"enabled": enabled, "configuration": "mobile"}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::keys::Chord;

    fn sent(chord: &str) -> Vec<String> {
        let one = |event: &Value| {
            let text = |key: &str| event[key].as_str().unwrap_or("null").to_string();
            format!("{} {} {} {}", text("type"), text("key"), event["modifiers"], text("text"))
        };
        Chord::parse(chord).unwrap().events().iter().map(|key| one(&key_event(key))).collect()
    }

    #[test]
    fn keys_that_type_nothing_are_raw() {
        assert_eq!(
            sent("Control+k"),
            ["rawKeyDown Control 2 null", "rawKeyDown k 2 null", "keyUp k 2 null", "keyUp Control 0 null"]
        );
        assert_eq!(sent("Enter"), ["keyDown Enter 0 \r", "keyUp Enter 0 null"]);
        assert_eq!(sent("?")[1], "keyDown ? 8 ?");
        assert_eq!(sent("Shift+ArrowDown")[1], "rawKeyDown ArrowDown 8 null");
    }

    #[test]
    fn a_long_press_is_a_touch_that_the_browser_makes_of_the_mouse() {
        let at = Spot { x: 1.4, y: 2.6 };
        let press = [TouchInput::Hold(at), TouchInput::Release(at), TouchInput::EndHold].map(BrowserInput::Touch);
        let sent: Vec<Vec<String>> = commands(&press)
            .iter()
            .map(|group| group.iter().map(|(method, params)| format!("{method} {params}")).collect())
            .collect();
        let (emit, touch) = ("Emulation.setEmitTouchEventsForMouse", "Input.emulateTouchFromMouseEvent");
        let touch = |kind: &str| {
            let params = json!({"type": kind, "x": 1, "y": 3, "button": "left", "clickCount": 1});
            format!("{touch} {params}")
        };
        let emit = |enabled: bool| format!("{emit} {}", json!({"enabled": enabled, "configuration": "mobile"}));
        // A change of what is emulated ends the gesture, so that it changes only before and after.
        let expected = [vec![emit(true)], vec![touch("mousePressed")], vec![touch("mouseReleased"), emit(false)]];
        assert_eq!(sent, expected);
    }
}
