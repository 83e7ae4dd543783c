//! How an outcome is found out, and from when on nothing means nothing.

use std::time::Duration;

use regente_domain::decline::DeclinedCode;
use regente_providers::outcome::{Finding, Probe};
use regente_providers::request::{Inquiry, OperationKind};
use regente_providers::stripe::ABSENCE_PROVES_AFTER;
use serde_json::{Value, json};

use super::loopback::{Loopback, Reply};
use super::{AUTHORIZATION, VOID, error, inquiry, providers, recorded, with};
use crate::support::{at, key};

const LIST: &str = "GET /v1/payment_intents";
const SEARCH: &str = "GET /v1/payment_intents/search";
const READ: &str = "GET /v1/payment_intents/pi_3SQ";

fn by_key(operation: OperationKind) -> Inquiry {
    inquiry(operation, AUTHORIZATION, None)
}

/// The same, asked so long after the call.
fn later(inquiry: Inquiry, after: Duration) -> Inquiry {
    Inquiry { at: at() + after, ..inquiry }
}

fn page(objects: &[Value], has_more: bool) -> Reply {
    Reply::Json(200, json!({ "object": "list", "data": objects, "has_more": has_more }))
}

fn nothing() -> Reply {
    page(&[], false)
}

fn of_another() -> Value {
    with(recorded("payment_intent"), json!({ "id": "pi_of_another", "metadata": {} }))
}

fn fault() -> Reply {
    Reply::Json(500, error(json!({ "type": "api_error" })))
}

async fn probed(inquiry: Inquiry, replies: impl IntoIterator<Item = Reply>) -> (Probe, Vec<String>) {
    let server = Loopback::start(replies).await;
    let probe = providers(server.url()).probe(inquiry).await;
    (probe, server.lines())
}

#[track_caller]
fn id_of(probe: Probe) -> String {
    let Probe::Found(Finding::Approved(approval)) = probe else { panic!("not approved: {probe:?}") };
    approval.transaction_id.unwrap()
}

#[tokio::test]
async fn a_payment_is_read_by_its_id() {
    let asked = inquiry(OperationKind::Authorization, AUTHORIZATION, Some("pi_3SQ"));
    let (probe, lines) = probed(asked, [Reply::Json(200, recorded("payment_intent"))]).await;
    assert_eq!((id_of(probe).as_str(), lines), ("pi_3SQ", vec![READ.to_owned()]));
}

#[tokio::test]
async fn a_payment_without_an_id_is_in_the_list_at_once() {
    let server = Loopback::start([page(&[of_another(), recorded("payment_intent")], false)]).await;
    let probe = providers(server.url()).probe(by_key(OperationKind::Authorization)).await;
    assert_eq!(id_of(probe), "pi_3SQ");
    assert_eq!(server.lines(), [LIST]);
    let query = &server.got()[0].query;
    assert_eq!(
        query,
        "created[gte]=1767225540&created[lte]=1767226200&limit=100&expand[]=data.latest_charge"
    );
}

#[tokio::test]
async fn a_busy_account_has_several_pages() {
    let first = page(&[of_another()], true);
    let server = Loopback::start([first, page(&[recorded("payment_intent")], false)]).await;
    let probe = providers(server.url()).probe(by_key(OperationKind::Authorization)).await;
    assert_eq!(id_of(probe), "pi_3SQ");
    assert!(server.got()[1].query.contains("starting_after=pi_of_another"));
}

#[tokio::test]
async fn a_very_busy_account_is_searched() {
    let pages = std::iter::repeat_n(page(&[of_another()], true), 5);
    let found = page(&[recorded("payment_intent")], false);
    // The search may lag behind, so the payment is read.
    let read = Reply::Json(200, with(recorded("payment_intent"), json!({ "status": "canceled" })));
    let (probe, lines) = probed(by_key(OperationKind::Authorization), pages.chain([found, read])).await;
    assert!(matches!(probe, Probe::Found(Finding::Declined(_))));
    assert_eq!(lines, [LIST, LIST, LIST, LIST, LIST, SEARCH, READ]);
}

#[tokio::test]
async fn nothing_proves_nothing_before_two_hours() {
    let just_before = ABSENCE_PROVES_AFTER - Duration::from_millis(1);
    for (after, expected) in [
        (Duration::ZERO, Probe::Unknown),
        (just_before, Probe::Unknown),
        (ABSENCE_PROVES_AFTER, Probe::Absent),
    ] {
        let asked = later(by_key(OperationKind::Authorization), after);
        let (probe, lines) = probed(asked, [nothing(), nothing()]).await;
        assert_eq!((probe, lines), (expected, vec![LIST.to_owned(), SEARCH.to_owned()]));
    }
}

