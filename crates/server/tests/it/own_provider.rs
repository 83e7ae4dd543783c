//! `PLATFORM`, the platform's own provider (`docs/own-provider.md`): the simulator stands in for it in the sandbox, and an
//! operator's own processor is asked where they have one.

use std::time::Duration;

use axum::http::Method;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::support::app::{Adapters, TestApp, stories};
use crate::support::bodies::payers::{described, jose, pix_body};
use crate::support::bodies::{APPROVED, Charge, TIMED_OUT, charge_body};
use crate::support::forms::png;
use crate::support::platform_fees::keep;
use crate::support::providers::elsewhere::{Elsewhere, Said};
use crate::support::providers::sandbox;
use crate::support::read::text;
use crate::support::reviews::{answered, now};
use crate::support::sellers::{DOCUMENTS, made, read, selfie};
use crate::support::server::{Server, run_on};
use crate::support::splits::books::in_books;
use crate::support::splits::{divided, seller, seller_body};

stories! {
    the_simulator_stands_in_for_it,
    an_operators_own_processor_is_asked,
    it_divides_charges,
    it_asks_a_seller_for_what_that_can_answer,
    it_is_sent_files_and_judges_answers,
}

fn own(priority: i64) -> Value {
    json!({ "name": "Own", "priority": priority, "credentials": { "type": "PLATFORM", "apiKey": "secret-of-the-shop", "shop": "7" } })
}

