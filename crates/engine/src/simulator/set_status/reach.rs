//! What a status takes at the simulator, step by step.

use regente_domain::actor::Actor;
use regente_domain::charge::attempt::{Outcome, TransactionRequest, never_arrived};
use regente_domain::charge::{self, Charge, FollowUpKind, SimulatedStatus, Staging};
use regente_domain::id::{ChargeId, ClientId};
use regente_providers::staged::{StageRefusal, Staged, StagedEvent};
use regente_store::charges;

use super::{refused, under_way};
use crate::app::App;
use crate::captures_and_voids::{self, NewFollowUp};
use crate::charges::late_answer;
use crate::charges::stored::{self, Ran, provider_of};
use crate::disputes;
use crate::error::Error;
use crate::purchases::operations::card_is_free;
use crate::transaction_requests::call::{self, LookUp, SimulatorOverrides};

/// The longest way to a status: a payment or a capture, a void, its result, and the look at what was reached.
const STEPS_MAX: usize = 4;

/// How a charge got its status.
pub(super) enum Reached {
    /// By what happened at the provider.
    AtProvider(Box<Ran>),
    /// Not yet: nothing happens at a provider on the way.
    ByHand,
}

/// Whether a step has happened at the simulator.
enum Step {
    Happened,
    /// Nothing waits for it there: it was set by hand before, or something else happened there first.
    NothingWaits,
    /// The provider is no simulator.
    NoSimulator,
}

/// Brings a charge to a status. An earlier try began when the charge had the version `begun`.
///
/// # Errors
/// Why the status cannot be set; [`Error::Processing`] when others change the charge meanwhile.
pub(super) async fn reach(
    app: &App,
    (client_id, id): (ClientId, ChargeId),
    status: SimulatedStatus,
    begun: Option<i64>,
    actor: &Actor,
) -> Result<Reached, Error> {
    let mut before = match begun {
        Some(version) => happened_since(app, client_id, id, version).await?,
        None => None,
    };
    for _ in 0..STEPS_MAX {
        let ran = read(app, client_id, id).await?;
        let staging = ran.charge.stage(status, before).map_err(refused)?;
        let stepped = match staging {
            Staging::Reached => return Ok(Reached::AtProvider(Box::new(ran))),
            Staging::ByHand => return Ok(Reached::ByHand),
            // What was set by hand is not at the provider, and what follows it is set by hand too.
            Staging::Capture | Staging::Void | Staging::ChargeBack | Staging::TakenBack
                if !is_at_provider(&ran.requests) =>
            {
                return Ok(Reached::ByHand);
            }
            Staging::Payment => instructed(app, &ran, Staged::Payment { amount: None }, actor).await,
            Staging::Withdrawal => instructed(app, &ran, Staged::Withdrawal, actor).await,
            Staging::TakenBack => instructed(app, &ran, Staged::TakenBack, actor).await,
            Staging::Refund => accepted(app, &ran, Staged::Refund, actor).await,
            Staging::RefundRefusal => accepted(app, &ran, Staged::RefundRefusal, actor).await,
            Staging::Capture => follow_up(app, &ran.charge, FollowUpKind::Capture, actor).await,
            Staging::Void => follow_up(app, &ran.charge, FollowUpKind::Void, actor).await,
            Staging::ChargeBack => charged_back(app, &ran, actor).await,
        };
        let stepped = match stepped {
            Ok(Step::NothingWaits) => catch_up(app, &ran, actor).await.map(|()| Step::NothingWaits),
            stepped => stepped,
        };
        let version = ran.charge.version;
        let is_moved = async || Ok::<_, Error>(read(app, client_id, id).await?.charge.version != version);
        match stepped {
            Ok(Step::Happened) => before = Some(staging),
            // Something else happened first, and the charge shows it now: what follows is decided anew.
            Ok(Step::NothingWaits) if is_moved().await? => {}
            Ok(Step::NothingWaits) if can_be_set(staging) => return Ok(Reached::ByHand),
            Ok(Step::NothingWaits) => return Err(under_way(&ran.charge)),
            Ok(Step::NoSimulator) if can_be_set(staging) => return Ok(Reached::ByHand),
            Ok(Step::NoSimulator) => return Err(Error::impossible("charge is not at a simulator")),
            Err(Error::Unavailable { cause: None, .. }) if is_moved().await? => {
                return Err(under_way(&ran.charge));
            }
            Err(error) => return Err(error),
        }
    }
    Err(under_way(&read(app, client_id, id).await?.charge))
}

