//! What an answer of the provider means. Pure: an answer is a status and a body.

use http::StatusCode;
use regente_domain::boleto::{Barcode, IssuedBoleto, LateCharges};
use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::attempt::Approval;
use regente_domain::decline::{Decline, DeclinedCode, Retry};
use regente_domain::local_day::day_of;
use regente_domain::time::Timestamp;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::wire::{
    ApiError, BoletoDetails, CaptureMethod, ErrorBody, ErrorKind, IntentStatus, PaymentIntent, Refund,
    RefundStatus, SetupIntent, member,
};
use super::{currency, declines};
use crate::http_client::Incoming;
use crate::outcome::{Answer, Finding, Instructions, Pending, Probe, Reversal, ReversalKind, UnknownReason};

/// Results of 3-D Secure for which the issuer is liable.
const SHIFTED: [&str; 2] = ["authenticated", "attempt_acknowledged"];
/// The limiter has let nothing through. Another word beside 429 (`lock_timeout`) is of a request that was looked at.
const LIMITED: &str = "rate_limit";
/// There is nothing left to refund.
const ALREADY_REFUNDED: &str = "charge_already_refunded";

/// What an answer is that brings no object.
pub(super) enum Failure {
    /// The provider has looked at the request, and refused it.
    Refused(Box<ApiError>),
    /// The provider does not know the key, or the key may not do this.
    Credentials,
    /// The provider has not looked at the request: there are too many.
    TooMany,
    /// It is not known what has happened.
    Unknown(UnknownReason),
}

impl Failure {
    /// Whether an earlier request with the same key may have been carried out.
    pub(super) const fn may_hide_success(&self) -> bool {
        match self {
            Self::Refused(_) | Self::Unknown(_) => true,
            Self::Credentials | Self::TooMany => false,
        }
    }

    /// Whether everything has been given back already.
    pub(super) fn is_refunded(&self) -> bool {
        match self {
            Self::Refused(error) => error.code.as_deref() == Some(ALREADY_REFUNDED),
            Self::Credentials | Self::TooMany | Self::Unknown(_) => false,
        }
    }

    /// For a request that is never sent again: an authorization or the check of a card.
    fn for_good(self) -> Answer {
        match self {
            Self::Refused(error) => Answer::Declined(declines::of(&error)),
            Self::Credentials => Answer::Declined(declines::credentials()),
            Self::TooMany => Answer::Declined(declines::too_many()),
            Self::Unknown(reason) => Answer::Unknown(reason),
        }
    }

    /// For a request that is sent again under the same key while its outcome is unknown: a capture or a void.
    pub(super) fn until_sent_again(self) -> Answer {
        match self {
            // What an earlier repetition did is not undone by a key that is not good any more.
            Self::TooMany | Self::Credentials => Answer::Unknown(UnknownReason::ProviderFailed),
            Self::Refused(_) | Self::Unknown(_) => self.for_good(),
        }
    }
}

/// The object in an answer.
pub(super) fn object<T: DeserializeOwned>(answer: &Incoming) -> Result<T, Failure> {
    let unknown = Failure::Unknown(UnknownReason::ProviderFailed);
    let status = answer.status;
    if status.is_success() {
        return answer.json().ok_or(Failure::Unknown(UnknownReason::Unreadable));
    }
    // What the provider has not written comes from somebody in between, such as a proxy or a firewall.
    let Some(error) = answer.declared_json().map(|body: ErrorBody| body.error) else { return Err(unknown) };
    let Some(kind) = error.kind else { return Err(unknown) };
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(Failure::Credentials),
        StatusCode::TOO_MANY_REQUESTS if error.code.as_deref() == Some(LIMITED) => Err(Failure::TooMany),
        StatusCode::BAD_REQUEST | StatusCode::PAYMENT_REQUIRED | StatusCode::NOT_FOUND => match kind {
            ErrorKind::CardError | ErrorKind::InvalidRequestError => Err(Failure::Refused(Box::new(error))),
            // The key was used with another body: that one may have been carried out.
            ErrorKind::ApiError | ErrorKind::IdempotencyError | ErrorKind::Other => Err(unknown),
        },
        // Another request with the key is under way (409), somebody whom the provider has asked has failed (424), or the
        // provider does not document it.
        _ => Err(unknown),
    }
}

