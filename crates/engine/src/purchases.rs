//! Drives a purchase: carries out the next action of `regente_domain::purchase` until nothing is left to do or the
//! purchase must wait. Each card is a charge of its own: [`charges`](crate::charges) makes it, [`captures_and_voids`] captures or voids it. The
//! whole state is in the database, so any node can continue.

use std::time::Duration;

use regente_domain::actor::Actor;
use regente_domain::charge::analysis::{AnalysisStatus, Standing};
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::charge::{Charge, ChargeState, FollowUpKind};
use regente_domain::decline::DeclinedCode;
use regente_domain::id::{ChargeId, ClientId, Id, PurchaseId, TokenId};
use regente_domain::purchase::{Advance, Change, Next, Phase, Purchase, Seen, Slot};
use regente_domain::time::Timestamp;
use regente_store::charges::{self, ChargeFilter, Direction};
use regente_store::purchases::{PurchaseVersion, StoredPurchase};
use regente_store::sealed::Sealed;
use regente_store::{Batch, Commit, purchases, tokens, transaction_requests};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::announce::{self, Changed};
use crate::app::App;
use crate::captures_and_voids::{self, NewFollowUp};
use crate::charges::create::{Created, Ran};
use crate::error::Error;
use crate::events::purchase::{KnownCard, PurchaseView};
use crate::metrics;
use crate::queue::purchases::KIND;
use crate::vault::{Binding, Purpose, token_digest};

mod accept;
pub mod operations;
mod rules;
mod slot;

pub use accept::accept;
pub use rules::{Broken, CardShare, NewPurchase, Rule, Source, check};

/// Most steps of one run; a purchase that needs more is in a loop.
const STEPS_MAX: usize = 64;
/// Machine time after which a run lets other jobs run. The job's lease is renewed meanwhile.
const RUN_FOR: Duration = Duration::from_secs(20);
/// How long after a failed run the next one starts.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// The sealed data of a purchase.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Private {
    /// `metadata`, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// `fraudAnalysis`, as sent; copied to each charge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fraud_analysis: Option<Map<String, Value>>,
    /// For each card, the CVV token that its charge uses up; erased in the batch that uses it up. The tokens that were
    /// sent are not kept: their ids would open what is left of them.
    pub cvv_tokens: Vec<Option<TokenId>>,
    /// Always empty: the release before, which may run beside this one, expects the member.
    #[serde(default, skip_deserializing)]
    tokens: [(); 0],
}

impl Private {
    /// Opens the sealed data of a purchase.
    pub async fn open(app: &App, stored: &StoredPurchase) -> Result<Self, Error> {
        let Some(sealed) = &stored.private else { return Ok(Self::default()) };
        let (client_id, id) = (stored.purchase.client_id, stored.purchase.id);
        let plain = app.vault.open(Self::binding(client_id, id), sealed).await?;
        serde_json::from_slice(&plain).map_err(Error::internal)
    }

    /// Seals the data of a purchase.
    pub fn seal(&self, app: &App, client_id: ClientId, id: PurchaseId) -> Result<Sealed, Error> {
        let plain = serde_json::to_vec(self).map_err(Error::internal)?;
        Ok(app.vault.seal(Self::binding(client_id, id), &plain))
    }

