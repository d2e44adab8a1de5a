//! The world that the pages of a browser see: the network, the clock, where they are, and what they may do. What a trail changes is put
//! back at its end.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use super::{
    ActionOutput, Budget, DriverError, ExchangeQuery, MissingInHar, NetworkExchange, NetworkRule, NetworkSpeed, named,
};

/// A browser whose pages can be shown another world.
#[async_trait]
pub trait WorldControl: Send + Sync {
    async fn change(&self, budget: &Budget, command: &PageWorldCommand) -> Result<ActionOutput, DriverError>;
    /// The requests since the trail began, with their headers and bodies as far as they were kept. They may contain values of
    /// secrets.
    fn exchanges(&self) -> Vec<NetworkExchange>;
}

/// A command that only browsers have, about the world of their pages.
#[derive(Debug, Clone, PartialEq)]
pub enum PageWorldCommand {
    AddRule(NetworkRule),
    /// Removes the rules with this URL pattern, or all.
    RemoveRules {
        url: Option<String>,
    },
    SetSpeed(NetworkSpeed),
    /// Records requests in a HAR file, which is written at the latest at the end of the trail.
    RecordHar {
        file: String,
        url: String,
        redact: Redact,
    },
    SaveHar,
    /// Answers requests from a HAR file.
    ReplayHar {
        file: String,
        url: String,
        missing: MissingInHar,
        redact: Redact,
    },
    /// Returns an exchange, as an entry of a HAR file; nothing if there is none yet.
    FindExchange(ExchangeQuery),
    SetClock {
        /// In milliseconds since 1970; `None` for the present.
        time: Option<f64>,
        mode: ClockMode,
    },
    AdvanceClock {
        millis: f64,
    },
    SetLocation {
        latitude: f64,
        longitude: f64,
        /// In meters.
        accuracy: f64,
    },
    SetPermissions {
        permissions: Vec<String>,
        state: PermissionState,
        /// `None` for all.
        origin: Option<String>,
    },
    SetMedia(MediaFeatures),
    ReadClipboard,
    WriteClipboard {
        text: String,
    },
    /// What servers of this origin are told if they ask who is there.
    SetCredentials {
        origin: String,
        username: String,
        password: String,
    },
    Pdf {
        is_landscape: bool,
    },
    /// The local storage of an origin, or of that of the page.
    LocalStorage {
        origin: Option<String>,
    },
    /// Changes it: null removes an item.
    SetLocalStorage {
        origin: Option<String>,
        items: serde_json::Map<String, Value>,
    },
}

impl PageWorldCommand {
    /// The command's name in messages and events.
    pub fn name(&self) -> &'static str {
        match self {
            PageWorldCommand::AddRule(_) => "addNetworkRule",
            PageWorldCommand::RemoveRules { .. } => "removeNetworkRules",
            PageWorldCommand::SetSpeed(_) => "throttle",
            PageWorldCommand::RecordHar { .. } => "recordHar",
            PageWorldCommand::SaveHar => "saveHar",
            PageWorldCommand::ReplayHar { .. } => "replayHar",
            PageWorldCommand::FindExchange(_) => "findExchange",
            PageWorldCommand::SetClock { .. } => "setClock",
            PageWorldCommand::AdvanceClock { .. } => "advanceClock",
            PageWorldCommand::SetLocation { .. } => "setGeolocation",
            PageWorldCommand::SetPermissions { .. } => "setPermissions",
            PageWorldCommand::SetMedia(_) => "setMedia",
            PageWorldCommand::ReadClipboard => "getClipboard",
            PageWorldCommand::WriteClipboard { .. } => "setClipboard",
            PageWorldCommand::SetCredentials { .. } => "setCredentials",
            PageWorldCommand::Pdf { .. } => "pdf",
            PageWorldCommand::LocalStorage { .. } => "getLocalStorage",
            PageWorldCommand::SetLocalStorage { .. } => "setLocalStorage",
        }
    }
}

named! {
    /// What the clock of pages does.
    pub enum ClockMode {
        // It goes on from the given time.
        Running "RUNNING",
        // It stands still, and timers with it, until it is advanced.
        Paused "PAUSED",
        // The date stays the same, but timers run.
        Fixed "FIXED",
    }
}

named! {
    pub enum PermissionState {
        Granted "GRANTED",
        Denied "DENIED",
        Prompt "PROMPT",
    }
}

/// What style sheets ask about the user and the medium, in the words of CSS. `None` leaves it as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MediaFeatures {
    /// `screen` or `print`.
    pub medium: Option<String>,
    /// Names with values: `prefers-color-scheme`, `dark`.
    pub features: Vec<(String, String)>,
}

impl MediaFeatures {
    /// Adds what another change says, which takes precedence.
    pub fn update(&mut self, change: &MediaFeatures) {
        if change.medium.is_some() {
            self.medium.clone_from(&change.medium);
        }
        for (name, value) in &change.features {
            self.features.retain(|(own, _)| own != name);
            self.features.push((name.clone(), value.clone()));
        }
    }
}

/// Removes the values of secrets from a text, before a driver writes it to a file.
#[derive(Clone)]
pub struct Redact(pub Arc<dyn Fn(&mut String) + Send + Sync>);

impl std::fmt::Debug for Redact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redact")
    }
}

/// There is one for each session.
impl PartialEq for Redact {
    fn eq(&self, _: &Redact) -> bool {
        true
    }
}
