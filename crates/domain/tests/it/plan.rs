//! Plans: what is kept of a charge, when it is paid out, and which files are refused. Amounts were computed by hand.

use deserr::deserialize;
use regente_domain::card::Brand;
use regente_domain::id::Id;
use regente_domain::money::Amount;
use regente_domain::payment_type::PaymentType;
use regente_domain::plan::{NewPlan, Plan, PlanChanges, PlanMethod, PlanStatus, Policy, Recurrence, Terms};
use regente_domain::problems::Problems;
use regente_domain::time::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

fn standard() -> Value {
    json!({
        "name": "Standard",
        "policies": [
            { "paymentMethod": "credit", "payoutTermDays": 30, "payoutRecurrence": "daily", "payoutDay": null },
            { "paymentMethod": "pix", "payoutTermDays": 1, "payoutRecurrence": "weekly", "payoutDay": 5 }
        ],
        "fees": [
            { "paymentMethod": "credit", "brand": "American Express", "percentage": 4.5 },
            { "paymentMethod": "credit", "brand": null, "installmentsFrom": 1, "installmentsTo": 1,
                "percentage": 2.99, "fixedAmount": 39 },
            { "paymentMethod": "credit", "installmentsFrom": 2, "installmentsTo": 12,
                "percentage": 3.79, "fixedAmount": 39 },
            { "paymentMethod": "pix", "percentage": 0.99, "fixedAmount": null }
        ]
    })
}

fn read(sent: Value) -> Result<NewPlan, Vec<String>> {
    deserialize::<NewPlan, Value, Problems>(sent).map_err(Problems::into_details)
}

fn terms() -> Terms {
    read(standard()).unwrap().terms()
}

fn cents(minor_units: i64) -> Amount {
    Amount::new(minor_units).unwrap()
}

#[test]
fn the_first_fee_that_fits_counts() {
    let terms = terms();
    let visa = Some(Brand::Visa);
    for (method, brand, installments, gross, fee) in [
        // 299.00 + 39
        (PlanMethod::Credit, visa, 1, 10_000, 338),
        (PlanMethod::Credit, None, 1, 10_000, 338),
        // 467.8755 + 39
        (PlanMethod::Credit, visa, 2, 12_345, 507),
        (PlanMethod::Credit, visa, 12, 12_345, 507),
        (PlanMethod::Credit, visa, 13, 12_345, 0),
        // 555.525
        (PlanMethod::Credit, Some(Brand::AmericanExpress), 6, 12_345, 556),
        (PlanMethod::Credit, Some(Brand::AmericanExpress), 24, 12_345, 556),
        // 0.495, 0.5049
        (PlanMethod::Pix, None, 1, 50, 0),
        (PlanMethod::Pix, None, 1, 51, 1),
        (PlanMethod::Boleto, None, 1, 10_000, 0),
        (PlanMethod::Nupay, None, 1, 10_000, 0),
    ] {
        let found = terms.fee_of(method, brand, installments, cents(gross));
        assert_eq!(found, cents(fee), "{method:?} {brand:?} {installments} of {gross}");
    }
}

#[test]
fn half_a_cent_is_rounded_up_and_no_fee_is_more_than_there_is() {
    let fee = |fee: Value, gross| {
        let terms = read(json!({ "name": "P", "fees": [fee] })).unwrap().terms();
        terms.fee_of(PlanMethod::Pix, None, 1, cents(gross)).minor_units()
    };
    assert_eq!(fee(json!({ "paymentMethod": "pix", "percentage": 2.5 }), 20), 1);
    assert_eq!(fee(json!({ "paymentMethod": "pix", "percentage": 2.49 }), 20), 0);
    assert_eq!(fee(json!({ "paymentMethod": "pix", "percentage": 100 }), 999), 999);
    assert_eq!(fee(json!({ "paymentMethod": "pix", "percentage": 100, "fixedAmount": 1 }), 999), 999);
    assert_eq!(fee(json!({ "paymentMethod": "pix", "fixedAmount": 39 }), 39), 39);
    assert_eq!(fee(json!({ "paymentMethod": "pix", "fixedAmount": 39 }), 38), 38);
    assert_eq!(fee(json!({ "paymentMethod": "pix", "fixedAmount": 39 }), 0), 0);
    let most = Amount::MINOR_UNITS_MAX;
    assert_eq!(fee(json!({ "paymentMethod": "pix", "percentage": 0.01 }), most), 900_719_925_474);
    assert_eq!(fee(json!({ "paymentMethod": "pix", "percentage": 100, "fixedAmount": most }), most), most);
}

