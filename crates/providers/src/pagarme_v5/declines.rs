//! Refusals: from the codes of acquirers, of the provider's gateway and of its analysis of risk to the closed list. The
//! code itself stays in `networkDeniedReason`.
//!
//! Since 2026-08-28 the provider passes on the codes that the Brazilian card industry has agreed on (ABECS, Normativo
//! 21), which differ by network; before, it had codes of four digits of its own (ISO 8583:1993). Both are read: what was
//! refused before may be asked about after.

use regente_domain::decline::{Decline, DeclinedCode, Reason};

use super::wire::told::{Charge, Transaction, TransactionStatus};
use crate::shown_text::shown;

use DeclinedCode as Code;

/// What a refused charge says.
pub(super) fn of_charge(charge: &Charge) -> Decline {
    let decline = charge.last_transaction.as_ref().map_or_else(unexplained, of_transaction);
    Decline { transaction_id: Some(charge.id.clone()), ..decline }
}

/// What a refused transaction says.
pub(super) fn of_transaction(transaction: &Transaction) -> Decline {
    let antifraud = transaction.antifraud_response.as_ref();
    if let Some(antifraud) = antifraud.filter(|antifraud| antifraud.status.as_deref() == Some("reproved")) {
        let word = antifraud.return_code.as_deref().map(str::trim).filter(|code| !code.is_empty());
        let reason = word.map_or_else(|| "antifraud_reproved".to_owned(), |code| format!("antifraud {code}"));
        return explained(Decline::of(Code::FraudSuspect), reason, None);
    }
    let message = transaction.acquirer_message.as_deref().map(str::trim).filter(|text| !text.is_empty());
    if let Some(code) = word(transaction.acquirer_return_code.as_deref()) {
        return explained(of_acquirer(code), code.to_owned(), message);
    }
    let gateway = transaction.gateway_response.as_ref().and_then(|response| response.code.as_deref());
    match (word(gateway), transaction.status) {
        (Some(code), status) => explained(of_gateway(code, status), format!("gateway {code}"), message),
        (None, Some(TransactionStatus::WithError)) => Decline::from_reason(Reason::ProcessingError),
        (None, _) => unexplained(),
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
fn of_gateway(code: &str, status: Option<TransactionStatus>) -> Decline {
    match code {
        "400" | "404" | "412" | "422" => Decline::from_reason(Reason::BadRequest),
        "401" | "403" => Decline::from_reason(Reason::InvalidCredentials),
        _ if code.starts_with('5') || status == Some(TransactionStatus::WithError) => {
            Decline::from_reason(Reason::ProcessingError)
        }
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
