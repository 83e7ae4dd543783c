//! Reviews of registrations: opened, answered, judged, and what becomes of a seller that does not answer.

use std::time::Duration;

use axum::http::Method;
use regente_providers::staged::Staged;
use regente_store::{args, audit, registration_reviews, sql};
use serde_json::{Value, json};

use super::registrations::{links, staged};
use crate::support::app::{ADDRESS, TestApp, stories};
use crate::support::charges::single_merchant;
use crate::support::forms::{Form, png};
use crate::support::providers::sandbox;
use crate::support::read::text;
use crate::support::receiver::Receiver;
use crate::support::reviews::{answered, now, opened, place, try_answer};
use crate::support::sellers::{
    DOCUMENTS, changed, company_body, complete_body, made, path, read, selfie, seller_body,
};
use crate::support::splits::divided;
use crate::support::webhooks::webhook;

stories! {
    an_approved_answer_becomes_the_sellers_data,
    a_seller_that_does_not_answer_is_blocked_until_it_does,
    an_answer_has_what_is_asked_for_and_nothing_else,
    an_answer_is_judged_like_a_change_of_the_seller,
    every_member_of_a_seller_can_be_asked_for,
    a_document_of_another_seller_is_no_answer,
    every_answer_leaves_its_trace,
    a_seller_is_asked_again_after_it_has_changed,
    a_provider_asks_by_itself_and_a_deleted_seller_is_asked_no_more,
    a_provider_asks_and_asks_no_more,
}

sql! {
    COUNT_KEPT_ANSWERS = "
        SELECT COUNT(*) AS n FROM registration_reviews WHERE client_id = :client_id AND answer IS NOT NULL";
}

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const REVIEWS: &str = "/v1/sellers/registration-reviews";

/// How many answers are stored.
pub(super) async fn kept_answers(app: &TestApp) -> u64 {
    let client_id = app.client_id();
    app.app.store.row(&COUNT_KEPT_ANSWERS, args! { client_id }).await.unwrap().unwrap().get("n").unwrap()
}

/// A webhook for each event of sellers but those of their registration.
async fn listening(app: &TestApp) -> Receiver {
    let receiver = Receiver::start().await;
    for event in ["opened", "reminder", "submitted", "approved", "rejected", "expired", "canceled"] {
        webhook(app, &receiver, &format!("seller.registration_review.{event}"), "/").await;
    }
    webhook(app, &receiver, "seller.blocked", "/").await;
    receiver
}

/// The words of the events since the last look, by the alphabet.
fn news(receiver: &Receiver, seen: &mut usize) -> Vec<String> {
    let all = receiver.events();
    let mut new: Vec<_> =
        all[*seen..].iter().map(|name| name.rsplit('.').next().unwrap().to_owned()).collect();
    *seen = all.len();
    new.sort();
    new
}

