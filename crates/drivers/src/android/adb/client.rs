//! What the adb server itself answers.

use tokio_util::sync::CancellationToken;
use trailblaze_core::driver::Budget;

use super::connection::AdbConnection;
use super::device::AdbDevice;
use super::devices::AdbDeviceInfo;
use super::error::{AdbError, within};
use super::server::AdbServer;

/// A client of one adb server.
#[derive(Debug, Clone)]
pub struct AdbClient {
    server: AdbServer,
}

impl AdbClient {
    pub fn new(server: AdbServer) -> AdbClient {
        AdbClient { server }
    }

    pub fn server(&self) -> &AdbServer {
        &self.server
    }

    /// The number of the server's protocol, such as 41.
    pub async fn version(&self, budget: &Budget) -> Result<u32, AdbError> {
        let text = self.ask(budget, "host:version").await?;
        let version = u32::from_str_radix(text.trim(), 16).ok();
        version.ok_or_else(|| AdbError::Protocol { what: format!("the version `{}`", text.escape_debug()) })
    }

    /// The devices that the server knows now, including those that cannot be used.
    pub async fn devices(&self, budget: &Budget) -> Result<Vec<AdbDeviceInfo>, AdbError> {
        let list = self.ask(budget, "host:devices-l").await?;
        Ok(AdbDeviceInfo::read_list(&list))
    }

    /// Follows the list of devices.
    pub async fn track(&self, budget: &Budget) -> Result<AdbDeviceTracker, AdbError> {
        let mut connection = self.server.connect(budget).await?;
        within(budget, "following the list of devices", connection.request("host:track-devices-l")).await?;
        Ok(AdbDeviceTracker { connection })
    }

    /// A device by its serial. Nothing is asked yet.
    pub fn device(&self, serial: impl Into<String>) -> AdbDevice {
        AdbDevice::new(self.clone(), serial.into())
    }

    /// A request that is answered with one text.
    pub(super) async fn ask(&self, budget: &Budget, service: &str) -> Result<String, AdbError> {
        let mut connection = self.server.connect(budget).await?;
        let answer = async {
            connection.request(service).await?;
            connection.block("an answer of the adb server").await
        };
        within(budget, service, answer).await
    }
}

/// The list of devices, again whenever it changes.
pub struct AdbDeviceTracker {
    connection: AdbConnection,
}

impl AdbDeviceTracker {
    /// The next list; the first comes at once. After an error there is no other.
    pub async fn next(&mut self, cancel: &CancellationToken) -> Result<Vec<AdbDeviceInfo>, AdbError> {
        let next = cancel.run_until_cancelled(self.connection.block("the list of devices")).await;
        next.unwrap_or(Err(AdbError::Cancelled)).map(|list| AdbDeviceInfo::read_list(&list))
    }
}
