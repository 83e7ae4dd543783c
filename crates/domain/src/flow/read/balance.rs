//! Reads balances: shares that somebody has set, or that are learned.

use serde_json::{Map, Value};

use super::{NAME, ROOT, Reader};
use crate::flow::learned::LearnedNode;
use crate::flow::{Branch, Fork, HALF_LIFE_HOURS_MAX, WHOLE};
use crate::learned::{Bounds, LearnedBalance, Learning, Millionths, NoSuchBalance};
use crate::percentage::Percentage;
use crate::wire;
use crate::words::words;

const STRATEGY: &str = "strategy";
const FLOOR: &str = "floor";
const HALF_LIFE: &str = "halfLifeHours";
const BOUNDS: &str = "bounds";
const BRANCHES: &str = "branches";

words! {
    /// Who sets the shares of a balance.
    Strategy {
        /// The percentages in the tree.
        Fixed = "fixed",
        /// The approval rates of comparable charges.
        Learned = "learned",
    }
}

impl Reader {
    pub(super) fn balance(&mut self, members: &Map<String, Value>, path: &str, depth: usize) -> Option<Fork> {
        let strategy = match members.get(STRATEGY) {
            None => Some(Strategy::Fixed),
            Some(sent) => sent.as_str().and_then(Strategy::parse),
        };
        let Some(strategy) = strategy else {
            let words = wire::not_among(Strategy::WORDS.iter().map(|(word, _)| *word));
            self.invalid(&format!("{path}.{STRATEGY}"), words);
            return None;
        };
        let known: &[&str] = match strategy {
            Strategy::Fixed => &["rule", NAME, STRATEGY, BRANCHES],
            Strategy::Learned => &["rule", NAME, STRATEGY, FLOOR, HALF_LIFE, BRANCHES],
        };
        self.only(members, path, known);
        let at = format!("{path}.{BRANCHES}");
        let number = self.balances;
        self.balances = self.balances.saturating_add(1);
        let Some(Value::Array(branches)) = members.get(BRANCHES) else {
            self.invalid(&at, "must be a list of two branches");
            return None;
        };
        let [first, second] = branches.as_slice() else {
            self.invalid(&at, "must be a list of two branches");
            return None;
        };
        if strategy == Strategy::Learned {
            return self.learned(members, [first, second], (path, depth), number);
        }
        let (first, way) = self.share(first, &format!("{at}[0]"), depth)?;
        let (second, other_way) = self.share(second, &format!("{at}[1]"), depth)?;
        if first.hundredths() + second.hundredths() != Percentage::HUNDRED.hundredths() {
            self.invalid(&at, "must have percentages that add up to 100");
            return None;
        }
        let parts = |share: Percentage| share.hundredths() * (WHOLE / Percentage::HUNDRED.hundredths());
        Some(Fork::Balance {
            shares: [parts(first), parts(second)],
            number,
            learned: None,
            ways: [way, other_way],
        })
    }

    fn share(&mut self, sent: &Value, path: &str, depth: usize) -> Option<(Percentage, Branch)> {
        let Some(members) = sent.as_object() else {
            self.invalid(path, "must be an object");
            return None;
        };
        self.only(members, path, &["percentage", ROOT]);
        let sent = members.get("percentage").unwrap_or(&Value::Null);
        let percentage = self.percentage(sent, &format!("{path}.percentage"));
        let way = self.branch(members.get(ROOT), &format!("{path}.{ROOT}"), depth);
        percentage.map(|percentage| (percentage, way))
    }

