//! What the platform keeps: which rule counts, and how much it is.

use regente_domain::id::Id;
use regente_domain::money::Amount;
use regente_domain::payment_type::PaymentType;
use regente_domain::percentage::Percentage;
use regente_domain::platform_fee::{FeeMethod, Fees, Terms};
use regente_domain::time::Timestamp;
use uuid::Uuid;

fn terms(method: FeeMethod, installment: Option<u8>, hundredths: u32) -> Terms {
    let percentage = Some(Percentage::from_hundredths(hundredths));
    Terms { percentage, fixed_amount: None, payment_method: method, installment }
}

fn fees(rules: &[Terms]) -> Fees {
    let new: Vec<_> =
        (1..).map(|number| Id::new(Uuid::from_u128(number))).zip(rules.iter().copied()).collect();
    Fees { enabled: true, ..Fees::default() }.with(&new).unwrap()
}

#[test]
fn the_rule_of_the_method_and_band_counts_else_the_default() {
    let rules = [
        terms(FeeMethod::Credit, Some(1), 100),
        terms(FeeMethod::Credit, Some(4), 200),
        terms(FeeMethod::Credit, Some(24), 400),
        terms(FeeMethod::Pix, None, 10),
        terms(FeeMethod::Default, None, 900),
    ];
    let fees = fees(&rules);
    let found = |payment_type, installments| {
        let fee = fees.of_charge(payment_type, installments, Timestamp::EPOCH).unwrap();
        fee.terms.percentage.unwrap().hundredths()
    };
    let by_credit: Vec<u32> =
        [1, 2, 6, 7, 12, 13, 24].map(|number| found(PaymentType::Credit, number)).to_vec();
    assert_eq!(by_credit, [100, 200, 200, 900, 900, 400, 400]);
    assert_eq!(
        [PaymentType::Pix, PaymentType::Boleto, PaymentType::Debit, PaymentType::Nupay]
            .map(|kind| found(kind, 1)),
        [10, 900, 900, 900]
    );

    let off = Fees { enabled: false, ..fees.clone() };
    assert_eq!(off.of_charge(PaymentType::Pix, 1, Timestamp::EPOCH), None);
    let without_default = Fees { rules: fees.rules[..4].to_vec(), enabled: true };
    assert_eq!(without_default.of_charge(PaymentType::Boleto, 1, Timestamp::EPOCH), None);
}

#[test]
fn half_a_cent_is_rounded_up_and_the_fixed_amount_is_added() {
    let fixed = |fixed: i64, hundredths| Terms {
        fixed_amount: Amount::new(fixed),
        ..terms(FeeMethod::Pix, None, hundredths)
    };
    for (rule, amount, fee) in [
        (fixed(50, 350), 1000, 85),
        (fixed(0, 250), 100, 3),
        (fixed(0, 249), 100, 2),
        (fixed(0, 10_000), 999, 999),
        (fixed(7, 0), 1, 7),
        (fixed(0, 1), Amount::MINOR_UNITS_MAX, 900_719_925_474),
    ] {
        let applied = fees(&[rule]).of_charge(PaymentType::Pix, 1, Timestamp::EPOCH).unwrap();
        assert_eq!(applied.of(Amount::new(amount).unwrap()).minor_units(), fee, "{rule:?} of {amount}");
    }
}