/// Whether a tester sets by hand what does not happen at the simulator.
const fn can_be_set(staging: Staging) -> bool {
    match staging {
        Staging::ChargeBack | Staging::TakenBack => true,
        Staging::Reached
        | Staging::ByHand
        | Staging::Payment
        | Staging::Withdrawal
        | Staging::Capture
        | Staging::Void
        | Staging::Refund
        | Staging::RefundRefusal => false,
    }
}

async fn read(app: &App, client_id: ClientId, id: ChargeId) -> Result<Ran, Error> {
    stored::find(app, client_id, id).await?.ok_or(Error::NotFound)
}

/// The charge learns what has happened at the simulator to its payment: another status may have been set at the same moment.
async fn catch_up(app: &App, Ran { charge, requests }: &Ran, actor: &Actor) -> Result<(), Error> {
    let instructed = requests.iter().rfind(|request| request.pending().is_some());
    let Some(request) = instructed.or_else(|| charge::approved_authorization(requests)) else {
        return Ok(());
    };
    let found = find_out(app, charge, request).await?;
    let reversals = found.reversals.clone();
    late_answer::take_all(app, request, found, actor).await?;
    disputes::apply_all(app, request, &reversals, actor).await
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
    Ran { charge, requests }: &Ran,
    what: Staged,
    actor: &Actor,
) -> Result<Step, Error> {
    let Some(request) = requests.iter().rfind(|request| request.pending().is_some()) else {
        return Err(Error::internal("a charge that waits for its payer without instructions"));
    };
    let found = match happens(app, charge, request, what).await? {
        Ok(found) => found,
        Err(not) => return Ok(not),
    };
    late_answer::take_all(app, request, found, actor).await?;
    Ok(Step::Happened)
}

/// What happens to the void that the provider has accepted.
async fn accepted(
    app: &App,
    Ran { charge, requests }: &Ran,
    what: Staged,
    actor: &Actor,
) -> Result<Step, Error> {
    let Some(request) = requests.iter().find(|request| charge.has_open(request)) else {
        return Err(Error::internal("a refund under way without its request"));
    };
    let found = match happens(app, charge, request, what).await? {
        Ok(found) => found,
        Err(not) => return Ok(not),
    };
    match found.outcome {
        Outcome::Approved(_) | Outcome::Declined(_) => {
            captures_and_voids::report(app, request, found, actor).await.map(|()| Step::Happened)
        }
        Outcome::Open
        | Outcome::Pending(_)
        | Outcome::Accepted(_)
        | Outcome::NoEffect(_)
        | Outcome::Analysed(_) => Err(Error::busy()),
    }
}

/// The payer's bank takes the payment back.
async fn charged_back(app: &App, Ran { charge, requests }: &Ran, actor: &Actor) -> Result<Step, Error> {
    let Some(taken) = charge::approved_authorization(requests) else { return Ok(Step::NothingWaits) };
    let found = match happens(app, charge, taken, Staged::ChargedBack).await? {
        Ok(found) => found,
        Err(not) => return Ok(not),
    };
    disputes::apply_all(app, taken, &found.reversals, actor).await?;
    Ok(Step::Happened)
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
) -> Result<Result<call::ProviderReport, Step>, Error> {
    let event = StagedEvent { key: request.provider_key(), at: app.clock.of(request.client_id), what };
    match app.providers.stage(request.provider_type, event).await {
        Ok(()) => find_out(app, charge, request).await.map(Ok),
        Err(StageRefusal::NothingWaits) => Ok(Err(Step::NothingWaits)),
        Err(StageRefusal::NoSimulator) => Ok(Err(Step::NoSimulator)),
        Err(StageRefusal::Unanswered) => Err(Error::busy()),
    }
}

async fn find_out(
    app: &App,
    charge: &Charge,
    request: &TransactionRequest,
) -> Result<call::ProviderReport, Error> {
    let provider = provider_of(app, request).await?;
    let overrides = SimulatorOverrides::of(app, charge, None);
    let found = call::find_out(app, &provider, request, &overrides, LookUp::PROBE, never_arrived()).await?;
    match found.outcome {
        Outcome::Open | Outcome::Analysed(_) => Err(Error::busy()),
        Outcome::Pending(_)
        | Outcome::Accepted(_)
        | Outcome::Approved(_)
        | Outcome::Declined(_)
        | Outcome::NoEffect(_) => Ok(found),
    }
}

async fn follow_up(
    app: &App,
    charge: &Charge,
    operation: FollowUpKind,
    actor: &Actor,
) -> Result<Step, Error> {
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
    app.in_flight.run(captures_and_voids::create(app.clone(), new)).await?;
    Ok(Step::Happened)
}
