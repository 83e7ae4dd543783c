//! Prepayment: receivables of the platform's own provider that are paid early (`docs/interface/prepayment.md`). [`available`] says
//! which there are, [`plan_simulation`] makes an offer and [`plan_commit`] accepts it, [`look`] is the job that ends or pays it.

mod available;
mod pay;

use std::collections::BTreeSet;

use regente_domain::id::{ChargeId, ClientId, PrepaymentId, SellerId};
use regente_domain::prepayment::{
    NewPrepayment, Offers, PrepaymentStatus, Rates, Receivable, Refusal, Schedule, Step, Totals, unchanged,
};
use regente_domain::time::{Timestamp, later_of};
use regente_store::prepayments::{self as stored, StoredPrepayment};
use regente_store::{Batch, charges, clients, payouts};

pub use pay::{NextLook, look};

use crate::app::App;
use crate::caller::{Caller, RequestId};
use crate::error::Error;
use crate::{audit, queue};
use available::{Available, available, available_of, has_any};

/// Most receivables of one prepayment.
const ITEMS_MAX: usize = 10_000;
/// The rule of `endDate` and `dates` where there are more.
const TOO_MANY: &str = "must choose no more than 10000 receivables";

/// The receivables of a seller, or of the account itself, that could be paid early now, by the day on which they are settled.
///
/// # Errors
/// [`Refusal::NotEnabled`].
pub async fn receivables(
    app: &App,
    client_id: ClientId,
    seller_id: Option<SellerId>,
) -> Result<Vec<Receivable>, Error> {
    rates_of(app, client_id).await?;
    let payment_date = Schedule::of(&app.settings.calendar, app.clock.of(client_id)).payment_date;
    available(app, client_id, seller_id, payment_date).await
}

/// An offer to pay receivables early, and the batch that writes it, with the job that ends it.
///
/// # Errors
/// [`Refusal::NotEnabled`], [`Refusal::NoReceivables`], [`Refusal::NothingAvailable`]; [`Error::Invalid`] for too many receivables.
pub async fn plan_simulation(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    new: &NewPrepayment,
) -> Result<(Batch, StoredPrepayment), Error> {
    let client_id = caller.client_id;
    let rates = rates_of(app, client_id).await?;
    let id: PrepaymentId = app.chance.id(app.clock.of(client_id));
    let Schedule { expires_at, payment_date } = Schedule::of(&app.settings.calendar, id.created_at());
    let found = available(app, client_id, new.seller_id, payment_date).await?;
    let is_wanted = |receivable: &Receivable| new.selection.takes(receivable.settlement_date);
    let chosen: Vec<Receivable> = found.into_iter().filter(is_wanted).collect();
    if chosen.is_empty() {
        let refusal = match has_any(app, client_id, new.seller_id).await? {
            true => Refusal::NothingAvailable,
            false => Refusal::NoReceivables,
        };
        return Err(Error::PrepaymentRefused(refusal));
    }
    if chosen.len() > ITEMS_MAX {
        return Err(Error::invalid("endDate", TOO_MANY));
    }
    let mut offers = Offers::at(rates);
    let items: Vec<_> = chosen.into_iter().map(|receivable| offers.item(payment_date, receivable)).collect();
    Totals::of(&items).ok_or_else(|| Error::internal("receivables above what an amount can hold"))?;
    let made = StoredPrepayment {
        id,
        client_id,
        seller_id: new.seller_id,
        status: PrepaymentStatus::Pending,
        expires_at,
        payment_date,
        selection: new.selection.clone(),
        rates,
        items,
        unknown: serde_json::Map::new(),
        version: 1,
        updated_at: id.created_at(),
    };
    let mut batch = Batch::new(client_id);
    stored::insert(&mut batch, &made)?;
    queue::prepayments::look_at(app, &mut batch, id, expires_at);
    audit::record(app, &mut batch, caller, request_id, "prepayment.simulated", id.uuid());
    Ok((batch, made))
}

/// A prepayment of the account.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn find(app: &App, client_id: ClientId, id: PrepaymentId) -> Result<StoredPrepayment, Error> {
    stored::find(&app.store, client_id, id).await?.ok_or(Error::NotFound)
}

/// Accepts an offer: the batch is refused unless its receivables, and the charges that they are of, are as they were looked at now, and
/// nobody else has accepted it, or another offer of one of them.
///
/// # Errors
/// [`Error::NotFound`], [`Refusal::NotPending`], [`Refusal::Expired`], [`Refusal::ReceivablesChanged`].
pub async fn plan_commit(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    id: PrepaymentId,
) -> Result<(Batch, StoredPrepayment), Error> {
    let client_id = caller.client_id;
    let offer = find(app, client_id, id).await?;
    let now = app.clock.of(client_id);
    let is_over = offer.status.at(now, offer.expires_at) == PrepaymentStatus::Expired;
    let status = match offer.status.after(Step::Accepted) {
        _ if is_over => return Err(Error::PrepaymentRefused(Refusal::Expired)),
        Some(status) => status,
        None => return Err(Error::PrepaymentRefused(Refusal::NotPending)),
    };
    let of_charges: BTreeSet<ChargeId> = offer.items.iter().map(|item| item.charge_id).collect();
    let of_charges: Vec<ChargeId> = of_charges.into_iter().collect();
    let Available { receivables, charges } =
        available_of(app, client_id, offer.seller_id, (&of_charges, offer.payment_date)).await?;
    let (mut batch, mut orders) = (Batch::new(client_id), Vec::new());
    let accepted = unchanged(&offer.items, &receivables);
    for receivable in accepted.ok_or(Error::PrepaymentRefused(Refusal::ReceivablesChanged))? {
        orders.push(receivable.id);
        orders.extend(&receivable.reductions);
    }
    for charge in of_charges.iter().filter_map(|id| charges.get(id)) {
        charges::stand_still(&mut batch, charge);
    }
    let committed = moved(&offer, status, now);
    stored::update(&mut batch, &committed);
    payouts::orders::prepay(&mut batch, &orders, id.uuid(), now);
    let paid_at = queue::payouts::moment_of(offer.payment_date);
    queue::prepayments::look_at(app, &mut batch, id, paid_at);
    audit::record(app, &mut batch, caller, request_id, "prepayment.committed", id.uuid());
    Ok((batch, committed))
}

/// A prepayment in another status, still at the version that was read.
fn moved(prepayment: &StoredPrepayment, status: PrepaymentStatus, now: Timestamp) -> StoredPrepayment {
    StoredPrepayment { status, updated_at: later_of(now, prepayment.updated_at), ..prepayment.clone() }
}

async fn rates_of(app: &App, client_id: ClientId) -> Result<Rates, Error> {
    let client = clients::find(&app.store, client_id).await?;
    client.and_then(|client| client.prepayment).ok_or(Error::PrepaymentRefused(Refusal::NotEnabled))
}
