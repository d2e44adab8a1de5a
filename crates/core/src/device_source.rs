//! The port to where devices come from: which there are, how one is acquired, and what is missing to do so.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::watch;
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::geometry::Size;
use trailblaze_protocol::ids::DeviceId;

use crate::driver::{
    Action, ActionOutput, ActionTarget, Budget, DeviceDescription, Driver, DriverError, ObserveOptions,
};
use crate::finding::Finding;
use crate::limits;
use crate::screen::{Screen, Shape, SnapshotId};

/// Where devices of one kind come from. What they share, such as a browser or a connection, starts with the first device that needs it.
#[async_trait]
pub trait DeviceSource: Send + Sync {
    /// The devices that are there now, whether or not the project lists them.
    async fn discover(&self, budget: &Budget) -> Result<Vec<DeviceSpec>, DriverError>;

    /// Follows which devices are there. `None` if that never changes.
    fn changes(&self) -> Option<watch::Receiver<Vec<DeviceSpec>>> {
        None
    }

    /// How long a device may take to get ready.
    fn patience(&self, device: &DeviceSpec) -> Duration {
        let _ = device;
        limits::DEVICE_START
    }

    /// Makes a device ready for a session. What is then known about it is in the description of its driver.
    async fn acquire(&self, device: &DeviceSpec, budget: &Budget) -> Result<Arc<dyn Driver>, DriverError>;

    /// Checks whether everything is there that such devices need, without starting anything that stays. What is missing is wrong only if
    /// the project has such a device.
    async fn check(&self, budget: &Budget, is_needed: bool) -> Vec<Finding>;

    /// Ends what its devices share.
    async fn close(&self);
}

/// A device, as far as it is known before it is acquired.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceSpec {
    pub id: DeviceId,
    pub platform: Platform,
    pub driver: DriverKey,
    /// The name of the provider that it comes from.
    pub provider: &'static str,
    /// Broadest first: `["android", "phone"]`.
    pub classifiers: Vec<String>,
    /// Zero if it is not known yet.
    pub size: Size,
    /// A name for people: `simulated phone`.
    pub summary: String,
    /// Whether what a person does on the device itself can be followed.
    pub follows_person: bool,
    /// Identifies a device that only one session on this machine can use, such as the serial number of a phone. `None` if each
    /// session gets a device of its own.
    pub machine_id: Option<String>,
    pub settings: DeviceSettings,
}

impl DeviceSpec {
    /// Whether the two can stand in for each other: they differ in nothing but their names.
    pub fn is_like(&self, other: &DeviceSpec) -> bool {
        *self == DeviceSpec { id: self.id.clone(), machine_id: self.machine_id.clone(), ..other.clone() }
    }

    /// What is known about the device before it is acquired.
    pub fn description(&self) -> DeviceDescription {
        DeviceDescription {
            id: self.id.clone(),
            platform: self.platform,
            driver: self.driver.clone(),
            shape: Shape::for_driver(&self.driver, self.platform),
            size: self.size,
            classifiers: self.classifiers.clone(),
            summary: self.summary.clone(),
            knows_elements: false,
        }
    }
}

/// What only the devices of one provider have, such as the size of a browser's window.
#[derive(Clone)]
pub struct DeviceSettings(Arc<dyn AnySettings>);

impl DeviceSettings {
    pub fn new<T: fmt::Debug + PartialEq + Send + Sync + 'static>(settings: T) -> DeviceSettings {
        DeviceSettings(Arc::new(settings))
    }

    /// The settings, if they are of this type.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        self.0.as_any().downcast_ref()
    }
}

impl fmt::Debug for DeviceSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialEq for DeviceSettings {
    fn eq(&self, other: &DeviceSettings) -> bool {
        self.0.is_equal(&*other.0)
    }
}

trait AnySettings: fmt::Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn is_equal(&self, other: &dyn AnySettings) -> bool;
}

impl<T: fmt::Debug + PartialEq + Send + Sync + 'static> AnySettings for T {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_equal(&self, other: &dyn AnySettings) -> bool {
        other.as_any().downcast_ref::<T>() == Some(self)
    }
}

/// Stands for a device that could not be acquired, so that the record can say so. Every command returns the reason.
pub struct UnavailableDevice {
    description: DeviceDescription,
    error: DriverError,
}

impl UnavailableDevice {
    pub fn new(device: &DeviceSpec, error: DriverError) -> UnavailableDevice {
        UnavailableDevice { description: device.description(), error }
    }
}

#[async_trait]
impl Driver for UnavailableDevice {
    fn describe(&self) -> &DeviceDescription {
        &self.description
    }

    async fn observe(&self, _: &Budget, _: ObserveOptions) -> Result<Screen, DriverError> {
        Err(self.error.clone())
    }

    async fn act(&self, _: &Budget, _: &ActionTarget, _: &Action) -> Result<ActionOutput, DriverError> {
        Err(self.error.clone())
    }

    async fn changed(&self, _: &Budget, _: SnapshotId) -> Result<(), DriverError> {
        Err(self.error.clone())
    }
}
