//! The shares within the bounds that are nearest to the wished ones, in whole millionths.

use super::{Bounds, Millionths};

/// A millionth, in the unit in which is computed here.
const MILLIONTH: i64 = 1_000_000;
const WHOLE: i64 = Millionths::WHOLE.get() as i64 * MILLIONTH;

/// Moves all shares by the same amount, up or down, and stops each at its bounds, so that they add up to the whole: of all
/// shares within the bounds these have the least squared distance from the wished ones. What is left of millionths goes to the
/// largest remainders, in the order of the branches where they are equal.
///
/// The bounds must leave room: the least shares are at most the whole, and the largest at least.
pub(super) fn nearest(wished: &[f64], bounds: &[Bounds]) -> Vec<u32> {
    #[allow(clippy::float_arithmetic, reason = "a probability becomes a whole number")]
    let wished: Vec<i64> = wished.iter().map(|share| (share * WHOLE as f64) as i64).collect();
    let moved = |branch: usize, by: i64| {
        let Bounds { min, max } = bounds[branch];
        (wished[branch] + by).clamp(i64::from(min.get()) * MILLIONTH, i64::from(max.get()) * MILLIONTH)
    };
    let filled = |by: i64| (0..wished.len()).map(|branch| moved(branch, by)).sum::<i64>();

    // The largest move that fills no more than the whole: at its beginning all are at their least, at its end at their largest.
    let (mut fits, mut too_far) = (-2 * WHOLE, 2 * WHOLE + 1);
    while too_far - fits > 1 {
        let middle = fits + (too_far - fits) / 2;
        if filled(middle) <= WHOLE { fits = middle } else { too_far = middle }
    }
    let mut left = WHOLE - filled(fits);
    let mut exact: Vec<i64> = (0..wished.len()).map(|branch| moved(branch, fits)).collect();
    for (branch, share) in exact.iter_mut().enumerate() {
        if left > 0 && moved(branch, fits + 1) > *share {
            *share += 1;
            left -= 1;
        }
    }
    in_millionths(&exact)
}

fn in_millionths(exact: &[i64]) -> Vec<u32> {
    let mut shares: Vec<u32> = exact.iter().map(|share| (share / MILLIONTH) as u32).collect();
    let left = Millionths::WHOLE.get() - shares.iter().sum::<u32>();
    let mut by_remainder: Vec<usize> = (0..exact.len()).collect();
    by_remainder.sort_by_key(|&branch| -(exact[branch] % MILLIONTH));
    for branch in by_remainder.into_iter().take(left as usize) {
        shares[branch] += 1;
    }
    shares
}
