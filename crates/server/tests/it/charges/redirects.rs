//! Charges whose payer goes on at the page or in the application of a wallet
//! (`docs/interface/charges.md#nupay`, `#drip`, `#picpay`).

mod crashes;
pub(crate) mod drip;
mod nupay;
pub(crate) mod pages;
pub(crate) mod picpay;

use serde_json::{Value, json};

use super::pix::{described, jose};
use super::text;
use crate::harness::TestApp;

/// Where the merchant wants payers to go on.
pub(crate) const PAID_AT: &str = "https://shop.example/ok?order=1&step=2";
pub(crate) const REFUSED_AT: &str = "https://shop.example/no";

/// A complete address of a payer.
pub(crate) fn address() -> Value {
    json!({ "street": "Rua A", "streetNumber": "9", "zipCode": "01310100", "country": "BR", "state": "SP",
        "city": "Sao Paulo", "district": "Centro" })
}

/// The body of a NuPay of 150 with every member that the page needs.
pub(crate) fn nupay_body(merchant: &str) -> Value {
    json!({
        "merchantId": merchant, "amount": 150, "currency": "BRL", "orderId": "231",
        "paymentMethod": { "paymentType": "nupay", "delayToAutoCancel": 200, "returnUrl": PAID_AT,
            "cancelUrl": REFUSED_AT },
        "paymentSource": described(jose()),
        "fraudAnalysis": { "cart": { "items": [
            { "name": "Shoe <b>", "quantity": 1, "sku": "1", "unitPrice": 100 },
            { "name": "Sock", "quantity": "2", "unitPrice": 25 },
        ] } },
    })
}

/// A NuPay that awaits its payer.
pub(crate) async fn awaiting_nupay(app: &TestApp) -> Value {
    let merchant = crate::three_d_secure::merchant(app).await;
    app.post("/v1/charges", &nupay_body(&merchant)).await.expect(201)
}

/// The address of the page that a payer of a NuPay was given.
pub(crate) fn nupay_page(charge: &Value) -> &str {
    let requests = charge["transactionRequests"].as_array().unwrap();
    let given = requests.iter().find(|request| request["requestType"] == "pending").expect("instructions");
    text(&given["nupay"]["paymentUrl"])
}
