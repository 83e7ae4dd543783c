//! A session as answers and events show it (`docs/interface/sessions.md#record`).

use regente_domain::currency::Currency;
use regente_domain::id::{ClientId, MerchantId, SessionId, SubscriptionId};
use regente_domain::money::Amount;
use regente_domain::payment_type::PaymentType;
use regente_domain::session::{Availability, Item, OfferedMethod, Session, SessionStatus};
use regente_domain::time::Timestamp;
use regente_domain::vendor::NamedVendor;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::{Array, Ref};
use uuid::Uuid;

use super::masked;
use super::split::SplitRuleView;

/// The member of NuPay for those who get a part of the money.
pub const RECIPIENTS: &str = "recipients";

/// A session.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SessionMembers)]
pub struct SessionView {
    id: SessionId,
    #[schema(required = true)]
    name: Option<String>,
    status: SessionStatus,
    is_active: bool,
    captcha_enabled: bool,
    client_id: ClientId,
    merchant_id: MerchantId,
    /// The subscription for which it takes another card; absent where it takes payments.
    #[serde(skip_serializing_if = "Option::is_none")]
    subscription_id: Option<SubscriptionId>,
    #[schema(required = true)]
    order_id: Option<String>,
    /// What a buyer pays, in the minor unit of the currency.
    #[schema(value_type = i64, example = 10000)]
    amount: Amount,
    currency: Currency,
    capture: bool,
    /// When it can be paid no longer; absent where it always can.
    #[serde(skip_serializing_if = "Option::is_none")]
    due_date: Option<Timestamp>,
    #[schema(required = true)]
    description: Option<String>,
    #[schema(required = true)]
    statement_descriptor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_reference_key: Option<String>,
    /// In whose name its charges are taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    vendor: Option<Box<NamedVendor>>,
    items: Vec<Item>,
    #[schema(schema_with = offered_methods)]
    payment_methods: Vec<OfferedMethod>,
    /// How its charges are divided among sellers; absent where they are not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    split_rules: Vec<SplitRuleView>,
    /// The address of its page, of a session with `createLink`. Absent in events.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_link: Option<String>,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// The key of the session, for `X-Api-Key` in the page of a buyer. Absent in events.
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key: Option<Uuid>,
    multiple_payments: MultiplePaymentsView,
}

/// How often a session was paid, and can be.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SessionPayments)]
struct MultiplePaymentsView {
    /// Whether it has `maxPayments`.
    allow: bool,
    /// Null where one payment ends it, -1 where none does.
    #[schema(required = true)]
    max_payments: Option<i64>,
    /// Payments that were made.
    payment_count: i64,
    /// Payments that are under way.
    pending_count: i64,
    /// Whether a payment can start.
    status: Availability,
}

/// Requests describe them.
fn offered_methods() -> Array {
    Array::new(Ref::from_schema_name("OfferedMethod"))
}

impl SessionView {
    /// Builds the view as of `now`.
    pub fn of(session: &Session, now: Timestamp) -> Self {
        let max_payments = session.capacity.max_payments();
        let terms = session.terms.clone();
        Self {
            id: session.id,
            name: terms.name,
            status: session.status,
            is_active: session.is_active,
            captcha_enabled: terms.captcha_enabled,
            client_id: session.client_id,
            merchant_id: session.merchant_id,
            subscription_id: session.card_wanted.map(|wanted| wanted.subscription_id),
            order_id: session.order_id.clone(),
            amount: session.amount,
            currency: session.currency,
            capture: terms.capture,
            due_date: session.due_at,
            description: terms.description,
            statement_descriptor: terms.statement_descriptor,
            provider_reference_key: terms.provider_reference_key,
            vendor: terms.vendor,
            items: terms.items,
            payment_methods: terms.methods,
            split_rules: terms.split_rules.iter().map(SplitRuleView::of).collect(),
            payment_link: None,
            created_at: session.id.created_at(),
            updated_at: session.updated_at,
            public_key: None,
            multiple_payments: MultiplePaymentsView {
                allow: max_payments.is_some(),
                max_payments,
                payment_count: session.tally.paid,
                pending_count: session.tally.authorizing + session.tally.pending,
                status: session.availability(now),
            },
        }
    }

    /// The view as everybody but the merchant is shown it.
    pub fn for_others(self) -> Self {
        Self {
            name: masked(self.name.as_deref()),
            order_id: masked(self.order_id.as_deref()),
            provider_reference_key: masked(self.provider_reference_key.as_deref()),
            description: masked(self.description.as_deref()),
            statement_descriptor: masked(self.statement_descriptor.as_deref()),
            ..self
        }
    }

    /// The view with the session's key, and its address if it has a payment link.
    pub fn with_access(self, public_key: Uuid, payment_link: Option<String>) -> Self {
        Self { public_key: Some(public_key), payment_link, ..self }
    }

    /// The view with the recipients of its NuPays; only for secret keys.
    pub fn with_nupay_recipients(mut self, recipients: Value) -> Self {
        let mut methods = self.payment_methods.iter_mut();
        if let Some(nupay) = methods.find(|method| method.payment_type == PaymentType::Nupay) {
            nupay.terms.insert(RECIPIENTS.to_owned(), recipients);
        }
        self
    }
}
