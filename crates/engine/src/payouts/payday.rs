//! Makes payment batches of what is due to those who may be paid: one for each receiver, merchant, method and arrangement. Two nodes may
//! do it at once: an order is in one batch, and who finds it taken looks again.

use jiff::civil::Date;
use regente_domain::actor::Actor;
use regente_domain::id::{ClientId, PaymentBatchId};
use regente_domain::ledger::{Books, Movement, Source, Subject};
use regente_domain::local_day;
use regente_domain::payout::batch::{Sums, draw};
use regente_domain::payout::transfer::Sending;
use regente_domain::payout::{BatchStatus, Feature, Receiver};
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use regente_store::payouts::batches::{self, PaymentBatch};
use regente_store::payouts::{Group, Taking, debts, due_receivers, groups, sums, take};
use regente_store::{Batch, ledger};

use super::receivers;
use crate::app::App;
use crate::error::Error;
use crate::queue::Kind;
use crate::races::{self, Changed};
use crate::{audit, queue};

/// Receivers that one look finds.
const RECEIVERS_MAX: i64 = 200;
/// Groups of a receiver that one look finds.
const GROUPS_MAX: i64 = 200;
/// The place of the entry about a prepayment among those of a batch.
const ANTICIPATION: i64 = 2;

/// Makes the batches of everything that is due in an account to those who may be paid, and returns how many.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Internal`]. What is made stays.
pub async fn pay_out(app: &App, client_id: ClientId) -> Result<usize, Error> {
    let today = local_day::day_of(app.clock.of(client_id));
    let (mut made, mut after) = (0, None);
    loop {
        let due = due_receivers(&app.store, client_id, today, after, RECEIVERS_MAX).await?;
        // Who is not paid stays among them: the next look begins behind.
        after = due.last().copied();
        if after.is_none() {
            return Ok(made);
        }
        for receiver in receivers::paid_now(app, client_id, &due).await? {
            made += pay(app, client_id, receiver, Taking::Due(today)).await?;
        }
    }
}

/// Makes the batches of everything that is due to one receiver.
async fn pay(app: &App, client_id: ClientId, receiver: Receiver, taking: Taking) -> Result<usize, Error> {
    let mut made = 0;
    loop {
        let groups = groups(&app.store, client_id, receiver, taking, GROUPS_MAX).await?;
        if groups.is_empty() {
            return Ok(made);
        }
        for group in groups {
            made += usize::from(make(app, client_id, &group, taking, 0).await?.is_some());
        }
    }
}

/// Makes one batch of what a group has, at a discount, and hands it to the bank. `None` when there is nothing any more.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Internal`].
pub async fn make(
    app: &App,
    client_id: ClientId,
    group: &Group,
    taking: Taking,
    discount: i64,
) -> Result<Option<PaymentBatchId>, Error> {
    races::change(|| async {
        let (orders, of_orders) = sums(&app.store, client_id, group, taking).await?;
        if orders == 0 {
            return Ok(Changed::Already(None));
        }
        let debt = debts::find(&app.store, client_id, &group.owner).await?;
        let drawn = draw(&Sums { discount, ..of_orders }, debt.amount);
        let now = app.clock.of(client_id);
        let id: PaymentBatchId = app.chance.id(now);
        // What was not paid out on its day, because nothing ran, may be found on a weekend.
        let payment_date = app.settings.calendar.on_or_after(local_day::day_of(now));
        let made = PaymentBatch {
            id,
            client_id,
            group: *group,
            feature: Feature::of(group.method),
            status: drawn.status,
            prepayment_id: match taking {
                Taking::Due(_) => None,
                Taking::Prepaid(prepayment_id) => Some(prepayment_id),
            },
            orders,
            figures: drawn.figures,
            payment_date,
            payout_date: None,
            transfer: Sending::Unsent,
            looks: 0,
            error: None,
            version: 1,
            updated_at: now.max(id.created_at()),
        };
        let mut batch = Batch::new(client_id);
        debts::set(&mut batch, &group.owner, debt, drawn.debt, now);
        batches::insert(&mut batch, &made);
        take(&mut batch, (group, taking), (id, orders), now);
        post(&mut batch, &made, (Movement::Anticipation, ANTICIPATION), discount, now);
        match drawn.status {
            BatchStatus::Pending => {
                let at = queue::payouts::moment_of(payment_date).max(now);
                queue::payouts::transfer(app, &mut batch, id, at);
            }
            BatchStatus::Offset | BatchStatus::Paid | BatchStatus::Failed => {}
        }
        let job = Actor::Job(Kind::Payday.word());
        audit::record_of(app, &mut batch, (&job, None), "payment_batch.created", id.uuid());
        let _admission = app.store.admit_waiting().await?;
        Ok(Changed::Written(app.store.apply(batch).await?, Some(id)))
    })
    .await
}

/// Posts an amount that the provider keeps or pays out of a batch.
pub(super) fn post(
    batch: &mut Batch,
    of: &PaymentBatch,
    (movement, ordinal): (Movement, i64),
    minor_units: i64,
    at: Timestamp,
) {
    let owner = &of.group.owner;
    let books = Books {
        client_id: of.client_id,
        merchant_id: owner.merchant_id,
        provider_type: ProviderType::Platform,
        currency: owner.currency,
    };
    let source = Source { id: of.id.uuid(), version: 0, ordinal };
    let entry = books.entry(source, at, movement, Subject::Provider, owner.receiver, minor_units);
    ledger::post(batch, entry.as_slice());
}

/// The next business day, in the account's time.
pub(super) fn next_day(app: &App, now: Timestamp) -> Date {
    app.settings.calendar.after(local_day::day_of(now))
}
