//! Lines of 240 columns: written from left to right, read by their columns.

use deunicode::deunicode;

use super::COLUMNS;

/// Signs besides letters, digits and blanks that banks take in texts.
const SIGNS: [char; 5] = ['&', '-', '.', ',', '/'];

/// A line that is being written.
#[derive(Debug, Default)]
pub(super) struct Line(String);

impl Line {
    /// A text: upper case, without accents, cut to its columns.
    pub(super) fn text(mut self, text: &str, columns: usize) -> Self {
        let plain = plain(text);
        let cut: String = plain.chars().take(columns).collect();
        self.0 += &format!("{cut:<columns$}");
        self
    }

    /// Digits. Callers keep them within their columns.
    pub(super) fn digits(mut self, digits: &str, columns: usize) -> Self {
        self.0 += &format!("{digits:0>columns$}");
        self
    }

    /// A number. Callers keep it within its columns.
    pub(super) fn number(self, number: i64, columns: usize) -> Self {
        self.digits(&number.to_string(), columns)
    }

    /// Columns that nothing is said in: of a text.
    pub(super) fn blanks(self, columns: usize) -> Self {
        self.text("", columns)
    }

    /// Columns that nothing is said in: of a number.
    pub(super) fn zeros(self, columns: usize) -> Self {
        self.digits("", columns)
    }

    /// The line with its end.
    pub(super) fn end(self) -> String {
        let Self(mut line) = self;
        debug_assert_eq!(line.len(), COLUMNS, "{line}");
        line += "\r\n";
        line
    }
}

/// A text as banks take it: ASCII in upper case, one blank for anything else.
pub(super) fn plain(text: &str) -> String {
    let ascii = deunicode(text).to_ascii_uppercase();
    let signs = ascii.chars().map(|sign| match sign {
        'A'..='Z' | '0'..='9' => sign,
        _ if SIGNS.contains(&sign) => sign,
        _ => ' ',
    });
    let spaced: String = signs.collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A line that is read: one character a column.
#[derive(Clone, Debug)]
pub(super) struct Columns(Vec<char>);

impl Columns {
    /// Of a line without its end; the number of its characters when they are not 240.
    pub(super) fn of(line: &str) -> Result<Self, usize> {
        let characters: Vec<char> = line.chars().collect();
        if characters.len() == COLUMNS { Ok(Self(characters)) } else { Err(characters.len()) }
    }

    /// The columns from one to another, counted from 1 as the layout does, without the blanks around them.
    pub(super) fn text(&self, from: usize, to: usize) -> String {
        let within = self.0.get(from - 1..to).unwrap_or_default();
        within.iter().collect::<String>().trim().to_owned()
    }

    /// The number in these columns; `None` when there is anything else than digits.
    pub(super) fn number(&self, from: usize, to: usize) -> Option<i64> {
        let text = self.text(from, to);
        let is_number = text.len() == to + 1 - from && text.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { text.parse().ok() } else { None }
    }
}
