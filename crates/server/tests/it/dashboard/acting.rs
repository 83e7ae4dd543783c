//! Members act: they refund, capture and release, and are told when nobody knows what has become of it.

use std::time::Duration;

use regente_domain::member::role::Role;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge};
use crate::support::charges::{captured, made, reserved};
use crate::support::members::{hidden, signed_in};
use crate::support::read::text;

stories! {
    a_part_is_refunded_once_however_often_it_is_confirmed,
    two_clicks_at_once_refund_once,
    everything_is_refunded_with_the_amount_that_is_there,
    an_amount_that_cannot_be_given_back_is_asked_for_again,
    a_reservation_is_captured_in_part,
    a_reservation_is_released,
    a_refund_without_an_answer_is_unknown_and_never_a_failure,
    a_refusal_of_the_provider_is_shown_as_one,
    an_act_that_is_over_is_refused,
    whoever_only_reads_sees_no_act_and_may_not_act,
    a_form_of_another_page_does_nothing,
}

async fn read(app: &TestApp, id: &str) -> Value {
    app.get(&format!("/v1/charges/{id}")).await.expect(200)
}

/// How many refunds were asked for.
fn refunds(charge: &Value) -> usize {
    let requests = charge["transactionRequests"].as_array().unwrap();
    requests.iter().filter(|request| request["requestType"] == "void").count()
}

async fn a_part_is_refunded_once_however_often_it_is_confirmed(app: TestApp) {
    let id = made(&app, 10_000, true).await;
    let browser = signed_in(&app, Role::Support).await;
    let (charge, path) = (format!("/dashboard/charges/{id}"), format!("/dashboard/charges/{id}/refund"));
    assert!(browser.page(&charge, 200).await.contains(&format!("href=\"{path}\"")));
    assert!(browser.page(&path, 200).await.contains("Up to R$100.00 can be given back."));
    let page = browser.page(&format!("{path}?amount=12.34"), 200).await;
    assert!(page.contains("R$12.34 goes back to the payer.") && page.contains("of R$100.00"), "{page}");
    assert_eq!(refunds(&read(&app, &id).await), 0, "looking at a page does nothing");
    for _ in 0..3 {
        let reply = browser.confirm(&page, &path).await;
        assert_eq!(reply.status, 303, "{}", String::from_utf8_lossy(&reply.bytes));
        assert_eq!(reply.header("location"), Some(&*format!("{charge}?done=refund")));
    }
    let after = read(&app, &id).await;
    assert_eq!((refunds(&after), &after["amount"]), (1, &json!(8766)));
    let page = browser.page(&format!("{charge}?done=refund"), 200).await;
    assert!(
        page.contains("Done: Refund") && page.contains("R$12.34: Approved") && page.contains("R$87.66"),
        "{page}"
    );
    // Another page is another refund.
    let page = browser.page(&format!("{path}?amount=12.34"), 200).await;
    browser.confirm(&page, &path).await;
    assert_eq!(refunds(&read(&app, &id).await), 2);
}

async fn two_clicks_at_once_refund_once(app: TestApp) {
    let id = made(&app, 10_000, true).await;
    let browser = signed_in(&app, Role::Operator).await;
    let path = format!("/dashboard/charges/{id}/refund");
    let page = browser.page(&format!("{path}?amount=1"), 200).await;
    let clicks = [0; 2].map(|_| browser.begin_to_send(&path, &hidden(&page, &path)));
    for click in clicks {
        let reply = click.await.unwrap();
        // The second one is told that the first is under way, unless that has ended.
        assert!(matches!(reply.status.as_u16(), 202 | 303), "{}", reply.status);
    }
    let after = read(&app, &id).await;
    assert_eq!((refunds(&after), &after["amount"]), (1, &json!(9900)));
}

