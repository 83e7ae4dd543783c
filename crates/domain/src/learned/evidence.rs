//! What was counted of comparable charges, and what it says about an approval rate.

#![allow(clippy::float_arithmetic, reason = "probabilities, never money")]

use std::cmp::Ordering;

use super::{Learning, Millionths};

/// One charge, in the unit of [`Counts`].
const CHARGE: u64 = 1_000_000;
/// What is older than so many half-lives counts less than a thousandth, and is left out.
const HALF_LIVES: u32 = 10;
/// What was counted is never worth more charges than this, so that rates a tenth of a point apart stay in doubt.
const TRUSTED_MAX: f64 = 50_000.0;

/// Charges whose outcome is known, in millionths of a charge: each counts by the weight of its age. Charges whose outcome
/// is not known are in neither number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Those that were approved; at most those tried.
    pub approved: u64,
    /// All of them.
    pub tried: u64,
}

impl Counts {
    /// So many whole charges.
    pub const fn charges(approved: u32, tried: u32) -> Self {
        Self { approved: approved as u64 * CHARGE, tried: tried as u64 * CHARGE }
    }

    /// Adds charges of this weight.
    pub fn add(&mut self, approved: u32, tried: u32, weight: Millionths) {
        let weighted = |charges: u32| u64::from(charges) * u64::from(weight.get());
        self.approved = self.approved.saturating_add(weighted(approved));
        self.tried = self.tried.saturating_add(weighted(tried));
    }

    /// Approved and refused, in charges, without those of a narrower group that is contained.
    fn outside(self, narrower: Self) -> (f64, f64) {
        let refused = |counts: Self| counts.tried.saturating_sub(counts.approved);
        let approved = self.approved.min(self.tried).saturating_sub(narrower.approved.min(narrower.tried));
        let in_charges = |count: u64| count as f64 / CHARGE as f64;
        (in_charges(approved), in_charges(refused(self).saturating_sub(refused(narrower))))
    }
}

/// The charges of the narrowest group, to the nearest whole one.
pub(super) fn whole_charges(levels: &[Counts]) -> u64 {
    levels.last().map_or(0, |counts| (counts.tried + CHARGE / 2) / CHARGE)
}

/// How much a charge counts after so many hours.
#[derive(Clone, Copy, Debug)]
pub struct Decay {
    half_life_hours: u32,
}

impl Decay {
    /// With the half-life of a balance.
    pub const fn of(learning: &Learning) -> Self {
        let half_life_hours = learning.half_life_hours;
        Self { half_life_hours: if half_life_hours == 0 { 1 } else { half_life_hours } }
    }

    /// What was counted in an hour that began so many hours before the hour that shares are computed for has this weight.
    pub fn weight(self, age_hours: u32) -> Millionths {
        if age_hours > self.reach_hours() {
            return Millionths::ZERO;
        }
        let (halvings, rest) = (age_hours / self.half_life_hours, age_hours % self.half_life_hours);
        let weight = libm::exp2(-f64::from(rest) / f64::from(self.half_life_hours));
        let whole = Millionths::WHOLE.get();
        Millionths::of((weight * f64::from(whole)) as u32 >> halvings)
    }

    /// Older hours count nothing, and need not be read.
    pub const fn reach_hours(self) -> u32 {
        self.half_life_hours.saturating_mul(HALF_LIVES)
    }
}

/// What is known of an approval rate: a Beta distribution, as if so many charges had been approved and refused.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beta {
    pub(super) approved: f64,
    pub(super) refused: f64,
}

impl Beta {
    /// After what was counted, from the broadest group to the narrowest.
    ///
    /// What is known of a broader group, without the narrower ones in it, is what is presumed of the next narrower group: it
    /// is worth `backoff_strength` charges there, or fewer if fewer were counted. No charge counts twice.
    pub(super) fn after(levels: &[Counts], learning: &Learning) -> Self {
        let rate = f64::from(learning.prior_rate.get()) / f64::from(Millionths::WHOLE.get());
        let strength = f64::from(learning.prior_strength);
        let mut known = Self { approved: rate * strength, refused: (1.0 - rate) * strength };
        let narrower = levels.iter().skip(1).copied().chain([Counts::default()]);
        for (index, (level, narrower)) in levels.iter().zip(narrower).enumerate() {
            if index > 0 {
                known = known.worth_at_most(f64::from(learning.backoff_strength));
            }
            let (approved, refused) = level.outside(narrower);
            known = Self { approved: known.approved + approved, refused: known.refused + refused };
        }
        known.worth_at_most(TRUSTED_MAX)
    }

    fn worth_at_most(self, charges: f64) -> Self {
        let total = self.approved + self.refused;
        if total <= charges {
            return self;
        }
        Self { approved: self.approved * charges / total, refused: self.refused * charges / total }
    }

    pub(super) fn mean(self) -> Millionths {
        let mean = self.approved / (self.approved + self.refused);
        Millionths::of((mean * f64::from(Millionths::WHOLE.get()) + 0.5) as u32)
    }

    /// An order of distributions, for computing with them in the same order always.
    pub(super) fn cmp(&self, other: &Self) -> Ordering {
        self.approved.total_cmp(&other.approved).then_with(|| self.refused.total_cmp(&other.refused))
    }
}
