//! Moves between databases: every table with extreme values, interruptions, refusals, and differences that are found.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use regente_store::moving::{Difference, Differs, Move, MoveError, Moved, Moving, Progress, Source};
use regente_store::testing::{self, Fuse, TEST_TIME, TestDatabase, TestPostgres};
use regente_store::{DatabaseKind, Placement, PostgresOptions, Store, StoreError, StoreOptions};
use rusqlite::Connection;
use rusqlite::types::Value;
use tokio_postgres::NoTls;

/// Rows that each table gets.
const ROWS: usize = 3;
/// Texts without and with everything that a database may take for its own.
const TEXTS: [&str; ROWS] = ["", "São Paulo ✓ 𝄞 '\"\\ \n :name ?1 $1 \u{1}", "plain"];
/// Documents whose spelling PostgreSQL changes, and not their meaning.
const DOCUMENTS: [&str; ROWS] = [
    r#"{"b": 1e20, "a": [1.50, -0.0, 9007199254740993, 1e-7, 18446744073709551615], "é": {"z": null, "y": true}, "": "\u0001\\u0000"}"#,
    "{}",
    r#"[1, "two", {"b": 2, "a": 1}]"#,
];
/// Tables that a database has of its own.
const OWN: [&str; 2] = ["schema_migrations", "heartbeat"];

fn path(database: &TestDatabase) -> PathBuf {
    let StoreOptions::Sqlite(options) = database.options() else { panic!("it is no file") };
    options.path
}

fn connection(database: &TestDatabase) -> Connection {
    Connection::open(path(database)).unwrap()
}

/// The tables of a file that are moved.
fn tables(connection: &Connection) -> BTreeSet<String> {
    let mut statement = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
    let names = statement.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap);
    names.filter(|name| !OWN.contains(&name.as_str())).collect()
}

/// The type of each column of PostgreSQL, by table and column.
async fn types() -> BTreeMap<(String, String), String> {
    let database = TestPostgres::fresh_database().await;
    let (client, connection) = tokio_postgres::connect(database.url(), NoTls).await.unwrap();
    let driving = tokio::spawn(connection);
    let columns =
        "SELECT table_name::text, column_name::text, data_type::text FROM information_schema.columns
        WHERE table_schema = 'public'";
    let rows = client.query(columns, &[]).await.unwrap();
    drop(client);
    driving.await.unwrap().unwrap();
    rows.iter().map(|row| ((row.get(0), row.get(1)), row.get(2))).collect()
}