/// The answer to an authorization.
pub fn authorization(answer: &Incoming, capture: CaptureMode) -> Answer {
    authorized(object(answer), capture)
}

pub(super) fn authorized(told: Result<PaymentIntent, Failure>, capture: CaptureMode) -> Answer {
    match told {
        Ok(intent) => match finding(&intent, Some(capture)) {
            Some(finding) => finding.into(),
            None => Answer::Unknown(UnknownReason::ProviderFailed),
        },
        Err(Failure::Refused(error)) if error.payment_intent.as_deref().is_some_and(may_hold_money) => {
            Answer::Unknown(UnknownReason::ProviderFailed)
        }
        Err(failure) => failure.for_good(),
    }
}

/// Whether a payment holds money, or may come to hold it, without anybody doing anything more.
pub(super) const fn may_hold_money(intent: &PaymentIntent) -> bool {
    match intent.status {
        IntentStatus::Succeeded
        | IntentStatus::RequiresCapture
        | IntentStatus::Processing
        | IntentStatus::Other => true,
        IntentStatus::RequiresPaymentMethod
        | IntentStatus::RequiresConfirmation
        | IntentStatus::RequiresAction
        | IntentStatus::Canceled => false,
    }
}

/// The answer to the check of a card.
pub fn verification(answer: &Incoming) -> Answer {
    match object::<SetupIntent>(answer) {
        Ok(setup) => match checked(&setup) {
            Some(finding) => finding.into(),
            None => Answer::Unknown(UnknownReason::ProviderFailed),
        },
        Err(failure) => failure.for_good(),
    }
}

/// The answer to a capture with this key, or what a payment says of one.
pub(super) fn captured(intent: &PaymentIntent, key: Uuid) -> Option<Finding> {
    match intent.status {
        IntentStatus::Succeeded if intent.metadata.uuid(member::CAPTURE_KEY) == Some(key) => {
            Some(Finding::Approved(approval(intent)))
        }
        IntentStatus::Processing => Some(Finding::Accepted(approval(intent))),
        IntentStatus::Canceled => Some(Finding::Declined(canceled(intent))),
        IntentStatus::Succeeded
        | IntentStatus::RequiresPaymentMethod
        | IntentStatus::RequiresConfirmation
        | IntentStatus::RequiresAction
        | IntentStatus::RequiresCapture
        | IntentStatus::Other => None,
    }
}

/// The answer to a cancellation.
pub(super) fn cancellation(told: Result<PaymentIntent, Failure>) -> Answer {
    let canceled = |intent: &PaymentIntent| intent.status == IntentStatus::Canceled;
    match told {
        Ok(intent) if canceled(&intent) => Answer::Approved(approval(&intent)),
        Ok(_) => Answer::Unknown(UnknownReason::ProviderFailed),
        Err(Failure::Refused(error)) => match &error.payment_intent {
            // It has ended by itself meanwhile.
            Some(intent) if canceled(intent) => Answer::Approved(approval(intent)),
            Some(_) | None => Answer::Declined(declines::of(&error)),
        },
        Err(failure @ (Failure::Credentials | Failure::TooMany | Failure::Unknown(_))) => {
            failure.until_sent_again()
        }
    }
}

/// The answer to a refund.
pub fn refund(answer: &Incoming) -> Answer {
    match object::<Refund>(answer) {
        Ok(refund) => refund_asked_for(&refund),
        Err(failure) => failure.until_sent_again(),
    }
}

