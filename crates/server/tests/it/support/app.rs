//! Runs a whole Regente in the test's process: the real router on a new database, a clock that the test controls, ids
//! and chance from a seed, and the simulator's transaction log in memory, where the test can read it.

pub mod deployment;
mod moving;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use regente::api::router::router;
use regente::app::App;
use regente::http::limits::HttpLimits;
use regente_domain::business_days::Calendar;
use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;
use regente_engine::apple_pay::ApplePayKeys;
use regente_engine::bank::SimulatedBank;
use regente_engine::chance::Chance;
use regente_engine::clock::Clock;
use regente_engine::jobs::Worker;
use regente_engine::mail::MailOptions;
use regente_engine::report_files::BucketOptions;
use regente_engine::settings::Settings;
use regente_engine::vault::Kek;
use regente_providers::sandbox::TransactionLog;
use regente_store::testing::{Fuse, TestDatabase};
use regente_store::{Batch, Commit, Room, jobs};
use tempfile::TempDir;
use tokio::sync::OnceCell;

use crate::support::app::deployment::{FIRST_START, Ground, build};
use crate::support::client::{Client, new_client};
use crate::support::names::Names;
use crate::support::wallets::Shop;
use crate::support::wire::Wire;

/// The time at the start of every test.
pub const START: &str = "2026-03-23T15:12:38.379Z";
/// The deadline of calls to the simulator.
const SANDBOX_DEADLINE: Duration = Duration::from_millis(60);

/// Where others reach a deployment.
pub const ADDRESS: &str = "http://regente.example";

/// Runs each story on SQLite and on PostgreSQL.
macro_rules! stories {
    ($($name:ident),* $(,)?) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name(crate::support::app::TestApp::sqlite().await).await;
            })*
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name(crate::support::app::TestApp::postgres().await).await;
            })*
        }
    };
}

pub(crate) use stories;

/// A running application and one of its clients.
pub struct TestApp {
    pub app: App,
    pub clock: Clock,
    pub books: TransactionLog,
    pub worker: Worker,
    pub client: Client,
    /// Stops the process at a step chosen by the test.
    pub fuse: Fuse,
    /// The connection to the provider.
    pub wire: Wire,
    /// The addresses of host names.
    pub names: Names,
    pub router: Router,
    kek: String,
    settings: Settings,
    limits: HttpLimits,
    sandbox_deadline: Duration,
    room: Room,
    adapters: Adapters,
    apple_pay: Option<(ApplePayKeys, Arc<Shop>)>,
    generation: u64,
    pub(super) prepared: OnceCell<()>,
    database: TestDatabase,
    report_folder: Arc<TempDir>,
    mail: Option<MailOptions>,
    bucket: Option<BucketOptions>,
    /// Whether the simulated bank is connected; otherwise receivers are paid by hand.
    has_bank: bool,
}

/// The provider adapters of the release that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adapters {
    /// The simulator's.
    Simulator,
    /// The simulator's, and those of other providers, which are all at this address.
    Real(SocketAddr),
    /// None, as in a release before the adapter of a provider.
    Missing,
}

impl TestApp {
    pub async fn sqlite() -> Self {
        Self::on(TestDatabase::fresh_sqlite(), Settings::default()).await
    }

    pub async fn postgres() -> Self {
        Self::on(TestDatabase::fresh_postgres().await, Settings::default()).await
    }

    /// On a new database of `database`'s kind, with these settings.
    pub async fn on(database: TestDatabase, settings: Settings) -> Self {
        let clock = Clock::manual(Timestamp::parse(START).unwrap());
        let kek = Kek::generate(&Chance::seeded(99)).expose_text().to_string();
        let books = TransactionLog::memory();
        let sandbox_deadline = SANDBOX_DEADLINE;
        let (fuse, wire, names) = (Fuse::default(), Wire::default(), Names::default());
        let report_folder = Arc::new(tempfile::tempdir().unwrap());
        let ground = Ground {
            report_folder: report_folder.path(),
            mail: None,
            bucket: None,
            has_bank: true,
            database: &database,
            clock: &clock,
            books: &books,
            kek: &kek,
            settings: &settings,
            limits: &HttpLimits::default(),
            sandbox_deadline,
            room: Room::default(),
            adapters: Adapters::Simulator,
            apple_pay: None,
            wire: &wire,
            names: &names,
        };
        let app = build(ground, &fuse, FIRST_START).await;
        let client = new_client(&app, "Loja João").await;
        let (router, worker) = (router(app.clone()), Worker::new(app.engine.clone()));
        Self {
            app,
            clock,
            books,
            worker,
            client,
            fuse,
            wire,
            names,
            router,
            kek,
            settings,
            limits: HttpLimits::default(),
            sandbox_deadline,
            room: Room::default(),
            adapters: Adapters::Simulator,
            apple_pay: None,
            generation: FIRST_START,
            prepared: OnceCell::new(),
            database,
            report_folder,
            mail: None,
            bucket: None,
            has_bank: true,
        }
    }

