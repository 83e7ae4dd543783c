//! Ends what nobody has committed, and pays what was: one batch for each merchant and arrangement, on the day of the prepayment. What was
//! given back of a receivable meanwhile is deducted at once, and costs nothing.

use std::collections::BTreeSet;
use std::time::Duration;

use regente_domain::id::{ChargeId, ClientId, PaymentBatchId, PrepaymentId};
use regente_domain::payout::{BatchStatus, Order};
use regente_domain::prepayment::{PrepaymentStatus, Step, discount, late_reductions};
use regente_domain::time::Timestamp;
use regente_store::Batch;
use regente_store::payouts::batches::{self, PaymentBatch};
use regente_store::payouts::{Group, Owner, Taking, groups, orders, prepaid};
use regente_store::prepayments::{self as stored, StoredPrepayment};

use super::moved;
use crate::app::App;
use crate::error::Error;
use crate::payouts::payday;
use crate::payouts::receivers::is_paid_now;
use crate::queue;
use crate::races::{self, Changed};

/// Batches that one look makes; merchants and arrangements are few.
const GROUPS_MAX: i64 = 1_000;
/// How long after a payment was begun it is looked at again, and how long after that each time. The batch that is paid has it looked at
/// before.
const LOOK_AGAIN_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// When a prepayment is looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextLook {
    /// Nothing more happens to it by itself.
    Never,
    /// Something is due then.
    At(Timestamp),
}

/// Does what is due of a prepayment.
///
/// # Errors
/// When the database cannot be read or written; nothing is half done.
pub async fn look(app: &App, client_id: ClientId, id: PrepaymentId) -> Result<NextLook, Error> {
    let Some(prepayment) = stored::find(&app.store, client_id, id).await? else { return Ok(NextLook::Never) };
    let now = app.clock.of(client_id);
    match prepayment.status {
        PrepaymentStatus::Pending if now < prepayment.expires_at => Ok(NextLook::At(prepayment.expires_at)),
        PrepaymentStatus::Pending => end(app, &prepayment, Step::TimeOver).await,
        PrepaymentStatus::Committed => {
            let paid_at = queue::payouts::moment_of(prepayment.payment_date);
            if now < paid_at { Ok(NextLook::At(paid_at)) } else { pay(app, &prepayment).await }
        }
        PrepaymentStatus::Paid | PrepaymentStatus::Expired => Ok(NextLook::Never),
    }
}

/// Ends a prepayment without a payment, and gives its receivables back.
async fn end(app: &App, read: &StoredPrepayment, step: Step) -> Result<NextLook, Error> {
    let (client_id, id) = (read.client_id, read.id);
    races::change(|| async {
        let Some(prepayment) = stored::find(&app.store, client_id, id).await? else {
            return Ok(Changed::Already(NextLook::Never));
        };
        let now = app.clock.of(client_id);
        let Some(status) = prepayment.status.after(step) else {
            return Ok(Changed::Already(NextLook::At(now + LOOK_AGAIN_AFTER)));
        };
        let mut batch = Batch::new(client_id);
        stored::update(&mut batch, &moved(&prepayment, status, now));
        let taken = prepaid::of_prepayment(&app.store, client_id, id.uuid()).await?.len() as u64;
        if taken > 0 {
            prepaid::release(&mut batch, id.uuid(), taken, now);
        }
        let _admission = app.store.admit_waiting().await?;
        Ok(Changed::Written(app.store.apply(batch).await?, NextLook::Never))
    })
    .await
}

async fn pay(app: &App, prepayment: &StoredPrepayment) -> Result<NextLook, Error> {
    let (client_id, id) = (prepayment.client_id, prepayment.id);
    let taken = prepaid::of_prepayment(&app.store, client_id, id.uuid()).await?;
    if taken.iter().any(|order| order.batch_id.is_none()) {
        let is_begun = taken.iter().any(|order| order.batch_id.is_some());
        if !is_begun && !is_paid_now(app, client_id, prepayment.seller_id).await? {
            tracing::warn!(prepayment = %id, "the seller of a committed prepayment may not be paid any more: it is not paid");
            return end(app, prepayment, Step::Refused).await;
        }
        let known = with_late_reductions(app, prepayment, &taken).await?;
        let taking = Taking::Prepaid(id.uuid());
        for group in groups(&app.store, client_id, prepayment.seller_id, taking, GROUPS_MAX).await? {
            let belongs = |order: &Order| group_of(order) == group;
            let costs = discount(&prepayment.items, prepayment.rates, &known, belongs);
            payday::make(app, client_id, &group, taking, costs).await?;
        }
    }
    settle(app, prepayment).await
}

