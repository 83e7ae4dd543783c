//! Writes what an authorization outcome that arrives after the call makes of its charge: the reconcile job asked for it, the provider sent a
//! notification, or the call's answer came after another node had moved the charge. The version of the charge guards
//! each change, so the order and the number of reports do not matter.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use regente_domain::actor::Actor;
use regente_domain::card::record::{Card, SecurityCodeSent};
use regente_domain::charge::attempt::{Gone, RequestType, ToldBy, TransactionRequest};
use regente_domain::charge::{self, BUYER_IS_GONE, Charge, ChargeState, GoesBack, Means, Taken};
use regente_domain::id::{ChargeId, ClientId};
use regente_domain::rates::first_told_of;
use regente_store::cards;

use crate::app::App;
use crate::charges::call_providers::{self, Asking, Begun, Prerequisites};
use crate::charges::plan_step::{Step, ids, misstep};
use crate::charges::stored::{self, Ran};
use crate::charges::write_outcome::{self, ChargedWith, Written};
use crate::disputes::payment_returned;
use crate::error::Error;
use crate::races;
use crate::transaction_requests::call::{ProviderReport, SimulatorOverrides};
use crate::{anti_fraud, captures_and_voids, metrics};

/// Applies the outcome of an authorization: `found` is the request with it. If a payer who was waited for has not paid,
/// this calls the next provider at once.
pub fn take<'a>(
    app: &'a App,
    found: &'a TransactionRequest,
    actor: &'a Actor,
) -> BoxFuture<'a, Result<(), Error>> {
    async move {
        for _ in races::tries() {
            let Some(planned) = Planned::of(app, found).await? else { return Ok(()) };
            match planned.carry_out(app, actor).await? {
                CarriedOut::Yes => return Ok(()),
                CarriedOut::LostRace => {}
            }
        }
        Err(Error::busy())
    }
    .boxed()
}

/// Applies the outcome of an authorization that a provider has notified.
///
/// # Errors
/// [`Error::Unavailable`] while this process still waits for the answer to the request itself.
pub async fn notified(
    app: &App,
    request: &TransactionRequest,
    found: impl Into<ProviderReport>,
) -> Result<(), Error> {
    let found = ProviderReport { told_by: Some(ToldBy::Notification), ..found.into() };
    if app.in_flight.contains(request.id) {
        return Err(Error::busy());
    }
    let _admission = app.store.admit_waiting().await?;
    take_all(app, request, found, &Actor::Job(NOTIFICATION)).await
}

/// Ends the instructions of a payer whose session is canceled. What is paid nevertheless is taken like any late payment.
pub async fn withdraw(
    app: &App,
    client_id: ClientId,
    charge_id: ChargeId,
    actor: &Actor,
) -> Result<(), Error> {
    for _ in races::tries() {
        let Some(Ran { charge, requests }) = stored::find(app, client_id, charge_id).await? else {
            return Ok(());
        };
        let ChargeState::AwaitingPayer { .. } = charge.state else { return Ok(()) };
        let awaited = requests.iter().rfind(|request| request.pending().is_some()).cloned();
        let awaited = awaited.ok_or_else(|| Error::internal("a charge that waits for nobody"))?;
        let now = app.clock.of(client_id);
        let taken = charge.without_payer(requests, &awaited, Gone::Withdrawn, &ids(app, &charge), now);
        let taken = taken.map_err(misstep)?;
        let Some(taken) = taken else { return Ok(()) };
        match Planned::with(app, charge, taken, None).await?.carry_out(app, actor).await? {
            CarriedOut::Yes => return Ok(()),
            CarriedOut::LostRace => {}
        }
    }
    Err(Error::busy())
}

/// Applies what a provider says of an authorization: its outcome, every payment of its payer, and what was taken back.
pub async fn take_all(
    app: &App,
    request: &TransactionRequest,
    found: ProviderReport,
    actor: &Actor,
) -> Result<(), Error> {
    let taken_back = found.taken_back.clone();
    let is_paid = found.amount.is_some();
    let payments = found.ended(request, app.clock.of(request.client_id));
    if is_paid && payments.iter().any(|payment| payment.transaction_id().is_none()) {
        tell_of_unnamed(app, request, &payments, actor).await?;
    }
    for ended in &payments {
        take(app, ended, actor).await?;
    }
    for payment in &taken_back {
        payment_returned::take(app, request, payment, actor).await?;
    }
    Ok(())
}

/// Tells the operator of payments that may be further ones, and whose provider names neither them nor their transfers. A probe
/// lists all payments: there the amount tells the one that is known. A notification of the same amount may repeat it, or tell of
/// another one. None is given back, since nobody could say which.
async fn tell_of_unnamed(
    app: &App,
    request: &TransactionRequest,
    payments: &[TransactionRequest],
    actor: &Actor,
) -> Result<(), Error> {
    let Ran { charge: _, requests } = stored::whole_of(app, request).await?;
    let known: Vec<_> = charge::payments(&requests, request.id).collect();
    let lists_all = !matches!(actor, Actor::Job(NOTIFICATION));
    let is_known = |payment: &TransactionRequest| {
        known.iter().any(|known| {
            let is_same_amount = lists_all && known.amount == payment.amount;
            charge::is_same_transfer(known, payment) || is_same_amount
        })
    };
    let mut nameless = payments.iter().filter(|payment| payment.transaction_id().is_none());
    let may_be_further = !known.is_empty() && nameless.any(|payment| !is_known(payment));
    let several = payments.iter().filter(|payment| charge::is_unnamed(payment)).count() > 1;
    if may_be_further || several {
        tracing::error!(
            alert = "payment_without_id", charge = %request.object_id, transaction_request = %request.id,
            provider = %request.provider_type.code(), payments = payments.len(),
            "a provider tells of a payment without an id that may be a further one: the operator must look whether the \
             payer has paid twice"
        );
    }
    Ok(())
}

