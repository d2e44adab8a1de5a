//! `trailblaze-config/targets/*.yaml`: an app under test.

use super::server::Servers;
use crate::table;
use crate::yaml::{Decode, Entries, Problems, Spanned, YamlNode};
use serde_json::Value;
use trailblaze_protocol::driver::Platform;

table! {
    /// An app under test.
    pub struct TargetConfig {
        /// The name to use in `target:`.
        "id" => id: Spanned<String>,
        /// A name for people.
        "display_name" => display_name: Option<String> = None,
        /// Tool servers that are started for every session of this target.
        "mcp_servers" | "mcpServers" => servers: Servers = Servers::default(),
        /// Settings by platform.
        "platforms" => platforms: Platforms = Platforms::default(),
    }
}

table! {
    /// A target on one platform.
    pub struct PlatformEntry {
        /// Packages, bundle ids or URLs of the app, preferred one first.
        "app_ids" => app_ids: Vec<String> = Vec::new(),
        /// The toolsets of sessions; default: the built-in ones of the platform.
        "tool_sets" => tool_sets: Option<Vec<Spanned<String>>> = None,
        /// Additional tools of sessions.
        "tools" => tools: Vec<Spanned<String>> = Vec::new(),
        /// Tools to hide from sessions.
        "excluded_tools" => excluded_tools: Vec<Spanned<String>> = Vec::new(),
        /// The drivers that can run it.
        "drivers" => drivers: Vec<String> = Vec::new(),
        /// The URL of a web app.
        "base_url" => base_url: Option<String> = None,
        /// Other URLs that models may open; those of the same origin are included.
        "allowed_urls" => allowed_urls: Vec<String> = Vec::new(),
        /// The groups of tools that models are offered; default: those that are enabled by default.
        "groups" => groups: Vec<String> = Vec::new(),
        /// Only tools whose names start with one of these are offered to models; default: all.
        "prefixes" => prefixes: Vec<String> = Vec::new(),
    }
}

/// Settings by platform.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Platforms(pub Vec<(Platform, PlatformEntry)>);

impl Decode for Platforms {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        let entries = Entries::<PlatformEntry>::decode(node, problems)?;
        let mut platforms = Vec::new();
        for (key, entry) in entries.0 {
            match Platform::parse(&key.value) {
                Some(platform) => platforms.push((platform, entry)),
                None => problems.unknown(key.span, "platform", &key.value, Platform::ALL.map(Platform::name)),
            }
        }
        Some(Platforms(platforms))
    }

    fn schema() -> Value {
        let mut schema = Entries::<PlatformEntry>::schema();
        schema["propertyNames"] = Platform::schema();
        schema
    }
}

impl TargetConfig {
    pub fn on(&self, platform: Platform) -> Option<&PlatformEntry> {
        self.platforms.0.iter().find(|(known, _)| *known == platform).map(|(_, entry)| entry)
    }
}
