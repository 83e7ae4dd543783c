//! Decides whether a request itself asked the simulator not to answer. A fault plan of the provider is different: it
//! simulates an outage for all callers.

use regente_domain::card::CardNumber;

use crate::request::{Call, Operation};

use super::overrides;

/// `networkDeniedReason` of a request that the simulator did not answer, as with the time-out cards
/// (`docs/interface/sandbox.md#silence`).
pub(super) const UNANSWERED: &str = "sandbox timeout";

/// Whether the request may have asked for the missing answer: by a test card that times out, always or at random
/// (`docs/interface/sandbox.md#cards`), or by faults of its own.
pub(super) fn may_have_been_asked_for(call: &Call) -> bool {
    let by_card = match &call.operation {
        Operation::Authorize(authorization) => {
            authorization.instrument.card().is_some_and(|card| is_silent_card(&card.number))
        }
        Operation::VerifyCard(_) | Operation::Capture(_) | Operation::Void(_) => false,
    };
    by_card || overrides::faults(call.test_overrides.as_ref()).is_some()
}

fn is_silent_card(number: &CardNumber) -> bool {
    matches!(number.last_digit(), 6 | 8)
}
