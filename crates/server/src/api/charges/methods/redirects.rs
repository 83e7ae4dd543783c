//! The OpenAPI description of the methods whose payer goes on in the application or at the page of a wallet.

use serde_json::Value;
use utoipa::ToSchema;

use super::Item;

/// By NuPay. The payer goes to a page of their wallet. `fraudAnalysis.cart.items` is required.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
pub(super) struct NewNupayPayment {
    /// After how many minutes it is canceled when nobody pays.
    #[schema(minimum = 1, maximum = 43_200, default = 30)]
    delay_to_auto_cancel: Option<i64>,
    /// Where the payer reads their order.
    #[schema(max_length = 2048)]
    order_url: Option<String>,
    /// Where the payer goes when they have paid.
    #[schema(max_length = 2048)]
    return_url: Option<String>,
    /// Where the payer goes when they have refused.
    #[schema(max_length = 2048)]
    cancel_url: Option<String>,
    /// Taxes in the amount.
    #[schema(minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    tax_value: Option<i64>,
    #[schema(max_items = 100)]
    recipients: Option<Vec<NupayRecipient>>,
}

/// Who gets a part of the money.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
pub struct NupayRecipient {
    #[schema(min_length = 1, max_length = 255)]
    reference_id: String,
    #[schema(min_length = 1, max_length = 255)]
    name: String,
    #[schema(min_length = 1, max_length = 255)]
    document: String,
    #[schema(minimum = 1, maximum = 9_007_199_254_740_991_i64)]
    amount: i64,
}

/// By NuPay.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is answered for the OpenAPI document")]
pub(super) struct NupayPayment {
    /// After how many minutes it is canceled when nobody pays.
    #[schema(example = 30)]
    delay_to_auto_cancel: u32,
    order_url: Option<String>,
    return_url: Option<String>,
    cancel_url: Option<String>,
    tax_value: Option<i64>,
    recipients: Option<Vec<NupayRecipient>>,
}

/// A step of a NuPay. On a request of type `pending` the first two, on an `authorization` the next two, on a `void` the last.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is answered for the OpenAPI document")]
pub struct NupayDetails {
    /// After how many minutes it is canceled when nobody pays.
    #[schema(example = 30)]
    expires_in: Option<u32>,
    /// The page where the payer pays or refuses.
    payment_url: Option<String>,
    /// In how many installments they have paid.
    installments_number: Option<u8>,
    /// From what they have paid, in the provider's words.
    #[schema(example = "debit")]
    payment_type: Option<String>,
    /// The provider's id of the refund.
    refund_id: Option<String>,
}

/// By Drip, a Pix in installments. The payer goes to a page; their customer has a complete address.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
pub(super) struct NewDripPayment {
    /// Most installments that the payer may choose.
    #[schema(minimum = 1, maximum = 24)]
    max_installments: Option<i64>,
    #[schema(minimum = 1, maximum = 24)]
    total_installments: Option<i64>,
    #[schema(value_type = Option<String>, format = Date)]
    first_installments_date: Option<String>,
    /// Fine for a late installment, with at most two decimals.
    #[schema(minimum = 0, maximum = 100)]
    fine_percentage: Option<f64>,
    /// Interest on a late installment, with at most two decimals.
    #[schema(minimum = 0, maximum = 100)]
    interest_percentage: Option<f64>,
    /// Fee for canceling the rest, with at most two decimals.
    #[schema(minimum = 0, maximum = 100)]
    cancellation_fee_percentage: Option<f64>,
    /// How many minutes the payer has; the provider decides without it.
    #[schema(minimum = 1, maximum = 43_200)]
    minutes_to_expire: Option<i64>,
    browser: Option<DripBrowser>,
    #[schema(max_items = 1000)]
    items: Option<Vec<Item>>,
    /// Where the payer goes when they have paid.
    #[schema(max_length = 2048)]
    success_redirect_url: Option<String>,
    /// Where the payer goes when they have refused.
    #[schema(max_length = 2048)]
    cancel_redirect_url: Option<String>,
}

/// The browser of the payer.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
pub struct DripBrowser {
    #[schema(max_length = 255)]
    ip_address: Option<String>,
    #[schema(max_length = 255)]
    browser_fingerprint: Option<String>,
}

/// By PicPay. The payer gets a code.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(super) struct NewPicpayPayment {}

/// By Drip.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is answered for the OpenAPI document")]
pub(super) struct DripPayment {
    /// Most installments that the payer may choose.
    max_installments: Option<i64>,
    total_installments: Option<i64>,
    first_installments_date: Option<String>,
    /// Fine for a late installment, with at most two decimals.
    fine_percentage: Option<f64>,
    /// Interest on a late installment, with at most two decimals.
    interest_percentage: Option<f64>,
    /// Fee for canceling the rest, with at most two decimals.
    cancellation_fee_percentage: Option<f64>,
    /// How many minutes the payer has; the provider decides without it.
    minutes_to_expire: Option<i64>,
    browser: Option<DripBrowser>,
    #[schema(value_type = Option<Vec<Object>>)]
    items: Option<Value>,
    success_redirect_url: Option<String>,
    cancel_redirect_url: Option<String>,
    /// The page where the payer pays or refuses; absent until a provider has issued it.
    payment_url: Option<String>,
    /// The provider's id of the checkout. As the next three of a charge that pays a session alone.
    checkout_id: Option<String>,
    /// The page as a picture of a QR code; absent when the service does not know its own address.
    payment_qr_code: Option<String>,
    /// The page as the text of a QR code.
    payment_qr_code_text: Option<String>,
    /// What the payer pays at once, in the minor unit of the currency.
    upfront_payment_amount: Option<i64>,
}

/// The page of a Drip, with what was asked for.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is answered for the OpenAPI document")]
pub struct DripInstructions {
    /// The page where the payer pays or refuses.
    payment_url: String,
    #[schema(value_type = Option<Vec<Object>>)]
    items: Option<Value>,
    /// Not in events.
    browser: Option<DripBrowser>,
    success_redirect_url: Option<String>,
    cancel_redirect_url: Option<String>,
}

/// By PicPay.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is answered for the OpenAPI document")]
pub(super) struct PicpayPayment {
    /// When the code expires, in seconds since 1970; absent, as the code, until a provider has issued it.
    #[schema(example = 1_774_279_659)]
    expires_in: Option<i64>,
    /// The code as text, to copy.
    qr_code_data: Option<String>,
    /// The code as a picture; absent when the service does not know its own address.
    qr_code_image_url: Option<String>,
}

/// The code of a PicPay, to scan or to copy.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is answered for the OpenAPI document")]
pub struct PicpayInstructions {
    /// When the code expires, in seconds since 1970.
    #[schema(example = 1_774_279_659)]
    expires_in: i64,
    /// The code as text.
    qr_code_data: String,
    /// The code as a picture; absent when the service does not know its own address.
    qr_code_image_url: Option<String>,
}