async fn an_approved_answer_becomes_the_sellers_data(app: TestApp) {
    let app = app.reachable().await;
    let (receiver, mut seen) = (listening(&app).await, 0);
    let seller = made(&app, &company_body(&single_merchant(&app).await)).await;
    let by_default =
        app.post(&format!("{}/registration-reviews", path(&seller)), &json!({})).await.expect(201);
    let link = text(&by_default["answerLink"]).to_owned();
    assert!(link.starts_with(&format!("{ADDRESS}/registration-reviews/")), "{link}");
    let field = |name: &str, kind: &str, label: &str| json!({ "name": name, "type": kind, "format": null, "enum": null, "required": true, "label": label });
    let expected = json!({
        "id": by_default["id"], "sellerId": seller["id"], "merchantId": seller["merchantId"],
        "clientId": app.client.id, "providerType": "SANDBOX", "status": "open", "reason": "periodic_update",
        "deadlineAt": "2026-04-22T15:12:38.379Z",
        "fields": [
            field("owner.phoneNumber", "string", "Phone"),
            field("owner.monthlyIncome", "number", "Monthly income"),
        ],
        "attempt": 1, "openedAt": by_default["openedAt"], "submittedAt": null, "concludedAt": null, "rejections": [],
        "createdAt": by_default["openedAt"], "updatedAt": by_default["openedAt"], "answerLink": link,
    });
    assert_eq!(by_default, expected);

    let fields = ["owner.phoneNumber", "owner.address.street", "business.name", "documents.SELFIE"];
    let review = opened(&app, &seller, &fields, 10).await;
    let upload = selfie(&png().bytes).request_to(&app.client, Method::POST, DOCUMENTS);
    let file = app.send(upload).await.expect(201);
    let data = json!({
        "owner.phoneNumber": "21977777777", "owner.address.street": "Rua Nova", "business.name": "CHECKED",
        "documents.SELFIE": file["id"],
    });
    let submitted = answered(&app, &review, &data).await;
    assert_eq!(
        (&submitted["status"], &submitted["submittedAt"]),
        (&json!("submitted"), &submitted["updatedAt"])
    );
    assert_eq!(try_answer(&app, &review, &data).await.details(409), ["registration_review_invalid_state"]);
    app.run_jobs().await;
    // The simulator checks for an hour; meanwhile nothing changes.
    assert_eq!((&now(&app, &review).await["status"], kept_answers(&app).await), (&json!("submitted"), 1));
    assert_eq!(read(&app, &seller).await["owner"]["phoneNumber"], "21988899909");
    app.later(2 * HOUR).await;
    let approved = now(&app, &review).await;
    assert_eq!((&approved["status"], kept_answers(&app).await), (&json!("approved"), 0));
    assert_eq!(approved["concludedAt"], approved["updatedAt"]);
    let after = read(&app, &seller).await;
    assert_eq!(
        (&after["owner"]["phoneNumber"], &after["owner"]["address"]["street"], &after["business"]["name"]),
        (&json!("21977777777"), &json!("Rua Nova"), &json!("CHECKED"))
    );
    assert_eq!(after["owner"]["email"], seller["owner"]["email"]);
    assert_eq!(app.get(&format!("{DOCUMENTS}/{}", text(&file["id"]))).await.expect(200)["status"], "sent");
    assert_eq!(news(&receiver, &mut seen), ["approved", "opened", "opened", "submitted"]);

    // Nothing personal is in an event.
    for got in receiver.received() {
        let body = got.json();
        let seller = json!({ "id": seller["id"], "merchantId": seller["merchantId"], "status": "active" });
        assert_eq!(body["data"]["seller"], seller);
        let text = body.to_string();
        for secret in ["2197777", "Rua Nova", "CHECKED", "Rita", &link] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }

    let listed = async |query: &str| app.get(&format!("{REVIEWS}{query}")).await.expect(200)["items"].clone();
    let (open, done) = (now(&app, &by_default).await, approved);
    for (query, found) in [
        (String::new(), json!([done, open])),
        ("?sort=asc".to_owned(), json!([open, done])),
        ("?status=approved,expired".to_owned(), json!([done])),
        (format!("?merchantId={}", text(&seller["merchantId"])), json!([done, open])),
        (format!("?sellerId={}", app.client.id), json!([])),
        ("?deadline.lt=2026-04-22".to_owned(), json!([done])),
    ] {
        assert_eq!(listed(&query).await, found, "{query}");
    }
    let of_seller = app.get(&format!("{}/registration-reviews?limit=1", path(&seller))).await.expect(200);
    assert_eq!((&of_seller["items"], &of_seller["meta"]["totalItems"]), (&json!([done]), &json!(2)));
}

