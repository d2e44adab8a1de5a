//! Gestures as commands of the phone's shell.

use std::time::Duration;

use trailblaze_core::driver::DriverError;
use trailblaze_protocol::geometry::Point;

use crate::gesture::{DRAG, Gesture, LONG_PRESS, bounded};

impl Gesture {
    /// The command of the phone's shell that makes it.
    pub fn command(&self) -> Result<String, DriverError> {
        let swipe = |from: Point, to: Point, duration: Duration| {
            format!("input swipe {} {} {} {} {}", from.x, from.y, to.x, to.y, bounded(duration).as_millis())
        };
        let tap = |at: Point| format!("input tap {} {}", at.x, at.y);
        Ok(match *self {
            Gesture::Tap(at) => tap(at),
            // Both taps in one command, so that they are close enough.
            Gesture::DoubleTap(at) => format!("{0} && {0}", tap(at)),
            Gesture::LongPress(at) => swipe(at, at, LONG_PRESS),
            Gesture::Swipe { from, to, duration } => swipe(from, to, duration),
            Gesture::Drag { from, to } => {
                format!("input draganddrop {} {} {} {} {}", from.x, from.y, to.x, to.y, DRAG.as_millis())
            }
            Gesture::Pinch(_) | Gesture::Twist(_) => {
                let reason = "Android's `input` command has one finger, so it cannot pinch or turn; \
                              `looking: fast` in the entry of this device can";
                return Err(DriverError::Refused { reason: reason.to_string() });
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use trailblaze_protocol::geometry::Size;

    use super::*;
    use crate::gesture::pinch;

    fn command(gesture: Gesture) -> String {
        gesture.command().expect("a command")
    }

    #[test]
    fn a_gesture_has_a_duration_that_android_accepts() {
        let point = Point { x: 1, y: 2 };
        let swipe = |duration| command(Gesture::Swipe { from: point, to: point, duration });
        assert_eq!(swipe(Duration::ZERO), "input swipe 1 2 1 2 1");
        assert_eq!(swipe(Duration::from_secs(9999)), "input swipe 1 2 1 2 60000");
        assert_eq!(command(Gesture::DoubleTap(point)), "input tap 1 2 && input tap 1 2");
    }

    #[test]
    fn the_shell_has_one_finger() {
        assert!(pinch(Size { width: 600, height: 1000 }, None, 2.0).command().is_err());
    }
}
