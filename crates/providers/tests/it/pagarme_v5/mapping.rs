//! What the provider's answers mean, by recorded bodies.

use regente_domain::boleto::{Fine, FineRate, Interest, InterestRate};
use regente_domain::currency::Currency;
use regente_domain::decline::DeclinedCode;
use regente_domain::percentage::Percentage;
use regente_domain::time::Timestamp;
use regente_providers::outcome::{
    Answer, Approval, Finding, Instructions, PayerPayment, Pending, Probe, Reversal, ReversalKind,
    UnknownReason,
};
use regente_providers::pagarme_v5::tell::{self, Extent, Void};
use regente_providers::pagarme_v5::wire::told::Charge;

use super::*;
use crate::support::at;

const UNCERTAIN: Answer = Answer::Unknown(UnknownReason::ProviderFailed);

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[track_caller]
fn instructions(answer: Answer) -> Pending {
    let Answer::Pending(pending) = answer else { panic!("not pending: {answer:?}") };
    *pending
}

#[track_caller]
fn reason(answer: Answer) -> (DeclinedCode, String, bool) {
    let Answer::Declined(decline) = answer else { panic!("not declined: {answer:?}") };
    (decline.code, decline.network_denied_reason.unwrap(), decline.retryable)
}

#[test]
fn an_approved_card_gives_every_identifier() {
    let expected = Approval {
        transaction_id: text("ch_K2rJ5nlHwTE4qRDP"),
        authorization_code: text("236689"),
        authorization_nsu: text("34960"),
        network_authorization_code: None,
        network_response_code: text("00"),
        response_code: text("200"),
        network_transaction_id: text("MCC8IJ0KP0901"),
        paid_as: None,
    };
    assert_eq!(ordered(&answered(200, &order_card())), Answer::Approved(expected.clone()));
    let reserved = json!({
        "status": "pending", "paid_amount": null,
        "last_transaction": { "status": "authorized_pending_capture", "operation_type": "auth_only" },
    });
    let answer = tell::ordered(&answered(200, &order_with(order_card(), reserved)), CaptureMode::Manual);
    assert_eq!(answer, Answer::Approved(expected));
}

#[test]
fn a_refused_card_keeps_the_acquirers_code() {
    let refused = json!({
        "status": "failed",
        "last_transaction": {
            "status": "not_authorized", "success": false, "acquirer_return_code": "51",
            "acquirer_message": "Transação não autorizada",
        },
    });
    let Answer::Declined(decline) = ordered(&answered(200, &order_with(order_card(), refused))) else {
        panic!("not declined")
    };
    assert_eq!(decline.code, DeclinedCode::InsufficientFunds);
    assert_eq!(decline.network_denied_reason.as_deref(), Some("51"));
    assert_eq!(decline.network_denied_message.as_deref(), Some("Transação não autorizada"));
    assert_eq!(decline.transaction_id.as_deref(), Some("ch_K2rJ5nlHwTE4qRDP"));
}

#[test]
fn what_is_not_decided_is_unknown() {
    let undecided = [
        json!({ "status": "processing" }),
        json!({ "status": "pending", "last_transaction": { "status": "pending_review" } }),
        json!({ "status": "pending", "last_transaction": null }),
        json!({ "status": "a_new_word" }),
        json!({ "payment_method": "cash" }),
    ];
    for members in undecided {
        let order = order_with(order_card(), members.clone());
        assert_eq!(ordered(&answered(200, &order)), UNCERTAIN, "{members}");
        assert_eq!(read(&answered(200, &order["charges"][0])), Probe::Unknown, "{members}");
    }
    let no_charges = [json!({ "charges": [] }), json!({ "charges": null }), json!({}), json!([])];
    for body in no_charges {
        assert_eq!(ordered(&answered(200, &body)), UNCERTAIN, "{body}");
    }
    let two = json!({ "charges": [order_card()["charges"][0], order_card()["charges"][0]] });
    assert_eq!(ordered(&answered(200, &two)), UNCERTAIN);
    for unreadable in ["", "<html>", "{\"charges\": [", "null"] {
        let answer = ordered(&raw(200, unreadable));
        assert_eq!(answer, Answer::Unknown(UnknownReason::Unreadable), "{unreadable}");
        assert_eq!(
            tell::searched(&raw(200, unreadable), CODE, CAPTURED, Probe::Absent),
            Probe::Unknown,
            "{unreadable}"
        );
    }
}

