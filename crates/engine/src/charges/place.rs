//! Carries out an order.

use regente_domain::actor::Actor;
use regente_store::Admission;

use super::coming_back;
use super::guard::{CardTriedObserver, Guard};
use super::order::{ChargeOrder, PlacedBy};
use super::resolve::{Intent, resolve};
use crate::app::App;
use crate::calls::in_flight::Task;
use crate::charges::create::{Created, create};
use crate::error::Error;
use crate::idempotency::{Claim, Claimed, Finished, Plan, unless_overtaken};
use crate::queue::Kind;
use crate::sessions;

/// Places an order: resolves what it names, writes the intent, calls the providers, and answers with the charge, or with the
/// earlier answer to its key. From the intent on it runs in a task of its own, to its end, even when nobody waits any more.
/// `admission` is its place in the store, which it keeps until the outcome is written.
///
/// # Errors
/// Why the order is refused: then nothing was written, except that a payer who was not a customer yet may be one now. Or
/// what `guard` says.
pub fn place<G: Guard>(
    app: App,
    order: ChargeOrder,
    by: PlacedBy,
    admission: Admission,
    guard: G,
) -> impl Future<Output = Result<Created, G::Error>> + Send {
    // Boxed: while a provider is called, nothing is held that only the beginning needs.
    let beginning = Box::pin(begin(app, order, by, admission, guard));
    async {
        match beginning.await? {
            Begun::Answered(finished) => Ok(Created::Answered(finished)),
            Begun::Running(task) => Ok(task.await?),
        }
    }
}

/// An order that was resolved.
enum Begun {
    /// Its key was answered before.
    Answered(Finished),
    /// Its charge is being made.
    Running(Task<Created>),
}

async fn begin<G: Guard>(
    app: App,
    order: ChargeOrder,
    by: PlacedBy,
    admission: Admission,
    guard: G,
) -> Result<Begun, G::Error> {
    let claim = match claim_of(&app, &by).await? {
        None => None,
        Some(Claimed::Free(claim)) => Some(claim),
        Some(Claimed::Answered(finished)) => return Ok(Begun::Answered(finished)),
    };
    let pays_session = order.origin.session().is_some();
    let resolved = async {
        if let Some(session) = order.origin.session() {
            sessions::must_take(session, order.paid_by.payment_type(), app.clock.of(by.client_id()))?;
        }
        coming_back::must_be_registered(&app, &by, &order).await?;
        if let Some(session) = order.origin.session() {
            guard.lets_pay(session).await?;
        }
        Ok::<_, G::Error>(resolve(&app, order, &by, claim.clone(), Intent::Place).await?)
    };
    let new = match unless_overtaken(&app, claim.as_ref(), resolved.await).await? {
        Plan::Own(new) => Box::new(new),
        Plan::Overtaken(finished) => return Ok(Begun::Answered(finished)),
    };
    let heard = match new.source.card() {
        Some(card) => guard.lets_try(card)?,
        None => None,
    };
    let making = create(app.clone(), new, admission);
    // A charge of which nobody hears holds no memory for that.
    let task = match (pays_session, heard) {
        (true, heard) => app.in_flight.run(counted(app.clone(), heard, making)),
        (false, Some(heard)) => app.in_flight.run(heard_of(heard, making)),
        (false, None) => app.in_flight.run(making),
    };
    Ok(Begun::Running(task))
}

async fn claim_of(app: &App, by: &PlacedBy) -> Result<Option<Claimed>, Error> {
    match by {
        PlacedBy::Request(requester) => match &requester.key {
            Some(key) => Claim::presume_new(app, &key.of(&requester.caller)).await.map(Some),
            None => Ok(None),
        },
        PlacedBy::Job { .. } => Ok(None),
    }
}

/// Tells what became of the charge. It does so within the task: also of a charge whose caller has hung up.
async fn heard_of(
    heard: CardTriedObserver,
    making: impl Future<Output = Result<Created, Error>>,
) -> Result<Created, Error> {
    let created = making.await;
    if let Ok(Created::Ran(ran)) = &created {
        heard(&ran.requests);
    }
    created
}

/// Counts the charge in its session before its caller is answered. Should this fail, the job counts it.
async fn counted(
    app: App,
    heard: Option<CardTriedObserver>,
    making: impl Future<Output = Result<Created, Error>>,
) -> Result<Created, Error> {
    let created = match heard {
        Some(heard) => heard_of(heard, making).await,
        None => making.await,
    };
    if let Ok(Created::Ran(ran)) = &created {
        let (client_id, charge_id) = (ran.charge.client_id, ran.charge.id);
        let actor = Actor::Job(Kind::CountPayment.word());
        if let Err(error) = sessions::count(&app, client_id, charge_id, &actor).await {
            tracing::warn!(charge = %charge_id, error = ?error, "a charge is left for the job that counts it");
        }
    }
    created
}