async fn everything_is_refunded_with_the_amount_that_is_there(app: TestApp) {
    let id = made(&app, 123_456, true).await;
    let browser = signed_in(&app, Role::Owner).await.in_language("pt-BR");
    let path = format!("/dashboard/charges/{id}/refund");
    let page = browser.page(&path, 200).await;
    assert!(page.contains("value=\"R$\u{a0}1.234,56\""), "{page}");
    let page = browser.page(&format!("{path}?amount=R%24%C2%A01.234%2C56"), 200).await;
    browser.confirm(&page, &path).await;
    assert_eq!(read(&app, &id).await["status"], "voided");
}

async fn an_amount_that_cannot_be_given_back_is_asked_for_again(app: TestApp) {
    let id = captured(&app).await;
    let browser = signed_in(&app, Role::Owner).await;
    for (typed, told) in [
        ("1.01", "At most R$1.00 is left."),
        ("0", "Type an amount such as R$1.00."),
        ("0,50", "Type an amount such as R$1.00."),
        ("-1", "Type an amount such as R$1.00."),
        ("%22%3E%3Cb%3E", "Type an amount such as R$1.00."),
    ] {
        let page = browser.page(&format!("/dashboard/charges/{id}/refund?amount={typed}"), 400).await;
        assert!(
            page.contains(told) && !page.contains("name=\"key\"") && !page.contains("<b>"),
            "{typed}: {page}"
        );
    }
}

async fn a_reservation_is_captured_in_part(app: TestApp) {
    let id = reserved(&app).await;
    let browser = signed_in(&app, Role::Support).await;
    let path = format!("/dashboard/charges/{id}/capture");
    let page = browser.page(&format!("{path}?amount=0.80"), 200).await;
    assert!(page.contains("R$0.80 is taken from the payer."), "{page}");
    let reply = browser.confirm(&page, &path).await;
    assert_eq!(reply.header("location"), Some(&*format!("/dashboard/charges/{id}?done=capture")));
    let after = read(&app, &id).await;
    assert_eq!((&after["status"], &after["amount"]), (&json!("authorized"), &json!(80)));
}

async fn a_reservation_is_released(app: TestApp) {
    let id = reserved(&app).await;
    let browser = signed_in(&app, Role::Support).await;
    let path = format!("/dashboard/charges/{id}/void");
    let page = browser.page(&path, 200).await;
    assert!(page.contains("The reservation of R$1.00 is released."), "{page}");
    browser.confirm(&page, &path).await;
    assert_eq!(read(&app, &id).await["status"], "canceled");
}

async fn a_refund_without_an_answer_is_unknown_and_never_a_failure(app: TestApp) {
    let fault = json!({
        "when": { "operation": "void" }, "then": { "timeout": "after_effect" }, "sequence": [1, 2],
    });
    let body = Charge::by_card(&app.merchant().await, APPROVED)
        .amount(100)
        .with("paymentFlow", json!({ "metadata": { "sandboxFaults": [fault] } }))
        .body();
    let id = text(&app.post("/v1/charges", &body).await.expect(201)["id"]).to_owned();
    let browser = signed_in(&app, Role::Support).await;
    let path = format!("/dashboard/charges/{id}/refund");
    let page = browser.page(&format!("{path}?amount=0.30"), 200).await;
    // The second time, the same request is still under way.
    for _ in 0..2 {
        let reply = browser.confirm(&page, &path).await;
        assert_eq!(reply.status, 202);
        let told = String::from_utf8(reply.bytes).unwrap();
        assert!(told.contains("Not known yet") && told.contains("It may have been."), "{told}");
        assert!(!told.contains("refused") && !told.contains("Nothing was changed"), "{told}");
        assert_eq!(hidden(&told, &path), hidden(&page, &path), "asking again is the same request");
    }
    let shown = browser.page(&format!("/dashboard/charges/{id}"), 200).await;
    assert!(shown.contains("Refund not known yet") && shown.contains("Nothing can be done"), "{shown}");
    let home = browser.page("/dashboard", 200).await;
    assert!(home.contains("Captures and refunds without a result: <b>1</b>"), "{home}");
    app.later(Duration::from_secs(120)).await;
    assert_eq!(browser.confirm(&page, &path).await.status, 303, "the answer is known by now");
    let after = read(&app, &id).await;
    assert_eq!((refunds(&after), &after["amount"]), (1, &json!(70)));
}

