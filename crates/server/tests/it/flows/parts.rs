//! Purchases, subscriptions and boletos follow flows as any charge does.

use std::time::Duration;

use serde_json::{Value, json};

use super::{FLOWS, Shop, compares, condition};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::APPROVED;
use crate::support::bodies::payers::{boleto_body, described, jose};
use crate::support::charges::charged;
use crate::support::purchases;
use crate::support::read::text;
use crate::support::records::Records;
use crate::support::subscriptions::{charges_of, made, subscription_body};

stories! {
    each_card_of_a_purchase_takes_its_own_way,
    each_cycle_of_a_subscription_follows_the_flow_of_its_day,
    a_boleto_follows_the_flow_of_boletos,
}

async fn each_card_of_a_purchase_takes_its_own_way(app: TestApp) {
    let shop = Shop::new(&app).await;
    let large = compares("amount", "ge", purchases::AMOUNTS[1]);
    let root = json!([condition(large, json!([shop.node("C")]), json!([shop.node("B")]))]);
    let flow = shop.publish(&app, root).await;
    let id = purchases::accepted(&app, &shop.merchant, &[APPROVED, APPROVED], true).await;
    app.later(Duration::from_secs(1)).await;
    let purchase = purchases::read(&app, &id).await;
    assert_eq!(purchase["status"], "paid");
    for (payment, way) in purchase["payments"].as_array().unwrap().iter().zip(["B", "C"]) {
        let charge = app.get(&format!("/v1/charges/{}", text(&payment["chargeId"]))).await.expect(200);
        assert_eq!(shop.asked(&charge)[0], way);
        assert_eq!(charge["paymentFlow"]["id"], flow["id"]);
    }
}

async fn each_cycle_of_a_subscription_follows_the_flow_of_its_day(app: TestApp) {
    let shop = Shop::new(&app).await;
    let customer = Records { app: &app, client: &app.client }.customer().await;
    let card = app.card(APPROVED).await;
    let first = shop.publish(&app, json!([shop.node("B")])).await;
    let subscription = made(&app, &subscription_body(&shop.merchant, &customer, &card)).await;
    app.later(Duration::from_secs(1)).await;
    let second = shop.publish(&app, json!([shop.node("C")])).await;
    app.later(Duration::from_secs(32 * 24 * 60 * 60)).await;
    let charges = charges_of(&app, &subscription).await;
    let ways: Vec<(&str, &Value)> =
        charges.iter().map(|charge| (shop.asked(charge)[0], &charge["paymentFlow"]["id"])).collect();
    assert_eq!(ways, [("B", &first["id"]), ("C", &second["id"])]);
}

async fn a_boleto_follows_the_flow_of_boletos(app: TestApp) {
    let shop = Shop::new(&app).await;
    let mut flow = shop.flow(json!([shop.node("C")]));
    flow["paymentMethod"] = json!("boleto");
    let flow = app.post(FLOWS, &flow).await.expect(201);
    let charge = charged(&app, &boleto_body(&shop.merchant, described(jose()))).await;
    assert_eq!((shop.asked(&charge), &charge["paymentFlow"]["id"]), (vec!["C"], &flow["id"]));
}
