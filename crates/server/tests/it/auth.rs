//! The gate and client tokens through HTTP: who gets access, to what, and until when (`docs/interface/auth.md`).

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::routing::{MethodRouter, delete, get, post};
use axum::{Extension, Router};
use regente::access::{
    Access, AccessError, NewClient, NewSecretKey, create_client, create_secret_key, guard, revoke_secret_key,
    secret_keys, set_client_status,
};
use regente::api::auth;
use regente::app::{App, Parts, no_credentials};
use regente::http::MonotonicClock;
use regente::http::dashboard::Dashboard;
use regente::http::error::kept_answer;
use regente::http::fields_origin::LegacyPages;
use regente::http::limits::{HttpLimits, Limiters};
use regente::human_check::ProofOfWork;
use regente_domain::actor::Actor;
use regente_domain::credential::SECRET_KEYS_ACTIVE_MAX;
use regente_domain::id::{ClientId, Id};
use regente_domain::scope::Scope;
use regente_domain::time::Timestamp;
use regente_engine::app as engine;
use regente_engine::caller::Caller;
use regente_engine::calls::circuits::Circuits;
use regente_engine::calls::in_flight::InFlight;
use regente_engine::calls::learned::Learned;
use regente_engine::calls::merchants::no_merchants;
use regente_engine::calls::refusals::Refusals;
use regente_engine::calls::repeats::Repeats;
use regente_engine::calls::returns::Returns;
use regente_engine::chance::Chance;
use regente_engine::clock::Clock;
use regente_engine::jobs::forget_ended_credentials;
use regente_engine::report_files::ReportFiles;
use regente_engine::return_address::ReturnAddresses;
use regente_engine::settings::{Mode, Settings};
use regente_engine::vault::{Kek, Vault};
use regente_providers::anti_fraud::AntiFraudProviders;
use regente_providers::authentication::AuthenticationServers;
use regente_providers::provider::Providers;
use regente_providers::sandbox::{Sandbox, SandboxOptions, TransactionLog};
use regente_store::accounts::Accounts;
use regente_store::clients::ClientStatus;
use regente_store::testing::TestDatabase;
use regente_store::{DatabaseKind, Store};
use serde_json::{Value, json};
use tower::ServiceExt;
use uuid::Uuid;

use crate::support::app::deployment::outbound;

const OPERATOR: Actor = Actor::Operator;
const YEAR_SECONDS: i64 = 31_536_000;
/// A probe that only secret keys may call. The others are `/probe/<scope>` and its list.
const SECRET_ONLY: &str = "/probe/secret-only";

/// A database and the state that its nodes share.
struct Deployment {
    store: Store,
    clock: Clock,
    chance: Chance,
    kek: Kek,
    database: TestDatabase,
}

/// A node: the routes under test, and a probe route for each way to guard one.
struct Node {
    app: App,
    router: Router,
}

/// A client with a secret key.
struct Account {
    id: ClientId,
    key: NewSecretKey,
}

struct Reply {
    status: StatusCode,
    replayed: bool,
    text: String,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }
}

impl Deployment {
    async fn new(kind: DatabaseKind) -> Self {
        let database = TestDatabase::fresh(kind).await;
        let store = database.open().await;
        let clock = Clock::manual(Timestamp::parse("2026-03-10T12:00:00.000Z").unwrap());
        let chance = Chance::seeded(1);
        let kek = Kek::generate(&chance);
        Self { store, clock, chance, kek, database }
    }

