//! Hands payment batches to the bank: reads what [`transfer`] decides by, and does and writes what it decides. Nothing is sent on a day
//! on which banks do not work, nor to a receiver that may not be paid.

use std::time::Duration;

use regente_domain::actor::Actor;
use regente_domain::backoff::Retry;
use regente_domain::id::{ClientId, PaymentBatchId, PrepaymentId};
use regente_domain::ledger::Movement;
use regente_domain::local_day;
use regente_domain::money::Amount;
use regente_domain::payout::BatchStatus;
use regente_domain::payout::batch::Told;
use regente_domain::payout::transfer::{self, Again, Decided, Sending, Step};
use regente_domain::seller::data::BankAccount;
use regente_domain::time::{Timestamp, later_of};
use regente_store::payouts::batches::{self, PaymentBatch};
use regente_store::payouts::{debts, orders};
use regente_store::{Batch, Commit};

use super::payday::{next_day, post};
use super::{account, receivers};
use crate::app::App;
use crate::bank::{Answer, Bank, Found, Transfer};
use crate::error::Error;
use crate::queue::Kind;
use crate::queue::payouts::{moment_of, next_payday};
use crate::races::{self, Changed};
use crate::{audit, queue};

/// The waits between two looks at a transfer that the bank has not decided.
const LOOKS: Retry = Retry {
    first: Duration::from_secs(60),
    longest: Duration::from_secs(6 * 60 * 60),
    attempts_max: i64::MAX,
};
/// A bank is asked whether a transfer came back no sooner than this.
const RETURNED_AFTER: Duration = Duration::from_secs(24 * 60 * 60);
/// Why a batch without an account to pay it to has failed.
pub const NO_ACCOUNT: &str = "the receiver has no bank account";
/// The places of the entries about a payment and its return among those of a batch.
const PAID: i64 = 0;
const RETURNED: i64 = 1;

/// When the job of a transfer runs again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Never: the bank has decided, or there is none.
    Done,
    /// At this time.
    At(Timestamp),
}

/// Does what is to be done about the transfer of a batch.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Internal`].
pub async fn drive(app: &App, client_id: ClientId, id: PaymentBatchId) -> Result<Next, Error> {
    let Some(bank) = app.bank.as_deref() else { return Ok(Next::Done) };
    let Some(batch) = batches::find(&app.store, client_id, id).await? else { return Ok(Next::Done) };
    let now = app.clock.of(client_id);
    let mut found = None;
    loop {
        let step = transfer::next(batch.status, batch.transfer, found.take());
        match step {
            Step::Rest => return Ok(Next::Done),
            Step::Wait => return look_later(app, client_id, id).await,
            Step::Decide(told, reason) => {
                decide(app, client_id, id, told, reason).await?;
                return Ok(Next::Done);
            }
            Step::Ask => found = Some(bank.find(client_id, id, now).await),
            Step::Begin | Step::Send => {
                if !is_sent_now(app, &batch, now).await? {
                    return Ok(Next::At(moment_of(next_payday(&app.settings.calendar, now))));
                }
                let Some(to) = account::of(app, client_id, batch.group.owner.receiver).await? else {
                    return without_account(app, &batch).await;
                };
                if step == Step::Begin && !begin(app, &batch, now).await? {
                    return Ok(Next::At(now));
                }
                found = Some(Found::Told(send(bank, &batch, to, now).await?));
            }
        }
    }
}

async fn send(
    bank: &dyn Bank,
    batch: &PaymentBatch,
    to: BankAccount,
    at: Timestamp,
) -> Result<Answer, Error> {
    let (client_id, id, currency) = (batch.client_id, batch.id, batch.group.owner.currency);
    let amount = Amount::new(batch.figures.final_balance())
        .ok_or_else(|| Error::internal(format!("payment batch {id} pays less than nothing")))?;
    Ok(bank.send(&Transfer { client_id, id, amount, currency, to, at }).await)
}

/// Whether a transfer may be sent now: banks work, and the receiver may be paid.
async fn is_sent_now(app: &App, batch: &PaymentBatch, now: Timestamp) -> Result<bool, Error> {
    Ok(app.settings.calendar.is_business_day(local_day::day_of(now))
        && receivers::is_paid_now(app, batch.client_id, batch.group.owner.receiver).await?)
}

/// A batch without an account to pay it to has failed. One that may have been sent waits: it may be on its way to the account that there
/// was, although the bank does not have it yet, and its orders would be paid twice. So it fails only as it was read: another node may
/// have begun to send it since.
async fn without_account(app: &App, batch: &PaymentBatch) -> Result<Next, Error> {
    match batch.transfer {
        Sending::Sent => look_later(app, batch.client_id, batch.id).await,
        Sending::Unsent => match write(app, batch, Told::Refused, Some(NO_ACCOUNT)).await? {
            None | Some(Commit::Applied) => Ok(Next::Done),
            Some(Commit::Refused(_) | Commit::Unknown) => Ok(Next::At(app.clock.of(batch.client_id))),
        },
    }
}

