//! The colours and corner radii of a platform.

use trailblaze_protocol::driver::Platform;

use crate::sim::app::Colour;

pub struct Theme {
    pub background: Colour,
    pub surface: Colour,
    pub bar: Colour,
    pub ink: Colour,
    pub quiet: Colour,
    pub outline: Colour,
    pub accent: Colour,
    /// A hint of the accent colour, for elements that can be pressed.
    pub tint: Colour,
    pub danger: Colour,
    pub on_accent: Colour,
    /// The corner radius of a button, a field and a card.
    pub button: f32,
    pub field: f32,
    pub card: f32,
}

impl Theme {
    pub fn of(platform: Platform, accent: Option<Colour>) -> Theme {
        let rgb = Colour::rgb;
        let (own_accent, background, bar, button, field, card) = match platform {
            Platform::Android => (rgb(0x6750a4), rgb(0xfdf8ff), rgb(0xfdf8ff), 24.0, 8.0, 20.0),
            Platform::Ios => (rgb(0x007aff), rgb(0xf2f2f7), rgb(0xf9f9fb), 14.0, 12.0, 14.0),
            Platform::Web => (rgb(0x1a73e8), rgb(0xf6f7fb), rgb(0xffffff), 8.0, 8.0, 12.0),
            Platform::Desktop => (rgb(0x00796b), rgb(0xf4f5f4), rgb(0xffffff), 6.0, 6.0, 10.0),
        };
        let accent = accent.unwrap_or(own_accent);
        Theme {
            background,
            surface: rgb(0xffffff),
            bar,
            ink: rgb(0x1c1b20),
            quiet: rgb(0x66646e),
            outline: rgb(0xd5d3de),
            accent,
            tint: mix(accent, background, 0.12),
            danger: rgb(0xb3261e),
            on_accent: rgb(0xffffff),
            button,
            field,
            card,
        }
    }
}

/// Mixes this much of one colour into another.
pub fn mix(one: Colour, other: Colour, part: f32) -> Colour {
    let channel = |one: u8, other: u8| (f32::from(one) * part + f32::from(other) * (1.0 - part)).round() as u8;
    Colour {
        red: channel(one.red, other.red),
        green: channel(one.green, other.green),
        blue: channel(one.blue, other.blue),
    }
}
