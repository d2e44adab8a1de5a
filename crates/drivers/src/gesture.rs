//! Fingers on the screen of a phone.

use std::time::Duration;

use serde_json::{Value, json};
use trailblaze_core::driver::{ActionTarget, Direction, DragEnd, Offset};
use trailblaze_protocol::geometry::{Point, Size};

/// How long a finger rests for a long press; phones take half a second for one.
pub const LONG_PRESS: Duration = Duration::from_millis(1000);
/// How long a scroll takes: slowly enough that the list does not go on by itself.
const SCROLL: Duration = Duration::from_millis(500);
pub const DRAG: Duration = Duration::from_millis(1000);
const PINCH: Duration = Duration::from_millis(500);
/// The farthest that two fingers turn, in degrees.
const MOST_DEGREES: f64 = 170.0;
/// How long fingers rest before they let go, so that a list does not go on by itself.
const HOLD: Duration = Duration::from_millis(100);
/// How long a tap lasts, and the pause before a second one.
const TAP: Duration = Duration::from_millis(50);
/// The longest gesture.
const LONGEST: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, PartialEq)]
pub enum Gesture {
    Tap(Point),
    DoubleTap(Point),
    LongPress(Point),
    Swipe {
        from: Point,
        to: Point,
        duration: Duration,
    },
    /// Grabs what is at `from`, and drops it at `to`.
    Drag {
        from: Point,
        to: Point,
    },
    /// Two fingers, each from one point to another.
    Pinch([(Point, Point); 2]),
    /// The same on a straight line each, so that what they hold turns.
    Twist([(Point, Point); 2]),
}

/// A gesture as the times and places of its fingers.
#[derive(Debug, PartialEq)]
pub struct FingerMotion {
    pub times: u8,
    /// How long the fingers rest before they move, and how long they move.
    pub rest: Duration,
    pub duration: Duration,
    pub fingers: Vec<(Point, Point)>,
}

impl Gesture {
    pub fn motion(&self) -> FingerMotion {
        let one = |from: Point, to: Point, rest: Duration, duration: Duration| FingerMotion {
            times: 1,
            rest,
            duration,
            fingers: vec![(from, to)],
        };
        match *self {
            Gesture::Tap(at) => one(at, at, Duration::ZERO, Duration::ZERO),
            Gesture::DoubleTap(at) => FingerMotion { times: 2, ..one(at, at, Duration::ZERO, Duration::ZERO) },
            Gesture::LongPress(at) => one(at, at, LONG_PRESS, Duration::ZERO),
            Gesture::Swipe { from, to, duration } => one(from, to, Duration::ZERO, bounded(duration)),
            Gesture::Drag { from, to } => one(from, to, LONG_PRESS, DRAG),
            Gesture::Pinch(fingers) | Gesture::Twist(fingers) => {
                FingerMotion { times: 1, rest: Duration::ZERO, duration: PINCH, fingers: fingers.to_vec() }
            }
        }
    }
}

/// The fingers of a gesture as WebDriver describes them. `place` is where a point is in its units.
pub fn pointers(motion: &FingerMotion, place: impl Fn(Point) -> (f64, f64)) -> Vec<Value> {
    let pause = |time: Duration| json!({"type": "pause", "duration": millis(time)});
    let finger = |(index, (from, to)): (usize, &(Point, Point))| {
        let move_to = |at: Point, time: Duration| {
            let (x, y) = place(at);
            json!({"type": "pointerMove", "origin": "viewport", "x": x, "y": y, "duration": millis(time)})
        };
        let mut actions = vec![move_to(*from, Duration::ZERO)];
        for time in 0..motion.times {
            if time > 0 {
                actions.push(pause(TAP));
            }
            actions.push(json!({"type": "pointerDown", "button": 0}));
            if from == to {
                actions.push(pause(motion.rest.max(TAP)));
            } else {
                actions.extend([pause(motion.rest), move_to(*to, motion.duration), pause(HOLD)]);
            }
            actions.push(json!({"type": "pointerUp", "button": 0}));
        }
        json!({
            "type": "pointer", "id": format!("finger{}", index + 1),
            "parameters": {"pointerType": "touch"}, "actions": actions,
        })
    };
    motion.fingers.iter().enumerate().map(finger).collect()
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A duration that phones accept.
pub fn bounded(duration: Duration) -> Duration {
    duration.clamp(Duration::from_millis(1), LONGEST)
}

/// Where a drag starts and ends. Offsets are from the corner of an element.
pub fn drag(target: &ActionTarget, at: Option<Offset>, to: &DragEnd) -> Option<Gesture> {
    let from = match (target, at) {
        (ActionTarget::Element(found), Some(at)) => moved(Point { x: found.bounds.left, y: found.bounds.top }, at),
        _ => target.point()?,
    };
    let to = match to {
        DragEnd::Element { found, at: Some(at) } => moved(Point { x: found.bounds.left, y: found.bounds.top }, *at),
        DragEnd::Element { found, at: None } => found.point,
        DragEnd::Point(point) => *point,
        DragEnd::By(by) => moved(from, *by),
    };
    Some(Gesture::Drag { from, to })
}

fn moved(from: Point, by: Offset) -> Point {
    Point { x: from.x.saturating_add(by.x), y: from.y.saturating_add(by.y) }
}

/// A place on the screen, for one that may be outside of it.
fn on_screen(size: Size, x: i32, y: i32) -> Point {
    let most = |length: u32| side(length).saturating_sub(2).max(1);
    Point { x: x.clamp(1, most(size.width)), y: y.clamp(1, most(size.height)) }
}

fn side(length: u32) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX)
}

