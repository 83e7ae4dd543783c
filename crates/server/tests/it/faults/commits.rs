//! PostgreSQL answers a commit with an error that proves no rollback: the server was shut down, or a distributed one
//! lost the connection to the node that committed. Nothing is told before it is read back.

use std::time::Duration;

use regente_engine::settings::Settings;
use regente_store::testing::proxy::{Break, Fate, Proxy};
use regente_store::testing::{FreshDatabase, TestDatabase, TestPostgres};

use super::{assert_agrees, charge, settled, until_charged};
use crate::support::app::TestApp;
use crate::support::client::{Reply, assert_unavailable};

const SHUTDOWN: &str = "57P01";
const INTERNAL: &str = "XX000";

async fn app() -> (TestApp, Proxy, String) {
    let (proxy, through) = Proxy::before(&TestPostgres::fresh_database().await.keep()).await;
    let app = TestApp::on(TestDatabase::Postgres(FreshDatabase::at(through)), Settings::default()).await;
    let merchant = app.merchant().await;
    until_charged(&app, &merchant, "before").await;
    (app, proxy, merchant)
}

/// A charge whose intent or outcome meets a commit that is answered wrongly.
#[derive(Clone, Copy)]
enum During {
    Intent,
    Outcome,
}

async fn charge_during(
    during: During,
    answer: Break,
    (app, proxy, merchant): (&TestApp, &Proxy, &str),
) -> Reply {
    let reply = match during {
        During::Intent => {
            proxy.breaks(answer);
            charge(app, merchant, "key").await
        }
        During::Outcome => {
            app.wire.hold();
            let charging = charge(app, merchant, "key");
            let lying = async {
                // The intent is written once the call is under way.
                while app.app.in_flight.is_empty() {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
                proxy.breaks(answer);
                app.wire.let_go();
            };
            tokio::join!(charging, lying).0
        }
    };
    assert_eq!(proxy.state(), Break::Never, "a commit was answered wrongly");
    reply
}

async fn told_after_reading_back(during: During, fate: Fate, code: &'static str) {
    let (app, proxy, merchant) = app().await;
    let reply = charge_during(during, Break::AnswerCommit(code, fate), (&app, &proxy, &merchant)).await;
    assert_eq!(reply.expect(201)["status"], "authorized");
    assert_eq!(charge(&app, &merchant, "key").await.expect(201), reply.json());
    assert_agrees(&app.books, &settled(&app).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_charge_goes_on_when_its_intent_was_written_although_the_commit_was_answered_with_a_shutdown() {
    told_after_reading_back(During::Intent, Fate::Committed, SHUTDOWN).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_charge_is_answered_when_its_outcome_was_written_although_the_commit_was_answered_with_an_error() {
    told_after_reading_back(During::Outcome, Fate::Committed, INTERNAL).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outcome_that_was_not_written_is_written_again() {
    told_after_reading_back(During::Outcome, Fate::RolledBack, SHUTDOWN).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_charge_whose_intent_was_not_written_may_be_repeated() {
    let (app, proxy, merchant) = app().await;
    let answer = Break::AnswerCommit(SHUTDOWN, Fate::RolledBack);
    let reply = charge_during(During::Intent, answer, (&app, &proxy, &merchant)).await;
    assert_unavailable(&reply);
    assert_eq!(app.books.effects().await.unwrap(), 1, "only the charge before it");
    assert_eq!(charge(&app, &merchant, "key").await.expect(201)["status"], "authorized");
    assert_agrees(&app.books, &settled(&app).await).await;
}
