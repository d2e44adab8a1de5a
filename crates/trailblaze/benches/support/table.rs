//! The table that benchmarks print.

use std::time::Duration;

pub fn head() {
    println!("{:<58} {:>10} {:>10} {:>7}   {:<22} met", "what", "measured", "against", "ratio", "goal");
}

/// A line of the table: a measure, what it is held against, and what is wanted of both.
pub struct Row<'a> {
    pub what: &'a str,
    pub measured: Measure,
    pub against: Option<Measure>,
    pub goal: &'a str,
    pub is_met: Option<bool>,
}

#[derive(Clone, Copy)]
pub enum Measure {
    Time(Duration),
    Megabytes(f64),
    PerSecond(f64),
    Thousands(f64),
    Count(f64),
}

impl Measure {
    pub fn number(self) -> f64 {
        match self {
            Measure::Time(time) => time.as_secs_f64(),
            Measure::Megabytes(number) | Measure::PerSecond(number) => number,
            Measure::Thousands(number) | Measure::Count(number) => number,
        }
    }

    fn text(self) -> String {
        match self {
            Measure::Time(time) if time < Duration::from_millis(1) => format!("{:.1} µs", time.as_secs_f64() * 1e6),
            Measure::Time(time) if time < Duration::from_secs(10) => format!("{:.1} ms", time.as_secs_f64() * 1e3),
            Measure::Time(time) => format!("{:.1} s", time.as_secs_f64()),
            Measure::Megabytes(number) if number < 100.0 => format!("{number:.1} MB"),
            Measure::Megabytes(number) => format!("{number:.0} MB"),
            Measure::PerSecond(number) => format!("{number:.0} /s"),
            Measure::Thousands(number) | Measure::Count(number) => format!("{number:.0}"),
        }
    }
}

impl Row<'_> {
    pub fn print(&self) {
        let against = self.against.map(Measure::text).unwrap_or_default();
        let ratio = self.against.map(|against| format!("{:.2}", self.measured.number() / against.number()));
        let met = self.is_met.map_or("", |is_met| if is_met { "yes" } else { "no" });
        let (measured, ratio) = (self.measured.text(), ratio.unwrap_or_default());
        println!("{:<58} {measured:>10} {against:>10} {ratio:>7}   {:<22} {met}", self.what, self.goal);
    }
}

/// The time that one in `1 / share` does not exceed.
pub fn quantile(times: &mut [Duration], share: f64) -> Duration {
    times.sort_unstable();
    times[((times.len() - 1) as f64 * share) as usize]
}
