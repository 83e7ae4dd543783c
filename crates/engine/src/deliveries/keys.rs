//! The keys of a webhook: which of them sign, and how one is replaced.
//!
//! A key is replaced in two steps. First the new one stands beside the one in force: until the end of the overlap both
//! sign (`signature.rs` says where). From that moment on the new one signs alone, by its date; a job then puts it in the
//! place of the former, whose private half is gone with that.

use std::time::Duration;

use regente_domain::actor::Actor;
use regente_domain::charge::later_of;
use regente_domain::id::WebhookId;
use regente_domain::time::Timestamp;
use regente_domain::webhook::schedule::KEY_OVERLAP_MAX;
use regente_store::audit::{self, AuditEntry};
use regente_store::jobs::Job;
use regente_store::webhooks::{self, KeyInForce, KeyPair, NextKey, Webhook};
use regente_store::{Batch, Commit};
use zeroize::Zeroizing;

use super::signature::{NotAKey, SigningKey};
use crate::app::App;
use crate::error::Error;
use crate::queue::{self, Ended, Kind};
use crate::vault::{Binding, Purpose, VaultError};

/// How often a change that lost a race is decided again.
const TRIES_MAX: usize = 4;

/// Why a key was not replaced.
#[derive(Debug, thiserror::Error)]
pub enum RotationError {
    /// There is no such webhook.
    #[error("there is no webhook {0}")]
    UnknownWebhook(WebhookId),
    /// The overlap is longer than it may be.
    #[error("the overlap may last {} days at most", KEY_OVERLAP_MAX.as_secs() / (24 * 60 * 60))]
    OverlapTooLong,
    /// A key is being replaced already. A third one would take the second from under receivers that trust it.
    #[error(
        "its key is being replaced already, until {0}; with `--overlap 0s` a new key takes the place of both at once"
    )]
    UnderWay(Timestamp),
    /// Others kept changing the same webhook.
    #[error("others are changing the same webhook; try again")]
    Busy,
    /// The connection was lost during the commit.
    #[error("it is not known whether the change was written; look before you try again")]
    Unknown,
    /// The keys cannot be opened.
    #[error("the keys of the webhook cannot be opened")]
    Vault(#[from] VaultError),
    /// What was opened is no key.
    #[error(transparent)]
    NotAKey(#[from] NotAKey),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] regente_store::StoreError),
}

/// What signs for a webhook.
pub(super) struct Signer {
    /// The key in force.
    pub(super) key: SigningKey,
    /// While the key is being replaced, the one that follows.
    pub(super) next: Option<SigningKey>,
}

impl Signer {
    /// Opens the keys of a webhook that sign at `now`.
    pub(super) async fn open(app: &App, webhook: &Webhook, now: Timestamp) -> Result<Self, Error> {
        let (in_force, next) = webhook.keys_at(now);
        let key = SigningKey::from_seed(&seed_in_force(app, webhook, in_force).await?);
        let next = match next {
            None => None,
            Some(next) => {
                let seed = seed(app, webhook, &next.key, Purpose::NextWebhookKey).await?;
                Some(SigningKey::from_seed(&seed).map_err(Error::internal)?)
            }
        };
        Ok(Self { key: key.map_err(Error::internal)?, next })
    }
}

/// Gives a webhook a new key, and answers the webhook with it. Both keys sign until `overlap` is over; without one the new
/// key signs alone at once.
///
/// # Errors
/// As [`RotationError`]; nothing was changed unless it says otherwise.
pub async fn rotate(app: &App, id: WebhookId, overlap: Duration) -> Result<Webhook, RotationError> {
    if overlap > KEY_OVERLAP_MAX {
        return Err(RotationError::OverlapTooLong);
    }
    let unknown = || RotationError::UnknownWebhook(id);
    let client_id = webhooks::client_of(&app.store, id).await?.ok_or_else(unknown)?;
    app.vault.keep_current().await?;
    let new = SigningKey::generate(&app.chance)?;
    for _ in 0..TRIES_MAX {
        let before = webhooks::find(&app.store, client_id, id).await?.ok_or_else(unknown)?;
        let now = app.clock.of(client_id);
        let webhook = match (before.keys_at(now), overlap) {
            (_, Duration::ZERO) => alone(app, &before, new.seed(), new.public()),
            ((_, Some(next)), _) => return Err(RotationError::UnderWay(next.at)),
            ((in_force, None), _) => beside(app, &before, in_force, &new, now + overlap).await?,
        };
        let webhook = Webhook { updated_at: later_of(now, before.updated_at), ..webhook };
        let mut batch = Batch::new(client_id);
        webhooks::set_keys(&mut batch, &webhook);
        record(app, &mut batch, Actor::Operator, "webhook.key_rotated", id, now);
        if let Some(next) = &webhook.next_key {
            enqueue(app, &mut batch, &before, next.at);
        }
        match app.store.apply(batch).await? {
            Commit::Applied => return Ok(webhook),
            Commit::Refused(_) => {}
            Commit::Unknown => return Err(RotationError::Unknown),
        }
    }
    Err(RotationError::Busy)
}

/// The job that ends a replacement: the new key takes the place of the former.
pub(crate) async fn finish(app: &App, job: &Job) -> Result<Ended, Error> {
    let Ok(id) = job.payload.parse::<WebhookId>() else {
        return Ok(Ended::GiveUp { why: "the payload names no webhook".to_owned() });
    };
    let Some(before) = webhooks::find(&app.store, job.client_id, id).await? else {
        return Ok(Ended::Finished);
    };
    let now = app.clock.of(job.client_id);
    let next = match &before.next_key {
        None => return Ok(Ended::Finished),
        Some(next) if next.at > now => return Ok(Ended::Again { at: next.at }),
        Some(next) => next,
    };
    let seed = seed(app, &before, &next.key, Purpose::NextWebhookKey).await?;
    let updated_at = later_of(now, before.updated_at);
    let webhook = Webhook { updated_at, ..alone(app, &before, &seed, next.key.public) };
    let mut batch = Batch::new(before.client_id);
    webhooks::set_keys(&mut batch, &webhook);
    let actor = Actor::Job(Kind::EndKeyRotation.word());
    record(app, &mut batch, actor, "webhook.former_key_wiped", id, now);
    let _admission = app.store.admit_waiting().await?;
    match app.store.apply(batch).await? {
        Commit::Applied => Ok(Ended::Finished),
        // The webhook was changed meanwhile, or perhaps the commit took place: what is stored by then tells which.
        Commit::Refused(_) | Commit::Unknown => Ok(Ended::Again { at: now }),
    }
}

/// The webhook with one key.
fn alone(app: &App, webhook: &Webhook, seed: &[u8], public: [u8; webhooks::PUBLIC_KEY_BYTES]) -> Webhook {
    let private = app.vault.seal(binding(webhook, Purpose::WebhookKey), seed);
    Webhook { key: KeyPair { public, private }, next_key: None, ..webhook.clone() }
}

/// The webhook with the key in force, and the one that replaces it from `at` on.
async fn beside(
    app: &App,
    webhook: &Webhook,
    in_force: KeyInForce<'_>,
    new: &SigningKey,
    at: Timestamp,
) -> Result<Webhook, VaultError> {
    let seed = seed_in_force(app, webhook, in_force).await?;
    let sealer = app.vault.sealer();
    let sealed = |purpose, seed: &[u8]| sealer.seal(binding(webhook, purpose), seed);
    let key = KeyPair { public: in_force.pair().public, private: sealed(Purpose::WebhookKey, &seed) };
    let next = KeyPair { public: new.public(), private: sealed(Purpose::NextWebhookKey, new.seed()) };
    Ok(Webhook { key, next_key: Some(NextKey { key: next, at }), ..webhook.clone() })
}

async fn seed_in_force(
    app: &App,
    webhook: &Webhook,
    in_force: KeyInForce<'_>,
) -> Result<Zeroizing<Vec<u8>>, VaultError> {
    match in_force {
        KeyInForce::First(pair) => seed(app, webhook, pair, Purpose::WebhookKey).await,
        KeyInForce::Next(pair) => seed(app, webhook, pair, Purpose::NextWebhookKey).await,
    }
}

async fn seed(
    app: &App,
    webhook: &Webhook,
    pair: &KeyPair,
    purpose: Purpose,
) -> Result<Zeroizing<Vec<u8>>, VaultError> {
    app.vault.open(binding(webhook, purpose), &pair.private).await
}

fn binding(webhook: &Webhook, purpose: Purpose) -> Binding {
    Binding::new(purpose, webhook.client_id, webhook.id.uuid())
}

/// Each replacement has a job of its own: one that is about to end must not swallow the next.
fn enqueue(app: &App, batch: &mut Batch, before: &Webhook, at: Timestamp) {
    let id = before.id.to_string();
    let key = format!("{id} {}", before.version);
    queue::enqueue(app, batch, Kind::EndKeyRotation, &key, &id, at);
}

fn record(
    app: &App,
    batch: &mut Batch,
    actor: Actor,
    action: &'static str,
    webhook_id: WebhookId,
    now: Timestamp,
) {
    let (id, object_id) = (app.chance.id(now), webhook_id.uuid());
    audit::record(
        batch,
        AuditEntry { id, actor, action, object_kind: "webhook", object_id, request_id: None },
    );
}
