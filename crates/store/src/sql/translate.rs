//! Translates the text of a statement for one database: named arguments become numbered ones, and dialect words what that database has
//! for them.

use std::collections::HashSet;
use std::sync::OnceLock;

use regente_domain::charge::StateName;

use super::{DatabaseKind, Translated};

/// The dialect words, each with the SQL before and after its argument on either database.
const WORDS: [(&str, &str, &str); 3] = [
    (
        "EACH_TEXT",
        "(SELECT value FROM json_each(\u{1}))",
        "(SELECT value FROM jsonb_array_elements_text(\u{1}))",
    ),
    (
        "EACH_UUID",
        "(SELECT unhex(replace(value, '-', '')) FROM json_each(\u{1}))",
        "(SELECT value::uuid FROM jsonb_array_elements_text(\u{1}))",
    ),
    (
        "EACH_SPAN",
        "(SELECT json_extract(value, '$[0]') AS hours, json_extract(value, '$[1]') AS from_hour,
            json_extract(value, '$[2]') AS to_hour FROM json_each(\u{1}))",
        "(SELECT (value->>0)::bigint AS hours, (value->>1)::bigint AS from_hour,
            (value->>2)::bigint AS to_hour FROM jsonb_array_elements(\u{1}))",
    ),
];

/// Stands for the states of a charge that are not settled.
const STATES_UNDER_WAY: &str = "STATES_UNDER_WAY";

/// Stands before a column, in parentheses, whose account must be one that can be reached.
pub(super) const REACHABLE: &str = "REACHABLE";

/// Which accounts a statement over all of them reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    All,
    /// Those that are given with it.
    Reachable,
}

/// Stands for the time of the database's clock.
const DATABASE_NOW: &str = "DATABASE_NOW";

/// Stands before a column by which no row is to be looked up. SQLite keeps no statistics, so it believes that few rows have
/// a client, and reads all of them although it is told the keys of some. To look up the words of an `IN` it builds a table.
const UNINDEXED: &str = "UNINDEXED";

const fn unindexed(database: DatabaseKind) -> &'static str {
    match database {
        DatabaseKind::Sqlite => "+",
        DatabaseKind::Postgres => "",
    }
}

/// An embedded database has the machine's clock.
const fn database_now(database: DatabaseKind) -> &'static str {
    match database {
        DatabaseKind::Sqlite => "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
        DatabaseKind::Postgres => "CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS BIGINT)",
    }
}

fn states_under_way() -> String {
    let under_way = StateName::WORDS.iter().filter(|(_, name)| !name.is_settled());
    let quoted: Vec<String> = under_way.map(|(word, _)| format!("'{word}'")).collect();
    format!("({})", quoted.join(", "))
}

pub(super) fn translate(source: &'static str, database: DatabaseKind, over: Over) -> Translated {
    let text = String::with_capacity(source.len() + 64);
    let mut translation = Translation { database, over, text, names: vec![], lists: lists(source) };
    let mut rest = source;
    while !rest.is_empty() {
        rest = translation.step(rest);
    }
    let Translation { text, names, .. } = translation;
    let distinct: HashSet<_> = names.iter().collect();
    debug_assert_eq!(distinct.len(), names.len());
    Translated { text, names, columns: OnceLock::new() }
}

struct Translation {
    database: DatabaseKind,
    over: Over,
    text: String,
    names: Vec<&'static str>,
    /// The arguments of dialect words, which are JSON. PostgreSQL needs their type wherever else they occur: it
    /// cannot infer it from `:ids IS NULL`.
    lists: Vec<&'static str>,
}

