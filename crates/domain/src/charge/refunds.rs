//! Which refunds of a charge are confirmed: what its documents prove (`docs/interface/receipts.md#refunds`).

use super::attempt::{Outcome, RequestType, TransactionRequest};
use super::revoked::is_taken_back;
use super::{approved_authorization, reversal};
use crate::id::TransactionRequestId;
use crate::money::Amount;
use crate::time::Timestamp;

/// A refund that the provider has confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refund {
    /// The void that gave it back; of one that was accepted first, the request with its result.
    pub id: TransactionRequestId,
    /// What was given back and has not come back since.
    pub amount: Amount,
    /// When the provider confirmed it.
    pub confirmed_at: Timestamp,
    /// The provider's id of the refund: the return id of a Pix.
    pub reference: Option<String>,
    /// What is left of the sale after it.
    pub remaining: Amount,
}

/// What a provider has taken of the payer's money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sale<'a> {
    /// The authorization, with the codes of the payment.
    pub authorization: &'a TransactionRequest,
    /// When it was approved or paid.
    pub at: Timestamp,
    /// What was captured, or paid.
    pub amount: Amount,
}

/// The sale that a charge's requests, oldest first, tell of; `None` while nothing was captured.
pub fn sale(requests: &[TransactionRequest]) -> Option<Sale<'_>> {
    let taking = reversal::taking(requests)?;
    let authorization = approved_authorization(requests)?;
    Some(Sale { authorization, at: told_at(authorization), amount: taking.amount })
}

/// The confirmed refunds of a charge's requests, oldest first in both. The release of a reservation is none, nor is a payment that
/// was given back because it was not the charge's own, nor a refund that came back.
pub fn confirmed(requests: &[TransactionRequest]) -> Vec<Refund> {
    let (Some(taking), Some(sale)) = (reversal::taking(requests), sale(requests)) else {
        return Vec::new();
    };
    let is_refund = |request: &&TransactionRequest| {
        request.request_type == RequestType::Void
            && matches!(request.outcome, Outcome::Approved(_))
            && request.ordinal > taking.ordinal
            && is_of(sale.authorization, taking, request, requests)
            && !is_taken_back(requests, request)
    };
    let voids: Vec<&TransactionRequest> = requests.iter().filter(is_refund).collect();
    let mut amounts: Vec<Amount> = voids.iter().map(|void| void.amount).collect();
    for (void, back) in come_back(requests) {
        let at = void.and_then(|named| {
            voids.iter().position(|candidate| reversal::void_of(candidate, requests) == Some(named))
        });
        take_off(&mut amounts, at, back);
    }
    let mut left = sale.amount;
    let mut refunds = Vec::new();
    for (void, amount) in voids.into_iter().zip(amounts).filter(|(_, amount)| *amount > Amount::ZERO) {
        left = left.minus(amount).unwrap_or(Amount::ZERO);
        refunds.push(Refund {
            id: void.id,
            amount,
            confirmed_at: told_at(void),
            reference: void.transaction_id().map(str::to_owned),
            remaining: left,
        });
    }
    refunds
}

/// Whether a void gives back what the sale has taken: it follows the authorization or the capture, or an accepted void of these.
fn is_of(
    authorization: &TransactionRequest,
    taking: &TransactionRequest,
    void: &TransactionRequest,
    requests: &[TransactionRequest],
) -> bool {
    reversal::is_of(authorization, void, requests) || reversal::is_of(taking, void, requests)
}

/// What came back of refunds, each with the ordinal of the void, where the report named it.
fn come_back(requests: &[TransactionRequest]) -> impl Iterator<Item = (Option<i64>, Amount)> + '_ {
    let reverted = requests.iter().filter(|request| {
        request.request_type == RequestType::RevertVoid && matches!(request.outcome, Outcome::Approved(_))
    });
    reverted.map(|request| {
        let about = request.follows.and_then(|id| requests.iter().find(|earlier| earlier.id == id));
        (about.and_then(|about| reversal::void_of(about, requests)), request.amount)
    })
}

/// Takes off what came back: of the refund in this place, and what is more of the newest ones.
fn take_off(amounts: &mut [Amount], at: Option<usize>, back: Amount) {
    let newest = (0..amounts.len()).rev().filter(|place| Some(*place) != at);
    let mut rest = back;
    for place in at.into_iter().chain(newest) {
        let Some(amount) = amounts.get_mut(place) else { continue };
        let part = rest.min(*amount);
        *amount = amount.minus(part).unwrap_or(Amount::ZERO);
        rest = rest.minus(part).unwrap_or(Amount::ZERO);
    }
}

/// When a provider said so, by its own clock where it tells.
fn told_at(request: &TransactionRequest) -> Timestamp {
    request.occurred_at.unwrap_or(request.updated_at)
}
