//! Keyboard keys as a browser knows them.

use trailblaze_core::driver::Modifier;

use super::input::{KeyInput, Modifiers};

/// A key: its name, its code, its number, and the text that it types.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyDefinition {
    key: String,
    code: String,
    number: u32,
    text: Option<String>,
    /// The bit of a modifier key.
    bit: u32,
}

const SHIFT: u32 = 8;

/// Name, number, text.
const NAMED: [(&str, u32, Option<&str>); 27] = [
    ("Enter", 13, Some("\r")),
    ("Tab", 9, None),
    ("Escape", 27, None),
    ("Backspace", 8, None),
    ("Delete", 46, None),
    ("Insert", 45, None),
    ("Home", 36, None),
    ("End", 35, None),
    ("PageUp", 33, None),
    ("PageDown", 34, None),
    ("ArrowLeft", 37, None),
    ("ArrowUp", 38, None),
    ("ArrowRight", 39, None),
    ("ArrowDown", 40, None),
    ("F1", 112, None),
    ("F2", 113, None),
    ("F3", 114, None),
    ("F4", 115, None),
    ("F5", 116, None),
    ("F6", 117, None),
    ("F7", 118, None),
    ("F8", 119, None),
    ("F9", 120, None),
    ("F10", 121, None),
    ("F11", 122, None),
    ("F12", 123, None),
    ("ContextMenu", 93, None),
];

/// Name, code, number, bit.
const MODIFIERS: [(&str, &str, u32, u32); 4] = [
    ("Alt", "AltLeft", 18, 1),
    ("Control", "ControlLeft", 17, 2),
    ("Meta", "MetaLeft", 91, 4),
    ("Shift", "ShiftLeft", 16, SHIFT),
];

/// Code, number, text, text with shift.
const SIGNS: [(&str, u32, char, char); 21] = [
    ("Digit1", 49, '1', '!'),
    ("Digit2", 50, '2', '@'),
    ("Digit3", 51, '3', '#'),
    ("Digit4", 52, '4', '$'),
    ("Digit5", 53, '5', '%'),
    ("Digit6", 54, '6', '^'),
    ("Digit7", 55, '7', '&'),
    ("Digit8", 56, '8', '*'),
    ("Digit9", 57, '9', '('),
    ("Digit0", 48, '0', ')'),
    ("Minus", 189, '-', '_'),
    ("Equal", 187, '=', '+'),
    ("BracketLeft", 219, '[', '{'),
    ("BracketRight", 221, ']', '}'),
    ("Backslash", 220, '\\', '|'),
    ("Semicolon", 186, ';', ':'),
    ("Quote", 222, '\'', '"'),
    ("Comma", 188, ',', '<'),
    ("Period", 190, '.', '>'),
    ("Slash", 191, '/', '?'),
    ("Backquote", 192, '`', '~'),
];

impl KeyDefinition {
    /// The key that types a character, and whether it needs shift.
    pub fn typing(sign: char) -> Option<(KeyDefinition, bool)> {
        let own = |code: String, number: u32| KeyDefinition {
            key: sign.to_string(),
            code,
            number,
            text: Some(sign.to_string()),
            bit: 0,
        };
        match sign {
            'a'..='z' | 'A'..='Z' => {
                let capital = sign.to_ascii_uppercase();
                Some((own(format!("Key{capital}"), u32::from(capital)), sign.is_ascii_uppercase()))
            }
            ' ' => Some((own("Space".to_string(), 32), false)),
            '\n' => KeyDefinition::named("Enter").map(|key| (key, false)),
            _ => SIGNS
                .iter()
                .find(|row| row.2 == sign || row.3 == sign)
                .map(|row| (own(row.0.to_string(), row.1), row.3 == sign)),
        }
    }

    fn named(name: &str) -> Option<KeyDefinition> {
        let alias = match name.to_ascii_lowercase().as_str() {
            "esc" => "Escape",
            "return" => "Enter",
            "del" => "Delete",
            "up" => "ArrowUp",
            "down" => "ArrowDown",
            "left" => "ArrowLeft",
            "right" => "ArrowRight",
            "page_up" => "PageUp",
            "page_down" => "PageDown",
            _ => name,
        };
        let row = NAMED.iter().find(|row| row.0.eq_ignore_ascii_case(alias))?;
        let text = row.2.map(str::to_string);
        Some(KeyDefinition { key: row.0.to_string(), code: row.0.to_string(), number: row.1, text, bit: 0 })
    }

    fn modifier(name: &str) -> Option<KeyDefinition> {
        let alias = match name.to_ascii_lowercase().as_str() {
            "ctrl" => "Control",
            "cmd" | "command" | "super" => "Meta",
            "option" => "Alt",
            "controlormeta" if cfg!(target_os = "macos") => "Meta",
            "controlormeta" => "Control",
            _ => name,
        };
        let row = MODIFIERS.iter().find(|row| row.0.eq_ignore_ascii_case(alias))?;
        Some(KeyDefinition { key: row.0.to_string(), code: row.1.to_string(), number: row.2, text: None, bit: row.3 })
    }

    /// The key goes down or up while these modifiers are down.
    fn input(&self, is_down: bool, modifiers: Modifiers) -> KeyInput {
        // With a modifier other than shift, a key is a command and types nothing.
        let types = is_down && modifiers & !SHIFT == 0;
        KeyInput {
            is_down,
            is_repeat: false,
            key: self.key.clone(),
            code: self.code.clone(),
            number: self.number,
            text: self.text.clone().filter(|_| types),
            modifiers,
        }
    }
}

