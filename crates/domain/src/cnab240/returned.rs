//! Reads the file by which a bank tells what became of payments. A file that is not whole, whose sums or counts are not
//! those of its lines, is not read at all; a line that says something else than what became of a payment is listed with its
//! row.

use std::fmt;

use jiff::civil::Date;

use super::line::Columns;
use super::occurrence::{self, Verdict};
use super::{COLUMNS, FILE_TRAILER};

/// A file that a bank sends (G015).
const RETURN: i64 = 2;
/// What banks of old put behind the last line.
const END_OF_FILE: char = '\u{1A}';

/// A return file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReturnFile {
    /// The COMPE code of the bank.
    pub bank: String,
    /// The number of the file (G018).
    pub number: i64,
    /// What it says of payments, in its order.
    pub entries: Vec<Entry>,
    /// Lines that are not about payments to accounts.
    pub others: Vec<OtherLine>,
}

/// What a segment A says of a payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The row of the file, from 1.
    pub row: usize,
    /// The name of the transfer ([`super::name`]).
    pub name: String,
    /// How much was asked for, in minor units.
    pub amount: i64,
    /// How much was paid, in minor units, where the file says it.
    pub paid: Option<i64>,
    /// When it was paid, where the file says it.
    pub paid_on: Option<Date>,
    /// What became of it.
    pub verdict: Verdict,
}

/// A line that is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherLine {
    /// The row of the file, from 1.
    pub row: usize,
    /// What it is.
    pub what: String,
}

/// Why a file is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It has no lines.
    Empty,
    /// A line has another number of columns.
    Columns {
        /// Its row.
        row: usize,
        /// How many it has.
        columns: usize,
    },
    /// The first line is no header of a file that a bank has sent.
    NoReturn,
    /// The line is not at its place: a payment outside of a lot, a lot in a lot, something behind the trailer.
    Misplaced {
        /// Its row.
        row: usize,
    },
    /// A line is of another bank than the header.
    OtherBank {
        /// Its row.
        row: usize,
    },
    /// A number has other signs than digits.
    NoNumber {
        /// Its row.
        row: usize,
    },
    /// A trailer counts other lines or lots than there are.
    Count {
        /// Its row.
        row: usize,
    },
    /// A trailer has another sum than that of the payments of its lot.
    Sum {
        /// Its row.
        row: usize,
    },
    /// The trailer is missing.
    Truncated,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "it is empty"),
            Self::Columns { row, columns } => {
                write!(f, "row {row} has {columns} columns instead of {COLUMNS}")
            }
            Self::NoReturn => write!(f, "it does not begin like a return file in the format CNAB 240"),
            Self::Misplaced { row } => write!(f, "row {row} is not at its place"),
            Self::OtherBank { row } => write!(f, "row {row} is of another bank than the header"),
            Self::NoNumber { row } => write!(f, "row {row} has something else where a number belongs"),
            Self::Count { row } => write!(f, "the trailer in row {row} counts something else than there is"),
            Self::Sum { row } => write!(f, "the trailer in row {row} has another sum than its lot"),
            Self::Truncated => write!(f, "its end is missing"),
        }
    }
}

/// The text of a file in ISO 8859-1: one character for each byte.
pub fn decoded(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// Reads a file.
///
/// # Errors
/// Why it is not read.
pub fn read(text: &str) -> Result<ReturnFile, Unreadable> {
    let text = text.trim_end_matches(['\r', '\n', END_OF_FILE]);
    let mut lines = (1..).zip(text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)));
    let (_, first) = lines.next().filter(|(_, line)| !line.is_empty()).ok_or(Unreadable::Empty)?;
    let header = columns(first, 1)?;
    let number = header.number(158, 163);
    let is_return = header.text(4, 8) == "00000" && header.number(143, 143) == Some(RETURN);
    let (true, Some(number)) = (is_return, number) else { return Err(Unreadable::NoReturn) };
    let file = ReturnFile { bank: header.text(1, 3), number, entries: Vec::new(), others: Vec::new() };
    let mut reading = Reading { file, lines: 1, lots: 0, lot: None, is_over: false };
    for (row, line) in lines {
        reading.line(row, &columns(line, row)?)?;
    }
    if reading.is_over { Ok(reading.file) } else { Err(Unreadable::Truncated) }
}

fn columns(line: &str, row: usize) -> Result<Columns, Unreadable> {
    Columns::of(line).map_err(|columns| Unreadable::Columns { row, columns })
}

