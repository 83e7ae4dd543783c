//! Every statement of the product, on both databases.

use std::collections::HashSet;

use regente_store::testing::{self, TestDatabase};
use regente_store::{DatabaseKind, Sql, Store};

use crate::things::prepare;

/// Statements that are written twice, once for each database. Each one more is a place where the two can drift
/// apart: find one text first.
const SPLITS_MAX: usize = 6;

/// Unique indexes that only an `ON CONFLICT` needs, which no plan names.
const TELL_OF_CONFLICTS: [&str; 1] = ["jobs_by_key"];

/// Statements that find their rows by a column that they change.
const FOUND_BY_WHAT_CHANGES: [&str; 6] = [
    "WAIT_WITH_EARLIER",
    "VOID_LEASES",
    "TAKE_DUE_PAYOUT_ORDERS",
    "RELEASE_PAYOUT_ORDERS",
    "PASS_PAYOUT_ORDERS_ON",
    "RELEASE_PREPAID_ORDERS",
];

/// What a charge by card reads.
const READS_OF_A_CHARGE: [&str; 8] = [
    "FIND_CARD_WITH_NUMBER",
    "FIND_CHARGE",
    "FIND_CLIENT_SECRET",
    "FIND_CREDENTIAL",
    "FIND_KEY",
    "FIND_MERCHANT",
    "FIND_TOKEN",
    "TRANSACTION_REQUESTS_OF",
];

