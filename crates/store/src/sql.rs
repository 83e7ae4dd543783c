//! Declares named SQL statements: one text for both databases, translated once, listed in a catalogue.
//!
//! Only [`sql!`](crate::sql!) declares statements, so that the catalogue is complete and a test can prepare each one
//! on both databases. No text depends on data.
//!
//! The schema can be distributed by client over several servers, where each statement should reach one of them. So a
//! statement keeps these rules, and a test (`tests/it/distribution.rs`) names the exceptions with their reasons:
//! - Each table is filtered by `client_id = :client_id`, also in each subquery; a joined table may have
//!   `client_id = other.client_id`. `clients` and `data_keys` are exempt: every server has them whole.
//! - No recursion, and no subquery in an `INSERT … VALUES`, also not after its `ON CONFLICT`.
//! - An `INSERT … SELECT` takes its rows, with their `client_id`, from a table.

mod many;

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

use regente_domain::charge::StateName;

pub(crate) use self::many::{Argument, Many};
use crate::error::{Refusal, StoreError};
use crate::placement::{Placement, WHOLE};
use crate::value::{Args, Value};

/// The two databases that the product runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DatabaseKind {
    /// One embedded file, one process.
    Sqlite,
    /// A server that many nodes share.
    Postgres,
}

impl fmt::Display for DatabaseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        })
    }
}

