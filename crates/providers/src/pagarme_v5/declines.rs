//! Refusals: from the codes of acquirers, of the provider's gateway and of its analysis of risk to the closed list. The
//! code itself stays in `networkDeniedReason`.
//!
//! Since 2026-08-28 the provider passes on the codes that the Brazilian card industry has agreed on (ABECS, Normativo
//! 21), which differ by network; before, it had codes of four digits of its own (ISO 8583:1993). Both are read: what was
//! refused before may be asked about after.

use regente_domain::decline::{Decline, DeclinedCode, Reason};

use super::wire::told::{Charge, ChargeStatus, PaymentMethod, Transaction, TransactionStatus};
use crate::shown_text::shown;

use DeclinedCode as Code;

/// Codes of the gateway for a request that it has not passed on to the acquirer.
const NOT_PASSED_ON: [&str; 5] = ["400", "401", "403", "404", "422"];
/// Codes of acquirers for an approval, without leading zeros.
const APPROVED: [&str; 1] = [""];

/// Whether a charge is over and nobody holds money for it. That it has failed is not enough: an error on the way to the
/// acquirer says nothing of what the acquirer has done.
pub(super) fn is_over(charge: &Charge) -> bool {
    let transaction = charge.last_transaction.as_ref();
    let status = transaction.and_then(|transaction| transaction.status);
    let is_refused = transaction.is_some_and(|transaction| is_refused(transaction, charge.payment_method));
    let is_given_back = matches!(status, Some(TransactionStatus::Voided | TransactionStatus::Refunded));
    match charge.status {
        ChargeStatus::Failed => is_refused || is_given_back,
        ChargeStatus::Canceled => {
            let was_never_paid = matches!(
                status,
                None | Some(
                    TransactionStatus::WaitingPayment
                        | TransactionStatus::Generated
                        | TransactionStatus::Viewed
                        | TransactionStatus::PartialVoid
                        | TransactionStatus::PartialRefunded
                )
            );
            is_refused || is_given_back || was_never_paid
        }
        ChargeStatus::Pending
        | ChargeStatus::Paid
        | ChargeStatus::Overpaid
        | ChargeStatus::Underpaid
        | ChargeStatus::Processing
        | ChargeStatus::Chargedback
        | ChargeStatus::Other => false,
    }
}

/// Whether a transaction was refused by somebody who decides: the acquirer, the analysis of risk, or the gateway before
/// it asked the acquirer.
pub(super) fn is_refused(transaction: &Transaction, method: PaymentMethod) -> bool {
    let acquirer = word(transaction.acquirer_return_code.as_deref());
    let gateway = gateway(transaction);
    let by_acquirer = acquirer.is_some_and(|code| !APPROVED.contains(&code.trim_start_matches('0')));
    let was_passed_on = gateway.is_none_or(|code| !NOT_PASSED_ON.contains(&code));
    let is_silent = acquirer.is_none() && gateway.is_none_or(|code| code.starts_with('2'));
    let before_acquirer = acquirer.is_none() && !was_passed_on;
    let is_decided = by_acquirer || before_acquirer || is_reproved(transaction);
    match transaction.status {
        Some(TransactionStatus::WithError) => before_acquirer,
        Some(TransactionStatus::NotAuthorized) => is_decided || is_silent,
        Some(TransactionStatus::Failed) => {
            is_decided
                || match method {
                    // Nobody is asked for money but the payer, and they cannot pay it any more.
                    PaymentMethod::Pix | PaymentMethod::Boleto => is_silent,
                    PaymentMethod::CreditCard
                    | PaymentMethod::DebitCard
                    | PaymentMethod::Voucher
                    | PaymentMethod::Other => false,
                }
        }
        Some(
            TransactionStatus::AuthorizedPendingCapture
            | TransactionStatus::WaitingCapture
            | TransactionStatus::Captured
            | TransactionStatus::PartialCapture
            | TransactionStatus::Voided
            | TransactionStatus::PartialVoid
            | TransactionStatus::Refunded
            | TransactionStatus::PartialRefunded
            | TransactionStatus::PendingRefund
            | TransactionStatus::WaitingPayment
            | TransactionStatus::Generated
            | TransactionStatus::Viewed
            | TransactionStatus::Paid
            | TransactionStatus::Other,
        )
        | None => false,
    }
}

fn is_reproved(transaction: &Transaction) -> bool {
    let antifraud = transaction.antifraud_response.as_ref();
    antifraud.is_some_and(|antifraud| antifraud.status.as_deref() == Some("reproved"))
}

fn gateway(transaction: &Transaction) -> Option<&str> {
    word(transaction.gateway_response.as_ref().and_then(|response| response.code.as_deref()))
}