async fn a_seller_that_does_not_answer_is_blocked_until_it_does(app: TestApp) {
    let (receiver, mut seen) = (listening(&app).await, 0);
    let merchant = single_merchant(&app).await;
    let seller = made(&app, &seller_body(&merchant)).await;
    let review = opened(&app, &seller, &["owner.professionalOccupation"], 10).await;
    for (days, status, events) in [
        (2, "active", vec!["opened"]),
        (2, "active", vec!["reminder"]),
        (4, "active", vec!["reminder"]),
        (1, "active", vec!["reminder"]),
        (1, "blocked", vec!["blocked", "expired"]),
    ] {
        app.later(DAY * days).await;
        assert_eq!(news(&receiver, &mut seen), events);
        assert_eq!(read(&app, &seller).await["status"], status);
    }
    assert_eq!(now(&app, &review).await["status"], "expired");
    // The provider says every day that the seller is active; the block stays, and no charge gives it a part.
    app.later(3 * DAY).await;
    let blocked = read(&app, &seller).await;
    assert_eq!((&blocked["status"], &blocked["providers"]["status"]), (&json!("blocked"), &json!("blocked")));
    assert_eq!(blocked["providers"]["externalStatus"], "active");
    let charge = divided(&merchant, 1000, &json!([{ "sellerId": seller["id"], "percentage": 10 }]));
    let refused = app.post("/v1/charges", &charge).await.expect(400);
    assert_eq!(
        (&refused["error"]["type"], &refused["error"]["details"]),
        (&json!("invalid_request_error"), &json!([format!("seller {} is blocked", text(&seller["id"]))]))
    );
    assert_eq!(app.get("/v1/charges").await.expect(200)["meta"]["totalItems"], 0);

    // A late answer is refused with further time, and again with none; the block stays.
    let say = |word: &str| json!({ "owner.professionalOccupation": word });
    answered(&app, &review, &say("REFUSED ONCE")).await;
    app.run_jobs().await;
    let open = now(&app, &review).await;
    assert_eq!((&open["status"], &open["attempt"]), (&json!("open"), &json!(2)));
    assert_eq!(
        open["rejections"],
        json!([{ "field": "owner.professionalOccupation", "message": "could not be confirmed" }])
    );
    assert_eq!(news(&receiver, &mut seen), ["rejected", "submitted"]);
    // The provider's own words repeat nothing of the answer.
    let mut told = receiver.received().into_iter().map(|got| got.json());
    let told = told.rfind(|event| event["event"] == "registration_review.rejected").unwrap();
    assert_eq!(told["data"]["registrationReview"]["rejections"], open["rejections"]);
    answered(&app, &review, &say("REFUSED")).await;
    app.run_jobs().await;
    let rejected = now(&app, &review).await;
    assert_eq!((&rejected["status"], &rejected["attempt"]), (&json!("rejected"), &json!(3)));
    assert_eq!(
        try_answer(&app, &review, &say("x")).await.details(409),
        ["registration_review_invalid_state"]
    );
    app.later(8 * DAY).await;
    assert_eq!(now(&app, &review).await["status"], "expired");
    assert_eq!(news(&receiver, &mut seen), ["expired", "rejected", "submitted"]);
    assert_eq!(read(&app, &seller).await["status"], "blocked");

    // Two reviews hold it; the approval of one does not release it.
    let second = opened(&app, &seller, &["owner.phoneNumber"], 1).await;
    app.later(DAY).await;
    answered(&app, &review, &say("baker")).await;
    app.run_jobs().await;
    assert_eq!(read(&app, &seller).await["status"], "blocked");
    answered(&app, &second, &json!({ "owner.phoneNumber": "21977777777" })).await;
    app.run_jobs().await;
    let released = read(&app, &seller).await;
    assert_eq!(
        (&released["status"], &released["owner"]["professionalOccupation"]),
        (&json!("active"), &json!("baker"))
    );
    let held = links(&app, &seller).await[0].held;
    assert_eq!(held, None);
    assert_eq!(app.post("/v1/charges", &charge).await.expect(201)["status"], "authorized");
}

