//! Erases a person on request (`docs/operating.md#erasing-a-person`): the customer with their aliases and cards, and what
//! charges, purchases and sessions, their events, the notifications of providers and the answers to idempotency keys say of them.
//! Amounts, ids and states stay.
//!
//! The first batch hides the customer and orders a job, so that the erasure ends even if this process does not. Their data is
//! erased last: until then it tells which records without a buyer name them. Each step finds what is left, so all of it can run
//! again.

mod notifications;
mod pages;
mod person;
mod receipts;
mod reports;
mod sessions;
mod subscriptions;

use std::time::Duration;

use regente_domain::actor::Actor;
use regente_domain::id::{ChargeId, ClientId, CustomerId, PurchaseId, SessionId};
use regente_domain::time::later_of;
use regente_store::audit::{self, AuditEntry};
use regente_store::customers::{self, Remains};
use regente_store::jobs::Job;
use regente_store::{Batch, Commit, Emptied};

use crate::app::App;
use crate::error::Error;
use crate::queue::{self, Ended, Kind};
use crate::races;
use person::Person;

/// When the job looks for what is left: a charge that found the customer just before they were hidden is written by then.
const LATE: Duration = Duration::from_secs(2 * 60);
/// When the job looks again for payments of the person that were still under way.
const AGAIN: Duration = Duration::from_secs(10 * 60);

/// Why a person is not erased.
#[derive(Debug, thiserror::Error)]
pub enum ErasureError {
    /// No customer of the account ever had this id.
    #[error("account {0} has no customer {1}")]
    Unknown(ClientId, CustomerId),
    /// Payments of the person are under way; nothing was changed.
    #[error("{0} under way: erase the person when nothing is")]
    UnderWay(UnderWay),
    /// Something else failed; run again, it goes on where it ended.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// Payments that are under way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnderWay {
    /// Charges.
    pub charges: Vec<ChargeId>,
    /// Purchases.
    pub purchases: Vec<PurchaseId>,
    /// Sessions that changed each time that they were to be erased.
    pub sessions: Vec<SessionId>,
    /// Notifications of providers that are not settled.
    pub notifications: usize,
}

impl UnderWay {
    fn is_empty(&self) -> bool {
        !self.needs_his_data() && self.notifications == 0
    }

    /// Whether their data must tell what names them when it has ended. Notifications name their charges.
    fn needs_his_data(&self) -> bool {
        !(self.charges.is_empty() && self.purchases.is_empty() && self.sessions.is_empty())
    }
}

impl std::fmt::Display for UnderWay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let charges = self.charges.iter().map(|id| format!("charge {id}"));
        let purchases = self.purchases.iter().map(|id| format!("purchase {id}"));
        let named: Vec<String> = charges.chain(purchases).collect();
        write!(f, "{} {}", named.join(", "), if named.len() == 1 { "is" } else { "are" })
    }
}

/// What was erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Erased {
    /// The customer's own id.
    pub customer_id: CustomerId,
    /// Cards of theirs, also those that were deleted before.
    pub cards: usize,
    /// Charges that held something about them.
    pub charges: usize,
    /// Purchases that held something about them.
    pub purchases: usize,
    /// Sessions that held something about them.
    pub sessions: usize,
    /// Subscriptions of theirs that were canceled.
    pub subscriptions: usize,
    /// Notifications of providers that told of them.
    pub notifications: usize,
    /// Kept answers to idempotency keys that named them.
    pub answers: usize,
    /// What began meanwhile; the job erases it when it has ended.
    pub left: UnderWay,
    /// What became of the write-ahead log, which may hold former contents of changed pages.
    pub log: Emptied,
}

/// Erases a person, by the id of the customer or of an alias. Run again, it finds nothing more.
///
/// # Errors
/// [`ErasureError`].
pub async fn erase(app: &App, client_id: ClientId, id: CustomerId) -> Result<Erased, ErasureError> {
    let remains = begin(app, client_id, id).await?;
    Ok(finish(app, client_id, remains).await?)
}

