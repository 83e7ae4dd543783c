//! How a charge is paid, as answers show it.

use regente_domain::boleto::{Fine, FineRate, Interest, InterestRate};
use regente_domain::charge::{AdditionalInfo, Charge, PaymentMethod};
use regente_domain::money::Amount;
use regente_domain::percentage::Percentage;
use regente_engine::caller::Caller;
use regente_engine::events::instructions::{BarcodeView, InstructionsView, PicpayView, QrCodeView};
use serde::Serialize;
use serde_json::{Number, Value};

use super::Private;
use super::redirects::{DripCheckoutView, DripMethodView, NupayMethodView};
use crate::api::charges::request::{DRIP_BROWSER, NUPAY_RECIPIENTS, VOUCHER_CUSTOMER};

/// How a charge is paid; [`PaymentMethod`](crate::api::charges::methods::PaymentMethod) describes it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PaymentMethodView {
    payment_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    installments: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recurrence: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    customer: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_in: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_info: Option<Vec<AdditionalInfo>>,
    #[serde(flatten)]
    code: Option<QrCodeView>,
    #[serde(flatten)]
    nupay: Option<NupayMethodView>,
    #[serde(flatten)]
    drip: Option<DripMethodView>,
    #[serde(flatten)]
    picpay: Option<PicpayView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interest: Option<LateChargeView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fine: Option<LateChargeView>,
    #[serde(flatten)]
    barcode: Option<BarcodeView>,
}

/// Interest or a fine of a boleto that is paid late.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LateChargeView {
    days: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    amount: Option<Amount>,
    #[serde(skip_serializing_if = "Option::is_none")]
    percentage: Option<Number>,
}

impl PaymentMethodView {
    /// `instructions` are the last ones that the payer was given. What the merchant has said of others in a session is
    /// hidden from the page of the buyer who pays it.
    pub(super) fn of(
        charge: &Charge,
        private: &Private,
        instructions: Option<InstructionsView>,
        checkout: Option<DripCheckoutView>,
        caller: &Caller,
    ) -> Self {
        let bare = Self {
            payment_type: charge.method.payment_type().word(),
            installments: None,
            recurrence: None,
            items: None,
            customer: None,
            expires_in: None,
            additional_info: None,
            code: None,
            nupay: None,
            drip: None,
            picpay: None,
            expires_date: None,
            instructions: None,
            interest: None,
            fine: None,
            barcode: None,
        };
        match &charge.method {
            PaymentMethod::Credit(credit) => Self {
                installments: Some(credit.installments),
                recurrence: credit.recurrence.map(|recurrence| recurrence.word()),
                ..bare
            },
            PaymentMethod::Debit(debit) => Self { installments: Some(debit.installments), ..bare },
            PaymentMethod::Voucher(voucher) => Self {
                items: voucher.items.as_deref().cloned(),
                customer: private.get(VOUCHER_CUSTOMER).cloned(),
                ..bare
            },
            PaymentMethod::ApplePay(wallet) | PaymentMethod::ClickToPay(wallet) => {
                Self { installments: Some(wallet.installments), ..bare }
            }
            PaymentMethod::Pix(pix) => Self {
                expires_in: Some(pix.expires_in),
                additional_info: (!pix.additional_info.is_empty()).then(|| pix.additional_info.clone()),
                items: pix.items.as_deref().cloned(),
                code: instructions.and_then(InstructionsView::qr_code),
                ..bare
            },
            PaymentMethod::Boleto(boleto) => Self {
                expires_date: Some(boleto.due.to_string()),
                instructions: boleto.instructions.clone(),
                interest: boleto.late_charges.interest.map(LateChargeView::of_interest),
                fine: boleto.late_charges.fine.map(LateChargeView::of_fine),
                items: boleto.items.as_deref().cloned(),
                barcode: instructions.and_then(InstructionsView::barcode),
                ..bare
            },
            PaymentMethod::Drip(drip) => {
                let payment_url = match instructions {
                    Some(InstructionsView::Drip(given)) => Some(given.payment_url),
                    Some(
                        InstructionsView::Pix(_)
                        | InstructionsView::Boleto(_)
                        | InstructionsView::Nupay(_)
                        | InstructionsView::Picpay(_),
                    )
                    | None => None,
                };
                let browser = private.get(DRIP_BROWSER).cloned();
                Self {
                    items: drip.items.as_deref().cloned(),
                    drip: Some(DripMethodView::of(drip, browser, payment_url, checkout)),
                    ..bare
                }
            }
            PaymentMethod::Picpay(_) => Self {
                picpay: match instructions {
                    Some(InstructionsView::Picpay(given)) => Some(given),
                    Some(
                        InstructionsView::Pix(_)
                        | InstructionsView::Boleto(_)
                        | InstructionsView::Nupay(_)
                        | InstructionsView::Drip(_),
                    )
                    | None => None,
                },
                ..bare
            },
            PaymentMethod::Nupay(nupay) => {
                let is_hidden = charge.session_id.is_some() && caller.is_public_key();
                let recipients = private.get(NUPAY_RECIPIENTS).filter(|_| !is_hidden).cloned();
                Self { nupay: Some(NupayMethodView::of(nupay, recipients)), ..bare }
            }
        }
    }
}

impl LateChargeView {
    fn of_interest(Interest { days, rate }: Interest) -> Self {
        match rate {
            InterestRate::AmountPerDay(amount) => Self { days, amount: Some(amount), percentage: None },
            InterestRate::PercentagePerMonth(percentage) => {
                Self { days, amount: None, percentage: number(percentage) }
            }
        }
    }

    fn of_fine(Fine { days, rate }: Fine) -> Self {
        match rate {
            FineRate::Amount(amount) => Self { days, amount: Some(amount), percentage: None },
            FineRate::Percentage(percentage) => Self { days, amount: None, percentage: number(percentage) },
        }
    }
}

/// The percentage as a JSON number with its own decimals.
fn number(percentage: Percentage) -> Option<Number> {
    percentage.to_string().parse().ok()
}
