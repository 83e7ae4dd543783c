//! The fault plan of a simulated provider: what goes wrong, when, and how often. It is data, read here once and evaluated
//! before the rules of the cards. It comes from the request, from the provider's `options`, or is the simulator's own;
//! what is done about it is elsewhere.

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

use super::Lookup;
use super::draws::{Draws, MILLION};

mod counts;
mod parse;
mod reader;

pub(super) use counts::Counts;

/// Most faults of one plan.
pub const FAULTS_MAX: usize = 64;
/// Longest delay of an answer, and of its body.
pub const FAULT_DELAY_MS_MAX: u64 = 60_000;
/// Most places in one `sequence`.
pub const SEQUENCE_PLACES_MAX: usize = 64;
/// The last place that a `sequence` may name.
pub const SEQUENCE_PLACE_MAX: u64 = 10_000;

/// `options` of a provider of type SANDBOX.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What goes wrong.
    pub faults: Plan,
    /// What routing may send to this provider; absent members take nothing away.
    pub supports: Narrowed,
}

/// What goes wrong; the first fault that fits and happens decides.
#[derive(Clone, Debug, Default)]
pub struct Plan(Vec<Fault>);

/// Finds what is wrong with the faults that a request brings along; `path` is where they stand and begins every
/// problem.
pub fn validate(faults: &Value, path: &str) -> Result<(), Problems> {
    Plan::parse(faults, path).map(drop)
}

/// One thing that goes wrong.
#[derive(Clone, Debug)]
struct Fault {
    when: When,
    then: Then,
    probability_ppm: u32,
    sequence: Option<Sequence>,
}

/// What happens in place of an ordinary answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// A refusal.
    Decline(Decline),
    /// The ordinary answer, later.
    Delay(Duration),
    /// No answer, on an open connection.
    Timeout(Point),
    /// A broken connection.
    Reset(Point),
    /// An error of the server.
    ServerError(Point),
    /// Something that cannot be read.
    Garbage(Point),
    /// The request arrives twice, and so does the answer.
    Duplicate,
    /// The ordinary answer, of which the body takes its time.
    SlowBody(Duration),
}

/// When it goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Point {
    /// Nothing was done.
    BeforeEffect,
    /// Everything was done, and nobody was told.
    AfterEffect,
}

/// What a fault can be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    Call(OperationKind),
    Probe,
}

/// The calls that a fault is about: those that fit every condition that is there. Probes fit only where they are named,
/// for otherwise a plan that is meant for payments would hide what became of them.
#[derive(Clone, Debug, Default)]
struct When {
    subject: Option<Subject>,
    amount: Option<Amount>,
    currency: Option<Currency>,
    last_digit: Option<u8>,
    installments: Option<u8>,
}

/// Which of the calls that fit are meant, counted from 1, and the text of the fault by which it is known again.
#[derive(Clone, Debug)]
struct Sequence {
    places: BTreeSet<u64>,
    text: String,
}

/// Where a plan comes from. The stronger comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The request itself.
    Request,
    /// The provider's options.
    Options,
    /// The simulator's own plan; the number tells it from those before.
    Simulator(u64),
}

/// A call or a probe, as far as faults look at it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occasion {
    subject: Subject,
    amount: Option<Amount>,
    currency: Option<Currency>,
    last_digit: Option<u8>,
    installments: Option<u8>,
    /// The authorization that it is or follows; of a probe, the key that is asked for.
    about: Uuid,
}

impl Options {
    /// Reads the options. Members that the simulator does not know are ignored, except inside a fault, where ignoring
    /// a condition would make it apply to more than was meant. `path` is where the options stand in the request, and
    /// begins every problem; it may be empty.
    pub fn parse(options: &Map<String, Value>, path: &str) -> Result<Self, Problems> {
        parse::options(options, path)
    }
}

impl Plan {
    /// Reads an array of faults; `path` is where it stands, and begins every problem.
    pub fn parse(faults: &Value, path: &str) -> Result<Self, Problems> {
        parse::plan(faults, path)
    }

    /// Whether nothing goes wrong.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What the plan has for this occasion. Every fault that fits is counted, also where another one decides.
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
    /// Each arrival of a key draws anew: a request that is sent again meets another moment of the network.
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
    /// The draws of the options came first and keep their name, so that a seed means what it meant.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Request => "request ",
            Self::Options => "",
            Self::Simulator(_) => "simulator ",
        }
    }

    /// A request's faults are about its own payment: another payment that brings the same ones begins to count anew.
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
            Operation::Authorize(authorization) => (Some(authorization.installments), call.key),
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

    pub(super) const fn probe(lookup: &Lookup) -> Self {
        Self {
            subject: Subject::Probe,
            amount: None,
            currency: None,
            last_digit: None,
            installments: None,
            about: lookup.key,
        }
    }
}

impl When {
    fn fits(&self, occasion: &Occasion) -> bool {
        let is_subject = match self.subject {
            Some(subject) => subject == occasion.subject,
            None => occasion.subject != Subject::Probe,
        };
        is_subject
            && (self.amount.is_none() || self.amount == occasion.amount)
            && (self.currency.is_none() || self.currency == occasion.currency)
            && (self.last_digit.is_none() || self.last_digit == occasion.last_digit)
            && (self.installments.is_none() || self.installments == occasion.installments)
    }
}
