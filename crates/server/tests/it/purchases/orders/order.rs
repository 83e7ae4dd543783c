//! The faults of one purchase, and its expected end.

use Outcome::{Approve, Decline, Silent, TimeOutAfterEffect, TimeOutBeforeEffect};
use serde_json::{Value, json};

use super::verdict::End;
use crate::support::purchases::AMOUNTS;

/// The outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Approve,
    Decline,
    TimeOutBeforeEffect,
    TimeOutAfterEffect,
    /// Unknown for a while.
    Silent,
}

const OUTCOMES: [Outcome; 5] = [Approve, Decline, TimeOutBeforeEffect, TimeOutAfterEffect, Silent];

/// The merchant's intention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intention {
    /// `capture: true`.
    CaptureAtOnce,
    /// `capture: false`, then a capture request.
    CaptureLater,
    /// `capture: false`, then a void request.
    Release,
    /// `capture: true`, then a void request once it is paid.
    Refund,
}

impl Intention {
    pub const fn captures_at_once(self) -> bool {
        match self {
            Self::CaptureAtOnce | Self::Refund => true,
            Self::CaptureLater | Self::Release => false,
        }
    }
}

/// An order of events: for each card the outcomes of its authorization, capture and void.
#[derive(Clone, Debug)]
pub struct Order {
    pub authorizations: Vec<Outcome>,
    pub captures: Vec<Outcome>,
    pub voids: Vec<Outcome>,
    pub intention: Intention,
}

impl Order {
    /// The order without faults.
    pub fn smooth(cards: usize, intention: Intention) -> Self {
        let approve = vec![Approve; cards];
        Self { authorizations: approve.clone(), captures: approve.clone(), voids: approve, intention }
    }

    /// Every combination of outcomes of the authorizations.
    pub fn authorized(cards: usize) -> Vec<Self> {
        let order = |authorizations| Self { authorizations, ..Self::smooth(cards, Intention::CaptureAtOnce) };
        each_order(cards).into_iter().map(order).collect()
    }

    /// Every combination of outcomes of the authorizations; of the captures, at once or later; and of the voids after a
    /// declined capture, a release and a refund.
    pub fn all(cards: usize) -> Vec<Self> {
        let mut orders = Self::authorized(cards);
        for (number, outcomes) in each_order(cards).into_iter().enumerate() {
            let when = if number % 2 == 0 { Intention::CaptureAtOnce } else { Intention::CaptureLater };
            let voids = |intention| Self { voids: outcomes.clone(), ..Self::smooth(cards, intention) };
            orders.extend([
                Self { captures: outcomes.clone(), ..Self::smooth(cards, when) },
                Self { captures: refused_at_last(cards), ..voids(Intention::CaptureAtOnce) },
                voids(Intention::Release),
                voids(Intention::Refund),
            ]);
        }
        orders
    }

    /// Every combination of captures of which one is declined, with every combination of the voids that follow.
    pub fn captures_and_voids(cards: usize) -> Vec<Self> {
        let mut orders = Vec::new();
        for captures in each_order(cards).into_iter().filter(|captures| captures.contains(&Decline)) {
            for voids in each_order(cards) {
                let smooth = Self::smooth(cards, Intention::CaptureAtOnce);
                orders.push(Self { captures: captures.clone(), voids, ..smooth });
            }
        }
        orders
    }

    /// The amounts of the cards.
    pub fn amounts(&self) -> impl Iterator<Item = i64> {
        AMOUNTS.into_iter().take(self.authorizations.len())
    }

    /// The faults of the simulator; the amounts identify the cards.
    pub fn faults(&self) -> Value {
        let mut faults = Vec::new();
        for (index, amount) in self.amounts().enumerate() {
            faults.extend(authorization(self.authorizations[index], amount));
            faults.extend(capture(self.captures[index], amount));
            faults.extend(void(self.voids[index], amount));
        }
        if self.authorizations.contains(&Silent) {
            faults.push(json!({ "when": { "operation": "probe" },
                "then": { "timeout": "before_effect" }, "sequence": [1, 2] }));
        }
        json!(faults)
    }

    /// The expected end.
    pub fn end(&self) -> End {
        let is_reserved = |outcome: &Outcome| match outcome {
            Approve | TimeOutAfterEffect | Silent => true,
            // Nothing was reserved, and an authorization is never sent again.
            Decline | TimeOutBeforeEffect => false,
        };
        if !self.authorizations.iter().all(is_reserved) || self.captures.contains(&Decline) {
            return End::Failed;
        }
        // A void that the first provider declines changes nothing.
        match (self.intention, self.voids[0]) {
            (Intention::CaptureAtOnce | Intention::CaptureLater, _) | (Intention::Refund, Decline) => {
                End::Paid
            }
            (Intention::Release, Decline) => End::Reserved,
            (
                Intention::Release | Intention::Refund,
                Approve | TimeOutBeforeEffect | TimeOutAfterEffect | Silent,
            ) => End::Cancelled,
        }
    }
}

fn each_order(cards: usize) -> Vec<Vec<Outcome>> {
    (0..cards).fold(vec![Vec::new()], |orders, _| {
        let longer = |order: &Vec<Outcome>| OUTCOMES.map(|outcome| [order.as_slice(), &[outcome]].concat());
        orders.iter().flat_map(longer).collect()
    })
}

/// Every capture is approved except the last.
fn refused_at_last(cards: usize) -> Vec<Outcome> {
    let mut captures = vec![Approve; cards];
    captures[cards - 1] = Decline;
    captures
}

fn authorization(outcome: Outcome, amount: i64) -> Option<Value> {
    let then = match outcome {
        Approve => return None,
        Decline => json!({ "decline": "generic" }),
        TimeOutBeforeEffect => json!({ "timeout": "before_effect" }),
        TimeOutAfterEffect | Silent => json!({ "timeout": "after_effect" }),
    };
    Some(json!({ "when": { "operation": "authorization", "amount": amount }, "then": then }))
}

/// The fault of a capture. A capture is sent again until it is answered.
fn capture(outcome: Outcome, amount: i64) -> Option<Value> {
    let when = json!({ "operation": "capture", "amount": amount });
    Some(match outcome {
        Approve => return None,
        Decline => json!({ "when": when, "then": { "decline": "generic" } }),
        TimeOutBeforeEffect | TimeOutAfterEffect | Silent => unanswered(outcome, &when),
    })
}

/// The fault of a void. A void that is always declined never succeeds: here it is declined twice.
fn void(outcome: Outcome, amount: i64) -> Option<Value> {
    let when = json!({ "operation": "void", "amount": amount });
    Some(match outcome {
        Approve => return None,
        Decline => json!({ "when": when, "then": { "decline": "generic" }, "sequence": [1, 2] }),
        TimeOutBeforeEffect | TimeOutAfterEffect | Silent => unanswered(outcome, &when),
    })
}

fn unanswered(outcome: Outcome, when: &Value) -> Value {
    let (point, places) = match outcome {
        Approve | Decline => panic!("an answer"),
        TimeOutBeforeEffect => ("before_effect", json!([1])),
        TimeOutAfterEffect => ("after_effect", json!([1])),
        Silent => ("after_effect", json!([1, 2, 3])),
    };
    json!({ "when": when, "then": { "timeout": point }, "sequence": places })
}
