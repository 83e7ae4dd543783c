//! Converts values to and from PostgreSQL's binary form.

use std::error::Error;

use bytes::{BufMut, BytesMut};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use uuid::Uuid;

use crate::error::StoreError;
use crate::sql::Sql;
use crate::value::Value;

/// The version number that starts the binary form of `jsonb`.
const JSONB_VERSION: u8 = 1;

/// A value that the column's type cannot hold, or a column that no [`Value`] can hold.
#[derive(Debug, thiserror::Error)]
#[error("{value} for {wanted}")]
pub(super) struct NotStorable {
    value: &'static str,
    wanted: String,
}

/// Checks before sending that each argument has the type of the statement: an error within a transaction would fail
/// the whole group.
pub(super) fn check(sql: &Sql, values: &[Value], types: &[Type]) -> Result<(), StoreError> {
    let programming = |what: String| Err(StoreError::Programming(format!("{}: {what}", sql.name())));
    if values.len() != types.len() {
        return programming(format!("{} arguments for {} parameters", values.len(), types.len()));
    }
    match values.iter().zip(types).position(|(value, wanted)| !fits(value, wanted)) {
        None => Ok(()),
        Some(at) => programming(format!(
            "argument {} is {}, but {} is wanted",
            at + 1,
            values[at].kind(),
            types[at].name()
        )),
    }
}

fn fits(value: &Value, wanted: &Type) -> bool {
    match value {
        Value::Null => true,
        Value::Int(_) => *wanted == Type::INT8,
        Value::Text(_) => [Type::TEXT, Type::VARCHAR].contains(wanted),
        Value::Json(_) => [Type::JSONB, Type::TEXT].contains(wanted),
        Value::Blob(_) => *wanted == Type::BYTEA,
        Value::Uuid(_) => *wanted == Type::UUID,
    }
}

impl ToSql for Value {
    fn to_sql(&self, wanted: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        if !fits(self, wanted) {
            return Err(Box::new(NotStorable { value: self.kind(), wanted: wanted.name().to_owned() }));
        }
        match self {
            Self::Null => return Ok(IsNull::Yes),
            Self::Int(int) => out.put_i64(*int),
            Self::Text(text) => out.put_slice(text.as_bytes()),
            Self::Json(text) => {
                if *wanted == Type::JSONB {
                    out.put_u8(JSONB_VERSION);
                }
                out.put_slice(text.as_bytes());
            }
            Self::Blob(bytes) => out.put_slice(bytes),
            Self::Uuid(uuid) => out.put_slice(uuid.as_bytes()),
        }
        Ok(IsNull::No)
    }

    fn accepts(_wanted: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Value {
    fn from_sql(found: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        let text = |raw: &[u8]| std::str::from_utf8(raw).map(str::to_owned);
        Ok(match *found {
            Type::INT8 => Self::Int(i64::from_be_bytes(raw.try_into()?)),
            Type::INT4 => Self::Int(i32::from_be_bytes(raw.try_into()?).into()),
            Type::INT2 => Self::Int(i16::from_be_bytes(raw.try_into()?).into()),
            Type::BOOL => Self::Int(i64::from(raw != [0])),
            Type::TEXT | Type::VARCHAR | Type::NAME => text(raw)?.into(),
            Type::JSON => Self::Json(text(raw)?),
            Type::JSONB => match raw.split_first() {
                Some((&JSONB_VERSION, document)) => Self::Json(text(document)?),
                _ => return Err(Box::new(NotStorable { value: "jsonb", wanted: "version 1".to_owned() })),
            },
            Type::BYTEA => Self::Blob(raw.to_vec()),
            Type::UUID => Self::Uuid(Uuid::from_slice(raw)?),
            _ => {
                return Err(Box::new(NotStorable {
                    value: "a column of type",
                    wanted: found.name().to_owned(),
                }));
            }
        })
    }

    fn from_sql_null(_found: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self::Null)
    }

    /// Accepts all types, so that [`NotStorable`] reports a wrong one by name.
    fn accepts(_found: &Type) -> bool {
        true
    }
}
