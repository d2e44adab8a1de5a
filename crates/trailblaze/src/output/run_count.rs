//! How far a run is: how many of its trails are done, and about how long the rest takes, if earlier runs tell.

use std::time::Duration;

/// Above this many trails, those that pass are counted instead of listed.
const MOST_LISTED: usize = 60;
/// How many times a run with more trails says how far it is, where nothing can be overwritten.
const TIMES: usize = 20;

/// The trails of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlannedTrails {
    pub count: usize,
    /// How long all of them took before, one after another. `None` if most of them never ran.
    pub took: Option<Duration>,
    /// How many run at the same time.
    pub n_at_once: usize,
}

#[derive(Debug, Default)]
pub struct RunCount {
    planned: PlannedTrails,
    done: usize,
    failed: usize,
    /// How long the trails took before that are done.
    took: Duration,
    n_told: usize,
}

impl RunCount {
    pub fn new(planned: PlannedTrails) -> RunCount {
        RunCount { planned, ..RunCount::default() }
    }

    /// Whether trails that pass are counted instead of listed.
    pub fn is_large(&self) -> bool {
        self.planned.count > MOST_LISTED
    }

    /// Whether there is more to count than one trail.
    pub fn is_shown(&self) -> bool {
        self.planned.count > 1
    }

    /// Counts a trail. `took` is how long it took in earlier runs.
    pub fn add(&mut self, is_good: bool, took: Duration) {
        self.done += 1;
        self.failed += usize::from(!is_good);
        self.took += took;
    }

    /// Whether it is time to say how far a large run is, where nothing can be overwritten.
    pub fn is_due(&mut self) -> bool {
        let n_due = self.done * TIMES / self.planned.count.max(1);
        let is_due = self.is_large() && n_due > self.n_told;
        self.n_told = self.n_told.max(n_due);
        is_due
    }

    fn left(&self) -> Option<Duration> {
        let left = self.planned.took?.saturating_sub(self.took);
        let at_once = self.planned.n_at_once.clamp(1, self.planned.count.saturating_sub(self.done).max(1));
        Some(left / u32::try_from(at_once).unwrap_or(1))
    }
}

/// `12 of 63, 1 failed, about 40 s left`.
impl std::fmt::Display for RunCount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {}", self.done, self.planned.count)?;
        if self.failed > 0 {
            write!(f, ", {} failed", self.failed)?;
        }
        match self.left().map(|left| left.as_secs()).filter(|_| self.done < self.planned.count) {
            None | Some(0) => Ok(()),
            // Nobody can know it better than this.
            Some(seconds @ 1..60) => write!(f, ", about {} s left", seconds.next_multiple_of(5)),
            Some(seconds) => write!(f, ", about {} min left", seconds.div_ceil(60)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_estimated_only_if_earlier_runs_tell() {
        let planned = PlannedTrails { count: 63, took: None, n_at_once: 2 };
        let mut count = RunCount::new(planned);
        (0..12).for_each(|n| count.add(n > 0, Duration::from_secs(2)));
        assert_eq!(count.to_string(), "12 of 63, 1 failed");
        let mut count = RunCount::new(PlannedTrails { took: Some(Duration::from_secs(100)), ..planned });
        (0..12).for_each(|_| count.add(true, Duration::from_secs(2)));
        assert_eq!(count.to_string(), "12 of 63, about 40 s left");
        let long = Some(Duration::from_secs(1000));
        assert_eq!(RunCount::new(PlannedTrails { took: long, ..planned }).to_string(), "0 of 63, about 9 min left");
        (0..51).for_each(|_| count.add(true, Duration::from_secs(2)));
        assert_eq!(count.to_string(), "63 of 63");
    }

    #[test]
    fn a_large_run_says_how_far_it_is_a_few_times() {
        let due = |count: usize| {
            let mut run = RunCount::new(PlannedTrails { count, took: None, n_at_once: 1 });
            (0..count)
                .filter(|_| {
                    run.add(true, Duration::ZERO);
                    run.is_due()
                })
                .count()
        };
        assert_eq!((due(10), due(60), due(61), due(1000)), (0, 0, 20, 20));
    }
}
