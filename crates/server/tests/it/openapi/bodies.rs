//! The rules of each body: every required member, type and bound is enforced, and the answer names the broken one.

use std::collections::BTreeMap;

use axum::http::Method;
use serde_json::{Value, json};

use super::mutation::{Mutation, mutations};
use crate::support::app::TestApp;
use crate::support::bodies::{APPROVED, Charge, token_body};
use crate::support::document::{Document, Operation};
use crate::support::prepayments::RECEIVABLES;
use crate::support::providers::sandbox;
use crate::support::read::text;
use crate::support::records::{Call, Records, address, customer_body, fresh_key, put, unique};
use crate::support::reports::{filtered, report_body};
use crate::support::sellers::{changes, complete_body};
use crate::support::three_d_secure::three_d_secure;
use crate::support::wallets::{by_click_to_pay, open_shop};
use crate::support::{subscriptions, vendors};

/// Bodies for an operation, one for each combination of members that are only read together.
async fn variants(records: &Records<'_>, operation: &Operation) -> Vec<Call> {
    let call = records.call(operation).await;
    let with = |body: Value| Call { ids: call.ids.clone(), body: Some(body) };
    let example = call.body.clone().expect("a body");
    let more = match operation.name().as_str() {
        "POST /v1/tokens" | "POST /v1/sessions/tokens" => {
            let cvv_update = APPROVED.1;
            let mut both = put(token_body(APPROVED), "cvvUpdate", cvv_update);
            both.as_object_mut().unwrap().shift_remove("cardCvv");
            vec![with(json!({ "cvvUpdate": cvv_update })), with(both)]
        }
        "POST /v1/cards" | "POST /v1/sessions/cards" => {
            let check = json!({ "merchantId": records.merchant().await, "cvvCheck": true });
            let nested =
                put(json!({ "tokenId": records.token(APPROVED).await }), "zeroDollar", check.clone());
            vec![with(nested), with(put(check, "tokenId", records.token(APPROVED).await))]
        }
        "POST /v1/customers" | "POST /v1/sessions/customers" => vec![with(unique(customer_body()))],
        "PATCH /v1/customers/{id}" => {
            vec![with(json!({ "name": "Ana", "phoneNumber": "1", "address": address() }))]
        }
        "POST /v1/charges/3ds/setup" => {
            vec![with(json!({ "sourceType": "card", "cardId": records.card().await }))]
        }
        "POST /v1/charges" => charges(records).await.into_iter().map(with).collect(),
        "POST /v1/charges/{id}/void" => {
            let (merchant, seller) = records.merchant_with_seller().await;
            let charge = Charge::by_card(&merchant, APPROVED)
                .with("splitRules", json!([{ "sellerId": seller, "percentage": 50 }]))
                .body();
            let charge = text(&records.make("/v1/charges", &charge).await["id"]).to_owned();
            let body = json!({ "amount": 100, "splitRules": [{ "sellerId": seller, "amount": 10 }] });
            vec![Call { ids: vec![charge], body: Some(body) }]
        }
        "POST /v1/sessions" => {
            let (merchant, seller) = records.merchant_with_seller().await;
            let body = session(&merchant, &records.vendor().await);
            let divided = split_rules(&seller).map(|rules| put(body.clone(), "splitRules", rules));
            let mut methods = body["paymentMethods"].as_array().expect("methods").clone();
            // Only the first one is tried.
            (0..methods.len())
                .map(|_| {
                    methods.rotate_left(1);
                    put(body.clone(), "paymentMethods", methods.clone())
                })
                .chain(divided)
                .map(with)
                .collect()
        }
        "PATCH /v1/sessions/{id}" => {
            let (merchant, seller) = records.merchant_with_seller().await;
            let mut body = session(&merchant, &records.vendor().await);
            body["maxPayments"] = 2.into();
            body["paymentMethods"] = json!([{ "paymentType": "credit", "installments": 1 }]);
            let changes = json!({ "isActive": true, "dueDate": "2030-01-01", "maxPayments": 3 });
            let divided = split_rules(&seller).map(|rules| put(changes.clone(), "splitRules", rules));
            let ids = vec![made(records, &body).await];
            divided.into_iter().map(|changes| Call { ids: ids.clone(), body: Some(changes) }).collect()
        }
        "POST /v1/sessions/{id}/charge" => {
            let mut calls = Vec::new();
            for body in charges(records).await {
                let payment_type = body["paymentMethod"]["paymentType"].as_str().expect("a type");
                if !["credit", "pix", "boleto", "drip", "nupay", "click_to_pay"].contains(&payment_type)
                    || body.get("splitRules").is_some()
                {
                    continue;
                }
                let session =
                    made(records, &session(&records.merchant().await, &records.vendor().await)).await;
                calls.push(Call { ids: vec![session], body: Some(body) });
            }
            calls
        }
        "POST /v1/purchases" => purchases(records, example.clone()).await.into_iter().map(with).collect(),
        "POST /v1/purchases/{id}/capture" | "POST /v1/purchases/{id}/void" => {
            vec![with(json!({ "amount": 30_000 }))]
        }
        "POST /v1/settings" | "PATCH /v1/settings" => vec![with(json!({
            "mainColor": "#fff", "secondaryColor": "#fff", "attentionColor": "#fff", "errorColor": "#fff",
            "successColor": "#fff", "backgroundColor": "#fff", "companyUrl": "www.example.com",
            "redirectOrigins": "https://shop.example", "mastercardClickToPayDpaid": "1",
        }))],
        "POST /v1/subscriptions" | "POST /v1/subscriptions/preview" => {
            let (merchant, seller) = records.merchant_with_seller().await;
            let body = subscriptions::complete_body(&records.subscription_body().await, &merchant);
            split_rules(&seller).map(|rules| with(put(body.clone(), "splitRules", rules))).into()
        }
        "PUT /v1/subscriptions/{id}" => {
            let (merchant, seller) = records.merchant_with_seller().await;
            let body = subscriptions::complete_body(&records.subscription_body().await, &merchant);
            // Its first due date can change as long as it is ahead.
            let made = text(&records.make("/v1/subscriptions", &body).await["id"]).to_owned();
            let changes = subscriptions::changes(body);
            let changes = split_rules(&seller).map(|rules| put(changes.clone(), "splitRules", rules));
            changes.map(|changes| Call { ids: vec![made.clone()], body: Some(changes) }).into()
        }
        "POST /v1/reports" => vec![with(report(&records.merchant().await))],
        "POST /v1/subacquirer/prepayment" => {
            let seller = &example["sellerId"];
            let path = format!("{RECEIVABLES}?sellerId={}", text(seller));
            let listed = records.app.call(records.client, Method::GET, &path, &[], None).await.expect(200);
            let day = &listed["receivables"][0]["settlementDate"];
            vec![with(json!({ "sellerId": seller, "dates": [day] }))]
        }
        "PATCH /v1/vendors/{id}" => vec![with(vendors::another())],
        "POST /v1/merchants" => vec![with(merchant())],
        "PATCH /v1/merchants/{id}" => vec![with(merchant())],
        "POST /v1/sellers" => vec![with(complete_body(&records.merchant().await))],
        "PATCH /v1/sellers/{id}" => {
            let seller = records.seller().await;
            let changes = changes(&seller["merchantId"]);
            vec![Call { ids: vec![text(&seller["id"]).to_owned()], body: Some(changes) }]
        }
        "PATCH /v1/providers/{id}" => {
            vec![with(json!({ "name": "Renamed", "priority": 3, "acquirer": acquirer() }))]
        }
        _ => Vec::new(),
    };
    [with(example)].into_iter().chain(more).collect()
}

