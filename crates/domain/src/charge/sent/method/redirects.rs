//! The methods whose payer goes on in the application or at the page of a wallet, as they are sent.

use deserr::Deserr;
use jiff::civil::Date;
use serde::Serialize;
use serde_json::Value as Json;
use serde_with::skip_serializing_none;
use utoipa::ToSchema;

use super::super::items::{Items, kept};
use super::super::page_address::{PageAddress, ShownAddress, address};
use super::{Installments, in_full};
use crate::charge::{
    DELAY_TO_AUTO_CANCEL_MINUTES, DELAY_TO_AUTO_CANCEL_MINUTES_MAX, Drip, DripTerms, MINUTES_TO_EXPIRE_MAX,
    Nupay, PayerSource,
};
use crate::money::{Amount, PositiveAmount};
use crate::percentage::{Percent, Percentage};
use crate::problems::Problems;
use crate::text::chars_max;
use crate::wire::{Integer, List, Text, Verbatim};

/// Recipients of a NuPay.
const RECIPIENTS_MAX: usize = 100;

type Line = Text<0, { chars_max::LINE }>;
type Identifier = Verbatim<1, { chars_max::LINE }>;
/// Who gets parts of a NuPay.
pub(crate) type Recipients = List<NupayRecipient, 0, RECIPIENTS_MAX>;
/// After how many minutes a NuPay is canceled.
pub(crate) type Delay = Integer<1, { DELAY_TO_AUTO_CANCEL_MINUTES_MAX as i64 }>;
type Minutes = Integer<1, { MINUTES_TO_EXPIRE_MAX as i64 }>;

/// By NuPay. The payer goes to a page of their wallet. `fraudAnalysis.cart.items` is required.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase")]
pub struct NewNupayPayment {
    /// After how many minutes it is canceled when nobody pays.
    #[deserr(default = DELAY_TO_AUTO_CANCEL_MINUTES, from(Option<Delay>) = delay)]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 43_200, default = 30)]
    pub delay_to_auto_cancel: u32,
    /// Where the payer reads their order.
    #[deserr(default, from(Option<PageAddress>) = address)]
    #[schema(value_type = Option<ShownAddress>)]
    pub order_url: Option<String>,
    /// Where the payer goes when they have paid.
    #[deserr(default, from(Option<PageAddress>) = address)]
    #[schema(value_type = Option<ShownAddress>)]
    pub return_url: Option<String>,
    /// Where the payer goes when they have refused.
    #[deserr(default, from(Option<PageAddress>) = address)]
    #[schema(value_type = Option<ShownAddress>)]
    pub cancel_url: Option<String>,
    /// Taxes in the amount.
    #[deserr(default)]
    pub tax_value: Option<Amount>,
    #[deserr(default, from(Option<Recipients>) = several)]
    #[schema(value_type = Option<Recipients>)]
    #[expect(missing_docs, reason = "the type says it")]
    pub recipients: Option<Vec<NupayRecipient>>,
}

/// Who gets a part of the money.
#[derive(Serialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
pub struct NupayRecipient {
    reference_id: Identifier,
    name: Text<1, { chars_max::LINE }>,
    document: Identifier,
    #[deserr(from(PositiveAmount) = Amount::from)]
    #[schema(value_type = PositiveAmount)]
    amount: Amount,
}

