//! Merchants with their live providers that were asked for a moment ago. To be forgotten when one is changed.

use std::sync::Arc;
use std::time::Duration;

use regente_domain::id::{ClientId, MerchantId};
use regente_store::merchants::MerchantWithProviders;

use crate::cache::Cache;
use crate::clock::Clock;

/// Merchants that are remembered; a few KiB each.
const MERCHANTS_CACHED_MAX: u64 = 10_000;

/// What charges are routed by.
pub type Merchants = Cache<(ClientId, MerchantId), Arc<MerchantWithProviders>>;

/// None yet; each is trusted for this long.
pub fn no_merchants(clock: Clock, life: Duration) -> Merchants {
    Cache::new(MERCHANTS_CACHED_MAX, clock, life)
}
