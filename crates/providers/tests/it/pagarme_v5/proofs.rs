//! What an answer proves: nothing is refused, absent or undone on the strength of an answer that does not prove that no
//! money has moved (`docs/providers/what-an-answer-proves.md`).

use regente_domain::decline::DeclinedCode;
use regente_providers::notification::NotificationRefusal;
use regente_providers::outcome::{Finding, UnknownReason};
use regente_providers::pagarme_v5::tell::Void;
use regente_providers::pagarme_v5::wire::told::Charge;
use serde_json::Value;

use super::notifications::events_of;
use super::*;
use crate::support::{at, declined};

const UNCERTAIN: Answer = Answer::Unknown(UnknownReason::ProviderFailed);
/// What the provider documents of requests that it does not carry out.
const REFUSALS: [u16; 7] = [400, 401, 403, 404, 412, 422, 429];

/// An order that has failed, with these members of its transaction. The acquirer has said nothing.
fn failed(transaction: Value) -> Value {
    let mut last = json!({
        "status": "with_error", "success": false, "acquirer_return_code": null, "acquirer_auth_code": null,
        "gateway_response": { "code": "500", "errors": [{ "message": "internal error" }] },
    });
    for (name, value) in object(transaction) {
        last[name] = value;
    }
    order_with(order_card(), json!({ "status": "failed", "paid_amount": null, "last_transaction": last }))
}

/// What an order, a probe by its id, a probe by its code and a notification say of it: all the same.
fn said(order: &Value) -> Option<Finding> {
    let answer = ordered(&answered(200, order));
    let found = read(&answered(200, &order["charges"][0]));
    let list = json!({ "data": [order], "paging": { "total": 1 } });
    assert_eq!(tell::searched(&answered(200, &list), CODE, CAPTURED, Probe::Absent), found, "{order:#}");
    let told = events_of(&json!({
        "id": "hook_1", "type": "charge.payment_failed", "created_at": "2026-09-01T12:00:02Z",
        "data": order["charges"][0],
    }));
    assert_eq!(told.map(|events| !events.is_empty()), Ok(found != Probe::Unknown), "{order:#}");
    match found {
        Probe::Found(finding) => {
            assert_eq!(answer, Answer::from(finding.clone()), "{order:#}");
            Some(finding)
        }
        Probe::Unknown => {
            assert_eq!(answer, UNCERTAIN, "{order:#}");
            None
        }
        Probe::Absent => panic!("it is there: {order:#}"),
    }
}

#[test]
fn a_failure_that_says_nothing_of_the_acquirer_is_unknown() {
    for transaction in [
        json!({}),
        json!({ "gateway_response": { "code": "504" } }),
        json!({ "gateway_response": { "code": "412" } }),
        json!({ "gateway_response": { "code": "200" } }),
        json!({ "gateway_response": null }),
        // The acquirer has said yes, or something on the way.
        json!({ "acquirer_return_code": "00" }),
        json!({ "acquirer_return_code": "51" }),
        json!({ "status": "failed" }),
        json!({ "status": "failed", "gateway_response": null }),
        json!({ "status": "not_authorized" }),
        json!({ "status": "not_authorized", "gateway_response": { "code": "504" } }),
        json!({ "status": "not_authorized", "gateway_response": null, "acquirer_return_code": "0000" }),
        // What contradicts itself.
        json!({ "status": "captured", "acquirer_return_code": "00" }),
        json!({ "status": "authorized_pending_capture", "acquirer_return_code": "00" }),
        json!({ "status": "a_new_word" }),
    ] {
        assert_eq!(said(&failed(transaction.clone())), None, "{transaction}");
    }
    let nothing = order_with(order_card(), json!({ "status": "failed", "last_transaction": null }));
    assert_eq!(said(&nothing), None);
    // A boleto may be registered at its bank, and is shown to its payer there.
    let members = json!({ "status": "failed", "last_transaction": { "status": "with_error" } });
    assert_eq!(said(&order_with(order_boleto(), members)), None);
}

#[test]
fn a_refusal_of_who_decides_is_a_refusal() {
    for (transaction, code) in [
        (
            json!({ "status": "not_authorized", "acquirer_return_code": "51" }),
            DeclinedCode::InsufficientFunds,
        ),
        (json!({ "status": "failed", "acquirer_return_code": "51" }), DeclinedCode::InsufficientFunds),
        (json!({ "status": "not_authorized", "gateway_response": { "code": "200" } }), DeclinedCode::Generic),
        (json!({ "gateway_response": { "code": "400" } }), DeclinedCode::Generic),
        (json!({ "gateway_response": { "code": "401" } }), DeclinedCode::InvalidMerchant),
        (
            json!({ "status": "not_authorized", "antifraud_response": { "status": "reproved" } }),
            DeclinedCode::FraudSuspect,
        ),
    ] {
        let finding = said(&failed(transaction.clone()));
        let Some(Finding::Declined(decline)) = finding else { panic!("{transaction}: {finding:?}") };
        assert_eq!(decline.code, code, "{transaction}");
    }
    let given_back = said(&failed(json!({ "status": "voided" })));
    assert!(matches!(given_back, Some(Finding::Declined(_))), "{given_back:?}");
}

