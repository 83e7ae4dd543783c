//! What the columns and words of a provider's settlement file mean: data, not code.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use regente_domain::settlement::Kind;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::file::RFC_3339;

/// The mapping of the simulator's file.
pub const OF_THE_SIMULATOR: &str = include_str!("mapping.toml");

/// A mapping cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the mapping cannot be used: {0}")]
pub struct MappingError(pub(super) String);

/// What the columns and words of a file mean.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// One character between fields.
    pub(super) separator: char,
    pub(super) amounts: Amounts,
    pub(super) decimal_separator: char,
    /// `rfc3339`, or a pattern.
    pub(super) time: String,
    pub(super) zone: String,
    pub(super) payment_is: PaymentIs,
    /// Whether everything that moved on the days of the file is in it.
    pub(super) complete: bool,
    #[serde(default)]
    pub(super) negated: Vec<String>,
    pub(super) columns: Columns,
    /// What a word of the column `kind` means; `None` leaves the line out.
    #[serde(deserialize_with = "words_of_kinds")]
    kinds: HashMap<String, Option<Kind>>,
}

/// How amounts are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Amounts {
    MinorUnits,
    Decimal,
}

/// Whose name of a payment the file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PaymentIs {
    Key,
    TransactionId,
}

/// The names of columns.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Columns {
    pub(super) line: Vec<String>,
    pub(super) kind: String,
    pub(super) at: String,
    pub(super) payment: String,
    pub(super) currency: String,
    pub(super) amount: String,
    #[serde(default)]
    pub(super) fee: Option<String>,
    #[serde(default)]
    pub(super) seller: Option<String>,
    #[serde(default)]
    pub(super) parts: Option<String>,
}

/// The word under which a mapping lists what is left out.
const IGNORED: &str = "ignored";
/// The name of the column of the fee among `negated`.
pub(super) const FEE_COLUMN: &str = "fee_column";

impl Mapping {
    /// That of the simulator's file.
    ///
    /// # Errors
    /// None: a test reads it.
    pub fn of_the_simulator() -> Result<Self, MappingError> {
        Self::parse(OF_THE_SIMULATOR)
    }

    /// Reads a file of TOML.
    ///
    /// # Errors
    /// [`MappingError`] says what is wrong.
    pub fn read(path: &Path) -> Result<Self, MappingError> {
        let wrong = |error: &dyn std::fmt::Display| MappingError(format!("{}: {error}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| wrong(&error))?;
        Self::parse(&text).map_err(|MappingError(error)| wrong(&error))
    }

    fn parse(text: &str) -> Result<Self, MappingError> {
        let mapping: Self = toml::from_str(text).map_err(|error| MappingError(error.to_string()))?;
        let is_known = |word: &&String| Kind::parse(word).is_some() || *word == FEE_COLUMN;
        if let Some(unknown) = mapping.negated.iter().find(|word| !is_known(word)) {
            return Err(MappingError(format!("`negated` has `{unknown}`, which is no kind of line")));
        }
        if !mapping.separator.is_ascii() || mapping.columns.line.is_empty() {
            return Err(MappingError(
                "`separator` is one ASCII character; `columns.line` names columns".to_owned(),
            ));
        }
        mapping.time_zone()?;
        mapping.check_time()?;
        Ok(mapping)
    }

    /// A pattern must tell a day.
    fn check_time(&self) -> Result<(), MappingError> {
        if self.time == RFC_3339 {
            return Ok(());
        }
        let day = jiff::civil::date(2026, 7, 6);
        let written = day.to_zoned(TimeZone::UTC).and_then(|day| strtime::format(&self.time, &day));
        match written.and_then(|text| strtime::parse(&self.time, text)?.to_date()) {
            Ok(read) if read == day => Ok(()),
            Ok(_) => Err(MappingError(format!("`time` is `{}`, which tells no day", self.time))),
            Err(error) => Err(MappingError(format!("`time` is `{}`: {error}", self.time))),
        }
    }

    /// The kind of a provider's word; `Some(None)` when its lines are left out.
    pub(super) fn kind(&self, word: &str) -> Option<Option<Kind>> {
        self.kinds.get(word).copied()
    }

    /// Whether files have lines of this kind.
    pub(super) fn has(&self, kind: Kind) -> bool {
        self.kinds.values().any(|named| *named == Some(kind))
    }

    pub(super) fn sign(&self, of: &str) -> i64 {
        if self.negated.iter().any(|negated| negated == of) { -1 } else { 1 }
    }
}

/// The provider's words, of which each stands for one kind.
fn words_of_kinds<'de, D: Deserializer<'de>>(kinds: D) -> Result<HashMap<String, Option<Kind>>, D::Error> {
    let mut known = HashMap::new();
    for (kind, words) in BTreeMap::<String, Vec<String>>::deserialize(kinds)? {
        let parsed = Kind::parse(&kind);
        if parsed.is_none() && kind != IGNORED {
            return Err(D::Error::custom(format!("`kinds.{kind}` is no kind of line")));
        }
        for word in words {
            if known.contains_key(&word) {
                return Err(D::Error::custom(format!("`{word}` is listed twice in `kinds`")));
            }
            known.insert(word, parsed);
        }
    }
    Ok(known)
}
