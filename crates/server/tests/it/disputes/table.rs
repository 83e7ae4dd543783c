//! Every state and every kind of report, through HTTP: what is in the table of `docs/interface/charges.md#disputes`
//! happens, and nothing else does.

use std::time::Duration;

use regente_domain::charge::reversal::ReversalKind;
use regente_providers::staged::Staged;
use regente_store::{args, sql};
use serde_json::{Value, json};

use crate::support::app::{START, TestApp, stories};
use crate::support::bodies::payers::{described, jose, pix_body};
use crate::support::bodies::{APPROVED, WRONG_CVV, charge_body};
use crate::support::charges::{capture, captured, reserved, void};
use crate::support::disputes::{read, told_of};
use crate::support::notifications::{API_KEY, message, request_of, send};
use crate::support::providers::{losing, sandbox};
use crate::support::read::{announced, text};

stories! {
    every_state_and_every_report,
    what_is_too_early_waits_and_is_put_aside_in_the_end,
}

sql! {
    NEWEST = "SELECT state, why FROM provider_notifications WHERE client_id = :client_id
        ORDER BY received_at DESC, id DESC LIMIT 1";
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The kinds, with the words of the simulator's notifications.
const REPORTS: [(ReversalKind, &str); 5] = [
    (ReversalKind::DisputeOpened, "dispute.opened"),
    (ReversalKind::DisputeWon, "dispute.won"),
    (ReversalKind::DisputeLost, "dispute.lost"),
    (ReversalKind::ChargedBack, "payment.charged_back"),
    (ReversalKind::RefundReverted, "refund.reverted"),
];

/// The states that a report finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Processing,
    AwaitingPayer,
    PreAuthorized,
    CapturePending,
    Authorized,
    PartlyRefunded,
    Disputed,
    RefundPending,
    RefundAccepted,
    Failed,
    Canceled,
    Voided,
    DisputedAndVoided,
    ChargedBack,
    ChargedBackByTheCase,
}

const EVERY: [Before; 15] = [
    Before::Processing,
    Before::AwaitingPayer,
    Before::PreAuthorized,
    Before::CapturePending,
    Before::Authorized,
    Before::PartlyRefunded,
    Before::Disputed,
    Before::RefundPending,
    Before::RefundAccepted,
    Before::Failed,
    Before::Canceled,
    Before::Voided,
    Before::DisputedAndVoided,
    Before::ChargedBack,
    Before::ChargedBackByTheCase,
];

/// What a report does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// The status, the amount, whether it is disputed, and the event.
    Becomes(&'static str, i64, bool, &'static str),
    /// It has no effect, since the charge shows it already.
    Known,
    Waits,
    Refused,
}

/// The table. The kinds are in the order of [`REPORTS`].
const fn table(before: Before) -> [Then; 5] {
    use Then::{Becomes, Known, Refused, Waits};
    match before {
        Before::Processing
        | Before::AwaitingPayer
        | Before::CapturePending
        | Before::RefundPending
        | Before::RefundAccepted => [Waits; 5],
        Before::PreAuthorized | Before::Failed | Before::Canceled => [Refused; 5],
        Before::Authorized => [
            Becomes("authorized", 100, true, "dispute"),
            Waits,
            Becomes("charged_back", 100, false, "charged_back"),
            Becomes("charged_back", 100, false, "charged_back"),
            Refused,
        ],
        Before::PartlyRefunded => [
            Becomes("authorized", 60, true, "dispute"),
            Waits,
            Becomes("charged_back", 60, false, "charged_back"),
            Becomes("charged_back", 60, false, "charged_back"),
            Becomes("authorized", 100, false, "revert_void"),
        ],
        Before::Disputed => [
            Known,
            Becomes("authorized", 100, false, "dispute_closed"),
            Becomes("charged_back", 100, false, "charged_back"),
            Becomes("charged_back", 100, false, "charged_back"),
            Refused,
        ],
        Before::Voided => [Waits, Waits, Waits, Waits, Becomes("authorized", 100, false, "revert_void")],
        Before::DisputedAndVoided => [
            Known,
            Becomes("voided", 0, false, "dispute_closed"),
            Becomes("charged_back", 0, false, "charged_back"),
            Becomes("charged_back", 0, false, "charged_back"),
            Becomes("authorized", 100, true, "revert_void"),
        ],
        // It is another case.
        Before::ChargedBack => [
            Becomes("charged_back", 100, false, "dispute"),
            Waits,
            Becomes("charged_back", 100, false, "charged_back"),
            Becomes("charged_back", 100, false, "charged_back"),
            Refused,
        ],
        Before::ChargedBackByTheCase => {
            [Known, Becomes("authorized", 100, false, "dispute_closed"), Known, Known, Refused]
        }
    }
}

