//! The devices of the process. A pool that keeps devices lets them outlive the session, and the command, that opened them.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use parking_lot::Mutex;
use trailblaze_core::driver::{Acted, Action, Budget, Description, Driver, DriverError, Heard, Target, Want};
use trailblaze_core::query::{Checks, Find, Query};
use trailblaze_core::screen::{Screen, SnapshotId};
use trailblaze_protocol::ids::DeviceId;

use crate::project::devices::DeviceSpec;

/// Hands devices out. One that is kept belongs to one session at a time.
pub struct DevicePool {
    /// The devices that are kept; `None` if devices are closed with their sessions.
    kept: Option<Mutex<HashMap<DeviceId, PooledDevice>>>,
}

struct PooledDevice {
    device: DeviceSpec,
    driver: Arc<dyn Driver>,
    is_taken: bool,
}

/// A device that another session has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0} is used by another session")]
pub struct DeviceTaken(pub DeviceId);

impl DevicePool {
    /// Devices are closed with their sessions, as a single command needs it.
    pub fn closing() -> Arc<DevicePool> {
        Arc::new(DevicePool { kept: None })
    }

    /// Devices stay open until the pool is closed.
    pub fn keeping() -> Arc<DevicePool> {
        Arc::new(DevicePool { kept: Some(Mutex::default()) })
    }

    /// Hands a device out: one that was handed back before, if it has the same settings, or a newly opened one.
    pub async fn take(
        self: &Arc<Self>,
        device: &DeviceSpec,
        open: impl FnOnce() -> Arc<dyn Driver>,
    ) -> Result<Arc<dyn Driver>, DeviceTaken> {
        let Some(kept) = &self.kept else { return Ok(open()) };
        // Claimed before anything is awaited, so that no other session gets it meanwhile.
        let (lease, former) = {
            let mut kept = kept.lock();
            match kept.get_mut(&device.id) {
                Some(known) if known.is_taken => return Err(DeviceTaken(device.id.clone())),
                Some(known) if known.device == *device => {
                    known.is_taken = true;
                    (self.lease(known), None)
                }
                _ => {
                    let entry = PooledDevice { device: device.clone(), driver: open(), is_taken: true };
                    let lease = self.lease(&entry);
                    (lease, kept.insert(device.id.clone(), entry))
                }
            }
        };
        if let Some(former) = former {
            former.driver.close().await;
        }
        Ok(lease)
    }

    /// Closes the devices that are kept.
    pub async fn close(&self) {
        let kept: Vec<PooledDevice> =
            self.kept.iter().flat_map(|kept| std::mem::take(&mut *kept.lock()).into_values()).collect();
        futures::future::join_all(kept.iter().map(|kept| kept.driver.close())).await;
    }

    fn lease(self: &Arc<Self>, kept: &PooledDevice) -> Arc<dyn Driver> {
        Arc::new(Lease {
            driver: Arc::clone(&kept.driver),
            pool: Arc::clone(self),
            id: kept.device.id.clone(),
            is_handed_back: AtomicBool::new(false),
        })
    }

    fn hand_back(&self, id: &DeviceId) {
        if let Some(kept) = &self.kept
            && let Some(known) = kept.lock().get_mut(id)
        {
            known.is_taken = false;
        }
    }
}

/// A kept device in the hands of a session. Closing it hands it back.
struct Lease {
    driver: Arc<dyn Driver>,
    pool: Arc<DevicePool>,
    id: DeviceId,
    /// Set once: afterwards the device may belong to another session.
    is_handed_back: AtomicBool,
}

impl Lease {
    fn hand_back(&self) {
        if !self.is_handed_back.swap(true, Ordering::AcqRel) {
            self.pool.hand_back(&self.id);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.hand_back();
    }
}

#[async_trait]
impl Driver for Lease {
    fn describe(&self) -> &Description {
        self.driver.describe()
    }

    async fn observe(&self, budget: &Budget, want: Want) -> Result<Screen, DriverError> {
        self.driver.observe(budget, want).await
    }

    async fn find(&self, budget: &Budget, query: &Query, checks: Checks) -> Result<Find, DriverError> {
        self.driver.find(budget, query, checks).await
    }

    async fn act(&self, budget: &Budget, target: &Target, action: &Action) -> Result<Acted, DriverError> {
        self.driver.act(budget, target, action).await
    }

    async fn changed(&self, budget: &Budget, since: SnapshotId) -> Result<(), DriverError> {
        self.driver.changed(budget, since).await
    }

    fn heard(&self) -> Vec<Heard> {
        self.driver.heard()
    }

    async fn close(&self) {
        self.hand_back();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;
    use tokio_util::sync::CancellationToken;
    use trailblaze_core::driver::LaunchMode;
    use trailblaze_drivers::sim::{Options, Sim, demo_app};
    use trailblaze_protocol::driver::{DriverKey, Platform};

    use super::*;
    use crate::project::devices::DeviceKind;

    fn device(classifiers: &[&str]) -> DeviceSpec {
        DeviceSpec {
            id: DeviceId::new("android/sim-1"),
            platform: Platform::Android,
            driver: DriverKey::default_for(Platform::Android),
            classifiers: classifiers.iter().map(ToString::to_string).collect(),
            kind: DeviceKind::Simulated,
        }
    }

    fn open(device: &DeviceSpec) -> Arc<dyn Driver> {
        let (id, key) = (device.id.clone(), device.driver.clone());
        Arc::new(Sim::open(id, device.platform, key, vec![demo_app()], Options::default()))
    }

    fn budget() -> Budget {
        Budget::new(Instant::now() + Duration::from_secs(10), CancellationToken::new())
    }

    async fn app(driver: &Arc<dyn Driver>) -> Option<String> {
        driver.observe(&budget(), Want::TREE).await.expect("it shows its screen").app
    }

    #[tokio::test]
    async fn a_kept_device_stays_as_the_last_session_left_it() {
        for (pool, is_kept) in [(DevicePool::keeping(), true), (DevicePool::closing(), false)] {
            let device = device(&[]);
            let first = pool.take(&device, || open(&device)).await.expect("it is free");
            let id = demo_app().about.id.value.clone();
            let launch = Action::LaunchApp { app: id.clone(), mode: LaunchMode::Reinstall };
            first.act(&budget(), &Target::Device, &launch).await.expect("the app starts");
            first.close().await;
            let second = pool.take(&device, || open(&device)).await.expect("it was handed back");
            assert_eq!(app(&second).await == Some(id), is_kept);
        }
    }

    #[tokio::test]
    async fn a_kept_device_has_one_session_at_a_time() {
        let pool = DevicePool::keeping();
        let phone = device(&[]);
        let first = pool.take(&phone, || open(&phone)).await.expect("it is free");
        let second = pool.take(&phone, || open(&phone)).await;
        assert_eq!(second.err(), Some(DeviceTaken(phone.id.clone())));
        // A lease that is dropped without being closed is handed back too.
        drop(first);
        let first = pool.take(&phone, || open(&phone)).await.expect("it was handed back");
        first.close().await;
        let second = pool.take(&phone, || open(&phone)).await.expect("it was handed back");
        drop(first);
        let third = pool.take(&phone, || open(&phone)).await;
        assert_eq!(third.err(), Some(DeviceTaken(phone.id.clone())), "the first lease has no part in it any more");
        second.close().await;
        // With other settings it is opened again.
        let tablet = device(&["tablet"]);
        let mut is_opened = false;
        let other = pool.take(&tablet, || {
            is_opened = true;
            open(&tablet)
        });
        assert!(other.await.is_ok());
        assert!(is_opened);
    }
}
