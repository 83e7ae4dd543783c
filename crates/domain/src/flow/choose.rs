//! Walks a tree for one charge.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with::skip_serializing_none;

use super::learned::both;
use super::{Branch, Flow, Fork, Leaf, SharesOf};
use crate::card::Brand;
use crate::currency::Currency;
use crate::id::ProviderId;
use crate::learned::BranchShare;

/// The whole of a balance: shares and draws are parts of it.
pub const WHOLE: u32 = 1_000_000;

/// What conditions look at.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// In the minor unit of the currency.
    pub amount: i64,
    /// The currency.
    pub currency: Currency,
    /// Number of installments, where a card pays.
    pub installments: Option<u8>,
    /// The first six digits of the card, where a card pays.
    pub bin: Option<&'a str>,
    /// The brand of the card, where a card of a known one pays.
    pub brand: Option<Brand>,
    /// `paymentFlow.metadata`.
    pub metadata: Option<&'a Map<String, Value>>,
}

/// Which way a charge took at a condition or balance.
#[skip_serializing_none]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// 0 is the yes of a condition, or the first way of a balance; 1 the other one.
    pub way: u8,
    /// What was drawn at a balance, from 0 to below [`WHOLE`]; absent at a condition.
    #[serde(default)]
    pub draw: Option<u32>,
    /// The shares at a balance that learns, and what they follow from; absent elsewhere.
    #[serde(default)]
    pub shares: Option<[BranchShare; 2]>,
}

/// What a tree says for a charge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The ways that were taken, in their order.
    pub turns: Vec<Turn>,
    /// The nodes that were visited, in their order.
    pub leaves: Vec<Leaf>,
}

impl Choice {
    /// The payment providers, in the order in which they are asked.
    pub fn providers(&self) -> impl Iterator<Item = ProviderId> + '_ {
        self.leaves.iter().filter_map(|leaf| match leaf {
            Leaf::Provider(id) => Some(*id),
            Leaf::AntiFraud(_) => None,
        })
    }

    /// The provider that analyses the risk.
    pub fn anti_fraud(&self) -> Option<ProviderId> {
        self.leaves.iter().find_map(|leaf| match leaf {
            Leaf::AntiFraud(id) => Some(*id),
            Leaf::Provider(_) => None,
        })
    }
}

/// The chance of one charge: the same for the same charge, whenever it is asked.
#[derive(Clone, Copy, Debug)]
pub struct Draws<'a> {
    seed: u64,
    /// The first draws, in the order in which balances are visited, in place of those of the seed.
    made: &'a [u32],
}

impl Draws<'static> {
    /// `seed` is random, or derived from the idempotency key of the charge.
    pub const fn seeded(seed: u64) -> Self {
        Self { seed, made: &[] }
    }
}

impl<'a> Draws<'a> {
    /// The draws that were made before, in their order, and then those of a seed.
    pub const fn made(made: &'a [u32], seed: u64) -> Self {
        Self { seed, made }
    }

    /// The draw at the balance with this number, before which `visited` others were visited: uniform from 0 to below [`WHOLE`],
    /// independent of those at others. By `splitmix64` (S. Vigna, public domain), whose outputs pass the usual tests of random
    /// numbers.
    pub fn at(self, balance: u16, visited: usize) -> u32 {
        const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;
        if let Some(made) = self.made.get(visited) {
            return *made;
        }
        let mut mixed = self.seed.wrapping_add(GAMMA.wrapping_mul(u64::from(balance) + 1));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        // The high half times the whole: each draw is as likely as another but for one in four thousand.
        (((mixed >> 32) * u64::from(WHOLE)) >> 32) as u32
    }
}

impl Flow {
    /// The branch for a charge. Every condition on the way is evaluated, once. Balances that learn know nothing.
    pub fn choose(&self, facts: &Facts<'_>, draws: Draws<'_>) -> Choice {
        self.choose_by(facts, draws, &|_| None)
    }

    /// The same, with the shares of balances that learn: the same draws under the same shares make the same choice.
    pub fn choose_by(&self, facts: &Facts<'_>, draws: Draws<'_>, shares: &SharesOf<'_>) -> Choice {
        let mut choice = Choice::default();
        let mut branch = &self.root;
        loop {
            choice.leaves.extend_from_slice(&branch.leaves);
            let Some(fork) = branch.then.as_deref() else { return choice };
            let drawn = choice.turns.iter().filter(|turn| turn.draw.is_some()).count();
            let (turn, ways) = turn(fork, facts, (draws, drawn), shares);
            choice.turns.push(turn);
            branch = way(ways, turn);
        }
    }

    /// The branch that a charge took, by its turns.
    pub fn retrace(&self, turns: &[Turn]) -> Choice {
        let mut choice = Choice { turns: turns.to_vec(), leaves: Vec::new() };
        let mut branch = &self.root;
        let mut left = turns.iter();
        loop {
            choice.leaves.extend_from_slice(&branch.leaves);
            let (Some(fork), Some(turn)) = (branch.then.as_deref(), left.next()) else { return choice };
            let (Fork::Condition { ways, .. } | Fork::Balance { ways, .. }) = fork;
            branch = way(ways, *turn);
        }
    }
}

fn turn<'f>(
    fork: &'f Fork,
    facts: &Facts<'_>,
    (draws, drawn): (Draws<'_>, usize),
    shares_of: &SharesOf<'_>,
) -> (Turn, &'f [Branch; 2]) {
    match fork {
        Fork::Condition { when, ways } => {
            (Turn { way: u8::from(!when.holds(facts)), draw: None, shares: None }, ways)
        }
        Fork::Balance { shares: [first, _], number, learned, ways } => {
            let draw = draws.at(*number, drawn);
            let known = learned.as_deref().map(|node| {
                let shares = shares_of(node).unwrap_or_else(|| node.unknown());
                both(&shares)
            });
            let shares = known.flatten();
            let first = shares.map_or(*first, |[first, _]| first.share.get());
            (Turn { way: u8::from(draw >= first), draw: Some(draw), shares }, ways)
        }
    }
}

fn way(ways: &[Branch; 2], turn: Turn) -> &Branch {
    let [first, second] = ways;
    if turn.way == 0 { first } else { second }
}