/// A report with all filters.
fn report(merchant: &str) -> Value {
    let mut body = report_body("transactions", json!(["transaction__id"]));
    for (name, value) in [
        ("transactionRequestPaymentMethod", json!(["pix"])),
        ("transactionSourcePaymentMethod", json!(["pix"])),
        ("transactionStatus", json!(["authorized"])),
        ("transactionMerchantId", json!(merchant)),
        ("transactionProviderId", json!(merchant)),
        ("transactionId", json!(merchant)),
    ] {
        body = filtered(body, name, value);
    }
    body
}

/// A session with all members, which offers every method.
fn session(merchant: &str, vendor: &str) -> Value {
    let late = json!({ "days": 1, "amount": 10 });
    json!({
        "merchantId": merchant, "amount": 150, "currency": "BRL", "name": "Order", "description": "Shoes",
        "orderId": "77", "providerReferenceKey": "2", "statementDescriptor": "LOJA", "capture": true,
        "isActive": true, "dueDate": "2030-01-01", "createLink": true, "captchaEnabled": true, "maxPayments": 1,
        "items": [{ "name": "Shoe", "unitPrice": 150, "quantity": 1, "description": "Blue", "tangible": true,
            "categoryId": "1" }],
        "vendor": { "id": vendor, "paymentFacilitatorId": "1" },
        "paymentMethods": [
            { "paymentType": "credit", "installments": 24, "recurrence": "initial",
                "threeDS": { "enabled": true, "liabilityShiftRequired": false } },
            { "paymentType": "pix", "expiresIn": 3600 },
            { "paymentType": "boleto", "expiresDate": "2030-12-31", "instructions": "Pay", "interest": late, "fine": late },
            { "paymentType": "drip", "successRedirectUrl": "https://shop.example/ok",
                "cancelRedirectUrl": "https://shop.example/no" },
            { "paymentType": "nupay", "orderUrl": "https://shop.example/o/1", "delayToAutoCancel": 30,
                "returnUrl": "https://shop.example/ok", "cancelUrl": "https://shop.example/no", "taxValue": 1,
                "recipients": [{ "referenceId": "1", "name": "Ana", "document": "97055503019", "amount": 100 }] },
            { "paymentType": "click_to_pay", "installments": 24 },
        ],
    })
}