/// What a refused charge says.
pub(super) fn of_charge(charge: &Charge) -> Decline {
    let decline = charge.last_transaction.as_ref().map_or_else(unexplained, of_transaction);
    Decline { transaction_id: Some(charge.id.clone()), ..decline }
}

/// What a refused transaction says.
pub(super) fn of_transaction(transaction: &Transaction) -> Decline {
    if let Some(antifraud) = transaction.antifraud_response.as_ref().filter(|_| is_reproved(transaction)) {
        let word = word(antifraud.return_code.as_deref());
        let reason = word.map_or_else(|| "antifraud_reproved".to_owned(), |code| format!("antifraud {code}"));
        return explained(Decline::of(Code::FraudSuspect), reason, None);
    }
    let message = transaction.acquirer_message.as_deref().map(str::trim).filter(|text| !text.is_empty());
    if let Some(code) = word(transaction.acquirer_return_code.as_deref()) {
        return explained(of_acquirer(code), code.to_owned(), message);
    }
    match gateway(transaction) {
        Some(code) => explained(of_gateway(code), format!("gateway {code}"), message),
        None => unexplained(),
    }
}

/// Longest row of digits in a text that is kept: shorter than any card number.
const DIGITS_IN_A_ROW_MAX: usize = 8;

fn word(code: Option<&str>) -> Option<&str> {
    code.map(str::trim).filter(|code| !code.is_empty())
}

fn unexplained() -> Decline {
    Decline::from_reason(Reason::DeniedReasonNotAvailable)
}

/// The codes of HTTP, which the provider's gateway uses for what did not get as far as an acquirer.
fn of_gateway(code: &str) -> Decline {
    match code {
        "400" | "404" | "422" => Decline::from_reason(Reason::BadRequest),
        "401" | "403" => Decline::from_reason(Reason::InvalidCredentials),
        _ => unexplained(),
    }
}

/// The code of an acquirer; one that is not known is a refusal without a reason.
fn of_acquirer(code: &str) -> Decline {
    let bare = code.trim_start_matches('0');
    let known = ACQUIRER.iter().find(|(_, codes)| codes.contains(&bare));
    known.map_or_else(|| Decline::of(Code::Generic), |(meaning, _)| Decline::of(*meaning))
}

fn explained(decline: Decline, reason: String, message: Option<&str>) -> Decline {
    let kept = |text: &str| shown(text, DIGITS_IN_A_ROW_MAX).unwrap_or_default();
    let message = message.map_or_else(|| decline.message.clone(), kept);
    decline.with_network(kept(&reason), message)
}

/// What acquirers' codes mean, without leading zeros: the agreed ones of two signs and of three digits (American
/// Express), and the older ones of four.
#[rustfmt::skip]
const ACQUIRER: [(Code, &[&str]); 22] = [
    (Code::CardNotSupported, &["12", "39", "52", "53", "AB", "AC", "AE", "FM", "1014", "1015", "1042"]),
    (Code::ExpiredCard, &["54", "101", "1001", "2001"]),
    (Code::FraudConfirmed, &["2002", "2010"]),
    (Code::FraudSuspect, &["34", "59", "129", "1002"]),
    (Code::Generic, &["1", "2", "5", "70", "100", "1000", "1007", "1008", "2000"]),
    (Code::InsufficientFunds, &["51", "116", "1016"]),
    (Code::InvalidAmount, &["13", "61", "64", "99", "110", "121", "1010", "1021"]),
    (Code::InvalidCvv, &["N7", "122", "1045"]),
    (Code::InvalidData, &["30", "76", "77", "180", "181", "1018", "9102", "9103"]),
    (Code::InvalidInstallment, &["23"]),
    (Code::InvalidMerchant, &["3", "6", "58", "109", "1003", "1009", "1020"]),
    (Code::InvalidNumber, &["14", "56", "111", "1011"]),
    (Code::InvalidPin, &["55", "86", "117", "1012", "1017"]),
    (Code::IssuerNotAvailable, &["15", "91", "92", "911", "912", "9108", "9111", "9112"]),
    (Code::LostCard, &["41", "2008"]),
    (Code::PickupCard, &["4", "7", "46", "187", "189", "200", "2003", "2005", "2007"]),
    (Code::PinTryExceeded, &["38", "75", "106", "1006", "2006"]),
    (Code::RestrictedCard, &["62", "65", "78", "1004", "1023", "2004"]),
    (Code::SecurityViolation, &["63", "82", "83", "1005", "1022"]),
    (Code::StolenCard, &["43", "2009"]),
    (Code::TransactionNotAllowed, &["57", "60", "93", "115", "119", "1019", "R0", "R1", "R2", "R3"]),
    (Code::TryAgain, &["19", "79", "81", "88", "90", "94", "96", "98", "5003", "9109", "9124"]),
];
