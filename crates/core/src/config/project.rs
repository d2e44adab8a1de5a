//! `trailblaze.yaml`.

use serde_json::{Value, json};
use trailblaze_protocol::driver::{AgentMode, DriverKey, Platform};

use super::server::Servers;
use crate::table;
use crate::yaml::{Decode, Node, Problems, Spanned};

table! {
    /// A Trailblaze project.
    pub struct Project {
        /// The app under test, by the id of a file in trailblaze-config/targets.
        "target" => target: Option<Spanned<String>> = None,
        /// The platform to run on when no device is named.
        "platform" => platform: Option<Platform> = None,
        /// Where the trails are.
        "trailsDir" => trails_dir: String = "./trails".to_string(),
        /// The devices to run on when none is named.
        "devices" => devices: Vec<DeviceEntry> = Vec::new(),
        /// Who carries out natural-language steps.
        "agentMode" => agent_mode: AgentMode = AgentMode::Host,
        /// Tool servers.
        "mcpServers" | "mcp_servers" => servers: Servers = Servers::default(),
        /// Reserved name prefixes that this project's own tools may use, such as `org_`.
        "reservedPrefixes" => reserved_prefixes: Vec<String> = Vec::new(),
        /// The browser of web devices.
        "browser" => browser: Option<BrowserEntry> = None,
        /// Simulated devices: their apps and faults.
        "sim" => sim: Option<Node> = None,
    }
}

table! {
    /// A device of the project.
    pub struct DeviceEntry {
        /// As platform/name: android/sim-1.
        "id" => id: Spanned<String>,
        /// The driver to use, or, for a simulated device, to stand for.
        "driver" => driver: Option<DriverKey> = None,
        /// What kind of device of its platform it is, broad first: [tablet].
        "classifiers" => classifiers: Vec<String> = Vec::new(),
        /// The phone or tablet that a web device pretends to be: iPhone 14.
        "emulate" => emulate: Option<Spanned<String>> = None,
        /// The size of a web device's window: 1280x800.
        "viewport" => viewport: Option<Spanned<String>> = None,
        /// The language of a web device: de-DE.
        "locale" => locale: Option<String> = None,
        /// The time zone of a web device: Europe/Berlin.
        "timezone" => timezone: Option<String> = None,
        /// Whether a web device prefers dark or light pages.
        "colorScheme" => color_scheme: Option<ColorScheme> = None,
        /// A file with the cookies and local storage that a web device starts with, as web_getStorageState answers them.
        "storageState" => storage_state: Option<Spanned<String>> = None,
    }
}

table! {
    /// The browser of web devices.
    pub struct BrowserEntry {
        /// The program; looked for unless given.
        "program" => program: Option<String> = None,
        /// Whether its window is shown.
        "headed" => headed: bool = false,
        /// The address of a browser that runs already and listens for DevTools: http://127.0.0.1:9222.
        "attach" => attach: Option<String> = None,
        /// Open pages whose certificates are wrong.
        "ignoreCertificateErrors" => ignore_certificate_errors: bool = false,
        /// Further arguments for the program.
        "args" => args: Vec<String> = Vec::new(),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorScheme {
    Light,
    Dark,
}

impl Decode for ColorScheme {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        match node.raw() {
            Some("light") => Some(ColorScheme::Light),
            Some("dark") => Some(ColorScheme::Dark),
            other => {
                problems.unknown(node.span, "colour scheme", other.unwrap_or(node.noun()), ["light", "dark"]);
                None
            }
        }
    }

    fn schema() -> Value {
        json!({"enum": ["light", "dark"]})
    }
}

impl Decode for Platform {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let platform = node.raw().and_then(Platform::parse);
        if platform.is_none() {
            problems.unknown(
                node.span,
                "platform",
                node.raw().unwrap_or(node.noun()),
                Platform::ALL.map(Platform::name),
            );
        }
        platform
    }

    fn schema() -> Value {
        json!({"enum": Platform::ALL.map(Platform::name)})
    }
}

impl Decode for DriverKey {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let driver = DriverKey::new(&String::decode(node, problems)?);
        if !driver.is_known() {
            problems.unknown(node.span, "driver", node.raw().unwrap_or_default(), DriverKey::known_keys());
            return None;
        }
        Some(driver)
    }

    fn schema() -> Value {
        json!({"type": "string", "examples": DriverKey::known_keys().collect::<Vec<_>>()})
    }
}

impl Decode for AgentMode {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        match node.raw() {
            Some("host") => Some(AgentMode::Host),
            Some("onDevice") => Some(AgentMode::OnDevice),
            other => {
                problems.unknown(node.span, "agent mode", other.unwrap_or(node.noun()), ["host", "onDevice"]);
                None
            }
        }
    }

    fn schema() -> Value {
        json!({"enum": ["host", "onDevice"]})
    }
}
