//! Runs a whole Regente in the test's process: the real router on a new database, a clock that the test controls, ids
//! and chance from a seed, and the simulator's transaction log in memory, where the test can read it.

mod fused;
pub mod payers;

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use futures_util::future::BoxFuture;
use regente::access::{self, NewClient};
use regente::api::router::router;
use regente::app::{App, Parts, no_credentials};
use regente::http::MonotonicClock;
use regente::http::error::kept_answer;
use regente::http::fields_origin::LegacyPages;
use regente::http::limits::{HttpLimits, Limiters};
use regente::human_check::ProofOfWork;
use regente_domain::actor::Actor;
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::id::ClientId;
use regente_domain::problems::Problems;
use regente_domain::provider_type::ProviderType;
use regente_domain::routing::Narrowed;
use regente_domain::time::Timestamp;
use regente_engine::app as engine;
use regente_engine::apple_pay::ApplePayKeys;
use regente_engine::calls::circuits::Circuits;
use regente_engine::calls::in_flight::InFlight;
use regente_engine::calls::merchants::no_merchants;
use regente_engine::calls::refusals::Refusals;
use regente_engine::calls::repeats::Repeats;
use regente_engine::calls::returns::Returns;
use regente_engine::calls::senders::Senders;
use regente_engine::chance::Chance;
use regente_engine::clock::Clock;
use regente_engine::jobs::Worker;
use regente_engine::outbound::{Looked, Lookup, Outbound, Plain, Ports, Rules};
use regente_engine::return_address::ReturnAddresses;
use regente_engine::settings::{Mode, Settings};
use regente_engine::vault::{Kek, Vault};
use regente_providers::anti_fraud::{
    Analysis, AnalysisFailure, AnalysisInquiry, AntiFraud, AntiFraudProviders, Feeding, Verdict,
};
use regente_providers::authentication::AuthenticationServers;
use regente_providers::http_client::{HttpClient, HttpOptions};
use regente_providers::notification::{
    Authentic, Notification, NotificationRefusal, NotificationRequest, ProviderEvent,
};
use regente_providers::outcome::{Answer, Probe};
use regente_providers::own_provider::{self, OwnProviderOptions};
use regente_providers::provider::{Adapter, Provider, Providers};
use regente_providers::request::{Call, CardDetails, Inquiry, Operation, OperationKind};
use regente_providers::sandbox::{
    CardholderAnswer, CardholderBooks, CardholderQuestion, Notice, Outbox, SIGNATURE_HEADER, Sandbox,
    SandboxOptions, SimulatedServer, TransactionLog,
};
use regente_providers::seller::{SellerAnswer, SellerCall};
use regente_providers::staged::{StageRefusal, StagedEvent};
use regente_providers::{adyen, pagarme_v5, stripe};
use regente_store::testing::{Fuse, TestDatabase};
use regente_store::{
    Batch, Commit, PostgresOptions, Room, SqliteOptions, Store, StoreError, StoreOptions, jobs,
};
use serde_json::{Map, Value, json};
use tokio::sync::{OnceCell, watch};
use tower::ServiceExt;

use self::payers::Payers;
use crate::apple_pay::Shop;
use crate::openapi::document::Document;
use fused::fused;

/// The time at the start of every test.
pub const START: &str = "2026-03-23T15:12:38.379Z";
/// The deadline of calls to the simulator.
pub const SANDBOX_DEADLINE: Duration = Duration::from_millis(60);

/// The id that a provider which [contradicts](Wire::contradict) itself gives its refusals.
pub const REFUSED: &str = "refused-1";

/// Where others reach a deployment.
pub const ADDRESS: &str = "http://regente.example";

/// Approved by the simulator (`docs/interface/sandbox.md#cards`).
pub const APPROVED: (&str, &str) = ("4916745120294124", "560");
/// Not answered by the simulator.
pub const TIMED_OUT: (&str, &str) = ("4485401945979546", "600");
/// Declined as `restricted_card`, which is final for the card.
pub const BLOCKED: (&str, &str) = ("4556684530238865", "440");
/// Declined for its security code; no other provider is tried.
pub const WRONG_CVV: (&str, &str) = ("4716866286004545", "965");

