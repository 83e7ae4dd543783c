//! Decides what to do about an outcome that arrives after the charge has moved on. Money that a provider took is
//! either accepted or given back.

use super::attempt::{Asks, Outcome, RequestType, TransactionRequest};
use super::{Charge, ChargeEvent, Finish, Next, PaymentSource, Transition};
use crate::id::TransactionRequestId;
use crate::time::Timestamp;

impl Charge {
    /// The next step for `found`, an authorization whose outcome arrived too late to be recorded as its own.
    /// `requests` are the stored ones, oldest first.
    pub fn next_after_late(&self, requests: &[TransactionRequest], found: &TransactionRequest) -> Next {
        let Outcome::Approved(_) = &found.outcome else { return Next::Rest };
        // An authentication moves no money.
        if !found.request_type.is_authorization() {
            return Next::Rest;
        }
        let Some(written) = requests.iter().find(|request| request.id == found.id) else {
            return Next::Rest;
        };
        let known = payments(requests, found.id);
        let is_known = |payment: &TransactionRequest| self.is_same_payment(payment, found);
        let void = Next::Void { request: found.id };
        match &written.outcome {
            // Another node stores or has stored the same outcome. But the payer may have paid before it was known that they
            // has instructions, and once more.
            Outcome::Approved(_) if is_known(written) || known.clone().any(is_known) => Next::Rest,
            Outcome::Approved(_) => void,
            _ if self.is_being_voided(requests, found) => Next::Rest,
            Outcome::Open | Outcome::Accepted(_) | Outcome::Analysed(_) => Next::Rest,
            // The charge went on without this money.
            Outcome::Declined(_) | Outcome::NoEffect(_) => void,
            Outcome::Pending(_) => {
                if known.clone().any(is_known) {
                    Next::Rest
                } else if self.takes_late_payment() && known.count() == 0 {
                    Next::Finish(Finish::Approved { by: found.provider_type, amount: found.amount })
                } else {
                    void
                }
            }
        }
    }

    /// Whether both are the same payment. Whoever pays by themselves may pay twice: each payment has an id of its own. Without
    /// one, the transfer of the payer's bank tells, else what was paid. An authorization of a card or a wallet is approved
    /// once.
    pub(super) fn is_same_payment(&self, known: &TransactionRequest, found: &TransactionRequest) -> bool {
        match (self.method.source(), found.transaction_id(), transfer(known), transfer(found)) {
            (PaymentSource::Card(_) | PaymentSource::Wallet, ..) => true,
            (PaymentSource::Payer(_), Some(id), ..) => known.transaction_id() == Some(id),
            (PaymentSource::Payer(_), None, Some(known), Some(found)) => known == found,
            (PaymentSource::Payer(_), None, ..) => known.amount == found.amount,
        }
    }

    /// Adds the request that voids `orphan`, an authorization with its late approval. The state stays unchanged.
    pub fn void_orphan(
        &self,
        id: TransactionRequestId,
        orphan: &TransactionRequest,
        now: Timestamp,
    ) -> (Self, TransactionRequest) {
        let asks = Asks::about(orphan, RequestType::Void, orphan.amount);
        self.with_void(id, asks, orphan.transaction_id().map(str::to_owned), now)
    }

    /// Adds the request that repeats `refused`, the void of an orphaned authorization, under a key of its own: a
    /// provider answers a known key with the same refusal.
    pub fn void_orphan_again(
        &self,
        id: TransactionRequestId,
        refused: &TransactionRequest,
        now: Timestamp,
    ) -> (Self, TransactionRequest) {
        let asks =
            Asks { follows: refused.follows, ..Asks::about(refused, RequestType::Void, refused.amount) };
        self.with_void(id, asks, refused.undone_transaction_id.clone(), now)
    }

    fn with_void(
        &self,
        id: TransactionRequestId,
        asks: Asks,
        undone_transaction_id: Option<String>,
        now: Timestamp,
    ) -> (Self, TransactionRequest) {
        let charge = self.moved(self.state.clone(), now).with_one_more_request();
        let void = TransactionRequest { undone_transaction_id, ..charge.begin_request(id, asks, now) };
        (charge, void)
    }

    /// The void of an orphaned authorization was accepted: the next version, in the same state.
    #[must_use]
    pub fn note_orphan_void(&self, now: Timestamp) -> Self {
        self.moved(self.state.clone(), now)
    }

    /// The void of an orphaned authorization succeeded: announces it to the merchant.
    pub fn confirm_orphan_voided(&self, now: Timestamp) -> Transition {
        self.transition(self.state.clone(), Some(ChargeEvent::ProbeVoid), now)
    }

    /// Whether a void of `taken` is under way or done. Requests of earlier releases do not name what they undo: take
    /// any open void that is not the charge's own open operation. Whoever pays by themselves may pay twice: the void of one payment
    /// is none of the other.
    fn is_being_voided(&self, requests: &[TransactionRequest], taken: &TransactionRequest) -> bool {
        let undoes_it = |void: &TransactionRequest| match self.method.source() {
            PaymentSource::Card(_) | PaymentSource::Wallet => true,
            PaymentSource::Payer(_) => {
                match (void.undone_transaction_id.as_deref(), taken.transaction_id()) {
                    (Some(undone), Some(payment)) => undone == payment,
                    (None, _) | (_, None) => true,
                }
            }
        };
        requests.iter().any(|request| {
            let is_orphans = self.state.open_operation().is_none_or(|open| open.ordinal != request.ordinal);
            request.request_type == RequestType::Void
                && match (request.follows, &request.outcome) {
                    (Some(follows), Outcome::Open | Outcome::Accepted(_) | Outcome::Approved(_)) => {
                        follows == taken.id && undoes_it(request)
                    }
                    (None, Outcome::Open) => is_orphans,
                    (None, Outcome::Accepted(_) | Outcome::Approved(_))
                    | (
                        Some(_) | None,
                        Outcome::Pending(_)
                        | Outcome::Declined(_)
                        | Outcome::NoEffect(_)
                        | Outcome::Analysed(_),
                    ) => false,
                }
        })
    }
}

/// The id of a payer's transfer at their bank: the end-to-end id of a Pix.
fn transfer(payment: &TransactionRequest) -> Option<&str> {
    payment.reference()?.network_authorization_code.as_deref()
}

/// Whether both are one transfer of the payer's bank, which names it.
pub fn is_same_transfer(known: &TransactionRequest, found: &TransactionRequest) -> bool {
    transfer(known).is_some() && transfer(known) == transfer(found)
}

/// Whether neither a payment nor the transfer of it has an id: nothing but its amount tells it from another one.
pub fn is_unnamed(payment: &TransactionRequest) -> bool {
    payment.transaction_id().is_none() && transfer(payment).is_none()
}

/// What the payer of a request with instructions has paid, as it is recorded.
pub fn payments(
    requests: &[TransactionRequest],
    instructed: TransactionRequestId,
) -> impl Iterator<Item = &TransactionRequest> + Clone {
    requests.iter().filter(move |request| {
        request.follows == Some(instructed)
            && request.request_type.is_authorization()
            && matches!(request.outcome, Outcome::Approved(_))
    })
}

/// How often a provider has refused to void `orphan`. A void that it has accepted and that another one follows was
/// refused later.
pub fn refused_voids(requests: &[TransactionRequest], orphan: Option<TransactionRequestId>) -> usize {
    let is_refused_void = |request: &&TransactionRequest| {
        request.request_type == RequestType::Void
            && request.follows == orphan
            && matches!(request.outcome, Outcome::Declined(_) | Outcome::Accepted(_))
    };
    requests.iter().filter(is_refused_void).count()
}
