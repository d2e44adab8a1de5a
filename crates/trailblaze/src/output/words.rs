//! Numbers in words for people.

/// `1 step`, `2 steps`.
pub fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// A length of time for people.
pub fn seconds(micros: u64) -> String {
    match micros {
        0..1_000_000 => format!("{} ms", micros / 1000),
        1_000_000..60_000_000 => format!("{:.1} s", micros as f64 / 1e6),
        _ => format!("{} min {:02} s", micros / 60_000_000, micros / 1_000_000 % 60),
    }
}
