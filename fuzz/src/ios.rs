//! What an iPhone and usbmuxd send.

use trailblaze_core::screen::Shape;
use trailblaze_drivers::ios::{ElementTree, Plist};

/// A tree of WebDriverAgent, or a fault.
pub fn ios_tree(data: &[u8]) {
    let Ok(source) = serde_json::from_slice(data) else { return };
    let _ = ElementTree::read(&source, 3.0, Shape::IosMaestro);
}

/// A property list of usbmuxd, which can be written and read again, or nothing.
pub fn usb_plist(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Some(list) = Plist::read(text) {
        assert!(Plist::read(&list.document()).is_some(), "what is written can be read");
    }
}
