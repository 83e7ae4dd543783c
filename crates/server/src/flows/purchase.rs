//! Driving a purchase: what `regente_domain::purchase` says is next is done, until nothing is left to do or something
//! must be waited for. Each card is a charge of its own, made by [`charge`] and undone or captured by [`follow_up`]. All
//! that is known is in the database, so any node can go on where another one stopped.

use std::time::Duration;

use regente_domain::actor::Actor;
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::charge::{CaptureMode, Charge, ChargeState, Operation};
use regente_domain::decline::DeclinedCode;
use regente_domain::id::{ChargeId, ClientId, PurchaseId, TokenId};
use regente_domain::purchase::{Change, Next, Purchase, Seen, Slot, Step};
use regente_domain::time::Timestamp;
use regente_domain::webhook::EventName;
use regente_store::charges::{self, ChargeFilter, Direction};
use regente_store::events::NewEvent;
use regente_store::jobs::NewJob;
use regente_store::purchases::StoredPurchase;
use regente_store::{Batch, Commit, events, jobs, purchases, transaction_requests};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::charge::{Created, NewCharge, PurchaseStep, Ran};
use super::follow_up::{self, NewFollowUp};
use crate::api::error::ApiError;
use crate::api::purchases::view::PurchaseView;
use crate::app::App;
use crate::metrics;
use crate::vault::{Binding, Purpose};
use crate::work::Kind;

mod slot;

pub use slot::needs;

/// What this work is called as an actor and in logs.
pub const KIND: &str = "purchase";

/// Steps of one run; a purchase that needs more would turn in a circle.
const STEPS_MAX: usize = 64;
/// After so long a run gives its place to others, by machine time: well within the lease of its job.
const RUN_FOR: Duration = Duration::from_secs(20);
/// When a run that failed is made again.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// What a purchase keeps sealed.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Private {
    /// `metadata`, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// `fraudAnalysis`, as sent; part of each charge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fraud_analysis: Option<Map<String, Value>>,
    /// For each card the CVV token that its charge uses up.
    pub cvv_tokens: Vec<Option<TokenId>>,
    /// For each card the token that was sent.
    pub tokens: Vec<Option<TokenId>>,
}

impl Private {
    /// Opens what a purchase keeps sealed.
    pub async fn open(app: &App, stored: &StoredPurchase) -> Result<Self, ApiError> {
        let Some(sealed) = &stored.private else { return Ok(Self::default()) };
        let (client_id, id) = (stored.purchase.client_id, stored.purchase.id);
        let plain = app.vault.open(Self::binding(client_id, id), sealed).await?;
        serde_json::from_slice(&plain).map_err(ApiError::internal)
    }

