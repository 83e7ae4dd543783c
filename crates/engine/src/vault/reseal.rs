//! After a rotation: reseals all data under a former data key, while the system runs, until the former key can be
//! destroyed. Any number of nodes may do this at once.
//!
//! Token rows cannot be resealed, because they do not contain their ids: the key is kept until they have expired.

use std::collections::BTreeMap;
use std::sync::PoisonError;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use regente_domain::actor::Actor;
use regente_domain::id::{ClientId, of};
use regente_domain::time::Timestamp;
use regente_store::audit::{self, AuditEntry};
use regente_store::data_keys::{self, DEPLOYMENT, Position, SealedRow, SealedTable};
use regente_store::sealed::Sealed;
use regente_store::{Batch, Commit};
use uuid::Uuid;

use super::binding::{Binding, Purpose};
use super::error::VaultError;
use super::rotation::record;
use super::{Sealer, Vault};

/// How long a former key is kept at least after its retirement. By then every node knows the new key or has stopped
/// sealing ([`Freshness`](super::Freshness)), and every request that began to seal under the former key has ended.
pub const RETIREMENT_GRACE: Duration = Duration::from_secs(15 * 60);

/// Rows of one query.
const ROWS_PER_PAGE: u32 = 500;
/// Pages of one run; then other jobs may run.
const PAGES_PER_RUN: usize = 20;
/// Rows that one batch reseals; requests wait for at most one such batch.
const ROWS_PER_BATCH: usize = 50;
/// Concurrent batches; they share syncs of the database.
const BATCHES_AT_ONCE: usize = 8;
/// The pause while unexpired tokens need the former key.
const LOOK_AGAIN_AFTER: Duration = Duration::from_secs(60);
/// The pause while some rows do not open.
const LOOK_AGAIN_AFTER_TROUBLE: Duration = Duration::from_secs(15 * 60);

/// The actor in the audit trail.
const ACTOR: Actor = Actor::Job("vault_reseal");

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResealProgress {
    /// No data is left under a former key, and all former keys are destroyed.
    Done,
    /// There is more to do.
    Again {
        /// The pause before the next run; zero for none.
        after: Duration,
    },
}

/// A walk through all tables. It is only in memory: if it is lost, a new one begins.
pub(super) struct Pass {
    current_key_id: Uuid,
    began_at: Timestamp,
    tables: std::slice::Iter<'static, SealedTable>,
    position: Option<Position>,
    seen: Seen,
}

/// Counts of rows under a former key.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// Rows that were resealed, or that another writer changed meanwhile.
    resealed: usize,
    /// Rows that do not open.
    broken: usize,
}

impl Vault {
    /// Does a limited part of the work after a rotation; without a rotation it does nothing. The job calls it until it
    /// is done.
    ///
    /// # Errors
    /// [`VaultError::Store`]; the walk then begins again.
    pub async fn reseal(&self) -> Result<ResealProgress, VaultError> {
        self.refresh().await?;
        let ring = self.ring();
        let kept = self.0.reseal_pass.lock().unwrap_or_else(PoisonError::into_inner).take();
        if ring.retiring.is_empty() {
            return Ok(ResealProgress::Done);
        }
        let mut pass = kept
            .filter(|pass| pass.current_key_id == ring.current.id)
            .unwrap_or_else(|| Pass::new(ring.current.id, self.0.clock.deployment()));
        for _ in 0..PAGES_PER_RUN {
            if !self.reseal_page(&mut pass).await? {
                return self.finish(&pass, &ring.retiring).await;
            }
        }
        *self.0.reseal_pass.lock().unwrap_or_else(PoisonError::into_inner) = Some(pass);
        Ok(ResealProgress::Again { after: Duration::ZERO })
    }

