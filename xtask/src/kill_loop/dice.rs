//! A random generator of our own, so that a seed gives the same numbers whatever libraries change (splitmix64).

use std::ops::Range;

use regente_providers::sandbox::REFUSED_AMOUNT_MINOR_UNITS;

/// The generator.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Another generator with its own sequence.
    pub(super) fn split(&mut self) -> Self {
        Self(self.next())
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn within(&mut self, range: Range<u64>) -> u64 {
        range.start + self.next() % (range.end - range.start)
    }

    /// A price that can be given back, also when its payer has paid one more than that: the simulator refuses to refund one
    /// amount, as often as it is asked.
    pub(super) fn price(&mut self, range: Range<u64>) -> u64 {
        let refused = REFUSED_AMOUNT_MINOR_UNITS.unsigned_abs();
        let price = self.within(range);
        if price == refused || price + 1 == refused { refused + 1 } else { price }
    }

    pub(super) fn one_in(&mut self, n: u64) -> bool {
        self.within(0..n) == 0
    }

    /// An index into a list of this length.
    pub(super) fn place(&mut self, length: usize) -> usize {
        usize::try_from(self.within(0..length.max(1) as u64)).unwrap_or(0)
    }

    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.place(from.len())]
    }
}
