//! Settlement files: what is compared, what is posted, and who bears fees, by table.

use std::collections::HashSet;
use std::time::Duration;

use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::attempt::{
    Approval, Asks, Outcome, RequestType, TransactionRequest, never_arrived,
};
use regente_domain::charge::reversal::{Reversal, ReversalKind, ReversalVerdict};
use regente_domain::charge::{Charge, FollowUpKind};
use regente_domain::currency::Currency;
use regente_domain::id::SellerId;
use regente_domain::ledger::{Books, Entry, Movement, Source, Subject};
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_domain::settlement::{
    Covered, Judged, Kind, Line, LinePart, Moved, MovedPart, Settled, SettledPayment, Verdict, entries,
    moved, orphaned, shares,
};
use regente_domain::split::{Bears, Share, Split, SplitRule, WholePercent};
use uuid::Uuid;

use crate::charge::{NOW, approved, authorization, charge, id, request};

fn line(row: u64, kind: Kind, amount: i64) -> Line {
    Line {
        row,
        id: format!("line-{row}"),
        kind,
        at: NOW,
        payment: Some("payment".to_owned()),
        currency: "BRL".to_owned(),
        amount,
        fee: 0,
        seller_id: None,
        parts: Vec::new(),
    }
}

fn ours(n: u128, kind: Kind, amount: i64) -> Moved {
    Moved {
        client_id: id(1),
        merchant_id: id(2),
        provider_id: id(3),
        provider_type: ProviderType::Sandbox,
        charge_id: id(4),
        request_id: id(0x10 + n),
        key: Uuid::nil(),
        transaction_id: None,
        kind,
        amount,
        currency: Currency::BRL,
        at: NOW,
        is_split: false,
        parts: Vec::new(),
    }
}

const HOUR: Duration = Duration::from_secs(3600);

/// What a file is about that has everything of eight hours around now.
fn covered() -> Covered {
    Covered { from: NOW - 4 * HOUR, to: NOW + 4 * HOUR, edge: HOUR, is_complete: true }
}

/// Judges lines of which each has a name of its own.
fn judge(lines: Vec<Line>, ours: Vec<Moved>, covered: Option<&Covered>) -> Vec<Judged> {
    regente_domain::settlement::judge(SettledPayment { lines, doubled: Vec::new(), ours }, covered)
}

/// What is found: the row, the request, and the verdict, in any order.
fn found(lines: &[Line], ours: &[Moved]) -> Vec<(Option<u64>, Option<i64>, Verdict)> {
    let judged = judge(lines.to_vec(), ours.to_vec(), Some(&covered()));
    let row = |judged: Judged| {
        let of_charge = judged.line.as_ref().is_none_or(|line| line.kind.moves_a_charge());
        let ours = judged.ours.filter(|_| of_charge).map(|ours| ours.amount);
        (judged.line.map(|line| line.row), ours, judged.verdict)
    };
    let mut found: Vec<_> = judged.into_iter().map(row).collect();
    found.sort();
    found
}

