//! What a tab emulates: a window of some size, or a phone.

use trailblaze_protocol::geometry::Size;

/// The default size of a window.
pub const WINDOW: Size = Size { width: 1280, height: 800 };

#[derive(Debug, Clone, PartialEq)]
pub struct Emulation {
    pub size: Size,
    /// Device pixels per CSS pixel.
    pub scale: f64,
    pub is_mobile: bool,
    pub user_agent: Option<String>,
    pub locale: Option<String>,
    pub timezone: Option<String>,
    pub is_dark: Option<bool>,
}

impl Default for Emulation {
    fn default() -> Emulation {
        Emulation {
            size: WINDOW,
            scale: 1.0,
            is_mobile: false,
            user_agent: None,
            locale: None,
            timezone: None,
            is_dark: None,
        }
    }
}

const APPLE: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                     Version/18.0 Mobile/15E148 Safari/604.1";
const TABLET: &str = "Mozilla/5.0 (iPad; CPU OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                      Version/18.0 Mobile/15E148 Safari/604.1";
const ANDROID: &str = "Mozilla/5.0 (Linux; Android 15; Pixel) AppleWebKit/537.36 (KHTML, like Gecko) \
                       Chrome/140.0.0.0 Mobile Safari/537.36";

/// Name, width, height, scale, user agent.
const DEVICES: [(&str, u32, u32, f64, &str); 9] = [
    ("iPhone SE", 375, 667, 2.0, APPLE),
    ("iPhone 14", 390, 844, 3.0, APPLE),
    ("iPhone 15", 393, 852, 3.0, APPLE),
    ("iPhone 15 Pro Max", 430, 932, 3.0, APPLE),
    ("iPad", 820, 1180, 2.0, TABLET),
    ("iPad Pro", 1024, 1366, 2.0, TABLET),
    ("Pixel 7", 412, 915, 2.625, ANDROID),
    ("Pixel 9", 412, 923, 2.625, ANDROID),
    ("Galaxy S24", 360, 780, 3.0, ANDROID),
];

impl Emulation {
    /// Finds a device by name, ignoring case.
    pub fn device(name: &str) -> Option<Emulation> {
        let (_, width, height, scale, agent) = DEVICES.iter().find(|device| device.0.eq_ignore_ascii_case(name))?;
        Some(Emulation {
            size: Size { width: *width, height: *height },
            scale: *scale,
            is_mobile: true,
            user_agent: Some((*agent).to_string()),
            ..Emulation::default()
        })
    }

    pub fn names() -> impl Iterator<Item = &'static str> {
        DEVICES.iter().map(|device| device.0)
    }
}
