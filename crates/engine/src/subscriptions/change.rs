//! What merchants do with their subscriptions: change, pause, resume, cancel them. A step that fell due before comes first, so a merchant
//! whose subscription is late changes it as if the service had been on time.

use regente_domain::id::{CardId, SubscriptionId};
use regente_domain::split::SplitRule;
use regente_domain::subscription::data::SubscriptionChanges;
use regente_domain::subscription::{Advance, Refusal, Subscription, Update, sum};
use regente_domain::time::Timestamp;
use regente_store::{Batch, Commit, subscriptions as rows};

use super::Shown;
use super::create::{Terms, divided, must_pay, refused};
use super::known::{GoesOn, Known};
use crate::app::App;
use crate::caller::{Caller, RequestId};
use crate::charges::Guard;
use crate::error::Error;
use crate::{audit, races};

/// Most steps that are taken before a change: a subscription that is further behind is left to its job, and the caller comes again.
const STEPS_FIRST_MAX: usize = 32;

/// Changes a subscription, from the next cycle on. What is changed already changes nothing.
///
/// # Errors
/// Why the guard lets another card not be tried; [`Error::NotFound`]; what names a member of the body; [`Error::BusinessRule`] in a status that takes no change.
pub async fn change<G: Guard>(
    app: &App,
    by: (&Caller, &RequestId),
    id: SubscriptionId,
    changes: &SubscriptionChanges,
    guard: &G,
) -> Result<Shown, G::Error> {
    let client_id = by.0.client_id;
    let update = Update::from(changes);
    let stored = rows::find(&app.store, client_id, id).await.map_err(Error::from)?.ok_or(Error::NotFound)?;
    // The card in use may have failed: what is sent back as it was read changes nothing.
    if let Some(card_id) = update.card_id.filter(|card_id| *card_id != stored.payment.card_id) {
        let card = must_pay(app, client_id, card_id).await?;
        // A job charges it, of which nobody outside hears.
        let _nobody = guard.lets_try(&card)?;
    }
    let subscription = written(app, by, id, &Wish::Terms(update)).await?;
    let last_cycle = rows::cycles::newest(&app.store, client_id, id).await.map_err(Error::from)?;
    Ok(Shown { subscription, last_cycle })
}

/// What a change makes of a subscription; `None` when nothing changes.
type Decision = Result<Option<Advance>, Refusal>;

/// What a merchant wants.
pub(super) enum Wish {
    /// Other terms, from the next cycle on.
    Terms(Update),
    /// Another card in place of this one; where that has been replaced meanwhile, nothing.
    CardInPlaceOf(CardId, Update),
    /// Something of the subscription as it is.
    Move(Move),
}

impl Wish {
    const fn action(&self) -> &'static str {
        match self {
            Self::Terms(_) | Self::CardInPlaceOf(..) => "subscription.updated",
            Self::Move(wish) => wish.action(),
        }
    }

    async fn decide(&self, app: &App, known: &Known, now: Timestamp) -> Result<Decision, Error> {
        let Known { subscription, cycles } = known;
        Ok(match self {
            Self::Terms(update) => {
                subscription.update(cycles, &checked(app, subscription, update.clone()).await?, now)
            }
            Self::CardInPlaceOf(card_id, _) if subscription.payment.card_id != *card_id => Ok(None),
            Self::CardInPlaceOf(_, update) => subscription.update(cycles, update, now),
            Self::Move(wish) => wish.of(known, now),
        })
    }
}

/// What a merchant wants of a subscription as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// It ends now.
    Cancel,
    /// Nothing is charged.
    Pause,
    /// It goes on; of an unpaid one the failed cycle is tried once more.
    Resume,
}

impl Move {
    /// The word in its path.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Pause => "pause",
            Self::Resume => "resume",
        }
    }

    const fn action(self) -> &'static str {
        match self {
            Self::Cancel => "subscription.canceled",
            Self::Pause => "subscription.paused",
            Self::Resume => "subscription.resumed",
        }
    }

    fn of(self, known: &Known, now: Timestamp) -> Decision {
        let Known { subscription, cycles } = known;
        let after = match self {
            Self::Cancel => subscription.cancel(cycles, now),
            Self::Pause => subscription.pause(cycles, now),
            Self::Resume => subscription.resume(cycles, now),
        };
        after.map(Some)
    }
}

