//! Checks and their results, as `doctor` commands print them.

use serde_json::{Value, json};

pub use trailblaze_core::finding::{Finding, FindingState};

use crate::output::print;

fn json(findings: &[Finding]) -> Vec<Value> {
    let one = |finding: &Finding| json!({"state": finding.state.word(), "about": finding.about, "message": finding.message, "hint": finding.hint});
    findings.iter().map(one).collect()
}

/// Prints them, after what they are about.
pub fn print((what, name): (&str, &str), findings: &[Finding], is_json: bool) {
    if is_json {
        return print::json(&json!({what: name, "findings": json(findings)}));
    }
    print::data(format!("{what} `{name}`"));
    for finding in findings {
        print::data(format!("  {:<8} {}", finding.state.word(), finding.message.replace('\n', "\n           ")));
        if let Some(hint) = &finding.hint {
            print::data(format!("           hint: {hint}"));
        }
    }
}
