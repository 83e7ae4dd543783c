//! Registrations of sellers at providers, what becomes of them, and the events that tell of it.

use std::time::Duration;

use regente_domain::id::SellerId;
use regente_domain::provider_type::ProviderType;
use regente_domain::seller::{Link, LinkStatus};
use regente_providers::sandbox::Notice;
use regente_providers::staged::{Staged, StagedEvent};
use regente_store::sellers;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::charges::single_merchant;
use crate::support::providers::sandbox;
use crate::support::read::text;
use crate::support::receiver::Receiver;
use crate::support::records::put;
use crate::support::sellers::{SELLERS, changed, company_body, made, path, read, seller_body};
use crate::support::webhooks::webhook;

stories! {
    a_provider_that_does_not_answer_is_asked_again,
    a_seller_that_is_checked_is_accepted_later,
    what_a_provider_decides_later_is_notified_and_announced,
    a_lost_notification_is_made_up_for,
    a_provider_that_is_added_registers_the_sellers_that_are_there,
    an_event_has_the_data_of_the_moment,
}

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(60 * 60);

pub(super) async fn links(app: &TestApp, seller: &Value) -> Vec<Link> {
    let id: SellerId = text(&seller["id"]).parse().unwrap();
    sellers::find(&app.app.store, app.client_id(), id).await.unwrap().unwrap().seller.links
}

/// The provider decides about a seller.
async fn decides(app: &TestApp, seller: &Value, status: LinkStatus) {
    staged(app, seller, Staged::Seller { status }).await;
}

/// Something about the seller happens at its provider.
pub(super) async fn staged(app: &TestApp, seller: &Value, what: Staged) {
    let key = links(app, seller).await[0].key;
    let event = StagedEvent { key, at: app.clock.deployment(), what };
    app.app.providers.stage(ProviderType::Sandbox, event).await.unwrap();
}

fn with_account(merchant: &str, number: &str) -> Value {
    let mut body = seller_body(merchant);
    body["bankAccount"]["accountNumber"] = json!(number);
    body
}

/// A merchant whose simulator breaks the first connections about sellers, after it has carried out what was asked.
async fn breaking(app: &TestApp, places: &[u64]) -> String {
    let mut provider = sandbox("Breaking", 1);
    let fault = json!({
        "when": { "operation": "seller" }, "then": { "reset": "after_effect" }, "sequence": places
    });
    provider["options"] = json!({ "type": "SANDBOX", "faults": [fault] });
    app.merchant_with(json!([provider])).await
}

async fn a_provider_that_does_not_answer_is_asked_again(app: TestApp) {
    let seller = made(&app, &seller_body(&breaking(&app, &[1, 2, 3]).await)).await;
    assert_eq!((&seller["status"], &seller["providers"]["externalId"]), (&json!("pending"), &json!(null)));
    app.later(SECOND * 16).await;
    assert_eq!(read(&app, &seller).await["status"], "pending", "it was asked twice");
    app.later(HOUR).await;
    let active = read(&app, &seller).await;
    assert_eq!(active["status"], "active");
    let key = links(&app, &seller).await[0].key;
    assert_eq!(active["providers"]["externalId"], format!("sandbox_seller_{}", key.simple()));

    let body = put(seller_body(&single_merchant(&app).await), "createAsync", true);
    let seller = made(&app, &body).await;
    assert_eq!(seller["status"], "pending");
    app.run_jobs().await;
    assert_eq!(read(&app, &seller).await["status"], "active");
}

async fn a_seller_that_is_checked_is_accepted_later(app: TestApp) {
    let seller = made(&app, &with_account(&single_merchant(&app).await, "1000002")).await;
    assert_eq!(
        (&seller["status"], &seller["providers"]["externalStatus"]),
        (&json!("pending"), &json!("registration"))
    );
    app.later(HOUR / 2).await;
    assert_eq!(read(&app, &seller).await["status"], "pending");
    app.later(HOUR * 2).await;
    assert_eq!(read(&app, &seller).await["status"], "active");
}

