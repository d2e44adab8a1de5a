//! The fast way for as long as it works, and then the plain one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use trailblaze_core::driver::{Budget, DeviceEvents, DriverError};
use trailblaze_core::screen::Picture;
use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::event::Level;

use super::Automation;
use super::server::ServerAutomation;
use super::shell::ShellAutomation;
use crate::android::hierarchy::ViewHierarchy;
use crate::gesture::Gesture;

pub struct FallbackAutomation {
    fast: ServerAutomation,
    plain: ShellAutomation,
    events: Arc<DeviceEvents>,
    is_plain: AtomicBool,
}

impl FallbackAutomation {
    pub fn new(fast: ServerAutomation, plain: ShellAutomation, events: Arc<DeviceEvents>) -> FallbackAutomation {
        let automation = FallbackAutomation { fast, plain, events, is_plain: AtomicBool::new(false) };
        automation.falls_back();
        automation
    }

    fn way(&self) -> &dyn Automation {
        if self.is_plain.load(Ordering::SeqCst) { &self.plain } else { &self.fast }
    }

    /// Whether a request that just failed is to be done again, in the plain way: the server cannot be started, so that it never got the
    /// request. Says so once.
    fn falls_back(&self) -> bool {
        let Some(why) = self.fast.fault() else { return false };
        if self.is_plain.swap(true, Ordering::SeqCst) {
            return false;
        }
        let text = format!("the fast way of looking does not work on this phone, so that the plain one is used: {why}");
        self.events.add(DeviceEvent::Log { level: Level::Warning, text });
        true
    }
}

#[async_trait]
impl Automation for FallbackAutomation {
    async fn tree(&self, budget: &Budget) -> Result<ViewHierarchy, DriverError> {
        match self.way().tree(budget).await {
            Err(_) if self.falls_back() => self.plain.tree(budget).await,
            done => done,
        }
    }

    async fn picture(&self, budget: &Budget) -> Result<Picture, DriverError> {
        match self.way().picture(budget).await {
            // A tree may have fallen back meanwhile.
            Err(_) if self.falls_back() || self.fast.fault().is_some() => self.plain.picture(budget).await,
            done => done,
        }
    }

    async fn touch(&self, budget: &Budget, gesture: &Gesture) -> Result<(), DriverError> {
        match self.way().touch(budget, gesture).await {
            Err(_) if self.falls_back() => self.plain.touch(budget, gesture).await,
            done => done,
        }
    }

    async fn press(&self, budget: &Budget, keys: &[&str]) -> Result<(), DriverError> {
        match self.way().press(budget, keys).await {
            Err(_) if self.falls_back() => self.plain.press(budget, keys).await,
            done => done,
        }
    }

    fn check_text(&self, text: &str) -> Result<(), DriverError> {
        self.way().check_text(text)
    }

    async fn type_text(&self, budget: &Budget, text: &str) -> Result<(), DriverError> {
        match self.way().type_text(budget, text).await {
            Err(_) if self.falls_back() => self.plain.type_text(budget, text).await,
            done => done,
        }
    }

    async fn replace_text(&self, budget: &Budget, text: &str) -> Result<bool, DriverError> {
        match self.way().replace_text(budget, text).await {
            Err(_) if self.falls_back() => self.plain.replace_text(budget, text).await,
            replaced => replaced,
        }
    }

    async fn close(&self) {
        self.fast.close().await;
    }
}