#[test]
fn a_canceled_charge_is_a_refusal_once_its_money_is_back() {
    let canceled = |status: &str| {
        let members = json!({ "status": "canceled", "last_transaction": { "status": status } });
        read(&answered(200, &charge_of(&order_card(), members)))
    };
    for status in ["voided", "refunded", "generated", "waiting_payment"] {
        assert!(matches!(canceled(status), Probe::Found(Finding::Declined(_))), "{status}");
    }
    for status in
        ["with_error", "pending_refund", "error_on_voiding", "captured", "authorized_pending_capture"]
    {
        assert_eq!(canceled(status), Probe::Unknown, "{status}");
    }
}

#[test]
fn a_page_of_somebody_in_between_refuses_nothing() {
    for status in REFUSALS {
        for answer in pages() {
            let page = page(status, answer);
            let shown = format!("{status} {answer:?}");
            assert_eq!(ordered(&page), UNCERTAIN, "{shown}");
            assert_eq!(tell::capture(&page, cents(1500)), Some(UNCERTAIN), "{shown}");
            assert_eq!(tell::voided(&page), Some(UNCERTAIN), "{shown}");
            assert_eq!(tell::unmarked(&page, KEY), Some(UNCERTAIN), "{shown}");
            assert_eq!(read(&page), Probe::Unknown, "{shown}");
            assert_eq!(tell::searched(&page, CODE, CAPTURED, Probe::Absent), Probe::Unknown, "{shown}");
        }
    }
    let own = json!({ "message": "a text" });
    let json = (Some("application/json; charset=utf-8"), &*own.to_string());
    declined(ordered(&page(403, (json.0, json.1))));
}