/// Runs each story on SQLite and on PostgreSQL.
macro_rules! stories {
    ($($name:ident),* $(,)?) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name(crate::harness::TestApp::sqlite().await).await;
            })*
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name(crate::harness::TestApp::postgres().await).await;
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
    prepared: OnceCell<()>,
    database: TestDatabase,
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

/// An account and one of its keys.
#[derive(Clone, Debug)]
pub struct Client {
    pub id: String,
    pub key: String,
}

/// The answer to a request.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
}

impl Reply {
    /// The body as JSON; null when there is none.
    pub fn json(&self) -> Value {
        if self.bytes.is_empty() { Value::Null } else { serde_json::from_slice(&self.bytes).unwrap() }
    }

    /// The body as JSON; the status must be `status`.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        let body = String::from_utf8_lossy(&self.bytes);
        assert_eq!(self.status.as_u16(), status, "{body}");
        self.json()
    }

    /// The `details` of an error with this status.
    #[track_caller]
    pub fn details(&self, status: u16) -> Vec<String> {
        let body = self.expect(status);
        let details = body["error"]["details"].as_array().expect("an error with details");
        details.iter().map(|detail| detail.as_str().unwrap().to_owned()).collect()
    }

    /// A header as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
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
        let ground = Ground {
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
        let app = build(ground, &fuse, 1).await;
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
            generation: 1,
            prepared: OnceCell::new(),
            database,
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
        }
    }

    /// The deployment with changed settings.
    pub async fn with_settings(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self.restart().await
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

    /// The shop that takes Apple Pay.
    pub fn shop(&self) -> &Shop {
        &self.apple_pay.as_ref().expect("a deployment with Apple Pay").1
    }

    /// The deployment after an upgrade, or after going back, to a release with these adapters.
    pub async fn with_adapters(mut self, adapters: Adapters) -> Self {
        self.adapters = adapters;
        self.restart().await
    }

    /// Another account of the deployment.
    pub async fn another_client(&self) -> Client {
        new_client(&self.app, "Outra Loja").await
    }

    /// The id of the account.
    pub fn client_id(&self) -> ClientId {
        self.client.id.parse().unwrap()
    }

    /// Sends a request without the harness's headers. The answer must match the document.
    pub async fn send(&self, request: Request<Body>) -> Reply {
        self.begin(request).await.unwrap()
    }

    /// Sends a request without waiting for its answer.
    pub fn begin(&self, request: Request<Body>) -> tokio::task::JoinHandle<Reply> {
        begin_at(self.router.clone(), request)
    }

    /// A request of `client` with further headers.
    pub async fn call(
        &self,
        client: &Client,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Reply {
        self.send(request(client, method, path, headers, body)).await
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.call(&self.client, Method::GET, path, &[], None).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Reply {
        self.call(&self.client, Method::POST, path, &[], Some(body)).await
    }

    pub async fn post_with_key(&self, path: &str, key: &str, body: &Value) -> Reply {
        self.call(&self.client, Method::POST, path, &[("X-Idempotency-Key", key)], Some(body)).await
    }

    pub async fn patch(&self, path: &str, body: &Value) -> Reply {
        self.call(&self.client, Method::PATCH, path, &[], Some(body)).await
    }

    pub async fn delete(&self, path: &str) -> Reply {
        self.call(&self.client, Method::DELETE, path, &[], None).await
    }

    /// Makes a merchant with these providers; returns its id.
    pub async fn merchant_with(&self, providers: Value) -> String {
        let body =
            self.post("/v1/merchants", &json!({ "mcc": "5812", "providers": providers })).await.expect(201);
        body["id"].as_str().unwrap().to_owned()
    }

    /// Makes a merchant with two healthy simulators; returns its id.
    pub async fn merchant(&self) -> String {
        self.merchant_with(json!([sandbox("Main", 1), sandbox("Spare", 2)])).await
    }

    /// Makes a merchant whose first simulator declines everything with `try_again`; returns its id.
    pub async fn fallback_merchant(&self) -> String {
        let mut first = sandbox("Declines", 1);
        first["options"] = json!({ "type": "SANDBOX", "faults": [{ "then": { "decline": "try_again" } }] });
        self.merchant_with(json!([first, sandbox("Approves", 2)])).await
    }

    /// Makes a card token; returns its id.
    pub async fn card_token(&self, card: (&str, &str)) -> String {
        let body = self.post("/v1/tokens", &token_body(card)).await.expect(201);
        body["tokenId"].as_str().unwrap().to_owned()
    }

    /// Makes a stored card without a check; returns its id.
    pub async fn card(&self, card: (&str, &str)) -> String {
        let token = self.card_token(card).await;
        self.post("/v1/cards", &json!({ "tokenId": token })).await.expect(201)["id"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// A public key with these scopes.
    pub async fn client_token(&self, scope: Value) -> Client {
        let body = self.post("/v1/auth", &json!({ "scope": scope, "expires": 600 })).await.expect(201);
        Client { id: self.client.id.clone(), key: body["publicKey"].as_str().unwrap().to_owned() }
    }

    /// The simulator sends a notification.
    pub async fn deliver(&self, notice: &Notice) -> Reply {
        let path = notice.url.strip_prefix(ADDRESS).expect("the address of this deployment");
        self.notify(path, &notice.signature(self.clock.deployment()), notice.body.clone()).await
    }

    /// Somebody sends a notification with this signature.
    pub async fn notify(&self, path: &str, signature: &str, body: Vec<u8>) -> Reply {
        let request = Request::builder()
            .method(Method::POST)
            .uri(path)
            .header("Content-Type", "application/json")
            .header(SIGNATURE_HEADER, signature);
        self.send(request.body(Body::from(body)).unwrap()).await
    }

    /// The deployment at an address where others reach it.
    pub async fn reachable(self) -> Self {
        self.with_settings(|settings| settings.base_url = Some(ADDRESS.into())).await
    }

    /// Runs every job that is due now.
    pub async fn run_jobs(&self) {
        self.prepare().await;
        loop {
            let round = self.worker.round().await.unwrap();
            if round.jobs == 0 && round.resolved == 0 && round.delivered == 0 {
                return;
            }
        }
    }

    /// Advances the clock; each job that falls due runs at its own time. Recurring jobs run along with them and once at
    /// the end: stopping at each of their times took most of the tests' time.
    pub async fn later(&self, by: Duration) {
        self.pass(by, async || self.worker.next_due().await).await;
        if self.next_job().await.unwrap().is_some_and(|due| due <= self.clock.deployment()) {
            self.worker.round().await.unwrap();
        }
    }

    /// Advances the clock and runs each recurring job at each of its times.
    pub async fn later_with_every_recurrence(&self, by: Duration) {
        let next_due = async || {
            let due = [self.worker.next_due().await?, self.next_job().await?];
            Ok(due.into_iter().flatten().min())
        };
        self.pass(by, next_due).await;
    }

    /// When the next job is due, recurring ones too, by the time of the deployment.
    async fn next_job(&self) -> Result<Option<Timestamp>, StoreError> {
        let nobody = ClientId::new(uuid::Uuid::max());
        let due = jobs::next_due(&self.app.store, nobody).await?;
        Ok(due.into_iter().map(|(client_id, due_at)| self.clock.deployment_at(client_id, due_at)).min())
    }

    async fn pass(&self, by: Duration, next_due: impl AsyncFn() -> Result<Option<Timestamp>, StoreError>) {
        self.prepare().await;
        let target = self.clock.deployment() + by;
        while let Some(due) = next_due().await.unwrap() {
            if due > target {
                break;
            }
            if due > self.clock.deployment() {
                self.clock.set(due);
            }
            self.worker.round().await.unwrap();
        }
        self.clock.set(target);
    }

    /// Enqueues the recurring jobs, once for each start of the process.
    pub async fn prepare(&self) {
        self.prepared.get_or_init(async || self.worker.prepare().await.unwrap()).await;
    }
}

/// Sends a request to a node without waiting for its answer.
pub fn begin_at(node: Router, mut request: Request<Body>) -> tokio::task::JoinHandle<Reply> {
    request.extensions_mut().insert(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 50_000))));
    tokio::spawn(async move {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let response = node.oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap().to_vec();
        let reply = Reply { status: parts.status, headers: parts.headers, bytes };
        Document::current().assert_promised(&method, &path, &reply);
        reply
    })
}

/// A request of `client` with further headers.
pub fn request(
    client: &Client,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<&Value>,
) -> Request<Body> {
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("X-Client-Id", &client.id)
        .header("X-Api-Key", &client.key)
        .header("Content-Type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = body.map_or_else(Body::empty, |body| Body::from(serde_json::to_vec(body).unwrap()));
    request.body(body).unwrap()
}

/// The body of a charge by inline card.
pub fn charge_body(merchant_id: &str, card: (&str, &str)) -> Value {
    json!({
        "merchantId": merchant_id, "amount": 150, "capture": true,
        "paymentMethod": { "paymentType": "credit", "installments": 1 },
        "paymentSource": { "sourceType": "card", "card": token_body(card) },
    })
}

/// The body of a card token, and of an inline card.
pub fn token_body((number, cvv): (&str, &str)) -> Value {
    json!({
        "cardHolderName": "JOAO DA SILVA", "cardNumber": number, "cardCvv": cvv, "cardExpirationDate": "12/2030"
    })
}

/// A healthy simulator.
pub fn sandbox(name: &str, priority: i64) -> Value {
    json!({ "name": name, "priority": priority, "credentials": { "type": "SANDBOX", "apiKey": "any-api-key-1234" } })
}

async fn new_client(app: &App, name: &str) -> Client {
    let id = access::create_client(app, NewClient::named(name), Actor::Operator).await.unwrap();
    let key = access::create_secret_key(app, id, "test", Actor::Operator).await.unwrap();
    Client { id: id.to_string(), key: key.key.expose().to_owned() }
}

/// The connection between a deployment and its provider.
#[derive(Clone, Debug, Default)]
pub struct Wire(Arc<WireState>);

/// Whether the answer to a probe is held back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LookUp {
    #[default]
    Free,
    /// The next one is to be.
    Expected,
    Held,
}

#[derive(Debug, Default)]
struct WireState {
    is_holding: watch::Sender<bool>,
    holds_a_void: AtomicBool,
    look_up: watch::Sender<LookUp>,
    is_forgetful: AtomicBool,
    is_contradictory: AtomicBool,
    is_server_down: AtomicBool,
    questions_of_3ds: AtomicU32,
    slowness: Mutex<Option<(Clock, Duration)>>,
    payers: Payers,
    /// For each void: how many days the provider may take to gather the money.
    delays: Mutex<Vec<Option<u16>>>,
    /// Notifications that the simulator has not sent.
    outboxes: Mutex<Vec<Outbox>>,
}

impl Wire {
    /// Takes the notifications that the simulator has to send, oldest first.
    pub fn notices(&self) -> Vec<Notice> {
        self.0.outboxes.lock().unwrap().iter_mut().flat_map(Outbox::take).collect()
    }

    /// Holds authorizations and checks of cards back until [`Self::let_go`].
    pub fn hold(&self) {
        self.0.is_holding.send_replace(true);
    }

    /// Holds the next void back until [`Self::let_go`], and authorizations.
    pub fn hold_a_void(&self) {
        self.0.holds_a_void.store(true, Ordering::SeqCst);
        self.hold();
    }

    /// Whether the void that is to be held back has not come yet.
    pub fn expects_a_void(&self) -> bool {
        self.0.holds_a_void.load(Ordering::SeqCst)
    }

    /// Holds the answer to the next probe back until [`Self::let_go`].
    pub fn hold_a_look_up(&self) {
        self.0.look_up.send_replace(LookUp::Expected);
    }

    /// Waits until the answer to a probe is held back.
    pub async fn look_up_is_held(&self) {
        self.0.look_up.subscribe().wait_for(|look_up| *look_up == LookUp::Held).await.unwrap();
    }

    /// Delivers what was held back.
    pub fn let_go(&self) {
        self.0.look_up.send_replace(LookUp::Free);
        self.0.is_holding.send_replace(false);
    }

    /// Makes the provider answer every probe with "absent" without recording that, so that it still carries out a call
    /// that arrives later. The simulator itself keeps its word.
    pub fn forget(&self) {
        self.0.is_forgetful.store(true, Ordering::SeqCst);
    }

    /// Makes the provider answer that it has refused an authorization that it has carried out.
    pub fn contradict(&self) {
        self.0.is_contradictory.store(true, Ordering::SeqCst);
    }

    /// Makes the 3DS server answer nothing.
    pub fn take_down_3ds(&self) {
        self.0.is_server_down.store(true, Ordering::SeqCst);
    }

    /// How often the 3DS server was asked.
    pub fn questions_of_3ds(&self) -> u32 {
        self.0.questions_of_3ds.load(Ordering::SeqCst)
    }

    /// Makes every call take this long by `clock`.
    pub fn slow_down(&self, clock: &Clock, by: Duration) {
        *self.0.slowness.lock().unwrap() = Some((clock.clone(), by));
    }

    /// The payers of providers that cannot decide by themselves.
    pub fn payers(&self) -> &Payers {
        &self.0.payers
    }

    /// For each void that was sent: how many days the provider may take to gather the money.
    pub fn delays(&self) -> Vec<Option<u16>> {
        self.0.delays.lock().unwrap().clone()
    }

    async fn carry_back_an_answer(&self) {
        let holds = self.0.look_up.send_if_modified(|look_up| {
            let is_expected = *look_up == LookUp::Expected;
            if is_expected {
                *look_up = LookUp::Held;
            }
            is_expected
        });
        if holds {
            let _ = self.0.look_up.subscribe().wait_for(|look_up| *look_up == LookUp::Free).await;
        }
    }

    async fn carry(&self, call: &Call) {
        if let Operation::Void(void) = &call.operation {
            self.0.delays.lock().unwrap().push(void.delay_to_compose);
        }
        if let Some((clock, by)) = &*self.0.slowness.lock().unwrap() {
            clock.advance(*by);
        }
        let is_held = match call.operation.kind() {
            OperationKind::Authorization | OperationKind::ZeroDollar => true,
            OperationKind::Void => self.0.holds_a_void.swap(false, Ordering::SeqCst),
            OperationKind::Capture => false,
        };
        if is_held {
            let _ = self.0.is_holding.subscribe().wait_for(|is_holding| !is_holding).await;
        }
    }
}

/// The simulator behind a wire and a fuse: the process may stop before a call is sent, and before its answer is read.
#[derive(Clone)]
struct Wired {
    sandbox: Sandbox,
    wire: Wire,
    fuse: Fuse,
}

impl Provider for Wired {
    fn call(&self, call: Call) -> BoxFuture<'_, Answer> {
        Box::pin(async {
            self.fuse.step().await;
            self.wire.carry(&call).await;
            let is_authorization = call.operation.kind() == OperationKind::Authorization;
            let answer = match self.wire.payers().take_up(Box::new(call)) {
                Ok(answer) => answer,
                Err(call) => self.sandbox.call(*call).await,
            };
            self.fuse.step().await;
            if is_authorization && self.wire.0.is_contradictory.load(Ordering::SeqCst) {
                let transaction_id = Some(REFUSED.to_owned());
                return Answer::Declined(Decline { transaction_id, ..Decline::of(DeclinedCode::StolenCard) });
            }
            answer
        })
    }

    fn probe(&self, inquiry: Inquiry) -> BoxFuture<'_, Probe> {
        Box::pin(async {
            self.fuse.step().await;
            if self.wire.0.is_forgetful.load(Ordering::SeqCst) {
                return Probe::Absent;
            }
            let probe = match self.wire.payers().finding(inquiry.key) {
                Some(finding) => Probe::Found(finding),
                None => self.sandbox.probe(inquiry).await,
            };
            self.wire.carry_back_an_answer().await;
            self.fuse.step().await;
            probe
        })
    }

    fn ask_about_seller(&self, call: SellerCall) -> BoxFuture<'_, SellerAnswer> {
        Box::pin(async {
            self.fuse.step().await;
            let answer = self.sandbox.ask_about_seller(call).await;
            self.fuse.step().await;
            answer
        })
    }

    fn stage(&self, event: StagedEvent) -> BoxFuture<'_, Result<(), StageRefusal>> {
        Box::pin(self.sandbox.stage(event))
    }

    fn deadline(&self, operation: OperationKind) -> Duration {
        Provider::deadline(&self.sandbox, operation)
    }

    fn probe_deadline(&self) -> Duration {
        self.sandbox.probe_deadline()
    }

    fn authenticate(&self, request: &NotificationRequest<'_>) -> Result<Authentic, NotificationRefusal> {
        self.sandbox.authenticate(request)
    }

    fn events(&self, notification: &Notification<'_>) -> Result<Vec<ProviderEvent>, NotificationRefusal> {
        self.sandbox.events(notification)
    }

    fn validate_options(&self, options: &Map<String, Value>, path: &str) -> Result<Narrowed, Problems> {
        self.sandbox.validate_options(options, path)
    }

    fn test_card(&self) -> Option<CardDetails> {
        self.sandbox.test_card()
    }

    fn notifies_of_answers(&self) -> bool {
        self.sandbox.notifies_of_answers()
    }

    fn silence_counts(&self, call: &Call) -> bool {
        self.sandbox.silence_counts(call)
    }

    fn unanswered_reason(&self) -> &'static str {
        self.sandbox.unanswered_reason()
    }
}

