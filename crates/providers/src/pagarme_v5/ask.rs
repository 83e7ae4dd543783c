//! From a call to what the provider is sent. Pure.

use std::collections::BTreeMap;

use regente_domain::boleto::{Fine, FineRate, Interest, InterestRate, LateCharges};
use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::authentication::LiabilityShift;
use regente_domain::charge::{Boleto, Credit, PaymentMethod, Pix, Recurrence};
use regente_domain::currency::Currency;
use regente_domain::decline::{Decline, DeclinedCode, Reason};
use serde_json::Number;

use crate::authentication::Proof;
use crate::request::{Authorization, Call, CardDetails, FollowUp, Instrument, PayerDetails};

use self::split::{capture_of, of_authorization, return_of};
use super::reference::Reference;
use super::wire::sent;

mod customer;
mod split;

/// Most characters of the text on a statement. Merchants of the provider's own acquirer have 13, the others 22: what is
/// too long may be refused, and what is shorter is never.
const STATEMENT_CHARS_MAX: usize = 13;
/// Most characters of an item's description.
const DESCRIPTION_CHARS_MAX: usize = 256;
/// The description of a charge that has none.
const DESCRIPTION: &str = "Pagamento";

/// The order for an authorization.
///
/// # Errors
/// Why it is refused without being sent.
pub fn order<'a>(call: &'a Call, authorization: &'a Authorization) -> Result<sent::Order<'a>, Decline> {
    if authorization.currency != Currency::BRL {
        return Err(not_taken("currency"));
    }
    let (card, buyer) = match &authorization.instrument {
        Instrument::Card(card) => (Some(card), authorization.buyer.as_deref()),
        Instrument::Payer(payer) => (None, Some(&**payer)),
        Instrument::Wallet(_) => return Err(not_taken("wallet")),
    };
    let amount = authorization.amount.minor_units();
    let description = authorization.description.as_deref().filter(|text| !text.trim().is_empty());
    Ok(sent::Order {
        code: Reference { object_id: call.object_id, key: call.key }.code(),
        closed: true,
        items: [sent::Item {
            amount,
            code: call.object_id.to_string(),
            description: first(description.unwrap_or(DESCRIPTION), DESCRIPTION_CHARS_MAX),
            quantity: 1,
        }],
        customer: customer::of(buyer, card),
        payments: [sent::PaymentBody {
            amount,
            method: method(authorization, card, buyer)?,
            split: of_authorization(call, authorization)?,
        }],
        metadata: metadata(call, authorization),
    })
}

/// What a capture is sent.
pub fn capture<'a>(call: &'a Call, follow_up: &'a FollowUp) -> Result<sent::Change<'a>, Decline> {
    let code = Some(authorized(call, follow_up).code());
    Ok(sent::Change { code, split: capture_of(call, follow_up)?, ..change(call, follow_up) })
}

/// What a cancellation or a refund is sent.
pub fn cancellation<'a>(call: &'a Call, follow_up: &'a FollowUp) -> Result<sent::Change<'a>, Decline> {
    Ok(sent::Change { split: return_of(call, follow_up)?, ..change(call, follow_up) })
}

/// The authorization that a capture or a void follows.
pub fn authorized(call: &Call, follow_up: &FollowUp) -> Reference {
    Reference { object_id: call.object_id, key: follow_up.authorization_key }
}

fn change(call: &Call, follow_up: &FollowUp) -> sent::Change<'static> {
    sent::Change {
        amount: follow_up.amount.minor_units(),
        code: None,
        operation_reference: call.key.to_string(),
        split: None,
    }
}

