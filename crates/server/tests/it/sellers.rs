//! Sellers: who receives parts of charges (`docs/interface/sellers.md`).

mod crashes;
pub mod documents;
mod registrations;
mod review_page;
pub mod reviews;

use axum::http::Method;
use regente_store::{args, sql};
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::charges::single_merchant;
use crate::support::providers::sandbox;
use crate::support::read::text;
use crate::support::records::put;
use crate::support::sellers::{SELLERS, changed, company_body, made, path, put_at, read, seller_body};

stories! {
    a_new_seller_is_answered_as_pending_and_active_at_the_next_look,
    a_company_is_shown_with_everything_that_was_sent,
    a_seller_is_found_by_what_it_is_searched_for,
    a_change_is_merged_into_what_is_there,
    a_status_is_set_by_hand_and_follows_from_the_providers_otherwise,
    every_wrong_field_is_named,
    a_bank_is_named_in_one_way_at_least,
    a_document_is_taken_once_at_a_merchant,
    a_deleted_seller_is_gone,
    a_key_gets_its_answer_again,
}

sql! {
    COUNT_REASONS = "
        SELECT COUNT(*) AS n FROM sellers WHERE client_id = :client_id AND CAST(doc AS TEXT) LIKE '%is ill%'";
    COUNT_TOLD_REASONS = "
        SELECT COUNT(*) AS n FROM events WHERE client_id = :client_id AND snapshot LIKE '%is ill%'";
}

/// A record without its id and times.
fn bare(record: &Value) -> Value {
    let mut bare = record.clone();
    if let Value::Object(members) = &mut bare {
        for name in ["id", "createdAt", "updatedAt"] {
            assert!(members.remove(name).is_some(), "{name} of {record:#}");
        }
    }
    bare
}

async fn a_new_seller_is_answered_as_pending_and_active_at_the_next_look(app: TestApp) {
    let mut answered = app.post(SELLERS, &seller_body(&single_merchant(&app).await)).await.expect(201);
    let link = &answered["providers"];
    assert_eq!(
        (&answered["status"], &link["status"], &link["externalStatus"]),
        (&json!("pending"), &json!("pending"), &json!("active"))
    );
    assert!(link["externalId"].is_string(), "{link}");
    for pointer in ["/status", "/providers/status"] {
        *answered.pointer_mut(pointer).unwrap() = json!("active");
    }
    assert_eq!(read(&app, &answered).await, answered, "nothing else changes");
}

async fn a_company_is_shown_with_everything_that_was_sent(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let body = company_body(&merchant);
    let seller = made(&app, &body).await;
    let mut owner = bare(&seller["owner"]);
    owner["address"] = bare(&owner["address"]);
    owner["document"] = bare(&owner["document"]);
    let mut expected = body["owner"].clone();
    expected["birthdate"] = json!("1995-01-27T00:00:00.000Z");
    expected["address"].as_object_mut().unwrap().remove("referencePoint");
    assert_eq!(owner, expected);

    let mut business = bare(&seller["business"]);
    business["address"] = bare(&business["address"]);
    business["document"] = bare(&business["document"]);
    let mut expected = body["business"].clone();
    expected["facebook"] = Value::Null;
    expected["twitter"] = Value::Null;
    expected["address"]["complement"] = Value::Null;
    assert_eq!(business, expected);

    let mut account = body["bankAccount"].clone();
    account["ispb"] = Value::Null;
    assert_eq!(bare(&seller["bankAccount"]), account);
    assert_eq!(bare(&seller["transferPolicy"]), body["transferPolicy"]);
    let link = &seller["providers"];
    let provider = app.get(&format!("/v1/merchants/{merchant}")).await.expect(200)["providers"][0].clone();
    let expected = json!({
        "id": provider["id"], "providerType": "SANDBOX", "externalId": link["externalId"], "externalStatus": "active",
        "externalStatusReason": "ok", "status": "active", "createdAt": link["createdAt"],
        "updatedAt": link["updatedAt"],
    });
    assert_eq!(*link, expected);
    let mut rest = bare(&seller);
    for name in ["owner", "business", "bankAccount", "transferPolicy", "providers"] {
        rest.as_object_mut().unwrap().remove(name);
    }
    let expected = json!({
        "merchantId": merchant, "clientid": app.client.id, "clientId": app.client.id,
        "metadata": body["metadata"], "mcc": 5651, "status": "active", "planId": null, "salesPlanId": "plan-1",
        "processingFee": true, "liable": false, "fareMdr": 2.25, "fareFee": 100,
    });
    assert_eq!(rest, expected);
    assert_eq!(read(&app, &seller).await, seller);

    let mut lenient = seller_body(&single_merchant(&app).await);
    lenient["mcc"] = json!("0742");
    lenient["owner"]["birthdate"] = json!("27-01-1995");
    lenient["bankAccount"]["type"] = json!("poupanca");
    lenient["bankAccount"]["holderType"] = json!("individual");
    lenient["transferPolicy"] = json!({ "transferDay": "5", "transferInterval": "weekly" });
    let person = made(&app, &lenient).await;
    assert_eq!(
        (&person["mcc"], &person["business"], &person["metadata"]),
        (&json!(742), &json!(null), &json!(null))
    );
    assert_eq!(person["owner"]["birthdate"], "1995-01-27T00:00:00.000Z");
    // What is shown is taken back.
    let same = changed(&app, &person, &json!({ "owner": person["owner"] })).await;
    assert_eq!(same, person);
    assert_eq!(person["bankAccount"]["type"], "conta_poupanca");
    assert_eq!(person["transferPolicy"]["transferDay"], "5");
}

