//! `trailblaze-config/toolsets/*.yaml`: groups of tools that are offered together.

use trailblaze_protocol::driver::{DriverKey, Platform};

use crate::table;
use crate::yaml::Spanned;

table! {
    /// A set of tools that are offered together.
    pub struct ToolsetConfig {
        /// The name to use in `tool_sets:`.
        "id" => id: Spanned<String>,
        /// A description for people and models.
        "description" => description: String = String::new(),
        /// The platforms that the toolset is for; default: all.
        "platforms" => platforms: Vec<Platform> = Vec::new(),
        /// The drivers that the toolset is for; default: all.
        "drivers" => drivers: Vec<String> = Vec::new(),
        /// Whether the toolset is enabled in all sessions.
        "always_enabled" => always_enabled: bool = false,
        /// The tools in it, by name.
        "tools" => tools: Vec<Spanned<String>> = Vec::new(),
    }
}

impl ToolsetConfig {
    pub fn is_for(&self, platform: Platform, driver: &DriverKey) -> bool {
        (self.platforms.is_empty() || self.platforms.contains(&platform))
            && (self.drivers.is_empty() || self.drivers.iter().any(|pattern| driver.matches(pattern, platform)))
    }
}
