//! Posts lines of settlement files to the ledger.

use std::collections::{BTreeMap, HashMap, HashSet};

use regente_domain::charge::Charge;
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::currency::Currency;
use regente_domain::id::{ChargeId, ClientId, TransactionRequestId};
use regente_domain::ledger::{Books, Entry};
use regente_domain::settlement::{Line, Posting, Registered, Settled, entries, orphaned, source_of};
use regente_store::{Batch, Commit, StoreError, charges, ledger, transaction_requests};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::app::App;
use crate::races;

/// What became of postings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posted {
    /// Lines that were posted now.
    pub posted: u64,
    /// Entries of these.
    pub entries: u64,
    /// Lines that had been posted before.
    pub known: u64,
    /// Lines that had been posted before with another content. What is posted stays.
    pub otherwise: Vec<Otherwise>,
}

/// A line that was posted before with another content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Otherwise {
    /// The line as it is now.
    pub line: Line,
    /// What would be posted of it: time, account debited, account credited and amount of each entry.
    pub wanted: Vec<String>,
    /// What is posted.
    pub posted: Vec<String>,
}

/// Why lines were not posted.
#[derive(Debug, thiserror::Error)]
pub enum PostError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The connection was lost during the commit.
    #[error("it is not known whether the lines were posted")]
    Unknown,
    /// Others post the same lines, again and again.
    #[error("somebody else imports the same file; run it again afterwards")]
    Busy,
}

/// Posts lines to the ledger.
///
/// # Errors
/// What was posted before stays; run again, the rest is posted.
pub async fn post(app: &App, postings: Vec<Posting>) -> Result<Posted, PostError> {
    let mut by_client: BTreeMap<ClientId, Vec<Posting>> = BTreeMap::new();
    for posting in postings {
        by_client.entry(posting.registered.client_id).or_default().push(posting);
    }
    let mut posted = Posted::default();
    for (client_id, postings) in by_client {
        post_of(app, client_id, &postings, &mut posted).await?;
    }
    Ok(posted)
}

/// Posts lines of one account in one batch. A line has all of its entries or none, so what was posted before is left out.
async fn post_of(
    app: &App,
    client_id: ClientId,
    postings: &[Posting],
    posted: &mut Posted,
) -> Result<(), PostError> {
    let divided = Divided::find(app, client_id, postings).await?;
    let wanted: Vec<(&Line, Vec<Entry>)> =
        postings.iter().map(|posting| (&posting.line, entries_of(posting, &divided))).collect();
    let sources: Vec<Uuid> =
        postings.iter().map(|posting| source_of(posting.registered.provider_id, &posting.line)).collect();
    for _ in races::tries() {
        let mut there: HashMap<Uuid, Vec<Entry>> = HashMap::new();
        for entry in ledger::of_sources(&app.store, client_id, &sources).await? {
            there.entry(entry.source.id).or_default().push(entry);
        }
        let mut batch = Batch::new(client_id);
        let mut now = Posted::default();
        for ((line, entries), source) in wanted.iter().zip(&sources) {
            match there.get(source) {
                Some(known) if known == entries => now.known += 1,
                Some(known) => now.otherwise.push(otherwise(line, entries, known)),
                None if entries.is_empty() => {}
                None => {
                    ledger::post(&mut batch, entries);
                    now.posted += 1;
                    now.entries += entries.len() as u64;
                }
            }
        }
        let commit = match batch.is_empty() {
            true => Commit::Applied,
            false => {
                let _admission = app.store.admit_waiting().await?;
                app.store.apply(batch).await?
            }
        };
        match commit {
            Commit::Applied => {
                posted.posted += now.posted;
                posted.entries += now.entries;
                posted.known += now.known;
                posted.otherwise.extend(now.otherwise);
                return Ok(());
            }
            // Somebody else has posted one of the lines; the next look shows it.
            Commit::Refused(_) => {}
            Commit::Unknown => return Err(PostError::Unknown),
        }
    }
    Err(PostError::Busy)
}

fn otherwise(line: &Line, wanted: &[Entry], posted: &[Entry]) -> Otherwise {
    let shown = |entry: &Entry| {
        let Entry { at, debit, credit, amount, currency, .. } = *entry;
        let seller = entry.seller_id.map_or_else(String::new, |id| format!(" of seller {id}"));
        format!(
            "{at} debit {}, credit {}{seller}: {}",
            debit.word(),
            credit.word(),
            amount.shown_in(currency)
        )
    };
    let shown = |entries: &[Entry]| entries.iter().map(shown).collect();
    Otherwise { line: line.clone(), wanted: shown(wanted), posted: shown(posted) }
}

/// The charges that are divided among sellers.
struct Divided {
    charges: HashMap<ChargeId, Charge>,
    orphaned: HashSet<TransactionRequestId>,
}

impl Divided {
    async fn find(app: &App, client_id: ClientId, postings: &[Posting]) -> Result<Self, StoreError> {
        let mut divided = Self { charges: HashMap::new(), orphaned: HashSet::new() };
        let split = postings.iter().filter_map(|posting| posting.split);
        let mut ids: Vec<ChargeId> = split.map(|(charge_id, _)| charge_id).collect();
        if ids.is_empty() {
            return Ok(divided);
        }
        ids.sort_unstable();
        ids.dedup();
        for stored in charges::find_many(&app.store, client_id, &ids).await? {
            divided.charges.insert(stored.charge.id, stored.charge);
        }
        let ids: Vec<Uuid> = ids.iter().map(|id| id.uuid()).collect();
        let mut requests: HashMap<Uuid, Vec<TransactionRequest>> = HashMap::new();
        for stored in transaction_requests::of_objects(&app.store, client_id, &ids).await? {
            requests.entry(stored.request.object_id).or_default().push(stored.request);
        }
        divided.orphaned = requests.values().flat_map(|requests| orphaned(requests)).collect();
        Ok(divided)
    }

    /// The charge whose sellers bear a fee. What was taken unknown to it, and given back, was never theirs.
    fn bearing(&self, (charge_id, request_id): (ChargeId, TransactionRequestId)) -> Option<&Charge> {
        self.charges.get(&charge_id).filter(|_| !self.orphaned.contains(&request_id))
    }
}

fn entries_of(posting: &Posting, divided: &Divided) -> Vec<Entry> {
    let Posting { line, registered, provider_type, split, borne } = posting;
    let Some(currency) = Currency::parse(&line.currency) else { return Vec::new() };
    let Registered { client_id, merchant_id, provider_id } = *registered;
    let books = Books { client_id, merchant_id, provider_type: *provider_type, currency };
    let charge = split.and_then(|split| divided.bearing(split));
    entries(books, Settled { line, provider_id, borne }, charge)
}
