//! Videos of a simulator's screen, with `xcrun simctl io recordVideo`.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio_util::task::AbortOnDropHandle;
use trailblaze_core::driver::{Budget, DriverError};
use trailblaze_protocol::outcome::Attachment;
use trailblaze_supervise::{Child, Running};

use super::command::XcodePrograms;
use super::output::LastLines;

/// What the program prints when it has begun.
const BEGUN: &str = "Recording started";
/// The largest video that is attached.
const LARGEST: u64 = 256 << 20;

/// A recording that goes on until it is finished, or dropped.
pub struct VideoRecording {
    folder: PrivateFolder,
    child: Arc<Child>,
    printed: LastLines,
    /// A program that nobody listens to any more may be ended by what it prints.
    _reading: AbortOnDropHandle<()>,
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
        let folder = PrivateFolder::new().map_err(|error| no_video(&error.to_string()))?;
        let path = folder.video().to_string_lossy().into_owned();
        let arguments = ["io", udid, "recordVideo", "--codec=h264", "--force", &path];
        let Running { stderr, child, .. } = programs.start_endless_simctl(&arguments).await?;
        let (mut lines, printed) = (BufReader::new(stderr).lines(), LastLines::default());
        let begin = async {
            while let Ok(Some(line)) = lines.next_line().await {
                printed.add(&line);
                if line.contains(BEGUN) {
                    return true;
                }
            }
            false
        };
        if !budget.run("the recording to start", begin).await? {
            let reason = format!("`xcrun simctl io recordVideo` {}: {printed}", child.ended().await);
            return Err(DriverError::Refused { reason });
        }
        let child = Arc::new(child);
        let ending = Arc::clone(&child);
        let limit = AbortOnDropHandle::new(tokio::spawn(async move {
            tokio::time::sleep(limit).await;
            ending.terminate().await;
        }));
        let reading = printed.follow(lines);
        Ok(VideoRecording { folder, child, printed, _reading: reading, _limit: limit })
    }

    /// The program writes the end of the file when it is interrupted.
    pub async fn finish(self, budget: &Budget) -> Result<Attachment, DriverError> {
        budget.run("the recording to end", self.child.terminate()).await?;
        let file = self.folder.video();
        let read = tokio::task::spawn_blocking(move || read(&file)).await.map_err(std::io::Error::other).flatten();
        let bytes = read.map_err(|error| no_video(&format!("{error}; `xcrun simctl` said: {}", self.printed)))?;
        Ok(Attachment {
            name: "screen.mp4".to_string(),
            mime: "video/mp4".to_string(),
            file: None,
            bytes: bytes.into(),
        })
    }
}

fn read(file: &Path) -> std::io::Result<Vec<u8>> {
    match std::fs::metadata(file)?.len() > LARGEST {
        true => Err(std::io::Error::other(format!("it is larger than {LARGEST} bytes"))),
        false => std::fs::read(file),
    }
}

fn no_video(why: &str) -> DriverError {
    DriverError::Refused { reason: format!("there is no video: {why}") }
}

/// A folder that only this user can read, removed at the end.
struct PrivateFolder(PathBuf);

impl PrivateFolder {
    fn new() -> std::io::Result<PrivateFolder> {
        let mut name = [0; 8];
        getrandom::fill(&mut name).map_err(|error| std::io::Error::other(error.to_string()))?;
        let path = std::env::temp_dir().join(format!("trailblaze-video-{:016x}", u64::from_ne_bytes(name)));
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(PrivateFolder(path))
    }

    fn video(&self) -> PathBuf {
        self.0.join("screen.mp4")
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