    async fn node(&self, settings: Settings) -> Node {
        let vault =
            Vault::unlock(self.store.clone(), self.kek.clone(), self.chance.clone(), self.clock.clone())
                .await;
        let sandbox = Sandbox::new(SandboxOptions::new(1, vec![1; 32].into()), TransactionLog::memory());
        let limits = HttpLimits::default();
        let (clock, life) = (self.clock.clone(), settings.cache_life);
        let engine = engine::App::new(engine::Parts {
            outbound: outbound(),
            store: self.store.clone(),
            vault: vault.unwrap(),
            apple_pay: None,
            anti_fraud: AntiFraudProviders::with([sandbox.anti_fraud_adapter()]),
            providers: Providers::with([sandbox.into_adapter()]),
            authentication: AuthenticationServers::default(),
            return_addresses: ReturnAddresses::new(&[1; 32], None),
            clock: self.clock.clone(),
            chance: self.chance.clone(),
            settings,
            merchants: no_merchants(clock.clone(), life),
            learned: Learned::default(),
            repeats: Repeats::default(),
            returns: Returns::default(),
            forged_notifications: Refusals::default(),
            refused_credentials: Refusals::default(),
            in_flight: InFlight::default(),
            circuits: Circuits::new(None, self.clock.clone()),
            report_files: ReportFiles::in_folder("nowhere".into()),
            mailer: None,
            bank: None,
            answer_to: kept_answer,
        });
        let app = App::new(Parts {
            engine,
            simulator_log: None,
            challenges: None,
            fields_origin: None,
            legacy_pages: LegacyPages::Served,
            dashboard: Dashboard::Served,
            human_check: Box::new(ProofOfWork),
            limiters: Limiters::new(&limits, &(Arc::new(|| Duration::ZERO) as MonotonicClock)),
            limits,
            credentials: no_credentials(clock, life),
        });
        let router = routes(&app);
        Node { app, router }
    }
}

fn routes(app: &App) -> Router {
    let guarded = |access: Access, route: MethodRouter<App>| route.route_layer(guard(access));
    let probe = || get(async |Extension(caller): Extension<Caller>| caller.actor().to_string());
    let mut router = Router::new()
        .route("/v1/auth", guarded(Access::Scope(Scope::Auth), post(auth::create)))
        .route("/v1/auth/{publicKey}", guarded(Access::SecretKeyOnly, delete(auth::revoke)))
        .route(SECRET_ONLY, guarded(Access::SecretKeyOnly, probe()));
    for scope in Scope::ALL {
        router = router
            .route(&one(scope), guarded(Access::Scope(scope), probe()))
            .route(&list(scope), guarded(Access::ListOf(scope), probe()));
    }
    router.with_state(app.clone()).layer(Extension(app.clone()))
}

fn one(scope: Scope) -> String {
    format!("/probe/{}", scope.word())
}

fn list(scope: Scope) -> String {
    format!("/probe/{}/list", scope.word())
}

impl Node {
    async fn account(&self) -> Account {
        let id = create_client(&self.app, NewClient::named("Loja"), OPERATOR).await.unwrap();
        Account { id, key: create_secret_key(&self.app, id, "first", OPERATOR).await.unwrap() }
    }

    async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<Value>) -> Reply {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = body.map_or(Body::empty(), |body| Body::from(body.to_string()));
        let response = self.router.clone().oneshot(request.body(body).unwrap()).await.unwrap();
        let status = response.status();
        let replayed = response.headers().contains_key("idempotent-replayed");
        let bytes = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
        Reply { status, replayed, text: String::from_utf8(bytes.to_vec()).unwrap() }
    }

    async fn get(&self, path: &str, client_id: ClientId, key: &str) -> StatusCode {
        let client_id = client_id.to_string();
        self.send("GET", path, &[("X-Client-Id", &client_id), ("X-Api-Key", key)], None).await.status
    }

    async fn ask_token(&self, client_id: ClientId, key: &str, body: Value) -> Reply {
        let client_id = client_id.to_string();
        self.send("POST", "/v1/auth", &[("x-client-id", &client_id), ("x-api-key", key)], Some(body)).await
    }

    async fn token(&self, account: &Account, body: Value) -> String {
        let reply = self.ask_token(account.id, account.key.key.expose(), body).await;
        assert_eq!(reply.status, StatusCode::CREATED, "{}", reply.text);
        reply.json()["publicKey"].as_str().unwrap().to_owned()
    }

    async fn revoke(&self, account: &Account, public_key: &str) -> Reply {
        let client_id = account.id.to_string();
        let headers = [("X-Client-ID", client_id.as_str()), ("X-API-Key", account.key.key.expose())];
        self.send("DELETE", &format!("/v1/auth/{public_key}"), &headers, None).await
    }
}

/// Runs each story on both databases.
macro_rules! on_both_databases {
    ($(async fn $name:ident($deployment:ident: Deployment) $body:block)*) => { $(
        mod $name {
            use super::*;

            async fn story($deployment: Deployment) $body

            #[tokio::test]
            async fn sqlite() {
                story(Deployment::new(DatabaseKind::Sqlite).await).await;
            }

            #[tokio::test]
            async fn postgres() {
                story(Deployment::new(DatabaseKind::Postgres).await).await;
            }
        }
    )* };
}