/// Rules with all members, by each kind of share.
fn split_rules(seller: &Value) -> [Value; 2] {
    [("percentage", 50), ("amount", 10)].map(|(share, value)| {
        let mut rule = json!({
            "sellerId": seller, "processingFee": true, "chargeEntireFee": false, "chargeRemainderFee": true,
            "liable": true, "transactionOwner": false, "fares": { "mdr": 2, "fee": 100 },
        });
        rule[share] = value.into();
        json!([rule])
    })
}

/// Makes a session; returns its id.
async fn made(records: &Records<'_>, body: &Value) -> String {
    let made = records.app.call(records.client, Method::POST, "/v1/sessions", &[], Some(body)).await;
    made.expect(200)["id"].as_str().expect("an id").to_owned()
}

fn acquirer() -> Value {
    json!({ "merchantId": "22", "bin": [{ "merchantId": "23", "brand": "Mastercard", "value": "550259" }] })
}

fn merchant() -> Value {
    let mut provider = put(sandbox("Main", 1), "acquirer", acquirer());
    provider["options"] = json!({ "type": "SANDBOX" });
    json!({
        "mcc": 5812, "name": "Loja", "merchantName": "Loja", "merchantUrl": "https://shop.example",
        "providers": [provider]
    })
}

/// A purchase by each source, with all members.
async fn purchases(records: &Records<'_>, example: Value) -> Vec<Value> {
    let mut complete = records.purchase_body(example).await;
    for (member, value) in [
        ("description", json!("Order")),
        ("customerId", json!(records.customer().await)),
        ("metadata", json!({ "table": 12 })),
        ("fraudAnalysis", json!({ "sla": 1 })),
        ("appInfo", json!({ "platform": { "name": "shop" } })),
        ("paymentFlow", json!({ "metadata": { "table": 12 } })),
    ] {
        complete[member] = value;
    }
    let mut bodies = Vec::new();
    for source in [
        json!({ "tokenId": records.token(APPROVED).await, "amount": 10_000 }),
        json!({ "cardId": records.card().await, "cardCvv": APPROVED.1, "amount": 10_000 }),
        json!({ "cardId": records.card().await, "tokenCvv": records.cvv_token().await, "amount": 10_000 }),
    ] {
        let mut body = complete.clone();
        body["payments"][0] = source;
        body["payments"][1]["tokenId"] = records.token(APPROVED).await.into();
        bodies.push(body);
    }
    bodies
}

