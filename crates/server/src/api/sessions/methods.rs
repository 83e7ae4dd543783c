//! The OpenAPI description of the payment methods of sessions: what a session offers, and what a buyer chooses of it
//! (`docs/interface/sessions.md#payment-methods`).

use deserr::Deserr;
use regente_domain::charge::Recurrence;
use regente_domain::payment_type::PaymentType;
use regente_domain::problems::Problems;
use utoipa::ToSchema;

use crate::api::charges::methods::{AdditionalInfo, DripBrowser, Item, LateCharge, NupayRecipient};
use crate::api::schema::tagged::tagged;

tagged! {
    /// A payment method that a session offers.
    pub OfferedMethod by "paymentType" {
        PaymentType::Credit.word() => OfferedCredit,
        PaymentType::Pix.word() => OfferedPix,
        PaymentType::Boleto.word() => OfferedBoleto,
        PaymentType::Drip.word() => OfferedDrip,
        PaymentType::Nupay.word() => OfferedNupay,
        PaymentType::ClickToPay.word() => OfferedClickToPay,
    }

    /// What a buyer chooses of a payment method that the session offers.
    pub ChosenMethod by "paymentType" {
        PaymentType::Credit.word() => ChosenCredit,
        PaymentType::Pix.word() => ChosenPix,
        PaymentType::Boleto.word() => ChosenBoleto,
        PaymentType::Drip.word() => ChosenDrip,
        PaymentType::Nupay.word() => ChosenNupay,
        PaymentType::ClickToPay.word() => ChosenClickToPay,
    }
}

/// By credit card.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct OfferedCredit {
    /// The most that a buyer may choose.
    #[schema(minimum = 1, maximum = 24)]
    installments: i64,
    #[schema(value_type = Option<Recurrence>)]
    recurrence: Option<()>,
    /// Whether cardholders are authenticated.
    #[schema(rename = "threeDS")]
    three_ds: Option<OfferedThreeDs>,
}

/// Whether the cardholders of a session are authenticated.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase")]
pub(super) struct OfferedThreeDs {
    #[deserr(default)]
    #[schema(default = false)]
    pub(super) enabled: Option<bool>,
    /// Whether a charge without a liability shift is refused.
    #[deserr(default)]
    #[schema(default = true)]
    pub(super) liability_shift_required: Option<bool>,
}

/// By Pix.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct OfferedPix {
    /// How long a buyer has, in seconds.
    #[schema(minimum = 1, maximum = 2_147_483_647)]
    expires_in: i64,
}

/// By boleto.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct OfferedBoleto {
    /// When it falls due; in 7 days by default.
    #[schema(format = Date)]
    expires_date: Option<String>,
    /// What the slip tells the payer; a line feed begins a line.
    #[schema(min_length = 1, max_length = 255)]
    instructions: Option<String>,
    /// What each day costs a late payer.
    interest: Option<LateCharge>,
    /// What a late payer owes once.
    fine: Option<LateCharge>,
}

/// By Drip.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct OfferedDrip {
    #[schema(max_length = 2048)]
    success_redirect_url: Option<String>,
    #[schema(max_length = 2048)]
    cancel_redirect_url: Option<String>,
}

/// By NuPay.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct OfferedNupay {
    #[schema(max_length = 2048)]
    order_url: Option<String>,
    /// In minutes.
    #[schema(minimum = 1, maximum = 43_200)]
    delay_to_auto_cancel: Option<i64>,
    #[schema(max_length = 2048)]
    return_url: Option<String>,
    #[schema(max_length = 2048)]
    cancel_url: Option<String>,
    #[schema(minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    tax_value: Option<i64>,
    /// Who gets a part of the money. Only a secret key is shown them, by the answer to the creation, the session and the list.
    #[schema(max_items = 100)]
    recipients: Option<Vec<NupayRecipient>>,
}

/// By Click to Pay.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct OfferedClickToPay {
    /// The most that a buyer may choose.
    #[schema(minimum = 1, maximum = 24)]
    installments: i64,
}

/// By credit card.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct ChosenCredit {
    /// At most what the session offers.
    #[schema(minimum = 1, maximum = 24, default = 1)]
    installments: Option<i64>,
}

/// By Pix.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct ChosenPix {
    /// Texts that the payer's bank shows.
    #[schema(max_items = 50)]
    additional_info: Option<Vec<AdditionalInfo>>,
    #[schema(max_items = 1000)]
    items: Option<Vec<Item>>,
}

/// By boleto.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct ChosenBoleto {
    #[schema(max_items = 1000)]
    items: Option<Vec<Item>>,
}

/// By Drip.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct ChosenDrip {
    browser: Option<DripBrowser>,
    #[schema(max_items = 1000)]
    items: Option<Vec<Item>>,
}

/// By NuPay.
#[derive(ToSchema)]
struct ChosenNupay {}

/// By Click to Pay.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct ChosenClickToPay {
    /// At most what the session offers.
    #[schema(minimum = 1, maximum = 24, default = 1)]
    installments: Option<i64>,
}
