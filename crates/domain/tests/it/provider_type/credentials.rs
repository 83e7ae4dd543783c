use proptest::prelude::*;
use regente_domain::provider_type::{
    CREDENTIAL_CHARS_MAX, CredentialFields, mask_credentials, merge_credentials, stored_spelling,
    validate_changed_credentials, validate_credentials,
};
use serde_json::{Value, json};

use super::{details, object, provider};

fn credential_problems(code: &str, credentials: Value) -> Vec<String> {
    details(validate_credentials(provider(code), &object(credentials), "credentials"))
}

#[test]
fn missing_credentials_are_named() {
    for (code, sent, problems) in [
        ("SANDBOX", json!({ "type": "SANDBOX" }), vec![]),
        ("SANDBOX", json!({ "type": "SANDBOX", "apiKey": "any", "more": "kept" }), vec![]),
        ("SANDBOX", json!({ "type": "SANDBOX", "apiKey": 7 }), vec!["credentials.apiKey must be a string"]),
        ("PAGSEGURO", json!({ "token": "t" }), vec!["credentials.email should not be empty"]),
        (
            "PAGSEGURO",
            json!({ "token": "", "email": null }),
            vec!["credentials.email should not be empty", "credentials.token should not be empty"],
        ),
        (
            "KLAP",
            json!({ "apiKey": "a", "commerceId": "b", "keyComponent1": "c", "keyComponent2": "d" }),
            vec![],
        ),
        ("ITAU", json!({}), vec![]),
        ("BANRISUL", json!({ "anything": "goes" }), vec![]),
        ("OWEMPAY", json!({ "anything": ["goes"] }), vec!["credentials.anything must be a string"]),
    ] {
        assert_eq!(credential_problems(code, sent.clone()), problems, "{code} {sent}");
    }
    let long = json!({ "secretKey": "x".repeat(CREDENTIAL_CHARS_MAX + 1) });
    assert_eq!(
        credential_problems("STRIPE", long),
        ["credentials.secretKey must be shorter than or equal to 32768 characters"]
    );
}

#[test]
fn required_credentials_are_the_documented_ones() {
    let fields = |code: &str| match provider(code).credential_fields() {
        CredentialFields::Known { required, optional } => (required.join(" "), optional.join(" ")),
        CredentialFields::AnyText => ("any".to_owned(), "any".to_owned()),
    };
    for (code, required, optional) in [
        ("SANDBOX", "", "apiKey"),
        ("SANDBOX_ANTIFRAUD", "", "apiKey"),
        ("ADYEN", "apiKey liveUrlPrefix merchantAccount", "webhookHmacKey version"),
        ("BB", "authBasic devAppKey pixKey", "version mtlsPemBase64 mtlsPassPhrase"),
        ("BOLT", "", "gatewayId gatewayKey merchantId merchantKey merchantTerminal"),
        ("CLEARSALE", "name password", "app"),
        ("VR", "affiliationId", "clientId clientSecret"),
        ("WORLDPAY", "merchantCode userAPI senha", ""),
        ("ZOOP", "marketplaceId sellerId apiKey xApiKeyToken privateKey publicKey", ""),
        ("PLATFORM", "any", "any"),
        ("BANRISUL", "any", "any"),
        ("OWEMPAY", "any", "any"),
    ] {
        assert_eq!(fields(code), (required.to_owned(), optional.to_owned()), "{code}");
    }
}

#[test]
fn a_misspelled_name_is_stored_as_the_right_one() {
    let stored = |code: &str, sent: Value| Value::Object(stored_spelling(provider(code), object(sent)));
    for (sent, expected) in [
        (json!({ "CommerceId": "1" }), json!({ "commerceId": "1" })),
        (json!({ "CommerceId": "1", "commerceId": "2" }), json!({ "commerceId": "2" })),
        (json!({ "CommerceId": "1", "commerceId": null }), json!({ "commerceId": "1" })),
        (json!({ "commerceId": "2" }), json!({ "commerceId": "2" })),
    ] {
        assert_eq!(stored("KLAP", sent.clone()), expected, "{sent}");
    }
    let of_another_type = json!({ "CommerceId": "1" });
    assert_eq!(stored("OWEMPAY", of_another_type.clone()), of_another_type);
}

