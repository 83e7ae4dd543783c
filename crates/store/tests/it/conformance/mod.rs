//! What both databases must do alike. Each case runs on a fresh database of either kind.

use regente_store::testing::TestDatabase;
use regente_store::{DatabaseKind, Store};

use crate::things::prepare;

/// Makes two tests of each case: `sqlite::case` and `postgres::case`.
macro_rules! on_both {
    ($($case:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                crate::conformance::run(regente_store::DatabaseKind::Sqlite, super::$case).await;
            })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                crate::conformance::run(regente_store::DatabaseKind::Postgres, super::$case).await;
            })*
        }
    };
}

mod batches;
mod charges;
mod counters;
mod due;
mod ledger;
mod life;
mod values;
mod webhooks;

async fn run(kind: DatabaseKind, case: impl AsyncFnOnce(Store)) {
    let database = TestDatabase::fresh(kind).await;
    let store = database.open().await;
    prepare(&store).await;
    case(store.clone()).await;
    store.close().await;
}
