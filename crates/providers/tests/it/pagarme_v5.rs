//! The adapter of `PAGARME_V5`: its mapping by recorded bodies, its notifications, and stories at a server that is typed by
//! the provider's official package.

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, StatusCode};
use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::{PayerSource, PaymentMethod, Pix};
use regente_domain::country::Country;
use regente_domain::customer::{Address, Document};
use regente_domain::id::Id;
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_providers::http_client::Incoming;
use regente_providers::outcome::{Answer, Probe};
use regente_providers::pagarme_v5::tell;
use regente_providers::request::{Authorization, Call, Credentials, Instrument, Operation, PayerDetails};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{self, authorization, object};

mod asks;
mod declines;
mod faults;
mod judge;
mod mapping;
mod notifications;
mod proofs;
mod stories;

/// A number that the provider's simulator approves.
const CARD: &str = "4000000000000010";
const OBJECT: Uuid = Uuid::from_u128(1);
const KEY: Uuid = Uuid::from_u128(2);
/// The code of the order for [`OBJECT`] and [`KEY`].
const CODE: &str = "AAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAg";

fn cents(minor_units: i64) -> Amount {
    Amount::new(minor_units).unwrap()
}

fn credentials(secret_key: &str) -> Credentials {
    Credentials::new(object(json!({
        "type": "PAGARME_V5",
        "secretKey": secret_key,
        "recipientId": "rp_own",
        "webhookUser": "regente",
        "webhookPassword": "sésamo: abre",
    })))
}

fn call(key: Uuid, operation: Operation) -> Call {
    Call {
        object_id: OBJECT,
        provider_type: ProviderType::PagarmeV5,
        credentials: credentials("sk_test_1"),
        ..support::call(key, operation)
    }
}

fn card_authorization(cvv: &str) -> Authorization {
    Authorization { buyer: Some(Box::new(payer())), ..authorization(CARD, Some(cvv)) }
}

fn pix_authorization() -> Authorization {
    let method = Pix { source: payer_source(), expires_in: 900, additional_info: vec![], items: None };
    Authorization {
        method: PaymentMethod::Pix(method),
        instrument: Instrument::Payer(Box::new(payer())),
        ..authorization(CARD, None)
    }
}

fn payer_source() -> PayerSource {
    serde_json::from_value(json!({ "customerId": Id::<()>::new(Uuid::nil()).uuid() })).unwrap()
}

fn payer() -> PayerDetails {
    PayerDetails {
        name: "Ana Lima".to_owned(),
        email: Some("ana@example.com".to_owned()),
        phone_number: "+55 11 98765-4321".to_owned(),
        document: Document {
            kind: "cpf".to_owned(),
            number: "529.982.247-25".to_owned(),
            country: Country::BR,
        },
        address: Some(Address {
            country: Some(Country::BR),
            state: Some("SP".to_owned()),
            city: Some("São Paulo".to_owned()),
            district: Some("Centro".to_owned()),
            zip_code: Some("01001000".to_owned()),
            street: Some("Rua Direita".to_owned()),
            street_number: Some("12B".to_owned()),
            complement: Some("Sala 3".to_owned()),
        }),
    }
}

/// The provider captures by itself.
const CAPTURED: Option<CaptureMode> = Some(CaptureMode::Automatic);

/// The answer to an order that is captured at once.
fn ordered(answered: &Incoming) -> Answer {
    tell::ordered(answered, CaptureMode::Automatic)
}

/// What is read of the charge of such an order.
fn read(answered: &Incoming) -> Probe {
    tell::read(answered, CAPTURED)
}

/// What somebody in between answers, with any status: each has a content type and a body. None of them is the provider's.
fn pages() -> Vec<(Option<&'static str>, &'static str)> {
    vec![
        (Some("text/html"), "<html>Access denied</html>"),
        (None, "<html>Access denied</html>"),
        (None, ""),
        (Some("application/json"), ""),
        (Some("application/json"), "{}"),
        (Some("application/json"), r#"{"error":"forbidden"}"#),
        (Some("application/json"), r#"{"message":null}"#),
        (Some("application/json"), r#"{"message":""}"#),
        (Some("application/json"), r#"["message"]"#),
        (Some("text/html; charset=utf-8"), r#"{"message":"a text"}"#),
        (Some("text/plain"), r#"{"message":"a text"}"#),
    ]
}

fn page(status: u16, (content_type, body): (Option<&'static str>, &str)) -> Incoming {
    let mut page = raw(status, body);
    page.headers.extend(content_type.map(|kind| (CONTENT_TYPE, HeaderValue::from_static(kind))));
    page
}

/// An answer of the provider.
fn answered(status: u16, body: &Value) -> Incoming {
    raw(status, &body.to_string())
}

fn raw(status: u16, body: &str) -> Incoming {
    let status = StatusCode::from_u16(status).unwrap();
    Incoming { status, headers: HeaderMap::new(), body: body.as_bytes().to_vec() }
}

fn order_card() -> Value {
    serde_json::from_str(include_str!("pagarme_v5/bodies/order_card.json")).unwrap()
}

fn order_pix() -> Value {
    serde_json::from_str(include_str!("pagarme_v5/bodies/order_pix.json")).unwrap()
}

fn order_boleto() -> Value {
    serde_json::from_str(include_str!("pagarme_v5/bodies/order_boleto.json")).unwrap()
}

/// The charge of an order, with these members instead of its own.
fn charge_of(order: &Value, members: Value) -> Value {
    let mut charge = order["charges"][0].clone();
    merge(&mut charge, members);
    charge
}

/// An order whose charge has these members instead of its own.
fn order_with(mut order: Value, members: Value) -> Value {
    merge(&mut order["charges"][0], members);
    order
}

fn merge(into: &mut Value, members: Value) {
    for (name, value) in object(members) {
        match (&mut into[&name], value) {
            (Value::Object(known), Value::Object(new)) if name == "last_transaction" => known.extend(new),
            (known, new) => *known = new,
        }
    }
}
