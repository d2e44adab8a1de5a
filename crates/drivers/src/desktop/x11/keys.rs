//! Keys by their names, and which keys type a text.

/// Keys that have names. The numbers are those of X.
const NAMED: [(&str, u32); 42] = [
    ("Alt", 0xffe9),
    ("AltGraph", 0xfe03),
    ("ArrowDown", 0xff54),
    ("ArrowLeft", 0xff51),
    ("ArrowRight", 0xff53),
    ("ArrowUp", 0xff52),
    ("Back", 0xff1b),
    ("Backspace", 0xff08),
    ("CapsLock", 0xffe5),
    ("ContextMenu", 0xff67),
    ("Control", 0xffe3),
    ("ControlOrMeta", 0xffe3),
    ("Ctrl", 0xffe3),
    ("Delete", 0xffff),
    ("Down", 0xff54),
    ("End", 0xff57),
    ("Enter", 0xff0d),
    ("Esc", 0xff1b),
    ("Escape", 0xff1b),
    ("Home", 0xff50),
    ("Insert", 0xff63),
    ("Left", 0xff51),
    ("Menu", 0xff67),
    ("Meta", 0xffeb),
    ("Minus", 0x2d),
    ("PageDown", 0xff56),
    ("PageUp", 0xff55),
    ("Pause", 0xff13),
    ("Plus", 0x2b),
    ("Print", 0xff61),
    ("PrintScreen", 0xff61),
    ("Return", 0xff0d),
    ("Right", 0xff53),
    ("Shift", 0xffe1),
    ("Space", 0x20),
    ("Super", 0xffeb),
    ("Tab", 0xff09),
    ("Up", 0xff52),
    ("CONTROL_OR_META", 0xffe3),
    ("Option", 0xffe9),
    ("Command", 0xffeb),
    ("Win", 0xffeb),
];
/// Which of them are held while another is pressed.
const MODIFIERS: [u32; 5] = [0xffe1, 0xffe3, 0xffe9, 0xffeb, 0xfe03];

/// A key: the symbol that it types, such as 0x61 for `a`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyStroke(pub u32);

/// Keys that are held, and one that is pressed meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyChord {
    pub held: Vec<KeyStroke>,
    pub key: KeyStroke,
}

/// Reads a key combination, such as `Control+Shift+S`. `Err` names the key that is unknown.
pub fn chord_of(text: &str) -> Result<KeyChord, String> {
    let mut names: Vec<&str> = match text.strip_suffix("++") {
        Some(rest) => rest.split('+').chain(["+"]).collect(),
        None if text == "+" => vec!["+"],
        None => text.split('+').collect(),
    };
    let last = names.pop().unwrap_or_default();
    let mut held = Vec::new();
    for name in names {
        let key = key_of(name).filter(|key| MODIFIERS.contains(&key.0));
        held.push(key.ok_or_else(|| name.to_string())?);
    }
    let mut key = key_of(last).ok_or_else(|| last.to_string())?;
    // With others held, `Control+S` means the key of the letter.
    if !held.is_empty() && (0x41..=0x5a).contains(&key.0) {
        key.0 += 0x20;
    }
    Ok(KeyChord { held, key })
}

fn key_of(name: &str) -> Option<KeyStroke> {
    let name = match name {
        " " => name,
        _ => name.trim(),
    };
    let mut signs = name.chars();
    if let (Some(sign), None) = (signs.next(), signs.next()) {
        return stroke_of(sign);
    }
    let number = name.strip_prefix(['F', 'f']).and_then(|number| number.parse::<u32>().ok());
    if let Some(number) = number.filter(|number| (1..=24).contains(number)) {
        return Some(KeyStroke(0xffbe + number - 1));
    }
    let folded = |text: &str| text.replace(['_', ' '], "").to_ascii_lowercase();
    NAMED.iter().find(|(known, _)| folded(known) == folded(name)).map(|(_, symbol)| KeyStroke(*symbol))
}

/// The keys that type a text.
pub fn strokes_of(text: &str) -> Vec<KeyStroke> {
    text.replace("\r\n", "\n").chars().filter_map(stroke_of).collect()
}

fn stroke_of(sign: char) -> Option<KeyStroke> {
    let code = u32::from(sign);
    Some(KeyStroke(match sign {
        '\n' | '\r' => 0xff0d,
        '\t' => 0xff09,
        '\u{8}' => 0xff08,
        _ if sign.is_control() => return None,
        // The first symbols are those of Latin-1; the others are Unicode with a mark.
        _ if (0x20..=0x7e).contains(&code) || (0xa0..=0xff).contains(&code) => code,
        _ => 0x0100_0000 | code,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chord(text: &str) -> Result<(Vec<u32>, u32), String> {
        chord_of(text).map(|chord| (chord.held.iter().map(|key| key.0).collect(), chord.key.0))
    }

    #[test]
    fn a_chord_is_read_by_the_names_of_its_keys() {
        assert_eq!(chord("Control+Shift+S"), Ok((vec![0xffe3, 0xffe1], 0x73)));
        assert_eq!(chord("ctrl+F4"), Ok((vec![0xffe3], 0xffc1)));
        assert_eq!(chord("PAGE_DOWN"), Ok((vec![], 0xff56)));
        assert_eq!(chord("S"), Ok((vec![], 0x53)));
        assert_eq!(chord("+"), Ok((vec![], 0x2b)));
        assert_eq!(chord("Control++"), Ok((vec![0xffe3], 0x2b)));
        assert_eq!(chord("Hyper+S"), Err("Hyper".to_string()));
        assert_eq!(chord("S+Control"), Err("S".to_string()));
        assert_eq!(chord("F99"), Err("F99".to_string()));
        assert_eq!(chord(""), Err(String::new()));
    }

    #[test]
    fn every_sign_has_a_key() {
        let symbols: Vec<u32> = strokes_of("aÄ€\r\n\u{7}😀").iter().map(|key| key.0).collect();
        assert_eq!(symbols, [0x61, 0xc4, 0x0100_20ac, 0xff0d, 0x0101_f600]);
    }
}
