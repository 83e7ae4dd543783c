//! The probability of each branch that its approval rate is the highest, by numerical integration.
//!
//! All branches are looked at on the same cells. A rate x is the square of the sine of an angle, since on the scale of that
//! angle what is known of a rate is about equally wide wherever the rate lies. Within a cell a rate is taken to be evenly distributed, so the
//! probabilities add up to 1, and a branch with more approvals never has a smaller one.
//!
//! Only sums, products, and logarithms and powers that are computed by `libm`, which are the same on every machine.

#![allow(clippy::float_arithmetic, reason = "probabilities, never money")]

use std::f64::consts::FRAC_PI_2;
use std::sync::LazyLock;

use super::evidence::Beta;

/// The cells of the quarter circle. The narrowest distribution (50,000 charges) has a standard deviation of 1.5 cells.
const CELLS: usize = 1024;
/// What is less likely than this, compared with the likeliest cell, is impossible (powers of e).
const NEGLIGIBLE: f64 = -50.0;
/// Places and weights of the Gauss-Legendre rule with five places on 0..1, which is exact up to the ninth power: the powers that the
/// product for ten branches has (Abramowitz and Stegun, table 25.4).
const PLACES: [(f64, f64); 5] = [
    (0.046_910_077_030_668, 0.118_463_442_528_094_5),
    (0.230_765_344_947_158_5, 0.239_314_335_249_683_2),
    (0.5, 0.284_444_444_444_444_4),
    (0.769_234_655_052_841_5, 0.239_314_335_249_683_2),
    (0.953_089_922_969_332, 0.118_463_442_528_094_5),
];

/// The logarithm of the sine at the middle of each cell; that of the cosine is the same backwards.
static LOG_SINES: LazyLock<Vec<f64>> = LazyLock::new(|| {
    let middle = |cell: usize| (cell as f64 + 0.5) * FRAC_PI_2 / CELLS as f64;
    (0..CELLS).map(|cell| libm::log(libm::sin(middle(cell)))).collect()
});

/// For each of at most ten distributions the probability that a rate from it is higher than one from each of the others.
pub(super) fn probabilities(rates: &[Beta]) -> Vec<f64> {
    let cells: Vec<Vec<f64>> = rates.iter().map(by_cell).collect();
    let mut below = vec![0.0; rates.len()];
    let mut highest = vec![0.0; rates.len()];
    for cell in 0..CELLS {
        if cells.iter().all(|rate| rate[cell] == 0.0) {
            continue;
        }
        for (place, weight) in PLACES {
            for (branch, highest) in highest.iter_mut().enumerate() {
                let others = (0..rates.len()).filter(|&other| other != branch);
                let all_lower: f64 = others.map(|other| below[other] + place * cells[other][cell]).product();
                *highest += weight * cells[branch][cell] * all_lower;
            }
        }
        for (below, rate) in below.iter_mut().zip(&cells) {
            *below += rate[cell];
        }
    }
    highest
}

/// The probability of each cell.
fn by_cell(rate: &Beta) -> Vec<f64> {
    // The density on the scale of the angle: sin^(2a-1) cos^(2b-1).
    let (sine_power, cosine_power) = (2.0 * rate.approved - 1.0, 2.0 * rate.refused - 1.0);
    let logs = LOG_SINES.iter().zip(LOG_SINES.iter().rev());
    let mut cells: Vec<f64> = logs.map(|(sine, cosine)| sine_power * sine + cosine_power * cosine).collect();
    let likeliest = cells.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    for cell in &mut cells {
        let log = *cell - likeliest;
        *cell = if log < NEGLIGIBLE { 0.0 } else { libm::exp(log) };
    }
    let total: f64 = cells.iter().sum();
    cells.iter_mut().for_each(|cell| *cell /= total);
    cells
}
