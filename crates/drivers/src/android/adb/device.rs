//! One device behind the adb server.

use std::time::Duration;

use tokio::time::Instant;
use trailblaze_core::driver::Budget;

use super::client::AdbClient;
use super::connection::AdbConnection;
use super::error::{AdbError, within};
use super::local;
use super::shell::{self, AdbShellOutput, ShellSession};

/// How long a device that is not ready yet may take, and how often it is asked.
const MOMENT: Duration = Duration::from_secs(3);
const TICK: Duration = Duration::from_millis(100);
/// How many times a server is asked again that closed the connection.
const TRIES: usize = 10;

/// A device, by its serial. Each request looks it up, so that it may be unplugged and plugged in between two of them.
#[derive(Debug, Clone)]
pub struct AdbDevice {
    /// The server that it is behind; `None` for the device that this program runs on.
    client: Option<AdbClient>,
    serial: String,
}

impl AdbDevice {
    /// What the device that this program runs on is called, in place of a serial.
    pub const HERE: &'static str = "local";

    pub(super) fn new(client: AdbClient, serial: String) -> AdbDevice {
        AdbDevice { client: Some(client), serial }
    }

    /// The device that this program runs on, whose commands need no adb.
    pub fn here() -> AdbDevice {
        AdbDevice { client: None, serial: AdbDevice::HERE.to_string() }
    }

    pub fn is_here(&self) -> bool {
        self.client.is_none()
    }

    pub fn serial(&self) -> &str {
        &self.serial
    }

    /// Whether it is connected over a network, so that it is lost if it leaves the network. An address of this machine is that of an
    /// emulator or a tunnel.
    pub fn is_wireless(&self) -> bool {
        let is_local = ["127.", "localhost:", "[::1]:"].iter().any(|start| self.serial.starts_with(start));
        (self.serial.contains(':') && !is_local) || self.serial.contains("._adb")
    }

    /// What its daemon can do: `shell_v2`, `cmd`, `stat_v2` and so on.
    pub async fn features(&self, budget: &Budget) -> Result<Vec<String>, AdbError> {
        if self.is_here() {
            return Ok(vec!["shell_v2".to_string()]);
        }
        let text = self.ask(budget, "features").await?;
        Ok(text.split(',').map(|feature| feature.trim().to_string()).collect())
    }

    /// Runs a command in the device's shell. Its output may have at most `limit` bytes. A command that fails is no error.
    pub async fn shell(&self, budget: &Budget, command: &str, limit: usize) -> Result<AdbShellOutput, AdbError> {
        let run = async {
            let mut connection = self.open(budget, &format!("shell,v2,raw:{command}")).await?;
            shell::output(&mut connection, limit).await
        };
        self.explained(budget, within(budget, "a command of the device", run).await).await
    }

    /// Starts a command whose input stays open.
    pub async fn start(&self, budget: &Budget, command: &str) -> Result<ShellSession, AdbError> {
        let open = self.open(budget, &format!("shell,v2,raw:{command}")).await;
        Ok(ShellSession::new(self.explained(budget, open).await?))
    }

    /// Runs a command that has a terminal, which some commands need, and returns all that it prints. There is no exit code.
    pub async fn exec(&self, budget: &Budget, command: &str, limit: usize) -> Result<Vec<u8>, AdbError> {
        let run = async {
            let mut connection = self.open(budget, &format!("exec:{command}")).await?;
            connection.read_to_end(limit, "the output of a command").await
        };
        self.explained(budget, within(budget, "a command of the device", run).await).await
    }

    /// Connects to a socket of the device, such as `localabstract:name`.
    pub async fn connect(&self, budget: &Budget, socket: &str) -> Result<AdbConnection, AdbError> {
        let open = self.open(budget, socket).await;
        self.explained(budget, open).await
    }

    /// Connects to a service of its daemon.
    pub(super) async fn open(&self, budget: &Budget, service: &str) -> Result<AdbConnection, AdbError> {
        let Some(client) = &self.client else { return local::open(service) };
        let mut connection = client.server().connect(budget).await?;
        let open = async {
            connection.request(&format!("host:transport:{}", self.serial)).await?;
            connection.request(service).await
        };
        within(budget, "a request to the device", open).await?;
        Ok(connection)
    }

    /// A request to the server that is about this device.
    pub(super) async fn ask(&self, budget: &Budget, service: &str) -> Result<String, AdbError> {
        let answer = self.server(service)?.ask(budget, &self.of_server(service)).await;
        self.explained(budget, answer).await
    }

    /// Connects to a service of the server that is about this device.
    pub(super) async fn open_at_server(&self, budget: &Budget, service: &str) -> Result<AdbConnection, AdbError> {
        let mut connection = self.server(service)?.server().connect(budget).await?;
        within(budget, service, connection.request(&self.of_server(service))).await?;
        Ok(connection)
    }

    fn server(&self, service: &str) -> Result<&AdbClient, AdbError> {
        self.client.as_ref().ok_or_else(|| {
            let reason = "there is no adb between Trailblaze and the device that it runs on".to_string();
            AdbError::Refused { service: service.to_string(), reason }
        })
    }

    fn of_server(&self, service: &str) -> String {
        format!("host-serial:{}:{service}", self.serial)
    }

    /// What is wrong with the device, where a request to it failed: the server's words differ between versions, its list of devices
    /// does not.
    pub async fn explained<T>(&self, budget: &Budget, result: Result<T, AdbError>) -> Result<T, AdbError> {
        match result {
            Err(error @ (AdbError::Refused { .. } | AdbError::Closed { .. })) => {
                Err(self.why_not_ready(budget).await.unwrap_or(error))
            }
            other => other,
        }
    }

    /// Waits a moment for a device that is about to be ready. The error says why it is not.
    pub async fn ready(&self, budget: &Budget) -> Result<(), AdbError> {
        let end = budget.deadline.min(Instant::now() + MOMENT);
        loop {
            match self.why_not_ready(budget).await {
                None => return Ok(()),
                Some(AdbError::NotReady { state, .. }) if state.is_passing() && Instant::now() < end => {
                    let pause = async {
                        tokio::time::sleep(TICK).await;
                        Ok(())
                    };
                    within(budget, "the device to be ready", pause).await?;
                }
                Some(error) => return Err(error),
            }
        }
    }

    /// Why the device cannot be used, if that is so.
    pub async fn why_not_ready(&self, budget: &Budget) -> Option<AdbError> {
        let client = self.client.as_ref()?;
        let mut asked = client.devices(budget).await;
        // A server that is about to end closes its connections first.
        for _ in 0..TRIES {
            if !matches!(asked, Err(AdbError::Closed { .. })) {
                break;
            }
            budget.run("the adb server", tokio::time::sleep(TICK)).await.ok()?;
            asked = client.devices(budget).await;
        }
        let devices = match asked {
            Ok(devices) => devices,
            Err(error) => return error.is_lost().then_some(error),
        };
        let serial = self.serial.clone();
        match devices.iter().find(|device| device.serial == serial) {
            Some(device) if device.is_ready() => None,
            Some(device) => Some(AdbError::NotReady { serial, state: device.state.clone() }),
            None => {
                let connected = devices.into_iter().map(|device| device.serial).collect();
                Some(AdbError::NotConnected { serial, connected })
            }
        }
    }
}
