//! The signing keys of a webhook and their replacement.
//!
//! A key is replaced in two steps. First the new key is added; until the end of the overlap both keys sign
//! (`signature.rs` says where). From then on only the new key signs, by its date. A job then replaces the former key
//! and so deletes its private half.

use std::time::Duration;

use regente_domain::actor::Actor;
use regente_domain::id::WebhookId;
use regente_domain::time::{Timestamp, later_of};
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
use crate::races;
use crate::vault::{Binding, Purpose, VaultError};

/// Why a key was not replaced.
#[derive(Debug, thiserror::Error)]
pub enum RotationError {
    /// The webhook does not exist.
    #[error("there is no webhook {0}")]
    UnknownWebhook(WebhookId),
    /// The overlap is longer than allowed.
    #[error("the overlap may last {} days at most", KEY_OVERLAP_MAX.as_secs() / (24 * 60 * 60))]
    OverlapTooLong,
    /// A replacement is under way. Another one would remove the new key that receivers already trust.
    #[error(
        "its key is being replaced already, until {0}; with `--overlap 0s` a new key takes the place of both at once"
    )]
    UnderWay(Timestamp),
    /// Other changes of the webhook kept coming first.
    #[error("others are changing the same webhook; try again")]
    Busy,
    /// The connection was lost during the commit.
    #[error("it is not known whether the change was written; look before you try again")]
    Unknown,
    /// The keys cannot be opened.
    #[error("the keys of the webhook cannot be opened")]
    Vault(#[from] VaultError),
    /// The opened bytes are not a key.
    #[error(transparent)]
    NotAKey(#[from] NotAKey),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] regente_store::StoreError),
}

/// The signing keys of a webhook.
pub(super) struct Signer {
    /// The current key.
    pub(super) key: SigningKey,
    /// The next key, while the current one is being replaced.
    pub(super) next: Option<SigningKey>,
}

impl Signer {
    /// Opens the keys that sign at `now`.
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

/// Replaces the key of a webhook and returns the webhook. Both keys sign for `overlap`; if it is zero, the new key
/// signs alone at once.
///
/// # Errors
/// [`RotationError`]; except for [`RotationError::Unknown`] nothing was changed.
pub async fn rotate(app: &App, id: WebhookId, overlap: Duration) -> Result<Webhook, RotationError> {
    if overlap > KEY_OVERLAP_MAX {
        return Err(RotationError::OverlapTooLong);
    }
    let unknown = || RotationError::UnknownWebhook(id);
    let client_id = webhooks::client_of(&app.store, id).await?.ok_or_else(unknown)?;
    app.vault.keep_current().await?;
    let new = SigningKey::generate(&app.chance)?;
    for _ in races::tries() {
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

/// Runs the job that ends a replacement: the new key replaces the former one.
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
        // The webhook was changed meanwhile, or the commit may have succeeded: read it again.
        Commit::Refused(_) | Commit::Unknown => Ok(Ended::Again { at: now }),
    }
}

/// The webhook with only this key.
fn alone(app: &App, webhook: &Webhook, seed: &[u8], public: [u8; webhooks::PUBLIC_KEY_BYTES]) -> Webhook {
    let private = app.vault.seal(binding(webhook, Purpose::WebhookKey), seed);
    Webhook { key: KeyPair { public, private }, next_key: None, ..webhook.clone() }
}

/// The webhook with the current key and the new one, which replaces it at `at`.
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

/// Each replacement has its own job: the end of one must not absorb the next.
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
