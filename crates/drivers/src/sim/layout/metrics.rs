//! The sizes of a platform, in pixels.

use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::geometry::Size;

use crate::sim::app::{Look, Role};
use crate::sim::text::{Face, SizedFont};

#[derive(Debug, Clone, Copy)]
pub struct Metrics {
    pub platform: Platform,
    pub size: Size,
    /// Device pixels per unit; a finger tip is 48 units wide.
    density: f32,
    /// The size of a picture, as a fraction of the device's.
    pub picture_scale: f32,
    pub status_bar: i32,
    pub bar: i32,
    pub tabs: i32,
    /// The maximum width of a column of elements.
    pub column: i32,
}

impl Metrics {
    pub fn of(platform: Platform) -> Metrics {
        let (width, height, density) = match platform {
            Platform::Android => (1080, 2400, 2.75),
            Platform::Ios => (1170, 2532, 3.0),
            Platform::Web | Platform::Desktop => (1280, 800, 1.0),
        };
        let px = |units: f32| (units * density).round() as i32;
        let (status_bar, bar, tabs, column) = match platform {
            Platform::Android => (px(28.0), px(64.0), px(72.0), width),
            Platform::Ios => (px(47.0), px(52.0), px(78.0), width),
            Platform::Web | Platform::Desktop => (px(36.0), px(56.0), px(48.0), 720),
        };
        // A picture of a phone's screen at half the size is still sharp; one of a desktop's is not.
        let picture_scale = if platform.is_mobile() { 0.5 } else { 1.0 };
        let size = Size { width: width as u32, height: height as u32 };
        Metrics { platform, size, density, picture_scale, status_bar, bar, tabs, column }
    }

    pub fn px(&self, units: f32) -> i32 {
        (units * self.density).round() as i32
    }

    pub fn width(&self) -> i32 {
        self.size.width as i32
    }

    pub fn height(&self) -> i32 {
        self.size.height as i32
    }

    pub fn has_tabs_on_top(&self) -> bool {
        !self.platform.is_mobile()
    }

    pub fn type_of(&self, role: Role, look: Look) -> SizedFont {
        let (face, units) = match (role, look) {
            (Role::Heading, Look::Large) => (Face::Medium, 28.0),
            (Role::Heading, _) => (Face::Medium, 20.0),
            (Role::Button | Role::Link, _) => (Face::Medium, 16.0),
            (Role::Tab, _) => (Face::Medium, if self.has_tabs_on_top() { 15.0 } else { 12.0 }),
            (_, Look::Large) => (Face::Medium, 34.0),
            (_, Look::Small) => (Face::Regular, 13.0),
            (_, Look::Primary) => (Face::Medium, 16.0),
            _ => (Face::Regular, 16.0),
        };
        self.type_at(face, units)
    }

    pub fn type_at(&self, face: Face, units: f32) -> SizedFont {
        SizedFont { face, size: units * self.density }
    }
}
