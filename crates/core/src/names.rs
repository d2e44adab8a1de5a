//! Rules for the names of tools and parameters.

use crate::yaml::Severity;

/// Prefixes that belong to Trailblaze, or to a whole organisation.
pub const RESERVED_PREFIXES: [&str; 6] = ["android_", "ios_", "web_", "desktop_", "mobile_", "org_"];

/// Where a tool comes from. Decides how strictly its name is checked and how it is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolOrigin {
    BuiltIn,
    /// A team's own build of the program.
    InProcess,
    Yaml,
    Script,
    /// A server listed in `trailblaze.yaml`.
    ProjectServer,
    /// A server listed by a target.
    TargetServer,
}

impl ToolOrigin {
    fn is_server(self) -> bool {
        matches!(self, ToolOrigin::ProjectServer | ToolOrigin::TargetServer)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objection {
    pub consequence: Consequence,
    pub message: String,
}

/// The consequence of an objection to a tool's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consequence {
    /// None of the contributor's tools are registered.
    RefuseBatch,
    /// The tool is left out; the other tools of its server are registered.
    LeaveOut,
    /// The tool is registered, with a warning.
    Warn,
}

impl Consequence {
    /// How severe it is for the tool itself.
    pub fn severity(self) -> Severity {
        match self {
            Consequence::RefuseBatch | Consequence::LeaveOut => Severity::Error,
            Consequence::Warn => Severity::Warning,
        }
    }
}

/// Checks a tool's name. `granted` are the reserved prefixes that its source may use.
pub fn judge(name: &str, origin: ToolOrigin, granted: &[impl AsRef<str>]) -> Option<Objection> {
    // A server may belong to a third party, whose names cannot be changed here; it loses only the tool.
    let (unusable, unconventional) = if origin.is_server() {
        (Consequence::LeaveOut, Consequence::Warn)
    } else {
        (Consequence::RefuseBatch, Consequence::RefuseBatch)
    };
    if !is_model_safe(name) {
        let message =
            format!("`{}` is not a valid tool name: use 1 to 64 of the characters a-z, A-Z, 0-9, _ and -", shown(name));
        return Some(Objection { consequence: unusable, message });
    }
    if !is_conventional(name) {
        let message = format!("the name `{name}` does not follow the convention: camelCase words joined by _");
        return Some(Objection { consequence: unconventional, message });
    }
    let reserved = RESERVED_PREFIXES.into_iter().find(|prefix| name.starts_with(prefix))?;
    if origin == ToolOrigin::BuiltIn
        || granted.iter().map(AsRef::as_ref).any(|prefix| [reserved, reserved.trim_end_matches('_')].contains(&prefix))
    {
        return None;
    }
    let or_entry = if origin.is_server() { ", or `allowReserved: true` to the server's entry" } else { "" };
    let message = format!(
        "the name `{name}` starts with the reserved prefix `{reserved}`; to allow it, add `reservedPrefixes: [{reserved}]` to \
         trailblaze.yaml{or_entry}"
    );
    Some(Objection { consequence: unusable, message })
}

/// A name that is safe to print: it may contain anything, but must not control or flood a terminal.
fn shown(name: &str) -> String {
    let mut shown: String = name.chars().flat_map(char::escape_debug).take(80).collect();
    if name.len() > 64 {
        shown.push('…');
    }
    shown
}

fn is_model_safe(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// `^[a-z][a-zA-Z0-9]*(_[a-z][a-zA-Z0-9]*)*$`
fn is_conventional(name: &str) -> bool {
    name.split('_').all(|word| {
        word.starts_with(|c: char| c.is_ascii_lowercase()) && word.bytes().all(|b| b.is_ascii_alphanumeric())
    })
}

pub fn is_parameter(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    use Consequence::{LeaveOut, RefuseBatch, Warn};

    fn check(name: &str, origin: ToolOrigin, expected: Option<Consequence>) {
        let granted = ["org_".to_string()];
        assert_eq!(
            judge(name, origin, &granted).map(|objection| objection.consequence),
            expected,
            "{name} from {origin:?}"
        );
    }

    #[test]
    fn a_name_that_models_cannot_take_costs_a_server_that_tool_and_others_the_whole_batch() {
        for name in ["a.b", "", &"a".repeat(65)] {
            check(name, ToolOrigin::Yaml, Some(RefuseBatch));
            check(name, ToolOrigin::InProcess, Some(RefuseBatch));
            check(name, ToolOrigin::ProjectServer, Some(LeaveOut));
            check(name, ToolOrigin::TargetServer, Some(LeaveOut));
        }
    }

    #[test]
    fn a_name_against_convention_is_an_error_of_ours_and_a_warning_for_servers() {
        for name in ["Login", "do-it", "a__b", "a_", "a_B"] {
            check(name, ToolOrigin::Yaml, Some(RefuseBatch));
            check(name, ToolOrigin::TargetServer, Some(Warn));
        }
        check("acme_ios_acceptRide_v2", ToolOrigin::Yaml, None);
    }

    #[test]
    fn a_reserved_prefix_must_be_granted() {
        check("web_click", ToolOrigin::Yaml, Some(RefuseBatch));
        check("web_click", ToolOrigin::ProjectServer, Some(LeaveOut));
        check("web_click", ToolOrigin::BuiltIn, None);
        check("org_login", ToolOrigin::Yaml, None);
        check("org_login", ToolOrigin::TargetServer, None);
        let message = |origin| judge("ios_login", origin, &["org_"]).unwrap().message;
        let line = "to allow it, add `reservedPrefixes: [ios_]` to trailblaze.yaml";
        assert!(message(ToolOrigin::Yaml).ends_with(line), "{}", message(ToolOrigin::Yaml));
        let entry = format!("{line}, or `allowReserved: true` to the server's entry");
        assert!(message(ToolOrigin::TargetServer).ends_with(&entry), "{}", message(ToolOrigin::TargetServer));
    }
}