async fn a_seller_is_found_by_what_it_is_searched_for(app: TestApp) {
    let (one, other) = (single_merchant(&app).await, single_merchant(&app).await);
    let company = made(&app, &company_body(&one)).await;
    let mut body = seller_body(&other);
    body["owner"]["email"] = json!("other@example.com");
    body["bankAccount"]["accountNumber"] = json!("1000003");
    let person = made(&app, &body).await;
    let ids = |found: &Value| {
        let items = found["items"].as_array().unwrap();
        items.iter().map(|seller| text(&seller["id"]).to_owned()).collect::<Vec<_>>()
    };
    let (company_id, person_id) = (text(&company["id"]), text(&person["id"]));
    let found = [
        (String::new(), vec![person_id, company_id]),
        ("?sort=ASC".to_owned(), vec![company_id, person_id]),
        ("?limit=1&page=2".to_owned(), vec![company_id]),
        (format!("?id={person_id}"), vec![person_id]),
        (format!("?merchantId={one}"), vec![company_id]),
        ("?status=active".to_owned(), vec![company_id]),
        ("?status=active,inactive".to_owned(), vec![person_id, company_id]),
        ("?status=blocked".to_owned(), vec![]),
        ("?email=RITA@example.com".to_owned(), vec![company_id]),
        ("?email=store@example.com".to_owned(), vec![company_id]),
        ("?email=other@example.com".to_owned(), vec![person_id]),
        ("?businessName=A%20STO".to_owned(), vec![company_id]),
        ("?businessName=a%25s".to_owned(), vec![]),
        ("?businessName=rita&status=inactive".to_owned(), vec![]),
    ];
    for (query, expected) in found {
        assert_eq!(ids(&app.get(&format!("{SELLERS}{query}")).await.expect(200)), expected, "{query}");
    }
    let page = app.get(&format!("{SELLERS}?limit=1")).await.expect(200);
    let meta =
        json!({ "totalItems": 2, "itemCount": 1, "itemsPerPage": 1, "totalPages": 2, "currentPage": 1 });
    assert_eq!(page["meta"], meta);
    let mut listed = person.clone();
    listed["providers"] = json!([person["providers"]]);
    assert_eq!(page["items"][0], listed, "a list shows whole sellers, with all providers");
    for wrong in ["status=gone", "id=1", "email=rita", "businessName=ab", "limit=0", "sort=up"] {
        assert_eq!(app.get(&format!("{SELLERS}?{wrong}")).await.status, 400, "{wrong}");
    }

    let stranger = app.another_client().await;
    let theirs = app.call(&stranger, Method::GET, SELLERS, &[], None).await.expect(200);
    assert_eq!(theirs["meta"]["totalItems"], 0);
    let merchant = json!({ "merchantId": one });
    for (method, body) in [
        (Method::GET, None),
        (Method::PATCH, Some(json!({ "liable": true }))),
        (Method::DELETE, Some(merchant.clone())),
    ] {
        let reply = app.call(&stranger, method, &path(&company), &[], body.as_ref()).await;
        assert_eq!(reply.status, 404);
    }
    let reply = app.call(&stranger, Method::POST, SELLERS, &[], Some(&seller_body(&one))).await;
    assert_eq!(reply.details(400), ["merchantId was not found"]);
}

