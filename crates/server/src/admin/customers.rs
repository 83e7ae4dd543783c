//! Erases a person on request.

use regente_domain::id::{ChargeId, ClientId, CustomerId, PurchaseId, SessionId};
use regente_engine::customers::erasure;
use regente_store::{Emptied, clients};
use serde::{Deserialize, Serialize};

use super::error::CommandError;
use crate::access::AccessError;
use crate::app::App;

/// What was erased of a person, and what is beyond reach.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ErasedPerson {
    /// The customer's own id.
    pub customer_id: CustomerId,
    /// Cards of theirs.
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
    /// Charges that began meanwhile; a job erases what they say when they have ended.
    pub charges_left: Vec<ChargeId>,
    /// Purchases that began meanwhile; likewise.
    pub purchases_left: Vec<PurchaseId>,
    /// Sessions that changed all the while; likewise.
    pub sessions_left: Vec<SessionId>,
    /// Notifications of providers that are not settled; likewise.
    pub notifications_left: usize,
    /// What this command does not reach, a sentence each.
    pub beyond_reach: Vec<String>,
}

pub(super) async fn erase(
    app: &App,
    client_id: ClientId,
    customer_id: CustomerId,
) -> Result<ErasedPerson, CommandError> {
    if clients::find(&app.store, client_id).await?.is_none() {
        return Err(AccessError::UnknownClient(client_id).into());
    }
    let erased = erasure::erase(app, client_id, customer_id).await?;
    Ok(ErasedPerson {
        customer_id: erased.customer_id,
        cards: erased.cards,
        charges: erased.charges,
        purchases: erased.purchases,
        sessions: erased.sessions,
        subscriptions: erased.subscriptions,
        notifications: erased.notifications,
        answers: erased.answers,
        charges_left: erased.left.charges,
        purchases_left: erased.left.purchases,
        sessions_left: erased.left.sessions,
        notifications_left: erased.left.notifications,
        beyond_reach: beyond_reach(app, erased.log),
    })
}

fn beyond_reach(app: &App, log: Emptied) -> Vec<String> {
    let minutes = app.settings.token_life.as_secs() / 60;
    let mut named = vec![
        "Backups made before, and databases kept beside a restored one: they hold the person until you delete them."
            .to_owned(),
        "Files of reports that were fetched before: ask who has them.".to_owned(),
        "Events already delivered to webhooks: ask who received them.".to_owned(),
        "The records of the payment providers: ask each of them.".to_owned(),
        "Texts of payments and sessions of others that have the person's name without his e-mail address or document \
         number, and descriptions and metadata of payments of others: nobody can tell whom they mean."
            .to_owned(),
        "A seller or a vendor who is the same person: what they sell is theirs to end."
            .to_owned(),
        "Notifications of providers that this release does not understand: they are sealed, and purged like the others."
            .to_owned(),
        format!(
            "Tokens of cards that were not used: nobody can tell whose they are; they are deleted after {minutes} \
             minutes at the latest."
        ),
    ];
    match log {
        Emptied::Yes => {}
        Emptied::StillNeeded => named.push(
            "The write-ahead log: a backup or a long read still needs it; what it holds goes when it begins anew, or \
             when you run this command again."
                .to_owned(),
        ),
        Emptied::NotOurs => named.push(
            "Dead rows and the write-ahead log of PostgreSQL: VACUUM and checkpoints recycle them; archived log counts \
             as a backup."
                .to_owned(),
        ),
    }
    named
}