    /// The deployment after a restart of its process: only stored data is left.
    pub async fn restart(self) -> Self {
        self.app.store.close().await;
        let generation = self.generation + 1;
        let fuse = Fuse::default();
        let app = build(self.ground(), &fuse, generation).await;
        let (router, worker) = (regente::api::router::router(app.clone()), Worker::new(app.engine.clone()));
        Self { app, worker, router, fuse, generation, prepared: OnceCell::new(), ..self }
    }

    /// Ends the leases of workers that are gone. On PostgreSQL they last some seconds of the database's clock, for which no
    /// story waits.
    pub async fn end_leases(&self) {
        let mut batch = Batch::new(self.client_id());
        jobs::void_leases(&mut batch, uuid::Uuid::nil());
        assert_eq!(self.app.store.apply(batch).await.unwrap(), Commit::Applied);
    }

    /// A worker of another node of the deployment, where several processes share the database.
    pub async fn another_worker(&self) -> Worker {
        Worker::new(build(self.ground(), &Fuse::default(), self.generation + 1000).await.engine.clone())
    }

    /// Another node of the deployment, with a clock of its own. `number` tells several apart.
    pub async fn another_node(&self, clock: &Clock, number: u64) -> App {
        let ground = Ground { clock, ..self.ground() };
        build(ground, &Fuse::default(), self.generation + 1000 * (1 + number)).await
    }

    fn ground(&self) -> Ground<'_> {
        Ground {
            database: &self.database,
            clock: &self.clock,
            books: &self.books,
            kek: &self.kek,
            settings: &self.settings,
            limits: &self.limits,
            sandbox_deadline: self.sandbox_deadline,
            room: self.room,
            adapters: self.adapters,
            apple_pay: self.apple_pay.as_ref().map(|(keys, _)| keys.clone()),
            wire: &self.wire,
            names: &self.names,
            report_folder: self.report_folder.path(),
            mail: self.mail.as_ref(),
            bucket: self.bucket.as_ref(),
            has_bank: self.has_bank,
        }
    }

    /// The deployment with changed settings.
    pub async fn with_settings(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self.restart().await
    }

    /// The deployment with a holiday of the banks, `YYYY-MM-DD`, that its operator has added.
    pub async fn with_holiday(self, day: &str) -> Self {
        let calendar = Calendar::with_holidays(vec![day.parse().unwrap()]).unwrap();
        self.with_settings(|settings| settings.calendar = calendar).await
    }

    /// The deployment with changed limits on callers.
    pub async fn with_limits(mut self, change: impl FnOnce(&mut HttpLimits)) -> Self {
        change(&mut self.limits);
        self.restart().await
    }

    /// The deployment with another transaction log of the simulator.
    pub async fn with_books(mut self, books: TransactionLog) -> Self {
        self.books = books;
        self.restart().await
    }

    /// The deployment with room for so many changes under way.
    pub async fn with_places(mut self, places_max: usize) -> Self {
        self.room.places_max = places_max;
        self.restart().await
    }

    /// The deployment with another deadline of the simulator.
    pub async fn with_sandbox_deadline(mut self, deadline: Duration) -> Self {
        self.sandbox_deadline = deadline;
        self.restart().await
    }

    /// The deployment with these Apple Pay keys, for which this shop has tokens made.
    pub async fn with_apple_pay(mut self, keys: ApplePayKeys, shop: Arc<Shop>) -> Self {
        self.apple_pay = Some((keys, shop));
        self.restart().await
    }

    /// The deployment that keeps the files of its reports in a bucket.
    pub async fn with_bucket(mut self, bucket: BucketOptions) -> Self {
        self.bucket = Some(bucket);
        self.restart().await
    }

    /// The deployment that hands its mail over like this.
    pub async fn with_mail(mut self, mail: MailOptions) -> Self {
        self.mail = Some(mail);
        self.restart().await
    }

    /// The deployment without a bank, whose operators pay by hand.
    pub async fn without_bank(mut self) -> Self {
        self.has_bank = false;
        self.restart().await
    }

    /// The deployment once a bank is connected.
    pub async fn with_bank(mut self) -> Self {
        self.has_bank = true;
        self.restart().await
    }

    /// The bank that pays receivers.
    pub fn bank(&self) -> SimulatedBank {
        SimulatedBank::new(self.app.store.clone())
    }

    /// The shop that takes Apple Pay.
    pub fn shop(&self) -> &Shop {
        &self.apple_pay.as_ref().expect("a deployment with Apple Pay").1
    }

    /// The deployment after an upgrade, or after going back, to a release with these adapters.
    pub async fn with_adapters(mut self, adapters: Adapters) -> Self {
        self.adapters = adapters;
        self.restart().await
    }

    /// The id of the account.
    pub fn client_id(&self) -> ClientId {
        self.client.id.parse().unwrap()
    }

    /// The files of reports on the disk.
    pub fn report_paths(&self) -> Vec<PathBuf> {
        let (mut found, mut folders) = (Vec::new(), vec![self.report_folder.path().to_owned()]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { folders.push(path) } else { found.push(path) }
            }
        }
        found
    }

    /// The deployment at an address where others reach it.
    pub async fn reachable(self) -> Self {
        self.with_settings(|settings| settings.base_url = Some(ADDRESS.into())).await
    }
}
