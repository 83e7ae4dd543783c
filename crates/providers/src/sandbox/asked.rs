//! What a caller may ask of the simulator with a single request, as opposed to a fault plan of the provider, which
//! makes the simulated provider ill for everybody.

use regente_domain::card::CardNumber;

use crate::request::{Call, Operation};

/// Whether the request itself may have asked for the silence that followed: by a test card that times out, always or by
/// lot (`docs/interface/sandbox.md#cards`), or by faults of its own. Such a silence says nothing of the provider's
/// health.
pub fn may_have_asked_for_silence(call: &Call) -> bool {
    let by_card = match &call.operation {
        Operation::Authorize(authorization) => is_silent_card(&authorization.card.number),
        Operation::VerifyCard(_) | Operation::Capture(_) | Operation::Void(_) => false,
    };
    by_card || call.faults.is_some()
}

fn is_silent_card(number: &CardNumber) -> bool {
    matches!(number.last_digit(), 6 | 8)
}
