//! The methods whose payer goes on in the application or at the page of a wallet, as answers show them.

use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::charge::instructions::Instructions;
use regente_domain::charge::sent::{DripBrowser, NupayRecipient};
use regente_domain::charge::{Charge, Drip, Nupay};
use regente_domain::money::Amount;
use regente_domain::payment_type::PaymentType;
use regente_domain::percentage::Percentage;
use regente_engine::document_links::Addresses;
use serde::Serialize;
use serde_json::{Number, Value};
use utoipa::ToSchema;

/// By NuPay.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::api::charges) struct NupayPayment {
    /// After how many minutes it is canceled when nobody pays.
    #[schema(example = 30)]
    delay_to_auto_cancel: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    order_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    return_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancel_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>)]
    tax_value: Option<Amount>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<NupayRecipient>>)]
    recipients: Option<Value>,
}

impl NupayPayment {
    /// `recipients` are opened.
    pub(super) fn of(nupay: &Nupay, recipients: Option<Value>) -> Self {
        Self {
            delay_to_auto_cancel: nupay.delay_to_auto_cancel,
            order_url: nupay.order_url.clone(),
            return_url: nupay.return_url.clone(),
            cancel_url: nupay.cancel_url.clone(),
            tax_value: nupay.tax_value,
            recipients,
        }
    }
}

/// By Drip.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::api::charges) struct DripPayment {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    items: Option<Value>,
    /// Most installments that the payer may choose.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>)]
    max_installments: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>)]
    total_installments: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_installments_date: Option<String>,
    /// Fine for a late installment, with at most two decimals.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    fine_percentage: Option<Number>,
    /// Interest on a late installment, with at most two decimals.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    interest_percentage: Option<Number>,
    /// Fee for canceling the rest, with at most two decimals.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    cancellation_fee_percentage: Option<Number>,
    /// How many minutes the payer has; the provider decides without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>)]
    minutes_to_expire: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<DripBrowser>)]
    browser: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    success_redirect_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancel_redirect_url: Option<String>,
    /// The page where the payer pays or refuses; absent until a provider has issued it.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_url: Option<String>,
    /// The provider's id of the checkout. As the next three of a charge that pays a session alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    checkout_id: Option<String>,
    /// The page as a picture of a QR code; absent when the service does not know its own address.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_qr_code: Option<String>,
    /// The page as the text of a QR code.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_qr_code_text: Option<String>,
    /// What the payer pays at once, in the minor unit of the currency.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>)]
    upfront_payment_amount: Option<Amount>,
}

impl DripPayment {
    /// What a buyer's page shows of the last instructions that the payer was given; `None` of a charge that pays no session
    /// by Drip.
    pub(super) fn checkout(
        charge: &Charge,
        requests: &[TransactionRequest],
        addresses: &Addresses,
    ) -> Option<Self> {
        charge.session_id.filter(|_| charge.method.payment_type() == PaymentType::Drip)?;
        let given = requests.iter().rev().find_map(TransactionRequest::pending)?;
        let Instructions::Redirect { url } = &given.instructions else { return None };
        Some(Self {
            checkout_id: given.reference.transaction_id.clone(),
            payment_qr_code: addresses.qr_code.clone(),
            payment_qr_code_text: Some(url.clone()),
            // A session says nothing of installments: without them everything is paid at once.
            upfront_payment_amount: Some(charge.original_amount),
            ..Self::default()
        })
    }

    /// `browser` is that of the payer, opened.
    pub(super) fn of(
        drip: &Drip,
        browser: Option<Value>,
        payment_url: Option<String>,
        checkout: Option<Self>,
    ) -> Self {
        // The text of a percentage is always a number.
        let number =
            |percentage: Option<Percentage>| percentage.and_then(|known| known.to_string().parse().ok());
        let terms = &drip.terms;
        Self {
            items: drip.items.as_deref().cloned(),
            max_installments: terms.max_installments,
            total_installments: terms.total_installments,
            first_installments_date: terms.first_installments_date.clone(),
            fine_percentage: number(terms.fine_percentage),
            interest_percentage: number(terms.interest_percentage),
            cancellation_fee_percentage: number(terms.cancellation_fee_percentage),
            minutes_to_expire: drip.minutes_to_expire,
            browser,
            success_redirect_url: drip.success_redirect_url.clone(),
            cancel_redirect_url: drip.cancel_redirect_url.clone(),
            payment_url,
            ..checkout.unwrap_or_default()
        }
    }
}
