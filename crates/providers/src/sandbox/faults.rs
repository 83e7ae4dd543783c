//! Fault plans of the simulator: which faults happen, when, and how often. A plan comes from the request, from the
//! provider's `options`, or from the simulator itself. It is evaluated before the card rules; the simulator applies the
//! fault.

use std::collections::BTreeSet;
use std::time::Duration;

use regente_domain::currency::Currency;
use regente_domain::decline::Decline;
use regente_domain::money::Amount;
use regente_domain::problems::Problems;
use regente_domain::routing::Narrowed;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::request::{Call, Operation, OperationKind};

use super::draws::{Draws, MILLION};
use super::{CardholderQuestion, Lookup, RiskQuestion};

mod counts;
mod parse;
mod reader;

pub(super) use counts::Counts;

/// Most faults in one plan.
pub const FAULTS_MAX: usize = 64;
/// Longest delay of an answer or of its body, in milliseconds.
pub const FAULT_DELAY_MS_MAX: u64 = 60_000;
/// Longest time for which a probe denies a call, in seconds.
pub const FAULT_DENY_SECONDS_MAX: u64 = 86_400;
/// Most positions in one `sequence`.
pub const SEQUENCE_PLACES_MAX: usize = 64;
/// The highest position that a `sequence` may contain.
pub const SEQUENCE_PLACE_MAX: u64 = 10_000;

/// The most days between two reviews of a seller.
const REVIEW_EVERY_DAYS_MAX: u32 = 3650;

/// `options` of a provider of type SANDBOX.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The provider's fault plan.
    pub faults: Plan,
    /// Restrictions on what routing may send to this provider; absent members restrict nothing.
    pub supports: Narrowed,
    /// After how many days each the simulator asks a seller for a review.
    pub review_every_days: Option<u32>,
}

/// A list of faults; the first one that matches and happens decides.
#[derive(Clone, Debug, Default)]
pub struct Plan(Vec<Fault>);

/// Checks the faults that a request brings along. `path` is where they are in the request and prefixes the path of each
/// problem.
pub fn validate(faults: &Value, path: &str) -> Result<(), Problems> {
    Plan::parse(faults, path).map(drop)
}

/// A fault with its conditions.
#[derive(Clone, Debug)]
struct Fault {
    when: When,
    then: Then,
    probability_ppm: u32,
    sequence: Option<Sequence>,
}

/// The effect of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// The call is declined.
    Decline(Decline),
    /// The answer is delayed.
    Delay(Duration),
    /// No answer arrives, and the connection stays open.
    Timeout(Point),
    /// The connection breaks.
    Reset(Point),
    /// An HTTP server error arrives.
    ServerError(Point),
    /// An unreadable body arrives.
    Garbage(Point),
    /// The request is carried out twice and answered twice.
    Duplicate,
    /// The body of the answer arrives slowly.
    SlowBody(Duration),
    /// A probe is answered with "no such call" until the call is this old; the key stays open.
    Deny(Duration),
    /// A notification is signed by somebody else.
    Forge,
    /// A notification is never sent.
    Lose,
}

/// Whether the fault happens before or after the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Point {
    /// The operation was not carried out.
    BeforeEffect,
    /// The operation was carried out; the caller gets no answer.
    AfterEffect,
}

/// What a fault can apply to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    Call(OperationKind),
    Probe,
    Analysis,
    Notification,
    Authentication,
    Seller,
}

/// The calls that a fault applies to: those that match every condition given. Probes, risk analyses, notifications,
/// authentications and questions about sellers match only when the condition names them; otherwise a plan for payments would also hide their outcomes.
#[derive(Clone, Debug, Default)]
struct When {
    subject: Option<Subject>,
    amount: Option<Amount>,
    currency: Option<Currency>,
    last_digit: Option<u8>,
    installments: Option<u8>,
}

/// Which of the matching calls are meant, counted from 1, with the text of the fault that identifies its count.
#[derive(Clone, Debug)]
struct Sequence {
    places: BTreeSet<u64>,
    text: String,
}

/// Where a plan comes from, in order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The request.
    Request,
    /// The provider's options.
    Options,
    /// The simulator's own plan, with its revision.
    Simulator(u64),
}

/// The properties of a call or a probe that faults can match.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occasion {
    subject: Subject,
    amount: Option<Amount>,
    currency: Option<Currency>,
    last_digit: Option<u8>,
    installments: Option<u8>,
    /// The key of the authorization that the call makes or follows; of a probe or a notification, the key it is about.
    about: Uuid,
}

