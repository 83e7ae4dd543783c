//! What answers mean.

use regente_domain::capture_mode::CaptureMode;
use regente_domain::decline::DeclinedCode;
use regente_domain::money::Amount;
use regente_domain::time::Timestamp;
use regente_providers::http_client::Incoming;
use regente_providers::outcome::{Answer, Finding, Instructions, Probe, ReversalKind, UnknownReason};
use regente_providers::stripe::tell;
use serde_json::{Value, json};

use super::{answer, error, recorded, with};
use crate::support::{approved, declined};

const PROVIDER_FAILED: Answer = Answer::Unknown(UnknownReason::ProviderFailed);

fn authorization(status: u16, body: &Value) -> Answer {
    tell::authorization(&answer(status, body), CaptureMode::Automatic)
}

/// A refusal with these members of the error.
fn refusal(status: u16, members: Value) -> (DeclinedCode, bool, String) {
    let decline = declined(authorization(status, &error(members)));
    (decline.code, decline.retryable, decline.network_denied_reason.unwrap())
}

#[test]
fn an_approval_has_the_identifiers_of_the_provider() {
    let approval = approved(authorization(200, &recorded("payment_intent")));
    assert_eq!(approval.transaction_id.as_deref(), Some("pi_3SQ"));
    assert_eq!(approval.authorization_code.as_deref(), Some("231085"));
    assert_eq!(approval.network_transaction_id.as_deref(), Some("282110102210132"));
    assert_eq!(approval.response_code.as_deref(), Some("approved_by_network"));
}

#[test]
fn an_approval_needs_no_charge_beside_it() {
    for charge in [json!("ch_3SQ"), Value::Null, json!({ "a": [1] })] {
        let body = with(recorded("payment_intent"), json!({ "latest_charge": charge }));
        assert_eq!(approved(authorization(200, &body)).transaction_id.as_deref(), Some("pi_3SQ"));
    }
}

#[test]
fn a_reservation_is_an_approval() {
    let body =
        with(recorded("payment_intent"), json!({ "status": "requires_capture", "amount_capturable": 1500 }));
    let reserved = tell::authorization(&answer(200, &body), CaptureMode::Manual);
    assert!(matches!(reserved, Answer::Approved(_)), "{reserved:?}");
}

#[test]
fn a_refusal_of_the_issuer_keeps_his_word() {
    let decline = declined(authorization(402, &recorded("card_declined")));
    assert_eq!(decline.code, DeclinedCode::InsufficientFunds);
    assert!(decline.retryable);
    assert_eq!(decline.network_denied_reason.as_deref(), Some("insufficient_funds"));
    assert_eq!(decline.network_denied_message.as_deref(), Some("Your card has insufficient funds."));
    assert_eq!(decline.transaction_id.as_deref(), Some("pi_3SQ"));
}

#[test]
fn each_class_of_refusal_has_its_code() {
    for (decline_code, code, retryable) in [
        ("authentication_required", DeclinedCode::SecurityViolation, true),
        ("card_not_supported", DeclinedCode::CardNotSupported, false),
        ("card_velocity_exceeded", DeclinedCode::InsufficientFunds, true),
        ("do_not_honor", DeclinedCode::Generic, true),
        ("do_not_try_again", DeclinedCode::Generic, false),
        ("duplicate_transaction", DeclinedCode::TransactionNotAllowed, false),
        ("expired_card", DeclinedCode::ExpiredCard, true),
        ("fraudulent", DeclinedCode::FraudSuspect, true),
        ("generic_decline", DeclinedCode::Generic, true),
        ("incorrect_cvc", DeclinedCode::InvalidCvv, true),
        ("incorrect_number", DeclinedCode::InvalidNumber, false),
        ("incorrect_pin", DeclinedCode::InvalidPin, false),
        ("invalid_account", DeclinedCode::InvalidData, false),
        ("invalid_amount", DeclinedCode::InvalidAmount, false),
        ("issuer_not_available", DeclinedCode::IssuerNotAvailable, true),
        ("lost_card", DeclinedCode::LostCard, false),
        ("merchant_blacklist", DeclinedCode::FraudSuspect, false),
        ("not_permitted", DeclinedCode::NotPermitted, true),
        ("pickup_card", DeclinedCode::PickupCard, true),
        ("pin_try_exceeded", DeclinedCode::PinTryExceeded, false),
        ("processing_error", DeclinedCode::TryAgain, true),
        ("restricted_card", DeclinedCode::RestrictedCard, true),
        ("security_violation", DeclinedCode::SecurityViolation, true),
        ("service_not_allowed", DeclinedCode::ServiceNotAllowed, false),
        ("stolen_card", DeclinedCode::StolenCard, false),
        ("transaction_not_allowed", DeclinedCode::TransactionNotAllowed, false),
        ("withdrawal_count_limit_exceeded", DeclinedCode::InsufficientFunds, true),
        ("a_word_of_tomorrow", DeclinedCode::Generic, true),
    ] {
        let members = json!({ "type": "card_error", "code": "card_declined", "decline_code": decline_code });
        assert_eq!(refusal(402, members), (code, retryable, decline_code.to_owned()));
    }
}

