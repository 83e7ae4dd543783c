//! The card rules of the simulator: the security code decides first, then the last digit of the number
//! (`docs/interface/sandbox.md#cards`). Captures and voids are refused by their amount only
//! (`docs/interface/sandbox.md#amounts`). These functions are pure; the transaction log checks whether the money is
//! there.

use regente_domain::card::{CardNumber, Cvv, Expiry};
use regente_domain::decline::{Decline, DeclinedCode, Reason};
use regente_domain::money::Amount;
use regente_domain::payment_type::PaymentType;

use crate::outcome::{Approval, Pending};
use crate::request::{Authorization, Call, CardDetails, FollowUp, Instrument, Operation};

use super::authentication::is_test_number;
use super::draws::{Draws, MILLION};
use super::instructions;

/// Share of approvals for last digit 8.
const DIGIT_8_APPROVED_PPM: u32 = MILLION / 2;

/// Captures and voids of this amount are refused (`docs/interface/sandbox.md#amounts`).
pub const REFUSED_AMOUNT_MINOR_UNITS: i64 = 991;

/// Payments in the name of a vendor of this category are refused (`docs/interface/sandbox.md#vendors`).
const REFUSED_CATEGORY: &str = "0000";

/// Whether a wrong security code refuses a charge (`docs/interface/sandbox.md#cards`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CvvRule {
    /// It does, whenever a security code is sent.
    Applied,
    /// It does not: only the number decides.
    Ignored,
}

/// A card that is approved.
pub(crate) fn test_card() -> Option<CardDetails> {
    Some(CardDetails {
        number: CardNumber::parse("4916745120294124").ok()?,
        holder_name: "TEST".to_owned(),
        expiry: Expiry::parse("12/2049")?,
        cvv: Cvv::parse("560"),
    })
}

/// The simulator's decision.
#[derive(Debug)]
pub(super) enum Verdict {
    /// Approve the operation.
    Approve(Approval),
    /// Decline the operation.
    Decline(Decline),
    /// Wait for the payer.
    Wait(Box<Pending>),
    /// Accept the operation; its result comes later.
    Accept(Approval),
    /// Do nothing and never answer.
    Silence,
}

/// Decides a call. `page` is the address for a payer who goes to a page.
pub(super) fn judge(
    call: &Call,
    page: impl FnOnce() -> String,
    cvv_on_charge: CvvRule,
    draws: &Draws,
) -> Verdict {
    match &call.operation {
        Operation::VerifyCard(verification) => match cvv(&verification.card) {
            CvvCheck::Validated => Verdict::Approve(draws.approval()),
            CvvCheck::NotValidated | CvvCheck::NoCvv => Verdict::Decline(invalid_cvv()),
        },
        Operation::Authorize(Authorization { vendor: Some(vendor), .. })
            if *vendor.data.mcc == *REFUSED_CATEGORY =>
        {
            Verdict::Decline(Decline::of(DeclinedCode::InvalidMerchant))
        }
        // Vouchers follow the same rules as credit and debit cards.
        Operation::Authorize(authorization) => match &authorization.instrument {
            Instrument::Card(card) => {
                named_by_network(authorization, by_card(authorization, card, cvv_on_charge, draws), draws)
            }
            Instrument::Payer(_) => instructions::issue(authorization, call.at, page, draws),
            // No number of a wallet has a meaning (`docs/interface/sandbox.md#cards`).
            Instrument::Wallet(_) => Verdict::Approve(draws.approval()),
        },
        Operation::Capture(follow_up) => by_amount(follow_up.amount, draws),
        Operation::Void(follow_up) => void(follow_up, draws),
    }
}

/// Whether a refund is accepted first and carried out later (`docs/interface/sandbox.md#payers`).
const fn is_refunded_later(payment_type: PaymentType) -> bool {
    match payment_type {
        PaymentType::Pix | PaymentType::Nupay => true,
        PaymentType::Credit
        | PaymentType::Debit
        | PaymentType::Voucher
        | PaymentType::Boleto
        | PaymentType::Drip
        | PaymentType::Picpay
        | PaymentType::ApplePay
        | PaymentType::ClickToPay => false,
    }
}

enum CvvCheck {
    Validated,
    NotValidated,
    NoCvv,
}

