//! What one call of a tool has asked of a model so far, and how much more it may ask.

use parking_lot::Mutex;

use crate::limits;
use crate::model::TokenUsage;

/// Counts the requests of one call.
#[derive(Debug, Default)]
pub struct SamplingQuota(Mutex<Used>);

#[derive(Debug, Default)]
struct Used {
    requests: usize,
    tokens: u64,
}

/// Which limit a request would exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OverQuota {
    #[error("one call may ask a model at most {} times", limits::SAMPLING_REQUESTS)]
    Requests,
    #[error("the requests of one call to a model may take at most {} tokens", limits::SAMPLING_TOKENS)]
    Tokens,
}

impl SamplingQuota {
    /// Counts one more request of about `tokens`. Returns how many tokens are left for it.
    pub fn take(&self, tokens: u64) -> Result<u64, OverQuota> {
        let mut used = self.0.lock();
        if used.requests >= limits::SAMPLING_REQUESTS {
            return Err(OverQuota::Requests);
        }
        let left = limits::SAMPLING_TOKENS.saturating_sub(used.tokens);
        if left <= tokens {
            return Err(OverQuota::Tokens);
        }
        used.requests += 1;
        Ok(left - tokens)
    }

    /// Counts what a request took.
    pub fn add(&self, usage: TokenUsage) {
        self.0.lock().tokens += usage.input + usage.output;
    }
}
