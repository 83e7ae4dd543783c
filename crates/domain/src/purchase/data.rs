//! What is sent of purchases, as structs that read themselves (decision 36). Unknown members of a payment are refused, so that no card
//! data gets in.

use std::borrow::Cow;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde_json::Value as Json;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::PurchaseCurrency;
use crate::card::Cvv;
use crate::charge::sent::{FraudAnalysis, FreeForm, PaymentFlow};
use crate::id::{CardId, CustomerId, MerchantId, TokenId};
use crate::money::{Amount, PositiveAmount};
use crate::payment_type::INSTALLMENTS_MAX;
use crate::problems::Problems;
use crate::text::chars_max;
use crate::wire::{Integer, List, Text, Verbatim, refused};

/// The most payments that are read before their number is checked.
const PAYMENTS_READ_MAX: usize = 100;

type Line = Text<0, { chars_max::LINE }>;
type Payments = List<Payment, 2, 3>;
type Installments = Integer<1, { INSTALLMENTS_MAX as i64 }>;

/// A purchase.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = NewPurchase, rename_all = "camelCase", example = json!({
    "merchantId": "7f8870a2-71c9-4ef0-a531-82000e00b7e1", "amount": 30000, "currency": "BRL", "capture": true,
    "orderId": "order-77", "statementDescriptor": "LOJA JOAO",
    "payments": [
        { "cardId": "148d5db0-f1c3-439f-902d-f1f268086e1d", "amount": 10000, "installments": 1 },
        { "tokenId": "cc0b1e41-2936-45c5-947f-93995ffcdc00", "amount": 20000, "installments": 3 }
    ]
}))]
pub struct SentPurchase {
    /// The merchant whose providers process it.
    pub merchant_id: MerchantId,
    /// The sum of the payments, in cents.
    pub amount: PositiveAmount,
    /// `BRL` alone.
    #[deserr(default)]
    #[schema(value_type = Option<PurchaseCurrency>, default = "BRL")]
    pub currency: Option<Line>,
    /// Whether every card is captured once all of them are reserved; otherwise that is asked for later.
    #[deserr(default)]
    #[schema(default = false)]
    pub capture: Option<bool>,
    /// The merchant's own reference; not unique.
    #[deserr(default)]
    pub order_id: Option<Verbatim<0, { chars_max::LINE }>>,
    /// Free text.
    #[deserr(default)]
    pub description: Option<Text<0, { chars_max::FREE }>>,
    /// Text on the buyer's statements.
    #[deserr(default)]
    pub statement_descriptor: Option<Line>,
    /// The buyer.
    #[deserr(default)]
    pub customer_id: Option<CustomerId>,
    /// Free data of the merchant, at most 50 members.
    #[deserr(default)]
    pub metadata: Option<FreeForm>,
    /// Data for risk analysis; stored sealed, part of each charge.
    #[deserr(default)]
    pub fraud_analysis: Option<FraudAnalysis>,
    /// Traceability: `platform`, `device`, `system`.
    #[deserr(default)]
    pub app_info: Option<FreeForm>,
    /// For smart flows.
    #[deserr(default)]
    pub payment_flow: Option<PaymentFlow>,
    /// The cards, in the order in which they are charged.
    #[schema(value_type = Payments)]
    pub payments: List<Payment, 0, PAYMENTS_READ_MAX>,
}

/// One card of a purchase: `cardId` or `tokenId`. Other members are refused.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems, deny_unknown_fields = not_a_member)]
#[schema(as = NewPurchasePayment, rename_all = "camelCase")]
pub struct SentPayment {
    /// A stored card.
    #[deserr(default)]
    pub card_id: Option<CardId>,
    /// A card token.
    #[deserr(default)]
    pub token_id: Option<TokenId>,
    /// Its part of the sum, in cents; 100 at least, unless the operator has set another minimum.
    #[schema(value_type = PositiveAmount)]
    pub amount: Amount,
    /// Number of installments.
    #[deserr(default)]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 24, default = 1)]
    pub installments: Option<Installments>,
    /// Security code of a stored card, when the buyer is present.
    #[deserr(default)]
    pub card_cvv: Option<Cvv>,
    /// A CVV token instead of `cardCvv`; it wins.
    #[deserr(default)]
    pub token_cvv: Option<TokenId>,
}

fn not_a_member(name: &str, _: &[&str], location: ValuePointerRef<'_>) -> Problems {
    refused(location.push_key(name), "is not a member of a payment")
}

/// One card of a purchase, whose security code goes with a stored card.
pub struct Payment(pub SentPayment);

impl Deserr<Problems> for Payment {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let sent: Json = Deserr::<Problems>::deserialize_from_value(value, location)?;
        let has = |name: &str| sent.get(name).is_some_and(|value| !value.is_null());
        let mut problems = Problems::new();
        for name in ["cardCvv", "tokenCvv"].into_iter().filter(|name| has(name) && !has("cardId")) {
            problems.extend(refused(location.push_key(name), "is only for a cardId"));
        }
        match SentPayment::deserialize_from_value(sent.into_value(), location) {
            Ok(read) => problems.into_result().map(|()| Self(read)),
            Err(mut found) => {
                found.extend(problems);
                Err(found)
            }
        }
    }
}

impl PartialSchema for Payment {
    fn schema() -> RefOr<Schema> {
        SentPayment::schema()
    }
}

impl ToSchema for Payment {
    fn name() -> Cow<'static, str> {
        SentPayment::name()
    }

    fn schemas(found: &mut Vec<(String, RefOr<Schema>)>) {
        SentPayment::schemas(found);
    }
}
