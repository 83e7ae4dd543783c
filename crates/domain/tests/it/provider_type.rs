use std::collections::HashSet;

use regente_domain::card::Brand;
use regente_domain::currency::Currency;
use regente_domain::payment_type::PaymentType;
use regente_domain::problems::Problems;
use regente_domain::provider_type::{Ability, AntiFraud, ProviderType};
use serde_json::{Map, Value};

mod credentials;
mod facts;
mod options;

/// What each type charges (`docs/interface/provider-types.md#abilities`).
const CHARGES: [(&str, &str); 36] = [
    ("SANDBOX", "credit debit voucher pix boleto nupay drip picpay apple_pay click_to_pay"),
    ("SANDBOX_ANTIFRAUD", ""),
    ("ADYEN", "credit pix boleto"),
    ("B2E", ""),
    ("BANRISUL", "pix"),
    ("BARTE", "credit"),
    ("BB", "pix"),
    ("BOLT", "credit"),
    ("BRAINTREE", "credit"),
    ("BRASPAG", "credit"),
    ("BS2", "pix"),
    ("BS2_BOLETO", "boleto"),
    ("CIELO", "credit pix apple_pay"),
    ("CLEARSALE", ""),
    ("DRIP", "drip"),
    ("GETNET", "credit pix boleto"),
    ("GETNET_SEP", "credit pix boleto"),
    ("ITAU", "pix"),
    ("KLAP", "credit"),
    ("KONDUTO", ""),
    ("MAPINVEST", "pix"),
    ("MERCADO_PAGO", "credit pix boleto"),
    ("NUPAY", "nupay"),
    ("OWEMPAY", "credit pix"),
    ("PAGARME", "credit voucher pix boleto apple_pay"),
    ("PAGARME_V5", "credit voucher pix boleto apple_pay"),
    ("PAGSEGURO", "credit pix apple_pay"),
    ("PAYPAL", "credit"),
    ("PICPAY", "credit pix picpay"),
    ("PLATFORM", "credit pix"),
    ("REDE", "credit"),
    ("SAFRAPAY", "credit pix"),
    ("STRIPE", "credit boleto"),
    ("VR", "voucher"),
    ("WORLDPAY", "credit"),
    ("ZOOP", "credit pix boleto"),
];

fn provider(code: &str) -> ProviderType {
    ProviderType::parse(code).unwrap()
}

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(object) = value else { panic!("not an object: {value}") };
    object
}

fn details(result: Result<(), Problems>) -> Vec<String> {
    result.err().map(Problems::into_details).unwrap_or_default()
}

