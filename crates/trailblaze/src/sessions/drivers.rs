//! The drivers of this build: one table, by key, that says how each is opened and how it describes screens.

use std::sync::Arc;

use trailblaze_core::driver::Driver;
use trailblaze_core::screen::Shape;
use trailblaze_drivers::sim::{Options, Sim};
use trailblaze_drivers::web::{Browsers, Start, Web};

use crate::project::devices::{DeviceKind, DeviceSpec};
use crate::project::sim::SimSetup;

/// What drivers need besides the device that they open.
pub struct Drivers {
    pub sim: SimSetup,
    /// What jitter, drift and faults of simulated devices are drawn from.
    pub seed: u64,
    pub browsers: Arc<Browsers>,
}

/// A driver of this build.
pub struct DriverRow {
    /// The kind of device that it opens, by the key of [`DeviceKind::key`].
    pub key: &'static str,
    /// The vocabulary of its screens. A simulated device has that of the driver it stands for.
    pub shape: Option<Shape>,
    open: fn(&Drivers, &DeviceSpec) -> Arc<dyn Driver>,
}

/// Every driver of this build.
pub const DRIVERS: &[DriverRow] = &[
    DriverRow { key: "sim", shape: None, open: open_sim },
    DriverRow { key: "playwright-native", shape: Some(Shape::Web), open: open_chromium },
];

impl Drivers {
    /// Opens a device. Nothing is started before the device is first used.
    pub fn open(&self, device: &DeviceSpec) -> Arc<dyn Driver> {
        let row = DRIVERS.iter().find(|row| row.key == device.kind.key());
        (row.expect("every kind of device has a driver").open)(self, device)
    }
}

fn open_sim(drivers: &Drivers, device: &DeviceSpec) -> Arc<dyn Driver> {
    let options = Options { seed: drivers.seed, faults: drivers.sim.faults.clone() };
    let (id, key) = (device.id.clone(), device.driver.clone());
    let sim = Sim::open(id, device.platform, key, drivers.sim.apps.clone(), options);
    Arc::new(sim.with_classifiers(&device.classifiers))
}

fn open_chromium(drivers: &Drivers, device: &DeviceSpec) -> Arc<dyn Driver> {
    let start = match &device.kind {
        DeviceKind::Chromium(start) => start.clone(),
        DeviceKind::Simulated => Start::default(),
    };
    let (id, key) = (device.id.clone(), device.driver.clone());
    Arc::new(Web::new(id, key, &device.classifiers, start, Arc::clone(&drivers.browsers)))
}

#[cfg(test)]
mod tests {
    use trailblaze_drivers::web::BrowserOptions;
    use trailblaze_protocol::driver::{DriverKey, Platform};
    use trailblaze_protocol::ids::DeviceId;
    use trailblaze_supervise::Supervisor;

    use super::*;

    #[test]
    fn a_driver_describes_screens_as_the_table_says() {
        let browsers = Browsers::new(BrowserOptions::default(), Supervisor::new());
        let drivers = Drivers { sim: SimSetup::default(), seed: 1, browsers };
        for platform in Platform::ALL {
            for kind in [DeviceKind::Simulated, DeviceKind::Chromium(Start::default())] {
                let row = DRIVERS.iter().find(|row| row.key == kind.key()).expect("it has a row");
                let driver = DriverKey::default_for(platform);
                let id = DeviceId::new(format!("{platform}/one"));
                let device = DeviceSpec { id, platform, driver, classifiers: Vec::new(), kind };
                let shape = row.shape.unwrap_or_else(|| Shape::for_driver(&device.driver, platform));
                assert_eq!(drivers.open(&device).describe().shape, shape, "{} on {platform}", row.key);
            }
        }
    }
}
