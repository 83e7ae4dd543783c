//! Several who commit: receivables are paid once.

use axum::Router;
use axum::http::Method;
use futures_util::future::join_all;
use regente_store::DatabaseKind;
use serde_json::json;

use crate::support::app::{TestApp, stories};
use crate::support::client::{begin_at, request};
use crate::support::prepayments::{
    CHANGED, NOT_PENDING, PREPAYMENT, RECEIVABLES, SETTLED_ON, captured, commit, commit_path, denied,
    enabled, everything, read, simulated,
};

stories! {
    of_two_offers_of_one_receivable_the_first_commit_wins,
    a_repeated_key_is_answered_as_before,
    two_commits_at_two_nodes_pay_once,
    a_commit_and_a_refund_at_once_agree,
}

/// Two nodes; two processes share one database on PostgreSQL alone.
async fn nodes(app: &TestApp) -> [Router; 2] {
    let other = match app.app.store.database_kind() {
        DatabaseKind::Sqlite => app.router.clone(),
        DatabaseKind::Postgres => regente::api::router::router(app.another_node(&app.clock, 1).await),
    };
    [app.router.clone(), other]
}

async fn of_two_offers_of_one_receivable_the_first_commit_wins(app: TestApp) {
    let merchant = enabled(&app).await;
    captured(&app, &app.client, &merchant, 1_000).await;
    let first = simulated(&app, &everything()).await;
    captured(&app, &app.client, &merchant, 5_000).await;
    // More receivables do not change the offer of one.
    let second = simulated(&app, &json!({ "dates": [SETTLED_ON] })).await;
    assert_eq!((&first["grossAmount"], &second["grossAmount"]), (&json!(1_000), &json!(6_000)));
    assert_eq!(commit(&app, &first).await.expect(200)["status"], "committed");
    denied(&commit(&app, &second).await, 422, CHANGED);
    assert_eq!(read(&app, &second).await["status"], "pending");
    assert_eq!(app.get(RECEIVABLES).await.expect(200)["summary"]["availableAmount"], 5_000);
}

async fn a_repeated_key_is_answered_as_before(app: TestApp) {
    let merchant = enabled(&app).await;
    captured(&app, &app.client, &merchant, 1_000).await;
    let offer = app.post_with_key(PREPAYMENT, "offer", &everything()).await.expect(201);
    assert_eq!(app.post_with_key(PREPAYMENT, "offer", &everything()).await.expect(201), offer);
    let path = commit_path(&offer);
    let committed = app.post_with_key(&path, "commit", &json!({})).await.expect(200);
    let again = app.post_with_key(&path, "commit", &json!({})).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.expect(200), committed);
    denied(&app.post_with_key(&path, "another", &json!({})).await, 409, NOT_PENDING);
    let other = app.post_with_key(PREPAYMENT, "offer", &json!({ "endDate": SETTLED_ON })).await;
    denied(&other, 409, "Idempotency key reused with a different payload");
}

async fn two_commits_at_two_nodes_pay_once(app: TestApp) {
    let merchant = enabled(&app).await;
    let nodes = nodes(&app).await;
    for round in 0..5 {
        captured(&app, &app.client, &merchant, 1_000 + round).await;
        // Two offers of the same, and each is committed at both nodes.
        let offers = [simulated(&app, &everything()).await, simulated(&app, &everything()).await];
        let sent: Vec<_> = (0..4)
            .map(|number: usize| {
                let path = commit_path(&offers[number / 2]);
                let commit = request(&app.client, Method::POST, &path, &[], Some(&json!({})));
                begin_at(nodes[number % 2].clone(), commit)
            })
            .collect();
        let mut statuses: Vec<u16> =
            join_all(sent).await.into_iter().map(|reply| reply.unwrap().status.as_u16()).collect();
        statuses.sort_unstable();
        assert_eq!(statuses[0], 200, "{statuses:?}");
        assert!(statuses[1..].iter().all(|status| [409, 422].contains(status)), "{statuses:?}");
        let mut committed = 0;
        for offer in &offers {
            committed += usize::from(read(&app, offer).await["status"] == "committed");
        }
        assert_eq!(committed, 1);
    }
}

async fn a_commit_and_a_refund_at_once_agree(app: TestApp) {
    let merchant = enabled(&app).await;
    let nodes = nodes(&app).await;
    for _ in 0..5 {
        let charge = captured(&app, &app.client, &merchant, 1_000).await;
        let offer = simulated(&app, &everything()).await;
        let void_path = format!("/v1/charges/{charge}/void");
        let commit = request(&app.client, Method::POST, &commit_path(&offer), &[], Some(&json!({})));
        let void = request(&app.client, Method::POST, &void_path, &[], Some(&json!({})));
        let sent = [begin_at(nodes[0].clone(), commit), begin_at(nodes[1].clone(), void)];
        let [committed, voided] = join_all(sent).await.try_into().unwrap();
        let (committed, voided) = (committed.unwrap(), voided.unwrap());
        assert_eq!(voided.status, 201);
        match committed.status.as_u16() {
            200 => {}
            422 => denied(&committed, 422, CHANGED),
            status => panic!("{status}: {committed:?}"),
        }
        app.run_jobs().await;
        assert_eq!(app.get(RECEIVABLES).await.expect(200)["summary"]["availableAmount"], 0);
    }
}