/// A charge in this state.
async fn made(app: &TestApp, before: Before) -> String {
    let with = async |provider: Value, card, capture: bool| {
        let merchant = app.merchant_with(json!([provider])).await;
        let mut body = charge_body(&merchant, card);
        (body["amount"], body["capture"]) = (json!(100), json!(capture));
        text(&app.post("/v1/charges", &body).await.expect(201)["id"]).to_owned()
    };
    let pix = async || {
        let mut body = pix_body(&app.merchant().await, described(jose()));
        body["amount"] = json!(100);
        text(&app.post("/v1/charges", &body).await.expect(201)["id"]).to_owned()
    };
    match before {
        Before::Processing => with(losing(&["authorization"]), APPROVED, true).await,
        Before::AwaitingPayer => pix().await,
        Before::PreAuthorized => reserved(app).await,
        Before::CapturePending => {
            let id = with(losing(&["capture"]), APPROVED, false).await;
            capture(app, &id, json!({})).await.expect(201);
            id
        }
        Before::Authorized => captured(app).await,
        Before::PartlyRefunded => {
            let id = captured(app).await;
            void(app, &id, json!({ "amount": 40 })).await.expect(201);
            id
        }
        Before::Disputed => {
            let id = captured(app).await;
            told_of(app, &id, Staged::DisputeOpened).await;
            id
        }
        Before::RefundPending => {
            let id = with(losing(&["void"]), APPROVED, true).await;
            void(app, &id, json!({})).await.expect(201);
            id
        }
        Before::RefundAccepted => {
            let id = pix().await;
            app.post(&format!("/v1/charges/{id}"), &json!({ "status": "refund_pending" })).await.expect(200);
            id
        }
        Before::Failed => with(sandbox("Alone", 1), WRONG_CVV, true).await,
        Before::Canceled => {
            let id = reserved(app).await;
            void(app, &id, json!({})).await.expect(201);
            id
        }
        Before::Voided => {
            let id = captured(app).await;
            void(app, &id, json!({})).await.expect(201);
            id
        }
        Before::DisputedAndVoided => {
            let id = captured(app).await;
            told_of(app, &id, Staged::DisputeOpened).await;
            void(app, &id, json!({})).await.expect(201);
            id
        }
        Before::ChargedBack => {
            let id = captured(app).await;
            told_of(app, &id, Staged::ChargedBack).await;
            id
        }
        Before::ChargedBackByTheCase => {
            let id = captured(app).await;
            told_of(app, &id, Staged::DisputeOpened).await;
            told_of(app, &id, Staged::DisputeLost).await;
            id
        }
    }
}

/// The provider's id of the case: that of the dispute, if there is one.
fn case(charge: &Value) -> String {
    let requests = charge["transactionRequests"].as_array().unwrap();
    let opened = requests.iter().find(|request| request["requestType"] == "dispute");
    opened.map_or("a case", |opened| text(&opened["transactionId"])).to_owned()
}

async fn newest(app: &TestApp) -> (String, Option<String>) {
    let row = app.app.store.row(&NEWEST, args! { client_id: app.client_id() }).await.unwrap().unwrap();
    (row.get("state").unwrap(), row.get("why").unwrap())
}

