//! What a replay says: sums of what the records tell, and expectations of what they do not.
//!
//! The rate of a try is that of the past tries at the same provider, first ones or later ones, of the narrowest of three groups
//! of which enough have ended: brand, currency and band of the amount; the brand; all. The interval holds 95 of 100
//! outcomes: its variance is that of the outcomes themselves and that of the rates, by the delta method.

#![allow(clippy::float_arithmetic, reason = "expectations of tries, never money that moves")]

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::{Case, Charges, Ended, FeeTerms, Place, Tally, Used};
use crate::flow::Group;
use crate::id::ProviderId;

/// How many tries must have ended until their rate is taken for that of others.
const ENOUGH: u64 = 30;
/// The 0.975 quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// What a replay says of all charges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Charges that were walked.
    pub charges: u64,
    /// How many of them are approved.
    pub approvals: Approvals,
    /// For how many another provider is asked first.
    pub moved: u64,
    /// Charges that come to a provider that has not been asked about them.
    pub estimated: u64,
    /// For how many nobody can tell.
    pub untold: Untold,
    /// Charges that no provider of their branch can serve.
    pub unserved: u64,
    /// What each provider is used for.
    pub providers: Vec<ProviderLine>,
    /// Which provider is asked first: recorded, replayed, charges.
    pub moves: Vec<(Option<ProviderId>, Option<ProviderId>, u64)>,
}

/// How many charges are approved, or answered with instructions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Approvals {
    /// In the past.
    pub recorded: u64,
    /// What is to be expected with the other flow, without what nobody can tell.
    pub expected: f64,
    /// The end of the interval of 95 % below.
    pub low: f64,
    /// The end above.
    pub high: f64,
    /// What is added if all were approved of which nobody can tell.
    pub untold: f64,
}

/// For how many charges nobody can tell the outcome, by reason.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Untold {
    /// Whether they pass an analysis of risk that was not made, or how those go on that one has stopped.
    pub not_analysed: u64,
    /// The outcome of the past is not known either.
    pub unknown: u64,
    /// Too few such tries have ended at a provider: at which, first or later tries, and how many charges come there.
    pub no_rate: Vec<(Place, f64)>,
}

impl Untold {
    /// All of them.
    pub fn charges(&self) -> f64 {
        self.no_rate.iter().map(|(_, n)| n).sum::<f64>() + (self.not_analysed + self.unknown) as f64
    }
}

/// What a provider is used for in a currency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProviderLine {
    /// The provider.
    pub provider_id: ProviderId,
    /// The currency of the amounts.
    pub currency: String,
    /// In the past.
    pub recorded: Use,
    /// With the other flow.
    pub replayed: Use,
}

/// What a provider is used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Use {
    /// How often it is asked.
    pub tries: f64,
    /// How often it approves.
    pub approvals: f64,
    /// The sum of what it approves, in minor units.
    pub volume: f64,
    /// What it takes for that, in minor units; `None` where its terms are not given.
    pub fees: Option<f64>,
}

impl Use {
    const fn told(used: Used) -> Self {
        Self {
            tries: used.tries as f64,
            approvals: used.approved as f64,
            volume: used.volume as f64,
            fees: None,
        }
    }

    fn with_fees(self, terms: Option<&FeeTerms>) -> Self {
        let fees = terms.map(|terms| {
            let (per_try, per_approval, hundredths) = terms.numbers();
            self.tries * per_try as f64
                + self.approvals * per_approval as f64
                + self.volume * f64::from(hundredths) / 10_000.0
        });
        Self {
            fees: fees.map(rounded),
            tries: rounded(self.tries),
            approvals: rounded(self.approvals),
            ..self
        }
    }
}

impl Tally {
    /// What follows from all charges that were added.
    pub fn prediction(&self, fees: &[FeeTerms]) -> Prediction {
        let rates = Rates::of(&self.history);
        let mut sums = Sums::default();
        for (case, charges) in &self.cases {
            sums.add(case, *charges, &rates);
        }
        let mut lines: BTreeMap<(ProviderId, String), (Use, Use)> = BTreeMap::new();
        for (of, used) in &self.recorded {
            lines.entry(of.clone()).or_default().0 = Use::told(*used);
        }
        for (of, used) in &self.told {
            lines.entry(of.clone()).or_default().1 = Use::told(*used);
        }
        for (of, more) in sums.uses {
            let replayed = &mut lines.entry(of).or_default().1;
            replayed.tries += more.tries;
            replayed.approvals += more.approvals;
            replayed.volume += more.volume;
        }
        let line = |((provider_id, currency), (recorded, replayed)): ((ProviderId, String), (Use, Use))| {
            let terms = fees
                .iter()
                .find(|terms| terms.provider_id == provider_id && terms.currency.code() == currency);
            let (recorded, replayed) = (recorded.with_fees(terms), replayed.with_fees(terms));
            ProviderLine {
                provider_id,
                currency,
                recorded,
                replayed: Use { volume: replayed.volume.round(), ..replayed },
            }
        };
        let told = self.told_approved as f64;
        let reach = Z * (sums.of_outcomes + sums.slopes.values().map(Slope::variance).sum::<f64>()).sqrt();
        let no_rate = sums.no_rate.into_iter().map(|(place, n)| (place, rounded(n))).collect();
        let untold = Untold { not_analysed: self.not_analysed, unknown: self.unknown, no_rate };
        Prediction {
            charges: self.charges,
            approvals: Approvals {
                recorded: self.approved,
                expected: rounded(told + sums.approvals),
                low: rounded(told + (sums.approvals - reach).max(0.0)),
                high: rounded(told + (sums.approvals + reach).min(sums.reachable)),
                untold: rounded(untold.charges()),
            },
            moved: self.moves.iter().filter(|((from, to), _)| from != to).map(|(_, n)| n).sum(),
            estimated: self.cases.values().map(|case| case.charges).sum(),
            untold,
            unserved: self.unserved,
            providers: lines.into_iter().map(line).collect(),
            moves: self.moves.iter().map(|((from, to), n)| (*from, *to, *n)).collect(),
        }
    }
}

