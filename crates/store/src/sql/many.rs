//! Rewrites a statement for the rows of many batches on PostgreSQL: `INSERT … VALUES ($1, $2)` becomes `INSERT …
//! SELECT each.p1, each.p2 FROM unnest($1::uuid[], $2::text[]) AS each(p1, p2)`, an `UPDATE … WHERE …` gets the same
//! list of rows between `SET` and `WHERE`, and an `INSERT … SELECT … FROM … WHERE …` gets it before `WHERE`.

use super::{leading_word, verbatim_length};

/// A statement rewritten for many rows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Many {
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

    /// The parameters that must be equal for all rows, counted from 0.
    pub(crate) fn shared(&self) -> &[usize] {
        &self.shared
    }

    /// The text, once the types of the parameters are known.
    pub(crate) fn text(&self, types: &[&str]) -> String {
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
