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
mod translate;

use std::fmt;
use std::sync::{Arc, OnceLock};

pub(crate) use self::many::{Argument, Many};
pub(crate) use self::translate::verbatim_length;
use self::translate::{Over, REACHABLE, translate};
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

impl Refusal {
    /// Whether `statement` refused the batch. Names are unique among all statements.
    pub fn is(&self, statement: &Sql) -> bool {
        self.statement == statement.name()
    }
}