/// Ends a prepayment all of whose batches are paid, or had nothing to pay.
async fn settle(app: &App, prepayment: &StoredPrepayment) -> Result<NextLook, Error> {
    let client_id = prepayment.client_id;
    let taken = prepaid::of_prepayment(&app.store, client_id, prepayment.id.uuid()).await?;
    let drawn = drawn(app, client_id, &taken).await?;
    let is_settled = |batch: &PaymentBatch| match batch.status {
        BatchStatus::Paid | BatchStatus::Offset => true,
        BatchStatus::Pending | BatchStatus::Failed => false,
    };
    if taken.iter().all(|order| order.batch_id.is_some()) && drawn.iter().all(is_settled) {
        paid(app, prepayment).await
    } else {
        Ok(NextLook::At(app.clock.of(client_id) + LOOK_AGAIN_AFTER))
    }
}

/// The batches that pay these orders.
async fn drawn(app: &App, client_id: ClientId, orders: &[Order]) -> Result<Vec<PaymentBatch>, Error> {
    let ids: BTreeSet<PaymentBatchId> = orders.iter().filter_map(|order| order.batch_id).collect();
    let mut drawn = Vec::new();
    for id in ids {
        let found = batches::find(&app.store, client_id, id).await?;
        drawn.push(found.ok_or_else(|| Error::internal("an order of a batch that is not there"))?);
    }
    Ok(drawn)
}

/// Has what was given back since the commit go with the order that it reduces, and tells all orders of the charges.
async fn with_late_reductions(
    app: &App,
    prepayment: &StoredPrepayment,
    taken: &[Order],
) -> Result<Vec<Order>, Error> {
    let (client_id, id) = (prepayment.client_id, prepayment.id.uuid());
    let mut charges: Vec<ChargeId> = prepayment.items.iter().map(|item| item.charge_id).collect();
    charges.sort_unstable();
    charges.dedup();
    races::change(|| async {
        let mut known = prepaid::of_charges(&app.store, client_id, &charges).await?;
        known.retain(|order| order.receiver == prepayment.seller_id);
        let late = late_reductions(taken, &known);
        if late.is_empty() {
            return Ok(Changed::Already(known));
        }
        let mut batch = Batch::new(client_id);
        orders::prepay(&mut batch, &late, id, app.clock.of(client_id));
        let _admission = app.store.admit_waiting().await?;
        Ok(Changed::Written(app.store.apply(batch).await?, known))
    })
    .await
}

/// The batch that an order belongs to.
fn group_of(order: &Order) -> Group {
    let owner = Owner { receiver: order.receiver, merchant_id: order.merchant_id, currency: order.currency };
    Group { owner, method: order.method, arrangement: order.arrangement }
}

/// Notes that a prepayment is paid.
async fn paid(app: &App, read: &StoredPrepayment) -> Result<NextLook, Error> {
    let (client_id, id) = (read.client_id, read.id);
    races::change(|| async {
        let Some(prepayment) = stored::find(&app.store, client_id, id).await? else {
            return Ok(Changed::Already(NextLook::Never));
        };
        let Some(status) = prepayment.status.after(Step::PaidOut) else {
            return Ok(Changed::Already(NextLook::Never));
        };
        let mut batch = Batch::new(client_id);
        stored::update(&mut batch, &moved(&prepayment, status, app.clock.of(client_id)));
        let _admission = app.store.admit_waiting().await?;
        Ok(Changed::Written(app.store.apply(batch).await?, NextLook::Never))
    })
    .await
}