#[test]
fn a_refusal_of_the_provider_has_its_code() {
    for (code, meant, retryable) in [
        ("amount_too_small", DeclinedCode::InvalidAmount, true),
        ("expired_card", DeclinedCode::ExpiredCard, true),
        ("invalid_number", DeclinedCode::InvalidNumber, false),
        ("payment_intent_authentication_failure", DeclinedCode::TransactionNotAllowed, false),
        ("testmode_charges_only", DeclinedCode::InvalidMerchant, true),
        ("parameter_unknown", DeclinedCode::Generic, true),
    ] {
        let members = json!({ "type": "invalid_request_error", "code": code });
        assert_eq!(refusal(400, members), (meant, retryable, code.to_owned()));
    }
}

#[test]
fn a_plan_that_the_provider_does_not_have_is_about_installments() {
    let param = "payment_method_options[card][installments][plan]";
    let members = json!({ "type": "invalid_request_error", "param": param });
    assert_eq!(refusal(400, members), (DeclinedCode::InvalidInstallment, true, param.to_owned()));
}

#[test]
fn what_the_network_never_approves_is_not_tried_elsewhere() {
    let members = json!({
        "type": "card_error", "code": "card_declined", "decline_code": "generic_decline",
        "advice_code": "do_not_try_again",
    });
    assert_eq!(refusal(402, members), (DeclinedCode::Generic, false, "generic_decline".to_owned()));
}

#[test]
fn no_card_number_gets_into_a_refusal() {
    for message in ["No such card: 4242424242424242", "4242 4242 4242 4242 is wrong", "4242-4242"] {
        let body =
            error(json!({ "type": "invalid_request_error", "code": "incorrect_number", "message": message }));
        let decline = declined(authorization(400, &body));
        assert_eq!(decline.network_denied_message.as_deref(), Some("Card number invalid"));
    }
}

#[test]
fn a_wrong_key_is_the_merchants_matter() {
    for status in [401, 403] {
        let decline = declined(authorization(status, &error(json!({ "type": "invalid_request_error" }))));
        assert_eq!((decline.code, decline.retryable), (DeclinedCode::InvalidMerchant, true));
    }
}

#[test]
fn too_many_requests_have_no_effect() {
    let limited = error(json!({ "type": "invalid_request_error", "code": "rate_limit" }));
    let decline = declined(authorization(429, &limited));
    assert_eq!((decline.code, decline.retryable), (DeclinedCode::TryAgain, true));
    // A refund is asked for again.
    assert_eq!(tell::refund(&answer(429, &limited)), PROVIDER_FAILED);
    // Something was under way already.
    let locked = error(json!({ "type": "invalid_request_error", "code": "lock_timeout" }));
    assert_eq!(authorization(429, &locked), PROVIDER_FAILED);
}

