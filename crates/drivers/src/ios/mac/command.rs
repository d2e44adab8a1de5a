//! The programs `xcrun` and `xcodebuild`, and one run of one.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use trailblaze_core::driver::{Budget, DriverError, cut};
use trailblaze_core::screen::fold;
use trailblaze_supervise::{EndingSignal, Grace, Launch, ProcessExit, Running, Supervisor};

use crate::provider::Machine;

/// The longest output that is quoted, in bytes.
const QUOTED: usize = 500;
/// How long a program may take to finish its work when it is asked to end.
const FINISHING: Grace = Grace { after_stdin: Duration::ZERO, after_term: Duration::from_secs(30) };

/// Where the programs are, and who starts them.
#[derive(Clone)]
pub struct XcodePrograms {
    xcrun: Option<PathBuf>,
    xcodebuild: Option<PathBuf>,
    supervisor: Supervisor,
    /// Where reports of crashes are kept: below the home folder.
    pub home: Option<PathBuf>,
}

impl XcodePrograms {
    pub fn find(machine: &Machine) -> XcodePrograms {
        let path = machine.var("PATH").unwrap_or(OsStr::new("")).to_os_string();
        let find = |name: &str| {
            let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
            folders.map(|folder| folder.join(name)).find(|program| program.is_file())
        };
        XcodePrograms {
            xcrun: find("xcrun"),
            xcodebuild: find("xcodebuild"),
            supervisor: machine.supervisor.clone(),
            home: machine.var("HOME").map(PathBuf::from),
        }
    }

    pub fn has_xcrun(&self) -> bool {
        self.xcrun.is_some()
    }

    /// Starts `xcrun simctl` with arguments.
    pub async fn start_simctl(&self, arguments: &[&str]) -> Result<Running, DriverError> {
        self.start(self.simctl_launch(arguments)?).await
    }

    /// Starts `xcrun simctl` with arguments, for something that goes on until somebody presses Ctrl-C.
    pub async fn start_endless_simctl(&self, arguments: &[&str]) -> Result<Running, DriverError> {
        let launch = self.simctl_launch(arguments)?;
        self.start(Launch { ending: EndingSignal::Interrupt, grace: FINISHING, ..launch }).await
    }

    fn simctl_launch(&self, arguments: &[&str]) -> Result<Launch, DriverError> {
        let program = self.xcrun.as_deref().ok_or_else(|| missing("xcrun", "a simulator"))?;
        let mut launch = Launch::new(program, std::env::temp_dir());
        launch.args = ["simctl"].iter().chain(arguments).map(OsString::from).collect();
        Ok(launch)
    }

    /// Starts `xcodebuild` in a folder.
    pub async fn start_xcodebuild(
        &self,
        arguments: &[&str],
        folder: &Path,
        environment: &[(&str, String)],
    ) -> Result<Running, DriverError> {
        let program = self.xcodebuild.as_deref().ok_or_else(|| missing("xcodebuild", "starting WebDriverAgent"))?;
        let mut launch = Launch::new(program, folder);
        launch.args = arguments.iter().map(OsString::from).collect();
        launch.set_env =
            environment.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
        self.start(launch).await
    }

    async fn start(&self, launch: Launch) -> Result<Running, DriverError> {
        let started = self.supervisor.start(launch).await;
        started.map_err(|error| DriverError::NotStarted { evidence: error.to_string() })
    }

    /// Runs `xcrun simctl` and returns what it prints. One that fails says why.
    pub async fn simctl(&self, budget: &Budget, arguments: &[&str]) -> Result<String, DriverError> {
        let what = format!("xcrun simctl {}", arguments.first().unwrap_or(&""));
        let mut running = self.start_simctl(arguments).await?;
        drop(running.stdin);
        let (mut printed, mut complained) = (Vec::new(), Vec::new());
        let work = async {
            let read =
                tokio::join!(running.stdout.read_to_end(&mut printed), running.stderr.read_to_end(&mut complained));
            (read.0.and(read.1), running.child.ended().await)
        };
        let (_, ended) = budget.run(&what, work).await?;
        match ended {
            ProcessExit::Code(0) => Ok(String::from_utf8_lossy(&printed).into_owned()),
            ended => {
                let said = cut(&fold(&String::from_utf8_lossy(&complained)), QUOTED);
                Err(DriverError::Refused { reason: format!("`{what}` {ended}: {said}") })
            }
        }
    }
}

fn missing(program: &str, what: &str) -> DriverError {
    let evidence = format!("{what} needs a Mac with Xcode: there is no `{program}` on the PATH");
    DriverError::NotStarted { evidence }
}
