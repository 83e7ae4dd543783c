//! Plans one step of a charge: converts the result of [`Charge::next`] into the records to write.

use regente_domain::charge::attempt::{Asks, TransactionRequest};
use regente_domain::charge::{
    Charge, ChargeEvent, Finish, Next, NotPending, SecurityCode, Transition, approved_authorization,
};
use regente_domain::time::Timestamp;
use regente_store::sealed::Sealed;

use crate::app::App;
use crate::error::Error;

/// The next change of a charge.
pub(super) struct Step {
    /// The charge after the step.
    pub charge: Charge,
    /// The event that the step announces.
    pub announces: Option<ChargeEvent>,
    /// The request that is sent next: to the next provider, to the provider of risk, the capture or void that a verdict
    /// leads to, or the void of an orphaned authorization.
    pub next: Option<TransactionRequest>,
    /// The security code that is held while the charge waits for its payer.
    pub security_code: Option<Sealed>,
}

impl Step {
    /// A step without a next request.
    pub(super) fn of(Transition { charge, announces }: Transition) -> Self {
        Self { charge, announces, next: None, security_code: None }
    }
}

/// The step for `next`; `None` while the charge waits. `security_code` tells what a later provider needs, if the charge
/// begins to wait for its payer.
pub(super) fn step(
    app: &App,
    charge: &Charge,
    requests: &[TransactionRequest],
    next: Next,
    security_code: SecurityCode,
) -> Result<Option<Step>, Error> {
    let now = app.clock.of(charge.client_id);
    let step = match next {
        Next::Authorize(hop) => {
            let begun = charge.try_next(requests, hop, now).map_err(not_pending)?;
            let asks = begun.charge.authorization_at(hop);
            let request = begun.charge.begin_request(app.chance.id(now), asks, now);
            Step { next: Some(request), ..Step::of(begun) }
        }
        Next::AwaitPayer { by, .. } if !charge.state.is_settled() => {
            Step::of(charge.await_payer(by, security_code, now).map_err(not_pending)?)
        }
        Next::Void { request } => {
            let Some(taken) = requests.iter().find(|earlier| earlier.id == request) else {
                return Err(Error::internal("a void of a request that the charge does not have"));
            };
            let (begun, void) = charge.void_orphan(app.chance.id(now), taken, now);
            Step { next: Some(void), ..Step::of(Transition { charge: begun, announces: None }) }
        }
        Next::Analyse => {
            let begun = charge.begin_analysis(now).map_err(not_pending)?;
            let Some(asks) = begun.analysis() else {
                return Err(Error::internal("an analysis of a charge that nobody analyses"));
            };
            let request = begun.begin_request(app.chance.id(now), asks, now);
            Step { next: Some(request), ..Step::of(Transition { charge: begun, announces: None }) }
        }
        Next::FollowUp { kind, at } => {
            let Some(authorization) = approved_authorization(requests) else {
                return Err(Error::internal("a verdict on a charge without a reservation"));
            };
            let (opened, open) = charge.open_at_once(kind, at, now).map_err(not_pending)?;
            let asks = Asks::about(authorization, kind.request_type(), open.amount);
            let request = opened.begin_request(app.chance.id(now), asks, now);
            Step { next: Some(request), ..Step::of(Transition { charge: opened, announces: None }) }
        }
        Next::AwaitResult => Step::of(charge.accept(now).ok_or_else(no_operation)?),
        Next::Finish(finish) => Step::of(finished(charge, finish, now)?),
        // A charge is authenticated first of all, by the flow that creates it.
        Next::Enroll => return Err(Error::internal("an authentication of a charge that is under way")),
        // `finding` writes the expiry, together with a request that reports it.
        Next::Expire | Next::AwaitPayer { .. } | Next::AwaitOutcome | Next::Rest => return Ok(None),
    };
    Ok(Some(step))
}

fn finished(charge: &Charge, finish: Finish, now: Timestamp) -> Result<Transition, Error> {
    match finish {
        Finish::Approved { by, amount } => charge.approve(by, amount, now).map_err(not_pending),
        Finish::Failed { by, stopped } => charge.fail(by, stopped, now).map_err(not_pending),
        Finish::Settled => charge.settle(now).ok_or_else(no_operation),
        Finish::Withdrawn => charge.withdraw(now).ok_or_else(no_operation),
    }
}

fn no_operation() -> Error {
    Error::internal("an outcome for a charge with no open operation")
}

fn not_pending(NotPending(status): NotPending) -> Error {
    Error::internal(format!("the outcome of a request came for a charge that is {}", status.word()))
}
