//! Fingers on the screen, as commands of the phone's shell.

use std::time::Duration;

use trailblaze_core::driver::{Direction, DragEnd, Offset, Target};
use trailblaze_protocol::geometry::{Point, Size};

/// How long a finger rests for a long press; Android takes half a second for one.
const LONG_PRESS: Duration = Duration::from_millis(1000);
/// How long a scroll takes: slowly enough that the list does not go on by itself.
const SCROLL: Duration = Duration::from_millis(500);
const DRAG: Duration = Duration::from_millis(1000);
/// The longest gesture.
const LONGEST: Duration = Duration::from_secs(60);

pub fn tap(at: Point) -> String {
    format!("input tap {} {}", at.x, at.y)
}

/// Both taps in one command, so that they are close enough.
pub fn double_tap(at: Point) -> String {
    format!("{0} && {0}", tap(at))
}

pub fn long_press(at: Point) -> String {
    swipe(at, at, LONG_PRESS)
}

pub fn swipe(from: Point, to: Point, duration: Duration) -> String {
    let milliseconds = duration.clamp(Duration::from_millis(1), LONGEST).as_millis();
    format!("input swipe {} {} {} {} {milliseconds}", from.x, from.y, to.x, to.y)
}

/// Grabs what is at `from`, and drops it at `to`.
pub fn drag(from: Point, to: Point) -> String {
    format!("input draganddrop {} {} {} {} {}", from.x, from.y, to.x, to.y, DRAG.as_millis())
}

/// Where a drag starts and ends. Offsets are from the corner of an element.
pub fn drag_ends(target: &Target, at: Option<Offset>, to: &DragEnd) -> Option<(Point, Point)> {
    let from = match (target, at) {
        (Target::Element(found), Some(at)) => moved(Point { x: found.bounds.left, y: found.bounds.top }, at),
        _ => target.point()?,
    };
    let end = match to {
        DragEnd::Element { found, at: Some(at) } => moved(Point { x: found.bounds.left, y: found.bounds.top }, *at),
        DragEnd::Element { found, at: None } => found.point,
        DragEnd::Point(point) => *point,
        DragEnd::By(by) => moved(from, *by),
    };
    Some((from, end))
}

fn moved(from: Point, by: Offset) -> Point {
    Point { x: from.x.saturating_add(by.x), y: from.y.saturating_add(by.y) }
}

/// Moves the view by so many pixels: to scroll down, the finger moves up. It stays on the screen.
pub fn scroll(size: Size, at: Option<Point>, direction: Direction, amount: Option<u32>) -> String {
    let side = |length: u32| i32::try_from(length).unwrap_or(i32::MAX);
    let (width, height) = (side(size.width), side(size.height));
    let middle = at.unwrap_or(Point { x: width / 2, y: height / 2 });
    let length = if matches!(direction, Direction::Up | Direction::Down) { height } else { width };
    let half = amount.map_or(length / 5 * 2, side).min(length) / 2;
    let (x, y) = match direction {
        Direction::Down => (0, half),
        Direction::Up => (0, -half),
        Direction::Right => (half, 0),
        Direction::Left => (-half, 0),
    };
    let at = |x: i32, y: i32| Point { x: x.clamp(1, (width - 2).max(1)), y: y.clamp(1, (height - 2).max(1)) };
    swipe(at(middle.x + x, middle.y + y), at(middle.x - x, middle.y - y), SCROLL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scrolling_down_moves_the_finger_up() {
        let size = Size { width: 1000, height: 2000 };
        assert_eq!(scroll(size, None, Direction::Down, None), "input swipe 500 1400 500 600 500");
        assert_eq!(scroll(size, None, Direction::Left, Some(200)), "input swipe 400 1000 600 1000 500");
        let edge = Some(Point { x: 500, y: 1990 });
        assert_eq!(scroll(size, edge, Direction::Down, Some(9999)), "input swipe 500 1998 500 990 500");
    }

    #[test]
    fn a_gesture_has_a_duration_that_android_accepts() {
        let point = Point { x: 1, y: 2 };
        assert_eq!(swipe(point, point, Duration::ZERO), "input swipe 1 2 1 2 1");
        assert_eq!(swipe(point, point, Duration::from_secs(9999)), "input swipe 1 2 1 2 60000");
        assert_eq!(double_tap(point), "input tap 1 2 && input tap 1 2");
    }
}
