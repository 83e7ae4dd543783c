//! What is sent.

use regente_domain::boleto::LateCharges;
use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::authentication::{Authenticated, Found, LiabilityShift, Purpose};
use regente_domain::charge::{Boleto, CardSource, Credit, PayerSource, PaymentMethod, Recurrence};
use regente_domain::country::Country;
use regente_domain::customer::{Address, Document};
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::id::Id;
use regente_domain::money::Amount;
use regente_providers::authentication::{Mpi, Proof, ThreeDSecure};
use regente_providers::request::{Authorization, Call, Instrument, Operation, PayerDetails, Verification};
use regente_providers::stripe::ask::{self, Ask};
use uuid::Uuid;

use super::{APPROVED, AUTHORIZATION, call, charge, currency, follow_up, uuid_of};
use crate::support::{authorization, card, card_source, key};

fn asked(authorization: Authorization) -> Result<Ask, Decline> {
    let call = call(AUTHORIZATION, Operation::Authorize(authorization));
    let Operation::Authorize(authorization) = &call.operation else { unreachable!() };
    ask::authorization(&call, authorization)
}

fn card_authorization() -> Authorization {
    authorization(APPROVED, Some("123"))
}

/// The members that are sent, as `name=value`.
#[track_caller]
fn sent(authorization: Authorization) -> Vec<String> {
    let ask = asked(authorization).ok().unwrap();
    ask.members.pairs().iter().map(|(name, value)| format!("{name}={}", value.as_str())).collect()
}

#[track_caller]
fn has(sent: &[String], member: &str) {
    assert!(sent.iter().any(|known| known == member), "{member} is not in {sent:#?}");
}

#[track_caller]
fn lacks(sent: &[String], name: &str) {
    assert!(!sent.iter().any(|known| known.starts_with(name)), "{name} is in {sent:#?}");
}

#[test]
fn a_card_is_charged_at_once() {
    let ask = asked(card_authorization()).ok().unwrap();
    assert_eq!(
        (ask.step, ask.method.as_str(), ask.path.as_str()),
        ("payment_intents.create", "POST", "/v1/payment_intents")
    );
    assert_eq!(ask.idempotency_key, Some(uuid_of(AUTHORIZATION).to_string()));
    let sent: Vec<_> = ask.members.pairs().iter().map(|(name, value)| (*name, value.as_str())).collect();
    let expected = [
        ("amount", "1500"),
        ("currency", "brl"),
        ("confirm", "true"),
        ("expand[]", "latest_charge"),
        ("metadata[regente_object_id]", "01980000-0000-7000-8000-000000000009"),
        ("metadata[regente_key]", "01980000-0000-7000-8000-000000000001"),
        ("payment_method_types[]", "card"),
        ("payment_method_data[type]", "card"),
        ("payment_method_data[card][number]", "4242424242424242"),
        ("payment_method_data[card][exp_month]", "03"),
        ("payment_method_data[card][exp_year]", "2027"),
        ("payment_method_data[card][cvc]", "123"),
        ("payment_method_data[billing_details][name]", "JOAO DA SILVA"),
        ("capture_method", "automatic"),
        ("error_on_requires_action", "true"),
    ];
    assert_eq!(sent, expected);
}

#[test]
fn a_reservation_waits_for_its_capture() {
    has(
        &sent(Authorization { capture: CaptureMode::Manual, ..card_authorization() }),
        "capture_method=manual",
    );
}

#[test]
fn references_and_texts_go_along() {
    let sent = sent(Authorization {
        order_id: Some("order-7".to_owned()),
        provider_reference_key: Some("ref-8".to_owned()),
        description: Some("Shoes".to_owned()),
        ..card_authorization()
    });
    for member in ["metadata[order_id]=order-7", "metadata[reference]=ref-8", "description=Shoes"] {
        has(&sent, member);
    }
}

#[test]
fn a_statement_descriptor_is_what_the_provider_prints() {
    let with = |text: &str| {
        sent(Authorization { statement_descriptor: Some(text.to_owned()), ..card_authorization() })
    };
    has(&with("Pedido 7"), "statement_descriptor_suffix=Pedido 7");
    // Accents and forbidden signs are gone, and every account has room for ten characters.
    has(&with("*Pão* de \"Queijo\""), "statement_descriptor_suffix=Pao de Que");
    // The provider wants a letter.
    lacks(&with("12345"), "statement_descriptor_suffix");
}

