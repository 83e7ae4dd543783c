//! Sum types in bodies: one member says which of them an object is, as `paymentType` does. In the document they are a `oneOf` with a
//! discriminator; each variant is a component whose first member is the tag, with the variant's only word.

use std::borrow::Cow;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde_json::{Map, Value as Json};
use utoipa::openapi::schema::Discriminator;
use utoipa::openapi::{ObjectBuilder, OneOfBuilder, Ref, RefOr, Schema, Type};

use super::reading::{EMPTY, not_among, refused};
use crate::problems::Problems;

/// Schemas with their names, as components hold them.
pub type Components = Vec<(String, RefOr<Schema>)>;

/// The members of an object.
///
/// # Errors
/// That it is none.
pub fn members<V: IntoValue>(
    value: Value<V>,
    location: ValuePointerRef<'_>,
) -> Result<Map<String, Json>, Problems> {
    match Deserr::<Problems>::deserialize_from_value(value, location)? {
        Json::Object(members) => Ok(members),
        Json::Null => Err(refused(location, EMPTY)),
        Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => {
            Err(refused(location, "must be an object"))
        }
    }
}

/// What the member `tag` says, one of these words.
///
/// # Errors
/// That it is not there, or another word.
pub fn tag_of<T: Copy>(
    members: &Map<String, Json>,
    location: ValuePointerRef<'_>,
    tag: &str,
    words: &[(&'static str, T)],
) -> Result<T, Problems> {
    let at = location.push_key(tag);
    let sent = members.get(tag).filter(|sent| !sent.is_null()).ok_or_else(|| refused(at, EMPTY))?;
    let known = sent.as_str().and_then(|sent| words.iter().find(|(word, _)| *word == sent));
    known
        .map(|(_, meaning)| *meaning)
        .ok_or_else(|| refused(at, not_among(words.iter().map(|(word, _)| *word))))
}

/// Reads the members of a variant.
///
/// # Errors
/// Every problem that was found.
pub fn variant<T: Deserr<Problems>>(
    members: Map<String, Json>,
    location: ValuePointerRef<'_>,
) -> Result<T, Problems> {
    T::deserialize_from_value(Json::Object(members).into_value(), location)
}

/// A member that is right by itself; `None` where it is absent, null or wrong. For rules between members, which are told beside what is
/// wrong with others.
pub fn peek<T: Deserr<Problems>>(members: &Map<String, Json>, name: &str) -> Option<T> {
    let value = members.get(name).filter(|value| !value.is_null())?;
    T::deserialize_from_value(value.clone().into_value(), ValuePointerRef::Origin).ok()
}

/// A variant: the tag's word and the component's name.
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

/// The schema of a sum type: its description, its tag, and for each word the type of the variant's other members.
#[macro_export]
macro_rules! tagged_schema {
    ($name:ident, $description:expr, by $tag:literal { $($word:expr => $variant:ty),+ $(,)? }) => {
        impl ::utoipa::PartialSchema for $name {
            fn schema() -> ::utoipa::openapi::RefOr<::utoipa::openapi::Schema> {
                let variants = [$($crate::wire::tagged::Variant {
                    word: $word,
                    name: <$variant as ::utoipa::ToSchema>::name(),
                }),+];
                $crate::wire::tagged::sum($description, $tag, &variants)
            }
        }

        impl ::utoipa::ToSchema for $name {
            fn name() -> ::std::borrow::Cow<'static, str> {
                ::std::borrow::Cow::Borrowed(stringify!($name))
            }

            fn schemas(found: &mut $crate::wire::tagged::Components) {
                $(
                    let schema = <$variant as ::utoipa::PartialSchema>::schema();
                    let schema = $crate::wire::tagged::with_tag($tag, $word, schema);
                    found.push((<$variant as ::utoipa::ToSchema>::name().into_owned(), schema));
                    <$variant as ::utoipa::ToSchema>::schemas(found);
                )+
            }
        }
    };
}
