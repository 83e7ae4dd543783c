//! Vendors (`docs/interface/vendors.md`), and the charges and sessions that are taken in their name.

use axum::http::Method;
use regente_store::{args, sql};
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::{described, jose, pix_body};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::providers::{adyen, sandbox};
use crate::support::read::text;
use crate::support::sessions::{by_card, create, pay, session_body};
use crate::support::vendors::{vendor_body, with};

stories! {
    a_vendor_is_made_read_changed_and_erased,
    every_wrong_field_of_a_vendor_is_named,
    charges_are_taken_in_the_name_of_a_vendor,
    sessions_are_paid_in_the_name_of_a_vendor,
}

sql! {
    /// What rests of the vendors.
    REMAINS = "
        SELECT COUNT(*) AS n FROM vendors
        WHERE client_id = :client_id AND (reference_id IS NOT NULL OR private IS NOT NULL)";
}

const VENDORS: &str = "/v1/vendors";

async fn made(app: &TestApp, body: &Value) -> String {
    text(&app.post(VENDORS, body).await.expect(201)["id"]).to_owned()
}

async fn a_vendor_is_made_read_changed_and_erased(app: TestApp) {
    let body = vendor_body();
    let vendor = app.post_with_key(VENDORS, "one", &body).await.expect(201);
    let shown =
        json!({ "id": vendor["id"], "createdAt": vendor["createdAt"], "updatedAt": vendor["createdAt"] });
    assert_eq!(vendor, with(&body, &shown));
    assert_eq!(app.post_with_key(VENDORS, "one", &body).await.expect(201), vendor);
    let path = format!("{VENDORS}/{}", text(&vendor["id"]));
    assert_eq!(app.get(&path).await.expect(200), vendor);

    // The least that a vendor has, with the other spelling of its number.
    let mut least =
        with(&body, &json!({ "referenceId": "2", "identityType": "CPF", "identity": "390.533.447-05" }));
    for name in ["email", "phoneNumber", "website"] {
        least.as_object_mut().unwrap().remove(name);
    }
    let address = least["address"].as_object_mut().unwrap();
    address.remove("complement");
    address.remove("streetNumber");
    address.insert("number".to_owned(), json!("7"));
    let second = app.post(VENDORS, &least).await.expect(201);
    for member in ["/email", "/phoneNumber", "/website", "/address/complement"] {
        assert_eq!(second.pointer(member), Some(&Value::Null), "{member}");
    }
    assert_eq!(second["address"]["streetNumber"], "7");

    // The reference is the client's key: once in an account.
    let said = app.post(VENDORS, &body).await.details(409);
    assert_eq!(said, ["vendor with this referenceId already exists"]);
    assert_eq!(app.patch(&path, &json!({ "referenceId": "2" })).await.status, 409);
    let other = app.another_client().await;
    app.call(&other, Method::POST, VENDORS, &[], Some(&body)).await.expect(201);
    for method in [Method::GET, Method::PATCH, Method::DELETE] {
        let sent = (method == Method::PATCH).then(|| json!({ "name": "Mine" }));
        assert_eq!(app.call(&other, method, &path, &[], sent.as_ref()).await.status, 404);
    }

    let changes =
        json!({ "referenceId": "12346", "name": "Empresa", "email": null, "mcc": "1", "phoneNumber": "11" });
    let after = app.patch(&path, &changes).await.expect(200);
    let later = json!({ "updatedAt": after["updatedAt"] });
    assert_eq!(after, with(&with(&vendor, &changes), &later));
    assert_ne!(after["updatedAt"], vendor["updatedAt"]);
    // The same again changes nothing.
    assert_eq!(app.patch(&path, &changes).await.expect(200), after);
    assert_eq!(app.patch(&path, &json!({ "identityType": "CPF" })).await.details(400).len(), 1);
    let moved =
        json!({ "address": with(&body["address"], &json!({ "street": "Rua A", "complement": null })) });
    assert_eq!(app.patch(&path, &moved).await.expect(200)["address"], moved["address"]);

    let page = app.get(&format!("{VENDORS}?limit=1")).await.expect(200);
    assert_eq!((&page["items"][0]["id"], &page["meta"]["totalItems"]), (&second["id"], &json!(2)));
    assert_eq!(app.get(VENDORS).await.expect(200)["meta"]["itemsPerPage"], 10);

    for path in [path, format!("{VENDORS}/{}", text(&second["id"]))] {
        app.delete(&path).await.expect(204);
        assert_eq!(
            (app.get(&path).await.status, app.delete(&path).await.status),
            (404.try_into().unwrap(), 404.try_into().unwrap())
        );
    }
    let client_id = app.client_id();
    let row = app.app.store.row(&REMAINS, args! { client_id }).await.unwrap().unwrap();
    assert_eq!(row.get::<u64>("n").unwrap(), 0, "a deleted vendor is erased");
    made(&app, &body).await;
}

