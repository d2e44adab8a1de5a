//! Reproducible randomness: splitmix64, seeded by the run's seed, the device's name and a purpose.

#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Each purpose has its own generator, so that an additional look at a screen does not change which action fails.
    pub fn new(seed: u64, device: &str, purpose: &str) -> Dice {
        // FNV-1a, so that devices with similar names get different numbers.
        let name =
            device.bytes().chain([0]).chain(purpose.bytes()).fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
            });
        Dice(seed ^ name)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Whether an event of this probability happens. Draws a number even if it is 0 or 1, so that one fault does not
    /// change when another occurs.
    pub fn happens(&mut self, probability: f64) -> bool {
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        unit < probability
    }

    /// A number from `-most` to `most`.
    pub fn within(&mut self, most: u32) -> i64 {
        let sides = 2 * u64::from(most) + 1;
        (self.next() % sides) as i64 - i64::from(most)
    }
}
