//! How a charge is paid, as answers show it.

use regente_domain::boleto::{Fine, FineRate, Interest, InterestRate};
use regente_domain::charge::sent::LateCharge;
use regente_domain::charge::{AdditionalInfo, Charge, PaymentMethod, Recurrence};
use regente_domain::money::Amount;
use regente_domain::percentage::Percentage;
use regente_engine::caller::Caller;
use regente_engine::charges::sent::{DRIP_BROWSER, NUPAY_RECIPIENTS, VOUCHER_CUSTOMER};
use regente_engine::events::instructions::{InstructionsView, PicpayView};
use serde::Serialize;
use serde_json::{Number, Value};
use utoipa::ToSchema;

use super::Private;
use super::redirects::{DripPayment, NupayPayment};

/// How a charge is paid; [`super::super::methods::PaymentMethod`] describes it.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "paymentType", rename_all = "snake_case")]
pub(super) enum PaymentMethodView {
    Credit(CreditPayment),
    Debit(DebitPayment),
    Voucher(VoucherPayment),
    ApplePay(ApplePayPayment),
    ClickToPay(ClickToPayPayment),
    Pix(PixPayment),
    Boleto(BoletoPayment),
    Drip(Box<DripPayment>),
    Picpay(PicpayPayment),
    Nupay(NupayPayment),
}

/// By credit card.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::api::charges) struct CreditPayment {
    #[schema(example = 1)]
    installments: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    recurrence: Option<Recurrence>,
}

/// By debit card.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::api::charges) struct DebitPayment {
    #[schema(example = 1)]
    installments: u8,
}

/// By meal or food voucher.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::api::charges) struct VoucherPayment {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    items: Option<Value>,
    /// The buyer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    customer: Option<Value>,
}

/// By Apple Pay.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::api::charges) struct ApplePayPayment {
    #[schema(example = 1)]
    installments: u8,
}

/// By Click to Pay.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::api::charges) struct ClickToPayPayment {
    #[schema(example = 1)]
    installments: u8,
}

/// By Pix.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::api::charges) struct PixPayment {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    items: Option<Value>,
    /// How long the payer has, in seconds.
    #[schema(example = 3600)]
    expires_in: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    additional_info: Vec<AdditionalInfo>,
    /// The code as text, to copy; absent until a provider has issued it.
    #[serde(skip_serializing_if = "Option::is_none")]
    qr_code_data: Option<String>,
    /// The code as a picture; absent when the service does not know its own address.
    #[serde(skip_serializing_if = "Option::is_none")]
    qr_code_image_url: Option<String>,
}

/// By boleto.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::api::charges) struct BoletoPayment {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    items: Option<Value>,
    /// When it falls due.
    #[schema(format = Date, example = "2030-12-31")]
    expires_date: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<LateCharge>)]
    interest: Option<LateChargeView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<LateCharge>)]
    fine: Option<LateChargeView>,
    /// The line to type, 47 digits; absent until a provider has issued it.
    #[serde(skip_serializing_if = "Option::is_none")]
    barcode_data: Option<String>,
    /// The slip as a PDF file; absent when the service does not know its own address.
    #[serde(skip_serializing_if = "Option::is_none")]
    barcode_image_url: Option<String>,
}

/// By PicPay.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::api::charges) struct PicpayPayment {
    /// When the code expires, in seconds since 1970; absent, as the code, until a provider has issued it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 1_774_279_659)]
    expires_in: Option<i64>,
    /// The code as text, to copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    qr_code_data: Option<String>,
    /// The code as a picture; absent when the service does not know its own address.
    #[serde(skip_serializing_if = "Option::is_none")]
    qr_code_image_url: Option<String>,
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
        checkout: Option<DripPayment>,
        caller: &Caller,
    ) -> Self {
        let InstructionsView { pix, drip: redirect, picpay, boleto: slip, .. } =
            instructions.unwrap_or_default();
        match &charge.method {
            PaymentMethod::Credit(credit) => Self::Credit(CreditPayment {
                installments: credit.installments,
                recurrence: credit.recurrence,
            }),
            PaymentMethod::Debit(debit) => Self::Debit(DebitPayment { installments: debit.installments }),
            PaymentMethod::Voucher(voucher) => Self::Voucher(VoucherPayment {
                items: voucher.items.as_deref().cloned(),
                customer: private.get(VOUCHER_CUSTOMER).cloned(),
            }),
            PaymentMethod::ApplePay(wallet) => {
                Self::ApplePay(ApplePayPayment { installments: wallet.installments })
            }
            PaymentMethod::ClickToPay(wallet) => {
                Self::ClickToPay(ClickToPayPayment { installments: wallet.installments })
            }
            PaymentMethod::Pix(asked) => {
                let (data, image) = pix.map(|code| (code.qr_code_data, code.qr_code_image_url)).unzip();
                Self::Pix(PixPayment {
                    items: asked.items.as_deref().cloned(),
                    expires_in: asked.expires_in,
                    additional_info: asked.additional_info.clone(),
                    qr_code_data: data,
                    qr_code_image_url: image.flatten(),
                })
            }
            PaymentMethod::Boleto(asked) => {
                let (data, image) = slip.map(|slip| (slip.barcode_data, slip.barcode_image_url)).unzip();
                Self::Boleto(BoletoPayment {
                    items: asked.items.as_deref().cloned(),
                    expires_date: asked.due.to_string(),
                    instructions: asked.instructions.clone(),
                    interest: asked.late_charges.interest.map(LateChargeView::of_interest),
                    fine: asked.late_charges.fine.map(LateChargeView::of_fine),
                    barcode_data: data,
                    barcode_image_url: image.flatten(),
                })
            }
            PaymentMethod::Drip(drip) => {
                let browser = private.get(DRIP_BROWSER).cloned();
                let payment_url = redirect.map(|given| given.payment_url);
                Self::Drip(Box::new(DripPayment::of(drip, browser, payment_url, checkout)))
            }
            PaymentMethod::Picpay(_) => {
                let shown = |code: PicpayView| PicpayPayment {
                    expires_in: Some(code.expires_in),
                    qr_code_data: Some(code.qr_code_data),
                    qr_code_image_url: code.qr_code_image_url,
                };
                Self::Picpay(picpay.map(shown).unwrap_or_default())
            }
            PaymentMethod::Nupay(nupay) => {
                let is_hidden = charge.session_id.is_some() && caller.is_public_key();
                let recipients = private.get(NUPAY_RECIPIENTS).filter(|_| !is_hidden).cloned();
                Self::Nupay(NupayPayment::of(nupay, recipients))
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
