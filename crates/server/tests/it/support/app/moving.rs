//! A deployment whose database is moved.

use regente_domain::time::Timestamp;
use regente_store::moving::{Move, Moved, Progress, Source};
use regente_store::testing::{Fuse, TestDatabase};
use regente_store::{DatabaseKind, Store};

use super::{START, TestApp};

impl TestApp {
    /// The deployment stopped, moved to a new database of this kind, and started there. `stops` are the steps at which the
    /// move is interrupted before.
    pub async fn moved_to(self, kind: DatabaseKind, stops: &[u64]) -> (Self, Moved) {
        self.app.store.close().await;
        let target = match kind {
            DatabaseKind::Sqlite => TestDatabase::empty_sqlite(),
            DatabaseKind::Postgres => TestDatabase::fresh_postgres().await,
        };
        let open = async || {
            let source = Source::Database(self.database.options());
            Move::open(source, target.options(), Timestamp::parse(START).unwrap()).await.unwrap()
        };
        for steps in stops {
            let fuse = Fuse::default();
            fuse.arm(*steps);
            let mut moving = open().await.with_fuse(fuse.clone());
            tokio::select! {
                done = moving.run(&|_: Progress<'_>| ()) => panic!("it was not interrupted: {done:?}"),
                () = fuse.blown() => {}
            }
        }
        let moved = open().await.run(&|_: Progress<'_>| ()).await.unwrap();
        let store = Store::open(target.options()).await.unwrap();
        store.end_move().await.unwrap();
        store.close().await;
        (Self { database: target, ..self }.restart().await, moved)
    }
}
