//! What is understood: recorded answers, without any exchange.

use http::{HeaderName, HeaderValue};
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::time::Timestamp;
use regente_providers::adyen::ask::Expects;
use regente_providers::adyen::declines::{Refusal, refused};
use regente_providers::adyen::tell::{answer, credentials, found};
use regente_providers::http_client::Incoming;
use regente_providers::outcome::{Answer, Approval, Finding, Instructions, Pending, Probe, UnknownReason};
use serde_json::{Value, json};

use super::calls::{PSP, boleto, incoming, inquiry};

const AUTHORISED: &str = include_str!("recorded/authorised.json");
const REFUSED: &str = include_str!("recorded/refused.json");
const REDIRECT: &str = include_str!("recorded/redirect.json");
const PIX: &str = include_str!("recorded/pix.json");
const BOLETO: &str = include_str!("recorded/boleto.json");
const RECEIVED: &str = include_str!("recorded/received.json");
const RETURNED: &str = include_str!("recorded/returned.json");
const INVALID: &str = include_str!("recorded/invalid.json");
const UNAUTHORIZED: &str = include_str!("recorded/unauthorized.json");
const IN_PROGRESS: &str = include_str!("recorded/in_progress.json");

pub(super) const TOO_MANY: &str =
    r#"{"status":429,"errorCode":"029","message":"Too many requests","errorType":"validation"}"#;

const FAILED: Answer = Answer::Unknown(UnknownReason::ProviderFailed);
const UNREADABLE: Answer = Answer::Unknown(UnknownReason::Unreadable);

fn at_home() -> Expects {
    Expects::Card { return_url: None }
}

fn declined(answer: Answer) -> Decline {
    let Answer::Declined(decline) = answer else { panic!("not declined: {answer:?}") };
    decline
}

fn pending(answer: Answer) -> Pending {
    let Answer::Pending(pending) = answer else { panic!("not pending: {answer:?}") };
    *pending
}

/// A recorded body with other members.
fn with(recorded: &str, members: Value) -> String {
    let mut body: Value = serde_json::from_str(recorded).unwrap();
    for (name, value) in members.as_object().unwrap() {
        body[name] = value.clone();
    }
    body.to_string()
}

#[test]
fn an_approval_has_the_providers_identifiers() {
    let approval = Approval {
        transaction_id: Some(PSP.to_owned()),
        authorization_code: Some("044925".to_owned()),
        authorization_nsu: Some("8PQMP9VEP3H".to_owned()),
        network_response_code: Some("AUTHORISED".to_owned()),
        response_code: Some("Authorised".to_owned()),
        network_transaction_id: Some("060720116005060".to_owned()),
        ..Approval::default()
    };
    assert_eq!(answer(&at_home(), &incoming(200, AUTHORISED)), Answer::Approved(approval));
}

#[test]
fn a_refusal_keeps_the_providers_word() {
    let decline = declined(answer(&at_home(), &incoming(200, REFUSED)));
    assert_eq!((decline.code, decline.retryable), (DeclinedCode::InsufficientFunds, true));
    assert_eq!(decline.network_denied_reason.as_deref(), Some("12"));
    assert_eq!(decline.network_denied_message.as_deref(), Some("51 : Insufficient funds/over credit limit"));
    assert_eq!(decline.transaction_id.as_deref(), Some("993617895204577K"));
}

