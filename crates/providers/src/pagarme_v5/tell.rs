//! From what the provider answers to what became of a call. Pure.

use http::StatusCode;
use regente_domain::boleto::{Barcode, Fine, FineRate, Interest, InterestRate, IssuedBoleto, LateCharges};
use regente_domain::decline::{Decline, DeclinedCode, Reason};
use regente_domain::money::Amount;
use regente_domain::percentage::Percentage;
use regente_domain::text::chars_max;
use regente_domain::time::{Timestamp, parse_date};
use serde_json::Value;

use crate::http_client::Incoming;
use crate::outcome::{
    Answer, Approval, Finding, Instructions, Payment, Pending, Probe, Reversal, ReversalKind, UnknownReason,
};

use super::declines;
use super::wire::told::{
    Charge, ChargeStatus, LateCharge, Order, Page, PaymentMethod, Refusal, Transaction, TransactionStatus,
};

mod follow_up;

pub use follow_up::{Extent, Void, capture, void, voided};
pub(super) use follow_up::{captured_before, done, unmarked, void_accepted};

/// The provider has not said what it did.
pub(super) const UNCERTAIN: Answer = Answer::Unknown(UnknownReason::ProviderFailed);

/// The answer to an order.
pub fn ordered(answered: &Incoming) -> Answer {
    if !answered.status.is_success() {
        // Of too many requests this one was not looked at.
        let is_refused = is_refusal(answered.status) || answered.status == StatusCode::TOO_MANY_REQUESTS;
        return if is_refused { Answer::Declined(refused(answered)) } else { UNCERTAIN };
    }
    let order: Option<Order> = answered.json();
    let charges = order.and_then(|order| order.charges).unwrap_or_default();
    match charges.as_slice() {
        [charge] => finding(charge).map_or(UNCERTAIN, Answer::from),
        _ => UNCERTAIN,
    }
}

/// What a charge that was read back says of its authorization.
pub fn read(answered: &Incoming) -> Probe {
    charge(answered).as_ref().and_then(finding).map_or(Probe::Unknown, Probe::Found)
}

/// What a search of orders by their code says of an authorization. `absent` is what it means that there is none.
pub fn searched(answered: &Incoming, code: &str, absent: Probe) -> Probe {
    match found(answered, code) {
        None => Probe::Unknown,
        Some(charges) => match charges.as_slice() {
            [] => absent,
            [charge] => finding(charge).map_or(Probe::Unknown, Probe::Found),
            // More than one order for one authorization: a person has to look.
            _ => Probe::Unknown,
        },
    }
}

/// The charges of the orders with exactly this code; `None` when the answer is none, or when such an order does not show
/// its charges.
pub(super) fn found(answered: &Incoming, code: &str) -> Option<Vec<Charge>> {
    let page: Page<Order> = answered.status.is_success().then(|| answered.json()).flatten()?;
    // The search may ignore case, which tells codes apart.
    let ours = page.data.into_iter().filter(|order| order.code.as_deref() == Some(code));
    let charges: Option<Vec<Vec<Charge>>> =
        ours.map(|order| order.charges.filter(|charges| !charges.is_empty())).collect();
    Some(charges?.into_iter().flatten().collect())
}

/// The charge in an answer.
pub(super) fn charge(answered: &Incoming) -> Option<Charge> {
    answered.status.is_success().then(|| answered.json()).flatten()
}

