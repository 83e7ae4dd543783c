//! From an answer of the provider to what it says. Pure.

use http::StatusCode;
use regente_domain::boleto::{Barcode, IssuedBoleto, LateCharges};
use regente_domain::charge::Boleto;
use regente_domain::decline::{Decline, DeclinedCode, Reason};
use regente_domain::time::Timestamp;

use super::ask::Expects;
use super::declines::{self, Refusal};
use super::reference::Reference;
use super::wire::{Action, ModificationAnswer, PaymentAnswer, ServiceError};
use crate::http_client::Incoming;
use crate::outcome::{Answer, Approval, Finding, Instructions, Pending, Probe, UnknownReason};
use crate::provider::{CredentialsRefusal, NotRefused};
use crate::request::Inquiry;

/// A header of an answer to a request that can be sent again under its key.
const TRANSIENT_ERROR: &str = "transient-error";
/// `errorCode` of a request that may have been taken up: its key is in use, an internal error, one that could not be
/// processed.
const MAY_BE_TAKEN_UP: [&str; 3] = ["704", "903", "904"];
/// `errorType` of a request that was not taken up.
const REFUSES: [&str; 3] = ["validation", "security", "configuration"];
/// `errorCode` of a merchant account that does not exist, or is closed to the API key.
const UNKNOWN_ACCOUNT: &str = "901";
/// `status` of a modification whose result comes later.
const RECEIVED: &str = "received";
/// Names of the banks that issue boletos for the provider, by their numbers in the clearing.
const BANKS: [(&str, &str); 5] =
    [("001", "Banco do Brasil"), ("033", "Santander"), ("237", "Bradesco"), ("341", "Itaú"), ("399", "HSBC")];

/// The answer to a call.
pub fn answer(expects: &Expects, incoming: &Incoming) -> Answer {
    if !incoming.status.is_success() {
        return not_taken_up(expects, incoming);
    }
    match expects {
        Expects::Receipt => receipt(incoming),
        Expects::Card { .. } | Expects::Pix { .. } | Expects::Boleto(_) => {
            incoming.json().map_or(UNREADABLE, |answer| payment(expects, &answer))
        }
    }
}

/// What the provider says of a payment whose payer came back. The result of another payment, which anyone could bring,
/// says nothing.
pub fn found(inquiry: &Inquiry, incoming: &Incoming) -> Probe {
    let answer: PaymentAnswer = match incoming.status.is_success().then(|| incoming.json()).flatten() {
        Some(answer) => answer,
        None => return Probe::Unknown,
    };
    let is_ours = match answer.merchant_reference.as_deref() {
        Some(text) => Reference::parse(text)
            .is_some_and(|named| named.key == inquiry.key && named.operation == inquiry.operation),
        None => answer.psp_reference.is_some() && answer.psp_reference == inquiry.reference,
    };
    if !is_ours {
        return Probe::Unknown;
    }
    ended(&answer).map_or(Probe::Unknown, Probe::Found)
}

/// Whether the provider knows the credentials.
///
/// # Errors
/// The member that it does not know.
pub fn credentials(incoming: &Incoming) -> Result<NotRefused, CredentialsRefusal> {
    let error: ServiceError = incoming.json().unwrap_or_default();
    match incoming.status {
        StatusCode::UNAUTHORIZED => {
            Err(CredentialsRefusal { member: "apiKey", problem: "is not accepted by the provider" })
        }
        StatusCode::FORBIDDEN if error.error_code == UNKNOWN_ACCOUNT => {
            Err(CredentialsRefusal { member: "merchantAccount", problem: "is not known to the provider" })
        }
        StatusCode::FORBIDDEN => {
            Err(CredentialsRefusal { member: "apiKey", problem: "may not take payments for the account" })
        }
        status => Ok(NotRefused::told_by(status)),
    }
}

const FAILED: Answer = Answer::Unknown(UnknownReason::ProviderFailed);
const UNREADABLE: Answer = Answer::Unknown(UnknownReason::Unreadable);

/// An answer that is not a success. What can be sent again under its key, or may have been taken up, is not refused; nor
/// is what somebody in between has answered, such as a proxy or a firewall.
fn not_taken_up(expects: &Expects, incoming: &Incoming) -> Answer {
    let is_transient = incoming.headers.get(TRANSIENT_ERROR).is_some_and(|value| value == "true");
    let error = incoming.declared_json().filter(|error| is_refusal(error, incoming.status));
    let Some(ServiceError { error_code, message, psp_reference, .. }) = &error else { return FAILED };
    if is_transient {
        return FAILED;
    }
    let is_payment = match expects {
        Expects::Card { .. } | Expects::Pix { .. } | Expects::Boleto(_) => true,
        Expects::Receipt => false,
    };
    match incoming.status {
        // A capture or void may be a repetition, and an earlier one may have been received.
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN if is_payment => {
            Answer::Declined(declines::no_access(error_code, message))
        }
        StatusCode::TOO_MANY_REQUESTS if is_payment => Answer::Declined(declines::too_many(message)),
        StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND | StatusCode::UNPROCESSABLE_ENTITY => {
            Answer::Declined(declines::not_taken_up(error_code, message, psp_reference.as_deref()))
        }
        _ => FAILED,
    }
}

/// Whether an error is the provider's own, and says that the request was not taken up: an internal error of the provider
/// does not say that.
fn is_refusal(error: &ServiceError, status: StatusCode) -> bool {
    let ServiceError { status: told, error_type, error_code, .. } = error;
    !error_code.is_empty()
        && !MAY_BE_TAKEN_UP.contains(&error_code.as_str())
        && told.is_none_or(|told| told == status.as_u16())
        && error_type.as_deref().is_none_or(|kind| REFUSES.contains(&kind))
}

