//! Orders, days and batches of payouts: by hand, and as properties of any order of events.

use jiff::ToSpan;
use jiff::civil::Date;
use proptest::prelude::*;
use regente_domain::business_days::Calendar;
use regente_domain::card::Brand;
use regente_domain::currency::Currency;
use regente_domain::id::{Id, SellerId};
use regente_domain::ledger::{Books, Entry, Movement, Source, Subject};
use regente_domain::money::Amount;
use regente_domain::payment_type::PaymentType;
use regente_domain::payout::arrangement::Arrangement;
use regente_domain::payout::batch::{Drawn, Figures, Sums, Told, draw};
use regente_domain::payout::change::{Change, changes};
use regente_domain::payout::drafts::{Deal, Known, drafts};
use regente_domain::payout::method::PayoutMethod;
use regente_domain::payout::schedule::{divided, due_on, next_payday};
use regente_domain::payout::{BatchStatus, OrderType};
use regente_domain::percentage::Percentage;
use regente_domain::plan::{Fee, PlanMethod, Policy, Recurrence, Terms};
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use uuid::Uuid;

fn day(text: &str) -> Date {
    text.parse().unwrap()
}

fn policy(days: u16, recurrence: Recurrence, of: Option<u8>) -> Policy {
    Policy {
        payment_method: PlanMethod::Credit,
        payout_term_days: days,
        payout_recurrence: recurrence,
        payout_day: of,
    }
}

#[test]
fn money_is_due_by_term_recurrence_and_business_days() {
    for (captured_on, policy, installment, due) in [
        // 2026-04-21 is a holiday.
        ("2026-03-22", policy(30, Recurrence::Daily, None), 1, "2026-04-22"),
        ("2026-03-22", policy(30, Recurrence::Daily, None), 2, "2026-05-21"),
        // A Saturday.
        ("2026-03-26", policy(30, Recurrence::Daily, None), 1, "2026-04-27"),
        ("2026-03-25", policy(0, Recurrence::Daily, None), 1, "2026-03-25"),
        // The next Friday, and Good Friday.
        ("2026-03-16", policy(1, Recurrence::Weekly, Some(5)), 1, "2026-03-20"),
        ("2026-03-20", policy(0, Recurrence::Weekly, Some(5)), 1, "2026-03-20"),
        ("2026-03-30", policy(1, Recurrence::Weekly, Some(5)), 1, "2026-04-06"),
        // The 31st, or the last day where there is none.
        ("2026-06-02", policy(1, Recurrence::Monthly, Some(31)), 1, "2026-06-30"),
        ("2026-07-01", policy(1, Recurrence::Monthly, Some(31)), 1, "2026-07-31"),
        ("2026-01-10", policy(1, Recurrence::Monthly, Some(5)), 1, "2026-02-05"),
    ] {
        assert_eq!(
            due_on(&Calendar::NATIONAL, day(captured_on), &policy, installment),
            day(due),
            "{captured_on} {policy:?}"
        );
    }
    let calendar = Calendar::with_holidays(vec![day("2026-04-22")]).unwrap();
    let daily = policy(30, Recurrence::Daily, None);
    assert_eq!(due_on(&calendar, day("2026-03-22"), &daily, 1), day("2026-04-23"));
}

#[test]
fn the_next_payday_is_a_business_day_before_its_hour() {
    for (now, payday) in [
        ("2026-04-22T08:59:59.999Z", "2026-04-22"),
        ("2026-04-22T09:00:00.000Z", "2026-04-23"),
        // The evening in São Paulo is the next day in UTC.
        ("2026-04-23T02:59:00.000Z", "2026-04-23"),
        // The night of a Saturday, and that of a holiday.
        ("2026-04-25T04:00:00.000Z", "2026-04-27"),
        ("2026-04-21T04:00:00.000Z", "2026-04-22"),
    ] {
        let found = next_payday(&Calendar::NATIONAL, Timestamp::parse(now).unwrap());
        assert_eq!(found, day(payday), "{now}");
    }
}

#[test]
fn cents_go_to_the_first_installments() {
    assert_eq!(divided(10_000, 3), [3_334, 3_333, 3_333]);
    assert_eq!(divided(2, 3), [1, 1, 0]);
    assert_eq!(divided(9, 1), [9]);
}

