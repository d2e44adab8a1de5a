//! What a phone says about itself.

use trailblaze_core::driver::{Budget, DriverError};
use trailblaze_protocol::geometry::Size;

use super::adb::AdbError;
use super::phone::Phone;

/// The smallest width of a tablet, in pixels of a screen with 160 dots per inch, as Android itself has it.
const TABLET: u32 = 600;

/// What does not change while a phone is in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhoneFacts {
    pub model: String,
    /// The version for people: `14`.
    pub android: String,
    /// The version as a number, if the phone says it: 34.
    pub sdk: Option<u32>,
    /// The size of its screen if the device is upright.
    pub size: Size,
    /// Pixels per inch.
    pub density: u32,
    /// The kind of device: `phone`, `tablet`, `tv`, `watch` or `automotive`.
    pub kind: &'static str,
}

impl PhoneFacts {
    pub async fn read(phone: &Phone, budget: &Budget) -> Result<PhoneFacts, DriverError> {
        let run = |command| async move { Ok::<String, AdbError>(phone.run(budget, command).await?.text()) };
        let (properties, size, density) =
            tokio::try_join!(run("getprop"), run("wm size"), run("wm density")).map_err(AdbError::not_started)?;
        let size = screen_size(&size).ok_or_else(|| unclear("wm size", &size))?;
        let density = last_number(&density).ok_or_else(|| unclear("wm density", &density))?;
        let property = |name: &str| property(&properties, name).unwrap_or_default();
        let kind = kind(property("ro.build.characteristics"), size, density);
        let (model, android) =
            (property("ro.product.model").to_string(), property("ro.build.version.release").to_string());
        let sdk = property("ro.build.version.sdk").parse().ok();
        Ok(PhoneFacts { model, android, sdk, size, density, kind })
    }

    /// A name for people: `Pixel 7, Android 14`.
    pub fn summary(&self) -> String {
        let model = if self.model.is_empty() { "Android device" } else { &self.model };
        match self.android.as_str() {
            "" => model.to_string(),
            version => format!("{model}, Android {version}"),
        }
    }
}

fn unclear(command: &str, printed: &str) -> DriverError {
    let line = printed.lines().next().unwrap_or("nothing").trim();
    DriverError::NotStarted { evidence: format!("`{command}` printed no number: {line}") }
}

/// `getprop` prints a line `[name]: [value]` for each property.
fn property<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let value = |line: &'t str| {
        let (key, value) = line.trim().split_once("]: [")?;
        (key.strip_prefix('[')? == name).then(|| value.strip_suffix(']'))?
    };
    text.lines().find_map(value)
}

/// `Physical size: 1080x2400`, and beneath it another size if one is set in its place.
fn screen_size(text: &str) -> Option<Size> {
    let size = |line: &str| {
        let (width, height) = line.rsplit_once(' ')?.1.trim().split_once('x')?;
        let side = |text: &str| text.parse::<u32>().ok().filter(|side| (1..=100_000).contains(side));
        Some(Size { width: side(width)?, height: side(height)? })
    };
    text.lines().filter_map(|line| size(line.trim())).next_back()
}

/// `Physical density: 420`, and beneath it another one if it is set in its place.
fn last_number(text: &str) -> Option<u32> {
    let number = |line: &str| line.trim().rsplit_once(' ')?.1.parse::<u32>().ok().filter(|number| *number > 0);
    text.lines().filter_map(number).next_back()
}

fn kind(characteristics: &str, size: Size, density: u32) -> &'static str {
    let stated = characteristics.split(',').find_map(|word| match word.trim() {
        "tv" => Some("tv"),
        "watch" => Some("watch"),
        "automotive" => Some("automotive"),
        _ => None,
    });
    let width = u64::from(size.width.min(size.height)) * 160 / u64::from(density.max(1));
    stated.unwrap_or(if width >= u64::from(TABLET) { "tablet" } else { "phone" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_are_set_take_the_place_of_physical_ones() {
        assert_eq!(screen_size("Physical size: 1080x2400\r\n"), Some(Size { width: 1080, height: 2400 }));
        let set = "Physical size: 1080x2400\nOverride size: 720x1600\n";
        assert_eq!(screen_size(set), Some(Size { width: 720, height: 1600 }));
        assert_eq!(last_number("Physical density: 420\nOverride density: 480\n"), Some(480));
        assert_eq!((screen_size("Error: no display"), screen_size("x 0x1"), last_number("")), (None, None, None));
    }

    #[test]
    fn a_wide_screen_is_that_of_a_tablet() {
        let of = |width, density| kind("nosdcard", Size { width, height: 2400 }, density);
        assert_eq!((of(1080, 420), of(1600, 320), of(1080, 0)), ("phone", "tablet", "tablet"));
        assert_eq!(kind("tv,nosdcard", Size { width: 1920, height: 1080 }, 320), "tv");
    }

    #[test]
    fn properties_are_read_by_their_whole_name() {
        let text = "[ro.product.model.x]: [no]\r\n[ro.product.model]: [Pixel 7]\n[broken\n";
        assert_eq!(property(text, "ro.product.model"), Some("Pixel 7"));
        assert_eq!(property(text, "ro.product"), None);
    }
}