#[test]
fn lines_and_requests_find_each_other() {
    use Kind::{Payout, Refund, Sale};
    use Verdict::{
        DifferingAmount, Doubled, ForeignCurrency, Matched, MissingHere, MissingThere, OnTheEdge, SoldAgain,
    };
    let (sale, refund) = (line(1, Sale, 100), line(2, Refund, 30));
    let (sold, refunded) = (ours(1, Sale, 100), ours(2, Refund, 30));
    let both = [sold.clone(), refunded.clone()];
    let matched = [(Some(1), Some(100), Matched), (Some(2), Some(30), Matched)];
    assert_eq!(found(&[sale.clone(), refund.clone()], &both), matched);
    assert_eq!(
        found(std::slice::from_ref(&sale), &both),
        [(None, Some(30), MissingThere), (Some(1), Some(100), Matched)]
    );
    // Two refunds of which one differs: the equal ones find each other first.
    let two = [sold.clone(), refunded.clone(), ours(3, Refund, 20)];
    assert_eq!(
        found(&[sale.clone(), line(2, Refund, 25), line(3, Refund, 30)], &two),
        [(Some(1), Some(100), Matched), (Some(2), Some(20), DifferingAmount), (Some(3), Some(30), Matched)]
    );
    // The same sale under another name.
    assert_eq!(
        found(&[sale.clone(), line(3, Sale, 100)], std::slice::from_ref(&sold)),
        [(Some(1), Some(100), Matched), (Some(3), Some(100), Doubled)]
    );
    // A further sale, of another amount, and of a payment that the records do not have.
    assert_eq!(
        found(&[sale.clone(), line(3, Sale, 60)], std::slice::from_ref(&sold)),
        [(Some(1), Some(100), Matched), (Some(3), Some(100), SoldAgain)]
    );
    assert_eq!(
        found(&[sale.clone(), line(3, Sale, 60)], &[]),
        [(Some(1), None, MissingHere), (Some(3), None, SoldAgain)]
    );
    let in_dollars = Line { currency: "USD".to_owned(), ..sale.clone() };
    assert_eq!(found(&[in_dollars], std::slice::from_ref(&sold)), [(Some(1), Some(100), ForeignCurrency)]);
    // A payment of nobody, and what the provider alone knows of a payment of ours.
    let payout = line(2, Payout, 97);
    assert_eq!(
        found(&[sale.clone(), payout.clone()], &[]),
        [(Some(1), None, MissingHere), (Some(2), None, MissingHere)]
    );
    assert_eq!(
        found(&[sale, payout], std::slice::from_ref(&sold)),
        [(Some(1), Some(100), Matched), (Some(2), None, Matched)]
    );
    let hours = |hours: u64| Duration::from_secs(hours * 3600);
    for (at, expected) in [
        (NOW, vec![(None, Some(100), MissingThere)]),
        (NOW + hours(3), vec![(None, Some(100), OnTheEdge)]),
        (NOW - hours(5), vec![(None, Some(100), OnTheEdge)]),
        (NOW + hours(6), vec![]),
    ] {
        assert_eq!(found(&[], &[Moved { at, ..sold.clone() }]), expected);
    }
}

#[test]
fn a_line_settles_the_nearest_request() {
    use Kind::{Refund, Sale};
    use Verdict::{DifferingAmount, Matched, MissingThere};
    let at = |ours: Moved, at| Moved { at, ..ours };
    let sunday = at(ours(1, Sale, 100), NOW - 48 * HOUR);
    let monday = |amount| at(ours(2, Refund, amount), NOW - 24 * HOUR);
    let today = |amount| ours(3, Refund, amount);
    // The same amount the day before, which the file of that day has.
    let yesterdays_too = [sunday.clone(), monday(30), today(30)];
    let judged = judge(vec![line(1, Refund, 30)], yesterdays_too.to_vec(), Some(&covered()));
    assert_eq!((judged.len(), judged[0].verdict), (1, Matched), "{judged:?}");
    assert_eq!(judged[0].ours.as_ref().map(|ours| ours.at), Some(NOW));
    // A wrong amount is compared with what was refunded on the day of the file.
    assert_eq!(
        found(&[line(1, Refund, 25)], &[sunday.clone(), monday(30), today(20)]),
        [(Some(1), Some(20), DifferingAmount)]
    );
    // What is equal is nearer than what is on the same day: nothing is posted.
    assert_eq!(
        found(&[line(1, Refund, 30)], &[sunday.clone(), monday(30), today(20)]),
        [(None, Some(20), MissingThere), (Some(1), Some(30), Matched)]
    );
    // It is settled late: there is no nearer one.
    assert_eq!(found(&[line(1, Refund, 30)], &[sunday.clone(), monday(30)]), [(Some(1), Some(30), Matched)]);
    assert_eq!(found(&[line(1, Refund, 25)], &[sunday, monday(30)]), [(Some(1), Some(30), DifferingAmount)]);
    // A file that has days and no times: its lines are of midnight, nearer to the evening before.
    let of_day = Line { at: NOW - 4 * HOUR, ..line(1, Refund, 30) };
    let evening = at(monday(30), NOW - 5 * HOUR);
    let judged = judge(vec![of_day], vec![evening, today(30)], Some(&covered()));
    assert_eq!(judged[0].ours.as_ref().map(|ours| ours.at), Some(NOW), "{judged:?}");
    // Two wrong ones: each is compared with its own, whatever their order in the file.
    let lines = [Line { at: NOW + 2 * HOUR, ..line(1, Refund, 21) }, Line { at: NOW, ..line(2, Refund, 31) }];
    let refunds = [at(today(20), NOW + 2 * HOUR), at(ours(4, Refund, 30), NOW)];
    assert_eq!(
        found(&lines, &refunds),
        [(Some(1), Some(20), DifferingAmount), (Some(2), Some(30), DifferingAmount)]
    );
}