/// The simulator's log of authentications behind the same wire and fuse.
struct WiredBooks {
    sandbox: Sandbox,
    wire: Wire,
    fuse: Fuse,
}

impl CardholderBooks for WiredBooks {
    fn ask(&self, question: CardholderQuestion) -> BoxFuture<'_, CardholderAnswer> {
        Box::pin(async move {
            self.wire.0.questions_of_3ds.fetch_add(1, Ordering::SeqCst);
            self.fuse.step().await;
            if self.wire.0.is_server_down.load(Ordering::SeqCst) {
                return CardholderAnswer::Unavailable;
            }
            let answer = self.sandbox.ask(question).await;
            self.fuse.step().await;
            answer
        })
    }

    fn answers_within(&self) -> Duration {
        self.sandbox.answers_within()
    }
}

impl AntiFraud for Wired {
    fn analyse(&self, analysis: Analysis) -> BoxFuture<'_, Verdict> {
        Box::pin(async {
            self.fuse.step().await;
            let verdict = self.sandbox.analyse(analysis).await;
            self.fuse.step().await;
            verdict
        })
    }

    fn result(&self, inquiry: AnalysisInquiry) -> BoxFuture<'_, Result<Verdict, AnalysisFailure>> {
        Box::pin(async {
            self.fuse.step().await;
            let verdict = self.sandbox.result(inquiry).await;
            self.fuse.step().await;
            verdict
        })
    }

    fn feed(&self, feeding: Feeding) -> BoxFuture<'_, Result<(), AnalysisFailure>> {
        Box::pin(async {
            self.fuse.step().await;
            let fed = self.sandbox.feed(feeding).await;
            self.fuse.step().await;
            fed
        })
    }

    fn deadline(&self) -> Duration {
        AntiFraud::deadline(&self.sandbox)
    }
}

