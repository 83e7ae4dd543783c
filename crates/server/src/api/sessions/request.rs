//! `POST /v1/sessions`: makes a session of the body (`docs/interface/sessions.md#creating`). The body reads itself; what this deployment
//! says against it is looked for here, in the members as sent.

use deserr::ValuePointerRef;
use regente_domain::currency::Currency;
use regente_domain::problems::Problems;
use regente_domain::session::sent::{self, Offer, Offers};
use regente_domain::session::{Capacity, OfferedMethod, Terms};
use regente_engine::sessions::create::NewSession;
use regente_engine::sessions::opened::Private;
use regente_providers::request::Mode;
use serde_json::{Map, Value};

use crate::api::charges::request::settle_method;
use crate::api::fields::Body;
use crate::api::split_rules;

const PAYMENT_METHODS: &str = "paymentMethods";

/// Reads the session.
///
/// # Errors
/// Every problem that was found.
pub(super) fn read(body: &Body, mode: Mode) -> Result<NewSession, Problems> {
    let mut members = body.members().clone();
    let mut problems = Problems::new();
    settle_offers(&mut members, mode, &mut problems);
    let sent = sent::NewSession::read(members, problems)?;
    split_rules::note_both_fees(&sent.split_rules);
    new_session(sent).ok_or_else(|| Problems::one("body", "is not valid"))
}

/// Writes the addresses of the methods as the parser does, and notes those that are none. Of an array that is too long nothing is said.
fn settle_offers(members: &mut Map<String, Value>, mode: Mode, problems: &mut Problems) {
    let Some(Value::Array(offers)) = members.get_mut(PAYMENT_METHODS) else { return };
    if offers.len() > OfferedMethod::TYPES.len() {
        return;
    }
    let origin = ValuePointerRef::Origin;
    let at = origin.push_key(PAYMENT_METHODS);
    for (index, offer) in offers.iter_mut().enumerate() {
        if let Value::Object(offer) = offer {
            settle_method(offer, at.push_index(index), mode, problems);
        }
    }
}

/// `None` where the items are worth more than an amount can be.
fn new_session(sent: sent::NewSession) -> Option<NewSession> {
    let amount = sent.amount()?;
    let Offers(offers) = sent.payment_methods;
    let (methods, recipients): (Vec<_>, Vec<_>) =
        offers.into_iter().map(|Offer { method, recipients }| (method, recipients)).unzip();
    let nupay_recipients = recipients.into_iter().flatten().next();
    Some(NewSession {
        merchant_id: sent.merchant_id,
        amount,
        currency: sent.currency.unwrap_or(Currency::BRL),
        order_id: sent.order_id,
        is_active: sent.is_active.unwrap_or(true),
        due_at: sent.due_date,
        capacity: sent.max_payments.unwrap_or(Capacity::One),
        terms: Terms {
            name: sent.name,
            description: sent.description,
            statement_descriptor: sent.statement_descriptor,
            provider_reference_key: sent.provider_reference_key,
            capture: sent.capture.unwrap_or(true),
            captcha_enabled: sent.captcha_enabled.unwrap_or(false),
            create_link: sent.create_link.unwrap_or(false),
            vendor: sent.vendor,
            items: sent.items,
            methods,
            split_rules: sent.split_rules,
        },
        private: Private {
            nupay_recipients: nupay_recipients.and_then(|all| serde_json::to_value(all).ok()),
        },
    })
}
