//! Pictures of a tab as it changes. The protocol sends none, so they are taken while someone watches.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use parking_lot::Mutex;
use serde_json::json;
use tokio_util::task::AbortOnDropHandle;

use super::super::backend::{BackendError, BrowserEvent, Screencasting, TabId};
use super::{BidiSession, string};

/// How long after one picture the next is taken.
const PAUSE: Duration = Duration::from_millis(150);
/// The quality of pictures.
const QUALITY: f64 = 0.75;

/// What takes the pictures of each tab.
pub type Casts = Mutex<HashMap<TabId, AbortOnDropHandle<()>>>;

#[async_trait]
impl Screencasting for BidiSession {
    async fn start(&self, tab: &str) -> Result<(), BackendError> {
        let Some(me) = self.me.upgrade() else { return Err(BackendError::Gone) };
        let tab = tab.to_string();
        let weak = std::sync::Arc::downgrade(&me);
        let of = tab.clone();
        let cast = tokio::spawn(async move {
            // Ends with the device, which holds it.
            while let Some(me) = weak.upgrade() {
                if matches!(me.take_picture(&of).await, Err(BackendError::Gone)) {
                    return;
                }
                drop(me);
                tokio::time::sleep(PAUSE).await;
            }
        });
        self.casts.lock().insert(tab, AbortOnDropHandle::new(cast));
        Ok(())
    }

    async fn stop(&self, tab: &str) -> Result<(), BackendError> {
        self.casts.lock().remove(tab);
        Ok(())
    }
}

impl BidiSession {
    async fn take_picture(&self, tab: &str) -> Result<(), BackendError> {
        let format = json!({"type": "image/jpeg", "quality": QUALITY});
        let shot = self.call("browsingContext.captureScreenshot", json!({"context": tab, "format": format})).await?;
        let Ok(jpeg) = BASE64_STANDARD.decode(string(&shot, "data")) else { return Ok(()) };
        let size = self.known.lock().emulation.size;
        self.sink.take(BrowserEvent::Picture { tab: tab.to_string(), size, jpeg });
        Ok(())
    }
}
