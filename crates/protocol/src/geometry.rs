//! Points, sizes and rectangles on a screen, in device pixels.

use serde::{Deserialize, Serialize};

/// A point on a screen, in its pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Point {
    /// From the left edge.
    pub x: i32,
    /// From the top edge.
    pub y: i32,
}

/// The size of a screen, in its pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Size {
    /// From left to right.
    pub width: u32,
    /// From top to bottom.
    pub height: u32,
}

/// A rectangle on a screen, in its pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Rect {
    /// The first column.
    pub left: i32,
    /// The first row.
    pub top: i32,
    /// The column after the last.
    pub right: i32,
    /// The row after the last.
    pub bottom: i32,
}

impl Rect {
    pub fn new(left: i32, top: i32, width: i32, height: i32) -> Rect {
        Rect { left, top, right: left.saturating_add(width), bottom: top.saturating_add(height) }
    }

    pub fn width(&self) -> i32 {
        self.right.saturating_sub(self.left)
    }

    pub fn height(&self) -> i32 {
        self.bottom.saturating_sub(self.top)
    }

    pub fn center(&self) -> Point {
        Point { x: self.left.saturating_add(self.width() / 2), y: self.top.saturating_add(self.height() / 2) }
    }

    pub fn contains(&self, point: Point) -> bool {
        (self.left..self.right).contains(&point.x) && (self.top..self.bottom).contains(&point.y)
    }

    /// The intersection of two rectangles; `None` if they share no pixel.
    pub fn intersect(&self, other: &Rect) -> Option<Rect> {
        let common = Rect {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        };
        (common.width() > 0 && common.height() > 0).then_some(common)
    }

    pub fn area(&self) -> i64 {
        i64::from(self.width().max(0)) * i64::from(self.height().max(0))
    }
}