/// To hundredths: expectations have no more digits to trust.
fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

/// Tries whose rate is known together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Level {
    Group(Group),
    Brand(String),
    All,
}

/// The rates of past tries.
struct Rates(HashMap<(Place, Level), Ended>);

impl Rates {
    fn of(history: &BTreeMap<(Place, Group), Ended>) -> Self {
        let mut rates: HashMap<(Place, Level), Ended> = HashMap::new();
        for ((place, group), ended) in history {
            for level in levels(group) {
                let sum = rates.entry((*place, level)).or_default();
                sum.approved += ended.approved;
                sum.passed += ended.passed;
                sum.ended += ended.ended;
            }
        }
        Self(rates)
    }

    fn known(&self, place: Place, group: &Group) -> Option<((Place, Level), Rate)> {
        levels(group).into_iter().find_map(|level| {
            let of = (place, level);
            let rate = Rate::of(*self.0.get(&of)?)?;
            Some((of, rate))
        })
    }
}

/// From the narrowest one.
fn levels(group: &Group) -> [Level; 3] {
    [Level::Group(group.clone()), Level::Brand(group.brand.clone()), Level::All]
}

/// Which part of tries was approved, and which was passed on.
#[derive(Clone, Copy, Debug)]
struct Rate {
    approved: f64,
    passed: f64,
    tries: f64,
}

impl Rate {
    /// `None` where too few have ended.
    fn of(ended: Ended) -> Option<Self> {
        let tries = ended.approved + ended.passed + ended.ended;
        let part = |of: u64| of as f64 / tries as f64;
        (tries >= ENOUGH).then(|| Self {
            approved: part(ended.approved),
            passed: part(ended.passed),
            tries: tries as f64,
        })
    }
}

/// How the expected approvals grow with a rate.
#[derive(Clone, Copy, Debug)]
struct Slope {
    rate: Rate,
    by_approved: f64,
    by_passed: f64,
}

impl Slope {
    /// What the uncertainty of the rate adds to the variance. The rates are those of a multinomial sample, each drawn towards
    /// the others by one further try, so that a rate of 0 or 1 is not taken for certain.
    fn variance(&self) -> f64 {
        let Self { rate: Rate { approved, passed, tries }, by_approved, by_passed } = *self;
        let drawn = |part: f64| (part * tries + 1.0) / (tries + 3.0);
        let (a, p) = (drawn(approved), drawn(passed));
        let of_one = by_approved * by_approved * a * (1.0 - a) + by_passed * by_passed * p * (1.0 - p)
            - 2.0 * by_approved * by_passed * a * p;
        of_one / tries
    }
}

#[derive(Default)]
struct Sums {
    approvals: f64,
    /// Charges among those that come to a known rate.
    reachable: f64,
    of_outcomes: f64,
    slopes: HashMap<(Place, Level), Slope>,
    no_rate: BTreeMap<Place, f64>,
    uses: BTreeMap<(ProviderId, String), Use>,
}

impl Sums {
    fn add(&mut self, case: &Case, charges: Charges, rates: &Rates) {
        let (n, volume) = (charges.charges as f64, charges.volume as f64);
        let mut known = Vec::with_capacity(case.tries.len());
        let mut reach = 1.0;
        for place in &case.tries {
            let Some((of, rate)) = rates.known(*place, &case.group) else {
                *self.no_rate.entry(*place).or_default() += n * reach;
                break;
            };
            let used = self.uses.entry((place.provider_id, case.group.currency.clone())).or_default();
            used.tries += n * reach;
            used.approvals += n * reach * rate.approved;
            used.volume += volume * reach * rate.approved;
            known.push((of, rate, reach));
            reach *= rate.passed;
        }
        // From the last try to the first: what those after a try approve of what it has passed on.
        let mut after = 0.0;
        if !known.is_empty() {
            self.reachable += n;
        }
        for (of, rate, reach) in known.into_iter().rev() {
            let slope = self.slopes.entry(of).or_insert(Slope { rate, by_approved: 0.0, by_passed: 0.0 });
            slope.by_approved += n * reach;
            slope.by_passed += n * reach * after;
            after = rate.approved + rate.passed * after;
        }
        self.approvals += n * after;
        self.of_outcomes += n * after * (1.0 - after);
    }
}
