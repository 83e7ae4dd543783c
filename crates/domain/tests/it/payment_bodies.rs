//! Bodies that pay: what of a source counts, the method says, and what goes with what is told with everything else.

use regente_domain::charge::sent::{NewCharge, NewPaymentSource};
use regente_domain::problems::Problems;
use regente_domain::session::Patch;
use regente_domain::session::sent::{NewSession, Offers, SessionPayment};
use regente_domain::wire::read;
use serde_json::{Map, Value, json};

const ID: &str = "7f8870a2-71c9-4ef0-a531-82000e00b7e1";

fn members(body: Value) -> Map<String, Value> {
    let Value::Object(members) = body else { return Map::new() };
    members
}

fn card() -> Value {
    json!({ "cardHolderName": "ANA", "cardNumber": "4916745120294124", "cardExpirationDate": "12/2030" })
}

fn charge(method: &Value, source: &Value) -> Result<(NewCharge, NewPaymentSource), Vec<String>> {
    let body = json!({ "merchantId": ID, "amount": 100, "paymentMethod": method, "paymentSource": source });
    NewCharge::read(members(body), Problems::new()).map_err(Problems::into_details)
}

fn problems(method: &Value, source: &Value) -> Vec<String> {
    charge(method, source).err().unwrap_or_default()
}

#[test]
fn a_source_is_read_by_the_rule_of_its_method() {
    let (credit, pix) =
        (json!({ "paymentType": "credit" }), json!({ "paymentType": "pix", "expiresIn": 60 }));
    let token = json!({ "sourceType": "token", "tokenId": ID });
    assert!(charge(&credit, &token).is_ok());
    assert_eq!(
        problems(&pix, &token),
        ["paymentSource.sourceType must be one of the following values: customer"]
    );
    let owner = json!({ "sourceType": "customer",
        "customer": { "email": "a@b.co", "document": { "type": "noDocument" }, "name": 5, "address": 5 } });
    assert!(charge(&credit, &owner).is_ok(), "what identifies the owner of a card counts alone");
    assert_eq!(
        problems(&pix, &owner),
        [
            "paymentSource.customer.name must be a string",
            "paymentSource.customer.address must be an object",
            "paymentSource.customer.phoneNumber should not be empty",
        ]
    );
    let again = json!({ "paymentType": "credit", "recurrence": "subsequent" });
    let inline = json!({ "sourceType": "card", "card": card() });
    assert_eq!(problems(&credit, &inline), ["paymentSource.card.cardCvv should not be empty"]);
    assert!(charge(&again, &inline).is_ok());
}

#[test]
fn what_of_a_source_does_not_count_may_be_wrong() {
    let credit = json!({ "paymentType": "credit" });
    for source in [
        json!({ "sourceType": "card", "cardId": ID, "card": 5 }),
        json!({ "sourceType": "card", "cardId": ID, "tokenCvv": ID, "cardCvv": "x" }),
        json!({ "sourceType": "customer", "customerId": ID, "customer": 5 }),
        json!({ "sourceType": "card", "cardId": null, "cardCvv": "x",
            "card": { "cardHolderName": "ANA", "cardNumber": "4916745120294124", "cardExpirationDate": "12/2030",
                "cardCvv": "123" } }),
    ] {
        assert_eq!(problems(&credit, &source), [""; 0], "{source}");
    }
    assert_eq!(
        problems(&credit, &json!({ "sourceType": "card", "cardCvv": "x" })),
        ["paymentSource.cardCvv must be 3 or 4 digits", "paymentSource.cardId should not be empty"]
    );
    let click_to_pay = json!({ "paymentType": "click_to_pay" });
    assert_eq!(
        problems(&click_to_pay, &json!({ "sourceType": "wallet", "paymentData": 5 })),
        [
            "paymentSource.walletPayment should not be empty",
            "paymentSource.walletClickToPay should not be empty"
        ]
    );
}

