//! The clocks of accounts that have one of their own, in memory, and how a node follows what is stored of them.
//!
//! A change holds on the node that makes it before it is answered. Every other node reads all of them every
//! [`READ_EVERY`], and the answer of a change is held back for [`FOLLOWED_WITHIN`]: whoever has it is served by it on every
//! node. Of two versions a node keeps the later one, whichever it has read first.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use regente_domain::account_clock::Running;
use regente_domain::id::ClientId;
use regente_store::account_clocks::{self, StoredClock};
use regente_store::{Store, StoreError};

use super::Clock;

/// How often a node reads the clocks of accounts that others may have moved.
const READ_EVERY: Duration = Duration::from_millis(200);
/// Within this time every node that reaches the database goes by a change.
pub const FOLLOWED_WITHIN: Duration = Duration::from_millis(600);

/// The accounts with clocks of their own.
#[derive(Debug, Default)]
pub(super) struct OwnClocks {
    /// Whether there is any, so that nobody takes the lock while there is none.
    any: AtomicBool,
    clocks: RwLock<BTreeMap<ClientId, Own>>,
}

/// A clock with the version that was read. One that was reset stays here, so that an older version does not come back.
#[derive(Clone, Copy, Debug)]
struct Own {
    running: Running,
    version: i64,
}

impl OwnClocks {
    /// The clock of an account, if it has one of its own.
    pub(super) fn of(&self, client_id: ClientId) -> Option<Running> {
        let own = self.read()?.get(&client_id).copied()?;
        (own.running != Running::OF_THE_DEPLOYMENT).then_some(own.running)
    }

    /// The accounts that have one, by id.
    pub(super) fn accounts(&self) -> Vec<ClientId> {
        let Some(own) = self.read() else { return Vec::new() };
        let has_one = |(_, own): &(&ClientId, &Own)| own.running != Running::OF_THE_DEPLOYMENT;
        own.iter().filter(has_one).map(|(client_id, _)| *client_id).collect()
    }

    /// Sets a clock that is not stored.
    pub(super) fn set(&self, client_id: ClientId, running: Running) {
        self.change(|clocks| {
            let version = clocks.get(&client_id).map_or(0, |own| own.version);
            clocks.insert(client_id, Own { running, version });
        });
    }

    fn take(&self, stored: &StoredClock) {
        let StoredClock { client_id, clock, version } = stored;
        self.change(|clocks| {
            let is_known = clocks.get(client_id).is_some_and(|own| own.version >= *version);
            if !is_known {
                clocks.insert(*client_id, Own { running: clock.running, version: *version });
            }
        });
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<ClientId, Own>)) {
        let mut clocks = self.clocks.write().unwrap_or_else(PoisonError::into_inner);
        change(&mut clocks);
        self.any.store(!clocks.is_empty(), Ordering::Release);
    }

    /// Nothing while no account has one.
    fn read(&self) -> Option<RwLockReadGuard<'_, BTreeMap<ClientId, Own>>> {
        let any = self.any.load(Ordering::Acquire);
        any.then(|| self.clocks.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Clock {
    /// Goes by the clock of an account as it was read, unless a later version is known.
    pub fn take(&self, stored: &StoredClock) {
        if stored.version > 0 {
            self.own.take(stored);
        }
    }

    /// Reads the clocks of all accounts.
    ///
    /// # Errors
    /// The database cannot be asked.
    pub async fn follow_accounts(&self, store: &Store) -> Result<(), StoreError> {
        account_clocks::all(store).await?.iter().for_each(|stored| self.take(stored));
        Ok(())
    }

    /// Forgets the clocks of accounts, since another database has taken the place of the one that they were read from.
    pub fn forget_accounts(&self) {
        self.own.change(BTreeMap::clear);
    }

    /// Reads the clocks of all accounts again and again.
    pub async fn keep_following_accounts(self, store: Store) -> std::convert::Infallible {
        loop {
            tokio::time::sleep(READ_EVERY).await;
            if let Err(error) = self.follow_accounts(&store).await {
                tracing::debug!(
                    error = &error as &dyn std::error::Error,
                    "the clocks of accounts cannot be read"
                );
            }
        }
    }
}
