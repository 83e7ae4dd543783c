//! Balances that learn: what their shares follow, and what is compared with what (`docs/learned-balance.md`).

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::id::ProviderId;
use crate::learned::evidence::{Counts, Decay};
use crate::learned::{BranchShare, LearnedBalance, Shares};

/// A balance of two branches that learns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearnedNode {
    /// Its number among the balances of the tree, from 0.
    pub number: u16,
    /// Where it is in the tree, such as `root[0]`.
    pub path: String,
    /// How it learns, within which bounds.
    pub balance: LearnedBalance,
    /// The first payment provider of each branch, whose approvals count.
    pub leads: [ProviderId; 2],
}

/// Charges that are compared with each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Group {
    /// The name of the brand; empty without a card.
    pub brand: String,
    /// The currency of the band.
    pub currency: String,
    /// The band of the amount.
    pub band: i64,
}

/// First tries of a group at a provider in an hour that have ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedHour {
    /// The provider.
    pub provider_id: ProviderId,
    /// The hour of the tries, since the epoch.
    pub hour: i64,
    /// The group.
    pub group: Group,
    /// How many were approved.
    pub approved: u32,
    /// How many have ended.
    pub ended: u32,
}

/// What is known about a balance in an hour: for each branch the counts of all charges, of each brand and of each group.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    branches: [Levels; 2],
}

#[derive(Clone, Debug, Default)]
struct Levels {
    all: Counts,
    by_brand: HashMap<String, Counts>,
    by_group: HashMap<Group, Counts>,
}

impl LearnedNode {
    /// What was counted in the hours before this one, by its age.
    pub fn evidence(&self, counted: &[CountedHour], hour: i64) -> Evidence {
        let mut evidence = Evidence::default();
        for of in counted {
            let age = u32::try_from(hour - of.hour).ok().filter(|age| *age > 0);
            let branches = self.leads.iter().zip(&mut evidence.branches);
            let (Some(age), Some((_, levels))) =
                (age, branches.into_iter().find(|(lead, _)| **lead == of.provider_id))
            else {
                continue;
            };
            let weight = self.decay().weight(age);
            let brand = levels.by_brand.entry(of.group.brand.clone()).or_default();
            brand.add(of.approved, of.ended, weight);
            let group = levels.by_group.entry(of.group.clone()).or_default();
            group.add(of.approved, of.ended, weight);
            levels.all.add(of.approved, of.ended, weight);
        }
        evidence
    }

    /// The shares for a group.
    pub fn shares(&self, evidence: &Evidence, group: &Group) -> Shares {
        let [first, second] = evidence.branches.each_ref().map(|levels| {
            let brand = levels.by_brand.get(&group.brand).copied().unwrap_or_default();
            [levels.all, brand, levels.by_group.get(group).copied().unwrap_or_default()]
        });
        self.balance.shares(&[&first, &second])
    }

    /// The shares where nothing is known.
    pub fn unknown(&self) -> Shares {
        self.balance.shares(&[&[], &[]])
    }

    /// How many hours before the present one count.
    pub const fn reach_hours(&self) -> u32 {
        Decay::of(self.balance.learning()).reach_hours()
    }

    const fn decay(&self) -> Decay {
        Decay::of(self.balance.learning())
    }
}

/// What the shares of balances that learn are for a charge. `None` stands for nothing known.
pub type SharesOf<'a> = dyn Fn(&LearnedNode) -> Option<Shares> + 'a;

/// The shares of both branches.
pub(super) fn both(shares: &Shares) -> Option<[BranchShare; 2]> {
    shares.branches().try_into().ok()
}
