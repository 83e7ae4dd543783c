//! Decides what the outcome of an authorization makes of its charge, whenever it comes and however often: the reconcile job
//! asked for it, the provider sent a notification, or the call's answer came after another node had moved the charge.

use super::attempt::{Asks, Gone, Outcome, ToldBy, TransactionRequest, unpaid};
use super::step::{Misstep, Step};
use super::{Charge, ChargeState, Finish, Means, Next, PaymentSource};
use crate::id::TransactionRequestId;
use crate::routing::explanation::Stopped;
use crate::time::Timestamp;

/// The payer, and a security code if one is needed, are no longer available.
pub const BUYER_IS_GONE: Means = Means::Incomplete(Stopped::Interrupted);

/// What an outcome makes of a charge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The charge's requests with the outcome, oldest first.
    pub requests: Vec<TransactionRequest>,
    /// The request whose outcome is written.
    pub ended: Option<TransactionRequest>,
    /// The step that follows.
    pub step: Step,
    /// Whether the money came late and goes back.
    pub goes_back: Option<GoesBack>,
}

/// Why money that was found goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoesBack {
    /// A payer has paid what is not asked of them any more.
    PaidAgain,
    /// An authorization was approved after its charge had gone on without it.
    Orphan,
}

/// Makes ids of requests.
pub type NewId<'a> = &'a dyn Fn() -> TransactionRequestId;

impl Charge {
    /// Whether `found` ends the wait for a payer, and another provider may be asked at once if the caller has the means.
    pub fn may_ask_on(&self, requests: &[TransactionRequest], found: &TransactionRequest) -> bool {
        if !self.awaits(requests, found) || found.pending().is_some() {
            return false;
        }
        match found.decline() {
            Some(decline) => decline.retryable && !self.may_still_be_paid(requests),
            None => found.request_type.is_authentication(),
        }
    }

    /// What `found`, a request with its outcome, makes of the charge; `None` when there is nothing to write. `requests` are
    /// the stored ones, oldest first.
    ///
    /// # Errors
    /// What [`Misstep`] says.
    pub fn take(
        &self,
        mut requests: Vec<TransactionRequest>,
        found: &TransactionRequest,
        means: Means,
        new_id: NewId<'_>,
        now: Timestamp,
    ) -> Result<Option<Taken>, Misstep> {
        let at = requests.iter().position(|request| request.id == found.id);
        let at = at.ok_or(Misstep::NoSuchRequest)?;
        if self.awaits(&requests, found) {
            return self.after_payer(requests, found, means, new_id, now);
        }
        match (&self.state, &requests[at].outcome) {
            (ChargeState::Processing, Outcome::Open) => {
                requests[at] = found.clone();
                let next = self.next(&requests, means, now);
                self.taken(requests, Some(at), next, new_id, now)
            }
            (
                ChargeState::Processing
                | ChargeState::AwaitingPayer { .. }
                | ChargeState::PreAuthorized { .. }
                | ChargeState::CapturePending { .. }
                | ChargeState::Authorized { .. }
                | ChargeState::RefundPending { .. }
                | ChargeState::RefundAccepted { .. }
                | ChargeState::Failed { .. }
                | ChargeState::Canceled { .. }
                | ChargeState::Voided { .. }
                | ChargeState::ChargedBack { .. },
                _,
            ) => self.late(requests, found, new_id, now),
        }
    }

    /// Ends the wait for the payer of `awaited`.
    ///
    /// # Errors
    /// What [`Misstep`] says.
    pub fn without_payer(
        &self,
        requests: Vec<TransactionRequest>,
        awaited: &TransactionRequest,
        gone: Gone,
        new_id: NewId<'_>,
        now: Timestamp,
    ) -> Result<Option<Taken>, Misstep> {
        let stopped = match (awaited.request_type.is_authentication(), gone) {
            (true, Gone::Expired | Gone::Withdrawn) => Stopped::NotAuthenticated,
            (false, Gone::Expired) => Stopped::Expired,
            (false, Gone::Withdrawn) => Stopped::Withdrawn,
        };
        let finish = Finish::Failed { by: awaited.provider_type, stopped };
        let ended = TransactionRequest {
            outcome: Outcome::Declined(unpaid(awaited, gone)),
            told_by: Some(ToldBy::Nobody),
            authenticated: awaited.authenticated.as_deref().map(|known| Box::new(known.not_completed())),
            ..awaited.clone()
        };
        self.tell(requests, &ended, |_, _| Next::Finish(finish), new_id, now)
    }

    /// Whether the charge waits for the payer of `found`.
    fn awaits(&self, requests: &[TransactionRequest], found: &TransactionRequest) -> bool {
        let Some(at) = requests.iter().position(|request| request.id == found.id) else { return false };
        matches!(self.state, ChargeState::AwaitingPayer { .. })
            && requests[at].pending().is_some()
            && requests.iter().skip(at + 1).all(|later| !later.request_type.is_authorization())
    }

