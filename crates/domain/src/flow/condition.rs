//! What conditions compare.

use std::cmp::Ordering;

use serde_json::Value;

use super::Facts;
use crate::card::Brand;
use crate::currency::Currency;
use crate::words::words;

words! {
    /// How a condition compares a value with its own.
    Operator {
        /// Less than.
        Lt = "lt",
        /// Greater than.
        Gt = "gt",
        /// At most.
        Le = "le",
        /// At least.
        Ge = "ge",
        /// Equal.
        Eq = "eq",
        /// Not equal.
        Ne = "ne",
    }
}

impl Operator {
    /// Whether a value that stands so to the condition's own fulfills it.
    pub const fn holds(self, ordering: Ordering) -> bool {
        match self {
            Self::Lt => ordering.is_lt(),
            Self::Gt => ordering.is_gt(),
            Self::Le => ordering.is_le(),
            Self::Ge => ordering.is_ge(),
            Self::Eq => ordering.is_eq(),
            Self::Ne => ordering.is_ne(),
        }
    }

    /// Whether it needs no order, so that it compares texts and flags as well.
    pub const fn is_equality(self) -> bool {
        match self {
            Self::Eq | Self::Ne => true,
            Self::Lt | Self::Gt | Self::Le | Self::Ge => false,
        }
    }
}

/// One condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    pub(super) property: Property,
    pub(super) operator: Operator,
    pub(super) value: Operand,
}

/// What a condition looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Property {
    Amount,
    Installments,
    Currency,
    CardBin,
    Brand,
    /// A member of `paymentFlow.metadata`.
    Metadata {
        key: String,
        /// What holds where the charge lacks it, or has a value of another type.
        default: bool,
    },
}

/// What a condition compares with.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    /// Of the transaction.
    Whole(i64),
    /// Of metadata.
    Number(f64),
    Currency(Currency),
    Brand(Brand),
    Text(String),
    Flag(bool),
}

/// One condition, or two that are joined.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum When {
    One(Condition),
    And([Condition; 2]),
    Or([Condition; 2]),
}

impl When {
    pub(super) fn holds(&self, facts: &Facts<'_>) -> bool {
        match self {
            Self::One(condition) => condition.holds(facts),
            Self::And([a, b]) => a.holds(facts) && b.holds(facts),
            Self::Or([a, b]) => a.holds(facts) || b.holds(facts),
        }
    }
}

impl Condition {
    /// Whether it holds. A condition on a card does not where there is none, whatever its operator.
    fn holds(&self, facts: &Facts<'_>) -> bool {
        match &self.property {
            Property::Amount => self.holds_for_whole(facts.amount),
            Property::Installments => {
                facts.installments.is_some_and(|number| self.holds_for_whole(i64::from(number)))
            }
            Property::Currency => self.holds_for(&Operand::Currency(facts.currency)),
            Property::Brand => facts.brand.is_some_and(|brand| self.holds_for(&Operand::Brand(brand))),
            Property::CardBin => facts.bin.is_some_and(|bin| match &self.value {
                Operand::Text(own) => self.operator.holds(bin.cmp(own.as_str())),
                Operand::Whole(_)
                | Operand::Number(_)
                | Operand::Currency(_)
                | Operand::Brand(_)
                | Operand::Flag(_) => false,
            }),
            Property::Metadata { key, default } => {
                let sent = facts.metadata.and_then(|metadata| metadata.get(key));
                sent.and_then(|sent| self.of_metadata(sent)).unwrap_or(*default)
            }
        }
    }

    /// `None` where the value has another type than the condition says.
    fn of_metadata(&self, sent: &Value) -> Option<bool> {
        match (&self.value, sent) {
            (Operand::Number(own), Value::Number(sent)) => {
                sent.as_f64()?.partial_cmp(own).map(|ordering| self.operator.holds(ordering))
            }
            (Operand::Text(own), Value::String(sent)) => Some(self.operator.holds(sent.cmp(own))),
            (Operand::Flag(own), Value::Bool(sent)) => Some(self.operator.holds(sent.cmp(own))),
            _ => None,
        }
    }

