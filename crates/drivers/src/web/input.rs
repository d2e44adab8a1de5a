//! Input as people cause it, whatever protocol carries it.

use trailblaze_core::driver::Button;
use trailblaze_protocol::geometry::Point;

/// A point in the window, not rounded: an element may begin within a pixel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spot {
    pub x: f64,
    pub y: f64,
}

impl From<Point> for Spot {
    fn from(point: Point) -> Spot {
        Spot { x: f64::from(point.x), y: f64::from(point.y) }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum BrowserInput {
    Key(KeyInput),
    /// Inserts a text at once, as an input method does.
    Text(String),
    Mouse(MouseInput),
    Touch(TouchInput),
    /// Turns the wheel at a point, by a distance in pixels to the right and down, at a speed in pixels per second. Returns when the
    /// wheel rests.
    Wheel {
        at: Point,
        by: (i64, i64),
        speed: i64,
    },
}

/// A key that goes down or up.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyInput {
    pub is_down: bool,
    /// It was down already.
    pub is_repeat: bool,
    /// As in `KeyboardEvent`: what it means, where it is, and its legacy number.
    pub key: String,
    pub code: String,
    pub number: u32,
    /// What it types.
    pub text: Option<String>,
    pub modifiers: Modifiers,
}

/// The modifier keys that are down, as bits: Alt 1, Control 2, Meta 4, Shift 8.
pub type Modifiers = u32;

#[derive(Debug, Clone, PartialEq)]
pub struct MouseInput {
    pub kind: MouseKind,
    pub at: Spot,
    /// The button that goes down or up, or is held during a move.
    pub button: Option<Button>,
    /// The number of this click among those that follow each other quickly; 0 for a move.
    pub clicks: u32,
    pub modifiers: Modifiers,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MouseKind {
    Moved,
    Pressed,
    Released,
}

/// One finger.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TouchInput {
    Start(Spot),
    Move(Spot),
    End,
    /// A press that the browser itself may recognize as a long one, its release, and its end once the page has seen the release.
    Hold(Spot),
    Release(Spot),
    EndHold,
    /// Ends the gesture that the browser takes the last touches for, such as a fling.
    EndGesture,
}