#[test]
fn installments_are_a_plan_of_months() {
    let method = PaymentMethod::Credit(Credit { source: card_source(), installments: 3, recurrence: None });
    let sent = sent(Authorization { method, ..card_authorization() });
    has(&sent, "payment_method_options[card][installments][plan][count]=3");
    has(&sent, "payment_method_options[card][installments][plan][interval]=month");
    lacks(&super::asked::sent(card_authorization()), "payment_method_options[card][installments]");
}

fn recurring(recurrence: Recurrence) -> Authorization {
    let source = CardSource::Card { card_id: Id::new(Uuid::nil()) };
    let method = PaymentMethod::Credit(Credit { source, installments: 1, recurrence: Some(recurrence) });
    Authorization { method, ..authorization(APPROVED, None) }
}

#[test]
fn a_series_begins_with_an_agreement() {
    let sent = sent(recurring(Recurrence::Initial));
    has(&sent, "setup_future_usage=off_session");
    lacks(&sent, "off_session=");
}

#[test]
fn a_later_payment_names_the_first_one() {
    for recurrence in [Recurrence::Subsequent, Recurrence::Unscheduled] {
        let network_transaction_id = Some("282110102210132".to_owned());
        let sent = sent(Authorization { network_transaction_id, ..recurring(recurrence) });
        has(&sent, "off_session=true");
        has(&sent, "payment_method_options[card][mit_exemption][network_transaction_id]=282110102210132");
        // The cardholder is away, so the provider asks nobody by itself.
        lacks(&sent, "error_on_requires_action");
        lacks(&sent, "payment_method_data[card][cvc]");
        lacks(&sent, "setup_future_usage");
    }
}

fn to_do(purpose: Purpose, liability_shift: LiabilityShift) -> Authorization {
    let return_url = "https://regente.example/back".to_owned();
    let proof = Proof::ToDo { purpose, data: Box::<ThreeDSecure>::default(), return_url };
    Authorization { proof: Some(Box::new(proof)), liability_shift, ..card_authorization() }
}

#[test]
fn the_provider_authenticates_where_the_browser_can_return() {
    let sent = sent(to_do(Purpose::Authenticate, LiabilityShift::NotRequired));
    has(&sent, "payment_method_options[card][request_three_d_secure]=any");
    has(&sent, "return_url=https://regente.example/back");
    lacks(&sent, "error_on_requires_action");
    lacks(&sent, "metadata[regente_liability_shift]");
    has(
        &super::asked::sent(to_do(Purpose::Authenticate, LiabilityShift::Required)),
        "metadata[regente_liability_shift]=required",
    );
}

#[test]
fn data_cannot_be_shared_alone() {
    let sent = sent(to_do(Purpose::ShareData, LiabilityShift::NotRequired));
    has(&sent, "error_on_requires_action=true");
    lacks(&sent, "return_url");
    let refused = asked(to_do(Purpose::ShareData, LiabilityShift::Required)).err().unwrap();
    assert_eq!(refused.network_denied_reason.as_deref(), Some("unable_to_perform_authentication"));
}