#[test]
fn what_may_have_been_done_is_unknown() {
    for (status, body) in [
        (200, json!({ "id": "pi_3SQ", "status": "a_state_of_tomorrow", "amount": 1, "currency": "brl" })),
        (302, json!({})),
        (400, error(json!({ "type": "idempotency_error" }))),
        (400, json!("not the provider's")),
        (402, error(json!({ "type": "api_error" }))),
        (408, json!({})),
        (409, error(json!({ "type": "invalid_request_error", "code": "idempotency_key_in_use" }))),
        (424, error(json!({ "type": "api_error" }))),
        (500, error(json!({ "type": "api_error" }))),
        (503, json!("down")),
    ] {
        assert_eq!(authorization(status, &body), PROVIDER_FAILED, "{status} {body}");
        assert_eq!(tell::refund(&answer(status, &body)), PROVIDER_FAILED, "{status} {body}");
    }
    let unreadable = Answer::Unknown(UnknownReason::Unreadable);
    assert_eq!(authorization(200, &json!("no payment")), unreadable);
    assert_eq!(tell::refund(&answer(200, &json!("no refund"))), unreadable);
}

#[test]
fn a_challenge_sends_the_browser_to_the_provider() {
    let Answer::Pending(pending) = authorization(200, &recorded("redirect")) else { panic!("not pending") };
    assert_eq!(pending.reference.transaction_id.as_deref(), Some("pi_3SQ"));
    let Instructions::HostedChallenge { url, md, pa_req, term_url } = pending.instructions else {
        panic!("no challenge")
    };
    assert_eq!(url, "https://hooks.stripe.com/3d_secure_2/hosted?merchant=acct_1&payment_intent=pi_3SQ");
    assert_eq!((md.as_str(), pa_req.as_str()), ("", ""));
    assert_eq!(term_url, "https://regente.example/back");
}

#[test]
fn an_action_that_no_browser_can_take_is_unknown() {
    let next_action = json!({ "type": "use_stripe_sdk", "use_stripe_sdk": {} });
    let body = with(recorded("redirect"), json!({ "next_action": next_action }));
    assert_eq!(authorization(200, &body), PROVIDER_FAILED);
}

#[test]
fn a_boleto_is_a_line_to_type() {
    let Answer::Pending(pending) = authorization(200, &recorded("boleto")) else { panic!("not pending") };
    assert_eq!(pending.expires_at, Some(Timestamp::from_millis(1_767_582_000_000)));
    let Instructions::Boleto(slip) = pending.instructions else { panic!("no boleto") };
    assert_eq!(slip.barcode.printed_line(), "34191.10121 34567.880058 71234.570001 6 16670000012345");
    assert!(slip.late_charges.is_none());
}

#[test]
fn the_line_of_a_test_environment_is_replaced_by_the_page() {
    let details = json!({
        "expires_at": 1_767_582_000, "hosted_voucher_url": "https://payments.stripe.com/boleto/voucher/test_x",
        "number": "01010101010101010101010101010101010101010101010",
    });
    let next_action = json!({ "type": "boleto_display_details", "boleto_display_details": details });
    let body = with(recorded("boleto"), json!({ "next_action": next_action }));
    let Answer::Pending(pending) = authorization(200, &body) else { panic!("not pending") };
    let url = "https://payments.stripe.com/boleto/voucher/test_x".to_owned();
    assert_eq!(pending.instructions, Instructions::Redirect { url });
}

/// What a payment says when it is read back.
fn read(changes: Value) -> Probe {
    payment(&answer(200, &with(recorded("payment_intent"), changes)))
}

fn payment(answer: &Incoming) -> Probe {
    tell::payment(answer, Some(CaptureMode::Automatic))
}

