//! Creates a database with many charges by the product itself: its router, flows and batches run in this process,
//! with a clock that moves through the past days. So each charge leaves the same rows as in production.

mod facts;
mod history;
mod server;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use regente_domain::time::Timestamp;
use regente_engine::clock::Clock;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::figures::number;
use super::{Database, FOLDER};
use crate::Outcome;
use crate::place::{Account, Inside, Place, one_simulator};
pub(super) use facts::{Facts, Kind};
pub(super) use server::{RowsRead, Server};

/// The charges are spread over this many past days.
const DAYS: u64 = 30;
const DAY: Duration = Duration::from_secs(86_400);
const YEAR_HOURS: i64 = 365 * 24;
/// Reservations are made only in the last days: older ones would all expire when a service starts.
const RESERVATION_DAYS: u64 = 5;
/// Number of accounts; the first has half of all charges.
const ACCOUNTS: usize = 100;
/// Charges in flight at once, which share a commit.
const AT_ONCE: usize = 512;
/// After this many charges the simulator's transaction log, which is in memory, is emptied.
const PART: u64 = 250_000;
/// How long idempotency keys are kept where all of them stay.
const KEY_LIFE_SECONDS: u64 = 10 * 365 * 86_400;
/// Cards that the simulator approves, and one that it declines.
const APPROVED: [(&str, &str); 2] = [("4916745120294124", "560"), ("5214254988499590", "220")];
const REFUSED: (&str, &str) = ("5171407375927752", "300");

/// A database with many charges.
pub(super) struct Seeded {
    /// Its folder and settings.
    pub(super) place: Place,
    /// Its content, as counted.
    pub(super) facts: Facts,
    /// The server that it is on, if it is not in a file.
    pub(super) server: Option<Server>,
    keep: Keep,
}

/// Whether it is kept after the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// Later runs use it again.
    Yes,
    /// Removed.
    No,
}

/// The idempotency keys in a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    /// Those of the last day, the default.
    OfADay,
    /// All of them, as if all charges were made on one day.
    All,
}

/// The databases of a run, by their number of charges; created on first use.
pub(super) struct SeededDatabases {
    keep: Keep,
    keys: Keys,
    history_years: u32,
    on: Database,
    made: tokio::sync::Mutex<BTreeMap<u64, Arc<Seeded>>>,
}

impl SeededDatabases {
    /// Accounts have counters of `history_years` before their first charge.
    pub(super) fn new(keep: Keep, keys: Keys, history_years: u32, on: Database) -> Self {
        Self { keep, keys, history_years, on, made: tokio::sync::Mutex::default() }
    }

    /// The idempotency keys in them.
    pub(super) const fn keys(&self) -> Keys {
        self.keys
    }

    /// The database with this number of charges: of this run, kept by an earlier one, or new.
    pub(super) async fn of(&self, binary: &Path, charges: u64) -> Outcome<Arc<Seeded>> {
        let mut made = self.made.lock().await;
        if let Some(seeded) = made.get(&charges) {
            return Ok(seeded.clone());
        }
        let seeded = Arc::new(match self.on {
            Database::Sqlite => self.in_file(binary, charges).await?,
            Database::Postgres => self.on_server(binary, charges).await?,
        });
        made.insert(charges, seeded.clone());
        Ok(seeded)
    }

    async fn in_file(&self, binary: &Path, charges: u64) -> Outcome<Seeded> {
        let keys = match self.keys {
            Keys::OfADay => "",
            Keys::All => "-all-keys",
        };
        let history = match self.history_years {
            0 => String::new(),
            years => format!("-after-{years}-years"),
        };
        let folder = Path::new(FOLDER).join(format!("seeded-{charges}{keys}{history}"));
        if !folder.join(facts::FILE).exists() {
            drop(std::fs::remove_dir_all(&folder));
            let place = Place::kept(binary, &folder)?;
            make(place, charges, self.keys, self.history_years).await?.write(&folder)?;
        }
        let (place, facts) = (Place::kept(binary, &folder)?, Facts::read(&folder)?);
        Ok(Seeded { place, facts, server: None, keep: self.keep })
    }

    async fn on_server(&self, binary: &Path, charges: u64) -> Outcome<Seeded> {
        let server = Server::start().await;
        let place = Place::passing(binary, Path::new(FOLDER))?.on_postgres(server.url());
        let facts = make(place.clone(), charges, self.keys, self.history_years).await?;
        server.maintain()?;
        Ok(Seeded { place, facts, server: Some(server), keep: Keep::No })
    }
}