impl Options {
    /// Parses the options. It ignores unknown members, except inside a fault: ignoring a condition there would make the
    /// fault match more calls than intended. `path` is where the options are in the request and prefixes the path of
    /// each problem; it may be empty.
    pub fn parse(options: &Map<String, Value>, path: &str) -> Result<Self, Problems> {
        parse::options(options, path)
    }
}

impl Plan {
    /// Parses an array of faults. `path` is where it is in the request and prefixes the path of each problem.
    pub fn parse(faults: &Value, path: &str) -> Result<Self, Problems> {
        parse::plan(faults, path)
    }

    /// Whether the plan has no faults.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The effect that the plan has on this call or probe. Every fault that matches is counted, even when an earlier
    /// one decides.
    pub(super) fn happening(
        &self,
        source: Source,
        occasion: &Occasion,
        draws: &Draws,
        counts: &Counts,
    ) -> Option<&Then> {
        let mut happening = None;
        for (place, fault) in self.0.iter().enumerate().filter(|(_, fault)| fault.when.fits(occasion)) {
            let is_its_turn = fault.sequence.as_ref().is_none_or(|sequence| {
                let payment = source.counts_apart().then_some(occasion.about);
                sequence.places.contains(&counts.next_in_sequence(source, place, &sequence.text, payment))
            });
            if happening.is_none() && is_its_turn && fault.happens(source, place, draws, counts) {
                happening = Some(&fault.then);
            }
        }
        happening
    }
}

impl Fault {
    /// Each arrival of a key draws again: a repeated request can meet another fault.
    fn happens(&self, source: Source, place: usize, draws: &Draws, counts: &Counts) -> bool {
        if self.probability_ppm >= MILLION {
            return true;
        }
        let what = format!("{}fault {place}", source.prefix());
        match counts.next_arrival(source, place, draws.call_key()) {
            1 => draws.happens(&what, self.probability_ppm),
            arrival => draws.happens(&format!("{what} arrival {arrival}"), self.probability_ppm),
        }
    }
}

impl Source {
    /// The options' draws have no prefix, so that existing seeds keep their results.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Request => "request ",
            Self::Options => "",
            Self::Simulator(_) => "simulator ",
        }
    }

    /// Faults of a request count for its own payment only: another payment with the same faults counts from 1.
    const fn counts_apart(self) -> bool {
        match self {
            Self::Request => true,
            Self::Options | Self::Simulator(_) => false,
        }
    }
}

impl Occasion {
    pub(super) fn call(call: &Call) -> Self {
        let operation = &call.operation;
        let (installments, about) = match operation {
            Operation::Authorize(authorization) => (Some(authorization.method.installments()), call.key),
            Operation::VerifyCard(_) => (None, call.key),
            Operation::Capture(follow_up) | Operation::Void(follow_up) => (None, follow_up.authorization_key),
        };
        Self {
            subject: Subject::Call(operation.kind()),
            amount: Some(operation.amount()),
            currency: Some(operation.currency()),
            last_digit: operation.card().map(|card| card.number.last_digit()),
            installments,
            about,
        }
    }

    pub(super) const fn cardholder(question: &CardholderQuestion) -> Self {
        Self::without_a_call(Subject::Authentication, question.key)
    }

    pub(super) const fn seller(key: Uuid) -> Self {
        Self::without_a_call(Subject::Seller, key)
    }

    pub(super) fn analysis(question: &RiskQuestion) -> Self {
        Self {
            subject: Subject::Analysis,
            amount: question.amount(),
            currency: question.currency(),
            last_digit: question.identity_digit(),
            installments: None,
            about: question.key,
        }
    }

    pub(super) const fn probe(lookup: &Lookup) -> Self {
        Self::without_a_call(Subject::Probe, lookup.key)
    }

    pub(super) const fn notification(key: Uuid) -> Self {
        Self::without_a_call(Subject::Notification, key)
    }

    const fn without_a_call(subject: Subject, about: Uuid) -> Self {
        Self { subject, amount: None, currency: None, last_digit: None, installments: None, about }
    }
}

impl When {
    fn fits(&self, occasion: &Occasion) -> bool {
        let is_subject = match self.subject {
            Some(subject) => subject == occasion.subject,
            None => matches!(occasion.subject, Subject::Call(_)),
        };
        is_subject
            && (self.amount.is_none() || self.amount == occasion.amount)
            && (self.currency.is_none() || self.currency == occasion.currency)
            && (self.last_digit.is_none() || self.last_digit == occasion.last_digit)
            && (self.installments.is_none() || self.installments == occasion.installments)
    }
}
