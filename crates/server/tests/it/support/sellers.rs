//! Bodies of sellers, and what a merchant does with sellers.

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::forms::Form;
use crate::support::read::text;

pub const SELLERS: &str = "/v1/sellers";

/// A person who sells.
pub fn seller_body(merchant: &str) -> Value {
    json!({
        "merchantId": merchant,
        "mcc": 5651,
        "owner": {
            "name": "Rita Lima", "email": "rita@example.com", "phoneNumber": "21988899909",
            "birthdate": "1995-01-27",
            "document": { "type": "cpf", "number": "36243319067", "country": "BR" },
            "address": {
                "street": "Av Geraldo Cardoso", "streetNumber": "205", "complement": "Apto 203",
                "zipCode": "25650011", "country": "BR", "state": "RJ", "city": "Rio de Janeiro",
                "district": "Leblon", "referencePoint": "near the beach"
            }
        },
        "bankAccount": {
            "holderName": "Rita Lima", "holderDocument": "36243319067", "bank": "077", "branchNumber": "492",
            "branchCheckDigit": "1", "accountNumber": "4929", "accountCheckDigit": "12", "type": "conta_corrente"
        }
    })
}

/// A company, with every field.
pub fn company_body(merchant: &str) -> Value {
    let mut body = seller_body(merchant);
    body["owner"]["monthlyIncome"] = json!(21000.5);
    body["owner"]["isBusinessRepresentative"] = json!(true);
    body["business"] = json!({
        "name": "Rita Store", "phoneNumber": "21988899909", "email": "store@example.com",
        "website": "https://store.example.com", "description": "Clothes", "openingDate": "2015-01-27",
        "corporateReason": "Rita Comercio Ltda", "annualRevenue": 2_500_000,
        "address": { "street": "Rua Nova Lua", "streetNumber": "30", "zipCode": "61000320", "country": "BR",
            "state": "CE", "city": "Maracanau", "district": "AB" },
        "document": { "type": "cnpj", "number": "94938591000196", "country": "BR" }
    });
    body["transferPolicy"] = json!({
        "transferDay": 5, "transferEnabled": true, "transferInterval": "weekly",
        "automaticAnticipationEnabled": false, "anticipatableVolumePercentage": "",
        "automaticAnticipationType": "", "automaticAnticipationDays": "", "automaticAnticipation1025Delay": ""
    });
    body["rateAgreements"] = json!([{ "type": "GlobalRate", "percent": 2.5, "fee": 10 }]);
    body["metadata"] = json!([{ "key": "channel", "value": "fair" }]);
    for (name, value) in [
        ("salesPlanId", json!("plan-1")),
        ("processingFee", json!(true)),
        ("liable", json!(false)),
        ("fareMdr", json!(2.25)),
        ("fareFee", json!(100)),
        ("minNegativeBalance", json!(-100)),
        ("maxRefundDays", json!(30)),
    ] {
        body[name] = value;
    }
    body
}

/// A company with every member that a body may have; it names documents and a plan that there are not.
pub fn complete_body(merchant: &str) -> Value {
    let mut body = company_body(merchant);
    let more = [
        ("/owner/annualRevenue", json!(1)),
        ("/owner/professionalOccupation", json!("tailor")),
        ("/owner/businessCategory", json!("OTHER_SERVICES")),
        ("/business/facebook", json!("rita")),
        ("/business/twitter", json!("rita")),
        ("/business/address/complement", json!("1")),
        ("/business/address/referencePoint", json!("1")),
        ("/bankAccount/holdeType", json!("individual")),
        ("/bankAccount/ispb", json!("60746948")),
        ("/bankAccount/pixKey", json!("1")),
        (
            "/rateAgreements/0/merchantDiscountRates",
            json!([{
                "paymentArrangement": { "product": "CreditCard", "brand": "Elo" }, "percent": 1,
                "initialInstallmentNumber": 1, "finalInstallmentNumber": 12,
            }]),
        ),
        ("/documentIds", json!(["5616b19e-4d99-4bd3-b415-4990e5cab4f4"])),
        ("/planId", json!("5616b19e-4d99-4bd3-b415-4990e5cab4f4")),
        ("/createAsync", json!(true)),
    ];
    for (pointer, value) in more {
        put_at(&mut body, pointer, value);
    }
    body
}

/// A change with every member that one may have.
pub fn changes(merchant: &Value) -> Value {
    let mut changes = complete_body(text(merchant));
    for (name, value) in [("status", "active"), ("statusReason", "none"), ("reasonType", "other")] {
        changes[name] = json!(value);
    }
    changes
}

/// A new seller, as it is once its providers have answered.
pub async fn made(app: &TestApp, body: &Value) -> Value {
    let created = app.post(SELLERS, body).await.expect(201);
    read(app, &created).await
}

/// The path of a seller.
pub fn path(seller: &Value) -> String {
    format!("{SELLERS}/{}", text(&seller["id"]))
}

/// A seller as it is now.
pub async fn read(app: &TestApp, seller: &Value) -> Value {
    app.get(&path(seller)).await.expect(200)
}

/// A seller after a change.
pub async fn changed(app: &TestApp, seller: &Value, change: &Value) -> Value {
    app.patch(&path(seller), change).await.expect(200)
}

/// Deletes a seller.
pub async fn deleted(app: &TestApp, seller: &Value) {
    let merchant = json!({ "merchantId": seller["merchantId"] });
    app.call(&app.client, Method::DELETE, &path(seller), &[], Some(&merchant)).await.expect(204);
}

pub fn put_at(body: &mut Value, pointer: &str, value: Value) {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let members = body.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object");
    members.insert(name.to_owned(), value);
}

pub const DOCUMENTS: &str = "/v1/sellers/documents";

/// The form of a picture.
pub fn selfie(bytes: &[u8]) -> Form {
    Form::of(&[("type", "SELFIE")]).with_upload("file", "me.exe", bytes)
}
