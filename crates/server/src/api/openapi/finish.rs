//! Applies the rules for all schemas of the document: an answer's optional member is never null, an object schema
//! without named members allows any, and a body without required members may be left out. What has no name of its own is
//! written in place.

mod in_place;

use std::collections::{BTreeMap, BTreeSet};

use regente_domain::wire::name_in;
use utoipa::openapi::path::{Operation, PathItem, Paths};
use utoipa::openapi::schema::{AdditionalProperties, ArrayItems, Object, OneOf, SchemaType};
use utoipa::openapi::{Content, OpenApi, RefOr, Required, Schema, Type};

use super::operations_of;

/// A card or a security code: none of the members is required, and yet one of them is.
const NEEDS_A_MEMBER: &str = "NewToken";

/// Applies the rules to a document with all of its routes, components and webhooks.
pub fn finish(document: &mut OpenApi) {
    let parts = in_place::write(document);
    let (sent, answered) = (sent(document), answered(document));
    let_bodies_be_left_out(document);
    let Some(components) = &mut document.components else { return };
    components
        .schemas
        .retain(|name, _| !parts.contains(name) || sent.contains(name) || answered.contains(name));
    for schema in components.schemas.values_mut() {
        each_object(schema, &mut allow_any_member);
    }
    // In a request, null counts as absent.
    for name in &answered - &sent {
        if let Some(schema) = components.schemas.get_mut(&name) {
            each_object(schema, &mut leave_out_instead_of_null);
        }
    }
}

/// An empty body is an empty object (`docs/interface/conventions.md#requests`).
fn let_bodies_be_left_out(document: &mut OpenApi) {
    let Some(components) = &document.components else { return };
    let may_be_empty = |content: &RefOr<Content>| {
        let RefOr::T(Content { schema: Some(RefOr::Ref(reference)), .. }) = content else { return false };
        let name = name_in(&reference.ref_location);
        let schema = components.schemas.get(name);
        name != NEEDS_A_MEMBER
            && matches!(schema, Some(RefOr::T(Schema::Object(object))) if object.required.is_empty())
    };
    for item in document.paths.paths.values_mut() {
        for operation in operations_of(item) {
            if let Some(RefOr::T(body)) = &mut operation.request_body
                && body.content.values().all(may_be_empty)
            {
                body.required = Some(Required::False);
            }
        }
    }
}

fn allow_any_member(object: &mut Object) {
    let is_object = match &object.schema_type {
        SchemaType::Type(only) => *only == Type::Object,
        SchemaType::Array(types) => types.contains(&Type::Object),
        SchemaType::AnyValue => false,
    };
    if is_object && object.properties.is_empty() && object.enum_values.is_none() {
        object.additional_properties.get_or_insert_with(|| Box::new(AdditionalProperties::FreeForm(true)));
    }
}

fn leave_out_instead_of_null(object: &mut Object) {
    for (name, member) in &mut object.properties {
        if !object.required.contains(name) {
            without_null(member);
        }
    }
}

fn without_null(member: &mut RefOr<Schema>) {
    match member {
        RefOr::T(Schema::Object(object)) => only_present(&mut object.schema_type),
        RefOr::T(Schema::Array(array)) => only_present(&mut array.schema_type),
        RefOr::T(Schema::OneOf(either)) => {
            either.items.retain(|item| !is_null(item));
            if let [only] = either.items.as_slice() {
                *member = only.clone();
            }
        }
        RefOr::Ref(_) | RefOr::T(_) => {}
    }
}

fn only_present(types: &mut SchemaType) {
    if let SchemaType::Array(several) = types {
        several.retain(|one| *one != Type::Null);
        if let [only] = several.as_slice() {
            *types = SchemaType::Type(only.clone());
        }
    }
}

fn is_null(schema: &RefOr<Schema>) -> bool {
    matches!(schema, RefOr::T(Schema::Object(object)) if object.schema_type == SchemaType::Type(Type::Null))
}

/// Visits the object schemas within a schema, without following references.
fn each_object(schema: &mut RefOr<Schema>, visit: &mut impl FnMut(&mut Object)) {
    match schema {
        RefOr::T(Schema::Object(object)) => {
            visit(object);
            object.properties.values_mut().for_each(|member| each_object(member, visit));
        }
        RefOr::T(Schema::Array(array)) => {
            if let ArrayItems::RefOrSchema(items) = &mut array.items {
                each_object(items, visit);
            }
        }
        RefOr::T(Schema::OneOf(OneOf { items, .. })) => {
            items.iter_mut().for_each(|item| each_object(item, visit));
        }
        RefOr::Ref(_) | RefOr::T(_) => {}
    }
}

/// The components of requests.
fn sent(document: &OpenApi) -> BTreeSet<String> {
    reachable(document, operations(&document.paths).flat_map(bodies))
}

/// The components of answers and events.
fn answered(document: &OpenApi) -> BTreeSet<String> {
    let responses = operations(&document.paths).flat_map(|operation| operation.responses.responses.values());
    let answers = responses.filter_map(|response| match response {
        RefOr::T(response) => Some(response.content.values()),
        RefOr::Ref(_) => None,
    });
    let events = document.webhooks.iter().flat_map(operations);
    reachable(document, answers.flatten().chain(events.flat_map(bodies)))
}

fn bodies(operation: &Operation) -> impl Iterator<Item = &RefOr<Content>> {
    let body = match &operation.request_body {
        Some(RefOr::T(body)) => Some(body.content.values()),
        Some(RefOr::Ref(_)) | None => None,
    };
    body.into_iter().flatten()
}

fn operations(paths: &Paths) -> impl Iterator<Item = &Operation> {
    paths.paths.values().flat_map(|item| {
        let PathItem { get, put, post, delete, patch, .. } = item;
        [get, put, post, delete, patch].into_iter().flatten()
    })
}

fn reachable<'a>(document: &OpenApi, contents: impl Iterator<Item = &'a RefOr<Content>>) -> BTreeSet<String> {
    let none = BTreeMap::new();
    let components = document.components.as_ref().map_or(&none, |components| &components.schemas);
    let mut open = Vec::new();
    for content in contents {
        if let RefOr::T(Content { schema: Some(schema), .. }) = content {
            references(schema, &mut open);
        }
    }
    let mut found = BTreeSet::new();
    while let Some(name) = open.pop() {
        if let Some(schema) = components.get(&name)
            && found.insert(name)
        {
            references(schema, &mut open);
        }
    }
    found
}

/// The components that a schema refers to.
fn references(schema: &RefOr<Schema>, found: &mut Vec<String>) {
    match schema {
        RefOr::Ref(reference) => {
            found.push(name_in(&reference.ref_location).to_owned());
        }
        RefOr::T(Schema::Object(object)) => {
            object.properties.values().for_each(|member| references(member, found));
        }
        RefOr::T(Schema::Array(array)) => {
            if let ArrayItems::RefOrSchema(items) = &array.items {
                references(items, found);
            }
        }
        RefOr::T(Schema::OneOf(either)) => either.items.iter().for_each(|item| references(item, found)),
        RefOr::T(_) => {}
    }
}