    /// Reseals the next page; returns whether there was one.
    async fn reseal_page(&self, pass: &mut Pass) -> Result<bool, VaultError> {
        let Some(position) = pass.next_position() else { return Ok(false) };
        let (rows, next) =
            data_keys::page(&self.0.store, &position, pass.current_key_id, ROWS_PER_PAGE).await?;
        pass.position = next;
        let mut by_client: BTreeMap<ClientId, Vec<SealedRow>> = BTreeMap::new();
        for row in rows {
            by_client.entry(row.client_id).or_default().push(row);
        }
        let pieces = by_client.into_values().flat_map(|rows| pieces(rows, ROWS_PER_BATCH));
        let mut done =
            stream::iter(pieces).map(|rows| self.reseal_rows(rows)).buffer_unordered(BATCHES_AT_ONCE);
        while let Some(seen) = done.try_next().await? {
            pass.seen.resealed += seen.resealed;
            pass.seen.broken += seen.broken;
        }
        Ok(true)
    }

    /// Reseals rows of one client in one batch. A row that was changed meanwhile stays as it is: the next walk finds
    /// it.
    async fn reseal_rows(&self, rows: Vec<SealedRow>) -> Result<Seen, VaultError> {
        let mut seen = Seen::default();
        let Some(client_id) = rows.first().map(|row| row.client_id) else { return Ok(seen) };
        let sealer = self.sealer();
        let mut batch = Batch::new(client_id);
        for row in &rows {
            match self.seal_again(&sealer, row).await {
                Ok(sealed) => {
                    data_keys::reseal(&mut batch, row, sealer.key_id(), sealed);
                    self.record_opened_number(&mut batch, row);
                    seen.resealed += 1;
                }
                Err(VaultError::Store(error)) => return Err(error.into()),
                Err(error) => {
                    // Log one line for each batch, however many of its rows do not open.
                    if seen.broken == 0 {
                        tracing::error!(
                            error = &error as &dyn std::error::Error, table = ?row.table, key = ?row.key, %client_id,
                            "rows cannot be sealed again; their data key is kept"
                        );
                    }
                    seen.broken += 1;
                }
            }
        }
        match self.0.store.apply(batch).await? {
            // Whatever the result, the next walk looks again.
            Commit::Applied | Commit::Refused(_) | Commit::Unknown => Ok(seen),
        }
    }

    async fn seal_again(&self, sealer: &Sealer, row: &SealedRow) -> Result<[Option<Vec<u8>>; 2], VaultError> {
        let mut sealed = [None, None];
        for ((column, purpose), sealed) in row.sealed.iter().zip(purposes(row.table)).zip(&mut sealed) {
            let (Some(bytes), Some(purpose)) = (column, purpose) else { continue };
            let binding = binding(row, purpose);
            let before = Sealed { key_id: row.key_id, bytes: bytes.clone() };
            let plain = self.open(binding, &before).await?;
            *sealed = Some(sealer.seal(binding, &plain).bytes);
        }
        Ok(sealed)
    }

    /// Records the decryption of a card number: every one must be in the audit trail.
    fn record_opened_number(&self, batch: &mut Batch, row: &SealedRow) {
        let (SealedTable::Cards, [Some(_), _]) = (row.table, &row.sealed) else { return };
        audit::record(
            batch,
            AuditEntry {
                id: self.0.chance.id::<of::Audit>(self.0.clock.of(batch.client_id())),
                actor: ACTOR,
                action: "card.pan_resealed",
                object_kind: "card",
                object_id: row.key,
                request_id: None,
            },
        );
    }

    /// Decides at the end of a walk whether former keys can be destroyed.
    async fn finish(
        &self,
        pass: &Pass,
        retiring: &[(Uuid, Timestamp)],
    ) -> Result<ResealProgress, VaultError> {
        match pass.seen {
            Seen { resealed: 0, broken: 0 } => {}
            Seen { resealed: 0, .. } => return Ok(ResealProgress::Again { after: LOOK_AGAIN_AFTER_TROUBLE }),
            Seen { .. } => return Ok(ResealProgress::Again { after: Duration::ZERO }),
        }
        let mut wait = None;
        for &(key_id, retired_at) in retiring {
            if let Some(longer) = self.destroy_unless_needed(pass, key_id, retired_at).await? {
                wait = wait.max(Some(longer));
            }
        }
        self.refresh().await?;
        Ok(wait.map_or(ResealProgress::Done, |after| ResealProgress::Again { after }))
    }

