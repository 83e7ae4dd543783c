//! Plans one step of a charge: the charge after what [`Charge::next`] says, and the request that is sent next.

use super::attempt::{Asks, TransactionRequest};
use super::{
    Charge, ChargeEvent, ChargeStatus, Finish, Next, NotPending, PaymentSource, SecurityCode, Transition,
    approved_authorization,
};
use crate::id::TransactionRequestId;
use crate::time::Timestamp;

/// The next change of a charge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The charge after the step.
    pub charge: Charge,
    /// The event that the step announces.
    pub announces: Option<ChargeEvent>,
    /// The request that is sent next: to the next provider, to the provider of risk, the capture or void that a verdict
    /// leads to, or the void of an orphaned authorization.
    pub next: Option<TransactionRequest>,
}

impl Step {
    /// A step without a next request.
    fn of(Transition { charge, announces }: Transition) -> Self {
        Self { charge, announces, next: None }
    }
}

/// Why a step cannot be planned: the charge and its requests do not fit it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misstep {
    /// The outcome of a request came for a charge with this status.
    NotPending(ChargeStatus),
    /// No operation is open.
    NoOperation,
    /// The charge does not have the request that is to be voided, or whose outcome came.
    NoSuchRequest,
    /// Nobody analyses the charge.
    NotAnalysed,
    /// There is nothing to capture or void.
    NoReservation,
    /// A void came back without its end.
    NotEnded,
    /// A charge is authenticated first of all, by whoever creates it.
    UnderWay,
}

impl From<NotPending> for Misstep {
    fn from(NotPending(status): NotPending) -> Self {
        Self::NotPending(status)
    }
}

impl Charge {
    /// The step for `next`; `None` while the charge waits. `security_code` tells what a later provider needs, if the charge
    /// begins to wait for its payer. `new_id` makes the id of the request that is sent next.
    ///
    /// # Errors
    /// What [`Misstep`] says.
    pub fn step(
        &self,
        requests: &[TransactionRequest],
        next: Next,
        security_code: SecurityCode,
        new_id: &dyn Fn() -> TransactionRequestId,
        now: Timestamp,
    ) -> Result<Option<Step>, Misstep> {
        let step = match next {
            Next::Authorize(hop) => {
                let begun = self.try_next(requests, hop, now)?;
                let asks = begun.charge.authorization_at(hop);
                let request = begun.charge.begin_request(new_id(), asks, now);
                Step { next: Some(request), ..Step::of(begun) }
            }
            Next::AwaitPayer { by, .. } if !self.state.is_settled() => {
                Step::of(self.await_payer(by, security_code, now)?)
            }
            Next::Void { request } => {
                let taken = requests.iter().find(|earlier| earlier.id == request);
                let taken = taken.ok_or(Misstep::NoSuchRequest)?;
                let (begun, void) = self.void_orphan(new_id(), taken, now);
                Step { next: Some(void), ..Step::of(Transition { charge: begun, announces: None }) }
            }
            Next::Analyse => {
                let begun = self.begin_analysis(now)?;
                let asks = begun.analysis().ok_or(Misstep::NotAnalysed)?;
                let request = begun.begin_request(new_id(), asks, now);
                Step { next: Some(request), ..Step::of(Transition { charge: begun, announces: None }) }
            }
            Next::FollowUp { kind, at } => {
                let authorization = approved_authorization(requests).ok_or(Misstep::NoReservation)?;
                let (opened, open) = self.open_at_once(kind, at, now)?;
                let asks = Asks::about(authorization, kind.request_type(), open.amount);
                let request = opened.begin_request(new_id(), asks, now);
                Step { next: Some(request), ..Step::of(Transition { charge: opened, announces: None }) }
            }
            Next::AwaitResult => Step::of(self.accept(now).ok_or(Misstep::NoOperation)?),
            Next::Finish(finish) => Step::of(self.finished(finish, now)?),
            Next::Enroll => return Err(Misstep::UnderWay),
            // `take` writes the expiry, together with a request that reports it.
            Next::Expire | Next::AwaitPayer { .. } | Next::AwaitOutcome | Next::Rest => return Ok(None),
        };
        Ok(Some(step))
    }

    fn finished(&self, finish: Finish, now: Timestamp) -> Result<Transition, Misstep> {
        Ok(match finish {
            Finish::Approved { by, amount } => self.approve(by, amount, now)?,
            Finish::Failed { by, stopped } => self.fail(by, stopped, now)?,
            Finish::Settled => self.settle(now).ok_or(Misstep::NoOperation)?,
            Finish::Withdrawn => self.withdraw(now).ok_or(Misstep::NoOperation)?,
        })
    }

    /// Whether a later provider needs a security code, when it is not known any more whether the payer gave one: assumes
    /// that the payer of a card did.
    pub const fn assumed_security_code(&self) -> SecurityCode {
        match self.method.source() {
            PaymentSource::Card(_) => SecurityCode::Needed,
            PaymentSource::Payer(_) | PaymentSource::Wallet => SecurityCode::NotNeeded,
        }
    }
}
