//! Input as W3C actions: a tick for each event, in which the other sources pause.

use serde_json::{Value, json};
use trailblaze_core::driver::Button;

use super::super::input::{BrowserInput, KeyInput, MouseInput, MouseKind, Spot, TouchInput};

/// Where events of one kind come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InputSource {
    Keyboard,
    Mouse,
    Finger,
    Wheel,
}

const SOURCES: [InputSource; 4] = [InputSource::Keyboard, InputSource::Mouse, InputSource::Finger, InputSource::Wheel];

/// Parts of an input: actions that are sent together, or a text that is inserted.
#[derive(Debug, Clone, PartialEq)]
pub enum InputPart {
    Actions(Value),
    Text(String),
}

/// The parts of an input, in order. A browser that knows no parts of a pixel gets whole ones.
pub fn parts(inputs: &[BrowserInput], has_fractions: bool) -> Vec<InputPart> {
    let mut parts = Vec::new();
    let mut ticks: Vec<(InputSource, Value)> = Vec::new();
    let at = |spot: Spot| match has_fractions {
        true => (json!(spot.x), json!(spot.y)),
        false => (json!(spot.x.floor() as i64), json!(spot.y.floor() as i64)),
    };
    for input in inputs {
        match input {
            BrowserInput::Text(text) => {
                parts.extend(actions(std::mem::take(&mut ticks)));
                parts.push(InputPart::Text(text.clone()));
            }
            BrowserInput::Key(key) => ticks.push((InputSource::Keyboard, key_action(key))),
            BrowserInput::Mouse(mouse) => ticks.push((InputSource::Mouse, mouse_action(mouse, at(mouse.at)))),
            BrowserInput::Touch(touch) => {
                ticks.extend(touch_actions(*touch, at).into_iter().map(|action| (InputSource::Finger, action)));
            }
            BrowserInput::Wheel { at, by, speed } => {
                let millis = by.0.abs().max(by.1.abs()) * 1000 / speed.max(&1);
                ticks.push((
                    InputSource::Wheel,
                    json!({
                        "type": "scroll", "x": at.x, "y": at.y, "deltaX": by.0, "deltaY": by.1, "duration": millis,
                        "origin": "viewport",
                    }),
                ));
            }
        }
    }
    parts.extend(actions(ticks));
    parts
}

/// One list for each source that has something to do.
fn actions(ticks: Vec<(InputSource, Value)>) -> Option<InputPart> {
    let of = |source: InputSource| {
        let own = ticks.iter().map(|(from, action)| match *from == source {
            true => action.clone(),
            false => json!({"type": "pause", "duration": 0}),
        });
        let mut list = match source {
            InputSource::Keyboard => json!({"type": "key", "id": "keyboard"}),
            InputSource::Mouse => json!({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}}),
            InputSource::Finger => json!({"type": "pointer", "id": "finger", "parameters": {"pointerType": "touch"}}),
            InputSource::Wheel => json!({"type": "wheel", "id": "wheel"}),
        };
        list["actions"] = own.collect::<Vec<Value>>().into();
        list
    };
    let is_used = |source: &InputSource| ticks.iter().any(|(from, _)| from == source);
    let lists: Vec<Value> = SOURCES.into_iter().filter(is_used).map(of).collect();
    (!lists.is_empty()).then(|| InputPart::Actions(lists.into()))
}

fn key_action(key: &KeyInput) -> Value {
    let kind = if key.is_down { "keyDown" } else { "keyUp" };
    json!({"type": kind, "value": key_value(&key.key)})
}

