//! What the database believes, held against the books of the simulator, all of it. The books are read first, so what they
//! hold was intended in the database before; what differs is looked at once more, since requests go on.

use std::collections::HashMap;

use regente_domain::id::{ChargeId, ClientId};
use regente_providers::sandbox::{Balance, Books, BooksError, Ledger};
use regente_store::money::{self, ChargeMoney};
use regente_store::{Store, StoreError};
use uuid::Uuid;

use super::{Check, Verdict, check, failure};
use crate::admin::books::{Comparison, Difference, Money, compare};
use crate::admin::command::all_clients;

/// Charges that one query reads.
const CHARGES_PER_PAGE: i64 = 500;
/// Differences that are named; the rest is counted.
const NAMED_MAX: usize = 10;

/// Why the books were not compared.
#[derive(Debug, thiserror::Error)]
enum Unreadable {
    #[error("the books cannot be read")]
    Books(#[from] BooksError),
    #[error("the charges cannot be read")]
    Store(#[from] StoreError),
}

#[derive(Default)]
struct Findings {
    agree: u64,
    wait: u64,
    not_theirs: u64,
    differences: Vec<Difference>,
    /// Authorizations in the books that no charge knows.
    unknown: Vec<(Uuid, Money)>,
}

/// Compares every charge with the books of the simulator.
pub(super) async fn books(store: &Store, books: Option<&Books>) -> Check {
    const NAME: &str = "books";
    let Some(books) = books else {
        return check(NAME, Verdict::Ok, "the books of the simulator are not reachable from here");
    };
    match find(store, books).await {
        Err(error) => failure(NAME, &error),
        Ok(found) => {
            let verdict = match found.differences.is_empty() && found.unknown.is_empty() {
                true => Verdict::Ok,
                false => Verdict::Failure,
            };
            check(NAME, verdict, found.words())
        }
    }
}

async fn find(store: &Store, books: &Books) -> Result<Findings, Unreadable> {
    let ledger = Ledger::of(&books.entries().await?);
    let mut unknown: HashMap<Uuid, Money> =
        ledger.balances().map(|(key, balance)| (key, money_in(balance))).collect();
    let mut found = Findings::default();
    for client in all_clients(store).await? {
        let mut after = None;
        loop {
            let page = money::page(store, client.id, after, CHARGES_PER_PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            for charge in &page {
                let first = compare(charge, |request| unknown.get(&request.provider_key()).copied());
                let settled = match first {
                    Comparison::Differs(_) => look_again(store, books, client.id, charge.id).await?,
                    Comparison::Agrees | Comparison::Waits | Comparison::NotTheirs => first,
                };
                found.count(settled);
                forget(&mut unknown, charge);
            }
        }
    }
    found.unknown = unknown.into_iter().filter(|(_, money)| *money != Money::default()).collect();
    Ok(found)
}

/// The charge and then the books once more: what has moved on meanwhile is compared next time.
async fn look_again(
    store: &Store,
    books: &Books,
    client_id: ClientId,
    id: ChargeId,
) -> Result<Comparison, Unreadable> {
    let Some(before) = money::one(store, client_id, id).await? else { return Ok(Comparison::Waits) };
    let mut booked = HashMap::new();
    for stored in &before.requests {
        let key = stored.request.provider_key();
        booked.extend(books.balance(key).await?.map(|balance| (key, money_in(balance))));
    }
    let again = compare(&before, |request| booked.get(&request.provider_key()).copied());
    let has_moved_on =
        money::one(store, client_id, id).await?.is_none_or(|now| now.version != before.version);
    Ok(if has_moved_on { Comparison::Waits } else { again })
}

fn money_in(balance: Balance) -> Money {
    Money { reserved: balance.reserved.minor_units(), kept: balance.kept().minor_units() }
}

/// What is left in the end belongs to no charge.
fn forget(unknown: &mut HashMap<Uuid, Money>, charge: &ChargeMoney) {
    for stored in &charge.requests {
        unknown.remove(&stored.request.provider_key());
    }
}

impl Findings {
    fn count(&mut self, comparison: Comparison) {
        match comparison {
            Comparison::Agrees => self.agree += 1,
            Comparison::Waits => self.wait += 1,
            Comparison::NotTheirs => self.not_theirs += 1,
            Comparison::Differs(difference) => self.differences.push(difference),
        }
    }

    fn words(&self) -> String {
        let Self { agree, wait, not_theirs, differences, unknown } = self;
        let mut text = format!("{agree} charges agree with the books of the simulator");
        if *wait > 0 {
            text.push_str(&format!(", {wait} are under way"));
        }
        if *not_theirs > 0 {
            text.push_str(&format!(", {not_theirs} are not in them"));
        }
        let differences = differences.iter().map(Difference::to_string);
        let unknown = unknown
            .iter()
            .map(|(key, money)| format!("the books hold {money} under key {key}, which no charge has"));
        let named: Vec<String> = differences.chain(unknown).collect();
        for difference in named.iter().take(NAMED_MAX) {
            text.push_str("; ");
            text.push_str(difference);
        }
        if named.len() > NAMED_MAX {
            text.push_str(&format!("; and {} more", named.len() - NAMED_MAX));
        }
        text
    }
}