#[test]
fn a_method_without_a_policy_has_the_usual_one() {
    let usual = |payment_method, payout_term_days| Policy {
        payment_method,
        payout_term_days,
        payout_recurrence: Recurrence::Daily,
        payout_day: None,
    };
    let none = Terms::default();
    assert_eq!(none.policy_of(PlanMethod::Credit), usual(PlanMethod::Credit, 30));
    for method in [PlanMethod::Pix, PlanMethod::Boleto, PlanMethod::Nupay] {
        assert_eq!(none.policy_of(method), usual(method, 1));
    }
    assert_eq!(none.fee_of(PlanMethod::Credit, None, 1, cents(100)), Amount::ZERO);

    let weekly =
        Policy { payout_recurrence: Recurrence::Weekly, payout_day: Some(5), ..usual(PlanMethod::Pix, 1) };
    assert_eq!(terms().policy_of(PlanMethod::Pix), weekly);
    assert_eq!(terms().policy_of(PlanMethod::Boleto), usual(PlanMethod::Boleto, 1));
}

#[test]
fn cards_of_wallets_are_credit() {
    assert_eq!(PlanMethod::of(PaymentType::ApplePay), Some(PlanMethod::Credit));
    assert_eq!(PlanMethod::of(PaymentType::Pix), Some(PlanMethod::Pix));
    assert_eq!(PlanMethod::of(PaymentType::Debit), None);
}

#[test]
fn a_refused_file_is_told_which_member_is_wrong() {
    let policy = |members: Value| json!({ "name": "P", "policies": [members] });
    let fee = |members: Value| json!({ "name": "P", "fees": [members] });
    let daily = json!({ "paymentMethod": "credit", "payoutTermDays": 30, "payoutRecurrence": "daily" });
    for (sent, problem) in [
        (json!({}), "name should not be empty"),
        (json!({ "name": "P", "fee": [] }), "fee is not known: there are name, description, policies, fees"),
        (
            json!({ "name": "P", "isDefault": true }),
            "isDefault is not known: there are name, description, policies, fees",
        ),
        (
            policy(json!({ "paymentMethod": "debit", "payoutTermDays": 1, "payoutRecurrence": "daily" })),
            "policies[0].paymentMethod must be one of the following values: credit, pix, boleto, nupay",
        ),
        (
            policy(json!({ "paymentMethod": "pix", "payoutTermDays": 366, "payoutRecurrence": "daily" })),
            "policies[0].payoutTermDays must not be greater than 365",
        ),
        (
            policy(json!({ "paymentMethod": "pix", "payoutTermDays": -1, "payoutRecurrence": "daily" })),
            "policies[0].payoutTermDays must not be less than 0",
        ),
        (
            policy(
                json!({ "paymentMethod": "pix", "payoutTermDays": 1, "payoutRecurrence": "daily", "payoutDay": 1 }),
            ),
            "policies[0].payoutDay must be absent where payoutRecurrence is daily",
        ),
        (
            policy(json!({ "paymentMethod": "pix", "payoutTermDays": 1, "payoutRecurrence": "monthly" })),
            "policies[0].payoutDay should not be empty",
        ),
        (
            policy(
                json!({ "paymentMethod": "pix", "payoutTermDays": 1, "payoutRecurrence": "weekly", "payoutDay": 6 }),
            ),
            "policies[0].payoutDay must be 1 (Monday) to 5 (Friday) where payoutRecurrence is weekly",
        ),
        (
            policy(
                json!({ "paymentMethod": "pix", "payoutTermDays": 1, "payoutRecurrence": "monthly", "payoutDay": 32 }),
            ),
            "policies[0].payoutDay must not be greater than 31",
        ),
        (
            json!({ "name": "P", "policies": [daily, daily] }),
            "policies must have one policy for credit, not several",
        ),
        (fee(json!({ "paymentMethod": "pix" })), "fees[0] must have percentage, fixedAmount or both"),
        (
            fee(json!({ "paymentMethod": "pix", "percentage": 100.01 })),
            "fees[0].percentage must not be greater than 100",
        ),
        (
            fee(json!({ "paymentMethod": "pix", "percentage": -0.01 })),
            "fees[0].percentage must not be less than 0",
        ),
        (
            fee(json!({ "paymentMethod": "pix", "percentage": 2.999 })),
            "fees[0].percentage must be a number conforming to the specified constraints",
        ),
        (
            fee(json!({ "paymentMethod": "pix", "fixedAmount": 0.5 })),
            "fees[0].fixedAmount must be an integer number",
        ),
        (
            fee(json!({ "paymentMethod": "credit", "percentage": 1, "brand": "VISA" })),
            "fees[0].brand must be one of the following values: American Express, Mastercard, Visa, Elo, Discover, JCB, Diners, Hipercard",
        ),
        (
            fee(json!({ "paymentMethod": "pix", "percentage": 1, "brand": "Visa" })),
            "fees[0].brand must be absent: only credit has brands",
        ),
        (
            fee(json!({ "paymentMethod": "boleto", "percentage": 1, "installmentsTo": 2 })),
            "fees[0].installmentsTo must be absent: only credit has installments",
        ),
        (
            fee(
                json!({ "paymentMethod": "credit", "percentage": 1, "installmentsFrom": 7, "installmentsTo": 6 }),
            ),
            "fees[0].installmentsTo must not be less than installmentsFrom, which is 7",
        ),
        (
            fee(json!({ "paymentMethod": "credit", "percentage": 1, "installmentsFrom": 0 })),
            "fees[0].installmentsFrom must not be less than 1",
        ),
        (
            fee(json!({ "paymentMethod": "credit", "percentage": 1, "percent": 2 })),
            "fees[0].percent is not known: there are paymentMethod, brand, installmentsFrom, installmentsTo, percentage, fixedAmount",
        ),
        (
            json!({ "name": "P", "fees": [
                { "paymentMethod": "credit", "percentage": 3 },
                { "paymentMethod": "pix", "percentage": 1 },
                { "paymentMethod": "credit", "brand": "Visa", "installmentsFrom": 2, "percentage": 4 }
            ] }),
            "fees must each be able to count: fees[2] never does, since those before it take all of its charges",
        ),
        (
            json!({ "name": "P", "fees": [
                { "paymentMethod": "credit", "installmentsFrom": 7, "percentage": 3 },
                { "paymentMethod": "credit", "installmentsTo": 6, "percentage": 2 },
                { "paymentMethod": "credit", "installmentsFrom": 3, "installmentsTo": 10, "percentage": 4 }
            ] }),
            "fees must each be able to count: fees[2] never does, since those before it take all of its charges",
        ),
    ] {
        assert_eq!(read(sent.clone()).unwrap_err(), [problem], "{sent}");
    }
}