#[test]
fn answers_mask_what_is_secret() {
    for (sent, shown) in [
        (json!({ "type": "SANDBOX", "apiKey": "any" }), json!({ "type": "SANDBOX", "apiKey": "****" })),
        (
            json!({ "type": "PAGSEGURO", "token": "1B2B32530CA24641324AB63843240F5633", "email": "pay@example.com" }),
            json!({ "type": "PAGSEGURO", "token": "****5633", "email": "pay@example.com" }),
        ),
        (
            json!({ "merchantId": "2222222222", "merchantKey": "12345678", "other": "123456789" }),
            json!({ "merchantId": "2222222222", "merchantKey": "****", "other": "****6789" }),
        ),
        // A password that looks like an e-mail address is still a password.
        (json!({ "password": "s3cr@t.example" }), json!({ "password": "****mple" })),
        (
            json!({ "number": 12, "nothing": null, "secretId": { "a": 1 } }),
            json!({ "number": "****", "nothing": null, "secretId": "****" }),
        ),
    ] {
        assert_eq!(Value::Object(mask_credentials(&object(sent))), shown);
    }
}

#[test]
fn a_mask_that_comes_back_changes_nothing() {
    let stored =
        object(json!({ "type": "PAGSEGURO", "token": "1B2B32530CA24641", "email": "pay@example.com" }));
    for (sent, token) in [
        (json!({ "token": "****4641" }), "1B2B32530CA24641"),
        (json!({ "token": "****" }), "1B2B32530CA24641"),
        // Shown before the token changed last.
        (json!({ "token": "****9999" }), "1B2B32530CA24641"),
        (json!({ "type": "ADYEN", "token": "NEWTOKEN" }), "NEWTOKEN"),
        (json!({ "token": "****4641x" }), "****4641x"),
    ] {
        let merged = merge_credentials(&stored, &object(sent.clone()));
        assert_eq!(merged["token"], token, "{sent}");
        assert_eq!((&merged["type"], &merged["email"]), (&json!("PAGSEGURO"), &json!("pay@example.com")));
    }
    let removed = merge_credentials(&stored, &object(json!({ "email": null })));
    assert_eq!(
        details(validate_changed_credentials(provider("PAGSEGURO"), &stored, &removed, "credentials")),
        ["credentials.email should not be empty"]
    );
}

#[test]
fn stored_credentials_may_be_older_than_what_is_demanded() {
    let stored = object(json!({ "type": "ZOOP", "marketplaceId": "m", "sellerId": "s", "apiKey": "k" }));
    let check = |sent: Value| {
        let merged = merge_credentials(&stored, &object(sent));
        details(validate_changed_credentials(provider("ZOOP"), &stored, &merged, "credentials"))
    };
    assert_eq!(check(json!({ "apiKey": "new" })), Vec::<String>::new());
    assert_eq!(check(json!({ "apiKey": null })), ["credentials.apiKey should not be empty"]);
    assert_eq!(check(json!({ "publicKey": 1 })), ["credentials.publicKey must be a string"]);
    let complete = ["xApiKeyToken", "privateKey", "publicKey"];
    let missing = complete.map(|name| format!("credentials.{name} should not be empty"));
    assert_eq!(details(validate_credentials(provider("ZOOP"), &stored, "credentials")), missing);
}

proptest! {
    #[test]
    fn a_mask_shows_four_characters_at_most(secret in any::<String>()) {
        let stored = object(json!({ "type": "STRIPE", "secretKey": secret }));
        let shown = mask_credentials(&stored);
        let rest = shown["secretKey"].as_str().unwrap().strip_prefix("****").unwrap();
        prop_assert!(rest.is_empty() || (rest.chars().count() == 4 && secret.chars().count() > 8 && secret.ends_with(rest)));
        prop_assert_eq!(merge_credentials(&stored, &shown), stored);
    }
}
