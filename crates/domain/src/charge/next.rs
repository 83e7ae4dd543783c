//! What is to be done next about a charge, from what it is and what its requests are: a pure function, asked again after
//! every answer. The caller's request does what can be done at once, a job the rest; both ask here.

use std::time::Duration;

use crate::decline::Decline;
use crate::id::TransactionRequestId;
use crate::provider_type::ProviderType;
use crate::routing::{self, Hop};
use crate::time::Timestamp;

use super::attempt::{Outcome, TransactionRequest};
use super::explanation::Stopped;
use super::{Charge, ChargeState};

/// How long a payer has where the provider does not say.
pub const EXPIRES_AFTER: Duration = Duration::from_secs(15 * 60);

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Ask this provider to authorize.
    Authorize(Hop),
    /// A request has been sent, and its outcome decides: whoever sent it, or the reconcile job, finds it out.
    AwaitOutcome,
    /// The payer has been given something to do, and what he does decides. The provider is asked about it from time to
    /// time, and may tell by itself.
    AwaitPayer {
        /// The provider that waits.
        by: ProviderType,
        /// When the instructions expire.
        until: Timestamp,
    },
    /// The payer did not pay in time: the charge ends, unless the provider says otherwise.
    Expire,
    /// A provider took what the charge has ended without: undo that request.
    Void {
        /// The request.
        request: TransactionRequestId,
    },
    /// What was under way is known: write down what it makes of the charge.
    Finish(Finish),
    /// Nothing is under way.
    Rest,
}

/// What an outcome makes of a charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// This provider took it.
    Approved {
        /// Which.
        by: ProviderType,
    },
    /// No provider takes it.
    Failed {
        /// The provider that refused last.
        by: ProviderType,
        /// Why nobody else is asked.
        stopped: Stopped,
    },
    /// The capture or void that was open was done.
    Settled,
    /// The capture or void that was open was refused.
    Withdrawn,
}

/// What whoever carries a charge on has for another authorization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// All that it needs. None is begun once the time is used up.
    Complete {
        /// How long it was tried without waiting for the payer.
        elapsed: Duration,
        /// How long it may be tried.
        budget: Duration,
    },
    /// Not all: the buyer, or his security code, is gone. The charge ends for this reason after a refusal that another
    /// provider could have made good.
    Incomplete(Stopped),
}

impl Charge {
    /// What is to be done next. `requests` are those of the charge, oldest first, the last with an outcome that need not
    /// be written yet.
    pub fn next(&self, requests: &[TransactionRequest], means: Means, now: Timestamp) -> Next {
        match &self.state {
            ChargeState::Processing | ChargeState::AwaitingPayer { .. } => {
                self.next_to_authorize(requests, means, now)
            }
            ChargeState::CapturePending { open, .. } | ChargeState::RefundPending { open, .. } => {
                let request = requests.iter().find(|request| request.ordinal == open.ordinal);
                match request.map(|request| &request.outcome) {
                    None | Some(Outcome::Open | Outcome::Pending(_)) => Next::AwaitOutcome,
                    Some(Outcome::Approved(_)) => Next::Finish(Finish::Settled),
                    Some(Outcome::Declined(_) | Outcome::NoEffect(_)) => Next::Finish(Finish::Withdrawn),
                }
            }
            ChargeState::PreAuthorized { .. }
            | ChargeState::Authorized { .. }
            | ChargeState::Failed { .. }
            | ChargeState::Canceled { .. }
            | ChargeState::Voided { .. }
            | ChargeState::ChargedBack { .. } => Next::Rest,
        }
    }

    /// What precedes an authorization, such as an analysis of its risk or an authentication of the payer, is a step of its
    /// own before the first one here. Its requests are no authorizations and do not move the charge along its route.
    fn next_to_authorize(&self, requests: &[TransactionRequest], means: Means, now: Timestamp) -> Next {
        let Some(last) = requests.iter().rfind(|request| request.request_type.is_authorization()) else {
            return match routing::at(&self.explanation, self.position) {
                Some(hop) => Next::Authorize(hop),
                None => Next::Rest,
            };
        };
        match &last.outcome {
            Outcome::Open => Next::AwaitOutcome,
            Outcome::Pending(_) => match (expiry(last), &self.state) {
                (until, ChargeState::AwaitingPayer { .. }) if now >= until => Next::Expire,
                (until, _) => Next::AwaitPayer { by: last.provider_type, until },
            },
            Outcome::Approved(_) => Next::Finish(Finish::Approved { by: last.provider_type }),
            Outcome::Declined(decline) | Outcome::NoEffect(decline) => {
                match self.after_refusal(decline, means) {
                    Ok(hop) => Next::Authorize(hop),
                    Err(stopped) => Next::Finish(Finish::Failed { by: last.provider_type, stopped }),
                }
            }
        }
    }

    /// The provider that is asked after this refusal, or why nobody is.
    fn after_refusal(&self, decline: &Decline, means: Means) -> Result<Hop, Stopped> {
        if !decline.retryable {
            return Err(Stopped::NotRetryable);
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

    /// The provider that would be asked after the present one.
    pub fn next_hop(&self) -> Option<Hop> {
        routing::after(&self.explanation, self.position)
    }
}

/// When the instructions that a request has issued expire.
pub fn expiry(request: &TransactionRequest) -> Timestamp {
    let said = request.pending().and_then(|pending| pending.expires_at);
    said.unwrap_or(request.updated_at + EXPIRES_AFTER)
}
