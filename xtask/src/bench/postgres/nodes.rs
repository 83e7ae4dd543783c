//! Measures two serving nodes and a worker on one database with one simulator: their joint rate, and whether anything
//! is done twice.

use std::collections::HashSet;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use regente_store::testing::TestPostgres;
use serde_json::{Value, json};

use super::CONNECTIONS;
use crate::Outcome;
use crate::bench::figures::{Reached, Samples};
use crate::bench::report::{Report, Table};
use crate::bench::requests::key_prefix;
use crate::bench::{Bench, wrk};
use crate::place::{Account, Place, one_simulator};
use crate::service::{Role, Service, Simulator};

/// Number of requests sent to both nodes at once, each with one key.
const KEYS: usize = 400;
/// Number of purchases with two cards, whose steps are jobs.
const PURCHASES: usize = 100;
/// Pairs in flight at once.
const AT_ONCE: usize = 16;
/// Interval and number of checks whether everything has ended.
const LOOK_EVERY: Duration = Duration::from_millis(250);
const LOOKS_MAX: usize = 480;
/// Entries of one page of the simulator.
const PAGE: usize = 1000;
/// Seconds before each measurement.
const WARM_UP_SECONDS: u32 = 1;

/// A deployment with several nodes.
struct Nodes {
    serving: [Service; 2],
    _working: Service,
    simulator: Simulator,
    account: Account,
    http: reqwest::Client,
}

pub(super) async fn measure(bench: &Bench, server: &TestPostgres, report: &mut Report) -> Outcome {
    let (mut one_alone, mut two) = (Samples::default(), Samples::default());
    for round in 1..=bench.rounds {
        println!("postgres: several nodes, round {round} of {}", bench.rounds);
        let nodes = Nodes::start(bench, server).await?;
        one_alone.add(nodes.charge_at_one(bench)?);
        two.add(nodes.charge_at_both(bench)?);
        if round == bench.rounds {
            nodes.prove_keys(report).await?;
            nodes.prove_jobs(report).await?;
        }
    }
    let mut table = Table::new(
        "Nodes that share a PostgreSQL and a simulator with books in a file, 64 connections in all",
        ["", "charges a second"],
    );
    table.row(["at one of two nodes that serve, beside one that works".to_owned(), one_alone.show(0)]);
    table.row(["at both, beside one that works".to_owned(), two.show(0)]);
    report.tables.push(table);
    report.note(
        "With several nodes the simulator is a process of its own, which syncs each entry of its books, on the same cores: \
         these rates are not those above.",
    );
    Ok(())
}

impl Nodes {
    async fn start(bench: &Bench, server: &TestPostgres) -> Outcome<Self> {
        let simulator = Simulator::start(&bench.binary, 7).await?;
        let database = server.empty_database().await;
        let place = |stripe: u32| -> Outcome<Place> {
            Ok(bench
                .place()?
                .on_postgres(&database)
                .with("REGENTE_SANDBOX__URL", &simulator.url)
                .with("REGENTE_DATABASE__POSTGRES_NODE_STRIPE", stripe))
        };
        let mut accounts = place(0)?.make_accounts(1, &one_simulator()).await?;
        let account = accounts.pop().ok_or("no account was made")?;
        let serving = [Service::start(&place(0)?)?, Service::start(&place(1)?)?];
        let working = Service::start_as(&place(2)?, Role::Work)?;
        let http = reqwest::Client::builder().no_proxy().build()?;
        Ok(Self { serving, _working: working, simulator, account, http })
    }

    fn charge_at_one(&self, bench: &Bench) -> Outcome<f64> {
        let [one, _] = &self.serving;
        let accounts = std::slice::from_ref(&self.account);
        wrk::charges(one, accounts, CONNECTIONS, WARM_UP_SECONDS)?;
        Ok(wrk::charges(one, accounts, CONNECTIONS, bench.seconds)?.rate)
    }

    /// Charges at both nodes at once, with half of the connections each.
    fn charge_at_both(&self, bench: &Bench) -> Outcome<f64> {
        let accounts = std::slice::from_ref(&self.account);
        let half = |node| {
            let load = wrk::charges(node, accounts, CONNECTIONS / 2, bench.seconds);
            load.map(|load| load.rate).map_err(|error| error.to_string())
        };
        let [one, other] = &self.serving;
        let (first, second) = std::thread::scope(|scope| {
            let first = scope.spawn(|| half(one));
            let second = half(other);
            (first.join(), second)
        });
        Ok(first.map_err(|_| "the load ended badly")?? + second?)
    }

    /// Sends each request to both nodes at once, and counts the results.
    async fn prove_keys(&self, report: &mut Report) -> Outcome {
        let begin = self.quiet_since().await?;
        let prefix = key_prefix();
        let pairs = stream::iter(0..KEYS).map(|number| self.pair(format!("{prefix}-{number}")));
        let pairs: Vec<_> = pairs.buffer_unordered(AT_ONCE).try_collect().await?;
        let busy = pairs.iter().flat_map(|(one, other)| [one, other]).filter(|id| id.is_none()).count();
        let is_different = |(one, other): &&(Option<String>, Option<String>)| {
            one.is_some() && other.is_some() && one != other
        };
        let different = pairs.iter().filter(is_different).count();
        let charges: HashSet<_> = pairs.into_iter().flat_map(|(one, other)| [one, other]).flatten().collect();
        let payments = self.authorizations_after(begin).await?;
        report.number(
            format!("{KEYS} keys, each sent to two nodes at once: charges, payments, answers that differ"),
            format!("{}, {payments}, {different}", charges.len()),
            format!("{KEYS}, {KEYS}, 0"),
            Reached::when(charges.len() == KEYS && payments == KEYS && different == 0),
        );
        report.note(format!(
            "Of the {} requests whose key was used at both nodes at once, {busy} were answered 409, because the other one \
             was under way.",
            2 * KEYS
        ));
        Ok(())
    }