#[test]
fn a_status_says_whether_anything_may_have_happened() {
    let body = json!({ "message": "a text" });
    // 412: its members were right, and it failed.
    for status in [300, 302, 402, 405, 408, 409, 412, 425, 451, 500, 502, 503, 504] {
        assert_eq!(ordered(&answered(status, &body)), UNCERTAIN, "{status}");
    }
    let refusals = [
        (400, DeclinedCode::Generic),
        (401, DeclinedCode::InvalidMerchant),
        (403, DeclinedCode::InvalidMerchant),
        (404, DeclinedCode::Generic),
        (422, DeclinedCode::Generic),
        (429, DeclinedCode::TryAgain),
    ];
    for (status, code) in refusals {
        let expected = (code, format!("http {status}"), true);
        assert_eq!(reason(ordered(&answered(status, &body))), expected);
    }
}

#[test]
fn a_request_that_is_not_taken_is_told_by_the_name_of_the_member() {
    let recorded = include_str!("bodies/refused_request.json");
    let Answer::Declined(decline) = ordered(&raw(422, recorded)) else { panic!("not declined") };
    assert_eq!(decline.code, DeclinedCode::InvalidNumber);
    let reason_text = decline.network_denied_reason.clone().unwrap();
    assert_eq!(reason_text, "http 422 order.payments[0].credit_card.card.number");
    assert!(!format!("{decline:?}").contains(CARD), "the texts repeat the card");

    let named = |member: &str| {
        reason({
            let refusal = json!({ "message": "The request is invalid.", "errors": { member: ["x"] } });
            ordered(&answered(422, &refusal))
        })
    };
    assert_eq!(named("order.payments[0].credit_card.card.cvv").0, DeclinedCode::InvalidCvv);
    assert_eq!(named("order.payments[0].credit_card.card.exp_year").0, DeclinedCode::ExpiredCard);
    assert_eq!(named("order.payments[0].credit_card.installments").0, DeclinedCode::InvalidInstallment);
    assert_eq!(named("order.customer.address.number").0, DeclinedCode::Generic);
    for no_name in ["the card 4000000000000010", "x4000000000000010", "é", ""] {
        assert_eq!(named(no_name).1, "http 422", "{no_name}");
    }
}

#[test]
fn a_pix_waits_with_its_code_and_is_paid() {
    let pending = instructions(ordered(&answered(200, &order_pix())));
    let Instructions::QrCode { data } = &pending.instructions else { panic!("{:?}", pending.instructions) };
    assert!(data.starts_with("00020101021226880014br.gov.bcb.pix"), "{data}");
    assert_eq!(pending.reference.transaction_id.as_deref(), Some("ch_LmAWb7xfYEfzQ7Bd"));
    assert_eq!(pending.expires_at, Timestamp::parse("2026-09-01T12:15:00Z"));

    let charge = charge_of(
        &order_pix(),
        json!({
            "status": "paid", "paid_amount": 1500, "last_transaction": { "status": "paid", "end_to_end_id": "E7" },
        }),
    );
    let Probe::Found(Finding::Paid(payments)) = read(&answered(200, &charge)) else { panic!("not paid") };
    let [PayerPayment { reference, amount, taken_back: None }] = payments.as_slice() else {
        panic!("{payments:?}")
    };
    assert_eq!((*amount, reference.network_authorization_code.as_deref()), (cents(1500), Some("E7")));

    let no_code = json!({ "last_transaction": { "qr_code": null } });
    assert_eq!(ordered(&answered(200, &order_with(order_pix(), no_code))), UNCERTAIN);
    let expired = json!({ "status": "failed", "last_transaction": { "status": "failed" } });
    let answer = ordered(&answered(200, &order_with(order_pix(), expired)));
    assert_eq!(reason(answer).0, DeclinedCode::Generic);
}

