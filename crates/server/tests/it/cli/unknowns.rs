//! `regente unknowns`: requests with unknown outcomes on the command line.

use serde_json::{Value, json};

use crate::support::server::{LOOK_EVERY, Server, regente, run, run_on};

const APPROVED: &str = "4916745120294124";
const SETTINGS: [&str; 8] = [
    "--set",
    "sandbox.deadline_ms=100",
    "--set",
    "charges.reconcile_grace_ms=100",
    "--set",
    "charges.reconcile_waits_seconds=1",
    "--set",
    "routing.circuit_failures=0",
];

#[tokio::test]
async fn an_unknown_refund_is_listed_given_up_and_asked_for_anew() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &SETTINGS).await;
    assert_eq!(run_on(folder.path(), &["unknowns"]).await.text(), "No outcome is unknown.\n");
    let mut body = server.charge("REGENTE_MERCHANT_ID", APPROVED);
    // Two probes at once, two on the schedule; the fifth is answered.
    let fault = json!({ "when": { "operation": "void" }, "then": { "timeout": "before_effect" },
        "sequence": [1, 2, 3, 4] });
    body["paymentFlow"] = json!({ "metadata": { "sandboxFaults": [fault] } });
    let charge: Value = server.post("/v1/charges", &body).send().await.unwrap().json().await.unwrap();
    let id = charge["id"].as_str().unwrap();
    let void = server.post(&format!("/v1/charges/{id}/void"), &json!({})).send().await.unwrap();
    assert_eq!(void.json::<Value>().await.unwrap()["status"], "refund_pending");

    let listed = loop {
        let listed = run_on(folder.path(), &["unknowns", "--json"]).await.json();
        if !listed["unknowns"][0]["given_up_at"].is_null() {
            break listed;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    };
    let row = &listed["unknowns"][0];
    assert_eq!((&row["operation"], &row["reason"]), (&json!("void"), &json!("timed_out")));
    let table = run_on(folder.path(), &["unknowns"]).await;
    let line = table.text().lines().nth(1).unwrap();
    assert!(table.text().starts_with("AGE "), "{}", table.text());
    for cell in ["  void  ", "BRL 15.00", "(SANDBOX)", "timed_out", "given up 20", &format!("charge {id}")] {
        assert!(line.contains(cell), "{cell} in {line}");
    }

    let request_id = row["request_id"].as_str().unwrap();
    let anew = run_on(folder.path(), &["unknowns", "retry", request_id]).await;
    assert_eq!(anew.text(), format!("The provider is asked anew what became of request {request_id}.\n"));
    loop {
        let charge = server.get(&format!("/v1/charges/{id}")).send().await.unwrap();
        if charge.json::<Value>().await.unwrap()["status"] == "voided" {
            break;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    let again = run_on(folder.path(), &["unknowns", "retry", request_id]).await;
    assert!(again.complaint().contains("was given up"), "{}", again.stderr);
    let wrong = run(&mut regente(&["unknowns", "--json", "retry", request_id])).await;
    assert_eq!(wrong.status.code(), Some(2));
    server.stop().await;
}
