//! What is SQLite's own: the lock, the write-ahead log, a full disk.

use std::path::Path;

use futures_util::future::join_all;
use regente_store::testing::{self, TestDatabase};
use regente_store::{
    BackupError, Batch, Commit, Existing, SqliteOptions, Store, StoreError, StoreOptions, args,
};

use crate::things::{ADD_THING, CLIENT, add, adding, count, exists, id, prepare};

const MIB: u64 = 1024 * 1024;

fn big(number: u128, bytes: usize) -> Batch {
    let mut batch = Batch::new(CLIENT);
    batch.push(
        &ADD_THING,
        args! {
            id: id(number), client_id: CLIENT, name: format!("big {number}"), doc: None::<String>,
            bytes: vec![7_u8; bytes], n: 0, version: 0,
        },
    );
    batch
}

#[tokio::test]
async fn a_second_process_is_kept_out() {
    let database = TestDatabase::empty_sqlite();
    let store = database.open().await;
    match Store::open(database.options()).await {
        Err(StoreError::Locked(path)) => assert!(path.ends_with("regente.db-lock"), "{}", path.display()),
        other => panic!("{other:?}"),
    }
    store.close().await;
    let again = Store::open(database.options()).await.unwrap();
    again.close().await;
}

#[tokio::test]
async fn every_commit_is_synced_and_every_reference_checked() {
    let database = TestDatabase::empty_sqlite();
    let store = database.open().await;
    // 2 is FULL: less would lose acknowledged payments in a power cut.
    for (pragma, value) in [("synchronous", 2), ("foreign_keys", 1), ("wal_autocheckpoint", 0)] {
        assert_eq!(testing::writer_pragma(&store, pragma).await.unwrap(), value, "{pragma}");
    }
    store.close().await;
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_named() {
    let options = StoreOptions::Sqlite(SqliteOptions::new("/nonexistent/folder/regente.db"));
    match Store::open(options).await {
        Err(StoreError::Configuration(text)) => assert!(text.contains("/nonexistent/folder"), "{text}"),
        other => panic!("{other:?}"),
    }
}

#[cfg(unix)]
#[tokio::test]
async fn the_files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let database = TestDatabase::empty_sqlite();
    let store = database.open().await;
    let StoreOptions::Sqlite(options) = database.options() else { unreachable!() };
    for suffix in ["", "-wal", "-shm"] {
        let path = format!("{}{suffix}", options.path.display());
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{path}");
    }
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_write_ahead_log_is_bounded() {
    let database = TestDatabase::empty_sqlite();
    let StoreOptions::Sqlite(mut options) = database.options() else { unreachable!() };
    options.wal_passive_bytes = MIB / 2;
    options.wal_bytes_max = 2 * MIB;
    options.group_max = 8;
    let store = Store::open(StoreOptions::Sqlite(options)).await.unwrap();
    store.migrate(testing::TEST_TIME).await.unwrap();
    prepare(&store).await;
    let mut longest = 0;
    for round in 0..40 {
        let batches = (0..16).map(|number| store.apply(big(round * 16 + number, 40_000)));
        for answer in join_all(batches).await {
            assert_eq!(answer.unwrap(), Commit::Applied);
        }
        longest = longest.max(store.size().await.unwrap().wal_bytes.unwrap());
    }
    let size = store.size().await.unwrap();
    assert!(size.database_bytes > 20 * MIB, "{size:?}");
    // One group may begin just below the bound.
    assert!(longest <= 3 * MIB, "the log grew to {longest} bytes");
    assert!(longest >= MIB, "the log is used: {longest} bytes");
    store.close().await;
}

#[tokio::test]
async fn closing_leaves_no_log_behind() {
    let database = TestDatabase::empty_sqlite();
    let store = database.open().await;
    prepare(&store).await;
    add(&store, 1).await;
    let StoreOptions::Sqlite(options) = database.options() else { unreachable!() };
    let log = format!("{}-wal", options.path.display());
    assert!(std::fs::metadata(&log).unwrap().len() > 0);
    store.close().await;
    assert!(std::fs::metadata(&log).map_or(0, |metadata| metadata.len()) == 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_is_unavailable_until_there_is_room() {
    let database = TestDatabase::empty_sqlite();
    let store = database.open().await;
    prepare(&store).await;
    add(&store, 1).await;
    // No page more than there are.
    testing::run_script(&store, "PRAGMA max_page_count = 1").await.unwrap();
    let answers = join_all((100..120).map(|number| store.apply(big(number, 100_000)))).await;
    for answer in answers {
        match answer {
            Err(error @ StoreError::Unavailable(_)) => {
                assert_eq!(error.to_string(), "the database is not available");
                let source = std::error::Error::source(&error).unwrap().to_string();
                assert!(source.contains("full"), "{source}");
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(exists(&store, 1).await);
    assert_eq!(count(&store).await, 1);
    testing::run_script(&store, "PRAGMA max_page_count = 4294967294").await.unwrap();
    let answers = join_all((100..120).map(|number| store.apply(big(number, 100_000)))).await;
    for answer in answers {
        assert_eq!(answer.unwrap(), Commit::Applied);
    }
    store.check().await.unwrap();
    assert_eq!(count(&store).await, 21);
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_fills_up_in_the_middle_of_a_group_loses_all_of_it() {
    let database = TestDatabase::empty_sqlite();
    let store = database.open().await;
    prepare(&store).await;
    add(&store, 1).await;
    testing::run_script(&store, "PRAGMA max_page_count = 1").await.unwrap();
    // The second cannot be applied for its own reason, so the group is done again, one by one, until the disk is full.
    let batches = vec![adding(1), adding(1), adding(2), big(3, 500_000), adding(4), adding(5)];
    let answers = join_all(batches.into_iter().map(|batch| store.apply(batch))).await;
    for (number, answer) in [1, 1, 2, 3, 4, 5].into_iter().zip(answers) {
        let written = exists(&store, number).await;
        match answer {
            Ok(Commit::Applied) => assert!(written, "{number}"),
            Ok(Commit::Refused(_)) => assert_eq!(number, 1),
            Err(StoreError::Unavailable(_)) => assert!(number == 1 || !written, "{number}"),
            other => panic!("{other:?}"),
        }
    }
    testing::run_script(&store, "PRAGMA max_page_count = 4294967294").await.unwrap();
    assert_eq!(store.apply(big(3, 500_000)).await.unwrap(), Commit::Applied);
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_is_one_state_however_much_is_written_meanwhile() {
    const BEFORE: u128 = 400;
    const ATTEMPTS: u32 = 20;
    let database = TestDatabase::empty_sqlite();
    let StoreOptions::Sqlite(mut options) = database.options() else { unreachable!() };
    options.wal_passive_bytes = MIB / 2;
    options.wal_bytes_max = MIB;
    let folder = options.path.parent().unwrap().to_owned();
    let store = Store::open(StoreOptions::Sqlite(options)).await.unwrap();
    store.migrate(testing::TEST_TIME).await.unwrap();
    prepare(&store).await;
    for number in 0..BEFORE {
        assert_eq!(store.apply(big(number, 20_000)).await.unwrap(), Commit::Applied);
    }
    let Store::Sqlite(embedded) = &store else { unreachable!() };
    let mut number = BEFORE;
    // On a busy machine a copy may be over before anything could be written meanwhile: it proves nothing, so another
    // one is made.
    for attempt in 0..ATTEMPTS {
        let target = folder.join(format!("backup-{attempt}.db"));
        let before = number;
        let chosen_by = back_up_while_writing(&store, embedded, &target, &mut number).await;
        let copy = Store::open(StoreOptions::Sqlite(SqliteOptions::new(&target))).await.unwrap();
        let copied = u128::try_from(count(&copy).await).unwrap();
        copy.close().await;
        assert!(
            (before..=chosen_by).contains(&copied),
            "the state of its beginning, not {copied} of {number}"
        );
        if number > chosen_by + 10 {
            store.close().await;
            return;
        }
    }
    panic!("nothing was written during {ATTEMPTS} copies");
}

/// Makes a backup and writes rows until it is done. Returns the number of the row that was next when the copy was seen
/// to have pages: its state is chosen by then, and what is written from then on is not in it.
async fn back_up_while_writing(
    store: &Store,
    embedded: &regente_store::SqliteStore,
    target: &Path,
    number: &mut u128,
) -> u128 {
    let first = *number;
    let backup = tokio::spawn({
        let (embedded, target) = (embedded.clone(), target.to_owned());
        async move { embedded.back_up(target, Existing::Refuse).await }
    });
    let partial = regente_store::SqliteStore::partial_path(target);
    let has_pages = || std::fs::metadata(&partial).is_ok_and(|file| file.len() > 0);
    let mut chosen_by = None;
    while !backup.is_finished() {
        if chosen_by.is_none() && has_pages() {
            chosen_by = Some(*number);
            // Not before the first has begun: on a busy machine the second would be the one that is made.
            let second = embedded.back_up(target.with_extension("second"), Existing::Refuse).await;
            // On a busy machine the first may be over before the second begins.
            assert!(matches!(second, Err(BackupError::UnderWay)) || backup.is_finished(), "{second:?}");
        }
        assert_eq!(store.apply(big(*number, 20_000)).await.unwrap(), Commit::Applied);
        *number += 1;
        assert!(*number < first + 5000, "a copy that begins anew with each commit never ends");
    }
    backup.await.unwrap().unwrap();
    chosen_by.unwrap_or(*number)
}
