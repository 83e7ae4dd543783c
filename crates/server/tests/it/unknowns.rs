//! Unknown outcomes for operators: listed with age and reason, given up at the end of their schedule, and retried by
//! command.

use std::time::Duration;

use regente::admin::Verdict;
use regente_domain::id::TransactionRequestId;
use regente_store::audit;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::charges::{charged, single_merchant};
use crate::support::read::text;
use crate::support::unknowns::{examined, forgetful, retry, unknowns};

stories! {
    nothing_is_unknown_after_answers,
    an_unknown_outcome_is_listed_with_what_an_operator_needs,
    what_was_given_up_is_asked_for_anew_and_ends,
    only_what_was_given_up_can_be_asked_for_anew,
    a_card_check_without_an_answer_is_listed,
}

const UNKNOWN_OUTCOMES: &str = "unknown outcomes";

async fn nothing_is_unknown_after_answers(app: TestApp) {
    charged(&app, &charge_body(&single_merchant(&app).await, APPROVED)).await;
    assert!(unknowns(&app).await.is_empty());
    assert_eq!(examined(&app, UNKNOWN_OUTCOMES).await, (Verdict::Ok, "none".to_owned()));
}

async fn an_unknown_outcome_is_listed_with_what_an_operator_needs(app: TestApp) {
    let (app, file) = forgetful(app).await;
    let merchant = single_merchant(&app).await;
    file.lose();
    let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
    app.clock.advance(Duration::from_secs(10));
    let listed = unknowns(&app).await;
    let request = &charge["transactionRequests"][0];
    assert_eq!(listed.len(), 1);
    let mut row = serde_json::to_value(&listed[0]).unwrap();
    assert!(row["next_probe_at"].is_string(), "somebody will ask");
    row.as_object_mut().unwrap().remove("next_probe_at");
    assert_eq!(
        row,
        json!({ "request_id": request["id"], "client_id": app.client.id, "object_kind": "charge",
            "object_id": charge["id"], "provider_id": request["providerId"], "provider_type": "SANDBOX",
            "provider_name": "Only", "operation": "authorization", "amount": 150, "currency": "BRL",
            "amount_shown": "BRL 1.50", "asked_at": request["createdAt"], "age_seconds": 10,
            "reason": "provider_failed", "probes": 0, "given_up_at": null })
    );
    file.find();
    app.later(Duration::from_secs(60)).await;
    assert!(unknowns(&app).await.is_empty());
}

async fn what_was_given_up_is_asked_for_anew_and_ends(app: TestApp) {
    let (app, file) = forgetful(app).await;
    let merchant = single_merchant(&app).await;
    file.lose();
    let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
    let path = format!("/v1/charges/{}", text(&charge["id"]));
    assert_eq!(examined(&app, UNKNOWN_OUTCOMES).await.0, Verdict::Warning, "somebody asks");
    app.later(Duration::from_secs(24 * 60 * 60)).await;
    let (verdict, found) = examined(&app, UNKNOWN_OUTCOMES).await;
    assert_eq!(verdict, Verdict::Failure);
    assert!(found.starts_with("1 were given up, so nobody asks any more, and 0 are asked for"), "{found}");
    let given_up = unknowns(&app).await.remove(0);
    assert_eq!((given_up.probes, given_up.next_probe_at), (3, None));
    assert!(given_up.given_up_at.is_some());
    let told = app.get(&format!("{path}/explanation")).await.expect(200);
    assert!(text(&told["text"]).contains("nobody asks any more since "), "{}", told["text"]);

    // The retry fails too: the whole schedule runs once more.
    assert_eq!(retry(&app, given_up.request_id).await.unwrap(), given_up.request_id);
    let resumed = unknowns(&app).await.remove(0);
    assert_eq!((resumed.probes, resumed.given_up_at), (0, None));
    app.later(Duration::from_secs(24 * 60 * 60)).await;
    assert_eq!(unknowns(&app).await[0].probes, 3);

    file.find();
    app.later(Duration::from_secs(24 * 60 * 60)).await;
    assert_eq!(app.get(&path).await.expect(200)["status"], "pending", "nobody asked");
    retry(&app, given_up.request_id).await.unwrap();
    app.run_jobs().await;
    assert_eq!(app.get(&path).await.expect(200)["status"], "failed");
    assert!(unknowns(&app).await.is_empty());

    let trail =
        audit::of_object(&app.app.store, app.client_id(), given_up.request_id.uuid(), 10).await.unwrap();
    let trail: Vec<_> = trail.iter().map(|entry| (entry.actor.as_str(), entry.action.as_str())).collect();
    assert_eq!(trail, [("operator", "transaction_request.resumed"); 2]);
}

async fn only_what_was_given_up_can_be_asked_for_anew(app: TestApp) {
    let (app, file) = forgetful(app).await;
    let merchant = single_merchant(&app).await;
    let known = charged(&app, &charge_body(&merchant, APPROVED)).await;
    file.lose();
    charged(&app, &charge_body(&merchant, APPROVED)).await;
    let open = unknowns(&app).await.remove(0);
    let known: TransactionRequestId = text(&known["transactionRequests"][0]["id"]).parse().unwrap();
    let nobodys: TransactionRequestId = "0190a7f4-0000-7000-8000-000000000000".parse().unwrap();
    for request_id in [known, open.request_id, nobodys] {
        let expected =
            format!("no request {request_id} was given up; `regente unknowns` shows those that were");
        assert_eq!(retry(&app, request_id).await, Err(expected));
    }
    assert_eq!(unknowns(&app).await[0].next_probe_at, open.next_probe_at, "it is asked for at its time");
}

async fn a_card_check_without_an_answer_is_listed(app: TestApp) {
    let (app, file) = forgetful(app).await;
    let merchant = single_merchant(&app).await;
    let token = app.card_token(APPROVED).await;
    file.lose();
    let body: Value = json!({ "tokenId": token, "merchantId": merchant, "cvvCheck": true });
    app.post("/v1/cards", &body).await.expect(424);
    let listed = unknowns(&app).await;
    let facts: Vec<_> =
        listed.iter().map(|row| (row.object_kind.as_str(), row.operation.as_str(), row.amount)).collect();
    assert_eq!(facts, [("card", "zero_dollar", 0)]);
    assert_eq!(listed[0].reason.as_deref(), Some("provider_failed"), "at once, not when it is overdue");
    assert_eq!((listed[0].currency.as_deref(), listed[0].amount_shown.as_str()), (None, ""));
}
