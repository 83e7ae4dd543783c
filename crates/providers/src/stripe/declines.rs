//! The provider's words for refusals (`decline_code` of issuers, `code` of the provider) and the codes that are sent for them.
//! The provider's word stays beside the code.

use regente_domain::charge::authentication::not_authenticated;
use regente_domain::decline::{Decline, DeclinedCode, Reason, Retry};

use super::wire::{ApiError, ErrorKind};
use crate::shown_text::shown;

/// What a word means.
#[derive(Clone, Copy)]
enum Meaning {
    /// This code, with its own rule for another try.
    Code(DeclinedCode),
    /// This code, and no other provider is asked.
    Final(DeclinedCode),
    /// This code, and another provider may be asked.
    Elsewhere(DeclinedCode),
    /// This finer reason.
    Reason(Reason),
}

use DeclinedCode as Code;
use Meaning::{Code as Is, Elsewhere, Final};

/// Words of issuers and of the provider. Both lists share names, and one name never means two things.
#[rustfmt::skip] // One row a word.
const WORDS: &[(&str, Meaning)] = &[
    ("account_closed",                        Meaning::Reason(Reason::InvalidCredentials)),
    ("account_invalid",                       Meaning::Reason(Reason::InvalidCredentials)),
    ("amount_too_large",                      Elsewhere(Code::InvalidAmount)),
    ("amount_too_small",                      Elsewhere(Code::InvalidAmount)),
    ("api_key_expired",                       Meaning::Reason(Reason::InvalidCredentials)),
    ("approve_with_id",                       Is(Code::TryAgain)),
    ("authentication_not_handled",            Is(Code::SecurityViolation)),
    ("authentication_required",               Is(Code::SecurityViolation)),
    ("balance_insufficient",                  Is(Code::InsufficientFunds)),
    ("call_issuer",                           Is(Code::Generic)),
    ("capability_not_active",                 Meaning::Reason(Reason::InvalidCredentials)),
    ("capture_charge_authorization_expired",  Is(Code::TransactionNotAllowed)),
    ("card_decline_rate_limit_exceeded",      Final(Code::Generic)),
    ("card_declined",                         Is(Code::Generic)),
    ("card_not_supported",                    Is(Code::CardNotSupported)),
    ("card_velocity_exceeded",                Is(Code::InsufficientFunds)),
    ("charge_already_captured",               Is(Code::TransactionNotAllowed)),
    ("charge_already_refunded",               Is(Code::TransactionNotAllowed)),
    ("charge_disputed",                       Is(Code::TransactionNotAllowed)),
    ("charge_exceeds_transaction_limit",      Elsewhere(Code::InvalidAmount)),
    ("charge_expired_for_capture",            Is(Code::TransactionNotAllowed)),
    ("charge_not_refundable",                 Is(Code::TransactionNotAllowed)),
    ("currency_not_supported",                Is(Code::CardNotSupported)),
    ("do_not_honor",                          Is(Code::Generic)),
    ("do_not_try_again",                      Final(Code::Generic)),
    ("duplicate_transaction",                 Is(Code::TransactionNotAllowed)),
    ("expired_card",                          Is(Code::ExpiredCard)),
    ("fraudulent",                            Is(Code::FraudSuspect)),
    ("generic_decline",                       Is(Code::Generic)),
    ("incorrect_address",                     Is(Code::InvalidData)),
    ("incorrect_cvc",                         Is(Code::InvalidCvv)),
    ("incorrect_number",                      Is(Code::InvalidNumber)),
    ("incorrect_pin",                         Is(Code::InvalidPin)),
    ("incorrect_postal_code",                 Is(Code::InvalidData)),
    ("incorrect_zip",                         Is(Code::InvalidData)),
    ("insufficient_funds",                    Is(Code::InsufficientFunds)),
    ("invalid_account",                       Is(Code::InvalidData)),
    ("invalid_amount",                        Is(Code::InvalidAmount)),
    ("invalid_charge_amount",                 Elsewhere(Code::InvalidAmount)),
    ("invalid_cvc",                           Is(Code::InvalidCvv)),
    ("invalid_expiry_month",                  Is(Code::ExpiredCard)),
    ("invalid_expiry_year",                   Is(Code::ExpiredCard)),
    ("invalid_number",                        Is(Code::InvalidNumber)),
    ("invalid_pin",                           Is(Code::InvalidPin)),
    ("issuer_not_available",                  Is(Code::IssuerNotAvailable)),
    ("livemode_mismatch",                     Meaning::Reason(Reason::InvalidCredentials)),
    ("lost_card",                             Is(Code::LostCard)),
    ("merchant_blacklist",                    Final(Code::FraudSuspect)),
    ("mobile_device_authentication_required", Is(Code::SecurityViolation)),
    ("new_account_information_available",     Is(Code::Generic)),
    ("no_account",                            Meaning::Reason(Reason::InvalidCredentials)),
    ("no_action_taken",                       Is(Code::Generic)),
    ("not_permitted",                         Is(Code::NotPermitted)),
    ("offline_pin_required",                  Is(Code::InvalidPin)),
    ("online_or_offline_pin_required",        Is(Code::InvalidPin)),
    ("payment_intent_action_required",        Is(Code::SecurityViolation)),
    ("payment_intent_authentication_failure", Meaning::Reason(Reason::FailedAuthentication)),
    ("payment_intent_payment_attempt_expired", Final(Code::Generic)),
    ("payment_intent_unexpected_state",       Is(Code::TransactionNotAllowed)),
    ("pickup_card",                           Is(Code::PickupCard)),
    ("pin_try_exceeded",                      Is(Code::PinTryExceeded)),
    ("platform_api_key_expired",              Meaning::Reason(Reason::InvalidCredentials)),
    ("processing_error",                      Is(Code::TryAgain)),
    ("rate_limit",                            Is(Code::TryAgain)),
    ("reenter_transaction",                   Is(Code::TryAgain)),
    ("refund_disputed_payment",               Is(Code::TransactionNotAllowed)),
    ("request_blocked",                       Is(Code::FraudSuspect)),
    ("restricted_card",                       Is(Code::RestrictedCard)),
    ("revocation_of_all_authorizations",      Is(Code::TransactionNotAllowed)),
    ("revocation_of_authorization",           Is(Code::TransactionNotAllowed)),
    ("secret_key_required",                   Meaning::Reason(Reason::InvalidCredentials)),
    ("security_violation",                    Is(Code::SecurityViolation)),
    ("service_not_allowed",                   Is(Code::ServiceNotAllowed)),
    ("setup_intent_authentication_failure",   Meaning::Reason(Reason::FailedAuthentication)),
    ("stolen_card",                           Is(Code::StolenCard)),
    ("stop_payment_order",                    Is(Code::TransactionNotAllowed)),
    ("tax_id_invalid",                        Is(Code::InvalidData)),
    ("testmode_charges_only",                 Meaning::Reason(Reason::InvalidCredentials)),
    ("testmode_decline",                      Final(Code::Generic)),
    ("transaction_not_allowed",               Is(Code::TransactionNotAllowed)),
    ("try_again_later",                       Is(Code::TryAgain)),
    ("withdrawal_count_limit_exceeded",       Is(Code::InsufficientFunds)),
];

