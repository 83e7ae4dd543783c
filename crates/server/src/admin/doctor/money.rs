//! Compares every charge with the simulator's transaction log. The log is read first, so each of its entries was
//! recorded as intended in the database before. Differences are read a second time, since requests go on.

use std::collections::HashMap;
use std::time::Duration;

use regente_domain::id::{ChargeId, ClientId};
use regente_providers::sandbox::http::{RemoteError, RemoteSandbox};
use regente_providers::sandbox::{Filter, Holding, Holdings, Order, TransactionLog, TransactionLogError};
use regente_store::money::{self, ChargeMoney};
use regente_store::{Store, StoreError};
use tokio::time::timeout;
use uuid::Uuid;

use super::{Check, Subject, Verdict, check, failure};
use crate::admin::clients;
use crate::admin::transaction_log::{Comparison, Difference, Money, compare};
use crate::chain::chain;
use crate::config::{Config, Simulator};

const NAME: &str = "transaction log";
/// Charges that one query reads.
const CHARGES_PER_PAGE: i64 = 500;
/// Log entries that one query reads.
const ENTRIES_PER_PAGE: usize = 1000;
/// Differences that are named; further ones are only counted.
const NAMED_MAX: usize = 10;
/// Differences that are read a second time. The bound keeps a deployment in which everything differs from being read
/// twice.
const LOOKED_AT_AGAIN_MAX: usize = 1000;
/// How long a simulator in another process may take to send its whole log.
const REMOTE_TIME_MAX: Duration = Duration::from_secs(60);

/// The money of every authorization, by Regente's key.
type Booked = HashMap<Uuid, Money>;

/// Where the transaction log is.
enum Source<'a> {
    /// In this process, or in a file that this process can read.
    Here(&'a TransactionLog),
    /// In another process, read over HTTP.
    Elsewhere(RemoteSandbox),
}

/// Why nothing was compared.
#[derive(Debug, thiserror::Error)]
enum Unreadable {
    #[error("the transaction log of the simulator cannot be read")]
    Log(#[from] TransactionLogError),
    #[error("the transaction log of the simulator cannot be reached, so nothing was compared")]
    Remote(#[from] RemoteError),
    #[error("the simulator took too long to show its transaction log, so nothing was compared")]
    TooSlow,
    #[error("the charges cannot be read")]
    Store(#[from] StoreError),
}

/// Compares every charge with the simulator's transaction log.
pub(super) async fn transaction_log(subject: &Subject<'_>) -> Check {
    let source = match source(subject.config, subject.simulator_log) {
        Ok(Some(source)) => source,
        Ok(None) => {
            return check(NAME, Verdict::Ok, "the simulator has no transaction log that can be read here");
        }
        Err(failed) => return failed,
    };
    match find(subject.store, &source).await {
        // The operator looks after a simulator in another process: its absence is no fault of this deployment.
        Err(error @ (Unreadable::Remote(_) | Unreadable::TooSlow)) => {
            check(NAME, Verdict::Warning, chain(&error))
        }
        Err(error @ (Unreadable::Log(_) | Unreadable::Store(_))) => failure(NAME, &error),
        Ok(found) => check(NAME, found.verdict(), found.words()),
    }
}

fn source<'a>(config: &Config, log: Option<&'a TransactionLog>) -> Result<Option<Source<'a>>, Check> {
    match config.simulator() {
        Err(error) => Err(failure(NAME, &error)),
        Ok(Simulator::InProcess(_)) => Ok(log.map(Source::Here)),
        Ok(Simulator::Remote(options)) => match RemoteSandbox::new(options) {
            Ok(remote) => Ok(Some(Source::Elsewhere(remote))),
            Err(error) => Err(failure(NAME, &error)),
        },
    }
}

impl Source<'_> {
    async fn booked(&self) -> Result<Booked, Unreadable> {
        Ok(match self {
            Self::Here(log) => {
                holdings(log).await?.iter().map(|(key, holding)| (key, money_in(holding))).collect()
            }
            Self::Elsewhere(remote) => {
                let asked = timeout(REMOTE_TIME_MAX, remote.holdings()).await;
                let holdings = asked.map_err(|_elapsed| Unreadable::TooSlow)??;
                holdings.into_iter().map(|(key, holding)| (key, money_in(holding))).collect()
            }
        })
    }
}

/// Sums the log by authorization, a page at a time: it has a row for every call ever made.
async fn holdings(log: &TransactionLog) -> Result<Holdings, TransactionLogError> {
    let (mut holdings, mut after) = (Holdings::default(), None);
    loop {
        let page = log.page(Filter::default(), Order::OldestFirst, after, ENTRIES_PER_PAGE).await?;
        let Some(last) = page.last() else { return Ok(holdings) };
        after = Some(last.sequence);
        holdings.add(page.iter().map(|stored| &stored.entry));
    }
}

#[derive(Default)]
struct Findings {
    agree: u64,
    wait: u64,
    not_theirs: u64,
    /// Charges whose status a tester has set by hand.
    set_by_hand: Vec<Difference>,
    differences: Vec<Difference>,
    /// Authorizations in the log that belong to no charge.
    unknown: Vec<(Uuid, Money)>,
}

async fn find(store: &Store, source: &Source<'_>) -> Result<Findings, Unreadable> {
    let booked = source.booked().await?;
    let mut unknown = booked.clone();
    let mut found = Findings::default();
    let mut differing = Vec::new();
    for client in clients::all(store).await? {
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
                    | Comparison::NotInLog
                    | Comparison::SetByHand(_)
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

/// Reads the charges, then the log, then the charges' versions. A charge that changed meanwhile is compared in the next
/// round.
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

fn money_in(holding: Holding) -> Money {
    Money { reserved: holding.reserved.minor_units(), kept: holding.kept().minor_units() }
}

/// Removes the authorizations of `charge`. Those that remain at the end belong to no charge.
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
            Comparison::NotInLog => self.not_theirs += 1,
            Comparison::SetByHand(difference) => self.set_by_hand.push(difference),
            Comparison::Differs(difference) => self.differences.push(difference),
        }
    }

    /// What a tester has set by hand is meant to differ: an operator should know of it.
    fn verdict(&self) -> Verdict {
        if !self.differences.is_empty() || !self.unknown.is_empty() {
            return Verdict::Failure;
        }
        match self.set_by_hand.iter().all(Difference::is_none) {
            true => Verdict::Ok,
            false => Verdict::Warning,
        }
    }

    fn words(&self) -> String {
        let Self { agree, wait, not_theirs, set_by_hand, differences, unknown } = self;
        let mut text = format!("{agree} charges agree with the transaction log of the simulator");
        if *wait > 0 {
            text.push_str(&format!(", {wait} are under way"));
        }
        if *not_theirs > 0 {
            text.push_str(&format!(", {not_theirs} are not in them"));
        }
        let differences = differences.iter().map(Difference::to_string);
        let unknown = unknown.iter().map(|(key, money)| {
            format!("the transaction log holds {money} under key {key}, which no charge has")
        });
        let by_hand = set_by_hand.iter().map(|difference| format!("set by hand: {difference}"));
        let named: Vec<String> = differences.chain(unknown).chain(by_hand).collect();
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
