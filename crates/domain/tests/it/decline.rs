use proptest::prelude::*;
use regente_domain::decline::{Decline, DeclinedCode, Reason, Retry, Retryable};

/// The codes of `docs/interface/conventions.md#declines`.
const CODES: [(&str, Retryable); 24] = {
    use Retryable::{No, ProviderDecides, Yes};
    [
        ("card_not_supported", No),
        ("expired_card", Yes),
        ("fraud_confirmed", No),
        ("fraud_suspect", Yes),
        ("generic", Yes),
        ("insufficient_funds", Yes),
        ("invalid_amount", ProviderDecides),
        ("invalid_cvv", Yes),
        ("invalid_data", No),
        ("invalid_installment", Yes),
        ("invalid_merchant", ProviderDecides),
        ("invalid_number", No),
        ("invalid_pin", No),
        ("issuer_not_available", Yes),
        ("lost_card", No),
        ("not_permitted", Yes),
        ("pickup_card", Yes),
        ("pin_try_exceeded", No),
        ("restricted_card", Yes),
        ("security_violation", Yes),
        ("service_not_allowed", No),
        ("stolen_card", No),
        ("transaction_not_allowed", No),
        ("try_again", Yes),
    ]
};

/// The reasons of `docs/interface/conventions.md#declines`.
const REASONS: [(&str, &str, Retryable); 18] = {
    use Retryable::{No, ProviderDecides, Yes};
    [
        ("authentication_attempts_unavailable_by_issuer", "transaction_not_allowed", No),
        ("authentication_error", "transaction_not_allowed", No),
        ("authentication_error_without_challenge", "transaction_not_allowed", No),
        ("authentication_unavailable", "transaction_not_allowed", No),
        ("bad_request", "generic", Yes),
        ("blocked_card", "restricted_card", Yes),
        ("canceled_card", "pickup_card", Yes),
        ("cardholder_not_complete_authentication", "transaction_not_allowed", No),
        ("denied_reason_not_available", "generic", Yes),
        ("failed_authentication", "transaction_not_allowed", No),
        ("internal_error", "try_again", Yes),
        ("invalid_credentials", "invalid_merchant", Yes),
        ("invalid_pares", "transaction_not_allowed", No),
        ("maximum_pin_tries", "pin_try_exceeded", ProviderDecides),
        ("processing_error", "try_again", Yes),
        ("request_not_sent", "try_again", Yes),
        ("timeout", "issuer_not_available", Yes),
        ("unable_to_perform_authentication", "transaction_not_allowed", No),
    ]
};

#[test]
fn there_are_24_codes() {
    assert_eq!(DeclinedCode::all().count(), 24);
    for (word, retryable) in CODES {
        let code = DeclinedCode::parse(word).unwrap();
        assert_eq!((code.code(), code.retryable()), (word, retryable));
        assert_eq!(serde_json::to_value(code).unwrap(), word);
        assert_eq!(serde_json::from_value::<DeclinedCode>(word.into()).unwrap(), code);
        assert_eq!(Decline::from_word(word, None), Decline::of(code));
    }
    assert_eq!(DeclinedCode::parse("timeout"), None);
    assert!(serde_json::from_str::<DeclinedCode>("\"timeout\"").is_err());
}

#[test]
fn there_are_18_finer_reasons() {
    assert_eq!(Reason::all().count(), 18);
    for (word, sent_as, retryable) in REASONS {
        let reason = Reason::parse(word).unwrap();
        assert_eq!((reason.word(), reason.sent_as().code(), reason.retryable()), (word, sent_as, retryable));
        let decline = Decline::from_reason(reason);
        assert_eq!(decline.code.code(), sent_as);
        assert_eq!(decline.retryable, retryable == Retryable::Yes, "{word}");
        assert_eq!(decline.message, reason.message());
        assert_eq!(decline.network_denied_reason.as_deref(), Some(word));
        assert_eq!(decline.network_denied_message, None);
        assert_eq!(Decline::from_word(word, None), decline);
    }
}

