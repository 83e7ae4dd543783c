//! The ids in a path.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use regente_domain::id::Id;
use regente_engine::error::Error;
use serde::de::DeserializeOwned;

/// The texts in a path: like axum's extractor of this name, but it refuses nothing. Where a text is no UTF-8, the texts
/// are empty, which no id is: the answer is that of an id that does not exist (`docs/interface/conventions.md#values`).
#[derive(Clone, Debug)]
pub struct Path<T>(pub T);

impl<T, S> FromRequestParts<S> for Path<T>
where
    T: DeserializeOwned + Default + Send,
    S: Send + Sync,
{
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let read = axum::extract::Path::<T>::from_request_parts(parts, state).await;
        Ok(Self(read.map(|axum::extract::Path(texts)| texts).unwrap_or_default()))
    }
}

/// Parses the id in a path. A text that is no UUID is answered like an id that does not exist
/// (`docs/interface/conventions.md#values`).
pub fn path_id<T>(text: &str) -> Result<Id<T>, Error> {
    text.parse().map_err(|_| Error::NotFound)
}