/// What is posted of a line: movement, debit, seller, amount.
fn posted(
    line: &Line,
    difference: i64,
    charge: Option<&Charge>,
) -> Vec<(String, String, Option<SellerId>, i64)> {
    let books = Books {
        client_id: id(1),
        merchant_id: id(2),
        provider_type: ProviderType::Sandbox,
        currency: Currency::BRL,
    };
    let borne = [(None, if line.kind.moves_a_charge() { difference } else { line.amount })];
    let made = entries(books, Settled { line, provider_id: id(3), borne: &borne }, charge);
    assert_eq!(made, entries(books, Settled { line, provider_id: id(3), borne: &borne }, charge));
    let row = |entry: &Entry| {
        let (movement, debit) = (entry.movement.word().to_owned(), entry.debit.word().to_owned());
        (movement, debit, entry.seller_id, entry.amount.minor_units())
    };
    made.iter().map(row).collect()
}

fn row(movement: &str, debit: &str, amount: i64) -> (String, String, Option<SellerId>, i64) {
    (movement.to_owned(), debit.to_owned(), None, amount)
}

#[test]
fn a_line_posts_what_the_provider_alone_knows() {
    let sale = Line { fee: 3, ..line(1, Kind::Sale, 100) };
    assert_eq!(posted(&sale, 0, None), [row("provider_fee", "provider_fee", 3)]);
    assert_eq!(posted(&line(1, Kind::Sale, 100), 0, None), []);
    let short =
        [row("settlement_difference", "settlement_difference", 7), row("provider_fee", "provider_fee", 3)];
    assert_eq!(posted(&sale, 7, None), short);
    // More than the records say, a fee that is given back, and what a refund takes from a payout.
    let more = [row("settlement_difference", "provider_receivable", 7)];
    assert_eq!(posted(&line(1, Kind::Sale, 107), -7, None), more);
    assert_eq!(posted(&line(1, Kind::Fee, -5), 0, None), [row("provider_fee", "provider_receivable", 5)]);
    assert_eq!(posted(&line(1, Kind::Payout, 97), 0, None), [row("payout", "payout", 97)]);
    assert_eq!(posted(&line(1, Kind::Payout, -30), 0, None), [row("payout", "provider_receivable", 30)]);
    assert_eq!(posted(&line(1, Kind::Anticipation, 2), 0, None), [row("anticipation", "anticipation", 2)]);
    for (line, judged) in [(line(1, Kind::Sale, 90), 10), (line(1, Kind::Refund, 90), -10)] {
        let ours = vec![ours(1, line.kind, 100)];
        assert_eq!(judge(vec![line], ours, None)[0].borne, [(None, judged)]);
    }
}

/// A line with what these recipients have of it.
fn divided(line: Line, parts: &[(&str, i64)]) -> Line {
    let part =
        |(recipient, amount): &(&str, i64)| LinePart { recipient: (*recipient).to_owned(), amount: *amount };
    Line { parts: parts.iter().map(part).collect(), ..line }
}

