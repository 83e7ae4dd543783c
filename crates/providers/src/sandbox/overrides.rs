//! What a tester asks of the simulator for a single request: a seed for what is left to chance, and faults.

use serde_json::{Map, Value};

use crate::request::{Mode, TestOverrides};

/// `X-Sandbox-Seed`: fixes what the simulator leaves to chance.
const SEED: &str = "seed";
/// `paymentFlow.metadata.sandboxFaults`: what goes wrong for this request.
const FAULTS: &str = "faults";

/// From the two things that a request can ask for; nothing where it asks for nothing, or in production.
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
