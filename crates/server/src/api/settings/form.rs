//! Reads a body that is a form (RFC 7578) or JSON. Either is read whole within the limits of all bodies before it is looked
//! at. The fields of a form become the members of a body, so that one parser reads both.

use std::convert::Infallible;
use std::future::ready;

use aws_lc_rs::digest::{SHA256, digest};
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::header;
use futures_util::stream::once;
use multer::Multipart;
use serde_json::{Map, Value};

use super::request::LOGO;
use crate::api::fields::Body;
use crate::http::error::ApiError;
use crate::http::limits;

const FORM: &str = "multipart/form-data";

/// A body with the file that came in it.
pub struct Form {
    /// The texts. In place of a file stands its digest: an idempotency key counts for the same file.
    pub(super) body: Body,
    /// The bytes of the logo; `None` without one, or when the file is empty, as browsers send a field without a choice.
    pub(super) logo: Option<Bytes>,
}

impl<S: Send + Sync> FromRequest<S> for Form {
    type Rejection = ApiError;

    async fn from_request(request: Request, _state: &S) -> Result<Self, ApiError> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let is_form =
            kind.and_then(|kind| kind.get(..FORM.len())).is_some_and(|kind| kind.eq_ignore_ascii_case(FORM));
        let kind = kind.map(str::to_owned).filter(|_| is_form);
        let bytes = limits::read_bytes(request).await?;
        match kind {
            Some(kind) => Self::parse(&kind, bytes).await,
            None => Ok(Self { body: Body::parse(&bytes)?, logo: None }),
        }
    }
}

impl Form {
    async fn parse(kind: &str, bytes: Bytes) -> Result<Self, ApiError> {
        let boundary = multer::parse_boundary(kind).map_err(malformed)?;
        let mut form = Multipart::new(once(ready(Ok::<_, Infallible>(bytes))), boundary);
        let (mut members, mut logo) = (Map::new(), None);
        while let Some(field) = form.next_field().await.map_err(malformed)? {
            let Some(name) = field.name().map(str::to_owned) else { continue };
            let content = field.bytes().await.map_err(malformed)?;
            if name == LOGO {
                members.insert(name, Value::String(hex::encode(digest(&SHA256, &content))));
                logo = Some(content).filter(|content| !content.is_empty());
            } else {
                let text = std::str::from_utf8(&content)
                    .map_err(|_| ApiError::MalformedBody("body must have fields in UTF-8".to_owned()))?;
                members.insert(name, Value::String(text.to_owned()));
            }
        }
        Ok(Self { body: Body::of(members)?, logo })
    }
}

/// The parser's own message may repeat what was sent.
fn malformed(_: multer::Error) -> ApiError {
    ApiError::MalformedBody("body must be a valid form: multipart/form-data with its boundary".to_owned())
}
