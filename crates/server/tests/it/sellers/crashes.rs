//! The process stops at each step while a seller is made and registered.

use std::time::Duration;

use axum::http::Method;
use regente_store::events;
use serde_json::json;

use super::registrations::links;
use super::{SELLERS, seller_body};
use crate::charges::{single_merchant, text};
use crate::harness::{TestApp, request, stories};

stories! {
    while_a_seller_is_registered,
}

/// Everything is due by then.
const LATER: Duration = Duration::from_secs(2 * 60 * 60);
/// More steps than the flow has.
const STEPS_MAX: u64 = 40;

async fn while_a_seller_is_registered(mut app: TestApp) {
    for steps in 0..STEPS_MAX {
        let body = seller_body(&single_merchant(&app).await);
        let key = format!("seller {steps}");
        let headers = [("X-Idempotency-Key", key.as_str())];
        app.fuse.arm(steps);
        let fuse = app.fuse.clone();
        let mut pending = app.begin(request(&app.client, Method::POST, SELLERS, &headers, Some(&body)));
        let is_answered = tokio::select! {
            _ = &mut pending => true,
            () = fuse.blown() => false,
        };
        if is_answered {
            app.fuse.disarm();
        } else {
            app = app.restart().await;
            pending.abort();
        }
        app.later(LATER).await;
        let seller = app.post_with_key(SELLERS, &key, &body).await.expect(201);
        app.later(LATER).await;
        let query = format!("{SELLERS}?merchantId={}", text(&body["merchantId"]));
        let list = app.get(&query).await.expect(200);
        assert_eq!(list["meta"]["totalItems"], 1, "after {steps} steps");
        let now = &list["items"][0];
        assert_eq!((&now["id"], &now["status"]), (&seller["id"], &json!("active")), "after {steps} steps");
        let link = links(&app, &seller).await.remove(0);
        let external_id = format!("sandbox_seller_{}", link.key.simple());
        assert_eq!(link.external_id, Some(external_id), "after {steps} steps");
        let id = text(&seller["id"]).parse().unwrap();
        let events = events::of_object(&app.app.store, app.client_id(), id).await.unwrap();
        let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(names, ["pending", "active"], "after {steps} steps");
        if is_answered {
            assert!(steps >= 4, "the flow has {steps} steps: writes and calls are missing from the sweep");
            return;
        }
    }
    panic!("the flow does not end");
}
