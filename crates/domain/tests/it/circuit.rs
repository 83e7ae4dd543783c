use std::num::NonZeroU32;
use std::time::Duration;

use proptest::prelude::*;
use regente_domain::circuit::{
    Bounds, CALLS_SEEN, CallHealth, Circuit, CircuitProbe, CircuitState, FORGOTTEN_AFTER, OPEN_FOR,
    OPEN_FOR_MAX,
};

use CallHealth::{Answer, Nothing};

const fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// A circuit and the time, call by call.
struct Provider {
    circuit: Circuit,
    now: Duration,
}

impl Provider {
    fn new() -> Self {
        Self { circuit: Circuit::default(), now: seconds(1) }
    }

    /// Calls that begin and end at once, a second apart.
    fn hears(mut self, calls: impl IntoIterator<Item = CallHealth>) -> Self {
        for heard in calls {
            self.now += seconds(1);
            self.circuit = self.circuit.hear(heard, self.now, self.now, &Bounds::default());
        }
        self
    }

    fn silent(self, times: usize) -> Self {
        self.hears(std::iter::repeat_n(Nothing, times))
    }

    fn later(mut self, by: Duration) -> Self {
        self.now += by;
        self
    }

    fn stands(&mut self) -> CircuitState {
        let (circuit, state) = self.circuit.state_at(self.now);
        self.circuit = circuit;
        state
    }

    #[track_caller]
    fn tries(&mut self) -> CircuitProbe {
        match self.stands() {
            CircuitState::Probe(circuit_probe) => circuit_probe,
            other @ (CircuitState::Closed | CircuitState::Open) => panic!("{other:?}"),
        }
    }
}

#[test]
fn five_of_the_latest_ten_open_it() {
    assert_eq!(Provider::new().silent(4).stands(), CircuitState::Closed);
    assert_eq!(Provider::new().silent(5).stands(), CircuitState::Open);
    let every_second = [Answer, Nothing].repeat(5);
    assert_eq!(Provider::new().hears(every_second.clone()).stands(), CircuitState::Open);
    // The first of the five is out of sight when the fifth comes.
    let thinner =
        [vec![Nothing], vec![Answer; 2], [Nothing, Answer].repeat(3), vec![Answer, Nothing]].concat();
    assert_eq!((thinner.len(), thinner.iter().filter(|heard| **heard == Nothing).count()), (11, 5));
    assert_eq!(Provider::new().hears(thinner).stands(), CircuitState::Closed);
}

#[test]
fn a_healthy_provider_is_never_left_out() {
    assert_eq!(Provider::new().hears(vec![Answer; 1000]).stands(), CircuitState::Closed);
    let ill_two_in_ten = [vec![Nothing; 2], vec![Answer; 8]].concat().repeat(50);
    assert_eq!(Provider::new().hears(ill_two_in_ten).stands(), CircuitState::Closed);
}

#[test]
fn what_was_long_ago_is_forgotten() {
    let ill = Provider::new().silent(4);
    assert_eq!(ill.later(FORGOTTEN_AFTER).silent(1).stands(), CircuitState::Closed);
    let ill = Provider::new().silent(4);
    assert_eq!(ill.later(FORGOTTEN_AFTER - seconds(1)).silent(1).stands(), CircuitState::Open);
}

#[test]
fn after_its_time_one_charge_tries_it_and_nobody_else() {
    let mut provider = Provider::new().silent(5);
    provider = provider.later(OPEN_FOR - Duration::from_millis(1));
    assert_eq!(provider.stands(), CircuitState::Open);
    provider = provider.later(Duration::from_millis(1));
    let circuit_probe = provider.tries();
    assert_eq!((provider.stands(), provider.stands()), (CircuitState::Open, CircuitState::Open));
    // The charge ended without asking: the next one may.
    provider.circuit = provider.circuit.give_back(circuit_probe);
    provider.tries();
    assert_eq!(provider.stands(), CircuitState::Open);
}

#[test]
fn an_answer_to_the_trial_closes_it_and_begins_anew() {
    let mut provider = Provider::new().silent(5).later(OPEN_FOR);
    let circuit_probe = provider.tries();
    provider = provider.hears([Answer]);
    provider.circuit = provider.circuit.give_back(circuit_probe);
    assert_eq!(provider.stands(), CircuitState::Closed);
    assert_eq!(provider.silent(4).stands(), CircuitState::Closed, "what was before is not counted");
}