async fn every_wrong_field_of_a_vendor_is_named(app: TestApp) {
    let required = app.post(VENDORS, &json!({})).await.details(400);
    let named = ["referenceId", "identityType", "identity", "mcc", "name", "address"];
    let nobody = with(&vendor_body(), &json!({ "email": "nobody" }));
    assert_eq!(app.post(VENDORS, &nobody).await.details(400), ["email must be an email"]);
    assert_eq!(required, named.map(|name| format!("{name} should not be empty")));
    let long = |length: usize| json!("1".repeat(length));
    let wrong = [
        ("referenceId", long(16)),
        ("identityType", json!("RG")),
        ("identity", long(15)),
        ("identity", json!("39053344705")),
        ("mcc", long(11)),
        ("name", long(101)),
        ("email", json!("nobody")),
        ("phoneNumber", long(14)),
        ("website", long(101)),
        ("address", json!("Rua A")),
        ("address.country", json!("XX")),
        ("address.state", json!("SPX")),
        ("address.city", long(21)),
        ("address.district", long(21)),
        ("address.zipCode", long(11)),
        ("address.street", long(101)),
        ("address.streetNumber", long(6)),
        ("address.complement", long(21)),
    ];
    let vendor = made(&app, &vendor_body()).await;
    for (path, value) in wrong {
        let mut body = with(&vendor_body(), &json!({ "referenceId": "other" }));
        *body.pointer_mut(&format!("/{}", path.replace('.', "/"))).unwrap() = value;
        for reply in [app.post(VENDORS, &body).await, app.patch(&format!("{VENDORS}/{vendor}"), &body).await]
        {
            let details = reply.details(400);
            assert!(details.len() == 1 && details[0].starts_with(&format!("{path} ")), "{path}: {details:?}");
        }
    }
    let details = app
        .patch(&format!("{VENDORS}/{vendor}"), &json!({ "name": null, "address": null }))
        .await
        .details(400);
    assert_eq!(details, ["name should not be empty", "address should not be empty"]);
    assert_eq!(app.get(VENDORS).await.expect(200)["meta"]["totalItems"], 1);
}

