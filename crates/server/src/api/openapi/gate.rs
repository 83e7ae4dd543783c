//! Puts into the document what a route demands of its caller: the headers of the gate, and the idempotency key of a POST. The
//! router says it, and nothing else.

use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::SchemaType;
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{ObjectBuilder, Required, Type};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use super::operations_of;
use crate::app::App;
use crate::http::headers::IDEMPOTENCY_KEY_CHARS_MAX;

/// Whether a POST needs an idempotency key. Every POST behind the gate takes one, and no other method looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// It works without.
    Taken,
    /// It is refused without.
    Demanded,
}

/// The route with its description, to which it adds what a caller must send, and the key that a POST takes.
pub fn described(key: Key, (schemas, mut paths, methods): UtoipaMethodRouter<App>) -> OpenApiRouter<App> {
    for item in paths.paths.values_mut() {
        operations_of(item).for_each(demand_headers);
        if let Some(post) = &mut item.post {
            post.parameters.get_or_insert_default().push(header_of(key).into());
        }
    }
    OpenApiRouter::new().routes((schemas, paths, methods))
}

fn demand_headers(operation: &mut Operation) {
    let none: [&str; 0] = [];
    // An operation that takes something in place of a key says so itself.
    if operation.security.is_some() {
        return;
    }
    operation.security = Some(vec![SecurityRequirement::new("client_id", none).add("api_key", none)]);
}

fn header_of(key: Key) -> Parameter {
    let (required, schema_type) = match key {
        Key::Taken => (Required::False, SchemaType::from_iter([Type::String, Type::Null])),
        Key::Demanded => (Required::True, SchemaType::Type(Type::String)),
    };
    ParameterBuilder::new()
        .name("X-Idempotency-Key")
        .parameter_in(ParameterIn::Header)
        .required(required)
        .description(Some("The same key and body give the same answer again for 24 hours"))
        .schema(Some(
            ObjectBuilder::new()
                .schema_type(schema_type)
                .min_length(Some(1))
                .max_length(Some(IDEMPOTENCY_KEY_CHARS_MAX))
                .pattern(Some("^[!-~]([ -~]*[!-~])?$")),
        ))
        .build()
}
