//! What the transaction requests of a charge say of its money.

use super::orphaned::undone_by;
use super::{Kind, Moved};
use crate::capture_mode::CaptureMode;
use crate::charge::attempt::{Outcome, Reported, RequestGroup, TransactionRequest};
use crate::charge::reversal::{is_of, lost, reverses_charge_back};
use crate::charge::{Charge, FollowUpKind, approved_authorization, is_taken_back};
use crate::id::TransactionRequestId;
use crate::money::Amount;
use crate::time::Timestamp;

/// What providers have done with the money of a charge, by its requests, oldest first. A reservation moves nothing. What
/// was taken unknown to the charge, and given back, was taken nevertheless. A charge back and the end of one are what the
/// ledger has of them: by how much they change what all lost cases have taken of what was left.
pub fn moved(charge: &Charge, requests: &[TransactionRequest]) -> Vec<Moved> {
    let mut found: Vec<Moved> = Vec::new();
    for (place, request) in requests.iter().enumerate() {
        let Outcome::Approved(_) = request.outcome else { continue };
        let Some(payment) = payment_of(requests, request) else { continue };
        let RequestGroup::Authorization(capture) = payment.request_type.group() else { continue };
        let of = |kind, amount, at| of(charge, requests, payment, request, kind, amount, at);
        let is_taken = found.iter().any(|moved| moved.key == payment.provider_key());
        let amount = request.amount.minor_units();
        match (request.request_type.group(), capture) {
            // The provider says that it has not taken it.
            (RequestGroup::Authorization(CaptureMode::Automatic), _)
            | (RequestGroup::FollowUp(FollowUpKind::Capture), _)
                if is_taken_back(requests, request) => {}
            (RequestGroup::Authorization(CaptureMode::Automatic), _)
            | (RequestGroup::FollowUp(FollowUpKind::Capture), _) => {
                found.push(of(Kind::Sale, amount, request.sent_at));
            }
            (RequestGroup::FollowUp(FollowUpKind::Void), CaptureMode::Automatic)
                if gives_back_the_unrecorded(requests, request) =>
            {
                found.push(of(Kind::Sale, amount, payment.sent_at));
                found.push(of(Kind::Refund, amount, request.sent_at));
            }
            (RequestGroup::FollowUp(FollowUpKind::Void), _) if is_taken => {
                found.push(of(Kind::Refund, amount, request.sent_at));
            }
            (RequestGroup::Reversal(Reported::ChargeBack), _) => {
                let taken = taken_at(charge, requests, place);
                // A newer end of the case may be about less.
                let kind = if taken < 0 { Kind::ChargeBackReversal } else { Kind::ChargeBack };
                found.push(of(kind, taken.abs(), request.sent_at));
            }
            (RequestGroup::Reversal(Reported::DisputeClosed), _) if reverses_charge_back(requests, place) => {
                let given_back = -taken_at(charge, requests, place);
                found.push(of(Kind::ChargeBackReversal, given_back, request.sent_at));
            }
            (RequestGroup::Reversal(Reported::RevertVoid), _) => {
                found.push(of(Kind::RefundReverted, amount, request.sent_at));
            }
            // A reservation, the release of one, or a dispute that took nothing.
            (
                RequestGroup::Authorization(CaptureMode::Manual)
                | RequestGroup::FollowUp(FollowUpKind::Void)
                | RequestGroup::Reversal(Reported::Dispute | Reported::DisputeClosed)
                | RequestGroup::CardCheck
                | RequestGroup::Authentication(_)
                | RequestGroup::Risk(_),
                _,
            ) => {}
        }
    }
    // Of what was refunded in full a bank may take something all the same.
    found.retain(|moved| {
        moved.amount > 0 || matches!(moved.kind, Kind::ChargeBack | Kind::ChargeBackReversal)
    });
    found
}

/// By how much the request of this place has changed what banks have taken back.
fn taken_at(charge: &Charge, requests: &[TransactionRequest], place: usize) -> i64 {
    let left = Amount::new(left_at(charge, requests, place)).unwrap_or(Amount::ZERO);
    let until = |end: usize| lost(requests.get(..end).unwrap_or(requests), left).minor_units();
    until(place + 1) - until(place)
}

/// What was left of the charge at the request of this place: what is left now, without what was refunded or came back since.
fn left_at(charge: &Charge, requests: &[TransactionRequest], place: usize) -> i64 {
    let taken = approved_authorization(requests);
    let is_of_charge = |void: &TransactionRequest| taken.is_some_and(|taken| is_of(taken, void, requests));
    let since = requests.iter().skip(place + 1);
    let since = since.filter(|request| matches!(request.outcome, Outcome::Approved(_)));
    since.fold(charge.amount.minor_units(), |left, request| match request.request_type.group() {
        RequestGroup::FollowUp(FollowUpKind::Void) if is_of_charge(request) => {
            left + request.amount.minor_units()
        }
        RequestGroup::Reversal(Reported::RevertVoid) => left - request.amount.minor_units(),
        RequestGroup::Authorization(_)
        | RequestGroup::FollowUp(_)
        | RequestGroup::Reversal(Reported::ChargeBack | Reported::Dispute | Reported::DisputeClosed)
        | RequestGroup::CardCheck
        | RequestGroup::Authentication(_)
        | RequestGroup::Risk(_) => left,
    })
}

/// The request under whose key the provider knows the payment that `request` is about.
fn payment_of<'a>(
    requests: &'a [TransactionRequest],
    request: &'a TransactionRequest,
) -> Option<&'a TransactionRequest> {
    let find = |id: TransactionRequestId| requests.iter().find(|request| request.id == id);
    let mut at = request;
    // No chain is longer than the list.
    for _ in requests {
        match at.follows {
            Some(earlier) => at = find(earlier)?,
            None => return Some(at),
        }
    }
    None
}

/// Whether a void, or the result of an accepted one, gives back what was taken without a request that says so: it is
/// recorded as refused, as without effect, or as waiting for its payer.
fn gives_back_the_unrecorded(requests: &[TransactionRequest], void: &TransactionRequest) -> bool {
    undone_by(requests, void).is_some_and(|(void, undone)| match undone.outcome {
        Outcome::Approved(_) => false,
        Outcome::Declined(_) | Outcome::NoEffect(_) => true,
        // The withdrawal of instructions that nobody has followed gives nothing back.
        Outcome::Open | Outcome::Pending(_) | Outcome::Accepted(_) | Outcome::Analysed(_) => {
            void.undone_transaction_id.is_some()
        }
    })
}

fn of(
    charge: &Charge,
    requests: &[TransactionRequest],
    payment: &TransactionRequest,
    request: &TransactionRequest,
    kind: Kind,
    amount: i64,
    at: Timestamp,
) -> Moved {
    let told = || requests.iter().find(|told| told.awaited() == Some(payment.id));
    let transaction_id = payment.transaction_id().or_else(|| told().and_then(|told| told.transaction_id()));
    Moved {
        client_id: charge.client_id,
        merchant_id: charge.merchant_id,
        provider_id: payment.provider_id,
        provider_type: payment.provider_type,
        charge_id: charge.id,
        request_id: request.id,
        key: payment.provider_key(),
        transaction_id: transaction_id.map(str::to_owned),
        kind,
        amount,
        currency: charge.currency,
        at,
        is_split: charge.split.is_some(),
        parts: Vec::new(),
    }
}
