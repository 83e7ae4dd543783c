//! Reads many rows of which some may be corrupt, so that one does not hide the others.

use uuid::Uuid;

use crate::StoreError;
use crate::row::Row;

/// The result of reading many rows.
#[derive(Debug)]
pub struct Readable<T> {
    /// The readable ones, in order.
    pub read: Vec<T>,
    /// Ids of the unreadable rows, with their errors.
    pub unreadable: Vec<(Uuid, StoreError)>,
}

impl<T> Readable<T> {
    /// Reads each of `rows`; fails only when even its `id` is unreadable.
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
