//! Files: names for them, writing them whole, keeping them private, and the lock of a project. Uses nothing of ours.

mod atomic;
mod inside;
pub mod lock;
mod names;
pub mod runtime;
pub mod private;
pub mod device_lock;
pub mod stamp;

pub use atomic::write_atomically;
pub use inside::{check_links, is_inside, write_in_project, write_private};
pub use names::{in_address, slug, unlike};

/// The first 16 bytes of a digest as hexadecimal digits: enough to tell contents apart.
pub fn hex(digest: &[u8]) -> String {
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
