//! The last lines that a program prints, for messages.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncBufRead, Lines};
use tokio_util::task::AbortOnDropHandle;
use trailblaze_core::driver::cut;

/// How many lines are kept, and the longest of them in bytes.
const LINES: usize = 8;
const LINE: usize = 300;

#[derive(Clone, Default)]
pub struct LastLines(Arc<Mutex<VecDeque<String>>>);

impl LastLines {
    /// Reads an output to its end.
    pub fn follow(&self, mut output: Lines<impl AsyncBufRead + Send + Unpin + 'static>) -> AbortOnDropHandle<()> {
        let own = self.clone();
        AbortOnDropHandle::new(tokio::spawn(async move {
            while let Ok(Some(line)) = output.next_line().await {
                own.add(&line);
            }
        }))
    }

    pub fn add(&self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        let mut lines = self.0.lock();
        lines.push_back(cut(line.trim(), LINE));
        if lines.len() > LINES {
            lines.pop_front();
        }
    }
}

impl fmt::Display for LastLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.lock().iter().cloned().collect();
        f.write_str(&if lines.is_empty() { "it printed nothing".to_string() } else { lines.join(" / ") })
    }
}
