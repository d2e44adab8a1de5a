//! Replays a cassette in place of its server: nothing is started and nothing is connected to.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use trailblaze_core::engine::cx::Cx;
use trailblaze_core::engine::source::{Listing, SourceError, ToolSource};
use trailblaze_core::engine::tool::Contributor;
use trailblaze_core::yaml::inline;
use trailblaze_protocol::event::Level;
use trailblaze_protocol::outcome::Outcome;

use super::scrub::Scrub;
use super::{Callback, Cassette, RecordedAnswer, RecordedCall};
use crate::listing::{RawListing, interpret};
use crate::{answer, limits};

/// The server that is replayed.
pub struct ReplayedServer {
    pub name: String,
    pub contributor: Contributor,
    pub toolset: Option<String>,
    pub call_idle: Option<Duration>,
    /// The secrets that its entry lists.
    pub may_have: Vec<String>,
    /// The path of the cassette, for messages.
    pub file: String,
}

/// A cassette being replayed, shared by all sessions of a run: each recorded call is played once.
pub struct Player {
    role: ReplayedServer,
    raw: RawListing,
    /// By tool.
    pool: Mutex<HashMap<String, Takes>>,
    delegating: Mutex<HashSet<String>>,
    me: Weak<Player>,
}

/// The recorded calls of one tool.
#[derive(Default)]
struct Takes {
    left: VecDeque<Arc<RecordedCall>>,
    played: Vec<Arc<RecordedCall>>,
}

impl Takes {
    /// The first call with these arguments that has not been played: preferably one of this device, else of any.
    fn next(&mut self, args: &Map<String, Value>, device: &str) -> Option<Arc<RecordedCall>> {
        let mut place = None;
        for (index, kept) in self.left.iter().enumerate().filter(|(_, kept)| kept.args == *args) {
            if kept.device.as_deref().is_none_or(|own| own == device) {
                place = Some(index);
                break;
            }
            place = place.or(Some(index));
        }
        let kept = self.left.remove(place?)?;
        self.played.push(Arc::clone(&kept));
        Some(kept)
    }

    /// Why no call matches.
    fn lack(&self, args: &Map<String, Value>) -> Lack {
        let all = || self.played.iter().chain(&self.left);
        match all().filter(|kept| kept.args == *args).count() {
            0 => {
                let nearest = all().max_by_key(|kept| likeness(&kept.args, args));
                Lack::Other {
                    n_calls: all().count(),
                    nearest: nearest.map(|kept| shown(&kept.args)).unwrap_or_default(),
                }
            }
            n_answers => Lack::UsedUp { n_answers },
        }
    }
}

/// Why a cassette has no answer for a call.
#[derive(Debug, thiserror::Error)]
enum Lack {
    #[error("has no call of this tool")]
    Nothing,
    #[error("has {} of this tool; the closest has {nearest}", count(*.n_calls, "other call"))]
    Other { n_calls: usize, nearest: String },
    #[error("has only {} for it, already used", count(*.n_answers, "answer"))]
    UsedUp { n_answers: usize },
}

impl Player {
    pub fn new(role: ReplayedServer, cassette: Cassette) -> Arc<Player> {
        let mut pool: HashMap<String, Takes> = HashMap::new();
        for kept in cassette.calls {
            pool.entry(kept.tool.clone()).or_default().left.push_back(Arc::new(kept));
        }
        Arc::new_cyclic(|me| Player {
            role,
            raw: cassette.listing,
            pool: Mutex::new(pool),
            delegating: Mutex::default(),
            me: Weak::clone(me),
        })
    }

    /// The recorded call that answers this one.
    fn next(&self, tool: &str, args: &Map<String, Value>, device: &str) -> Result<Arc<RecordedCall>, Lack> {
        let mut pool = self.pool.lock();
        let takes = pool.get_mut(tool).ok_or(Lack::Nothing)?;
        takes.next(args, device).ok_or_else(|| takes.lack(args))
    }

    /// Repeats a callback that the tool made while it was recorded. Returns an outcome if it failed now but passed
    /// then, because the tool would have continued differently.
    async fn call_back(&self, cx: &Cx, callback: &Callback) -> Option<Outcome> {
        let Callback { tool, args, has_failed } = callback;
        let answer = cx.call(tool, args.clone()).await.unwrap_or_else(|fault| Outcome::failed(fault.to_string()));
        match (answer.is_error(), has_failed) {
            (true, false) => {
                let text = format!(
                    "its callback to `{tool}`, which passed when the cassette was recorded, failed: {}",
                    answer.text
                );
                Some(Outcome { variant: answer.variant, text, structured: answer.structured, ..Outcome::default() })
            }
            (false, true) => {
                let text = format!("its callback to `{tool}` passed, but failed when the cassette was recorded");
                cx.note(Level::Warning, text);
                None
            }
            _ => None,
        }
    }
}

#[async_trait]
impl ToolSource for Player {
    fn name(&self) -> &str {
        &self.role.name
    }

    fn contributor(&self) -> Contributor {
        self.role.contributor.clone()
    }

    async fn start(&self) -> Result<(), SourceError> {
        Ok(())
    }

    async fn list(&self) -> Result<Listing, SourceError> {
        let Some(me) = self.me.upgrade() else { return Ok(Listing::default()) };
        let me: Arc<dyn ToolSource> = me;
        let listing = interpret(&self.raw, &self.contributor(), self.role.toolset.as_deref(), &me);
        let delegating = listing.tools.iter().filter(|tool| tool.is_delegating).map(|tool| tool.name.clone());
        *self.delegating.lock() = delegating.collect();
        Ok(listing)
    }

    async fn call(&self, cx: &Cx, tool: &str, args: &Map<String, Value>) -> Result<Outcome, SourceError> {
        let args = Scrub::new(cx, None).map(args);
        let device = cx.session.device.description().id.to_string();
        let kept = match self.next(tool, &args, &device) {
            Ok(kept) => kept,
            Err(lack) => {
                return Ok(Outcome::failed(format!(
                    "`{tool}` was called with {}, but `{}` {lack}\nhint: record it with --cassette record",
                    shown(&args),
                    self.role.file
                )));
            }
        };
        for callback in &kept.callbacks {
            if let Some(failed) = self.call_back(cx, callback).await {
                return Ok(failed);
            }
        }
        Ok(match &kept.answer {
            RecordedAnswer::Result(value) => {
                answer::outcome(value.clone(), tool, self.delegating.lock().contains(tool))
            }
            RecordedAnswer::Refusal(message) => answer::refusal(message.clone(), tool),
        })
    }

    fn call_idle(&self) -> Option<Duration> {
        self.role.call_idle
    }

    fn secrets(&self) -> &[String] {
        &self.role.may_have
    }
}

/// How similar two calls are.
fn likeness(some: &Map<String, Value>, others: &Map<String, Value>) -> (usize, usize) {
    let n_equal = some.iter().filter(|(name, value)| others.get(*name) == Some(value)).count();
    (n_equal, some.keys().filter(|name| others.contains_key(*name)).count())
}

fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("one {what}") } else { format!("{n} {what}s") }
}

/// Arguments for a message, cut if they are long.
fn shown(args: &Map<String, Value>) -> String {
    let text = inline(&Value::Object(args.clone()));
    match text.char_indices().nth(limits::STDERR_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