#[test]
fn only_a_whole_list_of_the_provider_proves_that_there_is_no_order() {
    let searched = |incoming: &Incoming| tell::searched(incoming, CODE, CAPTURED, Probe::Absent);
    let other = || json!({ "code": "of another system", "charges": [] });
    let list = |orders: usize| json!({ "data": vec![other(); orders], "paging": { "total": orders } });
    assert_eq!(searched(&answered(200, &list(0))), Probe::Absent);
    assert_eq!(searched(&answered(200, &list(9))), Probe::Absent);
    assert_eq!(searched(&answered(200, &list(10))), Probe::Unknown, "it may be on the next page");
    assert_eq!(searched(&page(200, (Some("text/html"), r#"{"data":[]}"#))), Probe::Unknown);
    for (content_type, body) in pages() {
        assert_eq!(searched(&page(200, (content_type, body))), Probe::Unknown, "{body}");
    }
}

#[test]
fn an_authorization_is_no_approval_of_what_is_captured_at_once() {
    let reserved = |status: &str, operation_type: Value| {
        let last = json!({ "status": status, "operation_type": operation_type });
        order_with(
            order_card(),
            json!({ "status": "pending", "paid_amount": null, "last_transaction": last }),
        )
    };
    let told = |order: &Value| {
        events_of(&json!({
            "id": "hook_1", "type": "charge.pending", "created_at": "2026-09-01T12:00:02Z",
            "data": order["charges"][0],
        }))
        .map(|events| events.len())
    };
    let no_news: Result<usize, NotificationRefusal> = Ok(0);
    for status in ["authorized_pending_capture", "waiting_capture"] {
        for operation_type in [json!("auth_and_capture"), json!("auth_only"), Value::Null] {
            let order = reserved(status, operation_type.clone());
            assert_eq!(ordered(&answered(200, &order)), UNCERTAIN, "{status}");
            assert_eq!(read(&answered(200, &order["charges"][0])), Probe::Unknown, "{status}");
            let by_hand = tell::ordered(&answered(200, &order), CaptureMode::Manual);
            assert!(matches!(by_hand, Answer::Approved(_)), "{status}: {by_hand:?}");
            let found = tell::read(&answered(200, &order["charges"][0]), Some(CaptureMode::Manual));
            assert!(matches!(found, Probe::Found(Finding::Approved(_))), "{status}: {found:?}");
        }
        assert_eq!(told(&reserved(status, json!("auth_only"))), Ok(1));
        // A probe knows what was asked for.
        assert_eq!(told(&reserved(status, json!("auth_and_capture"))), no_news);
        assert_eq!(told(&reserved(status, Value::Null)), no_news);
    }
}

fn charge(members: Value) -> Charge {
    serde_json::from_value(charge_of(&order_card(), members)).unwrap()
}

#[test]
fn a_capture_is_refused_only_while_the_charge_is_reserved_or_over() {
    let refusal = answered(412, &json!({ "message": "This charge can not be captured." }));
    let of = |status: &str, transaction: Value| {
        let charge =
            charge(json!({ "status": status, "paid_amount": null, "last_transaction": transaction }));
        tell::captured_before(&charge, cents(1500), &refusal)
    };
    for (status, transaction) in [
        ("pending", json!({ "status": "authorized_pending_capture" })),
        ("canceled", json!({ "status": "voided" })),
        ("failed", json!({ "status": "not_authorized", "acquirer_return_code": "51" })),
    ] {
        let answer = of(status, transaction);
        assert_eq!(declined(answer).network_denied_reason.as_deref(), Some("http 412"), "{status}");
    }
    for (status, transaction) in [
        ("pending", json!({ "status": "waiting_capture" })),
        ("pending", json!({ "status": "with_error" })),
        ("pending", json!({ "status": "captured" })),
        ("failed", json!({ "status": "with_error" })),
        ("canceled", json!({ "status": "pending_refund" })),
        ("processing", json!({ "status": "authorized_pending_capture" })),
    ] {
        assert_eq!(of(status, transaction.clone()), UNCERTAIN, "{status} {transaction}");
    }
    let reserved = charge(
        json!({ "status": "pending", "last_transaction": { "status": "authorized_pending_capture" } }),
    );
    for answer in pages() {
        assert_eq!(tell::captured_before(&reserved, cents(1500), &page(412, answer)), UNCERTAIN);
    }
}

#[test]
fn a_capture_or_a_void_that_failed_on_the_way_is_unknown() {
    let last = |members: Value| {
        let mut last = json!({ "success": false, "acquirer_return_code": null });
        for (name, value) in object(members) {
            last[name] = value;
        }
        json!({ "status": "pending", "paid_amount": null, "last_transaction": last })
    };
    for members in [
        json!({ "status": "with_error", "gateway_response": { "code": "500" } }),
        json!({ "status": "with_error", "gateway_response": null }),
        json!({ "status": "failed", "gateway_response": { "code": "504" } }),
        json!({ "status": "refunded" }),
        json!({ "status": "a_new_word" }),
    ] {
        let charge = answered(200, &charge_of(&order_card(), last(members.clone())));
        assert_eq!(tell::capture(&charge, cents(1500)), Some(UNCERTAIN), "{members}");
        assert_eq!(tell::voided(&charge), Some(UNCERTAIN), "{members}");
        let accepted = self::charge(last(members.clone()));
        assert_eq!(tell::void_accepted(&accepted, KEY), Probe::Unknown, "{members}");
    }
    let refused = || last(json!({ "status": "not_authorized", "acquirer_return_code": "57" }));
    let charge = answered(200, &charge_of(&order_card(), refused()));
    assert!(matches!(tell::capture(&charge, cents(1500)), Some(Answer::Declined(_))));
    assert!(matches!(tell::voided(&charge), Some(Answer::Declined(_))));
    let probe = tell::void_accepted(&self::charge(refused()), KEY);
    assert!(matches!(probe, Probe::Found(Finding::Declined(_))), "{probe:?}");
}

#[test]
fn a_void_has_nothing_to_give_back_only_where_that_is_certain() {
    let void = |members: Value| {
        let void = tell::void(&charge(members), KEY, cents(400), at());
        let Void::Answered(answer) = void else { panic!("{void:?}") };
        answer
    };
    let on_the_way = json!({ "status": "failed", "last_transaction": { "status": "with_error" } });
    assert_eq!(void(on_the_way), UNCERTAIN, "the acquirer may have taken it");
    let marked = |canceled: i64| {
        let mark = json!({ "regente_void_AAAAAAAAAAAAAAAAAAAAAg": "300+400@0" });
        json!({ "status": "chargedback", "canceled_amount": canceled, "metadata": mark })
    };
    assert!(matches!(void(marked(700)), Answer::Approved(_)), "the rest was charged back");
    assert_eq!(void(marked(300)), UNCERTAIN, "it may have been sent");
    assert!(matches!(void(json!({ "status": "chargedback" })), Answer::Declined(_)));
}

#[tokio::test]
async fn what_follows_is_not_sent_with_a_key_of_the_other_environment() {
    let nobody = super::judge::providers(9);
    let live = || credentials("sk_live_1");
    let follow_up = |amount| {
        super::stories::follow_up(Some("ch_1"), amount, regente_domain::payment_type::PaymentType::Credit)
    };
    for operation in [Operation::Capture(follow_up(700)), Operation::Void(follow_up(700))] {
        let answer = nobody.call(Call { credentials: live(), ..call(KEY, operation) }).await;
        assert_eq!(answer, Answer::NotSent, "an earlier one may have been sent with another key");
    }
    let authorization = Operation::Authorize(card_authorization("123"));
    declined(nobody.call(Call { credentials: live(), ..call(KEY, authorization) }).await);
}
