//! Stores webhooks with their keys. A deleted webhook keeps its row, because its deliveries stay readable; the queries
//! here do not find it.

use regente_domain::id::{ClientId, WebhookId};
use regente_domain::time::Timestamp;
use regente_domain::webhook::{EventFilter, PartialRefund, Version};
use uuid::Uuid;

use crate::batch::Batch;
use crate::readable::Readable;
use crate::row::Row;
use crate::sealed::Sealed;
use crate::{Args, Store, StoreError, args, sql};

/// Bytes of a public key.
pub const PUBLIC_KEY_BYTES: usize = 32;

macro_rules! columns {
    () => {
        "id, client_id, event, endpoint, api_version, active, public_key, private_key, next_public_key, \
         next_private_key, next_key_at, key_id, lost_in_a_row, version, updated_at, listens_until, sent_endpoint, \
         partial_refund"
    };
}
pub(crate) use columns;

sql! {
    /// Adds a webhook.
    pub INSERT_WEBHOOK = "
        INSERT INTO webhooks (id, client_id, event, endpoint, api_version, active, public_key, private_key,
            key_id, lost_in_a_row, version, updated_at, sent_endpoint, partial_refund)
        VALUES (:id, :client_id, :event, :endpoint, :api_version, :active, :public_key, :private_key,
            :key_id, 0, :version, :updated_at, :sent_endpoint, :partial_refund)";
    /// Changes a webhook. The count of losses restarts, since its owner has looked at it.
    pub UPDATE_WEBHOOK = "
        UPDATE webhooks SET event = :event, endpoint = :endpoint, api_version = :api_version, active = :active,
            sent_endpoint = :sent_endpoint, partial_refund = :partial_refund, lost_in_a_row = 0,
            version = version + 1, updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version AND deleted_at IS NULL";
    /// Deletes a webhook and its private keys; its row stays.
    pub DELETE_WEBHOOK = "
        UPDATE webhooks SET active = 0, private_key = NULL, next_public_key = NULL, next_private_key = NULL,
            next_key_at = NULL, version = version + 1, updated_at = :updated_at, deleted_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version AND deleted_at IS NULL";
    /// Replaces the keys of a webhook: all of them, because they share one data key.
    pub SET_WEBHOOK_KEYS = "
        UPDATE webhooks SET public_key = :public_key, private_key = :private_key,
            next_public_key = :next_public_key, next_private_key = :next_private_key, next_key_at = :next_key_at,
            key_id = :key_id, version = version + 1, updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version AND deleted_at IS NULL";
    /// The account of a webhook.
    pub CLIENT_OF_WEBHOOK = "
        SELECT client_id FROM webhooks WHERE REACHABLE(client_id) AND id = :id AND deleted_at IS NULL AND listens_until IS NULL";
    /// One webhook.
    pub FIND_WEBHOOK = concat!("SELECT ", columns!(), " FROM webhooks
        WHERE id = :id AND client_id = :client_id AND deleted_at IS NULL AND listens_until IS NULL");
    /// A page of webhooks, newest first.
    pub LIST_WEBHOOKS = concat!("SELECT ", columns!(), " FROM webhooks
        WHERE client_id = :client_id AND deleted_at IS NULL AND listens_until IS NULL
        ORDER BY id DESC LIMIT :limit OFFSET :offset");
    /// Counts the webhooks.
    pub COUNT_WEBHOOKS = "
        SELECT COUNT(*) AS n FROM webhooks
        WHERE client_id = :client_id AND deleted_at IS NULL AND listens_until IS NULL";
    /// Active webhooks, oldest first, and listeners.
    pub ACTIVE_WEBHOOKS = concat!("SELECT ", columns!(), " FROM webhooks
        WHERE client_id = :client_id AND active = 1 AND deleted_at IS NULL ORDER BY id");
    /// Webhooks with due deliveries, by id: one index lookup for each webhook, however many deliveries wait.
    pub WEBHOOKS_WITH_DUE_DELIVERIES = concat!("SELECT ", columns!(), " FROM webhooks
        WHERE REACHABLE(webhooks.client_id) AND id > :after AND active = 1 AND deleted_at IS NULL AND (SELECT d.due_at FROM deliveries d
            WHERE d.webhook_id = webhooks.id AND d.client_id = webhooks.client_id AND d.due_at IS NOT NULL
            ORDER BY d.due_at LIMIT 1) <= :now
        ORDER BY id LIMIT :limit");
    /// Those of one client that have something due.
    pub WEBHOOKS_OF_CLIENT_WITH_DUE_DELIVERIES = concat!("SELECT ", columns!(), " FROM webhooks
        WHERE client_id = :client_id AND active = 1 AND deleted_at IS NULL AND (SELECT d.due_at FROM deliveries d
            WHERE d.webhook_id = webhooks.id AND d.client_id = :client_id AND d.due_at IS NOT NULL
            ORDER BY d.due_at LIMIT 1) <= :now
        ORDER BY id LIMIT :limit");
    /// The webhooks of an endpoint.
    pub WEBHOOKS_OF_ENDPOINT = "
        SELECT id, event FROM webhooks
        WHERE client_id = :client_id AND endpoint = :endpoint AND deleted_at IS NULL";
    /// Counts a lost message.
    pub COUNT_LOST = "
        UPDATE webhooks SET lost_in_a_row = lost_in_a_row + 1 WHERE id = :id AND client_id = :client_id";
    /// Clears the count of losses: the endpoint accepts messages again.
    pub FORGET_LOST = "
        UPDATE webhooks SET lost_in_a_row = 0
        WHERE id = :id AND client_id = :client_id AND lost_in_a_row <> 0";
    /// Disables a webhook that has lost too many messages.
    pub DISABLE_WEBHOOK = "
        UPDATE webhooks SET active = 0, version = version + 1, updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version AND active = 1";
}

/// A webhook.
#[derive(Clone, Debug, PartialEq)]
pub struct Webhook {
    /// Its id; the time of creation is the id's own.
    pub id: WebhookId,
    /// The account it belongs to.
    pub client_id: ClientId,
    /// The events it asks for.
    pub event: EventFilter,
    /// The address they are sent to, as it was checked.
    pub endpoint: String,
    /// The address as it was given; `None` in rows of earlier releases, which kept the checked form alone.
    pub sent_endpoint: Option<String>,
    /// What is sent for a partial refund.
    pub partial_refund: PartialRefund,
    /// The payload version.
    pub api_version: Version,
    /// Whether they are sent at all.
    pub active: bool,
    /// The signing key.
    pub key: KeyPair,
    /// The next signing key.
    pub next_key: Option<NextKey>,
    /// Number of messages lost since the last one delivered.
    pub lost_in_a_row: i64,
    /// Grows by one with each change; every write checks it.
    pub version: i64,
    /// When it last changed; always grows.
    pub updated_at: Timestamp,
    /// Set for a listener: until when deliveries are made for it.
    pub listens_until: Option<Timestamp>,
}

impl Webhook {
    /// The signing key at `now`, and the next one. Once the time of the next key has come, it is the signing key, even
    /// before its row says so.
    pub fn keys_at(&self, now: Timestamp) -> (KeyInForce<'_>, Option<&NextKey>) {
        match &self.next_key {
            None => (KeyInForce::First(&self.key), None),
            Some(next) if next.at <= now => (KeyInForce::Next(&next.key), None),
            Some(next) => (KeyInForce::First(&self.key), Some(next)),
        }
    }
}

/// The signing key, and its column, which its sealing depends on.
#[derive(Clone, Copy, Debug)]
pub enum KeyInForce<'a> {
    /// In the column of the key.
    First(&'a KeyPair),
    /// Still in the column of the next key.
    Next(&'a KeyPair),
}

impl<'a> KeyInForce<'a> {
    /// The key.
    pub const fn pair(self) -> &'a KeyPair {
        match self {
            Self::First(pair) | Self::Next(pair) => pair,
        }
    }
}

/// A key pair with a sealed private half.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyPair {
    /// The public half.
    pub public: [u8; PUBLIC_KEY_BYTES],
    /// The private half, sealed.
    pub private: Sealed,
}

/// The key that replaces the current one.
#[derive(Clone, Debug, PartialEq)]
pub struct NextKey {
    /// The key.
    pub key: KeyPair,
    /// From when only it signs.
    pub at: Timestamp,
}

/// Adds a webhook.
pub fn insert(batch: &mut Batch, webhook: &Webhook) {
    let args = row_of(webhook)
        .with("public_key", webhook.key.public)
        .with("private_key", webhook.key.private.bytes.clone())
        .with("key_id", webhook.key.private.key_id);
    batch.push(&INSERT_WEBHOOK, args);
}

/// Writes the settings of `webhook`, guarded by the version that was read.
pub fn update(batch: &mut Batch, webhook: &Webhook) {
    batch.guard(&UPDATE_WEBHOOK, row_of(webhook));
}

/// Writes the keys of `webhook`, sealed under one data key, guarded by the version that was read.
pub fn set_keys(batch: &mut Batch, webhook: &Webhook) {
    let next = webhook.next_key.as_ref();
    batch.guard(
        &SET_WEBHOOK_KEYS,
        args! {
            id: webhook.id,
            client_id: webhook.client_id,
            public_key: webhook.key.public,
            private_key: webhook.key.private.bytes.clone(),
            next_public_key: next.map(|next| next.key.public.to_vec()),
            next_private_key: next.map(|next| next.key.private.bytes.clone()),
            next_key_at: next.map(|next| next.at),
            key_id: webhook.key.private.key_id,
            version: webhook.version,
            updated_at: webhook.updated_at,
        },
    );
}

fn row_of(webhook: &Webhook) -> Args {
    args! {
        id: webhook.id,
        client_id: webhook.client_id,
        event: webhook.event.word(),
        endpoint: &webhook.endpoint,
        sent_endpoint: webhook.sent_endpoint.clone(),
        partial_refund: webhook.partial_refund.word(),
        api_version: webhook.api_version.word(),
        active: webhook.active,
        version: webhook.version,
        updated_at: webhook.updated_at,
    }
}

/// Deletes `webhook`, guarded by the version that was read.
pub fn delete(batch: &mut Batch, webhook: &Webhook, now: Timestamp) {
    let (id, client_id, version) = (webhook.id, webhook.client_id, webhook.version);
    batch.guard(&DELETE_WEBHOOK, args! { id, client_id, version, updated_at: now });
}

/// Counts a lost message of `webhook`.
pub fn lost(batch: &mut Batch, webhook: &Webhook) {
    batch.push_any(&COUNT_LOST, args! { id: webhook.id, client_id: webhook.client_id });
}

/// Disables `webhook`. Guards the batch by the version that was read, so only one node disables it.
pub fn disable(batch: &mut Batch, webhook: &Webhook, now: Timestamp) {
    let (id, client_id, version) = (webhook.id, webhook.client_id, webhook.version);
    batch.guard(&DISABLE_WEBHOOK, args! { id, client_id, version, updated_at: now });
}

/// Records that `webhook` accepts messages again.
pub fn took(batch: &mut Batch, webhook: &Webhook) {
    if webhook.lost_in_a_row != 0 {
        batch.push_any(&FORGET_LOST, args! { id: webhook.id, client_id: webhook.client_id });
    }
}

/// A webhook of a client.
pub async fn find(store: &Store, client_id: ClientId, id: WebhookId) -> Result<Option<Webhook>, StoreError> {
    store.row(&FIND_WEBHOOK, args! { id, client_id }).await?.as_ref().map(from_row).transpose()
}

/// The account of a webhook. Only for operators: callers of the interface name their account.
pub async fn client_of(store: &Store, id: WebhookId) -> Result<Option<ClientId>, StoreError> {
    store.owner(&CLIENT_OF_WEBHOOK, id.uuid()).await
}

/// A page of webhooks, newest first: `limit` after the first `offset`.
pub async fn list(
    store: &Store,
    client_id: ClientId,
    limit: i64,
    offset: i64,
) -> Result<Vec<Webhook>, StoreError> {
    let rows = store.rows(&LIST_WEBHOOKS, args! { client_id, limit, offset }).await?;
    rows.iter().map(from_row).collect()
}

/// Counts the webhooks of a client.
pub async fn count(store: &Store, client_id: ClientId) -> Result<u64, StoreError> {
    let row = store.row(&COUNT_WEBHOOKS, args! { client_id }).await?;
    row.map_or(Ok(0), |row| row.get("n"))
}

/// The active webhooks of a client, oldest first, and its present and recent listeners.
pub async fn active(store: &Store, client_id: ClientId) -> Result<Readable<Webhook>, StoreError> {
    let rows = store.rows(&ACTIVE_WEBHOOKS, args! { client_id }).await?;
    Readable::of(&rows, from_row)
}

/// The webhooks of all clients after `after`, by id, with a delivery due at `now`.
pub async fn with_due(
    store: &Store,
    after: WebhookId,
    now: Timestamp,
    limit: i64,
) -> Result<Readable<Webhook>, StoreError> {
    let rows = store.rows(&WEBHOOKS_WITH_DUE_DELIVERIES, args! { after, now, limit }).await?;
    Readable::of(&rows, from_row)
}

/// The webhooks of a client that have a delivery due at `now`, by id.
pub async fn with_due_of(
    store: &Store,
    client_id: ClientId,
    now: Timestamp,
    limit: i64,
) -> Result<Readable<Webhook>, StoreError> {
    let args = args! { client_id, now, limit };
    let rows = store.rows(&WEBHOOKS_OF_CLIENT_WITH_DUE_DELIVERIES, args).await?;
    Readable::of(&rows, from_row)
}

/// The webhooks of a client at an endpoint, each with the word of the events it asks for.
pub async fn of_endpoint(
    store: &Store,
    client_id: ClientId,
    endpoint: &str,
) -> Result<Vec<(WebhookId, String)>, StoreError> {
    let rows = store.rows(&WEBHOOKS_OF_ENDPOINT, args! { client_id, endpoint: endpoint.to_owned() }).await?;
    rows.iter().map(|row| Ok((row.get("id")?, row.get("event")?))).collect()
}

pub(crate) fn from_row(row: &Row) -> Result<Webhook, StoreError> {
    let corrupt = |column: &str| StoreError::Corrupt(format!("webhooks.{column}"));
    let (event, api_version): (&str, &str) = (row.get("event")?, row.get("api_version")?);
    let partial_refund: Option<&str> = row.get("partial_refund")?;
    let key_id: Uuid = row.get("key_id")?;
    let pair = |public, bytes| KeyPair { public, private: Sealed { key_id, bytes } };
    let next_public: Option<[u8; PUBLIC_KEY_BYTES]> = row.get("next_public_key")?;
    let next_private: Option<Vec<u8>> = row.get("next_private_key")?;
    let next_key_at: Option<Timestamp> = row.get("next_key_at")?;
    let next_key = match (next_public, next_private, next_key_at) {
        (Some(public), Some(private), Some(at)) => Some(NextKey { key: pair(public, private), at }),
        (None, None, None) => None,
        (Some(_) | None, _, _) => return Err(corrupt("next_public_key")),
    };
    Ok(Webhook {
        id: row.get("id")?,
        client_id: row.get("client_id")?,
        event: EventFilter::parse(event).ok_or_else(|| corrupt("event"))?,
        endpoint: row.get("endpoint")?,
        sent_endpoint: row.get("sent_endpoint")?,
        partial_refund: match partial_refund {
            None => PartialRefund::Voided,
            Some(word) => PartialRefund::parse(word).ok_or_else(|| corrupt("partial_refund"))?,
        },
        api_version: Version::parse(api_version).ok_or_else(|| corrupt("api_version"))?,
        active: row.get("active")?,
        key: pair(row.get("public_key")?, row.get("private_key")?),
        next_key,
        lost_in_a_row: row.get("lost_in_a_row")?,
        version: row.get("version")?,
        updated_at: row.get("updated_at")?,
        listens_until: row.get("listens_until")?,
    })
}