/// The actor of changes that a notification causes.
pub(crate) const NOTIFICATION: &str = "notification";

/// Whether the plan is written.
enum CarriedOut {
    Yes,
    /// Another node moved the charge: decide again.
    LostRace,
}

/// The change that an outcome makes to a charge.
struct Planned {
    before: Charge,
    /// The charge's requests with the outcome, oldest first.
    requests: Vec<TransactionRequest>,
    /// The request whose outcome is written.
    ended: Option<TransactionRequest>,
    step: Step,
    card: Option<Card>,
    /// What calling the next provider needs.
    prerequisites: Option<Prerequisites>,
}

impl Planned {
    /// Reads the charge and plans; `None` when there is nothing to write.
    async fn of(app: &App, found: &TransactionRequest) -> Result<Option<Self>, Error> {
        let Ran { charge, requests } = stored::whole_of(app, found).await?;
        let prerequisites = match charge.may_ask_on(&requests, found) {
            true => Prerequisites::of(app, &charge).await?,
            false => None,
        };
        let means = match prerequisites {
            Some(_) => Means::Complete { elapsed: Duration::ZERO, budget: app.settings.charge_budget },
            None => BUYER_IS_GONE,
        };
        let now = app.clock.of(found.client_id);
        let says_another_sum = charge.has_another_sum(&requests, found);
        let taken = charge.take(requests, found, means, &ids(app, &charge), now).map_err(misstep)?;
        let Some(taken) = taken else {
            if says_another_sum {
                metrics::payment_of_another_sum();
                tracing::error!(
                    alert = "payment_has_another_sum", charge = %charge.id, transaction_request = %found.id,
                    amount = found.amount.minor_units(),
                    "A provider says another sum of a payment than is recorded: the operator must look"
                );
            }
            return Ok(None);
        };
        log(&charge, found, taken.goes_back);
        Self::with(app, charge, taken, prerequisites).await.map(Some)
    }

    async fn with(
        app: &App,
        before: Charge,
        taken: Taken,
        prerequisites: Option<Prerequisites>,
    ) -> Result<Self, Error> {
        let Taken { requests, ended, step, goes_back: _ } = taken;
        let card = match (&ended, before.method.card_id()) {
            (Some(_), Some(card_id)) => cards::find(&app.store, before.client_id, card_id).await?,
            (Some(_) | None, None) | (None, Some(_)) => None,
        };
        let card = card.map(|stored| stored.card);
        let mut step = Step::from(step);
        let ended = ended.map(|ended| step.ends(ended));
        step.first_told_of =
            ended.as_ref().and_then(|ended| first_told_of(&requests, ended)).cloned().map(Box::new);
        Ok(Self { before, requests, ended, step, card, prerequisites })
    }

    /// Writes the plan and carries out what follows: the next provider, the analysis, or the capture or void that a
    /// verdict leads to. The void of an orphaned authorization is left to the reconcile job.
    async fn carry_out(self, app: &App, actor: &Actor) -> Result<CarriedOut, Error> {
        let Self { before, requests, ended, step, card, prerequisites } = self;
        // Whether the caller gave a security code is not known any more.
        let card = card.as_ref().map(|card| ChargedWith { card, code: SecurityCodeSent::No });
        match write_outcome::write(app, &before, ended.as_ref(), &step, card, actor).await? {
            Written::ByUs => {}
            Written::Elsewhere => return Ok(CarriedOut::LostRace),
            Written::NotYet => return Err(Error::unavailable()),
        }
        let Some(request) = step.next else { return Ok(CarriedOut::Yes) };
        let (overrides, started) = (SimulatorOverrides::of(app, &step.charge, None), app.clock.machine());
        if step.charge.has_open(&request) {
            captures_and_voids::send(app, step.charge, request, requests, &overrides, actor).await?;
            return Ok(CarriedOut::Yes);
        }
        let Some(prerequisites) = prerequisites else {
            if request.request_type == RequestType::AntiFraud {
                let asked = anti_fraud::analyse(app, &step.charge, &request, &overrides).await?;
                let now = app.clock.of(request.client_id);
                take(app, &asked.end(&request, now), actor).await?;
            }
            return Ok(CarriedOut::Yes);
        };
        let begun = Begun { charge: step.charge, request, ended: requests };
        let asking = Asking::begin(app, begun, prerequisites, overrides, *actor, started).await?;
        call_providers::drive(app, asking).await?;
        Ok(CarriedOut::Yes)
    }
}

/// Tells the operator of money that goes back.
fn log(charge: &Charge, found: &TransactionRequest, goes_back: Option<GoesBack>) {
    match goes_back {
        None => {}
        Some(GoesBack::PaidAgain) => tracing::error!(
            alert = "paid_again", charge = %charge.id, transaction_request = %found.id,
            amount = found.amount.minor_units(),
            "A payer has paid what is not asked of him any more: it is given back"
        ),
        Some(GoesBack::Orphan) => tracing::error!(
            charge = %charge.id, transaction_request = %found.id,
            "Late approval of an authorization after its charge has gone on without it: void it"
        ),
    }
}