#[test]
fn each_class_of_refusal_has_its_code() {
    use DeclinedCode as Code;
    for (code, text, expected, retryable) in [
        ("2", "Refused", Code::Generic, true),
        ("4", "Acquirer Error", Code::TryAgain, true),
        ("5", "Blocked Card", Code::RestrictedCard, true),
        ("6", "Expired Card", Code::ExpiredCard, true),
        ("7", "Invalid Amount", Code::InvalidAmount, false),
        ("8", "Invalid Card Number", Code::InvalidNumber, false),
        ("9", "Issuer Unavailable", Code::IssuerNotAvailable, true),
        ("10", "Not supported", Code::CardNotSupported, false),
        ("11", "3D Not Authenticated", Code::TransactionNotAllowed, false),
        ("12", "Not enough balance", Code::InsufficientFunds, true),
        ("16", "Shopper Cancelled", Code::TransactionNotAllowed, false),
        ("17", "Invalid Pin", Code::InvalidPin, false),
        ("18", "Pin tries exceeded", Code::PinTryExceeded, false),
        ("20", "FRAUD", Code::FraudSuspect, true),
        ("23", "Transaction Not Permitted", Code::NotPermitted, true),
        ("24", "CVC Declined", Code::InvalidCvv, true),
        ("25", "Restricted Card", Code::RestrictedCard, true),
        ("26", "Revocation Of Auth", Code::TransactionNotAllowed, false),
        ("32", "AVS Declined", Code::SecurityViolation, true),
        ("38", "Authentication required", Code::TransactionNotAllowed, false),
        (
            "46",
            "Transaction blocked by Adyen to prevent excessive retry fees",
            Code::TransactionNotAllowed,
            false,
        ),
        ("99", "Something new", Code::Generic, true),
    ] {
        let by_code = refused(Refusal { code: Some(code), text: Some(text), ..Refusal::default() });
        assert_eq!((by_code.code, by_code.retryable), (expected, retryable), "{text}");
        assert_eq!(by_code.network_denied_reason.as_deref(), Some(code));
        // A notification has the text alone.
        let by_text = refused(Refusal { text: Some(text), ..Refusal::default() });
        assert_eq!((by_text.code, by_text.retryable), (expected, retryable), "{text}");
        assert_eq!(by_text.network_denied_message.as_deref(), Some(text));
    }
}

#[test]
fn a_card_network_can_forbid_another_try() {
    let advice = |advice| refused(Refusal { code: Some("2"), advice: Some(advice), ..Refusal::default() });
    assert!(!advice("03 : Do not try again").retryable);
    assert!(advice("02 : Cannot approve at this time, try again later").retryable);
}

#[test]
fn a_text_that_could_repeat_a_card_number_is_not_kept() {
    for number in ["4111111111111111", "4111 1111 1111 1111", "4111-1111-1111-1111"] {
        let text = format!("no route for {number}");
        for refusal in [
            Refusal { text: Some(&text), ..Refusal::default() },
            Refusal { code: Some("2"), raw: Some(&text), ..Refusal::default() },
            Refusal { code: Some(&text), ..Refusal::default() },
        ] {
            assert!(!format!("{:?}", refused(refusal)).contains("1111"), "{refusal:?}");
        }
    }
}

#[test]
fn a_cardholder_is_sent_to_the_page_of_the_provider() {
    let expects = Expects::Card { return_url: Some("https://pay.example/back".to_owned()) };
    let pending = pending(answer(&expects, &incoming(200, REDIRECT)));
    assert_eq!(
        pending.instructions,
        Instructions::HostedChallenge {
            url: "https://checkoutshopper-test.adyen.com/checkoutshopper/threeDS/redirect?MD=1".to_owned(),
            md: String::new(),
            pa_req: String::new(),
            term_url: "https://pay.example/back".to_owned(),
        }
    );
    assert_eq!(pending.reference.transaction_id.as_deref(), Some("JLCMPCQ8HXSKGK82"));
}

#[test]
fn a_cardholder_who_cannot_be_sent_away_is_not_authenticated() {
    let decline = declined(answer(&at_home(), &incoming(200, REDIRECT)));
    assert_eq!(decline.code, DeclinedCode::TransactionNotAllowed);
    let native = with(REDIRECT, json!({ "resultCode": "IdentifyShopper" }));
    let expects = Expects::Card { return_url: Some("https://pay.example/back".to_owned()) };
    assert_eq!(declined(answer(&expects, &incoming(200, &native))).code, DeclinedCode::TransactionNotAllowed);
}

