//! Files about a trail that come after it has ended, such as the video that a grid made of its session.

use std::sync::Arc;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use trailblaze_core::driver::LateFile;
use trailblaze_core::engine::session::Session;
use trailblaze_core::record::artifacts::ArtifactKind;
use trailblaze_protocol::event::{Event, Level};
use trailblaze_protocol::ids::AttemptId;

/// Those that are being waited for, while further trails run.
#[derive(Default)]
pub struct LateFiles {
    coming: JoinSet<()>,
}

impl LateFiles {
    /// Keeps the files about an attempt that has just ended on the device of a session, as soon as they come. What does not come is a
    /// warning.
    pub fn keep(&mut self, session: &Arc<Session>, attempt: &AttemptId, cancel: &CancellationToken) {
        for LateFile { name, coming } in session.device.late_files() {
            let (session, attempt, cancel) = (Arc::clone(session), attempt.clone(), cancel.clone());
            self.coming.spawn(async move {
                let came = tokio::select! {
                    came = coming => came,
                    () = cancel.cancelled() => Err(format!("the {name} of a session was not fetched: the run was cancelled")),
                };
                match came {
                    Ok(mut attachment) => {
                        session.secrets.redact_attachment(&mut attachment);
                        attachment.file = Some(session.artifacts.keep(ArtifactKind::Attachment, &attachment));
                        session.emit(Event::Attached { attempt, attachment });
                    }
                    Err(why) => session.emit(Event::note(None, Level::Warning, why)),
                }
            });
        }
        // Those that have come need not be kept.
        while self.coming.try_join_next().is_some() {}
    }

    /// Waits until all have come, or cannot.
    pub async fn all(&mut self) {
        while self.coming.join_next().await.is_some() {}
    }
}
