//! A simulated market: three providers whose approval rates drift apart and together, lean towards some groups of charges and
//! break down now and then. Charges are divided among them by a balance that learns; what fixed shares would have got is added up
//! beside it. `cargo xtask simulate learned` includes this file.
//!
//! What a way of dividing *gets* is the sum of the true approval rates of the providers that it chose, not a count of
//! approvals: the luck of single charges would only blur the difference.

#![allow(clippy::float_arithmetic, reason = "approval rates, never money")]
#![allow(clippy::unwrap_used, reason = "a market of its own, whose constants are right")]

use regente_domain::learned::evidence::{Counts, Decay};
use regente_domain::learned::{Bounds, Draw, LearnedBalance, Learning, Shares};

/// The providers, each a branch of the balance.
pub(crate) const PROVIDERS: usize = 3;
/// Of a hundred charges, how many have which brand and amount band.
const GROUPS: [(u64, Group); 6] = [
    (30, Group { brand: 0, band: 0 }),
    (20, Group { brand: 0, band: 1 }),
    (20, Group { brand: 1, band: 0 }),
    (12, Group { brand: 1, band: 1 }),
    (10, Group { brand: 2, band: 0 }),
    (8, Group { brand: 2, band: 1 }),
];
/// The rate around which all drift.
const USUAL_RATE: f64 = 0.80;
/// How far a group's rate at a provider may be from that provider's, up or down.
const LEAN_MAX: f64 = 0.05;
/// The largest step of a provider's rate from one hour to the next, and the part of the way back to the usual rate.
const STEP_MAX: f64 = 0.01;
const BACK: f64 = 0.01;
/// A provider breaks down once in so many hours, for so long, and by so much.
const BREAKDOWN_ONE_IN_HOURS: u64 = 250;
const BREAKDOWN_HOURS: std::ops::Range<u64> = 3..25;
const BREAKDOWN: std::ops::Range<f64> = 0.10..0.50;

/// Charges that are alike.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Group {
    brand: u8,
    band: u8,
}

/// How much happens, and how the balance learns.
#[derive(Clone, Copy)]
pub(crate) struct Market {
    /// The hours.
    pub(crate) hours: u32,
    /// The charges in each of them.
    pub(crate) charges_an_hour: u32,
    /// How the balance learns.
    pub(crate) learning: Learning,
}

/// What ways of dividing the same charges got, in expected approvals.
#[derive(Clone, Copy, Default)]
pub(crate) struct Got {
    /// All charges.
    pub(crate) charges: f64,
    /// The best provider for each charge at its hour, by the true rates: nobody can do better.
    pub(crate) best_possible: f64,
    /// The balance that learns.
    pub(crate) learned: f64,
    /// A third for each provider.
    pub(crate) equal: f64,
    /// The best fixed shares, chosen afterwards: as the sum is linear in the shares, all for one provider.
    pub(crate) best_fixed: f64,
    /// The best fixed shares of each group, chosen afterwards.
    pub(crate) best_fixed_by_group: f64,
}

/// What one hour looks like: the true rate of each provider and its share, over all charges.
#[derive(Clone, Copy, Default)]
pub(crate) struct Hour {
    /// The true rates.
    pub(crate) rates: [f64; PROVIDERS],
    /// The shares.
    pub(crate) shares: [f64; PROVIDERS],
}

/// Runs a market to its end. The same seed gives the same numbers.
pub(crate) fn run(market: &Market, seed: u64, mut each_hour: impl FnMut(Hour)) -> Got {
    let mut dice = Dice(seed);
    let balance = LearnedBalance::of(market.learning, &[Bounds::default(); PROVIDERS]).unwrap();
    let mut rates = Rates::new(&mut dice);
    let mut history = History { decay: Decay::of(&market.learning), hours: Vec::new() };
    let mut got = Got::default();
    let mut by_provider = [[0.0; GROUPS.len()]; PROVIDERS];
    for _ in 0..market.hours {
        rates.drift(&mut dice);
        // Shares follow from the hours before: what this hour brings is known afterwards.
        let weighed = history.weighed();
        let shares: [Shares; GROUPS.len()] = std::array::from_fn(|group| shares(&balance, &weighed, group));
        let mut counted = HourCounts::default();
        for _ in 0..market.charges_an_hour {
            let group = group(dice.below(100));
            let chosen = shares[group].choose(Draw::of_bits(dice.next()));
            let rate = rates.of(chosen, group);
            let approved = dice.unit() < rate;
            counted[chosen][group].0 += u32::from(approved);
            counted[chosen][group].1 += 1;

            let all: [f64; PROVIDERS] = std::array::from_fn(|provider| rates.of(provider, group));
            got.charges += 1.0;
            got.learned += rate;
            got.equal += all.iter().sum::<f64>() / PROVIDERS as f64;
            got.best_possible += all.iter().copied().fold(0.0, f64::max);
            for (sums, rate) in by_provider.iter_mut().zip(all) {
                sums[group] += rate;
            }
        }
        history.hours.push(counted);
        each_hour(Hour {
            rates: over_all_charges(|provider, group| rates.of(provider, group)),
            shares: over_all_charges(|provider, group| {
                f64::from(shares[group].branches()[provider].share.get()) / 1e6
            }),
        });
    }
    got.best_fixed = largest(by_provider.iter().map(|groups| groups.iter().sum()));
    let best_of = |group: usize| largest(by_provider.iter().map(|groups| groups[group]));
    got.best_fixed_by_group = (0..GROUPS.len()).map(best_of).sum();
    got
}

