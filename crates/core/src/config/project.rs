//! `trailblaze.yaml`.

use serde_json::{Value, json};
use trailblaze_protocol::driver::{AgentMode, DriverKey, Platform};

use super::agent::Agent;
use super::llm::Llm;
use super::recording::RecordingConfig;
use super::server::Servers;
use crate::driver::DialogAnswer;
use crate::table;
use crate::values::origin::origin;
use crate::yaml::{Decode, Entries, Problems, Spanned, YamlNode};

table! {
    /// A Trailblaze project.
    pub struct Project {
        /// The app under test, by the id of a file in trailblaze-config/targets.
        "target" => target: Option<Spanned<String>> = None,
        /// The platform to run on when no device is given.
        "platform" => platform: Option<Platform> = None,
        /// The folder that contains the trails.
        "trailsDir" => trails_dir: String = "./trails".to_string(),
        /// The folder that the paths of scripts start at, and that their imports cannot leave; default: the project's root.
        "scriptRoot" | "script_root" => script_root: Option<Spanned<String>> = None,
        /// The devices to run on when none is given.
        "devices" => devices: Vec<DeviceEntry> = Vec::new(),
        /// Where natural-language steps are carried out.
        "agentMode" => agent_mode: AgentMode = AgentMode::Host,
        /// How models carry out steps, and what they may spend.
        "agent" => agent: Option<Agent> = None,
        /// How trails are recorded by hand.
        "recording" => recording: Option<RecordingConfig> = None,
        /// Tool servers.
        "mcpServers" | "mcp_servers" => servers: Servers = Servers::default(),
        /// Whether a call fails if its element has another name than when the trail was recorded.
        "strictNames" => strict_names: bool = false,
        /// Reserved name prefixes that this project's tools and tool servers may use, such as `org_`.
        "reservedPrefixes" => reserved_prefixes: Vec<String> = Vec::new(),
        /// Whether a call has failed if its tool answers `success: false` without `isError`.
        "strictResults" => strict_results: bool = false,
        /// Environment variables that contain secrets which agents may use, each with the origins of the pages that it may be typed into.
        "secrets" => secrets: ProjectSecrets = ProjectSecrets::default(),
        /// Language models: providers, their models and prices.
        "llm" => llm: Option<Llm> = None,
        ..of_providers
    }
}

table! {
    /// A device of the project.
    pub struct DeviceEntry {
        /// The device, as platform/name: android/sim-1.
        "id" => id: Spanned<String>,
        /// The driver to use or, for a simulated device, to imitate.
        "driver" => driver: Option<DriverKey> = None,
        /// Further classifiers of the device, broadest first: [tablet].
        "classifiers" => classifiers: Vec<String> = Vec::new(),
        ..of_providers
    }
}

/// The variables of secrets, and the origins of pages that each may be typed into.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProjectSecrets(pub Vec<(String, Vec<String>)>);

impl Decode for ProjectSecrets {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        let entries = Entries::<Vec<Spanned<String>>>::decode(node, problems)?;
        for origin in entries.0.iter().flat_map(|(_, origins)| origins) {
            if !is_origin(&origin.value) {
                let text = format!("`{}` is not the origin of a page; write it as https://shop.example", origin.value);
                problems.error(origin.span, text);
            }
        }
        let secrets = entries.0.into_iter();
        let texts = |origins: Vec<Spanned<String>>| origins.into_iter().map(|origin| origin.value).collect();
        Some(ProjectSecrets(secrets.map(|(name, origins)| (name.value, texts(origins))).collect()))
    }

    fn schema() -> Value {
        Entries::<Vec<Spanned<String>>>::schema()
    }
}

/// Whether a text is the origin of a web page, without a path.
pub fn is_origin(text: &str) -> bool {
    let own = origin(text);
    own.is_some_and(|own| {
        let host = own.strip_prefix("https://").or(own.strip_prefix("http://"));
        host.is_some_and(|host| !host.is_empty()) && own == text.trim_end_matches('/').to_lowercase()
    })
}

impl Decode for DialogAnswer {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        let answer = node.raw().filter(|word| DialogAnswer::NAMES.contains(word)).and_then(DialogAnswer::parse);
        if answer.is_none() {
            problems.unknown(
                node.span,
                "answer",
                node.raw().unwrap_or(node.noun()),
                DialogAnswer::NAMES.iter().copied(),
            );
        }
        answer
    }

    fn schema() -> Value {
        json!({"enum": DialogAnswer::NAMES})
    }
}

impl Decode for Platform {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
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
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
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
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
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
