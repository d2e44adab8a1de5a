//! Reports servers that are slow to start.

use std::time::Duration;

use parking_lot::Mutex;

use crate::output::console::Console;

/// How long servers may take to start before the slow ones are reported.
const PATIENCE: Duration = Duration::from_secs(3);

/// The servers that are being waited for.
pub(super) struct Waiting(Mutex<Vec<String>>);

impl Waiting {
    pub fn new(names: Vec<String>) -> Waiting {
        Waiting(Mutex::new(names))
    }

    pub fn no_more(&self, name: &str) {
        self.0.lock().retain(|waiting| waiting != name);
    }

    /// Reports slow servers at intervals. Never returns.
    pub async fn complain(&self, console: Option<&dyn Console>) {
        let started = tokio::time::Instant::now();
        let mut pause = PATIENCE;
        loop {
            tokio::time::sleep(pause).await;
            pause *= 2;
            let names: Vec<String> = self.0.lock().iter().map(|name| format!("`{name}`")).collect();
            if let Some(console) = console.filter(|_| !names.is_empty()) {
                let seconds = started.elapsed().as_secs();
                console.say(&format!("waiting for {} to start ({seconds} s)", names.join(", ")));
            }
        }
    }
}