fn largest(sums: impl Iterator<Item = f64>) -> f64 {
    sums.fold(0.0, f64::max)
}

fn group(of_a_hundred: u64) -> usize {
    let mut end = 0;
    let falls_in = |(charges, _): &(u64, Group)| {
        end += charges;
        of_a_hundred < end
    };
    GROUPS.iter().position(falls_in).unwrap()
}

fn over_all_charges(of: impl Fn(usize, usize) -> f64) -> [f64; PROVIDERS] {
    let weight = |group: usize| GROUPS[group].0 as f64 / 100.0;
    std::array::from_fn(|provider| (0..GROUPS.len()).map(|group| weight(group) * of(provider, group)).sum())
}

/// Approved and tried charges by provider and group.
type HourCounts = [[(u32, u32); GROUPS.len()]; PROVIDERS];

/// What was counted in each hour.
struct History {
    decay: Decay,
    hours: Vec<HourCounts>,
}

impl History {
    /// What was counted by provider and group, by the weight of its age.
    fn weighed(&self) -> [[Counts; GROUPS.len()]; PROVIDERS] {
        let mut weighed = [[Counts::default(); GROUPS.len()]; PROVIDERS];
        for (age, hour) in (1..=self.decay.reach_hours()).zip(self.hours.iter().rev()) {
            let weight = self.decay.weight(age);
            for (sums, counted) in weighed.iter_mut().flatten().zip(hour.iter().flatten()) {
                sums.add(counted.0, counted.1, weight);
            }
        }
        weighed
    }
}

/// The shares for a group: its charges are in those of its brand, which are in all charges.
fn shares(balance: &LearnedBalance, weighed: &[[Counts; GROUPS.len()]; PROVIDERS], group: usize) -> Shares {
    let wanted = GROUPS[group].1;
    let sum = |provider: usize, alike: &dyn Fn(Group) -> bool| {
        let of_groups = GROUPS.iter().zip(weighed[provider]).filter(|((_, group), _)| alike(*group));
        of_groups.fold(Counts::default(), |sum, (_, counts)| Counts {
            approved: sum.approved + counts.approved,
            tried: sum.tried + counts.tried,
        })
    };
    let levels: [[Counts; 3]; PROVIDERS] = std::array::from_fn(|provider| {
        [
            sum(provider, &|_| true),
            sum(provider, &|group| group.brand == wanted.brand),
            sum(provider, &|group| group == wanted),
        ]
    });
    balance.shares(&levels.each_ref().map(|levels| &levels[..]))
}

/// The true approval rates.
struct Rates {
    lean: [[f64; GROUPS.len()]; PROVIDERS],
    drifted: [f64; PROVIDERS],
    /// How many hours a breakdown still lasts, and what it takes away.
    breakdown: [(u64, f64); PROVIDERS],
}

impl Rates {
    fn new(dice: &mut Dice) -> Self {
        let mut rates = Self {
            lean: std::array::from_fn(|_| std::array::from_fn(|_| dice.around_zero(LEAN_MAX))),
            drifted: [0.0; PROVIDERS],
            breakdown: [(0, 0.0); PROVIDERS],
        };
        // Providers have been drifting for long when the first charge comes.
        (0..500).for_each(|_| rates.drift(dice));
        rates
    }

    fn drift(&mut self, dice: &mut Dice) {
        for (drifted, breakdown) in self.drifted.iter_mut().zip(&mut self.breakdown) {
            *drifted += dice.around_zero(STEP_MAX) - *drifted * BACK;
            *breakdown = match *breakdown {
                (0, _) if dice.below(BREAKDOWN_ONE_IN_HOURS) == 0 => {
                    let hours =
                        BREAKDOWN_HOURS.start + dice.below(BREAKDOWN_HOURS.end - BREAKDOWN_HOURS.start);
                    (hours, BREAKDOWN.start + dice.unit() * (BREAKDOWN.end - BREAKDOWN.start))
                }
                (0 | 1, _) => (0, 0.0),
                (hours, lost) => (hours - 1, lost),
            };
        }
    }

    fn of(&self, provider: usize, group: usize) -> f64 {
        let usual = USUAL_RATE + self.lean[provider][group] + self.drifted[provider];
        (usual - self.breakdown[provider].1).clamp(0.02, 0.99)
    }
}

/// A random generator of the simulation's own, so that a seed gives the same numbers whatever libraries change (splitmix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// From 0 to 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn around_zero(&mut self, most: f64) -> f64 {
        (2.0 * self.unit() - 1.0) * most
    }
}
