use regente_domain::provider_type::validate_options;
use serde_json::{Value, json};

use super::{details, object, provider};

fn option_problems(code: &str, options: Value) -> Vec<String> {
    details(validate_options(provider(code), &object(options), "options").map(|_| ()))
}

#[test]
fn options_of_risk_analysis() {
    let fine = json!({ "type": "ANTIFRAUD", "captureOnError": false, "refundOnError": true, "captureOnApproved": true,
        "refundOnReproved": true, "sendAllCharges": false, "runBeforeCharge": false, "productType": "SYNC" });
    assert_eq!(
        validate_options(provider("SANDBOX_ANTIFRAUD"), &object(fine.clone()), "options").unwrap(),
        object(fine)
    );
    for (code, sent, problems) in [
        ("CLEARSALE", json!({}), vec!["options.type must be one of the following values: ANTIFRAUD"]),
        (
            "CLEARSALE",
            json!({ "type": "NUPAY" }),
            vec!["options.type must be one of the following values: ANTIFRAUD"],
        ),
        (
            "CLEARSALE",
            json!({ "type": "ANTIFRAUD", "captureOnError": true, "refundOnError": true }),
            vec!["options.captureOnError must not be true together with refundOnError"],
        ),
        (
            "CLEARSALE",
            json!({ "type": "ANTIFRAUD", "runBeforeCharge": true, "productType": "ASYNC" }),
            vec!["options.runBeforeCharge must not be true with productType ASYNC"],
        ),
        ("CLEARSALE", json!({ "type": "ANTIFRAUD", "runBeforeCharge": true }), vec![]),
        // Asynchronous is all it has, so that is what runs when nothing is said.
        (
            "B2E",
            json!({ "type": "ANTIFRAUD", "runBeforeCharge": true }),
            vec!["options.runBeforeCharge must not be true with productType ASYNC"],
        ),
        (
            "B2E",
            json!({ "type": "ANTIFRAUD", "productType": "SYNC" }),
            vec!["options.productType must be one of the following values: ASYNC"],
        ),
        (
            "KONDUTO",
            json!({ "type": "ANTIFRAUD", "productType": "HYBRID", "sendAllCharges": "yes" }),
            vec![
                "options.sendAllCharges must be a boolean value",
                "options.productType must be one of the following values: SYNC",
            ],
        ),
    ] {
        assert_eq!(option_problems(code, sent.clone()), problems, "{code} {sent}");
    }
}

#[test]
fn two_spellings_are_read_and_one_is_stored() {
    let sent =
        json!({ "type": "ANTIFRAUD", "captureOnApprove": true, "refundOnReprove": false, "note": "kept" });
    let stored = validate_options(provider("CLEARSALE"), &object(sent), "options").unwrap();
    assert_eq!(
        Value::Object(stored),
        json!({ "type": "ANTIFRAUD", "captureOnApproved": true, "refundOnReproved": false, "note": "kept" })
    );
    let both = json!({ "type": "ANTIFRAUD", "captureOnApprove": false, "captureOnApproved": true });
    let stored = validate_options(provider("CLEARSALE"), &object(both), "options").unwrap();
    assert_eq!(stored["captureOnApproved"], json!(true));
    assert!(!stored.contains_key("captureOnApprove"));
    assert_eq!(
        option_problems("CLEARSALE", json!({ "type": "ANTIFRAUD", "refundOnReprove": 1 })),
        ["options.refundOnReproved must be a boolean value"]
    );
}

#[test]
fn options_of_the_others() {
    for (code, sent, problems) in [
        ("BARTE", json!({ "type": "BARTE", "paymentMethod": "CREDIT_CARD_EARLY_BUYER" }), vec![]),
        ("BARTE", json!({ "type": "BARTE" }), vec!["options.paymentMethod should not be empty"]),
        (
            "BARTE",
            json!({ "type": "BARTE", "paymentMethod": "PIX" }),
            vec![
                "options.paymentMethod must be one of the following values: CREDIT_CARD_EARLY_SELLER, CREDIT_CARD_EARLY_BUYER",
            ],
        ),
        ("NUPAY", json!({ "type": "NUPAY", "merchantName": "Loja", "storeName": null }), vec![]),
        (
            "NUPAY",
            json!({ "type": "NUPAY", "merchantName": 1 }),
            vec!["options.merchantName must be a string"],
        ),
        (
            "SANDBOX",
            json!({ "type": "SANDBOX", "faults": [{ "when": "authorize" }], "supports": {} }),
            vec![],
        ),
        (
            "SANDBOX",
            json!({ "faults": [] }),
            vec!["options.type must be one of the following values: SANDBOX"],
        ),
        ("CIELO", json!({}), vec![]),
        ("CIELO", json!({ "type": "ANTIFRAUD" }), vec!["options are not supported by CIELO"]),
    ] {
        assert_eq!(option_problems(code, sent.clone()), problems, "{code} {sent}");
    }
}
