//! What a charge may demand: the shift of liability, results of others, data alone; and who is not authenticated.

use serde_json::{Value, json};

use super::refusal;
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge, charge_body};
use crate::support::three_d_secure::{
    CHALLENGE_PASSES, FRICTIONLESS, NOT_ENROLLED, decided, hosted_body, inline, merchant, own_body, requests,
    three_d_secure,
};

stories! {
    the_shift_of_liability_is_demanded_or_not,
    a_3ds_server_that_does_not_answer_ends_the_charge,
    the_result_of_another_server_is_taken,
    data_alone_is_shared_without_a_challenge,
    a_cardholder_who_is_away_is_not_authenticated,
    a_debit_card_is_authenticated_and_captured,
    what_is_wrong_is_named,
    a_deployment_without_an_address_says_so,
}

fn with(mut body: Value, member: &str, value: Value) -> Value {
    body["threeDSecure2"][member] = value;
    body
}

async fn the_shift_of_liability_is_demanded_or_not(app: TestApp) {
    let app = app.reachable().await;
    let merchant = merchant(&app).await;
    for (card, demanded, status) in [
        (FRICTIONLESS, json!(true), "authorized"),
        (FRICTIONLESS, json!("false"), "authorized"),
        (NOT_ENROLLED, json!("true"), "failed"),
        (NOT_ENROLLED, json!(false), "authorized"),
        (NOT_ENROLLED, Value::Null, "authorized"),
    ] {
        let body = own_body(&app, &merchant, card).await;
        let body = with(body, "requiresLiabilityShift", demanded.clone());
        let charge = app.post("/v1/charges", &body).await.expect(201);
        assert_eq!(charge["status"], status, "{card:?} {demanded}");
        if status == "failed" {
            assert_eq!(refusal(&charge), ("transaction_not_allowed", "unable_to_perform_authentication"));
            assert_eq!(charge["threeDSecure2"]["liabilityShift"], false);
        }
    }
    let body = own_body(&app, &merchant, CHALLENGE_PASSES).await;
    let body = with(body, "requiresLiabilityShift", json!(true));
    let waiting = app.post("/v1/charges", &body).await.expect(201);
    assert_eq!(decided(&app, &waiting, "approve").await["status"], "authorized");
}

async fn a_3ds_server_that_does_not_answer_ends_the_charge(app: TestApp) {
    let app = app.reachable().await;
    let body = own_body(&app, &merchant(&app).await, FRICTIONLESS).await;
    app.wire.take_down_3ds();
    let charge = app.post("/v1/charges", &body).await.expect(201);
    assert_eq!(charge["status"], "failed");
    assert_eq!(refusal(&charge), ("transaction_not_allowed", "authentication_unavailable"));
    assert_eq!(app.books.effects().await.unwrap(), 0);
}

async fn the_result_of_another_server_is_taken(app: TestApp) {
    let merchant = merchant(&app).await;
    let mut body = charge_body(&merchant, NOT_ENROLLED);
    let mpi = json!({ "cavv": "AAAB", "eci": "05", "transStatus": "Y", "version": "2.2.0" });
    body["threeDSecure2"] = json!({ "mpi": mpi, "requiresLiabilityShift": true });
    let charge = app.post("/v1/charges", &body).await.expect(201);
    assert_eq!(charge["status"], "authorized", "its last digit is not looked at: {charge:#}");
    assert_eq!(requests(&charge), [("authorization", "success")]);
    assert_eq!(charge["threeDSecure2"]["mpi"], mpi);
    for cavv in [json!(null), json!("")] {
        body["threeDSecure2"]["mpi"]["cavv"] = cavv;
        let problem = "threeDSecure2.mpi.cavv should not be empty: it is what makes the issuer liable";
        assert_eq!(app.post("/v1/charges", &body).await.details(400), [problem]);
    }
    body["threeDSecure2"]["mpi"]["transStatus"] = json!("N");
    let problem = "threeDSecure2.requiresLiabilityShift must be false with this mpi.transStatus";
    assert_eq!(app.post("/v1/charges", &body).await.details(400), [problem]);
}

async fn data_alone_is_shared_without_a_challenge(app: TestApp) {
    let app = app.reachable().await;
    let merchant = merchant(&app).await;
    let body = with(own_body(&app, &merchant, CHALLENGE_PASSES).await, "dataOnly", json!(true));
    let charge = app.post("/v1/charges", &body).await.expect(201);
    assert_eq!(charge["status"], "authorized", "{charge:#}");
    let shown = &charge["threeDSecure2"];
    assert_eq!((&shown["authenticated"], &shown["liabilityShift"]), (&json!(false), &json!(false)));
    let hosted = with(hosted_body(&merchant, CHALLENGE_PASSES), "dataOnly", json!(true));
    assert_eq!(app.post("/v1/charges", &hosted).await.expect(201)["status"], "authorized");
    let demanding = own_body(&app, &merchant, CHALLENGE_PASSES).await;
    let demanding = with(with(demanding, "dataOnly", json!(true)), "requiresLiabilityShift", json!(true));
    assert_eq!(app.post("/v1/charges", &demanding).await.expect(201)["status"], "failed");
}