    fn holds_for_whole(&self, sent: i64) -> bool {
        match &self.value {
            Operand::Whole(own) => self.operator.holds(sent.cmp(own)),
            Operand::Number(_)
            | Operand::Currency(_)
            | Operand::Brand(_)
            | Operand::Text(_)
            | Operand::Flag(_) => false,
        }
    }

    /// For what has no order.
    fn holds_for(&self, sent: &Operand) -> bool {
        let ordering = if *sent == self.value { Ordering::Equal } else { Ordering::Less };
        self.operator.holds(ordering)
    }

    /// Whether both cannot hold for the same charge, as far as that is forbidden: the same property twice with `eq`, or numbers
    /// that no number lies between.
    pub(super) fn excludes(&self, other: &Self) -> bool {
        if self.property.name() != other.property.name() {
            return false;
        }
        if let (Operator::Eq, Operator::Eq) = (self.operator, other.operator) {
            return true;
        }
        match (&self.value, &other.value) {
            (Operand::Number(a), Operand::Number(b)) => {
                !Range::of([(self.operator, *a), (other.operator, *b)]).holds_any()
            }
            (Operand::Whole(a), Operand::Whole(b)) => {
                let (self_at, other_at) = (whole_limits(self.operator, *a), whole_limits(other.operator, *b));
                self_at.0.max(other_at.0) > self_at.1.min(other_at.1)
            }
            _ => false,
        }
    }
}

impl Property {
    fn name(&self) -> (&'static str, &str) {
        match self {
            Self::Amount => ("amount", ""),
            Self::Installments => ("installments", ""),
            Self::Currency => ("currency", ""),
            Self::CardBin => ("cardBin", ""),
            Self::Brand => ("brand", ""),
            Self::Metadata { key, .. } => ("metadata", key),
        }
    }
}

/// The numbers that fulfill conditions: from `low` to `high`.
struct Range {
    low: f64,
    high: f64,
    /// Whether `low` and `high` themselves are left out.
    is_open: [bool; 2],
}

impl Range {
    fn of(conditions: [(Operator, f64); 2]) -> Self {
        let mut range = Self { low: f64::NEG_INFINITY, high: f64::INFINITY, is_open: [false; 2] };
        for (operator, number) in conditions {
            match operator {
                Operator::Gt => range.raise(number, true),
                Operator::Ge => range.raise(number, false),
                Operator::Lt => range.lower(number, true),
                Operator::Le => range.lower(number, false),
                Operator::Eq => {
                    range.raise(number, false);
                    range.lower(number, false);
                }
                Operator::Ne => {}
            }
        }
        range
    }

    fn raise(&mut self, low: f64, is_open: bool) {
        if low > self.low || (low >= self.low && is_open) {
            (self.low, self.is_open[0]) = (low, is_open);
        }
    }

    fn lower(&mut self, high: f64, is_open: bool) {
        if high < self.high || (high <= self.high && is_open) {
            (self.high, self.is_open[1]) = (high, is_open);
        }
    }

    fn holds_any(&self) -> bool {
        let [low_open, high_open] = self.is_open;
        self.low < self.high || (self.low <= self.high && !low_open && !high_open)
    }
}

/// The least and the greatest whole number that fulfills a condition, as far as those follow each other.
const fn whole_limits(operator: Operator, number: i64) -> (i64, i64) {
    match operator {
        Operator::Gt => (number.saturating_add(1), i64::MAX),
        Operator::Ge => (number, i64::MAX),
        Operator::Lt => (i64::MIN, number.saturating_sub(1)),
        Operator::Le => (i64::MIN, number),
        Operator::Eq => (number, number),
        Operator::Ne => (i64::MIN, i64::MAX),
    }
}