    /// Destroys a former key under which the walk found nothing, or returns how long it must still be kept.
    async fn destroy_unless_needed(
        &self,
        pass: &Pass,
        key_id: Uuid,
        retired_at: Timestamp,
    ) -> Result<Option<Duration>, VaultError> {
        let now = self.0.clock.deployment();
        let grace_ends_at = retired_at + RETIREMENT_GRACE;
        // A walk that began earlier may have passed a table before a node without the new key wrote to it.
        if pass.began_at < grace_ends_at {
            return Ok(Some(grace_ends_at.since(now)));
        }
        if data_keys::has_live_token(&self.0.store, key_id, self.0.clock.earliest()).await? {
            return Ok(Some(LOOK_AGAIN_AFTER));
        }
        let mut batch = Batch::new(DEPLOYMENT);
        data_keys::destroy(&mut batch, key_id, now);
        record(&mut batch, &self.0.chance, now, ACTOR, "data_key.destroyed", key_id);
        match self.0.store.apply(batch).await? {
            // A refusal means that another node destroyed the key.
            Commit::Applied | Commit::Refused(_) => Ok(None),
            Commit::Unknown => Ok(Some(Duration::ZERO)),
        }
    }
}

impl Pass {
    fn new(current_key_id: Uuid, began_at: Timestamp) -> Self {
        Self {
            current_key_id,
            began_at,
            tables: SealedTable::ALL.iter(),
            position: None,
            seen: Seen::default(),
        }
    }

    /// The next position: further in the table, or at the start of the next one.
    fn next_position(&mut self) -> Option<Position> {
        self.position.take().or_else(|| self.tables.next().map(|table| Position::start(*table)))
    }
}

/// The purposes of a table's sealed columns, in their order.
const fn purposes(table: SealedTable) -> [Option<Purpose>; 2] {
    match table {
        SealedTable::Clients => [Some(Purpose::ClientSecret), None],
        SealedTable::Members => [Some(Purpose::MemberData), None],
        SealedTable::MemberKeys => [Some(Purpose::MemberKey), None],
        SealedTable::Providers => [Some(Purpose::ProviderCredentials), None],
        SealedTable::Customers => [Some(Purpose::CustomerData), None],
        SealedTable::CustomerAliases => [Some(Purpose::CustomerAliasData), None],
        SealedTable::Vendors => [Some(Purpose::VendorData), None],
        SealedTable::Cards => [Some(Purpose::CardNumber), Some(Purpose::CardHolder)],
        SealedTable::Charges => [Some(Purpose::ChargeData), None],
        SealedTable::Purchases => [Some(Purpose::PurchaseData), None],
        SealedTable::Sessions => [Some(Purpose::SessionData), None],
        SealedTable::Sellers => [Some(Purpose::SellerData), None],
        SealedTable::SellerDocuments => [Some(Purpose::SellerDocument), None],
        SealedTable::RegistrationAnswers => [Some(Purpose::RegistrationAnswer), None],
        SealedTable::Reports => [Some(Purpose::ReportData), None],
        SealedTable::PayoutAccounts => [Some(Purpose::PayoutAccount), None],
        SealedTable::Receipts => [Some(Purpose::ReceiptFile), None],
        SealedTable::Webhooks => [Some(Purpose::WebhookKey), Some(Purpose::NextWebhookKey)],
        SealedTable::Answers => [Some(Purpose::AnswerBody), None],
        SealedTable::ProviderNotifications => [Some(Purpose::ProviderNotification), None],
    }
}

fn binding(row: &SealedRow, purpose: Purpose) -> Binding {
    Binding::new(purpose, row.client_id, row.key)
}

/// Splits the rows into pieces of at most `size`.
fn pieces(mut rows: Vec<SealedRow>, size: usize) -> Vec<Vec<SealedRow>> {
    let mut pieces = Vec::with_capacity(rows.len().div_ceil(size));
    while rows.len() > size {
        let rest = rows.split_off(size);
        pieces.push(std::mem::replace(&mut rows, rest));
    }
    pieces.push(rows);
    pieces
}
