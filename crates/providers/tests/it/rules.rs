//! The rules beyond the table: the order of the checks, chance, vouchers, verifications, the shape of an approval.

use std::collections::BTreeSet;

use regente_domain::charge::{PaymentMethod, Voucher};
use regente_domain::decline::DeclinedCode;
use regente_providers::outcome::Answer;
use regente_providers::provider::Providers;
use regente_providers::request::{Mode, Operation};
use regente_providers::sandbox::{Sandbox, TransactionLog, overrides};
use uuid::Uuid;

use crate::support::{
    APPROVED, APPROVED_OR_TIMED_OUT, approved, authorization, call, card_source, charge, declined, key,
    providers, providers_that_ignore_cvv, sandbox_options, verification,
};

#[tokio::test]
async fn a_wrong_security_code_is_found_before_the_number_is_looked_at() {
    let decline =
        declined(providers(&TransactionLog::memory()).call(charge(key(1), APPROVED, Some("321"))).await);
    assert_eq!(decline.code, DeclinedCode::InvalidCvv);
    assert_eq!(decline.network_denied_message.as_deref(), Some("Invalid CVV"));
    assert!(!decline.retryable);
}

#[tokio::test]
async fn without_a_security_code_the_number_alone_decides() {
    let providers = providers(&TransactionLog::memory());
    approved(providers.call(charge(key(1), APPROVED, None)).await);
    let decline = declined(providers.call(charge(key(2), "5171407375927752", None)).await);
    assert_eq!(decline.code, DeclinedCode::Generic);
}

#[tokio::test]
async fn the_rule_for_charges_can_be_switched_off_but_not_for_verifications() {
    let providers = providers_that_ignore_cvv();
    approved(providers.call(charge(key(1), APPROVED, Some("321"))).await);
    let decline = declined(providers.call(verification(key(2), APPROVED, Some("321"))).await);
    assert_eq!(decline.code, DeclinedCode::InvalidCvv);
}

#[tokio::test]
async fn a_verification_looks_at_the_security_code_alone() {
    let providers = providers(&TransactionLog::memory());
    // This number would be refused for a charge.
    approved(providers.call(verification(key(1), "5171407375927752", Some("320"))).await);
    for (number, cvv) in [(2, Some("321")), (3, None)] {
        let decline = declined(providers.call(verification(key(number), APPROVED, cvv)).await);
        assert_eq!(decline.code, DeclinedCode::InvalidCvv);
    }
}

#[tokio::test]
async fn a_verification_is_no_effect_on_money() {
    let log = TransactionLog::memory();
    approved(providers(&log).call(verification(key(1), APPROVED, Some("320"))).await);
    assert_eq!(log.entries().await.unwrap().len(), 1);
    assert_eq!(log.effects().await.unwrap(), 0);
}

#[tokio::test]
async fn digits_without_a_row_of_their_own_approve() {
    // 0, 1, 4 and 9.
    let numbers = ["5214254988499590", "4111111111111111", APPROVED, "4000000000000069"];
    for (place, number) in (0..).zip(numbers) {
        approved(providers(&TransactionLog::memory()).call(charge(key(place), number, Some("320"))).await);
    }
}

#[tokio::test]
async fn vouchers_follow_the_same_digits() {
    let providers = providers(&TransactionLog::memory());
    let voucher = |number, digits| {
        let authorization = authorization(digits, Some("320"));
        call(
            key(number),
            Operation::Authorize(regente_providers::request::Authorization {
                method: PaymentMethod::Voucher(Voucher { source: card_source(), items: None }),
                ..authorization
            }),
        )
    };
    approved(providers.call(voucher(1, APPROVED)).await);
    let decline = declined(providers.call(voucher(2, "5597251149584267")).await);
    assert_eq!(decline.code, DeclinedCode::PickupCard);
    assert_eq!(decline.network_denied_reason.as_deref(), Some("sandbox canceled card"));
}

#[tokio::test]
async fn an_approval_carries_seven_digit_codes_and_a_uuid() {
    let providers = providers(&TransactionLog::memory());
    let mut seen = BTreeSet::new();
    for number in 0..50 {
        let approval = approved(providers.call(charge(key(number), APPROVED, Some("560"))).await);
        let id = approval.transaction_id.unwrap();
        assert_eq!(Uuid::parse_str(&id).unwrap().get_version_num(), 4);
        assert!(seen.insert(id), "two payments with one id");
        for code in [
            approval.authorization_code,
            approval.authorization_nsu,
            approval.network_authorization_code,
            approval.network_response_code,
        ] {
            let code = code.unwrap();
            assert!(code.len() == 7 && code.bytes().all(|byte| byte.is_ascii_digit()), "{code}");
            assert!(seen.insert(code), "a code came twice");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn digit_8_is_decided_by_the_seed_and_the_key() {
    let decide = async |seed, number| {
        let providers =
            Providers::with([Sandbox::new(sandbox_options(seed), TransactionLog::memory()).into_adapter()]);
        providers.call(charge(key(number), APPROVED_OR_TIMED_OUT, Some("850"))).await
    };
    let mut approvals = 0;
    for seed in 0..100 {
        let first = decide(seed, 1).await;
        assert_eq!(first, decide(seed, 1).await, "seed {seed}");
        approvals += usize::from(matches!(first, Answer::Approved(_)));
    }
    assert!((30..=70).contains(&approvals), "{approvals} of 100 seeds approve");

    let mut approvals = 0;
    for number in 0..100 {
        approvals += usize::from(matches!(decide(1, number).await, Answer::Approved(_)));
    }
    assert!((30..=70).contains(&approvals), "{approvals} of 100 keys approve");
}

#[tokio::test(start_paused = true)]
async fn a_seed_in_the_request_fixes_digit_8_whatever_the_key() {
    let providers = providers(&TransactionLog::memory());
    let mut next = 0;
    let mut decide = async |seed: &str, mode| {
        next += 1;
        let mut call = charge(key(next), APPROVED_OR_TIMED_OUT, Some("850"));
        call.mode = mode;
        call.test_overrides = overrides(mode, Some(seed.to_owned()), None);
        matches!(providers.call(call).await, Answer::Approved(_))
    };
    let mut outcomes = BTreeSet::new();
    for seed in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"] {
        let first = decide(seed, Mode::Sandbox).await;
        for _ in 0..10 {
            assert_eq!(decide(seed, Mode::Sandbox).await, first, "seed {seed}");
        }
        outcomes.insert(first);
    }
    assert_eq!(outcomes.len(), 2, "both outcomes occur");

    let mut outcomes = BTreeSet::new();
    for _ in 0..20 {
        outcomes.insert(decide("a", Mode::Production).await);
    }
    assert_eq!(outcomes.len(), 2, "production takes no seed from a request");
}
