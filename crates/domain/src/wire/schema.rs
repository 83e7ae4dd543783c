//! Schemas that are made of others.

use utoipa::ToSchema;
use utoipa::openapi::schema::{AllOf, Object, SchemaType};
use utoipa::openapi::{ObjectBuilder, OneOfBuilder, RefOr, Schema, Type};

/// How the name of a schema begins that the document writes in place: it has no name of its own there.
pub const IN_PLACE: &str = "~";

/// An object schema whose parts (`#[serde(flatten)]`) are one object. `component` finds a schema by its name.
pub fn flattened(schema: Schema, component: &impl Fn(&str) -> Option<Schema>) -> Schema {
    let Schema::AllOf(AllOf { items, description, example, .. }) = schema else { return schema };
    let mut whole = Object::builder().schema_type(Type::Object).description(description).build();
    whole.example = example;
    for item in items {
        let part = match item {
            RefOr::Ref(reference) => component(name_in(&reference.ref_location)),
            RefOr::T(part) => Some(part),
        };
        if let Some(Schema::Object(part)) = part.map(|part| flattened(part, component)) {
            whole.properties.extend(part.properties);
            whole.required.extend(part.required);
        }
    }
    Schema::Object(whole)
}

/// The schema of a text that is one of these words.
pub fn one_of(description: &str, words: impl IntoIterator<Item = &'static str>) -> RefOr<Schema> {
    let list = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words));
    RefOr::T(list.description(Some(description.trim())).into())
}

/// The name of a component in a reference to it.
pub fn name_in(location: &str) -> &str {
    location.rsplit('/').next().unwrap_or_default()
}

/// The object schema of a struct, with the members of its parts.
pub fn whole<T: ToSchema>() -> Object {
    let components = components_of::<T>();
    let RefOr::T(schema) = T::schema() else { return Object::new() };
    let Schema::Object(object) = flattened(schema, &|name| component_in(&components, name)) else {
        return Object::new();
    };
    object
}

fn components_of<T: ToSchema>() -> Vec<(String, RefOr<Schema>)> {
    let mut components = Vec::new();
    T::schemas(&mut components);
    components
}

fn component_in(components: &[(String, RefOr<Schema>)], name: &str) -> Option<Schema> {
    match components.iter().find(|(known, _)| known == name)? {
        (_, RefOr::T(schema)) => Some(schema.clone()),
        (_, RefOr::Ref(_)) => None,
    }
}

/// The members of an object in a change: each may be left out or null, and objects in it are merged member by member
/// (RFC 7396), so that any of their members may stand there alone.
pub fn all_optional<T: ToSchema>() -> Object {
    let components = components_of::<T>();
    let component = |name: &str| component_in(&components, name);
    let is_object = |member: &RefOr<Schema>| match member {
        RefOr::Ref(reference) => {
            matches!(component(name_in(&reference.ref_location)), Some(Schema::Object(object))
                if object.schema_type == SchemaType::Type(Type::Object))
        }
        RefOr::T(_) => false,
    };
    let mut changes = whole::<T>();
    changes.required.clear();
    for member in changes.properties.values_mut() {
        let is_merged = match &*member {
            RefOr::T(Schema::OneOf(either)) => either.items.iter().any(is_object),
            RefOr::Ref(_) | RefOr::T(_) => is_object(member),
        };
        *member = if is_merged { any_object() } else { or_null(member.clone()) };
    }
    changes
}

fn any_object() -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(SchemaType::Array(vec![Type::Object, Type::Null])).into()
}

fn or_null(member: RefOr<Schema>) -> RefOr<Schema> {
    match member {
        RefOr::T(Schema::Object(mut object)) => {
            add_null(&mut object.schema_type);
            object.into()
        }
        RefOr::T(Schema::Array(mut array)) => {
            add_null(&mut array.schema_type);
            array.into()
        }
        reference @ RefOr::Ref(_) => {
            let null = ObjectBuilder::new().schema_type(Type::Null);
            OneOfBuilder::new().item(reference).item(null).into()
        }
        other @ RefOr::T(_) => other,
    }
}

/// Lets a schema be null as well.
pub fn add_null(types: &mut SchemaType) {
    match types {
        SchemaType::Type(Type::Null) | SchemaType::AnyValue => {}
        SchemaType::Type(only) => *types = SchemaType::Array(vec![only.clone(), Type::Null]),
        SchemaType::Array(several) if several.contains(&Type::Null) => {}
        SchemaType::Array(several) => several.push(Type::Null),
    }
}