#[test]
fn ranges_may_overlap_where_the_later_fee_still_counts() {
    let sent = json!({ "name": "P", "fees": [
        { "paymentMethod": "credit", "brand": "Visa", "installmentsFrom": 1, "installmentsTo": 6, "percentage": 3 },
        { "paymentMethod": "credit", "installmentsFrom": 4, "percentage": 4 }
    ] });
    let terms = read(sent).unwrap().terms();
    let of =
        |brand, installments| terms.fee_of(PlanMethod::Credit, brand, installments, cents(100)).minor_units();
    let visa = [1, 4, 6, 7, 24].map(|installments| of(Some(Brand::Visa), installments));
    let elo = [1, 4, 6, 7, 24].map(|installments| of(Some(Brand::Elo), installments));
    assert_eq!((visa, elo), ([3, 3, 3, 4, 4], [0, 4, 4, 4, 4]));
}

#[test]
fn a_change_leaves_what_it_does_not_name() {
    let before = Plan {
        id: Id::new(Uuid::from_u128(1)),
        client_id: Id::new(Uuid::from_u128(2)),
        name: "Standard".to_owned(),
        description: Some("For all.".to_owned()),
        is_default: true,
        status: PlanStatus::Active,
        terms: terms(),
        created_at: Timestamp::EPOCH,
        updated_at: Timestamp::EPOCH,
        version: 1,
    };
    let changed = |sent: Value| {
        let read = deserialize::<PlanChanges, Value, Problems>(sent);
        read.map(|changes| changes.applied_to(&before)).map_err(Problems::into_details)
    };
    assert_eq!(changed(json!({})).unwrap(), before);
    let renamed = Plan { name: "Basic".to_owned(), description: None, ..before.clone() };
    assert_eq!(changed(json!({ "name": "Basic", "description": null })).unwrap(), renamed);
    let without_fees = Plan { terms: Terms { fees: Vec::new(), ..before.terms.clone() }, ..before.clone() };
    assert_eq!(changed(json!({ "fees": [] })).unwrap(), without_fees);
    assert_eq!(changed(json!({ "name": "" })).unwrap_err(), ["name should not be empty"]);
    assert_eq!(
        changed(json!({ "status": "inactive" })).unwrap_err(),
        ["status is not known: there are name, description, policies, fees"]
    );
}