/// A debit card is no credit card, whose arrangement and terms are others; what has no word of the interface is not paid out.
#[test]
fn what_is_paid_out_has_a_method_of_the_interface() {
    for (payment_type, method) in [
        (PaymentType::Credit, Some("credit")),
        (PaymentType::ApplePay, Some("credit")),
        (PaymentType::Pix, Some("pix")),
        (PaymentType::Nupay, Some("nupay")),
        (PaymentType::Boleto, None),
        (PaymentType::Debit, None),
        (PaymentType::Voucher, None),
    ] {
        assert_eq!(PayoutMethod::of(payment_type).map(PayoutMethod::word), method, "{payment_type:?}");
    }
    for (word, method) in PayoutMethod::WORDS {
        assert_eq!(method.in_plans().word(), *word);
    }
}

#[test]
fn arrangements_are_of_the_card() {
    for (brand, code) in [
        (Brand::Visa, Some("VCC")),
        (Brand::Mastercard, Some("MCC")),
        (Brand::Elo, Some("ECC")),
        (Brand::AmericanExpress, Some("ACC")),
        (Brand::Hipercard, Some("HCC")),
        (Brand::Diners, None),
    ] {
        assert_eq!(Arrangement::of(PayoutMethod::Credit, Some(brand)).map(Arrangement::word), code);
        assert_eq!(Arrangement::of(PayoutMethod::Pix, Some(brand)), None);
    }
    assert_eq!(Arrangement::of(PayoutMethod::Credit, None), None);
}

/// An entry of version `version` at the own provider.
fn entry(version: i64, ordinal: i64, movement: Movement, part: (Subject, Option<SellerId>, i64)) -> Entry {
    let (subject, seller_id, minor_units) = part;
    let books = Books {
        client_id: Id::new(Uuid::from_u128(1)),
        merchant_id: Id::new(Uuid::from_u128(2)),
        provider_type: ProviderType::Platform,
        currency: Currency::BRL,
    };
    let source = Source { id: Uuid::from_u128(3), version, ordinal };
    let at = Timestamp::from_millis(version * 1000);
    books.entry(source, at, movement, subject, seller_id, minor_units).unwrap()
}

#[test]
fn the_books_tell_step_by_step_what_changed_for_whom() {
    let rita = Some(SellerId::new(Uuid::from_u128(9)));
    let entries = [
        entry(2, 0, Movement::Capture, (Subject::Merchant, None, 600)),
        entry(2, 1, Movement::Capture, (Subject::Seller, rita, 300)),
        entry(2, 2, Movement::Capture, (Subject::PlatformFee, None, 100)),
        entry(1, 0, Movement::AuthorizationHold, (Subject::Hold, None, 1_000)),
        entry(3, 0, Movement::Refund, (Subject::Seller, rita, 50)),
        entry(4, 0, Movement::ChargeBack, (Subject::Merchant, None, 700)),
        entry(5, 0, Movement::ChargeBackReversal, (Subject::Merchant, None, 700)),
        entry(5, -1, Movement::Opening, (Subject::Seller, rita, 20)),
    ];
    let told = changes(&entries);
    let told: Vec<_> =
        told.iter().map(|change| (change.step, change.receiver, change.order_type, change.amount)).collect();
    let expected = [
        (4, None, OrderType::Authorization, 700),
        (4, rita, OrderType::Authorization, 300),
        (6, rita, OrderType::Void, -50),
        (8, None, OrderType::ChargeBack, -700),
        (10, None, OrderType::Authorization, 700),
        (11, rita, OrderType::Authorization, 20),
    ];
    assert_eq!(told, expected);
    // What is at another provider is not paid out.
    let elsewhere = entries.map(|entry| Entry { provider_type: ProviderType::Stripe, ..entry });
    assert_eq!(changes(&elsewhere), []);
}

/// 3 % and 39 cents.
fn terms() -> Terms {
    Terms {
        policies: vec![policy(30, Recurrence::Daily, None)],
        fees: vec![Fee {
            payment_method: PlanMethod::Credit,
            brand: None,
            installments_from: None,
            installments_to: None,
            percentage: Some(Percentage::from_hundredths(300)),
            fixed_amount: Amount::new(39),
        }],
    }
}

/// What one receiver has of one charge.
struct Receiver {
    terms: Terms,
    installments: u8,
    orders: Vec<Known>,
    steps: i64,
    today: Date,
}

