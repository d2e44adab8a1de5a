//! WebDriverAgent, started with `xcodebuild`.

use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio_util::task::AbortOnDropHandle;
use trailblaze_core::driver::{Budget, DriverError};
use trailblaze_supervise::{Child, Running};

use super::answers;
use super::command::XcodePrograms;
use super::output::LastLines;
use crate::ios::wda::WdaClient;

/// How often a WebDriverAgent that is starting is asked whether it is ready.
const TICK: Duration = Duration::from_millis(250);
/// How long its last lines may take to arrive when it has ended.
const LAST_LINES: Duration = Duration::from_secs(5);

/// A WebDriverAgent that runs for as long as this exists.
pub struct AgentProcess {
    child: Child,
    reading: [AbortOnDropHandle<()>; 2],
}

impl AgentProcess {
    /// Builds it if needed, starts it on a device, and waits until it answers.
    pub async fn start(
        programs: &XcodePrograms,
        project: &Path,
        udid: &str,
        wda: &WdaClient,
        budget: &Budget,
    ) -> Result<AgentProcess, DriverError> {
        if !project.join("WebDriverAgent.xcodeproj").is_dir() {
            let evidence = format!(
                "`wdaProject` is {}, where no WebDriverAgent.xcodeproj is; clone https://github.com/appium/WebDriverAgent",
                project.display()
            );
            return Err(DriverError::NotStarted { evidence });
        }
        let destination = format!("id={udid}");
        let arguments = [
            "test",
            "-project",
            "WebDriverAgent.xcodeproj",
            "-scheme",
            "WebDriverAgentRunner",
            "-destination",
            destination.as_str(),
        ];
        let environment = wda.address().port().map(|port| ("USE_PORT", port.to_string()));
        let Running { stdin, stdout, stderr, child } =
            programs.start_xcodebuild(&arguments, project, environment.as_slice()).await?;
        drop(stdin);
        let printed = LastLines::default();
        let reading = [printed.follow(BufReader::new(stdout).lines()), printed.follow(BufReader::new(stderr).lines())];
        let mut agent = AgentProcess { child, reading };
        agent.wait_until_ready(wda, budget, &printed).await?;
        Ok(agent)
    }

    async fn wait_until_ready(
        &mut self,
        wda: &WdaClient,
        budget: &Budget,
        printed: &LastLines,
    ) -> Result<(), DriverError> {
        loop {
            if answers(wda, budget).await {
                return Ok(());
            }
            if let Some(ended) = self.child.exited() {
                // What it printed last says why.
                for reading in &mut self.reading {
                    let _ = tokio::time::timeout(LAST_LINES, reading).await;
                }
                let evidence = format!("`xcodebuild`, which starts WebDriverAgent, {ended}: {printed}");
                return Err(DriverError::NotStarted { evidence });
            }
            let waited = budget.run("xcodebuild", tokio::time::sleep(TICK)).await;
            if let Err(DriverError::TimedOut { .. }) = waited {
                let evidence = format!(
                    "WebDriverAgent did not answer at {} in time; `xcodebuild` said: {printed}",
                    wda.address(),
                );
                return Err(DriverError::NotStarted { evidence });
            }
            waited?;
        }
    }

    /// Ends it, and waits until it is gone.
    pub async fn stop(&self) {
        self.child.terminate().await;
    }
}
