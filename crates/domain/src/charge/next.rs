//! Decides the next step of a charge from the charge and its requests: a pure function, called again after every
//! answer. The caller's request does what can be done at once, a job the rest.

use std::time::Duration;

use crate::decline::{Decline, RefusedBy};
use crate::id::TransactionRequestId;
use crate::money::Amount;
use crate::provider_type::ProviderType;
use crate::routing::explanation::Stopped;
use crate::routing::{self, Hop};
use crate::time::Timestamp;

use super::attempt::{Outcome, TransactionRequest};
use super::{Charge, ChargeState, FollowUpKind, OpenOperation, PaymentSource};

/// How long a payer has when the provider does not say.
pub const EXPIRES_AFTER: Duration = Duration::from_secs(15 * 60);

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Ask the 3DS server to authenticate the cardholder.
    Enroll,
    /// Ask this provider to authorize.
    Authorize(Hop),
    /// Ask the anti-fraud provider about the risk.
    Analyse,
    /// A request was sent and its outcome is unknown: the sender or the reconcile job finds it out.
    AwaitOutcome,
    /// The payer has instructions. The provider is asked about the outcome from time to time, and may notify.
    AwaitPayer {
        /// The provider that waits for the payer.
        by: ProviderType,
        /// When the instructions expire.
        until: Timestamp,
    },
    /// The payer did not pay in time: the charge ends, unless the provider reports a payment.
    Expire,
    /// A provider approved a charge that has ended: void that request.
    Void {
        /// The request to void.
        request: TransactionRequestId,
    },
    /// The verdict on the risk decides about the reservation: capture or void it.
    FollowUp {
        /// Capture or void.
        kind: FollowUpKind,
        /// The provider that holds the reservation.
        at: ProviderType,
    },
    /// The provider has accepted the open capture or void: wait for its result.
    AwaitResult,
    /// The outcome is known: apply it to the charge.
    Finish(Finish),
    /// Nothing is under way.
    Rest,
}

/// How an outcome changes the charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// A provider approved it.
    Approved {
        /// The provider that approved.
        by: ProviderType,
        /// What it approved: what was charged, unless a payer has paid another amount.
        amount: Amount,
    },
    /// Every provider that was asked refused it.
    Failed {
        /// The provider that refused last.
        by: ProviderType,
        /// Why no further provider is asked.
        stopped: Stopped,
    },
    /// The open capture or void succeeded.
    Settled,
    /// The provider refused the open capture or void.
    Withdrawn,
}

/// What the caller has for another authorization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// Everything it needs. No authorization starts once the budget is used up.
    Complete {
        /// How long the charge was tried, without the time waiting for the payer.
        elapsed: Duration,
        /// How long it may be tried.
        budget: Duration,
    },
    /// The buyer or the security code is gone. After a refusal that allows another provider, the charge ends for this
    /// reason.
    Incomplete(Stopped),
}

impl Charge {
    /// The next step. `requests` are those of the charge, oldest first; the outcome of the last one may not be stored
    /// yet.
    pub fn next(&self, requests: &[TransactionRequest], means: Means, now: Timestamp) -> Next {
        match &self.state {
            ChargeState::Processing | ChargeState::AwaitingPayer { .. } => {
                self.next_to_authorize(requests, means, now)
            }
            ChargeState::CapturePending { open, .. } | ChargeState::RefundPending { open, .. } => {
                let request = requests.iter().find(|request| request.ordinal == open.ordinal);
                match request.map(|request| &request.outcome) {
                    None | Some(Outcome::Open | Outcome::Pending(_) | Outcome::Analysed(_)) => {
                        Next::AwaitOutcome
                    }
                    // An accepted capture keeps the state: nothing is taken until its result is known.
                    Some(Outcome::Accepted(_)) => match result_of_accepted(requests, open) {
                        None => Next::AwaitResult,
                        Some(result) => Next::Finish(end_of_accepted(result)),
                    },
                    Some(Outcome::Approved(_)) => Next::Finish(Finish::Settled),
                    Some(Outcome::Declined(_) | Outcome::NoEffect(_)) => Next::Finish(Finish::Withdrawn),
                }
            }
            ChargeState::RefundAccepted { open, .. } => match result_of_accepted(requests, open) {
                None => Next::Rest,
                Some(result) => Next::Finish(end_of_accepted(result)),
            },
            ChargeState::PreAuthorized { .. }
            | ChargeState::Authorized { .. }
            | ChargeState::Failed { .. }
            | ChargeState::Canceled { .. }
            | ChargeState::Voided { .. }
            | ChargeState::ChargedBack { .. } => Next::Rest,
        }
    }

