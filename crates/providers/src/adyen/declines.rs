//! Refusals: the provider's codes and texts, and what they mean in the closed list
//! (<https://docs.adyen.com/development-resources/refusal-reasons>). The provider's own word stays in the network's reason.

use crate::shown_text::shown;
use regente_domain::decline::{Decline, DeclinedCode, Reason, Retry};

/// `refusalReasonCode`, `refusalReason`, and our word.
const REFUSALS: [(&str, &str, &str); 40] = [
    ("2", "Refused", "generic"),
    ("3", "Referral", "generic"),
    ("4", "Acquirer Error", "processing_error"),
    ("5", "Blocked Card", "blocked_card"),
    ("6", "Expired Card", "expired_card"),
    ("7", "Invalid Amount", "invalid_amount"),
    ("8", "Invalid Card Number", "invalid_number"),
    ("9", "Issuer Unavailable", "issuer_not_available"),
    ("10", "Not supported", "card_not_supported"),
    ("11", "3D Not Authenticated", "failed_authentication"),
    ("12", "Not enough balance", "insufficient_funds"),
    ("14", "Acquirer Fraud", "fraud_suspect"),
    ("15", "Cancelled", "generic"),
    ("16", "Shopper Cancelled", "cardholder_not_complete_authentication"),
    ("17", "Invalid Pin", "invalid_pin"),
    ("18", "Pin tries exceeded", "pin_try_exceeded"),
    ("19", "Pin validation not possible", "invalid_pin"),
    ("20", "FRAUD", "fraud_suspect"),
    ("21", "Not Submitted", "processing_error"),
    ("22", "FRAUD-CANCELLED", "fraud_suspect"),
    ("23", "Transaction Not Permitted", "not_permitted"),
    ("24", "CVC Declined", "invalid_cvv"),
    ("25", "Restricted Card", "restricted_card"),
    ("26", "Revocation Of Auth", "transaction_not_allowed"),
    ("27", "Declined Non Generic", "generic"),
    ("28", "Withdrawal amount exceeded", "invalid_amount"),
    ("29", "Withdrawal count exceeded", "not_permitted"),
    ("31", "Issuer Suspected Fraud", "fraud_suspect"),
    ("32", "AVS Declined", "security_violation"),
    ("33", "Card requires online pin", "not_permitted"),
    ("34", "No checking account available on Card", "card_not_supported"),
    ("35", "No savings account available on Card", "card_not_supported"),
    ("36", "Mobile pin required", "not_permitted"),
    ("37", "Contactless fallback", "try_again"),
    ("38", "Authentication required", "unable_to_perform_authentication"),
    ("39", "RReq not received from DS", "authentication_error"),
    ("40", "Current AID is in Penalty Box", "try_again"),
    ("41", "CVM Required Restart Payment", "try_again"),
    ("42", "3DS Authentication Error", "authentication_error"),
    ("46", "Transaction blocked by Adyen to prevent excessive retry fees", "transaction_not_allowed"),
];

/// `errorCode` of a request that was not taken up, and our word. What is not listed is `bad_request`.
const ERRORS: [(&str, &str); 12] = [
    ("000", "invalid_credentials"),
    ("010", "invalid_credentials"),
    ("901", "invalid_credentials"),
    ("101", "invalid_number"),
    ("102", "card_not_supported"),
    ("103", "invalid_cvv"),
    ("129", "invalid_data"),
    ("137", "invalid_amount"),
    ("138", "invalid_amount"),
    ("140", "invalid_data"),
    ("141", "invalid_data"),
    ("905_3", "card_not_supported"),
];

/// Advice of a card network not to try the card again (`additionalData.merchantAdviceCode`).
const DO_NOT_TRY_AGAIN: [&str; 2] = ["03", "21"];
/// Most digits in a row in a text of the provider that is kept: a card number has at least 12.
const DIGITS_IN_A_ROW_MAX: usize = 11;

/// What the provider says of a refusal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Refusal<'a> {
    /// `refusalReasonCode`; notifications have none.
    pub code: Option<&'a str>,
    /// `refusalReason`, or `reason` of a notification.
    pub text: Option<&'a str>,
    /// What the issuer has said (`refusalReasonRaw`).
    pub raw: Option<&'a str>,
    /// Advice of the card network (`merchantAdviceCode`).
    pub advice: Option<&'a str>,
    /// The provider's id of what was refused.
    pub psp_reference: Option<&'a str>,
}

/// A refusal of a payment.
pub fn refused(refusal: Refusal<'_>) -> Decline {
    let Refusal { code, text, raw, advice, psp_reference } = refusal;
    let by_code = |code: &str| REFUSALS.iter().find(|(known, ..)| *known == code);
    let by_text = |text: &str| REFUSALS.iter().find(|(_, known, _)| known.eq_ignore_ascii_case(text.trim()));
    let row = code.and_then(by_code).or_else(|| text.and_then(by_text));
    let says = advice
        .is_some_and(|advice| DO_NOT_TRY_AGAIN.iter().any(|known| advice.trim().starts_with(known)))
        .then_some(Retry::No);
    let word = kept(code.or(row.map(|(code, ..)| *code)).or(text).unwrap_or_default());
    let message = raw.or(text).or(row.map(|(_, text, _)| *text)).unwrap_or_default();
    let decline = Decline::from_word(row.map_or(word.as_str(), |(.., ours)| ours), says);
    finish(decline, &word, message, psp_reference)
}

/// A request that the provider has not taken up, by `errorCode` and `message` of its answer.
pub fn not_taken_up(code: &str, message: &str, psp_reference: Option<&str>) -> Decline {
    let known = ERRORS.iter().find(|(known, _)| *known == code);
    let decline = Decline::from_word(known.map_or(Reason::BadRequest.word(), |(_, ours)| ours), None);
    finish(decline, code, message, psp_reference)
}

/// A request with credentials that the provider does not accept.
pub fn no_access(code: &str, message: &str) -> Decline {
    finish(Decline::from_reason(Reason::InvalidCredentials), code, message, None)
}

/// A request that the provider has not looked at, since there are too many.
pub fn too_many(message: &str) -> Decline {
    finish(Decline::of(DeclinedCode::TryAgain), "429", message, None)
}

/// A request that we do not send, since the provider could not serve it as it was asked for. Another provider may.
pub fn not_sent(why: &'static str) -> Decline {
    finish(Decline::from_reason(Reason::BadRequest), "not_sent", why, None)
}

fn finish(decline: Decline, word: &str, message: &str, psp_reference: Option<&str>) -> Decline {
    let transaction_id = psp_reference.map(str::to_owned);
    let (word, message) = (kept(word), kept(message));
    match word.is_empty() {
        true => Decline { transaction_id, ..decline },
        false => Decline { transaction_id, ..decline }.with_network(word, message),
    }
}

/// A text of the provider; empty when it may repeat what was sent.
fn kept(text: &str) -> String {
    shown(text.trim(), DIGITS_IN_A_ROW_MAX).unwrap_or_default()
}
