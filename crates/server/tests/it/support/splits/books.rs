//! Compares what sellers have by a charge with what the simulator was told.

use std::collections::HashMap;

use regente_domain::charge::attempt::RequestType;
use regente_domain::charge::{StateName, approved_authorization};
use regente_domain::id::{ChargeId, SellerId};
use regente_providers::outcome::Finding;
use regente_providers::sandbox::{Deed, Filter, Order};
use regente_store::{charges, sellers};
use serde_json::Value;
use uuid::Uuid;

use crate::support::app::TestApp;
use crate::support::read::text;

/// What each registration has of an authorization, in cents, by the transaction log.
async fn held(app: &TestApp, authorization_key: Uuid) -> HashMap<Uuid, i64> {
    let filter = Filter { authorization_key: Some(authorization_key), ..Filter::default() };
    let stored = app.books.page(filter, Order::OldestFirst, None, usize::MAX).await.unwrap();
    let mut held = HashMap::<Uuid, i64>::new();
    for answered in stored.iter().filter_map(|stored| stored.entry.answered()) {
        let parts = answered.division.as_deref().map(|division| {
            assert!(division.fits(answered.amount), "{division:?}");
            division
                .sellers
                .iter()
                .map(|part| (part.registration, part.amount.minor_units()))
                .collect::<Vec<_>>()
        });
        let returned = match (&answered.deed, &answered.finding) {
            (
                Deed::Authorization { .. } | Deed::Capture { .. },
                Finding::Approved(_) | Finding::Pending(_),
            ) => {
                held.extend(parts.into_iter().flatten());
                None
            }
            (Deed::Void { .. } | Deed::VoidResult { .. }, Finding::Approved(_)) => parts,
            (_, _) => None,
        };
        for (registration, amount) in returned.into_iter().flatten() {
            *held.entry(registration).or_default() -= amount;
        }
    }
    held
}

/// What the sellers of a charge have by the transaction log, in the order of the rules.
pub async fn in_books(app: &TestApp, id: &str) -> Vec<i64> {
    sellers_of(app, id).await.into_iter().map(|(_, in_books)| in_books).collect()
}

/// What each seller has, by the charge and by the log; empty where nothing was approved.
async fn sellers_of(app: &TestApp, id: &str) -> Vec<(i64, i64)> {
    let (client_id, id): (_, ChargeId) = (app.client_id(), id.parse().unwrap());
    let found = charges::find_with_requests(&app.app.store, client_id, id).await.unwrap();
    let (stored, requests) = found.unwrap();
    let requests: Vec<_> = requests.into_iter().map(|stored| stored.request).collect();
    let Some(approved) = approved_authorization(&requests) else { return Vec::new() };
    let parts = stored.charge.parts();
    assert_eq!(parts.total(), stored.charge.amount);
    let ids: Vec<SellerId> = parts.sellers.iter().map(|(id, _)| *id).collect();
    let known = sellers::find_many_ever(&app.app.store, client_id, &ids).await.unwrap();
    let held = held(app, approved.provider_key()).await;
    let part = |(id, part): &(SellerId, regente_domain::money::Amount)| {
        let seller = known.iter().find(|seller| seller.id == *id).unwrap();
        let link = seller.link(approved.provider_id).unwrap();
        (part.minor_units(), held.get(&link.key).copied().unwrap_or_default())
    };
    parts.sellers.iter().map(part).collect()
}

/// What the sellers have by the charge is what they have by the log. Of what a payer has paid too much or too little, of
/// what was taken back from them, and of what comes back of a refund the simulator is not told who has it.
pub async fn alike(app: &TestApp, id: &str) {
    let (client_id, charge_id): (_, ChargeId) = (app.client_id(), id.parse().unwrap());
    let found = charges::find_with_requests(&app.app.store, client_id, charge_id).await.unwrap();
    let (stored, requests) = found.unwrap();
    let (charge, requests) =
        (stored.charge, requests.into_iter().map(|stored| stored.request).collect::<Vec<_>>());
    let has_money = match charge.state.name() {
        StateName::PreAuthorized | StateName::Authorized | StateName::Voided | StateName::ChargedBack => true,
        StateName::Processing
        | StateName::AwaitingPayer
        | StateName::CapturePending
        | StateName::RefundPending
        | StateName::RefundAccepted
        | StateName::Failed
        | StateName::Canceled => false,
    };
    let is_told = |asked: &[regente_domain::charge::attempt::TransactionRequest]| {
        let paid = approved_authorization(asked).map(|approved| approved.amount);
        let came_back = asked.iter().any(|request| request.request_type == RequestType::RevertVoid);
        paid == Some(charge.original_amount) && !came_back
    };
    if charge.method.boleto().is_some() || !has_money || !is_told(&requests) {
        return;
    }
    for (by_charge, by_log) in sellers_of(app, id).await {
        assert_eq!(by_charge, by_log, "{charge:#?}, {requests:#?}");
    }
}

/// Each of these charges that is divided; answers how many there are.
pub async fn all_alike(app: &TestApp, charges: &[Value]) -> usize {
    let mut divided = 0;
    for charge in charges.iter().filter(|charge| charge.get("splitRules").is_some()) {
        alike(app, text(&charge["id"])).await;
        divided += 1;
    }
    divided
}
