//! Which receivables can be paid early.

use std::collections::{BTreeMap, HashMap};

use jiff::civil::Date;
use regente_domain::charge::Charge;
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::currency::Currency;
use regente_domain::id::{ChargeId, ClientId};
use regente_domain::payout::{Order, Receiver};
use regente_domain::prepayment::{Receivable, receivables, stands_still};
use regente_store::payouts::prepaid;
use regente_store::{charges, transaction_requests};
use uuid::Uuid;

use crate::app::App;
use crate::error::Error;
use crate::payouts::receivers::is_paid_now;

/// Charges that are read at once.
const CHARGES_PER_PAGE: usize = 200;
/// In which currency the platform's own provider settles.
const SETTLED_IN: &str = "BRL";

/// What can be paid early, and what it is of.
#[derive(Default)]
pub(super) struct Available {
    /// What can be paid early.
    pub(super) receivables: Vec<Receivable>,
    /// Their charges, as they were looked at.
    pub(super) charges: HashMap<ChargeId, Charge>,
}

/// What is settled later than on a day, by the day: of charges that are captured, that nothing is under way with and that nobody disputes,
/// unless the seller may not be paid.
pub(super) async fn available(
    app: &App,
    client_id: ClientId,
    receiver: Receiver,
    after: Date,
) -> Result<Vec<Receivable>, Error> {
    let mut receivables = Vec::new();
    if !is_paid_now(app, client_id, receiver).await? {
        return Ok(receivables);
    }
    let limit = i64::try_from(CHARGES_PER_PAGE).map_err(Error::internal)?;
    let (of, mut last) = ((receiver, brl()?), ChargeId::new(Uuid::nil()));
    loop {
        let page = prepaid::open_charges(&app.store, client_id, of, (after, last), limit).await?;
        let Some(next) = page.last() else { break };
        last = *next;
        let mut found = Available::default();
        look_at(app, client_id, receiver, (&page, after), &mut found).await?;
        receivables.append(&mut found.receivables);
    }
    receivables.sort_by_key(|receivable| (receivable.settlement_date, receivable.id));
    Ok(receivables)
}

/// What of these charges is settled later than on a day and can be paid early, with the charges as they were looked at.
pub(super) async fn available_of(
    app: &App,
    client_id: ClientId,
    receiver: Receiver,
    (charges, after): (&[ChargeId], Date),
) -> Result<Available, Error> {
    let mut found = Available::default();
    if is_paid_now(app, client_id, receiver).await? {
        for page in charges.chunks(CHARGES_PER_PAGE) {
            look_at(app, client_id, receiver, (page, after), &mut found).await?;
        }
    }
    Ok(found)
}

/// Adds what is available of these charges.
async fn look_at(
    app: &App,
    client_id: ClientId,
    receiver: Receiver,
    (ids, after): (&[ChargeId], Date),
    found: &mut Available,
) -> Result<(), Error> {
    // The orders first: a charge that moves after them does not agree with them, or does not stand still until the commit.
    let mut of_charge: BTreeMap<ChargeId, Vec<Order>> = BTreeMap::new();
    for order in prepaid::of_charges(&app.store, client_id, ids).await? {
        if order.receiver == receiver {
            of_charge.entry(order.charge_id).or_default().push(order);
        }
    }
    let objects: Vec<Uuid> = ids.iter().map(|id| id.uuid()).collect();
    let stored = charges::find_many(&app.store, client_id, ids).await?;
    let mut requests: HashMap<Uuid, Vec<TransactionRequest>> = HashMap::new();
    for stored in transaction_requests::of_objects(&app.store, client_id, &objects).await? {
        requests.entry(stored.request.object_id).or_default().push(stored.request);
    }
    for charge in stored.into_iter().map(|stored| stored.charge) {
        let Some(orders) = of_charge.get(&charge.id) else { continue };
        let of_charge = requests.get(&charge.id.uuid()).map(Vec::as_slice).unwrap_or_default();
        if stands_still(&charge, receiver, orders) && !charge.is_disputed(of_charge) {
            found.receivables.extend(receivables(orders, after));
            found.charges.insert(charge.id, charge);
        }
    }
    Ok(())
}

/// Whether there is anything that is not paid out yet, whatever stands against paying it early.
pub(super) async fn has_any(app: &App, client_id: ClientId, receiver: Receiver) -> Result<bool, Error> {
    let from = (Date::MIN, ChargeId::new(Uuid::nil()));
    Ok(!prepaid::open_charges(&app.store, client_id, (receiver, brl()?), from, 1).await?.is_empty())
}

fn brl() -> Result<Currency, Error> {
    Currency::parse(SETTLED_IN).ok_or_else(|| Error::internal("BRL is no currency"))
}