#[test]
fn the_reason_is_known_also_beside_words_of_the_network() {
    let refused = Decline::from_reason(Reason::InvalidCredentials);
    assert!(refused.is_for(Reason::InvalidCredentials));
    assert!(refused.with_network("401", "Unauthorized").is_for(Reason::InvalidCredentials));
    for other in Reason::all().filter(|reason| *reason != Reason::InvalidCredentials) {
        assert!(!Decline::from_reason(other).is_for(Reason::InvalidCredentials), "{other:?}");
    }
    assert!(!Decline::of(DeclinedCode::InvalidMerchant).is_for(Reason::InvalidCredentials));
}

#[test]
fn texts_are_the_documented_ones() {
    assert_eq!(DeclinedCode::InvalidCvv.message(), "Invalid CVV");
    assert_eq!(DeclinedCode::FraudSuspect.message(), "Declined: fraud suspected");
    assert_eq!(DeclinedCode::TryAgain.message(), "Temporary refusal, try again");
    assert_eq!(Reason::Timeout.message(), "No answer in time");
    assert_eq!(Reason::FailedAuthentication.message(), "3DS: failed (ECI 07/00)");
}

#[test]
fn other_spellings_are_understood() {
    for (alias, meant) in [
        ("invalid_security_code", "invalid_cvv"),
        ("invalid_credential", "invalid_credentials"),
        ("invalid_card_number", "invalid_number"),
        ("pick_up_card", "pickup_card"),
        ("card_reported_lost", "lost_card"),
        ("card_reported_stolen", "stolen_card"),
        ("card_cannot_make_this_charge", "card_not_supported"),
        ("pin_retry_exceeded", "pin_try_exceeded"),
        ("invalid_charge_amount", "invalid_amount"),
    ] {
        let decline = Decline::from_word(alias, None);
        assert_eq!(decline, Decline::from_word(meant, None), "{alias}");
        assert_ne!(decline.code, DeclinedCode::Generic, "{alias}");
    }
    assert_eq!(
        Decline::from_word("invalid_credential", None).network_denied_reason.as_deref(),
        Some("invalid_credentials")
    );
}

#[test]
fn an_unknown_word_is_generic_and_kept() {
    let decline = Decline::from_word("51: do not honour", None);
    assert_eq!((decline.code, decline.retryable), (DeclinedCode::Generic, true));
    assert_eq!(decline.network_denied_reason.as_deref(), Some("51: do not honour"));
    assert!(!Decline::from_word("???", Some(Retry::No)).retryable);
    assert_eq!(Decline::from_word("", None), Decline::of(DeclinedCode::Generic));
    assert_eq!(Decline::from_word(&"x".repeat(5_000), None).network_denied_reason.unwrap().len(), 255);
}

#[test]
fn a_provider_can_stop_a_retry_but_not_force_one() {
    let retryable = |word, says| Decline::from_word(word, says).retryable;
    assert!(retryable("invalid_cvv", None));
    assert!(!retryable("invalid_cvv", Some(Retry::No)));
    assert!(!retryable("invalid_merchant", None));
    assert!(retryable("invalid_merchant", Some(Retry::Yes)));
    assert!(!retryable("invalid_merchant", Some(Retry::No)));
    assert!(!retryable("stolen_card", Some(Retry::Yes)));
    assert!(retryable("maximum_pin_tries", Some(Retry::Yes)));
}

#[test]
fn what_the_network_says_comes_before_our_reason() {
    let decline = Decline::from_reason(Reason::BlockedCard).with_network("sandbox blocked card", "Blocked");
    assert_eq!(decline.code, DeclinedCode::RestrictedCard);
    assert_eq!(decline.network_denied_reason.as_deref(), Some("sandbox blocked card"));
    assert_eq!(decline.network_denied_message.as_deref(), Some("Blocked"));
    let json = serde_json::to_string(&decline).unwrap();
    assert_eq!(serde_json::from_str::<Decline>(&json).unwrap(), decline);
}

proptest! {
    #[test]
    fn only_the_24_are_ever_sent(word in any::<String>()) {
        let sent = Decline::from_word(&word, None).code.code();
        prop_assert!(CODES.iter().any(|(code, _)| *code == sent));
    }
}