/// A charge by each source, one of them with all members.
async fn charges(records: &Records<'_>) -> Vec<Value> {
    let (merchant, seller) = records.merchant_with_seller().await;
    let customer = records.customer_with_card().await;
    let payer = records.app.get(&format!("/v1/customers/{customer}")).await.expect(200);
    let payer = json!({ "email": payer["email"], "document": payer["document"] });
    let sources = [
        json!({ "sourceType": "token", "tokenId": records.token(APPROVED).await }),
        json!({ "sourceType": "card", "cardId": records.card().await, "cardCvv": APPROVED.1 }),
        json!({ "sourceType": "card", "cardId": records.card().await, "tokenCvv": records.cvv_token().await }),
        json!({ "sourceType": "customer", "customerId": customer, "cardCvv": APPROVED.1 }),
        json!({ "sourceType": "customer", "customer": payer, "cardCvv": APPROVED.1 }),
        json!({ "sourceType": "customer", "customerId": customer, "tokenCvv": records.cvv_token().await }),
    ];
    let vendor = records.vendor().await;
    let body = |source: Value| {
        json!({
            "merchantId": merchant, "vendor": { "id": vendor, "paymentFacilitatorId": "1" }, "amount": 150, "currency": "BRL", "statementDescriptor": "LOJA",
            "description": "Order", "capture": true, "orderId": "1", "customerId": customer,
            "providerReferenceKey": "2", "fraudAnalysis": { "sla": 1 }, "appInfo": { "platform": { "name": "shop" } },
            "paymentFlow": { "metadata": { "table": 12 } },
            "paymentMethod": { "paymentType": "credit", "installments": 2, "recurrence": "initial" },
            "paymentSource": source
        })
    };
    let voucher = json!({ "sourceType": "card", "card": token_body(APPROVED) });
    let method = json!({ "paymentType": "voucher", "items": [{ "id": "1" }], "customer": { "name": "Ana" } });
    let payer = json!({ "sourceType": "customer", "customer": unique(customer_body()) });
    let pix = json!({
        "paymentType": "pix", "expiresIn": 3600, "additionalInfo": [{ "name": "Loja", "value": "Joao" }],
        "items": [{ "id": "1", "title": "Shoe", "unitPrice": 150, "quantity": "1" }],
    });
    let mut by_pix = put(body(payer), "paymentMethod", pix);
    by_pix.as_object_mut().unwrap().shift_remove("customerId");
    let nupay = json!({
        "paymentType": "nupay", "delayToAutoCancel": 30, "orderUrl": "https://shop.example/o/1",
        "returnUrl": "https://shop.example/ok", "cancelUrl": "https://shop.example/no", "taxValue": 1,
        "recipients": [{ "referenceId": "1", "name": "Ana", "document": "97055503019", "amount": 100 }],
    });
    let payer = json!({ "sourceType": "customer", "customer": unique(customer_body()) });
    let mut by_nupay = put(body(payer), "paymentMethod", nupay);
    by_nupay.as_object_mut().unwrap().shift_remove("customerId");
    by_nupay["fraudAnalysis"] = json!({ "cart": { "items": [{ "name": "Shoe" }] } });
    let mut payer = unique(customer_body());
    payer["address"] = address();
    let drip = json!({
        "paymentType": "drip", "maxInstallments": 4, "totalInstallments": 3, "firstInstallmentsDate": "2030-01-31",
        "finePercentage": 2, "interestPercentage": 1.5, "cancellationFeePercentage": 0.5, "minutesToExpire": 10,
        "browser": { "ipAddress": "203.0.113.9", "browserFingerprint": "074c1e" },
        "items": [{ "id": "1", "title": "Shoe", "unitPrice": 150, "quantity": "1" }],
        "successRedirectUrl": "https://shop.example/ok", "cancelRedirectUrl": "https://shop.example/no",
    });
    let source = json!({ "sourceType": "customer", "customer": payer });
    let mut by_drip = put(body(source), "paymentMethod", drip);
    by_drip.as_object_mut().unwrap().shift_remove("customerId");
    let boletos = [
        json!({
            "paymentType": "boleto", "expiresDate": "2030-12-31", "instructions": "Pay at any bank",
            "interest": { "days": 1, "amount": 100 }, "fine": { "days": 2, "percentage": 2 },
            "items": [{ "id": "1", "title": "Shoe", "unitPrice": 150, "quantity": "1" }],
        }),
        json!({ "paymentType": "boleto", "interest": { "percentage": 1 }, "fine": { "amount": 200 } }),
    ];
    let by_boleto = boletos.map(|boleto| {
        let payer = json!({ "sourceType": "customer", "customer": unique(customer_body()) });
        let mut body = put(body(payer), "paymentMethod", boleto);
        body.as_object_mut().unwrap().shift_remove("customerId");
        body
    });
    let by_token = json!({ "sourceType": "token", "tokenId": records.token(APPROVED).await });
    let divided = split_rules(&seller).map(|rules| put(body(by_token.clone()), "splitRules", rules));
    let by_voucher = put(body(voucher), "paymentMethod", method);
    let card = records.card().await;
    let setup = json!({ "sourceType": "card", "cardId": card });
    let setup = records.make("/v1/charges/3ds/setup", &setup).await;
    let source = json!({ "sourceType": "card", "cardId": card, "cardCvv": APPROVED.1 });
    let mut authenticated = body(source.clone());
    authenticated["threeDSecure2"] = three_d_secure();
    authenticated["threeDSecure2"]["setupId"] = setup["id"].clone();
    let mut by_debit =
        put(body(source), "paymentMethod", json!({ "paymentType": "debit", "installments": 1 }));
    by_debit["threeDSecure2"] = json!({
        "mpi": {
            "acsTransactionId": "1", "cavv": "2", "challenged": true, "directoryServerTransactionId": "3", "eci": "05",
            "threeDSServerTransactionId": "4", "transStatus": "Y", "version": "2.2.0", "xid": "5",
        },
    });
    let by_wallet = |wallet: Value| {
        let mut body =
            put(body(wallet["paymentSource"].clone()), "paymentMethod", wallet["paymentMethod"].clone());
        body.as_object_mut().unwrap().shift_remove("fraudAnalysis");
        body
    };
    let by_click_to_pay = by_wallet(by_click_to_pay(&merchant));
    let by_apple_pay = by_wallet(records.app.shop().charge(records.app, &merchant));
    let others =
        [by_voucher, by_pix, by_nupay, by_drip, authenticated, by_debit, by_click_to_pay, by_apple_pay];
    sources.into_iter().map(body).chain(others).chain(by_boleto).chain(divided).collect()
}

