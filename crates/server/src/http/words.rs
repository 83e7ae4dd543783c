//! Makes the closed lists of the interface components of the OpenAPI document, and declares the lists that errors use.
//! All others are in `api/schema/words.rs`.

use regente_domain::decline;

use super::business_code;

/// Declares a type for each list, which stands for it in the document. The words come from the table that the parser
/// and the answers use.
macro_rules! closed_lists {
    ($($(#[doc = $doc:literal])+ $name:ident = $words:expr;)*) => {
        $($(#[doc = $doc])+
        #[derive(Debug)]
        pub enum $name {}

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                regente_domain::wire::one_of(concat!($($doc),+), $words)
            }
        }

        impl utoipa::ToSchema for $name {
            fn name() -> std::borrow::Cow<'static, str> {
                std::borrow::Cow::Borrowed(stringify!($name))
            }
        })*
    };
}

pub(crate) use closed_lists;

closed_lists! {
    /// Why a payment was refused.
    DeclinedCode = decline::DeclinedCode::all().map(decline::DeclinedCode::code);
    /// The stable name of a rule that was broken.
    BusinessCode = business_code::CODES;
}