#[test]
fn the_result_of_another_server_is_handed_over() {
    let answered = Authenticated {
        version: Some("2.2.0".to_owned()),
        eci: Some("05".to_owned()),
        cavv: Some("AAABBEg0VhI0VniQEjRWAAAAAAA=".to_owned()),
        network_transaction_id: Some("f38e6948-5388-41a6-bca4-b49723c19437".to_owned()),
        ..Authenticated::bare(Found::Authenticated)
    };
    let outside = Mpi {
        acs_transaction_id: None,
        cavv: answered.cavv.clone(),
        challenged: None,
        directory_server_transaction_id: answered.network_transaction_id.clone(),
        eci: answered.eci.clone(),
        three_ds_server_transaction_id: None,
        trans_status: Some("Y".to_owned()),
        version: answered.version.clone(),
        xid: None,
    };
    for proof in [Proof::Answered(answered.clone()), Proof::Outside(outside.clone())] {
        let sent = sent(Authorization { proof: Some(Box::new(proof)), ..card_authorization() });
        for (name, value) in [
            ("version", "2.2.0"),
            ("cryptogram", "AAABBEg0VhI0VniQEjRWAAAAAAA="),
            ("transaction_id", "f38e6948-5388-41a6-bca4-b49723c19437"),
            ("electronic_commerce_indicator", "05"),
        ] {
            has(&sent, &format!("payment_method_options[card][three_d_secure][{name}]={value}"));
        }
        has(&sent, "error_on_requires_action=true");
    }
    let sent_outside = sent(Authorization {
        proof: Some(Box::new(Proof::Outside(outside.clone()))),
        ..card_authorization()
    });
    has(&sent_outside, "payment_method_options[card][three_d_secure][ares_trans_status]=Y");
    // A result without its proof is none.
    let unproven = Proof::Outside(Mpi { cavv: Some(String::new()), ..outside });
    let sent_unproven = sent(Authorization { proof: Some(Box::new(unproven)), ..card_authorization() });
    lacks(&sent_unproven, "payment_method_options[card][three_d_secure]");
    let bare = Proof::Answered(Authenticated { cavv: None, ..answered });
    let proven = |liability_shift| Authorization {
        proof: Some(Box::new(bare.clone())),
        liability_shift,
        ..card_authorization()
    };
    lacks(&sent(proven(LiabilityShift::NotRequired)), "payment_method_options[card][three_d_secure]");
    let refused = asked(proven(LiabilityShift::Required)).err().unwrap();
    assert_eq!(refused.code, DeclinedCode::TransactionNotAllowed);
}

#[test]
fn amounts_have_the_decimals_of_the_provider() {
    let amount = |minor_units, code| {
        let amount = Amount::new(minor_units).unwrap();
        let ask = asked(Authorization { amount, currency: currency(code), ..card_authorization() })?;
        Ok::<_, Decline>(ask.members.get("amount").unwrap().to_owned())
    };
    for (minor_units, code, expected) in [
        (1_500, "BRL", "1500"),
        (1_500, "USD", "1500"),
        (1_500, "JPY", "1500"),
        (1_500, "CLP", "1500"),
        (1_500, "HUF", "1500"),
        (1_500, "TWD", "1500"),
        // Two decimals that ISO 4217 does not have.
        (1_500, "ISK", "150000"),
        (1_500, "UGX", "150000"),
        // None of the two that ISO 4217 has.
        (1_500, "MGA", "15"),
    ] {
        assert_eq!(amount(minor_units, code).unwrap(), expected, "{code}");
    }
    let refused = amount(1_550, "MGA").unwrap_err();
    assert_eq!((refused.code, refused.retryable), (DeclinedCode::InvalidAmount, true));
}

fn payer() -> PayerDetails {
    PayerDetails {
        name: "Maria Souza".to_owned(),
        email: Some("maria@example.com".to_owned()),
        phone_number: "+5511988887777".to_owned(),
        document: Document {
            kind: "CPF".to_owned(),
            number: "000.000.000-00".to_owned(),
            country: Country::BR,
        },
        address: Some(Address {
            country: Some(Country::BR),
            state: Some("SP".to_owned()),
            city: Some("Sao Paulo".to_owned()),
            district: Some("Centro".to_owned()),
            zip_code: Some("01310-100".to_owned()),
            street: Some("Av. Paulista".to_owned()),
            street_number: Some("1000".to_owned()),
            complement: Some("12B".to_owned()),
        }),
    }
}

fn boleto(due: &str) -> Authorization {
    let source = PayerSource { customer_id: Id::new(Uuid::nil()) };
    let due = due.parse().unwrap();
    let boleto =
        Boleto { source, due, instructions: None, late_charges: LateCharges::default(), items: None };
    Authorization {
        method: PaymentMethod::Boleto(Box::new(boleto)),
        instrument: Instrument::Payer(Box::new(payer())),
        ..card_authorization()
    }
}

