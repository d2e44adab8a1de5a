//! An alert of the system, which is in front of every app.

use trailblaze_protocol::geometry::{Point, Rect};

/// An alert of the system, in points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemAlert {
    pub text: String,
    pub buttons: Vec<String>,
}

const LEFT: i32 = 60;
const TOP: i32 = 300;
const WIDTH: i32 = 270;
const ROW: i32 = 50;

impl SystemAlert {
    pub fn new(text: &str, buttons: &[&str]) -> SystemAlert {
        SystemAlert { text: text.to_string(), buttons: buttons.iter().map(|button| button.to_string()).collect() }
    }

    /// Where a row is: the text, and then the buttons.
    pub fn row(index: usize) -> Rect {
        Rect::new(LEFT, TOP + ROW * i32::try_from(index).unwrap_or_default(), WIDTH, ROW)
    }

    pub fn frame(&self) -> Rect {
        let rows = i32::try_from(self.buttons.len()).unwrap_or_default() + 1;
        Rect::new(LEFT, TOP, WIDTH, ROW * rows)
    }

    /// Whether a place, in points, is on one of its buttons.
    pub fn has_button_at(&self, point: Point) -> bool {
        (1..=self.buttons.len()).any(|index| SystemAlert::row(index).contains(point))
    }
}
