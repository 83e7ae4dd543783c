//! What happens to a subscription by itself: trials end, cycles are made and charged, outcomes are taken. A run does everything that is due
//! and ends; the batch of each change has the job that looks next. The whole state is in the database, so any node can go on, and
//! the version of the subscription lets one of several through.

use regente_domain::card::Cvv;
use regente_domain::id::{ChargeId, ClientId, CycleId, SubscriptionId};
use regente_domain::subscription::{Next, Outcome, Subscription, SubscriptionData};
use regente_domain::time::Timestamp;
use regente_store::Batch;
use regente_store::subscriptions::charges;

use super::attempt::{self, Passed, outcome_of};
use super::create::charges_with_code;
use super::known::Known;
use super::settings;
use crate::app::App;
use crate::card_data::CvvSource;
use crate::charges::{CardTriedObserver, Unguarded};
use crate::error::Error;
use crate::queue::subscriptions as queue;

/// Most steps of one run; what is due then is done by the next one, so that others have their turn.
const STEPS_MAX: usize = 64;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextRun {
    /// Nothing is due: a later job looks again.
    Idle,
    /// Something falls due at this time.
    Until(Timestamp),
    /// There is more to do now.
    Again(Timestamp),
}

/// Does everything that is due. `charge_id` is a charge of the subscription whose outcome may be new.
///
/// # Errors
/// Why a step failed. It may be tried again: nothing is half done.
pub async fn run(
    app: &App,
    client_id: ClientId,
    id: SubscriptionId,
    charge_id: Option<ChargeId>,
) -> Result<NextRun, Error> {
    let charged = match charge_id {
        Some(charge_id) => charges::find(&app.store, client_id, charge_id).await?,
        None => None,
    };
    for _ in 0..STEPS_MAX {
        let also = charged.map(|charged| charged.cycle_id);
        let Some(known) = Known::find(app, client_id, id, also).await? else { return Ok(NextRun::Idle) };
        if take_outcome(app, &known, charge_id).await? {
            continue;
        }
        match known.subscription.next(&known.cycles, app.clock.of(client_id)) {
            Next::Step => known.take_step(app).await?,
            Next::Charge(cycle_id) => {
                attempt::charge(app, known, cycle_id, CvvSource::None, Unguarded).await?
            }
            Next::Wait(at) => return Ok(NextRun::Until(at)),
            Next::Rest => return Ok(NextRun::Idle),
        }
    }
    Ok(NextRun::Again(app.clock.of(client_id)))
}

/// Charges the first cycle of a subscription that begins at once with the security code that came with its creation. The code is stored
/// nowhere: where this fails, or the process ends, the job of the subscription charges without. To the end also when the caller hangs up.
/// `hears` hears what became of the card.
pub async fn begin_with_code(
    app: &App,
    created: &Subscription,
    data: &SubscriptionData,
    hears: Option<CardTriedObserver>,
) {
    let Some(code) = charges_with_code(created, data).cloned() else { return };
    let (own, client_id, id) = (app.clone(), created.client_id, created.id);
    let beginning = async move { first_charge(&own, client_id, id, code, Passed::with(hears)).await };
    if let Err(error) = app.in_flight.run(beginning).await {
        tracing::warn!(subscription = %id, error = ?error, "a first charge with a security code failed; it is made without");
    }
}

async fn first_charge(
    app: &App,
    client_id: ClientId,
    id: SubscriptionId,
    code: Cvv,
    guard: Passed,
) -> Result<(), Error> {
    for _ in 0..STEPS_MAX {
        let Some(known) = Known::find(app, client_id, id, None).await? else { return Ok(()) };
        let is_untouched = known.cycles.iter().all(|cycle| cycle.number == 1 && cycle.attempts.is_empty());
        match known.subscription.next(&known.cycles, app.clock.of(client_id)) {
            Next::Step => known.take_step(app).await?,
            Next::Charge(cycle_id) if is_untouched => {
                return attempt::charge(app, known, cycle_id, CvvSource::Inline(code), guard).await;
            }
            Next::Charge(_) | Next::Wait(_) | Next::Rest => return Ok(()),
        }
    }
    Ok(())
}

/// Takes one outcome that is new; `false` when none is. `charge_id` is a charge that may tell one of an attempt that has ended.
async fn take_outcome(app: &App, known: &Known, charge_id: Option<ChargeId>) -> Result<bool, Error> {
    for cycle in &known.cycles {
        for attempt in &cycle.attempts {
            let Some(charge) = attempt.charge_id else { continue };
            if !attempt.state.is_open() && charge_id != Some(charge) {
                continue;
            }
            let told = outcome_of(app, known.subscription.client_id, charge).await?;
            let Some((outcome, version)) = told else { continue };
            let mut batch = Batch::new(known.subscription.client_id);
            queue::heard(&mut batch, charge, version);
            if end_attempt(app, known, (cycle.id, attempt.number), &outcome, batch).await? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Ends an attempt in a batch; `false` when its outcome is known already.
async fn end_attempt(
    app: &App,
    known: &Known,
    attempt: (CycleId, u32),
    outcome: &Outcome,
    batch: Batch,
) -> Result<bool, Error> {
    let client_id = known.subscription.client_id;
    let (rules, now) = (settings::rules(app, client_id).await?, app.clock.of(client_id));
    let Ok(ended) = known.subscription.end_attempt(&known.cycles, attempt, outcome, &rules, now) else {
        known.take_step(app).await?;
        return Ok(true);
    };
    let Some(after) = ended else { return Ok(false) };
    known.move_on_in(app, batch, &after).await.map(|_| true)
}
