//! How a process of the deployment is built from the parts that outlive it.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::support::providers::fused::fused;
use regente::app::{App, Parts, no_credentials};
use regente::http::MonotonicClock;
use regente::http::dashboard::Dashboard;
use regente::http::error::kept_answer;
use regente::http::fields_origin::LegacyPages;
use regente::http::limits::{HttpLimits, Limiters};
use regente::human_check::ProofOfWork;
use regente_domain::provider_type::ProviderType;
use regente_engine::app as engine;
use regente_engine::apple_pay::ApplePayKeys;
use regente_engine::bank::{SharedBank, SimulatedBank};
use regente_engine::calls::circuits::Circuits;
use regente_engine::calls::in_flight::InFlight;
use regente_engine::calls::learned::Learned;
use regente_engine::calls::merchants::no_merchants;
use regente_engine::calls::refusals::Refusals;
use regente_engine::calls::repeats::Repeats;
use regente_engine::calls::returns::Returns;
use regente_engine::chance::Chance;
use regente_engine::clock::Clock;
use regente_engine::mail::{MailOptions, Mailer};
use regente_engine::outbound::{Outbound, Plain, Ports, Rules};
use regente_engine::report_files::{Bucket, BucketOptions, ReportFiles};
use regente_engine::return_address::ReturnAddresses;
use regente_engine::settings::{Mode, Settings};
use regente_engine::vault::{Kek, Vault};
use regente_providers::anti_fraud::{AntiFraud, AntiFraudProviders};
use regente_providers::authentication::AuthenticationServers;
use regente_providers::http_client::{HttpClient, HttpOptions};
use regente_providers::own_provider::OwnProviderOptions;
use regente_providers::provider::{Adapter, Providers};
use regente_providers::sandbox::{Sandbox, SandboxOptions, SimulatedServer, TransactionLog};
use regente_providers::{adyen, own_provider, pagarme_v5, stripe};
use regente_store::testing::{Fuse, TestDatabase};
use regente_store::{PostgresOptions, Room, SqliteOptions, Store, StoreOptions};

use crate::support::app::{ADDRESS, Adapters};
use crate::support::banks::FusedBank;
use crate::support::names::Names;
use crate::support::providers::wired::{Wired, WiredBooks};
use crate::support::wire::Wire;

/// The parts of a deployment that outlive its process.
pub struct Ground<'a> {
    pub database: &'a TestDatabase,
    pub clock: &'a Clock,
    pub books: &'a TransactionLog,
    pub kek: &'a str,
    pub settings: &'a Settings,
    pub limits: &'a HttpLimits,
    pub sandbox_deadline: Duration,
    pub room: Room,
    pub adapters: Adapters,
    pub apple_pay: Option<ApplePayKeys>,
    pub wire: &'a Wire,
    pub names: &'a Names,
    pub report_folder: &'a Path,
    pub mail: Option<&'a MailOptions>,
    pub bucket: Option<&'a BucketOptions>,
    /// Whether the simulated bank is connected; otherwise receivers are paid by hand.
    pub has_bank: bool,
}

/// Outbound calls without any known host name.
pub fn outbound() -> Outbound {
    Outbound::new(rules(), Names::default())
}

/// The allowed addresses: the public internet and this machine.
pub fn rules() -> Rules {
    Rules { plain: Plain::Allowed, ports: Ports::Any, networks: vec!["127.0.0.0/8".parse().unwrap()] }
}

fn simulated(sandbox: &Wired) -> Adapter {
    (ProviderType::Sandbox, Box::new(sandbox.clone()))
}

/// The simulator in the place of the platform's own provider.
pub fn platform(sandbox: &Wired) -> Adapter {
    (ProviderType::Platform, Box::new(sandbox.clone()))
}

/// The adapters of providers that move real money, each with a path of its own at this address.
pub fn real(address: SocketAddr) -> [Adapter; 4] {
    let http = HttpClient::new(HttpOptions::default());
    let at = |path: &str| Some(format!("http://{address}/{path}").parse().unwrap());
    [
        stripe::adapter(http.clone(), at("stripe")),
        adyen::adapter(http.clone(), at("adyen")),
        pagarme_v5::adapter(http.clone(), at("pagarme_v5")),
        own_provider::adapter(
            http,
            OwnProviderOptions {
                url: format!("http://{address}/own").parse().unwrap(),
                key: Some(zeroize::Zeroizing::new("shared".to_owned())),
                deadline: Duration::from_secs(10),
            },
        ),
    ]
}

/// Files of reports; the fuse counts each step of writing them.
fn report_files((folder, bucket): (&Path, Option<&BucketOptions>), fuse: &Fuse) -> ReportFiles {
    let (fuse, files) = (fuse.clone(), ReportFiles::in_folder(folder.to_owned()));
    let files = match bucket {
        Some(bucket) => files.with_bucket(Bucket::new(bucket.clone()).unwrap()),
        None => files,
    };
    files.pausing(Arc::new(move || {
        let fuse = fuse.clone();
        Box::pin(async move { fuse.step().await })
    }))
}