#[test]
fn parts_of_sellers_are_compared() {
    use Kind::{Payout, Refund, Sale};
    let seller = |n: u128, amount| MovedPart { seller_id: id(n), recipient: format!("re_{n}"), amount };
    let sold = Moved { is_split: true, parts: vec![seller(5, 50), seller(6, 30)], ..ours(1, Sale, 100) };
    let refunded = Moved { is_split: true, parts: vec![seller(5, 10)], ..ours(2, Refund, 10) };
    let unknown = Moved { is_split: true, ..ours(1, Sale, 100) };
    let alike = [("re_6", 30), ("re_5", 50)];
    let (first, second): (Option<SellerId>, Option<SellerId>) = (Some(id(5)), Some(id(6)));
    let table = [
        (divided(line(1, Sale, 100), &alike), &sold, Verdict::Matched, vec![]),
        // The file says nothing of parts, or the records do not.
        (line(1, Sale, 100), &sold, Verdict::Matched, vec![]),
        (divided(line(1, Sale, 100), &alike), &unknown, Verdict::Matched, vec![]),
        // One has more than the records say and another less; one has nothing; a stranger has something.
        (
            divided(line(1, Sale, 100), &[("re_5", 55), ("re_6", 25)]),
            &sold,
            Verdict::DifferingParts,
            vec![(first, -5), (second, 5)],
        ),
        (
            divided(line(1, Sale, 100), &[("re_5", 50)]),
            &sold,
            Verdict::DifferingParts,
            vec![(second, 30), (None, -30)],
        ),
        (
            divided(line(1, Sale, 100), &[("re_5", 50), ("re_6", 30), ("re_7", 1)]),
            &sold,
            Verdict::Unassigned,
            vec![],
        ),
        // Nor does anybody know whose it is that it has less.
        (divided(line(1, Sale, 100), &[("re_5", 50), ("re_7", 30)]), &sold, Verdict::Unassigned, vec![]),
        (divided(line(1, Sale, 90), &[("re_5", 50), ("re_7", 20)]), &sold, Verdict::Unassigned, vec![]),
        (divided(line(1, Sale, 100), &alike), &ours(1, Sale, 100), Verdict::DifferingParts, vec![]),
        (
            divided(line(1, Sale, 90), &[("re_5", 40), ("re_6", 30)]),
            &sold,
            Verdict::DifferingAmount,
            vec![(first, 10)],
        ),
        // A refund takes away: less of it is more for the seller.
        (
            divided(line(1, Refund, 10), &[("re_5", 4)]),
            &refunded,
            Verdict::DifferingParts,
            vec![(first, -6), (None, 6)],
        ),
        (
            divided(line(1, Payout, 97), &alike),
            &sold,
            Verdict::Matched,
            vec![(second, 30), (first, 50), (None, 17)],
        ),
        (divided(line(1, Payout, 97), &[("re_7", 1)]), &sold, Verdict::Unassigned, vec![]),
        // The books divide what the charge knows: anything else is the merchant's.
        (divided(line(1, Payout, 97), &alike), &unknown, Verdict::Matched, vec![(None, 97)]),
        (divided(line(1, Payout, 97), &alike), &ours(1, Sale, 100), Verdict::Unassigned, vec![]),
    ];
    for (line, ours, verdict, borne) in table {
        let judged = judge(vec![line.clone()], vec![ours.clone()], None);
        assert_eq!((judged[0].verdict, &judged[0].borne), (verdict, &borne), "{line:?}");
    }
    // Of two equal refunds each finds its own.
    let other = Moved { parts: vec![seller(6, 10)], ..refunded.clone() };
    let lines =
        [divided(line(1, Refund, 10), &[("re_6", 10)]), divided(line(2, Refund, 10), &[("re_5", 10)])];
    let judged = judge(lines.to_vec(), vec![refunded, other], None);
    assert!(judged.iter().all(|judged| judged.verdict == Verdict::Matched), "{judged:?}");
}