/// Carries out what a merchant wants.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::BusinessRule`] in another status.
pub async fn carry_out(
    app: &App,
    by: (&Caller, &RequestId),
    id: SubscriptionId,
    wish: Move,
) -> Result<Subscription, Error> {
    written(app, by, id, &Wish::Move(wish)).await
}

/// The batch that carries it out, and the subscription after it; for a request with an idempotency key, which is
/// written with it.
///
/// # Errors
/// As [`carry_out`].
pub async fn plan(
    app: &App,
    by: (&Caller, &RequestId),
    id: SubscriptionId,
    wish: Move,
) -> Result<(Batch, Subscription), Error> {
    let planned = planned(app, by, id, &Wish::Move(wish)).await?;
    Ok((planned.batch.unwrap_or_else(|| Batch::new(by.0.client_id)), planned.subscription))
}

/// Checks how a change divides the next cycles, of the subscription that it changes: another change may have come first.
async fn checked(app: &App, before: &Subscription, update: Update) -> Result<Update, Error> {
    let client_id = before.client_id;
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
    let is_changed = update.split_rules.is_some() && !are_alike(&rules, &before.split_rules);
    Ok(Update { split_rules: is_changed.then_some(rules), ..update })
}

/// Whether rules divide in the same way. Each reading of a body gives them ids of their own.
fn are_alike(rules: &[SplitRule], others: &[SplitRule]) -> bool {
    let is_like = |(rule, other): (&SplitRule, &SplitRule)| SplitRule { id: other.id, ..*rule } == *other;
    rules.len() == others.len() && rules.iter().zip(others).all(is_like)
}

/// A change that is not written yet.
pub(super) struct Planned {
    /// `None` when nothing changes.
    pub(super) batch: Option<Batch>,
    pub(super) subscription: Subscription,
}

/// Decides, after the steps that come first.
pub(super) async fn planned(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    id: SubscriptionId,
    wish: &Wish,
) -> Result<Planned, Error> {
    let client_id = caller.client_id;
    let mut steps = 0;
    loop {
        let known = Known::find(app, client_id, id, None).await?.ok_or(Error::NotFound)?;
        let after = match wish.decide(app, &known, app.clock.of(client_id)).await? {
            Ok(Some(after)) => after,
            Ok(None) => return Ok(Planned { batch: None, subscription: known.subscription }),
            Err(Refusal::Behind) if steps < STEPS_FIRST_MAX => {
                steps += 1;
                known.take_step(app).await?;
                continue;
            }
            Err(refusal) => return Err(refused(refusal)),
        };
        let mut batch = Batch::new(client_id);
        known.write(app, &mut batch, &after, GoesOn::TheJob, &caller.actor()).await?;
        audit::record(app, &mut batch, caller, request_id, wish.action(), id.uuid());
        return Ok(Planned { batch: Some(batch), subscription: after.subscription });
    }
}

async fn written(
    app: &App,
    by: (&Caller, &RequestId),
    id: SubscriptionId,
    wish: &Wish,
) -> Result<Subscription, Error> {
    let client_id = by.0.client_id;
    for _ in races::tries() {
        let Planned { batch, subscription } = planned(app, by, id, wish).await?;
        let Some(batch) = batch else { return Ok(subscription) };
        let _admission = app.store.admit(client_id)?;
        match app.store.apply(batch).await? {
            Commit::Applied => return Ok(subscription),
            Commit::Refused(_) => {}
            // It may be written: then its version is the stored one.
            Commit::Unknown => {
                let stored = rows::find(&app.store, client_id, id).await?.ok_or(Error::NotFound)?;
                if stored == subscription {
                    return Ok(stored);
                }
            }
        }
    }
    Err(Error::busy())
}
