//! Ends pages and browsers that use more memory than the project allows.

use std::sync::{Arc, Weak};
use std::time::Duration;

use super::browser::Browser;

/// The memory that a process of a browser may use, unless the project sets another limit.
pub const MOST_BYTES: u64 = 2 << 30;
/// How often the processes are checked.
const INTERVAL: Duration = Duration::from_millis(500);

/// Checks the processes of a browser until it ends. The process of a page that uses too much is killed; if another process
/// does, all of the browser is.
async fn watch(browser: Weak<Browser>, most: u64) {
    loop {
        tokio::time::sleep(INTERVAL).await;
        let Some(browser) = browser.upgrade().filter(|browser| browser.end().is_none()) else { return };
        let Some(child) = browser.child().cloned() else { return };
        let own = child.clone();
        let check = move || own.memory().into_iter().find(|process| process.bytes > most);
        let Ok(over) = tokio::task::spawn_blocking(check).await else { return };
        let Some(over) = over else { continue };
        let used = format!(
            "it used {} MB of memory, and {} MB are allowed; `memoryLimitMb` of `browser:` changes that",
            over.bytes >> 20,
            most >> 20
        );
        tracing::debug!(target: "trailblaze::web", pid = over.pid, command = over.command, used, "over the limit");
        if over.command.contains("--type=renderer") {
            browser.note_kill(used);
            let _ = tokio::task::spawn_blocking(move || child.kill_one(over.pid)).await;
        } else {
            let pages = browser.open_pages().join(", ");
            browser.note_end(format!("the browser was ended while it showed {pages}: {used}"));
            child.kill().await;
        }
    }
}

/// Starts to watch a browser that we started.
pub fn limit(browser: &Arc<Browser>, most: u64) {
    if browser.child().is_some() {
        // Detached: it does not keep the browser, and ends within `INTERVAL` of its end.
        tokio::spawn(watch(Arc::downgrade(browser), most));
    }
}