impl Seeded {
    /// The size of the database file in bytes.
    pub(super) fn bytes(&self) -> Outcome<u64> {
        Ok(std::fs::metadata(self.place.folder().join("regente.db"))?.len())
    }
}

impl Drop for Seeded {
    fn drop(&mut self) {
        match self.keep {
            Keep::Yes => {}
            Keep::No => drop(std::fs::remove_dir_all(self.place.folder())),
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]
async fn make(mut place: Place, charges: u64, keys: Keys, history_years: u32) -> Outcome<Facts> {
    let begun = Instant::now();
    if keys == Keys::All {
        place = place.with("REGENTE_LIMITS__IDEMPOTENCY_RETENTION_SECONDS", KEY_LIFE_SECONDS);
    }
    let start = Timestamp::from_millis(now_millis()) - DAY * u32::try_from(DAYS)?;
    let clock = Clock::manual(start);
    let inside = place.open(clock.clone()).await?;
    let mut shop = Shop::open(&inside, &clock, charges).await?;
    inside.close().await;
    while shop.made < charges {
        let part = PART.min(charges - shop.made);
        shop.make(&place, &clock, part).await?;
        let rate = shop.made as f64 / begun.elapsed().as_secs_f64();
        println!(
            "seeding: {} of {} charges, {} a second",
            number(shop.made as f64, 0),
            number(charges as f64, 0),
            number(rate, 0)
        );
    }
    let mut facts = shop.facts.lock().map_err(|_| "the facts are lost")?.clone();
    facts.history_hours = i64::from(history_years) * YEAR_HOURS;
    facts.folding = history::make(&place, &facts).await?;
    Ok(facts)
}

fn now_millis() -> i64 {
    Clock::system().deployment().as_millis()
}

/// The accounts with their merchants, and the charges so far.
struct Shop {
    accounts: Arc<Vec<Merchants>>,
    charges: u64,
    made: u64,
    facts: Arc<Mutex<Facts>>,
}

/// An account and its merchants.
struct Merchants {
    account: Account,
    /// One with a simulator, one whose first provider declines, one whose only provider has no adapter in this
    /// release.
    ids: [String; 3],
}

impl Shop {
    async fn open(inside: &Inside, clock: &Clock, charges: u64) -> Outcome<Self> {
        let mut accounts = Vec::with_capacity(ACCOUNTS);
        for number in 0..ACCOUNTS {
            let account = inside.make_account(format!("Shop {number}"), &one_simulator()).await?;
            let ids = [
                account.merchant_id.clone(),
                inside.make_merchant(&account, &first_refuses()).await?,
                inside.make_merchant(&account, &without_adapter()).await?,
            ];
            accounts.push(Merchants { account, ids });
        }
        let first = accounts.first().ok_or("no account")?;
        let facts = Facts::new(charges, first.account.clone(), first.ids.to_vec(), clock.deployment());
        Ok(Self { accounts: Arc::new(accounts), charges, made: 0, facts: Arc::new(Mutex::new(facts)) })
    }

    /// Makes the next charges, many at once.
    async fn make(&mut self, place: &Place, clock: &Clock, part: u64) -> Outcome {
        let inside = place.open(clock.clone()).await?;
        let next = Arc::new(AtomicU64::new(self.made));
        let end = self.made + part;
        let mut making = JoinSet::new();
        for _ in 0..AT_ONCE {
            let maker = Maker {
                inside: inside.clone(),
                clock: clock.clone(),
                accounts: self.accounts.clone(),
                next: next.clone(),
                end,
                charges: self.charges,
                facts: self.facts.clone(),
            };
            making.spawn(async move { maker.run().await.map_err(|error| error.to_string()) });
        }
        while let Some(made) = making.join_next().await {
            made??;
        }
        inside.work_off(clock).await?;
        inside.close().await;
        self.made = end;
        Ok(())
    }
}

/// Makes one charge after the other, in parallel with others.
struct Maker {
    inside: Inside,
    clock: Clock,
    accounts: Arc<Vec<Merchants>>,
    next: Arc<AtomicU64>,
    end: u64,
    charges: u64,
    facts: Arc<Mutex<Facts>>,
}

impl Maker {
    async fn run(self) -> Outcome {
        let step = DAY * u32::try_from(DAYS)? / u32::try_from(self.charges)?;
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.end {
                return Ok(());
            }
            self.clock.advance(step);
            let dice = Dice::of(number);
            let is_first = dice.roll(0, 2) == 0;
            let at = if is_first { 0 } else { usize::try_from(dice.roll(1, ACCOUNTS as u64 - 1))? + 1 };
            let merchants = self.accounts.get(at).ok_or("no such account")?;
            let is_recent = number >= self.charges - self.charges * RESERVATION_DAYS / DAYS;
            let charge = self.charge(merchants, &dice, is_recent).await?;
            if is_first {
                self.facts.lock().map_err(|_| "the facts are lost")?.add(&charge)?;
            }
        }
    }

    /// Makes a charge and its follow-ups.
    async fn charge(&self, merchants: &Merchants, dice: &Dice, is_recent: bool) -> Outcome<Value> {
        let account = &merchants.account;
        let reserves = is_recent && dice.roll(2, 10) < 3;
        let body = body(merchants, dice, reserves);
        let mut charge = self.inside.post(account, "/v1/charges", &dice.key(0), &body).await?;
        let follow_up = match (charge["status"].as_str(), dice.roll(3, 100)) {
            (Some("pre_authorized"), 0..40) => Some(("capture", json!({}))),
            (Some("pre_authorized"), 40..60) => Some(("void", json!({}))),
            (Some("authorized"), 0..3) => Some(("void", json!({}))),
            (Some("authorized"), 3..5) => Some(("void", json!({ "amount": 100 }))),
            _ => None,
        };
        if let (Some((operation, body)), Some(id)) = (follow_up, charge["id"].as_str()) {
            let path = format!("/v1/charges/{id}/{operation}");
            charge = self.inside.post(account, &path, &dice.key(1), &body).await?;
        }
        Ok(charge)
    }
}

fn body(merchants: &Merchants, dice: &Dice, reserves: bool) -> Value {
    let [healthy, fallback, other] = &merchants.ids;
    let merchant = match dice.roll(4, 100) {
        0..75 => healthy,
        75..95 => fallback,
        _ => other,
    };
    let (number, cvv) = match dice.roll(5, 100) {
        0..12 => REFUSED,
        12..60 => APPROVED[0],
        _ => APPROVED[1],
    };
    let payment = match dice.roll(6, 100) {
        0..12 if !reserves && merchant != other => json!({ "paymentType": "voucher" }),
        _ => json!({ "paymentType": "credit", "installments": dice.roll(7, 12) + 1 }),
    };
    json!({
        "merchantId": merchant, "amount": 150 + dice.roll(8, 100_000), "currency": "BRL", "capture": !reserves,
        "orderId": dice.key(2), "description": "Order 231 of the shop in the town", "statementDescriptor": "LOJA JOAO",
        "paymentMethod": payment,
        "paymentSource": { "sourceType": "card", "card": {
            "cardHolderName": "JOAO DA SILVA", "cardNumber": number, "cardCvv": cvv,
            "cardExpirationDate": "12/2030" } },
        "appInfo": { "platform": { "integrator": "bench", "name": "shop", "version": "1.0" } },
    })
}

/// The first provider refuses everything, the second one nothing.
pub(super) fn first_refuses() -> Value {
    json!([
        { "name": "Refuses", "priority": 1, "credentials": { "type": "SANDBOX", "apiKey": "any" },
          "options": { "type": "SANDBOX", "faults": [{ "then": { "decline": "try_again" } }] } },
        { "name": "Spare", "priority": 2, "credentials": { "type": "SANDBOX", "apiKey": "any" } },
    ])
}

/// A provider that can be configured but declines, since it has no adapter yet.
fn without_adapter() -> Value {
    json!([{ "name": "Other", "priority": 1, "credentials": { "type": "BARTE", "tokenApi": "any" } }])
}

/// The random choices for a charge, the same for the same number.
struct Dice(u64);

impl Dice {
    const fn of(number: u64) -> Self {
        Self(number)
    }

    /// A number below `bound`, different for each use.
    const fn roll(&self, usage: u64, bound: u64) -> u64 {
        self.mixed(usage) % bound
    }

    /// A UUID, different for each use.
    fn key(&self, usage: u64) -> String {
        let (high, low) = (self.mixed(usage + 100), self.mixed(usage + 200));
        uuid::Uuid::from_u64_pair(high, low).to_string()
    }

    /// SplitMix64.
    const fn mixed(&self, usage: u64) -> u64 {
        let mut mixed = self.0.wrapping_mul(1000).wrapping_add(usage).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