#[test]
fn each_failed_trial_doubles_the_wait_up_to_its_bound() {
    let mut provider = Provider::new().silent(5);
    let mut waits = Vec::new();
    for _ in 0..7 {
        let Circuit::Open { since, wait } = provider.circuit else { panic!("{:?}", provider.circuit) };
        waits.push(wait.as_secs());
        provider.now = since + wait;
        provider.tries();
        provider = provider.silent(1);
    }
    assert_eq!(waits, [30, 60, 120, 240, 480, 600, 600]);
    assert_eq!(OPEN_FOR_MAX, seconds(600));
}

#[test]
fn a_call_speaks_of_the_state_in_which_it_was_begun() {
    let bounds = Bounds::default();
    let open = Provider::new().silent(5);
    let before = open.now - seconds(3);
    let late_answer = open.circuit.hear(Answer, before, open.now + seconds(1), &bounds);
    assert_eq!(late_answer, open.circuit, "it was asked before");
    let asked_all_the_same = open.circuit.hear(Answer, open.now, open.now + seconds(1), &bounds);
    assert!(asked_all_the_same.is_closed());
    let again = open.circuit.hear(Nothing, open.now, open.now + seconds(1), &bounds);
    assert_eq!(again, open.circuit, "a provider without another does not wait longer for being asked");

    let mut tried = open.later(OPEN_FOR);
    let (begun, _) = (tried.now - seconds(1), tried.tries());
    let half_open = tried.circuit;
    assert_eq!(half_open.hear(Nothing, begun, tried.now, &bounds), half_open);
    assert_eq!(half_open.hear(Answer, begun, tried.now, &bounds), half_open);
    let closed = tried.hears([Answer]);
    let late_silences = (0..10).fold(closed.circuit, |circuit, _| {
        circuit.hear(Nothing, closed.now - seconds(1), closed.now + seconds(1), &bounds)
    });
    assert!(late_silences.is_closed());
}

#[test]
fn a_trial_of_the_past_gives_nothing_back() {
    let mut provider = Provider::new().silent(5).later(OPEN_FOR);
    let slow = provider.tries();
    provider = provider.silent(1).later(OPEN_FOR_MAX);
    provider.tries();
    provider.circuit = provider.circuit.give_back(slow);
    assert_eq!(provider.stands(), CircuitState::Open, "the place belongs to another charge by now");
}

#[test]
fn the_operator_bounds_it() {
    let bounds = Bounds { failures: NonZeroU32::new(2).unwrap(), open_for: seconds(1200) };
    let circuit = Circuit::default().hear(Nothing, seconds(1), seconds(1), &bounds);
    assert!(circuit.is_closed());
    let open = circuit.hear(Nothing, seconds(2), seconds(2), &bounds);
    assert_eq!(open, Circuit::Open { since: seconds(2), wait: seconds(1200) });
    let (tried, _) = open.state_at(seconds(1202));
    let again = tried.hear(Nothing, seconds(1203), seconds(1203), &bounds);
    assert_eq!(
        again,
        Circuit::Open { since: seconds(1203), wait: seconds(1200) },
        "never less than at first"
    );
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Stand,
    GiveBack,
    Hear(CallHealth),
    Wait(u64),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => Just(Event::Stand),
        1 => Just(Event::GiveBack),
        4 => prop_oneof![Just(Answer), Just(Nothing)].prop_map(Event::Hear),
        1 => (0_u64..700).prop_map(Event::Wait),
    ]
}

proptest! {
    /// Whatever happens: one circuit probe at a time, no wait beyond its bound, and never for good.
    #[test]
    fn one_at_a_time_and_never_for_good(events in proptest::collection::vec(event(), 0..200)) {
        let mut provider = Provider::new();
        let mut held: Option<CircuitProbe> = None;
        for event in events {
            match event {
                Event::Wait(wait) => provider = provider.later(seconds(wait)),
                Event::GiveBack => {
                    if let Some(circuit_probe) = held.take() {
                        provider.circuit = provider.circuit.give_back(circuit_probe);
                    }
                }
                Event::Hear(heard) => {
                    provider = provider.hears([heard]);
                    held = None;
                }
                Event::Stand => if let CircuitState::Probe(circuit_probe) = provider.stands() {
                    prop_assert_eq!(held, None, "two at once");
                    held = Some(circuit_probe);
                },
            }
            if let Circuit::Open { wait, .. } = provider.circuit {
                prop_assert!(wait >= OPEN_FOR && wait <= OPEN_FOR_MAX);
            }
        }
        if let Some(circuit_probe) = held {
            provider.circuit = provider.circuit.give_back(circuit_probe);
        }
        provider = provider.later(OPEN_FOR_MAX);
        prop_assert_ne!(provider.stands(), CircuitState::Open);
        provider = provider.hears(vec![Answer; CALLS_SEEN as usize]);
        prop_assert_eq!(provider.stands(), CircuitState::Closed);
        prop_assert!(provider.circuit.is_forgettable(provider.now));
    }
}