/// What a charge says of its authorization; `None` while that is not decided.
pub(super) fn finding(charge: &Charge) -> Option<Finding> {
    let status = charge.last_transaction.as_ref().and_then(|transaction| transaction.status);
    match charge.status {
        ChargeStatus::Paid | ChargeStatus::Overpaid | ChargeStatus::Underpaid => taken(charge),
        ChargeStatus::Pending => match status {
            Some(
                TransactionStatus::AuthorizedPendingCapture
                | TransactionStatus::WaitingCapture
                | TransactionStatus::PartialVoid,
            ) => Some(Finding::Approved(approval(charge))),
            Some(
                TransactionStatus::WaitingPayment | TransactionStatus::Generated | TransactionStatus::Viewed,
            ) => pending(charge).map(|pending| Finding::Pending(Box::new(pending))),
            Some(
                TransactionStatus::Captured
                | TransactionStatus::PartialCapture
                | TransactionStatus::NotAuthorized
                | TransactionStatus::Failed
                | TransactionStatus::WithError
                | TransactionStatus::Voided
                | TransactionStatus::Refunded
                | TransactionStatus::PartialRefunded
                | TransactionStatus::PendingRefund
                | TransactionStatus::Paid
                | TransactionStatus::Other,
            )
            | None => None,
        },
        ChargeStatus::Failed | ChargeStatus::Canceled => Some(Finding::Declined(declines::of_charge(charge))),
        ChargeStatus::Chargedback => {
            Some(Finding::Reversed { taken: Box::new(taken(charge)?), reversals: vec![chargeback(charge)] })
        }
        ChargeStatus::Processing | ChargeStatus::Other => None,
    }
}

/// The reversal of a charge whose money the payer's bank took back.
pub(super) fn chargeback(charge: &Charge) -> Reversal {
    Reversal { kind: ReversalKind::ChargedBack, id: format!("chargeback {}", charge.id), amount: None }
}

fn taken(charge: &Charge) -> Option<Finding> {
    Some(match charge.payment_method {
        PaymentMethod::CreditCard | PaymentMethod::DebitCard | PaymentMethod::Voucher => {
            Finding::Approved(approval(charge))
        }
        PaymentMethod::Pix | PaymentMethod::Boleto => {
            let amount = charge.paid_amount.or(charge.amount)?;
            Finding::Paid(vec![Payment { reference: approval(charge), amount, taken_back: None }])
        }
        PaymentMethod::Other => return None,
    })
}

/// The provider's identifiers of a charge.
pub(super) fn approval(charge: &Charge) -> Approval {
    let codes = charge.last_transaction.as_ref().map(codes).unwrap_or_default();
    Approval { transaction_id: Some(charge.id.clone()), ..codes }
}

fn codes(transaction: &Transaction) -> Approval {
    Approval {
        transaction_id: transaction.id.clone(),
        authorization_code: transaction.acquirer_auth_code.clone(),
        authorization_nsu: transaction.acquirer_nsu.clone(),
        network_authorization_code: transaction.end_to_end_id.clone(),
        network_response_code: transaction.acquirer_return_code.clone(),
        response_code: transaction.gateway_response.as_ref().and_then(|response| response.code.clone()),
        network_transaction_id: transaction.brand_id.clone(),
        paid_as: None,
    }
}

/// What the payer has to do; `None` when it cannot be read.
fn pending(charge: &Charge) -> Option<Pending> {
    let transaction = charge.last_transaction.as_ref()?;
    let (instructions, expires_at) = match charge.payment_method {
        PaymentMethod::Pix => {
            let data = transaction.qr_code.clone().filter(|code| !code.is_empty())?;
            (Instructions::QrCode { data }, transaction.expires_at.as_deref().and_then(time))
        }
        PaymentMethod::Boleto => (Instructions::Boleto(Box::new(boleto(transaction)?)), None),
        PaymentMethod::CreditCard
        | PaymentMethod::DebitCard
        | PaymentMethod::Voucher
        | PaymentMethod::Other => return None,
    };
    Some(Pending { reference: approval(charge), instructions, expires_at })
}

fn boleto(transaction: &Transaction) -> Option<IssuedBoleto> {
    let barcode = Barcode::parse_line(transaction.line.as_deref()?).ok()?;
    let bank = transaction.bank.clone().filter(|bank| !bank.is_empty());
    Some(IssuedBoleto {
        barcode,
        bank_name: bank.unwrap_or_else(|| barcode.bank().to_string()),
        // It is not told.
        beneficiary_code: String::new(),
        our_number: transaction.nosso_numero.clone().unwrap_or_default(),
        due: parse_date(transaction.due_at.as_deref()?.get(..10)?)?,
        late_charges: LateCharges {
            interest: transaction.interest.as_ref().and_then(interest),
            fine: transaction.fine.as_ref().and_then(fine),
        },
        pix_code: transaction.qr_code.clone().filter(|code| !code.is_empty()),
    })
}

