//! Writes the schemas in place that have no name of their own ([`IN_PLACE`]), and makes one object of the parts of a
//! flattened struct.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use regente_domain::wire::{IN_PLACE, add_null, flattened, name_in};
use utoipa::openapi::schema::{AdditionalProperties, ArrayItems, SchemaType};
use utoipa::openapi::{OpenApi, Ref, RefOr, Schema, Type};

type Components = BTreeMap<String, RefOr<Schema>>;

/// Answers the names of the parts.
pub(super) fn write(document: &mut OpenApi) -> BTreeSet<String> {
    let Some(components) = &mut document.components else { return BTreeSet::new() };
    let named = components.schemas.clone();
    let mut parts = BTreeSet::new();
    for schema in components.schemas.values_mut() {
        settle(schema, &named, &mut parts);
    }
    parts
}

fn flatten(whole: Schema, named: &Components, parts: &mut BTreeSet<String>) -> Schema {
    let found = RefCell::new(Vec::new());
    let component = |name: &str| {
        found.borrow_mut().push(name.to_owned());
        match named.get(name) {
            Some(RefOr::T(schema)) => Some(schema.clone()),
            Some(RefOr::Ref(_)) | None => None,
        }
    };
    let whole = flattened(whole, &component);
    parts.extend(found.into_inner());
    whole
}

fn settle(schema: &mut RefOr<Schema>, named: &Components, parts: &mut BTreeSet<String>) {
    match schema {
        RefOr::Ref(reference) => {
            if let Some(written) = written(reference, named) {
                parts.insert(name_in(&reference.ref_location).to_owned());
                *schema = written;
                settle(schema, named, parts);
            }
        }
        RefOr::T(Schema::Object(object)) => {
            object.properties.values_mut().for_each(|member| settle(member, named, parts));
            if let Some(AdditionalProperties::RefOr(others)) = object.additional_properties.as_deref_mut() {
                settle(others, named, parts);
            }
        }
        RefOr::T(Schema::Array(array)) => {
            if let ArrayItems::RefOrSchema(items) = &mut array.items {
                settle(items, named, parts);
            }
        }
        RefOr::T(Schema::OneOf(either)) => {
            either.items.iter_mut().for_each(|item| settle(item, named, parts));
            if let [RefOr::T(written), null] = either.items.as_mut_slice()
                && super::is_null(null)
                && or_null(written)
            {
                let written = written.clone();
                *schema = RefOr::T(written);
            }
        }
        RefOr::T(whole @ Schema::AllOf(_)) => {
            *whole = flatten(whole.clone(), named, parts);
            settle(schema, named, parts);
        }
        RefOr::T(_) => {}
    }
}

/// The schema that a reference stands for, with the reference's own description.
fn written(reference: &Ref, named: &Components) -> Option<RefOr<Schema>> {
    let name = name_in(&reference.ref_location);
    let mut found = name.starts_with(IN_PLACE).then(|| named.get(name)).flatten()?.clone();
    if !reference.description.is_empty() {
        let description = Some(reference.description.clone());
        match &mut found {
            RefOr::T(Schema::Object(object)) => object.description = description,
            RefOr::T(Schema::Array(array)) => array.description = description,
            RefOr::T(_) | RefOr::Ref(_) => {}
        }
    }
    Some(found)
}

/// Lets a schema that was written in place be null; `false` where that is not a matter of its type.
fn or_null(schema: &mut Schema) -> bool {
    let types = if let Schema::Object(object) = schema {
        if matches!(object.schema_type, SchemaType::Type(Type::Object)) && !object.properties.is_empty() {
            return false;
        }
        &mut object.schema_type
    } else if let Schema::Array(array) = schema {
        &mut array.schema_type
    } else {
        return false;
    };
    add_null(types);
    true
}
