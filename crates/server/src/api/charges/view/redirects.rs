//! The methods whose payer goes on in the application or at the page of a wallet, as answers show them.

use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::charge::instructions::Instructions;
use regente_domain::charge::{Charge, Drip, Nupay};
use regente_domain::money::Amount;
use regente_domain::payment_type::PaymentType;
use regente_domain::percentage::Percentage;
use regente_engine::document_links::Addresses;
use serde::Serialize;
use serde_json::{Number, Value};

/// What is asked for with a NuPay.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NupayMethodView {
    delay_to_auto_cancel: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    order_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    return_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancel_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tax_value: Option<Amount>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recipients: Option<Value>,
}

impl NupayMethodView {
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

/// What is asked for with a Drip, and the page that the payer goes to.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DripMethodView {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_installments: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_installments: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_installments_date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fine_percentage: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interest_percentage: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancellation_fee_percentage: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    minutes_to_expire: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    browser: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    success_redirect_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancel_redirect_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_url: Option<String>,
    #[serde(flatten)]
    checkout: Option<DripCheckoutView>,
}

/// What a buyer's page shows of a Drip that pays a session.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DripCheckoutView {
    #[serde(skip_serializing_if = "Option::is_none")]
    checkout_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_qr_code: Option<String>,
    payment_qr_code_text: String,
    upfront_payment_amount: Amount,
}

impl DripCheckoutView {
    /// Of the last instructions that the payer was given; `None` of a charge that pays no session by Drip.
    pub(super) fn of(
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
            payment_qr_code_text: url.clone(),
            // A session says nothing of installments: without them everything is paid at once.
            upfront_payment_amount: charge.original_amount,
        })
    }
}

impl DripMethodView {
    /// `browser` is that of the payer, opened.
    pub(super) fn of(
        drip: &Drip,
        browser: Option<Value>,
        payment_url: Option<String>,
        checkout: Option<DripCheckoutView>,
    ) -> Self {
        // The text of a percentage is always a number.
        let number =
            |percentage: Option<Percentage>| percentage.and_then(|known| known.to_string().parse().ok());
        let terms = &drip.terms;
        Self {
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
            checkout,
        }
    }
}