/// The parts of a deployment that outlive its process.
struct Ground<'a> {
    database: &'a TestDatabase,
    clock: &'a Clock,
    books: &'a TransactionLog,
    kek: &'a str,
    settings: &'a Settings,
    limits: &'a HttpLimits,
    sandbox_deadline: Duration,
    room: Room,
    adapters: Adapters,
    apple_pay: Option<ApplePayKeys>,
    wire: &'a Wire,
    names: &'a Names,
}

/// The addresses of host names; none by default. Several answers of a name are given in order, the last one repeatedly.
#[derive(Clone, Debug, Default)]
pub struct Names(Arc<Mutex<HashMap<String, VecDeque<Vec<IpAddr>>>>>);

impl Names {
    pub fn lead(&self, name: &str, answers: &[&[&str]]) {
        let answers =
            answers.iter().map(|answer| answer.iter().map(|address| address.parse().unwrap()).collect());
        self.0.lock().unwrap().insert(name.to_owned(), answers.collect());
    }
}

impl Lookup for Names {
    fn addresses<'a>(&'a self, name: &'a str) -> Looked<'a> {
        let mut names = self.0.lock().unwrap();
        let answer = names.get_mut(name).and_then(|answers| match answers.len() {
            0 | 1 => answers.front().cloned(),
            _ => answers.pop_front(),
        });
        Box::pin(async move { answer.ok_or_else(|| std::io::ErrorKind::NotFound.into()) })
    }
}

