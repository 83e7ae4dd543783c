//! What is sent: from a call to the request, without any exchange.

use regente_domain::boleto::{Fine, FineRate, LateCharges};
use regente_domain::charge::authentication::{Authenticated, Found, LiabilityShift, Purpose};
use regente_domain::charge::{Credit, Debit, PaymentMethod, Picpay, Recurrence};
use regente_domain::currency::Currency;
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::money::Amount;
use regente_providers::adyen::ask::{asked, returned};
use regente_providers::adyen::currency::{from_provider, to_provider};
use regente_providers::adyen::reference::Reference;
use regente_providers::authentication::{Mpi, Proof};
use regente_providers::request::{
    Authorization, Call, FollowUp, NotificationAddress, Operation, OperationKind,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::calls::{
    boleto, by_boleto, by_card, call, capture, charge, charge_id, follow_up, inquiry, payer, payer_source,
    pix, reservation, reserved, taken, three_d_secure, vendor, verification, void,
};
use crate::support::{card_source, key};

/// The path and the body of the request.
fn sent(call: &Call) -> (String, Value) {
    let asked = asked(call).unwrap_or_else(|decline| panic!("{decline:?}"));
    assert_eq!(asked.idempotency_key, Some(call.key));
    (asked.path.join("/"), serde_json::to_value(&asked.body).unwrap())
}

fn body(call: &Call) -> Value {
    sent(call).1
}

fn refusal(call: &Call) -> Decline {
    asked(call).err().expect("it was not refused")
}

fn with_method(method: PaymentMethod) -> Call {
    charge(Authorization { method, ..by_card() })
}

fn with_proof(proof: Proof) -> Call {
    charge(Authorization { proof: Some(Box::new(proof)), ..by_card() })
}

fn to_do(purpose: Purpose) -> Proof {
    Proof::ToDo {
        purpose,
        data: Box::new(three_d_secure()),
        return_url: "https://pay.example/v1/charges/1/3ds-authorization".to_owned(),
    }
}

#[test]
fn a_card_payment_is_captured_at_once() {
    let (path, body) = sent(&charge(by_card()));
    assert_eq!(path, "payments");
    assert_eq!(
        body,
        json!({
            "merchantAccount": "TestMerchant",
            "amount": { "currency": "BRL", "value": 1500 },
            "reference": "01980000000070008000000000000009-01980000000070008000000000000001-authorization",
            "returnUrl": "https://regente.invalid/",
            "paymentMethod": {
                "type": "scheme", "number": "4111111111111111", "expiryMonth": "03", "expiryYear": "2027",
                "holderName": "JOAO DA SILVA", "cvc": "737",
            },
            "captureDelayHours": 0,
            "shopperInteraction": "Ecommerce",
            "authenticationData": { "attemptAuthentication": "never" },
        })
    );
}

#[test]
fn a_reservation_waits_for_its_capture() {
    let body = body(&reservation());
    assert_eq!(body["additionalData"], json!({ "manualCapture": "true" }));
    assert_eq!(body.get("captureDelayHours"), None);
}

#[test]
fn installments_references_and_the_statement_are_passed_on() {
    let credit = Credit { source: card_source(), installments: 12, recurrence: None };
    let call = Call {
        notify: Some(NotificationAddress { service: "https://pay.example".into(), provider_id: Uuid::nil() }),
        ..charge(Authorization {
            method: PaymentMethod::Credit(credit),
            order_id: Some("order 7".to_owned()),
            provider_reference_key: Some("k".repeat(100)),
            statement_descriptor: Some("LOJA • São João & Filhos Ltda".to_owned()),
            buyer: Some(Box::new(payer())),
            ..by_card()
        })
    };
    let body = body(&call);
    assert_eq!(body["installments"], json!({ "value": 12 }));
    assert_eq!(body["merchantOrderReference"], "order 7");
    assert_eq!(body["metadata"], json!({ "providerReferenceKey": "k".repeat(80) }));
    // The provider takes few characters, and banks show 22 of them.
    assert_eq!(body["shopperStatement"], "LOJA  So Joo  Filhos L");
    assert_eq!(body["shopperEmail"], "jose@example.com");
    assert_eq!(body["shopperName"], json!({ "firstName": "Jose", "lastName": "Bonifacio de Andrada" }));
    assert_eq!(body["returnUrl"], "https://pay.example");
}

#[test]
fn a_payment_in_the_name_of_a_vendor_says_whose() {
    let of = |vendor| charge(Authorization { vendor: Some(Box::new(vendor)), ..by_card() });
    let sent = body(&of(vendor()));
    assert_eq!(sent["metadata"], json!({ "paymentFacilitatorId": "999" }));
    assert_eq!(
        sent["subMerchants"],
        json!([{
            "id": "12345", "name": "Empresa Exemplo de Nom", "mcc": "0812", "taxId": "12345678000199",
            "amount": { "currency": "BRL", "value": 1500 }, "email": "contato@example.com",
            "url": "https://www.example.com",
            "address": { "city": "Sao Paulo", "country": "BR", "houseNumberOrName": "1000", "postalCode": "01001-000",
                "stateOrProvince": "SP", "street": "Avenida Paulista" },
        }])
    );
    let mut wrong = vendor();
    wrong.data.mcc = serde_json::from_value(json!("58120")).unwrap();
    assert_eq!(
        refusal(&of(wrong)).network_denied_reason.as_deref(),
        Some("not_sent"),
        "it takes four digits"
    );
}

#[test]
fn a_series_names_its_agreement() {
    let of = |recurrence, named: Option<&str>| {
        let credit = Credit { source: card_source(), installments: 1, recurrence: Some(recurrence) };
        let method = PaymentMethod::Credit(credit);
        let network_transaction_id = named.map(str::to_owned);
        let body = body(&charge(Authorization { method, network_transaction_id, ..by_card() }));
        (
            body["shopperInteraction"].clone(),
            body["recurringProcessingModel"].clone(),
            body["additionalData"].clone(),
        )
    };
    let named = json!({ "networkTxReference": "060720116005060" });
    assert_eq!(of(Recurrence::Initial, None), (json!("Ecommerce"), json!("Subscription"), Value::Null));
    assert_eq!(
        of(Recurrence::Subsequent, Some("060720116005060")),
        (json!("ContAuth"), json!("Subscription"), named.clone())
    );
    assert_eq!(
        of(Recurrence::Unscheduled, Some("060720116005060")),
        (json!("ContAuth"), json!("UnscheduledCardOnFile"), named)
    );
}

#[test]
fn a_check_of_a_card_asks_for_nothing() {
    let body = body(&verification());
    assert_eq!(body["amount"], json!({ "currency": "BRL", "value": 0 }));
    assert_eq!(
        body["reference"],
        "01980000000070008000000000000009-01980000000070008000000000000001-zero_dollar"
    );
}

#[test]
fn a_cardholder_who_can_be_sent_away_is_authenticated_by_redirect() {
    let body = body(&with_proof(to_do(Purpose::Authenticate)));
    assert_eq!(
        body["authenticationData"],
        json!({ "attemptAuthentication": "always", "threeDSRequestData": { "nativeThreeDS": "disabled" } })
    );
    assert_eq!(body["returnUrl"], "https://pay.example/v1/charges/1/3ds-authorization");
    assert_eq!(body["channel"], "Web");
    assert_eq!(body["browserInfo"]["timeZoneOffset"], 180);
    assert_eq!(body["shopperIP"], "203.0.113.7");
    assert_eq!(body["shopperEmail"], "holder@example.com");
    let shared = self::body(&with_proof(to_do(Purpose::ShareData)));
    assert_eq!(shared["authenticationData"]["threeDSRequestData"]["dataOnly"], "true");
}

#[test]
fn a_result_of_another_3ds_server_is_handed_over() {
    let answered = |found, challenged| {
        body(&with_proof(Proof::Answered(Authenticated {
            found,
            challenged,
            version: Some("2.2.0".to_owned()),
            eci: Some("05".to_owned()),
            cavv: Some("AJkBB4OBmVFmgYFYFIGZAAAAAAA=".to_owned()),
            network_transaction_id: Some("c4e59ceb-a382-4d6a-bc87-385d591fa09d".to_owned()),
        })))
    };
    let frictionless = answered(Found::Authenticated, false);
    assert_eq!(
        frictionless["mpiData"],
        json!({
            "directoryResponse": "Y", "cavv": "AJkBB4OBmVFmgYFYFIGZAAAAAAA=", "eci": "05",
            "dsTransID": "c4e59ceb-a382-4d6a-bc87-385d591fa09d", "threeDSVersion": "2.2.0",
        })
    );
    assert_eq!(frictionless.get("authenticationData"), None);
    let challenged = answered(Found::Attempted, true);
    assert_eq!(challenged["mpiData"]["directoryResponse"], "C");
    assert_eq!(challenged["mpiData"]["authenticationResponse"], "A");
    assert_eq!(answered(Found::NotEnrolled, false).get("mpiData"), None);

    let mpi = Mpi {
        trans_status: Some("Y".to_owned()),
        cavv: Some("AJkBB4OBmVFmgYFYFIGZAAAAAAA=".to_owned()),
        directory_server_transaction_id: Some("c4e59ceb".to_owned()),
        acs_transaction_id: None,
        challenged: Some(true),
        eci: None,
        three_ds_server_transaction_id: None,
        version: Some("2.1.0".to_owned()),
        xid: None,
    };
    for cavv in [None, Some(String::new())] {
        let bare = body(&with_proof(Proof::Outside(Mpi { cavv, ..mpi.clone() })));
        assert_eq!(bare.get("mpiData"), None, "a result without its proof is none");
        assert_eq!(bare["authenticationData"]["attemptAuthentication"], "never");
    }
    let outside = body(&with_proof(Proof::Outside(mpi)));
    assert_eq!(outside["mpiData"]["directoryResponse"], "C");
    assert_eq!(outside["mpiData"]["authenticationResponse"], "Y");
    assert_eq!(outside["mpiData"]["dsTransID"], "c4e59ceb");
}

#[test]
fn a_shift_of_liability_that_cannot_be_demanded_is_refused_before_anything_is_sent() {
    let proof = Some(Box::new(to_do(Purpose::Authenticate)));
    let liability_shift = LiabilityShift::Required;
    let decline = refusal(&charge(Authorization { proof, liability_shift, ..by_card() }));
    assert!(decline.retryable, "{decline:?}");
}

#[test]
fn a_pix_names_its_payer_and_when_it_expires() {
    let (path, body) = sent(&pix());
    assert_eq!(path, "payments");
    assert_eq!(body["paymentMethod"], json!({ "type": "pix" }));
    assert_eq!(body["sessionValidity"], "2026-01-01T01:00:00.000Z");
    assert_eq!(body["socialSecurityNumber"], "72912053013");
    assert_eq!(body["shopperName"], json!({ "firstName": "Jose", "lastName": "Bonifacio de Andrada" }));
    assert_eq!(body["countryCode"], "BR");
    assert_eq!(body.get("captureDelayHours"), None);
    assert_eq!(body.get("authenticationData"), None);
}

#[test]
fn a_boleto_has_an_address_and_a_due_date() {
    let body = body(&by_boleto(boleto()));
    assert_eq!(body["paymentMethod"], json!({ "type": "boletobancario" }));
    assert_eq!(body["deliverAt"], "2026-01-15T12:00:00.000Z");
    assert_eq!(body["shopperStatement"], "Pay at any bank");
    assert_eq!(
        body["billingAddress"],
        json!({
            "street": "Rua XV de Novembro", "houseNumberOrName": "12B", "postalCode": "11010150", "city": "Santos",
            "stateOrProvince": "SP", "country": "BR",
        })
    );
    let fine = Fine { days: 1, rate: FineRate::Amount(Amount::new(200).unwrap()) };
    let late_charges = LateCharges { fine: Some(fine), ..LateCharges::default() };
    assert!(refusal(&by_boleto(regente_domain::charge::Boleto { late_charges, ..boleto() })).retryable);
}

#[test]
fn what_the_provider_does_not_take_is_not_sent() {
    let picpay = with_method(PaymentMethod::Picpay(Picpay { source: payer_source() }));
    assert_eq!(refusal(&picpay).code, DeclinedCode::Generic);
    assert!(refusal(&picpay).retryable);
    let debit = Debit { source: card_source(), installments: 1 };
    assert_eq!(body(&with_method(PaymentMethod::Debit(debit)))["paymentMethod"]["fundingSource"], "debit");
}

#[test]
fn a_capture_names_the_amount() {
    let (path, body) = sent(&capture(1000));
    assert_eq!(path, "payments/993617895204576J/captures");
    assert_eq!(
        body,
        json!({
            "merchantAccount": "TestMerchant",
            "reference": "01980000000070008000000000000009-01980000000070008000000000000002-capture",
            "amount": { "currency": "BRL", "value": 1000 },
        })
    );
}

#[test]
fn a_reservation_is_cancelled_and_money_is_refunded() {
    let (path, body) = sent(&void(1500, reserved(1500)));
    assert_eq!(path, "payments/993617895204576J/cancels");
    assert_eq!(
        body,
        json!({
            "merchantAccount": "TestMerchant",
            "reference": "01980000000070008000000000000009-01980000000070008000000000000002-void",
        })
    );
    let (path, body) = sent(&void(500, taken(1500)));
    assert_eq!(path, "payments/993617895204576J/refunds");
    assert_eq!(body["amount"], json!({ "currency": "BRL", "value": 500 }));
}

#[test]
fn a_part_of_a_reservation_is_not_cancelled() {
    assert!(asked(&void(500, reserved(1500))).is_err(), "all of it would be released");
}

#[test]
fn a_payment_whose_id_is_not_known_is_cancelled_by_our_reference() {
    let unknown = |amount| FollowUp { transaction_id: None, ..follow_up(amount, reserved(1500)) };
    let (path, body) = sent(&call(key(2), Operation::Void(unknown(1500))));
    assert_eq!(path, "cancels");
    assert_eq!(
        body["paymentReference"],
        "01980000000070008000000000000009-01980000000070008000000000000001-authorization"
    );
    assert!(asked(&call(key(2), Operation::Void(unknown(500)))).is_err());
    assert!(asked(&call(key(2), Operation::Capture(unknown(1500)))).is_err());
}

#[test]
fn a_returned_browser_is_asked_about_under_a_key_of_its_result() {
    let (true_one, false_one) =
        (inquiry(&[("redirectResult", "X6XtfGC3!Y")]), inquiry(&[("redirectResult", "x")]));
    let asked = returned(&true_one).unwrap();
    assert_eq!(asked.path.join("/"), "payments/details");
    assert_eq!(
        serde_json::to_value(&asked.body).unwrap(),
        json!({ "details": { "redirectResult": "X6XtfGC3!Y" } })
    );
    let keys = [asked.idempotency_key, returned(&false_one).unwrap().idempotency_key, Some(key(1))];
    assert!(keys[0] != keys[1] && keys[0] != keys[2], "{keys:?}");
    assert!(returned(&inquiry(&[])).is_none());
    assert!(returned(&inquiry(&[("MD", "1")])).is_none());
}

#[test]
fn a_reference_leads_back_to_its_request() {
    for (word, operation) in OperationKind::WORDS {
        let reference = Reference { object_id: charge_id(), key: key(1), operation: *operation };
        let text = reference.to_string();
        assert!(text.len() <= 80, "{text}");
        assert!(text.ends_with(word), "{text}");
        assert_eq!(Reference::parse(&text), Some(reference));
    }
    for other in
        ["", "order 7", "a-b-void", "01980000000070008000000000000009-01980000000070008000000000000001-VOID"]
    {
        assert_eq!(Reference::parse(other), None, "{other}");
    }
}

#[test]
fn four_currencies_have_other_minor_units() {
    let amount = |minor_units| Amount::new(minor_units).unwrap();
    for (code, ours, theirs) in [
        ("BRL", 1500, 1500),
        ("JPY", 1500, 1500),
        ("CLP", 1500, 150_000),
        ("ISK", 1500, 150_000),
        ("IDR", 150_000, 1500),
        ("CVE", 150_000, 1500),
    ] {
        let currency = Currency::parse(code).unwrap();
        assert_eq!(to_provider(amount(ours), currency), Some(theirs), "{code}");
        assert_eq!(from_provider(theirs, currency), Some(amount(ours)), "{code}");
    }
    let (rupiah, peso) = (Currency::parse("IDR").unwrap(), Currency::parse("CLP").unwrap());
    assert_eq!(to_provider(amount(150_050), rupiah), None);
    assert_eq!(from_provider(150_050, peso), None);
    let part = Authorization { amount: amount(150_050), currency: rupiah, ..by_card() };
    assert!(refusal(&charge(part)).retryable);
}
