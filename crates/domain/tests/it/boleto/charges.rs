use jiff::ToSpan;
use jiff::civil::Date;
use proptest::prelude::*;
use regente_domain::boleto::{Fine, FineRate, Interest, InterestRate, LateCharges};
use regente_domain::money::Amount;
use regente_domain::percentage::Percentage;

fn cents(cents: i64) -> Amount {
    Amount::new(cents).unwrap()
}

fn per_day(days: u16, amount: i64) -> Option<Interest> {
    Some(Interest { days, rate: InterestRate::AmountPerDay(cents(amount)) })
}

fn per_month(days: u16, hundredths: u32) -> Option<Interest> {
    Some(Interest { days, rate: InterestRate::PercentagePerMonth(Percentage::from_hundredths(hundredths)) })
}

fn fine(days: u16, amount: i64) -> Option<Fine> {
    Some(Fine { days, rate: FineRate::Amount(cents(amount)) })
}

fn fine_part(days: u16, hundredths: u32) -> Option<Fine> {
    Some(Fine { days, rate: FineRate::Percentage(Percentage::from_hundredths(hundredths)) })
}

/// Interest and fine of a boleto of BRL 100.00 in cents.
fn added(interest: Option<Interest>, fine: Option<Fine>, due: &str, paid_on: &str) -> (i64, i64) {
    let owed =
        LateCharges { interest, fine }.owed(cents(10_000), due.parse().unwrap(), paid_on.parse().unwrap());
    let owed = owed.unwrap();
    assert_eq!(owed.principal, cents(10_000));
    assert_eq!(owed.total.minor_units(), 10_000 + owed.interest.minor_units() + owed.fine.minor_units());
    (owed.interest.minor_units(), owed.fine.minor_units())
}

#[test]
fn in_time_costs_nothing() {
    for paid_on in ["2026-11-01", "2026-11-23"] {
        assert_eq!(added(per_day(1, 100), fine(1, 200), "2026-11-23", paid_on), (0, 0), "{paid_on}");
    }
}

#[test]
fn interest_grows_daily_and_the_fine_stays() {
    // Monday.
    let due = "2026-11-23";
    for (paid_on, interest, of_fine) in [
        ("2026-11-24", 100, 0),
        ("2026-11-25", 200, 200),
        ("2026-11-26", 300, 200),
        ("2026-12-23", 3_000, 200),
    ] {
        assert_eq!(added(per_day(1, 100), fine(2, 200), due, paid_on), (interest, of_fine), "{paid_on}");
    }
}

#[test]
fn both_begin_on_their_day() {
    let due = "2026-11-23";
    for (days, paid_on, interest, of_fine) in [
        (0, "2026-11-24", 100, 200),
        (1, "2026-11-24", 100, 200),
        (3, "2026-11-25", 0, 0),
        (3, "2026-11-26", 100, 200),
        (3, "2026-11-27", 200, 200),
    ] {
        let added = added(per_day(days, 100), fine(days, 200), due, paid_on);
        assert_eq!(added, (interest, of_fine), "{days} {paid_on}");
    }
}

#[test]
fn percentages_are_of_the_amount_and_a_month_has_thirty_days() {
    let due = "2026-11-23";
    for (paid_on, interest) in [
        // 1 % of 100.00 a month: 3.33… cents a day, rounded once for all days.
        ("2026-11-24", 3),
        ("2026-11-25", 7),
        ("2026-11-26", 10),
        ("2026-12-23", 100),
        ("2027-01-22", 200),
    ] {
        assert_eq!(added(per_month(1, 100), fine_part(1, 200), due, paid_on), (interest, 200), "{paid_on}");
    }
}

#[test]
fn halves_of_a_cent_are_rounded_up() {
    // 0.15 % of 100.00 for one day of thirty is half a cent; 0.14 % less than half.
    assert_eq!(added(per_month(1, 15), None, "2026-11-23", "2026-11-24").0, 1);
    assert_eq!(added(per_month(1, 14), None, "2026-11-23", "2026-11-24").0, 0);
    let charges = LateCharges { interest: None, fine: fine_part(1, 1) };
    for (principal, of_fine) in [(4_999, 0), (5_000, 1), (14_999, 1), (15_000, 2)] {
        let owed =
            charges.owed(cents(principal), "2026-11-23".parse().unwrap(), "2026-11-24".parse().unwrap());
        assert_eq!(owed.unwrap().fine, cents(of_fine), "{principal}");
    }
}

#[test]
fn a_day_without_banking_postpones_but_is_counted_when_the_payer_is_late_after_all() {
    // Due on a holiday, a Friday; payable until Monday.
    let due = "2026-11-20";
    for (paid_on, interest, of_fine) in [
        ("2026-11-20", 0, 0),
        ("2026-11-22", 0, 0),
        ("2026-11-23", 0, 0),
        ("2026-11-24", 400, 200),
        ("2026-11-25", 500, 200),
    ] {
        assert_eq!(added(per_day(1, 100), fine(1, 200), due, paid_on), (interest, of_fine), "{paid_on}");
    }
    // On the last business day of the year banks do not clear.
    assert_eq!(added(per_day(1, 100), fine(1, 200), "2026-12-31", "2027-01-04"), (0, 0));
    assert_eq!(added(per_day(1, 100), fine(1, 200), "2026-12-31", "2027-01-05"), (500, 200));
}

#[test]
fn a_sum_beyond_every_amount_is_none() {
    let due = "2026-11-23".parse().unwrap();
    let later = "2026-11-24".parse().unwrap();
    let most = cents(Amount::MINOR_UNITS_MAX);
    for charges in [
        LateCharges { interest: per_day(1, 1), fine: None },
        LateCharges { interest: None, fine: fine(1, 1) },
        LateCharges { interest: per_month(1, u32::MAX), fine: None },
        LateCharges { interest: per_day(1, Amount::MINOR_UNITS_MAX), fine: fine(1, Amount::MINOR_UNITS_MAX) },
    ] {
        assert_eq!(charges.owed(most, due, later), None);
        assert_eq!(charges.owed(most, due, due).unwrap().total, most);
    }
}

#[test]
fn they_are_stored_as_sent() {
    let charges = LateCharges { interest: per_month(1, 150), fine: fine(2, 200) };
    let stored = serde_json::json!({
        "interest": {"days": 1, "rate": {"percentagePerMonth": 150}}, "fine": {"days": 2, "rate": {"amount": 200}},
    });
    assert_eq!(serde_json::to_value(charges).unwrap(), stored);
    assert_eq!(serde_json::from_value::<LateCharges>(stored).unwrap(), charges);
    assert_eq!(serde_json::to_value(LateCharges::default()).unwrap(), serde_json::json!({}));
}

proptest! {
    #[test]
    fn who_pays_later_never_owes_less(
        principal in 0_i64..10_000_000_000, hundredths in 0_u32..100_000, days in 0_u16..40,
        weekday in 0_i64..400, early in 0_i64..100, later in 0_i64..100
    ) {
        let due = "2026-01-01".parse::<Date>().unwrap().checked_add(weekday.days()).unwrap();
        let charges = LateCharges { interest: per_month(days, hundredths), fine: fine_part(days, hundredths) };
        let on = |offset: i64| charges.owed(cents(principal), due, due.checked_add(offset.days()).unwrap()).unwrap();
        prop_assert!(on(early).total <= on(early + later).total);
        prop_assert_eq!(on(0).total, cents(principal));
    }
}
