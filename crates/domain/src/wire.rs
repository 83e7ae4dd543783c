//! Types of the interface's bodies. A struct made of them is spelled once: it reads itself ([`deserr::Deserr`]), with all
//! problems of a body at once in the words of `docs/interface/conventions.md#problems`, and it is its own schema
//! ([`utoipa::ToSchema`]), so that what is documented is what is checked.
//!
//! ```ignore
//! #[skip_serializing_none]
//! #[derive(Serialize, Deserialize, Deserr, ToSchema)]
//! #[serde(rename_all = "camelCase")]
//! #[deserr(rename_all = camelCase, error = Problems)]
//! pub struct Address {
//!     /// Street.
//!     pub street: Text<1, 255>,
//!     /// Apartment, floor and the like.
//!     #[deserr(default)]
//!     pub complement: Option<Text<0, 255>>,
//! }
//! ```
//!
//! Null counts as absent (`docs/interface/conventions.md#requests`), and members that a struct does not know are left out.

mod as_sent;
mod card_data;
mod ids_and_times;
mod list;
mod located;
mod number;
mod object;
mod patch;
mod path;
mod reading;
mod schema;
pub mod tagged;
mod text;

pub use as_sent::{AsSent, Json, Kept};
pub use card_data::CardData;
pub use ids_and_times::{NOT_A_DATE, day, moment, uuid};
pub use list::{List, OneOrMany};
pub use located::Located;
pub(crate) use number::integer_from;
pub use number::{Decimal, INTEGER_MAX, Integer, NOT_A_NUMBER, hundredths_within, integer_of, plain, within};
pub use object::{Object, VerbatimObject};
pub use patch::Patch;
pub use path::Path;
pub(crate) use reading::text_as;
pub use reading::{OfMember, Rule, not_among, read, read_parts, read_with, refused};
pub use schema::{IN_PLACE, add_null, all_optional, flattened, name_in, one_of, whole};
pub use text::{Digits, EmailAddress, Text, Verbatim, within_chars};
