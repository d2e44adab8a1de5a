//! Slots of an endpoint that are slower than the others: a machine of a grid that is overloaded, for example.

use std::collections::BTreeMap;

/// How many trails a slot must have run before anything is said about it.
const ENOUGH: u64 = 3;
/// How many times as long as the others it must take.
const SLOW: f64 = 2.0;

/// How long a trail took on a slot, and how long it was expected to, in milliseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct SlotPace {
    pub slot: String,
    pub took: u64,
    pub expected: u64,
}

/// A message for each slot that is slower than the others.
pub fn slow_slots(paces: &[SlotPace]) -> Vec<String> {
    let mut slots: BTreeMap<&str, (u64, u64, u64)> = BTreeMap::new();
    for pace in paces {
        let (n, took, expected) = slots.entry(&pace.slot).or_default();
        (*n, *took, *expected) = (*n + 1, *took + pace.took, *expected + pace.expected.max(1));
    }
    let pace = |(took, expected): (u64, u64)| took as f64 / expected as f64;
    let mut slow = Vec::new();
    for (slot, (n, took, expected)) in &slots {
        let others = slots.iter().filter(|(other, (n, ..))| *other != slot && *n >= ENOUGH);
        let others = others.fold((0, 0), |sum, (_, (_, took, expected))| (sum.0 + took, sum.1 + expected));
        if *n < ENOUGH || others.0 == 0 {
            continue;
        }
        let times = pace((*took, *expected)) / pace(others);
        if times >= SLOW {
            slow.push(format!("{slot} took {times:.1} times as long for its trails as the other slots"));
        }
    }
    slow
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paces(all: &[(&str, u64, u64)]) -> Vec<SlotPace> {
        let pace = |(slot, took, expected): &(&str, u64, u64)| SlotPace {
            slot: slot.to_string(),
            took: *took,
            expected: *expected,
        };
        all.iter().flat_map(|one| [pace(one), pace(one), pace(one)]).collect()
    }

    #[test]
    fn a_slot_is_slow_if_its_trails_take_longer_than_they_should_and_those_of_others_do_not() {
        let slow = slow_slots(&paces(&[("web/grid", 100, 100), ("web/grid-2", 300, 100), ("web/grid-3", 100, 100)]));
        assert_eq!(slow, ["web/grid-2 took 3.0 times as long for its trails as the other slots"]);
        // Longer trails are no slowness, nor is a run that is slow everywhere.
        assert!(slow_slots(&paces(&[("web/grid", 100, 100), ("web/grid-2", 900, 900)])).is_empty());
        assert!(slow_slots(&paces(&[("web/grid", 900, 100), ("web/grid-2", 900, 100)])).is_empty());
    }

    #[test]
    fn nothing_is_said_of_a_slot_that_ran_little_or_is_alone() {
        let mut few = paces(&[("web/grid", 100, 100)]);
        few.push(SlotPace { slot: "web/grid-2".to_string(), took: 9000, expected: 100 });
        assert!(slow_slots(&few).is_empty());
        assert!(slow_slots(&paces(&[("web/grid", 900, 100)])).is_empty());
        assert!(slow_slots(&[]).is_empty());
    }
}
