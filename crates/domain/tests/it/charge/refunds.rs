//! Which refunds are proved by documents.

use regente_domain::charge::attempt::{Asks, Outcome, RequestType, TransactionRequest};
use regente_domain::charge::refunds::{Refund, confirmed, sale};
use regente_domain::money::Amount;
use regente_domain::receipt::digest_of;

use super::{approved, authorization, charge, declined, hop, of_payer, request};

fn amount(minor_units: i64) -> Amount {
    Amount::new(minor_units).unwrap()
}

fn void(n: u128, of: &TransactionRequest, minor_units: i64, outcome: Outcome) -> TransactionRequest {
    request(n, Asks::about(of, RequestType::Void, amount(minor_units)), outcome)
}

/// Amount and what is left of each refund.
fn told(requests: &[TransactionRequest]) -> Vec<(i64, i64)> {
    confirmed(requests)
        .iter()
        .map(|refund| (refund.amount.minor_units(), refund.remaining.minor_units()))
        .collect()
}

#[test]
fn each_confirmed_void_of_captured_money_is_one() {
    let sold = authorization(0, approved());
    let (first, second) = (void(1, &sold, 50, approved()), void(2, &sold, 25, approved()));
    let requests = [sold.clone(), first.clone(), second];
    assert_eq!(told(&requests), [(50, 100), (25, 75)]);
    let Refund { id, reference, .. } = confirmed(&requests).remove(0);
    assert_eq!((id, reference.as_deref()), (first.id, Some("at the provider")));
    assert_eq!(sale(&requests).map(|sale| sale.amount), Some(amount(150)));
}

#[test]
fn what_is_refused_or_under_way_is_none() {
    let sold = authorization(0, approved());
    for outcome in [Outcome::Open, declined(), Outcome::Accepted(Default::default())] {
        assert_eq!(told(&[sold.clone(), void(1, &sold, 50, outcome)]), []);
    }
    assert_eq!(told(&[sold]), []);
    assert_eq!(told(&[]), []);
}

/// The provider accepts it first; its result is another request, which is the refund.
#[test]
fn the_result_of_an_accepted_void_is_one() {
    let sold = authorization(0, approved());
    let accepted = void(1, &sold, 50, Outcome::Accepted(Default::default()));
    let result = void(2, &accepted, 50, approved());
    let requests = [sold, accepted, result.clone()];
    assert_eq!(told(&requests), [(50, 100)]);
    assert_eq!(confirmed(&requests)[0].id, result.id);
}

#[test]
fn the_release_of_a_reservation_is_none() {
    let asks = Asks { request_type: RequestType::PreAuthorization, ..charge().authorization_at(hop(0)) };
    let reserved = request(0, asks, approved());
    assert_eq!(told(&[reserved.clone(), void(1, &reserved, 150, approved())]), []);
    assert_eq!(sale(std::slice::from_ref(&reserved)), None);
    // What is given back after a capture is a refund of what was captured.
    let captured = request(1, Asks::about(&reserved, RequestType::Capture, amount(100)), approved());
    let requests = [reserved.clone(), captured, void(2, &reserved, 40, approved())];
    assert_eq!(told(&requests), [(40, 60)]);
}

/// A payer pays twice, and the second payment goes back: that is no refund of the sale.
#[test]
fn a_further_payment_that_goes_back_is_none() {
    let awaited = authorization(0, super::instructed(None));
    let (paid, again) = (of_payer(1, approved()), of_payer(2, approved()));
    let back = void(3, &again, 150, approved());
    assert_eq!(told(&[awaited.clone(), paid.clone(), again.clone(), back.clone()]), []);
    let refund = void(4, &paid, 150, approved());
    assert_eq!(told(&[awaited, paid, again, back, refund]), [(150, 0)]);
}

#[test]
fn what_came_back_of_a_refund_is_not_proved() {
    let sold = authorization(0, approved());
    let (first, second) = (void(1, &sold, 50, approved()), void(2, &sold, 25, approved()));
    let reverted = |about: &TransactionRequest, minor_units| {
        request(3, Asks::about(about, RequestType::RevertVoid, amount(minor_units)), approved())
    };
    let with = |last: TransactionRequest| [sold.clone(), first.clone(), second.clone(), last];
    assert_eq!(told(&with(reverted(&first, 50))), [(25, 125)]);
    assert_eq!(told(&with(reverted(&first, 20))), [(30, 120), (25, 95)]);
    // A report that names the payment alone is taken off the newest refunds.
    assert_eq!(told(&with(reverted(&sold, 30))), [(45, 105)]);
}

#[test]
fn the_same_refunds_have_the_same_digest() {
    let sold = authorization(0, approved());
    let one = [sold.clone(), void(1, &sold, 50, approved())];
    let two = [one[0].clone(), one[1].clone(), void(2, &sold, 25, approved())];
    let less = [sold.clone(), void(1, &sold, 49, approved())];
    let digest = |requests: &[TransactionRequest]| digest_of(&confirmed(requests));
    assert_eq!(digest(&one), digest(&one));
    assert_ne!(digest(&one), digest(&two));
    assert_ne!(digest(&one), digest(&less));
}
