//! The tables, statements and small helpers of the tests.

use regente_domain::id::{ClientId, Id, of};
use regente_store::fold::{self, Summed};
use regente_store::{Args, Batch, Commit, Refusal, RefusalKind, Store, args, sql, testing};
use uuid::Uuid;

/// Tables that have every kind of column and constraint.
pub(crate) const SCHEMA: &str = "
    CREATE TABLE things (
        id {uuid} NOT NULL,
        client_id {uuid} NOT NULL,
        name TEXT NOT NULL,
        doc {json},
        bytes {bytes},
        n {int} NOT NULL CHECK (n >= 0),
        version {int} NOT NULL,
        PRIMARY KEY (id, client_id),
        UNIQUE (client_id, name)
    ) {table_options};
    CREATE TABLE units (
        id {uuid} NOT NULL,
        client_id {uuid} NOT NULL,
        thing_id {uuid} NOT NULL,
        PRIMARY KEY (id, client_id),
        FOREIGN KEY (thing_id, client_id) REFERENCES things (id, client_id)
    ) {keyed_table_options};";

sql! {
    /// Adds a thing; names and numbers are not in the order of the columns.
    pub(crate) ADD_THING = "
        INSERT INTO things (version, n, bytes, doc, name, client_id, id)
        VALUES (:version, :n, :bytes, :doc, :name, :client_id, :id)";
    /// Adds a part.
    pub(crate) ADD_PART = "
        INSERT INTO units (id, client_id, thing_id) VALUES (:id, :client_id, :thing_id)";
    /// Sets `n` under the version guard; three names appear twice, in another order.
    pub(crate) SET_N = "
        UPDATE things SET n = :n, version = CAST(:version AS BIGINT) + 1
        WHERE client_id = :client_id AND version = :version AND id = :id";
    /// Sets `n` of everything.
    pub(crate) SET_ALL = "UPDATE things SET n = :n WHERE client_id = :client_id";
    /// Adds one, whatever the version.
    pub(crate) INCREMENT = "UPDATE things SET n = n + 1 WHERE id = :id AND client_id = :client_id";
    /// Takes one while there are any.
    pub(crate) TAKE_ONE = "
        UPDATE things SET n = n - 1 WHERE id = :id AND client_id = :client_id AND n > 0";
    /// Takes one, against the constraint if need be.
    pub(crate) TAKE_ONE_BLINDLY = "UPDATE things SET n = n - 1 WHERE id = :id AND client_id = :client_id";
    /// One thing.
    pub(crate) FIND_THING = "
        SELECT id, name, doc, bytes, n, version FROM things WHERE id = :id AND client_id = :client_id";
    /// All things of a client.
    pub(crate) ALL_THINGS = "SELECT id FROM things WHERE client_id = :client_id ORDER BY id";
    /// How many a client has.
    pub(crate) COUNT_THINGS = "SELECT COUNT(*) AS n FROM things WHERE client_id = :client_id";
    /// Things by a list of ids.
    pub(crate) THINGS_BY_ID = "
        SELECT name FROM things WHERE client_id = :client_id AND id IN EACH_UUID(:ids) ORDER BY name";
    /// Things by a list of names.
    pub(crate) THINGS_BY_NAME = "
        SELECT name FROM things WHERE client_id = :client_id AND name IN EACH_TEXT(:names) ORDER BY name";
    /// Counters of a client by status.
    pub(crate) COUNTERS = "
        SELECT status, CAST(SUM(n) AS BIGINT) AS n, COUNT(*) AS stripes FROM charge_counters
        WHERE client_id = :client_id GROUP BY status ORDER BY status";
}

pub(crate) const CLIENT: ClientId = ClientId::new(Uuid::from_u128(0xC1));

pub(crate) fn id(number: u128) -> Id<of::Charge> {
    Id::new(Uuid::from_u128(number))
}

/// A database with the tables of the tests.
pub(crate) async fn prepare(store: &Store) {
    testing::run_schema(store, SCHEMA).await.unwrap();
    if store.layout().await.unwrap().is_some() {
        // Tables that are bound to each other are distributed before they are bound.
        testing::run_schema(store, "ALTER TABLE units DROP CONSTRAINT units_thing_id_client_id_fkey")
            .await
            .unwrap();
        store.distribute(&|_| ()).await.unwrap();
        let bound =
            "ALTER TABLE units ADD FOREIGN KEY (thing_id, client_id) REFERENCES things (id, client_id)";
        testing::run_schema(store, bound).await.unwrap();
    }
}

pub(crate) fn thing(number: u128) -> Args {
    thing_of(CLIENT, number)
}

pub(crate) fn thing_of(client_id: ClientId, number: u128) -> Args {
    args! {
        id: id(number), client_id, name: format!("thing {number:04}"), doc: None::<String>,
        bytes: None::<Vec<u8>>, n: 0, version: 0,
    }
}

pub(crate) fn key(number: u128) -> Args {
    args! { id: id(number), client_id: CLIENT }
}

/// A batch that adds one thing.
pub(crate) fn adding(number: u128) -> Batch {
    let mut batch = Batch::new(CLIENT);
    batch.push(&ADD_THING, thing(number));
    batch
}

pub(crate) async fn add(store: &Store, number: u128) {
    assert_eq!(store.apply(adding(number)).await.unwrap(), Commit::Applied);
}

pub(crate) async fn n_of(store: &Store, number: u128) -> i64 {
    store.row(&FIND_THING, key(number)).await.unwrap().unwrap().get("n").unwrap()
}

pub(crate) async fn count(store: &Store) -> i64 {
    let row = store.row(&COUNT_THINGS, args! { client_id: CLIENT }).await.unwrap().unwrap();
    row.get("n").unwrap()
}

pub(crate) async fn exists(store: &Store, number: u128) -> bool {
    store.row(&FIND_THING, key(number)).await.unwrap().is_some()
}

pub(crate) fn missed(statement: &'static str, actual: u64) -> Commit {
    Commit::Refused(Refusal { statement, why: RefusalKind::RowCount { expected: 1, actual } })
}

pub(crate) fn refused(statement: &'static str, why: RefusalKind) -> Commit {
    Commit::Refused(Refusal { statement, why })
}

pub(crate) fn set_n(number: u128, n: i64, version: i64) -> Args {
    args! { id: id(number), client_id: CLIENT, n, version }
}

/// Folds until nothing is left. Returns the number of batches.
pub(crate) async fn fold_all<K: Summed>(store: &Store, rows: i64) -> usize {
    for batches in 0.. {
        let unfolded = fold::unfolded::<K>(store, CLIENT, i64::MAX, rows).await.unwrap();
        if unfolded.is_empty() {
            return batches;
        }
        let mut batch = Batch::new(CLIENT);
        fold::fold(&mut batch, &unfolded);
        assert_eq!(store.apply(batch).await.unwrap(), Commit::Applied);
    }
    0
}