#[test]
fn shares_come_from_the_ledger() {
    let books = Books {
        client_id: id(1),
        merchant_id: id(2),
        provider_type: ProviderType::Sandbox,
        currency: Currency::BRL,
    };
    let entry = |version, ordinal, movement, seller: Option<u128>, amount| {
        let source = Source { id: Uuid::nil(), version, ordinal };
        let subject = if seller.is_some() { Subject::Seller } else { Subject::Merchant };
        books.entry(source, NOW, movement, subject, seller.map(id), amount).unwrap()
    };
    let posted = [
        entry(2, 0, Movement::Capture, None, 20),
        entry(2, 1, Movement::Capture, Some(5), 50),
        entry(2, 2, Movement::Capture, Some(6), 30),
        entry(4, 0, Movement::Refund, None, 10),
        // A cent that rounding moves from one part to another.
        entry(6, 0, Movement::Refund, None, -1),
        entry(6, 1, Movement::Refund, Some(5), 11),
    ];
    let moved = [
        ours(1, Kind::Refund, 10),
        ours(2, Kind::Sale, 100),
        ours(3, Kind::Refund, 10),
        ours(4, Kind::Refund, 10),
        ours(5, Kind::Sale, 90),
    ];
    let found: Vec<Vec<(SellerId, i64)>> = shares(&moved, &posted, &HashSet::new())
        .into_iter()
        .map(|parts| parts.into_iter().collect())
        .collect();
    assert_eq!(found, [vec![], vec![(id(5), 50), (id(6), 30)], vec![(id(5), 11)], vec![], vec![]]);
    // What was taken unknown to the charge, and given back, has the same amounts and happened earlier.
    let moved = [
        ours(0, Kind::Sale, 100),
        ours(0, Kind::Refund, 10),
        ours(1, Kind::Sale, 100),
        ours(2, Kind::Refund, 10),
        ours(3, Kind::Refund, 10),
    ];
    let unknown = HashSet::from([moved[0].request_id]);
    let found: Vec<bool> =
        shares(&moved, &posted, &unknown).into_iter().map(|parts| !parts.is_empty()).collect();
    assert_eq!(found, [false, false, true, false, true]);
}

fn amount(minor_units: i64) -> Amount {
    Amount::new(minor_units).unwrap()
}

/// A charge of 100 that is divided among these sellers.
fn divided_among(shares: &[(Share, Bears)]) -> Charge {
    let rule = |(n, (share, bears)): (u128, &(Share, Bears))| SplitRule {
        id: id(0x70 + n),
        seller_id: id(0x50 + n),
        share: *share,
        bears: *bears,
    };
    let rules = (1..).zip(shares).map(rule).collect();
    let split = Some(Box::new(Split::new(rules, None)));
    Charge { amount: amount(100), original_amount: amount(100), split, ..charge() }
}

/// Who bears how much of a fee of 11 when the first seller has 50 percent of 100 and the second 30.
fn borne(first: Bears, second: Bears) -> Vec<(Option<SellerId>, i64)> {
    let percent = |percent: u8| Share::Percentage(WholePercent::new(percent).unwrap());
    let charge = divided_among(&[(percent(50), first), (percent(30), second)]);
    let taken = charge.approve(ProviderType::Sandbox, charge.amount, NOW).unwrap().charge;
    // What was refunded meanwhile changes nothing.
    let (refunding, _) = taken.open(FollowUpKind::Void, Some(amount(60)), NOW).unwrap();
    assert_eq!(taken.fee_borne(11), refunding.settle(NOW).unwrap().charge.fee_borne(11));
    taken.fee_borne(11)
}

#[test]
fn fees_are_borne_by_what_was_captured_or_paid() {
    let processing = Bears { processing_fee: Some(true), ..Bears::default() };
    let by_amount = divided_among(&[(Share::Amount(amount(50)), processing)]);
    let reservation = Charge { capture: CaptureMode::Manual, ..by_amount.clone() };
    let reserved = reservation.approve(ProviderType::Sandbox, amount(100), NOW).unwrap().charge;
    let capture = |reserved: &Charge| {
        let (capturing, _) = reserved.open(FollowUpKind::Capture, Some(amount(60)), NOW).unwrap();
        capturing.settle(NOW).unwrap().charge
    };
    let seller = |charge: &Charge, fee: i64| charge.fee_borne(fee)[0];
    let first: Option<SellerId> = Some(id(0x51));
    // 50 of 60.
    assert_eq!(seller(&capture(&reserved), 179), (first, 149));
    // What is captured of a lowered reservation is divided as that is: 30 of 60.
    let (lowering, _) = reserved.open(FollowUpKind::Void, Some(amount(20)), NOW).unwrap();
    assert_eq!(seller(&capture(&lowering.settle(NOW).unwrap().charge), 179), (first, 89));
    // A payer has paid 200.
    let paid = by_amount.approve(ProviderType::Sandbox, amount(200), NOW).unwrap().charge;
    assert_eq!(seller(&paid, 179), (first, 44));
}

