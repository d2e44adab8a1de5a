//! Input as actions of the protocol: one command for everything that arrives together.

use serde_json::{Value, json};
use trailblaze_core::driver::Button;

use super::super::input::{BrowserInput, KeyInput, MouseInput, MouseKind, Spot, TouchInput};

/// The ids of our input devices.
const KEYBOARD: &str = "keyboard";
const MOUSE: &str = "mouse";
const FINGER: &str = "finger";
const WHEEL: &str = "wheel";

/// Keys that have a code of their own in the protocol: as in `KeyboardEvent`, and the code.
const CODES: [(&str, char); 30] = [
    ("Backspace", '\u{E003}'),
    ("Tab", '\u{E004}'),
    // The one beside the letters; U+E007 is that of the number pad.
    ("Enter", '\u{E006}'),
    ("Shift", '\u{E008}'),
    ("Control", '\u{E009}'),
    ("Alt", '\u{E00A}'),
    ("Escape", '\u{E00C}'),
    ("PageUp", '\u{E00E}'),
    ("PageDown", '\u{E00F}'),
    ("End", '\u{E010}'),
    ("Home", '\u{E011}'),
    ("ArrowLeft", '\u{E012}'),
    ("ArrowUp", '\u{E013}'),
    ("ArrowRight", '\u{E014}'),
    ("ArrowDown", '\u{E015}'),
    ("Insert", '\u{E016}'),
    ("Delete", '\u{E017}'),
    ("F1", '\u{E031}'),
    ("F2", '\u{E032}'),
    ("F3", '\u{E033}'),
    ("F4", '\u{E034}'),
    ("F5", '\u{E035}'),
    ("F6", '\u{E036}'),
    ("F7", '\u{E037}'),
    ("F8", '\u{E038}'),
    ("F9", '\u{E039}'),
    ("F10", '\u{E03A}'),
    ("F11", '\u{E03B}'),
    ("F12", '\u{E03C}'),
    ("Meta", '\u{E03D}'),
];

/// The parameter `actions` of `input.performActions`: what one device does, one after the other, while the others pause.
pub fn actions(inputs: &[&BrowserInput]) -> Value {
    let steps: Vec<(&str, Value)> = inputs.iter().flat_map(|input| steps(input)).collect();
    let mut sources: Vec<Value> = Vec::new();
    for (device, kind, parameters) in [
        (KEYBOARD, "key", Value::Null),
        (MOUSE, "pointer", json!({"pointerType": "mouse"})),
        (FINGER, "pointer", json!({"pointerType": "touch"})),
        (WHEEL, "wheel", Value::Null),
    ] {
        let Some(last) = steps.iter().rposition(|(of, _)| *of == device) else { continue };
        let pause = || json!({"type": "pause"});
        let own = steps[..=last].iter().map(|(of, step)| if *of == device { step.clone() } else { pause() });
        let mut source = json!({"type": kind, "id": device, "actions": own.collect::<Vec<Value>>()});
        if !parameters.is_null() {
            source["parameters"] = parameters;
        }
        sources.push(source);
    }
    sources.into()
}

/// What a device does for an input.
fn steps(input: &BrowserInput) -> Vec<(&'static str, Value)> {
    match input {
        BrowserInput::Key(key) => vec![(KEYBOARD, key_step(key))],
        BrowserInput::Mouse(mouse) => mouse_steps(mouse).into_iter().map(|step| (MOUSE, step)).collect(),
        BrowserInput::Touch(touch) => touch_steps(*touch).into_iter().map(|step| (FINGER, step)).collect(),
        BrowserInput::Wheel { at, by, .. } => {
            let step = json!({"type": "scroll", "x": at.x, "y": at.y, "deltaX": by.0, "deltaY": by.1});
            vec![(WHEEL, step)]
        }
        // Inserted by a script.
        BrowserInput::Text(_) => Vec::new(),
    }
}

/// Keys that type a text one after the other. None types a line break.
pub fn typing(text: &str) -> Value {
    let sign = |sign: char| if sign == '\n' { '\u{E006}' } else { sign };
    let strokes = text.chars().map(sign).flat_map(|sign| {
        let value = sign.to_string();
        [json!({"type": "keyDown", "value": value}), json!({"type": "keyUp", "value": value})]
    });
    json!([{"type": "key", "id": KEYBOARD, "actions": strokes.collect::<Vec<Value>>()}])
}

