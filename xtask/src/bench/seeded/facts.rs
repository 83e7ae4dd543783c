//! The known content of a database with many charges, counted while they were made: expected totals, and sample ids.

use std::collections::BTreeMap;
use std::path::Path;

use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::history::{self, Folding};
use crate::Outcome;
use crate::place::Account;

/// The file beside the database. It is written last, so a database without it is incomplete.
pub(super) const FILE: &str = "facts.json";
/// One id in this many is kept as a sample.
const SAMPLE_EVERY: usize = 29;

/// The known content of the account with half of the charges.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::bench) struct Facts {
    /// Number of charges of all accounts.
    pub(in crate::bench) charges: u64,
    /// The account.
    pub(in crate::bench) account: Account,
    /// Its merchants.
    pub(in crate::bench) merchants: Vec<String>,
    /// Its number of charges.
    pub(in crate::bench) charges_of_account: u64,
    /// The hour of the oldest charge.
    pub(in crate::bench) first_hour: i64,
    /// Number of hours before it that have counters but no charges.
    #[serde(default)]
    pub(in crate::bench) history_hours: i64,
    /// What it took to fold those counters.
    #[serde(default)]
    pub(in crate::bench) folding: Option<Folding>,
    /// Sample ids, spread over all the time.
    pub(in crate::bench) ids: Vec<String>,
    /// Their references.
    pub(in crate::bench) order_ids: Vec<String>,
    #[serde(with = "pairs")]
    tally: BTreeMap<Kind, u64>,
}

/// The values that the filters of lists select by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(in crate::bench) struct Kind {
    /// The hour of creation.
    pub(in crate::bench) hour: i64,
    /// The merchant's id.
    pub(in crate::bench) merchant: String,
    /// The status.
    pub(in crate::bench) status: String,
    /// The payment type.
    pub(in crate::bench) payment_type: String,
    /// The type of the responsible provider.
    pub(in crate::bench) provider_type: String,
}

impl Facts {
    pub(super) fn new(charges: u64, account: Account, merchants: Vec<String>, start: Timestamp) -> Self {
        Self {
            charges,
            account,
            merchants,
            charges_of_account: 0,
            first_hour: start.hour(),
            history_hours: 0,
            folding: None,
            ids: Vec::new(),
            order_ids: Vec::new(),
            tally: BTreeMap::new(),
        }
    }

    /// Counts a charge of the account from its answer.
    pub(super) fn add(&mut self, charge: &Value) -> Outcome {
        let text = |pointer: &str| charge.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let created = text("/createdAt").and_then(|text| Timestamp::parse(&text)).ok_or("no time")?;
        let kind = Kind {
            hour: created.hour(),
            merchant: text("/merchantId").ok_or("no merchant")?,
            status: text("/status").ok_or("no status")?,
            payment_type: text("/paymentMethod/paymentType").ok_or("no payment type")?,
            provider_type: text("/responsibleProviderType").unwrap_or_default(),
        };
        *self.tally.entry(kind).or_insert(0) += 1;
        if self.charges_of_account.is_multiple_of(SAMPLE_EVERY as u64) {
            self.ids.extend(text("/id"));
            self.order_ids.extend(text("/orderId"));
        }
        self.charges_of_account += 1;
        Ok(())
    }

    pub(super) fn write(&self, folder: &Path) -> Outcome {
        Ok(std::fs::write(folder.join(FILE), serde_json::to_vec(&self)?)?)
    }

    pub(super) fn read(folder: &Path) -> Outcome<Self> {
        Ok(serde_json::from_slice(&std::fs::read(folder.join(FILE))?)?)
    }

    /// Number of charges of the account that match, those of its history included.
    pub(in crate::bench) fn count(&self, fits: impl Fn(&Kind) -> bool) -> u64 {
        let made: u64 = self.tally.iter().filter(|(kind, _)| fits(kind)).map(|(_, charges)| charges).sum();
        made + history::count(self, fits)
    }
}

/// Serializes a map whose keys are not texts as a list.
mod pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Kind;

    pub(super) fn serialize<S: Serializer>(
        tally: &BTreeMap<Kind, u64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        tally.iter().collect::<Vec<_>>().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<Kind, u64>, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into_iter().collect())
    }
}
