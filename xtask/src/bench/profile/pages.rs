//! Finds the table or index of a page of an SQLite database.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::iter::Sum;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::Outcome;

/// All pages with their table or index. `dbstat` reads the whole file.
const PAGES: &str =
    "SELECT s.pageno, CASE WHEN m.type = 'index' THEN m.tbl_name || ' · ' || s.name ELSE s.name END
     FROM dbstat AS s LEFT JOIN sqlite_schema AS m ON m.name = s.name";
/// The name for pages of no table or index.
const NO_TREE: &str = "free pages";

/// The writes of a table or an index.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    /// The table; for an index also its own name.
    pub(super) name: String,
    /// Pages written, counted each time.
    pub(super) frames: u64,
    /// Different pages among them.
    pub(super) distinct: u64,
}

/// Sums the writes of pages by table and index, most first.
pub(super) fn by_tree(database: &Path, written: &BTreeMap<u32, u64>) -> Outcome<Vec<Tree>> {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut statement = connection.prepare(PAGES)?;
    let mut rows = statement.query([])?;
    let mut left = written.clone();
    let mut trees: BTreeMap<String, Tree> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        if let Some(times) = left.remove(&row.get::<_, u32>(0)?) {
            add(&mut trees, row.get(1)?, times);
        }
    }
    for times in left.into_values() {
        add(&mut trees, NO_TREE.to_owned(), times);
    }
    let mut trees: Vec<Tree> = trees.into_values().collect();
    trees.sort_by_key(|tree| Reverse(tree.frames));
    Ok(trees)
}

fn add(trees: &mut BTreeMap<String, Tree>, name: String, times: u64) {
    let tree = trees.entry(name.clone()).or_insert_with(|| Tree { name, ..Tree::default() });
    tree.frames += times;
    tree.distinct += 1;
}

impl<'a> Sum<&'a Tree> for Tree {
    fn sum<I: Iterator<Item = &'a Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, tree| Self {
            name: sum.name,
            frames: sum.frames + tree.frames,
            distinct: sum.distinct + tree.distinct,
        })
    }
}