    async fn pair(&self, key: String) -> Outcome<(Option<String>, Option<String>)> {
        let [one, other] = self.urls("/v1/charges");
        let body = charge(&self.account);
        tokio::try_join!(self.post(&one, &key, &body), self.post(&other, &key, &body))
    }

    /// Creates purchases, whose steps any of the three workers may run.
    async fn prove_jobs(&self, report: &mut Report) -> Outcome {
        let cards = [self.make_card().await?, self.make_card().await?];
        let begin = self.quiet_since().await?;
        let prefix = key_prefix();
        let urls = self.urls("/v1/purchases");
        for (number, url) in urls.iter().cycle().take(PURCHASES).enumerate() {
            let made =
                self.post(url, &format!("{prefix}-{number}"), &purchase(&self.account, &cards)).await?;
            made.ok_or("a purchase was answered 409")?;
        }
        let to_come = cards.len() * PURCHASES;
        for _ in 0..LOOKS_MAX {
            if self.authorizations_after(begin).await? >= to_come {
                break;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        // A step done twice would show a little later.
        tokio::time::sleep(LOOK_EVERY * 4).await;
        let payments = self.authorizations_after(begin).await?;
        report.number(
            format!("{PURCHASES} purchases with two cards, their steps run by three workers: payments"),
            payments.to_string(),
            to_come.to_string(),
            Reached::when(payments == to_come),
        );
        Ok(())
    }

    fn urls(&self, path: &str) -> [String; 2] {
        self.serving.each_ref().map(|service| format!("{}{path}", service.url))
    }

    /// The id of the created object; `None` when another request with the key was under way.
    async fn post(&self, url: &str, key: &str, body: &Value) -> Outcome<Option<String>> {
        let request = self.http.post(url);
        let request = request
            .header("X-Client-Id", &self.account.client_id)
            .header("X-Api-Key", &self.account.api_key)
            .header("X-Idempotency-Key", key)
            .json(body);
        let response = request.send().await?;
        let status = response.status().as_u16();
        let body: Value = response.json().await?;
        match status {
            409 => Ok(None),
            201 | 202 => {
                let id = body["id"].as_str().or(body["tokenId"].as_str()).ok_or("an answer without an id")?;
                Ok(Some(id.to_owned()))
            }
            _ => Err(format!("{status}: {body}").into()),
        }
    }

    async fn make_card(&self) -> Outcome<String> {
        let (tokens, cards) = (self.urls("/v1/tokens"), self.urls("/v1/cards"));
        let token = self.post(&tokens[0], &key_prefix(), &card()).await?;
        let made = self.post(&cards[0], &key_prefix(), &json!({ "tokenId": token })).await?;
        Ok(made.ok_or("no card was made")?)
    }

    /// The number of the newest entry in the transaction log once nothing is under way: requests are carried out even
    /// when their caller hangs up.
    async fn quiet_since(&self) -> Outcome<u64> {
        let mut last = self.last_entry().await?;
        for _ in 0..LOOKS_MAX {
            tokio::time::sleep(LOOK_EVERY * 2).await;
            let now = self.last_entry().await?;
            if now == last {
                return Ok(now);
            }
            last = now;
        }
        Err("the nodes do not come to rest".into())
    }

    /// The number of the newest entry in the transaction log.
    async fn last_entry(&self) -> Outcome<u64> {
        let page = self.simulator.get("/v1/entries?order=DESC&limit=1").await?;
        Ok(page["items"][0]["sequence"].as_u64().unwrap_or(0))
    }

    /// Number of authorizations after that entry.
    async fn authorizations_after(&self, begin: u64) -> Outcome<usize> {
        let (mut after, mut authorizations) = (Some(begin), 0);
        while let Some(place) = after {
            let page = self.simulator.get(&format!("/v1/entries?limit={PAGE}&after={place}")).await?;
            let entries = page["items"].as_array().ok_or_else(|| format!("no entries: {page}"))?;
            let is_payment =
                |entry: &&Value| entry["operation"] == "authorization" && entry["outcome"] == "approved";
            authorizations += entries.iter().filter(is_payment).count();
            after = page["next"].as_u64();
        }
        Ok(authorizations)
    }
}

fn card() -> Value {
    json!({ "cardHolderName": "JOAO DA SILVA", "cardNumber": "4916745120294124", "cardCvv": "560",
        "cardExpirationDate": "12/2030" })
}

fn charge(account: &Account) -> Value {
    json!({
        "merchantId": account.merchant_id, "amount": 150, "capture": true,
        "paymentMethod": { "paymentType": "credit", "installments": 1 },
        "paymentSource": { "sourceType": "card", "card": card() },
    })
}

fn purchase(account: &Account, cards: &[String; 2]) -> Value {
    let payments = cards.each_ref().map(|card| json!({ "cardId": card, "amount": 1000, "cardCvv": "560" }));
    json!({ "merchantId": account.merchant_id, "amount": 2000, "capture": true, "payments": payments })
}
