//! Faults on the wire: what the caller gets, what the connection does, and what the transaction log says afterwards.

use std::sync::Arc;
use std::time::Duration;

use regente_domain::capture_mode::CaptureMode;
use regente_providers::outcome::{Answer, Finding, Probe, UnknownReason};
use regente_providers::request::{Call, Inquiry, Mode, Operation};
use regente_providers::sandbox::http::CallMessage;
use regente_providers::sandbox::overrides;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::{
    DEADLINE, Listening, SEED, approved, authorization, call, charge, follow_up, found, inquiry, key,
};
use regente::sandbox_provider::Access;

fn with(then: Value, mut call: Call) -> Call {
    call.test_overrides = overrides(call.mode, None, Some(json!([{ "then": then }])));
    call
}

/// Faults that hide the effect, and the reason that the caller gets.
const HIDING: [(&str, UnknownReason); 4] = [
    ("timeout", UnknownReason::TimedOut),
    ("reset", UnknownReason::ConnectionLost),
    ("server_error", UnknownReason::ProviderFailed),
    ("garbage", UnknownReason::Unreadable),
];

#[tokio::test]
async fn a_fault_before_the_effect_leaves_nothing_in_the_books() {
    let listening = Listening::start().await;
    let providers = listening.providers();
    for (number, (name, reason)) in (1..).zip(HIDING) {
        let answer = providers.call(with(json!({ name: "before_effect" }), charge(number))).await;
        assert_eq!(answer, Answer::Unknown(reason), "{name}");
        assert_eq!(listening.books.find(key(number)).await.unwrap(), None, "{name}");
        assert_eq!(providers.probe(inquiry(number)).await, Probe::Absent, "{name}");
    }
    assert_eq!(listening.books.effects().await.unwrap(), 0);
}

#[tokio::test]
async fn a_fault_after_the_effect_is_found_out_about_and_a_repetition_has_no_second_effect() {
    let listening = Listening::start().await;
    let providers = listening.providers();
    for (number, (name, reason)) in (1..).step_by(2).zip(HIDING) {
        approved(providers.call(authorization(number, CaptureMode::Manual)).await);
        let capture = || call(number + 1, Operation::Capture(follow_up(number, 1000)));
        let answer = providers.call(with(json!({ name: "after_effect" }), capture())).await;
        assert_eq!(answer, Answer::Unknown(reason), "{name}");
        let approval = found(providers.probe(inquiry(number + 1)).await);
        assert_eq!(approved(providers.call(capture()).await), approval, "{name}");
        let balance = listening.books.holding(key(number)).await.unwrap().unwrap();
        assert_eq!(balance.kept().minor_units(), 1000, "{name}");
    }
    assert_eq!(listening.books.entries().await.unwrap().len(), 8);
}

#[tokio::test]
async fn probes_suffer_too() {
    let listening = Listening::start().await;
    let providers = listening.providers();
    approved(providers.call(charge(1)).await);
    for (name, _) in HIDING {
        let faults = json!([{ "when": { "operation": "probe" }, "then": { name: "before_effect" } }]);
        let test_overrides = overrides(Mode::Sandbox, None, Some(faults));
        let asked = Inquiry { test_overrides, ..inquiry(1) };
        assert_eq!(providers.probe(asked).await, Probe::Unknown, "{name}");
    }
    found(providers.probe(inquiry(1)).await);
}

#[tokio::test]
async fn slow_answers_arrive_within_the_deadline_or_not_at_all() {
    let listening = Listening::start().await;
    let providers = listening.providers();
    for (number, name) in (1..).zip(["delay_ms", "slow_body_ms"]) {
        let begin = Instant::now();
        approved(providers.call(with(json!({ name: 200 }), charge(number))).await);
        assert!(begin.elapsed() >= Duration::from_millis(200), "{name}");
        let late = with(json!({ name: 60_000 }), charge(number + 10));
        assert_eq!(providers.call(late).await, Answer::Unknown(UnknownReason::TimedOut), "{name}");
    }
}

#[tokio::test]
async fn what_is_delayed_is_done_although_nobody_waits_any_more() {
    let listening = Listening::start().await;
    let late = u64::try_from(DEADLINE.as_millis()).unwrap() + 200;
    let delayed = listening.providers().call(with(json!({ "delay_ms": late }), charge(1))).await;
    assert_eq!(delayed, Answer::Unknown(UnknownReason::TimedOut));
    assert_eq!(listening.books.find(key(1)).await.unwrap(), None, "not yet");
    let until_done = async {
        while listening.books.find(key(1)).await.unwrap().is_none() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(20), until_done).await.unwrap();
}

