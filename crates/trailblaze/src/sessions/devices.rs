//! The devices that sessions can have: one source for each provider, and who uses which device of this machine.

use std::path::PathBuf;
use std::sync::Arc;

use futures::future::join_all;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_core::device_source::{DeviceSource, DeviceSpec};
use trailblaze_core::driver::{Budget, Driver, DriverError, ObserveOptions};
use trailblaze_core::engine::session::DeviceClaim;
use trailblaze_core::finding::Finding;
use trailblaze_core::limits;
use trailblaze_drivers::provider::Machine;
use trailblaze_protocol::driver::Platform;

use crate::files::device_lock::{DeviceLock, LockError};
use crate::output::words::count;
use crate::project::devices::DeviceError;
use crate::project::loaded::Loaded;
use crate::project::providers::{DeviceProviders, default_device};

/// The sources of a run's devices.
pub struct DeviceSources {
    sources: Vec<(&'static str, Arc<dyn DeviceSource>)>,
    /// The folder of the locks for devices that only one session on this machine can use.
    locks: PathBuf,
    /// Who uses the devices, for others who want them.
    holder: String,
}

/// A device that a session can have, and its claim to it.
pub struct Acquired {
    pub driver: Arc<dyn Driver>,
    pub claim: Option<DeviceClaim>,
}

/// A setting of the command line that is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SettingError(pub String);

impl DeviceSources {
    /// Starts nothing.
    pub fn open(
        providers: &DeviceProviders,
        machine: &Machine,
        locks: PathBuf,
        holder: String,
    ) -> Result<DeviceSources, SettingError> {
        let sources = providers.iter().map(|(provider, config)| Ok((provider.name, config.open(machine)?)));
        let sources = sources.collect::<Result<_, String>>().map_err(SettingError)?;
        Ok(DeviceSources { sources, locks, holder })
    }

    /// Makes a device ready for a session.
    pub async fn acquire(&self, device: &DeviceSpec) -> Result<Acquired, DriverError> {
        let claim = match &device.machine_id {
            Some(id) => Some(self.claim(id)?),
            None => None,
        };
        let Some((_, source)) = self.sources.iter().find(|(name, _)| *name == device.provider) else {
            let evidence = format!("this build has no provider `{}`", device.provider);
            return Err(DriverError::NotStarted { evidence });
        };
        let budget = Budget { deadline: Instant::now() + source.patience(device), ..budget() };
        let driver = budget.run("the device to get ready", source.acquire(device, &budget)).await??;
        Ok(Acquired { driver, claim })
    }

    fn claim(&self, id: &str) -> Result<DeviceClaim, DriverError> {
        let evidence = match DeviceLock::take(&self.locks, id, &self.holder) {
            Ok(lock) => return Ok(Box::new(lock)),
            Err(LockError::Held { holder }) => {
                format!("it is in use by {holder}; wait until it is free, or choose another with `-d`")
            }
            Err(LockError::Io(error)) => format!("cannot lock it in `{}`: {error}", self.locks.display()),
        };
        Err(DriverError::NotStarted { evidence })
    }

    /// The devices that are there now. A source that cannot tell is left out; `check` says why.
    pub async fn discover(&self) -> Vec<DeviceSpec> {
        let budget = budget();
        let found = join_all(self.sources.iter().map(|(_, source)| source.discover(&budget))).await;
        found.into_iter().flat_map(Result::unwrap_or_default).collect()
    }

    /// The devices of a command, where a platform stands for its only device: that of the project, or else the only one that is
    /// connected, or else the default one.
    pub async fn resolve(&self, loaded: &Loaded, names: &[String]) -> Result<Vec<String>, DeviceError> {
        let mut resolved = Vec::new();
        for name in names {
            resolved.push(match Platform::parse(name) {
                Some(platform) => self.only_device(loaded, platform).await?,
                None => name.clone(),
            });
        }
        Ok(resolved)
    }

    async fn only_device(&self, loaded: &Loaded, platform: Platform) -> Result<String, DeviceError> {
        let mut ids = loaded.own_devices(platform);
        if ids.is_empty() {
            let is_real = |device: &DeviceSpec| device.platform == platform && !device.id.is_simulated();
            ids.extend(
                self.discover().await.iter().filter(|device| is_real(device)).map(|device| device.id.to_string()),
            );
        }
        match ids.as_slice() {
            [] => Ok(default_device(platform).to_string()),
            [id] => Ok(id.clone()),
            _ => Err(DeviceError::Several { platform, ids }),
        }
    }

    /// Whether everything is there that these devices need.
    pub async fn check(&self, devices: &[DeviceSpec]) -> Vec<Finding> {
        let budget = budget();
        let is_needed = |name: &str| devices.iter().any(|device| device.provider == name);
        let checks = self.sources.iter().map(|(name, source)| source.check(&budget, is_needed(name)));
        join_all(checks).await.into_iter().flatten().collect()
    }

    /// What is wrong with one device, if anything: opens it as a session would, looks at its screen, and puts it back as it was.
    pub async fn examine(&self, device: &DeviceSpec) -> Vec<Finding> {
        const ABOUT: &str = "device";
        let started = Instant::now();
        let Acquired { driver, claim: _claim } = match self.acquire(device).await {
            Ok(acquired) => acquired,
            Err(error) => return vec![Finding::bad(ABOUT, error.to_string())],
        };
        let description = driver.describe();
        let (kind, size) = (description.classifiers.join("-"), description.size);
        let about = format!("{}, {kind}, {}×{}", description.summary, size.width, size.height);
        let mut found = vec![Finding::good(ABOUT, format!("{about}; ready after {}", millis(started)))];
        let started = Instant::now();
        let looking = Budget::new(started + limits::DRIVER_COMMAND, CancellationToken::new());
        found.push(match driver.observe(&looking, ObserveOptions::PICTURE).await {
            Ok(screen) => {
                let n_elements = screen.root.walk().count();
                let picture = match &screen.picture {
                    Some(picture) => format!("a picture of {}×{}", picture.size.width, picture.size.height),
                    None => "no picture".to_string(),
                };
                let shown = count(n_elements, "element");
                Finding::good(ABOUT, format!("its screen was looked at in {}: {shown}, {picture}", millis(started)))
            }
            Err(error) => Finding::bad(ABOUT, format!("its screen cannot be looked at: {error}")),
        });
        driver.close().await;
        found
    }

    /// Ends what devices share.
    pub async fn close(&self) {
        join_all(self.sources.iter().map(|(_, source)| source.close())).await;
    }
}

fn millis(since: Instant) -> String {
    format!("{} ms", since.elapsed().as_millis())
}

/// How long finding and acquiring devices may take. A command that is interrupted drops what it waits for.
fn budget() -> Budget {
    Budget::new(Instant::now() + limits::DEVICE_START, CancellationToken::new())
}