#[tokio::test]
async fn every_rule_of_a_body_is_kept_and_named() {
    let (app, _) = open_shop(TestApp::sqlite().await.reachable().await).await;
    let records = Records { app: &app, client: &app.client };
    let document = Document::current();
    let mut untrue = Vec::new();
    for operation in &document.operations {
        let Some(schema) = document.body_schema(operation) else { continue };
        let mut open: BTreeMap<String, Mutation> = mutations(document, schema)
            .into_iter()
            .map(|mutation| (mutation.to_string(), mutation))
            .collect();
        if operation.name() == "POST /v1/tokens" {
            // A rule of the description that the schema cannot express: a card has all of its members.
            for member in ["cardHolderName", "cardNumber", "cardCvv", "cardExpirationDate"] {
                let mutation = Mutation::leave_out(member);
                open.insert(mutation.to_string(), mutation);
            }
        }
        if operation.name() == "POST /v1/sessions/{id}/charge" {
            // Everything else is read as in a charge.
            open.retain(|mutation, _| mutation.contains("paymentMethod"));
        }
        assert!(!open.is_empty(), "{}: a body without rules", operation.name());
        let mut stock = Stock::of(&records, operation).await;
        for index in 0..stock.calls.len() {
            for mutation in open.clone().into_values() {
                let call = stock.take(index).await;
                let outcome = try_wrong(&app, operation, &call, &mutation).await;
                match &outcome {
                    Outcome::NotHere | Outcome::Refused => stock.calls[index].push(call),
                    Outcome::Taken | Outcome::Other(_) => {}
                }
                match outcome {
                    Outcome::Refused => drop(open.remove(&mutation.to_string())),
                    Outcome::Other(problem) => untrue.push(problem),
                    Outcome::NotHere | Outcome::Taken => {}
                }
            }
        }
        untrue.extend(open.into_keys().map(|mutation| format!("{} takes {mutation}", operation.name())));
    }
    assert!(untrue.is_empty(), "{untrue:#?}");
}

/// Calls that have not been made, of each variant. All variants are made at once: what is not needed yet is kept.
struct Stock<'a> {
    records: &'a Records<'a>,
    operation: &'a Operation,
    calls: Vec<Vec<Call>>,
}

impl<'a> Stock<'a> {
    async fn of(records: &'a Records<'a>, operation: &'a Operation) -> Self {
        let calls = variants(records, operation).await.into_iter().map(|call| vec![call]).collect();
        Self { records, operation, calls }
    }

    async fn take(&mut self, index: usize) -> Call {
        if self.calls[index].is_empty() {
            for (kept, call) in self.calls.iter_mut().zip(variants(self.records, self.operation).await) {
                kept.push(call);
            }
        }
        self.calls[index].pop().expect("there is one of each")
    }
}

enum Outcome {
    /// The body lacks this place.
    NotHere,
    /// 400 with the place named.
    Refused,
    /// The member is ignored in this body.
    Taken,
    /// Anything else.
    Other(String),
}

async fn try_wrong(app: &TestApp, operation: &Operation, call: &Call, mutation: &Mutation) -> Outcome {
    let Some(body) = mutation.apply(call.body.as_ref().expect("a body")) else { return Outcome::NotHere };
    let path = call.path(operation);
    let key = fresh_key();
    let headers = operation.headers(&key);
    let reply = app.call(&app.client, operation.method.clone(), &path, &headers, Some(&body)).await;
    let name = operation.name();
    match reply.status.as_u16() {
        200..=299 => Outcome::Taken,
        400 if reply.details(400).iter().any(|problem| mutation.place.is_named_by(problem)) => {
            Outcome::Refused
        }
        status => {
            Outcome::Other(format!("{name} {mutation}: {status} {}", String::from_utf8_lossy(&reply.bytes)))
        }
    }
}
