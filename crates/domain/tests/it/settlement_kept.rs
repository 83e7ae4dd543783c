//! What payouts of the own provider have kept and paid, compared with the lines of a file.

use std::time::Duration;

use regente_domain::currency::Currency;
use regente_domain::id::SellerId;
use regente_domain::ledger::{Books, Movement, Source, Subject};
use regente_domain::provider_type::ProviderType;
use regente_domain::settlement::{Covered, Kept, Kind, Line, Verdict, judge_kept};
use uuid::Uuid;

use crate::charge::{NOW, id};

const HOUR: Duration = Duration::from_secs(60 * 60);
const ORDER: Uuid = Uuid::from_u128(0x019d_6afe_c505_7000_8000_0000_0000_0001);
const BATCH: Uuid = Uuid::from_u128(0x019d_6afe_c505_7000_8000_0000_0000_0002);

fn kept(source_id: Uuid, kind: Kind, amount: i64) -> Kept {
    Kept { source_id, kind, at: NOW, currency: Currency::BRL, amount, seller_id: None }
}

/// The line that says the same.
fn line(kept: &Kept) -> Line {
    Line {
        row: 2,
        id: kept.name(),
        kind: kept.kind,
        at: kept.at,
        payment: None,
        currency: kept.currency.code().to_owned(),
        amount: kept.amount,
        fee: 0,
        seller_id: None,
        parts: Vec::new(),
    }
}

fn covered() -> Covered {
    Covered { from: NOW - 4 * HOUR, to: NOW + 4 * HOUR, edge: HOUR, is_complete: true }
}

fn verdicts(lines: &[Line], kept: &[Kept], covered: Option<&Covered>) -> Vec<Verdict> {
    let lines = lines.iter().map(|line| (line.clone(), false));
    let judged = judge_kept(lines, kept.to_vec(), covered, |kind| kind != Kind::Anticipation);
    judged.into_iter().map(|judged| judged.verdict).collect()
}

#[test]
fn a_line_is_about_what_has_its_name() {
    let fee = kept(ORDER, Kind::Fee, 63);
    let (paid, returned) = (kept(BATCH, Kind::Payout, 1604), kept(BATCH, Kind::Payout, -1604));
    let early = kept(BATCH, Kind::Anticipation, 20);
    assert_eq!((paid.name(), returned.name()), (BATCH.to_string(), format!("{BATCH}.returned")));
    let all = [fee.clone(), paid.clone(), returned, early];
    let lines: Vec<Line> = all.iter().map(line).collect();
    assert_eq!(verdicts(&lines, &all, Some(&covered())), [Verdict::Matched; 4]);
    // A fee without an order, and a payout under the name of an order.
    assert_eq!(verdicts(&lines[..1], &[], Some(&covered())), [Verdict::MissingHere]);
    let other = Line { id: ORDER.to_string(), ..line(&paid) };
    let expected = [Verdict::MissingHere, Verdict::MissingThere, Verdict::MissingThere];
    assert_eq!(verdicts(&[other], &[fee.clone(), paid], Some(&covered())), expected);
    let twice = judge_kept([(line(&fee), false), (line(&fee), true)], [fee], None, |_| true);
    assert_eq!(
        twice.iter().map(|judged| judged.verdict).collect::<Vec<_>>(),
        [Verdict::Matched, Verdict::Doubled]
    );
}

#[test]
fn what_differs_is_named() {
    let seller: SellerId = id(0x500);
    let fee = Kept { seller_id: Some(seller), ..kept(ORDER, Kind::Fee, 63) };
    let of = |line: Line| verdicts(&[line], std::slice::from_ref(&fee), None)[0];
    assert_eq!(of(line(&fee)), Verdict::Matched);
    assert_eq!(of(Line { seller_id: Some(seller), ..line(&fee) }), Verdict::Matched);
    assert_eq!(of(Line { seller_id: Some(id(0x501)), ..line(&fee) }), Verdict::DifferingParts);
    assert_eq!(of(Line { amount: 64, ..line(&fee) }), Verdict::DifferingAmount);
    assert_eq!(of(Line { amount: -63, ..line(&fee) }), Verdict::DifferingAmount);
    assert_eq!(of(Line { currency: "USD".to_owned(), ..line(&fee) }), Verdict::ForeignCurrency);
}

#[test]
fn what_is_missing_is_of_the_days_and_kinds_of_the_file() {
    let at = |at, kind| Kept { at, ..kept(ORDER, kind, 63) };
    let missing = |kept: Kept| verdicts(&[], &[kept], Some(&covered()));
    assert_eq!(missing(at(NOW, Kind::Fee)), [Verdict::MissingThere]);
    assert_eq!(missing(at(NOW + 4 * HOUR, Kind::Fee)), [Verdict::OnTheEdge]);
    assert_eq!(missing(at(NOW + 6 * HOUR, Kind::Fee)), []);
    assert_eq!(missing(at(NOW, Kind::Anticipation)), [], "the file has no lines of it");
    assert_eq!(verdicts(&[], &[at(NOW, Kind::Fee)], None), [], "its days are not known");
}

#[test]
fn entries_of_payouts_are_told_from_those_of_lines() {
    let books = Books {
        client_id: id(1),
        merchant_id: id(2),
        provider_type: ProviderType::Platform,
        currency: Currency::BRL,
    };
    let entry = |id: Uuid, movement, amount| {
        let source = Source { id, version: 0, ordinal: 0 };
        books.entry(source, NOW, movement, Subject::Provider, None, amount).unwrap()
    };
    assert_eq!(Kept::of(&entry(ORDER, Movement::ProviderFee, 63)), Some(kept(ORDER, Kind::Fee, 63)));
    assert_eq!(Kept::of(&entry(ORDER, Movement::ProviderFee, -63)), Some(kept(ORDER, Kind::Fee, -63)));
    assert_eq!(Kept::of(&entry(BATCH, Movement::Payout, -9)), Some(kept(BATCH, Kind::Payout, -9)));
    assert_eq!(Kept::of(&entry(BATCH, Movement::Anticipation, 9)), Some(kept(BATCH, Kind::Anticipation, 9)));
    assert_eq!(Kept::of(&entry(ORDER, Movement::SettlementDifference, 63)), None);
    let of_line = Uuid::new_v5(&ORDER, b"a line");
    assert_eq!(Kept::of(&entry(of_line, Movement::ProviderFee, 63)), None);
}
