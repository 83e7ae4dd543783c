//! What the database believes, held against the books of the simulator, all of it. The books are read first, so what they
//! hold was intended in the database before; what differs is looked at once more, since requests go on.

use std::collections::HashMap;
use std::time::Duration;

use regente_domain::id::{ChargeId, ClientId};
use regente_providers::sandbox::http::{RemoteError, RemoteSandbox};
use regente_providers::sandbox::{Balance, Books, BooksError, Filter, Ledger, Order};
use regente_store::money::{self, ChargeMoney};
use regente_store::{Store, StoreError};
use tokio::time::timeout;
use uuid::Uuid;

use super::{Check, Subject, Verdict, check, failure};
use crate::admin::books::{Comparison, Difference, Money, compare};
use crate::admin::command::all_clients;
use crate::chain::chain;
use crate::config::{Config, Simulator};

const NAME: &str = "books";
/// Charges that one query reads.
const CHARGES_PER_PAGE: i64 = 500;
/// Entries of the books that one query reads.
const ENTRIES_PER_PAGE: usize = 1000;
/// Differences that are named; the rest is counted.
const NAMED_MAX: usize = 10;
/// Differences that are looked at once more, so that a deployment in which everything differs is not read twice.
const LOOKED_AT_AGAIN_MAX: usize = 1000;
/// How long a simulator in another process may take for all of its books.
const REMOTE_TIME_MAX: Duration = Duration::from_secs(60);

/// The money of every authorization, by our key.
type Booked = HashMap<Uuid, Money>;

/// Where the books are.
enum Source<'a> {
    /// In this process, or in a file that it can read.
    Here(&'a Books),
    /// In another process, which is asked.
    Elsewhere(RemoteSandbox),
}

/// Why nothing was compared.
#[derive(Debug, thiserror::Error)]
enum Unreadable {
    #[error("the books cannot be read")]
    Books(#[from] BooksError),
    #[error("the books cannot be reached, so nothing was compared")]
    Remote(#[from] RemoteError),
    #[error("the simulator took too long to show its books, so nothing was compared")]
    TooSlow,
    #[error("the charges cannot be read")]
    Store(#[from] StoreError),
}

/// Compares every charge with the books of the simulator.
pub(super) async fn books(subject: &Subject<'_>) -> Check {
    let source = match source(subject.config, subject.books) {
        Ok(Some(source)) => source,
        Ok(None) => return check(NAME, Verdict::Ok, "the simulator has no books that can be read here"),
        Err(failed) => return failed,
    };
    match find(subject.store, &source).await {
        // A simulator that is away is the operator's business, and no fault of this deployment.
        Err(error @ (Unreadable::Remote(_) | Unreadable::TooSlow)) => {
            check(NAME, Verdict::Warning, chain(&error))
        }
        Err(error @ (Unreadable::Books(_) | Unreadable::Store(_))) => failure(NAME, &error),
        Ok(found) => {
            let verdict = match found.differences.is_empty() && found.unknown.is_empty() {
                true => Verdict::Ok,
                false => Verdict::Failure,
            };
            check(NAME, verdict, found.words())
        }
    }
}

fn source<'a>(config: &Config, books: Option<&'a Books>) -> Result<Option<Source<'a>>, Check> {
    match config.simulator() {
        Err(error) => Err(failure(NAME, &error)),
        Ok(Simulator::InProcess(_)) => Ok(books.map(Source::Here)),
        Ok(Simulator::Remote(options)) => match RemoteSandbox::new(options) {
            Ok(remote) => Ok(Some(Source::Elsewhere(remote))),
            Err(error) => Err(failure(NAME, &error)),
        },
    }
}

impl Source<'_> {
    async fn booked(&self) -> Result<Booked, Unreadable> {
        Ok(match self {
            Self::Here(books) => {
                ledger(books).await?.balances().map(|(key, balance)| (key, money_in(balance))).collect()
            }
            Self::Elsewhere(remote) => {
                let asked = timeout(REMOTE_TIME_MAX, remote.balances()).await;
                let balances = asked.map_err(|_elapsed| Unreadable::TooSlow)??;
                balances.into_iter().map(|(key, balance)| (key, money_in(balance))).collect()
            }
        })
    }
}

/// The books added up, a page at a time: they have a row for every call that was ever made.
async fn ledger(books: &Books) -> Result<Ledger, BooksError> {
    let (mut ledger, mut after) = (Ledger::default(), None);
    loop {
        let page = books.page(Filter::default(), Order::OldestFirst, after, ENTRIES_PER_PAGE).await?;
        let Some(last) = page.last() else { return Ok(ledger) };
        after = Some(last.sequence);
        ledger.add(page.iter().map(|stored| &stored.entry));
    }
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

async fn find(store: &Store, source: &Source<'_>) -> Result<Findings, Unreadable> {
    let booked = source.booked().await?;
    let mut unknown = booked.clone();
    let mut found = Findings::default();
    let mut differing = Vec::new();
    for client in all_clients(store).await? {
        let mut after = None;
        loop {
            let page = money::page(store, client.id, after, CHARGES_PER_PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            for charge in &page {
                forget(&mut unknown, charge);
                match against(charge, &booked) {
                    Comparison::Differs(_) if differing.len() < LOOKED_AT_AGAIN_MAX => {
                        differing.push((client.id, charge.id));
                    }
                    settled @ (Comparison::Agrees
                    | Comparison::Waits
                    | Comparison::NotTheirs
                    | Comparison::Differs(_)) => found.count(settled),
                }
            }
        }
    }
    for settled in look_again(store, source, &differing).await? {
        found.count(settled);
    }
    found.unknown = unknown.into_iter().filter(|(_, money)| *money != Money::default()).collect();
    Ok(found)
}

/// The charges, then the books, then the versions of the charges: what has moved on meanwhile is compared next time.
async fn look_again(
    store: &Store,
    source: &Source<'_>,
    differing: &[(ClientId, ChargeId)],
) -> Result<Vec<Comparison>, Unreadable> {
    if differing.is_empty() {
        return Ok(Vec::new());
    }
    let mut charges = Vec::new();
    for (client_id, id) in differing {
        charges.push(money::one(store, *client_id, *id).await?);
    }
    let booked = source.booked().await?;
    let mut settled = Vec::new();
    for ((client_id, id), charge) in differing.iter().zip(charges) {
        let now = money::one(store, *client_id, *id).await?;
        let stands_still =
            |charge: &ChargeMoney| now.as_ref().is_some_and(|now| now.version == charge.version);
        settled.push(match charge.filter(stands_still) {
            Some(charge) => against(&charge, &booked),
            None => Comparison::Waits,
        });
    }
    Ok(settled)
}

fn against(charge: &ChargeMoney, booked: &Booked) -> Comparison {
    compare(charge, |request| booked.get(&request.provider_key()).copied())
}

fn money_in(balance: Balance) -> Money {
    Money { reserved: balance.reserved.minor_units(), kept: balance.kept().minor_units() }
}

/// What is left in the end belongs to no charge.
fn forget(unknown: &mut Booked, charge: &ChargeMoney) {
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