/// Three rows in each table, one of no account: the largest and smallest numbers, empty and other texts and bytes, and in the
/// last one nothing where nothing may be.
async fn filled() -> TestDatabase {
    let (database, types) = (TestDatabase::fresh_sqlite(), types().await);
    let connection = connection(&database);
    for table in tables(&connection) {
        let mut columns = connection.prepare("SELECT name, \"notnull\" FROM pragma_table_info(?1)").unwrap();
        let columns = columns.query_map([&table], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let columns: Vec<(String, bool)> = columns.map(Result::unwrap).collect();
        for row in 0..ROWS {
            let values: Vec<Value> = columns
                .iter()
                .map(|(column, is_needed)| {
                    let kind = &types[&(table.clone(), column.clone())];
                    if row == 2 && !is_needed { Value::Null } else { value(kind, column, row) }
                })
                .collect();
            let places = vec!["?"; columns.len()].join(", ");
            let sql = format!("INSERT INTO {table} VALUES ({places})");
            connection.execute(&sql, rusqlite::params_from_iter(values)).unwrap();
        }
    }
    database
}

fn value(kind: &str, column: &str, row: usize) -> Value {
    match kind {
        // Entries of the ledger have amounts, between two different accounts.
        "bigint" if column == "amount" => Value::Integer(i64::MAX - row as i64),
        "bigint" => Value::Integer([i64::MAX, i64::MIN, 0][row]),
        "text" if column == "credit" => Value::Text(format!("credit {row}")),
        "text" => Value::Text(TEXTS[row].to_owned()),
        "jsonb" => Value::Text(DOCUMENTS[row].to_owned()),
        "bytea" => Value::Blob([vec![], (0..=255).collect(), vec![0]][row].clone()),
        "uuid" if column == "client_id" => Value::Blob(vec![row as u8; 16]),
        "uuid" => Value::Blob(vec![0xA0 + row as u8; 16]),
        other => panic!("{column} is {other}: a new kind of column must be moved"),
    }
}

async fn open(source: &TestDatabase, target: StoreOptions) -> Result<Move, MoveError> {
    Move::open(Source::Database(source.options()), target, TEST_TIME).await
}

async fn moved(source: &TestDatabase, target: StoreOptions) -> Result<Moved, MoveError> {
    open(source, target).await?.run(&|_: Progress<'_>| ()).await
}

/// Ends a move, as the command does once the books are verified.
async fn end(target: &TestDatabase) {
    let store = Store::open(target.options()).await.unwrap();
    assert_eq!(store.moving().await.unwrap(), Some(Moving::Here));
    store.end_move().await.unwrap();
    assert_eq!(store.moving().await.unwrap(), None);
    store.close().await;
}

async fn run_script(database: &TestDatabase, script: &str) {
    let store = Store::open(database.options()).await.unwrap();
    testing::run_script(&store, script).await.unwrap();
    store.close().await;
}

fn rows(moved: &Moved) -> u64 {
    moved.accounts.values().map(|account| account.rows).sum()
}

fn checksums(moved: &Moved) -> Vec<String> {
    moved.accounts.values().map(|account| account.checksum.clone()).collect()
}

async fn empty(kind: DatabaseKind) -> TestDatabase {
    match kind {
        DatabaseKind::Sqlite => TestDatabase::empty_sqlite(),
        DatabaseKind::Postgres => TestDatabase::fresh_postgres().await,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_table_is_moved_there_and_back() {
    let there = filled().await;
    let all = tables(&connection(&there));
    let server = empty(DatabaseKind::Postgres).await;
    let names = open(&there, server.options()).await.unwrap();
    assert_eq!(names.tables().map(str::to_owned).collect::<BTreeSet<_>>(), all);
    drop(names);
    let first = moved(&there, server.options()).await.unwrap();
    assert_eq!(rows(&first), (ROWS * all.len()) as u64);
    for table in &all {
        assert!(first.accounts.values().any(|account| account.tables.contains_key(table)), "{table}");
    }
    end(&server).await;
    // By way of another server, written as one that is distributed by client is.
    let another = empty(DatabaseKind::Postgres).await;
    let StoreOptions::Postgres(options) = another.options() else { unreachable!() };
    let distributed = PostgresOptions { placement: Some(Placement::ByClient), ..options };
    let second = moved(&server, StoreOptions::Postgres(distributed.clone())).await.unwrap();
    let store = Store::open(StoreOptions::Postgres(distributed.clone())).await.unwrap();
    store.end_move().await.unwrap();
    store.close().await;
    let back = empty(DatabaseKind::Sqlite).await;
    let source = Source::Database(StoreOptions::Postgres(distributed));
    let mut last = Move::open(source, back.options(), TEST_TIME).await.unwrap();
    let third = last.run(&|_: Progress<'_>| ()).await.unwrap();
    end(&back).await;
    assert_eq!(checksums(&first), checksums(&second));
    assert_eq!(checksums(&first), checksums(&third));
    let (there, back) = (connection(&there), connection(&back));
    let exact = |connection: &Connection| -> (Vec<u8>, String, i64) {
        let of = "SELECT digest, label, expires_at FROM credentials WHERE expires_at > 0";
        connection.query_row(of, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap()
    };
    assert_eq!(exact(&there), exact(&back));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_move_goes_on_where_it_was() {
    let source = filled().await;
    for kind in [Placement::OneServer, Placement::ByClient] {
        let target = empty(DatabaseKind::Postgres).await;
        let StoreOptions::Postgres(options) = target.options() else { unreachable!() };
        let options = StoreOptions::Postgres(PostgresOptions { placement: Some(kind), ..options });
        let mut written = 0;
        // Before a page and behind one, further on each time.
        for steps in [0, 1, 6, 11, 40] {
            let fuse = Fuse::default();
            fuse.arm(steps);
            let mut moving = open(&source, options.clone()).await.unwrap().with_fuse(fuse.clone());
            tokio::select! {
                done = moving.run(&|_: Progress<'_>| ()) => panic!("{done:?}"),
                () = fuse.blown() => {}
            }
            drop(moving);
            // Nobody serves it meanwhile.
            let store = Store::open(target.options()).await.unwrap();
            assert_eq!(store.moving().await.unwrap(), Some(Moving::Here));
            store.close().await;
            written += steps.div_ceil(2) * ROWS as u64;
        }
        let done = moved(&source, options).await.unwrap();
        assert_eq!(done.resumed_after, written);
        assert_eq!(rows(&done), (ROWS * tables(&connection(&source)).len()) as u64);
        end(&target).await;
        // What has ended does not begin anew.
        let refused = moved(&source, target.options()).await.unwrap_err();
        assert!(matches!(refused, MoveError::NotEmpty(_)), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_that_has_changed_meanwhile_is_refused() {
    let (source, target) = (filled().await, empty(DatabaseKind::Postgres).await);
    moved(&source, target.options()).await.unwrap();
    connection(&source).execute("UPDATE merchants SET status = 'other' WHERE status = 'plain'", []).unwrap();
    let refused = moved(&source, target.options()).await.unwrap_err();
    assert!(matches!(refused, MoveError::AnotherSource), "{refused}");
    // What a server writes to show that it can is nothing that is moved.
    connection(&source).execute("UPDATE merchants SET status = 'plain' WHERE status = 'other'", []).unwrap();
    connection(&source).execute("UPDATE heartbeat SET beats = beats + 1", []).unwrap();
    moved(&source, target.options()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_differ_are_named() {
    let (source, target) = (filled().await, empty(DatabaseKind::Postgres).await);
    moved(&source, target.options()).await.unwrap();
    let id = |byte: &str| byte.repeat(16).parse::<uuid::Uuid>().unwrap();
    run_script(
        &target,
        &format!(
            "UPDATE merchants SET doc = '{{\"a\": 2}}' WHERE id = '{}';
             DELETE FROM charges WHERE id = '{}';
             INSERT INTO vendors (id, client_id, key_id, version, updated_at)
             SELECT '{}', client_id, key_id, version, updated_at FROM vendors WHERE id = '{}'",
            id("a1"),
            id("a0"),
            id("ff"),
            id("a2")
        ),
    )
    .await;
    let refused = moved(&source, target.options()).await.unwrap_err();
    let text = refused.to_string();
    let MoveError::Differs(found) = refused else { panic!("{refused}") };
    let expected = [
        ("charges", id("00"), id("a0"), Differs::IsMissing),
        ("merchants", id("01"), id("a1"), Differs::IsChanged),
        ("vendors", id("02"), id("ff"), Differs::IsAdded),
    ];
    let expected = expected.map(|(table, account, row, how)| Difference {
        table: table.to_owned(),
        account,
        key: format!("[\"{row}\",\"{account}\"]"),
        how,
    });
    assert_eq!(found, expected);
    assert!(text.starts_with("3 rows of source and target differ: row [\"a0a0a0a0-"), "{text}");
}

/// A node of the source that is started during the move, or afterwards, finds out that it must not serve.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_is_kept_from_nodes_until_somebody_reopens_it() {
    let standing = async |database: &TestDatabase| {
        let store = Store::open(database.options()).await.unwrap();
        let standing = store.moving().await.unwrap();
        store.close().await;
        standing
    };
    let (file, server, back) =
        (filled().await, empty(DatabaseKind::Postgres).await, TestDatabase::empty_sqlite());
    for (source, target) in [(&file, &server), (&server, &back)] {
        let mut moving = open(source, target.options()).await.unwrap();
        if matches!(source.options(), StoreOptions::Postgres(_)) {
            assert_eq!(standing(source).await, Some(Moving::Away));
        }
        moving.run(&|_: Progress<'_>| ()).await.unwrap();
        moving.leave_source().await.unwrap();
        drop(moving);
        assert_eq!(standing(source).await, Some(Moving::MovedAway));
        // Interrupted at this point, the same move ends.
        let mut again = open(source, target.options()).await.unwrap();
        again.run(&|_: Progress<'_>| ()).await.unwrap();
        again.leave_source().await.unwrap();
        drop(again);
        end(target).await;
        let store = Store::open(source.options()).await.unwrap();
        store.reopen().await.unwrap();
        assert_eq!(store.moving().await.unwrap(), None);
        store.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn databases_that_do_not_fit_are_refused() {
    let (source, file) = (filled().await, TestDatabase::fresh_sqlite());
    let server = empty(DatabaseKind::Postgres).await;
    let refused =
        async |source: &TestDatabase, target: StoreOptions| moved(source, target).await.unwrap_err();
    let same = refused(&source, source.options()).await;
    assert!(matches!(same, MoveError::Same), "{same}");
    let two = refused(&source, file.options()).await;
    assert!(matches!(two, MoveError::TwoFiles), "{two}");
    let same = refused(&server, server.options()).await;
    assert!(matches!(same, MoveError::OfAnotherMove("target")), "{same}");

    // A server that runs, and one at the other end.
    let store = Store::open(source.options()).await.unwrap();
    let used = refused(&source, server.options()).await;
    assert!(matches!(used, MoveError::Locked("source")), "{used}");
    store.close().await;
    let store = Store::open(server.options()).await.unwrap();
    let used = refused(&source, server.options()).await;
    assert!(matches!(used, MoveError::InUse { end: "target", connections: 2.. }), "{used}");
    let used = refused(&server, file.options()).await;
    assert!(matches!(used, MoveError::InUse { end: "source", .. }), "{used}");
    store.close().await;

    let rows = "INSERT INTO data_keys (id, kek_id, wrapped, state, updated_at)
        VALUES ('00000000-0000-0000-0000-000000000001', 'k', '', 'destroyed', 0)";
    run_script(&server, rows).await;
    let taken = refused(&source, server.options()).await;
    assert!(matches!(&taken, MoveError::NotEmpty(table) if table == "data_keys"), "{taken}");

    // Another release.
    let first = include_str!("../../migrations/0001_foundation.sql");
    let earlier = TestDatabase::empty_sqlite();
    let store = Store::open(earlier.options()).await.unwrap();
    testing::migrate_to(&store, &[(1, "0001_foundation", first)]).await.unwrap();
    store.close().await;
    let old = refused(&earlier, server.options()).await;
    assert!(matches!(&old, MoveError::Earlier(pending) if pending[0] == "0002_follow_ups"), "{old}");
    let old = refused(&server, earlier.options()).await;
    assert!(matches!(old, MoveError::EarlierTarget), "{old}");
    connection(&source)
        .execute("INSERT INTO schema_migrations VALUES (9999, '9999_later', zeroblob(16), 0)", [])
        .unwrap();
    let later = refused(&source, server.options()).await;
    assert!(matches!(later, MoveError::Store(StoreError::Schema(_))), "{later}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_postgresql_cannot_store_is_named() {
    for (change, column) in [
        (
            "UPDATE customers SET document_type = 'a' || char(0) || 'b' WHERE document_type = 'plain'",
            "document_type",
        ),
        ("UPDATE merchants SET doc = '{\"a\": \"\\\\\\u0000\"}' WHERE status = 'plain'", "doc"),
    ] {
        let (source, target) = (filled().await, empty(DatabaseKind::Postgres).await);
        assert_eq!(connection(&source).execute(change, []).unwrap(), 1);
        let error = moved(&source, target.options()).await.unwrap_err();
        let MoveError::Unstorable { column: found, key, .. } = &error else { panic!("{error}") };
        assert_eq!(found, column);
        assert!(key.contains("a2a2a2a2"), "{key}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_is_moved_and_a_file_in_use_is_none() {
    let (source, target) = (filled().await, empty(DatabaseKind::Postgres).await);
    let store = Store::open(source.options()).await.unwrap();
    let used = Move::open(Source::Backup(path(&source)), target.options(), TEST_TIME).await;
    assert!(matches!(used.err(), Some(MoveError::Store(StoreError::Configuration(_)))));
    let backup = path(&source).with_file_name("a backup #1%.db");
    let Store::Sqlite(file) = &store else { unreachable!() };
    file.back_up(backup.clone(), regente_store::Existing::Refuse).await.unwrap();
    // The server runs on: its backup is what it was.
    let mut moving = Move::open(Source::Backup(backup), target.options(), TEST_TIME).await.unwrap();
    let done = moving.run(&|_: Progress<'_>| ()).await.unwrap();
    assert!(rows(&done) > 0);
    store.close().await;
}