async fn charges_are_taken_in_the_name_of_a_vendor(app: TestApp) {
    let vendor = made(&app, &vendor_body()).await;
    // The simulator is told of it, and refuses this category.
    let refused = made(&app, &with(&vendor_body(), &json!({ "referenceId": "2", "mcc": "0000" }))).await;
    let merchant = app.merchant_with(json!([sandbox("One", 1)])).await;
    let charge = |vendor: Value| with(&charge_body(&merchant, APPROVED), &json!({ "vendor": vendor }));
    for (id, status) in [(&vendor, "authorized"), (&refused, "failed")] {
        let made = app.post("/v1/charges", &charge(json!({ "id": id }))).await.expect(201);
        assert_eq!(made["status"], status);
    }
    let failed = app
        .post("/v1/charges", &charge(json!({ "id": refused, "paymentFacilitatorID": "7" })))
        .await
        .expect(201);
    assert_eq!(failed["transactionRequests"][0]["providerError"]["declinedCode"], "invalid_merchant");
    let by_pix = with(&pix_body(&merchant, described(jose())), &json!({ "vendor": { "id": refused } }));
    assert_eq!(app.post("/v1/charges", &by_pix).await.expect(201)["status"], "failed");

    // A provider that does not forward vendors is not told, and nobody hears of it.
    let without = app
        .merchant_with(json!([{ "name": "Own", "priority": 1, "credentials": { "type": "PAGSEGURO",
        "token": "t", "email": "a@example.com" } }, sandbox("Two", 2)]))
        .await;
    let body = with(&charge(json!({ "id": vendor })), &json!({ "merchantId": without }));
    let made_charge = app.post("/v1/charges", &body).await.expect(201);
    assert_eq!((&made_charge["status"], made_charge.get("vendor")), (&json!("authorized"), None));

    for (wrong, path) in [
        (json!("x"), "vendor"),
        (json!({}), "vendor.id"),
        (json!({ "id": "x" }), "vendor.id"),
        (json!({ "id": vendor, "paymentFacilitatorId": "" }), "vendor.paymentFacilitatorId"),
    ] {
        let details = app.post("/v1/charges", &charge(wrong)).await.details(400);
        assert!(details[0].starts_with(&format!("{path} ")), "{path}: {details:?}");
    }
    // Every provider that forwards it but the simulator needs the number of the facilitator.
    let facilitated = app.merchant_with(json!([sandbox("One", 1), adyen(2)])).await;
    let body = with(&charge(json!({ "id": vendor })), &json!({ "merchantId": facilitated }));
    let said = app.post("/v1/charges", &body).await.details(400);
    assert_eq!(said, ["vendor.paymentFacilitatorId should not be empty: ADYEN needs it"]);
    let body = with(&body, &json!({ "vendor": { "id": vendor, "paymentFacilitatorId": "12345" } }));
    assert_eq!(app.post("/v1/charges", &body).await.expect(201)["status"], "authorized");

    // It is of this account, and it exists.
    let other = app.another_client().await;
    let foreign = app.call(&other, Method::POST, VENDORS, &[], Some(&vendor_body())).await.expect(201);
    app.delete(&format!("{VENDORS}/{vendor}")).await.expect(204);
    for id in [json!(vendor), foreign["id"].clone()] {
        assert_eq!(app.post("/v1/charges", &charge(json!({ "id": id }))).await.status, 404);
    }
}

async fn sessions_are_paid_in_the_name_of_a_vendor(app: TestApp) {
    let refused = made(&app, &with(&vendor_body(), &json!({ "mcc": "0000" }))).await;
    let merchant = app.merchant_with(json!([sandbox("One", 1)])).await;
    let body = with(&session_body(&merchant), &json!({ "maxPayments": 1, "vendor": { "id": refused } }));
    let body = with(&body, &json!({ "paymentMethods": [{ "paymentType": "credit", "installments": 3 }] }));
    let session = create(&app, &body).await;
    assert_eq!(session["vendor"], json!({ "id": refused, "paymentFacilitatorId": null }));
    // What a buyer says does not count.
    let paying = with(&by_card(APPROVED), &json!({ "vendor": null }));
    assert_eq!(pay(&app, &session, &paying).await.expect(201)["status"], "failed");
    app.patch(&format!("{VENDORS}/{refused}"), &json!({ "mcc": "5812" })).await.expect(200);
    assert_eq!(pay(&app, &session, &paying).await.expect(201)["status"], "authorized");

    let without = create(&app, &session_body(&merchant)).await;
    assert_eq!(without.get("vendor"), None);
    let facilitated = app.merchant_with(json!([adyen(1)])).await;
    let said =
        app.post("/v1/sessions", &with(&body, &json!({ "merchantId": facilitated }))).await.details(400);
    assert_eq!(said, ["vendor.paymentFacilitatorId should not be empty: ADYEN needs it"]);

    let second = create(&app, &body).await;
    app.delete(&format!("{VENDORS}/{refused}")).await.expect(204);
    assert_eq!(app.post("/v1/sessions", &body).await.status, 404);
    assert_eq!(pay(&app, &second, &paying).await.status, 404);
}