impl Translation {
    /// Translates the start of `rest` and returns the remainder.
    fn step(&mut self, rest: &'static str) -> &'static str {
        if let Some(verbatim) = verbatim_length(rest) {
            return self.copy(rest, verbatim);
        }
        if let Some(after_colon) = rest.strip_prefix(':') {
            let name = leading_word(after_colon);
            // A digit after a colon is a slice, not a name.
            if name.starts_with(|c: char| c.is_ascii_lowercase()) {
                self.parameter(name);
                if self.database == DatabaseKind::Postgres && self.lists.contains(&name) {
                    self.text.push_str("::jsonb");
                }
                return &after_colon[name.len()..];
            }
            return self.copy(rest, 1);
        }
        let word = leading_word(rest);
        if word.is_empty() {
            return self.copy(rest, rest.chars().next().map_or(0, char::len_utf8));
        }
        if let Some((before, list)) = membership(rest).filter(|_| self.database == DatabaseKind::Postgres) {
            self.text.push_str(before);
            let rest = self.step(list);
            self.text.push(')');
            return rest;
        }
        if word == STATES_UNDER_WAY {
            self.text.push_str(&states_under_way());
            return &rest[word.len()..];
        }
        if word == DATABASE_NOW {
            self.text.push_str(database_now(self.database));
            return &rest[word.len()..];
        }
        if word == UNINDEXED {
            self.text.push_str(unindexed(self.database));
            return rest[word.len()..].trim_start();
        }
        if word == REACHABLE
            && let Some((column, rest)) =
                rest[word.len()..].strip_prefix('(').and_then(|rest| rest.split_once(')'))
        {
            self.reachable(column);
            return rest;
        }
        match WORDS.iter().find(|(name, ..)| *name == word) {
            Some((_, sqlite, postgres)) => self.dialect_word(&rest[word.len()..], sqlite, postgres),
            None => self.copy(rest, word.len()),
        }
    }

    fn copy(&mut self, rest: &'static str, length: usize) -> &'static str {
        self.text.push_str(&rest[..length]);
        &rest[length..]
    }

    fn parameter(&mut self, name: &'static str) {
        let number = match self.names.iter().position(|known| *known == name) {
            Some(at) => at + 1,
            None => {
                self.names.push(name);
                self.names.len()
            }
        };
        self.text.push(match self.database {
            DatabaseKind::Sqlite => '?',
            DatabaseKind::Postgres => '$',
        });
        self.text.push_str(&number.to_string());
    }

    fn reachable(&mut self, column: &str) {
        match self.over {
            Over::All => self.text.push_str("TRUE"),
            Over::Reachable => {
                self.text.push_str(column);
                self.text.push_str(" = ANY (");
                self.parameter(REACHABLE);
                self.text.push_str("::uuid[])");
            }
        }
    }

    /// `after` begins with `(:name)`. Otherwise the word is copied, and preparing the statement fails.
    fn dialect_word(&mut self, after: &'static str, sqlite: &str, postgres: &str) -> &'static str {
        let template = match self.database {
            DatabaseKind::Sqlite => sqlite,
            DatabaseKind::Postgres => postgres,
        };
        let argument = after.strip_prefix("(:").map(leading_word).filter(|name| !name.is_empty());
        let closing = argument.and_then(|name| after[2 + name.len()..].strip_prefix(')'));
        let (Some(name), Some(rest)) = (argument, closing) else {
            self.text.push_str("EACH_takes_one_named_argument");
            return after;
        };
        let (before, behind) = template.split_once('\u{1}').unwrap_or((template, ""));
        self.text.push_str(before);
        self.parameter(name);
        self.text.push_str(behind);
        rest
    }
}

/// PostgreSQL joins rows to a sub-select, and without statistics may read the list anew for each row of an account. It reads an array
/// once, and looks its elements up by an index. Returns what stands before the array, and the text from the list on.
fn membership(rest: &'static str) -> Option<(&'static str, &'static str)> {
    let of = |operator: &str, before| {
        let list = rest.strip_prefix(operator).filter(|list| list.starts_with("EACH_"))?;
        Some((before, list))
    };
    of("IN ", "= ANY (ARRAY").or_else(|| of("NOT IN ", "<> ALL (ARRAY"))
}

/// The arguments of dialect words.
fn lists(source: &'static str) -> Vec<&'static str> {
    let calls = WORDS.iter().flat_map(|(word, ..)| source.match_indices(word).map(|(at, _)| at + word.len()));
    calls.filter_map(|at| source[at..].strip_prefix("(:").map(leading_word)).collect()
}

/// How many bytes at the start of `rest` are copied unchanged: quoted text, a comment, a cast.
pub(crate) fn verbatim_length(rest: &str) -> Option<usize> {
    let until = |opening: usize, closing: &str| {
        rest[opening..].find(closing).map_or(rest.len(), |at| opening + at + closing.len())
    };
    if rest.starts_with('\'') {
        // A doubled quote ends one literal and starts the next, which gives the same text.
        Some(until(1, "'"))
    } else if rest.starts_with('"') {
        Some(until(1, "\""))
    } else if rest.starts_with("--") {
        Some(until(2, "\n"))
    } else if rest.starts_with("/*") {
        Some(until(2, "*/"))
    } else if rest.starts_with("$$") {
        Some(until(2, "$$"))
    } else if rest.starts_with("::") {
        Some(2)
    } else {
        None
    }
}

pub(super) fn leading_word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}
