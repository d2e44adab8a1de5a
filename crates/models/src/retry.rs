//! When to try again.

use std::time::Duration;

use trailblaze_core::driver::Budget;

/// How often a request is sent at most.
pub const TRIES: u32 = 5;
/// How often it is sent if nothing can be reached at all.
pub const UNREACHABLE_TRIES: u32 = 2;
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);
/// A provider that asks for more than this is reported instead.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// How long to wait after `n_tries`, or `None` if waiting is in vain: it would be too long, or past the deadline.
pub fn pause(n_tries: u32, asked: Option<Duration>, budget: &Budget) -> Option<Duration> {
    let jitter = jitter();
    let pause = match asked {
        // Never earlier than asked, and not all at once.
        Some(asked) if asked > LONGEST_WAIT => return None,
        Some(asked) => asked.mul_f64(1.0 + jitter * 0.1),
        None => (FIRST_PAUSE * 2u32.saturating_pow(n_tries.saturating_sub(1)))
            .min(LONGEST_PAUSE)
            .mul_f64(0.75 + jitter * 0.5),
    };
    (pause < budget.remaining()).then_some(pause)
}

/// From 0 to 1.
fn jitter() -> f64 {
    f64::from(getrandom::u32().unwrap_or(u32::MAX / 2)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::Instant;
    use tokio_util::sync::CancellationToken;

    fn within(seconds: u64) -> Budget {
        Budget::new(Instant::now() + Duration::from_secs(seconds), CancellationToken::new())
    }

    #[test]
    fn pauses_grow_up_to_a_limit() {
        for (n_tries, least, most) in [(1, 375, 625), (2, 750, 1_250), (3, 1_500, 2_500), (9, 6_000, 10_000)] {
            let pause = pause(n_tries, None, &within(600)).expect("a pause").as_millis();
            assert!((least..=most).contains(&pause), "{n_tries}: {pause}");
        }
    }

    #[test]
    fn what_the_provider_asks_for_is_obeyed_within_bounds() {
        let asked = pause(1, Some(Duration::from_secs(20)), &within(600)).expect("a pause").as_millis();
        assert!((20_000..=22_000).contains(&asked), "{asked}");
        assert_eq!(pause(1, Some(Duration::from_secs(61)), &within(600)), None);
    }

    #[test]
    fn a_pause_past_the_deadline_is_in_vain() {
        assert_eq!(pause(1, Some(Duration::from_secs(20)), &within(10)), None);
        assert_eq!(pause(1, None, &within(0)), None);
    }
}