    fn learned(
        &mut self,
        members: &Map<String, Value>,
        branches: [&Value; 2],
        (path, depth): (&str, usize),
        number: u16,
    ) -> Option<Fork> {
        let mut learning = Learning::default();
        if let Some(sent) = members.get(FLOOR) {
            learning.floor = self.percent(sent, &format!("{path}.{FLOOR}"))?;
        }
        if let Some(sent) = members.get(HALF_LIFE) {
            let hours = sent.as_u64().and_then(|hours| u32::try_from(hours).ok());
            let Some(hours) = hours.filter(|hours| (1..=HALF_LIFE_HOURS_MAX).contains(hours)) else {
                let rule = format!("must be a whole number from 1 to {HALF_LIFE_HOURS_MAX}");
                self.invalid(&format!("{path}.{HALF_LIFE}"), rule);
                return None;
            };
            learning.half_life_hours = hours;
        }
        let at = format!("{path}.{BRANCHES}");
        let [first, second] = branches;
        let first = self.bounded(first, &format!("{at}[0]"), depth);
        let second = self.bounded(second, &format!("{at}[1]"), depth);
        let ((first, way), (second, other_way)) = (first?, second?);
        let balance = match LearnedBalance::of(learning, &[first, second]) {
            Ok(balance) => balance,
            Err(NoSuchBalance::MinAboveMax(branch)) => {
                self.invalid(&format!("{at}[{branch}].{BOUNDS}"), "must have a min of at most its max");
                return None;
            }
            Err(why) => {
                self.invalid(&at, format!("must have bounds that leave room: {why}"));
                return None;
            }
        };
        for (index, way) in [&way, &other_way].into_iter().enumerate().filter(|(_, way)| way.lead().is_none())
        {
            let rule = match way.then {
                Some(_) => {
                    "must have a payment provider before its condition or balance, for its approvals to be learned"
                }
                None => "must have a payment provider, for its approvals to be learned",
            };
            self.invalid(&format!("{at}[{index}].{ROOT}"), rule);
        }
        let leads = [way.lead()?, other_way.lead()?];
        if leads[0] == leads[1] {
            self.invalid(&at, "must not begin with the same payment provider");
            return None;
        }
        let path = path.strip_prefix("flow.").unwrap_or(path).to_owned();
        let node = LearnedNode { number, path, balance, leads };
        let shares = node.unknown();
        let share = |branch: usize| shares.branches().get(branch).map_or(0, |branch| branch.share.get());
        Some(Fork::Balance {
            shares: [share(0), share(1)],
            number,
            learned: Some(Box::new(node)),
            ways: [way, other_way],
        })
    }

    /// A branch of a balance that learns.
    fn bounded(&mut self, sent: &Value, path: &str, depth: usize) -> Option<(Bounds, Branch)> {
        let Some(members) = sent.as_object() else {
            self.invalid(path, "must be an object");
            return None;
        };
        self.only(members, path, &[BOUNDS, ROOT]);
        let bounds = match members.get(BOUNDS) {
            None => Some(Bounds::default()),
            Some(sent) => self.bounds(sent, &format!("{path}.{BOUNDS}")),
        };
        let way = self.branch(members.get(ROOT), &format!("{path}.{ROOT}"), depth);
        bounds.map(|bounds| (bounds, way))
    }

    fn bounds(&mut self, sent: &Value, path: &str) -> Option<Bounds> {
        let Some(members) = sent.as_object() else {
            self.invalid(path, "must be an object");
            return None;
        };
        self.only(members, path, &["min", "max"]);
        let Bounds { mut min, mut max } = Bounds::default();
        if let Some(sent) = members.get("min") {
            min = self.percent(sent, &format!("{path}.min"))?;
        }
        if let Some(sent) = members.get("max") {
            max = self.percent(sent, &format!("{path}.max"))?;
        }
        Some(Bounds { min, max })
    }

    fn percent(&mut self, sent: &Value, path: &str) -> Option<Millionths> {
        let percentage = self.percentage(sent, path)?;
        Some(Millionths::of(percentage.hundredths() * (WHOLE / Percentage::HUNDRED.hundredths())))
    }

    fn percentage(&mut self, sent: &Value, path: &str) -> Option<Percentage> {
        let percentage = sent.as_number().and_then(|number| Percentage::parse(&number.to_string()));
        let percentage = percentage.filter(|percentage| *percentage <= Percentage::HUNDRED);
        if percentage.is_none() {
            self.invalid(path, "must be a number from 0 to 100 with at most two decimals");
        }
        percentage
    }
}
