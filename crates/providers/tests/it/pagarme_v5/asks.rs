//! What the provider is sent.

use regente_domain::boleto::{Fine, FineRate, Interest, InterestRate, LateCharges};
use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::authentication::{Authenticated, Found, LiabilityShift, Purpose};
use regente_domain::charge::{
    AdditionalInfo, Boleto, Credit, Debit, PaymentMethod, Pix, Recurrence, Voucher,
};
use regente_domain::country::Country;
use regente_domain::currency::Currency;
use regente_domain::customer::Document;
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::mcc::Mcc;
use regente_domain::payment_type::PaymentType;
use regente_domain::percentage::Percentage;
use regente_domain::split::Bears;
use regente_domain::time::parse_date;
use regente_providers::authentication::{Mpi, Proof, ThreeDSecure};
use regente_providers::division::{Division, SellerPart};
use regente_providers::pagarme_v5::ask;
use regente_providers::pagarme_v5::reference::Reference;
use regente_providers::request::{
    Authorization, ClickToPayCheckout, FollowUp, Instrument, Operation, PayerDetails, WalletDetails,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::*;
use crate::support::{authorization, card_source, follow_up};

fn order(authorization: Authorization) -> Result<Value, Decline> {
    let call = call(KEY, Operation::Authorize(authorization));
    let Operation::Authorize(authorization) = &call.operation else { unreachable!() };
    ask::order(&call, authorization).map(|order| serde_json::to_value(order).unwrap())
}

#[track_caller]
fn payment(authorization: Authorization) -> Value {
    order(authorization).unwrap()["payments"][0].take()
}

/// Two sellers, of whom the second has nothing, and what is left to the merchant.
pub(super) fn division(rest: i64) -> Box<Division> {
    let part = |number: u128, recipient: Option<&str>, amount: i64, bears| SellerPart {
        registration: Uuid::from_u128(number),
        recipient: recipient.map(str::to_owned),
        amount: cents(amount),
        bears,
    };
    let bears = Bears { liable: Some(true), processing_fee: Some(true), ..Bears::default() };
    let sellers = vec![part(1, Some("rp_1"), 1500 - rest, bears), part(2, None, 0, Bears::default())];
    Box::new(Division { sellers, rest: cents(rest) })
}

#[test]
fn a_payment_is_split_in_cents_with_the_merchant_as_one_of_the_recipients() {
    let divided = |rest| Authorization { division: Some(division(rest)), ..card_authorization("123") };
    let of = |recipient: &str, amount: i64, (processing, remainder, liable): (bool, bool, bool)| {
        json!({
            "type": "flat", "amount": amount, "recipient_id": recipient,
            "options": { "charge_processing_fee": processing, "charge_remainder_fee": remainder, "liable": liable },
        })
    };
    let seller = |amount| of("rp_1", amount, (true, false, true));
    let split = payment(divided(500))["split"].take();
    assert_eq!(split, json!([seller(1000), of("rp_own", 500, (false, true, true))]));
    assert_eq!(payment(divided(0))["split"], json!([seller(1500)]), "nothing is left to the merchant");

    let follow_up = FollowUp { division: Some(division(500)), ..follow_up(KEY, 1500) };
    let call = call(KEY, Operation::Capture(follow_up.clone()));
    let captured = serde_json::to_value(ask::capture(&call, &follow_up).unwrap()).unwrap();
    let canceled = serde_json::to_value(ask::cancellation(&call, &follow_up).unwrap()).unwrap();
    assert_eq!((&captured["split"], &canceled["split"]), (&split, &split));

    let credentials = Credentials::new(object(json!({ "secretKey": "sk_test_1" })));
    let unknown = Call { credentials, ..call };
    let refused = ask::capture(&unknown, &follow_up).err().unwrap();
    assert!(refused.retryable, "nothing was sent, and the next provider may divide it");
}

fn credit(recurrence: Option<Recurrence>) -> PaymentMethod {
    PaymentMethod::Credit(Credit { source: card_source(), installments: 3, recurrence })
}

#[test]
fn a_card_is_charged_by_an_order_with_one_item_and_one_payment() {
    let sent = order(Authorization {
        method: credit(None),
        statement_descriptor: Some("Loja da Ana e do João".to_owned()),
        description: Some("Duas camisas".to_owned()),
        order_id: Some("order 7".to_owned()),
        merchant_mcc: Mcc::parse_digits("5651"),
        ..card_authorization("123")
    })
    .unwrap();
    let address = json!({
        "street": "Rua Direita", "number": "12B", "zip_code": "01001000", "neighborhood": "Centro",
        "city": "São Paulo", "state": "SP", "country": "BR", "complement": "Sala 3",
        "line_1": "12B, Rua Direita, Centro", "line_2": "Sala 3",
    });
    let expected = json!({
        "code": CODE,
        "closed": true,
        "items": [{ "amount": 1500, "code": OBJECT, "description": "Duas camisas", "quantity": 1 }],
        "customer": {
            "name": "Ana Lima", "email": "ana@example.com", "type": "individual",
            "document": "52998224725", "document_type": "CPF", "address": address,
            "phones": { "mobile_phone": { "country_code": "55", "area_code": "11", "number": "987654321" } },
        },
        "payments": [{
            "amount": 1500,
            "payment_method": "credit_card",
            "credit_card": {
                "installments": 3, "operation_type": "auth_and_capture", "auto_recovery": false,
                "statement_descriptor": "Loja da Ana e", "merchant_category_code": 5651,
                "card": {
                    "number": CARD, "holder_name": "JOAO DA SILVA", "exp_month": 3, "exp_year": 2027, "cvv": "123",
                    "holder_document": "52998224725", "billing_address": address,
                },
            },
        }],
        "metadata": { "regente_object": OBJECT, "regente_key": KEY, "order_id": "order 7" },
    });
    assert_eq!(sent, expected);
}

#[test]
fn the_code_of_an_order_names_the_call_and_no_other() {
    let id = |number| Uuid::from_u128(0xfedc_ba98_7654_7210_8123_4567_89ab_cdef ^ number);
    for number in [0, 1, u128::MAX, 0x1234_5678 << 64] {
        let reference = Reference { object_id: id(number), key: id(!number) };
        let code = reference.code();
        assert_eq!(code.len(), 44, "the provider takes 52");
        assert_eq!(Reference::parse(&code), Some(reference));
        let others = ["", "1303724", &code[1..], &format!("{code}A"), &format!("{}ç", &code[..42])];
        for other in others {
            assert_eq!(Reference::parse(other), None, "{other}");
        }
    }
    assert_eq!(Reference { object_id: OBJECT, key: KEY }.code(), CODE);
}

#[test]
fn a_reservation_is_only_authorized() {
    let sent = payment(Authorization { capture: CaptureMode::Manual, ..card_authorization("123") });
    assert_eq!(sent["credit_card"]["operation_type"], "auth_only");
}

#[test]
fn a_later_payment_of_a_series_names_the_first() {
    let first =
        payment(Authorization { method: credit(Some(Recurrence::Initial)), ..card_authorization("123") });
    assert_eq!(first["credit_card"]["recurrence_cycle"], "first");
    for recurrence in [Recurrence::Subsequent, Recurrence::Unscheduled] {
        let later = payment(Authorization {
            method: credit(Some(recurrence)),
            network_transaction_id: Some("network-7".to_owned()),
            ..authorization(CARD, None)
        });
        let card = &later["credit_card"];
        assert_eq!(card["recurrence_cycle"], "subsequent");
        assert_eq!(card["recurrency_cycle"], "subsequent");
        assert_eq!(card["payment_origin"], json!({ "brand_id": "network-7" }));
        assert_eq!(card["card"].get("cvv"), None);
    }
}

#[test]
fn the_result_of_a_3ds_server_is_handed_over() {
    let proofs = [
        Proof::Answered(Authenticated {
            eci: Some("05".to_owned()),
            cavv: Some("AAAB".to_owned()),
            network_transaction_id: Some("ds-1".to_owned()),
            version: Some("2.2.0".to_owned()),
            ..Authenticated::bare(Found::Authenticated)
        }),
        Proof::Outside(Mpi {
            cavv: Some("AAAB".to_owned()),
            eci: Some("05".to_owned()),
            directory_server_transaction_id: Some("ds-1".to_owned()),
            version: Some("2.2.0".to_owned()),
            ..serde_json::from_value(json!({})).unwrap()
        }),
    ];
    for proof in proofs {
        let sent = payment(Authorization { proof: Some(Box::new(proof)), ..card_authorization("123") });
        let expected = json!({
            "type": "threed_secure",
            "threed_secure": {
                "mpi": "third_party", "cavv": "AAAB", "eci": "05", "ds_transaction_id": "ds-1", "version": "2.2.0",
            },
        });
        assert_eq!(sent["credit_card"]["authentication"], expected);
    }
    let unproven = json!({ "transStatus": "Y", "cavv": "" });
    for nobody in [
        Proof::Answered(Authenticated::bare(Found::NotEnrolled)),
        Proof::Outside(serde_json::from_value(unproven).unwrap()),
    ] {
        let sent = payment(Authorization { proof: Some(Box::new(nobody)), ..card_authorization("123") });
        assert_eq!(sent["credit_card"].get("authentication"), None);
    }
}

#[test]
fn the_provider_authenticates_nobody_itself() {
    let to_do = |liability_shift| Authorization {
        proof: Some(Box::new(Proof::ToDo {
            purpose: Purpose::Authenticate,
            data: Box::new(ThreeDSecure::default()),
            return_url: "https://shop.example/back".to_owned(),
        })),
        liability_shift,
        ..card_authorization("123")
    };
    let sent = payment(to_do(LiabilityShift::NotRequired));
    assert_eq!(sent["credit_card"].get("authentication"), None);
    let decline = order(to_do(LiabilityShift::Required)).unwrap_err();
    assert!(decline.retryable, "the next provider may authenticate");
    assert_eq!(decline.network_denied_reason.as_deref(), Some("authentication_unavailable"));
}

#[test]
fn a_voucher_is_charged_at_once() {
    let method = PaymentMethod::Voucher(Voucher { source: card_source(), items: None });
    let sent = payment(Authorization { method, ..card_authorization("123") });
    assert_eq!(sent["payment_method"], "voucher");
    assert_eq!(sent["voucher"]["Card"]["number"], CARD);
    assert_eq!(sent["voucher"]["Card"]["holder_document"], "52998224725");
}

#[test]
fn a_pix_says_how_long_it_can_be_paid() {
    let additional_info = vec![AdditionalInfo { name: "Pedido".to_owned(), value: "7".to_owned() }];
    let method = Pix { source: payer_source(), expires_in: 900, additional_info, items: None };
    let sent = payment(Authorization { method: PaymentMethod::Pix(method), ..pix_authorization() });
    let expected = json!({
        "amount": 1500, "payment_method": "pix",
        "pix": { "expires_in": 900, "additional_information": [{ "Name": "Pedido", "Value": "7" }] },
    });
    assert_eq!(sent, expected);
}

#[test]
fn a_boleto_has_its_due_date_and_what_lateness_costs() {
    let boleto = |interest, fine| {
        PaymentMethod::Boleto(Box::new(Boleto {
            source: payer_source(),
            due: parse_date("2027-01-05").unwrap(),
            instructions: Some("Pagar até o vencimento".to_owned()),
            late_charges: LateCharges { interest: Some(interest), fine: Some(fine) },
            items: None,
        }))
    };
    let percent = Percentage::from_hundredths;
    let monthly = Interest { days: 0, rate: InterestRate::PercentagePerMonth(percent(150)) };
    let once = Fine { days: 2, rate: FineRate::Amount(cents(250)) };
    let sent = payment(Authorization { method: boleto(monthly, once), ..pix_authorization() });
    assert_eq!(sent["boleto"]["due_at"], "2027-01-05T23:59:59Z");
    assert_eq!(sent["boleto"]["instructions"], "Pagar até o vencimento");
    assert_eq!(sent["boleto"]["interest"], json!({ "days": 1, "type": "percentage", "amount": 1.5 }));
    assert_eq!(sent["boleto"]["fine"], json!({ "days": 2, "type": "flat", "amount": 250 }));
    let daily = Interest { days: 3, rate: InterestRate::AmountPerDay(cents(40)) };
    let part = Fine { days: 1, rate: FineRate::Percentage(percent(200)) };
    let sent = payment(Authorization { method: boleto(daily, part), ..pix_authorization() });
    assert_eq!(sent["boleto"]["interest"], json!({ "days": 3, "type": "flat", "amount": 40 }));
    assert_eq!(sent["boleto"]["fine"], json!({ "days": 1, "type": "percentage", "amount": 2 }));
}

#[test]
fn a_customer_is_as_much_as_is_known_of_him() {
    let customer = |buyer: PayerDetails| {
        let authorization = Authorization { buyer: Some(Box::new(buyer)), ..authorization(CARD, None) };
        order(authorization).unwrap()["customer"].take()
    };
    let unknown = customer(PayerDetails::unknown());
    assert_eq!(unknown, json!({ "name": "JOAO DA SILVA", "type": "individual", "phones": {} }));
    let document = |kind: &str, number: &str, country| PayerDetails {
        document: Document { kind: kind.to_owned(), number: number.to_owned(), country },
        ..payer()
    };
    let company = customer(document("CNPJ", "12.ABC.345/01DE-35", Country::BR));
    assert_eq!(company["type"], "company");
    assert_eq!(company["document"], "12ABC34501DE35");
    let foreign = customer(document("passport", "AB 12", Country::parse("AR").unwrap()));
    assert_eq!((&foreign["document_type"], &foreign["document"]), (&json!("PASSPORT"), &json!("AB12")));
    let other = customer(document("DNI", "123", Country::parse("AR").unwrap()));
    assert_eq!(other.get("document"), None);

    let phones =
        |number: &str| customer(PayerDetails { phone_number: number.to_owned(), ..payer() })["phones"].take();
    let parts = |kind: &str, area: &str, number: &str| json!({ kind: { "country_code": "55", "area_code": area, "number": number } });
    assert_eq!(phones("(55) 99876-5432"), parts("mobile_phone", "55", "998765432"));
    assert_eq!(phones("+55 (55) 99876-5432"), parts("mobile_phone", "55", "998765432"));
    assert_eq!(phones("011 3456-7890"), parts("home_phone", "11", "34567890"));
    for unreadable in ["", "+1 212 555 1234", "12345", "çç"] {
        assert_eq!(phones(unreadable), json!({}), "{unreadable}");
    }
}

#[test]
fn what_the_provider_does_not_take_is_not_sent() {
    let click = WalletDetails::ClickToPay(ClickToPayCheckout::default());
    let refused = [
        Authorization { currency: Currency::parse("USD").unwrap(), ..card_authorization("123") },
        Authorization { instrument: Instrument::Wallet(Box::new(click)), ..card_authorization("123") },
        Authorization {
            method: PaymentMethod::Debit(Debit { source: card_source(), installments: 1 }),
            ..card_authorization("123")
        },
    ];
    for authorization in refused {
        let decline = order(authorization).unwrap_err();
        assert_eq!(decline.code, DeclinedCode::TransactionNotAllowed);
        assert!(decline.retryable);
    }
}

#[test]
fn routing_leaves_out_what_is_not_sent() {
    let providers = super::judge::providers(1);
    let narrowed = providers.narrowed(ProviderType::PagarmeV5, &serde_json::Map::new());
    let types = narrowed.payment_types.unwrap();
    assert!(types.contains(&PaymentType::Boleto) && !types.contains(&PaymentType::ApplePay), "{types:?}");
    assert_eq!(narrowed.currencies, Some(vec![Currency::BRL]));
}

#[test]
fn a_capture_repeats_the_code_and_both_changes_carry_their_key() {
    let other = Uuid::from_u128(9);
    let call = call(other, Operation::Capture(follow_up(KEY, 700)));
    let Operation::Capture(follow_up) = &call.operation else { unreachable!() };
    let captured = serde_json::to_value(ask::capture(&call, follow_up).unwrap()).unwrap();
    assert_eq!(captured, json!({ "amount": 700, "code": CODE, "operation_reference": other }));
    let canceled = serde_json::to_value(ask::cancellation(&call, follow_up).unwrap()).unwrap();
    assert_eq!(canceled, json!({ "amount": 700, "operation_reference": other }));
}
