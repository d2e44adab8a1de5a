//! Colours by name or as `#rrggbb`.

use serde_json::{Value, json};
use trailblaze_core::yaml::{Decode, Problems, YamlNode};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour {
    pub red: u8,
    pub green: u8,
    pub blue: u8,
}

impl Colour {
    pub const fn rgb(code: u32) -> Colour {
        Colour { red: (code >> 16) as u8, green: (code >> 8) as u8, blue: code as u8 }
    }
}

const NAMES: &[(&str, Colour)] = &[
    ("black", Colour::rgb(0x1b1b1f)),
    ("grey", Colour::rgb(0x5f6368)),
    ("white", Colour::rgb(0xffffff)),
    ("red", Colour::rgb(0xb3261e)),
    ("orange", Colour::rgb(0xe8710a)),
    ("yellow", Colour::rgb(0xf9ab00)),
    ("green", Colour::rgb(0x188038)),
    ("teal", Colour::rgb(0x00796b)),
    ("blue", Colour::rgb(0x0b57d0)),
    ("purple", Colour::rgb(0x6750a4)),
    ("pink", Colour::rgb(0xc2185b)),
];

impl Decode for Colour {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        let text = String::decode(node, problems)?;
        let named = NAMES.iter().find(|(name, _)| *name == text).map(|(_, colour)| *colour);
        let colour = named.or_else(|| from_hex(&text));
        if colour.is_none() {
            problems.unknown(node.span, "colour", &text, NAMES.iter().map(|(name, _)| *name).chain(["#rrggbb"]));
        }
        colour
    }

    fn schema() -> Value {
        let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
        json!({"anyOf": [{"enum": names}, {"type": "string", "pattern": "^#[0-9a-fA-F]{6}$"}]})
    }
}

fn from_hex(text: &str) -> Option<Colour> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    u32::from_str_radix(digits, 16).ok().map(Colour::rgb)
}
