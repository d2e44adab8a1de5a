//! Messages of a bus: any program of the session can send them.
#![no_main]

use trailblaze_drivers::desktop::dbus::{DBusMessage, next_length};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = next_length(bytes);
    let _ = DBusMessage::read(bytes);
});
