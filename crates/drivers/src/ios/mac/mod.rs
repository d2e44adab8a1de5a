//! What only a Mac with Xcode can do: start simulators with `xcrun simctl`, and WebDriverAgent with `xcodebuild`.
//!
//! Both programs are searched on the PATH. Where they are missing, what needs them says so, and everything else works without them.

mod agent;
mod command;
mod crash;
mod log;
mod output;
mod simulator;
mod simulators;
mod video;

use std::time::Duration;

use tokio::time::Instant;
use trailblaze_core::driver::{Budget, DriverError};

pub use agent::AgentProcess;
pub use crash::newest_crash;
pub use log::SimulatorLog;
pub use simulator::Simulator;
pub use simulators::{KnownSimulator, is_simulator_udid};

use self::command::XcodePrograms;
use super::config::IosSettings;
use super::facts::WdaStatus;
use super::usb::Usbmuxd;
use super::wda::WdaClient;
use crate::provider::Machine;

/// How long a WebDriverAgent that runs already may take to say so.
const ASKING: Duration = Duration::from_secs(5);
/// How long simulators may take to be listed.
const LISTING: Duration = Duration::from_secs(10);

/// The programs of Xcode, as far as this machine has them.
pub struct XcodeTools {
    programs: XcodePrograms,
}

/// What was started for a device. Ends with this.
#[derive(Default)]
pub struct HostedDevice {
    /// The simulator, if it is one whose Mac this is.
    pub simulator: Option<Simulator>,
    /// WebDriverAgent, if we have started it.
    pub agent: Option<AgentProcess>,
}

impl XcodeTools {
    pub fn find(machine: &Machine) -> XcodeTools {
        XcodeTools { programs: XcodePrograms::find(machine) }
    }

    /// The simulators that run.
    pub async fn booted(&self, budget: &Budget) -> Vec<KnownSimulator> {
        let brief = Budget { deadline: budget.deadline.min(Instant::now() + LISTING), ..budget.clone() };
        let listed = simulators::list(&self.programs, &brief).await.unwrap_or_default();
        listed.into_iter().filter(|simulator| simulator.is_booted).collect()
    }

    /// Starts the simulator and WebDriverAgent, as far as they do not run and the project wants that.
    pub async fn make_ready(
        &self,
        settings: &IosSettings,
        usbmuxd: &Usbmuxd,
        budget: &Budget,
    ) -> Result<HostedDevice, DriverError> {
        let wda = WdaClient::new(settings.address.clone(), usbmuxd);
        let simulator = match &settings.simulator {
            // One that answers runs on another Mac.
            Some(_) if !self.programs.has_xcrun() && answers(&wda, budget).await => None,
            Some(name) => Some(simulators::boot(&self.programs, name, budget).await?),
            None => None,
        };
        let agent = match &settings.wda_project {
            Some(_) if answers(&wda, budget).await => None,
            Some(project) => {
                let destination = match (&simulator, settings.address.cabled()) {
                    (Some(simulator), _) => simulator.udid.clone(),
                    (None, Some(port)) => port.udid.clone(),
                    (None, None) => {
                        let evidence = "`wdaProject` needs to know on which device WebDriverAgent is started: name a `simulator:`, or name the \
                                        device by its UDID";
                        return Err(DriverError::NotStarted { evidence: evidence.to_string() });
                    }
                };
                Some(AgentProcess::start(&self.programs, project, &destination, &wda, budget).await?)
            }
            None => None,
        };
        Ok(HostedDevice { simulator, agent })
    }
}

async fn answers(wda: &WdaClient, budget: &Budget) -> bool {
    let brief = Budget { deadline: budget.deadline.min(Instant::now() + ASKING), ..budget.clone() };
    WdaStatus::ask(wda, &brief).await.is_ok()
}