impl NewNupayPayment {
    /// Where its payer is led, by the fields of the request.
    pub fn addresses(&self) -> [(&'static str, Option<&str>); 3] {
        [
            ("paymentMethod.orderUrl", self.order_url.as_deref()),
            ("paymentMethod.returnUrl", self.return_url.as_deref()),
            ("paymentMethod.cancelUrl", self.cancel_url.as_deref()),
        ]
    }

    /// The NuPay with its resolved payer. Its recipients are not part of it: they are sealed.
    pub fn paid_by(self, source: PayerSource) -> Nupay {
        let Self { delay_to_auto_cancel, order_url, return_url, cancel_url, tax_value, recipients: _ } = self;
        Nupay { source, delay_to_auto_cancel, order_url, return_url, cancel_url, tax_value }
    }
}

/// By Drip, a Pix in installments. The payer goes to a page; their customer has a complete address.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase")]
pub struct NewDripPayment {
    /// Most installments that the payer may choose.
    #[deserr(default, from(Option<Installments>) = number)]
    #[schema(value_type = Option<Installments>)]
    pub max_installments: Option<u8>,
    #[deserr(default, from(Option<Installments>) = number)]
    #[schema(value_type = Option<Installments>)]
    #[expect(missing_docs, reason = "the name says it")]
    pub total_installments: Option<u8>,
    #[deserr(default)]
    #[schema(value_type = Option<String>, format = Date)]
    #[expect(missing_docs, reason = "the name says it")]
    pub first_installments_date: Option<Date>,
    /// Fine for a late installment, with at most two decimals.
    #[deserr(default)]
    #[schema(value_type = Option<Percent>)]
    pub fine_percentage: Option<Percentage>,
    /// Interest on a late installment, with at most two decimals.
    #[deserr(default)]
    #[schema(value_type = Option<Percent>)]
    pub interest_percentage: Option<Percentage>,
    /// Fee for canceling the rest, with at most two decimals.
    #[deserr(default)]
    #[schema(value_type = Option<Percent>)]
    pub cancellation_fee_percentage: Option<Percentage>,
    /// How many minutes the payer has; the provider decides without it.
    #[deserr(default, from(Option<Minutes>) = minutes)]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 43_200)]
    pub minutes_to_expire: Option<u32>,
    #[deserr(default)]
    #[expect(missing_docs, reason = "the type says it")]
    pub browser: Option<DripBrowser>,
    #[deserr(default, from(Option<Items>) = kept)]
    #[schema(value_type = Option<Items>)]
    #[expect(missing_docs, reason = "the name says it")]
    pub items: Option<Json>,
    /// Where the payer goes when they have paid.
    #[deserr(default, from(Option<PageAddress>) = address)]
    #[schema(value_type = Option<ShownAddress>)]
    pub success_redirect_url: Option<String>,
    /// Where the payer goes when they have refused.
    #[deserr(default, from(Option<PageAddress>) = address)]
    #[schema(value_type = Option<ShownAddress>)]
    pub cancel_redirect_url: Option<String>,
}

/// The browser of the payer.
#[skip_serializing_none]
#[derive(Serialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
pub struct DripBrowser {
    #[deserr(default)]
    ip_address: Option<Line>,
    #[deserr(default)]
    browser_fingerprint: Option<Line>,
}

impl NewDripPayment {
    /// Where its payer is led, by the fields of the request.
    pub fn addresses(&self) -> [(&'static str, Option<&str>); 2] {
        [
            ("paymentMethod.successRedirectUrl", self.success_redirect_url.as_deref()),
            ("paymentMethod.cancelRedirectUrl", self.cancel_redirect_url.as_deref()),
        ]
    }

    /// The Drip with its resolved payer. Their browser is not part of it: it is sealed.
    pub fn paid_by(self, source: PayerSource) -> Drip {
        let terms = DripTerms {
            max_installments: self.max_installments,
            total_installments: self.total_installments,
            first_installments_date: self.first_installments_date.map(|day| day.to_string()),
            fine_percentage: self.fine_percentage,
            interest_percentage: self.interest_percentage,
            cancellation_fee_percentage: self.cancellation_fee_percentage,
        };
        Drip {
            source,
            terms,
            minutes_to_expire: self.minutes_to_expire,
            items: self.items.map(Box::new),
            success_redirect_url: self.success_redirect_url,
            cancel_redirect_url: self.cancel_redirect_url,
        }
    }
}

/// By PicPay. The payer gets a code.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase")]
pub struct NewPicpayPayment {}

fn delay(sent: Option<Delay>) -> u32 {
    let minutes = sent.and_then(|minutes| u32::try_from(minutes.get()).ok());
    minutes.unwrap_or(DELAY_TO_AUTO_CANCEL_MINUTES)
}

fn minutes(sent: Option<Minutes>) -> Option<u32> {
    sent.and_then(|minutes| u32::try_from(minutes.get()).ok())
}

fn number(sent: Option<Installments>) -> Option<u8> {
    sent.map(in_full)
}

fn several(sent: Option<Recipients>) -> Option<Vec<NupayRecipient>> {
    sent.map(List::into_vec)
}
