//! Four times the capacity: the surplus is refused at once, memory does not grow with it, and service is normal
//! afterwards. The settings determine the capacity: the number of places, and how long each is taken.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::task::JoinSet;

use crate::support::bodies::{APPROVED, TIMED_OUT};
use crate::support::server::Server;

/// The limit of changes under way.
const PLACES: u64 = 8;
/// The deadline of the unresponsive simulator; the merchant has two.
const DEADLINE_MS: u64 = 100;
/// The capacity: a charge holds its place while both simulators time out.
const CARRIED_PER_SECOND: u64 = PLACES * 1000 / (2 * DEADLINE_MS);
const OFFERED_PER_SECOND: u64 = 4 * CARRIED_PER_SECOND;
const BURST: Duration = Duration::from_secs(2);
/// A refusal waits for nothing; this allows for a machine that is busy with other tests.
const REFUSAL_TIME_MAX: Duration = Duration::from_secs(2);
/// How much more memory than the first burst a second one may take, in KiB.
const GROWTH_KIB_MAX: u64 = 8 * 1024;

#[derive(Debug, Default)]
struct Burst {
    created: u64,
    refused: u64,
    slowest_refusal: Duration,
    resident_kib_max: u64,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_surplus_is_refused_and_service_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (places, deadline) =
        (format!("database.admitted_max={PLACES}"), format!("sandbox.deadline_ms={DEADLINE_MS}"));
    // One account takes all places.
    let share = "database.admitted_account_percent=100";
    let server = Server::start(folder.path(), &["--set", &places, "--set", &deadline, "--set", share]).await;
    let server = Arc::new(server);
    let first = offer(&server).await;
    let second = offer(&server).await;
    for burst in [&first, &second] {
        let offered = OFFERED_PER_SECOND * BURST.as_secs();
        assert_eq!(burst.created + burst.refused, offered, "everybody is answered: {burst:?}");
        assert!(burst.refused >= offered / 2, "it was no overload: {burst:?}");
        assert!(burst.created > 0, "nobody was served: {burst:?}");
        assert!(burst.slowest_refusal < REFUSAL_TIME_MAX, "{burst:?}");
    }
    let grown_kib = second.resident_kib_max.saturating_sub(first.resident_kib_max);
    assert!(grown_kib < GROWTH_KIB_MAX, "memory grows by {grown_kib} KiB with each burst");

    // Afterwards every charge is served at once.
    for _ in 0..2 * PLACES {
        let body = server.charge("REGENTE_MERCHANT_ID", APPROVED.0);
        let answer = server.post("/v1/charges", &body).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 201);
        assert_eq!(answer.json::<Value>().await.unwrap()["status"], "authorized");
    }
    Arc::try_unwrap(server).ok().unwrap().stop().await;
}

/// Sends requests at a fixed rate, independent of the answers.
async fn offer(server: &Arc<Server>) -> Burst {
    let mut senders = JoinSet::new();
    let mut burst = Burst::default();
    let mut ticks = tokio::time::interval(Duration::from_micros(1_000_000 / OFFERED_PER_SECOND));
    for number in 0..OFFERED_PER_SECOND * BURST.as_secs() {
        ticks.tick().await;
        senders.spawn(charge(server.clone()));
        if number % CARRIED_PER_SECOND == 0 {
            burst.resident_kib_max = burst.resident_kib_max.max(server.resident_kib());
        }
    }
    while let Some(answered) = senders.join_next().await {
        match answered.unwrap() {
            (201, _) => burst.created += 1,
            (503, took) => {
                burst.refused += 1;
                burst.slowest_refusal = burst.slowest_refusal.max(took);
            }
            (status, _) => panic!("answered {status}"),
        }
    }
    burst.resident_kib_max = burst.resident_kib_max.max(server.resident_kib());
    burst
}

async fn charge(server: Arc<Server>) -> (u16, Duration) {
    let body = server.charge("REGENTE_MERCHANT_ID", TIMED_OUT.0);
    #[allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]
    let begun = Instant::now();
    let answer = server.post("/v1/charges", &body).send().await.unwrap();
    let (status, took) = (answer.status().as_u16(), begun.elapsed());
    if status == 503 {
        let seconds: u64 = answer.headers()["retry-after"].to_str().unwrap().parse().unwrap();
        assert!(seconds >= 1);
    }
    (status, took)
}
