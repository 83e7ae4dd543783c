//! Migrations: applied once, in order, never changed.

use futures_util::future::join_all;
use regente_domain::check_digits::CheckDigits;
use regente_domain::id::{ClientId, Id};
use regente_domain::plan::{Plan, PlanStatus, Terms};
use regente_domain::time::Timestamp;
use regente_store::clients::{self, Client, ClientStatus};
use regente_store::customers::{Order, Slice};
use regente_store::idempotency::{self, ClaimState};
use regente_store::plans::{self, PlanFilter};
use regente_store::sealed::Sealed;
use regente_store::testing::{self, FreshDatabase, TEST_TIME, TestDatabase, TestPostgres};
use regente_store::{Batch, Commit, DatabaseKind, Store, StoreError, args, sql};
use uuid::Uuid;

const FIRST: (i64, &str, &str) =
    (1, "0001_first", "CREATE TABLE first (id {uuid} PRIMARY KEY) {table_options};");
const SECOND: (i64, &str, &str) =
    (2, "0002_second", "CREATE TABLE second (id {int} PRIMARY KEY, doc {json}) {table_options};");
const BROKEN: (i64, &str, &str) =
    (2, "0002_broken", "CREATE TABLE half (id {int} PRIMARY KEY) {table_options}; CREATE NONSENSE;");

macro_rules! released {
    ($version:literal, $name:literal) => {
        ($version, $name, include_str!(concat!("../../migrations/", $name, ".sql")))
    };
}

/// What was applied before claims became short.
const BEFORE_SHORT_CLAIMS: [(i64, &str, &str); 7] = [
    released!(1, "0001_foundation"),
    released!(2, "0002_follow_ups"),
    released!(3, "0003_webhooks"),
    released!(4, "0004_purchases"),
    released!(5, "0005_listeners"),
    released!(6, "0006_in_place"),
    released!(7, "0007_claims_of_charges"),
];

/// All of a few plans.
const PAGE: Slice = Slice { order: Order::OldestFirst, limit: 10, offset: 0 };

sql! {
    /// The applied migrations.
    APPLIED_MIGRATIONS = "SELECT version, name, applied_at FROM schema_migrations ORDER BY version";
}

/// A database without any table.
async fn empty(kind: DatabaseKind) -> TestDatabase {
    match kind {
        DatabaseKind::Sqlite => TestDatabase::empty_sqlite(),
        DatabaseKind::Postgres => {
            let url = TestPostgres::shared().empty_database().await;
            TestDatabase::Postgres(FreshDatabase::at(url))
        }
    }
}

async fn on_both(case: impl AsyncFn(Store)) {
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres] {
        let database = empty(kind).await;
        let store = Store::open(database.options()).await.unwrap();
        case(store.clone()).await;
        store.close().await;
    }
}

#[tokio::test]
async fn a_new_database_has_everything_to_come() {
    on_both(async |store| {
        assert_eq!(store.schema_version().await.unwrap(), 0);
        assert!(store.pending_migrations().await.unwrap().contains(&"0001_foundation"));
        store.migrate(TEST_TIME).await.unwrap();
        assert!(store.schema_version().await.unwrap() >= 1);
        assert!(store.pending_migrations().await.unwrap().is_empty());
        store.check().await.unwrap();
        // Once more changes nothing.
        store.migrate(TEST_TIME).await.unwrap();
        let rows = store.rows(&APPLIED_MIGRATIONS, args! {}).await.unwrap();
        assert_eq!(rows[0].get::<String>("name").unwrap(), "0001_foundation");
        assert_eq!(rows[0].get::<i64>("applied_at").unwrap(), TEST_TIME.as_millis());
    })
    .await;
}

