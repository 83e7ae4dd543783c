//! From what the provider answers to what became of a call. Pure.

use http::StatusCode;
use regente_domain::boleto::{Barcode, Fine, FineRate, Interest, InterestRate, IssuedBoleto, LateCharges};
use regente_domain::capture_mode::CaptureMode;
use regente_domain::decline::{Decline, DeclinedCode, Reason};
use regente_domain::money::Amount;
use regente_domain::percentage::Percentage;
use regente_domain::text::chars_max;
use regente_domain::time::{Timestamp, parse_date};
use serde_json::Value;

use crate::http_client::Incoming;
use crate::outcome::{
    Answer, Approval, Finding, Instructions, PayerPayment, Pending, Probe, Reversal, ReversalKind,
    UnknownReason,
};

use super::wire::told::{
    Charge, ChargeStatus, LateCharge, Order, Page, PaymentMethod, Refusal, Transaction, TransactionStatus,
};
use super::{ORDERS_MAX, declines};

mod follow_up;

pub(super) use follow_up::done;
pub use follow_up::{Extent, Void, capture, captured_before, unmarked, void, void_accepted, voided};

/// The provider has not said what it did.
pub(super) const UNCERTAIN: Answer = Answer::Unknown(UnknownReason::ProviderFailed);
const UNREADABLE: Answer = Answer::Unknown(UnknownReason::Unreadable);

/// The answer to an order. The members of a request are checked before anything is made of it; what the provider
/// cannot do afterwards (412) may have begun.
pub fn ordered(answered: &Incoming, capture: CaptureMode) -> Answer {
    if !answered.status.is_success() {
        let may_have_begun = answered.status == StatusCode::PRECONDITION_FAILED;
        let refusal = refusal(answered).filter(|_| !may_have_begun);
        return refusal.map_or(UNCERTAIN, Answer::Declined);
    }
    let Some(order) = answered.json::<Order>() else { return UNREADABLE };
    match order.charges.unwrap_or_default().as_slice() {
        [charge] => finding(charge, Some(capture)).map_or(UNCERTAIN, Answer::from),
        _ => UNCERTAIN,
    }
}

/// What a charge that was read back says of its authorization. `capture` is who was to take the money.
pub fn read(answered: &Incoming, capture: Option<CaptureMode>) -> Probe {
    let finding = charge(answered).as_ref().and_then(|charge| finding(charge, capture));
    finding.map_or(Probe::Unknown, Probe::Found)
}

/// What a search of orders by their code says of an authorization. `absent` is what it means that there is none.
pub fn searched(answered: &Incoming, code: &str, capture: Option<CaptureMode>, absent: Probe) -> Probe {
    match found(answered, code) {
        None => Probe::Unknown,
        Some(charges) => match charges.as_slice() {
            [] => absent,
            [charge] => finding(charge, capture).map_or(Probe::Unknown, Probe::Found),
            // More than one order for one authorization: a person has to look.
            _ => Probe::Unknown,
        },
    }
}

/// The charges of the orders with exactly this code; `None` when the answer is none, when such an order does not show
/// its charges, and when there may be more orders behind those of the page.
pub(super) fn found(answered: &Incoming, code: &str) -> Option<Vec<Charge>> {
    let page: Page<Order> = answered.status.is_success().then(|| answered.declared_json()).flatten()?;
    let is_whole = page.data.len() < ORDERS_MAX;
    // The search may ignore case, which tells codes apart.
    let ours = page.data.into_iter().filter(|order| order.code.as_deref() == Some(code));
    let charges: Option<Vec<Vec<Charge>>> =
        ours.map(|order| order.charges.filter(|charges| !charges.is_empty())).collect();
    let charges: Vec<Charge> = charges?.into_iter().flatten().collect();
    (is_whole || !charges.is_empty()).then_some(charges)
}

/// What an answer without a charge tells.
fn without_charge(answered: &Incoming) -> Answer {
    if answered.status.is_success() { UNREADABLE } else { UNCERTAIN }
}

/// The charge in an answer.
pub(super) fn charge(answered: &Incoming) -> Option<Charge> {
    answered.status.is_success().then(|| answered.json()).flatten()
}

