//! What charges, purchases and payments of sessions are sent, as structs that read themselves (decision 36).

mod charge;
mod items;
mod late_charge;
mod method;
mod page_address;
mod paid;
mod payer;
mod source;
mod three_d_secure;
mod wallet;

use std::borrow::Cow;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde_json::{Map, Value as Json};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::problems::Problems;
use crate::wire::{AsSent, Integer, Object, OneOrMany, refused};

pub use charge::NewCharge;
pub use items::Item;
pub(crate) use items::Items;
pub use late_charge::LateCharge;
pub use method::*;
pub(crate) use method::{AdditionalInfos, Delay, Installments, Instructions, Recipients, Seconds};
pub(crate) use page_address::{PageAddress, ShownAddress};
pub(crate) use paid::{read_paid, type_of};
pub use payer::Payer;
pub use source::*;
pub use three_d_secure::{AddressData, Browser, CardHolderData, Mpi, ThreeDSecure};
pub(crate) use three_d_secure::{SentThreeDSecure, of_sent};
pub use wallet::*;

/// The most bytes of one free-form object.
const FREE_FORM_BYTES_MAX: usize = 16 * 1024;
/// Items of a cart, and of a method.
const ITEMS_MAX: usize = 1000;

/// An object that is stored or passed on as sent.
pub type FreeForm = Object<FREE_FORM_BYTES_MAX>;
type RiskObject = Object<{ FraudAnalysis::BYTES_MAX }>;
type Sla = Integer<0, { i32::MAX as i64 }>;
type CartItems = OneOrMany<FreeForm, 0, ITEMS_MAX>;

/// Values for the conditions of smart flows.
#[derive(Clone, Debug, Deserr, ToSchema)]
#[deserr(error = Problems)]
pub struct PaymentFlow {
    /// The values.
    #[schema(value_type = FreeForm)]
    pub metadata: FlowMetadata,
}

/// `paymentFlow.metadata`. The names of what conditions know of a charge by themselves are not taken
/// (`docs/interface/flows.md#metadata`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowMetadata(FreeForm);

impl FlowMetadata {
    /// The names that are not taken.
    pub const RESERVED: [&str; 7] =
        ["currency", "cardBin", "installments", "amount", "brand", "paymentType", "operation"];

    /// The values by their names.
    pub const fn members(&self) -> &Map<String, Json> {
        self.0.members()
    }

    /// The same, for whoever keeps them.
    pub fn into_members(self) -> Map<String, Json> {
        self.0.into_members()
    }
}

impl Deserr<Problems> for FlowMetadata {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let sent = FreeForm::deserialize_from_value(value, location)?;
        let mut problems = Problems::default();
        for name in Self::RESERVED.iter().filter(|name| sent.members().contains_key(**name)) {
            problems.extend(refused(
                location.push_key(name),
                "must not be used: conditions know it as `transaction.*`",
            ));
        }
        problems.into_result().map(|()| Self(sent))
    }
}

/// Data for risk analysis: free-form, but known members are checked. It is kept as sent.
#[derive(Clone)]
pub struct FraudAnalysis(pub Map<String, Json>);

impl FraudAnalysis {
    /// The most bytes when written without white space.
    pub const BYTES_MAX: usize = 64 * 1024;
}

#[derive(Deserr)]
#[deserr(error = Problems)]
#[expect(dead_code, reason = "what is sent is checked by it, and kept as it is")]
struct KnownMembers {
    #[deserr(default)]
    sla: Option<Sla>,
    #[deserr(default)]
    customer: Option<RiskObject>,
    #[deserr(default)]
    cart: Option<Cart>,
}

#[derive(Deserr)]
#[deserr(error = Problems)]
#[expect(dead_code, reason = "what is sent is checked by it, and kept as it is")]
struct Cart {
    #[deserr(default)]
    items: Option<CartItems>,
}

impl Deserr<Problems> for FraudAnalysis {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let sent: Json = Deserr::<Problems>::deserialize_from_value(value, location)?;
        bounded_as_sent::<KnownMembers>(sent, location, Self::BYTES_MAX).map(Self)
    }
}

/// An object of at most so many bytes whose known members are those of a `T`. All members are kept as sent.
fn bounded_as_sent<T: Deserr<Problems>>(
    sent: Json,
    location: ValuePointerRef<'_>,
    bytes_max: usize,
) -> Result<Map<String, Json>, Problems> {
    let is_too_large = sent.is_object() && sent.to_string().len() > bytes_max;
    let read = AsSent::<T>::deserialize_from_value(sent.into_value(), location);
    let mut problems = Problems::new();
    if is_too_large {
        problems.extend(refused(location, format_args!("must not be larger than {bytes_max} bytes")));
    }
    match read.map(AsSent::into_json) {
        Ok(Json::Object(members)) => problems.into_result().map(|()| members),
        Ok(Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_)) => {
            Err(refused(location, "must be an object"))
        }
        Err(mut found) => {
            found.extend(problems);
            Err(found)
        }
    }
}

impl PartialSchema for FraudAnalysis {
    fn schema() -> RefOr<Schema> {
        RiskObject::schema()
    }
}

impl ToSchema for FraudAnalysis {
    fn name() -> Cow<'static, str> {
        RiskObject::name()
    }
}