/// How far a file is read.
struct Reading {
    file: ReturnFile,
    lines: i64,
    lots: i64,
    lot: Option<Lot>,
    is_over: bool,
}

/// The lot that is read.
struct Lot {
    lines: i64,
    sum: i64,
    /// What the bank says of all of it.
    codes: Vec<String>,
}

impl Reading {
    fn line(&mut self, row: usize, line: &Columns) -> Result<(), Unreadable> {
        self.lines += 1;
        if self.is_over {
            return Err(Unreadable::Misplaced { row });
        }
        if line.text(1, 3) != self.file.bank {
            return Err(Unreadable::OtherBank { row });
        }
        let codes = || occurrence::codes(&line.text(231, 240));
        match (line.text(8, 8).as_str(), self.lot.as_mut()) {
            ("1", None) => self.lot = Some(Lot { lines: 1, sum: 0, codes: codes() }),
            ("3", Some(lot)) => {
                lot.lines += 1;
                match line.text(14, 14).as_str() {
                    "A" => {
                        let entry = entry(row, line, &lot.codes).ok_or(Unreadable::NoNumber { row })?;
                        // So large a sum fits into no trailer.
                        lot.sum = lot.sum.saturating_add(entry.amount);
                        self.file.entries.push(entry);
                    }
                    // To whom it is paid, and the taxes of it.
                    "B" | "C" => {}
                    other => self.file.others.push(OtherLine { row, what: format!("segment {other}") }),
                }
            }
            ("2" | "4", Some(lot)) => {
                lot.lines += 1;
                let what = "a line before or behind the payments of a lot".to_owned();
                self.file.others.push(OtherLine { row, what });
            }
            ("5", Some(lot)) => {
                let (count, sum) = (line.number(18, 23), line.number(24, 41));
                let (Some(count), Some(sum)) = (count, sum) else { return Err(Unreadable::NoNumber { row }) };
                if count != lot.lines + 1 {
                    return Err(Unreadable::Count { row });
                }
                if sum != lot.sum {
                    return Err(Unreadable::Sum { row });
                }
                self.lots += 1;
                self.lot = None;
            }
            ("9", None) if line.text(4, 7) == FILE_TRAILER => {
                let counts = (line.number(18, 23), line.number(24, 29));
                let (Some(lots), Some(lines)) = counts else { return Err(Unreadable::NoNumber { row }) };
                if (lots, lines) != (self.lots, self.lines) {
                    return Err(Unreadable::Count { row });
                }
                self.is_over = true;
            }
            _ => return Err(Unreadable::Misplaced { row }),
        }
        Ok(())
    }
}

/// What a segment A says; `None` when its amounts are no numbers.
fn entry(row: usize, line: &Columns, of_lot: &[String]) -> Option<Entry> {
    let amount = line.number(120, 134)?;
    let paid = if line.text(163, 177).is_empty() { 0 } else { line.number(163, 177)? };
    Some(Entry {
        row,
        name: line.text(74, 93),
        amount,
        paid: (paid != 0).then_some(paid),
        paid_on: day(line),
        verdict: verdict(line, of_lot),
    })
}

fn day(line: &Columns) -> Option<Date> {
    let (day, month, year) = (line.number(155, 156)?, line.number(157, 158)?, line.number(159, 162)?);
    Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()
}

/// What became of a payment, by the type of movement (G060) and the codes.
fn verdict(line: &Columns, of_lot: &[String]) -> Verdict {
    let codes = occurrence::codes(&line.text(231, 240));
    let (movement, instruction) = (line.text(15, 15), line.text(16, 17));
    match (movement.as_str(), instruction.as_str()) {
        // An inclusion, or a settlement.
        ("0" | "7", _) if codes.is_empty() && !of_lot.is_empty() => {
            Verdict::Undecided(format!("it has no code, and its lot has {}", occurrence::text(of_lot)))
        }
        ("0" | "7", _) => occurrence::verdict(&codes),
        // A reversal, since the clearing house has given it back (G061).
        ("3", "33") if codes.is_empty() => Verdict::Returned("33 returned by the clearing house".to_owned()),
        ("3", "33") => {
            Verdict::Returned(format!("33 returned by the clearing house; {}", occurrence::text(&codes)))
        }
        _ => Verdict::Undecided(format!("it is a movement of type {movement}, instruction {instruction}")),
    }
}
