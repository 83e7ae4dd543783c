//! The circuits of the providers, as this process has observed them. They are in memory: each node learns for itself,
//! and all circuits are closed at start. The domain decides when one opens and closes (`circuit.rs`).
//!
//! A wrong circuit state costs a charge one provider of its route; it never affects the outcome.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use regente_domain::circuit::{Bounds, CallHealth, Circuit, CircuitProbe, CircuitState};
use regente_domain::id::ProviderId;
use regente_domain::provider_type::ProviderType;
use regente_domain::routing;
use regente_domain::routing::explanation::{Considered, Explanation};
use regente_providers::outcome::Answer;
use regente_providers::provider::Providers;
use regente_providers::request::Call;

use crate::clock::Clock;
use crate::metrics;

/// Most providers with a stored circuit. Only providers that lately failed to answer have one; above this number the
/// circuits of further providers stay closed.
const PROVIDERS_MAX: usize = 10_000;

/// The circuits of this process. Clones share them.
#[derive(Clone)]
pub struct Circuits(Arc<Parts>);

struct Parts {
    bounds: Option<Bounds>,
    clock: Clock,
    known: Mutex<HashMap<ProviderId, ProviderCircuit>>,
}

#[derive(Clone, Copy)]
struct ProviderCircuit {
    provider_type: ProviderType,
    circuit: Circuit,
}

/// The circuit probes that a charge holds. Dropping them lets the next charge probe, however this one ended.
#[must_use]
#[derive(Default)]
pub struct CircuitProbes(Vec<Held>);

struct Held {
    circuits: Circuits,
    provider_id: ProviderId,
    circuit_probe: CircuitProbe,
}

/// A call that is observed for its provider's circuit.
pub struct Watch<'a> {
    circuits: &'a Circuits,
    provider_id: ProviderId,
    provider_type: ProviderType,
    silence_counts: SilenceCounts,
    begun: Duration,
}

/// Whether an unanswered call counts against the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SilenceCounts {
    Yes,
    /// The caller asked a test provider not to answer.
    No,
}

impl Circuits {
    /// Creates closed circuits; without `bounds` they never open.
    pub fn new(bounds: Option<Bounds>, clock: Clock) -> Self {
        Self(Arc::new(Parts { bounds, clock, known: Mutex::default() }))
    }

    /// Removes the providers with open circuits from the route and returns the circuit probes that the charge holds.
    pub fn narrow(&self, route: Explanation) -> (Explanation, CircuitProbes) {
        let mut circuit_probes = CircuitProbes::default();
        if self.0.bounds.is_none() {
            return (route, circuit_probes);
        }
        let now = self.now();
        let mut known = self.lock();
        let narrowed = routing::around_open_circuits(route, |considered: &Considered| {
            let Some(provider) = known.get_mut(&considered.provider_id) else { return CircuitState::Closed };
            let (circuit, state) = provider.circuit.state_at(now);
            provider.circuit = circuit;
            if let CircuitState::Probe(circuit_probe) = state {
                let (circuits, provider_id) = (self.clone(), considered.provider_id);
                circuit_probes.0.push(Held { circuits, provider_id, circuit_probe });
            }
            state
        });
        (narrowed, circuit_probes)
    }

    /// Starts to observe a call.
    pub fn watch(&self, provider_id: ProviderId, call: &Call, providers: &Providers) -> Watch<'_> {
        Watch {
            circuits: self,
            provider_id,
            provider_type: call.provider_type,
            silence_counts: if providers.silence_counts(call) {
                SilenceCounts::Yes
            } else {
                SilenceCounts::No
            },
            begun: self.now(),
        }
    }

    /// The number of circuits of this provider type that are not closed.
    pub fn open_of(&self, provider_type: ProviderType) -> usize {
        open_of(&self.lock(), provider_type)
    }

    fn hear(&self, bounds: &Bounds, watch: &Watch<'_>, heard: CallHealth) {
        let now = self.now();
        let mut known = self.lock();
        let before = match (known.get(&watch.provider_id), heard) {
            (Some(provider), _) => provider.circuit,
            // A provider that has always answered has no stored circuit.
            (None, CallHealth::Answer) => return,
            (None, CallHealth::Nothing) => {
                make_room(&mut known, now);
                if known.len() >= PROVIDERS_MAX {
                    return;
                }
                Circuit::default()
            }
        };
        let after = before.hear(heard, watch.begun, now, bounds);
        known.insert(
            watch.provider_id,
            ProviderCircuit { provider_type: watch.provider_type, circuit: after },
        );
        if before != after {
            log_change(watch, before, after);
            metrics::circuits_open(watch.provider_type, open_of(&known, watch.provider_type));
        }
    }

    fn give_back(&self, held: &Held) {
        if let Some(provider) = self.lock().get_mut(&held.provider_id) {
            provider.circuit = provider.circuit.give_back(held.circuit_probe);
        }
    }

    fn now(&self) -> Duration {
        self.0.clock.machine().elapsed()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ProviderId, ProviderCircuit>> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch<'_> {
    /// Records how the call ended.
    pub fn ended(self, answer: &Answer) {
        let Some(bounds) = &self.circuits.0.bounds else { return };
        let heard = match (answer, self.silence_counts) {
            (Answer::Approved(_) | Answer::Declined(_) | Answer::Pending(_) | Answer::Accepted(_), _) => {
                CallHealth::Answer
            }
            (Answer::NotSent | Answer::Unknown(_), SilenceCounts::Yes) => CallHealth::Nothing,
            (Answer::NotSent | Answer::Unknown(_), SilenceCounts::No) => return,
        };
        self.circuits.hear(bounds, &self, heard);
    }
}

impl Drop for CircuitProbes {
    fn drop(&mut self) {
        for held in &self.0 {
            held.circuits.give_back(held);
        }
    }
}

fn make_room(known: &mut HashMap<ProviderId, ProviderCircuit>, now: Duration) {
    if known.len() >= PROVIDERS_MAX {
        known.retain(|_, provider| !provider.circuit.is_forgettable(now));
    }
}

fn open_of(known: &HashMap<ProviderId, ProviderCircuit>, provider_type: ProviderType) -> usize {
    let is_open = |provider: &&ProviderCircuit| {
        provider.provider_type == provider_type && !provider.circuit.is_closed()
    };
    known.values().filter(is_open).count()
}

fn log_change(watch: &Watch<'_>, before: Circuit, after: Circuit) {
    let (provider, provider_type) = (watch.provider_id, watch.provider_type.code());
    match (before, after) {
        (_, Circuit::Open { wait, .. }) => tracing::warn!(
            %provider, provider_type, seconds = wait.as_secs(),
            "a provider does not answer; charges that have another one leave it out for a while"
        ),
        (Circuit::Open { .. } | Circuit::HalfOpen { .. }, Circuit::Closed { .. }) => {
            tracing::info!(%provider, provider_type, "a provider answers again");
        }
        (Circuit::Closed { .. }, Circuit::Closed { .. }) | (_, Circuit::HalfOpen { .. }) => {}
    }
}