async fn an_answer_has_what_is_asked_for_and_nothing_else(app: TestApp) {
    let seller = made(&app, &seller_body(&single_merchant(&app).await)).await;
    let fields =
        ["owner.phoneNumber", "owner.email", "owner.monthlyIncome", "owner.birthdate", "bankAccount.type"];
    let review = opened(&app, &seller, &fields, 10).await;
    let good = json!({
        "owner.phoneNumber": "1", "owner.email": "a@example.com", "owner.monthlyIncome": 10.5,
        "owner.birthdate": "1990-02-28", "bankAccount.type": "poupanca",
    });
    let with = |name: &str, value: Value| {
        let mut data = good.clone();
        data[name] = value;
        data
    };
    let empty = fields.map(|name| format!("data.{name} should not be empty"));
    let mut sorted = empty.to_vec();
    sorted.sort();
    let kinds = "conta_corrente, conta_poupanca, conta_corrente_conjunta, conta_poupanca_conjunta";
    let not_a_number = "data.owner.monthlyIncome must be a number conforming to the specified constraints";
    let cases = [
        (json!({}), sorted),
        (
            with("owner.phoneNumber", json!(" ")),
            vec!["data.owner.phoneNumber should not be empty".to_owned()],
        ),
        (with("owner.phoneNumber", json!(1)), vec!["data.owner.phoneNumber must be a string".to_owned()]),
        (with("owner.email", json!("a@b")), vec!["data.owner.email must be an email".to_owned()]),
        (with("owner.monthlyIncome", json!("10")), vec![not_a_number.to_owned()]),
        (
            with("owner.monthlyIncome", json!(-1)),
            vec!["data.owner.monthlyIncome must not be less than 0".to_owned()],
        ),
        (
            with("owner.birthdate", json!("1990-02-30")),
            vec!["data.owner.birthdate must be a valid ISO 8601 date string".to_owned()],
        ),
        (
            with("bankAccount.type", json!("wallet")),
            vec![format!("data.bankAccount.type must be one of the following values: {kinds}")],
        ),
        (with("owner.phone", json!("1")), vec!["data.owner.phone is not asked for".to_owned()]),
    ];
    for (data, problems) in cases {
        let mut details = try_answer(&app, &review, &data).await.details(400);
        details.sort();
        assert_eq!(details, problems, "{data}");
    }
    let at = app.clock.deployment();
    let path_of_answer = format!("{}/answer", place(&review));
    for (collected_at, declaration, problem) in [
        (at - HOUR, true, "collectedAt must not be before the review was opened"),
        (at + HOUR, true, "collectedAt must not be in the future"),
        (at, false, "declaration must be true"),
    ] {
        let body = json!({ "data": good, "collectedAt": collected_at, "declaration": declaration });
        assert_eq!(app.post(&path_of_answer, &body).await.details(400), [problem]);
    }
    // A file must be there.
    let of_file = opened(&app, &seller, &["documents.SELFIE"], 10).await;
    let reply = try_answer(&app, &of_file, &json!({ "documents.SELFIE": seller["id"] })).await;
    assert_eq!(reply.expect(400)["error"]["type"], "invalid_request_error");
    let open = format!("{}/registration-reviews", path(&seller));
    let wrong = json!({ "fields": ["owner.shoeSize"], "deadlineAt": at });
    assert_eq!(
        app.post(&open, &wrong).await.details(400),
        ["fields[0] must be a field that reviews ask for", "deadlineAt must be in the future"]
    );
    // A person is not asked for what a company has, and cannot answer it for one that it no longer stands for.
    let rule = "must not be that of a company: the seller is a person";
    let wrong = json!({ "fields": ["owner.name", "business.name"] });
    assert_eq!(app.post(&open, &wrong).await.details(400), [format!("fields[1] {rule}")]);
    let company = made(&app, &company_body(&single_merchant(&app).await)).await;
    let of_company = opened(&app, &company, &["business.name"], 10).await;
    changed(&app, &company, &json!({ "business": null })).await;
    let reply = try_answer(&app, &of_company, &json!({ "business.name": "Loja" })).await;
    assert_eq!(reply.details(400), [format!("data.business.name {rule}")]);
    assert_eq!(kept_answers(&app).await, 0);
    answered(&app, &review, &good).await;
}

async fn an_answer_is_judged_like_a_change_of_the_seller(app: TestApp) {
    let seller = made(&app, &seller_body(&single_merchant(&app).await)).await;
    let not_a_number = "must be a number conforming to the specified constraints";
    for (name, wrong, rule, right) in [
        ("owner.monthlyIncome", json!(10.555), not_a_number, json!(10.55)),
        ("owner.email", json!("r.@-x.y."), "must be an email", json!("r@x.y")),
        ("owner.email", json!("a b@example.com"), "must be an email", json!("ab@example.com")),
        (
            "owner.email",
            json!(format!("{}@example.com", "a".repeat(250))),
            "must be shorter than or equal to 254 characters",
            json!("a@example.com"),
        ),
        ("bankAccount.ispb", json!("1234567x"), "must have 8 digits", json!("12345678")),
        ("transferPolicy.transferDay", json!(32), "must not be greater than 31", json!(31)),
    ] {
        let review = opened(&app, &seller, &[name], 10).await;
        let refused = try_answer(&app, &review, &json!({ (name): wrong })).await;
        assert_eq!(refused.details(400), [format!("data.{name} {rule}")]);
        let (object, member) = name.split_once('.').unwrap();
        let change = json!({ (object): { (member): wrong } });
        assert_eq!(app.patch(&path(&seller), &change).await.details(400), [format!("{name} {rule}")]);
        answered(&app, &review, &json!({ (name): right })).await;
        app.run_jobs().await;
        assert_eq!(now(&app, &review).await["status"], "approved");
        let after = changed(&app, &seller, &json!({ "liable": true })).await;
        assert_eq!(after[object][member], right);
    }
}

