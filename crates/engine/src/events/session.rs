//! A session as answers and events show it (`docs/interface/sessions.md#record`).

use regente_domain::id::{ClientId, MerchantId, SessionId};
use regente_domain::money::Amount;
use regente_domain::payment_type::PaymentType;
use regente_domain::session::{Item, OfferedMethod, Session};
use regente_domain::time::Timestamp;
use regente_domain::vendor::NamedVendor;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::masked;
use super::split::SplitRuleView;

/// The member of NuPay for those who get a part of the money.
pub const RECIPIENTS: &str = "recipients";

/// A session.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    id: SessionId,
    name: Option<String>,
    /// `created`, `paid`, `canceled` or `voided`.
    status: &'static str,
    is_active: bool,
    captcha_enabled: bool,
    client_id: ClientId,
    merchant_id: MerchantId,
    order_id: Option<String>,
    amount: Amount,
    currency: &'static str,
    capture: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    due_date: Option<Timestamp>,
    description: Option<String>,
    statement_descriptor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_reference_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vendor: Option<Box<NamedVendor>>,
    items: Vec<Item>,
    payment_methods: Vec<OfferedMethod>,
    /// How its charges are divided among sellers; absent where they are not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    split_rules: Vec<SplitRuleView>,
    /// The address of its page; only in answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_link: Option<String>,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// Its key; only in answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key: Option<Uuid>,
    multiple_payments: MultiplePaymentsView,
}

/// How often a session was paid, and can be.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct MultiplePaymentsView {
    allow: bool,
    max_payments: Option<i64>,
    payment_count: i64,
    pending_count: i64,
    /// `active`, `disabled` or `canceled`.
    status: &'static str,
}

impl SessionView {
    /// Builds the view as of `now`.
    pub fn of(session: &Session, now: Timestamp) -> Self {
        let max_payments = session.capacity.max_payments();
        let terms = session.terms.clone();
        Self {
            id: session.id,
            name: terms.name,
            status: session.status.word(),
            is_active: session.is_active,
            captcha_enabled: terms.captcha_enabled,
            client_id: session.client_id,
            merchant_id: session.merchant_id,
            order_id: session.order_id.clone(),
            amount: session.amount,
            currency: session.currency.code(),
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
                status: session.availability(now).word(),
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