async fn a_refusal_of_the_provider_is_shown_as_one(app: TestApp) {
    let fault = json!({ "when": { "operation": "void" }, "then": { "decline": "try_again" } });
    let body = Charge::by_card(&app.merchant().await, APPROVED)
        .with("paymentFlow", json!({ "metadata": { "sandboxFaults": [fault] } }))
        .body();
    let id = text(&app.post("/v1/charges", &body).await.expect(201)["id"]).to_owned();
    let browser = signed_in(&app, Role::Support).await;
    let path = format!("/dashboard/charges/{id}/refund");
    let page = browser.page(&format!("{path}?amount=1"), 200).await;
    let reply = browser.confirm(&page, &path).await;
    let told = String::from_utf8(reply.bytes).unwrap();
    assert_eq!(reply.status, 409, "{told}");
    assert!(told.contains("It was refused") && told.contains("Reason: "), "{told}");
    assert_eq!(read(&app, &id).await["amount"], 150);
}

async fn an_act_that_is_over_is_refused(app: TestApp) {
    let id = captured(&app).await;
    let browser = signed_in(&app, Role::Support).await;
    let path = format!("/dashboard/charges/{id}/refund");
    let page = browser.page(&format!("{path}?amount=1"), 200).await;
    app.post(&format!("/v1/charges/{id}/void"), &json!({})).await.expect(201);
    let reply = browser.confirm(&page, &path).await;
    let told = String::from_utf8(reply.bytes).unwrap();
    assert_eq!(reply.status, 409, "{told}");
    assert!(told.contains("It was refused"), "{told}");
    for act in ["refund", "capture", "void"] {
        browser.page(&format!("/dashboard/charges/{id}/{act}"), 409).await;
    }
    assert_eq!(browser.open(&format!("/dashboard/charges/{id}/steal")).await.status, 404);
}

async fn whoever_only_reads_sees_no_act_and_may_not_act(app: TestApp) {
    let id = captured(&app).await;
    let path = format!("/dashboard/charges/{id}/refund");
    let page = signed_in(&app, Role::Support).await.page(&format!("{path}?amount=1"), 200).await;
    let sent = hidden(&page, &path);
    for role in [Role::ReadOnly, Role::Finance] {
        let browser = signed_in(&app, role).await;
        let charge = browser.page(&format!("/dashboard/charges/{id}"), 200).await;
        assert!(!charge.contains("/refund") && !charge.contains("What you can do"), "{charge}");
        assert!(browser.page(&path, 403).await.contains("Your role may not do this."));
        // With the token of their own forms.
        let csrf = hidden(&charge, "/dashboard/sign-out")[0].1;
        let forged: Vec<(&str, &str)> =
            sent.iter().map(|(name, value)| (*name, if *name == "csrf" { csrf } else { *value })).collect();
        assert_eq!(browser.send(&path, &forged).await.status, 403);
    }
    assert_eq!(refunds(&read(&app, &id).await), 0);
}

async fn a_form_of_another_page_does_nothing(app: TestApp) {
    let id = captured(&app).await;
    let browser = signed_in(&app, Role::Owner).await;
    let path = format!("/dashboard/charges/{id}/refund");
    let page = browser.page(&format!("{path}?amount=1"), 200).await;
    let mut sent = hidden(&page, &path);
    sent.retain(|(name, _)| *name != "csrf");
    assert_eq!(browser.send(&path, &sent).await.status, 403);
    assert_eq!(refunds(&read(&app, &id).await), 0);
}