#[test]
fn sellers_bear_fees_as_their_shares_say() {
    let none = Bears::default();
    let processing = Bears { processing_fee: Some(true), ..none };
    let entire = Bears { charge_entire_fee: Some(true), ..none };
    let remainder = Bears { charge_remainder_fee: Some(true), ..none };
    let both = Bears { charge_remainder_fee: Some(true), ..processing };
    let (first, second) = (Some(id(0x51)), Some(id(0x52)));
    let table = [
        (none, none, vec![(None, 11)]),
        (processing, none, vec![(first, 5), (None, 6)]),
        (processing, processing, vec![(first, 5), (second, 3), (None, 3)]),
        (processing, remainder, vec![(first, 5), (second, 6)]),
        (both, processing, vec![(first, 8), (second, 3)]),
        (none, remainder, vec![(second, 11)]),
        (processing, entire, vec![(second, 11)]),
        (entire, entire, vec![(first, 11)]),
    ];
    for (one, other, expected) in table {
        assert_eq!(borne(one, other), expected, "{one:?} {other:?}");
    }
}

/// A provider reports what has happened to a payment.
fn told(
    charge: &Charge,
    requests: &mut Vec<TransactionRequest>,
    kind: ReversalKind,
    reported: Option<i64>,
) -> Charge {
    let reversal = Reversal::new(kind, "case".to_owned(), reported.map(amount));
    let ReversalVerdict::Applies(reversed) = charge.reverse(requests, &requests[0], &reversal, NOW) else {
        panic!("{kind:?} applies")
    };
    requests.push(reversed.request(id(0x400 + requests.len() as u128)));
    reversed.transition.charge
}

fn refunded(charge: &Charge, requests: &mut Vec<TransactionRequest>, part: i64) -> Charge {
    let (refunding, open) = charge.open(FollowUpKind::Void, Some(amount(part)), NOW).unwrap();
    let void = Asks::about(&requests[0], RequestType::Void, open.amount);
    requests.push(request(u128::try_from(open.ordinal).unwrap(), void, approved()));
    refunding.settle(NOW).unwrap().charge
}

/// What is found when the books have a charge of 150 that was refunded in part and then charged back, and the provider has
/// settled a charge back of this much: the amount of the books, and what is posted.
fn charged_back(back: i64, reported: Option<i64>, settled: i64) -> (i64, Verdict, i64) {
    let charge = charge().approve(ProviderType::Sandbox, charge().amount, NOW).unwrap().charge;
    let mut requests = vec![authorization(0, approved())];
    let mut charge = told(&charge, &mut requests, ReversalKind::DisputeOpened, None);
    if back > 0 {
        charge = refunded(&charge, &mut requests, back);
    }
    let charge = told(&charge, &mut requests, ReversalKind::ChargedBack, reported);
    let ours = moved(&charge, &requests);
    // The bank gives it back, and the merchant refunds what is left: what was charged back stays what it was.
    let mut charge = told(&charge, &mut requests, ReversalKind::DisputeWon, reported);
    if charge.amount > Amount::ZERO {
        charge = refunded(&charge, &mut requests, charge.amount.minor_units());
    }
    let later = moved(&charge, &requests);
    let in_books = ours.last().unwrap().amount;
    let reversal = &later[ours.len()];
    assert_eq!(later[..ours.len()], ours[..]);
    assert_eq!((reversal.kind, reversal.amount), (Kind::ChargeBackReversal, in_books));
    let of_the_case = ours.into_iter().filter(|moved| moved.kind == Kind::ChargeBack).collect();
    let [judged] = &judge(vec![line(1, Kind::ChargeBack, settled)], of_the_case, None)[..] else {
        panic!("one finding")
    };
    (in_books, judged.verdict, judged.borne.iter().map(|(_, less)| less).sum())
}