/// `advice_code` of a card that the network will never approve.
const NEVER_AGAIN: &str = "do_not_try_again";
/// Digits in a row that may be a part of a card number: more than the first six may not be shown.
const DIGITS_MAX: usize = 6;

/// The refusal in an error of the provider.
pub(super) fn of(error: &ApiError) -> Decline {
    let words = [&error.decline_code, &error.code];
    let meant = words.into_iter().flatten().find_map(|word| meaning(word));
    let is_about_installments = error.param.as_deref().is_some_and(|param| param.contains("[installments]"));
    let meaning = match (meant, error.kind) {
        (_, Some(ErrorKind::InvalidRequestError)) if is_about_installments => Is(Code::InvalidInstallment),
        (Some(meaning), _) => meaning,
        (None, Some(ErrorKind::CardError)) => Is(Code::Generic),
        (
            None,
            None
            | Some(
                ErrorKind::ApiError
                | ErrorKind::IdempotencyError
                | ErrorKind::InvalidRequestError
                | ErrorKind::Other,
            ),
        ) => Meaning::Reason(Reason::BadRequest),
    };
    let decline = decline(meaning);
    let reason = words.into_iter().flatten().next().or(error.param.as_ref());
    let reason = reason.and_then(|reason| shown(reason, DIGITS_MAX));
    let reason = reason.or_else(|| decline.network_denied_reason.clone());
    let message = error
        .message
        .as_deref()
        .and_then(|message| shown(message, DIGITS_MAX))
        .unwrap_or_else(|| decline.message.clone());
    let retryable = decline.retryable && error.advice_code.as_deref() != Some(NEVER_AGAIN);
    let id = error.payment_intent.as_ref().map(|intent| &intent.id);
    let id = id.or(error.setup_intent.as_ref().map(|intent| &intent.id));
    Decline {
        retryable,
        transaction_id: id.cloned(),
        network_denied_reason: reason,
        network_denied_message: Some(message),
        ..decline
    }
}

/// A refusal of ours before anything is sent, or of what the provider cannot do, with the word beside the code.
pub(super) fn own(code: DeclinedCode, word: &str, retry: Retry) -> Decline {
    let decline = Decline::of(code);
    let message = decline.message.clone();
    let retryable = code.retryable().settle(Some(retry));
    Decline { retryable, ..decline.with_network(word, message) }
}

/// The provider does not know the key, or the key may not do this.
pub(super) fn credentials() -> Decline {
    decline(Meaning::Reason(Reason::InvalidCredentials))
}

/// The provider has refused the request before it looked at it, because there are too many.
pub(super) fn too_many() -> Decline {
    own(Code::TryAgain, "rate_limit", Retry::Yes)
}

/// The issuer is not liable, although the charge demands it.
pub(super) fn no_shift() -> Decline {
    not_authenticated(Reason::UnableToPerformAuthentication)
}

fn meaning(word: &str) -> Option<Meaning> {
    let at = WORDS.binary_search_by(|(listed, _)| (*listed).cmp(word)).ok()?;
    WORDS.get(at).map(|(_, meaning)| *meaning)
}

fn decline(meaning: Meaning) -> Decline {
    let with = |code: DeclinedCode, retry: Option<Retry>| {
        let retryable = code.retryable().settle(retry);
        Decline { retryable, ..Decline::of(code) }
    };
    match meaning {
        Meaning::Code(code) => with(code, None),
        Meaning::Final(code) => with(code, Some(Retry::No)),
        Meaning::Elsewhere(code) => with(code, Some(Retry::Yes)),
        Meaning::Reason(reason) => {
            let decline = Decline::from_reason(reason);
            let message = decline.message.clone();
            Decline { network_denied_message: Some(message), ..decline }
        }
    }
}
