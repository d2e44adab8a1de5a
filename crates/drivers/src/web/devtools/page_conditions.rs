//! What pages are told about where they are. Each session is told, also those that come later.

use std::collections::HashMap;

use async_trait::async_trait;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures::future::join_all;
use serde_json::{Value, json};
use trailblaze_core::driver::{MediaFeatures, PermissionState};

use super::super::backend::{BackendError, PageConditions};
use super::super::backend_world::{GeoLocation, NetworkConditions};
use super::super::emulation::Emulation;
use super::{DevTools, SessionId, routing, string};

/// What differs from a browser that nobody has changed.
#[derive(Default)]
pub struct KnownSurroundings {
    pub holds_requests: bool,
    conditions: NetworkConditions,
    location: Option<GeoLocation>,
    media: MediaFeatures,
    scripts: HashMap<&'static str, PageScript>,
}

struct PageScript {
    text: String,
    /// What removes it from each session.
    ids: HashMap<SessionId, String>,
}

impl KnownSurroundings {
    /// The commands for a session that is new.
    pub fn commands(&self, emulation: &Emulation) -> Vec<(&'static str, Value)> {
        let mut commands = Vec::new();
        if self.holds_requests {
            commands.extend(routing::commands(true));
        }
        if self.conditions != NetworkConditions::default() {
            commands.push(conditions_command(&self.conditions));
        }
        if self.location.is_some() {
            commands.push(location_command(self.location));
        }
        if self.media != MediaFeatures::default() {
            commands.push(media_command(&self.media, emulation));
        }
        commands
    }
}

fn conditions_command(conditions: &NetworkConditions) -> (&'static str, Value) {
    let speed = conditions.speed;
    let limit = |bytes: u64| if bytes == 0 { json!(-1) } else { json!(bytes) };
    let params = json!({
        "offline": conditions.is_offline, "latency": speed.latency.as_millis() as u64,
        "downloadThroughput": limit(speed.download), "uploadThroughput": limit(speed.upload),
    });
    ("Network.emulateNetworkConditions", params)
}

fn location_command(location: Option<GeoLocation>) -> (&'static str, Value) {
    match location {
        Some(GeoLocation { latitude, longitude, accuracy }) => (
            "Emulation.setGeolocationOverride",
            json!({"latitude": latitude, "longitude": longitude, "accuracy": accuracy}),
        ),
        None => ("Emulation.clearGeolocationOverride", json!({})),
    }
}

/// One command has all features, so that it includes those of the device.
fn media_command(media: &MediaFeatures, emulation: &Emulation) -> (&'static str, Value) {
    let own = emulation.is_dark.map(|is_dark| if is_dark { "dark" } else { "light" });
    let mut all = MediaFeatures {
        medium: None,
        features: own.map(|own| ("prefers-color-scheme".to_string(), own.to_string())).into_iter().collect(),
    };
    all.update(media);
    let features: Vec<Value> = all.features.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    ("Emulation.setEmulatedMedia", json!({"media": all.medium.unwrap_or_default(), "features": features}))
}

#[async_trait]
impl PageConditions for DevTools {
    async fn set_conditions(&self, conditions: &NetworkConditions) -> Result<(), BackendError> {
        self.page_conditions.lock().conditions = *conditions;
        self.tell_sessions(&[conditions_command(conditions)]).await
    }

    async fn set_location(&self, location: Option<GeoLocation>) -> Result<(), BackendError> {
        self.page_conditions.lock().location = location;
        self.tell_sessions(&[location_command(location)]).await
    }

    async fn set_permission(
        &self,
        permission: &str,
        state: PermissionState,
        origin: Option<&str>,
    ) -> Result<(), BackendError> {
        let setting = match state {
            PermissionState::Granted => "granted",
            PermissionState::Denied => "denied",
            PermissionState::Prompt => "prompt",
        };
        let context = self.known.lock().context.clone();
        let mut params = json!({"permission": {"name": permission}, "setting": setting, "browserContextId": context});
        if let Some(origin) = origin {
            params["origin"] = origin.into();
        }
        self.call("Browser.setPermission", params).await.map(drop)
    }