#[test]
fn a_boleto_waits_with_its_line() {
    let pending = instructions(ordered(&answered(200, &order_boleto())));
    let Instructions::Boleto(boleto) = pending.instructions else { panic!("{:?}", pending.instructions) };
    assert_eq!(boleto.barcode.printed_line(), "34191.10121 34567.880058 71234.570001 6 16670000012345");
    assert_eq!((boleto.bank_name.as_str(), boleto.our_number.as_str()), ("341", "12345678"));
    assert_eq!(boleto.due.to_string(), "2027-01-05");
    assert_eq!(boleto.pix_code.as_deref(), Some("00020101021226bolepix"));
    let interest = InterestRate::PercentagePerMonth(Percentage::from_hundredths(150));
    assert_eq!(boleto.late_charges.interest, Some(Interest { days: 1, rate: interest }));
    assert_eq!(boleto.late_charges.fine, Some(Fine { days: 2, rate: FineRate::Amount(cents(250)) }));

    let no_line =
        json!({ "last_transaction": { "line": "34191.10121 34567.880058 71234.570001 7 16670000012345" } });
    assert_eq!(ordered(&answered(200, &order_with(order_boleto(), no_line))), UNCERTAIN);
    let less = charge_of(&order_boleto(), json!({ "status": "underpaid", "paid_amount": 12000 }));
    let Probe::Found(Finding::Paid(payments)) = read(&answered(200, &less)) else { panic!("not paid") };
    assert_eq!(payments[0].amount, cents(12000));
    // How much less it is, nobody guesses.
    let untold = charge_of(&order_boleto(), json!({ "status": "underpaid" }));
    assert_eq!(read(&answered(200, &untold)), Probe::Unknown);
}

#[test]
fn a_charge_that_was_charged_back_was_taken_before() {
    let charge = charge_of(&order_card(), json!({ "status": "chargedback" }));
    let Probe::Found(Finding::Reversed { taken, reversals }) = read(&answered(200, &charge)) else {
        panic!("not reversed")
    };
    assert!(matches!(*taken, Finding::Approved(_)), "{taken:?}");
    let id = "chargeback ch_K2rJ5nlHwTE4qRDP".to_owned();
    let reversal = Reversal::new(ReversalKind::ChargedBack, id, None);
    assert_eq!(reversals, [Reversal { currency: Some(Currency::BRL), ..reversal }]);
}

#[test]
fn an_authorization_is_found_by_exactly_its_code() {
    let found = |orders: &[Value]| {
        tell::searched(&answered(200, &json!({ "data": orders })), CODE, CAPTURED, Probe::Absent)
    };
    let coded = |code: &str| {
        let mut order = order_card();
        order["code"] = json!(code);
        order
    };
    assert_eq!(found(&[]), Probe::Absent);
    // The provider's search may ignore case; base64 does not.
    assert_eq!(found(&[coded(&CODE.to_lowercase())]), Probe::Absent);
    assert!(matches!(found(&[coded(&CODE.to_lowercase()), coded(CODE)]), Probe::Found(Finding::Approved(_))));
    assert_eq!(found(&[coded(CODE), coded(CODE)]), Probe::Unknown, "two orders for one authorization");
    assert_eq!(tell::searched(&answered(401, &json!({})), CODE, CAPTURED, Probe::Absent), Probe::Unknown);
}

fn charge(members: Value) -> Charge {
    serde_json::from_value(charge_of(&order_card(), members)).unwrap()
}

#[test]
fn the_first_void_is_marked_at_the_charge_before_it_is_sent() {
    let first = |members, amount| {
        let void = tell::void(&charge(members), KEY, cents(amount), at());
        let Void::First { marked, extent } = void else { panic!("{void:?}") };
        (json!(marked), extent)
    };
    let mark = "regente_void_AAAAAAAAAAAAAAAAAAAAAg";
    assert_eq!(first(json!({}), 1500), (json!({ mark: "0+1500@1767225600000" }), Extent::Whole));
    assert_eq!(first(json!({}), 400), (json!({ mark: "0+400@1767225600000" }), Extent::Part));
    let refunded = json!({ "canceled_amount": 1100, "metadata": { "a": 1 } });
    assert_eq!(first(refunded, 400), (json!({ "a": 1, mark: "1100+400@1767225600000" }), Extent::Part));
    let reserved = json!({
        "status": "pending", "paid_amount": null, "last_transaction": { "status": "authorized_pending_capture" },
    });
    assert_eq!(first(reserved, 1500).1, Extent::Whole);
}

