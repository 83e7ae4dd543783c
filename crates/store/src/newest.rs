//! Finds how recent the data of a database is, from the time in the newest ids.

use regente_domain::id::{Id, of};
use regente_domain::time::Timestamp;

use crate::row::Row;
use crate::{StoreError, sql};

sql! {
    /// The newest charge of all clients.
    pub NEWEST_CHARGE = "SELECT id FROM charges WHERE REACHABLE(client_id) ORDER BY id DESC LIMIT 1";
    /// The newest entry of the audit trail of all clients.
    pub NEWEST_AUDIT_ENTRY = "SELECT id FROM audit WHERE REACHABLE(client_id) ORDER BY id DESC LIMIT 1";
}

/// The times of the newest records of a database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Newest {
    /// The newest charge.
    pub charge: Option<Timestamp>,
    /// The newest entry of the audit trail.
    pub audit_entry: Option<Timestamp>,
}

impl Newest {
    /// The later of the two.
    pub fn of_all(self) -> Option<Timestamp> {
        self.charge.max(self.audit_entry)
    }
}

/// The creation time of the id in the only row.
pub(crate) fn made_at(rows: &[Row]) -> Result<Option<Timestamp>, StoreError> {
    rows.first().map(|row| row.get::<Id<of::Charge>>("id").map(Id::created_at)).transpose()
}
