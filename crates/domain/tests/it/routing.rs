use regente_domain::circuit::{Bounds, CallHealth, Circuit, CircuitState, OPEN_FOR};
use regente_domain::id::{Id, ProviderId};
use regente_domain::provider_type::ProviderType;
use regente_domain::routing::explanation::{CircuitNote, Considered, Explanation, Skipped};
use regente_domain::routing::{self, Hop, around_open_circuits};
use std::time::Duration;
use uuid::Uuid;

use CircuitState::{Closed, Open};

fn provider(n: u128) -> ProviderId {
    Id::new(Uuid::from_u128(n))
}

fn circuit_probe() -> CircuitState {
    let circuit = (0..5).fold(Circuit::default(), |circuit, _| {
        circuit.hear(CallHealth::Nothing, Duration::ZERO, Duration::ZERO, &Bounds::default())
    });
    circuit.state_at(OPEN_FOR).1
}

/// A route over providers 1, 2, …, skipped as said, after a look at these circuits.
fn route(providers: &[(Option<Skipped>, CircuitState)]) -> Explanation {
    let considered = (1..).zip(providers).map(|(n, (skipped, _))| Considered {
        provider_id: provider(n),
        provider_type: ProviderType::Sandbox,
        priority: i64::try_from(n).unwrap(),
        skipped: *skipped,
        circuit: None,
    });
    let explanation = Explanation { considered: considered.collect(), flow: None, stopped: None };
    around_open_circuits(explanation, |considered| {
        providers[usize::try_from(considered.priority).unwrap() - 1].1
    })
}

fn told(explanation: &Explanation) -> Vec<(Option<Skipped>, Option<CircuitNote>)> {
    explanation.considered.iter().map(|considered| (considered.skipped, considered.circuit)).collect()
}

#[test]
fn an_open_circuit_is_skipped_while_another_provider_is_left() {
    let route = route(&[(None, Open), (None, Closed)]);
    assert_eq!(told(&route), [(Some(Skipped::CircuitOpen), None), (None, None)]);
    let second = Hop { position: 1, provider_id: provider(2), provider_type: ProviderType::Sandbox };
    assert_eq!(routing::first(&route), Some(second));
}

#[test]
fn nobody_is_skipped_when_nobody_would_be_left() {
    let note = Some(CircuitNote::OpenButNoOther);
    assert_eq!(told(&route(&[(None, Open)])), [(None, note)]);
    assert_eq!(told(&route(&[(None, Open), (None, Open)])), [(None, note), (None, note)]);
    // One that cannot serve the charge is no other.
    let unfit = (Some(Skipped::Currency), Closed);
    assert_eq!(told(&route(&[(None, Open), unfit])), [(None, note), (Some(Skipped::Currency), None)]);
}

#[test]
fn a_provider_that_is_tried_is_left_in_its_place_and_counts_as_another() {
    let circuit_probe = circuit_probe();
    assert!(matches!(circuit_probe, CircuitState::Probe(_)));
    let tried = (None, Some(CircuitNote::Probe));
    assert_eq!(told(&route(&[(None, circuit_probe), (None, Closed)])), [tried, (None, None)]);
    assert_eq!(
        told(&route(&[(None, circuit_probe), (None, Open)])),
        [tried, (Some(Skipped::CircuitOpen), None)]
    );
}

#[test]
fn only_providers_that_could_serve_the_charge_are_looked_at() {
    let considered = vec![Considered {
        provider_id: provider(1),
        provider_type: ProviderType::Sandbox,
        priority: 1,
        skipped: Some(Skipped::PaymentType),
        circuit: None,
    }];
    let before = Explanation { considered, flow: None, stopped: None };
    let after =
        around_open_circuits(before.clone(), |_| panic!("a circuit probe would be taken for nothing"));
    assert_eq!(after, before);
}

#[test]
fn explanations_of_earlier_releases_are_read() {
    let stored = r#"{"considered":[{"providerId":"00000000-0000-0000-0000-000000000001","providerType":"SANDBOX",
        "priority":1}]}"#;
    let read: Explanation = serde_json::from_str(stored).unwrap();
    assert_eq!((read.considered[0].skipped, read.considered[0].circuit), (None, None));
    let skipped =
        serde_json::to_value(route(&[(None, Open), (None, circuit_probe()), (None, Open)])).unwrap();
    assert_eq!(skipped["considered"][0]["skipped"], "circuit_open");
    assert_eq!(skipped["considered"][1]["circuit"], "trial");
}
