//! Reads what a seller has sent from its page: values as texts, and files, which are kept like uploaded ones.

use std::convert::Infallible;
use std::future::ready;

use axum::body::Bytes;
use axum::extract::Request;
use axum::http::header;
use futures_util::stream::once;
use multer::Multipart;
use regente_documents::upload::format_of;
use regente_domain::problems::Problems;
use regente_domain::seller::document::DocumentKind;
use regente_domain::seller::review::Review;
use regente_domain::seller::review::fields::{FieldType, Known};
use regente_engine::error::Error;
use regente_engine::flows::sellers::documents::{Upload, keep};
use regente_store::{Batch, Commit};
use serde_json::{Map, Number, Value};

use super::super::documents::draw;
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::limits;

/// The name of the box that a seller ticks.
pub(super) const DECLARATION: &str = "declaration";
/// What the box and the choice for true send.
pub(super) const YES: &str = "true";

/// What is wrong with what was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The box is not ticked.
    Declaration,
    /// This field.
    Field(&'static Known),
    /// The fields together do not fit the seller.
    Whole,
}

/// What was sent.
pub(super) struct Answer {
    /// The values, by the names of the fields.
    data: Map<String, Value>,
    files: Vec<(&'static Known, DocumentKind, Bytes)>,
    /// Whether the box is ticked.
    pub(super) is_declared: bool,
}

impl Answer {
    pub(super) async fn read(request: Request, review: &Review) -> Result<Self, ApiError> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let boundary = kind.map(multer::parse_boundary);
        let bytes = limits::read_bytes(request).await?;
        let Some(Ok(boundary)) = boundary else { return Err(malformed()) };
        let mut form = Multipart::new(once(ready(Ok::<_, Infallible>(bytes))), boundary);
        let mut answer = Self { data: Map::new(), files: Vec::new(), is_declared: false };
        while let Some(field) = form.next_field().await.map_err(|_| malformed())? {
            let Some(name) = field.name().map(str::to_owned) else { continue };
            let content = field.bytes().await.map_err(|_| malformed())?;
            if name == DECLARATION {
                answer.is_declared = &*content == YES.as_bytes();
            } else if review.demand.fields.iter().any(|asked| asked.name == name) {
                answer.take(&name, content)?;
            }
        }
        Ok(answer)
    }

    fn take(&mut self, name: &str, content: Bytes) -> Result<(), ApiError> {
        let Some(known) = Known::parse(name) else { return Ok(()) };
        if let Some(kind) = known.document_kind() {
            // Browsers send a field without a choice as an empty file.
            if !content.is_empty() {
                self.files.push((known, kind, content));
            }
            return Ok(());
        }
        let text = std::str::from_utf8(&content).map_err(|_| malformed())?.trim();
        if !text.is_empty() {
            self.data.insert(name.to_owned(), value_of(known.kind, text));
        }
        Ok(())
    }

    /// The values with the ids of the files, which are kept; and what is wrong with files.
    pub(super) async fn with_files_kept(
        self,
        app: &App,
        review: &Review,
    ) -> Result<(Map<String, Value>, Vec<Fault>), ApiError> {
        let (mut data, mut faults) = (self.data, Vec::new());
        for (known, kind, bytes) in self.files {
            let content = bytes.clone();
            let format = match draw(move || format_of(&content)).await? {
                Ok(format) if kind.takes(format) => format,
                Ok(_) | Err(_) => {
                    faults.push(Fault::Field(known));
                    // It is told once.
                    data.insert(known.name.to_owned(), Value::String(uuid::Uuid::nil().to_string()));
                    continue;
                }
            };
            let mut batch = Batch::new(review.client_id);
            let document = keep(app, &mut batch, Upload { kind, format, bytes: &bytes });
            let _admission = app.store.admit(review.client_id)?;
            match app.store.apply(batch).await? {
                Commit::Applied => {}
                Commit::Refused(_) | Commit::Unknown => return Err(Error::unavailable().into()),
            }
            data.insert(known.name.to_owned(), Value::String(document.id.to_string()));
        }
        Ok((data, faults))
    }
}

/// The value that a text stands for; a text that stands for none stays one, and is refused as such.
fn value_of(kind: FieldType, text: &str) -> Value {
    let as_text = || Value::String(text.to_owned());
    match kind {
        FieldType::Number => {
            // People write the comma of their language.
            let number = text.replace(',', ".").parse().ok().and_then(Number::from_f64);
            number.map_or_else(as_text, Value::Number)
        }
        FieldType::Boolean => text.parse().map_or_else(|_| as_text(), Value::Bool),
        FieldType::String | FieldType::Date | FieldType::Document => as_text(),
    }
}

/// The fields that problems are about.
pub(super) fn faults_of(review: &Review, problems: &Problems) -> Vec<Fault> {
    let is_about = |name: &str| {
        problems.details().iter().any(|detail| {
            detail
                .strip_prefix("data.")
                .and_then(|rest| rest.strip_prefix(name))
                .is_some_and(|rest| rest.starts_with(' '))
        })
    };
    let fields = review.demand.fields.iter().filter(|field| is_about(&field.name));
    fields.filter_map(|field| Known::parse(&field.name).map(Fault::Field)).collect()
}

fn malformed() -> ApiError {
    ApiError::MalformedBody("body must be a valid form: multipart/form-data with its boundary".to_owned())
}
