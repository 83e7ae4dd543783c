//! The card numbers that a request opens from tokens, its own or a wallet's. A stored card is opened after its transaction request is written,
//! which records the opening. A token is opened before anything is written, because the card that it becomes is part of
//! the first batch; so its record is in that batch, or in one of its own when the request is refused.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use regente_domain::actor::Actor;
use regente_domain::id::ClientId;
use regente_store::audit::{self, AuditEntry};
use regente_store::{Batch, Commit};

use crate::app::App;
use crate::caller::{Caller, RequestId};
use crate::error::Error;
use crate::vault::half_of;

/// The records of a request's openings. Until they are [`written`](Self::written), dropping them, because the request
/// is refused or its caller hangs up, writes them in a batch of their own.
pub struct Openings {
    app: App,
    client_id: ClientId,
    actor: Actor,
    request_id: Option<RequestId>,
    entries: Mutex<Vec<AuditEntry>>,
}

impl Openings {
    /// None so far, of a request.
    pub fn of(app: &App, caller: &Caller, request_id: &RequestId) -> Self {
        Self::by(app, caller.client_id, caller.actor(), Some(request_id.clone()))
    }

    /// None so far, of this author.
    pub fn by(app: &App, client_id: ClientId, actor: Actor, request_id: Option<RequestId>) -> Self {
        Self { app: app.clone(), client_id, actor, request_id, entries: Mutex::default() }
    }

    /// Notes that a token is opened. The record names it by half of its digest, since its id must not be stored.
    pub fn note(&self, token_digest: [u8; 32]) {
        self.add("token.opened", "token", token_digest);
    }

    /// Notes that a wallet's payment is opened, by half of its digest.
    pub fn note_wallet(&self, payment_digest: [u8; 32]) {
        self.add("wallet_payment.opened", "wallet_payment", payment_digest);
    }

    fn add(&self, action: &'static str, object_kind: &'static str, digest: [u8; 32]) {
        let object_id = half_of(&digest);
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        // A plan that is made again opens the same token.
        if entries.iter().any(|entry| entry.object_id == object_id) {
            return;
        }
        entries.push(AuditEntry {
            id: self.app.chance.id(self.app.clock.of(self.client_id)),
            actor: self.actor,
            action,
            object_kind,
            object_id,
            request_id: self.request_id.as_ref().map(|id| id.as_str().to_owned()),
        });
    }

    /// Adds the records to the batch that uses the tokens up.
    pub fn record(&self, batch: &mut Batch) {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.iter().cloned().for_each(|entry| audit::record(batch, entry));
    }

    /// That batch is applied.
    pub fn written(&self) {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Drop for Openings {
    fn drop(&mut self) {
        let entries = std::mem::take(self.entries.get_mut().unwrap_or_else(PoisonError::into_inner));
        if entries.is_empty() || tokio::runtime::Handle::try_current().is_err() {
            return;
        }
        let mut batch = Batch::new(self.client_id);
        entries.into_iter().for_each(|entry| audit::record(&mut batch, entry));
        // Nobody awaits it; shutdown waits for it.
        drop(self.app.in_flight.run(write(self.app.clone(), batch)));
    }
}

async fn write(app: App, batch: Batch) -> Result<(), Error> {
    let applied = async {
        let _admission = app.store.admit_waiting().await?;
        app.store.apply(batch).await
    };
    match applied.await {
        // Refused: the batch of the request was applied after all.
        Ok(Commit::Applied | Commit::Refused(_)) => {}
        Ok(Commit::Unknown) => tracing::error!("it is not known whether the opening of a token was recorded"),
        Err(error) => tracing::error!(
            error = &error as &dyn std::error::Error,
            "the opening of a token could not be recorded"
        ),
    }
    Ok(())
}

impl fmt::Debug for Openings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Openings")
    }
}