/// The character that stands for a key.
fn key_value(key: &str) -> String {
    let code = match key {
        "Backspace" => 0xE003,
        "Tab" => 0xE004,
        "Enter" => 0xE007,
        "Shift" => 0xE008,
        "Control" => 0xE009,
        "Alt" => 0xE00A,
        "Escape" => 0xE00C,
        "PageUp" => 0xE00E,
        "PageDown" => 0xE00F,
        "End" => 0xE010,
        "Home" => 0xE011,
        "ArrowLeft" => 0xE012,
        "ArrowUp" => 0xE013,
        "ArrowRight" => 0xE014,
        "ArrowDown" => 0xE015,
        "Insert" => 0xE016,
        "Delete" => 0xE017,
        "Meta" => 0xE03D,
        _ => match key.strip_prefix('F').and_then(|number| number.parse::<u32>().ok()) {
            Some(number @ 1..=12) => 0xE030 + number,
            _ => return key.to_string(),
        },
    };
    char::from_u32(code).map(String::from).unwrap_or_default()
}

fn mouse_action(mouse: &MouseInput, (x, y): (Value, Value)) -> Value {
    let button = match mouse.button {
        None | Some(Button::Left) => 0,
        Some(Button::Middle) => 1,
        Some(Button::Right) => 2,
    };
    match mouse.kind {
        MouseKind::Moved => json!({"type": "pointerMove", "x": x, "y": y, "duration": 0, "origin": "viewport"}),
        MouseKind::Pressed => json!({"type": "pointerDown", "button": button}),
        MouseKind::Released => json!({"type": "pointerUp", "button": button}),
    }
}

fn touch_actions(touch: TouchInput, at: impl Fn(Spot) -> (Value, Value)) -> Vec<Value> {
    let go = |spot: Spot| {
        let (x, y) = at(spot);
        json!({"type": "pointerMove", "x": x, "y": y, "duration": 0, "origin": "viewport"})
    };
    match touch {
        TouchInput::Start(spot) | TouchInput::Hold(spot) => vec![go(spot), json!({"type": "pointerDown", "button": 0})],
        TouchInput::Move(spot) => vec![go(spot)],
        TouchInput::End | TouchInput::Release(_) => vec![json!({"type": "pointerUp", "button": 0})],
        // The browser ends gestures by itself.
        TouchInput::EndHold | TouchInput::EndGesture => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::keys::Chord;

    #[test]
    fn each_event_has_a_tick_in_which_the_other_sources_pause() {
        let mouse = |kind: MouseKind| {
            let at = Spot { x: 1.5, y: 2.0 };
            BrowserInput::Mouse(MouseInput { kind, at, button: Some(Button::Right), clicks: 1, modifiers: 8 })
        };
        let shift = Chord::parse("Shift").expect("a key");
        let mut inputs: Vec<BrowserInput> = shift.down().into_iter().map(BrowserInput::Key).collect();
        inputs.extend([mouse(MouseKind::Moved), mouse(MouseKind::Pressed), mouse(MouseKind::Released)]);
        inputs.push(BrowserInput::Text("ü".to_string()));
        let pause = json!({"type": "pause", "duration": 0});
        let moved = json!({"type": "pointerMove", "x": 1, "y": 2, "duration": 0, "origin": "viewport"});
        let [InputPart::Actions(sent), InputPart::Text(text)] = &parts(&inputs, false)[..] else { panic!("two parts") };
        assert_eq!(text, "ü");
        assert_eq!(sent[0]["actions"], json!([{"type": "keyDown", "value": "\u{E008}"}, pause, pause, pause]));
        assert_eq!(sent[1]["parameters"]["pointerType"], "mouse");
        let (down, up) = (json!({"type": "pointerDown", "button": 2}), json!({"type": "pointerUp", "button": 2}));
        assert_eq!(sent[1]["actions"], json!([pause, moved, down, up]));
        assert!(parts(&inputs, true)[0] != parts(&inputs, false)[0]);
    }

    #[test]
    fn keys_have_the_characters_of_the_standard() {
        assert_eq!(key_value("F12"), "\u{E03C}");
        assert_eq!(key_value("a"), "a");
        assert_eq!(key_value("F"), "F");
    }
}