#[tokio::test]
async fn migrations_follow_each_other() {
    on_both(async |store| {
        testing::migrate_to(&store, &[FIRST]).await.unwrap();
        assert_eq!(store.schema_version().await.unwrap(), 1);
        testing::migrate_to(&store, &[FIRST, SECOND]).await.unwrap();
        assert_eq!(store.schema_version().await.unwrap(), 2);
        testing::run_script(&store, "INSERT INTO second (id, doc) VALUES (1, '{}')").await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_changed_migration_is_refused() {
    on_both(async |store| {
        testing::migrate_to(&store, &[FIRST, SECOND]).await.unwrap();
        let changed = (1, FIRST.1, "CREATE TABLE first (id {int} PRIMARY KEY) {table_options};");
        let refused = testing::migrate_to(&store, &[changed, SECOND]).await;
        assert!(matches!(refused, Err(StoreError::Schema(_))), "{refused:?}");
    })
    .await;
}

#[tokio::test]
async fn a_later_release_is_refused() {
    on_both(async |store| {
        testing::migrate_to(&store, &[FIRST, SECOND]).await.unwrap();
        let refused = testing::migrate_to(&store, &[FIRST]).await;
        assert!(matches!(refused, Err(StoreError::Schema(_))), "{refused:?}");
    })
    .await;
}

#[tokio::test]
async fn a_broken_migration_leaves_nothing_behind() {
    on_both(async |store| {
        let broken = testing::migrate_to(&store, &[FIRST, BROKEN]).await;
        assert!(matches!(broken, Err(StoreError::Programming(_))), "{broken:?}");
        assert_eq!(store.schema_version().await.unwrap(), 1);
        assert!(testing::run_script(&store, "SELECT id FROM half").await.is_err());
        testing::migrate_to(&store, &[FIRST, SECOND]).await.unwrap();
    })
    .await;
}

/// What a release with [`BEFORE_SHORT_CLAIMS`] has stored, the digests whole: an answer, and what a node of the release before
/// it has claimed for a charge.
const OLD_CLAIMS: &str = "
    INSERT INTO idempotency (digest, client_id, fingerprint, state, http_status, body, key_id, expires_at)
    VALUES ({one}, {client}, {fingerprint}, 'done', 400, {fingerprint}, {client}, 7);
    INSERT INTO idempotency (digest, client_id, fingerprint, state, object_kind, object_id, version, expires_at)
    VALUES ({other}, {client}, {fingerprint}, 'running', 'charge', {client}, 3, 7);";

#[tokio::test]
async fn claims_of_earlier_releases_are_found_by_the_first_half_of_their_digests() {
    on_both(async |store| {
        testing::migrate_to(&store, &BEFORE_SHORT_CLAIMS).await.unwrap();
        let client_id = Uuid::from_u128(0xc1);
        let [one, other] = [1, 2].map(|number| Uuid::from_u128(0x0102_0304_0506_0708 << 64 | number));
        let bytes = |hex: &str| match store.database_kind() {
            DatabaseKind::Sqlite => format!("X'{hex}'"),
            DatabaseKind::Postgres => format!("'\\x{hex}'"),
        };
        let uuid = |id: Uuid| match store.database_kind() {
            DatabaseKind::Sqlite => bytes(&id.simple().to_string()),
            DatabaseKind::Postgres => format!("'{id}'"),
        };
        let whole = |half: Uuid| bytes(&format!("{}{}", half.simple(), "ff".repeat(16)));
        let script = OLD_CLAIMS
            .replace("{one}", &whole(one))
            .replace("{other}", &whole(other))
            .replace("{fingerprint}", &bytes(&"05".repeat(32)))
            .replace("{client}", &uuid(client_id));
        testing::run_script(&store, &script).await.unwrap();
        store.migrate(TEST_TIME).await.unwrap();
        let find = async |digest| {
            let found = idempotency::find(&store, ClientId::new(client_id), digest).await.unwrap().unwrap();
            assert_eq!((found.fingerprint, found.expires_at), ([5; 32], Timestamp::from_millis(7)));
            found.state
        };
        let state = find(one).await;
        let ClaimState::Done { body, .. } = state else { panic!("{state:?}") };
        assert_eq!((body.key_id, body.bytes), (client_id, vec![5; 32]));
        let state = find(other).await;
        let ClaimState::Charge { begun, .. } = state else { panic!("{state:?}") };
        assert_eq!(begun, 3);
    })
    .await;
}

/// An account as earlier releases have made it.
fn account(number: u128) -> Client {
    Client {
        id: ClientId::new(Uuid::from_u128(number)),
        name: "Loja".to_owned(),
        status: ClientStatus::Active,
        contacts: Vec::new(),
        language: "pt-BR".to_owned(),
        time_zone: "America/Sao_Paulo".to_owned(),
        document_check_digits: CheckDigits::Off,
        prepayment: None,
        version: 1,
        updated_at: TEST_TIME,
        unknown_members: serde_json::Map::new(),
    }
}

/// A default plan that an operator has made.
fn default_plan(client_id: ClientId) -> Plan {
    Plan {
        id: Id::new(Uuid::from_u128(0xf1)),
        client_id,
        name: "Gold".to_owned(),
        description: None,
        is_default: true,
        status: PlanStatus::Active,
        terms: Terms::default(),
        created_at: TEST_TIME,
        updated_at: TEST_TIME,
        version: 1,
    }
}

#[tokio::test]
async fn accounts_without_a_default_plan_get_one_from_the_beginning_on() {
    on_both(async |store| {
        store.migrate(TEST_TIME).await.unwrap();
        let (without, with) = (account(0xc1), account(0xc2));
        let gold = default_plan(with.id);
        for client in [&without, &with] {
            let mut batch = Batch::new(client.id);
            let secret = Sealed { key_id: Uuid::from_u128(1), bytes: vec![5] };
            clients::insert(&mut batch, client, &secret).unwrap();
            if client.id == with.id {
                plans::insert(&mut batch, &gold, TEST_TIME).unwrap();
                plans::insert_default(&mut batch, Id::new(Uuid::from_u128(0xf2)), &gold, TEST_TIME);
            }
            assert_eq!(store.apply(batch).await.unwrap(), Commit::Applied);
        }
        let migration = include_str!("../../migrations/0046_default_plans.sql");
        testing::run_schema(&store, migration).await.unwrap();

        let made = plans::default_of(&store, without.id).await.unwrap().unwrap();
        assert_eq!((made.name.as_str(), &made.terms), ("Standard", &Terms::of_new_account()));
        let at = Timestamp::EPOCH;
        assert_eq!(plans::default_at(&store, without.id, at).await.unwrap(), Some(made.id));
        let terms = plans::terms_at(&store, without.id, made.id, at).await.unwrap();
        assert_eq!(terms, Some(Terms::of_new_account()));
        assert_eq!(plans::default_of(&store, with.id).await.unwrap().unwrap().id, gold.id);
        let (_, count) = plans::list(&store, with.id, PlanFilter::default(), PAGE).await.unwrap();
        assert_eq!((count, plans::default_at(&store, with.id, at).await.unwrap()), (1, None));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_nodes_may_migrate_at_once() {
    let database = empty(DatabaseKind::Postgres).await;
    let nodes = join_all((0..6).map(|_| Store::open(database.options()))).await;
    let nodes: Vec<Store> = nodes.into_iter().map(Result::unwrap).collect();
    for done in join_all(nodes.iter().map(|node| testing::migrate_to(node, &[FIRST, SECOND]))).await {
        done.unwrap();
    }
    for node in nodes {
        assert_eq!(node.schema_version().await.unwrap(), 2);
        node.close().await;
    }
}