fn middle(size: Size, at: Option<Point>) -> Point {
    at.unwrap_or(Point { x: side(size.width) / 2, y: side(size.height) / 2 })
}

/// Moves the view by so many pixels: to scroll down, the finger moves up. It stays on the screen.
pub fn scroll(size: Size, at: Option<Point>, direction: Direction, amount: Option<u32>) -> Gesture {
    let middle = middle(size, at);
    let length = side(if matches!(direction, Direction::Up | Direction::Down) { size.height } else { size.width });
    let half = amount.map_or(length / 5 * 2, side).min(length) / 2;
    let (x, y) = match direction {
        Direction::Down => (0, half),
        Direction::Up => (0, -half),
        Direction::Right => (half, 0),
        Direction::Left => (-half, 0),
    };
    let (from, to) = (on_screen(size, middle.x + x, middle.y + y), on_screen(size, middle.x - x, middle.y - y));
    Gesture::Swipe { from, to, duration: SCROLL }
}

/// Two fingers that move apart or together, so that what they hold becomes `scale` times as large.
pub fn pinch(size: Size, at: Option<Point>, scale: f64) -> Gesture {
    let middle = middle(size, at);
    // The farther of the two distances is a third of the screen's width.
    let far = f64::from(side(size.width)) / 6.0;
    let (before, after) = if scale >= 1.0 { (far / scale, far) } else { (far, far * scale) };
    let place = |distance: f64| on_screen(size, middle.x.saturating_add(distance.round() as i32), middle.y);
    Gesture::Pinch([(place(-before), place(-after)), (place(before), place(after))])
}

/// Two fingers opposite each other that turn what is between them, clockwise. Each moves on a straight line, so that they cannot turn
/// it by half a circle or more.
pub fn twist(size: Size, at: Option<Point>, degrees: f64) -> Gesture {
    let middle = middle(size, at);
    let radius = f64::from(side(size.width)) / 6.0;
    let turn = degrees.clamp(-MOST_DEGREES, MOST_DEGREES).to_radians();
    let place = |angle: f64| {
        let (x, y) = ((radius * angle.cos()).round() as i32, (radius * angle.sin()).round() as i32);
        on_screen(size, middle.x.saturating_add(x), middle.y.saturating_add(y))
    };
    let (right, left) = (0.0, std::f64::consts::PI);
    Gesture::Twist([(place(right), place(right + turn)), (place(left), place(left + turn))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_fingers_turn_around_the_middle() {
        let size = Size { width: 600, height: 1000 };
        let at = |x, y| Point { x, y };
        let quarter = Gesture::Twist([(at(400, 500), at(300, 600)), (at(200, 500), at(300, 400))]);
        assert_eq!(twist(size, None, 90.0), quarter);
    }

    #[test]
    fn scrolling_down_moves_the_finger_up() {
        let size = Size { width: 1000, height: 2000 };
        let swipe = |from: (i32, i32), to: (i32, i32)| Gesture::Swipe {
            from: Point { x: from.0, y: from.1 },
            to: Point { x: to.0, y: to.1 },
            duration: SCROLL,
        };
        assert_eq!(scroll(size, None, Direction::Down, None), swipe((500, 1400), (500, 600)));
        assert_eq!(scroll(size, None, Direction::Left, Some(200)), swipe((400, 1000), (600, 1000)));
        let edge = Some(Point { x: 500, y: 1990 });
        assert_eq!(scroll(size, edge, Direction::Down, Some(9999)), swipe((500, 1998), (500, 990)));
    }

    #[test]
    fn two_fingers_move_apart_to_enlarge() {
        let size = Size { width: 600, height: 1000 };
        let at = |x| Point { x, y: 500 };
        assert_eq!(pinch(size, None, 2.0), Gesture::Pinch([(at(250), at(200)), (at(350), at(400))]));
        assert_eq!(pinch(size, None, 0.5), Gesture::Pinch([(at(200), at(250)), (at(400), at(350))]));
        assert_eq!(pinch(size, None, 2.0).motion().fingers.len(), 2);
    }
}
