//! Rewrites a statement for the rows of many batches on PostgreSQL: `INSERT … VALUES ($1, $2)` becomes `INSERT …
//! SELECT each.p1, each.p2 FROM unnest($1::uuid[], $2::text[]) AS each(p1, p2)`, an `UPDATE … WHERE …` gets the same
//! list of rows between `SET` and `WHERE`, and an `INSERT … SELECT … FROM … WHERE …` gets it before `WHERE`.
//!
//! For the rows of one client `INSERT … VALUES` gets more rows of values instead ([`values`]): a distributed database sees from them
//! that all lie on one server.

mod values;

use self::values::Values;
use super::translate::{leading_word, verbatim_length};
use crate::value::Value;

/// A statement rewritten for many rows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Many {
    /// Of any number of them, each parameter an array.
    Arrays(Arrays),
    /// Of a few, each with its own parameters.
    Values(Values),
}

/// A statement whose rows are an array for each parameter.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Arrays {
    /// The text before and after the list of rows.
    head: String,
    tail: String,
    /// The parameters outside the scope of the rows, counted from 0: they must be equal for all rows.
    shared: Vec<usize>,
}

impl Many {
    /// Rewrites a statement with numbered parameters; `None` for another shape. `common` is a parameter, counted from
    /// 0, that all rows share wherever it stands.
    pub(crate) fn of(text: &str, common: Option<usize>) -> Option<Self> {
        if let Some(values) = common.and_then(|common| Values::of(text, common)) {
            return Some(Self::Values(values));
        }
        Arrays::of(text, common).map(Self::Arrays)
    }

    /// The parameters that must be equal for all rows, counted from 0.
    pub(crate) fn shared(&self) -> &[usize] {
        match self {
            Self::Arrays(arrays) => &arrays.shared,
            Self::Values(values) => values.shared(),
        }
    }

    /// Most rows of one statement.
    pub(crate) const fn rows_max(&self) -> usize {
        match self {
            Self::Arrays(_) => usize::MAX,
            Self::Values(_) => Values::rows_max(),
        }
    }

    /// The number of rows that the text is made for; the same text serves any number of arrays' elements.
    pub(crate) const fn rows_of_text(&self, rows: usize) -> usize {
        match self {
            Self::Arrays(_) => 1,
            Self::Values(_) => rows,
        }
    }

    /// The text for a number of rows, once the types of the parameters are known.
    pub(crate) fn text(&self, types: &[&str], rows: usize) -> String {
        match self {
            Self::Arrays(arrays) => arrays.text(types),
            Self::Values(values) => values.text(types, rows),
        }
    }

    /// The arguments of the text for these rows, each of which has a value for each parameter of the statement.
    pub(crate) fn arguments<'a>(&self, rows: &[&'a [Value]]) -> Vec<Argument<'a>> {
        let Some((first, more)) = rows.split_first() else { return Vec::new() };
        match self {
            Self::Arrays(arrays) => (0..first.len())
                .map(|at| match arrays.shared.contains(&at) {
                    true => Argument::One(&first[at]),
                    false => Argument::Each(rows.iter().map(|row| &row[at]).collect()),
                })
                .collect(),
            Self::Values(values) => {
                let own = more.iter().flat_map(|row| values.own().iter().map(|at| &row[*at]));
                first.iter().chain(own).map(Argument::One).collect()
            }
        }
    }
}