/// What a charge says of its authorization; `None` while that is not decided. `capture` is who was to take the money,
/// where that is known.
pub(super) fn finding(charge: &Charge, capture: Option<CaptureMode>) -> Option<Finding> {
    let status = charge.last_transaction.as_ref().and_then(|transaction| transaction.status);
    match charge.status {
        ChargeStatus::Paid | ChargeStatus::Overpaid | ChargeStatus::Underpaid => taken(charge),
        ChargeStatus::Pending => match status {
            Some(
                TransactionStatus::AuthorizedPendingCapture
                | TransactionStatus::WaitingCapture
                | TransactionStatus::PartialVoid,
            ) => is_reserved(charge, capture).then(|| Finding::Approved(approval(charge))),
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
        ChargeStatus::Failed | ChargeStatus::Canceled => {
            declines::is_over(charge).then(|| Finding::Declined(declines::of_charge(charge)))
        }
        ChargeStatus::Chargedback => {
            Some(Finding::Reversed { taken: Box::new(taken(charge)?), reversals: vec![chargeback(charge)] })
        }
        ChargeStatus::Processing | ChargeStatus::Other => None,
    }
}

/// Whether an authorization that is not captured is what was asked for. Where the provider captures by itself it is not
/// decided yet: the analysis of risk and the capture are still to come.
fn is_reserved(charge: &Charge, capture: Option<CaptureMode>) -> bool {
    let transaction = charge.last_transaction.as_ref();
    let operation = transaction.and_then(|transaction| transaction.operation_type.as_deref());
    match capture {
        Some(CaptureMode::Manual) => true,
        Some(CaptureMode::Automatic) => false,
        None => matches!(operation, Some("auth_only" | "pre_auth")),
    }
}

/// The reversal of a charge whose money the payer's bank took back.
pub(super) fn chargeback(charge: &Charge) -> Reversal {
    in_case(charge, ReversalKind::ChargedBack)
}

/// That the merchant has the money, also after it was taken back: the provider shows no other word for it.
pub(super) fn come_back(charge: &Charge) -> Reversal {
    in_case(charge, ReversalKind::ChargeBackReversed)
}

/// The provider names no case; a charge has one.
fn in_case(charge: &Charge, kind: ReversalKind) -> Reversal {
    let reversal = Reversal::new(kind, format!("chargeback {}", charge.id), None);
    Reversal { currency: charge.currency(), ..reversal }
}

fn taken(charge: &Charge) -> Option<Finding> {
    Some(match charge.payment_method {
        PaymentMethod::CreditCard | PaymentMethod::DebitCard | PaymentMethod::Voucher => {
            Finding::Approved(approval(charge))
        }
        PaymentMethod::Pix | PaymentMethod::Boleto => {
            // Of less than was asked for only the provider knows how much it is.
            let is_told = charge.paid_amount.is_some() || !matches!(charge.status, ChargeStatus::Underpaid);
            let amount = charge.paid_amount.or(charge.amount).filter(|_| is_told)?;
            Finding::Paid(vec![PayerPayment { reference: approval(charge), amount, taken_back: None }])
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

/// A request that the provider does not carry out, in its own words; `None` for a status that it does not document, and
/// for the answer of somebody in between, such as a proxy or a firewall. Of the texts only the name of the wrong member is
/// kept: they may repeat what was sent, with the card.
pub(super) fn refusal(answered: &Incoming) -> Option<Decline> {
    let told: Refusal = answered.declared_json().filter(|told: &Refusal| !told.message.trim().is_empty())?;
    let wrong = wrong_member(&told.errors);
    let decline = match answered.status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Decline::from_reason(Reason::InvalidCredentials),
        // It was not looked at.
        StatusCode::TOO_MANY_REQUESTS => Decline::from_reason(Reason::RequestNotSent),
        StatusCode::BAD_REQUEST
        | StatusCode::NOT_FOUND
        | StatusCode::PRECONDITION_FAILED
        | StatusCode::UNPROCESSABLE_ENTITY => match wrong.as_deref().map_or(Wrong::Something, Wrong::of) {
            Wrong::Number => Decline::of(DeclinedCode::InvalidNumber),
            Wrong::Cvv => Decline::of(DeclinedCode::InvalidCvv),
            Wrong::Expiry => Decline::of(DeclinedCode::ExpiredCard),
            Wrong::Installments => Decline::of(DeclinedCode::InvalidInstallment),
            Wrong::Something => Decline::from_reason(Reason::BadRequest),
        },
        _ => return None,
    };
    let status = answered.status.as_u16();
    let reason = wrong.map_or_else(|| format!("http {status}"), |wrong| format!("http {status} {wrong}"));
    let message = decline.message.clone();
    Some(decline.with_network(reason, message))
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
