//! The codes of keys, and what they do or type.

use trailblaze_core::driver::Key;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KeyPress {
    /// A key that the simulated device has.
    Device(Key),
    Type(char),
    Power,
    Wake,
    Sleep,
    /// Also dismisses the lock screen.
    Menu,
    Control,
    Shift,
    Paste,
    /// A key without an effect here, such as one for the volume.
    Nothing,
}

/// The codes that have a name besides letters and digits, as in `android.view.KeyEvent`.
const NAMED: &[(&str, u32, KeyPress)] = &[
    ("HOME", 3, KeyPress::Device(Key::Home)),
    ("BACK", 4, KeyPress::Device(Key::Back)),
    ("STAR", 17, KeyPress::Type('*')),
    ("POUND", 18, KeyPress::Type('#')),
    ("DPAD_CENTER", 23, KeyPress::Device(Key::Enter)),
    ("VOLUME_UP", 24, KeyPress::Nothing),
    ("VOLUME_DOWN", 25, KeyPress::Nothing),
    ("POWER", 26, KeyPress::Power),
    ("COMMA", 55, KeyPress::Type(',')),
    ("PERIOD", 56, KeyPress::Type('.')),
    ("SHIFT_LEFT", 59, KeyPress::Shift),
    ("SHIFT_RIGHT", 60, KeyPress::Shift),
    ("TAB", 61, KeyPress::Device(Key::Tab)),
    ("SPACE", 62, KeyPress::Type(' ')),
    ("ENTER", 66, KeyPress::Device(Key::Enter)),
    ("DEL", 67, KeyPress::Device(Key::Backspace)),
    ("GRAVE", 68, KeyPress::Type('`')),
    ("MINUS", 69, KeyPress::Type('-')),
    ("EQUALS", 70, KeyPress::Type('=')),
    ("LEFT_BRACKET", 71, KeyPress::Type('[')),
    ("RIGHT_BRACKET", 72, KeyPress::Type(']')),
    ("BACKSLASH", 73, KeyPress::Type('\\')),
    ("SEMICOLON", 74, KeyPress::Type(';')),
    ("APOSTROPHE", 75, KeyPress::Type('\'')),
    ("SLASH", 76, KeyPress::Type('/')),
    ("AT", 77, KeyPress::Type('@')),
    ("PLUS", 81, KeyPress::Type('+')),
    ("MENU", 82, KeyPress::Menu),
    ("ESCAPE", 111, KeyPress::Device(Key::Escape)),
    ("CTRL_LEFT", 113, KeyPress::Control),
    ("CTRL_RIGHT", 114, KeyPress::Control),
    ("NUMPAD_ENTER", 160, KeyPress::Device(Key::Enter)),
    ("APP_SWITCH", 187, KeyPress::Nothing),
    ("SLEEP", 223, KeyPress::Sleep),
    ("WAKEUP", 224, KeyPress::Wake),
    ("PASTE", 279, KeyPress::Paste),
];

/// The key that a number or a name means. Android takes an unknown one for the key `UNKNOWN`, which does nothing.
pub fn key_press(text: &str) -> KeyPress {
    let name = text.strip_prefix("KEYCODE_").unwrap_or(text);
    let code = text.parse::<u32>().ok();
    let is_named = |(known, number, _): &&(&str, u32, KeyPress)| *known == name || code == Some(*number);
    if let Some((_, _, press)) = NAMED.iter().find(is_named) {
        return *press;
    }
    match (code, name.as_bytes()) {
        (Some(code @ 7..=16), _) => KeyPress::Type(char::from(b'0' + (code - 7) as u8)),
        (Some(code @ 29..=54), _) => KeyPress::Type(char::from(b'a' + (code - 29) as u8)),
        (None, [digit @ b'0'..=b'9']) => KeyPress::Type(char::from(*digit)),
        (None, [letter @ b'A'..=b'Z']) => KeyPress::Type(char::from(letter.to_ascii_lowercase())),
        _ => KeyPress::Nothing,
    }
}

/// Whether the keys of Android's virtual keyboard can type a character: those of a US keyboard, and three more with ALT.
pub fn can_type(c: char) -> bool {
    matches!(c, ' '..='~' | '\n' | '\t' | 'ç' | 'Ç' | 'ß')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_numbers_and_names() {
        for (text, expected) in [
            ("4", KeyPress::Device(Key::Back)),
            ("KEYCODE_BACK", KeyPress::Device(Key::Back)),
            ("BACK", KeyPress::Device(Key::Back)),
            ("7", KeyPress::Type('0')),
            ("KEYCODE_9", KeyPress::Type('9')),
            ("29", KeyPress::Type('a')),
            ("KEYCODE_Z", KeyPress::Type('z')),
            ("KEYCODE_NONSENSE", KeyPress::Nothing),
        ] {
            assert_eq!(key_press(text), expected, "{text}");
        }
    }
}
