//! Checks that every purchase has ended as a whole in the simulator's transaction log, and that every event has
//! arrived.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, Instant};

use regente_domain::id::{ClientId, PurchaseId};
use regente_domain::purchase::{Phase, Purchase};
use regente_store::{PostgresOptions, Store, StoreOptions, events, purchases};

use super::super::clients::Finding;
use super::super::verdict::{Balance, all_charges, balances, keys};
use super::receiver::Receiver;
use crate::Outcome;
use crate::place::Account;
use crate::service::{Service, Simulator};

/// How long everything may take to end after the last fault. A delivery whose worker died counts as lost half a
/// minute after its timeout; a retried void or refund waits up to five minutes.
const ENDED_WITHIN: Duration = Duration::from_secs(400);
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Findings to print; the rest is counted.
const SHOWN_MAX: usize = 10;

/// Checks purchases.
pub(super) struct Examiner<'a> {
    store: Store,
    service: &'a Service,
    account: &'a Account,
    client_id: ClientId,
    purchases: BTreeMap<&'static str, usize>,
    events: usize,
    waited_max: Duration,
    /// The charges that the purchases so far name.
    charges: HashSet<String>,
    /// Their authorizations, with what the log keeps of each.
    authorizations: HashMap<String, i64>,
}

impl<'a> Examiner<'a> {
    pub(super) async fn open(database: &str, service: &'a Service, account: &'a Account) -> Outcome<Self> {
        Ok(Self {
            store: Store::open(StoreOptions::Postgres(PostgresOptions::new(database))).await?,
            service,
            account,
            client_id: account.client_id.parse().map_err(|_| "the id of the account is none")?,
            purchases: BTreeMap::new(),
            events: 0,
            waited_max: Duration::ZERO,
            charges: HashSet::new(),
            authorizations: HashMap::new(),
        })
    }

    /// Waits until these purchases have ended, and compares them with the transaction log and the events.
    pub(super) async fn examine(
        &mut self,
        ids: Vec<String>,
        simulator: &Simulator,
        receiver: &Receiver,
    ) -> Outcome<String> {
        let started = Instant::now();
        let mut ended = Vec::new();
        for id in &ids {
            ended.push(self.when_ended(id.parse().map_err(|_| "the id of a purchase is none")?).await?);
        }
        let ended_after = started.elapsed();
        let books = balances(simulator).await?;
        let mut findings = Vec::new();
        for purchase in &ended {
            findings.extend(self.whole(purchase, &books).await?);
            *self.purchases.entry(purchase.status().word()).or_default() += 1;
        }
        for purchase in &ended {
            self.told(purchase, receiver).await?;
        }
        let told_after = started.elapsed();
        self.waited_max = self.waited_max.max(told_after);
        if !findings.is_empty() {
            let shown = findings.iter().take(SHOWN_MAX).cloned().collect::<Vec<_>>().join("\n");
            return Err(Finding(format!("{} findings:\n{shown}", findings.len())).into());
        }
        Ok(format!(
            "{} purchases, the last ended {} ms and was told of {} ms after the crowd had left",
            ended.len(),
            ended_after.as_millis(),
            told_after.as_millis()
        ))
    }

