//! Parses bytes into a JSON object: valid, of bounded depth, without U+0000.

use std::fmt;

use axum::extract::{FromRequest, Request};
use deserr::Deserr;
use regente_domain::problems::Problems;
use regente_domain::wire::{self, plain};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::{Fields, Path, ProblemList};
use crate::http::error::ApiError;
use crate::http::limits;

/// The most nested objects and arrays, the body included.
pub const BODY_DEPTH_MAX: usize = 64;
/// Bytes of most bodies in their canonical text. A buffer that grows leaves parts of a larger one in memory that is not wiped.
const CANONICAL_BYTES: usize = 2048;
/// The member that holds a body which is an array.
const ELEMENTS: &str = "elements";

/// The JSON object of a request. It may hold card data and is never printed, not even for debugging.
pub struct Body {
    members: Map<String, Value>,
}

impl Body {
    /// Parses a body. An empty body, or white space alone, is an empty object: shipped clients send POST without a body
    /// (`docs/interface/conventions.md#requests`). Of a repeated member, the last one counts.
    ///
    /// # Errors
    /// [`ApiError::MalformedBody`] when it is no JSON object of bounded depth, [`Error::Invalid`] when a string in it
    /// contains U+0000. The message repeats none of the content.
    pub fn parse(bytes: &[u8]) -> Result<Self, ApiError> {
        match value(bytes)? {
            None => Ok(Self { members: Map::new() }),
            Some(Value::Object(members)) => Ok(Self::of(members)?),
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
                Err(ApiError::MalformedBody("body must be an object".to_owned()))
            }
        }
    }

    /// Parses a body that is an array, for [`Self::read_elements_as`].
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_array(bytes: &[u8]) -> Result<Self, ApiError> {
        match value(bytes)? {
            Some(array @ Value::Array(_)) => Ok(Self::of(Map::from_iter([(ELEMENTS.to_owned(), array)]))?),
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_))
            | None => Err(ApiError::MalformedBody("body must be an array".to_owned())),
        }
    }

    /// A body whose members came in another form than JSON.
    ///
    /// # Errors
    /// A string in it contains U+0000.
    pub fn of(members: Map<String, Value>) -> Result<Self, Problems> {
        let found = ProblemList::default();
        refuse_nul_in_members(&members, Path::ROOT, &found);
        found.into_problems().into_result()?;
        Ok(Self { members })
    }

    /// Reads the body with `reader`; the module [`super`] shows how to write one.
    ///
    /// # Errors
    /// Every problem that was found.
    pub fn read<T>(&self, reader: impl FnOnce(&Fields<'_>) -> Option<T>) -> Result<T, Problems> {
        let found = ProblemList::default();
        let value = {
            let fields = Fields { members: &self.members, path: Path::ROOT, found: &found };
            found.or_note(Path::ROOT, || reader(&fields))
        };
        found.into_problems().into_result()?;
        value.ok_or_else(|| Problems::one("body", "is not valid"))
    }

    /// Reads the body as a struct that reads itself ([`regente_domain::wire`]).
    ///
    /// # Errors
    /// Every problem that was found.
    pub fn read_as<T: Deserr<Problems>>(&self) -> Result<T, Problems> {
        wire::read(self.members.clone())
    }

    /// As [`Self::read_as`], with what `look` finds in the members as sent.
    ///
    /// # Errors
    /// Every problem that was found.
    pub fn read_as_with<T: Deserr<Problems>>(
        &self,
        look: impl FnOnce(&Map<String, Value>, &mut Problems),
    ) -> Result<T, Problems> {
        let mut looked = Problems::new();
        look(&self.members, &mut looked);
        looked.beside(self.read_as())
    }

    /// Reads a body that is an array as a list that reads itself. Problems name elements by their index alone:
    /// `[0].percentage`.
    ///
    /// # Errors
    /// Every problem that was found.
    pub fn read_elements_as<T: Deserr<Problems>>(&self) -> Result<T, Problems> {
        deserr::deserialize(self.members.get(ELEMENTS).cloned().unwrap_or_default())
    }

    /// The members as sent.
    pub fn members(&self) -> &Map<String, Value> {
        &self.members
    }

    /// A canonical text: members ordered by name, no white space, `100` for `100.0`. The fingerprint of an idempotent
    /// request is computed from it.
    pub fn canonical_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(CANONICAL_BYTES));
        write_canonical_object(&self.members, &mut bytes);
        bytes
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Body({} members)", self.members.len())
    }
}

impl<S: Send + Sync> FromRequest<S> for Body {
    type Rejection = ApiError;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Self::Rejection> {
        let bytes = limits::read_bytes(request).await?;
        Self::parse(&bytes)
    }
}

/// The value in a body; `None` when it is empty.
fn value(bytes: &[u8]) -> Result<Option<Value>, ApiError> {
    let malformed = |sentence: String| Err(ApiError::MalformedBody(sentence));
    let Ok(text) = std::str::from_utf8(bytes) else {
        return malformed("body must be valid UTF-8".to_owned());
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_ascii().is_empty() {
        return Ok(None);
    }
    if depth(text) > BODY_DEPTH_MAX {
        return malformed(format!("body must not be nested deeper than {BODY_DEPTH_MAX} levels"));
    }
    serde_json::from_str(text).map(Some).or_else(|error| {
        let (line, column) = (error.line(), error.column());
        malformed(format!("body must be valid JSON: line {line} column {column}"))
    })
}

/// The depth of brackets outside of strings. It is checked before parsing, because the parser's own limit has another
/// message.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => skip_string(&mut bytes),
            _ => {}
        }
    }
    deepest
}

fn skip_string(bytes: &mut impl Iterator<Item = u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            b'"' => return,
            _ => {}
        }
    }
}

fn refuse_nul_in_members(members: &Map<String, Value>, path: Path<'_>, found: &ProblemList) {
    for (name, value) in members {
        if name.contains('\0') {
            found.add(path, "must not have a member name with the character U+0000");
        } else {
            refuse_nul(value, path.member(name), found);
        }
    }
}

fn refuse_nul(value: &Value, path: Path<'_>, found: &ProblemList) {
    match value {
        Value::String(text) if text.contains('\0') => {
            found.add(path, "must not contain the character U+0000")
        }
        Value::Object(members) => refuse_nul_in_members(members, path, found),
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                refuse_nul(value, path.element(index), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn write_canonical_object(members: &Map<String, Value>, bytes: &mut Vec<u8>) {
    let mut sorted: Vec<_> = members.iter().collect();
    sorted.sort_unstable_by_key(|(name, _)| name.as_str());
    bytes.push(b'{');
    for (position, (name, value)) in sorted.into_iter().enumerate() {
        if position > 0 {
            bytes.push(b',');
        }
        write_plain(name, bytes);
        bytes.push(b':');
        write_canonical(value, bytes);
    }
    bytes.push(b'}');
}

fn write_canonical(value: &Value, bytes: &mut Vec<u8>) {
    match value {
        Value::Object(members) => write_canonical_object(members, bytes),
        Value::Array(values) => {
            bytes.push(b'[');
            for (position, value) in values.iter().enumerate() {
                if position > 0 {
                    bytes.push(b',');
                }
                write_canonical(value, bytes);
            }
            bytes.push(b']');
        }
        Value::Number(number) => bytes.extend_from_slice(plain(number).as_bytes()),
        Value::Null | Value::Bool(_) | Value::String(_) => write_plain(value, bytes),
    }
}

fn write_plain(value: &(impl serde::Serialize + ?Sized), bytes: &mut Vec<u8>) {
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(bytes, value);
}
