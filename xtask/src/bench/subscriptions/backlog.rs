//! Subscriptions that are due, written by SQL as copies of one for each account, and how many of them have been charged.

use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use regente_domain::time::Timestamp;
use regente_engine::clock::Clock;
use regente_store::DatabaseKind;
use serde_json::{Value, json};

use crate::Outcome;
use crate::place::{Account, Inside, Place, one_simulator, uuid};
use crate::service::Service;

/// Accounts that are made, or asked, at once.
const AT_ONCE: usize = 16;
const DAY: Duration = Duration::from_secs(86_400);

/// The accounts with what is due.
pub(super) struct Backlog {
    accounts: Vec<Account>,
    /// How many there are.
    pub(super) subscriptions: u32,
    /// How long it takes to put all of them off.
    writing: Duration,
}

impl Backlog {
    /// Writes so many subscriptions that fell due yesterday, with jobs that wait for a day.
    pub(super) async fn fill(place: &Place, accounts: usize, subscriptions: u32) -> Outcome<Self> {
        // Three days ago, so that their first day has passed.
        let clock = Clock::manual(now() - DAY * 3);
        let inside = place.open(clock.clone()).await?;
        let making = (0..accounts).map(|number| one_of(&inside, &clock, number));
        let accounts: Vec<Account> = stream::iter(making).buffer_unordered(AT_ONCE).try_collect().await?;
        let kind = inside.database_kind();
        inside.run_script(&copies(kind, accounts.len(), subscriptions)).await?;
        let began = now();
        inside.run_script(&waits_until(began + DAY)).await?;
        let writing = now().since(began);
        match kind {
            DatabaseKind::Sqlite => {}
            DatabaseKind::Postgres => inside.run_script("VACUUM ANALYZE").await?,
        }
        inside.close().await;
        Ok(Self { accounts, subscriptions, writing })
    }

    /// Puts off what was not charged yet, by at least so long. Returns when it will be due. No service may run.
    pub(super) async fn put_off(&self, place: &Place, by: Duration) -> Outcome<Timestamp> {
        let inside = place.open(Clock::system()).await?;
        let due_at = now() + self.writing * 2 + by;
        inside.run_script(&waits_until(due_at)).await?;
        match inside.database_kind() {
            DatabaseKind::Sqlite => {}
            DatabaseKind::Postgres => inside.run_script("VACUUM jobs").await?,
        }
        inside.close().await;
        Ok(due_at)
    }

    /// How many subscriptions were charged.
    pub(super) async fn charged(&self, service: &Service) -> Outcome<u64> {
        Ok(self.charged_of_each(service).await?.into_iter().sum())
    }

    /// The same of each account.
    pub(super) async fn charged_of_each(&self, service: &Service) -> Outcome<Vec<u64>> {
        let counting = self.accounts.iter().map(|account| service.count(account, "authorized"));
        stream::iter(counting).buffer_unordered(AT_ONCE).try_collect().await
    }
}

fn waits_until(at: Timestamp) -> String {
    format!("UPDATE jobs SET run_at = {} WHERE lane = 'subscriptions'", at.as_millis())
}

/// An account with a card, a customer, a merchant and a subscription from yesterday on.
async fn one_of(inside: &Inside, clock: &Clock, number: usize) -> Outcome<Account> {
    let account = inside.make_account(format!("Shop {number}"), &one_simulator()).await?;
    let post = async |path: &str, name: &str, body: Value| -> Outcome<String> {
        let made = inside.post(&account, path, &uuid(), &body).await?;
        Ok(made[name].as_str().ok_or_else(|| format!("no {name} in {made}"))?.to_owned())
    };
    let buyer = json!({
        "name": "Jose Bonifacio", "email": "jose@example.com", "phoneNumber": "21988899990",
        "document": { "type": "cpf", "number": "72912053013" },
    });
    let customer = post("/v1/customers", "id", buyer).await?;
    let card = json!({
        "cardHolderName": "JOAO DA SILVA", "cardNumber": "4916745120294124", "cardCvv": "560",
        "cardExpirationDate": "12/2032",
    });
    let token = post("/v1/tokens", "tokenId", card).await?;
    let card = post("/v1/cards", "id", json!({ "tokenId": token })).await?;
    let yesterday = (clock.deployment() + DAY * 2).to_string();
    let subscription = json!({
        "name": "Premium", "merchantId": account.merchant_id, "customerId": customer,
        "items": [{ "name": "Plan", "amount": 29_900, "quantity": 1 }],
        "recurrence": { "interval": "monthly", "startAt": &yesterday[..10] },
        "paymentMethod": { "type": "credit", "card": { "cardId": card } },
    });
    post("/v1/subscriptions", "id", subscription).await?;
    Ok(account)
}

/// Copies the subscription of each account, with its job.
fn copies(kind: DatabaseKind, accounts: usize, subscriptions: u32) -> String {
    let more = u64::from(subscriptions).saturating_sub(accounts as u64);
    let (numbers, word, id) = match kind {
        DatabaseKind::Sqlite => (
            format!(
                "(WITH RECURSIVE up(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM up WHERE n + 1 < {more}) SELECT n FROM up) up"
            ),
            "printf('{head}-0000-7000-8000-%012x', n)",
            "unhex(printf('{head}000070008000%012x', n))",
        ),
        DatabaseKind::Postgres => (
            format!("generate_series(0, {more} - 1) n"),
            "'{head}-0000-7000-8000-' || lpad(to_hex(n), 12, '0')",
            "('{head}-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid",
        ),
    };
    let (of_subscription, of_job) = ("01900000", "01910000");
    let word = word.replace("{head}", of_subscription);
    let (id, job_id) = (id.replace("{head}", of_subscription), id.replace("{head}", of_job));
    format!(
        "CREATE TEMPORARY TABLE copied AS
             SELECT row_number() OVER (ORDER BY client_id) - 1 AS place, subscriptions.* FROM subscriptions;
         CREATE UNIQUE INDEX copied_by_place ON copied (place);
         INSERT INTO subscriptions (id, client_id, merchant_id, customer_id, status, reference_key, amount, doc, actor,
             version, updated_at)
         SELECT {id}, client_id, merchant_id, customer_id, status, reference_key, amount, doc, actor, version, updated_at
         FROM {numbers} JOIN copied ON place = n % {accounts};
         INSERT INTO jobs (id, client_id, kind, lane, job_key, payload, run_at, attempts, version)
         SELECT {job_id}, client_id, 'subscription', 'subscriptions', {word} || '/' || version, {word}, 0, 0, 1
         FROM {numbers} JOIN copied ON place = n % {accounts};
         DROP TABLE copied;"
    )
}

fn now() -> Timestamp {
    Clock::system().deployment()
}