#[test]
fn a_pix_gives_its_code() {
    let expects = Expects::Pix { expires_at: Timestamp::from_millis(0) };
    let given = pending(answer(&expects, &incoming(200, PIX)));
    let Instructions::QrCode { data } = given.instructions else { panic!("{:?}", given.instructions) };
    assert!(data.starts_with("00020126580014br.gov.bcb.pix"), "{data}");
    assert_eq!(given.expires_at, Timestamp::parse("2026-01-01T01:00:00Z"));
    let without_expiry = with(PIX, json!({ "action": { "type": "qrCode", "qrCodeData": "0002" } }));
    let given = pending(answer(&expects, &incoming(200, &without_expiry)));
    assert_eq!(given.expires_at, Some(Timestamp::from_millis(0)));
    let without_code = with(PIX, json!({ "action": { "type": "qrCode" } }));
    assert_eq!(answer(&expects, &incoming(200, &without_code)), FAILED);
}

#[test]
fn a_boleto_gives_its_line() {
    let expects = Expects::Boleto(Box::new(boleto()));
    let given = pending(answer(&expects, &incoming(200, BOLETO)));
    let Instructions::Boleto(issued) = given.instructions else { panic!("{:?}", given.instructions) };
    assert_eq!(issued.barcode.printed_line(), "34191.10121 34567.880058 71234.570001 6 16670000012345");
    assert_eq!((issued.bank_name.as_str(), issued.due), ("Itaú", boleto().due));
    let no_line = with(BOLETO, json!({ "action": { "type": "voucher", "reference": "123" } }));
    assert_eq!(answer(&expects, &incoming(200, &no_line)), FAILED);
}

#[test]
fn what_changes_a_payment_is_accepted_first() {
    let accepted = answer(&Expects::Receipt, &incoming(201, RECEIVED));
    let Answer::Accepted(approval) = accepted else { panic!("{accepted:?}") };
    assert_eq!(approval.transaction_id.as_deref(), Some("993617894906488A"));
    let other = with(RECEIVED, json!({ "status": "done" }));
    assert_eq!(answer(&Expects::Receipt, &incoming(201, &other)), FAILED);
}

