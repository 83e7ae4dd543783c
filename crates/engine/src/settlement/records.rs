//! What the records have of payments, and how charges are divided among sellers.

use std::collections::HashMap;

use regente_domain::charge::Charge;
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::id::{ChargeId, ClientId, Id, SellerId};
use regente_domain::ledger::Entry;
use regente_domain::seller::Seller;
use regente_domain::settlement::{Moved, MovedPart, Registered, Scope, moved, orphaned, shares};
use regente_domain::time::Timestamp;
use regente_store::{StoreError, charges, ledger, sellers, transaction_requests};
use uuid::Uuid;

use super::{Cursor, Part, accounts};
use crate::app::App;

/// Charges that one command reads.
const CHARGES_PER_PAGE: i64 = 500;

/// The charges that were made in the time, and earlier ones that have moved from its beginning until `moved_until`.
pub async fn page(
    app: &App,
    scope: &Scope,
    (from, to): (Timestamp, Timestamp),
    moved_until: Timestamp,
    after: Option<Cursor>,
) -> Result<(Vec<Moved>, Option<Cursor>), StoreError> {
    let (first, end) = (ChargeId::first_at(from), ChargeId::first_at(to));
    let accounts = accounts(app, scope).await?;
    let begins = |client_id| {
        let part = Part::Earlier { moved_at: from };
        Cursor { client_id, part, charge_id: Id::new(Uuid::nil()) }
    };
    let Some(at) = after.or_else(|| accounts.first().copied().map(begins)) else {
        return Ok((Vec::new(), None));
    };
    let (charges, last) = match at.part {
        Part::Earlier { moved_at } => {
            let after = (moved_at, at.charge_id);
            let limit = CHARGES_PER_PAGE;
            let moved =
                ledger::charges_moved(&app.store, at.client_id, after, moved_until, first, limit).await?;
            let last = moved.last().filter(|_| is_full(moved.len()));
            let last = last.map(|(moved_at, id)| (Part::Earlier { moved_at: *moved_at }, *id));
            let mut ids: Vec<ChargeId> = moved.into_iter().map(|(_, id)| id).collect();
            ids.sort_unstable();
            ids.dedup();
            (charges::find_many(&app.store, at.client_id, &ids).await?, last)
        }
        Part::Made => {
            let mut charges =
                charges::after(&app.store, at.client_id, at.charge_id, CHARGES_PER_PAGE).await?;
            charges.retain(|stored| stored.charge.id < end);
            let last = charges.last().filter(|_| is_full(charges.len()));
            let last = last.map(|stored| (Part::Made, stored.charge.id));
            (charges, last)
        }
    };
    let next = match (last, at.part) {
        (Some((part, charge_id)), _) => Some(Cursor { part, charge_id, ..at }),
        // Ids of the first moment begin with it, and none is lower.
        (None, Part::Earlier { .. }) => Some(Cursor { part: Part::Made, charge_id: first, ..at }),
        (None, Part::Made) => {
            let place = accounts.iter().position(|client_id| *client_id == at.client_id);
            place.and_then(|place| accounts.get(place + 1).copied()).map(begins)
        }
    };
    let charges: Vec<Charge> = charges.into_iter().map(|stored| stored.charge).collect();
    Ok((moved_of(app, scope, at.client_id, &charges).await?, next))
}

/// Whether a page of so many may be followed by another.
fn is_full(found: usize) -> bool {
    i64::try_from(found).is_ok_and(|found| found >= CHARGES_PER_PAGE)
}

/// What the records have of payments of a registered provider. An index leads from the provider's ids to the requests, so
/// none is found for the simulator, and none without a registered provider.
pub async fn find(app: &App, scope: &Scope, transaction_ids: &[String]) -> Result<Vec<Moved>, StoreError> {
    let Some(Registered { client_id, provider_id, .. }) = scope.registered else { return Ok(Vec::new()) };
    let mut ids = Vec::new();
    for transaction_id in transaction_ids {
        let found =
            transaction_requests::by_reference(&app.store, client_id, provider_id, transaction_id).await?;
        ids.extend(found.map(|stored| ChargeId::new(stored.request.object_id)));
    }
    ids.sort_unstable();
    ids.dedup();
    let charges = charges::find_many(&app.store, client_id, &ids).await?;
    let charges: Vec<Charge> = charges.into_iter().map(|stored| stored.charge).collect();
    moved_of(app, scope, client_id, &charges).await
}

async fn moved_of(
    app: &App,
    scope: &Scope,
    client_id: ClientId,
    charges: &[Charge],
) -> Result<Vec<Moved>, StoreError> {
    let ids: Vec<Uuid> = charges.iter().map(|charge| charge.id.uuid()).collect();
    let mut requests: HashMap<Uuid, Vec<TransactionRequest>> = HashMap::new();
    for stored in transaction_requests::of_objects(&app.store, client_id, &ids).await? {
        requests.entry(stored.request.object_id).or_default().push(stored.request);
    }
    let is_of_file = |moved: &Moved| {
        moved.provider_type == scope.provider_type
            && scope.registered.is_none_or(|registered| registered.provider_id == moved.provider_id)
    };
    let divided = Divided::find(app, client_id, charges).await?;
    let of = |charge: &Charge| {
        let requests = requests.get(&charge.id.uuid()).map_or(&[][..], Vec::as_slice);
        divided.with_parts(charge, requests)
    };
    Ok(charges.iter().flat_map(of).filter(is_of_file).collect())
}

/// What tells how charges are divided among sellers.
struct Divided {
    entries: HashMap<Uuid, Vec<Entry>>,
    sellers: HashMap<SellerId, Seller>,
}

impl Divided {
    async fn find(app: &App, client_id: ClientId, charges: &[Charge]) -> Result<Self, StoreError> {
        let mut divided = Self { entries: HashMap::new(), sellers: HashMap::new() };
        let ids: Vec<Uuid> =
            charges.iter().filter(|charge| charge.split.is_some()).map(|charge| charge.id.uuid()).collect();
        if ids.is_empty() {
            return Ok(divided);
        }
        for entry in ledger::of_sources(&app.store, client_id, &ids).await? {
            divided.entries.entry(entry.source.id).or_default().push(entry);
        }
        let mut sellers: Vec<SellerId> =
            divided.entries.values().flatten().filter_map(|entry| entry.seller_id).collect();
        sellers.sort_unstable();
        sellers.dedup();
        // Also those who were deleted since: what they had is settled all the same.
        let found = sellers::find_many_ever(&app.store, client_id, &sellers).await?;
        divided.sellers = found.into_iter().map(|seller| (seller.id, seller)).collect();
        Ok(divided)
    }

    /// What the requests of a charge have moved.
    fn with_parts(&self, charge: &Charge, requests: &[TransactionRequest]) -> Vec<Moved> {
        let mut moved = moved(charge, requests);
        let Some(entries) = self.entries.get(&charge.id.uuid()) else { return moved };
        let shares = shares(&moved, entries, &orphaned(requests));
        for (moved, shares) in moved.iter_mut().zip(shares) {
            let part = |(seller_id, amount)| {
                let link = self.sellers.get(&seller_id)?.link(moved.provider_id)?;
                Some(MovedPart { seller_id, recipient: link.external_id.clone()?, amount })
            };
            // Parts of which one has no name cannot be compared.
            moved.parts = shares.into_iter().map(part).collect::<Option<_>>().unwrap_or_default();
        }
        moved
    }
}
