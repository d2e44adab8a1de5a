//! What tools and parameters may be called.

use crate::yaml::Severity;

/// Prefixes that belong to Trailblaze, or to a whole organisation.
pub const RESERVED_PREFIXES: [&str; 6] = ["android_", "ios_", "web_", "desktop_", "mobile_", "org_"];

/// Who brings a tool; decides how strictly its name is judged and how it is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    BuiltIn,
    /// A team's own binary.
    InProcess,
    Yaml,
    Script,
    /// A server of `trailblaze.yaml`.
    ProjectServer,
    /// A server of a target.
    TargetServer,
}

impl Origin {
    fn is_server(self) -> bool {
        matches!(self, Origin::ProjectServer | Origin::TargetServer)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objection {
    pub consequence: Consequence,
    pub message: String,
}

/// What an objection to a tool's name leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consequence {
    /// Nothing of its contributor is registered.
    RefuseBatch,
    /// The tool is left out, and the rest of its server is registered.
    LeaveOut,
    /// The tool is registered, with a warning.
    Warn,
}

impl Consequence {
    /// How grave it is for the tool itself.
    pub fn severity(self) -> Severity {
        match self {
            Consequence::RefuseBatch | Consequence::LeaveOut => Severity::Error,
            Consequence::Warn => Severity::Warning,
        }
    }
}

/// Judges a tool's name. `granted` are the reserved prefixes that the project may use.
pub fn judge(name: &str, origin: Origin, granted: &[String]) -> Option<Objection> {
    // A server may be somebody else's, whose names cannot be changed here.
    let (unusable, unconventional) = match origin.is_server() {
        true => (Consequence::LeaveOut, Consequence::Warn),
        false => (Consequence::RefuseBatch, Consequence::RefuseBatch),
    };
    if !is_model_safe(name) {
        let message = format!(
            "`{}` is not a valid tool name: models take 1 to 64 of the characters a-z, A-Z, 0-9, _ and -",
            shown(name)
        );
        return Some(Objection { consequence: unusable, message });
    }
    if !is_conventional(name) {
        let message = format!("the name `{name}` breaks the convention: words in camelCase, joined by _");
        return Some(Objection { consequence: unconventional, message });
    }
    let reserved = RESERVED_PREFIXES.into_iter().find(|prefix| name.starts_with(prefix))?;
    if origin == Origin::BuiltIn
        || granted.iter().any(|prefix| prefix == reserved || prefix == reserved.trim_end_matches('_'))
    {
        return None;
    }
    let message = format!(
        "the name `{name}` begins with the reserved prefix `{reserved}`; `reservedPrefixes:` in trailblaze.yaml can grant it"
    );
    Some(Objection { consequence: unconventional, message })
}

/// A name fit to be shown: it may hold anything, and must not drive a terminal or fill one.
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

    fn check(name: &str, origin: Origin, expected: Option<Consequence>) {
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
            check(name, Origin::Yaml, Some(RefuseBatch));
            check(name, Origin::InProcess, Some(RefuseBatch));
            check(name, Origin::ProjectServer, Some(LeaveOut));
            check(name, Origin::TargetServer, Some(LeaveOut));
        }
    }

    #[test]
    fn a_name_against_convention_is_an_error_of_ours_and_a_warning_for_servers() {
        for name in ["Login", "do-it", "a__b", "a_", "a_B"] {
            check(name, Origin::Yaml, Some(RefuseBatch));
            check(name, Origin::TargetServer, Some(Warn));
        }
        check("acme_ios_acceptRide_v2", Origin::Yaml, None);
    }

    #[test]
    fn a_reserved_prefix_must_be_granted() {
        check("web_click", Origin::Yaml, Some(RefuseBatch));
        check("web_click", Origin::ProjectServer, Some(Warn));
        check("web_click", Origin::BuiltIn, None);
        check("org_login", Origin::Yaml, None);
    }
}