fn receipt(incoming: &Incoming) -> Answer {
    match incoming.json::<ModificationAnswer>() {
        Some(ModificationAnswer { status, psp_reference }) if status == RECEIVED => {
            Answer::Accepted(Approval {
                transaction_id: psp_reference,
                response_code: Some(status),
                ..Approval::default()
            })
        }
        Some(_) => FAILED,
        None => UNREADABLE,
    }
}

fn payment(expects: &Expects, answer: &PaymentAnswer) -> Answer {
    if let Some(finding) = ended(answer) {
        return finding.into();
    }
    match answer.result_code.as_deref() {
        Some("RedirectShopper") => redirect(expects, answer),
        Some("Pending" | "PresentToShopper" | "Received") => to_pay(expects, answer),
        // The page of the merchant would have to show it, and there is none: the payment is never completed.
        Some("IdentifyShopper" | "ChallengeShopper") => Answer::Declined(unavailable(answer)),
        _ => FAILED,
    }
}

/// How the payment has ended, if it has.
fn ended(answer: &PaymentAnswer) -> Option<Finding> {
    match answer.result_code.as_deref()? {
        "Authorised" => Some(Finding::Approved(approval(answer))),
        "Refused" | "Error" | "Cancelled" => Some(Finding::Declined(refused(answer))),
        _ => None,
    }
}

/// The page of the provider on which the issuer asks the cardholder. Where nobody can be sent there, the payment is never
/// completed.
fn redirect(expects: &Expects, answer: &PaymentAnswer) -> Answer {
    let return_url = match expects {
        Expects::Card { return_url: Some(return_url) } => return_url,
        Expects::Card { return_url: None } => return Answer::Declined(unavailable(answer)),
        Expects::Pix { .. } | Expects::Boleto(_) | Expects::Receipt => return FAILED,
    };
    let Some(Action { url: Some(url), data, .. }) = &answer.action else { return FAILED };
    if !url.starts_with("https://") {
        return FAILED;
    }
    let relayed = |name: &str| data.get(name).cloned();
    let instructions = Instructions::HostedChallenge {
        url: url.clone(),
        md: relayed("MD").unwrap_or_default(),
        pa_req: relayed("PaReq").unwrap_or_default(),
        term_url: relayed("TermUrl").unwrap_or_else(|| return_url.clone()),
    };
    Answer::Pending(Box::new(Pending { instructions, reference: approval(answer), expires_at: None }))
}

/// What the payer of a Pix or a boleto needs. A card payment without a result is looked up.
fn to_pay(expects: &Expects, answer: &PaymentAnswer) -> Answer {
    let Some(action) = &answer.action else { return FAILED };
    let found = match expects {
        Expects::Pix { expires_at } => qr_code(action, *expires_at),
        Expects::Boleto(asked) => line(action, asked),
        Expects::Card { .. } | Expects::Receipt => None,
    };
    let Some((instructions, expires_at)) = found else { return FAILED };
    let reference = approval(answer);
    Answer::Pending(Box::new(Pending { instructions, reference, expires_at }))
}

fn qr_code(action: &Action, asked: Timestamp) -> Option<(Instructions, Option<Timestamp>)> {
    let data = action.qr_code_data.clone().filter(|data| !data.is_empty())?;
    let expires_at = action.expires_at.as_deref().and_then(Timestamp::parse).unwrap_or(asked);
    Some((Instructions::QrCode { data }, Some(expires_at)))
}

/// The provider tells the line alone: nothing of the beneficiary, of the number at the bank, and of how long a payment is awaited.
fn line(action: &Action, asked: &Boleto) -> Option<(Instructions, Option<Timestamp>)> {
    let barcode = Barcode::parse_line(action.reference.as_deref()?).ok()?;
    let bank = barcode.bank();
    let bank_name = BANKS.iter().find(|(number, _)| *number == bank.as_str());
    let issued = IssuedBoleto {
        barcode,
        bank_name: bank_name.map_or(bank.as_str(), |(_, name)| *name).to_owned(),
        beneficiary_code: String::new(),
        our_number: String::new(),
        due: asked.due,
        late_charges: LateCharges::default(),
        pix_code: None,
    };
    Some((Instructions::Boleto(Box::new(issued)), None))
}

fn approval(answer: &PaymentAnswer) -> Approval {
    let data = |name| answer.data(name).map(str::to_owned);
    Approval {
        transaction_id: answer.psp_reference.clone(),
        authorization_code: data("authCode"),
        authorization_nsu: data("acquirerReference"),
        network_response_code: data("refusalReasonRaw"),
        response_code: answer.result_code.clone(),
        network_transaction_id: data("networkTxReference"),
        ..Approval::default()
    }
}

fn refused(answer: &PaymentAnswer) -> Decline {
    declines::refused(Refusal {
        code: answer.refusal_reason_code.as_deref(),
        text: answer.refusal_reason.as_deref().or(answer.result_code.as_deref()),
        raw: answer.data("refusalReasonRaw"),
        advice: answer.data("merchantAdviceCode"),
        psp_reference: answer.psp_reference.as_deref(),
    })
}

/// The cardholder would have to be asked, and cannot be.
fn unavailable(answer: &PaymentAnswer) -> Decline {
    let decline = Decline::from_reason(Reason::AuthenticationUnavailable);
    debug_assert_eq!(decline.code, DeclinedCode::TransactionNotAllowed);
    let message = decline.message.clone();
    let decline = decline.with_network(answer.result_code.clone().unwrap_or_default(), message);
    Decline { transaction_id: answer.psp_reference.clone(), ..decline }
}
