//! `POST /v1/charges`: makes an order of the body (`docs/interface/charges.md#creating`). The body reads itself; what this deployment
//! says against it is looked for here, in the members as sent.

mod addresses;

use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::References;
use regente_domain::charge::sent::{FraudAnalysis, NewCharge, NewPaymentSource, PaymentFlow};
use regente_domain::currency::Currency;
use regente_domain::problems::Problems;
use regente_domain::wire::tagged::peek;
use regente_domain::wire::{Text, Verbatim};
use regente_engine::anti_fraud::FRAUD_ANALYSIS;
use regente_engine::charges::sent::paid_by;
use regente_engine::charges::{Buyer, ChargeOrder, Origin};
use regente_engine::transaction_requests::call::SANDBOX_FAULTS;
use regente_providers::request::Mode;
use regente_providers::sandbox;
use serde_json::{Map, Value};

pub use self::addresses::{parsed_address, settle_method};
use crate::api::fields::Body;
use crate::api::split_rules;

/// The member with the payment method.
pub(super) const PAYMENT_METHOD: &str = "paymentMethod";
const PAYMENT_FLOW: &str = "paymentFlow";

/// Reads the order.
///
/// # Errors
/// Every problem that was found.
pub fn read(body: &Body, mode: Mode) -> Result<ChargeOrder, Problems> {
    let mut members = body.members().clone();
    let problems = settle(&mut members, mode);
    let (charge, source) = NewCharge::read(members, problems)?;
    split_rules::note_both_fees(&charge.split_rules);
    order(charge, source).ok_or_else(not_valid)
}

/// Writes the addresses of a body that pays as the parser does. Answers what the mode has against the body.
pub(super) fn settle(members: &mut Map<String, Value>, mode: Mode) -> Problems {
    let mut problems = Problems::new();
    addresses::settle(members, mode, &mut problems);
    let flow: Option<PaymentFlow> = peek(members, PAYMENT_FLOW);
    problems.extend(flow.and_then(|flow| wrong_faults(flow.metadata.members(), mode)).unwrap_or_default());
    problems
}

/// Of a body that nobody can say more about.
pub(super) fn not_valid() -> Problems {
    Problems::one("body", "is not valid")
}

/// `None` where the source is not one of the method.
fn order(charge: NewCharge, source: NewPaymentSource) -> Option<ChargeOrder> {
    let (paid_by, mut private) = paid_by(charge.payment_method, source)?;
    private.extend(sealed(charge.fraud_analysis));
    let order = ChargeOrder {
        origin: Origin::Request,
        merchant_id: charge.merchant_id,
        amount: charge.amount,
        currency: charge.currency.unwrap_or(Currency::BRL),
        capture: CaptureMode::from_flag(charge.capture.unwrap_or(false)),
        order_id: Verbatim::given(charge.order_id),
        buyer: charge.customer_id.map(Buyer::Named),
        paid_by,
        authentication: None,
        split_rules: charge.split_rules,
        references: References {
            description: Text::given(charge.description),
            statement_descriptor: Text::given(charge.statement_descriptor),
            provider_reference_key: Verbatim::given(charge.provider_reference_key),
            flow_metadata: flow_metadata(charge.payment_flow),
            app_info: charge.app_info.map(|info| Value::Object(info.into_members())),
        },
        vendor: charge.vendor,
        private,
    };
    Some(match charge.three_d_secure2 {
        Some(data) => order.authenticated(data),
        None => order,
    })
}

/// The data for risk analysis, as they are sealed.
pub(super) fn sealed(data: Option<FraudAnalysis>) -> Option<(String, Value)> {
    data.map(|FraudAnalysis(data)| (FRAUD_ANALYSIS.to_owned(), Value::Object(data)))
}

/// The values for the conditions of smart flows.
pub(super) fn flow_metadata(flow: Option<PaymentFlow>) -> Option<Value> {
    flow.map(|flow| Value::Object(flow.metadata.into_members()))
}

/// What is wrong with the simulator overrides in the metadata of a flow. They count in the sandbox alone.
pub fn wrong_faults(metadata: &Map<String, Value>, mode: Mode) -> Option<Problems> {
    let faults = metadata.get(SANDBOX_FAULTS).filter(|_| mode == Mode::Sandbox)?;
    sandbox::validate(faults, &format!("paymentFlow.metadata.{SANDBOX_FAULTS}")).err()
}
