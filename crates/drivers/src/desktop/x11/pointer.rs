//! The pointer and keys, as if a person used them.

use std::time::Duration;

use trailblaze_protocol::geometry::Point;
use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, KEY_PRESS_EVENT, KEY_RELEASE_EVENT, MOTION_NOTIFY_EVENT,
};
use x11rb::protocol::xtest::ConnectionExt;

use super::connection::{XConnection, XServerError};

/// One thing that a hand does, after a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PointerStep {
    pub what: PointerMove,
    pub after: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointerMove {
    To(Point),
    Press(u8),
    Release(u8),
}

impl PointerStep {
    pub fn to(point: Point) -> PointerStep {
        PointerStep { what: PointerMove::To(point), after: Duration::ZERO }
    }

    pub fn press(button: u8) -> PointerStep {
        PointerStep { what: PointerMove::Press(button), after: Duration::ZERO }
    }

    pub fn release(button: u8) -> PointerStep {
        PointerStep { what: PointerMove::Release(button), after: Duration::ZERO }
    }

    pub fn after(self, after: Duration) -> PointerStep {
        PointerStep { after, ..self }
    }
}

impl XConnection {
    /// Does these things with the pointer. The server itself keeps the pauses.
    pub fn point(&self, steps: &[PointerStep]) -> Result<(), XServerError> {
        for step in steps {
            let (kind, detail, at) = match step.what {
                PointerMove::To(point) => (MOTION_NOTIFY_EVENT, 0, point),
                PointerMove::Press(button) => (BUTTON_PRESS_EVENT, button, Point { x: 0, y: 0 }),
                PointerMove::Release(button) => (BUTTON_RELEASE_EVENT, button, Point { x: 0, y: 0 }),
            };
            self.fake(kind, detail, at, step.after)?;
        }
        self.finish()
    }

    /// Presses or releases a key of the keyboard.
    pub fn key(&self, code: u8, is_pressed: bool) -> Result<(), XServerError> {
        let kind = if is_pressed { KEY_PRESS_EVENT } else { KEY_RELEASE_EVENT };
        self.fake(kind, code, Point { x: 0, y: 0 }, Duration::ZERO)
    }

    fn fake(&self, kind: u8, detail: u8, at: Point, after: Duration) -> Result<(), XServerError> {
        let pause = u32::try_from(after.as_millis()).unwrap_or(u32::MAX);
        let side = |place: i32, length: u16| place.clamp(0, i32::from(length.max(1)) - 1) as i16;
        let (x, y) = (side(at.x, self.width), side(at.y, self.height));
        self.x.xtest_fake_input(kind, detail, pause, self.root, x, y, 0)?;
        Ok(())
    }
}
