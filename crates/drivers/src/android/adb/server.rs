//! The adb server: how it is reached, and started if none runs.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::process::Command;
use tokio::sync::Mutex;
use trailblaze_core::driver::Budget;

use super::address::AdbAddress;
use super::connection::AdbConnection;
use super::error::{AdbError, at_most, within};

/// How long a server may take to start.
const START: Duration = Duration::from_secs(20);
/// How much is kept of what `adb start-server` prints.
const PRINTED: u64 = 4096;

/// The adb server of this machine or of another. All programs of a user share one, so it keeps running once it is started.
#[derive(Debug, Clone)]
pub struct AdbServer {
    pub address: AdbAddress,
    /// The program that starts it; `None` if it is never started.
    pub program: Option<PathBuf>,
    /// The environment of that program.
    variables: Arc<Vec<(OsString, OsString)>>,
    /// Held while it is started, so that several devices do not start it several times.
    starting: Arc<Mutex<()>>,
}

impl AdbServer {
    /// A server that is never started.
    pub fn at(address: AdbAddress) -> AdbServer {
        AdbServer { address, program: None, variables: Arc::default(), starting: Arc::default() }
    }

    /// A server that is started with this program if none runs.
    pub fn started_by(address: AdbAddress, program: PathBuf, variables: Vec<(OsString, OsString)>) -> AdbServer {
        AdbServer { program: Some(program), variables: Arc::new(variables), ..AdbServer::at(address) }
    }

    /// Connects to the server, and starts it if none runs.
    pub async fn connect(&self, budget: &Budget) -> Result<AdbConnection, AdbError> {
        if let Some(connection) = self.try_connect(budget).await? {
            return Ok(connection);
        }
        if !self.address.is_local() {
            return Err(self.unreachable("connection refused"));
        }
        let Some(program) = &self.program else {
            return Err(AdbError::NoProgram { address: self.address.clone() });
        };
        let _one = within(budget, "starting the adb server", async { Ok(self.starting.lock().await) }).await?;
        // Another device may have started it meanwhile.
        if let Some(connection) = self.try_connect(budget).await? {
            return Ok(connection);
        }
        within(&at_most(budget, START), "`adb start-server`", self.start(program)).await?;
        let connection = self.try_connect(budget).await?;
        connection.ok_or_else(|| self.unreachable("it was started, but refuses connections"))
    }

    /// A connection, or `None` if nothing listens there.
    pub async fn try_connect(&self, budget: &Budget) -> Result<Option<AdbConnection>, AdbError> {
        let AdbAddress { host, port } = &self.address;
        let connected = async { Ok(TcpStream::connect((host.as_str(), *port)).await) };
        match within(budget, "connecting to the adb server", connected).await? {
            Ok(stream) => Ok(Some(AdbConnection::new(stream))),
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => Ok(None),
            Err(error) => Err(self.unreachable(&error.to_string())),
        }
    }

    fn unreachable(&self, why: &str) -> AdbError {
        AdbError::NoServer { address: self.address.clone(), why: why.to_string() }
    }

    /// Runs `adb start-server`, which returns once the server listens. The server is a process of its own, not a child of ours: it
    /// belongs to all programs of this user, as if they had typed the command.
    async fn start(&self, program: &PathBuf) -> Result<(), AdbError> {
        let failed = |why: String| AdbError::NotStarted { why };
        let mut command = Command::new(program);
        command.arg("start-server").env_clear().envs(self.variables.iter().cloned()).current_dir("/");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        // An interrupt of our terminal must not end it.
        command.process_group(0);
        let mut child = command.spawn().map_err(|error| failed(format!("`{}`: {error}", program.display())))?;
        let stderr = child.stderr.take();
        let status = child.wait().await.map_err(|error| failed(error.to_string()))?;
        if status.success() {
            return Ok(());
        }
        let mut printed = Vec::new();
        if let Some(stderr) = stderr {
            let _ = stderr.take(PRINTED).read_to_end(&mut printed).await;
        }
        let printed = String::from_utf8_lossy(&printed);
        let line = printed.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it printed nothing");
        Err(failed(format!("{line} ({status})")))
    }
}
