//! What merchants do with their subscriptions: change, pause, resume, cancel them. A step that fell due before comes first, so a merchant
//! whose subscription is late changes it as if the service had been on time.

use regente_domain::id::SubscriptionId;
use regente_domain::subscription::data::SubscriptionChanges;
use regente_domain::subscription::{Advance, Cycle, Refusal, Subscription, Update, sum};
use regente_domain::time::Timestamp;
use regente_store::{Batch, Commit, subscriptions as rows};

use super::create::{Terms, divided, must_pay, refused};
use super::drive::take_step;
use super::{GoesOn, Known, Shown};
use crate::app::App;
use crate::caller::{Caller, RequestId};
use crate::error::Error;
use crate::{audit, races};

/// Most steps that are taken before a change: a subscription that is further behind is left to its job, and the caller comes again.
const STEPS_FIRST_MAX: usize = 32;

/// Changes a subscription, from the next cycle on. What is changed already changes nothing.
///
/// # Errors
/// [`Error::NotFound`]; what names a member of the body; [`Error::BusinessRule`] in a status that takes no change.
pub async fn change(
    app: &App,
    by: (&Caller, &RequestId),
    id: SubscriptionId,
    changes: &SubscriptionChanges,
) -> Result<Shown, Error> {
    let client_id = by.0.client_id;
    let before = rows::find(&app.store, client_id, id).await?.ok_or(Error::NotFound)?;
    let update = checked(app, &before, Update::from(changes)).await?;
    let decide = |known: &Known, now| known.subscription.update(&known.cycles, &update, now);
    let subscription = carry_out(app, by, id, "subscription.updated", decide).await?;
    let last_cycle = rows::cycles::page(&app.store, client_id, id, 1, 0).await?.pop();
    Ok(Shown { subscription, last_cycle })
}

/// Pauses a subscription.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::BusinessRule`] in another status.
pub async fn pause(app: &App, by: (&Caller, &RequestId), id: SubscriptionId) -> Result<Subscription, Error> {
    carry_out(app, by, id, "subscription.paused", some(Subscription::pause)).await
}

/// Resumes a subscription that is paused, or tries the failed cycle of an unpaid one once more.
///
/// # Errors
/// As [`pause`].
pub async fn resume(app: &App, by: (&Caller, &RequestId), id: SubscriptionId) -> Result<Subscription, Error> {
    carry_out(app, by, id, "subscription.resumed", some(Subscription::resume)).await
}

/// Ends a subscription now.
///
/// # Errors
/// As [`pause`].
pub async fn cancel(app: &App, by: (&Caller, &RequestId), id: SubscriptionId) -> Result<Subscription, Error> {
    carry_out(app, by, id, "subscription.canceled", some(Subscription::cancel)).await
}

/// A change that always changes something.
fn some(
    decide: impl Fn(&Subscription, &[Cycle], Timestamp) -> Result<Advance, Refusal>,
) -> impl Fn(&Known, Timestamp) -> Result<Option<Advance>, Refusal> {
    move |known, now| decide(&known.subscription, &known.cycles, now).map(Some)
}

/// Checks what a change names.
async fn checked(app: &App, before: &Subscription, update: Update) -> Result<Update, Error> {
    let client_id = before.client_id;
    if let Some(card_id) = update.card_id {
        must_pay(app, client_id, card_id).await?;
    }
    let is_divided_anew = update.split_rules.is_some()
        || update.merchant_id.is_some()
        || update.items.is_some()
        || update.installments.is_some();
    if !is_divided_anew {
        return Ok(update);
    }
    let items = update.items.as_deref().unwrap_or(&before.items);
    let amount = sum(items).ok_or_else(|| refused(Refusal::AmountTooHigh))?;
    let terms = Terms {
        merchant_id: update.merchant_id.unwrap_or(before.merchant_id),
        amount,
        installments: update.installments.unwrap_or(before.payment.installments),
    };
    let rules = update.split_rules.as_deref().unwrap_or(&before.split_rules);
    let rules = divided(app, client_id, terms, rules).await?;
    Ok(Update { split_rules: update.split_rules.is_some().then_some(rules), ..update })
}

async fn carry_out(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    id: SubscriptionId,
    action: &'static str,
    decide: impl Fn(&Known, Timestamp) -> Result<Option<Advance>, Refusal>,
) -> Result<Subscription, Error> {
    let client_id = caller.client_id;
    let mut steps = 0;
    let mut tries = races::tries();
    loop {
        let known = Known::find(app, client_id, id, None).await?.ok_or(Error::NotFound)?;
        let after = match decide(&known, app.clock.of(client_id)) {
            Ok(Some(after)) => after,
            Ok(None) => return Ok(known.subscription),
            Err(Refusal::Behind) if steps < STEPS_FIRST_MAX => {
                steps += 1;
                take_step(app, &known).await?;
                continue;
            }
            Err(refusal) => return Err(refused(refusal)),
        };
        if tries.next().is_none() {
            return Err(Error::busy());
        }
        let mut batch = Batch::new(client_id);
        known.write(app, &mut batch, &after, GoesOn::TheJob, &caller.actor()).await?;
        audit::record(app, &mut batch, caller, request_id, action, id.uuid());
        let _admission = app.store.admit(client_id)?;
        match app.store.apply(batch).await? {
            Commit::Applied => return Ok(after.subscription),
            Commit::Refused(_) => {}
            // It may be written: then its version is the stored one.
            Commit::Unknown => {
                let stored = rows::find(&app.store, client_id, id).await?.ok_or(Error::NotFound)?;
                if stored == after.subscription {
                    return Ok(stored);
                }
            }
        }
    }
}