#[test]
fn what_does_not_tell_an_outcome_is_unknown() {
    for (body, of_payment) in [
        ("", UNREADABLE),
        ("not JSON", UNREADABLE),
        ("[]", FAILED),
        ("{}", FAILED),
        (r#"{"resultCode":"PartiallyAuthorised"}"#, FAILED),
        (r#"{"resultCode":"Received"}"#, FAILED),
    ] {
        assert_eq!(answer(&at_home(), &incoming(200, body)), of_payment, "{body}");
        assert_eq!(answer(&Expects::Receipt, &incoming(201, body)), UNREADABLE, "{body}");
    }
    let http = with(REDIRECT, json!({ "action": { "type": "redirect", "url": "http://example.com" } }));
    let expects = Expects::Card { return_url: Some("https://pay.example/back".to_owned()) };
    assert_eq!(answer(&expects, &incoming(200, &http)), FAILED);
}

#[test]
fn a_request_that_is_not_taken_up_is_refused() {
    for expects in [at_home(), Expects::Receipt] {
        let invalid = declined(answer(&expects, &incoming(422, INVALID)));
        assert_eq!((invalid.code, invalid.retryable), (DeclinedCode::InvalidNumber, false));
        assert_eq!(invalid.network_denied_reason.as_deref(), Some("101"));
        let new = with(INVALID, json!({ "errorCode": "14_030", "message": "Return URL is missing." }));
        let new = declined(answer(&expects, &incoming(422, &new)));
        assert_eq!((new.code, new.retryable), (DeclinedCode::Generic, true));
        assert_eq!(new.network_denied_message.as_deref(), Some("Return URL is missing."));
    }
    let unauthorized = declined(answer(&at_home(), &incoming(401, UNAUTHORIZED)));
    assert_eq!((unauthorized.code, unauthorized.retryable), (DeclinedCode::InvalidMerchant, true));
    let forbidden = r#"{"status":403,"errorCode":"010","message":"Not allowed","errorType":"security"}"#;
    assert_eq!(declined(answer(&at_home(), &incoming(403, forbidden))).code, DeclinedCode::InvalidMerchant);
    // An earlier repetition of what follows may have been received while the key was good.
    for status in [401, 403] {
        assert_eq!(answer(&Expects::Receipt, &incoming(status, UNAUTHORIZED)), FAILED);
    }
}

#[test]
fn what_may_have_been_taken_up_is_not_refused() {
    let transient = Incoming {
        headers: [(HeaderName::from_static("transient-error"), HeaderValue::from_static("true"))]
            .into_iter()
            .collect(),
        ..incoming(422, INVALID)
    };
    for expects in [at_home(), Expects::Receipt] {
        assert_eq!(answer(&expects, &transient), FAILED);
        assert_eq!(answer(&expects, &incoming(422, IN_PROGRESS)), FAILED);
        for status in [301, 408, 409, 500, 502, 503, 504] {
            assert_eq!(answer(&expects, &incoming(status, INVALID)), FAILED, "{status}");
        }
    }
}

#[test]
fn too_many_requests_end_a_payment_and_not_a_refund() {
    let payment = declined(answer(&at_home(), &incoming(429, TOO_MANY)));
    assert_eq!((payment.code, payment.retryable), (DeclinedCode::TryAgain, true));
    assert_eq!(answer(&Expects::Receipt, &incoming(429, TOO_MANY)), FAILED);
}

#[test]
fn a_returned_cardholder_brings_the_outcome() {
    let inquiry = inquiry(&[("redirectResult", "X6XtfGC3!Y")]);
    let approved = found(&inquiry, &incoming(200, RETURNED));
    let Probe::Found(Finding::Approved(approval)) = approved else { panic!("{approved:?}") };
    assert_eq!(approval.transaction_id.as_deref(), Some("JLCMPCQ8HXSKGK82"));
    let refused = with(
        RETURNED,
        json!({ "resultCode": "Refused", "refusalReason": "3D Not Authenticated", "refusalReasonCode": "11" }),
    );
    let refused = found(&inquiry, &incoming(200, &refused));
    let Probe::Found(Finding::Declined(decline)) = refused else { panic!("{refused:?}") };
    assert_eq!(decline.code, DeclinedCode::TransactionNotAllowed);
}

#[test]
fn the_result_of_another_payment_says_nothing() {
    let inquiry = inquiry(&[("redirectResult", "of a cheaper payment")]);
    for other in [
        json!({ "merchantReference": "01980000000070008000000000000009-01980000000070008000000000000003-authorization" }),
        json!({ "merchantReference": "01980000000070008000000000000009-01980000000070008000000000000001-zero_dollar" }),
        json!({ "merchantReference": "order 7" }),
        json!({ "merchantReference": null, "pspReference": "V4HZ4RBFJGXXGN82" }),
        json!({ "merchantReference": null, "pspReference": null }),
    ] {
        assert_eq!(
            found(&inquiry, &incoming(200, &with(RETURNED, other.clone()))),
            Probe::Unknown,
            "{other}"
        );
    }
    // Without a reference the provider's id of the payment tells.
    let known = found(&inquiry, &incoming(200, &with(RETURNED, json!({ "merchantReference": null }))));
    assert!(matches!(known, Probe::Found(Finding::Approved(_))), "{known:?}");
}

#[test]
fn a_returned_cardholder_proves_nothing_when_the_provider_does_not_say() {
    let inquiry = inquiry(&[("redirectResult", "X6XtfGC3!Y")]);
    for (status, body) in [(422, INVALID), (401, UNAUTHORIZED), (500, ""), (200, "{}"), (200, REDIRECT)] {
        assert_eq!(found(&inquiry, &incoming(status, body)), Probe::Unknown, "{status} {body}");
    }
}

#[test]
fn a_wrong_credential_is_told_by_its_name() {
    let member = |status, body| credentials(&incoming(status, body)).err().map(|refusal| refusal.member);
    assert_eq!(member(200, "{}"), None);
    assert_eq!(member(401, UNAUTHORIZED), Some("apiKey"));
    assert_eq!(
        member(403, r#"{"errorCode":"901","message":"Invalid Merchant Account"}"#),
        Some("merchantAccount")
    );
    assert_eq!(member(403, r#"{"errorCode":"010","message":"Not allowed"}"#), Some("apiKey"));
    assert_eq!(member(500, ""), None);
}