async fn a_change_is_merged_into_what_is_there(app: TestApp) {
    let seller = made(&app, &company_body(&single_merchant(&app).await)).await;
    let swap = json!({ "bankAccount": { "bank": null, "ispb": "60746948" } });
    let swapped = changed(&app, &seller, &swap).await;
    let mut expected = seller["bankAccount"].clone();
    expected["bank"] = Value::Null;
    expected["ispb"] = json!("60746948");
    expected["updatedAt"] = swapped["bankAccount"]["updatedAt"].clone();
    assert_eq!(swapped["bankAccount"], expected);
    for part in ["owner", "business", "transferPolicy", "metadata", "mcc", "fareMdr"] {
        assert_eq!(swapped[part], seller[part], "{part} stays, with its times");
    }
    let change = json!({
        "owner": { "address": { "city": "Niteroi" } }, "business": null, "metadata": null, "fareMdr": null,
        "mcc": "5812", "merchantId": seller["merchantId"],
    });
    let after = changed(&app, &seller, &change).await;
    assert_eq!(
        (&after["owner"]["address"]["city"], &after["owner"]["name"]),
        (&json!("Niteroi"), &json!("Rita Lima"))
    );
    assert_eq!(after["owner"]["address"]["id"], seller["owner"]["address"]["id"]);
    assert_eq!(
        (&after["business"], &after["metadata"], &after["mcc"]),
        (&json!(null), &json!(null), &json!(5812))
    );
    assert_eq!(after.get("fareMdr"), None);
    assert_eq!(read(&app, &seller).await, after);
    let again = changed(&app, &seller, &change).await;
    assert_eq!(again, after, "what changes nothing changes no time");
    let refused = [
        (json!({ "owner": null }), "owner should not be empty"),
        (json!({ "owner": { "email": null } }), "owner.email should not be empty"),
        (json!({ "business": { "name": "New" } }), "business.phoneNumber should not be empty"),
        (json!({ "merchantId": single_merchant(&app).await }), "merchantId cannot be changed"),
        (json!({ "planId": seller["merchantId"] }), "planId was not found"),
        (json!({ "documentIds": [app.client.id] }), "documentIds[0] was not found"),
    ];
    for (change, detail) in refused {
        let details = app.patch(&path(&seller), &change).await.details(400);
        assert!(details.contains(&detail.to_owned()), "{details:?}");
    }
    assert_eq!(read(&app, &seller).await, after);
}

async fn a_status_is_set_by_hand_and_follows_from_the_providers_otherwise(app: TestApp) {
    let seller = made(&app, &seller_body(&single_merchant(&app).await)).await;
    let off = json!({ "status": "inactive", "statusReason": "on leave", "reasonType": "funds" });
    let after = changed(&app, &seller, &off).await;
    assert_eq!((&after["status"], &after["statusReason"]), (&json!("inactive"), &json!("on leave")));
    assert_eq!((&after["reasonType"], &after["providers"]["status"]), (&json!("funds"), &json!("active")));
    let renamed = changed(&app, &seller, &json!({ "owner": { "name": "Rita" } })).await;
    assert_eq!(renamed["status"], "inactive", "it stays off");
    let on = changed(&app, &seller, &json!({ "status": "active", "statusReason": null, "reasonType": null }))
        .await;
    assert_eq!((&on["status"], on.get("statusReason"), on.get("reasonType")), (&json!("active"), None, None));
    for status in ["pending", "partial", "blocked"] {
        let reply = app.patch(&path(&seller), &json!({ "status": status })).await;
        assert_eq!(reply.json()["error"]["type"], "invalid_request_error");
        assert_eq!(reply.details(400), ["status must be one of the following values: active, inactive"]);
    }

    // (the numbers of the accounts decide at the simulator; one for all of the merchant's providers)
    for (account, status) in
        [("1000001", "pending"), ("1000003", "inactive"), ("1000004", "blocked"), ("1", "active")]
    {
        let change = json!({ "bankAccount": { "accountNumber": account } });
        assert_eq!(changed(&app, &seller, &change).await["status"], status);
    }
    for (part, name) in [("owner", "REJECTED Rita"), ("owner", "Rita Lima")] {
        let status = if name.contains("REJECT") { "inactive" } else { "active" };
        assert_eq!(changed(&app, &seller, &json!({ part: { "name": name } })).await["status"], status);
    }
    let mut refused = company_body(&single_merchant(&app).await);
    refused["business"]["name"] = json!("Loja REJECT");
    assert_eq!(made(&app, &refused).await["status"], "inactive");
    let mut other = sandbox("Other", 2);
    other["credentials"] = json!({ "type": "ZOOP", "marketplaceId": "m", "sellerId": "s", "apiKey": "k",
        "xApiKeyToken": "t", "privateKey": "p", "publicKey": "q" });
    let merchant = app.merchant_with(json!([other, sandbox("Main", 1)])).await;
    let partial = made(&app, &seller_body(&merchant)).await;
    assert_eq!(
        (&partial["status"], &partial["providers"]["providerType"]),
        (&json!("partial"), &json!("SANDBOX")),
        "the provider with the highest priority is shown"
    );
    let listed = app.get(&format!("{SELLERS}?merchantId={merchant}")).await.expect(200);
    let zoop = &listed["items"][0]["providers"][1];
    assert_eq!((&zoop["status"], &zoop["externalStatus"]), (&json!("inactive"), &json!("not_supported")));
}

