//! Audits of accessibility by the rules of a device's system or of its pages.

use async_trait::async_trait;
use serde_json::json;

use super::{ActionOutput, Budget, DriverError};
use crate::query::Found;

/// A device that checks the accessibility of what it shows.
#[async_trait]
pub trait AccessibilityAuditor: Send + Sync {
    /// The faults that it finds now. What of the scope it cannot limit itself to is refused.
    async fn audit(&self, budget: &Budget, scope: &AuditScope) -> Result<Vec<AccessibilityFault>, DriverError>;
}

/// What is audited, and by which rules.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AuditScope {
    /// Only these rules, in the words of the auditor; with `tags`, these too. All if both are empty.
    pub rules: Vec<String>,
    /// Only rules with one of these tags.
    pub tags: Vec<String>,
    /// Only this element; `None` for the whole screen.
    pub within: Option<Found>,
    /// Elements that are left out.
    pub except: Vec<Found>,
}

/// A fault that an audit has found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AccessibilityFault {
    /// The rule that it breaks, in the words of the auditor.
    pub rule: String,
    /// How bad it is, in the words of the auditor; empty if it does not say.
    pub impact: String,
    pub text: String,
    /// The element that it is about; empty if the audit does not say.
    pub element: String,
    /// Where to read more; empty if the audit does not say.
    pub help: String,
}

impl AccessibilityFault {
    /// `image-alt (critical): Images must have alternative text (css=img)`.
    fn line(&self) -> String {
        let AccessibilityFault { rule, impact, text, element, help } = self;
        let impact = if impact.is_empty() { String::new() } else { format!(" ({impact})") };
        let element = if element.is_empty() { String::new() } else { format!(" ({element})") };
        let help = if help.is_empty() { String::new() } else { format!(", see {help}") };
        format!("{rule}{impact}: {text}{element}{help}")
    }
}

/// The faults as the result of a command: a line each.
pub(super) fn audited(faults: &[AccessibilityFault]) -> ActionOutput {
    let value = faults.iter().map(|AccessibilityFault { rule, impact, text, element, help }| {
        let mut value = json!({"rule": rule, "text": text, "element": element});
        for (key, given) in [("impact", impact), ("help", help)].into_iter().filter(|(_, given)| !given.is_empty()) {
            value[key] = given.as_str().into();
        }
        value
    });
    let lines: Vec<String> = faults.iter().map(AccessibilityFault::line).collect();
    ActionOutput { text: lines.join("\n"), value: Some(value.collect()), ..ActionOutput::default() }
}
