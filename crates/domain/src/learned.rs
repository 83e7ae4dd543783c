//! A balance that learns: how the charges of a balance node are divided among its branches when their shares follow the
//! approval rates of comparable charges.
//!
//! The share of a branch is the probability that it is the one with the highest approval rate, given what was counted
//! (`best`, `evidence`), moved as little as possible into its bounds (`bounds`). The method in plain words:
//! `docs/learned-balance.md`. Nothing here is random, and nothing asks the time: whoever calls weighs what was counted by
//! its age ([`evidence::Decay`]), keeps the shares for an hour and hands in a [`Draw`] that follows from the idempotency key.

mod best;
mod bounds;
pub mod evidence;
pub mod moves;

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

use evidence::{Beta, Counts};

/// The fewest branches of a balance.
pub const BRANCHES_MIN: usize = 2;
/// The most branches of a balance.
pub const BRANCHES_MAX: usize = 10;
/// The longest half-life of what was counted: thirty days.
pub const HALF_LIFE_HOURS_MAX: u32 = 30 * 24;
/// The most charges that a prior may be worth.
pub const STRENGTH_MAX: u32 = 10_000;

/// A part of a whole in millionths: a share or an approval rate. 1,000,000 is the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millionths(u32);

impl Millionths {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// All of it.
    pub const WHOLE: Self = Self(1_000_000);

    /// From millionths; what is more than the whole is the whole.
    pub const fn of(millionths: u32) -> Self {
        if millionths > Self::WHOLE.0 { Self::WHOLE } else { Self(millionths) }
    }

    /// From whole percent; what is more than 100 is the whole.
    pub const fn percent(percent: u32) -> Self {
        Self::of(percent.saturating_mul(10_000))
    }

    /// The millionths.
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// Where a charge falls among the shares: 0 to 999,999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Draw(u32);

impl Draw {
    /// From 64 evenly distributed bits, such as the first eight bytes of a keyed digest.
    pub const fn of_bits(bits: u64) -> Self {
        // The product is below 2^64 times a million, so what is left of it is below a million.
        Self(((bits as u128 * Millionths::WHOLE.0 as u128) >> 64) as u32)
    }

    /// The millionths.
    pub const fn millionths(self) -> u32 {
        self.0
    }
}

/// How a balance learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Learning {
    /// The approval rate that is presumed where nothing was counted: 1 % to 99 %.
    pub prior_rate: Millionths,
    /// How many charges that presumption is worth: 1 to [`STRENGTH_MAX`].
    pub prior_strength: u32,
    /// How many charges the rate of a broader group is worth for a narrower one: 1 to [`STRENGTH_MAX`]. The more alike groups
    /// are, the larger.
    pub backoff_strength: u32,
    /// The least share of every branch, for exploration; a smaller [`Bounds::max`] of the branch wins.
    pub floor: Millionths,
    /// After so many hours a charge counts half: 1 to [`HALF_LIFE_HOURS_MAX`].
    pub half_life_hours: u32,
    /// A share that changes by more than this within an hour is reported.
    pub report_above: Millionths,
}

impl Default for Learning {
    fn default() -> Self {
        Self {
            prior_rate: Millionths::percent(50),
            prior_strength: 2,
            backoff_strength: 100,
            floor: Millionths::percent(2),
            half_life_hours: 24,
            report_above: Millionths::percent(20),
        }
    }
}

/// The least and the largest share of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The least.
    pub min: Millionths,
    /// The largest.
    pub max: Millionths,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { min: Millionths::ZERO, max: Millionths::WHOLE }
    }
}

/// A balance that learns, checked: there are shares within its bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearnedBalance {
    learning: Learning,
    /// With the floor in them, in the order of the branches.
    bounds: Vec<Bounds>,
}

/// Why there is no such balance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoSuchBalance {
    /// It has fewer than [`BRANCHES_MIN`] or more than [`BRANCHES_MAX`] branches.
    Branches,
    /// The presumed rate is below 1 % or above 99 %.
    PriorRate,
    /// A strength is 0 or above [`STRENGTH_MAX`].
    Strength,
    /// The half-life is 0 or above [`HALF_LIFE_HOURS_MAX`].
    HalfLife,
    /// The least share of the branch with this index is above its largest.
    MinAboveMax(usize),
    /// The least shares, with the floor, are more than the whole.
    MinsAboveWhole,
    /// The largest shares are less than the whole.
    MaxesBelowWhole,
}

impl fmt::Display for NoSuchBalance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Branches => write!(f, "must have {BRANCHES_MIN} to {BRANCHES_MAX} branches"),
            Self::PriorRate => write!(f, "the presumed rate must be 1 % to 99 %"),
            Self::Strength => write!(f, "a strength must be 1 to {STRENGTH_MAX} charges"),
            Self::HalfLife => write!(f, "the half-life must be 1 to {HALF_LIFE_HOURS_MAX} hours"),
            Self::MinAboveMax(branch) => write!(f, "the least share of branch {branch} is above its largest"),
            Self::MinsAboveWhole => write!(f, "the least shares, with the floor, are more than 100 %"),
            Self::MaxesBelowWhole => write!(f, "the largest shares are less than 100 %"),
        }
    }
}

