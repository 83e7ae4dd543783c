//! A bank takes back a payment that had settled a charge, without being asked: the settlement is reversed
//! (`docs/interface/charges.md#boleto`).

use crate::id::TransactionRequestId;
use crate::money::Amount;
use crate::time::Timestamp;

use super::attempt::{Approval, Asks, Outcome, RequestType, ToldBy, TransactionRequest};
use super::{Charge, ChargeEvent, ChargeState, ChargeStatus, Transition};

/// A payment that was taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenBack {
    /// The provider's id of the payment.
    pub transaction_id: Option<String>,
    /// The provider's identifiers of that.
    pub reference: Approval,
}

/// What it does to a charge that a payment was taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AfterTakingBack {
    /// The money is gone: the charge after that, with the request that tells of it.
    Gone(Box<(Transition, TransactionRequest)>),
    /// It is recorded already, or the payment is not the merchant's: it is given back.
    Known,
    /// The charge is in a state in which it has no settled payment.
    NotPossible(ChargeStatus),
}

impl Charge {
    /// What follows when a payment of the request `instructed` was taken back. `requests` are those of the charge, oldest
    /// first; the payment is recorded. `id` is that of the request that tells of it.
    pub fn take_back(
        &self,
        id: TransactionRequestId,
        requests: &[TransactionRequest],
        instructed: TransactionRequestId,
        taken_back: &TakenBack,
        now: Timestamp,
    ) -> AfterTakingBack {
        // A payment that was found before its instructions were known is the request itself. One without an id of its own
        // has that of the instructions.
        let is_payment = |request: &&TransactionRequest| {
            (request.id == instructed || request.awaited() == Some(instructed))
                && matches!(request.outcome, Outcome::Approved(_))
                && (taken_back.transaction_id.is_none()
                    || request.transaction_id() == taken_back.transaction_id.as_deref())
        };
        let Some(payment) = requests.iter().find(is_payment) else {
            return AfterTakingBack::NotPossible(self.state.status());
        };
        let is_undone = |request: &TransactionRequest| {
            request.request_type == RequestType::Void && request.follows == Some(payment.id)
        };
        if requests.iter().any(is_undone) {
            return AfterTakingBack::Known;
        }
        let ChargeState::Authorized { responsible } = self.state else {
            return AfterTakingBack::NotPossible(self.state.status());
        };
        let state = ChargeState::Voided { responsible };
        let reversed = self.transition(state, Some(ChargeEvent::Voided), now);
        let charge = reversed.charge.with_given_back(Amount::ZERO, self.requests).with_one_more_request();
        let asks = Asks::about(payment, RequestType::Void, payment.amount);
        let told = TransactionRequest {
            outcome: Outcome::Approved(taken_back.reference.clone()),
            told_by: Some(ToldBy::Elsewhere),
            ..charge.begin_request(id, asks, now)
        };
        AfterTakingBack::Gone(Box::new((Transition { charge, announces: reversed.announces }, told)))
    }
}
