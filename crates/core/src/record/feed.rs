//! The latest events of a session, numbered, for callers that follow it.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;
use trailblaze_protocol::event::Event;

/// How many events are kept, and how many bytes of JSON.
const EVENTS: usize = 10_000;
const BYTES: usize = 16 << 20;

/// The latest events of a session. Old ones are dropped, so that a session of any length needs bounded memory.
pub struct Feed {
    kept: Arc<Mutex<Kept>>,
    last: watch::Sender<i32>,
}

/// Reads a feed. It does not keep the session open, and still has the last events when the session is gone.
pub struct FeedReader {
    kept: Arc<Mutex<Kept>>,
    last: watch::Receiver<i32>,
}

#[derive(Default)]
struct Kept {
    events: VecDeque<Numbered>,
    bytes: usize,
    last: i32,
}

/// An event, as JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbered {
    /// Counts from 1, without gaps.
    pub number: i32,
    pub json: Arc<str>,
}

/// The reader is too slow: the events after its last one were dropped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the events after {last} are no longer kept; the oldest is {oldest}")]
pub struct Lagged {
    pub last: i32,
    pub oldest: i32,
}

impl Default for Feed {
    fn default() -> Feed {
        Feed { kept: Arc::default(), last: watch::Sender::new(0) }
    }
}

impl Feed {
    /// Adds an event. It must be redacted.
    pub fn push(&self, event: &Event) {
        // Events consist of texts, numbers and JSON, so this cannot fail.
        let Ok(json) = serde_json::to_string(event) else { return };
        let mut kept = self.kept.lock();
        kept.last += 1;
        kept.bytes += json.len();
        let number = kept.last;
        kept.events.push_back(Numbered { number, json: json.into() });
        while kept.events.len() > EVENTS || (kept.bytes > BYTES && kept.events.len() > 1) {
            let dropped = kept.events.pop_front().map_or(0, |event| event.json.len());
            kept.bytes -= dropped;
        }
        drop(kept);
        self.last.send_replace(number);
    }

    pub fn reader(&self) -> FeedReader {
        FeedReader { kept: Arc::clone(&self.kept), last: self.last.subscribe() }
    }
}

impl FeedReader {
    /// The next event after this number; `None` if there is none yet.
    pub fn next(&self, after: i32) -> Result<Option<Numbered>, Lagged> {
        let kept = self.kept.lock();
        let Some(oldest) = kept.events.front().map(|event| event.number) else { return Ok(None) };
        if after + 1 < oldest {
            return Err(Lagged { last: after, oldest });
        }
        let index = usize::try_from(after + 1 - oldest).unwrap_or(usize::MAX);
        Ok(kept.events.get(index).cloned())
    }

    /// Waits until there are more events. Returns false if there will be none.
    pub async fn wait(&mut self) -> bool {
        self.last.changed().await.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use trailblaze_protocol::event::Level;

    use super::*;

    fn note(text: &str) -> Event {
        Event::Noted { about: None, level: Level::Info, text: text.into() }
    }

    #[test]
    fn a_reader_resumes_after_any_number_that_is_kept() {
        let feed = Feed::default();
        let reader = feed.reader();
        assert_eq!(reader.next(0), Ok(None));
        ["one", "two"].iter().for_each(|text| feed.push(&note(text)));
        assert_eq!(reader.next(0).unwrap().unwrap().number, 1);
        assert!(reader.next(1).unwrap().unwrap().json.contains("two"));
        assert_eq!(reader.next(2), Ok(None));
    }

    #[tokio::test]
    async fn a_reader_gets_the_last_events_of_a_session_that_is_gone() {
        let feed = Feed::default();
        let mut reader = feed.reader();
        ["one", "two"].iter().for_each(|text| feed.push(&note(text)));
        drop(feed);
        assert!(reader.wait().await);
        assert!(reader.next(1).unwrap().unwrap().json.contains("two"));
        assert!(!reader.wait().await);
    }

    #[test]
    fn a_slow_reader_learns_what_it_missed() {
        let feed = Feed::default();
        (0..EVENTS + 3).for_each(|_| feed.push(&note("again")));
        assert_eq!(feed.reader().next(1), Err(Lagged { last: 1, oldest: 4 }));
        assert_eq!(feed.reader().next(3).unwrap().unwrap().number, 4);
        let large = "x".repeat(BYTES / 2);
        (0..3).for_each(|_| feed.push(&note(&large)));
        assert!(feed.kept.lock().bytes <= BYTES);
    }
}