    /// Steps before an authorization, such as a risk analysis or an authentication of the payer, come before the
    /// first one here. Their requests are not authorizations and do not advance the route.
    fn next_to_authorize(&self, requests: &[TransactionRequest], means: Means, now: Timestamp) -> Next {
        let Some(last) = requests.iter().rfind(|request| request.request_type.is_authorization()) else {
            let authenticate = self.next_to_authenticate(requests, means, now);
            return authenticate.unwrap_or_else(|| self.next_to_begin(requests, means));
        };
        match &last.outcome {
            // No authorization is accepted without instructions.
            Outcome::Open | Outcome::Accepted(_) | Outcome::Analysed(_) => Next::AwaitOutcome,
            Outcome::Pending(_) => match (expiry(last), &self.state) {
                (until, ChargeState::AwaitingPayer { .. }) if now >= until => Next::Expire,
                (until, _) => Next::AwaitPayer { by: last.provider_type, until },
            },
            Outcome::Approved(_) => self.next_after_approval(requests, last),
            Outcome::Declined(decline) | Outcome::NoEffect(decline) => {
                match self.after_refusal(requests, decline, means) {
                    Ok(hop) => Next::Authorize(hop),
                    Err(stopped) => Next::Finish(Finish::Failed { by: last.provider_type, stopped }),
                }
            }
        }
    }

    /// The provider to ask after this refusal, or why none is asked.
    fn after_refusal(
        &self,
        requests: &[TransactionRequest],
        decline: &Decline,
        means: Means,
    ) -> Result<Hop, Stopped> {
        match decline.refused_by {
            RefusedBy::Payer => return Err(Stopped::PayerRefused),
            RefusedBy::Provider if !decline.retryable => return Err(Stopped::NotRetryable),
            RefusedBy::Provider if self.may_still_be_paid(requests) => return Err(Stopped::StillPayable),
            RefusedBy::Provider => {}
        }
        match means {
            Means::Incomplete(stopped) => Err(stopped),
            Means::Complete { elapsed, budget } => match self.next_hop() {
                None => Err(Stopped::NoProviderLeft),
                Some(_) if elapsed >= budget => Err(Stopped::BudgetUsedUp),
                Some(hop) => Ok(hop),
            },
        }
    }

    /// Whether a payer has something to pay with: a code, a line or a page. It may be paid although its provider has refused or
    /// withdrawn it, so nobody else is asked for the money.
    pub(super) fn may_still_be_paid(&self, requests: &[TransactionRequest]) -> bool {
        match self.method.source() {
            PaymentSource::Payer(_) => requests.iter().any(|request| request.pending().is_some()),
            PaymentSource::Card(_) | PaymentSource::Wallet => false,
        }
    }

    /// The provider after the present one.
    pub fn next_hop(&self) -> Option<Hop> {
        routing::after(&self.explanation, self.position)
    }
}

/// The result of the open void that the provider has accepted, once it is known.
fn result_of_accepted<'a>(requests: &'a [TransactionRequest], open: &OpenOperation) -> Option<&'a Outcome> {
    let accepted = requests.iter().find(|request| request.ordinal == open.ordinal)?;
    let told = requests.iter().find(|request| request.follows == Some(accepted.id))?;
    Some(&told.outcome)
}

/// How an operation that was accepted ends with this result.
const fn end_of_accepted(result: &Outcome) -> Finish {
    match result {
        Outcome::Approved(_) => Finish::Settled,
        Outcome::Open
        | Outcome::Pending(_)
        | Outcome::Accepted(_)
        | Outcome::Declined(_)
        | Outcome::NoEffect(_)
        | Outcome::Analysed(_) => Finish::Withdrawn,
    }
}

/// When the instructions of a request expire.
pub fn expiry(request: &TransactionRequest) -> Timestamp {
    let said = request.pending().and_then(|pending| pending.expires_at);
    said.unwrap_or(request.updated_at + EXPIRES_AFTER)
}