/// Keys held together, with the last one struck: `Control+Shift+K`.
#[derive(Debug, Clone, PartialEq)]
pub struct Chord {
    held: HeldKeys,
    struck: KeyDefinition,
}

impl Chord {
    /// Parses a chord. The error is a message for the user.
    pub fn parse(text: &str) -> Result<Chord, String> {
        // A plus at the end is the key itself.
        let (names, last) = match text.strip_suffix("++") {
            Some(rest) => (rest.split('+').collect::<Vec<_>>(), "+"),
            None if text == "+" => (Vec::new(), "+"),
            None => {
                let mut names: Vec<&str> = text.split('+').map(str::trim).collect();
                let last = names.pop().unwrap_or_default();
                (names, last)
            }
        };
        let unknown = |name: &str| {
            format!("`{name}` in `{text}` is not a key; examples are `Enter`, `ArrowDown`, `F5`, `a` and `Control+K`")
        };
        let held: Result<Vec<KeyDefinition>, String> =
            names.iter().map(|name| KeyDefinition::modifier(name).ok_or_else(|| unknown(name))).collect();
        let mut held = held?;
        let mut signs = last.chars();
        let one = signs.next().filter(|_| signs.as_str().is_empty());
        let named = KeyDefinition::named(last).or_else(|| KeyDefinition::modifier(last));
        let space = last.eq_ignore_ascii_case("space").then_some(' ');
        let struck = match (named, one.or(space)) {
            (Some(key), _) => key,
            (None, Some(sign)) => {
                let (key, needs_shift) = KeyDefinition::typing(sign).ok_or_else(|| unknown(last))?;
                let is_shifted = held.iter().any(|key| key.bit == SHIFT);
                // `Control+K` means the key, not a capital letter.
                if needs_shift && !is_shifted && held.is_empty() {
                    held.extend(KeyDefinition::modifier("Shift"));
                }
                key
            }
            (None, None) => return Err(unknown(last)),
        };
        Ok(Chord { held: HeldKeys(held), struck })
    }

    /// A character to type.
    pub fn typing(sign: char) -> Option<Chord> {
        let (struck, needs_shift) = KeyDefinition::typing(sign)?;
        Some(Chord {
            held: HeldKeys(KeyDefinition::modifier("Shift").filter(|_| needs_shift).into_iter().collect()),
            struck,
        })
    }

    /// A key from the table.
    pub fn of(name: &str) -> Chord {
        Chord { held: HeldKeys::default(), struck: KeyDefinition::named(name).expect("the table has it") }
    }

    /// Presses all keys and releases them.
    pub fn events(&self) -> Vec<KeyInput> {
        [self.down(), self.up()].concat()
    }

    pub fn down(&self) -> Vec<KeyInput> {
        self.held.down().chain([self.struck_down()]).collect()
    }

    pub fn up(&self) -> Vec<KeyInput> {
        [self.struck.input(false, self.held.bits())].into_iter().chain(self.held.up()).collect()
    }

    /// The last key is pressed again without having been released.
    pub fn repeat(&self) -> KeyInput {
        KeyInput { is_repeat: true, ..self.struck_down() }
    }

    fn struck_down(&self) -> KeyInput {
        self.struck.input(true, self.held.bits())
    }
}

/// Modifiers held during another action.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HeldKeys(Vec<KeyDefinition>);

impl HeldKeys {
    pub fn of(modifiers: &[Modifier]) -> HeldKeys {
        HeldKeys(
            modifiers
                .iter()
                .filter_map(|modifier| KeyDefinition::modifier(&modifier.name().replace('_', "")))
                .collect(),
        )
    }

    /// All modifiers, in the format of pointer and key events.
    pub fn bits(&self) -> Modifiers {
        self.0.iter().fold(0, |bits, key| bits | key.bit)
    }

    pub fn down(&self) -> impl Iterator<Item = KeyInput> {
        let mut bits = 0;
        self.0.iter().map(move |key| {
            bits |= key.bit;
            key.input(true, bits)
        })
    }

    pub fn up(&self) -> impl Iterator<Item = KeyInput> {
        let mut bits = self.bits();
        self.0.iter().rev().map(move |key| {
            bits &= !key.bit;
            key.input(false, bits)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(chord: &str) -> Vec<String> {
        let one = |input: &KeyInput| {
            let how = if input.is_down { "down" } else { "up" };
            format!("{} {how} {} {:?}", input.key, input.modifiers, input.text)
        };
        Chord::parse(chord).unwrap().events().iter().map(one).collect()
    }

    #[test]
    fn chords_hold_their_modifiers_around_the_key() {
        assert_eq!(inputs("Control+k"), ["Control down 2 None", "k down 2 None", "k up 2 None", "Control up 0 None"]);
        assert_eq!(inputs("Enter"), ["Enter down 0 Some(\"\\r\")", "Enter up 0 None"]);
        assert_eq!(inputs("?")[1], "? down 8 Some(\"?\")");
        assert_eq!(inputs("Control++")[1], "+ down 2 None");
        assert_eq!(inputs("ctrl+Shift+Esc").len(), 6);
    }

    #[test]
    fn an_unknown_key_is_named() {
        let error = Chord::parse("Contrl+K").unwrap_err();
        assert!(error.starts_with("`Contrl` in `Contrl+K` is not a key"), "{error}");
        assert!(Chord::parse("").is_err());
        assert!(Chord::parse("Hyper").is_err());
    }
}