/// Declares SQL statements as statics and registers them in the catalogue.
///
/// ```ignore
/// sql! {
///     /// One charge of a client.
///     pub FIND_CHARGE = "SELECT doc FROM charges WHERE id = :id AND client_id = :client_id";
///     /// What truly differs is split; a test keeps these few.
///     CLAIM = split("UPDATE … SQLite", "UPDATE … PostgreSQL");
/// }
/// ```
///
/// Arguments are written `:name` and bound by name. Words that stand for the dialect's own expression:
/// `EACH_TEXT(:list)` and `EACH_UUID(:list)` are sub-selects of the elements of a JSON array argument
/// (`WHERE id IN EACH_UUID(:ids)`); `EACH_SPAN(:list)` is one of its elements as rows of three numbers
/// (`counters/spans.rs`). `STATES_UNDER_WAY` is the list of the states of a charge in which a provider's answer
/// is waited for, as the domain has it (`WHERE status IN STATES_UNDER_WAY`). `UNINDEXED client_id = :client_id` keeps
/// SQLite from an index of that column, where a list of keys finds fewer rows or `IN` would build a table. `DATABASE_NOW`
/// is the time of the database's clock at the start of the statement, in milliseconds since 1970. `REACHABLE(client_id)`, in a
/// statement over all accounts, keeps to those whose server can be reached while one of a distributed database cannot.
#[macro_export]
macro_rules! sql {
    () => {};
    ($(#[$meta:meta])* $vis:vis $name:ident = split($sqlite:expr, $postgres:expr $(,)?); $($rest:tt)*) => {
        $(#[$meta])*
        $vis static $name: $crate::Sql =
            $crate::Sql::split(::core::module_path!(), ::core::stringify!($name), $sqlite, $postgres);
        $crate::inventory::submit! { $crate::CatalogEntry(&$name) }
        $crate::sql! { $($rest)* }
    };
    ($(#[$meta:meta])* $vis:vis $name:ident = $text:expr; $($rest:tt)*) => {
        $(#[$meta])*
        $vis static $name: $crate::Sql =
            $crate::Sql::one(::core::module_path!(), ::core::stringify!($name), $text);
        $crate::inventory::submit! { $crate::CatalogEntry(&$name) }
        $crate::sql! { $($rest)* }
    };
}

/// What [`sql!`](crate::sql!) registers; for the macro only.
#[doc(hidden)]
pub struct CatalogEntry(pub &'static Sql);
inventory::collect!(CatalogEntry);

/// A named SQL statement, declared with [`sql!`](crate::sql!).
pub struct Sql {
    module: &'static str,
    name: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
    is_split: bool,
    for_sqlite: OnceLock<Translated>,
    for_postgres: OnceLock<Translated>,
    of_reachable: OnceLock<Option<Translated>>,
    for_many_rows: OnceLock<Option<Many>>,
    for_many_rows_of_a_client: OnceLock<Option<Many>>,
    writes_whole: OnceLock<bool>,
}

/// A statement translated for one database.
#[derive(Debug)]
pub(crate) struct Translated {
    /// The text with numbered parameters.
    pub(crate) text: String,
    /// The names of the parameters in the order of their numbers.
    pub(crate) names: Vec<&'static str>,
    /// The names of the result columns, known after the first preparation.
    pub(crate) columns: OnceLock<Arc<[String]>>,
}

impl Sql {
    /// One text for both databases.
    #[doc(hidden)]
    pub const fn one(module: &'static str, name: &'static str, text: &'static str) -> Self {
        Self {
            module,
            name,
            sqlite: text,
            postgres: text,
            is_split: false,
            for_sqlite: OnceLock::new(),
            for_postgres: OnceLock::new(),
            of_reachable: OnceLock::new(),
            for_many_rows: OnceLock::new(),
            for_many_rows_of_a_client: OnceLock::new(),
            writes_whole: OnceLock::new(),
        }
    }

    /// Two texts with the same effect, where the databases differ in syntax.
    #[doc(hidden)]
    pub const fn split(
        module: &'static str,
        name: &'static str,
        sqlite: &'static str,
        postgres: &'static str,
    ) -> Self {
        Self {
            module,
            name,
            sqlite,
            postgres,
            is_split: true,
            for_sqlite: OnceLock::new(),
            for_postgres: OnceLock::new(),
            of_reachable: OnceLock::new(),
            for_many_rows: OnceLock::new(),
            for_many_rows_of_a_client: OnceLock::new(),
            writes_whole: OnceLock::new(),
        }
    }

    /// The name of the static, such as `FIND_CHARGE`.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The module that declares it.
    pub const fn module(&self) -> &'static str {
        self.module
    }

    /// Whether each database has its own text.
    pub const fn is_split(&self) -> bool {
        self.is_split
    }

    /// Every statement linked into this program.
    pub fn catalog() -> impl Iterator<Item = &'static Self> {
        inventory::iter::<CatalogEntry>.into_iter().map(|entry| entry.0)
    }

    /// The text for the database, with numbered parameters.
    pub fn text(&self, database: DatabaseKind) -> &str {
        &self.translated(database).text
    }

    /// The names of the arguments, in the order in which they first appear.
    pub fn argument_names(&self, database: DatabaseKind) -> &[&'static str] {
        &self.translated(database).names
    }

    pub(crate) fn translated(&self, database: DatabaseKind) -> &Translated {
        match database {
            DatabaseKind::Sqlite => {
                self.for_sqlite.get_or_init(|| translate(self.sqlite, database, Over::All))
            }
            DatabaseKind::Postgres => {
                self.for_postgres.get_or_init(|| translate(self.postgres, database, Over::All))
            }
        }
    }

    /// The statement over accounts that are given as one more argument, and which of its arguments that is; `None` where it has
    /// no `REACHABLE`.
    pub(crate) fn of_reachable(&self) -> Option<(&Translated, usize)> {
        let limited = self.of_reachable.get_or_init(|| {
            let translated = translate(self.postgres, DatabaseKind::Postgres, Over::Reachable);
            translated.names.contains(&REACHABLE).then_some(translated)
        });
        let limited = limited.as_ref()?;
        Some((limited, limited.names.iter().position(|name| *name == REACHABLE)?))
    }

    /// The statement for the rows of many batches on PostgreSQL; `None` if its shape does not allow it. Batches of one
    /// client share the argument `:client_id`, so that a distributed database sees where the rows belong.
    pub(crate) fn many(&self, placement: Placement) -> Option<&Many> {
        let text = self.text(DatabaseKind::Postgres);
        match placement {
            Placement::OneServer => self.for_many_rows.get_or_init(|| Many::of(text, None)),
            Placement::ByClient => self.for_many_rows_of_a_client.get_or_init(|| {
                let names = self.argument_names(DatabaseKind::Postgres);
                Many::of(text, names.iter().position(|name| *name == "client_id"))
            }),
        }
        .as_ref()
    }

    /// Whether it writes a table that each server of a distributed database has whole.
    pub(crate) fn writes_whole(&self) -> bool {
        *self.writes_whole.get_or_init(|| {
            let mut words = self.text(DatabaseKind::Postgres).split_whitespace();
            let table = match (words.next(), words.next(), words.next()) {
                (Some("INSERT"), Some("INTO"), table) | (Some("DELETE"), Some("FROM"), table) => table,
                (Some("UPDATE"), table, _) => table,
                _ => None,
            };
            table.is_some_and(|table| WHOLE.contains(&table))
        })
    }

    /// Identifies the statement in a cache of prepared ones: statics never move.
    pub(crate) fn address(&'static self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Orders named arguments by the numbers of the statement. Each name must be present once, and no other: an
    /// argument ignored silently would be a missing filter.
    pub(crate) fn bind(&self, database: DatabaseKind, args: Args) -> Result<Vec<Value>, StoreError> {
        let names = &self.translated(database).names;
        let mut given = args.into_inner();
        if given.len() != names.len() {
            return Err(self.misfit(names, &given));
        }
        let mut values = Vec::with_capacity(names.len());
        // Most arguments are given in the order of the text: each is looked for behind the one before it.
        let mut next = 0;
        for name in names {
            let mut places = (next..given.len()).chain(0..next);
            let Some(at) = places.find(|at| given[*at].0 == *name) else {
                return Err(self.misfit(names, &given));
            };
            values.push(std::mem::replace(&mut given[at].1, Value::Null));
            next = at + 1;
        }
        Ok(values)
    }

    /// Which of the arguments does not fit the statement.
    fn misfit(&self, names: &[&str], given: &[(&'static str, Value)]) -> StoreError {
        let times = |name: &str| given.iter().filter(|(given, _)| *given == name).count();
        let extra = given.iter().find(|(name, _)| !names.contains(name));
        let absent = names.iter().find(|name| times(name) == 0);
        let twice = names.iter().find(|name| times(name) > 1);
        StoreError::Programming(match (extra, absent, twice) {
            (Some((extra, _)), _, _) => format!("{}: the statement has no argument :{extra}", self.name),
            (None, Some(absent), _) => format!("{}: argument :{absent} is missing", self.name),
            (None, None, Some(twice)) => format!("{}: argument :{twice} is given twice", self.name),
            (None, None, None) => format!("{}: its arguments do not fit", self.name),
        })
    }
}

impl fmt::Debug for Sql {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.module, self.name)
    }
}

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
const REACHABLE: &str = "REACHABLE";

/// Which accounts a statement over all of them reads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Over {
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

fn translate(source: &'static str, database: DatabaseKind, over: Over) -> Translated {
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

fn leading_word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

impl Refusal {
    /// Whether `statement` refused the batch. Names are unique among all statements.
    pub fn is(&self, statement: &Sql) -> bool {
        self.statement == statement.name()
    }
}
