//! What only a database on several servers shows: `make test-distributed` runs these.

use std::sync::Mutex;

use regente_store::testing::{self, FreshDatabase, TEST_TIME, TestDatabase, TestPostgres};
use regente_store::{DatabaseKind, Distributing, Sql, Store};
use uuid::Uuid;

use crate::distribution::{REPLICATED, is_exception};

/// A database of the cluster that has no tables yet.
async fn empty() -> (FreshDatabase, Store) {
    let database =
        TestPostgres::empty_distributed_database().await.expect("`make test-distributed` starts a cluster");
    let database = TestDatabase::Postgres(database);
    let store = Store::open(database.options()).await.unwrap();
    let TestDatabase::Postgres(database) = database else { unreachable!("it is one of PostgreSQL") };
    (database, store)
}

/// A statement of an account goes to the one server that has the account, also for the rows of many batches. The others can be run.
#[tokio::test]
#[ignore = "needs a distributed PostgreSQL: make test-distributed"]
async fn a_statement_of_an_account_is_one_task() {
    let database = TestDatabase::fresh(DatabaseKind::Postgres).await;
    let store = database.open().await;
    let mut wrong = Vec::new();
    for sql in Sql::catalog().filter(|sql| sql.module().starts_with("regente_store::")) {
        let text = sql.text(DatabaseKind::Postgres);
        let is_whole = REPLICATED.iter().any(|table| text.contains(&format!("INSERT INTO {table} ")));
        // What each server has whole is hardly ever written, and never many rows at once.
        for rows in if is_whole { 1..=1 } else { 1..=2 } {
            match testing::distributed_plan(&store, sql, rows, Uuid::from_u128(7)).await {
                Ok(Some(plan)) if !is_exception(sql) && is_of_many_tasks(&plan) => {
                    wrong.push(format!("{sql:?}, {rows} rows: {plan}"));
                }
                Ok(_) => {}
                Err(error) => wrong.push(format!("{rows} rows: {error}")),
            }
        }
    }
    store.close().await;
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}

fn is_of_many_tasks(plan: &str) -> bool {
    let counts = plan.lines().filter_map(|line| line.trim().strip_prefix("Task Count: "));
    plan.contains("pull to coordinator")
        || plan.contains("Distributed Subplan")
        || counts.into_iter().any(|count| count != "1")
}

/// Each migration is applied to tables that are distributed already, and new tables are too.
#[tokio::test]
#[ignore = "needs a distributed PostgreSQL: make test-distributed"]
async fn a_database_that_is_distributed_stays_so() {
    let (_database, store) = empty().await;
    testing::migrate_first(&store, 1).await.unwrap();
    store.distribute(&|_| ()).await.unwrap();
    store.migrate(TEST_TIME).await.unwrap();
    let layout = store.layout().await.unwrap().expect("it is distributed");
    assert_eq!((layout.missing, layout.whole), (vec![], 2));
    assert!(layout.by_client > 50, "{}", layout.by_client);
    store.close().await;
}

/// Progress is told, and once more there is nothing to do.
#[tokio::test]
#[ignore = "needs a distributed PostgreSQL: make test-distributed"]
async fn tables_are_distributed_once() {
    let (_database, store) = empty().await;
    store.migrate(TEST_TIME).await.unwrap();
    assert_eq!(store.layout().await.unwrap(), None);
    let told = Mutex::new(Vec::new());
    store.distribute(&|step| told.lock().unwrap().push(step)).await.unwrap();
    let steps = std::mem::take(&mut *told.lock().unwrap());
    let Some(Distributing::Table { nth, of, .. }) = steps.last() else { panic!("{steps:?}") };
    assert_eq!((nth, *of), (of, steps.len()));
    let layout = store.layout().await.unwrap().expect("it is distributed");
    assert_eq!(
        layout.servers.iter().map(|server| server.number == 0).collect::<Vec<_>>(),
        [true, false, false]
    );
    assert!(layout.servers[1..].iter().all(|server| server.is_reachable && server.shards > 0), "{layout:?}");
    store.distribute(&|step| told.lock().unwrap().push(step)).await.unwrap();
    assert_eq!(*told.lock().unwrap(), []);
    store.check().await.unwrap();
    store.close().await;
}