    /// What the seal is bound to.
    pub fn binding(client_id: ClientId, id: PurchaseId) -> Binding {
        Binding::new(Purpose::PurchaseData, client_id, id.uuid())
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Nothing is under way.
    Idle,
    /// There is more to do then.
    Until(Timestamp),
}

/// Has a purchase driven from now on. Each operation has a job of its own, so that none is lost with the end of another.
pub fn enqueue(app: &App, batch: &mut Batch, purchase: &Purchase) {
    let now = app.clock.now();
    let key = format!("{}/{}", purchase.id, purchase.version);
    let payload = purchase.id.to_string();
    let (id, kind, lane) = (app.chance.id(now), Kind::Purchase.word(), Kind::Purchase.lane().word());
    jobs::enqueue(batch, &NewJob { id, kind, lane, key: &key, payload: &payload, run_at: now });
}

/// Does everything that can be done now. A failure of ours is no reason to leave a purchase half done: it is tried again.
pub async fn run(app: &App, client_id: ClientId, id: PurchaseId) -> Rest {
    drive(app, client_id, id).await.unwrap_or_else(|error| {
        tracing::warn!(purchase = %id, error = ?error, "a step of a purchase failed; it is tried again");
        Rest::Until(app.clock.now() + RETRY_AFTER)
    })
}

async fn drive(app: &App, client_id: ClientId, id: PurchaseId) -> Result<Rest, ApiError> {
    let started = app.clock.machine();
    let mut refused = Vec::new();
    for _ in 0..STEPS_MAX {
        let Some(stored) = purchases::find(&app.store, client_id, id).await? else {
            return Err(ApiError::internal("a job for a purchase that is not there"));
        };
        let purchase = &stored.purchase;
        let cards = Cards::of(app, purchase).await?;
        let now = app.clock.now();
        match purchase.next(&cards.seen(purchase, &refused), now) {
            Next::Rest => return Ok(Rest::Idle),
            Next::Wait(until) => return Ok(Rest::Until(until)),
            Next::Note(change) => write(app, &stored, &cards, change).await?,
            Next::Authorize(index) => slot::authorize(app, &stored, &cards, index).await?,
            Next::Capture(index) => {
                if let Followed::Refused = follow(app, &cards, purchase, index, Operation::Capture).await? {
                    write(app, &stored, &cards, Change::CaptureFailed(index)).await?;
                }
            }
            Next::Undo(index) => {
                if let Followed::Refused = follow(app, &cards, purchase, index, Operation::Void).await? {
                    refused.push(index);
                }
            }
        }
        if app.clock.machine().since(started) > RUN_FOR {
            return Ok(Rest::Until(now));
        }
    }
    Err(ApiError::internal("a purchase that comes to no end"))
}

/// Writes a change down. One that is too late is decided anew by the next step.
async fn write(app: &App, stored: &StoredPurchase, cards: &Cards, change: Change) -> Result<(), ApiError> {
    let (before, now) = (&stored.purchase, app.clock.now());
    let step = before.apply(change, now);
    let mut batch = Batch::new(before.client_id);
    purchases::update(&mut batch, before, &step, &Actor::Job(KIND), || app.chance.id(now))?;
    announce(app, &mut batch, stored, cards, &step).await?;
    let _admission = app.store.admit_waiting().await?;
    match app.store.apply(batch).await? {
        Commit::Applied => {
            alert(&step);
            Ok(())
        }
        Commit::Refused(_) => Ok(()),
        Commit::Unknown => Err(ApiError::unavailable()),
    }
}

/// Says how a purchase ended, once for each status, in the batch in which it does.
async fn announce(
    app: &App,
    batch: &mut Batch,
    stored: &StoredPurchase,
    cards: &Cards,
    step: &Step,
) -> Result<(), ApiError> {
    let (purchase, status) = (&step.purchase, step.purchase.status());
    let reached = EventName::of_purchase(status).filter(|_| status != stored.purchase.status());
    let Some(name) = reached else { return Ok(()) };
    let view = PurchaseView::of(purchase, cards, &Private::open(app, stored).await?);
    let event = NewEvent {
        id: app.chance.id(app.clock.now()),
        object_id: purchase.id.uuid(),
        version: purchase.version,
        ordinal: 0,
        name,
        snapshot: &serde_json::to_string(&view).map_err(ApiError::internal)?,
        actor: &Actor::Job(KIND),
    };
    events::announce(batch, event);
    Ok(())
}

fn alert(step: &Step) {
    if step.gave_up {
        metrics::purchase_given_up();
        tracing::error!(
            alert = "purchase_reconciliation_failed", purchase = %step.purchase.id,
            client = %step.purchase.client_id,
            "the cards of a purchase could not all be given back: the operator must look"
        );
    }
}

/// How a capture or void ended.
enum Followed {
    /// It was done, or nobody knows yet.
    Begun,
    /// The provider refused.
    Refused,
}

async fn follow(
    app: &App,
    cards: &Cards,
    purchase: &Purchase,
    index: usize,
    operation: Operation,
) -> Result<Followed, ApiError> {
    let Some(before) = purchase.slots.get(index).and_then(|slot| cards.charge(slot)) else {
        return Err(ApiError::internal("a card of a purchase without its charge"));
    };
    let new = NewFollowUp {
        client_id: purchase.client_id,
        charge_id: before.id,
        operation,
        amount: None,
        claim: None,
        actor: Actor::Job(KIND),
        seed: None,
    };
    match follow_up::create(app.clone(), new).await? {
        Created::Ran(ran) if ran.charge.state == before.state => Ok(Followed::Refused),
        Created::Ran(_) => Ok(Followed::Begun),
        Created::Answered(_) => Err(ApiError::internal("an answer to a request without a key")),
    }
}

/// The charges of a purchase, as far as they are there.
pub struct Cards(Vec<Ran>);

impl Cards {
    /// Of a purchase that has just been accepted.
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// Reads them.
    pub async fn of(app: &App, purchase: &Purchase) -> Result<Self, ApiError> {
        let ids: Vec<ChargeId> = purchase.slots.iter().filter_map(|slot| slot.charge_id).collect();
        if ids.is_empty() {
            return Ok(Self(Vec::new()));
        }
        let (store, client_id) = (&app.store, purchase.client_id);
        let uuids: Vec<_> = ids.iter().map(|id| id.uuid()).collect();
        let limit = i64::try_from(ids.len()).unwrap_or(i64::MAX);
        let filter = ChargeFilter { ids: Some(ids), ..ChargeFilter::default() };
        let found = charges::page(store, client_id, &filter, Direction::Ascending, limit, 0).await?;
        let requests = transaction_requests::of_objects(store, client_id, &uuids).await?;
        let of = |charge: &Charge| -> Vec<TransactionRequest> {
            let own = requests.iter().filter(|stored| stored.request.object_id == charge.id.uuid());
            own.map(|stored| stored.request.clone()).collect()
        };
        let ran = found.into_iter().map(|stored| Ran { requests: of(&stored.charge), charge: stored.charge });
        Ok(Self(ran.collect()))
    }

    /// The charge of a card, once there is one.
    pub fn charge(&self, slot: &Slot) -> Option<&Charge> {
        self.ran(slot).map(|ran| &ran.charge)
    }

    /// Why a card was refused.
    pub fn declined_code(&self, slot: &Slot) -> Option<DeclinedCode> {
        let ran = self.ran(slot)?;
        let is_failed = matches!(ran.charge.state, ChargeState::Failed { .. });
        let last = ran.requests.iter().rfind(|request| request.request_type.is_authorization())?;
        last.decline().filter(|_| is_failed).map(|decline| decline.code)
    }

    fn ran(&self, slot: &Slot) -> Option<&Ran> {
        self.0.iter().find(|ran| Some(ran.charge.id) == slot.charge_id)
    }

    fn seen(&self, purchase: &Purchase, refused: &[usize]) -> Vec<Seen> {
        let seen = |(index, slot): (usize, &Slot)| Seen {
            state: self.charge(slot).map(|charge| charge.state.clone()),
            declined_code: self.declined_code(slot),
            is_undoing_refused: refused.contains(&index),
        };
        purchase.slots.iter().enumerate().map(seen).collect()
    }
}