fn asked(charge: &Value) -> Vec<&str> {
    charge["transactionRequests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|request| text(&request["providerType"]))
        .collect()
}

async fn the_simulator_stands_in_for_it(app: TestApp) {
    let app = app.reachable().await;
    let merchant = app.merchant_with(json!([own(1), sandbox("Spare", 2)])).await;
    let body = Charge::by_card(&merchant, APPROVED).reserved().body();
    let charge = app.post("/v1/charges", &body).await.expect(201);
    assert_eq!(
        (&charge["status"], &charge["responsibleProviderType"]),
        (&json!("pre_authorized"), &json!("PLATFORM"))
    );
    let at = format!("/v1/charges/{}", text(&charge["id"]));
    assert_eq!(
        app.post(&format!("{at}/capture"), &json!({ "amount": 100 })).await.expect(201)["status"],
        "authorized"
    );
    assert_eq!(app.post(&format!("{at}/void"), &json!({ "amount": 40 })).await.expect(201)["amount"], 60);

    let pix = app.post("/v1/charges", &pix_body(&merchant, described(jose()))).await.expect(201);
    assert_eq!(asked(&pix), ["PLATFORM"]);
    let at = format!("/v1/charges/{}", text(&pix["id"]));
    assert_eq!(app.post(&at, &json!({ "status": "authorized" })).await.expect(200)["status"], "authorized");
    // What it does not do goes to the next provider; a refusal as well.
    let mut boleto = pix_body(&merchant, described(jose()));
    boleto["paymentMethod"] = json!({ "paymentType": "boleto" });
    let boleto = app.post("/v1/charges", &boleto).await.expect(201);
    assert_eq!(asked(&boleto), ["SANDBOX"]);
    let refused = app.post("/v1/charges", &charge_body(&merchant, TIMED_OUT)).await.expect(201);
    assert_eq!(asked(&refused).last(), Some(&"PLATFORM"));
    let listed = app.get("/v1/charges?providerType=PLATFORM").await.expect(200);
    assert!(listed["meta"]["totalItems"].as_u64() >= Some(2), "{listed}");
}

/// A processor that approves whatever it is asked for; `status` is that of its answers.
fn processor(said: &Said, status: u16) -> Option<(u16, Value)> {
    let call = said.json();
    match said.path.as_str() {
        "/own/v1/calls" => Some((
            status,
            json!({ "key": call["key"], "answer": { "approved": { "transactionId": "tx-1" } } }),
        )),
        "/own/v1/sellers" => {
            let active = json!({ "externalId": "re-1", "externalStatus": "open", "externalStatusReason": null,
                "status": "active" });
            Some((status, json!({ "key": call["key"], "seller": { "stands": active } })))
        }
        "/own/v1/probes" => Some((200, json!({ "key": call["key"], "found": null }))),
        _ => None,
    }
}

async fn an_operators_own_processor_is_asked(app: TestApp) {
    let elsewhere = Elsewhere::start(|said| processor(said, 200)).await;
    let app = app.reachable().await.with_adapters(Adapters::Real(elsewhere.address)).await;
    let merchant = app.merchant_with(json!([own(1), sandbox("Spare", 2)])).await;
    let mut body = charge_body(&merchant, APPROVED);
    (body["orderId"], body["statementDescriptor"]) = (json!("order-7"), json!("LOJA"));
    let charge = app.post("/v1/charges", &body).await.expect(201);
    assert_eq!((&charge["status"], asked(&charge)), (&json!("authorized"), vec!["PLATFORM"]));
    let call = elsewhere.said("POST", "/own/v1/calls").json();
    assert_eq!(call["operation"]["instrument"]["card"]["number"], APPROVED.0);
    assert_eq!(
        call["details"],
        json!({ "credentials": { "apiKey": "secret-of-the-shop", "shop": "7" }, "objectId": charge["id"],
            "holderName": body["paymentSource"]["card"]["cardHolderName"], "orderId": "order-7",
            "statementDescriptor": "LOJA", "mcc": "5812" })
    );
    let pix = app.post("/v1/charges", &pix_body(&merchant, described(jose()))).await.expect(201);
    assert_eq!(pix["responsibleProviderType"], "PLATFORM");
    let buyer = elsewhere.said("POST", "/own/v1/calls").json()["details"]["buyer"].clone();
    assert_eq!((&buyer["name"], &buyer["email"]), (&jose()["name"], &jose()["email"]));
    let void = app.post(&format!("/v1/charges/{}/void", text(&charge["id"])), &json!({})).await.expect(201);
    assert_eq!(void["status"], "voided");
    assert_eq!(elsewhere.said("POST", "/own/v1/calls").json()["operation"]["type"], "void");

    // It does not know the service, and asks it to wait: both times nothing was done, and the next provider is asked.
    for status in [401, 429] {
        elsewhere.answers(move |said| processor(said, status));
        let charge = app.post("/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
        assert_eq!(asked(&charge), ["SANDBOX", "PLATFORM"]);
    }
    // A fault may hide an effect: it is asked, and says that there is none.
    elsewhere.answers(|said| processor(said, 500));
    let charge = app.post("/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
    assert_eq!((&charge["status"], asked(&charge)), (&json!("authorized"), vec!["SANDBOX", "PLATFORM"]));
    elsewhere.stop().await;
    let charge = app.post("/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
    assert_eq!(asked(&charge), ["SANDBOX", "PLATFORM"]);
}

/// The simulator in its place, and the processor of an operator, who is told who the sellers are.
async fn it_divides_charges(app: TestApp) {
    let merchant = app.merchant_with(json!([own(1)])).await;
    let one = seller(&app, &merchant, 1).await;
    assert_eq!(
        (&one["status"], &one["providers"]["providerType"]),
        (&json!("active"), &json!("PLATFORM")),
        "{one:#}"
    );
    keep(&app, &merchant, &json!([{ "paymentMethod": "credit", "percentage": 10, "installment": 1 }])).await;
    let half = |seller: &Value| json!([{ "sellerId": seller["id"], "percentage": 50 }]);
    let charge = app.post("/v1/charges", &divided(&merchant, 1000, &half(&one))).await.expect(201);
    assert_eq!((&charge["status"], &charge["platformFee"]["amount"]), (&json!("authorized"), &json!(100)));
    let id = text(&charge["id"]);
    assert_eq!(in_books(&app, id).await, [450]);
    let of_sellers =
        app.get("/v1/ledger/balances?purpose=seller_payable&providerType=PLATFORM").await.expect(200);
    assert_eq!(of_sellers["items"][0]["balance"], 450);
    let mut pix = pix_body(&merchant, described(jose()));
    pix["splitRules"] = half(&one);
    let pix = app.post("/v1/charges", &pix).await.expect(201);
    assert_eq!((&pix["status"], asked(&pix)), (&json!("pending"), vec!["PLATFORM"]));
    let at = format!("/v1/charges/{}", text(&pix["id"]));
    assert_eq!(app.post(&at, &json!({ "status": "authorized" })).await.expect(200)["status"], "authorized");

    let elsewhere = Elsewhere::start(|said| processor(said, 200)).await;
    let app = app.reachable().await.with_adapters(Adapters::Real(elsewhere.address)).await;
    let body = seller_body(&merchant, 2, "4929");
    let two = made(&app, &body).await;
    assert_eq!((&two["status"], &two["providers"]["externalId"]), (&json!("active"), &json!("re-1")));
    let asked = elsewhere.said("POST", "/own/v1/sellers").json();
    assert_eq!(asked["asks"]["type"], "register");
    let details = &asked["details"];
    assert_eq!((&details["sellerId"], &details["credentials"]["shop"]), (&two["id"], &json!("7")));
    assert_eq!(details["data"]["owner"]["document"]["number"], body["owner"]["document"]["number"]);
    assert_eq!(details["data"]["bankAccount"]["accountNumber"], "4929");
    let charge = app.post("/v1/charges", &divided(&merchant, 1000, &half(&two))).await.expect(201);
    assert_eq!(charge["status"], "authorized");
    let division = elsewhere.said("POST", "/own/v1/calls").json()["operation"]["division"].clone();
    assert_eq!(
        division,
        json!({ "rest": 550, "sellers": [{ "registration": asked["key"], "recipient": "re-1", "amount": 450 }] })
    );
    app.patch(&format!("/v1/sellers/{}", text(&two["id"])), &json!({ "owner": { "name": "Rita Souza" } }))
        .await
        .expect(200);
    app.later(Duration::from_secs(60)).await;
    // The other seller is looked at, too.
    let questions = elsewhere.all().into_iter().filter(|said| said.path == "/own/v1/sellers");
    let mut of_two =
        questions.map(|said| said.json()).filter(|asked| asked["details"]["sellerId"] == two["id"]);
    let told = of_two.next_back().unwrap();
    assert_eq!((&told["key"], &told["details"]["externalId"]), (&asked["key"], &json!("re-1")));
    elsewhere.stop().await;
}

/// A processor that takes every seller and asks it for these fields.
fn asking(said: &Said, fields: &Value, number: u128) -> Option<(u16, Value)> {
    let (_, mut answer) = processor(said, 200)?;
    answer["seller"]["stands"]["demand"] = json!({ "key": uuid::Uuid::from_u128(number), "reason": null,
        "fields": fields, "deadlineAt": "2026-04-22T15:12:38.379Z" });
    Some((200, answer))
}

async fn it_asks_a_seller_for_what_that_can_answer(app: TestApp) {
    let phone = json!({ "name": "owner.phoneNumber", "required": true });
    let demands = [
        // A field that there is not, and one of a company: the seller is a person.
        (json!([phone, { "name": "owner.shoeSize", "required": true }]), 0),
        (json!([phone, { "name": "business.name", "required": true }]), 0),
        (json!([{ "name": "owner.shoeSize", "required": false }]), 0),
        (json!([{ "name": "owner.shoeSize", "required": false }, phone]), 1),
    ];
    let elsewhere = Elsewhere::start(|said| processor(said, 200)).await;
    let app = app.reachable().await.with_adapters(Adapters::Real(elsewhere.address)).await;
    let merchant = app.merchant_with(json!([own(1)])).await;
    let seller = made(&app, &seller_body(&merchant, 1, "4929")).await;
    for (number, (fields, reviews)) in (1..).zip(demands) {
        elsewhere.answers(move |said| asking(said, &fields, number));
        app.later(Duration::from_secs(25 * 60 * 60)).await;
        let list = app.get("/v1/sellers/registration-reviews").await.expect(200);
        assert_eq!(list["meta"]["totalItems"], reviews, "demand {number}");
    }
    let list = app.get("/v1/sellers/registration-reviews").await.expect(200);
    let review = &list["items"][0];
    assert_eq!(
        (&review["sellerId"], &review["fields"][0]["name"], review["fields"].as_array().unwrap().len()),
        (&seller["id"], &phone["name"], 1)
    );
    elsewhere.stop().await;
}

/// A processor that has asked for a telephone number and a picture, and judges what it is answered.
fn judging(said: &Said, verdict: &Value) -> Option<(u16, Value)> {
    let fields = json!([
        { "name": "owner.phoneNumber", "required": true }, { "name": "documents.SELFIE", "required": true },
    ]);
    let (status, mut answer) = asking(said, &fields, 1)?;
    if said.json()["asks"]["type"] == "review" {
        answer["seller"] = json!({ "reviewed": verdict });
    }
    Some((status, answer))
}

/// What it was told last about a seller by a question of a type.
fn told(elsewhere: &Elsewhere, asks: &str) -> Value {
    let told = elsewhere.all().into_iter().filter(|said| said.path == "/own/v1/sellers");
    let told: Vec<Value> = told.map(|said| said.json()).collect();
    let newest = told.iter().rfind(|told| told["asks"]["type"] == asks);
    newest.unwrap_or_else(|| panic!("no {asks}: {told:#?}")).clone()
}

async fn it_is_sent_files_and_judges_answers(app: TestApp) {
    let elsewhere = Elsewhere::start(|said| judging(said, &json!("pending"))).await;
    let app = app.reachable().await.with_adapters(Adapters::Real(elsewhere.address)).await;
    let merchant = app.merchant_with(json!([own(1)])).await;
    let seller = made(&app, &seller_body(&merchant, 1, "4929")).await;
    let registered = told(&elsewhere, "register");
    app.run_jobs().await;
    let review = app.get("/v1/sellers/registration-reviews").await.expect(200)["items"][0].clone();
    assert_eq!((&review["providerType"], &review["attempt"]), (&json!("PLATFORM"), &json!(1)));

    let picture = png();
    let upload =
        async || app.send(selfie(&picture.bytes).request_to(&app.client, Method::POST, DOCUMENTS)).await;
    let answer = async |phone: &str| {
        let file = upload().await.expect(201)["id"].clone();
        let values = json!({ "owner.phoneNumber": phone, "documents.SELFIE": file });
        let submitted = answered(&app, &review, &values).await;
        assert_eq!(submitted["status"], "submitted");
        app.run_jobs().await;
        (file, values)
    };
    let (file, values) = answer("21977777777").await;
    let sent = told(&elsewhere, "file");
    assert_eq!(
        (&sent["key"], &sent["details"]["sellerId"], &sent["asks"]),
        (
            &registered["key"],
            &seller["id"],
            &json!({ "type": "file", "kind": "SELFIE", "format": "png", "bytes": picture.bytes.len() })
        )
    );
    let expected = json!({ "id": file, "content": STANDARD.encode(&picture.bytes) });
    assert_eq!((&sent["details"]["file"], &sent["details"]["externalId"]), (&expected, &json!("re-1")));
    let sent = told(&elsewhere, "review");
    let expected = json!({ "key": uuid::Uuid::from_u128(1), "attempt": 1, "values": values });
    assert_eq!((&sent["key"], &sent["details"]["answer"]), (&registered["key"], &expected));
    assert_eq!(now(&app, &review).await["status"], "submitted");

    // It has looked at the answer, does not take it, and waits for another one.
    let refused = json!({ "refused": { "rejections": [{ "field": "documents.SELFIE", "message": "it is blurred" }],
        "deadline_at": "2026-04-22T15:12:38.379Z" } });
    elsewhere.answers(move |said| judging(said, &refused));
    app.later(Duration::from_secs(25 * 60 * 60)).await;
    let again = now(&app, &review).await;
    assert_eq!((&again["status"], &again["attempt"]), (&json!("open"), &json!(2)), "{again:#}");
    assert_eq!(again["rejections"], json!([{ "field": "documents.SELFIE", "message": "it is blurred" }]));

    elsewhere.answers(|said| judging(said, &json!("accepted")));
    let (_, values) = answer("21966666666").await;
    app.later(Duration::from_secs(25 * 60 * 60)).await;
    let expected = json!({ "key": uuid::Uuid::from_u128(1), "attempt": 2, "values": values });
    assert_eq!(told(&elsewhere, "review")["details"]["answer"], expected);
    assert_eq!(now(&app, &review).await["status"], "approved");
    assert_eq!(read(&app, &seller).await["owner"]["phoneNumber"], "21966666666");
    elsewhere.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_gives_it_the_code_that_his_callers_know() {
    let folder = tempfile::tempdir().unwrap();
    let named = ["--set", "own_provider.code=MY_PAY", "--set", "log.level=error"];
    let service = Server::start(folder.path(), &named).await;
    let provider =
        |code: &str| json!({ "name": "Own", "priority": 1, "credentials": { "type": code, "apiKey": "k" } });
    let body = json!({ "mcc": "5812", "providers": [provider("MY_PAY"), provider("PLATFORM")] });
    let merchant: Value = service.post("/v1/merchants", &body).send().await.unwrap().json().await.unwrap();
    for index in 0..2 {
        assert_eq!(merchant["providers"][index]["credentials"]["type"], "MY_PAY", "{merchant}");
    }
    let id = text(&merchant["id"]);
    let charge = service.post("/v1/charges", &charge_body(id, APPROVED)).send().await.unwrap();
    let charge: Value = charge.json().await.unwrap();
    assert_eq!((&charge["responsibleProviderType"], asked(&charge)), (&json!("MY_PAY"), vec!["MY_PAY"]));
    for code in ["MY_PAY", "PLATFORM"] {
        let found = service.get(&format!("/v1/charges?providerType={code}")).send().await.unwrap();
        assert_eq!(found.json::<Value>().await.unwrap()["meta"]["totalItems"], 1);
    }
    service.stop().await;
    // Records do not have the code: another one, or none, is shown from now on.
    let service = Server::start(folder.path(), &["--set", "log.level=error"]).await;
    let path = format!("/v1/charges/{}", text(&charge["id"]));
    let charge: Value = service.get(&path).send().await.unwrap().json().await.unwrap();
    assert_eq!(charge["responsibleProviderType"], "PLATFORM");
    service.stop().await;
    for wrong in ["STRIPE", "my-pay", ""] {
        let setting = format!("own_provider.code={wrong}");
        let ran = run_on(folder.path(), &["config", "--set", &setting]).await;
        assert!(ran.stderr.contains("own_provider.code") || wrong.is_empty(), "{wrong}: {}", ran.stderr);
    }
}