/// Outbound calls without any known host name.
pub fn outbound() -> Outbound {
    Outbound::new(rules(), Names::default())
}

/// The allowed addresses: the public internet and this machine.
fn rules() -> Rules {
    Rules { plain: Plain::Allowed, ports: Ports::Any, networks: vec!["127.0.0.0/8".parse().unwrap()] }
}

fn simulated(sandbox: &Wired) -> Adapter {
    (ProviderType::Sandbox, Box::new(sandbox.clone()))
}

/// The simulator in the place of the platform's own provider.
fn platform(sandbox: &Wired) -> Adapter {
    (ProviderType::Platform, Box::new(sandbox.clone()))
}

/// The adapters of providers that move real money, each with a path of its own at this address.
fn real(address: SocketAddr) -> [Adapter; 4] {
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

async fn build(ground: Ground<'_>, fuse: &Fuse, seed: u64) -> App {
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
    } = ground;
    // Internal errors, for the output of a failed test.
    let _ = tracing_subscriber::fmt().with_max_level(tracing::Level::WARN).with_test_writer().try_init();
    let options = match database.options() {
        StoreOptions::Sqlite(options) => StoreOptions::Sqlite(SqliteOptions { room, ..options }),
        StoreOptions::Postgres(options) => StoreOptions::Postgres(PostgresOptions { room, ..options }),
    };
    let store = Store::open(options).await.unwrap();
    store.migrate(clock.deployment()).await.unwrap();
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
        repeats: Repeats::default(),
        returns: Returns::default(),
        senders: Senders::default(),
        refused_credentials: Refusals::default(),
        in_flight: InFlight::default(),
        circuits: Circuits::new(settings.circuits, clock.clone()),
        settings: settings.clone(),
        answer_to: kept_answer,
    });
    App::new(Parts {
        engine,
        simulator_log: Some(books.clone()),
        challenges,
        fields_origin: None,
        legacy_pages: LegacyPages::Served,
        human_check: Box::new(ProofOfWork),
        credentials: no_credentials(clock.clone(), life),
        limiters: Limiters::new(limits, &now),
        limits: limits.clone(),
    })
}