fn put_in(merchant: &str, pointer: &str, value: Value) -> Value {
    let mut body = company_body(merchant);
    put_at(&mut body, pointer, value);
    body
}

async fn every_wrong_field_is_named(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let wrong = [
        ("/merchantId", json!(null), "merchantId should not be empty"),
        ("/mcc", json!("x"), "mcc must be a number conforming to the specified constraints"),
        ("/owner", json!(null), "owner should not be empty"),
        ("/owner/email", json!("rita"), "owner.email must be an email"),
        ("/owner/name", json!(" "), "owner.name should not be empty"),
        ("/owner/birthdate", json!("1995-02-30"), "owner.birthdate must be a valid ISO 8601 date string"),
        ("/owner/document/number", json!("123"), "owner.document.number must have 11 digits"),
        ("/owner/document/type", json!("noDocument"), "owner.document.type must be that of a document"),
        ("/owner/address/street", json!(null), "owner.address.street should not be empty"),
        ("/owner/address/country", json!(null), "owner.address.country should not be empty"),
        ("/owner/monthlyIncome", json!(-1), "owner.monthlyIncome must not be less than 0"),
        ("/business/openingDate", json!("soon"), "business.openingDate must be a valid ISO 8601 date string"),
        ("/business/document", json!(null), "business.document should not be empty"),
        ("/bankAccount", json!(null), "bankAccount should not be empty"),
        ("/bankAccount/bank", json!("77"), "bankAccount.bank must have 3 digits"),
        ("/bankAccount/ispb", json!("1234567x"), "bankAccount.ispb must have 8 digits"),
        ("/bankAccount/holderName", json!(null), "bankAccount.holderName should not be empty"),
        ("/transferPolicy/transferDay", json!(6), "transferPolicy.transferDay must not be greater than 5"),
        ("/rateAgreements/0/fee", json!(null), "rateAgreements[0].fee should not be empty"),
        ("/metadata/0/key", json!(null), "metadata[0].key should not be empty"),
        ("/fareMdr", json!(100.01), "fareMdr must not be greater than 100"),
        ("/fareFee", json!(-1), "fareFee must not be less than 0"),
        ("/createAsync", json!("yes"), "createAsync must be a boolean"),
    ];
    let (mut all, mut named) = (company_body(&merchant), Vec::new());
    for (pointer, value, detail) in wrong {
        let mut body = company_body(&merchant);
        put_at(&mut body, pointer, value.clone());
        assert_eq!(app.post(SELLERS, &body).await.details(400), [detail], "{pointer}");
        if value.is_null() || pointer.starts_with("/owner/") || pointer.starts_with("/business/") {
            continue;
        }
        put_at(&mut all, pointer, value);
        named.push(detail);
    }
    let mut details = app.post(SELLERS, &all).await.details(400);
    details.sort();
    named.sort_unstable();
    assert_eq!(details, named, "all are named at once");
    let without_document = put_in(&merchant, "/owner/document", json!({}));
    assert_eq!(
        app.post(SELLERS, &without_document).await.details(400),
        ["owner.document.type should not be empty", "owner.document.number should not be empty"]
    );
    let number = put_in(&merchant, "/metadata/0/value", json!({ "card": 4111111111111111.0 }));
    assert_eq!(
        app.post(SELLERS, &number).await.details(400),
        ["metadata[0].value.card must not contain a card number"]
    );
    let numbers = put_in(&merchant, "/metadata/0/value", json!(vec!["4111111111111111"; 150]));
    assert_eq!(app.post(SELLERS, &numbers).await.details(400).len(), 100, "no answer names more");
    for (name, words) in [
        (
            "bankAccount.type",
            "conta_corrente, conta_poupanca, conta_corrente_conjunta, conta_poupanca_conjunta",
        ),
        ("transferPolicy.transferInterval", "daily, weekly, monthly"),
        ("rateAgreements[0].type", "GlobalRate, FeePaymentMethod"),
    ] {
        let mut body = company_body(&merchant);
        put_at(&mut body, &format!("/{}", name.replace("[0]", "/0").replace('.', "/")), json!("x"));
        let rule = format!("{name} must be one of the following values: {words}");
        assert_eq!(app.post(SELLERS, &body).await.details(400), [rule]);
    }
    let nobodys = put(seller_body(&merchant), "merchantId", app.client.id.as_str());
    let reply = app.post(SELLERS, &nobodys).await;
    assert_eq!(reply.json()["error"]["type"], "invalid_request_error");
    assert_eq!(reply.details(400), ["merchantId was not found"]);
}

