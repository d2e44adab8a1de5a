//! A client of the adb server, in the protocol of its socket: each request is a connection of its own, which is closed when the request is
//! done or given up. Every wait ends with the caller's budget, and every length that comes from outside is bounded.

mod address;
mod client;
mod connection;
mod device;
mod devices;
mod error;
mod forward;
mod local;
mod server;
mod shell;
mod sync;

#[cfg(test)]
pub(super) mod fake;
#[cfg(test)]
mod tests;

pub use address::AdbAddress;
pub use client::{AdbClient, AdbDeviceTracker};
pub use connection::AdbConnection;
pub use device::AdbDevice;
pub use devices::{AdbConnectionState, AdbDeviceInfo};
pub use error::AdbError;
pub use forward::PortForward;
pub use server::AdbServer;
pub use shell::{AdbShellOutput, ShellSession, quote};
pub use sync::RemoteFile;
