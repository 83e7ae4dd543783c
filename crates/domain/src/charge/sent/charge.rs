//! `POST /v1/charges`, as it is sent (`docs/interface/charges.md#creating`).

use deserr::Deserr;
use serde_json::{Map, Value as Json};
use utoipa::ToSchema;

use super::paid::read_paid;
use super::three_d_secure::{SentThreeDSecure, ThreeDSecure, of_sent};
use super::{FraudAnalysis, FreeForm, NewPaymentMethod, NewPaymentSource, PaymentFlow};
use crate::currency::Currency;
use crate::id::{CustomerId, MerchantId};
use crate::money::{Amount, PositiveAmount};
use crate::problems::Problems;
use crate::split::{NewSplitRule, SELLERS_MAX, SentSplitRules, SplitRule, excess};
use crate::text::chars_max;
use crate::vendor::{NamedVendor, NewNamedVendor};
use crate::wire::tagged::peek;
use crate::wire::{List, Text, Verbatim};

type Line = Text<0, { chars_max::LINE }>;
type Identifier = Verbatim<0, { chars_max::LINE }>;
type Free = Text<0, { chars_max::FREE }>;
type SplitRules = List<NewSplitRule, 0, SELLERS_MAX>;

/// A charge.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase", example = json!({
    "merchantId": "7f8870a2-71c9-4ef0-a531-82000e00b7e1", "amount": 150, "currency": "BRL", "capture": true,
    "orderId": "order-231", "description": "Order 231", "statementDescriptor": "LOJA JOAO",
    "paymentMethod": { "paymentType": "credit", "installments": 1 },
    "paymentSource": { "sourceType": "card", "card": {
        "cardHolderName": "JOAO DA SILVA", "cardNumber": "4916745120294124", "cardCvv": "560",
        "cardExpirationDate": "12/2030" } }
}))]
#[expect(missing_docs, reason = "the types of some members say it")]
pub struct NewCharge {
    /// The merchant whose providers process it.
    pub merchant_id: MerchantId,
    /// In the minor unit of the currency: 150 is BRL 1.50.
    #[deserr(from(PositiveAmount) = Amount::from)]
    #[schema(value_type = PositiveAmount)]
    pub amount: Amount,
    #[deserr(default)]
    #[schema(default = "BRL")]
    pub currency: Option<Currency>,
    /// Text on the buyer's statement.
    #[deserr(default)]
    pub statement_descriptor: Option<Line>,
    /// Free text.
    #[deserr(default)]
    pub description: Option<Free>,
    /// Whether the amount is captured at once; otherwise it is only reserved. Vouchers are always captured.
    #[deserr(default)]
    #[schema(default = false)]
    pub capture: Option<bool>,
    /// The merchant's own reference; not unique.
    #[deserr(default)]
    pub order_id: Option<Identifier>,
    /// The buyer, or an alias of one.
    #[deserr(default)]
    pub customer_id: Option<CustomerId>,
    /// Reference handed to the provider.
    #[deserr(default)]
    pub provider_reference_key: Option<Identifier>,
    pub payment_method: NewPaymentMethod,
    // Read beside the other members, by the rule of the method.
    #[deserr(skip)]
    #[schema(value_type = NewPaymentSource)]
    pub payment_source: (),
    /// Data for risk analysis; stored sealed. Where the merchant has an anti-fraud provider, it analyses the charge.
    #[deserr(default)]
    pub fraud_analysis: Option<FraudAnalysis>,
    /// Authentication of the cardholder; required for `debit`.
    #[deserr(rename = "threeDSecure2", default, from(Option<SentThreeDSecure>) = of_sent)]
    #[schema(value_type = Option<ThreeDSecure>)]
    pub three_d_secure2: Option<Box<ThreeDSecure>>,
    /// In whose name it is taken. Providers that do not forward vendors are not told.
    #[deserr(default, from(Option<NewNamedVendor>) = NamedVendor::of)]
    #[schema(value_type = Option<NewNamedVendor>)]
    pub vendor: Option<Box<NamedVendor>>,
    #[deserr(default)]
    pub payment_flow: Option<PaymentFlow>,
    /// How it is divided among sellers; the rest is the merchant's.
    #[deserr(default, from(Option<SentSplitRules>) = rules)]
    #[schema(value_type = Option<SplitRules>)]
    pub split_rules: Vec<SplitRule>,
    /// Traceability: `platform`, `device`, `system`.
    #[deserr(default)]
    pub app_info: Option<FreeForm>,
}

impl NewCharge {
    /// Reads a charge, and with what it is paid. `others` are problems that cannot be seen here.
    ///
    /// # Errors
    /// Every problem that was found, and then those others.
    pub fn read(sent: Map<String, Json>, mut others: Problems) -> Result<(Self, NewPaymentSource), Problems> {
        if let (Some(amount), Some(SentSplitRules(rules))) =
            (peek::<PositiveAmount>(&sent, "amount"), peek(&sent, "splitRules"))
            && let Some(rule) = excess(&rules, amount.into())
        {
            others.add("splitRules", rule);
        }
        read_paid(sent, others)
    }
}

fn rules(sent: Option<SentSplitRules>) -> Vec<SplitRule> {
    sent.unwrap_or_default().0
}
