//! `trailblaze-config/toolsets/*.yaml`: which tools a session offers together.

use trailblaze_protocol::driver::{DriverKey, Platform};

use crate::table;
use crate::yaml::Spanned;

table! {
    /// A set of tools that is offered as one.
    pub struct Toolset {
        /// The name that `tool_sets:` uses.
        "id" => id: Spanned<String>,
        /// For people and models.
        "description" => description: String = String::new(),
        /// The platforms that it is for; all unless given.
        "platforms" => platforms: Vec<Platform> = Vec::new(),
        /// The drivers that it is for; all unless given.
        "drivers" => drivers: Vec<String> = Vec::new(),
        /// Whether sessions get it without asking.
        "always_enabled" => always_enabled: bool = false,
        /// The tools in it, by name.
        "tools" => tools: Vec<Spanned<String>> = Vec::new(),
    }
}

impl Toolset {
    pub fn is_for(&self, platform: Platform, driver: &DriverKey) -> bool {
        (self.platforms.is_empty() || self.platforms.contains(&platform))
            && (self.drivers.is_empty() || self.drivers.iter().any(|pattern| driver.matches(pattern, platform)))
    }
}
