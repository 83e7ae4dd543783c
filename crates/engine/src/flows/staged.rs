//! A tester sets the status of a charge (`docs/interface/sandbox.md#status`): it happens at the simulator, whose books then
//! agree, and the charge learns of it as of anything else that happens there.

use regente_domain::actor::Actor;
use regente_domain::charge::attempt::{Outcome, TransactionRequest, never_arrived};
use regente_domain::charge::{self, Charge, FollowUpKind, SimulatedStatus, Staging, StatusRefusal};
use regente_domain::id::{ChargeId, ClientId};
use regente_providers::staged::{StageRefusal, Staged, StagedEvent};
use regente_store::charges;

use super::attempt::{self, LookUp, SimulatorOverrides};
use super::follow_up::{self, NewFollowUp};
use super::purchase::operations::card_is_free;
use super::stored::{self, Ran, provider_of};
use super::{finding, reversal};
use crate::app::App;
use crate::error::Error;

/// The longest way to a status: a payment or a capture, a void, its result, and the look at what was reached.
const STEPS_MAX: usize = 4;

/// How a charge got its status.
pub enum Reached {
    /// By what happened at the provider.
    AtProvider(Box<Ran>),
    /// Not yet: nothing happens at a provider on the way.
    ByHand,
}

/// Brings a charge to a status. An earlier try began when the charge had the version `begun`.
///
/// # Errors
/// What `refused` makes of a [`StatusRefusal`].
pub async fn reach(
    app: &App,
    (client_id, id): (ClientId, ChargeId),
    status: SimulatedStatus,
    begun: Option<i64>,
    actor: &Actor,
    refused: impl Fn(StatusRefusal) -> Error,
) -> Result<Reached, Error> {
    let mut before = match begun {
        Some(version) => happened_since(app, client_id, id, version).await?,
        None => None,
    };
    for _ in 0..STEPS_MAX {
        let found = stored::find(app, client_id, id).await?;
        let Ran { charge, requests } = found.ok_or(Error::NotFound)?;
        let staging = charge.stage(status, before).map_err(&refused)?;
        match staging {
            Staging::Reached => return Ok(Reached::AtProvider(Box::new(Ran { charge, requests }))),
            Staging::ByHand => return Ok(Reached::ByHand),
            // What was set by hand is not at the provider, and what follows it is set by hand too.
            Staging::Capture | Staging::Void | Staging::ChargeBack | Staging::TakenBack
                if !is_at_provider(&requests) =>
            {
                return Ok(Reached::ByHand);
            }
            Staging::Payment => {
                instructed(app, &charge, &requests, Staged::Payment { amount: None }, actor).await?
            }
            Staging::Withdrawal => instructed(app, &charge, &requests, Staged::Withdrawal, actor).await?,
            Staging::TakenBack => instructed(app, &charge, &requests, Staged::TakenBack, actor).await?,
            Staging::Refund => accepted(app, &charge, &requests, Staged::Refund, actor).await?,
            Staging::RefundRefusal => accepted(app, &charge, &requests, Staged::RefundRefusal, actor).await?,
            Staging::Capture => follow_up(app, &charge, FollowUpKind::Capture, actor).await?,
            Staging::Void => follow_up(app, &charge, FollowUpKind::Void, actor).await?,
            Staging::ChargeBack => {
                if !taken_back(app, &charge, &requests, actor).await? {
                    return Ok(Reached::ByHand);
                }
            }
        }
        before = Some(staging);
    }
    Err(Error::busy())
}

/// What has happened last since the charge had this version.
async fn happened_since(
    app: &App,
    client_id: ClientId,
    id: ChargeId,
    version: i64,
) -> Result<Option<Staging>, Error> {
    let then = charges::find_version(&app.store, client_id, id, version).await?;
    let Some(known) = then.map(|then| then.charge.requests) else { return Ok(None) };
    let Ran { requests, .. } = stored::find(app, client_id, id).await?.ok_or(Error::NotFound)?;
    Ok(Staging::last_of(&requests, known))
}