#[test]
fn a_boleto_names_its_payer() {
    // The call is made on the last evening of 2025 in São Paulo.
    let sent = sent(boleto("2026-01-03"));
    for member in [
        "payment_method_types[]=boleto",
        "payment_method_data[type]=boleto",
        "payment_method_data[boleto][tax_id]=000.000.000-00",
        "payment_method_data[billing_details][name]=Maria Souza",
        "payment_method_data[billing_details][email]=maria@example.com",
        "payment_method_data[billing_details][phone]=+5511988887777",
        "payment_method_data[billing_details][address][line1]=Av. Paulista, 1000",
        "payment_method_data[billing_details][address][line2]=12B, Centro",
        "payment_method_data[billing_details][address][city]=Sao Paulo",
        "payment_method_data[billing_details][address][state]=SP",
        "payment_method_data[billing_details][address][postal_code]=01310-100",
        "payment_method_data[billing_details][address][country]=BR",
        "payment_method_options[boleto][expires_after_days]=3",
    ] {
        has(&sent, member);
    }
    lacks(&sent, "capture_method");
    lacks(&sent, "error_on_requires_action");
}

#[test]
fn a_boleto_is_not_awaited_for_longer_than_the_provider_does() {
    let refused = asked(boleto("2026-03-02")).err().unwrap();
    assert_eq!(
        (refused.code, refused.network_denied_reason.as_deref()),
        (DeclinedCode::InvalidData, Some("expires_after_days"))
    );
    has(&sent(boleto("2026-03-01")), "payment_method_options[boleto][expires_after_days]=60");
}

#[test]
fn the_customer_of_a_card_goes_along() {
    let sent = sent(Authorization { buyer: Some(Box::new(payer())), ..card_authorization() });
    // The name is that of the card.
    has(&sent, "payment_method_data[billing_details][name]=JOAO DA SILVA");
    has(&sent, "payment_method_data[billing_details][email]=maria@example.com");
    has(&sent, "payment_method_data[billing_details][address][postal_code]=01310-100");
}

#[test]
fn a_method_that_the_provider_does_not_have_is_refused() {
    let instrument = Instrument::Payer(Box::new(payer()));
    let refused = asked(Authorization { instrument, ..card_authorization() }).err().unwrap();
    assert_eq!(refused.network_denied_reason.as_deref(), Some("payment_method_not_supported"));
    assert!(refused.retryable);
}

#[test]
fn a_card_is_checked_without_an_amount() {
    let verification =
        Verification { currency: currency("BRL"), card: card(APPROVED, Some("123")), merchant_mcc: None };
    let call = charge();
    let ask = ask::verification(&call, &verification);
    assert_eq!(ask.path, "/v1/setup_intents");
    assert_eq!(ask.members.get("usage"), Some("off_session"));
    assert_eq!(ask.members.get("payment_method_data[card][number]"), Some(APPROVED));
    assert_eq!(ask.members.get("amount"), None);
    assert_eq!(ask.idempotency_key, Some(uuid_of(AUTHORIZATION).to_string()));
}

#[test]
fn follow_ups_name_the_payment_and_their_own_key() {
    let call: Call = call(2, Operation::Capture(follow_up(400)));
    let capture = ask::capture(&call, &follow_up(400), "pi_3SQ").ok().unwrap();
    assert_eq!(capture.path, "/v1/payment_intents/pi_3SQ/capture");
    assert_eq!(capture.members.get("amount_to_capture"), Some("400"));
    assert_eq!(capture.members.get("metadata[regente_capture_key]"), Some(key(2).to_string().as_str()));
    assert_eq!(capture.idempotency_key, Some(key(2).to_string()));
    let refund = ask::refund(&call, &follow_up(400), "pi_3SQ").ok().unwrap();
    assert_eq!(refund.path, "/v1/refunds");
    assert_eq!(refund.members.get("payment_intent"), Some("pi_3SQ"));
    assert_eq!(refund.members.get("amount"), Some("400"));
    assert_eq!(refund.members.get("metadata[regente_key]"), Some(key(2).to_string().as_str()));
    assert_eq!(refund.idempotency_key, Some(format!("{}-refund", key(2))));
}