#[tokio::test]
async fn a_duplicate_is_one_effect_and_its_second_answer_is_taken_for_no_other_call() {
    let listening = Listening::start().await;
    let providers = listening.providers();
    let duplicate = json!({ "duplicate": true });
    for number in 1..40 {
        // Either the connection was closed in time, or the answer was recognized as another call's.
        match providers.call(with(duplicate.clone(), charge(number))).await {
            Answer::Approved(approval) => {
                let entry = listening.books.find(key(number)).await.unwrap().unwrap();
                assert_eq!(entry.answered().unwrap().finding, Finding::Approved(approval));
            }
            Answer::Unknown(_) => {}
            answer @ (Answer::Declined(_) | Answer::Pending(_) | Answer::Accepted(_) | Answer::NotSent) => {
                panic!("{answer:?}")
            }
        }
    }
    let effects = listening.books.effects().await.unwrap();
    assert!((1..40).contains(&effects), "{effects}");
    assert_eq!(listening.books.entries().await.unwrap().len(), effects, "nothing but charges");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_a_duplicate_leaves_on_a_connection_never_makes_a_probe_deny_what_was_done() {
    let listening = Arc::new(Listening::start().await);
    let providers = Arc::new(listening.providers());
    let mut asking = JoinSet::new();
    for asker in 0..8 {
        let (listening, providers) = (Arc::clone(&listening), Arc::clone(&providers));
        asking.spawn(async move {
            for number in asker * 100..asker * 100 + 50 {
                let answer = providers.call(with(json!({ "duplicate": true }), charge(number))).await;
                if answer == Answer::Unknown(UnknownReason::Unreadable)
                    && providers.probe(inquiry(number)).await == Probe::Absent
                {
                    let entry = listening.books.find(key(number)).await.unwrap().unwrap();
                    assert!(entry.answered().is_none(), "{number} was done, and the probe says it was not");
                }
            }
        });
    }
    while let Some(asked) = asking.join_next().await {
        asked.unwrap();
    }
}

/// Sends a call as bytes, and reads until the connection is silent.
async fn raw(listening: &Listening, call: &Call, silence: Duration) -> (Vec<u8>, Option<std::io::Error>) {
    let body = serde_json::to_vec(&CallMessage::of(call)).unwrap();
    let head = format!(
        "POST /v1/calls HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        listening.address,
        body.len()
    );
    let mut stream = TcpStream::connect(listening.address).await.unwrap();
    stream.write_all(&[head.as_bytes(), &body].concat()).await.unwrap();
    let mut read = Vec::new();
    loop {
        // An answer may be late on a busy machine; only its end is told by silence.
        let wait = if read.is_empty() { DEADLINE } else { silence };
        match timeout(wait, stream.read_buf(&mut read)).await {
            Ok(Ok(0)) | Err(_) => return (read, None),
            Ok(Ok(_)) => {}
            Ok(Err(error)) => return (read, Some(error)),
        }
    }
}

fn times(bytes: &[u8], part: &str) -> usize {
    String::from_utf8_lossy(bytes).matches(part).count()
}

#[tokio::test]
async fn a_reset_is_a_broken_connection_without_a_byte() {
    let listening = Listening::start().await;
    let broken = with(json!({ "reset": "after_effect" }), charge(1));
    let (read, error) = raw(&listening, &broken, DEADLINE).await;
    assert_eq!(read, b"");
    assert_eq!(error.unwrap().kind(), std::io::ErrorKind::ConnectionReset);
    assert_eq!(listening.books.effects().await.unwrap(), 1);
}

#[tokio::test]
async fn a_duplicate_is_the_same_answer_twice_on_one_connection() {
    let listening = Listening::start().await;
    let silence = Duration::from_millis(300);
    let (read, _) = raw(&listening, &with(json!({ "duplicate": true }), charge(1)), silence).await;
    assert_eq!(times(&read, "HTTP/1.1 200 OK"), 2);
    assert_eq!(times(&read, &format!("{{\"key\":\"{}\"", key(1))), 2);
    assert_eq!(read.len() % 2, 0);
    let (first, second) = read.split_at(read.len() / 2);
    assert_eq!(first, second);
    let (read, _) = raw(&listening, &charge(1), silence).await;
    assert_eq!(times(&read, "HTTP/1.1 200 OK"), 1);
    assert_eq!(listening.books.entries().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_server_error_and_garbage_look_like_it() {
    let listening = Listening::start().await;
    let silence = Duration::from_millis(300);
    let (read, _) =
        raw(&listening, &with(json!({ "server_error": "before_effect" }), charge(1)), silence).await;
    assert!(read.starts_with(b"HTTP/1.1 502 "), "{}", String::from_utf8_lossy(&read));
    let (read, _) = raw(&listening, &with(json!({ "garbage": "before_effect" }), charge(2)), silence).await;
    assert!(read.starts_with(b"HTTP/1.1 200 "));
    assert!(String::from_utf8(read).is_err(), "no text");
}

#[tokio::test]
async fn a_slow_body_begins_at_once() {
    let listening = Listening::start().await;
    let slow = with(json!({ "slow_body_ms": 60_000 }), charge(1));
    let (read, _) = raw(&listening, &slow, Duration::from_millis(500)).await;
    assert_eq!((times(&read, "HTTP/1.1 200 OK"), times(&read, "{\"key\"")), (1, 1));
    assert_eq!(times(&read, "responseCode"), 0, "the rest is still missing");
}

#[tokio::test]
async fn the_plan_of_the_server_is_shown_changed_and_dropped() {
    let listening = Listening::start().await;
    let providers = listening.providers();
    let url = listening.url("/v1/faults");
    assert_eq!(listening.get("/v1/faults").await, json!({ "faults": [] }));
    approved(providers.call(charge(1)).await);

    let plan =
        json!([{ "when": { "currency": "BRL" }, "then": { "decline": "lost_card" }, "sequence": [2] }]);
    let set = listening.http.put(&url).json(&plan).send().await.unwrap();
    assert_eq!((set.status().as_u16(), set.json::<Value>().await.unwrap()), (200, json!({ "faults": plan })));
    approved(providers.call(charge(2)).await);
    let refused = providers.call(charge(3)).await;
    assert!(
        matches!(&refused, Answer::Declined(decline) if decline.code.code() == "lost_card"),
        "{refused:?}"
    );

    let wrong = json!([{ "then": "nonsense" }, { "when": 1, "then": "lost_card" }]);
    let answer = listening.http.put(&url).json(&wrong).send().await.unwrap();
    assert_eq!(answer.status(), 400);
    assert_eq!(
        answer.json::<Value>().await.unwrap()["message"],
        "faults.0.then must be a declined code or one of its finer reasons; faults.1.when must be an object"
    );
    assert_eq!(listening.get("/v1/faults").await, json!({ "faults": plan }), "the plan before stays");

    assert_eq!(listening.http.delete(&url).send().await.unwrap().status(), 204);
    assert_eq!(listening.get("/v1/faults").await, json!({ "faults": [] }));
    approved(providers.call(charge(4)).await);
}

#[tokio::test]
async fn the_same_seed_brings_the_same_faults_over_the_wire() {
    let run = async |seed| {
        let listening = Listening::with(seed, Access::ThisMachine).await;
        let providers = listening.providers();
        let plan = json!([
            { "then": { "reset": "after_effect" }, "probability": 0.3 },
            { "then": { "garbage": "before_effect" }, "probability": 0.3 },
            { "then": "try_again", "probability": 0.5 },
        ]);
        listening.http.put(listening.url("/v1/faults")).json(&plan).send().await.unwrap();
        let mut seen = Vec::new();
        for number in 0..60 {
            seen.push(match providers.call(charge(number)).await {
                Answer::Approved(_) => "approved",
                Answer::Declined(_) => "declined",
                Answer::Pending(_) => "pending",
                Answer::Accepted(_) => "accepted",
                Answer::NotSent => "not sent",
                Answer::Unknown(reason) => reason.word(),
            });
        }
        seen
    };
    let first = run(SEED).await;
    assert_eq!(first, run(SEED).await);
    assert_ne!(first, run(SEED + 1).await);
    for seen in ["approved", "declined", "connection_lost", "unreadable"] {
        assert!(first.contains(&seen), "{seen} in {first:?}");
    }
}
