//! Prepayment: the formula to the cent, the deadline, the states, and sums.

use std::collections::BTreeMap;

use jiff::ToSpan;
use jiff::civil::Date;
use regente_domain::business_days::Calendar;
use regente_domain::currency::Currency;
use regente_domain::id::{ChargeId, ClientId, MerchantId, PayoutOrderId, SellerId};
use regente_domain::ledger::{Books, Movement, Purpose, Source, Subject};
use regente_domain::money::Amount;
use regente_domain::payout::arrangement::Arrangement;
use regente_domain::percentage::Percentage;
use regente_domain::prepayment::{
    EffectiveRate, NewPrepayment, Offers, PrepaymentStatus, Rates, Receivable, Refusal, Schedule, Selection,
    Step, Totals,
};
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use regente_domain::wire::read;
use serde_json::{Value, json};
use uuid::Uuid;

const PUBLISHED: (u32, u32) = (150, 200);

fn rates((monthly_rate, markup): (u32, u32)) -> Rates {
    let percent = Percentage::from_hundredths;
    Rates { monthly_rate: percent(monthly_rate), markup: percent(markup) }
}

fn amount(cents: i64) -> Amount {
    Amount::new(cents).unwrap()
}

fn day(text: &str) -> Date {
    text.parse().unwrap()
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn receivable(cents: i64, settlement_date: Date) -> Receivable {
    Receivable {
        id: PayoutOrderId::new(Uuid::nil()),
        charge_id: ChargeId::new(Uuid::nil()),
        reductions: Vec::new(),
        settlement_date,
        arrangement: Arrangement::Vcc,
        amount: amount(cents),
    }
}

#[test]
fn the_published_example_to_the_cent() {
    let (mut offers, paid) = (Offers::at(rates(PUBLISHED)), day("2026-05-28"));
    let due = paid.saturating_add(30.days());
    let items = [12_000, 8_000].map(|cents| offers.item(paid, receivable(cents, due)));
    let told: Vec<_> = items
        .iter()
        .map(|item| [item.gross, item.net, item.markup, item.fee].map(Amount::minor_units))
        .collect();
    assert_eq!(told, [[12_000, 11_594, 232, 174], [8_000, 7_729, 155, 116]]);
    assert!(items.iter().all(|item| item.days == 30));
    let totals = Totals::of(&items).unwrap();
    let sums = [totals.gross, totals.net, totals.markup, totals.fee].map(Amount::minor_units);
    assert_eq!(sums, [20_000, 19_323, 387, 290]);
    assert_eq!(totals.effective_rate().to_string(), "0.03385");
    let shown = [PUBLISHED.0, PUBLISHED.1, 0, 10_000].map(Percentage::from_hundredths).map(Rates::fraction);
    assert_eq!(shown, ["0.015", "0.02", "0", "1"]);
}

/// Amount, rates in hundredths of a percent, days; what is paid, the fee and the markup. Computed with 120 decimals by another
/// program. Among them are halves of a cent, and roots that have an end.
type Case = (i64, (u32, u32), u32, (i64, i64, i64));

#[rustfmt::skip]
const CASES: [Case; 50] = [
    (12000, (150, 200), 30, (11594, 174, 232)),
    (8000, (150, 200), 30, (7729, 116, 155)),
    (1, (150, 200), 30, (1, 0, 0)),
    (100, (150, 200), 1, (100, 0, 0)),
    (10000, (0, 0), 45, (10000, 0, 0)),
    (10000, (10000, 0), 30, (5000, 5000, 0)),
    (3, (10000, 0), 30, (2, 1, 0)),
    (1, (10000, 0), 30, (1, 0, 0)),
    (12100, (1000, 0), 60, (10000, 2100, 0)),
    (10201, (201, 0), 15, (10100, 101, 0)),
    (9007199254740991, (150, 200), 365, (5926735070403193, 1320198936144771, 1760265248193027)),
    (971504, (250, 100), 255, (725190, 175939, 70375)),
    (755227, (199, 200), 30, (726250, 14452, 14525)),
    (724113, (199, 1), 278, (602714, 120792, 607)),
    (774, (150, 100), 148, (685, 53, 36)),
    (977, (99, 1), 19, (971, 6, 0)),
    (117363, (0, 275), 26, (114636, 0, 2727)),
    (944, (50, 275), 159, (797, 23, 124)),
    (23589647528, (333, 200), 292, (14230314521, 5847388164, 3511944843)),
    (603660, (50, 200), 169, (525268, 15678, 62714)),
    (255867, (150, 1), 245, (226391, 29281, 195)),
    (10, (250, 1), 32, (10, 0, 0)),
    (5411209694, (99, 100), 197, (4754441534, 326733909, 330034251)),
    (202914, (0, 1000), 269, (86329, 0, 116585)),
    (343215, (150, 100), 317, (264393, 47293, 31529)),
    (331, (50, 275), 193, (269, 10, 52)),
    (27362219827, (50, 1000), 351, (8507709942, 897833804, 17956676081)),
    (842, (199, 100), 1, (841, 1, 0)),
    (512, (333, 200), 399, (257, 159, 96)),
    (437066, (150, 1), 164, (402685, 34153, 228)),
    (174377, (0, 1000), 400, (48931, 0, 125446)),
    (97839504085, (99, 275), 349, (63827270814, 9003238219, 25008995052)),
    (930, (199, 100), 2, (928, 1, 1)),
    (91045512070, (333, 200), 194, (65076132060, 16224772126, 9744607884)),
    (226, (250, 100), 118, (197, 21, 8)),
    (60378515137, (0, 1), 238, (60330636237, 0, 47878900)),
    (1088538324, (0, 100), 179, (1025792518, 0, 62745806)),
    (16677713723, (50, 200), 386, (12138250990, 907892547, 3631570186)),
    (655, (50, 1000), 34, (585, 3, 67)),
    (193685, (99, 1000), 179, (103969, 8082, 81634)),
    (4228264148, (250, 200), 6, (4191204509, 20588688, 16470951)),
    (23, (0, 1), 349, (23, 0, 0)),
    (669861, (199, 275), 28, (641524, 11897, 16440)),
    (674082, (250, 100), 101, (600362, 52657, 21063)),
    (312, (333, 1), 165, (260, 52, 0)),
    (457, (333, 1000), 110, (289, 42, 126)),
    (529153432, (99, 275), 71, (485112174, 11657980, 32383278)),
    (39941987599, (250, 100), 2, (39850488472, 65356519, 26142608)),
    (714, (333, 100), 216, (526, 145, 43)),
    (85146910449, (199, 1), 145, (77375131013, 7732920539, 38858897)),
];

#[test]
fn costs_as_computed_elsewhere() {
    for (gross, of, days, expected) in CASES {
        let cost = Offers::at(rates(of)).cost(amount(gross), days);
        let told = (cost.net.minor_units(), cost.fee.minor_units(), cost.markup.minor_units());
        assert_eq!(told, expected, "{gross} at {of:?} for {days} days");
    }
}

/// A generator of numbers that are the same in each run (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

#[test]
fn of_100_000_simulations_the_totals_are_sums_and_the_postings_balance() {
    let mut numbers = Numbers(32);
    let mut offers =
        [(150, 200), (0, 0), (199, 0), (0, 275), (333, 1), (1_000, 1_000)].map(|of| Offers::at(rates(of)));
    let paid = day("2026-05-28");
    for _ in 0..100_000 {
        let offers = &mut offers[usize::try_from(numbers.below(6)).unwrap()];
        let (mut items, mut discounts) = (Vec::new(), BTreeMap::new());
        for _ in 0..=numbers.below(4) {
            let days = 1 + i64::try_from(numbers.below(120)).unwrap();
            let scale = [100, 100_000, 10_000_000_000][usize::try_from(numbers.below(3)).unwrap()];
            let cents = 1 + i64::try_from(numbers.below(scale)).unwrap();
            let item = offers.item(paid, receivable(cents, paid.saturating_add(days.days())));
            assert_eq!(i64::from(item.days), days);
            assert_eq!(item.net.plus(item.fee).and_then(|sum| sum.plus(item.markup)), Some(item.gross));
            let merchant = MerchantId::new(Uuid::from_u128(numbers.below(2).into()));
            *discounts.entry(books(merchant)).or_default() += item.discount().minor_units();
            items.push(item);
        }
        let totals = Totals::of(&items).unwrap();
        let sum = |of: fn(&_) -> Amount| items.iter().map(of).map(Amount::minor_units).sum::<i64>();
        assert_eq!(totals.gross.minor_units(), sum(|item| item.gross));
        assert_eq!(totals.net.minor_units(), sum(|item| item.net));
        assert_eq!(totals.fee.minor_units(), sum(|item| item.fee));
        assert_eq!(totals.markup.minor_units(), sum(|item| item.markup));
        assert_eq!(totals.discount().minor_units(), totals.fee.minor_units() + totals.markup.minor_units());
        balanced(&discounts, totals.discount());
    }
}

fn books(merchant_id: MerchantId) -> Books {
    Books {
        client_id: ClientId::new(Uuid::nil()),
        merchant_id,
        provider_type: ProviderType::Platform,
        currency: Currency::parse("BRL").unwrap(),
    }
}

fn balanced(discounts: &BTreeMap<Books, i64>, discount: Amount) {
    let seller = Some(SellerId::new(Uuid::from_u128(7)));
    let post = |(ordinal, (books, discount)): (i64, (&Books, &i64))| {
        let source = Source { id: Uuid::nil(), version: 0, ordinal };
        let (what, whose) = (Movement::Anticipation, Subject::Provider);
        books.entry(source, Timestamp::EPOCH, what, whose, seller, *discount)
    };
    let posted: Vec<_> = (0..).zip(discounts).filter_map(post).collect();
    let mut sums: BTreeMap<&str, i64> = BTreeMap::new();
    for entry in &posted {
        *sums.entry(entry.debit.word()).or_default() += entry.amount.minor_units();
        *sums.entry(entry.credit.word()).or_default() -= entry.amount.minor_units();
        assert_eq!(entry.seller_id, seller);
    }
    assert_eq!(sums.values().sum::<i64>(), 0);
    let kept = sums.get(Purpose::Anticipation.word()).copied().unwrap_or_default();
    assert_eq!(kept, discount.minor_units(), "{posted:?}");
}

#[test]
fn an_offer_stands_until_15_00_of_its_business_day() {
    for (made, expires, paid) in [
        // A Wednesday, in time and a millisecond before the deadline.
        ("2026-05-27T12:00:00Z", "2026-05-27T18:00:00Z", "2026-05-28"),
        ("2026-05-27T17:59:59.999Z", "2026-05-27T18:00:00Z", "2026-05-28"),
        // At the deadline and after it: as of Thursday.
        ("2026-05-27T18:00:00Z", "2026-05-28T18:00:00Z", "2026-05-29"),
        ("2026-05-28T02:59:59Z", "2026-05-28T18:00:00Z", "2026-05-29"),
        // A Friday: in time it is paid on Monday, later on Tuesday. Saturday and Sunday count as Monday.
        ("2026-05-29T17:00:00Z", "2026-05-29T18:00:00Z", "2026-06-01"),
        ("2026-05-29T18:30:00Z", "2026-06-01T18:00:00Z", "2026-06-02"),
        ("2026-05-30T12:00:00Z", "2026-06-01T18:00:00Z", "2026-06-02"),
        ("2026-05-31T23:00:00Z", "2026-06-01T18:00:00Z", "2026-06-02"),
        // Before Corpus Christi, on it, and the day after, which is a Friday.
        ("2026-06-03T12:00:00Z", "2026-06-03T18:00:00Z", "2026-06-05"),
        ("2026-06-04T12:00:00Z", "2026-06-05T18:00:00Z", "2026-06-08"),
        // Over the end of a year: 31 December is no day of banks, nor is 1 January, a Friday.
        ("2026-12-30T12:00:00Z", "2026-12-30T18:00:00Z", "2027-01-04"),
        ("2026-12-31T12:00:00Z", "2027-01-04T18:00:00Z", "2027-01-05"),
    ] {
        let schedule = Schedule::of(&Calendar::NATIONAL, at(made));
        assert_eq!(schedule, Schedule { expires_at: at(expires), payment_date: day(paid) }, "{made}");
        assert!(schedule.expires_at > at(made));
    }
    assert_eq!(Schedule::days_until(day("2026-05-28"), day("2026-06-15")), 18);
    assert_eq!(Schedule::days_until(day("2026-05-28"), day("2027-05-28")), 365);
    assert_eq!(Schedule::days_until(day("2026-05-28"), day("2026-05-27")), 0);
}

#[test]
fn a_prepayment_goes_this_way_and_no_other() {
    use PrepaymentStatus as S;
    let table = [
        (S::Pending, Step::Accepted, S::Committed),
        (S::Pending, Step::TimeOver, S::Expired),
        (S::Committed, Step::PaidOut, S::Paid),
        (S::Committed, Step::Refused, S::Expired),
    ];
    for (_, before) in S::WORDS {
        for step in [Step::Accepted, Step::PaidOut, Step::TimeOver, Step::Refused] {
            let after = table.iter().find(|(from, by, _)| (from, by) == (before, &step)).map(|row| row.2);
            assert_eq!(before.after(step), after, "{before:?} {step:?}");
        }
    }
    let (end, before) = (at("2026-05-27T18:00:00Z"), at("2026-05-27T17:59:59.999Z"));
    for (status, then) in
        [(S::Pending, S::Expired), (S::Committed, S::Committed), (S::Paid, S::Paid), (S::Expired, S::Expired)]
    {
        assert_eq!((status.at(before, end), status.at(end, end)), (status, then));
    }
}

#[test]
fn exactly_one_of_end_date_and_dates_is_sent() {
    let sent = |body: Value| read::<NewPrepayment>(body.as_object().unwrap().clone());
    let end = sent(json!({ "endDate": "2026-06-20", "sellerId": null })).unwrap();
    assert_eq!(end, NewPrepayment { seller_id: None, selection: Selection::EndDate(day("2026-06-20")) });
    assert!(end.selection.takes(day("2026-06-20")) && !end.selection.takes(day("2026-06-21")));
    let dates = sent(json!({ "dates": ["2026-06-20"], "sellerId": "19d05a45-0e92-478e-8366-955231bcf3d6" }));
    let dates = dates.unwrap();
    assert!(dates.seller_id.is_some());
    assert!(dates.selection.takes(day("2026-06-20")) && !dates.selection.takes(day("2026-06-19")));
    let both = "endDate should be sent, or dates, and not both";
    for (body, problem) in [
        (json!({}), both),
        (json!({ "endDate": "2026-06-20", "dates": ["2026-06-20"] }), both),
        (json!({ "endDate": "20/06/2026" }), "endDate must be a valid ISO 8601 date string"),
        (json!({ "dates": [] }), "dates must contain at least 1 elements"),
        (json!({ "dates": ["soon"] }), "dates[0] must be a valid ISO 8601 date string"),
        (json!({ "endDate": "2026-06-20", "sellerId": "x" }), "sellerId must be a UUID"),
    ] {
        assert_eq!(sent(body.clone()).unwrap_err().into_details(), [problem], "{body}");
    }
}

#[test]
fn rates_and_refusals_are_told_in_few_words() {
    for (discount, gross, told) in [
        (677, 20_000, "0.03385"),
        (0, 100, "0"),
        (0, 0, "0"),
        (100, 100, "1"),
        (1, 3, "0.33333333"),
        (2, 3, "0.66666667"),
    ] {
        assert_eq!(EffectiveRate::of(amount(discount), amount(gross)).to_string(), told);
    }
    let statuses = Refusal::ALL.map(Refusal::status);
    assert_eq!(statuses, [403, 404, 422, 409, 409, 422]);
    assert!(Refusal::ALL.iter().all(|refusal| !refusal.message().is_empty()));
}
