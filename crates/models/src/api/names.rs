//! Names of tools as providers accept them: `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`.

use sha2::{Digest, Sha256};
use trailblaze_core::model::ModelRequest;

const LONGEST: usize = 64;

/// The name that is sent. Depends on nothing but the name, so that it is the same in every request.
pub fn wire_name(name: &str) -> String {
    let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if starts_well && name.len() <= LONGEST && name.chars().all(is_fit) {
        return name.to_string();
    }
    // Different names must stay different.
    let digest: [u8; 32] = Sha256::digest(name).into();
    let suffix: String = digest[..4].iter().map(|byte| format!("{byte:02x}")).collect();
    let plain: String = name.chars().map(|c| if is_fit(c) { c } else { '_' }).take(LONGEST - 10).collect();
    let start = if starts_well { "" } else { "_" };
    format!("{start}{plain}_{suffix}")
}

/// The tools whose names are sent differently.
pub struct WireNames(Vec<(String, String)>);

impl WireNames {
    pub fn of(request: &ModelRequest) -> WireNames {
        let sent = request.tools.iter().map(|tool| (wire_name(&tool.name), tool.name.clone()));
        WireNames(sent.filter(|(wire, own)| wire != own).collect())
    }

    /// The name of the tool that was sent under this name. Unknown names stay as they are.
    pub fn own(&self, wire: &str) -> String {
        self.0.iter().find(|(sent, _)| sent == wire).map_or(wire, |(_, own)| own).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_providers_refuse_is_sent_as_another() {
        let long = "x".repeat(65);
        for name in ["tap.on", "größe", "1st", "-x", "", "a b", "org/tap", long.as_str()] {
            let wire = wire_name(name);
            let is_fit = wire.len() <= 64
                && wire.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && wire.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
            assert!(is_fit, "{name}: {wire}");
        }
        assert_eq!(wire_name("tap_on-2"), "tap_on-2");
        assert_ne!(wire_name("a.b"), wire_name("a/b"));
    }
}