/// An argument of a statement for many rows.
#[derive(Debug)]
pub(crate) enum Argument<'a> {
    /// A value.
    One(&'a Value),
    /// An array with one element for each row.
    Each(Vec<&'a Value>),
}

impl Arrays {
    fn of(text: &str, common: Option<usize>) -> Option<Self> {
        let mut writing = Writing { common, ..Writing::default() };
        let kind = match text.trim_start() {
            insert if insert.starts_with("INSERT ") => Kind::Insert,
            update if update.starts_with("UPDATE ") => Kind::Update,
            _ => return None,
        };
        let mut rest = text;
        let mut depth = 0_usize;
        // The depth of the parenthesis that `VALUES` opened.
        let mut values = None;
        // After `ON CONFLICT` the rows are out of scope.
        let mut in_conflict = false;
        // Whether an `INSERT … SELECT` has tables of its own.
        let mut has_tables = false;
        while let Some(next) = rest.chars().next() {
            let word = leading_word(rest);
            let length = verbatim_length(rest).unwrap_or_else(|| word.len().max(next.len_utf8()));
            let (token, after) = rest.split_at(length);
            rest = after;
            match (kind, token) {
                (Kind::Insert, "FROM") if depth == 0 => {
                    has_tables = true;
                    writing.push("FROM");
                }
                (_, "FROM" | "RETURNING") if depth == 0 => return None,
                (Kind::Insert, "VALUES") if depth == 0 => {
                    let opening = rest.find('(')?;
                    rest = &rest[opening + 1..];
                    depth += 1;
                    values = Some(depth);
                    writing.push("SELECT ");
                }
                (_, ")") if values == Some(depth) => {
                    values = None;
                    depth -= 1;
                    writing.push(" FROM ");
                    writing.rows_stand_here()?;
                    // A second list of values would be a second row.
                    if rest.trim_start().starts_with(',') {
                        return None;
                    }
                }
                (_, "WHERE") if depth == 0 && !in_conflict && writing.tail.is_none() => {
                    writing.push(if has_tables { "CROSS JOIN " } else { "FROM " });
                    writing.rows_stand_here()?;
                    writing.push(" WHERE");
                }
                (Kind::Insert, "ON") if depth == 0 && rest.starts_with(" CONFLICT") => {
                    in_conflict = true;
                    writing.push("ON");
                }
                (_, "$") => {
                    let digits = leading_word(rest);
                    rest = &rest[digits.len()..];
                    writing.parameter(digits.parse().ok()?, in_conflict);
                }
                (_, token) => {
                    match token {
                        "(" => depth += 1,
                        ")" => depth = depth.checked_sub(1)?,
                        _ => {}
                    }
                    writing.push(token);
                }
            }
        }
        let Writing { head, tail, of_rows, shared, common: _ } = writing;
        let is_either = of_rows.iter().all(|at| !shared.contains(at));
        (is_either && !of_rows.is_empty()).then_some(Self { head, tail: tail?, shared })
    }

    fn text(&self, types: &[&str]) -> String {
        let rows: Vec<usize> = (0..types.len()).filter(|at| !self.shared.contains(at)).collect();
        let list =
            |one: &dyn Fn(usize) -> String| rows.iter().map(|at| one(*at)).collect::<Vec<_>>().join(", ");
        let arrays = list(&|at| format!("${}::{}[]", at + 1, types[at]));
        let names = list(&|at| format!("p{}", at + 1));
        format!("{}unnest({arrays}) AS each({names}){}", self.head, self.tail)
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Insert,
    Update,
}

#[derive(Default)]
struct Writing {
    head: String,
    tail: Option<String>,
    of_rows: Vec<usize>,
    shared: Vec<usize>,
    common: Option<usize>,
}

impl Writing {
    fn push(&mut self, text: &str) {
        self.tail.as_mut().unwrap_or(&mut self.head).push_str(text);
    }

    /// Ends the head; only one place may hold the rows.
    fn rows_stand_here(&mut self) -> Option<()> {
        if self.tail.is_some() {
            return None;
        }
        self.tail = Some(String::new());
        Some(())
    }

    fn parameter(&mut self, number: usize, in_conflict: bool) {
        if in_conflict || self.common == Some(number - 1) {
            self.shared.push(number - 1);
            self.push(&format!("${number}"));
        } else {
            self.of_rows.push(number - 1);
            self.push(&format!("each.p{number}"));
        }
    }
}