impl Receiver {
    fn new(installments: u8) -> Self {
        let monday = day("2026-03-23");
        Self { terms: terms(), installments, orders: Vec::new(), steps: 0, today: monday }
    }

    /// A change at noon of today; what it makes.
    fn change(&mut self, order_type: OrderType, amount: i64) -> Vec<Known> {
        self.steps += 1;
        let change = Change {
            step: self.steps,
            at: Timestamp::parse(&format!("{}T15:00:00Z", self.today)).unwrap(),
            receiver: None,
            order_type,
            amount,
        };
        let deal = Deal {
            terms: &self.terms,
            method: PlanMethod::Credit,
            brand: Some(Brand::Visa),
            installments: self.installments,
            calendar: &Calendar::NATIONAL,
        };
        let next = i64::try_from(self.orders.len()).unwrap();
        let made = drafts(&self.orders, &change, &deal, next);
        self.orders.extend(&made);
        made
    }

    fn pay_out(&mut self, ordinal: usize) {
        self.orders[ordinal].is_open = false;
    }

    /// Days pass, and what is due is paid out.
    fn later(&mut self, days: i64) {
        self.today = self.today.saturating_add(days.days());
        for order in self.orders.iter_mut().filter(|order| order.scheduled_at <= self.today) {
            order.is_open = false;
        }
    }

    /// What an installment has, gross and fee, and the days on which something of it is due.
    fn of_installment(&self, installment: u8) -> (i64, i64, Vec<Date>) {
        let of_it = || self.orders.iter().filter(|order| order.installment == Some(installment));
        (
            of_it().map(|order| order.gross).sum(),
            of_it().map(|order| order.fee).sum(),
            of_it().map(|order| order.scheduled_at).collect(),
        )
    }

    fn sums(&self) -> (i64, i64) {
        (self.orders.iter().map(|order| order.gross).sum(), self.orders.iter().map(|order| order.fee).sum())
    }
}

/// Gross, fee, installment, day, and the place of the order that it reduces.
type Shown = (i64, i64, Option<u8>, String, Option<i64>);

fn told(orders: &[Known]) -> Vec<Shown> {
    let told = orders.iter().map(|order| {
        (order.gross, order.fee, order.installment, order.scheduled_at.to_string(), order.reduces)
    });
    told.collect()
}

fn line(
    gross: i64,
    fee: i64,
    installment: Option<u8>,
    on: &str,
    reduces: Option<i64>,
) -> (i64, i64, Option<u8>, String, Option<i64>) {
    (gross, fee, installment, on.to_owned(), reduces)
}

#[test]
fn a_capture_is_divided_and_a_refund_reduces_it_from_its_end() {
    let mut receiver = Receiver::new(3);
    // 3 % of 100.00 and 39 cents: 339 cents.
    let made = receiver.change(OrderType::Authorization, 10_000);
    let expected = [
        line(3_334, 113, Some(1), "2026-04-22", None),
        line(3_333, 113, Some(2), "2026-05-22", None),
        line(3_333, 113, Some(3), "2026-06-22", None),
    ];
    assert_eq!(told(&made), expected);
    assert_eq!(made.iter().map(|order| order.ordinal).collect::<Vec<_>>(), [0, 1, 2]);

    // 40.00: all of the third, and 667 of the second with 113 × 667 / 3333 = 22.6 of its fee.
    let made = receiver.change(OrderType::Void, -4_000);
    let expected =
        [line(-3_333, -113, Some(3), "2026-06-22", Some(2)), line(-667, -23, Some(2), "2026-05-22", Some(1))];
    assert_eq!(told(&made), expected);
    assert!(
        made.iter().all(|order| order.order_type == OrderType::Void && order.total_installments == Some(3))
    );

    // The first is paid out: what is open goes first, and the rest is due on the next payday.
    receiver.pay_out(0);
    let made = receiver.change(OrderType::ChargeBack, -6_000);
    let expected = [
        line(-2_666, -90, Some(2), "2026-05-22", Some(1)),
        line(-3_334, -113, Some(1), "2026-03-24", Some(0)),
    ];
    assert_eq!(told(&made), expected);
    assert_eq!(receiver.sums(), (0, 0));

    // The charge back is undone: what was paid out comes on the day on which it would have been taken, and the second on its own.
    let made = receiver.change(OrderType::Authorization, 6_000);
    let expected =
        [line(3_334, 113, Some(1), "2026-03-24", None), line(2_666, 90, Some(2), "2026-05-22", None)];
    assert_eq!(told(&made), expected);
    // And the refund came back.
    let made = receiver.change(OrderType::Authorization, 4_000);
    let expected =
        [line(667, 23, Some(2), "2026-05-22", None), line(3_333, 113, Some(3), "2026-06-22", None)];
    assert_eq!(told(&made), expected);
    assert!(made.iter().all(|order| order.total_installments == Some(3)));
    assert_eq!(receiver.sums(), (10_000, 339));
}