async fn a_bank_is_named_in_one_way_at_least(app: TestApp) {
    let mut body = seller_body(&single_merchant(&app).await);
    let seller = made(&app, &body).await;
    body["bankAccount"]["bank"] = Value::Null;
    let refused = app.post(SELLERS, &body).await;
    let expected = json!({ "error": {
        "type": "bad_request", "code": 400, "message": "Bad Request Exception", "key": "bank_identifier_required",
        "details": ["bank account must keep at least one of bank (COMPE) or ispb after update"],
    } });
    assert_eq!((refused.status.as_u16(), refused.json()), (400, expected.clone()));
    let refused = app.patch(&path(&seller), &json!({ "bankAccount": { "bank": null } })).await;
    assert_eq!((refused.status.as_u16(), refused.json()), (400, expected));
    let both = json!({ "bankAccount": { "bank": "001", "ispb": "00000000" } });
    assert_eq!(changed(&app, &seller, &both).await["bankAccount"]["bank"], "001");
}

async fn a_document_is_taken_once_at_a_merchant(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let person = made(&app, &seller_body(&merchant)).await;
    let company = made(&app, &company_body(&merchant)).await;
    let conflict = ["seller with this document already exists"];
    let mut same = seller_body(&merchant);
    same["owner"]["document"]["number"] = json!("362.433.190-67");
    assert_eq!(app.post(SELLERS, &same).await.details(409), conflict);
    assert_eq!(app.patch(&path(&company), &json!({ "business": null })).await.details(409), conflict);
    made(&app, &seller_body(&single_merchant(&app).await)).await;
    app.call(&app.client, Method::DELETE, &path(&person), &[], Some(&json!({ "merchantId": merchant })))
        .await
        .expect(204);
    made(&app, &same).await;
}

async fn a_deleted_seller_is_gone(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let seller = made(&app, &company_body(&merchant)).await;
    let delete =
        async |body: Value| app.call(&app.client, Method::DELETE, &path(&seller), &[], Some(&body)).await;
    assert_eq!(delete(json!({})).await.details(400), ["merchantId should not be empty"]);
    assert_eq!(delete(json!({ "merchantId": single_merchant(&app).await })).await.status, 404);
    assert_eq!(read(&app, &seller).await, seller);
    changed(&app, &seller, &json!({ "status": "inactive", "statusReason": "Rita is ill" })).await;
    delete(json!({ "merchantId": merchant })).await.expect(204);
    let client_id = app.client_id();
    for statement in [&COUNT_REASONS, &COUNT_TOLD_REASONS] {
        let row = app.app.store.row(statement, args! { client_id }).await.unwrap().unwrap();
        assert_eq!(row.get::<u64>("n").unwrap(), 0, "the reason is erased");
    }
    assert_eq!(app.get(&path(&seller)).await.status, 404);
    assert_eq!(app.patch(&path(&seller), &json!({ "liable": true })).await.status, 404);
    assert_eq!(delete(json!({ "merchantId": merchant })).await.status, 404);
    assert_eq!(app.get(SELLERS).await.expect(200)["meta"]["totalItems"], 0);
}

async fn a_key_gets_its_answer_again(app: TestApp) {
    let body = seller_body(&single_merchant(&app).await);
    let first = app.post_with_key(SELLERS, "a key", &body).await;
    assert_eq!(first.expect(201)["status"], "pending");
    changed(&app, &first.json(), &json!({ "status": "inactive" })).await;
    let again = app.post_with_key(SELLERS, "a key", &body).await;
    assert_eq!((again.status, &again.bytes), (first.status, &first.bytes));
    assert_eq!(app.get(SELLERS).await.expect(200)["meta"]["totalItems"], 1);
}