fn cvv(card: &CardDetails) -> CvvCheck {
    match &card.cvv {
        None => CvvCheck::NoCvv,
        Some(cvv) if cvv.expose().ends_with('0') => CvvCheck::Validated,
        Some(_) => CvvCheck::NotValidated,
    }
}

fn by_card(
    authorization: &Authorization,
    card: &CardDetails,
    cvv_on_charge: CvvRule,
    draws: &Draws,
) -> Verdict {
    match (cvv(card), cvv_on_charge) {
        (CvvCheck::NotValidated, CvvRule::Applied) => Verdict::Decline(invalid_cvv()),
        // The test numbers of 3-D Secure have a meaning of their own where the cardholder is authenticated.
        (CvvCheck::NotValidated, CvvRule::Ignored) | (CvvCheck::Validated | CvvCheck::NoCvv, _)
            if authorization.proof.is_some() && is_test_number(&card.number) =>
        {
            Verdict::Approve(draws.approval())
        }
        (CvvCheck::NotValidated, CvvRule::Ignored) | (CvvCheck::Validated | CvvCheck::NoCvv, _) => {
            by_last_digit(card, draws)
        }
    }
}

/// Adds the card network's id to the approval of a payment that others follow, or that follows another one: a payment
/// without the cardholder has the id of the one that it refers to (`docs/interface/sandbox.md#recurrence`).
fn named_by_network(authorization: &Authorization, verdict: Verdict, draws: &Draws) -> Verdict {
    match verdict {
        Verdict::Approve(approval) if authorization.method.recurrence().is_some() => {
            let referred_to = authorization.network_transaction_id.clone();
            let id = referred_to.unwrap_or_else(|| draws.network_transaction_id());
            Verdict::Approve(Approval { network_transaction_id: Some(id), ..approval })
        }
        Verdict::Approve(_)
        | Verdict::Decline(_)
        | Verdict::Wait(_)
        | Verdict::Accept(_)
        | Verdict::Silence => verdict,
    }
}

fn by_last_digit(card: &CardDetails, draws: &Draws) -> Verdict {
    let refuse = |decline, reason| Verdict::Decline(network_says(decline, reason));
    match card.number.last_digit() {
        2 => refuse(Decline::of(DeclinedCode::Generic), "sandbox not authorized"),
        3 => refuse(Decline::of(DeclinedCode::ExpiredCard), "sandbox expired card"),
        5 => refuse(Decline::from_reason(Reason::BlockedCard), "sandbox blocked card"),
        6 => Verdict::Silence,
        7 => refuse(Decline::from_reason(Reason::CanceledCard), "sandbox canceled card"),
        8 if !draws.happens("digit 8", DIGIT_8_APPROVED_PPM) => Verdict::Silence,
        _ => Verdict::Approve(draws.approval()),
    }
}

fn by_amount(amount: Amount, draws: &Draws) -> Verdict {
    match refused_amount(amount) {
        Some(decline) => Verdict::Decline(decline),
        None => Verdict::Approve(draws.approval()),
    }
}

fn void(follow_up: &FollowUp, draws: &Draws) -> Verdict {
    match refused_amount(follow_up.amount) {
        Some(decline) => Verdict::Decline(decline),
        None if is_refunded_later(follow_up.payment_type) => Verdict::Accept(draws.approval()),
        None => Verdict::Approve(draws.approval()),
    }
}

fn refused_amount(amount: Amount) -> Option<Decline> {
    (amount.minor_units() == REFUSED_AMOUNT_MINOR_UNITS)
        .then(|| network_says(Decline::of(DeclinedCode::InvalidAmount), "sandbox refused amount"))
}

/// A wrong security code is final here, unlike at other providers (`docs/interface/sandbox.md#cards`).
fn invalid_cvv() -> Decline {
    let decline = network_says(Decline::of(DeclinedCode::InvalidCvv), "sandbox invalid cvv");
    Decline { retryable: false, ..decline }
}

/// Adds a network reason of the simulator's own; the network message repeats that of the decline.
pub(super) fn network_says(decline: Decline, reason: impl Into<String>) -> Decline {
    Decline {
        network_denied_reason: Some(reason.into()),
        network_denied_message: Some(decline.message.clone()),
        ..decline
    }
}
