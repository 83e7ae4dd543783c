//! Names the rows in which two databases differ, once their checksums have told that some do.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use uuid::Uuid;

use super::Pages;
use super::checksum::{Sums, digest};
use super::end::End;
use super::mark;
use super::table::{Table, Values};
use crate::error::StoreError;
use crate::value::Value;

/// Differences that are named.
const NAMED_MAX: usize = 10;

/// A row that is not the same in source and target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The table.
    pub table: String,
    /// The account of the row, the nil id where it has none.
    pub account: Uuid,
    /// Its primary key, as JSON.
    pub key: String,
    /// How it differs.
    pub how: Differs,
}

/// How a row differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Differs {
    /// The target does not have it.
    IsMissing,
    /// Only the target has it.
    IsAdded,
    /// It has other values in the target.
    IsChanged,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, account, key, how } = self;
        let how = match how {
            Differs::IsMissing => "is missing in the target",
            Differs::IsAdded => "is in the target alone",
            Differs::IsChanged => "is another one in the target",
        };
        write!(f, "row {key} of table {table} of account {account} {how}")
    }
}

/// The first differences. `sums` are those of the source, `found` those of the target.
pub(super) async fn differences(
    source: &End,
    target: &End,
    tables: &[Arc<Table>],
    sums: &Sums,
    found: &Sums,
) -> Result<Vec<Difference>, StoreError> {
    let keys: BTreeSet<_> = sums.keys().chain(found.keys()).collect();
    let wrong = keys.into_iter().filter(|key| sums.get(key) != found.get(key));
    let places: BTreeSet<usize> = wrong.map(|(_, place)| *place).collect();
    let mut differences = Vec::new();
    for table in places.into_iter().filter_map(|place| tables.get(place)) {
        look(source, target, table, Differs::IsMissing, &mut differences).await?;
        look(target, source, table, Differs::IsAdded, &mut differences).await?;
    }
    Ok(differences)
}

/// Looks for each row of `from` in `there`. Rows that are in both are compared the first time.
async fn look(
    from: &End,
    there: &End,
    table: &Arc<Table>,
    absent: Differs,
    differences: &mut Vec<Difference>,
) -> Result<(), StoreError> {
    let mut pages = Pages::after(None);
    while let Some(page) = pages.next(from, table).await? {
        for row in page {
            if differences.len() == NAMED_MAX {
                return Ok(());
            }
            let how = match there.find(table, table.key_of(&row)).await? {
                None => absent,
                Some(_) if absent == Differs::IsAdded => continue,
                Some(other) if digest(table, &other)? == digest(table, &row)? => continue,
                Some(_) => Differs::IsChanged,
            };
            differences.push(difference(table, &row, how));
        }
    }
    Ok(())
}

fn difference(table: &Table, row: &Values, how: Differs) -> Difference {
    Difference { table: table.name.clone(), account: table.account_of(row), key: shown(table, row), how }
}

/// The primary key of a row, as JSON.
pub(super) fn shown(table: &Table, row: &[Value]) -> String {
    serde_json::Value::from(mark::shown(&table.key_of(row))).to_string()
}
