//! A provider that denies an authorization that it has carried out, and admits it later. The charge has gone on by then:
//! the void undoes that very authorization, and the payment of the charge stays.

use std::collections::HashSet;
use std::time::Duration;

use futures_util::future::join_all;
use regente::admin::{Answer, Command, UnknownRow, run};
use regente::config::Config;
use regente::metrics::Endpoint;
use regente_domain::charge::ChargeState;
use regente_domain::charge::attempt::{Outcome, TransactionRequest};
use regente_domain::id::ChargeId;
use regente_engine::charges::late_answer;
use regente_engine::jobs::Worker;
use regente_providers::outcome::Finding;
use regente_providers::sandbox::{Deed, Filter, Order};
use regente_store::testing::run_script;
use regente_store::transaction_requests::StoredRequest;
use regente_store::{DatabaseKind, charges, events, transaction_requests};
use serde_json::{Value, json};

use crate::support::agreement::{agree_on_all, all_charges, nothing_is_open};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge, TIMED_OUT, charge_body};
use crate::support::metrics::metric;
use crate::support::providers::books::FileBooks;
use crate::support::providers::{lying, sandbox};
use crate::support::read::{announced, text};

stories! {
    what_was_denied_is_given_back_and_the_good_payment_stays,
    what_was_denied_is_given_back_when_nobody_else_was_asked,
    what_was_denied_is_given_back_while_the_next_provider_is_silent,
    what_two_providers_have_denied_is_given_back_by_both,
    a_refused_void_is_tried_again_under_another_key,
    a_void_that_is_refused_to_the_end_is_given_up_and_listed,
    an_unanswered_void_is_sent_again_under_its_key,
    an_unanswered_void_is_given_up_and_listed,
    nothing_is_lost_while_the_store_is_away,
    two_nodes_and_a_notification_void_once,
    a_denial_that_stays_is_looked_at_for_a_day,
    a_denial_that_is_not_confirmed_is_listed,
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

const SECOND_LOOK: Duration = Duration::from_secs(121);
/// The second look, and the void after it.
const SOON: Duration = Duration::from_secs(10 * 60);

const GIVEN_UP: &str = "regente_orphaned_authorizations_given_up_total";

fn of_voids(then: Value, sequence: &[u32]) -> Value {
    json!({ "when": { "operation": "void" }, "then": then, "sequence": sequence })
}

/// A charge that its first provider took and denied and its second provider has taken; with further faults of the first.
async fn denied(app: &TestApp, further: &[Value]) -> Value {
    let merchant = app.merchant_with(json!([lying(further), sandbox("Honest", 2)])).await;
    let charge = app.post("/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
    assert_eq!(charge["status"], "authorized");
    assert_eq!(requests(&charge), [("authorization", "success"), ("authorization", "timeout")]);
    charge
}

async fn read(app: &TestApp, charge: &Value) -> Value {
    app.get(&format!("/v1/charges/{}", text(&charge["id"]))).await.expect(200)
}

/// Type and status of each request, newest first.
fn requests(charge: &Value) -> Vec<(&str, &str)> {
    let requests = charge["transactionRequests"].as_array().unwrap();
    requests.iter().map(|request| (text(&request["requestType"]), text(&request["requestStatus"]))).collect()
}

async fn stored(app: &TestApp, charge: &Value) -> Vec<StoredRequest> {
    let id = text(&charge["id"]).parse().unwrap();
    transaction_requests::of_object(&app.app.store, app.client_id(), id).await.unwrap()
}

/// The approval of a request in the simulator's log.
async fn approval(app: &TestApp, request: &TransactionRequest) -> Outcome {
    let entry = app.books.find(request.provider_key()).await.unwrap().unwrap();
    match entry.answered().unwrap().finding.clone() {
        Finding::Approved(approval) => Outcome::Approved(approval),
        other @ (Finding::Declined(_)
        | Finding::Pending(_)
        | Finding::Accepted(_)
        | Finding::Paid(_)
        | Finding::Reversed { .. }) => {
            panic!("{other:?}")
        }
    }
}

/// How many voids of this authorization the simulator has carried out or refused.
async fn voids(app: &TestApp, authorization: &TransactionRequest) -> usize {
    let filter = Filter { authorization_key: Some(authorization.provider_key()), ..Filter::default() };
    let page = app.books.page(filter, Order::OldestFirst, None, 100).await.unwrap();
    let is_void =
        |answered: &&regente_providers::sandbox::Answered| matches!(answered.deed, Deed::Void { .. });
    page.iter().filter_map(|stored| stored.entry.answered()).filter(is_void).count()
}

async fn given_back(app: &TestApp, authorization: &TransactionRequest) -> bool {
    let holding = app.books.holding(authorization.provider_key()).await.unwrap().unwrap();
    (holding.reserved.minor_units(), holding.kept().minor_units()) == (0, 0)
}

async fn unknowns(app: &TestApp) -> Vec<UnknownRow> {
    match run(&app.app, &Config::default(), Command::UnknownsList).await {
        Ok(Answer::Unknowns { unknowns, .. }) => unknowns,
        _ => panic!("no list"),
    }
}

async fn retry(app: &TestApp, unknown: &UnknownRow) {
    let command = Command::UnknownsRetry { request_id: unknown.request_id };
    assert!(matches!(run(&app.app, &Config::default(), command).await, Ok(Answer::Resumed { .. })));
}

/// Everything is settled, agrees with the simulator's log, and stays so.
async fn it_is_over(app: &TestApp) {
    nothing_is_open(app).await;
    let charges = all_charges(app).await;
    agree_on_all(&app.books, &charges).await;
    app.later(2 * DAY).await;
    assert_eq!(all_charges(app).await, charges);
    assert_eq!(transaction_requests::next_due(&app.app.store).await.unwrap(), []);
}

async fn what_was_denied_is_given_back_and_the_good_payment_stays(app: TestApp) {
    let charge = denied(&app, &[]).await;
    app.later(SECOND_LOOK - Duration::from_secs(2)).await;
    assert_eq!(read(&app, &charge).await, charge);
    app.later(SOON).await;
    let after = read(&app, &charge).await;
    let told = [("void", "success"), ("authorization", "success"), ("authorization", "timeout")];
    assert_eq!(
        (&after["status"], &after["amount"], requests(&after)),
        (&json!("authorized"), &json!(150), told.into())
    );
    let [lost, good, void]: [TransactionRequest; 3] = stored(&app, &charge)
        .await
        .into_iter()
        .map(|stored| stored.request)
        .collect::<Vec<_>>()
        .try_into()
        .unwrap();
    assert!(given_back(&app, &lost).await && !given_back(&app, &good).await);
    assert_eq!((voids(&app, &lost).await, voids(&app, &good).await), (1, 0));
    assert_eq!((void.follows, void.provider_id), (Some(lost.id), lost.provider_id));
    let Outcome::Approved(approval) = approval(&app, &lost).await else { unreachable!() };
    assert_eq!(
        void.undone_transaction_id, approval.transaction_id,
        "the provider's own id of what is undone"
    );
    assert_eq!(announced(&app, text(&charge["id"])).await, ["pending", "authorized", "probe_void"]);
    it_is_over(&app).await;
}

async fn what_was_denied_is_given_back_when_nobody_else_was_asked(app: TestApp) {
    let merchant = app.merchant_with(json!([lying(&[])])).await;
    for capture in [true, false] {
        let body = Charge::by_card(&merchant, APPROVED).with("capture", capture).body();
        let charge = app.post("/v1/charges", &body).await.expect(201);
        assert_eq!(charge["status"], "failed");
        app.later(SOON).await;
        let after = read(&app, &charge).await;
        assert_eq!((&after["status"], requests(&after)[0]), (&json!("failed"), ("void", "success")));
        assert_eq!(announced(&app, text(&charge["id"])).await, ["pending", "failed", "probe_void"]);
    }
    it_is_over(&app).await;
}

/// The second provider does not answer either, and is probed at 0, 5, 10, 40 and 160 seconds.
async fn what_was_denied_is_given_back_while_the_next_provider_is_silent(app: TestApp) {
    let mut silent = sandbox("Silent", 2);
    silent["options"] = json!({ "type": "SANDBOX", "faults": [
        { "when": { "operation": "authorization" }, "then": { "reset": "after_effect" } },
        { "when": { "operation": "probe" }, "then": { "server_error": "before_effect" }, "sequence": [1, 2, 3, 4] },
    ] });
    let merchant = app.merchant_with(json!([lying(&[]), silent])).await;
    let charge = app.post("/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
    assert_eq!(charge["status"], "pending");
    app.later(SECOND_LOOK + Duration::from_secs(5)).await;
    let pending = read(&app, &charge).await;
    let told = [("void", "running"), ("authorization", "running"), ("authorization", "timeout")];
    assert_eq!((&pending["status"], requests(&pending)), (&json!("pending"), told.into()));
    app.later(SOON).await;
    let after = read(&app, &charge).await;
    let told = [("void", "success"), ("authorization", "success"), ("authorization", "timeout")];
    assert_eq!((&after["status"], requests(&after)), (&json!("authorized"), told.into()));
    // A message to webhooks may be made of the event after the charge has moved on.
    let id: ChargeId = text(&charge["id"]).parse().unwrap();
    let events = events::of_object(&app.app.store, app.client_id(), id.uuid()).await.unwrap();
    assert_eq!(
        events.iter().map(|event| event.name.as_str()).collect::<Vec<_>>(),
        ["pending", "probe_void", "authorized"]
    );
    let announced =
        charges::find_version(&app.app.store, app.client_id(), id, events[1].version).await.unwrap();
    assert_eq!(announced.unwrap().charge.state, ChargeState::Processing);
    it_is_over(&app).await;
}

/// Both look-ups find an approval at the same moment, and move the charge alike.
async fn what_two_providers_have_denied_is_given_back_by_both(app: TestApp) {
    let mut second = lying(&[]);
    (second["name"], second["priority"]) = (json!("Lies as well"), json!(2));
    let merchant = app.merchant_with(json!([lying(&[]), second, sandbox("Honest", 3)])).await;
    for _ in 0..4 {
        let charge = app.post("/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
        assert_eq!(charge["status"], "authorized");
        app.later(SOON).await;
        let after = read(&app, &charge).await;
        assert_eq!(requests(&after)[..2], [("void", "success"); 2]);
        let asked: Vec<_> = stored(&app, &charge).await.into_iter().map(|stored| stored.request).collect();
        let undone: HashSet<_> = asked[3..].iter().map(|void| void.follows).collect();
        assert_eq!(undone, HashSet::from([Some(asked[0].id), Some(asked[1].id)]));
    }
    it_is_over(&app).await;
}

async fn a_refused_void_is_tried_again_under_another_key(app: TestApp) {
    let charge = denied(&app, &[of_voids(json!({ "decline": "generic" }), &[1, 2])]).await;
    app.later(SOON).await;
    let after = read(&app, &charge).await;
    let voids_told: Vec<_> = requests(&after).into_iter().filter(|(kind, _)| *kind == "void").collect();
    assert_eq!(voids_told, [("void", "success"), ("void", "failed"), ("void", "failed")]);
    assert_eq!(after["status"], "authorized");
    let lost = stored(&app, &charge).await.remove(0).request;
    assert!(given_back(&app, &lost).await);
    assert_eq!(voids(&app, &lost).await, 3);
    assert_eq!(announced(&app, text(&charge["id"])).await, ["pending", "authorized", "probe_void"]);
    it_is_over(&app).await;
}

async fn a_void_that_is_refused_to_the_end_is_given_up_and_listed(app: TestApp) {
    let app = app.with_settings(|settings| settings.reconcile_waits = vec![Duration::from_secs(60); 2]).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = Endpoint::open(listener, app.app.clone()).unwrap();
    let address = endpoint.address();
    let before = metric(address, GIVEN_UP).await;
    let charge = denied(&app, &[of_voids(json!({ "decline": "generic" }), &[1, 2, 3, 4])]).await;
    app.later(DAY / 2).await;
    let lost = stored(&app, &charge).await.remove(0).request;
    assert_eq!(voids(&app, &lost).await, 3, "two waits have three tries around them");
    let listed = unknowns(&app).await;
    assert_eq!((listed.len(), listed[0].operation.as_str()), (1, "void"));
    assert!(listed[0].given_up_at.is_some(), "{listed:?}");
    assert!(metric(address, GIVEN_UP).await > before);
    assert_eq!(read(&app, &charge).await["status"], "authorized", "the charge stays what it is");

    // The operator's first retry is refused, too.
    retry(&app, &listed[0]).await;
    app.run_jobs().await;
    let listed = unknowns(&app).await;
    assert_eq!((listed.len(), voids(&app, &lost).await), (1, 4));
    retry(&app, &listed[0]).await;
    app.run_jobs().await;
    assert!(given_back(&app, &lost).await);
    it_is_over(&app).await;
}

async fn an_unanswered_void_is_sent_again_under_its_key(app: TestApp) {
    for point in ["before_effect", "after_effect"] {
        let charge = denied(&app, &[of_voids(json!({ "reset": point }), &[1, 2])]).await;
        app.later(SOON).await;
        let after = read(&app, &charge).await;
        assert_eq!((requests(&after).len(), requests(&after)[0]), (3, ("void", "success")));
        let lost = stored(&app, &charge).await.remove(0).request;
        assert!(given_back(&app, &lost).await);
        assert_eq!(voids(&app, &lost).await, 1);
        assert_eq!(announced(&app, text(&charge["id"])).await, ["pending", "authorized", "probe_void"]);
    }
    it_is_over(&app).await;
}

async fn an_unanswered_void_is_given_up_and_listed(app: TestApp) {
    let app = app.with_settings(|settings| settings.reconcile_waits = vec![Duration::from_secs(60); 2]).await;
    let charge = denied(&app, &[of_voids(json!({ "reset": "before_effect" }), &[1, 2, 3])]).await;
    app.later(DAY / 2).await;
    let listed = unknowns(&app).await;
    assert_eq!((listed.len(), listed[0].operation.as_str()), (1, "void"));
    assert!(listed[0].given_up_at.is_some(), "{listed:?}");
    retry(&app, &listed[0]).await;
    app.run_jobs().await;
    assert_eq!(requests(&read(&app, &charge).await)[0], ("void", "success"));
    it_is_over(&app).await;
}

/// The store takes nothing when the late approval is found, and again when the void was carried out.
async fn nothing_is_lost_while_the_store_is_away(app: TestApp) {
    let charge = denied(&app, &[]).await;
    let lost = stored(&app, &charge).await.remove(0).request;
    let take_away =
        async || run_script(&app.app.store, "ALTER TABLE charge_history RENAME TO away").await.unwrap();
    let give_back =
        async || run_script(&app.app.store, "ALTER TABLE away RENAME TO charge_history").await.unwrap();
    take_away().await;
    app.later(SECOND_LOOK).await;
    give_back().await;
    assert_eq!(stored(&app, &charge).await.len(), 2, "the void could not be written");
    app.later(Duration::from_secs(58 * 60 + 10)).await;
    assert_eq!(stored(&app, &charge).await.len(), 3, "the third look, after an hour, has found it");
    assert_eq!(voids(&app, &lost).await, 0);
    take_away().await;
    app.later(Duration::from_secs(60)).await;
    give_back().await;
    assert_eq!(voids(&app, &lost).await, 1);
    assert_eq!(requests(&read(&app, &charge).await)[0], ("void", "running"));
    app.later(SOON).await;
    assert_eq!(requests(&read(&app, &charge).await)[0], ("void", "success"));
    assert_eq!(voids(&app, &lost).await, 1);
    assert_eq!(announced(&app, text(&charge["id"])).await, ["pending", "authorized", "probe_void"]);
    it_is_over(&app).await;
}

async fn two_nodes_and_a_notification_void_once(app: TestApp) {
    let charge = denied(&app, &[]).await;
    let lost = stored(&app, &charge).await.remove(0).request;
    let approved = approval(&app, &lost).await;
    app.clock.advance(SECOND_LOOK);
    let mut nodes: Vec<Worker> = (0..4).map(|_| Worker::new(app.app.engine.clone())).collect();
    // A database in a file has one process.
    if app.app.store.database_kind() == DatabaseKind::Postgres {
        nodes.push(app.another_worker().await);
    }
    let notified = late_answer::notified(&app.app, &lost, approved);
    let (rounds, _busy_or_taken) = tokio::join!(join_all(nodes.iter().map(Worker::round)), notified);
    assert!(rounds.into_iter().all(|round| round.is_ok()));
    assert_eq!(stored(&app, &charge).await.len(), 3, "one void");
    app.clock.advance(Duration::from_secs(60));
    let rounds = join_all(nodes.iter().map(Worker::round)).await;
    assert!(rounds.into_iter().all(|round| round.is_ok()));
    app.later(SOON).await;
    assert_eq!((requests(&read(&app, &charge).await).len(), voids(&app, &lost).await), (3, 1));
    assert_eq!(announced(&app, text(&charge["id"])).await, ["pending", "authorized", "probe_void"]);
    it_is_over(&app).await;
}

async fn a_denial_that_stays_is_looked_at_for_a_day(app: TestApp) {
    let merchant = app.merchant_with(json!([sandbox("Silent", 1)])).await;
    let charge = app.post("/v1/charges", &charge_body(&merchant, TIMED_OUT)).await.expect(201);
    assert_eq!((&charge["status"], requests(&charge)[0]), (&json!("failed"), ("authorization", "timeout")));
    let mut looks = Vec::new();
    let denied_at = app.clock.deployment();
    while let Some(due_at) = stored(&app, &charge).await.remove(0).due_at {
        looks.push(due_at.since(denied_at).as_secs());
        app.later(due_at.since(app.clock.deployment())).await;
    }
    assert_eq!(looks, [120, 3_600, 86_400]);
    assert!(unknowns(&app).await.is_empty());
    assert_eq!(read(&app, &charge).await, charge);
}

async fn a_denial_that_is_not_confirmed_is_listed(app: TestApp) {
    let file = FileBooks::new();
    // A missing log fails at once; once it is back, a busy machine may need this long.
    let app = app.with_sandbox_deadline(Duration::from_secs(5)).await.with_books(file.books.clone()).await;
    let faults = json!([{ "when": { "operation": "authorization" }, "then": { "reset": "before_effect" } }]);
    let body = Charge::by_card(&app.merchant_with(json!([sandbox("Silent", 1)])).await, APPROVED)
        .with("paymentFlow", json!({ "metadata": { "sandboxFaults": faults } }))
        .body();
    let charge = app.post("/v1/charges", &body).await.expect(201);
    assert_eq!(charge["status"], "failed");
    file.lose();
    app.later(DAY / 2).await;
    assert!(unknowns(&app).await.is_empty(), "the provider will be asked once more");
    app.later(DAY).await;
    let listed = unknowns(&app).await;
    assert_eq!((listed.len(), listed[0].operation.as_str()), (1, "authorization"));
    assert!(listed[0].given_up_at.is_some());
    file.find();
    retry(&app, &listed[0]).await;
    app.run_jobs().await;
    assert!(unknowns(&app).await.is_empty());
    assert_eq!(read(&app, &charge).await, charge);
}
