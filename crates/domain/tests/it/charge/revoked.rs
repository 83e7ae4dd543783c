//! A provider refuses what it had approved: a table of every state, and what repeated and late refusals lead to.

use regente_domain::charge::attempt::{Asks, Outcome, RequestType, TransactionRequest};
use regente_domain::charge::{
    AfterRevoking, Charge, ChargeEvent, ChargeState, Held, OpenOperation, SecurityCode, StateName,
};
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::ledger::position;
use regente_domain::money::Amount;

use super::{NOW, SANDBOX, approved, authorization, charge, id, request};

/// A charge in this state with one approved authorization.
fn in_state(name: StateName) -> (Charge, Vec<TransactionRequest>) {
    let responsible = SANDBOX;
    let open = OpenOperation { ordinal: 1, amount: Amount::new(150).unwrap(), before: Held::Taken };
    let state = match name {
        StateName::Processing => ChargeState::Processing,
        StateName::AwaitingPayer => {
            ChargeState::AwaitingPayer { responsible, security_code: SecurityCode::NotNeeded }
        }
        StateName::PreAuthorized => ChargeState::PreAuthorized { responsible },
        StateName::CapturePending => ChargeState::CapturePending { responsible, open },
        StateName::Authorized => ChargeState::Authorized { responsible },
        StateName::RefundPending => ChargeState::RefundPending { responsible, open },
        StateName::RefundAccepted => ChargeState::RefundAccepted { responsible, open },
        StateName::Failed => ChargeState::Failed { responsible },
        StateName::Canceled => ChargeState::Canceled { responsible },
        StateName::Voided => ChargeState::Voided { responsible },
        StateName::ChargedBack => ChargeState::ChargedBack { responsible, lost: None },
    };
    (Charge { state, ..charge() }, vec![authorization(0, approved())])
}

fn refused(charge: &Charge, requests: &[TransactionRequest], about: u128) -> AfterRevoking {
    charge.revoke(id(900), requests, id(200 + about), &Decline::of(DeclinedCode::FraudSuspect), NOW)
}

/// The state and the event that follow, or why none does.
fn sign(after: &AfterRevoking) -> (&'static str, Option<ChargeEvent>) {
    match after {
        AfterRevoking::Revoked(revoked) => (revoked.0.charge.state.name().word(), revoked.0.announces),
        AfterRevoking::Nothing => ("=", None),
        AfterRevoking::TooEarly => ("~", None),
        AfterRevoking::NotPossible(_) => ("!", None),
    }
}

#[test]
fn every_state() {
    for (_, name) in StateName::WORDS {
        let (charge, requests) = in_state(*name);
        let expected = match name {
            StateName::Processing
            | StateName::AwaitingPayer
            | StateName::CapturePending
            | StateName::RefundPending
            | StateName::RefundAccepted => ("~", None),
            StateName::PreAuthorized => ("canceled", Some(ChargeEvent::Canceled)),
            StateName::Authorized => ("failed", Some(ChargeEvent::Failed)),
            StateName::Failed | StateName::Canceled | StateName::Voided => ("=", None),
            StateName::ChargedBack => ("!", None),
        };
        assert_eq!(sign(&refused(&charge, &requests, 0)), expected, "{name:?}");
    }
}

#[test]
fn it_is_recorded_once_and_the_books_hold_nothing() {
    let (charge, mut requests) = in_state(StateName::Authorized);
    let AfterRevoking::Revoked(revoked) = refused(&charge, &requests, 0) else { panic!("it counts") };
    let (after, told) = (&revoked.0.charge, &revoked.1);
    assert_eq!((told.follows, told.ordinal), (Some(requests[0].id), 1));
    assert_eq!(told.provider_key(), requests[0].provider_key(), "it has the key of what it refuses");
    assert!(position(after).values().all(|held| *held == 0));
    requests.push(told.clone());
    // However often it is told, also of a charge that its records say is authorized.
    assert_eq!(sign(&refused(after, &requests, 0)), ("=", None));
    assert_eq!(sign(&refused(&charge, &requests, 0)), ("=", None));
}

#[test]
fn a_refusal_of_what_was_not_approved_says_nothing() {
    let (charge, _) = in_state(StateName::Authorized);
    let first = authorization(0, Outcome::Declined(Decline::of(DeclinedCode::TryAgain)));
    let requests = [first, authorization(1, approved())];
    assert_eq!(sign(&refused(&charge, &requests, 0)), ("=", None), "the charge rests on the second one");
    assert_eq!(sign(&refused(&charge, &requests, 1)), ("failed", Some(ChargeEvent::Failed)));
}

#[test]
fn a_failed_capture_leaves_what_was_reserved() {
    let (mut charge, mut requests) = in_state(StateName::Authorized);
    charge.amount = Amount::new(100).unwrap();
    let capture = Asks::about(&requests[0], RequestType::Capture, charge.amount);
    requests.push(request(1, capture, approved()));
    let after = refused(&charge, &requests, 1);
    assert_eq!(sign(&after), ("pre_authorized", Some(ChargeEvent::PreAuthorized)));
    let AfterRevoking::Revoked(revoked) = after else { panic!("it counts") };
    assert_eq!(revoked.0.charge.amount.minor_units(), 150);
}

#[test]
fn what_was_refunded_is_left_to_the_operator() {
    let (charge, mut requests) = in_state(StateName::Authorized);
    let void = Asks::about(&requests[0], RequestType::Void, Amount::new(50).unwrap());
    requests.push(request(1, void, approved()));
    assert_eq!(sign(&refused(&charge, &requests, 0)), ("!", None));
}
