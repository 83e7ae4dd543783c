//! What is sent and answered (Checkout API v71): the members that we use.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An amount in the provider's minor units.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct WireAmount {
    pub(super) currency: &'static str,
    pub(super) value: i64,
}

/// `POST /payments`. It has card data, so it is not printed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PaymentsBody<'a> {
    pub(super) merchant_account: &'a str,
    pub(super) amount: WireAmount,
    pub(super) reference: String,
    pub(super) return_url: &'a str,
    pub(super) payment_method: Method<'a>,
    #[serde(flatten)]
    pub(super) terms: Terms<'a>,
    #[serde(flatten)]
    pub(super) shopper: Shopper<'a>,
    #[serde(flatten)]
    pub(super) authentication: Authentication<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub(super) enum Method<'a> {
    #[serde(rename = "scheme")]
    Card {
        number: &'a str,
        expiry_month: String,
        expiry_year: String,
        holder_name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cvc: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        funding_source: Option<&'static str>,
    },
    #[serde(rename = "pix")]
    Pix,
    #[serde(rename = "boletobancario")]
    Boleto,
}

/// How it is paid, and what is passed on.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Terms<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) capture_delay_hours: Option<u16>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) additional_data: BTreeMap<&'static str, Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) installments: Option<Installments>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) shopper_interaction: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) recurring_processing_model: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) merchant_order_reference: Option<&'a str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) metadata: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) shopper_statement: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session_validity: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) deliver_at: Option<String>,
    /// In whose name a payment facilitator takes the payment: one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sub_merchants: Option<[SubMerchant<'a>; 1]>,
}

/// Who a payment facilitator takes the payment for.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SubMerchant<'a> {
    pub(super) id: &'a str,
    pub(super) name: String,
    pub(super) mcc: String,
    pub(super) tax_id: String,
    pub(super) amount: WireAmount,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) email: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) phone_number: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) address: Option<BillingAddress<'a>>,
}

#[derive(Serialize)]
pub(super) struct Installments {
    pub(super) value: u8,
}

/// Who pays.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shopper<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) country_code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) shopper_email: Option<&'a str>,
    #[serde(rename = "shopperIP", skip_serializing_if = "Option::is_none")]
    pub(super) shopper_ip: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) shopper_name: Option<ShopperName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) social_security_number: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) billing_address: Option<BillingAddress<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) delivery_address: Option<BillingAddress<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShopperName {
    pub(super) first_name: String,
    pub(super) last_name: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BillingAddress<'a> {
    pub(super) city: &'a str,
    pub(super) country: &'a str,
    pub(super) house_number_or_name: &'a str,
    pub(super) postal_code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) state_or_province: Option<&'a str>,
    pub(super) street: &'a str,
}

/// What is known of the authentication of the cardholder, or is to be done about it.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Authentication<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) authentication_data: Option<AuthenticationData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mpi_data: Option<MpiData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) browser_info: Option<BrowserInfo<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) channel: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AuthenticationData {
    pub(super) attempt_authentication: &'static str,
    #[serde(rename = "threeDSRequestData", skip_serializing_if = "Option::is_none")]
    pub(super) three_ds_request_data: Option<ThreeDsRequestData>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThreeDsRequestData {
    #[serde(rename = "nativeThreeDS")]
    pub(super) native_three_ds: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) data_only: Option<&'static str>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MpiData<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) directory_response: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) authentication_response: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cavv: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) eci: Option<&'a str>,
    #[serde(rename = "dsTransID", skip_serializing_if = "Option::is_none")]
    pub(super) ds_trans_id: Option<&'a str>,
    #[serde(rename = "threeDSVersion", skip_serializing_if = "Option::is_none")]
    pub(super) three_ds_version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) xid: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BrowserInfo<'a> {
    pub(super) accept_header: &'a str,
    pub(super) color_depth: i64,
    pub(super) java_enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) java_script_enabled: Option<bool>,
    pub(super) language: &'a str,
    pub(super) screen_height: i64,
    pub(super) screen_width: i64,
    pub(super) time_zone_offset: i64,
    pub(super) user_agent: &'a str,
}

/// `POST /payments/{pspReference}/captures`, `/refunds` and `/cancels`, and `POST /cancels`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Modification<'a> {
    pub(super) merchant_account: &'a str,
    pub(super) reference: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) amount: Option<WireAmount>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) payment_reference: Option<String>,
}

/// `POST /payments/details`.
#[derive(Serialize)]
pub(super) struct Details<'a> {
    pub(super) details: RedirectResult<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RedirectResult<'a> {
    pub(super) redirect_result: &'a str,
}

/// `POST /paymentMethods`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PaymentMethods<'a> {
    pub(super) merchant_account: &'a str,
}

/// The answer to `/payments` and `/payments/details`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct PaymentAnswer {
    pub(super) result_code: Option<String>,
    pub(super) psp_reference: Option<String>,
    pub(super) merchant_reference: Option<String>,
    pub(super) refusal_reason: Option<String>,
    pub(super) refusal_reason_code: Option<String>,
    pub(super) additional_data: Map<String, Value>,
    pub(super) action: Option<Action>,
}

impl PaymentAnswer {
    /// A text of `additionalData`.
    pub(super) fn data(&self, name: &str) -> Option<&str> {
        self.additional_data.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
    }
}

/// What the payer has to do.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Action {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) url: Option<String>,
    pub(super) data: BTreeMap<String, String>,
    pub(super) qr_code_data: Option<String>,
    pub(super) expires_at: Option<String>,
    pub(super) reference: Option<String>,
}

/// The answer to a capture, a refund or a cancellation.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModificationAnswer {
    pub(super) status: String,
    pub(super) psp_reference: Option<String>,
}

/// The answer to a request that was not taken up.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ServiceError {
    pub(super) status: Option<u16>,
    pub(super) error_type: Option<String>,
    pub(super) error_code: String,
    pub(super) message: String,
    pub(super) psp_reference: Option<String>,
}