    async fn reset_permissions(&self) -> Result<(), BackendError> {
        let context = self.known.lock().context.clone();
        self.call("Browser.resetPermissions", json!({"browserContextId": context})).await.map(drop)
    }

    async fn set_media(&self, media: &MediaFeatures) -> Result<(), BackendError> {
        self.page_conditions.lock().media = media.clone();
        let emulation = self.known.lock().emulation.clone();
        self.tell_sessions(&[media_command(media, &emulation)]).await
    }

    async fn set_page_script(&self, name: &'static str, script: Option<&str>) -> Result<(), BackendError> {
        let old = {
            let mut page_conditions = self.page_conditions.lock();
            match script {
                Some(script) => {
                    let new = PageScript { text: script.to_string(), ids: HashMap::new() };
                    page_conditions.scripts.insert(name, new)
                }
                None => page_conditions.scripts.remove(name),
            }
        };
        let sessions: Vec<SessionId> = self.known.lock().sessions.keys().cloned().collect();
        join_all(sessions.iter().map(|session| self.add_page_script(session, name))).await;
        for (session, id) in old.into_iter().flat_map(|old| old.ids) {
            // A session that has ended has no script.
            let params = json!({"identifier": id});
            let _ = self.call_session(&session, "Page.removeScriptToEvaluateOnNewDocument", params).await;
        }
        Ok(())
    }

    async fn pretend_focus(&self, tab: &str, is_focused: bool) -> Result<(), BackendError> {
        self.call_tab(tab, "Emulation.setFocusEmulationEnabled", json!({"enabled": is_focused})).await.map(drop)
    }

    async fn pdf(&self, tab: &str, is_landscape: bool) -> Result<Vec<u8>, BackendError> {
        let params = json!({"landscape": is_landscape, "printBackground": true, "preferCSSPageSize": true});
        let printed = self.call_tab(tab, "Page.printToPDF", params).await?;
        let decoded = BASE64_STANDARD.decode(string(&printed, "data"));
        decoded.map_err(|error| BackendError::Refused(error.to_string()))
    }
}

impl DevTools {
    /// Tells a session that is new all of it.
    pub(super) async fn surround(&self, session: &str) {
        let (commands, scripts) = {
            let emulation = self.known.lock().emulation.clone();
            let page_conditions = self.page_conditions.lock();
            let names: Vec<&'static str> = page_conditions.scripts.keys().copied().collect();
            (page_conditions.commands(&emulation), names)
        };
        // A session that has ended meanwhile needs nothing.
        if !commands.is_empty() {
            let _ = self.call_all(session, commands).await;
        }
        for name in scripts {
            self.add_page_script(session, name).await;
        }
    }

    /// Tells a session about the style again, after its emulation has changed.
    pub(super) async fn restore_media(&self, session: &str, emulation: &Emulation) -> Result<(), BackendError> {
        let media = self.page_conditions.lock().media.clone();
        if media == MediaFeatures::default() {
            return Ok(());
        }
        self.call_all(session, vec![media_command(&media, emulation)]).await
    }

    async fn add_page_script(&self, session: &str, name: &'static str) {
        let text = self.page_conditions.lock().scripts.get(name).map(|script| script.text.clone());
        let Some(text) = text else { return };
        let params = json!({"source": text, "runImmediately": true});
        let added = self.call_session(session, "Page.addScriptToEvaluateOnNewDocument", params).await;
        // A session that has ended meanwhile needs nothing.
        let Ok(added) = added else { return };
        let id = string(&added, "identifier");
        if let Some(script) = self.page_conditions.lock().scripts.get_mut(name).filter(|script| script.text == text) {
            script.ids.insert(session.to_string(), id);
        }
    }
}