#[test]
fn what_comes_back_waits_for_its_own_day() {
    let mut receiver = Receiver::new(3);
    let brought = receiver.change(OrderType::Authorization, 10_000);
    receiver.later(2);
    receiver.change(OrderType::ChargeBack, -10_000);
    receiver.later(3);
    let mut back = told(&receiver.change(OrderType::Authorization, 10_000));
    back.sort_by_key(|(_, _, installment, _, _)| *installment);
    assert_eq!(back, told(&brought));

    // What was due when it was taken, and what is paid out without it, come on the next business day after the 22nd of April.
    receiver.later(25);
    receiver.change(OrderType::ChargeBack, -10_000);
    receiver.later(3);
    let back = told(&receiver.change(OrderType::Authorization, 10_000));
    let expected = [
        line(3_334, 113, Some(1), "2026-04-27", None),
        line(3_333, 113, Some(2), "2026-05-22", None),
        line(3_333, 113, Some(3), "2026-06-22", None),
    ];
    assert_eq!((receiver.today, back), (day("2026-04-25"), expected.to_vec()));
}

#[test]
fn who_loses_more_than_there_was_owes_it_without_a_fee() {
    let mut receiver = Receiver::new(1);
    receiver.change(OrderType::Authorization, 1_000);
    let made = receiver.change(OrderType::ChargeBack, -1_500);
    let expected =
        [line(-1_000, -69, Some(1), "2026-04-22", Some(0)), line(-500, 0, None, "2026-03-24", None)];
    assert_eq!(told(&made), expected);
    assert_eq!(receiver.sums(), (-500, 0));
    let mut other = Receiver::new(1);
    assert_eq!(told(&other.change(OrderType::ChargeBack, -700)), [line(-700, 0, None, "2026-03-24", None)]);
    assert_eq!(told(&other.change(OrderType::Authorization, 700)), [line(700, 0, None, "2026-03-24", None)]);
}