#[test]
fn what_goes_together_is_told_with_everything_else() {
    let body = json!({
        "amount": 100, "orderId": 5, "paymentMethod": { "paymentType": "debit" },
        "paymentSource": { "sourceType": "token", "tokenId": ID },
        "splitRules": [{ "sellerId": ID, "amount": 200 }],
    });
    let others = Problems::one("threeDSecure2.redirectURL", "must be an https:// address");
    let found = NewCharge::read(members(body), others).err().unwrap().into_details();
    assert_eq!(
        found,
        [
            "orderId must be a string",
            "merchantId should not be empty",
            "threeDSecure2 should not be empty: a debit card is authenticated",
            "threeDSecure2.redirectURL must be an https:// address",
            "splitRules must not give the sellers more than 100 together",
        ]
    );
    let nupay = json!({ "paymentMethod": { "paymentType": "nupay" }, "threeDSecure2": {},
        "paymentSource": { "sourceType": "customer", "customerId": ID } });
    let found = SessionPayment::read(members(nupay), Problems::new()).err().unwrap().into_details();
    assert!(found.contains(&"threeDSecure2 must be absent for this paymentType".to_owned()), "{found:?}");
    assert!(found.iter().any(|problem| problem.starts_with("fraudAnalysis.cart.items ")), "{found:?}");
}

fn session(change: impl FnOnce(&mut Value)) -> Result<NewSession, Vec<String>> {
    let mut body = json!({ "merchantId": ID, "paymentMethods": [{ "paymentType": "pix", "expiresIn": 3600.0 }],
        "items": [{ "name": "Shoe", "unitPrice": 100, "quantity": 2 }] });
    change(&mut body);
    NewSession::read(members(body), Problems::new()).map_err(Problems::into_details)
}

#[test]
fn a_session_keeps_its_terms_as_sent() {
    let read = session(|body| {
        let offers = body["paymentMethods"].as_array_mut().unwrap();
        offers.push(json!({ "paymentType": "boleto", "unknown": 1, "fine": null,
            "interest": { "days": 1.0, "amount": 5 } }));
        offers.push(json!({ "paymentType": "credit", "threeDS": {}, "installments": 2 }));
    });
    let read = read.unwrap_or_else(|found| panic!("{found:?}"));
    assert_eq!(read.amount().map(|amount| amount.minor_units()), Some(200));
    let Offers(offers) = read.payment_methods;
    let terms: Vec<String> =
        offers.iter().map(|offer| serde_json::to_string(&offer.method.terms).unwrap()).collect();
    assert_eq!(
        terms,
        [
            r#"{"expiresIn":3600.0}"#,
            r#"{"interest":{"days":1.0,"amount":5}}"#,
            r#"{"installments":2,"threeDS":{"enabled":false,"liabilityShiftRequired":true}}"#,
        ]
    );
}

#[test]
fn a_session_names_what_does_not_go_together() {
    let found = session(|body| {
        let offers = body["paymentMethods"].as_array_mut().unwrap();
        offers.push(offers[0].clone());
        body["items"][0]["unitPrice"] = json!(9_007_199_254_740_991_i64);
        body["maxPayments"] = json!(0);
        body["statementDescriptor"] = json!("AB");
        body["dueDate"] = json!("tomorrow");
    });
    assert_eq!(
        found.err().unwrap(),
        [
            "paymentMethods[1].paymentType must not be there twice",
            "maxPayments must not be 0",
            "statementDescriptor must be longer than or equal to 3 characters",
            "dueDate must be a valid ISO 8601 date string",
            "items must not be worth more than 9007199254740991",
        ]
    );
}

#[test]
fn null_removes_what_a_session_has() {
    let changes = |body: Value| read::<Patch>(members(body)).unwrap();
    let left = changes(json!({ "isActive": true, "maxPayments": null }));
    assert_eq!((left.due_at, left.capacity, left.split_rules), (None, None, None));
    let removed = changes(json!({ "isActive": true, "dueDate": null, "splitRules": null }));
    assert_eq!((removed.due_at, removed.split_rules), (Some(None), Some(Vec::new())));
}