on_both_databases! {
    async fn a_front_end_gets_a_key_of_its_own(d: Deployment) {
        let node = d.node(Settings::default()).await;
        let account = node.account().await;
        let reply = node
            .ask_token(
                account.id,
                account.key.key.expose(),
                json!({ "scope": ["tokens", "cards"], "expires": 600 }),
            )
            .await;
        assert_eq!(reply.status, StatusCode::CREATED);
        let public_key = reply.json()["publicKey"].clone();
        assert_eq!(Uuid::try_parse(public_key.as_str().unwrap()).unwrap().get_version_num(), 4);
        let expected = json!({
            "publicKey": public_key,
            "clientId": account.id,
            "scope": ["tokens", "cards"],
            "expires": 600,
            "createdAt": d.clock.deployment().to_string(),
        });
        assert_eq!(reply.text, expected.to_string());
        assert_eq!(node.get("/probe/tokens", account.id, public_key.as_str().unwrap()).await, StatusCode::OK);
    }

    async fn scopes_are_taken_in_each_form_and_shown_back(d: Deployment) {
        let node = d.node(Settings::default()).await;
        let account = node.account().await;
        for (sent, shown) in [
            (json!("tokens"), json!(["tokens"])),
            (json!("*"), json!("*")),
            (json!(["*"]), json!(["*"])),
            (json!(["cards"]), json!(["cards"])),
            (json!(["sellers", "auth", "sellers"]), json!(["sellers", "auth"])),
            (json!(Scope::ALL), json!(Scope::ALL)),
        ] {
            let reply = node.ask_token(account.id, account.key.key.expose(), json!({ "scope": sent })).await;
            assert_eq!(reply.status, StatusCode::CREATED, "{sent}");
            assert_eq!(reply.json()["scope"], shown);
        }
    }

    async fn a_life_is_what_was_asked_for_and_never_without_end(d: Deployment) {
        let node = d.node(Settings::default()).await;
        let account = node.account().await;
        for (sent, life) in [
            (json!({ "scope": "tokens" }), YEAR_SECONDS),
            (json!({ "scope": "tokens", "expires": 0 }), YEAR_SECONDS),
            (json!({ "scope": "tokens", "expires": null }), YEAR_SECONDS),
            (json!({ "scope": "tokens", "expires": YEAR_SECONDS }), YEAR_SECONDS),
            (json!({ "scope": "tokens", "expires": 1 }), 1),
            (json!({ "scope": "tokens", "expires": 600.0 }), 600),
        ] {
            let reply = node.ask_token(account.id, account.key.key.expose(), sent.clone()).await;
            assert_eq!(reply.json()["expires"], json!(life), "{sent}");
        }
    }

    async fn what_is_wrong_with_a_request_is_said_all_at_once(d: Deployment) {
        let node = d.node(Settings::default()).await;
        let account = node.account().await;
        let unknown = "scope must contain only known values";
        for (sent, details) in [
            (json!({ "scope": ["tokens", "purchases"] }), vec![unknown]),
            (json!({ "scope": "merchants" }), vec![unknown]),
            (json!({ "scope": ["Tokens"] }), vec![unknown]),
            (json!({ "scope": [1] }), vec![unknown]),
            (json!({ "scope": { "tokens": true } }), vec![unknown]),
            (json!({ "scope": "" }), vec![unknown]),
            (json!({ "scope": [] }), vec!["scope should not be empty"]),
            (json!({}), vec!["scope should not be empty"]),
            (
                json!({ "scope": null, "expires": -1 }),
                vec!["scope should not be empty", "expires must not be less than 0"],
            ),
            (
                json!({ "scope": "x", "expires": YEAR_SECONDS + 1 }),
                vec![unknown, "expires must not be greater than 31536000"],
            ),
            (json!({ "scope": "tokens", "expires": 1.5 }), vec!["expires must be an integer number"]),
            (json!({ "scope": "tokens", "expires": "600" }), vec!["expires must be an integer number"]),
        ] {
            let reply = node.ask_token(account.id, account.key.key.expose(), sent.clone()).await;
            let expected = json!({
                "error": { "type": "bad_request", "code": 400, "message": "Bad Request", "details": details }
            });
            assert_eq!((reply.status, reply.json()), (StatusCode::BAD_REQUEST, expected), "{sent}");
        }
    }

    async fn every_bad_client_id_is_401_and_every_bad_key_403(d: Deployment) {
        let node = d.node(Settings::default()).await;
        let (account, other) = (node.account().await, node.account().await);
        let (id, key) = (account.id.to_string(), account.key.key.expose());
        let token = node.token(&account, json!({ "scope": "tokens", "expires": 60 })).await;
        let (nobody, nil, braced, simple) = (
            Uuid::from_u128(7).to_string(),
            Uuid::nil().to_string(),
            format!("{{{id}}}"),
            account.id.uuid().simple().to_string(),
        );
        let (longer, shorter) = (format!("{key}x"), key[..key.len() - 1].to_owned());
        let (other_id, other_key) = (other.id.to_string(), other.key.key.expose());
        let token_id = account.key.id.to_string();
        let bad_client: [&[(&str, &str)]; 11] = [
            &[],
            &[("x-api-key", key)],
            &[("x-client-id", ""), ("x-api-key", key)],
            &[("x-client-id", "loja"), ("x-api-key", key)],
            &[("x-client-id", &nobody), ("x-api-key", key)],
            &[("x-client-id", &nobody)],
            &[("x-client-id", &nil), ("x-api-key", key)],
            &[("x-client-id", &braced), ("x-api-key", key)],
            &[("x-client-id", &simple), ("x-api-key", key)],
            &[("x-client-id", &id), ("x-client-id", &id), ("x-api-key", key)],
            &[("x-client-id", &id), ("x-client-id", &other_id), ("x-api-key", key)],
        ];
        for headers in bad_client {
            let reply = node.send("GET", SECRET_ONLY, headers, None).await;
            let expected = json!({
                "error": { "type": "unauthorized", "code": 401, "message": "Unauthorized", "details": ["unauthorized"] }
            });
            assert_eq!((reply.status, reply.json()), (StatusCode::UNAUTHORIZED, expected), "{headers:?}");
        }
        let bad_key: [&[(&str, &str)]; 12] = [
            &[("x-client-id", &id)],
            &[("x-client-id", &id), ("x-api-key", "")],
            &[("x-client-id", &id), ("x-api-key", "sk_test_wrong")],
            &[("x-client-id", &id), ("x-api-key", &longer)],
            &[("x-client-id", &id), ("x-api-key", &shorter)],
            &[("x-client-id", &id), ("x-api-key", key), ("x-api-key", key)],
            &[("x-client-id", &id), ("x-api-key", other_key)],
            &[("x-client-id", &other_id), ("x-api-key", key)],
            &[("x-client-id", &other_id), ("x-api-key", &token)],
            &[("x-client-id", &id), ("x-api-key", &token_id)],
            &[("x-client-id", &id), ("x-api-key", &id)],
            &[("x-client-id", &id), ("x-api-key", &token)],
        ];
        for headers in bad_key {
            let reply = node.send("GET", SECRET_ONLY, headers, None).await;
            assert_eq!(
                (reply.status, reply.text.as_str()),
                (StatusCode::FORBIDDEN, r#"{"message":"Forbidden"}"#)
            );
        }
        let good = [("X-CLIENT-ID", id.as_str()), ("X-Api-Key", key)];
        assert_eq!(node.send("GET", SECRET_ONLY, &good, None).await.status, StatusCode::OK);
        assert_eq!(node.get("/probe/tokens", account.id, &token).await, StatusCode::OK);
        d.clock.advance(Duration::from_secs(60));
        assert_eq!(node.get("/probe/tokens", account.id, &token).await, StatusCode::FORBIDDEN);
    }

    async fn a_scope_opens_its_own_routes_and_no_others(d: Deployment) {
        let node = d.node(Settings::default()).await;
        let account = node.account().await;
        for given in Scope::ALL {
            let token = node.token(&account, json!({ "scope": [given] })).await;
            for asked in Scope::ALL {
                let expected = if asked == given { StatusCode::OK } else { StatusCode::FORBIDDEN };
                assert_eq!(node.get(&one(asked), account.id, &token).await, expected, "{given:?} asks {asked:?}");
                assert_eq!(node.get(&list(asked), account.id, &token).await, StatusCode::FORBIDDEN);
            }
            assert_eq!(node.get(SECRET_ONLY, account.id, &token).await, StatusCode::FORBIDDEN);
        }
    }

    async fn lists_are_for_tokens_with_everything_and_the_rest_for_secret_keys(d: Deployment) {
        let node = d.node(Settings::default()).await;
        let account = node.account().await;
        let everything = node.token(&account, json!({ "scope": "*" })).await;
        let all_by_name = node.token(&account, json!({ "scope": Scope::ALL })).await;
        for scope in Scope::ALL {
            for (path, of_all_by_name) in [(one(scope), StatusCode::OK), (list(scope), StatusCode::FORBIDDEN)] {
                assert_eq!(node.get(&path, account.id, &everything).await, StatusCode::OK, "{path}");
                assert_eq!(node.get(&path, account.id, account.key.key.expose()).await, StatusCode::OK, "{path}");
                assert_eq!(node.get(&path, account.id, &all_by_name).await, of_all_by_name, "{path}");
            }
        }
        assert_eq!(node.get(SECRET_ONLY, account.id, &everything).await, StatusCode::FORBIDDEN);
        assert_eq!(node.get(SECRET_ONLY, account.id, account.key.key.expose()).await, StatusCode::OK);
    }

    async fn a_client_token_makes_none_that_may_do_more_or_lives_longer(d: Deployment) {
        let node = d.node(Settings::default()).await;
        let account = node.account().await;
        let without = node.token(&account, json!({ "scope": ["tokens", "cards"] })).await;
        assert_eq!(
            node.ask_token(account.id, &without, json!({ "scope": "tokens" })).await.status,
            StatusCode::FORBIDDEN
        );

        let parent = node.token(&account, json!({ "scope": ["auth", "tokens"], "expires": 600 })).await;
        for more in [json!("*"), json!(["cards"]), json!(["auth", "tokens", "charges"]), json!(Scope::ALL)] {
            let reply = node.ask_token(account.id, &parent, json!({ "scope": more })).await;
            assert_eq!(
                (reply.status, reply.text.as_str()),
                (StatusCode::FORBIDDEN, r#"{"message":"Forbidden"}"#)
            );
        }
        d.clock.advance(Duration::from_millis(100_500));
        let longer = node.ask_token(account.id, &parent, json!({ "scope": "tokens", "expires": 500 })).await;
        assert_eq!(longer.json()["error"]["details"], json!(["expires must not be greater than 499"]));

        // A token made through another one gains nothing: the longest lifetime is what is left of the first one's.
        let child = node.ask_token(account.id, &parent, json!({ "scope": ["auth", "tokens"] })).await.json();
        assert_eq!(child["expires"], 499);
        let child = child["publicKey"].as_str().unwrap();
        let grandchild =
            node.ask_token(account.id, child, json!({ "scope": "tokens", "expires": 0 })).await.json();
        let grandchild = grandchild["publicKey"].as_str().unwrap();
        assert_eq!(node.get("/probe/tokens", account.id, grandchild).await, StatusCode::OK);
        d.clock.advance(Duration::from_millis(499_500));
        for key in [parent.as_str(), child, grandchild] {
            assert_eq!(node.get("/probe/tokens", account.id, key).await, StatusCode::FORBIDDEN);
        }
    }

    async fn a_token_with_everything_can_make_another_one(d: Deployment) {
        let node = d.node(Settings::default()).await;
        let account = node.account().await;
        let parent = node.token(&account, json!({ "scope": "*", "expires": 600 })).await;
        let reply = node.ask_token(account.id, &parent, json!({ "scope": "*", "expires": 600 })).await;
        assert_eq!((reply.status, reply.json()["scope"].clone()), (StatusCode::CREATED, json!("*")));
    }

    async fn a_token_works_until_the_millisecond_of_its_end(d: Deployment) {
        let node = d.node(Settings::default()).await;
        let account = node.account().await;
        let token = node.token(&account, json!({ "scope": "tokens", "expires": 10 })).await;
        d.clock.advance(Duration::from_millis(9_999));
        assert_eq!(node.get("/probe/tokens", account.id, &token).await, StatusCode::OK);
        d.clock.advance(Duration::from_millis(1));
        assert_eq!(node.get("/probe/tokens", account.id, &token).await, StatusCode::FORBIDDEN);
    }

    async fn a_revoked_token_works_no_more(d: Deployment) {
        let node = d.node(Settings::default()).await;
        let (account, other) = (node.account().await, node.account().await);
        let token = node.token(&account, json!({ "scope": "*" })).await;
        assert_eq!(node.get("/probe/tokens", account.id, &token).await, StatusCode::OK);

        // Another account, a token and an invalid name cannot revoke it.
        assert_eq!(node.revoke(&other, &token).await.status, StatusCode::NOT_FOUND);
        let client_id = account.id.to_string();
        let by_itself = [("x-client-id", client_id.as_str()), ("x-api-key", token.as_str())];
        let path = format!("/v1/auth/{token}");
        assert_eq!(node.send("DELETE", &path, &by_itself, None).await.status, StatusCode::FORBIDDEN);
        for name in [Uuid::from_u128(1).to_string(), "x".to_owned(), account.key.key.expose().to_owned()] {
            let reply = node.revoke(&account, &name).await;
            let expected = json!({
                "error": { "type": "invalid_request_error", "code": 404, "message": "Resource not found", "details": [] }
            });
            assert_eq!((reply.status, reply.json()), (StatusCode::NOT_FOUND, expected));
        }
        assert_eq!(node.get("/probe/tokens", account.id, &token).await, StatusCode::OK);

        for _ in 0..2 {
            let reply = node.revoke(&account, &token.to_uppercase()).await;
            assert_eq!((reply.status, reply.text.as_str()), (StatusCode::NO_CONTENT, ""));
            assert_eq!(node.get("/probe/tokens", account.id, &token).await, StatusCode::FORBIDDEN);
        }
    }

    async fn the_same_idempotency_key_gives_the_same_token(d: Deployment) {
        let node = d.node(Settings::default()).await;
        let account = node.account().await;
        let client_id = account.id.to_string();
        let headers = [
            ("x-client-id", client_id.as_str()),
            ("x-api-key", account.key.key.expose()),
            ("x-idempotency-key", "front-end-1"),
        ];
        let body = json!({ "scope": ["tokens"], "expires": 600 });
        let first = node.send("POST", "/v1/auth", &headers, Some(body.clone())).await;
        let second = node.send("POST", "/v1/auth", &headers, Some(body)).await;
        assert_eq!((first.status, first.replayed), (StatusCode::CREATED, false));
        assert_eq!((second.status, second.replayed), (StatusCode::CREATED, true));
        assert_eq!(first.text, second.text);
        let other_body = node.send("POST", "/v1/auth", &headers, Some(json!({ "scope": "tokens" }))).await;
        assert_eq!(other_body.status, StatusCode::CONFLICT);
    }

    async fn a_client_has_two_secret_keys_at_most_and_can_change_them_one_by_one(d: Deployment) {
        let node = d.node(Settings::default()).await;
        let account = node.account().await;
        let second = create_secret_key(&node.app, account.id, "second", OPERATOR).await.unwrap();
        let third = create_secret_key(&node.app, account.id, "third", OPERATOR).await;
        assert!(matches!(third, Err(AccessError::TooManyKeys)));

        let first = &account.key;
        for key in [first, &second] {
            assert_eq!(node.get(SECRET_ONLY, account.id, key.key.expose()).await, StatusCode::OK);
        }
        revoke_secret_key(&node.app, account.id, first.id, OPERATOR).await.unwrap();
        assert_eq!(node.get(SECRET_ONLY, account.id, first.key.expose()).await, StatusCode::FORBIDDEN);
        assert_eq!(node.get(SECRET_ONLY, account.id, second.key.expose()).await, StatusCode::OK);
        let again = revoke_secret_key(&node.app, account.id, first.id, OPERATOR).await;
        assert!(matches!(again, Err(AccessError::UnknownKey(id)) if id == first.id));

        let third = create_secret_key(&node.app, account.id, "third", OPERATOR).await.unwrap();
        assert_eq!(node.get(SECRET_ONLY, account.id, third.key.expose()).await, StatusCode::OK);
        let labels: Vec<_> = secret_keys(&node.app, account.id).await.unwrap();
        let labels: Vec<_> = labels.iter().map(|key| (key.label.as_str(), key.revoked_at.is_some())).collect();
        assert_eq!(labels, [("first", true), ("second", false), ("third", false)]);
    }

    async fn two_operators_at_once_do_not_make_a_third_key(d: Deployment) {
        let node = d.node(Settings::default()).await;
        let account = node.account().await;
        let (app, id) = (node.app.clone(), account.id);
        let tries = (0..6).map(|_| {
            let app = app.clone();
            tokio::spawn(async move { create_secret_key(&app, id, "at once", OPERATOR).await })
        });
        let mut made = 0;
        for one in tries.collect::<Vec<_>>() {
            match one.await.unwrap() {
                Ok(_) => made += 1,
                Err(AccessError::TooManyKeys | AccessError::Busy) => {}
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!((made, secret_keys(&app, id).await.unwrap().len()), (1, SECRET_KEYS_ACTIVE_MAX));
    }

    async fn a_suspended_client_is_as_good_as_unknown(d: Deployment) {
        let node = d.node(Settings::default()).await;
        let account = node.account().await;
        let key = account.key.key.expose();
        let token = node.token(&account, json!({ "scope": "tokens" })).await;
        for (status, expected) in
            [(ClientStatus::Suspended, StatusCode::UNAUTHORIZED), (ClientStatus::Active, StatusCode::OK)]
        {
            set_client_status(&node.app, account.id, status, OPERATOR).await.unwrap();
            assert_eq!(node.get(SECRET_ONLY, account.id, key).await, expected);
            assert_eq!(node.get("/probe/tokens", account.id, &token).await, expected);
        }
        let nobody = ClientId::new(Uuid::from_u128(5));
        let unknown = set_client_status(&node.app, nobody, ClientStatus::Active, OPERATOR).await;
        assert!(matches!(unknown, Err(AccessError::UnknownClient(id)) if id == nobody));
    }

    async fn another_node_trusts_what_it_knows_only_for_a_while_and_never_past_the_end(d: Deployment) {
        let revoking = d.node(Settings::default()).await;
        let life =
            |seconds| Settings { cache_life: Duration::from_secs(seconds), ..Settings::default() };
        let (trusting, asking) = (d.node(life(3600)).await, d.node(life(0)).await);
        let account = revoking.account().await;
        let revoked = revoking.token(&account, json!({ "scope": "tokens", "expires": 600 })).await;
        let ending = revoking.token(&account, json!({ "scope": "tokens", "expires": 600 })).await;
        for node in [&trusting, &asking] {
            for token in [&revoked, &ending] {
                assert_eq!(node.get("/probe/tokens", account.id, token).await, StatusCode::OK);
            }
        }
        assert_eq!(revoking.revoke(&account, &revoked).await.status, StatusCode::NO_CONTENT);
        assert_eq!(asking.get("/probe/tokens", account.id, &revoked).await, StatusCode::FORBIDDEN);
        assert_eq!(trusting.get("/probe/tokens", account.id, &revoked).await, StatusCode::OK);
        trusting.app.credentials.forget();
        assert_eq!(trusting.get("/probe/tokens", account.id, &revoked).await, StatusCode::FORBIDDEN);

        assert_eq!(trusting.get("/probe/tokens", account.id, &ending).await, StatusCode::OK);
        d.clock.advance(Duration::from_secs(600));
        assert_eq!(trusting.get("/probe/tokens", account.id, &ending).await, StatusCode::FORBIDDEN);
    }

    async fn a_refusal_is_not_remembered(d: Deployment) {
        let node = d.node(Settings::default()).await;
        let account = node.account().await;
        let elsewhere = d.node(Settings::default()).await;
        assert_eq!(node.get(SECRET_ONLY, account.id, "sk_test_guess").await, StatusCode::FORBIDDEN);
        let new = create_secret_key(&elsewhere.app, account.id, "new", OPERATOR).await.unwrap();
        assert_eq!(node.get(SECRET_ONLY, account.id, new.key.expose()).await, StatusCode::OK);
    }

    async fn the_day_of_use_is_noted(d: Deployment) {
        let node = d.node(Settings::default()).await;
        let account = node.account().await;
        let last_used = async || secret_keys(&node.app, account.id).await.unwrap()[0].last_used_day;
        assert_eq!(last_used().await, None);
        let today = d.clock.deployment().as_millis() / 86_400_000;
        assert_eq!(node.get(SECRET_ONLY, account.id, account.key.key.expose()).await, StatusCode::OK);
        // The record is written in a task of its own, so the test polls for it.
        let mut looks = 0;
        while last_used().await.is_none() {
            looks += 1;
            assert!(looks < 1_000_000, "the day of use is never written");
            tokio::task::yield_now().await;
        }
        assert_eq!(last_used().await, Some(today));
    }

    async fn secret_keys_have_the_form_of_their_environment(d: Deployment) {
        for (mode, prefix) in [(Mode::Sandbox, "sk_test_"), (Mode::Production, "sk_live_")] {
            let node = d.node(Settings { mode, ..Settings::default() }).await;
            let (one, other) = (node.account().await.key, node.account().await.key);
            assert_ne!(one.key.expose(), other.key.expose());
            let random = one.key.expose().strip_prefix(prefix).unwrap();
            assert_eq!(random.len(), 43);
            assert!(random.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        }
    }

    async fn ended_tokens_are_forgotten_and_others_stay(d: Deployment) {
        let node = d.node(Settings::default()).await;
        let (account, other) = (node.account().await, node.account().await);
        let (short, long) = (json!({ "scope": "tokens", "expires": 60 }), json!({ "scope": "tokens" }));
        for account in [&account, &other] {
            node.token(account, short.clone()).await;
            node.token(account, short.clone()).await;
        }
        let kept = node.token(&account, long).await;
        d.clock.advance(Duration::from_secs(61));
        let now = d.clock.deployment();
        let all = Accounts::AllBut(Vec::new());
        assert_eq!(forget_ended_credentials(&node.app, &all, now, 3).await.unwrap(), 3);
        assert_eq!(forget_ended_credentials(&node.app, &all, now, 3).await.unwrap(), 1);
        assert_eq!(forget_ended_credentials(&node.app, &all, now, 3).await.unwrap(), 0);
        assert_eq!(node.get("/probe/tokens", account.id, &kept).await, StatusCode::OK);
        assert_eq!(node.get(SECRET_ONLY, account.id, account.key.key.expose()).await, StatusCode::OK);
    }

    async fn the_caller_is_the_author_of_what_it_changes(d: Deployment) {
        let node = d.node(Settings::default()).await;
        let account = node.account().await;
        let client_id = account.id.to_string();
        let token = node.token(&account, json!({ "scope": "tokens" })).await;
        let of_key = [("x-client-id", client_id.as_str()), ("x-api-key", account.key.key.expose())];
        let of_token = [("x-client-id", client_id.as_str()), ("x-api-key", token.as_str())];
        assert_eq!(node.send("GET", SECRET_ONLY, &of_key, None).await.text, format!("key:{}", account.key.id));
        let author = node.send("GET", "/probe/tokens", &of_token, None).await.text;
        let id: Id<()> = author.strip_prefix("client_token:").unwrap().parse().unwrap();
        assert_ne!(id.to_string(), token);
    }
}

#[tokio::test]
async fn no_key_is_stored_or_printed() {
    let d = Deployment::new(DatabaseKind::Sqlite).await;
    let node = d.node(Settings::default()).await;
    let account = node.account().await;
    let token = node.token(&account, json!({ "scope": "tokens" })).await;
    let secret = account.key.key.expose();
    assert_eq!(node.get(SECRET_ONLY, account.id, secret).await, StatusCode::OK);
    let printed = format!("{:?} {:?} {:?}", account.key, node.app.credentials, node.app.vault);
    assert!(!printed.contains(secret) && !printed.contains(&secret[8..]));
    d.store.close().await;
    let needles = [
        secret.as_bytes().to_vec(),
        secret.as_bytes()[8..].to_vec(),
        token.as_bytes().to_vec(),
        Uuid::try_parse(&token).unwrap().as_bytes().to_vec(),
    ];
    let mut files = 0;
    let TestDatabase::Sqlite(folder) = &d.database else {
        panic!("this test reads the files of the database")
    };
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        for needle in &needles {
            assert!(!bytes.windows(needle.len()).any(|window| window == needle.as_slice()));
        }
        files += 1;
    }
    assert!(files > 0);
}
