//! Every class of refusal.

use regente_domain::decline::DeclinedCode as Code;
use regente_providers::outcome::Answer;

use super::*;

#[track_caller]
fn refused(transaction: Value) -> (Code, Option<String>, bool) {
    let mut last = json!({ "status": "not_authorized", "success": false, "acquirer_return_code": null });
    merge_all(&mut last, transaction);
    let order = order_with(order_card(), json!({ "status": "failed", "last_transaction": last }));
    let Answer::Declined(decline) = ordered(&answered(200, &order)) else { panic!("not declined") };
    (decline.code, decline.network_denied_reason, decline.retryable)
}

fn merge_all(into: &mut Value, members: Value) {
    for (name, value) in object(members) {
        into[name] = value;
    }
}

#[test]
fn codes_of_acquirers_have_their_place_in_the_closed_list() {
    let known = [
        // The agreed ones.
        ("05", Code::Generic),
        ("5", Code::Generic),
        ("100", Code::Generic),
        ("12", Code::CardNotSupported),
        ("AC", Code::CardNotSupported),
        ("13", Code::InvalidAmount),
        ("61", Code::InvalidAmount),
        ("14", Code::InvalidNumber),
        ("111", Code::InvalidNumber),
        ("23", Code::InvalidInstallment),
        ("30", Code::InvalidData),
        ("03", Code::InvalidMerchant),
        ("58", Code::InvalidMerchant),
        ("38", Code::PinTryExceeded),
        ("41", Code::LostCard),
        ("43", Code::StolenCard),
        ("46", Code::PickupCard),
        ("51", Code::InsufficientFunds),
        ("116", Code::InsufficientFunds),
        ("54", Code::ExpiredCard),
        ("55", Code::InvalidPin),
        ("57", Code::TransactionNotAllowed),
        ("59", Code::FraudSuspect),
        ("62", Code::RestrictedCard),
        ("63", Code::SecurityViolation),
        ("78", Code::RestrictedCard),
        ("N7", Code::InvalidCvv),
        ("91", Code::IssuerNotAvailable),
        ("96", Code::TryAgain),
        // The older ones.
        ("1000", Code::Generic),
        ("1001", Code::ExpiredCard),
        ("1002", Code::FraudSuspect),
        ("1004", Code::RestrictedCard),
        ("1011", Code::InvalidNumber),
        ("1016", Code::InsufficientFunds),
        ("1019", Code::TransactionNotAllowed),
        ("1045", Code::InvalidCvv),
        ("2008", Code::LostCard),
        ("2009", Code::StolenCard),
        ("9111", Code::IssuerNotAvailable),
        ("9109", Code::TryAgain),
        // Not in any list.
        ("4242", Code::Generic),
    ];
    for (word, code) in known {
        let (meant, kept, _) = refused(json!({ "acquirer_return_code": word }));
        assert_eq!((meant, kept.as_deref()), (code, Some(word)));
    }
    let number = refused(json!({ "acquirer_return_code": 51 }));
    assert_eq!((number.0, number.1.as_deref()), (Code::InsufficientFunds, Some("51")));
}

#[test]
fn a_refusal_of_the_risk_analysis_is_a_suspicion() {
    let reproved = json!({ "antifraud_response": { "status": "reproved", "return_code": "4" } });
    assert_eq!(refused(reproved), (Code::FraudSuspect, Some("antifraud 4".to_owned()), true));
    let silent = json!({ "antifraud_response": { "status": "reproved" }, "acquirer_return_code": "00" });
    assert_eq!(refused(silent), (Code::FraudSuspect, Some("antifraud_reproved".to_owned()), true));
    let approved = json!({ "antifraud_response": { "status": "approved" }, "acquirer_return_code": "51" });
    assert_eq!(refused(approved).0, Code::InsufficientFunds);
}

#[test]
fn what_no_acquirer_saw_has_the_code_of_the_gateway() {
    let gateway = |code: &str| refused(json!({ "gateway_response": { "code": code, "errors": [] } }));
    assert_eq!(gateway("400"), (Code::Generic, Some("gateway 400".to_owned()), true));
    assert_eq!(gateway("401"), (Code::InvalidMerchant, Some("gateway 401".to_owned()), true));
    assert_eq!(gateway("200").0, Code::Generic);
    let nothing = refused(json!({ "gateway_response": null }));
    assert_eq!(nothing.0, Code::Generic);
}
