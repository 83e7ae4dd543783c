//! What a buyer sends who pays a session (`docs/interface/sessions.md#paying`).

use deserr::Deserr;
use serde_json::{Map, Value as Json};
use utoipa::ToSchema;

use super::chosen::ChosenMethod;
use crate::charge::sent::{
    FraudAnalysis, NewPaymentMethod, NewPaymentSource, PaymentFlow, SentThreeDSecure, ThreeDSecure, of_sent,
    read_paid,
};
use crate::id::CustomerId;
use crate::problems::Problems;

/// With what a buyer pays. Members that the session gives are ignored.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase", example = json!({
    "paymentMethod": { "paymentType": "credit", "installments": 2 },
    "paymentSource": { "sourceType": "token", "tokenId": "cc0b1e41-2936-45c5-947f-93995ffcdc00" }
}))]
#[expect(missing_docs, reason = "the types of some members say it")]
pub struct SessionPayment {
    // That of a charge: what the buyer chooses, and the terms of the session.
    #[schema(value_type = ChosenMethod)]
    pub payment_method: NewPaymentMethod,
    // Read beside the other members, by the rule of the method.
    #[deserr(skip)]
    #[schema(value_type = NewPaymentSource)]
    pub payment_source: (),
    /// The buyer, or an alias of one.
    #[deserr(default)]
    pub customer_id: Option<CustomerId>,
    /// Data for risk analysis; stored sealed.
    #[deserr(default)]
    pub fraud_analysis: Option<FraudAnalysis>,
    /// Used where the session authenticates cardholders.
    #[deserr(rename = "threeDSecure2", default, from(Option<SentThreeDSecure>) = of_sent)]
    #[schema(value_type = Option<ThreeDSecure>)]
    pub three_d_secure2: Option<Box<ThreeDSecure>>,
    /// Values for the conditions of smart flows.
    #[deserr(default)]
    #[schema(value_type = Option<Object>)]
    pub payment_flow: Option<PaymentFlow>,
}

impl SessionPayment {
    /// Reads a payment, and with what is paid. The members are those that were sent, with what the session says in place of what
    /// does not count. `others` are problems that cannot be seen here.
    ///
    /// # Errors
    /// Every problem that was found, and then those others.
    pub fn read(sent: Map<String, Json>, others: Problems) -> Result<(Self, NewPaymentSource), Problems> {
        read_paid(sent, others)
    }
}
