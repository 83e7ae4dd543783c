//! Caches merchants with their live providers. Invalidate the cache when one of them changes.

use std::sync::Arc;
use std::time::Duration;

use regente_domain::id::{ClientId, MerchantId};
use regente_store::merchants::MerchantWithProviders;

use crate::cache::Cache;
use crate::clock::Clock;

/// Most cached merchants; each takes a few KiB.
const MERCHANTS_CACHED_MAX: u64 = 10_000;

/// The merchants that charges are routed by.
pub type Merchants = Cache<(ClientId, MerchantId), Arc<MerchantWithProviders>>;

/// Creates an empty cache; each merchant is valid for `life`.
pub fn no_merchants(clock: Clock, life: Duration) -> Merchants {
    Cache::new(MERCHANTS_CACHED_MAX, clock, life)
}
