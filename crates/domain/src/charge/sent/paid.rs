//! What pays: the method, its source, and what goes with them. The type of the method says how the source is read and what goes with it,
//! also where something else is wrong with the method.

use deserr::{Deserr, IntoValue, ValuePointerRef};
use serde_json::{Map, Value as Json};

use super::three_d_secure::Told;
use super::{CodeRule, FraudAnalysis, NewPaymentSource, SourceRule};
use crate::payment_type::PaymentType;
use crate::problems::Problems;
use crate::wire::read;
use crate::wire::tagged::{members, peek};

const PAYMENT_METHOD: &str = "paymentMethod";
const PAYMENT_TYPE: &str = "paymentType";
const PAYMENT_SOURCE: &str = "paymentSource";
const THREE_D_SECURE: &str = "threeDSecure2";
const FRAUD_ANALYSIS: &str = "fraudAnalysis";

/// Reads a body that pays: a `T` with its method, and the source. Where the type of the method is unknown, that of a card is read.
///
/// # Errors
/// Every problem that was found: those of the members, of the source, of what does not go together, and then `others`.
pub(crate) fn read_paid<T: Deserr<Problems>>(
    mut sent: Map<String, Json>,
    others: Problems,
) -> Result<(T, NewPaymentSource), Problems> {
    let (mut rule, mut problems) = (SourceRule::Card(CodeRule::Required), Problems::new());
    if let Some(Json::Object(method)) = sent.get(PAYMENT_METHOD)
        && let Some(payment_type) = type_of(method)
    {
        rule = SourceRule::of(payment_type, method);
        must_suit(&sent, payment_type, &mut problems);
    }
    problems.extend(others);
    // Taken out: it is read once, and the texts of a card are wiped.
    let source = source(sent.shift_remove(PAYMENT_SOURCE), rule);
    match (read(sent), source) {
        (Ok(read), Ok(source)) => problems.into_result().map(|()| (read, source)),
        (read, source) => {
            let mut found = read.err().unwrap_or_default();
            found.extend(source.err().unwrap_or_default());
            found.extend(problems);
            Err(found)
        }
    }
}

/// The type of a method, if it has one of those that there are.
pub(crate) fn type_of(method: &Map<String, Json>) -> Option<PaymentType> {
    method.get(PAYMENT_TYPE)?.as_str().and_then(PaymentType::parse)
}

fn source(sent: Option<Json>, rule: SourceRule) -> Result<NewPaymentSource, Problems> {
    let origin = ValuePointerRef::Origin;
    let at = origin.push_key(PAYMENT_SOURCE);
    let sent = members(sent.unwrap_or_default().into_value(), at)?;
    NewPaymentSource::read(sent, at, rule)
}

/// Whether the cardholder of a charge is authenticated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AuthenticationRule {
    /// They are.
    Required,
    /// They are when the merchant wants it.
    Optional,
    /// There is no way to do it.
    Impossible,
}

impl AuthenticationRule {
    const fn of(payment_type: PaymentType) -> Self {
        match payment_type {
            PaymentType::Debit => Self::Required,
            PaymentType::Credit => Self::Optional,
            PaymentType::Voucher
            | PaymentType::Pix
            | PaymentType::Nupay
            | PaymentType::Drip
            | PaymentType::Picpay
            | PaymentType::ApplePay
            | PaymentType::ClickToPay
            | PaymentType::Boleto => Self::Impossible,
        }
    }
}

/// Whether authentication and data for risk analysis go with the method.
fn must_suit(sent: &Map<String, Json>, payment_type: PaymentType, problems: &mut Problems) {
    let authentication = sent.get(THREE_D_SECURE).filter(|data| !data.is_null());
    match (AuthenticationRule::of(payment_type), authentication) {
        (AuthenticationRule::Required, None) => {
            problems.add(THREE_D_SECURE, "should not be empty: a debit card is authenticated");
        }
        (AuthenticationRule::Required, Some(Json::Object(data))) => must_authenticate(&Told(data), problems),
        (AuthenticationRule::Impossible, Some(_)) => {
            problems.add(THREE_D_SECURE, "must be absent for this paymentType");
        }
        (AuthenticationRule::Required, Some(_))
        | (AuthenticationRule::Impossible, None)
        | (AuthenticationRule::Optional, _) => {}
    }
    // The provider of a NuPay must be told what is in the cart.
    if payment_type == PaymentType::Nupay {
        let data: Option<FraudAnalysis> = peek(sent, FRAUD_ANALYSIS);
        if !data.is_some_and(|FraudAnalysis(data)| has_cart_items(&data)) {
            problems.add("fraudAnalysis.cart.items", "should not be empty: a nupay shows them to the payer");
        }
    }
}

/// A debit card is authenticated: to share data is not enough, and a result from outside says that it was done.
fn must_authenticate(data: &Told<'_>, problems: &mut Problems) {
    if data.shares_data_alone() {
        problems.add("threeDSecure2.dataOnly", "must be false: a debit card is authenticated");
    }
    if let Some(mpi) = data.mpi() {
        if !mpi.says_authenticated() {
            problems.add("threeDSecure2.mpi.transStatus", "must be Y or A: a debit card is authenticated");
        }
        if !mpi.is_proven() && !data.must_shift() {
            problems.add("threeDSecure2.mpi.cavv", "should not be empty: a debit card is authenticated");
        }
    }
}

/// Whether the data for risk analysis say what is in the cart.
fn has_cart_items(data: &Map<String, Json>) -> bool {
    match data.get("cart").and_then(|cart| cart.get("items")) {
        Some(Json::Array(items)) => !items.is_empty(),
        Some(Json::Object(item)) => !item.is_empty(),
        Some(Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_)) | None => false,
    }
}