impl LearnedBalance {
    /// Checks a balance; the bounds are those of its branches, in their order.
    pub fn of(learning: Learning, branches: &[Bounds]) -> Result<Self, NoSuchBalance> {
        let strength = 1..=STRENGTH_MAX;
        if !(BRANCHES_MIN..=BRANCHES_MAX).contains(&branches.len()) {
            return Err(NoSuchBalance::Branches);
        }
        if !(Millionths::percent(1)..=Millionths::percent(99)).contains(&learning.prior_rate) {
            return Err(NoSuchBalance::PriorRate);
        }
        if !strength.contains(&learning.prior_strength) || !strength.contains(&learning.backoff_strength) {
            return Err(NoSuchBalance::Strength);
        }
        if !(1..=HALF_LIFE_HOURS_MAX).contains(&learning.half_life_hours) {
            return Err(NoSuchBalance::HalfLife);
        }
        if let Some(branch) = branches.iter().position(|bounds| bounds.min > bounds.max) {
            return Err(NoSuchBalance::MinAboveMax(branch));
        }
        let floored =
            |bounds: &Bounds| Bounds { min: bounds.min.max(learning.floor).min(bounds.max), ..*bounds };
        let bounds: Vec<Bounds> = branches.iter().map(floored).collect();
        if bounds.iter().map(|bounds| bounds.min.0).sum::<u32>() > Millionths::WHOLE.0 {
            return Err(NoSuchBalance::MinsAboveWhole);
        }
        if bounds.iter().map(|bounds| bounds.max.0).sum::<u32>() < Millionths::WHOLE.0 {
            return Err(NoSuchBalance::MaxesBelowWhole);
        }
        Ok(Self { learning, bounds })
    }

    /// How it learns.
    pub const fn learning(&self) -> &Learning {
        &self.learning
    }

    /// The shares of the branches after what was counted of comparable charges: for each branch, in their order, the counts
    /// from the broadest group to the narrowest, each of which contains the next. A branch without counts has nothing counted.
    ///
    /// The same counts give the same shares on every machine, and the order of the branches makes no difference, except that
    /// of branches that are equal the first may get a millionth more.
    pub fn shares(&self, evidence: &[&[Counts]]) -> Shares {
        let counted = |branch: usize| evidence.get(branch).copied().unwrap_or_default();
        let posteriors: Vec<Beta> =
            (0..self.bounds.len()).map(|branch| Beta::after(counted(branch), &self.learning)).collect();
        // Computed in an order that follows from the counts alone, since sums of fractions depend on the order.
        let mut order: Vec<usize> = (0..posteriors.len()).collect();
        order.sort_by(|&a, &b| self.by_what_was_counted(&posteriors, a, b));
        let sorted: Vec<Beta> = order.iter().map(|&branch| posteriors[branch]).collect();
        let sorted_bounds: Vec<Bounds> = order.iter().map(|&branch| self.bounds[branch]).collect();
        let shares = bounds::nearest(&best::probabilities(&sorted), &sorted_bounds);

        let mut branches: Vec<BranchShare> = (0..posteriors.len())
            .map(|branch| BranchShare {
                share: Millionths::ZERO,
                rate: posteriors[branch].mean(),
                charges: evidence::whole_charges(counted(branch)),
            })
            .collect();
        for (branch, share) in order.into_iter().zip(shares) {
            branches[branch].share = Millionths(share);
        }
        Shares { branches }
    }

    fn by_what_was_counted(&self, posteriors: &[Beta], a: usize, b: usize) -> Ordering {
        let bounds = |branch: usize| (self.bounds[branch].min, self.bounds[branch].max);
        posteriors[a].cmp(&posteriors[b]).then_with(|| bounds(a).cmp(&bounds(b)))
    }
}

/// The shares of a balance's branches for comparable charges, with what they follow from. They add up to the whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Shares {
    branches: Vec<BranchShare>,
}

/// The share of a branch, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchShare {
    /// Of a million comparable charges, how many go this way.
    pub share: Millionths,
    /// The approval rate to expect here: what was counted, together with what is presumed of broader groups.
    pub rate: Millionths,
    /// How many comparable charges of the narrowest group were counted, by their weight, to the nearest whole one.
    pub charges: u64,
}

impl Shares {
    /// The branches, in their order.
    pub fn branches(&self) -> &[BranchShare] {
        &self.branches
    }

    /// The index of the branch that the draw falls on.
    pub fn choose(&self, draw: Draw) -> usize {
        let mut end = 0;
        let falls_on = |branch: &BranchShare| {
            end += branch.share.0;
            draw.0 < end
        };
        // The shares add up to a million, and a draw is less.
        self.branches.iter().position(falls_on).unwrap_or(0)
    }

    /// The choice with its reasons, to be kept with the charge.
    pub fn explain(&self, draw: Draw) -> LearnedChoice {
        LearnedChoice { chosen: self.choose(draw), draw, branches: self.branches.clone() }
    }
}

/// Why a charge went the way it went, as kept with the charge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LearnedChoice {
    /// The index of the branch, from 0.
    pub chosen: usize,
    /// The draw: 0 to 999,999. The branches divide these numbers among themselves in their order.
    pub draw: Draw,
    /// The branches, in their order.
    pub branches: Vec<BranchShare>,
}
