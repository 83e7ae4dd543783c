//! Tests with a log written by SQLite.

use rusqlite::Connection;

use super::super::pages::by_tree;
use super::WriteAheadLog;

/// Three commits: the schema, one row, and forty more that need no other page.
#[test]
fn frames_are_counted_by_commit_and_by_tree() {
    let folder = tempfile::tempdir().unwrap();
    let (file, log) = (folder.path().join("some.db"), folder.path().join("some.db-wal"));
    let connection = Connection::open(&file).unwrap();
    let run = |script: &str| connection.execute_batch(script).unwrap();
    run("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;");
    run(
        "BEGIN; CREATE TABLE thing (id INTEGER PRIMARY KEY, word TEXT); CREATE INDEX thing_word ON thing (word); COMMIT;",
    );
    run("INSERT INTO thing (word) VALUES ('first')");
    run("BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
         INSERT INTO thing (word) SELECT 'word ' || i FROM n; COMMIT;");
    let read = WriteAheadLog::read(&log).unwrap();
    assert_eq!(read.commits, 3);
    let trees = by_tree(&file, &read.pages).unwrap();
    let found: Vec<_> = trees.iter().map(|tree| (tree.name.as_str(), tree.frames, tree.distinct)).collect();
    assert_eq!(found, [("thing", 3, 1), ("thing · thing_word", 3, 1), ("sqlite_schema", 1, 1)]);
}

#[test]
fn what_an_earlier_turn_has_left_is_not_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (file, log) = (folder.path().join("some.db"), folder.path().join("some.db-wal"));
    let connection = Connection::open(&file).unwrap();
    let run = |script: &str| connection.execute_batch(script).unwrap();
    run("PRAGMA journal_mode=WAL; CREATE TABLE thing (word TEXT);");
    run("INSERT INTO thing VALUES ('first'); INSERT INTO thing VALUES ('second');");
    let before = std::fs::metadata(&log).unwrap().len();
    connection.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(())).unwrap();
    run("INSERT INTO thing VALUES ('third')");
    assert_eq!(std::fs::metadata(&log).unwrap().len(), before, "the log is written from its begin");
    assert_eq!(WriteAheadLog::read(&log).unwrap().commits, 1);
}

#[test]
fn what_is_no_log_is_told() {
    assert_eq!(WriteAheadLog::of(b"too short"), None);
}
