//! Rewrites `INSERT … VALUES ($1, $2)` for many rows that share a parameter: `INSERT … VALUES ($1, $2), ($1, $3)`.

use super::super::translate::{leading_word, verbatim_length};

/// Most rows of one statement: each number of them is a statement that the server prepares.
const ROWS_MAX: usize = 8;

/// A statement rewritten for many rows. The first row has the numbers of the statement, and further rows continue them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Values {
    /// What stands before the first row, and behind the last one.
    head: String,
    tail: String,
    row: Vec<Piece>,
    /// The parameters that must be equal for all rows, counted from 0, and those of each row.
    shared: Vec<usize>,
    own: Vec<usize>,
}

#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Parameter(usize),
}

impl Values {
    /// Rewrites a statement with numbered parameters; `None` for another shape. `common` is a parameter, counted from 0, that all rows
    /// share.
    pub(super) fn of(text: &str, common: usize) -> Option<Self> {
        if !text.trim_start().starts_with("INSERT ") {
            return None;
        }
        let opening = text.find("VALUES (")? + "VALUES (".len();
        let closing = opening + end_of_row(&text[opening..])?;
        let tail = &text[closing..];
        let is_plain = |word: &str| !tail.contains(word);
        let is_one_row = !tail[1..].trim_start().starts_with(',');
        if !(is_one_row && ["RETURNING", " FROM "].into_iter().all(is_plain)) {
            return None;
        }
        let row = pieces(&text[opening..closing])?;
        let mut shared = parameters(&pieces(tail)?);
        if !shared.contains(&common) {
            shared.push(common);
        }
        let in_row = parameters(&row);
        // A parameter of a row that also stands behind the rows would have two values.
        if in_row.iter().any(|at| *at != common && shared.contains(at)) {
            return None;
        }
        let own: Vec<usize> = in_row.into_iter().filter(|at| *at != common).collect();
        let (head, tail) = (text[..opening].to_owned(), tail.to_owned());
        (!own.is_empty()).then_some(Self { head, tail, row, shared, own })
    }

    /// The parameters that must be equal for all rows, counted from 0.
    pub(super) fn shared(&self) -> &[usize] {
        &self.shared
    }

    /// The parameters of each row, counted from 0.
    pub(super) fn own(&self) -> &[usize] {
        &self.own
    }

    pub(super) const fn rows_max() -> usize {
        ROWS_MAX
    }

    /// The text for a number of rows, once the types of the parameters are known.
    pub(super) fn text(&self, types: &[&str], rows: usize) -> String {
        let mut text = self.head.clone();
        for nth in 0..rows {
            if nth > 0 {
                text.push_str("), (");
            }
            for piece in &self.row {
                match piece {
                    Piece::Text(words) => text.push_str(words),
                    Piece::Parameter(at) => {
                        let number = self.number(*at, nth, types.len());
                        text.push_str(&format!("${number}::{}", types[*at]));
                    }
                }
            }
        }
        text.push_str(&self.tail);
        text
    }

    fn number(&self, at: usize, nth: usize, first_row: usize) -> usize {
        match self.own.iter().position(|own| *own == at) {
            Some(of_row) if nth > 0 => first_row + (nth - 1) * self.own.len() + of_row + 1,
            Some(_) | None => at + 1,
        }
    }
}

/// Where the parenthesis closes that is open at the start.
fn end_of_row(text: &str) -> Option<usize> {
    let (mut at, mut depth) = (0, 1);
    while let Some(next) = text[at..].chars().next() {
        match next {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
        at += verbatim_length(&text[at..]).unwrap_or(next.len_utf8());
    }
    None
}

fn pieces(text: &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(next) = text[at..].chars().next() {
        if next == '$' {
            let digits = leading_word(&text[at + 1..]);
            pieces.push(Piece::Text(text[start..at].to_owned()));
            pieces.push(Piece::Parameter(digits.parse::<usize>().ok()?.checked_sub(1)?));
            at += 1 + digits.len();
            start = at;
        } else {
            at += verbatim_length(&text[at..]).unwrap_or(next.len_utf8());
        }
    }
    pieces.push(Piece::Text(text[start..].to_owned()));
    Some(pieces)
}

fn parameters(pieces: &[Piece]) -> Vec<usize> {
    let mut parameters = Vec::new();
    for piece in pieces {
        if let Piece::Parameter(at) = piece
            && !parameters.contains(at)
        {
            parameters.push(*at);
        }
    }
    parameters
}