/// What happens to the instructions that the payer has.
async fn instructed(
    app: &App,
    charge: &Charge,
    requests: &[TransactionRequest],
    what: Staged,
    actor: &Actor,
) -> Result<(), Error> {
    let Some(request) = requests.iter().rfind(|request| request.pending().is_some()) else {
        return Err(Error::internal("a charge that waits for its payer without instructions"));
    };
    let found = happens(app, charge, request, what).await?;
    finding::take_all(app, request, found, actor).await
}

/// What happens to the void that the provider has accepted.
async fn accepted(
    app: &App,
    charge: &Charge,
    requests: &[TransactionRequest],
    what: Staged,
    actor: &Actor,
) -> Result<(), Error> {
    let Some(request) = requests.iter().find(|request| charge.has_open(request)) else {
        return Err(Error::internal("a refund under way without its request"));
    };
    let found = happens(app, charge, request, what).await?;
    match found.outcome {
        Outcome::Approved(_) | Outcome::Declined(_) => follow_up::report(app, request, found, actor).await,
        Outcome::Open
        | Outcome::Pending(_)
        | Outcome::Accepted(_)
        | Outcome::NoEffect(_)
        | Outcome::Analysed(_) => Err(Error::busy()),
    }
}

/// The payer's bank takes the payment back; whether the provider has any money to take.
async fn taken_back(
    app: &App,
    charge: &Charge,
    requests: &[TransactionRequest],
    actor: &Actor,
) -> Result<bool, Error> {
    let Some(taken) = charge::approved_authorization(requests) else { return Ok(false) };
    match stage(app, taken, Staged::ChargedBack).await {
        Ok(()) => {}
        Err(StageRefusal::NoSimulator | StageRefusal::NothingWaits) => return Ok(false),
        Err(refusal @ StageRefusal::Unanswered) => return Err(not_staged(refusal)),
    }
    let found = find_out(app, charge, taken).await?;
    reversal::apply_all(app, taken, &found.reversals, actor).await?;
    Ok(true)
}

/// Whether the payment has an id at its provider.
fn is_at_provider(requests: &[TransactionRequest]) -> bool {
    charge::approved_authorization(requests).is_some_and(|taken| taken.transaction_id().is_some())
}

/// Stages it at the provider, and asks the provider what has become of the request.
async fn happens(
    app: &App,
    charge: &Charge,
    request: &TransactionRequest,
    what: Staged,
) -> Result<attempt::Found, Error> {
    stage(app, request, what).await.map_err(not_staged)?;
    find_out(app, charge, request).await
}

async fn stage(app: &App, request: &TransactionRequest, what: Staged) -> Result<(), StageRefusal> {
    let event = StagedEvent { key: request.provider_key(), at: app.clock.of(request.client_id), what };
    app.providers.stage(request.provider_type, event).await
}

async fn find_out(app: &App, charge: &Charge, request: &TransactionRequest) -> Result<attempt::Found, Error> {
    let provider = provider_of(app, request).await?;
    let overrides = SimulatorOverrides::of(app, charge, None);
    let found =
        attempt::find_out(app, &provider, request, &overrides, LookUp::PROBE, never_arrived()).await?;
    match found.outcome {
        Outcome::Open | Outcome::Analysed(_) => Err(Error::busy()),
        Outcome::Pending(_)
        | Outcome::Accepted(_)
        | Outcome::Approved(_)
        | Outcome::Declined(_)
        | Outcome::NoEffect(_) => Ok(found),
    }
}

async fn follow_up(app: &App, charge: &Charge, operation: FollowUpKind, actor: &Actor) -> Result<(), Error> {
    let purchase = card_is_free(app, charge, None).await?;
    let new = NewFollowUp {
        client_id: charge.client_id,
        charge_id: charge.id,
        operation,
        amount: None,
        delay_to_compose: None,
        returns: Vec::new(),
        purchase,
        claim: None,
        actor: *actor,
        seed: None,
    };
    app.in_flight.run(follow_up::create(app.clone(), new)).await.map(drop)
}

fn not_staged(refusal: StageRefusal) -> Error {
    match refusal {
        StageRefusal::NoSimulator => Error::impossible("charge is not at a simulator".to_owned()),
        StageRefusal::NothingWaits | StageRefusal::Unanswered => Error::busy(),
    }
}
