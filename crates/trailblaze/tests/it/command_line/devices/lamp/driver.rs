//! A lamp as the engine sees it: one element, which a tap switches.

use async_trait::async_trait;
use parking_lot::Mutex;
use trailblaze_core::driver::{
    Action, ActionOutput, ActionTarget, Budget, DeviceDescription, Driver, DriverError, ObserveOptions,
};
use trailblaze_core::screen::{Field, Node, Props, Screen, SnapshotId};
use trailblaze_protocol::geometry::Rect;

pub struct Lamp {
    pub description: DeviceDescription,
    pub is_on: Mutex<bool>,
}

#[async_trait]
impl Driver for Lamp {
    fn describe(&self) -> &DeviceDescription {
        &self.description
    }

    async fn observe(&self, _: &Budget, _: ObserveOptions) -> Result<Screen, DriverError> {
        let is_on = *self.is_on.lock();
        let text = if is_on { "The lamp is on" } else { "The lamp is off" };
        let size = self.description.size;
        let root = Node {
            id: 1,
            reference: None,
            document: None,
            bounds: Some(Rect { left: 0, top: 0, right: size.width as i32, bottom: size.height as i32 }),
            is_clipped: false,
            props: Props::new(self.description.shape).with(Field::Text, text),
            children: Vec::new(),
        };
        let snapshot = SnapshotId(u64::from(is_on));
        Ok(Screen { snapshot, size, app: None, root, picture: None, is_moving: false })
    }

    async fn act(&self, _: &Budget, _: &ActionTarget, action: &Action) -> Result<ActionOutput, DriverError> {
        match action {
            Action::Tap => {
                let mut is_on = self.is_on.lock();
                *is_on = !*is_on;
                Ok(ActionOutput::default())
            }
            other => {
                Err(DriverError::Unsupported { action: other.name().to_string(), platform: self.description.platform })
            }
        }
    }

    async fn changed(&self, budget: &Budget, _: SnapshotId) -> Result<(), DriverError> {
        tokio::time::sleep_until(budget.deadline).await;
        Ok(())
    }
}
