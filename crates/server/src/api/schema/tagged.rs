//! Sum types in the OpenAPI document: `oneOf` with a discriminator. Each variant is a component whose first member is
//! the tag, with the variant's only word.

use std::borrow::Cow;

use utoipa::openapi::schema::Discriminator;
use utoipa::openapi::{ObjectBuilder, OneOfBuilder, Ref, RefOr, Schema, Type};

/// Schemas with their names, as components hold them.
pub type Components = Vec<(String, RefOr<Schema>)>;

/// A variant: the tag's word, the component's name, and the schema of the other members.
#[derive(Debug)]
pub struct Variant {
    /// The value of the tag.
    pub word: &'static str,
    /// The name of the component.
    pub name: Cow<'static, str>,
}

/// The `oneOf` of the variants, with `tag` as the discriminator.
pub fn sum(description: &str, tag: &str, variants: &[Variant]) -> RefOr<Schema> {
    let reference = |variant: &Variant| Ref::from_schema_name(variant.name.as_ref());
    let mapping = variants.iter().map(|variant| (variant.word, reference(variant).ref_location));
    let mut sum = OneOfBuilder::new()
        .description(Some(description.trim()))
        .discriminator(Some(Discriminator::with_mapping(tag, mapping)));
    for variant in variants {
        sum = sum.item(reference(variant));
    }
    RefOr::T(sum.into())
}

/// The object schema with the tag as its first member.
pub fn with_tag(tag: &str, word: &'static str, schema: RefOr<Schema>) -> RefOr<Schema> {
    match schema {
        RefOr::T(Schema::Object(mut object)) => {
            let value = ObjectBuilder::new().schema_type(Type::String).enum_values(Some([word]));
            object.properties.shift_insert(0, tag.to_owned(), RefOr::T(value.into()));
            object.required.insert(0, tag.to_owned());
            RefOr::T(Schema::Object(object))
        }
        other @ (RefOr::Ref(_) | RefOr::T(_)) => other,
    }
}

/// Declares a sum type: its tag, and for each word the type of the variant's other members.
macro_rules! tagged {
    ($($(#[doc = $doc:literal])+ $visibility:vis $name:ident by $tag:literal { $($word:expr => $variant:ty),+ $(,)? })*) => {
        $($(#[doc = $doc])+
        #[derive(Debug)]
        $visibility enum $name {}

        impl ::utoipa::PartialSchema for $name {
            fn schema() -> ::utoipa::openapi::RefOr<::utoipa::openapi::Schema> {
                let variants = [$($crate::api::schema::tagged::Variant {
                    word: $word,
                    name: <$variant as ::utoipa::ToSchema>::name(),
                }),+];
                $crate::api::schema::tagged::sum(concat!($($doc),+), $tag, &variants)
            }
        }

        impl ::utoipa::ToSchema for $name {
            fn name() -> ::std::borrow::Cow<'static, str> {
                ::std::borrow::Cow::Borrowed(stringify!($name))
            }

            fn schemas(found: &mut $crate::api::schema::tagged::Components) {
                $(
                    let schema = <$variant as ::utoipa::PartialSchema>::schema();
                    let schema = $crate::api::schema::tagged::with_tag($tag, $word, schema);
                    found.push((<$variant as ::utoipa::ToSchema>::name().into_owned(), schema));
                    <$variant as ::utoipa::ToSchema>::schemas(found);
                )+
            }
        })*
    };
}
pub(crate) use tagged;