async fn every_state_and_every_report(app: TestApp) {
    let app = app.reachable().await;
    for before in EVERY {
        for ((kind, word), then) in REPORTS.into_iter().zip(table(before)) {
            let context = format!("{before:?} × {}", kind.word());
            let id = made(&app, before).await;
            // What the simulator notifies by itself is another story.
            drop(app.wire.notices());
            let (charge, events) = (read(&app, &id).await, announced(&app, &id).await);
            let request = request_of(&app, &id).await;
            for repetition in ["first", "again"] {
                let mut told =
                    message(&request, &format!("{id} {repetition}"), word, &json!({ "id": case(&charge) }));
                // That the payer has won is no news of a later time.
                if matches!(kind, ReversalKind::DisputeLost | ReversalKind::ChargedBack) {
                    told["occurredAt"] = json!(START);
                }
                app.clock.advance(Duration::from_millis(1));
                assert_eq!(send(&app, &request, &told, API_KEY).await, 200);
                app.prepare().await;
                app.worker.round().await.unwrap();
                let (after, told) = (read(&app, &id).await, announced(&app, &id).await);
                let (state, why) = newest(&app).await;
                match then {
                    Then::Becomes(status, amount, is_dispute, event) => {
                        let shown = (&after["status"], &after["amount"], &after["isDispute"]);
                        let wanted = (&json!(status), &json!(amount), &json!(is_dispute));
                        assert_eq!(shown, wanted, "{context}: {after:#}");
                        assert_eq!(told, [events.clone(), vec![event.to_owned()]].concat(), "{context}");
                        let requests = after["transactionRequests"].as_array().unwrap();
                        assert_eq!(requests[0]["requestType"], kind.request_type().word(), "{context}");
                        assert_eq!(
                            requests.len(),
                            charge["transactionRequests"].as_array().unwrap().len() + 1
                        );
                        assert_eq!((state.as_str(), why), ("applied", None), "{context}");
                    }
                    Then::Known | Then::Waits | Then::Refused => {
                        assert_eq!(after, charge, "{context}");
                        assert_eq!(told, events, "{context}");
                        let wanted = match then {
                            Then::Waits => "waiting",
                            Then::Refused => "kept",
                            Then::Known | Then::Becomes(..) => "applied",
                        };
                        assert_eq!(state, wanted, "{context}: {why:?}");
                        assert_eq!(why.is_some(), wanted == "kept", "{context}: the reason is kept");
                    }
                }
            }
        }
    }
}

async fn what_is_too_early_waits_and_is_put_aside_in_the_end(app: TestApp) {
    let app = app.reachable().await;
    // The end of a dispute of which nobody knows.
    let id = captured(&app).await;
    let request = request_of(&app, &id).await;
    let won = message(&request, "won", "dispute.won", &json!({ "id": "unknown" }));
    assert_eq!(send(&app, &request, &won, API_KEY).await, 200);
    for _ in 0..23 {
        app.later(DAY / 24).await;
    }
    assert_eq!(newest(&app).await.0, "waiting");
    for _ in 0..3 {
        app.later(DAY / 24).await;
    }
    let (state, why) = newest(&app).await;
    assert_eq!(state, "kept");
    assert!(why.unwrap().ends_with("no_such_dispute"));
    // A refund that a bank does not confirm for weeks.
    let id = made(&app, Before::RefundAccepted).await;
    let request = request_of(&app, &id).await;
    let back = message(&request, "back", "payment.charged_back", &json!({ "id": "c" }));
    assert_eq!(send(&app, &request, &back, API_KEY).await, 200);
    for _ in 0..29 {
        app.later(DAY).await;
    }
    assert_eq!(newest(&app).await.0, "waiting");
    app.later(2 * DAY).await;
    app.later(DAY / 12).await;
    assert_eq!(newest(&app).await.0, "kept");
    assert_eq!(read(&app, &id).await["status"], "refund_pending");
}