/// The members of an object by their paths, without those of its arrays.
fn leaves(path: &str, value: &Value, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                leaves(&format!("{path}.{name}"), value, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            found.push((path.to_owned(), value.clone()));
        }
    }
}

async fn every_member_of_a_seller_can_be_asked_for(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let mut body = complete_body(&merchant);
    for name in ["documentIds", "planId", "createAsync"] {
        body.as_object_mut().unwrap().remove(name);
    }
    let seller = made(&app, &body).await;
    let mut values = Vec::new();
    for part in ["owner", "business", "bankAccount", "transferPolicy"] {
        leaves(part, &body[part], &mut values);
    }
    // What a text may be empty cannot be answered with nothing.
    values.retain(|(_, value)| *value != "");
    let mut data: serde_json::Map<String, Value> = values.into_iter().collect();
    data.insert("owner.name".to_owned(), json!("Rita Souza"));
    data.insert("business.address.referencePoint".to_owned(), json!("at the corner"));
    for kind in ["SELFIE", "CNH_FULL", "CNH_FRONT", "CNH_BACK", "RG_FRONT", "RG_BACK"] {
        let form = Form::of(&[("type", kind)]).with_upload("file", "a", &png().bytes);
        let file = app.send(form.request_to(&app.client, Method::POST, DOCUMENTS)).await.expect(201);
        data.insert(format!("documents.{kind}"), file["id"].clone());
    }
    let names: Vec<&str> = data.keys().map(String::as_str).collect();
    let review = opened(&app, &seller, &names, 10).await;
    for field in review["fields"].as_array().unwrap() {
        assert!(field["type"].is_string() && field["label"] != field["name"], "{field}");
    }
    answered(&app, &review, &Value::Object(data)).await;
    app.run_jobs().await;
    assert_eq!(now(&app, &review).await["status"], "approved");
    let after = read(&app, &seller).await;
    assert_eq!(after["owner"]["name"], "Rita Souza");
    assert_eq!(after["business"]["document"]["number"], seller["business"]["document"]["number"]);
    changed(&app, &seller, &json!({ "liable": true })).await;
    let texts = ["anticipatableVolumePercentage", "automaticAnticipationType", "automaticAnticipationDays"];
    let rest = texts.map(|name| format!("transferPolicy.{name}"));
    opened(&app, &seller, &rest.each_ref().map(String::as_str), 10).await;
}

async fn a_document_of_another_seller_is_no_answer(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let seller = made(&app, &seller_body(&merchant)).await;
    let mut other = seller_body(&merchant);
    other["owner"]["document"]["number"] = json!("15350946056");
    made(&app, &other).await;
    let review = opened(&app, &seller, &["owner.document.number"], 10).await;
    let conflict = ["seller with this document already exists"];
    let taken = json!({ "owner.document.number": "15350946056" });
    assert_eq!(try_answer(&app, &review, &taken).await.details(409), conflict);

    // One that somebody takes while the provider checks the answer stays with them.
    let name = "owner.professionalOccupation";
    let review = opened(&app, &seller, &["owner.document.number", name], 10).await;
    answered(&app, &review, &json!({ "owner.document.number": "52998224725", (name): "CHECKED" })).await;
    app.run_jobs().await;
    let mut third = seller_body(&merchant);
    third["owner"]["document"]["number"] = json!("52998224725");
    made(&app, &third).await;
    app.later(2 * HOUR).await;
    assert_eq!(now(&app, &review).await["status"], "approved");
    assert_eq!(read(&app, &seller).await["owner"]["document"]["number"], "36243319067");
}

async fn every_answer_leaves_its_trace(app: TestApp) {
    let seller = made(&app, &seller_body(&single_merchant(&app).await)).await;
    let review = opened(&app, &seller, &["owner.phoneNumber"], 10).await;
    for word in ["REFUSED ONCE", "REFUSED ONCE", "21977777777"] {
        app.later(HOUR).await;
        answered(&app, &review, &json!({ "owner.phoneNumber": word })).await;
        app.run_jobs().await;
    }
    assert_eq!(now(&app, &review).await["attempt"], 3);
    let (client_id, id) = (app.client_id(), text(&review["id"]));
    let stored = registration_reviews::find(&app.app.store, client_id, id.parse().unwrap()).await.unwrap();
    let review = stored.unwrap().0;
    let all: Vec<_> = review.answered_before.iter().chain(&review.answered).collect();
    assert_eq!(all.len(), 3);
    assert!(all.is_sorted_by(|before, after| before.collected_at < after.collected_at), "{all:?}");
    let entries = audit::of_object(&app.app.store, client_id, id.parse().unwrap(), 10).await.unwrap();
    let answers = entries.iter().filter(|entry| entry.action == "registration_review.answered");
    assert_eq!(answers.count(), 3);
}

