//! Compares the ledger with the charges, and opens the books of charges that were never posted: those that a release
//! without a ledger has moved. Everything else is posted with the charge (`store/src/charges.rs`).

use std::collections::HashMap;

use regente_domain::charge::Charge;
use regente_domain::id::{ChargeId, ClientId};
use regente_domain::ledger::{self as books, Entry};
use regente_store::charges::StoredCharge;
use regente_store::{Batch, Commit, Store, StoreError, charges, ledger};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::app::App;
use crate::error::Error;
use crate::{queue, races};

/// Charges that one query reads.
const CHARGES_PER_PAGE: i64 = 200;

/// What becomes of a charge that the books do not have as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repair {
    /// It is reported.
    Leave,
    /// What is missing is posted.
    Post,
}

/// What a comparison found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Charges that were looked at.
    pub charges: u64,
    /// Charges for which something was posted.
    pub posted: u64,
    /// Charges that the books do not have as they are.
    pub differing: Vec<ChargeId>,
    /// Charges that moved during every look.
    pub busy: u64,
}

/// How a charge stands in the books.
enum Stands {
    Right,
    Posted,
    Wrong,
    Moving,
}

/// Compares what the books hold of each charge of a client with the charge.
///
/// # Errors
/// [`Error`] when the database cannot be read or written.
pub async fn compare(app: &App, client_id: ClientId, repair: Repair) -> Result<Compared, Error> {
    let (mut found, mut after) = (Compared::default(), ChargeId::new(Uuid::nil()));
    loop {
        let page = charges::after(&app.store, client_id, after, CHARGES_PER_PAGE).await?;
        let Some(last) = page.last() else { return Ok(found) };
        after = last.charge.id;
        for id in suspects(&app.store, client_id, &page).await? {
            match look(app, client_id, id, repair).await? {
                Stands::Right => {}
                Stands::Posted => found.posted += 1,
                Stands::Wrong => found.differing.push(id),
                Stands::Moving => found.busy += 1,
            }
        }
        found.charges += page.len() as u64;
    }
}

/// Charges that differ, or that have moved between the two reads.
async fn suspects(
    store: &Store,
    client_id: ClientId,
    page: &[StoredCharge],
) -> Result<Vec<ChargeId>, StoreError> {
    let ids: Vec<Uuid> = page.iter().map(|stored| stored.charge.id.uuid()).collect();
    let mut posted: HashMap<Uuid, Vec<Entry>> = HashMap::new();
    for entry in ledger::of_sources(store, client_id, &ids).await? {
        posted.entry(entry.source.id).or_default().push(entry);
    }
    let differs = |charge: &Charge| {
        let entries = posted.get(&charge.id.uuid()).into_iter().flatten();
        books::posted(entries) != books::position(charge)
    };
    let charges = page.iter().map(|stored| &stored.charge);
    Ok(charges.filter(|charge| differs(charge)).map(|charge| charge.id).collect())
}

/// Looks at one charge, which must stand still while its entries are read.
async fn look(app: &App, client_id: ClientId, id: ChargeId, repair: Repair) -> Result<Stands, Error> {
    let mut known = charges::find(&app.store, client_id, id).await?;
    for _ in races::tries() {
        let Some(StoredCharge { charge, .. }) = known else { return Ok(Stands::Right) };
        let entries = ledger::of_sources(&app.store, client_id, &[id.uuid()]).await?;
        known = charges::find(&app.store, client_id, id).await?;
        if known.as_ref().is_none_or(|now| now.charge.version != charge.version) {
            continue;
        }
        let missing = books::opening(&charge, books::posted(&entries));
        if missing.is_empty() {
            return Ok(Stands::Right);
        }
        match repair {
            Repair::Leave => return Ok(Stands::Wrong),
            Repair::Post => {}
        }
        let mut batch = Batch::new(client_id);
        charges::stand_still(&mut batch, &charge);
        ledger::post(&mut batch, &missing);
        queue::payouts::write_orders(app, &mut batch, &charge);
        let _admission = app.store.admit_waiting().await?;
        match app.store.apply(batch).await? {
            Commit::Applied => return Ok(Stands::Posted),
            // It has moved, or somebody else has posted it; the next look shows it.
            Commit::Refused(_) | Commit::Unknown => known = charges::find(&app.store, client_id, id).await?,
        }
    }
    Ok(Stands::Moving)
}