#[test]
fn every_state_of_a_payment_is_read_back() {
    assert!(matches!(read(json!({})), Probe::Found(Finding::Approved(_))));
    let Probe::Found(Finding::Declined(canceled)) = read(json!({ "status": "canceled" })) else {
        panic!("not refused")
    };
    assert_eq!((canceled.retryable, canceled.network_denied_reason.as_deref()), (false, Some("canceled")));
    let failed = json!({ "code": "payment_intent_authentication_failure", "type": "invalid_request_error" });
    let failed = json!({ "status": "requires_payment_method", "last_payment_error": failed });
    let Probe::Found(Finding::Declined(decline)) = read(failed) else { panic!("not refused") };
    assert_eq!(decline.code, DeclinedCode::TransactionNotAllowed);
    assert_eq!(decline.transaction_id.as_deref(), Some("pi_3SQ"));
    for open in ["processing", "requires_confirmation", "requires_payment_method", "a_state_of_tomorrow"] {
        assert_eq!(read(json!({ "status": open })), Probe::Unknown, "{open}");
    }
    assert!(matches!(payment(&answer(200, &recorded("redirect"))), Probe::Found(Finding::Pending(_))));
    let expired =
        json!({ "code": "payment_intent_payment_attempt_expired", "type": "invalid_request_error" });
    let expired = json!({ "status": "requires_payment_method", "last_payment_error": expired });
    let Probe::Found(Finding::Declined(decline)) = read(expired) else { panic!("not refused") };
    assert!(!decline.retryable);
}

#[test]
fn nothing_is_absent_because_it_cannot_be_read() {
    for status in [401, 404, 429, 500] {
        let body = error(json!({ "type": "invalid_request_error", "code": "resource_missing" }));
        assert_eq!(payment(&answer(status, &body)), Probe::Unknown);
    }
}

#[test]
fn a_refund_may_be_confirmed_later() {
    let asked =
        |status: &str| tell::refund(&answer(200, &with(recorded("refund"), json!({ "status": status }))));
    let approval = approved(asked("succeeded"));
    assert_eq!(approval.transaction_id.as_deref(), Some("re_3SQ"));
    for later in ["pending", "requires_action", "failed", "canceled"] {
        assert_eq!(asked(later), Answer::Accepted(approval.clone()), "{later}");
    }
    assert_eq!(asked("a_state_of_tomorrow"), PROVIDER_FAILED);
}

#[test]
fn a_refund_that_fails_is_money_that_came_back() {
    let probe = tell::refund_found(&answer(200, &with(recorded("refund"), json!({ "status": "failed" }))));
    let Probe::Found(Finding::Reversed { taken, reversals }) = probe else { panic!("not reversed") };
    assert!(matches!(*taken, Finding::Approved(_)));
    let [reverted] = reversals.as_slice() else { panic!("not one") };
    assert_eq!((reverted.kind, reverted.id.as_str()), (ReversalKind::RefundReverted, "re_3SQ"));
    assert_eq!(reverted.amount, Amount::new(400));
}

#[test]
fn amounts_are_read_with_the_decimals_of_the_provider() {
    for (code, expected) in [("brl", 400), ("jpy", 400), ("isk", 4), ("ugx", 4), ("mga", 40_000)] {
        let body = with(recorded("refund"), json!({ "status": "failed", "currency": code }));
        let Probe::Found(Finding::Reversed { reversals, .. }) = tell::refund_found(&answer(200, &body))
        else {
            panic!("not reversed")
        };
        assert_eq!(reversals[0].amount, Amount::new(expected), "{code}");
    }
}

#[test]
fn the_check_of_a_card_is_approved_or_refused() {
    let checked = |changes| tell::verification(&answer(200, &with(recorded("setup_intent"), changes)));
    assert_eq!(approved(checked(json!({}))).transaction_id.as_deref(), Some("seti_1SQ"));
    let decline = declined(checked(json!({ "status": "requires_action" })));
    assert_eq!(decline.network_denied_reason.as_deref(), Some("authentication_required"));
    assert_eq!(checked(json!({ "status": "processing" })), PROVIDER_FAILED);
    let refused =
        error(json!({ "type": "card_error", "code": "card_declined", "decline_code": "stolen_card" }));
    assert_eq!(declined(tell::verification(&answer(402, &refused))).code, DeclinedCode::StolenCard);
    let found = tell::check_found(&answer(200, &recorded("setup_intent")));
    assert!(matches!(found, Probe::Found(Finding::Approved(_))));
}
