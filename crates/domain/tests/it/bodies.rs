//! Bodies that read themselves where more than their fields decides: what is needed, and what a problem may repeat.

use regente_domain::card::{InlineCard, SentNumber};
use regente_domain::merchant::NewMerchant;
use regente_domain::purchase::SentPurchase;
use regente_domain::token::NewToken;
use regente_domain::wire::read;
use serde_json::{Value, json};

const NUMBER: &str = "4916745120294124";

fn problems<T: deserr::Deserr<regente_domain::problems::Problems>>(body: Value) -> Vec<String> {
    let Value::Object(members) = body else { return Vec::new() };
    read::<T>(members).err().map(|found| found.into_details()).unwrap_or_default()
}

fn token(body: Value) -> NewToken {
    let Value::Object(members) = body else { unreachable!() };
    read(members).unwrap()
}

#[test]
fn a_token_is_a_card_or_a_security_code() {
    assert!(matches!(token(json!({ "cvvUpdate": "123", "cardCvv": null })), NewToken::Cvv(_)));
    let card = json!({ "cardHolderName": "ANA", "cardNumber": NUMBER, "cardExpirationDate": "12/2030" });
    let mut with_both = card.clone();
    with_both["cvvUpdate"] = json!("4321");
    // It does not count, whatever it is.
    with_both["cardCvv"] = json!("x");
    let NewToken::Card(InlineCard { number: SentNumber(Some(number)), cvv: Some(cvv), .. }) =
        token(with_both)
    else {
        unreachable!()
    };
    assert_eq!((number.expose_digits(), cvv.expose()), (NUMBER, "4321"));
    assert_eq!(problems::<NewToken>(card), ["cardCvv should not be empty"]);
    assert_eq!(
        problems::<NewToken>(json!({})),
        [
            "cardHolderName should not be empty",
            "cardNumber should not be empty",
            "cardCvv should not be empty",
            "cardExpirationDate should not be empty",
        ]
    );
    // Beside the code of a card, the other code is that of the same card.
    let two_codes = problems::<NewToken>(json!({ "cvvUpdate": "123", "cardCvv": "123" }));
    assert_eq!(two_codes.len(), 3);
}

#[test]
fn a_card_is_refused_without_repeating_it() {
    let named = json!({
        "cardHolderName": "A 4916-7451.2029 4124", "cardNumber": NUMBER, "cardCvv": "12", "cardExpirationDate": "1/30"
    });
    let found = problems::<NewToken>(named);
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|problem| !problem.contains("4124") && !problem.contains("12/")), "{found:?}");
    assert!(found[0].starts_with("cardHolderName must not contain "), "{found:?}");
    let wrong_digit = json!({
        "cardHolderName": "ANA", "cardNumber": "4916745120294125", "cardCvv": "123", "cardExpirationDate": "12/2030"
    });
    assert!(matches!(token(wrong_digit), NewToken::Card(InlineCard { number: SentNumber(None), .. })));
}

#[test]
fn one_provider_may_stand_for_a_list() {
    let provider = json!({ "priority": 1, "credentials": { "type": "SANDBOX" } });
    let of = |providers: &Value| problems::<NewMerchant>(json!({ "mcc": 5812, "providers": providers }));
    assert_eq!(of(&provider), ["providers.name should not be empty"]);
    assert_eq!(of(&json!([provider])), ["providers[0].name should not be empty"]);
    assert_eq!(of(&json!([])), ["providers must contain at least 1 elements"]);
    assert_eq!(of(&Value::Null), ["providers should not be empty"]);
}

#[test]
fn an_acquirer_has_an_id_for_each_brand() {
    let with = |acquirer: Value| {
        let credentials = json!({ "type": "SANDBOX", "apiKey": "any" });
        let provider =
            json!({ "name": "Main", "priority": 1, "credentials": credentials, "acquirer": acquirer });
        problems::<NewMerchant>(json!({ "mcc": "5812", "providers": [provider] }))
    };
    let at = "providers[0].acquirer";
    assert_eq!(with(json!({ "merchantId": "1" })), [""; 0]);
    assert_eq!(with(json!({})), [format!("{at}.bin should not be empty")]);
    assert_eq!(with(json!({ "bin": [] })), [format!("{at}.bin must contain at least 1 elements")]);
    assert_eq!(
        with(json!({ "bin": [{ "brand": "Visa" }, { "merchantId": "2" }] })),
        [format!("{at}.bin[0].merchantId should not be empty")]
    );
}

#[test]
fn a_payment_of_a_purchase_has_no_other_members() {
    let payment = json!({ "amount": 100, "cardCvv": "123", "name": null });
    let body = json!({
        "merchantId": "7f8870a2-71c9-4ef0-a531-82000e00b7e1", "amount": 0, "payments": [payment],
        "fraudAnalysis": { "sla": 1.5, "note": "4111 1111 1111 1111" }
    });
    assert_eq!(
        problems::<SentPurchase>(body),
        [
            "amount must be greater than 0",
            "payments[0].name is not a member of a payment",
            "payments[0].cardCvv is only for a cardId",
            "fraudAnalysis.sla must be an integer number",
            "fraudAnalysis.note must not contain a card number",
        ]
    );
}
