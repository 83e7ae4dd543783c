//! Which table or index a page of an SQLite database belongs to.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::iter::Sum;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::Outcome;

/// All pages of tables and indexes, with what they belong to. `dbstat` walks through the whole file.
const PAGES: &str =
    "SELECT s.pageno, CASE WHEN m.type = 'index' THEN m.tbl_name || ' · ' || s.name ELSE s.name END
     FROM dbstat AS s LEFT JOIN sqlite_schema AS m ON m.name = s.name";
/// What belongs to no table and no index.
const NO_TREE: &str = "free pages";

/// A table or an index, and what was written of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    /// The table; for an index also its own name.
    pub(super) name: String,
    /// Pages written, each as often as it was written.
    pub(super) frames: u64,
    /// Different ones among them.
    pub(super) distinct: u64,
}

/// By table and index, the most first: how often their pages were written, from how often each page was.
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
