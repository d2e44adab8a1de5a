//! Sockets of this machine that lead to the device, and the other way round.

use trailblaze_core::driver::Budget;

use super::connection::AdbConnection;
use super::device::AdbDevice;
use super::error::{AdbError, within};

/// A connection to `local` leads to `remote`. Both are written as adb does: `tcp:8080`, `localabstract:name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortForward {
    pub local: String,
    pub remote: String,
}

impl PortForward {
    /// Reads lines of a serial, or `UsbFfs`, and the two ends.
    fn read_list(text: &str, serial: Option<&str>) -> Vec<PortForward> {
        let read = |line: &str| {
            let mut words = line.split_whitespace();
            let is_own = words.next().is_some_and(|word| serial.is_none_or(|serial| word == serial));
            let (local, remote) = (words.next()?.to_string(), words.next()?.to_string());
            is_own.then_some(PortForward { local, remote })
        };
        text.lines().filter_map(read).collect()
    }
}

impl AdbDevice {
    /// Forwards a free port of this machine to a socket of the device, and returns the port.
    pub async fn forward(&self, budget: &Budget, remote: &str) -> Result<u16, AdbError> {
        let forward = async {
            let mut connection = self.open_at_server(budget, &format!("forward:tcp:0;{remote}")).await?;
            chosen_port(&mut connection).await
        };
        self.explained(budget, within(budget, "forwarding a port", forward).await).await
    }

    pub async fn remove_forward(&self, budget: &Budget, port: u16) -> Result<(), AdbError> {
        let remove = async {
            let mut connection = self.open_at_server(budget, &format!("killforward:tcp:{port}")).await?;
            connection.accepted("killforward").await
        };
        self.explained(budget, within(budget, "closing a forwarded port", remove).await).await
    }

    pub async fn forwards(&self, budget: &Budget) -> Result<Vec<PortForward>, AdbError> {
        let list = self.ask(budget, "list-forward").await?;
        Ok(PortForward::read_list(&list, Some(self.serial())))
    }

    /// Forwards a free port of the device to a port of this machine, and returns it.
    pub async fn reverse(&self, budget: &Budget, port: u16) -> Result<u16, AdbError> {
        let reverse = async {
            let mut connection = self.open(budget, &format!("reverse:forward:tcp:0;tcp:{port}")).await?;
            chosen_port(&mut connection).await
        };
        self.explained(budget, within(budget, "forwarding a port of the device", reverse).await).await
    }

    pub async fn remove_reverse(&self, budget: &Budget, port: u16) -> Result<(), AdbError> {
        let remove = async {
            let mut connection = self.open(budget, &format!("reverse:killforward:tcp:{port}")).await?;
            connection.accepted("reverse:killforward").await
        };
        self.explained(budget, within(budget, "closing a forwarded port of the device", remove).await).await
    }

    pub async fn reverses(&self, budget: &Budget) -> Result<Vec<PortForward>, AdbError> {
        let list = async {
            let mut connection = self.open(budget, "reverse:list-forward").await?;
            connection.block("the forwarded ports").await
        };
        let list = self.explained(budget, within(budget, "the forwarded ports", list).await).await?;
        Ok(PortForward::read_list(&list, None))
    }
}

/// The request was accepted; now whether it was carried out, and with which port.
async fn chosen_port(connection: &mut AdbConnection) -> Result<u16, AdbError> {
    connection.accepted("forward").await?;
    let port = connection.block("the forwarded port").await?;
    port.trim().parse().map_err(|_| AdbError::Protocol { what: format!("the port `{}`", port.escape_debug()) })
}
