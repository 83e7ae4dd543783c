//! What a device has encrypted must be a payment.

use regente_wallets::apple_pay::TokenError;
use regente_wallets::apple_pay::test_keys::{Device, Purchase};
use serde_json::{Value, json};

use crate::support::{NOW, Shop, purchase, refusal};

#[test]
fn a_number_that_is_none_is_refused() {
    for number in ["", "4895 3700 1200 3478", "abc"] {
        let purchase = Purchase { device_account_number: number, ..purchase() };
        assert_eq!(outcome(&purchase), TokenError::Content("applicationPrimaryAccountNumber"), "{number}");
    }
}

#[test]
fn a_month_that_is_none_is_refused() {
    for expiration_month in [0, 13] {
        let purchase = Purchase { expiration_month, ..purchase() };
        assert_eq!(
            outcome(&purchase),
            TokenError::Content("applicationExpirationDate"),
            "{expiration_month}"
        );
    }
}

fn outcome(purchase: &Purchase<'_>) -> TokenError {
    let shop = Shop::new();
    let device = Device::from_pem(&shop.keys.device).unwrap();
    refusal(shop.open(&device.pay(&shop.merchant, purchase, NOW).unwrap()))
}

#[test]
fn other_types_of_payment_are_refused() {
    assert_eq!(with("paymentDataType", json!("EMV")), TokenError::PaymentType);
    assert_eq!(with("paymentDataType", Value::Null), TokenError::PaymentType);
}

#[test]
fn members_that_are_missing_or_wrong_are_named() {
    let wrong = [
        ("applicationPrimaryAccountNumber", Value::Null),
        ("applicationExpirationDate", json!("3107")),
        ("currencyCode", json!("BRL")),
        ("currencyCode", json!("99999")),
        ("transactionAmount", Value::Null),
        ("paymentData", Value::Null),
    ];
    for (name, value) in wrong {
        assert_eq!(with(name, value.clone()), TokenError::Content(name), "{name}: {value}");
    }
    let proof = json!({ "eciIndicator": "5" });
    assert_eq!(with("paymentData", proof), TokenError::Content("onlinePaymentCryptogram"));
    assert_eq!(with("transactionAmount", json!(-1)), TokenError::Content("JSON object"));
}

/// What becomes of a payment with one member replaced.
fn with(name: &str, value: Value) -> TokenError {
    let shop = Shop::new();
    let mut content = purchase().content();
    content[name] = value;
    let device = Device::from_pem(&shop.keys.device).unwrap();
    refusal(shop.open(&device.pay_with(&shop.merchant, &content, [7; 32], NOW).unwrap()))
}
