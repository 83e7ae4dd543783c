//! Bodies of charges that a payer pays by instructions: Pix, boleto, NuPay, Drip, PicPay; and the payer in them.

use serde_json::{Value, json};

use crate::support::bodies::Charge;

/// The body of a boleto of 150.00 that falls due on 2026-03-30, a Monday.
pub fn boleto_body(merchant: &str, source: Value) -> Value {
    let method = json!({ "paymentType": "boleto", "expiresDate": "2026-03-30" });
    Charge::by(method, merchant, source).amount(15000).body()
}

/// The same with interest and fine.
pub fn with_late_charges(mut body: Value, interest: Value, fine: Value) -> Value {
    body["paymentMethod"]["interest"] = interest;
    body["paymentMethod"]["fine"] = fine;
    body
}

pub const CPF: &str = "72912053013";

/// The body of a payer.
pub fn payer(email: &str, number: &str) -> Value {
    json!({ "name": "Jose Bonifacio", "phoneNumber": "21988899990", "email": email,
        "document": { "type": "cpf", "number": number } })
}

/// The body of a Pix of 150 that expires in an hour.
pub fn pix_body(merchant: &str, source: Value) -> Value {
    let method = json!({ "paymentType": "pix", "expiresIn": 3600 });
    Charge::by(method, merchant, source).with("capture", true).body()
}

/// A source of a payer in the body.
pub fn described(payer: Value) -> Value {
    json!({ "sourceType": "customer", "customer": payer })
}

/// The payer of most stories.
pub fn jose() -> Value {
    payer("jose@example.com", CPF)
}

/// Where the merchant wants payers to go on.
pub const PAID_AT: &str = "https://shop.example/ok?order=1&step=2";

pub const REFUSED_AT: &str = "https://shop.example/no";

/// A complete address of a payer.
pub fn address() -> Value {
    json!({ "street": "Rua A", "streetNumber": "9", "zipCode": "01310100", "country": "BR", "state": "SP",
        "city": "Sao Paulo", "district": "Centro" })
}

/// The body of a NuPay of 150 with every member that the page needs.
pub fn nupay_body(merchant: &str) -> Value {
    let method = json!({ "paymentType": "nupay", "delayToAutoCancel": 200, "returnUrl": PAID_AT,
        "cancelUrl": REFUSED_AT });
    let items = json!([
        { "name": "Shoe <b>", "quantity": 1, "sku": "1", "unitPrice": 100 },
        { "name": "Sock", "quantity": "2", "unitPrice": 25 },
    ]);
    Charge::by(method, merchant, described(jose()))
        .with("orderId", "231")
        .with("fraudAnalysis", json!({ "cart": { "items": items } }))
        .body()
}

/// The body of a Drip of 150 that expires in 10 minutes.
pub fn drip_body(merchant: &str) -> Value {
    let mut payer = jose();
    payer["address"] = address();
    let method = json!({ "paymentType": "drip", "maxInstallments": 4, "minutesToExpire": 10,
        "items": [{ "id": "1", "title": "Shoe", "quantity": 1, "unitPrice": 150 }],
        "browser": { "ipAddress": "203.0.113.9", "browserFingerprint": "074c1e" },
        "successRedirectUrl": PAID_AT, "cancelRedirectUrl": REFUSED_AT });
    Charge::by(method, merchant, described(payer)).body()
}

/// The body of a PicPay of 150.
pub fn picpay_body(merchant: &str) -> Value {
    Charge::by(json!({ "paymentType": "picpay" }), merchant, described(jose())).body()
}