/// What a refund says to a caller. A refund that has failed was taken up first: a probe tells the rest.
pub(super) fn refund_asked_for(refund: &Refund) -> Answer {
    match refunded(refund) {
        Some(Finding::Reversed { .. }) => Answer::Accepted(approval_of_refund(refund)),
        Some(finding) => finding.into(),
        None => Answer::Unknown(UnknownReason::ProviderFailed),
    }
}

/// What is known of a refund. One that fails may have been successful before, so its failure is told as money that came
/// back.
pub(super) fn refunded(refund: &Refund) -> Option<Finding> {
    let approval = approval_of_refund(refund);
    match refund.status? {
        RefundStatus::Succeeded => Some(Finding::Approved(approval)),
        RefundStatus::Pending | RefundStatus::RequiresAction => Some(Finding::Accepted(approval)),
        RefundStatus::Failed | RefundStatus::Canceled => {
            let amount = currency::received(refund.amount, &refund.currency);
            let reverted = Reversal::new(ReversalKind::RefundReverted, refund.id.clone(), amount);
            let reverted = Reversal { currency: Some(currency::parse(&refund.currency)?), ..reverted };
            Some(Finding::Reversed {
                taken: Box::new(Finding::Approved(approval)),
                reversals: vec![reverted],
            })
        }
        RefundStatus::Other => None,
    }
}

fn approval_of_refund(refund: &Refund) -> Approval {
    Approval { transaction_id: Some(refund.id.clone()), ..Approval::default() }
}

/// What a payment says of its authorization; `None` while that is open. `capture` is who was to take the money, where
/// that is known. Where the provider takes it by itself, nothing is decided before it has.
pub(super) fn finding(intent: &PaymentIntent, capture: Option<CaptureMode>) -> Option<Finding> {
    let is_captured_by_hand = match capture {
        Some(CaptureMode::Manual) => true,
        Some(CaptureMode::Automatic) => false,
        None => intent.capture_method == Some(CaptureMethod::Manual),
    };
    match intent.status {
        IntentStatus::Succeeded => Some(Finding::Approved(approval(intent))),
        IntentStatus::RequiresCapture => is_captured_by_hand.then(|| Finding::Approved(approval(intent))),
        IntentStatus::Canceled => Some(Finding::Declined(canceled(intent))),
        IntentStatus::RequiresPaymentMethod => {
            let refusal = declines::of(intent.last_payment_error.as_deref()?);
            Some(Finding::Declined(Decline { transaction_id: Some(intent.id.clone()), ..refusal }))
        }
        IntentStatus::RequiresAction => {
            instructions(intent).map(|pending| Finding::Pending(Box::new(pending)))
        }
        IntentStatus::RequiresConfirmation | IntentStatus::Processing | IntentStatus::Other => None,
    }
}

/// What the check of a card says. Nobody can be asked to authenticate themselves.
pub(super) fn checked(setup: &SetupIntent) -> Option<Finding> {
    let id = || Some(setup.id.clone());
    let refused = |decline: Decline| Some(Finding::Declined(Decline { transaction_id: id(), ..decline }));
    match setup.status {
        IntentStatus::Succeeded => {
            Some(Finding::Approved(Approval { transaction_id: id(), ..Approval::default() }))
        }
        IntentStatus::RequiresAction => {
            refused(declines::own(DeclinedCode::SecurityViolation, "authentication_required", Retry::Yes))
        }
        IntentStatus::RequiresPaymentMethod => refused(declines::of(setup.last_setup_error.as_deref()?)),
        IntentStatus::Canceled => refused(declines::own(DeclinedCode::Generic, "canceled", Retry::Yes)),
        IntentStatus::RequiresConfirmation
        | IntentStatus::Processing
        | IntentStatus::RequiresCapture
        | IntentStatus::Other => None,
    }
}