fn key_step(key: &KeyInput) -> Value {
    let code = CODES.iter().find(|(name, _)| *name == key.key).map(|(_, code)| code.to_string());
    // Keys without a code are named by what they type.
    let value = code.unwrap_or_else(|| key.key.clone());
    json!({"type": if key.is_down { "keyDown" } else { "keyUp" }, "value": value})
}

fn move_to(at: Spot) -> Value {
    json!({"type": "pointerMove", "x": at.x, "y": at.y})
}

fn mouse_steps(mouse: &MouseInput) -> Vec<Value> {
    let button = match mouse.button {
        None | Some(Button::Left) => 0,
        Some(Button::Middle) => 1,
        Some(Button::Right) => 2,
    };
    match mouse.kind {
        MouseKind::Moved => vec![move_to(mouse.at)],
        MouseKind::Pressed => vec![json!({"type": "pointerDown", "button": button})],
        MouseKind::Released => vec![json!({"type": "pointerUp", "button": button})],
    }
}

fn touch_steps(touch: TouchInput) -> Vec<Value> {
    let down = json!({"type": "pointerDown", "button": 0});
    let up = json!({"type": "pointerUp", "button": 0});
    match touch {
        TouchInput::Start(at) | TouchInput::Hold(at) => vec![move_to(at), down],
        TouchInput::Move(at) => vec![move_to(at)],
        TouchInput::End => vec![up],
        TouchInput::Release(at) => vec![move_to(at), up],
        TouchInput::EndHold | TouchInput::EndGesture => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use trailblaze_protocol::geometry::Point;

    use super::*;
    use crate::web::keys::Chord;

    fn shown(source: &Value) -> Vec<String> {
        let one = |step: &Value| {
            let value = step.get("value").and_then(Value::as_str).unwrap_or_default().escape_unicode().to_string();
            format!("{} {value}", step["type"].as_str().unwrap_or_default())
        };
        source["actions"].as_array().unwrap().iter().map(one).collect()
    }

    #[test]
    fn keys_are_named_by_their_code_or_by_what_they_type() {
        let inputs: Vec<BrowserInput> =
            Chord::parse("Control+k").unwrap().events().into_iter().map(BrowserInput::Key).collect();
        let all = actions(&inputs.iter().collect::<Vec<_>>());
        assert_eq!(all.as_array().unwrap().len(), 1);
        assert_eq!(shown(&all[0]), [r"keyDown \u{e009}", r"keyDown \u{6b}", r"keyUp \u{6b}", r"keyUp \u{e009}"]);
    }

    #[test]
    fn devices_act_one_after_the_other() {
        let at = Spot { x: 1.5, y: 2.0 };
        let mouse = |kind, button| BrowserInput::Mouse(MouseInput { kind, at, button, clicks: 1, modifiers: 0 });
        let shift = Chord::parse("Shift").unwrap();
        let mut inputs: Vec<BrowserInput> = shift.down().into_iter().map(BrowserInput::Key).collect();
        inputs.push(mouse(MouseKind::Moved, None));
        inputs.push(mouse(MouseKind::Pressed, Some(Button::Right)));
        let all = actions(&inputs.iter().collect::<Vec<_>>());
        assert_eq!(shown(&all[0]), [r"keyDown \u{e008}"]);
        assert_eq!(shown(&all[1]), ["pause ", "pointerMove ", "pointerDown "]);
        assert_eq!(all[1]["actions"][1]["x"], 1.5);
        assert_eq!(all[1]["actions"][2]["button"], 2);
    }

    #[test]
    fn the_wheel_turns_at_a_point() {
        let wheel = BrowserInput::Wheel { at: Point { x: 3, y: 4 }, by: (0, 50), speed: 1 };
        let all = actions(&[&wheel]);
        assert_eq!(all[0]["actions"][0], json!({"type": "scroll", "x": 3, "y": 4, "deltaX": 0, "deltaY": 50}));
    }
}
