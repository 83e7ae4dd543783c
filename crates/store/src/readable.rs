//! Many rows of which some may hold what nobody could have written: one of them must not hide the others.

use uuid::Uuid;

use crate::StoreError;
use crate::row::Row;

/// What was read of many rows.
#[derive(Debug)]
pub struct Readable<T> {
    /// What could be read, in its order.
    pub read: Vec<T>,
    /// Ids of the rows that could not.
    pub unreadable: Vec<(Uuid, StoreError)>,
}

impl<T> Readable<T> {
    /// Reads each of `rows`; fails only where not even its `id` can be read.
    pub(crate) fn of(
        rows: &[Row],
        from_row: impl Fn(&Row) -> Result<T, StoreError>,
    ) -> Result<Self, StoreError> {
        let mut all = Self { read: Vec::with_capacity(rows.len()), unreadable: Vec::new() };
        for row in rows {
            match from_row(row) {
                Ok(read) => all.read.push(read),
                Err(error) => all.unreadable.push((row.get("id")?, error)),
            }
        }
        Ok(all)
    }
}
