//! Videos of a simulator's screen, with `xcrun simctl io recordVideo`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio_util::task::AbortOnDropHandle;
use trailblaze_core::driver::{Budget, DriverError};
use trailblaze_protocol::outcome::Attachment;
use trailblaze_supervise::{Child, Running};

use super::command::XcodePrograms;

/// What the program prints when it has begun.
const BEGUN: &str = "Recording started";
/// The largest video that is attached.
const LARGEST: u64 = 256 << 20;

/// A recording that goes on until it is finished, or dropped.
pub struct VideoRecording {
    file: PathBuf,
    child: Arc<Child>,
    /// Ends it when it has become long enough.
    _limit: AbortOnDropHandle<()>,
}

impl VideoRecording {
    pub async fn start(
        programs: &XcodePrograms,
        udid: &str,
        limit: Duration,
        budget: &Budget,
    ) -> Result<Self, DriverError> {
        let file = std::env::temp_dir().join(format!("trailblaze-{}-{udid}.mp4", std::process::id()));
        let path = file.to_string_lossy().into_owned();
        let started = programs.start_simctl(&["io", udid, "recordVideo", "--codec=h264", "--force", &path]).await?;
        let Running { stderr, child, .. } = started;
        let mut lines = BufReader::new(stderr).lines();
        let begin = async {
            while let Ok(Some(line)) = lines.next_line().await {
                if line.contains(BEGUN) {
                    return true;
                }
            }
            false
        };
        if !budget.run("the recording to start", begin).await? {
            let reason = format!("`xcrun simctl io recordVideo` {}", child.ended().await);
            return Err(DriverError::Refused { reason });
        }
        let child = Arc::new(child);
        let ending = Arc::clone(&child);
        let limit = AbortOnDropHandle::new(tokio::spawn(async move {
            tokio::time::sleep(limit).await;
            ending.terminate().await;
        }));
        Ok(VideoRecording { file, child, _limit: limit })
    }

    /// The program writes the end of the file when it is asked to end.
    pub async fn finish(self, budget: &Budget) -> Result<Attachment, DriverError> {
        budget.run("the recording to end", self.child.terminate()).await?;
        let read = std::fs::metadata(&self.file).and_then(|facts| match facts.len() > LARGEST {
            true => Err(std::io::Error::other(format!("it is larger than {LARGEST} bytes"))),
            false => std::fs::read(&self.file),
        });
        let _ = std::fs::remove_file(&self.file);
        let bytes = read.map_err(|error| DriverError::Refused { reason: format!("there is no video: {error}") })?;
        Ok(Attachment {
            name: "screen.mp4".to_string(),
            mime: "video/mp4".to_string(),
            file: None,
            bytes: bytes.into(),
        })
    }
}