    /// The binding of the sealed data.
    pub fn binding(client_id: ClientId, id: PurchaseId) -> Binding {
        Binding::new(Purpose::PurchaseData, client_id, id.uuid())
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextRun {
    /// Nothing is left to do.
    Idle,
    /// There is more to do at this time.
    Until(Timestamp),
}

/// Does everything that can be done now. An internal error does not leave a purchase half done: the run is tried again.
pub async fn run(app: &App, client_id: ClientId, id: PurchaseId) -> NextRun {
    drive(app, client_id, id).await.unwrap_or_else(|error| {
        tracing::warn!(purchase = %id, error = ?error, "a step of a purchase failed; it is tried again");
        NextRun::Until(app.clock.of(client_id) + RETRY_AFTER)
    })
}

async fn drive(app: &App, client_id: ClientId, id: PurchaseId) -> Result<NextRun, Error> {
    let started = app.clock.machine();
    let mut refused = Vec::new();
    for _ in 0..STEPS_MAX {
        let Some(stored) = purchases::find(&app.store, client_id, id).await? else {
            return Err(Error::internal("a job for a purchase that is not there"));
        };
        let purchase = &stored.purchase;
        let cards = Cards::of(app, purchase).await?;
        let now = app.clock.of(client_id);
        match purchase.next(&cards.seen(purchase, &refused), now) {
            Next::Rest => return Ok(NextRun::Idle),
            Next::Wait(until) => return Ok(NextRun::Until(until)),
            Next::Note(change) => write(app, &stored, &cards, change).await?,
            Next::Authorize(index) => slot::authorize(app, &stored, &cards, index).await?,
            Next::Capture(index) => {
                if let Followed::Refused = follow(app, &cards, purchase, index, FollowUpKind::Capture).await?
                {
                    write(app, &stored, &cards, Change::CaptureFailed(index)).await?;
                }
            }
            Next::Undo(index) => match follow(app, &cards, purchase, index, FollowUpKind::Void).await {
                Ok(Followed::Begun) => {}
                Ok(Followed::Refused) => refused.push(index),
                Err(error @ (Error::Processing { .. } | Error::Unavailable { .. })) => {
                    return Err(error);
                }
                // A void that can never be requested counts as refused: the purchase gives it up in the end and alerts
                // the operator.
                Err(error) => {
                    tracing::error!(purchase = %id, card = index, error = ?error, "a charge cannot be voided");
                    refused.push(index);
                }
            },
        }
        if app.clock.machine().since(started) > RUN_FOR {
            return Ok(NextRun::Until(now));
        }
    }
    Err(Error::internal("a purchase that comes to no end"))
}

/// Writes a change. If another node changed the purchase first, the next step decides again.
async fn write(app: &App, stored: &StoredPurchase, cards: &Cards, change: Change) -> Result<(), Error> {
    let (before, now) = (&stored.purchase, app.clock.of(stored.purchase.client_id));
    let step = before.apply(change, now);
    let mut batch = Batch::new(before.client_id);
    purchases::update(&mut batch, before, &step, &Actor::Job(KIND), || app.chance.id(now))?;
    discard_codes(app, &mut batch, stored, &step).await;
    announce(app, &mut batch, stored, cards, &step)?;
    let _admission = app.store.admit_waiting().await?;
    match app.store.apply(batch).await? {
        Commit::Applied => {
            alert(&step);
            Ok(())
        }
        Commit::Refused(_) => Ok(()),
        Commit::Unknown => Err(Error::unavailable()),
    }
}

/// Deletes the security codes of the cards that will not be charged any more, in the batch that begins the undoing.
async fn discard_codes(app: &App, batch: &mut Batch, stored: &StoredPurchase, step: &Advance) {
    let has_stopped = matches!(stored.purchase.phase, Phase::Authorizing { .. })
        && !matches!(step.purchase.phase, Phase::Authorizing { .. });
    if !has_stopped || step.purchase.slots.iter().all(|slot| slot.charge_id.is_some()) {
        return;
    }
    match Private::open(app, stored).await {
        Ok(private) if private.cvv_tokens.iter().all(Option::is_none) => {}
        Ok(private) => {
            for (slot, token) in step.purchase.slots.iter().zip(&private.cvv_tokens) {
                if let (None, Some(token)) = (slot.charge_id, token) {
                    tokens::discard(batch, token_digest(*token));
                }
            }
            let (client_id, id) = (step.purchase.client_id, step.purchase.id);
            match (Private { cvv_tokens: Vec::new(), ..private }).seal(app, client_id, id) {
                Ok(sealed) => purchases::set_private(batch, &step.purchase, sealed),
                Err(error) => tracing::error!(
                    purchase = %id, error = ?error, "the ids of unused security codes could not be erased"
                ),
            }
        }
        // The codes expire by themselves; the release of reservations must not wait for them.
        Err(error) => tracing::error!(
            purchase = %stored.purchase.id, error = ?error, "unused security codes could not be deleted"
        ),
    }
}

/// Announces the status of a purchase, once for each status, in the batch that reaches it.
fn announce(
    app: &App,
    batch: &mut Batch,
    stored: &StoredPurchase,
    cards: &Cards,
    step: &Advance,
) -> Result<(), Error> {
    let (purchase, status) = (&step.purchase, step.purchase.status());
    let reached = status.event().filter(|_| status != stored.purchase.status());
    let Some(name) = reached else { return Ok(()) };
    let view = cards.show(purchase).for_others();
    let changed = Changed { id: purchase.id.uuid(), version: purchase.version };
    announce::announce(app, batch, &changed, (0, name), &view, &Actor::Job(KIND))
}

fn alert(step: &Advance) {
    if step.gave_up {
        metrics::purchase_given_up();
        tracing::error!(
            alert = "purchase_reconciliation_failed", purchase = %step.purchase.id,
            client = %step.purchase.client_id,
            "not all charges of a purchase could be voided: the operator must look"
        );
    }
}

/// The result of a capture or void.
enum Followed {
    /// It is done, or its outcome is unknown.
    Begun,
    /// The provider declined.
    Refused,
}

async fn follow(
    app: &App,
    cards: &Cards,
    purchase: &Purchase,
    index: usize,
    operation: FollowUpKind,
) -> Result<Followed, Error> {
    let Some(before) = purchase.slots.get(index).and_then(|slot| cards.charge(slot)) else {
        return Err(Error::internal("a card of a purchase without its charge"));
    };
    let new = NewFollowUp {
        client_id: purchase.client_id,
        charge_id: before.id,
        operation,
        amount: None,
        delay_to_compose: None,
        returns: Vec::new(),
        purchase: Some(PurchaseVersion::of(purchase)),
        claim: None,
        actor: Actor::Job(KIND),
        seed: None,
    };
    match captures_and_voids::create(app.clone(), new).await? {
        Created::Ran(ran) if ran.charge.state == before.state => Ok(Followed::Refused),
        Created::Ran(_) => Ok(Followed::Begun),
        Created::Answered(_) => Err(Error::internal("an answer to a request without a key")),
    }
}

/// The charges of a purchase that exist so far.
pub struct Cards {
    ran: Vec<Ran>,
    /// Charges whose unknown outcome is no longer looked up.
    unanswered: Vec<ChargeId>,
}

impl Cards {
    /// No charges, for a purchase that was just accepted.
    pub const fn none() -> Self {
        Self { ran: Vec::new(), unanswered: Vec::new() }
    }

    /// Reads the charges.
    pub async fn of(app: &App, purchase: &Purchase) -> Result<Self, Error> {
        let ids: Vec<ChargeId> = purchase.slots.iter().filter_map(|slot| slot.charge_id).collect();
        if ids.is_empty() {
            return Ok(Self::none());
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
        let given_up = requests.iter().filter(|stored| stored.given_up_at.is_some());
        let unanswered = given_up.map(|stored| Id::new(stored.request.object_id)).collect();
        Ok(Self { ran: ran.collect(), unanswered })
    }

    /// The charge of a card, once it exists.
    pub fn charge(&self, slot: &Slot) -> Option<&Charge> {
        self.ran(slot).map(|ran| &ran.charge)
    }

    /// Why the charge of a card was declined.
    pub fn declined_code(&self, slot: &Slot) -> Option<DeclinedCode> {
        let ran = self.ran(slot)?;
        if let Standing::Held(AnalysisStatus::Reproved) = ran.charge.standing(&ran.requests) {
            return Some(DeclinedCode::FraudSuspect);
        }
        let is_failed = matches!(ran.charge.state, ChargeState::Failed { .. });
        let last = ran.requests.iter().rfind(|request| request.request_type.is_authorization())?;
        last.decline().filter(|_| is_failed).map(|decline| decline.code)
    }

    /// Builds the view of the purchase with its charges.
    pub fn show(&self, purchase: &Purchase) -> PurchaseView {
        let mut cards = Vec::with_capacity(purchase.slots.len());
        for slot in &purchase.slots {
            cards.push(KnownCard { charge: self.charge(slot), declined_code: self.declined_code(slot) });
        }
        PurchaseView::of(purchase, &cards)
    }

    fn standing(&self, slot: &Slot) -> Standing {
        self.ran(slot).map_or(Standing::Free, |ran| ran.charge.standing(&ran.requests))
    }

    fn ran(&self, slot: &Slot) -> Option<&Ran> {
        self.ran.iter().find(|ran| Some(ran.charge.id) == slot.charge_id)
    }

    /// The state of each card; `refused` lists the cards whose void was refused in this run.
    pub fn seen(&self, purchase: &Purchase, refused: &[usize]) -> Vec<Seen> {
        let seen = |(index, slot): (usize, &Slot)| Seen {
            state: self.charge(slot).map(|charge| charge.state.clone()),
            declined_code: self.declined_code(slot),
            standing: self.standing(slot),
            is_undoing_refused: refused.contains(&index),
            is_unanswered: slot.charge_id.is_some_and(|id| self.unanswered.contains(&id)),
        };
        purchase.slots.iter().enumerate().map(seen).collect()
    }
}