#[tokio::test]
async fn an_account_that_cannot_search_has_its_list() {
    let no_search = || Reply::Json(400, error(json!({ "type": "invalid_request_error" })));
    let asked = || later(by_key(OperationKind::Authorization), ABSENCE_PROVES_AFTER);
    assert_eq!(probed(asked(), [nothing(), no_search()]).await.0, Probe::Absent);
    let pages = || std::iter::repeat_n(page(&[of_another()], true), 5);
    assert_eq!(probed(asked(), pages().chain([no_search()])).await.0, Probe::Unknown);
    // With a search the list need not be complete.
    assert_eq!(probed(asked(), pages().chain([nothing()])).await.0, Probe::Absent);
}

#[tokio::test]
async fn a_probe_without_an_answer_tells_nothing() {
    let asked = || later(by_key(OperationKind::Authorization), ABSENCE_PROVES_AFTER);
    for fails in [Reply::Cut, fault(), Reply::Text(200, "not json")] {
        assert_eq!(probed(asked(), [fails.clone(), fails]).await.0, Probe::Unknown);
    }
    assert_eq!(probed(asked(), [Reply::Silence]).await.0, Probe::Unknown);
}

#[tokio::test]
async fn the_check_of_a_card_is_found_in_its_list() {
    let list = "GET /v1/setup_intents";
    let asked = || by_key(OperationKind::ZeroDollar);
    let (probe, lines) = probed(asked(), [page(&[recorded("setup_intent")], false)]).await;
    assert_eq!((id_of(probe).as_str(), lines), ("seti_1SQ", vec![list.to_owned()]));
    assert_eq!(probed(asked(), [nothing()]).await.0, Probe::Unknown);
    assert_eq!(probed(later(asked(), ABSENCE_PROVES_AFTER), [nothing()]).await.0, Probe::Absent);
    assert_eq!(probed(later(asked(), ABSENCE_PROVES_AFTER), [fault()]).await.0, Probe::Unknown);
    let by_id = inquiry(OperationKind::ZeroDollar, AUTHORIZATION, Some("seti_1SQ"));
    let (probe, lines) = probed(by_id, [Reply::Json(200, recorded("setup_intent"))]).await;
    assert_eq!(
        (id_of(probe).as_str(), lines),
        ("seti_1SQ", vec!["GET /v1/setup_intents/seti_1SQ".to_owned()])
    );
}

#[tokio::test]
async fn follow_ups_are_read_by_their_id() {
    let captured =
        with(recorded("payment_intent"), json!({ "metadata": { "regente_capture_key": key(VOID) } }));
    let asked = || inquiry(OperationKind::Capture, VOID, Some("pi_3SQ"));
    assert_eq!(id_of(probed(asked(), [Reply::Json(200, captured)]).await.0), "pi_3SQ");
    // Taken, but not by this capture.
    let (probe, _) = probed(asked(), [Reply::Json(200, recorded("payment_intent"))]).await;
    assert_eq!(probe, Probe::Unknown);
    let asked = inquiry(OperationKind::Void, VOID, Some("re_3SQ"));
    let (probe, lines) = probed(asked, [Reply::Json(200, recorded("refund"))]).await;
    assert_eq!((id_of(probe).as_str(), lines), ("re_3SQ", vec!["GET /v1/refunds/re_3SQ".to_owned()]));
    // Without an id they are sent again.
    for operation in [OperationKind::Capture, OperationKind::Void] {
        assert_eq!(probed(inquiry(operation, VOID, None), []).await, (Probe::Unknown, Vec::new()));
    }
}

#[tokio::test]
async fn a_challenge_without_the_shift_ends_in_a_refusal() {
    let three_d_secure = json!({ "result": "not_supported" });
    let taken = with(
        recorded("payment_intent"),
        json!({
            "metadata": { "regente_liability_shift": "required" },
            "latest_charge": { "payment_method_details": { "card": { "three_d_secure": three_d_secure } } },
        }),
    );
    let asked = || inquiry(OperationKind::Authorization, AUTHORIZATION, Some("pi_3SQ"));
    let given_back = Reply::Json(200, recorded("refund"));
    let (probe, lines) = probed(asked(), [Reply::Json(200, taken.clone()), given_back]).await;
    let Probe::Found(Finding::Declined(decline)) = probe else { panic!("not refused: {probe:?}") };
    assert_eq!(decline.code, DeclinedCode::TransactionNotAllowed);
    assert_eq!(lines, [READ, "POST /v1/refunds"]);
    // Asked again when the provider has forgotten the key.
    let refunded = error(json!({ "type": "invalid_request_error", "code": "charge_already_refunded" }));
    let (probe, _) = probed(asked(), [Reply::Json(200, taken.clone()), Reply::Json(400, refunded)]).await;
    assert!(matches!(probe, Probe::Found(Finding::Declined(_))));
    assert_eq!(probed(asked(), [Reply::Json(200, taken), fault()]).await.0, Probe::Unknown);
}
