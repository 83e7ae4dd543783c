//! Simulator overrides of one request: a seed for its random decisions, and faults.

use serde_json::{Map, Value};

use crate::request::{Mode, TestOverrides};

/// `X-Sandbox-Seed`: the seed of the random decisions.
const SEED: &str = "seed";
/// `paymentFlow.metadata.sandboxFaults`: the faults of this request.
const FAULTS: &str = "faults";

/// Builds the overrides; `None` when the request has none, and in production.
pub fn overrides(mode: Mode, seed: Option<String>, faults: Option<Value>) -> Option<TestOverrides> {
    let seed = seed.map(|seed| (SEED.to_owned(), Value::String(seed)));
    let faults = faults.map(|faults| (FAULTS.to_owned(), faults));
    TestOverrides::new(mode, seed.into_iter().chain(faults).collect::<Map<_, _>>())
}

pub(super) fn seed(overrides: Option<&TestOverrides>) -> Option<&str> {
    overrides?.get(SEED)?.as_str()
}

pub(super) fn faults(overrides: Option<&TestOverrides>) -> Option<&Value> {
    overrides?.get(FAULTS)
}