async fn a_seller_is_asked_again_after_it_has_changed(app: TestApp) {
    let mut provider = sandbox("Asking", 1);
    provider["options"] = json!({ "type": "SANDBOX", "sandboxReviewEveryDays": 20 });
    let seller = made(&app, &seller_body(&app.merchant_with(json!([provider])).await)).await;
    app.later(22 * DAY).await;
    assert_eq!(app.get(REVIEWS).await.expect(200)["meta"]["totalItems"], 1);
    changed(&app, &seller, &json!({ "bankAccount": { "accountNumber": "1000002" } })).await;
    app.later(20 * DAY).await;
    assert_eq!(app.get(REVIEWS).await.expect(200)["meta"]["totalItems"], 2, "40 days after its registration");
}

async fn a_provider_asks_by_itself_and_a_deleted_seller_is_asked_no_more(app: TestApp) {
    let (receiver, mut seen) = (listening(&app).await, 0);
    let mut provider = sandbox("Asking", 1);
    provider["options"] = json!({ "type": "SANDBOX", "sandboxReviewEveryDays": 20 });
    let merchant = app.merchant_with(json!([provider])).await;
    let seller = made(&app, &seller_body(&merchant)).await;
    app.later(19 * DAY).await;
    assert_eq!(app.get(REVIEWS).await.expect(200)["meta"]["totalItems"], 0);
    app.later(3 * DAY).await;
    let reviews = app.get(REVIEWS).await.expect(200);
    assert_eq!((&reviews["meta"]["totalItems"], &reviews["items"][0]["status"]), (&json!(1), &json!("open")));
    assert_eq!(reviews["items"][0]["deadlineAt"], "2026-05-12T15:12:38.379Z");
    assert_eq!(news(&receiver, &mut seen), ["opened"]);
    changed(&app, &seller, &json!({ "statusReason": "moves" })).await;

    let body = json!({ "merchantId": merchant });
    app.call(&app.client, Method::DELETE, &path(&seller), &[], Some(&body)).await.expect(204);
    app.run_jobs().await;
    assert_eq!(news(&receiver, &mut seen), ["canceled"]);
    let canceled = now(&app, &reviews["items"][0]).await;
    assert_eq!((&canceled["status"], &canceled["concludedAt"]), (&json!("canceled"), &canceled["updatedAt"]));
    app.later(60 * DAY).await;
    assert_eq!(news(&receiver, &mut seen), [""; 0]);
}

async fn a_provider_asks_and_asks_no_more(app: TestApp) {
    let app = app.reachable().await;
    let (receiver, mut seen) = (listening(&app).await, 0);
    let merchant = single_merchant(&app).await;
    let seller = made(&app, &seller_body(&merchant)).await;
    for (what, days, events, status) in [
        (Staged::ReviewOpened, 0, vec!["opened"], "active"),
        (Staged::ReviewWithdrawn, 31, vec!["canceled"], "active"),
        (
            Staged::ReviewOpened,
            31,
            vec!["blocked", "expired", "opened", "reminder", "reminder", "reminder"],
            "blocked",
        ),
        (Staged::ReviewWithdrawn, 1, vec!["canceled"], "active"),
    ] {
        app.later(HOUR).await;
        staged(&app, &seller, what).await;
        for notice in app.wire.notices() {
            app.deliver(&notice).await.expect(200);
        }
        app.run_jobs().await;
        app.later(DAY * days).await;
        assert_eq!(
            (news(&receiver, &mut seen), read(&app, &seller).await["status"].clone()),
            (events.iter().map(ToString::to_string).collect(), json!(status))
        );
    }
    // A provider goes with its merchant; its review does too.
    let review = opened(&app, &seller, &["owner.phoneNumber"], 10).await;
    app.delete(&format!("/v1/merchants/{merchant}")).await.expect(204);
    app.later(DAY * 4).await;
    assert_eq!(now(&app, &review).await["status"], "canceled");
    assert_eq!(news(&receiver, &mut seen), ["canceled", "opened"]);
}
