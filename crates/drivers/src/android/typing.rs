//! Text and keys, and the commands of the phone's shell for them.

use trailblaze_core::driver::{DriverError, Key};
use trailblaze_core::screen::Node;

use super::adb::quote;

/// The longest text in one command, and the most commands in one request.
const CHARS: usize = 400;
const COMMANDS: usize = 20;
/// The most keys in one command.
const KEYS: usize = 100;

pub const DELETE: &str = "KEYCODE_DEL";
const DELETE_AFTER: &str = "KEYCODE_FORWARD_DEL";
const TO_END: &str = "KEYCODE_MOVE_END";

pub fn key_code(key: Key) -> &'static str {
    match key {
        Key::Back => "KEYCODE_BACK",
        Key::Enter => "KEYCODE_ENTER",
        Key::Home => "KEYCODE_HOME",
        Key::Backspace => DELETE,
        Key::Tab => "KEYCODE_TAB",
        Key::Escape => "KEYCODE_ESCAPE",
        Key::VolumeUp => "KEYCODE_VOLUME_UP",
        Key::VolumeDown => "KEYCODE_VOLUME_DOWN",
        Key::Power => "KEYCODE_POWER",
        Key::AppSwitch => "KEYCODE_APP_SWITCH",
    }
}

pub fn press(keys: &[&str]) -> String {
    format!("input keyevent {}", keys.join(" "))
}

/// The requests that type a text. `input text` presses the keys of a virtual keyboard, which has only those of ASCII.
pub fn type_text(text: &str) -> Result<Vec<String>, DriverError> {
    let text = text.replace("\r\n", "\n");
    let is_typed = |sign: &char| matches!(sign, ' '..='~' | '\n' | '\t');
    let mut foreign: Vec<char> = text.chars().filter(|sign| !is_typed(sign)).collect();
    foreign.dedup();
    if !foreign.is_empty() {
        return Err(DriverError::Refused { reason: cannot_type(&foreign) });
    }
    let mut commands = Vec::new();
    for part in text.split_inclusive(['\n', '\t']) {
        let typed = part.trim_end_matches(['\n', '\t']);
        commands.extend(pieces(typed).into_iter().map(|piece| format!("input text {}", quote(&piece))));
        match part.chars().next_back() {
            Some('\n') => commands.push(press(&[key_code(Key::Enter)])),
            Some('\t') => commands.push(press(&[key_code(Key::Tab)])),
            _ => {}
        }
    }
    Ok(commands.chunks(COMMANDS).map(|some| some.join(" && ")).collect())
}

/// The characters themselves may be part of a secret, so that only their number is said.
fn cannot_type(foreign: &[char]) -> String {
    let count = foreign.len();
    format!(
        "this text has {count} character{} outside of ASCII, such as umlauts or emoji, and Android's `input text` cannot type them; \
         nothing was typed; `looking: fast` in the entry of this device can type them",
        if count == 1 { "" } else { "s" }
    )
}

/// The text as arguments of `input text`, for which `%s` is a space. A `%s` that is meant is split over two of them.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut previous = None;
    let mut count = 0;
    for sign in text.chars() {
        if (previous, sign) == (Some('%'), 's') || count == CHARS {
            pieces.push(String::new());
            count = 0;
        }
        if let Some(piece) = pieces.last_mut() {
            match sign {
                ' ' => piece.push_str("%s"),
                sign => piece.push(sign),
            }
        }
        previous = Some(sign);
        count += 1;
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// The keys, by request, that erase so many characters before the end of the focused field, or all of it, wherever the cursor is.
pub fn erase(length: usize, count: Option<u32>) -> Vec<Vec<&'static str>> {
    let count = count.map(|count| usize::try_from(count).unwrap_or(usize::MAX));
    let mut keys = vec![TO_END];
    keys.extend(std::iter::repeat_n(DELETE, count.unwrap_or(length).min(length)));
    // The end that the key means is that of a line.
    if count.is_none() {
        keys.extend(std::iter::repeat_n(DELETE_AFTER, length));
    }
    keys.chunks(KEYS).map(<[_]>::to_vec).collect()
}

/// How many characters the focused field has; `None` if no field has the focus.
pub fn focused_length(root: &Node) -> Option<usize> {
    let field = root.walk().find(|node| node.is_focused() && node.is_editable())?;
    Some(field.props.text(trailblaze_core::screen::Field::Text).map_or(0, |text| text.chars().count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> String {
        type_text(text).expect("it can be typed").join("\n")
    }

    #[test]
    fn text_survives_the_shell_and_the_command() {
        assert_eq!(typed("Ada Lovelace"), "input text 'Ada%sLovelace'");
        assert_eq!(typed("it's $HOME"), r"input text 'it'\''s%s$HOME'");
        assert_eq!(typed("100%sure"), "input text '100%' && input text sure");
        assert_eq!(
            typed("a\nb\t"),
            "input text a && input keyevent KEYCODE_ENTER && input text b && input keyevent KEYCODE_TAB"
        );
        assert_eq!(typed(""), "");
    }

    #[test]
    fn long_texts_are_typed_in_parts() {
        let text = "x".repeat(CHARS * COMMANDS + 1);
        let requests = type_text(&text).expect("it can be typed");
        assert_eq!(requests.len(), 2);
        assert_eq!(requests.join("").matches('x').count() - requests.join("").matches("text").count(), text.len());
    }

    #[test]
    fn what_android_cannot_type_is_refused_before_anything_is_typed() {
        let error = type_text("Grüße 😀").expect_err("it cannot").to_string();
        assert!(error.starts_with("this text has 3 characters outside of ASCII"), "{error}");
        assert!(!error.contains('ü'), "it may be part of a secret");
    }

    #[test]
    fn erasing_reaches_both_sides_of_the_cursor() {
        assert_eq!(erase(5, Some(2)), [[TO_END, DELETE, DELETE]]);
        assert_eq!(erase(0, None), [[TO_END]]);
        assert_eq!(erase(1, None), [[TO_END, DELETE, DELETE_AFTER]]);
        assert_eq!(press(&[TO_END, DELETE]), "input keyevent KEYCODE_MOVE_END KEYCODE_DEL");
        assert_eq!(erase(200, Some(9)).len(), 1);
        assert_eq!(erase(200, None).len(), 5);
    }
}