#[test]
fn a_charge_back_is_compared_with_what_the_books_have_of_it() {
    use Verdict::{DifferingAmount, Matched};
    for (refunded, reported, settled, expected) in [
        (0, Some(150), 150, (150, Matched, 0)),
        (30, None, 120, (120, Matched, 0)),
        // The bank takes a part.
        (0, Some(60), 60, (60, Matched, 0)),
        (0, Some(60), 150, (60, DifferingAmount, 90)),
        // It takes what was refunded already, or all of it once more.
        (30, Some(150), 150, (120, DifferingAmount, 30)),
        (150, Some(150), 150, (0, DifferingAmount, 150)),
        (150, None, 150, (0, DifferingAmount, 150)),
    ] {
        assert_eq!(charged_back(refunded, reported, settled), expected, "{refunded} {reported:?} {settled}");
    }
}

#[test]
fn what_a_provider_takes_back_is_no_sale() {
    let charge = charge().approve(ProviderType::Sandbox, charge().amount, NOW).unwrap().charge;
    let kinds = |requests: &[TransactionRequest]| -> Vec<Kind> {
        moved(&charge, requests).iter().map(|moved| moved.kind).collect()
    };
    let paid = authorization(0, approved());
    let refused = authorization(1, Outcome::Declined(never_arrived()));
    let refused = TransactionRequest { follows: Some(paid.id), ..refused };
    assert_eq!(kinds(std::slice::from_ref(&paid)), [Kind::Sale]);
    assert_eq!(kinds(&[paid, refused]), []);
}

#[test]
fn what_is_given_back_was_taken_once() {
    let charge = charge().approve(ProviderType::Sandbox, charge().amount, NOW).unwrap().charge;
    let void_of = |n: u128, undone: &TransactionRequest| {
        let (_, void) = charge.void_orphan(id(0x300 + n), undone, NOW);
        TransactionRequest { outcome: approved(), ..void }
    };
    let kinds = |requests: &[TransactionRequest]| -> Vec<Kind> {
        moved(&charge, requests).iter().map(|moved| moved.kind).collect()
    };
    let is_orphaned = |requests: &[TransactionRequest]| -> Vec<bool> {
        let orphaned = orphaned(requests);
        moved(&charge, requests).iter().map(|moved| orphaned.contains(&moved.request_id)).collect()
    };
    // An authorization without an answer was approved after all: no request says that it took anything.
    let lost = authorization(0, Outcome::NoEffect(never_arrived()));
    let undone = void_of(0, &TransactionRequest { outcome: approved(), ..lost.clone() });
    assert!(undone.undone_transaction_id.is_some());
    let requests = [lost, authorization(1, approved()), undone];
    assert_eq!(kinds(&requests), [Kind::Sale, Kind::Sale, Kind::Refund]);
    assert_eq!(is_orphaned(&requests), [false, true, true]);
    // A payer has paid twice, and a request says so of each payment.
    let paid = authorization(1, approved());
    let again = TransactionRequest { follows: Some(paid.id), ..authorization(2, approved()) };
    let undone = void_of(1, &again);
    assert!(undone.undone_transaction_id.is_some());
    // A provider accepts a void, and tells later that it is done.
    let accepted = TransactionRequest { outcome: Outcome::Accepted(Approval::default()), ..undone.clone() };
    let result = TransactionRequest {
        id: id(0x400),
        follows: Some(accepted.id),
        undone_transaction_id: None,
        ..undone.clone()
    };
    let requests = [paid.clone(), again.clone(), accepted, result];
    assert_eq!(is_orphaned(&requests), [false, true, true]);
    let requests = [paid, again, undone];
    assert_eq!(kinds(&requests), [Kind::Sale, Kind::Sale, Kind::Refund]);
    assert_eq!(is_orphaned(&requests), [false, true, true]);
    // The merchant gives back their own.
    let sold = authorization(1, approved());
    let (_, refund) = charge.void_orphan(id(0x301), &sold, NOW);
    let refund = TransactionRequest { outcome: approved(), undone_transaction_id: None, ..refund };
    assert_eq!(is_orphaned(&[sold, refund]), [false, false]);
}
