//! The Apple Pay keys of the accounts, as the operator has given them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use regente_domain::id::ClientId;
use regente_wallets::apple_pay::{MerchantKey, MerchantKeys, TrustedRoots};
use thiserror::Error;

/// How long ago a device may have signed a token, unless the operator says otherwise.
pub const LONGEST_TOKEN_AGE: Duration = Duration::from_secs(5 * 60);
/// The most that an operator may allow.
pub const TOKEN_AGE_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// The keys of each account, and the roots of those who sign tokens. Cheap to clone.
#[derive(Clone)]
pub struct ApplePayKeys(Arc<Keys>);

struct Keys {
    roots: TrustedRoots,
    merchants: BTreeMap<ClientId, Vec<MerchantKey>>,
    longest_age: Duration,
}

/// Two accounts were given the same key. Each account remembers its own payments, so a token would pay once in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "the accounts {0} and {1} have the same key: a token would pay in both, so each needs a key of its own"
)]
pub struct SharedKey(ClientId, ClientId);

impl ApplePayKeys {
    /// The keys of these accounts; tokens that were signed longer ago than `longest_age` are refused.
    ///
    /// # Errors
    /// Two accounts have the same key, whatever their certificates are.
    pub fn new(
        roots: TrustedRoots,
        merchants: BTreeMap<ClientId, Vec<MerchantKey>>,
        longest_age: Duration,
    ) -> Result<Self, SharedKey> {
        let mut owners = BTreeMap::new();
        for (client_id, keys) in &merchants {
            for key in keys {
                let owner = *owners.entry(key.public_key_hash()).or_insert(*client_id);
                if owner != *client_id {
                    return Err(SharedKey(owner, *client_id));
                }
            }
        }
        Ok(Self(Arc::new(Keys { roots, merchants, longest_age })))
    }

    /// The keys of an account.
    pub fn of(&self, client_id: ClientId) -> Option<MerchantKeys<'_>> {
        let Keys { roots, merchants, longest_age } = &*self.0;
        let keys = merchants.get(&client_id)?;
        Some(MerchantKeys { roots, keys, longest_age: *longest_age })
    }
}
