//! The steps of an authentication before the first authorization.

use regente_domain::charge::authentication::{
    Authenticated, Authentication, Authenticator, Found, LiabilityShift, Purpose,
};
use regente_domain::charge::{PaymentMethod, Recurrence};
use regente_domain::decline::Reason;

use super::*;

fn server() -> Authenticator {
    Authenticator::Server { server: SANDBOX, setup_id: id(9), purpose: Purpose::Authenticate }
}

fn authenticated_by(by: Authenticator, liability_shift: LiabilityShift) -> Charge {
    Charge { authentication: Some(Box::new(Authentication { by, liability_shift })), ..charge() }
}

/// The charge with its setup and its question to the 3DS server.
fn begun() -> (Charge, [TransactionRequest; 2]) {
    let charge = authenticated_by(server(), LiabilityShift::NotRequired);
    charge.begin_authentication([id(201), id(202)], NOW).unwrap()
}

fn ended(request: &TransactionRequest, outcome: Outcome) -> TransactionRequest {
    request.end(outcome, None, NOW)
}

#[test]
fn a_cardholder_is_authenticated_before_the_first_provider_is_asked() {
    let (charge, [setup, enroll]) = begun();
    assert_eq!((charge.requests, setup.ordinal, enroll.ordinal), (2, 0, 1));
    assert_eq!(setup.provider_key(), enroll.provider_key());
    let next =
        |enroll: Outcome, means| charge.next(&[setup.clone(), ended(&begun().1[1], enroll)], means, NOW);
    assert_eq!(charge.next(&[], AT_ONCE, NOW), Next::Enroll);
    assert_eq!(charge.next(std::slice::from_ref(&setup), AT_ONCE, NOW), Next::Enroll, "a setup asks nobody");
    assert_eq!(next(Outcome::Open, AT_ONCE), Next::AwaitOutcome);
    assert_eq!(next(approved(), AT_ONCE), Next::Authorize(hop(0)));
    assert_eq!(next(approved(), Means::Incomplete(Stopped::Interrupted)), failed(Stopped::Interrupted));
    assert_eq!(next(declined(), AT_ONCE), failed(Stopped::NotAuthenticated), "whatever the refusal says");
    let until = NOW + MINUTE;
    assert_eq!(next(instructed(Some(until)), AT_ONCE), Next::AwaitPayer { by: SANDBOX, until });
}

#[test]
fn a_challenge_expires_and_leads_on() {
    let (charge, [setup, enroll]) = begun();
    let waiting = charge.await_payer(SANDBOX, SecurityCode::Needed, NOW).unwrap().charge;
    let enroll = ended(&enroll, instructed(Some(NOW + MINUTE)));
    let asked = [setup.clone(), enroll.clone()];
    let until = NOW + MINUTE;
    assert_eq!(waiting.next(&asked, AT_ONCE, NOW), Next::AwaitPayer { by: SANDBOX, until });
    assert_eq!(waiting.next(&asked, AT_ONCE, until), Next::Expire);
    let validate = |outcome| {
        let asks = Asks::about(&enroll, enroll.request_type.told_as(), enroll.amount);
        [setup.clone(), enroll.clone(), request(2, asks, outcome)]
    };
    assert_eq!(validate(approved())[2].awaited(), Some(enroll.id));
    assert_eq!(waiting.next(&validate(approved()), AT_ONCE, until), Next::Authorize(hop(0)));
    assert_eq!(waiting.next(&validate(declined()), AT_ONCE, NOW), failed(Stopped::NotAuthenticated));
    // What is found out once more changes nothing.
    let again = ended(&enroll, approved());
    assert_eq!(waiting.next_after_late(&validate(approved()), &again), Next::Rest);
}

#[test]
fn nobody_is_asked_where_others_authenticate_or_the_cardholder_is_away() {
    let hosted = Authenticator::PaymentProvider { purpose: Purpose::Authenticate };
    for by in [hosted, Authenticator::Merchant, server().unless_away(Some(Recurrence::Subsequent))] {
        let charge = authenticated_by(by, LiabilityShift::Required);
        assert_eq!(charge.next(&[], AT_ONCE, NOW), Next::Authorize(hop(0)));
        assert!(charge.begin_authentication([id(201), id(202)], NOW).is_none());
    }
    assert_eq!(server().unless_away(Some(Recurrence::Unscheduled)), Authenticator::Nobody);
    assert_eq!(server().unless_away(Some(Recurrence::Initial)), server());
}

#[test]
fn what_is_found_ends_the_charge_or_lets_it_go_on() {
    let reason = |found, liability_shift| match authenticated_by(server(), liability_shift)
        .judge(&Authenticated::bare(found))
    {
        Outcome::Declined(decline) => {
            assert_eq!((decline.code, decline.retryable), (DeclinedCode::TransactionNotAllowed, false));
            decline.network_denied_reason
        }
        Outcome::Approved(_) => None,
        other @ (Outcome::Open
        | Outcome::Pending(_)
        | Outcome::Accepted(_)
        | Outcome::NoEffect(_)
        | Outcome::Analysed(_)) => {
            panic!("{other:?}")
        }
    };
    let word = |reason: Option<Reason>| reason.map(|reason| reason.word().to_owned());
    for (found, not_required, required) in [
        (Found::Authenticated, None, None),
        (Found::Attempted, None, None),
        (Found::NotEnrolled, None, Some(Reason::UnableToPerformAuthentication)),
        (Found::DataShared, None, Some(Reason::UnableToPerformAuthentication)),
        (Found::Failed, Some(Reason::FailedAuthentication), Some(Reason::FailedAuthentication)),
        (Found::Error, Some(Reason::AuthenticationError), Some(Reason::AuthenticationError)),
        (
            Found::Unavailable,
            Some(Reason::AuthenticationUnavailable),
            Some(Reason::AuthenticationUnavailable),
        ),
    ] {
        assert_eq!(reason(found, LiabilityShift::NotRequired), word(not_required), "{found:?}");
        assert_eq!(reason(found, LiabilityShift::Required), word(required), "{found:?}");
    }
}

#[test]
fn a_debit_card_is_captured_at_once() {
    let PaymentMethod::Credit(Credit { source, .. }) = charge().method else { panic!("no credit") };
    let method = PaymentMethod::Debit(regente_domain::charge::Debit { source, installments: 1 });
    let charge = Charge { method, capture: CaptureMode::Manual, ..charge() };
    assert_eq!(charge.capture_in_effect(), CaptureMode::Automatic);
}
