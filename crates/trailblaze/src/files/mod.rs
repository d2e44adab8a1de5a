//! Files: names for them, writing them whole, keeping them private, and the lock of a project. Uses nothing of ours.

mod atomic;
pub mod lock;
mod names;
pub mod private;

pub use atomic::write_atomically;
pub use names::{slug, unlike};

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
