//! What the simulator notifies by itself: outcomes that its answer did not carry, as the faults say.

use std::time::Duration;

use regente_domain::time::Timestamp;
use regente_providers::notification::{NotificationRefusal, NotificationRequest};
use regente_providers::provider::Provider;
use regente_providers::request::{Call, NotificationAddress};
use regente_providers::sandbox::{
    Notice, Outbox, Recipient, SIGNATURE_HEADER, Sandbox, SandboxOptions, TransactionLog,
};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::support::{APPROVED, charge, key, object};

const ADDRESS: &str = "http://127.0.0.1:8080";

fn sandbox() -> (Sandbox, Outbox) {
    let options = SandboxOptions::new(7, zeroize::Zeroizing::new(vec![5; 32]));
    let sandbox = Sandbox::new(options, TransactionLog::memory());
    let outbox = sandbox.take_outbox().unwrap();
    assert!(sandbox.take_outbox().is_none(), "one sends them");
    (sandbox, outbox)
}

/// A charge that is answered as `faults` say, from a service that can be notified.
fn call(number: u128, faults: &Value) -> Call {
    Call {
        object_id: key(99),
        notify: Some(NotificationAddress { service: ADDRESS.into(), provider_id: Uuid::nil() }),
        options: object(json!({ "type": "SANDBOX", "faults": faults })),
        ..charge(key(number), APPROVED, Some("560"))
    }
}

async fn notices(faults: &Value) -> Vec<Notice> {
    let (sandbox, mut outbox) = sandbox();
    let call = call(1, faults);
    sandbox.act(&call, || Recipient::of(&call)).await;
    outbox.take()
}

fn lost_with(then: &Value) -> Value {
    json!([
        { "when": { "operation": "authorization" }, "then": { "reset": "after_effect" } },
        { "when": { "operation": "notification" }, "then": then },
    ])
}

fn arrives(sandbox: &Sandbox, notice: &Notice) -> Result<(), NotificationRefusal> {
    let now = Timestamp::from_millis(1_767_225_600_000);
    let signature = notice.signature(now).parse().unwrap();
    let headers = http::HeaderMap::from_iter([(SIGNATURE_HEADER, signature)]);
    let credentials = charge(key(1), APPROVED, None).credentials;
    let request = NotificationRequest {
        headers: &headers,
        body: &notice.body,
        credentials: &credentials,
        options: &Map::new(),
        now,
    };
    sandbox.authenticate(&request).map(drop)
}

#[tokio::test]
async fn an_outcome_that_was_not_answered_is_notified() {
    let (sandbox, mut outbox) = sandbox();
    for (number, then) in [(1, "timeout"), (2, "reset"), (3, "server_error"), (4, "garbage")] {
        let call = call(number, &json!([{ "then": { then: "after_effect" } }]));
        sandbox.act(&call, || Recipient::of(&call)).await;
        let [notice] = &outbox.take()[..] else { panic!("one notification after {then}") };
        let url = "http://127.0.0.1:8080/providers/00000000-0000-0000-0000-000000000000/notifications";
        assert_eq!((notice.url.as_str(), notice.delay), (url, Duration::ZERO));
        let body: Value = serde_json::from_slice(&notice.body).unwrap();
        assert_eq!(body["key"], json!(key(number)));
        assert_eq!((&body["objectId"], &body["kind"]), (&json!(key(99)), &json!("payment.outcome")));
        assert!(body["data"]["approved"]["transactionId"].is_string(), "{body}");
        assert_eq!(arrives(&sandbox, notice), Ok(()));
    }
}

#[tokio::test]
async fn what_was_answered_or_never_happened_is_not_notified() {
    for faults in [
        json!([]),
        json!([{ "then": { "duplicate": true } }]),
        json!([{ "then": { "decline": "stolen_card" } }]),
        json!([{ "then": { "timeout": "before_effect" } }]),
    ] {
        assert!(notices(&faults).await.is_empty(), "{faults}");
    }
    let (sandbox, mut outbox) = sandbox();
    let nobody = Call { notify: None, ..call(1, &json!([{ "then": { "reset": "after_effect" } }])) };
    sandbox.act(&nobody, || Recipient::of(&nobody)).await;
    assert!(outbox.take().is_empty(), "a service that nobody can reach is not called");
}

#[tokio::test]
async fn faults_of_notifications_send_them_twice_late_forged_or_never() {
    let sent = notices(&lost_with(&json!({ "duplicate": true }))).await;
    assert_eq!((sent.len(), &sent[0].body), (2, &sent[1].body));
    let sent = notices(&lost_with(&json!({ "delay_ms": 1500 }))).await;
    assert_eq!(sent.iter().map(|notice| notice.delay).collect::<Vec<_>>(), [Duration::from_millis(1500)]);
    assert!(notices(&lost_with(&json!({ "lose": true }))).await.is_empty());
    let sent = notices(&lost_with(&json!({ "forge": true }))).await;
    assert_eq!(sent.len(), 1);
    assert_eq!(arrives(&sandbox().0, &sent[0]), Err(NotificationRefusal::NotAuthentic));
}
