//! What a buyer chooses of a method that the session offers (`docs/interface/sessions.md#payment-methods`). It is read with the terms of
//! the session, as the method of a charge: these types say which of its members are the buyer's, and what else is sent does not count.

use utoipa::ToSchema;

use crate::charge::sent::{AdditionalInfos, DripBrowser, Installments, Items};
use crate::payment_type::PaymentType;
use crate::tagged_schema;

/// Tells the methods apart.
pub(super) enum ChosenMethod {}

tagged_schema!(
    ChosenMethod, "What a buyer chooses of a payment method that the session offers.", by "paymentType" {
    PaymentType::Credit.word() => ChosenCredit,
    PaymentType::Pix.word() => ChosenPix,
    PaymentType::Boleto.word() => ChosenBoleto,
    PaymentType::Drip.word() => ChosenDrip,
    PaymentType::Nupay.word() => ChosenNupay,
    PaymentType::ClickToPay.word() => ChosenClickToPay,
});

/// By credit card.
#[derive(ToSchema)]
#[expect(dead_code, reason = "a method is read as a whole, with the terms of the session")]
struct ChosenCredit {
    /// At most what the session offers.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 24, default = 1)]
    installments: Option<Installments>,
}

/// By Pix.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "a method is read as a whole, with the terms of the session")]
struct ChosenPix {
    /// Texts that the payer's bank shows.
    additional_info: Option<AdditionalInfos>,
    items: Option<Items>,
}

/// By boleto.
#[derive(ToSchema)]
#[expect(dead_code, reason = "a method is read as a whole, with the terms of the session")]
struct ChosenBoleto {
    items: Option<Items>,
}

/// By Drip.
#[derive(ToSchema)]
#[expect(dead_code, reason = "a method is read as a whole, with the terms of the session")]
struct ChosenDrip {
    browser: Option<DripBrowser>,
    items: Option<Items>,
}

/// By NuPay.
#[derive(ToSchema)]
struct ChosenNupay {}

/// By Click to Pay.
#[derive(ToSchema)]
#[expect(dead_code, reason = "a method is read as a whole, with the terms of the session")]
struct ChosenClickToPay {
    /// At most what the session offers.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 24, default = 1)]
    installments: Option<Installments>,
}
