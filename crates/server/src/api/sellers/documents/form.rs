//! Reads the form with a file (RFC 7578) and judges the file.

use std::convert::Infallible;
use std::future::ready;

use aws_lc_rs::digest::{SHA256, digest};
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::header;
use futures_util::stream::once;
use multer::Multipart;
use regente_documents::upload::UploadError;
use regente_domain::problems::Problems;
use regente_domain::seller::document::{DocumentKind, FILE_BYTES_MAX, FileFormat};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::super::super::documents::judge;
use super::super::super::fields::Body;
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::limits;

const TYPE: &str = "type";
const FILE: &str = "file";

/// A form with a file.
pub struct Form {
    /// The texts. In place of the file stands its digest: an idempotency key counts for the same file.
    pub(super) body: Body,
    /// The bytes of the file; empty without one.
    pub(super) file: Bytes,
}

impl<S: Send + Sync> FromRequest<S> for Form {
    type Rejection = ApiError;

    async fn from_request(request: Request, _state: &S) -> Result<Self, ApiError> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let boundary = kind.map(multer::parse_boundary);
        let bytes = limits::read_bytes(request).await?;
        let Some(Ok(boundary)) = boundary else { return Err(malformed()) };
        let mut form = Multipart::new(once(ready(Ok::<_, Infallible>(bytes))), boundary);
        let (mut members, mut file) = (Map::new(), Bytes::new());
        while let Some(field) = form.next_field().await.map_err(|_| malformed())? {
            let Some(name) = field.name().map(str::to_owned) else { continue };
            let content = field.bytes().await.map_err(|_| malformed())?;
            if name == FILE {
                members.insert(name, Value::String(hex::encode(digest(&SHA256, &content))));
                file = content;
            } else {
                let text = std::str::from_utf8(&content).map_err(|_| malformed())?;
                members.insert(name, Value::String(text.to_owned()));
            }
        }
        Ok(Self { body: Body::of(members)?, file })
    }
}

impl Form {
    /// What the file shows, and its format: the problems of both fields together.
    pub(super) async fn check(&self, app: &App) -> Result<(DocumentKind, FileFormat), ApiError> {
        let kind = self.body.read(|fields| {
            let kind = fields.required(TYPE).one_of(DocumentKind::WORDS);
            fields.required(FILE).value();
            kind
        });
        if !self.body.members().contains_key(FILE) {
            return Err(kind.err().unwrap_or_default().into());
        }
        match (kind, judge(app, self.file.clone()).await?) {
            (_, Err(UploadError::TooManyBytes)) => {
                Err(ApiError::FileTooLarge { field: FILE, bytes_max: FILE_BYTES_MAX })
            }
            (Ok(kind), Ok(format)) if kind.takes(format) => Ok((kind, format)),
            (Ok(_), Ok(_)) => {
                Err(Problems::one(FILE, "must be a PNG, JPEG, BMP, WebP, HEIC or HEIF file for this type")
                    .into())
            }
            (Ok(_), Err(rule)) => Err(Problems::one(FILE, rule).into()),
            (Err(problems), Ok(_)) => Err(problems.into()),
            (Err(mut problems), Err(rule)) => {
                problems.add(FILE, rule);
                Err(problems.into())
            }
        }
    }
}

/// The parser's own message may repeat what was sent.
fn malformed() -> ApiError {
    ApiError::MalformedBody("body must be a valid form: multipart/form-data with its boundary".to_owned())
}

/// A file that shows who a seller is.
#[derive(Debug, ToSchema)]
#[schema(as = NewSellerFile)]
pub struct SellerFileForm {
    /// What it shows.
    #[schema(rename = "type")]
    pub kind: DocumentKind,
    /// A PNG, JPEG, BMP, WebP, HEIC or HEIF file, of `SELFIE` and `CNH_FULL` also a PDF file, of 3 MB at most.
    #[schema(value_type = String, format = Binary)]
    pub file: Vec<u8>,
}