fn interest(told: &LateCharge) -> Option<Interest> {
    let rate = match told.kind.as_str() {
        "flat" => InterestRate::AmountPerDay(told.amount.as_i64().and_then(Amount::new)?),
        "percentage" => InterestRate::PercentagePerMonth(percentage(told)?),
        _ => return None,
    };
    Some(Interest { days: told.days, rate })
}

fn fine(told: &LateCharge) -> Option<Fine> {
    let rate = match told.kind.as_str() {
        "flat" => FineRate::Amount(told.amount.as_i64().and_then(Amount::new)?),
        "percentage" => FineRate::Percentage(percentage(told)?),
        _ => return None,
    };
    Some(Fine { days: told.days, rate })
}

fn percentage(told: &LateCharge) -> Option<Percentage> {
    let text = told.amount.to_string();
    Percentage::parse(text.strip_suffix(".0").unwrap_or(&text))
}

/// A time, in UTC where it names no offset.
pub(super) fn time(text: &str) -> Option<Timestamp> {
    Timestamp::parse(text).or_else(|| Timestamp::parse(&format!("{text}Z")))
}

/// Whether the provider says for certain that it does not do what it was asked.
pub(super) fn is_refusal(status: StatusCode) -> bool {
    status.is_client_error()
        && !matches!(
            status,
            StatusCode::REQUEST_TIMEOUT
                | StatusCode::CONFLICT
                | StatusCode::LOCKED
                | StatusCode::TOO_EARLY
                | StatusCode::TOO_MANY_REQUESTS
        )
}

/// A request that is not taken. Of the answer's texts only the name of the wrong member is kept: they may repeat what was
/// sent, with the card.
pub(super) fn refused(answered: &Incoming) -> Decline {
    let wrong = answered.json().and_then(|refusal: Refusal| wrong_member(&refusal.errors));
    let decline = match answered.status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Decline::from_reason(Reason::InvalidCredentials),
        StatusCode::TOO_MANY_REQUESTS => Decline::from_reason(Reason::RequestNotSent),
        _ => match wrong.as_deref().map_or(Wrong::Something, Wrong::of) {
            Wrong::Number => Decline::of(DeclinedCode::InvalidNumber),
            Wrong::Cvv => Decline::of(DeclinedCode::InvalidCvv),
            Wrong::Expiry => Decline::of(DeclinedCode::ExpiredCard),
            Wrong::Installments => Decline::of(DeclinedCode::InvalidInstallment),
            Wrong::Something => Decline::from_reason(Reason::BadRequest),
        },
    };
    let status = answered.status.as_u16();
    let reason = wrong.map_or_else(|| format!("http {status}"), |wrong| format!("http {status} {wrong}"));
    let message = decline.message.clone();
    decline.with_network(reason, message)
}

/// What a request that is not taken has wrong.
enum Wrong {
    Number,
    Cvv,
    Expiry,
    Installments,
    Something,
}

impl Wrong {
    fn of(member: &str) -> Self {
        match member.rsplit('.').next() {
            Some("number") if member.contains("card") => Self::Number,
            Some("cvv") => Self::Cvv,
            Some("exp_month" | "exp_year") => Self::Expiry,
            Some("installments") => Self::Installments,
            Some(_) | None => Self::Something,
        }
    }
}

/// The first member that is wrong, if its name can be one.
fn wrong_member(errors: &Value) -> Option<String> {
    let (name, _) = errors.as_object()?.iter().next()?;
    let is_name = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '.' | '_' | '[' | ']' | '-');
    let is_number = |part: &str| part.len() > 4 && part.bytes().all(|byte| byte.is_ascii_digit());
    let fits = name.len() <= chars_max::LINE
        && name.chars().all(is_name)
        && !name.split(|sign: char| !sign.is_ascii_digit()).any(is_number);
    (fits && !name.is_empty()).then(|| name.to_ascii_lowercase())
}
