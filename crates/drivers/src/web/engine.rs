//! The browsers that a web device may be.

use trailblaze_core::words;

words! {
    /// The browser of a web device.
    #[derive(Default)]
    pub enum BrowserEngine {
        #[default]
        "chromium" => Chromium,
        "firefox" => Firefox,
        "webkit" => WebKit,
    }
}

impl BrowserEngine {
    /// The browser of a device whose entry does not say it.
    pub fn named(device: &str) -> BrowserEngine {
        match device.to_ascii_lowercase().as_str() {
            "firefox" => BrowserEngine::Firefox,
            "webkit" => BrowserEngine::WebKit,
            _ => BrowserEngine::Chromium,
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            BrowserEngine::Chromium => "Chromium",
            BrowserEngine::Firefox => "Firefox",
            BrowserEngine::WebKit => "WebKit",
        }
    }
}