/// Whether the issuer is liable; `None` when the answer does not tell.
pub(super) fn shifts_liability(intent: &PaymentIntent) -> Option<bool> {
    let charge = intent.charge()?;
    let card = charge.payment_method_details.as_ref()?.card.as_ref()?;
    let result = card.three_d_secure.as_ref().and_then(|three_d_secure| three_d_secure.result.as_deref());
    Some(result.is_some_and(|result| SHIFTED.contains(&result)))
}

/// The answer to a probe by the provider's id of a payment.
pub fn payment(answer: &Incoming, capture: Option<CaptureMode>) -> Probe {
    probed(object::<PaymentIntent>(answer).ok().and_then(|intent| finding(&intent, capture)))
}

/// The answer to a probe by the provider's id of a refund.
pub fn refund_found(answer: &Incoming) -> Probe {
    probed(object::<Refund>(answer).ok().as_ref().and_then(refunded))
}

/// The answer to a probe by the provider's id of the check of a card.
pub fn check_found(answer: &Incoming) -> Probe {
    probed(object::<SetupIntent>(answer).ok().as_ref().and_then(checked))
}

pub(super) fn probed(finding: Option<Finding>) -> Probe {
    finding.map_or(Probe::Unknown, Probe::Found)
}

/// The provider's identifiers of a payment.
pub(super) fn approval(intent: &PaymentIntent) -> Approval {
    let card = intent.card();
    let outcome = intent.charge().and_then(|charge| charge.outcome.as_ref());
    Approval {
        transaction_id: Some(intent.id.clone()),
        authorization_code: card.and_then(|card| card.authorization_code.clone()),
        response_code: outcome.and_then(|outcome| outcome.network_status.clone()),
        network_transaction_id: card.and_then(|card| card.network_transaction_id.clone()),
        ..Approval::default()
    }
}

/// A payment that has ended without money: it was canceled, by us or by the provider.
pub(super) fn canceled(intent: &PaymentIntent) -> Decline {
    let decline = match intent.metadata.requires_shift() {
        true => declines::no_shift(),
        false => declines::own(DeclinedCode::Generic, "canceled", Retry::No),
    };
    Decline { transaction_id: Some(intent.id.clone()), ..decline }
}

fn instructions(intent: &PaymentIntent) -> Option<Pending> {
    let action = intent.next_action.as_ref()?;
    let reference = approval(intent);
    if let Some(redirect) = &action.redirect_to_url {
        let instructions = Instructions::HostedChallenge {
            url: redirect.url.clone()?,
            md: String::new(),
            pa_req: String::new(),
            term_url: redirect.return_url.clone().unwrap_or_default(),
        };
        return Some(Pending { reference, instructions, expires_at: None });
    }
    let boleto = action.boleto_display_details.as_ref()?;
    let expires_at = boleto.expires_at.and_then(Timestamp::from_seconds);
    Some(Pending { reference, instructions: slip(boleto, expires_at)?, expires_at })
}

/// The line of a boleto. Test environments give one whose check digits are wrong: then the provider's page has to do.
fn slip(boleto: &BoletoDetails, expires_at: Option<Timestamp>) -> Option<Instructions> {
    let barcode = boleto.number.as_deref().and_then(|line| Barcode::parse_line(line).ok());
    if let (Some(barcode), Some(expires_at)) = (barcode, expires_at) {
        // It expires at the last moment of a day, or at the first one after it.
        let last_day = day_of(Timestamp::from_millis(expires_at.as_millis() - 1));
        return Some(Instructions::Boleto(Box::new(IssuedBoleto {
            barcode,
            bank_name: format!("Banco {}", barcode.bank()),
            beneficiary_code: String::new(),
            our_number: String::new(),
            due: barcode.facts(last_day).due.unwrap_or(last_day),
            // Nobody can pay it late.
            late_charges: LateCharges::default(),
            pix_code: None,
        })));
    }
    boleto.hosted_voucher_url.clone().map(|url| Instructions::Redirect { url })
}
