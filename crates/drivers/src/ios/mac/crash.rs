//! The reports that macOS writes about apps of simulators that crashed.

use std::path::Path;
use std::time::SystemTime;

use serde_json::Value;
use trailblaze_core::driver::cut;
use trailblaze_core::screen::fold;

/// Where reports are, below the home folder.
const REPORTS: &str = "Library/Logs/DiagnosticReports";
/// The largest report that is read, in bytes, and the longest reason.
const LARGEST: u64 = 4 << 20;
const REASON: usize = 300;

/// Why a process crashed, from the newest report about it that was written since then.
pub fn newest_crash(home: &Path, process: &str, since: SystemTime) -> Option<String> {
    let reports = std::fs::read_dir(home.join(REPORTS)).ok()?.flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let is_about = name.strip_prefix(process).is_some_and(|rest| rest.starts_with('-')) && name.ends_with(".ips");
        let facts = entry.metadata().ok()?;
        let written = facts.modified().ok()?;
        (is_about && written >= since && facts.len() <= LARGEST).then(|| (written, entry.path()))
    });
    let (_, newest) = reports.max_by_key(|(written, _)| *written)?;
    let why = reason(&std::fs::read_to_string(&newest).ok()?);
    let file = newest.display();
    Some(why.map_or_else(|| format!("see {file}"), |why| format!("{why}; see {file}")))
}

/// A report is a line of JSON about the report and then JSON about the crash.
fn reason(report: &str) -> Option<String> {
    let (_, body) = report.split_once('\n')?;
    let body: Value = serde_json::from_str(body).ok()?;
    let text = |path: &str| body.pointer(path).and_then(Value::as_str);
    let kind = [text("/exception/type"), text("/exception/signal")].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let said = text("/asi/libswiftCore.dylib/0").or_else(|| text("/termination/indicator")).unwrap_or_default();
    let why = [kind.as_str(), said].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
    (!why.is_empty()).then(|| cut(&fold(&why), REASON))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_which_exception_it_was() {
        let report = "{\"app_name\": \"Wallet\"}\n{\"exception\": {\"type\": \"EXC_BREAKPOINT\", \"signal\": \"SIGTRAP\"}, \
                      \"asi\": {\"libswiftCore.dylib\": [\"Fatal error: no card\"]}}";
        assert_eq!(reason(report).as_deref(), Some("EXC_BREAKPOINT SIGTRAP: Fatal error: no card"));
        assert_eq!((reason("{}\n{}"), reason("")), (None, None));
    }
}
