//! A payer pays another amount than was charged.

use regente_domain::charge::{ChargeEvent, ChargeStatus, FollowUpKind, FollowUpRefusal, PaidOtherwise};
use regente_domain::money::Amount;
use regente_domain::session::payment::PaymentState;

use super::{NOW, SANDBOX, awaiting};

fn cents(amount: i64) -> Amount {
    Amount::new(amount).unwrap()
}

#[test]
fn paid_is_what_reaches_the_amount() {
    use PaymentState::{Paid, Underpaid};
    let less = PaidOtherwise::Less { amount: cents(149) };
    let more = PaidOtherwise::More { amount: cents(151) };
    for (amount, otherwise, state) in
        [(149, Some(less), Underpaid), (150, None, Paid), (151, Some(more), Paid)]
    {
        let approved = awaiting().approve(SANDBOX, cents(amount), NOW).unwrap();
        let charge = approved.charge;
        assert_eq!((charge.amount, charge.paid_amount()), (cents(amount), cents(amount)));
        assert_eq!((charge.paid_otherwise, PaymentState::of(&charge)), (otherwise, state));
        assert_eq!(charge.accept_underpaid(None, NOW).is_some(), state == Underpaid);
    }
}

#[test]
fn the_merchant_accepts_all_that_is_left_once() {
    let short = awaiting().approve(SANDBOX, cents(100), NOW).unwrap().charge;
    let (refunding, _) = short.open(FollowUpKind::Void, Some(cents(40)), NOW).unwrap();
    assert_eq!(PaymentState::of(&refunding), PaymentState::Underpaid);
    assert!(refunding.accept_underpaid(None, NOW).is_none(), "not while a refund is under way");
    let rest = refunding.settle(NOW).unwrap().charge;
    let accept = |amount| rest.accept_underpaid(amount, NOW).unwrap();
    assert_eq!(accept(Some(cents(61))), Err(FollowUpRefusal::AmountAbove { rest: cents(60) }));
    let part = FollowUpRefusal::PartNotPossible(FollowUpKind::Capture, SANDBOX);
    assert_eq!(accept(Some(cents(59))), Err(part));
    let accepted = accept(Some(cents(60))).unwrap();
    assert_eq!(accepted.announces, Some(ChargeEvent::Authorized));
    let charge = accepted.charge;
    assert_eq!(
        (charge.amount, charge.paid_amount(), charge.requests),
        (cents(60), cents(100), rest.requests)
    );
    assert_eq!(PaymentState::of(&charge), PaymentState::Paid);
    assert!(charge.accept_underpaid(None, NOW).is_none());
    let twice = charge.open(FollowUpKind::Capture, None, NOW);
    assert_eq!(twice, Err(FollowUpRefusal::State(FollowUpKind::Capture, ChargeStatus::Authorized)));
}