#[tokio::test]
async fn every_statement_is_understood_by_both_databases() {
    let mut wrong = Vec::new();
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres] {
        let database = TestDatabase::fresh(kind).await;
        let store = database.open().await;
        prepare(&store).await;
        for sql in Sql::catalog() {
            if let Err(error) = testing::prepare(&store, sql).await {
                wrong.push(format!("{kind}: {error}"));
            }
        }
        store.close().await;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn every_index_is_used_by_a_statement() {
    let database = TestDatabase::fresh(DatabaseKind::Sqlite).await;
    let store = database.open().await;
    let mut plans = String::new();
    for sql in of_the_product() {
        plans.push_str(&testing::query_plan(&store, sql).await.unwrap());
        plans.push('\n');
    }
    let used: HashSet<&str> = plans.split_whitespace().collect();
    let mut indexes = testing::indexes(&store).await.unwrap();
    indexes.retain(|index| !used.contains(index.as_str()) && !TELL_OF_CONFLICTS.contains(&index.as_str()));
    store.close().await;
    assert!(indexes.is_empty(), "no statement uses {indexes:?}");
}

/// A list that is joined to the rows of an account is read anew for each of them, where the server has no statistics yet.
#[tokio::test]
async fn a_list_is_read_once_for_a_statement_on_postgresql() {
    let database = TestDatabase::fresh(DatabaseKind::Postgres).await;
    let store = database.open().await;
    let mut joined = Vec::new();
    let finds_by_a_list = |sql: &&Sql| {
        let text = sql.text(DatabaseKind::Sqlite);
        ["IN (SELECT value FROM json_each(", "IN (SELECT unhex("].iter().any(|list| text.contains(list))
    };
    for sql in of_the_product().filter(finds_by_a_list) {
        let plan = testing::query_plan(&store, sql).await.unwrap();
        let lines: Vec<&str> = plan.lines().collect();
        let is_joined = |two: &[&str]| {
            two[1].contains("Scan on jsonb_array_elements_text") && !two[0].contains("InitPlan")
        };
        if lines.windows(2).any(is_joined) {
            joined.push(format!("{}: {plan}", sql.name()));
        }
    }
    store.close().await;
    assert!(joined.is_empty(), "{}", joined.join("\n"));
}

#[tokio::test]
async fn sums_that_are_not_folded_are_found_by_their_index() {
    let database = TestDatabase::fresh(DatabaseKind::Sqlite).await;
    let store = database.open().await;
    let readers = [
        ("COUNT_BY_SPANS", "charge_counters_unfolded"),
        ("CLIENTS_WITH_UNFOLDED_COUNTERS", "charge_counters_unfolded"),
        ("UNFOLDED_COUNTERS", "charge_counters_unfolded"),
        ("LEDGER_BALANCES", "ledger_balances_unfolded"),
        ("COUNT_LEDGER_ACCOUNTS", "ledger_balances_unfolded"),
        ("CLIENTS_WITH_UNFOLDED_BALANCES", "ledger_balances_unfolded"),
        ("UNFOLDED_BALANCES", "ledger_balances_unfolded"),
    ];
    for (name, index) in readers {
        let plan = plan_of(&store, name).await;
        assert!(plan.contains(index), "{name}: {plan}");
        let scans = ["SCAN spans", "SCAN folded", "SCAN ledger_entries"];
        assert!(!scans.iter().any(|scan| plan.contains(scan)), "{name}: {plan}");
    }
    // A page of them is read without sorting all, and an empty one is not searched for.
    for name in ["UNFOLDED_COUNTERS", "UNFOLDED_BALANCES", "LEDGER_ENTRIES_DESC"] {
        let page = plan_of(&store, name).await;
        assert!(!page.contains("TEMP B-TREE"), "{page}");
    }
    for name in ["DELETE_EMPTY_COUNTER", "DELETE_EMPTY_BALANCE"] {
        let deletion = plan_of(&store, name).await;
        assert!(deletion.contains("PRIMARY KEY") && deletion.contains("stripe=?"), "{deletion}");
    }
    store.close().await;
}

#[tokio::test]
async fn entries_of_the_ledger_are_looked_up_by_their_sources() {
    let database = TestDatabase::fresh(DatabaseKind::Sqlite).await;
    let store = database.open().await;
    let readers = [
        "ENTRIES_OF_SOURCES",
        "LEDGER_ENTRIES_OF_SOURCES_DESC",
        "LEDGER_ENTRIES_OF_SOURCES_ASC",
        "COUNT_LEDGER_ENTRIES_OF_SOURCES",
    ];
    for name in readers {
        let plan = plan_of(&store, name).await;
        assert!(plan.contains("ledger_entries USING PRIMARY KEY (source_id=?)"), "{name}: {plan}");
    }
    // A page of what has moved goes on where the one before has ended.
    let moved = plan_of(&store, "CHARGES_MOVED").await;
    assert!(moved.contains("(client_id=? AND (at,source_id)>(?,?) AND at<?)"), "{moved}");
    assert!(!moved.contains("TEMP B-TREE"), "{moved}");
    store.close().await;
}

#[tokio::test]
async fn charges_with_something_open_are_read_page_by_page() {
    let database = TestDatabase::fresh(DatabaseKind::Sqlite).await;
    let store = database.open().await;
    let page = plan_of(&store, "OPEN_CHARGES").await;
    assert!(page.contains("(client_id=? AND receiver=? AND charge_id>?)"), "{page}");
    assert!(!page.contains("TEMP B-TREE"), "{page}");
    store.close().await;
}

/// SQLite would build a table in memory for the words of `IN`, each time the statement runs: for three or more, and for any
/// number of them where an index has the column.
#[tokio::test]
async fn no_statement_of_a_charge_builds_a_table() {
    let database = TestDatabase::fresh(DatabaseKind::Sqlite).await;
    let store = database.open().await;
    let mut building = Vec::new();
    for sql in
        of_the_product().filter(|sql| is_write_of_few_rows(sql) || READS_OF_A_CHARGE.contains(&sql.name()))
    {
        let program = testing::program(&store, sql).await.unwrap();
        if program.iter().any(|instruction| instruction == "OpenEphemeral") {
            building.push(sql.name());
        }
    }
    store.close().await;
    assert!(building.is_empty(), "{building:?}");
    for name in READS_OF_A_CHARGE {
        assert!(of_the_product().any(|sql| sql.name() == name), "{name}");
    }
}

/// Whether it writes, and does not find its rows by another query, or by the column that it changes: that takes a table.
fn is_write_of_few_rows(sql: &Sql) -> bool {
    let words: Vec<&str> = sql.text(DatabaseKind::Sqlite).split_whitespace().collect();
    let text = words.join(" ").replace("( ", "(");
    !text.starts_with("SELECT ")
        && !text.contains(" IN (SELECT ")
        && !FOUND_BY_WHAT_CHANGES.contains(&sql.name())
}

async fn plan_of(store: &Store, name: &str) -> String {
    let sql = Sql::catalog().find(|sql| sql.name() == name).unwrap();
    testing::query_plan(store, sql).await.unwrap()
}

/// The statements of this crate; those of its tests have tables of their own.
fn of_the_product() -> impl Iterator<Item = &'static Sql> {
    Sql::catalog().filter(|sql| sql.module().starts_with("regente_store::"))
}

#[test]
fn the_catalog_holds_the_statements_of_the_product() {
    let names: Vec<_> = Sql::catalog().map(Sql::name).collect();
    assert!(names.contains(&"ADD_TO_COUNTER"), "{names:?}");
    assert!(names.contains(&"BEAT"), "{names:?}");
}

#[test]
fn few_statements_are_split() {
    let split: Vec<_> = Sql::catalog().filter(|sql| sql.is_split()).collect();
    assert!(split.len() <= SPLITS_MAX, "{split:?}");
}

#[test]
fn a_name_is_used_once() {
    // A refusal names its statement: two of the same name could not be told apart.
    let mut names: Vec<_> = Sql::catalog().map(Sql::name).collect();
    names.sort_unstable();
    let twice: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

#[test]
fn both_texts_of_a_split_take_the_same_arguments() {
    for sql in Sql::catalog() {
        let mut sqlite = sql.argument_names(DatabaseKind::Sqlite).to_vec();
        let mut postgres = sql.argument_names(DatabaseKind::Postgres).to_vec();
        sqlite.sort_unstable();
        postgres.sort_unstable();
        assert_eq!(sqlite, postgres, "{sql:?}");
    }
}
