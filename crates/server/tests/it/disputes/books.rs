//! Charge backs in the books: a bank takes another amount than what is left, which the settlement file of the provider tells.

use regente_domain::settlement::Verdict;
use serde_json::{Value, json};

use crate::support::agreement::ledger_is_right;
use crate::support::app::{TestApp, stories};
use crate::support::charges::{captured, void};
use crate::support::disputes::read;
use crate::support::notifications::{API_KEY, message, request_of, send};
use crate::support::read::text;
use crate::support::settlement::import;

stories! {
    a_charge_back_of_another_amount_is_found_and_posted,
}

/// The provider reports something by itself.
async fn reports(app: &TestApp, id: &str, word: &str, case: &Value) {
    let request = request_of(app, id).await;
    let told = message(&request, &format!("{id} {word}"), word, case);
    assert_eq!(send(app, &request, &told, API_KEY).await, 200);
    app.run_jobs().await;
}

/// What the differences of a charge back leave on the account: refunds, what the provider reports, what it settles, and by
/// how much less that is than the books say.
async fn settled(
    app: &TestApp,
    place: usize,
    refunded: Option<i64>,
    reported: Value,
    taken: i64,
) -> (Verdict, i64) {
    let id = captured(app).await;
    if let Some(amount) = refunded {
        reports(app, &id, "dispute.opened", &json!({ "id": "case" })).await;
        void(app, &id, json!({ "amount": amount })).await.expect(201);
    }
    reports(app, &id, "payment.charged_back", &json!({ "id": "case", "amount": reported })).await;
    assert_eq!(read(app, &id).await["status"], "charged_back");
    let (key, at) = (request_of(app, &id).await.provider_key(), app.clock.deployment());
    let mut file =
        format!("line,type,at,payment,currency,amount,fee,parts\n{place}s,sale,{at},{key},BRL,100,0,\n");
    if let Some(amount) = refunded {
        file.push_str(&format!("{place}r,refund,{at},{key},BRL,{amount},0,\n"));
    }
    file.push_str(&format!("{place}c,charge_back,{at},{key},BRL,{taken},0,\n"));
    let report = import(app, &file, "SANDBOX").await;
    let lines = 2 + u64::from(refunded.is_some());
    let differing = report.number(Verdict::DifferingAmount);
    assert_eq!(report.number(Verdict::Matched) + differing, lines, "{}", report.text());
    let balances = app.get("/v1/ledger/balances?purpose=settlement_difference").await.expect(200);
    let merchant = &read(app, &id).await["merchantId"];
    let of_merchant = |balance: &&Value| balance["merchantId"] == *merchant;
    let less = balances["items"].as_array().unwrap().iter().find(of_merchant);
    let less = less.map_or(0, |balance| balance["balance"].as_i64().unwrap());
    (if differing == 0 { Verdict::Matched } else { Verdict::DifferingAmount }, less)
}

async fn a_charge_back_of_another_amount_is_found_and_posted(app: TestApp) {
    use Verdict::{DifferingAmount, Matched};
    let app = app.reachable().await;
    for (place, (refunded, reported, taken, expected)) in [
        (Some(30), json!(70), 70, (Matched, 0)),
        (None, json!(60), 60, (Matched, 0)),
        (None, json!(60), 100, (DifferingAmount, 40)),
        (Some(30), json!(100), 100, (DifferingAmount, 30)),
        (Some(100), json!(100), 100, (DifferingAmount, 100)),
        (Some(100), json!(null), 100, (DifferingAmount, 100)),
    ]
    .into_iter()
    .enumerate()
    {
        let context = format!("{refunded:?} {reported} {taken}");
        assert_eq!(settled(&app, place, refunded, reported, taken).await, expected, "{context}");
    }
    ledger_is_right(&app).await;
    let entries = app.get("/v1/ledger/entries?movement=settlement_difference").await.expect(200);
    assert_eq!(text(&entries["items"][0]["currency"]), "BRL");
}
