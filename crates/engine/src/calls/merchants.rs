//! Caches merchants with their live providers and active flows. Invalidate the cache when one of them changes.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use regente_domain::flow::{Flow, FlowMethod};
use regente_domain::id::{ClientId, FlowId, MerchantId};
use regente_store::merchants::MerchantWithProviders;

use crate::cache::Cache;
use crate::clock::Clock;

/// Most cached merchants; each takes a few KiB.
const MERCHANTS_CACHED_MAX: u64 = 10_000;

/// A merchant with all that charges are routed by.
#[derive(Debug)]
pub struct KnownMerchant {
    /// The merchant with its live providers.
    pub found: MerchantWithProviders,
    /// Its active flows, one for each method at most.
    pub flows: Vec<ActiveFlow>,
}

/// A flow that new charges follow, compiled.
#[derive(Debug)]
pub struct ActiveFlow {
    /// The version.
    pub id: FlowId,
    /// The method that it applies to.
    pub method: FlowMethod,
    /// The tree.
    pub flow: Flow,
    /// Whether a balance of it learns.
    pub learns: bool,
}

impl Deref for KnownMerchant {
    type Target = MerchantWithProviders;
    fn deref(&self) -> &MerchantWithProviders {
        &self.found
    }
}

/// The merchants that charges are routed by.
pub type Merchants = Cache<(ClientId, MerchantId), Arc<KnownMerchant>>;

/// Creates an empty cache; each merchant is valid for `life`.
pub fn no_merchants(clock: Clock, life: Duration) -> Merchants {
    Cache::new(MERCHANTS_CACHED_MAX, clock, life)
}