    /// The outcome of a request that waited for its payer.
    fn after_payer(
        &self,
        requests: Vec<TransactionRequest>,
        found: &TransactionRequest,
        means: Means,
        new_id: NewId<'_>,
        now: Timestamp,
    ) -> Result<Option<Taken>, Misstep> {
        if let Outcome::Pending(_) = found.outcome {
            return match self.next(&requests, BUYER_IS_GONE, now) {
                Next::Expire => self.without_payer(requests, found, Gone::Expired, new_id, now),
                Next::Enroll
                | Next::Authorize(_)
                | Next::Analyse
                | Next::FollowUp { .. }
                | Next::AwaitOutcome
                | Next::AwaitPayer { .. }
                | Next::Void { .. }
                | Next::AwaitResult
                | Next::Finish(_)
                | Next::Rest => Ok(None),
            };
        }
        self.tell(requests, found, |charge, requests| charge.next(requests, means, now), new_id, now)
    }

    /// A late outcome: the charge has continued without it.
    fn late(
        &self,
        mut requests: Vec<TransactionRequest>,
        found: &TransactionRequest,
        new_id: NewId<'_>,
        now: Timestamp,
    ) -> Result<Option<Taken>, Misstep> {
        let back = |goes_back| move |taken| Taken { goes_back: Some(goes_back), ..taken };
        match self.next_after_late(&requests, found) {
            // Without its id another payment would be given back.
            Next::Void { .. }
                if self.is_further_payment(&requests, found) && found.transaction_id().is_none() =>
            {
                Ok(None)
            }
            Next::Void { .. } if self.is_further_payment(&requests, found) => {
                let void = |_: &Self, requests: &[TransactionRequest]| {
                    requests.last().map_or(Next::Rest, |told| Next::Void { request: told.id })
                };
                let taken = self.tell(requests, found, void, new_id, now)?;
                Ok(taken.map(back(GoesBack::PaidAgain)))
            }
            next @ Next::Void { .. } => {
                // The approval has the provider's id of what is voided.
                if let Some(stored) = requests.iter_mut().find(|stored| stored.id == found.id) {
                    stored.outcome = with_reference(found.outcome.clone(), stored);
                }
                let taken = self.taken(requests, None, next, new_id, now)?;
                Ok(taken.map(back(GoesBack::Orphan)))
            }
            next @ Next::Finish(_) => self.tell(requests, found, |_, _| next, new_id, now),
            Next::Enroll
            | Next::Authorize(_)
            | Next::Analyse
            | Next::FollowUp { .. }
            | Next::AwaitOutcome
            | Next::AwaitPayer { .. }
            | Next::AwaitResult
            | Next::Expire
            | Next::Rest => Ok(None),
        }
    }

    /// Adds the request that reports the outcome of one that waited for its payer: `found` is the latter with the outcome.
    fn tell(
        &self,
        mut requests: Vec<TransactionRequest>,
        found: &TransactionRequest,
        next: impl FnOnce(&Self, &[TransactionRequest]) -> Next,
        new_id: NewId<'_>,
        now: Timestamp,
    ) -> Result<Option<Taken>, Misstep> {
        let charge = self.clone().with_one_more_request();
        let asks = Asks::about(found, found.request_type.told_as(), found.amount);
        let told = charge.begin_request(new_id(), asks, now);
        let awaited = requests.iter().find(|request| request.id == found.id).unwrap_or(found);
        let outcome = with_reference(found.outcome.clone(), awaited);
        let (authenticated, occurred_at, told_by) =
            (found.authenticated.clone(), found.occurred_at, found.told_by);
        requests.push(TransactionRequest { outcome, authenticated, occurred_at, told_by, ..told });
        let (next, at) = (next(&charge, &requests), requests.len() - 1);
        charge.taken(requests, Some(at), next, new_id, now)
    }

    /// The plan to write `next` and the outcome of the request at `ended`; all requests are counted.
    fn taken(
        &self,
        requests: Vec<TransactionRequest>,
        ended: Option<usize>,
        next: Next,
        new_id: NewId<'_>,
        now: Timestamp,
    ) -> Result<Option<Taken>, Misstep> {
        let step = self.step(&requests, next, self.assumed_security_code(), new_id, now)?;
        let ended = ended.and_then(|at| requests.get(at).cloned());
        Ok(step.map(|step| Taken { requests, ended, step, goes_back: None }))
    }

    /// Whether `found` is a payment of instructions that have ended otherwise: they were paid already, or withdrawn. Of
    /// instructions that were paid before they were known the request is approved itself.
    fn is_further_payment(&self, requests: &[TransactionRequest], found: &TransactionRequest) -> bool {
        let stored = requests.iter().find(|request| request.id == found.id);
        match self.method.source() {
            PaymentSource::Card(_) | PaymentSource::Wallet => false,
            PaymentSource::Payer(_) => stored.is_some_and(|stored| {
                stored.pending().is_some() || matches!(stored.outcome, Outcome::Approved(_))
            }),
        }
    }
}

/// Adds the ids of the provider and of the card network to an approval; they may have been given only with the
/// instructions.
fn with_reference(outcome: Outcome, awaited: &TransactionRequest) -> Outcome {
    match outcome {
        Outcome::Approved(mut approval) => {
            let given = || awaited.transaction_id().map(str::to_owned);
            approval.transaction_id = approval.transaction_id.or_else(given);
            let named = || awaited.reference().and_then(|known| known.network_transaction_id.clone());
            approval.network_transaction_id = approval.network_transaction_id.or_else(named);
            Outcome::Approved(approval)
        }
        Outcome::Open
        | Outcome::Pending(_)
        | Outcome::Accepted(_)
        | Outcome::Declined(_)
        | Outcome::NoEffect(_)
        | Outcome::Analysed(_) => outcome,
    }
}
