//! Values of statements, and named arguments.

use std::borrow::Cow;
use std::fmt;

use regente_domain::id::{ClientId, Id};
use regente_domain::time::Timestamp;
use uuid::Uuid;

/// An argument or a column. Only kinds that both databases store without loss.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Value {
    /// No value.
    Null,
    /// A 64-bit integer: a number, an amount in minor units, milliseconds since the epoch, or 0 and 1 for no and yes.
    Int(i64),
    /// Text. A word of the product is not copied.
    Text(Cow<'static, str>),
    /// A JSON document as text; `jsonb` in PostgreSQL.
    Json(String),
    /// Bytes.
    Blob(Vec<u8>),
    /// A UUID: 16 bytes in SQLite.
    Uuid(Uuid),
}

impl Value {
    /// The kind, for error texts; never the content.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Int(_) => "an integer",
            Self::Text(_) => "text",
            Self::Json(_) => "JSON",
            Self::Blob(_) => "bytes",
            Self::Uuid(_) => "a UUID",
        }
    }
}

/// Shows numbers and ids, but only the length of text and bytes, which may hold personal data.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("Null"),
            Self::Int(int) => write!(f, "Int({int})"),
            Self::Text(text) => write!(f, "Text({} bytes)", text.len()),
            Self::Json(text) => write!(f, "Json({} bytes)", text.len()),
            Self::Blob(bytes) => write!(f, "Blob({} bytes)", bytes.len()),
            Self::Uuid(uuid) => write!(f, "Uuid({uuid})"),
        }
    }
}

/// Text that is JSON, for a `{json}` column or a list argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json(pub String);

macro_rules! from_integers {
    ($($int:ty),*) => { $(
        impl From<$int> for Value {
            fn from(int: $int) -> Self {
                Self::Int(i64::from(int))
            }
        }
        impl FromValue<'_> for $int {
            fn from_value(value: &Value) -> Option<Self> {
                as_int(value)?.try_into().ok()
            }
        }
    )* };
}
from_integers!(i64, i32, i16, u32, u16, u8);

impl From<bool> for Value {
    fn from(yes: bool) -> Self {
        Self::Int(i64::from(yes))
    }
}
/// A word of the product; texts that come from elsewhere are given as `String`.
impl From<&'static str> for Value {
    fn from(word: &'static str) -> Self {
        Self::Text(Cow::Borrowed(word))
    }
}
impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}
impl From<&String> for Value {
    fn from(text: &String) -> Self {
        text.clone().into()
    }
}
impl From<Json> for Value {
    fn from(json: Json) -> Self {
        Self::Json(json.0)
    }
}
impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Blob(bytes)
    }
}
impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Self {
        Self::Blob(bytes.to_vec())
    }
}
impl<const N: usize> From<[u8; N]> for Value {
    fn from(bytes: [u8; N]) -> Self {
        Self::Blob(bytes.to_vec())
    }
}
impl From<Uuid> for Value {
    fn from(uuid: Uuid) -> Self {
        Self::Uuid(uuid)
    }
}
impl<T> From<Id<T>> for Value {
    fn from(id: Id<T>) -> Self {
        Self::Uuid(id.uuid())
    }
}
impl From<Timestamp> for Value {
    fn from(time: Timestamp) -> Self {
        Self::Int(time.as_millis())
    }
}
impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Types that a column can be read as. `None` means that the column holds another kind of value.
pub trait FromValue<'row>: Sized {
    /// Reads one value; borrowing types point into the row.
    fn from_value(value: &'row Value) -> Option<Self>;
}

impl FromValue<'_> for u64 {
    fn from_value(value: &Value) -> Option<Self> {
        as_int(value)?.try_into().ok()
    }
}
/// Only 0 and 1.
impl FromValue<'_> for bool {
    fn from_value(value: &Value) -> Option<Self> {
        match as_int(value)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}
impl<'row> FromValue<'row> for &'row str {
    fn from_value(value: &'row Value) -> Option<Self> {
        match value {
            Value::Text(text) => Some(text),
            Value::Json(text) => Some(text),
            Value::Null | Value::Int(_) | Value::Blob(_) | Value::Uuid(_) => None,
        }
    }
}
impl FromValue<'_> for String {
    fn from_value(value: &Value) -> Option<Self> {
        <&str>::from_value(value).map(str::to_owned)
    }
}
impl FromValue<'_> for Json {
    fn from_value(value: &Value) -> Option<Self> {
        String::from_value(value).map(Self)
    }
}
impl<'row> FromValue<'row> for &'row [u8] {
    fn from_value(value: &'row Value) -> Option<Self> {
        match value {
            Value::Blob(bytes) => Some(bytes),
            Value::Null | Value::Int(_) | Value::Text(_) | Value::Json(_) | Value::Uuid(_) => None,
        }
    }
}
impl FromValue<'_> for Vec<u8> {
    fn from_value(value: &Value) -> Option<Self> {
        <&[u8]>::from_value(value).map(<[u8]>::to_vec)
    }
}
impl<const N: usize> FromValue<'_> for [u8; N] {
    fn from_value(value: &Value) -> Option<Self> {
        <&[u8]>::from_value(value)?.try_into().ok()
    }
}
impl FromValue<'_> for Uuid {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Uuid(uuid) => Some(*uuid),
            Value::Blob(bytes) => Self::from_slice(bytes).ok(),
            Value::Null | Value::Int(_) | Value::Text(_) | Value::Json(_) => None,
        }
    }
}
impl<T> FromValue<'_> for Id<T> {
    fn from_value(value: &Value) -> Option<Self> {
        Uuid::from_value(value).map(Self::new)
    }
}
impl FromValue<'_> for Timestamp {
    fn from_value(value: &Value) -> Option<Self> {
        as_int(value).map(Self::from_millis)
    }
}
impl<'row, T: FromValue<'row>> FromValue<'row> for Option<T> {
    fn from_value(value: &'row Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            Value::Int(_) | Value::Text(_) | Value::Json(_) | Value::Blob(_) | Value::Uuid(_) => {
                T::from_value(value).map(Some)
            }
        }
    }
}

fn as_int(value: &Value) -> Option<i64> {
    match value {
        Value::Int(int) => Some(*int),
        Value::Null | Value::Text(_) | Value::Json(_) | Value::Blob(_) | Value::Uuid(_) => None,
    }
}

/// The named arguments of a statement. Make them with [`args!`](crate::args!).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Args(Vec<(&'static str, Value)>);

impl Args {
    /// No argument yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// From pairs of name and value.
    pub fn from_pairs(pairs: Vec<(&'static str, Value)>) -> Self {
        Self(pairs)
    }

    /// Adds one argument.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.0.push((name, value.into()));
        self
    }

    /// The account that the statement is about, if it is about one.
    pub(crate) fn client_id(&self) -> Option<ClientId> {
        let (_, value) = self.0.iter().find(|(name, _)| *name == "client_id")?;
        Id::from_value(value)
    }

    pub(crate) fn into_inner(self) -> Vec<(&'static str, Value)> {
        self.0
    }
}

/// Named arguments in the form of a struct literal: `args! { id, client_id, doc: Json(text), now: timestamp }`.
#[macro_export]
macro_rules! args {
    (@value $name:ident) => { $crate::Value::from($name) };
    (@value $name:ident $value:expr) => { $crate::Value::from($value) };
    ($($name:ident $(: $value:expr)?),* $(,)?) => {
        $crate::Args::from_pairs(::std::vec![
            $((::core::stringify!($name), $crate::args!(@value $name $($value)?))),*
        ])
    };
}
