//! Shares against values from another source: `known_values.py` beside this file computes them in exact fractions, from the sums of
//! binomials that the distribution functions are for whole numbers.

use super::{PLAIN, balance, one_group, parts, shares_of};

/// How far a share may be from the exact one, in millionths: what the cells make coarse.
const NEAR: f64 = 100.0;

/// Approved and tried, of each way.
type Tried = &'static [(u32, u32)];

/// Approved and tried charges of each branch with the flat prior, and the exact probabilities to be the best, in millionths.
const KNOWN: &[(Tried, &[f64])] = &[
    (&[(8, 10), (6, 10)], &[819_272.446, 180_727.554]),
    (&[(0, 0), (1, 1)], &[333_333.333, 666_666.667]),
    (&[(80, 100), (70, 100)], &[947_603.103, 52_396.897]),
    (&[(0, 0), (9, 10)], &[166_666.667, 833_333.333]),
    (&[(100, 100), (97, 100)], &[939_360.984, 60_639.016]),
    (&[(85, 100), (84, 100)], &[576_259.289, 423_740.711]),
    (&[(850, 1000), (830, 1000)], &[888_450.221, 111_549.779]),
    (&[(8, 10), (6, 10), (3, 4)], &[564_715.719, 103_177.258, 332_107.023]),
    (&[(18, 20), (15, 20), (0, 0)], &[772_533.234, 98_150.596, 129_316.170]),
    (&[(20, 25), (21, 25), (15, 25)], &[359_026.152, 631_269.929, 9_703.919]),
    (&[(2, 3), (1, 3), (0, 1), (3, 3)], &[188_211.788, 38_561.439, 41_425.241, 731_801.532]),
];

#[test]
fn shares_are_the_exact_probabilities_to_be_the_best() {
    for (counts, exact) in KNOWN {
        let shares = parts(&shares_of(&balance(PLAIN, counts.len()), &one_group(counts)));
        for (share, exact) in shares.iter().zip(*exact) {
            assert!((f64::from(*share) - exact).abs() < NEAR, "{counts:?}: {shares:?}");
        }
    }
}