#[test]
fn a_repeated_void_reads_at_the_charge_what_became_of_the_first() {
    let marked = |amount: i64, members: Value| {
        let mark =
            json!({ "metadata": { "regente_void_AAAAAAAAAAAAAAAAAAAAAg": format!("300+{amount}@0") } });
        let mut charge = charge_of(&order_card(), mark);
        merge(&mut charge, members);
        tell::void(&serde_json::from_value(charge).unwrap(), KEY, cents(amount), at())
    };
    let is_approved = |void: Void| matches!(void, Void::Answered(Answer::Approved(_)));
    assert!(matches!(marked(400, json!({ "canceled_amount": 300 })), Void::Again { .. }));
    assert!(is_approved(marked(400, json!({ "canceled_amount": 700 }))));
    assert!(is_approved(marked(1200, json!({ "canceled_amount": 1500, "status": "canceled" }))));
    let on_its_way = json!({ "canceled_amount": 300, "last_transaction": { "status": "pending_refund" } });
    assert!(matches!(marked(400, on_its_way), Void::Answered(Answer::Accepted(_))));
}

#[test]
fn what_is_gone_is_not_given_back_again() {
    let void = |members, amount| {
        let void = tell::void(&charge(members), KEY, cents(amount), at());
        let Void::Answered(answer) = void else { panic!("{void:?}") };
        answer
    };
    let canceled = || json!({ "status": "canceled", "canceled_amount": 1500 });
    assert!(matches!(void(canceled(), 1500), Answer::Approved(_)), "the payer has it");
    assert_eq!(reason(void(canceled(), 400)).0, DeclinedCode::TransactionNotAllowed);
    let failed = json!({ "status": "failed", "last_transaction": { "status": "voided" } });
    assert_eq!(reason(void(failed, 1500)).0, DeclinedCode::TransactionNotAllowed);
    assert_eq!(reason(void(json!({ "status": "chargedback" }), 1500)).0, DeclinedCode::TransactionNotAllowed);
    assert_eq!(reason(void(json!({ "canceled_amount": 1200 }), 400)).0, DeclinedCode::InvalidAmount);
    assert_eq!(void(json!({ "status": "processing" }), 1500), UNCERTAIN);
    let other = json!({ "last_transaction": { "status": "pending_refund" } });
    assert_eq!(void(other, 400), UNCERTAIN, "another refund is on its way");
}

#[test]
fn the_answer_to_a_void_is_that_of_its_transaction() {
    let answer = |members| tell::voided(&answered(200, &charge_of(&order_card(), members)));
    let transaction = |status: &str| json!({ "last_transaction": { "id": "tran_7", "status": status } });
    for status in ["voided", "partial_void", "refunded", "partial_refunded"] {
        let Some(Answer::Approved(approval)) = answer(transaction(status)) else { panic!("{status}") };
        assert_eq!(approval.transaction_id.as_deref(), Some("tran_7"));
    }
    assert!(matches!(answer(json!({ "status": "canceled" })), Some(Answer::Approved(_))));
    let Some(Answer::Accepted(approval)) = answer(transaction("pending_refund")) else {
        panic!("not accepted")
    };
    assert_eq!(
        approval.transaction_id.as_deref(),
        Some("ch_K2rJ5nlHwTE4qRDP"),
        "it is asked about by the charge"
    );
    assert_eq!(answer(transaction("with_error")), Some(UNCERTAIN), "the acquirer may have done it");
    assert_eq!(answer(transaction("captured")), Some(UNCERTAIN));
    let refusal = json!({ "message": "a text" });
    for status in [400, 404, 412, 422] {
        assert_eq!(tell::voided(&answered(status, &refusal)), None, "{status}");
    }
    for status in [401, 403, 408, 409, 429, 500, 503] {
        assert_eq!(tell::voided(&answered(status, &refusal)), Some(UNCERTAIN), "{status}");
    }
}

#[test]
fn the_answer_to_a_capture_has_its_amount() {
    let answer =
        |status, members| tell::capture(&answered(status, &charge_of(&order_card(), members)), cents(700));
    let paid = |amount| json!({ "paid_amount": amount, "last_transaction": { "id": "tran_7" } });
    let Some(Answer::Approved(approval)) = answer(200, paid(700)) else { panic!("not approved") };
    assert_eq!(approval.transaction_id.as_deref(), Some("tran_7"));
    assert_eq!(answer(200, paid(1500)), Some(UNCERTAIN), "somebody else has captured it");
    let last = json!({ "status": "not_authorized", "success": false, "acquirer_return_code": "51" });
    let refused = json!({ "status": "pending", "last_transaction": last });
    assert!(matches!(answer(200, refused), Some(Answer::Declined(_))));
    let refusal = |status| tell::capture(&answered(status, &json!({ "message": "a text" })), cents(700));
    assert_eq!(refusal(412), None);
    assert_eq!(refusal(401), Some(UNCERTAIN));
}