/// The seed of the first process of a deployment.
pub const FIRST_START: u64 = 1;

pub async fn build(ground: Ground<'_>, fuse: &Fuse, seed: u64) -> App {
    let Ground {
        database,
        clock,
        books,
        kek,
        settings,
        limits,
        sandbox_deadline,
        room,
        adapters,
        apple_pay,
        wire,
        names,
        report_folder,
        mail,
        bucket,
        has_bank,
    } = ground;
    // Internal errors, for the output of a failed test.
    let _ = tracing_subscriber::fmt().with_max_level(tracing::Level::WARN).with_test_writer().try_init();
    let options = match database.options() {
        StoreOptions::Sqlite(options) => StoreOptions::Sqlite(SqliteOptions { room, ..options }),
        StoreOptions::Postgres(options) => StoreOptions::Postgres(PostgresOptions { room, ..options }),
    };
    let store = Store::open(options).await.unwrap();
    // Each start of a release does so; here it would only find that there is nothing to do, with a connection of its own.
    if seed == FIRST_START {
        store.migrate(clock.deployment()).await.unwrap();
    }
    if settings.mode == Mode::Sandbox {
        clock.follow_accounts(&store).await.unwrap();
    }
    store.put_fuse(fuse.clone());
    let chance = Chance::seeded(seed);
    let vault =
        Vault::unlock(store.clone(), Kek::parse(kek).unwrap(), chance.clone(), clock.clone()).await.unwrap();
    let mut sandbox = SandboxOptions::new(7, zeroize::Zeroizing::new(vec![5; 32]));
    sandbox.deadline = sandbox_deadline;
    let sandbox = Sandbox::new(sandbox, books.clone());
    wire.0.outboxes.lock().unwrap().extend(sandbox.take_outbox());
    let challenges = (settings.mode == Mode::Sandbox).then(|| {
        let cardholders = WiredBooks { sandbox: sandbox.clone(), wire: wire.clone(), fuse: fuse.clone() };
        SimulatedServer::new(Arc::new(cardholders), &[6; 32], ADDRESS.into())
    });
    let sandbox = Wired { sandbox, wire: wire.clone(), fuse: fuse.clone() };
    let bank = has_bank.then(|| -> SharedBank {
        Arc::new(FusedBank { bank: SimulatedBank::new(store.clone()), fuse: fuse.clone() })
    });
    let machine = clock.clone();
    let now: MonotonicClock = Arc::new(move || machine.machine().elapsed());
    let life = settings.cache_life;
    let engine = engine::App::new(engine::Parts {
        store,
        vault,
        providers: Providers::with(match adapters {
            Adapters::Simulator => vec![simulated(&sandbox), platform(&sandbox)],
            Adapters::Real(address) => {
                let real = real(address).map(|adapter| fused(adapter, fuse));
                vec![simulated(&sandbox)].into_iter().chain(real).collect()
            }
            Adapters::Missing => Vec::new(),
        }),
        apple_pay,
        anti_fraud: AntiFraudProviders::with(match adapters {
            Adapters::Simulator | Adapters::Real(_) => {
                Some((ProviderType::SandboxAntifraud, Box::new(sandbox) as Box<dyn AntiFraud>))
            }
            Adapters::Missing => None,
        }),
        authentication: AuthenticationServers::with(challenges.as_ref().map(SimulatedServer::adapter)),
        return_addresses: ReturnAddresses::new(&[7; 32], settings.base_url.clone()),
        outbound: Outbound::new(rules(), names.clone()),
        clock: clock.clone(),
        chance,
        merchants: no_merchants(clock.clone(), life),
        learned: Learned::default(),
        repeats: Repeats::default(),
        returns: Returns::default(),
        forged_notifications: Refusals::default(),
        refused_credentials: Refusals::default(),
        in_flight: InFlight::default(),
        circuits: Circuits::new(settings.circuits, clock.clone()),
        report_files: report_files((report_folder, bucket), fuse),
        mailer: mail.map(|mail| Mailer::new(mail.clone()).unwrap()),
        bank,
        settings: settings.clone(),
        answer_to: kept_answer,
    });
    App::new(Parts {
        engine,
        simulator_log: Some(books.clone()),
        challenges,
        fields_origin: None,
        legacy_pages: LegacyPages::Served,
        dashboard: Dashboard::Served,
        human_check: Box::new(ProofOfWork),
        credentials: no_credentials(clock.clone(), life),
        limiters: Limiters::new(limits, &now),
        limits: limits.clone(),
    })
}