fn method<'a>(
    authorization: &'a Authorization,
    card: Option<&'a CardDetails>,
    buyer: Option<&'a PayerDetails>,
) -> Result<sent::Method<'a>, Decline> {
    match (&authorization.method, card) {
        (PaymentMethod::Credit(credit), Some(card)) => {
            let credit_card = Box::new(credit_card(authorization, credit, card, buyer)?);
            Ok(sent::Method::CreditCard { credit_card })
        }
        (PaymentMethod::Voucher(_), Some(card)) => {
            let statement_descriptor = statement(authorization);
            let voucher = sent::Voucher { statement_descriptor, card: sent_card(card, buyer) };
            Ok(sent::Method::Voucher { voucher: Box::new(voucher) })
        }
        (PaymentMethod::Pix(pix), None) => Ok(sent::Method::Pix { pix: sent_pix(pix) }),
        (PaymentMethod::Boleto(boleto), None) => {
            Ok(sent::Method::Boleto { boleto: Box::new(sent_boleto(boleto, buyer)) })
        }
        (
            PaymentMethod::Credit(_)
            | PaymentMethod::Debit(_)
            | PaymentMethod::Voucher(_)
            | PaymentMethod::Pix(_)
            | PaymentMethod::Nupay(_)
            | PaymentMethod::Drip(_)
            | PaymentMethod::Picpay(_)
            | PaymentMethod::ApplePay(_)
            | PaymentMethod::ClickToPay(_)
            | PaymentMethod::Boleto(_),
            _,
        ) => Err(not_taken(authorization.method.payment_type().word())),
    }
}

fn credit_card<'a>(
    authorization: &'a Authorization,
    credit: &Credit,
    card: &'a CardDetails,
    buyer: Option<&'a PayerDetails>,
) -> Result<sent::CreditCard<'a>, Decline> {
    let cycle = credit.recurrence.map(|recurrence| match recurrence {
        Recurrence::Initial => sent::RecurrenceCycle::First,
        Recurrence::Subsequent | Recurrence::Unscheduled => sent::RecurrenceCycle::Subsequent,
    });
    let origin = authorization.network_transaction_id.as_deref();
    Ok(sent::CreditCard {
        installments: credit.installments,
        operation_type: match authorization.capture {
            CaptureMode::Automatic => sent::OperationType::AuthAndCapture,
            CaptureMode::Manual => sent::OperationType::AuthOnly,
        },
        auto_recovery: false,
        statement_descriptor: statement(authorization),
        card: sent_card(card, buyer),
        recurrence_cycle: cycle,
        recurrency_cycle: cycle,
        payment_origin: origin.map(|brand_id| sent::PaymentOrigin { brand_id }),
        merchant_category_code: authorization.merchant_mcc.as_ref().and_then(|mcc| mcc.digits().parse().ok()),
        authentication: authentication(authorization)?,
    })
}

/// The result of a 3DS server, where there is one. The provider authenticates nobody while it authorizes.
fn authentication(authorization: &Authorization) -> Result<Option<sent::Authentication<'_>>, Decline> {
    let threed_secure = match authorization.proof.as_deref() {
        None => return Ok(None),
        Some(Proof::Answered(answered)) => answered.cavv.as_deref().map(|cavv| sent::ThreeDSecure {
            mpi: MPI,
            cavv,
            eci: answered.eci.as_deref(),
            transaction_id: None,
            ds_transaction_id: answered.network_transaction_id.as_deref(),
            version: answered.version.as_deref(),
        }),
        Some(Proof::Outside(mpi)) => mpi.proof().map(|cavv| sent::ThreeDSecure {
            mpi: MPI,
            cavv,
            eci: mpi.eci.as_deref(),
            transaction_id: mpi.xid.as_deref(),
            ds_transaction_id: mpi.directory_server_transaction_id.as_deref(),
            version: mpi.version.as_deref(),
        }),
        Some(Proof::ToDo { .. }) => None,
    };
    // Nothing was asked of anyone: the next provider may authenticate.
    if threed_secure.is_none() && authorization.liability_shift == LiabilityShift::Required {
        let decline = Decline::from_reason(Reason::AuthenticationUnavailable);
        return Err(Decline { retryable: true, ..decline });
    }
    let kind = "threed_secure";
    Ok(threed_secure.map(|threed_secure| sent::Authentication { kind, threed_secure }))
}