/// Hides the customer, unless they are deleted already, and orders the job.
async fn begin(app: &App, client_id: ClientId, id: CustomerId) -> Result<Remains, ErasureError> {
    for _ in races::tries() {
        let found = customers::remains(&app.store, client_id, id).await.map_err(Error::from)?;
        let remains = found.ok_or(ErasureError::Unknown(client_id, id))?;
        let under_way = pages::under_way(app, client_id, remains.id).await?;
        if !under_way.is_empty() {
            return Err(ErasureError::UnderWay(under_way));
        }
        let now = app.clock.of(client_id);
        let mut batch = Batch::new(client_id);
        if remains.deleted_at.is_none() {
            customers::hide(&mut batch, &remains, later_of(now, remains.updated_at));
        }
        let text = remains.id.to_string();
        queue::enqueue(app, &mut batch, Kind::EraseCustomer, &text, &text, now + LATE);
        let (action, object_kind, object_id) = ("customer.erased", "customer", remains.id.uuid());
        let (id, actor, request_id) = (app.chance.id(now), Actor::Operator, None);
        audit::record(&mut batch, AuditEntry { id, actor, action, object_kind, object_id, request_id });
        match apply(app, batch).await? {
            Commit::Applied => return Ok(remains),
            // They changed meanwhile, or it is not known whether they are hidden: look again.
            Commit::Refused(_) | Commit::Unknown => {}
        }
    }
    Err(Error::busy().into())
}

/// Erases page by page what is left of a hidden customer.
async fn finish(app: &App, client_id: ClientId, remains: Remains) -> Result<Erased, Error> {
    let customer_id = remains.id;
    let mut person = Person::of(app, client_id, remains).await?;
    let mut left = UnderWay::default();
    let subscriptions = subscriptions::subscriptions(app, &person).await?;
    let charges = pages::charges(app, &mut person, &mut left).await?;
    let purchases = pages::purchases(app, &person, &mut left).await?;
    let sessions = sessions::sessions(app, &mut person, &mut left).await?;
    let notifications = notifications::notifications(app, &person, &mut left).await?;
    let answers = pages::answers(app, &person).await?;
    let cards = person.cards.len();
    if !left.needs_his_data() {
        let mut batch = Batch::new(client_id);
        regente_store::cards::erase_of_customer(&mut batch, customer_id, app.clock.of(client_id));
        customers::erase_hidden(&mut batch, customer_id);
        match apply(app, batch).await? {
            // Nothing in it can be refused; the job looks for what an unknown commit has left.
            Commit::Applied | Commit::Refused(_) | Commit::Unknown => {}
        }
    }
    receipts::receipts(app, &person).await?;
    reports::reports(app, &person).await?;
    let log = app.store.empty_log().await?;
    let counted = Erased {
        customer_id,
        cards,
        charges,
        purchases,
        sessions,
        subscriptions,
        notifications,
        answers,
        left,
        log,
    };
    Ok(counted)
}

/// Runs the job: erases what a process has left that ended too early, and what began while it ran.
pub(crate) async fn run(app: &App, job: &Job) -> Result<Ended, Error> {
    let Ok(id) = job.payload.parse::<CustomerId>() else {
        return Ok(Ended::GiveUp { why: "the payload names no customer".to_owned() });
    };
    let Some(remains) = customers::remains(&app.store, job.client_id, id).await? else {
        return Ok(Ended::Finished);
    };
    let erased = finish(app, job.client_id, remains).await?;
    Ok(match erased.left.is_empty() {
        true => Ended::Finished,
        false => Ended::Again { at: app.clock.of(job.client_id) + AGAIN },
    })
}

async fn apply(app: &App, batch: Batch) -> Result<Commit, Error> {
    let _admission = app.store.admit_waiting().await?;
    Ok(app.store.apply(batch).await?)
}
