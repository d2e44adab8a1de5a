//! The latest events of a session, numbered, for callers that follow it.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;
use trailblaze_protocol::event::Event;

/// How many events are kept, and how many bytes of JSON.
const EVENTS: usize = 10_000;
const BYTES: usize = 16 << 20;

/// The latest events of a session. Old ones are dropped, so that a session of any length needs bounded memory.
pub struct Feed {
    recent: Mutex<Recent>,
    last: watch::Sender<i32>,
}

#[derive(Default)]
struct Recent {
    events: VecDeque<Numbered>,
    bytes: usize,
    last: i32,
    has_ended: bool,
}

/// What comes after an event.
#[derive(Debug, Clone, PartialEq)]
pub enum NextEvent {
    Event(Numbered),
    /// Nothing yet.
    Wait,
    /// The session has ended.
    End,
}

/// An event, as JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbered {
    /// Counts from 1, without gaps.
    pub number: i32,
    pub json: Arc<str>,
    /// When it happened.
    pub at: Instant,
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
        Feed { recent: Mutex::default(), last: watch::Sender::new(0) }
    }
}

impl Feed {
    /// Adds an event. It must be redacted.
    pub fn push(&self, event: &Event) {
        // Events consist of texts, numbers and JSON, so this cannot fail.
        let Ok(json) = serde_json::to_string(event) else { return };
        let mut recent = self.recent.lock();
        recent.last += 1;
        recent.bytes += json.len();
        let number = recent.last;
        recent.events.push_back(Numbered { number, json: json.into(), at: Instant::now() });
        while recent.events.len() > EVENTS || (recent.bytes > BYTES && recent.events.len() > 1) {
            let dropped = recent.events.pop_front().map_or(0, |event| event.json.len());
            recent.bytes -= dropped;
        }
        drop(recent);
        self.last.send_replace(number);
    }

    /// There will be no more events.
    pub fn end(&self) {
        self.recent.lock().has_ended = true;
        self.last.send_modify(|_| {});
    }

    /// What comes after the event of this number.
    pub fn next(&self, after: i32) -> Result<NextEvent, Lagged> {
        let recent = self.recent.lock();
        let nothing = if recent.has_ended { NextEvent::End } else { NextEvent::Wait };
        let Some(oldest) = recent.events.front().map(|event| event.number) else { return Ok(nothing) };
        if after + 1 < oldest {
            return Err(Lagged { last: after, oldest });
        }
        let index = usize::try_from(after + 1 - oldest).unwrap_or(usize::MAX);
        Ok(recent.events.get(index).cloned().map_or(nothing, NextEvent::Event))
    }

    /// Waits until there will be no more events.
    pub async fn ended(&self) {
        let mut last = self.subscribe();
        while !self.recent.lock().has_ended && last.changed().await.is_ok() {}
    }

    /// Signals the number of the last event.
    pub fn subscribe(&self) -> watch::Receiver<i32> {
        self.last.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use trailblaze_protocol::event::Level;

    use super::*;

    fn note(text: &str) -> Event {
        Event::note(None, Level::Info, text)
    }

    fn number(feed: &Feed, after: i32) -> Option<i32> {
        match feed.next(after) {
            Ok(NextEvent::Event(event)) => Some(event.number),
            _ => None,
        }
    }

    #[test]
    fn a_reader_resumes_after_any_number_that_is_kept() {
        let feed = Feed::default();
        assert_eq!(feed.next(0), Ok(NextEvent::Wait));
        ["one", "two"].iter().for_each(|text| feed.push(&note(text)));
        assert_eq!((number(&feed, 0), number(&feed, 1)), (Some(1), Some(2)));
        assert_eq!(feed.next(2), Ok(NextEvent::Wait));
        feed.end();
        assert_eq!((number(&feed, 1), feed.next(2)), (Some(2), Ok(NextEvent::End)));
    }

    #[test]
    fn a_slow_reader_learns_what_it_missed() {
        let feed = Feed::default();
        (0..EVENTS + 3).for_each(|_| feed.push(&note("again")));
        assert_eq!(feed.next(1), Err(Lagged { last: 1, oldest: 4 }));
        assert_eq!(number(&feed, 3), Some(4));
        let large = "x".repeat(BYTES / 2);
        (0..3).for_each(|_| feed.push(&note(&large)));
        assert!(feed.recent.lock().bytes <= BYTES);
    }
}
