//! The plain way, with nothing on the phone that was not there: `uiautomator dump`, `screencap` and `input`.

use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;
use trailblaze_core::driver::{Budget, DriverError};
use trailblaze_core::screen::{Picture, Shape};

use super::{Automation, PAUSE, PICTURE, TREE, TRIES, pause};
use crate::android::adb::{AdbError, AdbShellOutput};
use crate::android::hierarchy::{DumpFault, ViewHierarchy};
use crate::android::phone::Phone;
use crate::android::{readiness, typing};
use crate::gesture::Gesture;
use crate::png::{PNG, read_picture};

/// How long another program may use `uiautomator` before that is a failure: a look takes it a second or two.
const OTHERS: Duration = Duration::from_secs(5);

pub struct ShellAutomation {
    phone: Phone,
    shape: Shape,
}

impl ShellAutomation {
    pub fn new(phone: Phone, shape: Shape) -> ShellAutomation {
        ShellAutomation { phone, shape }
    }

    /// What the command prints, or writes where there is no terminal, without which it prints nothing but that it succeeded.
    async fn dump(&self, budget: &Budget) -> Result<Vec<u8>, AdbError> {
        if !self.phone.device.is_here() {
            return self.phone.device.exec(budget, "uiautomator dump /dev/tty", TREE).await;
        }
        const TO_FILE: &str = "file=/data/local/tmp/trailblaze-dump.$$; uiautomator dump \"$file\" >\"$file.said\" 2>&1; \
            cat \"$file\" 2>/dev/null || cat \"$file.said\"; rm -f \"$file\" \"$file.said\"";
        Ok(self.phone.device.shell(budget, TO_FILE, TREE).await?.stdout)
    }
}

#[async_trait]
impl Automation for ShellAutomation {
    async fn tree(&self, budget: &Budget) -> Result<ViewHierarchy, DriverError> {
        let started = Instant::now();
        let mut last = None;
        let mut number = 1;
        loop {
            let printed = match self.dump(budget).await {
                Ok(printed) => printed,
                Err(error) => return Err(with_reason(error, last.as_ref())),
            };
            match ViewHierarchy::read(&printed, self.shape) {
                Ok(hierarchy) => {
                    tracing::debug!(target: "trailblaze::android", took = ?started.elapsed(), number, "tree");
                    return Ok(hierarchy);
                }
                Err(fault) => last = Some(fault),
            }
            if last == Some(DumpFault::Busy) && started.elapsed() < OTHERS {
                budget.run("looking at the screen", tokio::time::sleep(PAUSE)).await?;
                continue;
            }
            if pause(budget, number).await.is_err() {
                break;
            }
            number += 1;
        }
        let fault = last.map_or_else(String::new, |fault| fault.to_string());
        let why = readiness::why_dark(&self.phone, budget).await.unwrap_or(fault);
        Err(DriverError::Refused { reason: why })
    }

    async fn picture(&self, budget: &Budget) -> Result<Picture, DriverError> {
        let started = Instant::now();
        let mut last = String::new();
        for number in 1..=TRIES {
            let output = match self.phone.device.shell(budget, "screencap -p", PICTURE).await {
                // Taking it again does no harm.
                Err(AdbError::Closed { .. }) => AdbShellOutput::default(),
                output => output?,
            };
            let complaint = output.complaint();
            match read_picture(output.stdout) {
                Ok(picture) => {
                    tracing::debug!(target: "trailblaze::android", took = ?started.elapsed(), number, "picture");
                    return Ok(picture);
                }
                Err(part) if part.starts_with(PNG) => {
                    last = format!("the picture of `screencap` is cut off after {} bytes", part.len());
                }
                Err(_) => last = format!("`screencap` printed no picture: {complaint}"),
            }
            if pause(budget, number).await.is_err() {
                break;
            }
        }
        Err(DriverError::Refused { reason: last })
    }

    async fn touch(&self, budget: &Budget, gesture: &Gesture) -> Result<(), DriverError> {
        self.phone.must(budget, &gesture.command()?).await.map(|_| ())
    }

    async fn press(&self, budget: &Budget, keys: &[&str]) -> Result<(), DriverError> {
        self.phone.must(budget, &typing::press(keys)).await.map(|_| ())
    }

    fn check_text(&self, text: &str) -> Result<(), DriverError> {
        typing::type_text(text).map(|_| ())
    }

    async fn type_text(&self, budget: &Budget, text: &str) -> Result<(), DriverError> {
        for command in typing::type_text(text)? {
            self.phone.must(budget, &command).await?;
        }
        Ok(())
    }
}

/// A time-out says what the tries before it saw.
fn with_reason(error: AdbError, last: Option<&DumpFault>) -> DriverError {
    match (DriverError::from(error), last) {
        (DriverError::TimedOut { .. }, Some(fault)) => {
            DriverError::TimedOut { what: format!("looking at the screen: {fault}") }
        }
        (DriverError::TimedOut { .. }, None) => DriverError::TimedOut { what: "looking at the screen".to_string() },
        (error, _) => error,
    }
}
