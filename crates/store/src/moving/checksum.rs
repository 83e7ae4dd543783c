//! Checksums of rows that are the same on both databases. JSON is compared by its meaning: PostgreSQL keeps neither the
//! order of members nor the spelling of numbers.

use std::collections::BTreeMap;
use std::fmt;

use aws_lc_rs::digest::{Context, SHA256};
use serde_json::Value as Document;
use uuid::Uuid;

use super::table::Table;
use crate::error::StoreError;
use crate::value::Value;

/// Whole numbers below this are exact as floating point numbers.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// Number and checksum of rows, whatever their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// How many.
    pub rows: u64,
    lanes: [u64; 4],
}

/// The sums of a database by account and place of the table. Rows without an account are under the nil id.
pub(crate) type Sums = BTreeMap<(Uuid, usize), Sum>;

impl Sum {
    /// Adds a row by its digest. Digests are added up, so that their order does not matter.
    pub(crate) fn add(&mut self, digest: [u64; 4]) {
        self.rows += 1;
        for (lane, more) in self.lanes.iter_mut().zip(digest) {
            *lane = lane.wrapping_add(more);
        }
    }
}

/// The checksum in hexadecimal digits.
impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lanes.iter().try_for_each(|lane| write!(f, "{lane:016x}"))
    }
}

/// The digest of a row.
pub(crate) fn digest(table: &Table, row: &[Value]) -> Result<[u64; 4], StoreError> {
    let mut context = Context::new(&SHA256);
    let mut member = |kind: u8, bytes: &[u8]| {
        context.update(&[kind]);
        context.update(&(bytes.len() as u64).to_be_bytes());
        context.update(bytes);
    };
    for value in row {
        match value {
            Value::Null => member(0, &[]),
            Value::Int(int) => member(1, &int.to_be_bytes()),
            Value::Text(text) => member(2, text.as_bytes()),
            Value::Json(text) => {
                let document: Document = serde_json::from_str(text)
                    .map_err(|error| StoreError::Corrupt(format!("a document of {}: {error}", table.name)))?;
                member(3, canonical(document).to_string().as_bytes());
            }
            Value::Blob(bytes) => member(4, bytes),
            Value::Uuid(id) => member(5, id.as_bytes()),
        }
    }
    let digest = context.finish();
    let mut lanes = [0; 4];
    for (lane, bytes) in lanes.iter_mut().zip(digest.as_ref().chunks_exact(8)) {
        *lane = bytes.iter().fold(0, |lane, byte| lane << 8 | u64::from(*byte));
    }
    Ok(lanes)
}

/// A document with its members in the order of their names, and whole numbers written as such.
fn canonical(document: Document) -> Document {
    match document {
        Document::Object(members) => {
            let sorted: BTreeMap<String, Document> =
                members.into_iter().map(|(name, member)| (name, canonical(member))).collect();
            Document::Object(sorted.into_iter().collect())
        }
        Document::Array(items) => Document::Array(items.into_iter().map(canonical).collect()),
        Document::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < EXACT_MAX => {
                // It is whole, and in the range of the type.
                Document::from(float as i64)
            }
            Some(_) | None => Document::Number(number),
        },
        other @ (Document::Null | Document::Bool(_) | Document::String(_)) => other,
    }
}

/// Whether a text has the character NUL, which PostgreSQL stores neither in texts nor in documents.
pub(crate) fn has_nul(value: &Value) -> bool {
    match value {
        Value::Text(text) => text.contains('\0'),
        // Behind an even number of backslashes one begins an escape.
        Value::Json(text) => text.match_indices("u0000").any(|(at, _)| {
            let before = text.as_bytes()[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
            before % 2 == 1
        }),
        Value::Null | Value::Int(_) | Value::Blob(_) | Value::Uuid(_) => false,
    }
}

/// One checksum of all sums.
pub(crate) fn of_all<'a>(sums: impl Iterator<Item = (Uuid, &'a str, &'a Sum)>) -> String {
    let mut context = Context::new(&SHA256);
    for (account, table, sum) in sums {
        context.update(format!("{account} {table} {} {sum}\n", sum.rows).as_bytes());
    }
    context.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