async fn a_cardholder_who_is_away_is_not_authenticated(app: TestApp) {
    let app = app.reachable().await;
    let merchant = merchant(&app).await;
    for recurrence in ["subsequent", "unscheduled"] {
        let mut body = own_body(&app, &merchant, APPROVED).await;
        body["paymentMethod"]["recurrence"] = json!(recurrence);
        let charge = app.post("/v1/charges", &body).await.expect(201);
        assert_eq!(requests(&charge), [("authorization", "success")], "{recurrence}");
    }
    let mut body = own_body(&app, &merchant, APPROVED).await;
    body["paymentMethod"]["recurrence"] = json!("initial");
    let charge = app.post("/v1/charges", &body).await.expect(201);
    assert_eq!(requests(&charge).len(), 3);
}

async fn a_debit_card_is_authenticated_and_captured(app: TestApp) {
    let app = app.reachable().await;
    let merchant = merchant(&app).await;
    let mut body = own_body(&app, &merchant, FRICTIONLESS).await;
    body["paymentMethod"] = json!({ "paymentType": "debit" });
    body["capture"] = json!(false);
    let charge = app.post("/v1/charges", &body).await.expect(201);
    assert_eq!(charge["status"], "authorized", "a debit card is captured at once");
    assert_eq!(charge["paymentMethod"], json!({ "paymentType": "debit", "installments": 1 }));
    let listed = app.get("/v1/charges?paymentType=debit").await.expect(200);
    assert_eq!(listed["items"][0]["id"], charge["id"]);

    body.as_object_mut().unwrap().shift_remove("threeDSecure2");
    body["paymentSource"] = inline(FRICTIONLESS);
    let problem = "threeDSecure2 should not be empty: a debit card is authenticated";
    assert_eq!(app.post("/v1/charges", &body).await.details(400), [problem]);

    let mut body = hosted_body(&merchant, NOT_ENROLLED);
    body["paymentMethod"] = json!({ "paymentType": "debit" });
    let charge = app.post("/v1/charges", &body).await.expect(201);
    assert_eq!(charge["status"], "failed", "nobody was authenticated: {charge:#}");
    let details = async |name: &str, value: Value| {
        app.post("/v1/charges", &with(body.clone(), name, value)).await.details(400)
    };
    let problem = "threeDSecure2.dataOnly must be false: a debit card is authenticated";
    assert_eq!(details("dataOnly", json!(true)).await, [problem]);
    let problems = [
        "threeDSecure2.mpi.transStatus must be Y or A: a debit card is authenticated",
        "threeDSecure2.mpi.cavv should not be empty: a debit card is authenticated",
    ];
    assert_eq!(details("mpi", json!({ "transStatus": "N" })).await, problems);
    let proven =
        with(body.clone(), "mpi", json!({ "transStatus": "Y", "cavv": "AAABCSIIAAAAAAACcwgAEMCoNh" }));
    assert_eq!(app.post("/v1/charges", &proven).await.expect(201)["status"], "authorized");
}

async fn what_is_wrong_is_named(app: TestApp) {
    let app = app.reachable().await;
    let merchant = merchant(&app).await;
    let details = async |body: Value| app.post("/v1/charges", &body).await.details(400);
    let empty = with(charge_body(&merchant, APPROVED), "dataOnly", json!(true));
    let missing = |name: &str| format!("threeDSecure2.{name} should not be empty");
    assert_eq!(details(empty).await, ["redirectURL", "requestorURL", "browser"].map(missing));

    let body = hosted_body(&merchant, APPROVED);
    for wrong in ["javascript:alert(1)", "shop.example", "https://", "https://user@shop.example/"] {
        let problems = details(with(body.clone(), "redirectURL", json!(wrong))).await;
        assert_eq!(problems, ["threeDSecure2.redirectURL must be an http:// or https:// address"], "{wrong}");
    }
    let both = with(body.clone(), "mpi", json!({ "transStatus": "Y" }));
    let both = with(both, "setupId", json!("3f1c1b1e-2a7b-4a57-9d35-000000000000"));
    assert_eq!(details(both).await, ["threeDSecure2.setupId must not be sent together with mpi"]);

    let mut voucher = body;
    voucher["paymentMethod"] = json!({ "paymentType": "voucher" });
    assert_eq!(details(voucher).await, ["threeDSecure2 must be absent for this paymentType"]);
}

async fn a_deployment_without_an_address_says_so(app: TestApp) {
    let body =
        Charge::by_card(&merchant(&app).await, FRICTIONLESS).with("threeDSecure2", three_d_secure()).body();
    let problem = "threeDSecure2 is not available: the operator has not set the address of this service, \
                   `server.base_url`";
    assert_eq!(app.post("/v1/charges", &body).await.details(400), [problem]);
}