proptest! {
    /// Whatever comes and goes, and is paid out in between: orders are what the receiver has, nothing is kept of nothing, and
    /// nothing is given back twice.
    #[test]
    fn orders_are_what_a_receiver_has(
        first in 1_i64..1_000_000, installments in 1_u8..=12,
        events in prop::collection::vec((any::<bool>(), -1_000_000_i64..1_000_000, 0_usize..40), 0..12),
    ) {
        let mut receiver = Receiver::new(installments);
        receiver.change(OrderType::Authorization, first);
        let fee = receiver.sums().1;
        let mut position = first;
        for (is_payout, amount, place) in events {
            if is_payout {
                let place = place % receiver.orders.len();
                receiver.pay_out(place);
                continue;
            }
            // A charge never holds more than it has brought.
            let after = (position + amount).min(first);
            let order_type = if after > position { OrderType::Authorization } else { OrderType::Void };
            receiver.change(order_type, after - position);
            position = after;
            let (gross, of_fee) = receiver.sums();
            prop_assert_eq!(gross, position);
            prop_assert!((0..=fee).contains(&of_fee), "{} of {}", of_fee, fee);
            if position <= 0 {
                prop_assert_eq!(of_fee, 0);
            }
            for order in receiver.orders.iter().filter(|order| order.order_type == OrderType::Authorization) {
                let reduced = receiver.orders.iter().filter(|other| other.reduces == Some(order.ordinal));
                prop_assert!(order.gross + reduced.map(|other| other.gross).sum::<i64>() >= 0);
            }
        }
        // Everything comes back.
        receiver.change(OrderType::Void, -position);
        prop_assert_eq!(receiver.sums(), (0, 0));
        receiver.change(OrderType::Authorization, first);
        prop_assert_eq!(receiver.sums(), (first, fee));
    }

    /// Whatever is taken and comes back while days pass: an installment has never less than nothing nor more than it brought, all of it
    /// on its day while that is to come, and nothing before.
    #[test]
    fn installments_keep_their_days(
        first in 1_i64..1_000_000, installments in 1_u8..=12,
        events in prop::collection::vec((0_i64..60, -1_000_000_i64..1_000_000), 0..12),
    ) {
        let mut receiver = Receiver::new(installments);
        let brought = receiver.change(OrderType::Authorization, first);
        let mut position = first;
        for (days, amount) in events {
            receiver.later(days);
            let after = (position + amount).clamp(0, first);
            let order_type = if after > position { OrderType::Authorization } else { OrderType::ChargeBack };
            receiver.change(order_type, after - position);
            position = after;
            prop_assert_eq!(receiver.sums().0, position);
            for one in &brought {
                let (gross, fee, on) = receiver.of_installment(one.installment.unwrap());
                prop_assert!((0..=one.gross).contains(&gross), "{} of {}", gross, one.gross);
                if position == first {
                    prop_assert_eq!((gross, fee), (one.gross, one.fee));
                }
                let is_to_come = one.scheduled_at > receiver.today;
                prop_assert!(on.iter().all(|day| *day == one.scheduled_at || !is_to_come && *day > one.scheduled_at));
            }
        }
    }

    /// Whatever batches a receiver has: what was paid, less what is still owed, is what the orders come to.
    #[test]
    fn debts_are_set_off_to_the_cent(
        batches in prop::collection::vec((0_i64..10_000, 0_i64..10_000, 0_i64..10_000, 0_i64..500), 1..20),
    ) {
        let (mut debt, mut paid, mut net) = (0, 0, 0);
        for (authorized, voided, charged_back, fee) in batches {
            let drawn = draw(&Sums { authorized, voided, charged_back, fee, discount: 0 }, debt);
            net += authorized - voided - charged_back - fee;
            prop_assert_eq!(drawn.figures.net(), authorized - voided - charged_back - fee);
            match drawn.status {
                BatchStatus::Pending => {
                    prop_assert!(drawn.figures.final_balance() > 0);
                    paid += drawn.figures.final_balance();
                }
                BatchStatus::Offset => prop_assert!(drawn.figures.final_balance() <= 0),
                BatchStatus::Paid | BatchStatus::Failed => prop_assert!(false),
            }
            prop_assert!(drawn.debt >= 0);
            debt = drawn.debt;
            prop_assert_eq!(paid - debt, net);
        }
    }
}

#[test]
fn a_batch_adds_up() {
    let sums = Sums { authorized: 250_000, fee: 5_000, discount: 2_500, ..Sums::default() };
    // The published example: 250000 less 7500.
    let figures = Figures { amount: 250_000, fee: 5_000, total_fee: 7_500, ..Figures::default() };
    assert_eq!(draw(&sums, 0), Drawn { figures, status: BatchStatus::Pending, debt: 0 });
    assert_eq!(figures.final_balance(), 242_500);
    // A debt is set off, as far as there is anything.
    let drawn = draw(&sums, 300_000);
    assert_eq!(drawn.status, BatchStatus::Offset);
    assert_eq!((drawn.figures.balance, drawn.figures.final_balance(), drawn.debt), (242_500, 0, 57_500));
    let drawn = draw(&sums, 42_500);
    assert_eq!((drawn.status, drawn.figures.final_balance(), drawn.debt), (BatchStatus::Pending, 200_000, 0));
    // Less than nothing is a debt.
    let sums = Sums { authorized: 1_000, voided: 400, charged_back: 1_500, fee: -30, discount: 0 };
    let drawn = draw(&sums, 10);
    assert_eq!((drawn.status, drawn.figures.final_balance(), drawn.debt), (BatchStatus::Offset, -870, 880));
}

#[test]
fn a_batch_moves_by_what_its_bank_says() {
    use BatchStatus::{Failed, Offset, Paid, Pending};
    for (before, told, after) in [
        (Pending, Told::Paid, Some(Paid)),
        (Pending, Told::Refused, Some(Failed)),
        (Pending, Told::Returned, Some(Failed)),
        (Paid, Told::Returned, Some(Failed)),
        (Paid, Told::Paid, None),
        (Paid, Told::Refused, None),
        (Failed, Told::Paid, None),
        (Offset, Told::Paid, None),
    ] {
        assert_eq!(before.after(told), after, "{before:?} {told:?}");
    }
}
