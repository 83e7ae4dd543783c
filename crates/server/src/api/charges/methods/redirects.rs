//! The OpenAPI description of the methods whose payer goes on in the application or at the page of a wallet.

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