fn types_that(can: impl Fn(ProviderType) -> bool) -> String {
    ProviderType::all().filter(|one| can(*one)).map(ProviderType::code).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_list_is_closed() {
    let codes: HashSet<&str> = ProviderType::all().map(ProviderType::code).collect();
    assert_eq!(codes, CHARGES.into_iter().map(|(code, _)| code).collect());
    for one in ProviderType::all() {
        assert_eq!(ProviderType::parse(one.code()), Some(one));
        assert_eq!(serde_json::to_value(one).unwrap(), one.code());
        assert_eq!(serde_json::from_value::<ProviderType>(one.code().into()).unwrap(), one);
    }
    for wrong in ["", "sandbox", "platform", "ACME"] {
        assert_eq!(ProviderType::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn one_type_has_two_spellings() {
    assert_eq!(provider("GETNETSEP").code(), "GETNET_SEP");
}

#[test]
fn each_type_charges_what_the_tables_say() {
    for (code, words) in CHARGES {
        let can = provider(code).capabilities();
        let expected: HashSet<PaymentType> =
            words.split_whitespace().map(|word| PaymentType::parse(word).unwrap()).collect();
        assert_eq!(can.payment_types.iter().copied().collect::<HashSet<_>>(), expected, "{code}");
    }
}

#[test]
fn nothing_is_reserved_given_back_or_split_that_is_not_charged() {
    for one in ProviderType::all() {
        let can = one.capabilities();
        for (_, payment_type) in PaymentType::WORDS.iter().copied() {
            let more = can.can_pre_authorize(payment_type)
                || can.can_capture_part(payment_type)
                || can.can_refund(payment_type)
                || can.can_split(payment_type);
            assert!(can.can_charge(payment_type) || !more, "{one} {payment_type:?}");
            assert!(
                can.can_pre_authorize(payment_type) || !can.can_capture_part(payment_type),
                "{one} {payment_type:?}"
            );
            assert!(
                can.can_refund(payment_type) || !can.can_refund_part(payment_type),
                "{one} {payment_type:?}"
            );
        }
        // Boletos are not given back; neither they nor Pix nor vouchers are reserved.
        assert!(!can.can_refund(PaymentType::Boleto) && !can.can_pre_authorize(PaymentType::Boleto), "{one}");
        assert!(
            !can.can_pre_authorize(PaymentType::Pix) && !can.can_pre_authorize(PaymentType::Voucher),
            "{one}"
        );
        assert_eq!(can.payment_types.is_empty(), can.anti_fraud.is_some(), "{one}");
        assert!((1..=24).contains(&can.installments_max), "{one}");
    }
}

#[test]
fn abilities_are_those_of_the_matrix() {
    let can = |one: ProviderType| one.capabilities();
    assert_eq!(types_that(|one| can(one).three_ds.is_yes()), "SANDBOX ADYEN BARTE PLATFORM STRIPE");
    assert_eq!(
        types_that(|one| can(one).zero_dollar.is_yes()),
        "SANDBOX ADYEN BOLT BRASPAG CIELO GETNET_SEP KLAP PAGSEGURO REDE SAFRAPAY STRIPE"
    );
    assert_eq!(
        types_that(|one| can(one).recurrence.is_yes()),
        "SANDBOX ADYEN BARTE BRASPAG CIELO PAGARME_V5 PAGSEGURO SAFRAPAY STRIPE"
    );
    assert_eq!(types_that(|one| can(one).pix_installments.is_yes()), "SANDBOX DRIP");
    assert_eq!(types_that(|one| can(one).vendors.is_yes()), "SANDBOX ADYEN CIELO GETNET REDE SAFRAPAY");
    assert_eq!(
        types_that(|one| can(one).can_split(PaymentType::Credit)),
        "SANDBOX BRASPAG PAGARME PAGARME_V5 PAGSEGURO PLATFORM ZOOP"
    );
    assert_eq!(
        types_that(|one| can(one).multi_currency.is_yes()),
        "SANDBOX ADYEN BRAINTREE BRASPAG GETNET KLAP MERCADO_PAGO STRIPE WORLDPAY"
    );
    assert_eq!(
        types_that(
            |one| can(one).can_refund(PaymentType::Credit) && !can(one).can_refund_part(PaymentType::Credit)
        ),
        "GETNET_SEP KLAP OWEMPAY"
    );
    assert_eq!(
        types_that(|one| can(one).can_charge(PaymentType::Credit)
            && !can(one).can_pre_authorize(PaymentType::Credit)),
        "BRASPAG OWEMPAY"
    );
}

#[test]
fn risk_is_analysed_at_once_or_later() {
    use Ability::{No, Yes};
    let risk = |code| provider(code).capabilities().anti_fraud;
    let both = Some(AntiFraud { real_time: Yes, asynchronous: Yes });
    assert_eq!((risk("CLEARSALE"), risk("SANDBOX_ANTIFRAUD")), (both, both));
    assert_eq!(risk("B2E"), Some(AntiFraud { real_time: No, asynchronous: Yes }));
    assert_eq!(risk("KONDUTO"), Some(AntiFraud { real_time: Yes, asynchronous: No }));
    assert_eq!(
        types_that(|one| one.capabilities().anti_fraud.is_some()),
        "SANDBOX_ANTIFRAUD B2E CLEARSALE KONDUTO"
    );
}

#[test]
fn one_provider_checks_only_some_brands() {
    let cielo = provider("CIELO").capabilities();
    for brand in Brand::ALL {
        assert_eq!(
            cielo.can_check_card(Some(brand)),
            matches!(brand, Brand::Visa | Brand::Mastercard | Brand::Elo)
        );
        assert!(provider("SANDBOX").capabilities().can_check_card(Some(brand)));
        assert!(!provider("BARTE").capabilities().can_check_card(Some(brand)));
    }
    assert!(!cielo.can_check_card(None));
    assert!(provider("REDE").capabilities().can_check_card(None));
}

#[test]
fn unmarked_providers_take_reais_alone() {
    let dollar = Currency::parse("USD").unwrap();
    let takes = |one: ProviderType, by, currency| one.capabilities().takes_currency(by, currency);
    assert!(ProviderType::all().all(|one| takes(one, PaymentType::Credit, Currency::BRL)));
    assert!(!takes(provider("CIELO"), PaymentType::Credit, dollar));
    assert!(Currency::all().all(|one| takes(provider("SANDBOX"), PaymentType::Credit, one)));
}

#[test]
fn what_moves_reais_alone_does_so_at_every_provider() {
    let dollar = Currency::parse("USD").unwrap();
    let simulator = provider("SANDBOX").capabilities();
    let in_dollars = |by: &PaymentType| simulator.takes_currency(*by, dollar);
    let (taken, not): (Vec<_>, Vec<_>) =
        PaymentType::WORDS.iter().map(|(_, payment_type)| *payment_type).partition(in_dollars);
    let words = |types: Vec<PaymentType>| {
        let mut words: Vec<_> = types.iter().map(|payment_type| payment_type.word()).collect();
        words.sort_unstable();
        words.join(" ")
    };
    assert_eq!(words(taken), "apple_pay click_to_pay credit debit voucher");
    assert_eq!(words(not), "boleto drip nupay picpay pix");
    assert!(PaymentType::WORDS.iter().all(|(_, by)| simulator.takes_currency(*by, Currency::BRL)));
}
