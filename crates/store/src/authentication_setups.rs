//! Stores authentications that were prepared. A charge that uses one deletes its row.

use regente_domain::actor::Actor;
use regente_domain::id::{AuthenticationSetupId, ClientId};
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use uuid::Uuid;

use crate::batch::Batch;
use crate::expiring::{self, Expiring};
use crate::{Store, StoreError, args, sql};

sql! {
    /// Adds a setup.
    pub INSERT_AUTHENTICATION_SETUP = "
        INSERT INTO authentication_setups (id, client_id, server, fingerprint, expires_at, actor)
        VALUES (:id, :client_id, :server, :fingerprint, :expires_at, :actor)";
    /// A live setup.
    pub FIND_AUTHENTICATION_SETUP = "
        SELECT server, fingerprint FROM authentication_setups
        WHERE id = :id AND client_id = :client_id AND expires_at > :now";
    /// Consumes a setup.
    pub CONSUME_AUTHENTICATION_SETUP = "
        DELETE FROM authentication_setups WHERE id = :id AND client_id = :client_id AND expires_at > :now";
    /// The clients of the first expired setups, except some.
    pub CLIENTS_WITH_EXPIRED_AUTHENTICATION_SETUPS =
        expiring::clients_of_first!("authentication_setups", "REACHABLE(client_id) AND client_id NOT IN EACH_UUID(:apart)");
    /// One client, if it has expired setups.
    pub CLIENT_WITH_EXPIRED_AUTHENTICATION_SETUPS = expiring::clients_of_first!("authentication_setups", "client_id = :client_id");
    /// Deletes expired setups of a client, a bounded number at once.
    pub PURGE_AUTHENTICATION_SETUPS = "
        DELETE FROM authentication_setups WHERE client_id = :client_id AND id IN (
            SELECT id FROM authentication_setups
            WHERE client_id = :client_id AND expires_at <= :now LIMIT :limit)";
}

/// Setups that have expired.
pub static EXPIRING: Expiring = Expiring {
    all_but: &CLIENTS_WITH_EXPIRED_AUTHENTICATION_SETUPS,
    one: &CLIENT_WITH_EXPIRED_AUTHENTICATION_SETUPS,
    purge: &PURGE_AUTHENTICATION_SETUPS,
};

/// A prepared authentication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthenticationSetup {
    /// The 3DS server that was asked.
    pub server: ProviderType,
    /// The fingerprint of the card.
    pub fingerprint: Uuid,
}

/// Adds a setup.
pub fn insert(
    batch: &mut Batch,
    id: AuthenticationSetupId,
    setup: AuthenticationSetup,
    expires_at: Timestamp,
    actor: &Actor,
) {
    let client_id = batch.client_id();
    batch.push(
        &INSERT_AUTHENTICATION_SETUP,
        args! {
            id, client_id, server: setup.server.code(), fingerprint: setup.fingerprint, expires_at,
            actor: actor.to_string(),
        },
    );
}

/// Consumes a setup. If it was used or has expired meanwhile, the batch is refused.
pub fn consume(batch: &mut Batch, id: AuthenticationSetupId, now: Timestamp) {
    let client_id = batch.client_id();
    batch.guard(&CONSUME_AUTHENTICATION_SETUP, args! { id, client_id, now });
}

/// A live setup of a client.
pub async fn find(
    store: &Store,
    client_id: ClientId,
    id: AuthenticationSetupId,
    now: Timestamp,
) -> Result<Option<AuthenticationSetup>, StoreError> {
    let found = store.row(&FIND_AUTHENTICATION_SETUP, args! { id, client_id, now }).await?;
    let Some(row) = found else { return Ok(None) };
    let server: String = row.get("server")?;
    let server = ProviderType::parse(&server)
        .ok_or_else(|| StoreError::Corrupt("authentication_setups.server".to_owned()))?;
    Ok(Some(AuthenticationSetup { server, fingerprint: row.get("fingerprint")? }))
}
