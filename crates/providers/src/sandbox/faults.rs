//! The fault plan of a simulated provider: what goes wrong, when, and how often. It is data in the provider's `options`,
//! read here once and evaluated before the rules of the cards.

use regente_domain::currency::Currency;
use regente_domain::decline::Decline;
use regente_domain::money::Amount;
use regente_domain::problems::Problems;
use regente_domain::routing::Narrowed;
use serde_json::{Map, Value};

use crate::request::{Operation, OperationKind};

use super::draws::Draws;

mod parse;

/// Most faults of one provider.
pub const FAULTS_MAX: usize = 64;

/// `options` of a provider of type SANDBOX.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What goes wrong; the first fault that fits and happens decides.
    pub faults: Vec<Fault>,
    /// What routing may send to this provider; absent members take nothing away.
    pub supports: Narrowed,
}

/// One thing that goes wrong.
#[derive(Clone, Debug)]
pub struct Fault {
    when: When,
    then: Decline,
    probability_ppm: u32,
}

/// The operations that a fault is about: those that fit every condition that is there.
#[derive(Clone, Debug, Default)]
struct When {
    operation: Option<OperationKind>,
    amount: Option<Amount>,
    currency: Option<Currency>,
    last_digit: Option<u8>,
    installments: Option<u8>,
}

impl Options {
    /// Reads the options. Members that the simulator does not know are ignored, except inside a fault, where ignoring
    /// a condition would make it apply to more than was meant. `path` is where the options stand in the request, and
    /// begins every problem; it may be empty.
    pub fn parse(options: &Map<String, Value>, path: &str) -> Result<Self, Problems> {
        parse::options(options, path)
    }

    /// The refusal that the plan has for this operation.
    pub(super) fn fault(&self, operation: &Operation, draws: &Draws) -> Option<Decline> {
        let happening = self.faults.iter().enumerate().find(|(place, fault)| {
            fault.when.fits(operation) && draws.happens(&format!("fault {place}"), fault.probability_ppm)
        });
        happening.map(|(_, fault)| fault.then.clone())
    }
}

impl When {
    fn fits(&self, operation: &Operation) -> bool {
        let installments = match operation {
            Operation::Authorize(authorization) => Some(authorization.installments),
            Operation::VerifyCard(_) | Operation::Capture(_) | Operation::Void(_) => None,
        };
        let last_digit = operation.card().map(|card| card.number.last_digit());
        self.operation.is_none_or(|kind| kind == operation.kind())
            && self.amount.is_none_or(|amount| amount == operation.amount())
            && self.currency.is_none_or(|currency| currency == operation.currency())
            && (self.last_digit.is_none() || self.last_digit == last_digit)
            && (self.installments.is_none() || self.installments == installments)
    }
}
