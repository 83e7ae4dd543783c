//! Bodies of vendors.

use serde_json::{Value, json};

/// The example of the interface.
pub fn vendor_body() -> Value {
    json!({
        "referenceId": "12345", "identityType": "CNPJ", "identity": "12.345.678/0001-99", "mcc": "5812",
        "name": "Empresa Exemplo Ltda", "email": "contato@example.com", "phoneNumber": "5511999999999",
        "website": "https://www.example.com",
        "address": { "country": "BR", "state": "SP", "city": "Sao Paulo", "district": "Centro", "zipCode": "01001-000",
            "street": "Avenida Paulista", "streetNumber": "1000", "complement": "Apto 101" },
    })
}

/// A vendor with a reference of its own.
pub fn another() -> Value {
    let reference = uuid::Uuid::new_v4().simple().to_string();
    with(&vendor_body(), &json!({ "referenceId": reference[..15] }))
}

pub fn with(body: &Value, changes: &Value) -> Value {
    let mut body = body.clone();
    body.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    body
}