/// The word for a 3DS server that is not the provider's.
const MPI: &str = "third_party";

fn sent_card<'a>(card: &'a CardDetails, buyer: Option<&'a PayerDetails>) -> sent::Card<'a> {
    sent::Card {
        number: card.number.expose_digits(),
        holder_name: &card.holder_name,
        exp_month: card.expiry.month(),
        exp_year: card.expiry.year(),
        cvv: card.cvv.as_ref().map(|cvv| cvv.expose()),
        holder_document: buyer.and_then(customer::document).map(|document| document.number),
        billing_address: buyer.and_then(customer::address),
    }
}

fn sent_pix(pix: &Pix) -> sent::Pix<'_> {
    let texts = pix.additional_info.iter();
    sent::Pix {
        expires_in: pix.expires_in,
        additional_information: texts
            .map(|text| sent::AdditionalInformation { name: &text.name, value: &text.value })
            .collect(),
    }
}

fn sent_boleto<'a>(boleto: &'a Boleto, payer: Option<&'a PayerDetails>) -> sent::Boleto<'a> {
    let LateCharges { interest, fine } = boleto.late_charges;
    sent::Boleto {
        // The last second of the day, so that no time zone makes another day of it.
        due_at: format!("{}T23:59:59Z", boleto.due),
        instructions: boleto.instructions.as_deref(),
        interest: interest.map(sent_interest),
        fine: fine.map(sent_fine),
        billing_address: payer.and_then(customer::address),
    }
}

fn sent_interest(Interest { days, rate }: Interest) -> sent::LateCharge {
    let (kind, amount) = match rate {
        InterestRate::AmountPerDay(amount) => (sent::LateChargeKind::Flat, cents(amount.minor_units())),
        InterestRate::PercentagePerMonth(percentage) => {
            (sent::LateChargeKind::Percentage, percent(&percentage))
        }
    };
    sent::LateCharge { days: days.max(1), kind, amount }
}

fn sent_fine(Fine { days, rate }: Fine) -> sent::LateCharge {
    let (kind, amount) = match rate {
        FineRate::Amount(amount) => (sent::LateChargeKind::Flat, cents(amount.minor_units())),
        FineRate::Percentage(percentage) => (sent::LateChargeKind::Percentage, percent(&percentage)),
    };
    sent::LateCharge { days: days.max(1), kind, amount }
}

fn cents(minor_units: i64) -> Number {
    Number::from(minor_units)
}

/// A percentage is shown as a number, exactly.
fn percent(percentage: &impl ToString) -> Number {
    percentage.to_string().parse().unwrap_or_else(|_| Number::from(0))
}

/// What people find beside the order in the provider's dashboard.
fn metadata(call: &Call, authorization: &Authorization) -> BTreeMap<&'static str, String> {
    let known = [
        ("regente_object", Some(call.object_id.to_string())),
        ("regente_key", Some(call.key.to_string())),
        ("order_id", authorization.order_id.clone()),
        ("provider_reference_key", authorization.provider_reference_key.clone()),
    ];
    known.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
}

fn statement(authorization: &Authorization) -> Option<String> {
    let text = authorization.statement_descriptor.as_deref()?.trim();
    (!text.is_empty()).then(|| first(text, STATEMENT_CHARS_MAX).to_owned())
}

/// At most so many characters from the beginning.
fn first(text: &str, chars_max: usize) -> &str {
    text.char_indices().nth(chars_max).map_or(text, |(end, _)| &text[..end])
}

/// Nothing was sent; another provider may take it.
fn not_taken(what: &str) -> Decline {
    let decline = Decline::of(DeclinedCode::TransactionNotAllowed);
    let message = decline.message.clone();
    Decline { retryable: true, ..decline.with_network(format!("{what} not supported"), message) }
}
