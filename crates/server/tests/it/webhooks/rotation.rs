//! Key rotation: both keys sign for a while, then only the new one.

use std::time::Duration;

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use regente_domain::id::WebhookId;
use regente_domain::webhook::schedule::KEY_OVERLAP_MAX;
use regente_engine::deliveries::keys::{RotationError, rotate};
use regente_engine::deliveries::signature::{SigningKey, to_pem};
use regente_engine::vault::{Binding, Purpose};
use regente_store::webhooks::Webhook;
use regente_store::{audit, webhooks};
use serde_json::{Value, json};

use super::deliveries::public_key;
use crate::support::app::{TestApp, stories};
use crate::support::charges::any_charge;
use crate::support::receiver::{Got, Receiver};
use crate::support::time::MINUTE;
use crate::support::webhooks::webhook;

stories! {
    a_key_is_replaced_with_an_overlap,
    an_overlap_ends_by_its_date_also_when_no_job_has_run,
    a_key_that_is_no_secret_is_replaced_at_once,
    a_key_that_is_being_replaced_is_not_replaced_by_a_third,
    data_keys_rotate_under_a_key_that_is_being_replaced,
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The signatures of a delivery that a key verifies: the dated header's, and how many of the others exist and verify.
#[derive(Debug, PartialEq, Eq)]
struct Verified {
    dated: bool,
    standard: usize,
    of: usize,
}

fn verify(got: &Got, pem: &Value) -> Verified {
    let key = UnparsedPublicKey::new(&ED25519, public_key(pem));
    let (date, body) = (got.header("x-plug-date").unwrap(), got.body.as_slice());
    let dated = hex::decode(got.header("x-plug-signature").unwrap()).unwrap();
    let head = format!("{}.{}.", got.header("webhook-id").unwrap(), got.header("webhook-timestamp").unwrap());
    let message = [head.as_bytes(), body].concat();
    let standard: Vec<Vec<u8>> = got
        .header("webhook-signature")
        .unwrap()
        .split(' ')
        .map(|entry| STANDARD.decode(entry.strip_prefix("v1a,").unwrap()).unwrap())
        .collect();
    Verified {
        dated: key.verify(&[date.as_bytes(), b"\n", body].concat(), &dated).is_ok(),
        standard: standard.iter().filter(|signature| key.verify(&message, signature).is_ok()).count(),
        of: standard.len(),
    }
}

async fn shown(app: &TestApp, id: &str) -> Value {
    app.get(&format!("/v1/webhooks/{id}")).await.expect(200)
}

async fn stored(app: &TestApp, id: &str) -> Webhook {
    let id: WebhookId = id.parse().unwrap();
    webhooks::find(&app.app.store, app.client_id(), id).await.unwrap().unwrap()
}

/// Charges and delivers; returns the delivery.
async fn delivered(app: &TestApp, receiver: &Receiver) -> Got {
    any_charge(app).await;
    app.run_jobs().await;
    receiver.received().pop().unwrap()
}

async fn a_key_is_replaced_with_an_overlap(app: TestApp) {
    let receiver = Receiver::start().await;
    let id = webhook(&app, &receiver, "transaction.authorized", "/").await;
    let before = shown(&app, &id).await;
    let former = before["publicKey"].clone();
    let former_sealed = stored(&app, &id).await.key.private.bytes;
    let rotated = rotate(&app.app, id.parse().unwrap(), 2 * DAY).await.unwrap();

    let during = shown(&app, &id).await;
    let new = json!(to_pem(&rotated.next_key.as_ref().unwrap().key.public));
    assert_eq!(
        (&during["publicKey"], &during["nextPublicKey"]),
        (&former, &new),
        "the key in force, and its heir"
    );
    assert_eq!(during["nextKeyAt"], json!((app.clock.deployment() + 2 * DAY).to_string()));
    assert!(during["updatedAt"].as_str() > before["updatedAt"].as_str());
    let got = delivered(&app, &receiver).await;
    assert_eq!(verify(&got, &former), Verified { dated: true, standard: 1, of: 2 });
    assert_eq!(verify(&got, &new), Verified { dated: false, standard: 1, of: 2 });
    app.patch(&format!("/v1/webhooks/{id}"), &json!({ "version": 1.1, "status": true })).await.expect(200);

    app.later(2 * DAY - MINUTE).await;
    assert!(stored(&app, &id).await.next_key.is_some());
    app.later(MINUTE).await;
    let after = shown(&app, &id).await;
    assert_eq!((&after["publicKey"], after.get("nextPublicKey")), (&new, None));
    let got = delivered(&app, &receiver).await;
    assert_eq!(verify(&got, &new), Verified { dated: true, standard: 1, of: 1 });
    assert_eq!(verify(&got, &former), Verified { dated: false, standard: 0, of: 1 });

    let row = stored(&app, &id).await;
    assert_eq!((row.next_key.is_none(), to_pem(&row.key.public)), (true, new.as_str().unwrap().to_owned()));
    assert_ne!(row.key.private.bytes, former_sealed, "the former private key is gone");
    let binding = Binding::new(Purpose::WebhookKey, app.client_id(), row.id.uuid());
    let seed = app.app.vault.open(binding, &row.key.private).await.unwrap();
    assert_eq!(SigningKey::from_seed(&seed).unwrap().public(), row.key.public);
    let trail = audit::of_object(&app.app.store, app.client_id(), row.id.uuid(), 10).await.unwrap();
    let trail: Vec<String> = trail.iter().map(|entry| format!("{} {}", entry.actor, entry.action)).collect();
    for expected in ["operator webhook.key_rotated", "job:end_key_rotation webhook.former_key_wiped"] {
        assert_eq!(trail.iter().filter(|entry| *entry == expected).count(), 1, "{trail:?}");
    }
}

async fn an_overlap_ends_by_its_date_also_when_no_job_has_run(app: TestApp) {
    let receiver = Receiver::start().await;
    let id = webhook(&app, &receiver, "transaction.authorized", "/").await;
    let rotated = rotate(&app.app, id.parse().unwrap(), DAY).await.unwrap();
    let new = json!(to_pem(&rotated.next_key.unwrap().key.public));
    any_charge(&app).await;
    app.clock.advance(DAY);
    assert_eq!(shown(&app, &id).await["publicKey"], new);
    let delivery_worker = regente_engine::deliveries::DeliveryWorker::new(app.app.engine.clone());
    while delivery_worker.round().await.unwrap() > 0 {}
    let got = receiver.received().pop().unwrap();
    assert_eq!(verify(&got, &new), Verified { dated: true, standard: 1, of: 1 });

    // The next rotation starts from the key in force, wherever it is stored.
    let again = rotate(&app.app, id.parse().unwrap(), DAY).await.unwrap();
    assert_eq!(json!(to_pem(&again.key.public)), new);
    let got = delivered(&app, &receiver).await;
    assert_eq!(verify(&got, &new), Verified { dated: true, standard: 1, of: 2 });
    app.later(DAY + MINUTE).await;
    let newest = json!(to_pem(&again.next_key.unwrap().key.public));
    assert_eq!(shown(&app, &id).await["publicKey"], newest);
    let got = delivered(&app, &receiver).await;
    assert_eq!(verify(&got, &newest), Verified { dated: true, standard: 1, of: 1 });
    assert!(stored(&app, &id).await.next_key.is_none());
}

async fn a_key_that_is_no_secret_is_replaced_at_once(app: TestApp) {
    let receiver = Receiver::start().await;
    let id = webhook(&app, &receiver, "transaction.authorized", "/").await;
    let former = shown(&app, &id).await["publicKey"].clone();
    // The same during a rotation: then neither key is trusted.
    rotate(&app.app, id.parse().unwrap(), DAY).await.unwrap();
    let rotated = rotate(&app.app, id.parse().unwrap(), Duration::ZERO).await.unwrap();
    assert!(rotated.next_key.is_none());
    let new = shown(&app, &id).await["publicKey"].clone();
    assert_eq!(new, json!(to_pem(&rotated.key.public)));
    let got = delivered(&app, &receiver).await;
    assert_eq!(verify(&got, &new), Verified { dated: true, standard: 1, of: 1 });
    assert_eq!(verify(&got, &former), Verified { dated: false, standard: 0, of: 1 });
    app.later(2 * DAY).await;
    assert_eq!(shown(&app, &id).await["publicKey"], new, "the end of the first replacement changes nothing");
}

async fn a_key_that_is_being_replaced_is_not_replaced_by_a_third(app: TestApp) {
    let receiver = Receiver::start().await;
    let id: WebhookId = webhook(&app, &receiver, "transaction.authorized", "/").await.parse().unwrap();
    let first = rotate(&app.app, id, DAY).await.unwrap();
    let refused = rotate(&app.app, id, 2 * DAY).await;
    assert!(matches!(refused, Err(RotationError::UnderWay(at)) if at == first.next_key.as_ref().unwrap().at));
    assert_eq!(stored(&app, &id.to_string()).await.next_key, first.next_key);
    let too_long = rotate(&app.app, id, KEY_OVERLAP_MAX + MINUTE).await;
    assert!(matches!(too_long, Err(RotationError::OverlapTooLong)));
    app.delete(&format!("/v1/webhooks/{id}")).await.expect(200);
    assert!(matches!(rotate(&app.app, id, DAY).await, Err(RotationError::UnknownWebhook(_))));
    app.later(2 * DAY).await;
    assert_eq!(regente_store::jobs::dead(&app.app.store, 1).await.unwrap().len(), 0);
}

async fn data_keys_rotate_under_a_key_that_is_being_replaced(app: TestApp) {
    let receiver = Receiver::start().await;
    let id = webhook(&app, &receiver, "transaction.authorized", "/").await;
    let former = shown(&app, &id).await["publicKey"].clone();
    app.app.vault.rotate(regente_domain::actor::Actor::Operator).await.unwrap();
    // The key in force is sealed under the former data key: both are sealed under the new one.
    rotate(&app.app, id.parse().unwrap(), 3 * DAY).await.unwrap();
    app.app.vault.rotate(regente_domain::actor::Actor::Operator).await.unwrap();
    let sealed = stored(&app, &id).await.key.private.key_id;
    app.later(DAY).await;
    assert_ne!(stored(&app, &id).await.key.private.key_id, sealed, "sealed again");
    let new = shown(&app, &id).await["nextPublicKey"].clone();
    let got = delivered(&app, &receiver).await;
    for key in [&former, &new] {
        assert_eq!(verify(&got, key).standard, 1);
    }
    app.later(3 * DAY).await;
    let got = delivered(&app, &receiver).await;
    assert_eq!(verify(&got, &new), Verified { dated: true, standard: 1, of: 1 });
}
