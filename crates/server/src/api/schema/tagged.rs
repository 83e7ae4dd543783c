//! Sum types of answers in the OpenAPI document: `oneOf` with a discriminator.

/// Declares a sum type: its tag, and for each word the type of the variant's other members.
macro_rules! tagged {
    ($($(#[doc = $doc:literal])+ $visibility:vis $name:ident by $tag:literal { $($word:expr => $variant:ty),+ $(,)? })*) => {
        $($(#[doc = $doc])+
        #[derive(Debug)]
        $visibility enum $name {}

        ::regente_domain::tagged_schema!($name, concat!($($doc),+), by $tag { $($word => $variant),+ });
        )*
    };
}
pub(crate) use tagged;