/// Writes that a transfer may have been sent; whether that is written by now, and by nobody else.
async fn begin(app: &App, batch: &PaymentBatch, now: Timestamp) -> Result<bool, Error> {
    let updated_at = later_of(now, batch.updated_at);
    let after = PaymentBatch { transfer: Sending::Sent, updated_at, ..batch.clone() };
    let mut change = Batch::new(batch.client_id);
    batches::update(&mut change, &after);
    let _admission = app.store.admit_waiting().await?;
    Ok(app.store.apply(change).await? == Commit::Applied)
}

/// Counts a look that has found no answer, and says when the next one is.
async fn look_later(app: &App, client_id: ClientId, id: PaymentBatchId) -> Result<Next, Error> {
    races::change(|| async {
        let Some(batch) = batches::find(&app.store, client_id, id).await? else {
            return Ok(Changed::Already(Next::Done));
        };
        let now = app.clock.of(client_id);
        let looks = batch.looks.saturating_add(1);
        let next = Next::At(now + LOOKS.wait(looks));
        let mut change = Batch::new(client_id);
        let updated_at = later_of(now, batch.updated_at);
        batches::update(&mut change, &PaymentBatch { looks, updated_at, ..batch });
        let _admission = app.store.admit_waiting().await?;
        Ok(Changed::Written(app.store.apply(change).await?, next))
    })
    .await
}

/// Writes what the bank has decided about a batch. `reason` says why it has failed.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Unavailable`].
pub async fn decide(
    app: &App,
    client_id: ClientId,
    id: PaymentBatchId,
    told: Told,
    reason: Option<String>,
) -> Result<(), Error> {
    races::change(|| async {
        let before = batches::find(&app.store, client_id, id).await?.ok_or(Error::NotFound)?;
        Ok(match write(app, &before, told, reason.as_deref()).await? {
            None => Changed::Already(()),
            Some(commit) => Changed::Written(commit, ()),
        })
    })
    .await
}

/// Writes what is decided about a batch as it was read; `None` where that changes nothing.
async fn write(
    app: &App,
    before: &PaymentBatch,
    told: Told,
    reason: Option<&str>,
) -> Result<Option<Commit>, Error> {
    let (client_id, id, is_prepaid) = (before.client_id, before.id, before.prepayment_id.is_some());
    let Some(decided) = transfer::decided(before.status, told, &before.figures, is_prepaid) else {
        return Ok(None);
    };
    let now = later_of(app.clock.of(client_id), before.updated_at);
    let mut after = PaymentBatch { updated_at: now, ..before.clone() };
    let mut change = Batch::new(client_id);
    let action = match decided {
        Decided::Paid => {
            after.status = BatchStatus::Paid;
            after.payout_date = Some(local_day::day_of(now));
            let paid = before.figures.final_balance();
            post(&mut change, before, (Movement::Payout, PAID), paid, now);
            let at = moment_of(next_day(app, now)).max(now + RETURNED_AFTER);
            queue::payouts::look_for_return(app, &mut change, id, at);
            if let Some(prepayment_id) = before.prepayment_id {
                queue::prepayments::look_after(app, &mut change, PrepaymentId::new(prepayment_id), id);
            }
            "payment_batch.paid"
        }
        Decided::Failed { came_back, again } => {
            after.status = BatchStatus::Failed;
            after.error = Some(reason.unwrap_or_default().to_owned());
            post(&mut change, before, (Movement::Payout, RETURNED), -came_back, now);
            pay_again(app, &mut change, before, again, now).await?;
            "payment_batch.failed"
        }
    };
    batches::update(&mut change, &after);
    let job = Actor::Job(Kind::Transfer.word());
    audit::record_of(app, &mut change, (&job, None), action, id.uuid());
    let _admission = app.store.admit_waiting().await?;
    Ok(Some(app.store.apply(change).await?))
}

/// Has the orders of a batch that was not paid paid again.
async fn pay_again(
    app: &App,
    change: &mut Batch,
    failed: &PaymentBatch,
    again: Again,
    now: Timestamp,
) -> Result<(), Error> {
    let day = next_day(app, now);
    match again {
        Again::Alike => {
            let id: PaymentBatchId = app.chance.id(now);
            let alike = PaymentBatch {
                id,
                status: BatchStatus::Pending,
                payment_date: day,
                payout_date: None,
                transfer: Sending::Unsent,
                looks: 0,
                error: None,
                version: 1,
                updated_at: now.max(id.created_at()),
                ..failed.clone()
            };
            batches::insert(change, &alike);
            orders::pass_on(change, (failed.id, id), failed.orders, now);
            queue::payouts::transfer(app, change, id, moment_of(day));
        }
        Again::Released { debt } => {
            let owner = &failed.group.owner;
            if debt > 0 {
                let before = debts::find(&app.store, failed.client_id, owner).await?;
                debts::set(change, owner, before, before.amount + debt, now);
            }
            orders::release(change, failed.id, failed.orders, now);
            queue::payouts::pay_out_on(app, change, day);
        }
    }
    Ok(())
}
