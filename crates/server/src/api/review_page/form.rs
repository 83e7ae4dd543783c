//! Reads what a seller has sent from its page: values as texts, and files, whose formats are judged here.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::ready;

use axum::body::Bytes;
use axum::extract::Request;
use axum::http::header;
use futures_util::stream::once;
use multer::Multipart;
use regente_domain::problems::Problems;
use regente_domain::seller::document::{DocumentKind, FILE_BYTES_MAX, FileFormat};
use regente_domain::seller::review::Review;
use regente_domain::seller::review::fields::{FieldType, KnownField};
use regente_engine::sellers::documents::Upload;
use serde_json::{Map, Number, Value};
use uuid::Uuid;

use super::super::documents::judge;
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::limits;

/// The name of the box that a seller ticks.
pub(super) const DECLARATION: &str = "declaration";
/// What the box and the choice for true send.
pub(super) const YES: &str = "true";

/// The most bytes of a form without its files.
const TEXTS_BYTES_MAX: usize = 64 * 1024;

/// What is wrong with what was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The box is not ticked.
    Declaration,
    /// This field.
    Field(&'static KnownField),
    /// The fields together do not fit the seller.
    Whole,
    /// There is more than the files that are asked for can have.
    TooLarge,
}

/// What was sent.
#[derive(Default)]
pub(super) struct Answer {
    /// The values by the names of the fields. In place of a file that is right stands an id that no file has.
    pub(super) data: Map<String, Value>,
    /// The texts that were typed and chosen, by the names of the fields: shown again beside what is wrong.
    pub(super) typed: HashMap<&'static str, String>,
    files: Vec<File>,
    /// What is wrong with files, and with fields that came more than once.
    pub(super) faults: Vec<Fault>,
    /// Whether the box is ticked.
    pub(super) is_declared: bool,
}

struct File {
    known: &'static KnownField,
    kind: DocumentKind,
    format: FileFormat,
    bytes: Bytes,
}

impl Answer {
    pub(super) async fn read(app: &App, request: Request, review: &Review) -> Result<Self, ApiError> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let boundary = kind.map(multer::parse_boundary);
        let bytes = limits::read_bytes_within(request, bytes_max(review)).await?;
        let Some(Ok(boundary)) = boundary else { return Err(malformed()) };
        let mut form = Multipart::new(once(ready(Ok::<_, Infallible>(bytes))), boundary);
        let mut answer = Self::default();
        while let Some(field) = form.next_field().await.map_err(|_| malformed())? {
            let Some(name) = field.name().map(str::to_owned) else { continue };
            let content = field.bytes().await.map_err(|_| malformed())?;
            if name == DECLARATION {
                answer.is_declared = &*content == YES.as_bytes();
            } else if review.demand.fields.iter().any(|asked| asked.name == name) {
                answer.take(app, &name, content).await?;
            }
        }
        Ok(answer)
    }

    async fn take(&mut self, app: &App, name: &str, content: Bytes) -> Result<(), ApiError> {
        let Some(known) = KnownField::parse(name) else { return Ok(()) };
        // Browsers send a field without a choice as an empty file, and one that is not filled in as an empty text.
        if content.trim_ascii().is_empty() {
            return Ok(());
        }
        if self.data.contains_key(name) {
            self.is_wrong(known);
            return Ok(());
        }
        let value = match known.document_kind() {
            Some(kind) => {
                match judge(app, content.clone()).await? {
                    Ok(format) if kind.takes(format) => {
                        self.files.push(File { known, kind, format, bytes: content });
                    }
                    Ok(_) | Err(_) => self.is_wrong(known),
                }
                Value::String(Uuid::nil().to_string())
            }
            None => {
                let text = std::str::from_utf8(&content).map_err(|_| malformed())?.trim();
                self.typed.insert(known.name, text.to_owned());
                value_of(known.kind, text)
            }
        };
        self.data.insert(name.to_owned(), value);
        Ok(())
    }

    fn is_wrong(&mut self, known: &'static KnownField) {
        let fault = Fault::Field(known);
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    /// The files, by the names of their fields.
    pub(super) fn files(&self) -> Vec<(&'static str, Upload<'_>)> {
        let uploads = self.files.iter().map(|File { known, kind, format, bytes }| {
            (known.name, Upload { kind: *kind, format: *format, bytes })
        });
        uploads.collect()
    }
}

/// The most bytes of a form: each file that is asked for may be as large as one may be.
fn bytes_max(review: &Review) -> usize {
    let asked = review.demand.fields.iter().filter_map(|field| KnownField::parse(&field.name));
    let files = asked.filter(|known| known.document_kind().is_some()).count();
    TEXTS_BYTES_MAX + files * FILE_BYTES_MAX
}

/// The value that a text stands for; a text that stands for none stays one, and is refused as such.
fn value_of(kind: FieldType, text: &str) -> Value {
    let as_text = || Value::String(text.to_owned());
    match kind {
        FieldType::Number => {
            // People write the comma of their language, and some write 21.000 for what others mean by 21000: what stands
            // before three digits is not taken for a decimal sign.
            let is_unclear = text.rsplit_once([',', '.']).is_some_and(|(_, last)| last.len() == 3);
            let number = text.replace(',', ".").parse::<Number>().ok().filter(|_| !is_unclear);
            number.map_or_else(as_text, Value::Number)
        }
        FieldType::Boolean => text.parse().map_or_else(|_| as_text(), Value::Bool),
        FieldType::String | FieldType::Date | FieldType::Document => as_text(),
    }
}

/// What problems are about: fields, or else all of them together.
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
    let faults: Vec<Fault> =
        fields.filter_map(|field| KnownField::parse(&field.name).map(Fault::Field)).collect();
    if faults.is_empty() { vec![Fault::Whole] } else { faults }
}

fn malformed() -> ApiError {
    ApiError::MalformedBody("body must be a valid form: multipart/form-data with its boundary".to_owned())
}
