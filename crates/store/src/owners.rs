//! The account of a record that is named by its id alone, as in the address of a notification or of a payment link. It never changes, so
//! it is kept: of a database that is distributed by account every worker is asked for it.

use moka::sync::Cache;
use regente_domain::id::ClientId;
use uuid::Uuid;

/// Most records whose account is kept; about a hundred bytes each.
const RECORDS_MAX: u64 = 100_000;

/// The accounts that are known here.
#[derive(Debug)]
pub(crate) struct Owners(Cache<Uuid, ClientId>);

impl Default for Owners {
    fn default() -> Self {
        Self(Cache::new(RECORDS_MAX))
    }
}

impl Owners {
    pub(crate) fn of(&self, id: Uuid) -> Option<ClientId> {
        self.0.get(&id)
    }

    pub(crate) fn keep(&self, id: Uuid, client_id: ClientId) {
        self.0.insert(id, client_id);
    }
}