    async fn when_ended(&self, id: PurchaseId) -> Outcome<Purchase> {
        let started = Instant::now();
        loop {
            let found = purchases::find(&self.store, self.client_id, id).await?;
            let purchase = found.ok_or_else(|| Finding(format!("purchase {id} was accepted and is gone")))?;
            match purchase.purchase.phase {
                Phase::PreAuthorized { .. } | Phase::Paid | Phase::Failed | Phase::Cancelled => {
                    return Ok(purchase.purchase);
                }
                Phase::Authorizing { .. } | Phase::Capturing { .. } | Phase::Undoing(_) => {}
            }
            if started.elapsed() > ENDED_WITHIN {
                return Err(Finding(format!("purchase {id} does not end: {purchase:#?}")).into());
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Checks that all cards are charged, all reserved, or none, as the status says.
    async fn whole(
        &mut self,
        purchase: &Purchase,
        books: &HashMap<String, Balance>,
    ) -> Outcome<Option<String>> {
        let (mut kept, mut reserved) = (0, 0);
        for charge_id in purchase.slots.iter().filter_map(|slot| slot.charge_id) {
            let charge = self.service.get(self.account, &format!("/v1/charges/{charge_id}")).await?;
            self.charges.insert(charge_id.to_string());
            for key in keys(&charge) {
                let Some(balance) = books.get(key) else { continue };
                kept += balance.kept;
                reserved += balance.reserved;
                self.authorizations.insert(key.to_owned(), balance.kept);
            }
        }
        let all = purchase.amount.minor_units();
        let expected = match purchase.phase {
            Phase::Paid => (all, 0),
            Phase::PreAuthorized { .. } => (0, all),
            Phase::Failed | Phase::Cancelled => (0, 0),
            Phase::Authorizing { .. } | Phase::Capturing { .. } | Phase::Undoing(_) => (-1, -1),
        };
        Ok(((kept, reserved) != expected).then(|| {
            format!(
                "purchase {} is {:?} with {all}; the books keep {kept} and reserve {reserved}",
                purchase.id, purchase.phase
            )
        }))
    }

    /// Waits until every event of a purchase and of its charges has arrived.
    async fn told(&mut self, purchase: &Purchase, receiver: &Receiver) -> Outcome {
        let charges = purchase.slots.iter().filter_map(|slot| slot.charge_id).map(|id| id.uuid());
        let objects: Vec<_> = charges.chain([purchase.id.uuid()]).collect();
        for object_id in objects {
            for event in events::of_object(&self.store, self.client_id, object_id).await? {
                let (id, started) = (event.id.to_string(), Instant::now());
                while !receiver.has(&id) {
                    if started.elapsed() > ENDED_WITHIN {
                        return Err(Finding(format!("event {id} ({}) never arrived", event.name)).into());
                    }
                    tokio::time::sleep(LOOK_EVERY).await;
                }
                self.events += 1;
            }
        }
        Ok(())
    }

    /// Checks everything that all rounds have left: no card of a purchase has another charge than the purchase names, and
    /// every authorization of the log belongs to a charge.
    pub(super) async fn sum(&self, simulator: &Simulator, receiver: &Receiver) -> Outcome<String> {
        let all = all_charges(async |path| self.service.get(self.account, &path).await).await?;
        let of_orders = all.iter().filter(|(_, charge)| charge["orderId"].is_string());
        let unnamed: Vec<&String> =
            of_orders.map(|(id, _)| id).filter(|id| !self.charges.contains(*id)).collect();
        if !unnamed.is_empty() {
            return Err(Finding(format!("no purchase names the charges {unnamed:?} of its order")).into());
        }
        let known: HashSet<&str> = all.values().flat_map(keys).collect();
        let books = balances(simulator).await?;
        let strays: Vec<&String> = books.keys().filter(|key| !known.contains(key.as_str())).collect();
        if !strays.is_empty() {
            return Err(Finding(format!("no charge has the authorizations {strays:?} of the books")).into());
        }
        let by_status: Vec<String> =
            self.purchases.iter().map(|(status, count)| format!("{count} {status}")).collect();
        let (arrived, again) = receiver.count();
        let kept: i64 = self.authorizations.values().sum();
        Ok(format!(
            "  purchases  {} ({}), each charged as a whole or not at all\n  kept       {kept} in the books, of {} authorizations\n  \
             events     {}, every one arrived; {arrived} arrived in all, {again} of them again\n  waited     {} s at most until all had ended and was told",
            self.purchases.values().sum::<usize>(),
            by_status.join(", "),
            self.authorizations.len(),
            self.events,
            self.waited_max.as_secs()
        ))
    }
}