async fn what_a_provider_decides_later_is_notified_and_announced(app: TestApp) {
    let app = app.reachable().await;
    let receiver = Receiver::start().await;
    for event in ["pending", "active", "partial", "inactive", "blocked"] {
        webhook(&app, &receiver, &format!("seller.{event}"), &format!("/{event}")).await;
    }
    let merchant = app.merchant_with(json!([sandbox("Main", 1), sandbox("Other", 2)])).await;
    let seller = made(&app, &with_account(&merchant, "1000001")).await;
    let statuses = [
        (LinkStatus::Active, "partial"),
        (LinkStatus::Inactive, "pending"),
        (LinkStatus::Blocked, "blocked"),
        (LinkStatus::Active, "partial"),
    ];
    let mut told: Vec<Notice> = Vec::new();
    for (status, expected) in statuses {
        // What is decided twice at the same moment is one decision.
        app.later(SECOND).await;
        decides(&app, &seller, status).await;
        let notices = app.wire.notices();
        assert_eq!(notices.len(), 1, "it is notified");
        app.deliver(&notices[0]).await.expect(200);
        // Repetitions and old ones do no harm: the provider is asked how the seller stands.
        for old in &told {
            app.deliver(old).await.expect(200);
        }
        told.extend(notices);
        app.run_jobs().await;
        assert_eq!(read(&app, &seller).await["status"], expected);
    }
    changed(&app, &seller, &json!({ "status": "inactive" })).await;
    changed(&app, &seller, &json!({ "bankAccount": { "accountNumber": "1" }, "status": "active" })).await;
    app.later(SECOND).await;
    let order = ["pending", "partial", "pending", "blocked", "partial", "inactive", "partial", "active"];
    let mut received = receiver.received();
    // Each webhook has its own order; ids are in that of the events.
    received.sort_by_key(|got| got.json()["id"].to_string());
    let events: Vec<String> =
        received.iter().map(|got| got.json()["event"].as_str().unwrap().to_owned()).collect();
    assert_eq!(events, order);
    for got in &received {
        let event = got.json();
        let seller = &event["data"]["seller"];
        assert_eq!(
            (&event["object"], got.path.as_str()),
            (&json!("seller"), &*format!("/{}", text(&event["event"])))
        );
        assert_eq!(seller["status"], event["event"]);
        assert_eq!(seller["providers"].as_array().unwrap().len(), 2);
        let origin = &event["data"]["origin"];
        assert_eq!(origin["provider"], "SANDBOX");
        assert!(origin["providerId"].is_string() && origin["status"].is_string(), "{origin}");
    }
    let blocked = received.iter().find(|got| got.path == "/blocked").unwrap().json();
    assert_eq!(blocked["data"]["origin"]["status"], "blocked");
}

async fn a_lost_notification_is_made_up_for(app: TestApp) {
    let seller = made(&app, &seller_body(&single_merchant(&app).await)).await;
    assert_eq!(seller["status"], "active");
    decides(&app, &seller, LinkStatus::Blocked).await;
    app.later(HOUR * 25).await;
    assert_eq!(read(&app, &seller).await["status"], "blocked");
}

async fn a_provider_that_is_added_registers_the_sellers_that_are_there(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let seller = made(&app, &seller_body(&merchant)).await;
    app.patch(&format!("/v1/merchants/{merchant}"), &json!({ "providers": [sandbox("Second", 2)] }))
        .await
        .expect(200);
    app.run_jobs().await;
    app.run_jobs().await;
    let links = links(&app, &seller).await;
    assert_eq!(links.iter().map(|link| link.status).collect::<Vec<_>>(), [LinkStatus::Active; 2]);
    assert_ne!(links[0].key, links[1].key);
    assert_eq!(read(&app, &seller).await["status"], "active");
}

async fn an_event_has_the_data_of_the_moment(app: TestApp) {
    let receiver = Receiver::start().await;
    webhook(&app, &receiver, "seller.pending", "/").await;
    let merchant = single_merchant(&app).await;
    let kept = made(&app, &company_body(&merchant)).await;
    let deleted = made(&app, &seller_body(&merchant)).await;
    let body = json!({ "merchantId": merchant });
    app.call(&app.client, axum::http::Method::DELETE, &path(&deleted), &[], Some(&body)).await.expect(204);
    app.run_jobs().await;
    let news: Vec<Value> =
        receiver.received().iter().map(|got| got.json()["data"]["seller"].clone()).collect();
    let of = |seller: &Value| news.iter().find(|news| news["id"] == seller["id"]).unwrap();
    for part in ["owner", "business", "bankAccount", "transferPolicy", "metadata", "mcc"] {
        assert_eq!(of(&kept)[part], kept[part], "{part}");
        assert_eq!(of(&deleted)[part], Value::Null, "{part}");
    }
    assert_eq!(
        (&of(&kept)["status"], &of(&kept)["providers"][0]["status"]),
        (&json!("pending"), &json!("pending"))
    );
    assert_eq!(of(&deleted)["merchantId"], json!(merchant));
    let list = app.get(SELLERS).await.expect(200);
    assert_eq!(list["meta"]["totalItems"], 1);
}
