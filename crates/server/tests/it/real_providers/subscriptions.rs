//! A provider that takes back the payment of a subscription (`docs/interface/subscriptions.md#retries`).

use serde_json::{Value, json};

use super::later::shop;
use super::revoked::refuses;
use crate::support::agreement::ledger_is_right;
use crate::support::app::{TestApp, stories};
use crate::support::providers::adyen;
use crate::support::read::{announced, text};
use crate::support::subscriptions::{Parties, ask, charges_of, made, path_of, read};

stories! {
    a_cycle_whose_payment_is_refused_afterwards_is_charged_again,
}

/// The status of the only cycle, and those of its attempts.
async fn cycle(app: &TestApp, subscription: &Value) -> (String, Vec<String>) {
    let listed = app.get(&format!("{}/cycles", path_of(subscription))).await.expect(200);
    let id = text(&listed["items"][0]["id"]);
    let cycle = app.get(&format!("{}/cycles/{id}", path_of(subscription))).await.expect(200);
    let history = cycle["paymentHistory"].as_array().unwrap();
    let attempts = history.iter().map(|attempt| text(&attempt["status"]).to_owned()).collect();
    (text(&cycle["status"]).to_owned(), attempts)
}

async fn a_cycle_whose_payment_is_refused_afterwards_is_charged_again(app: TestApp) {
    let (app, shop) = shop(app, adyen(1)).await;
    let parties = Parties { merchant: shop.merchant.clone(), ..Parties::of(&app).await };
    let subscription = made(&app, &parties.body(&json!({}))).await;
    app.run_jobs().await;
    assert_eq!(cycle(&app, &subscription).await, ("authorized".to_owned(), vec!["authorized".to_owned()]));

    // The provider does not say that another try may pass.
    refuses(&app, &shop).await;
    assert_eq!(cycle(&app, &subscription).await, ("failed".to_owned(), vec!["failed".to_owned()]));
    assert_eq!(charges_of(&app, &subscription).await[0]["status"], "failed");
    assert_eq!(read(&app, &subscription).await["status"], "unpaid");

    ask(&app, &subscription, "resume").await.expect(200);
    app.run_jobs().await;
    let (status, attempts) = cycle(&app, &subscription).await;
    assert_eq!((status.as_str(), attempts.len()), ("authorized", 2), "{attempts:?}");
    let charges = charges_of(&app, &subscription).await;
    let shown = |charge: &Value| {
        (text(&charge["status"]).to_owned(), text(&charge["paymentMethod"]["recurrence"]).to_owned())
    };
    let expected = [("failed", "initial"), ("authorized", "initial")];
    assert_eq!(
        charges.iter().map(shown).collect::<Vec<_>>(),
        expected.map(|(status, recurrence)| (status.to_owned(), recurrence.to_owned())),
        "the series begins with what was paid"
    );
    assert_eq!(read(&app, &subscription).await["status"], "active");
    let events = announced(&app, text(&subscription["id"])).await;
    assert_eq!(events, ["created", "activated", "unpaid", "activated"]);
    ledger_is_right(&app).await;
}
