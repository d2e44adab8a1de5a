//! Videos of the screen, with the phone's own `screenrecord`.

use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;
use trailblaze_core::driver::{Budget, DriverError};
use trailblaze_protocol::outcome::Attachment;

use super::adb::{AdbError, ShellSession};
use super::files;
use super::phone::{Phone, refused};
use super::undo::{UndoShell, ends_processes};

/// How long it may take until the file of a recording is there, and how often that is checked.
const STARTING: Duration = Duration::from_secs(10);
const TICK: Duration = Duration::from_millis(50);

/// The recording that runs, if one does.
#[derive(Default)]
pub struct ScreenVideo {
    running: Mutex<Option<RunningVideo>>,
}

struct RunningVideo {
    process: ShellSession,
    pid: u32,
    path: String,
}

impl ScreenVideo {
    pub async fn start(
        &self,
        phone: &Phone,
        undo: &UndoShell,
        budget: &Budget,
        limit: Duration,
    ) -> Result<(), DriverError> {
        let mut running = budget.run("the recording", self.running.lock()).await?;
        if running.is_some() {
            let reason = "the screen is being recorded already; end that with `mobile_stopRecording`".to_string();
            return Err(DriverError::Refused { reason });
        }
        let path = files::passing("mp4")?;
        undo.keep(phone, budget, &format!("{}; rm -f {path}", ends_processes(&path))).await?;
        let command = format!("echo $$; exec screenrecord --time-limit {} {path}", limit.as_secs());
        let mut process = phone.device.start(budget, &command).await?;
        let first = process.next_line(budget).await?;
        let pid = first.trim().parse().map_err(|_| refused("screenrecord", &first))?;
        let video = RunningVideo { process, pid, path };
        video.until_it_records(phone, budget).await?;
        *running = Some(video);
        Ok(())
    }

    pub async fn stop(&self, phone: &Phone, budget: &Budget) -> Result<Attachment, DriverError> {
        let mut running = budget.run("the recording", self.running.lock()).await?;
        let Some(video) = running.take() else {
            let reason = "the screen is not being recorded; start that with `mobile_startRecording`".to_string();
            return Err(DriverError::Refused { reason });
        };
        // It writes the end of the file when it is interrupted. One that reached its limit is gone already.
        phone.run(budget, &format!("kill -INT {}", video.pid)).await?;
        match video.process.finish(budget).await {
            Ok(_) | Err(AdbError::Closed { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let content = files::pull(phone, budget, &video.path).await?;
        phone.run(budget, &format!("rm -f {}", video.path)).await?;
        let name = "recording.mp4".to_string();
        Ok(Attachment { name, mime: "video/mp4".to_string(), file: None, bytes: content.into() })
    }
}

impl RunningVideo {
    /// Some phones cannot record, such as those whose encoder is in use; they say so at once.
    async fn until_it_records(&self, phone: &Phone, budget: &Budget) -> Result<(), DriverError> {
        let end = budget.deadline.min(Instant::now() + STARTING);
        loop {
            if phone.device.stat(budget, &self.path).await?.is_some() {
                return Ok(());
            }
            let is_there = phone.run(budget, &format!("kill -0 {}", self.pid)).await?.is_success();
            if !is_there || Instant::now() >= end {
                let why = "it records nothing; `adbShell: {command: screenrecord --time-limit 1 /data/local/tmp/x.mp4}` says why";
                return Err(refused("screenrecord", why));
            }
            budget.run("the recording", tokio::time::sleep(TICK)).await?;
        }
    }
}
