//! Writes what receivers are due of a charge: the changes that the ledger has of it and no order has yet. Two nodes may do it at
//! once: the second one is refused, and finds nothing left to do.

use std::collections::HashMap;
use std::collections::hash_map::Entry as MapEntry;

use regente_domain::card::Brand;
use regente_domain::charge::Charge;
use regente_domain::id::{ChargeId, ClientId, PayoutOrderId};
use regente_domain::ledger::{Books, Entry, Movement, Source, Subject};
use regente_domain::payout::arrangement::Arrangement;
use regente_domain::payout::change::{Change, changes};
use regente_domain::payout::drafts::{Deal, Known, drafts};
use regente_domain::payout::method::PayoutMethod;
use regente_domain::payout::{Order, Receiver};
use regente_domain::plan::Terms;
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use regente_store::charges::{self, StoredCharge};
use regente_store::payouts::orders as rows;
use regente_store::{Batch, cards, ledger};

use crate::app::App;
use crate::error::Error;
use crate::races::{self, Changed};
use crate::{plans, queue};

/// Writes the orders of a charge that are missing.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Internal`].
pub async fn write(app: &App, client_id: ClientId, charge_id: ChargeId) -> Result<(), Error> {
    races::change(|| async {
        let Some(StoredCharge { charge, .. }) = charges::find(&app.store, client_id, charge_id).await? else {
            return Ok(Changed::Already(()));
        };
        let known = rows::of_charge(&app.store, client_id, charge_id).await?;
        let entries = ledger::of_sources(&app.store, client_id, &[charge_id.uuid()]).await?;
        let all = changes(&entries);
        let done = known.iter().map(|order| order.step).max();
        let new: Vec<&Change> =
            all.iter().filter(|change| done.is_none_or(|done| change.step > done)).collect();
        let (Some(captured), false) = (all.first(), new.is_empty()) else { return Ok(Changed::Already(())) };
        let orders = made(app, &charge, &known, &new, captured.at).await?;
        let mut batch = Batch::new(client_id);
        for order in &orders {
            rows::insert(&mut batch, order);
            queue::payouts::pay_out(app, &mut batch, order);
        }
        let fees: Vec<Entry> = orders.iter().filter_map(fee_of).collect();
        ledger::post(&mut batch, &fees);
        let _admission = app.store.admit_waiting().await?;
        Ok(Changed::Written(app.store.apply(batch).await?, ()))
    })
    .await
}

/// The orders that changes of a charge make.
async fn made(
    app: &App,
    charge: &Charge,
    known: &[Order],
    new: &[&Change],
    captured_at: Timestamp,
) -> Result<Vec<Order>, Error> {
    let client_id = charge.client_id;
    let payment_type = charge.method.payment_type();
    let method = PayoutMethod::of(payment_type).ok_or_else(|| {
        Error::internal(format!(
            "charge {}: nobody is paid out what is paid by {}",
            charge.id,
            payment_type.word()
        ))
    })?;
    let brand = brand_of(app, charge).await?;
    let mut terms: HashMap<Receiver, Terms> = HashMap::new();
    let mut of_receivers: HashMap<Receiver, Vec<Known>> = HashMap::new();
    for order in known {
        of_receivers.entry(order.receiver).or_default().push(Known::of(order));
    }
    let mut next = known.iter().map(|order| order.ordinal + 1).max().unwrap_or(0);
    let (now, mut orders) = (app.clock.of(client_id), Vec::new());
    for change in new {
        let receiver = change.receiver;
        let terms = match terms.entry(receiver) {
            MapEntry::Occupied(known) => known.into_mut(),
            MapEntry::Vacant(unknown) => {
                unknown.insert(plans::terms_of(app, client_id, receiver, captured_at).await?)
            }
        };
        let calendar = &app.settings.calendar;
        let (plan_method, installments) = (method.in_plans(), charge.method.installments());
        let deal = Deal { terms, method: plan_method, brand, installments, calendar };
        let of_receiver = of_receivers.entry(receiver).or_default();
        let drafted = drafts(of_receiver, change, &deal, next);
        next += i64::try_from(drafted.len()).unwrap_or(i64::MAX);
        of_receiver.extend(&drafted);
        orders.extend(drafted.into_iter().map(|draft| {
            let id: PayoutOrderId = app.chance.id(now);
            Order {
                id,
                client_id,
                charge_id: charge.id,
                ordinal: draft.ordinal,
                step: change.step,
                receiver,
                merchant_id: charge.merchant_id,
                order_type: draft.order_type,
                installment: draft.installment,
                total_installments: draft.total_installments,
                gross: draft.gross,
                fee: draft.fee,
                currency: charge.currency,
                method,
                arrangement: Arrangement::of(method, brand),
                scheduled_at: draft.scheduled_at,
                reduces: draft.reduces,
                batch_id: None,
                prepayment_id: None,
                // Ids made in one moment are put behind one another, and the time of creation is theirs.
                updated_at: now.max(id.created_at()),
            }
        }));
    }
    Ok(orders)
}

async fn brand_of(app: &App, charge: &Charge) -> Result<Option<Brand>, Error> {
    let Some(card_id) = charge.method.card_id() else { return Ok(None) };
    let found = cards::find_many_ever(&app.store, charge.client_id, &[card_id]).await?;
    Ok(found.first().and_then(|stored| stored.card.face.brand))
}

/// What the provider keeps of an order, or gives back with it.
fn fee_of(order: &Order) -> Option<Entry> {
    let source = Source { id: order.id.uuid(), version: 0, ordinal: 0 };
    let books = Books {
        client_id: order.client_id,
        merchant_id: order.merchant_id,
        provider_type: ProviderType::Platform,
        currency: order.currency,
    };
    let (movement, at) = (Movement::ProviderFee, order.updated_at);
    books.entry(source, at, movement, Subject::Provider, order.receiver, order.fee)
}
