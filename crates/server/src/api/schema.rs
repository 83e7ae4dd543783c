//! What the types of bodies share in the OpenAPI document. The bodies of errors are in `http::error`, those of a
//! resource with their resource.

pub mod tagged;
pub mod words;
