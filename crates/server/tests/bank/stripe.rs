//! The face of `STRIPE`: payment intents, refunds, and signed events.

use std::collections::HashMap;
use std::time::Duration;

use aws_lc_rs::hmac;
use regente_domain::time::Timestamp;
use serde_json::{Map, Value, json};

use super::books::{Capture, Case, CaseState, Face, Means, No, Payment, Refund, RefundState, Standing};
use super::faults::{Fault, Operation};
use super::news::{News, Notice};
use super::{Inner, Said, Told, split};

/// The path of payments.
const PAYMENTS: &str = "/v1/payment_intents";
const REFUNDS: &str = "/v1/refunds";
/// How long the search does not show what is new.
const SEARCH_LAGS: Duration = Duration::from_secs(30 * 60);
/// The line of a boleto.
const LINE: &str = "34191.10121 34567.880058 71234.570001 6 16670000012345";

pub(super) fn account(said: &Said) -> String {
    let sent = said.headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
    sent.trim_start_matches("Bearer ").to_owned()
}

pub(super) fn operation(said: &Said) -> Option<Operation> {
    match (said.method.as_str(), said.path.as_str()) {
        ("GET", "/v1/balance") => None,
        ("GET", _) => Some(Operation::Read),
        (_, PAYMENTS) => Some(Operation::Authorize),
        (_, path) if path.ends_with("/capture") => Some(Operation::Capture),
        _ => Some(Operation::Void),
    }
}

pub(super) fn answer(bank: &mut Inner, account: &str, said: &Said, fault: Fault) -> Told {
    match (said.method.as_str(), said.path.as_str()) {
        ("GET", "/v1/balance") => (200, json!({ "object": "balance" })),
        ("POST", PAYMENTS) => pay(bank, account, &said.form(), fault),
        ("GET", PAYMENTS) => (200, list(made_between(bank, account, &said.query))),
        ("GET", path) if path == format!("{PAYMENTS}/search") => {
            (200, list(searched(bank, account, &said.query)))
        }
        ("POST", REFUNDS) => refund(bank, &said.form()),
        ("GET", REFUNDS) => (200, list(refunds_of(bank, &said.query["payment_intent"]))),
        ("GET", path) if path.starts_with(REFUNDS) => refund_by_id(bank, &path[REFUNDS.len() + 1..]),
        (method, path) => {
            let found = path.strip_prefix(PAYMENTS).and_then(|path| path.strip_prefix('/')).map(split);
            let Some((id, what)) = found else { return missing() };
            let Some(place) = bank.books.find(id) else { return missing() };
            match (method, what) {
                ("GET", "") => (200, intent(&bank.books.payments[place])),
                ("POST", "capture") => capture(bank, place, &said.form()),
                ("POST", "cancel") => cancel(bank, place, said.key()),
                _ => missing(),
            }
        }
    }
}

fn pay(bank: &mut Inner, account: &str, form: &HashMap<String, String>, fault: Fault) -> Told {
    let member = |name: &str| form.get(&format!("metadata[{name}]")).cloned();
    let now = bank.now();
    let boleto_days = form.get("payment_method_options[boleto][expires_after_days]");
    let metadata: Map<String, Value> = ["regente_object_id", "regente_key"]
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), json!(member(name)?))))
        .collect();
    let means = if boleto_days.is_some() { Means::Boleto } else { Means::Card };
    let until =
        boleto_days.map(|days| now + Duration::from_secs((1 + days.parse::<u64>().unwrap()) * 24 * 3600));
    let payment = Payment {
        id: format!("pi_{}", bank.number()),
        face: Face::Stripe,
        account: account.to_owned(),
        object_id: member("regente_object_id").unwrap().parse().unwrap(),
        key: member("regente_key").unwrap().parse().unwrap(),
        reference: String::new(),
        means,
        at: now,
        amount: form["amount"].parse().unwrap(),
        standing: Standing::Refused,
        is_captured_at_once: form.get("capture_method").is_none_or(|method| method != "manual"),
        taken: 0,
        captured_by: None,
        refunds: Vec::new(),
        cases: Vec::new(),
        metadata,
        denied_until: None,
        is_retracted: false,
        added: 0,
        is_paid_twice: false,
        last: "",
    };
    let place = bank.begin(payment, until, fault);
    let payment = &bank.books.payments[place];
    if payment.standing == Standing::Refused {
        return (402, json!({ "error": refused(payment, true) }));
    }
    (200, intent(payment))
}

fn capture(bank: &mut Inner, place: usize, form: &HashMap<String, String>) -> Told {
    let key = form["metadata[regente_capture_key]"].clone();
    let by = Capture { id: String::new(), reference: key.clone(), at: bank.now(), fails: false };
    let payment = &mut bank.books.payments[place];
    match payment.capture(form["amount_to_capture"].parse().unwrap(), by) {
        Ok(()) => {
            payment.metadata.insert("regente_capture_key".to_owned(), json!(key));
            let told = (200, intent(payment));
            bank.tell(place, News::Captured);
            told
        }
        Err(_) => invalid("payment_intent_unexpected_state"),
    }
}

fn cancel(bank: &mut Inner, place: usize, key: Option<&str>) -> Told {
    let payment = &mut bank.books.payments[place];
    if payment.release().is_err() {
        return invalid("payment_intent_unexpected_state");
    }
    let told = (200, intent(payment));
    bank.tell(place, News::Released { by: key.map(str::to_owned) });
    told
}

fn refund(bank: &mut Inner, form: &HashMap<String, String>) -> Told {
    let Some(place) = bank.books.find(&form["payment_intent"]) else { return missing() };
    let reference = form.get("metadata[regente_key]").cloned().unwrap_or_default();
    let id = format!("re_{}", bank.number());
    let state = if bank.is_quick() { RefundState::Done } else { RefundState::UnderWay };
    let payment = &mut bank.books.payments[place];
    let amount = form.get("amount").map_or(payment.kept(), |amount| amount.parse().unwrap());
    match payment.refund(id, reference, amount, state) {
        Ok(()) => {
            let told = (200, refund_shown(payment, payment.refunds.last().unwrap()));
            let refund = payment.refunds.len() - 1;
            bank.tell(place, News::Refunded(refund));
            told
        }
        Err(No::Disputed) => invalid("charge_disputed"),
        Err(No::Amount | No::Standing) => invalid("charge_already_refunded"),
    }
}

fn refund_by_id(bank: &Inner, id: &str) -> Told {
    let found = bank.books.payments.iter().find_map(|payment| {
        let refund = payment.refunds.iter().find(|refund| refund.id == id)?;
        Some(refund_shown(payment, refund))
    });
    found.map_or_else(missing, |refund| (200, refund))
}

fn refunds_of(bank: &Inner, id: &str) -> Vec<Value> {
    let Some(place) = bank.books.find(id) else { return Vec::new() };
    let payment = &bank.books.payments[place];
    payment.refunds.iter().rev().map(|refund| refund_shown(payment, refund)).collect()
}

fn of_account<'a>(bank: &'a Inner, account: &str) -> impl Iterator<Item = &'a Payment> {
    bank.books.payments.iter().rev().filter(move |payment| payment.account == account)
}

fn made_between(bank: &Inner, account: &str, query: &HashMap<String, String>) -> Vec<Value> {
    let limit = |name: &str, default: i64| query.get(name).map_or(default, |text| text.parse().unwrap());
    let (from, to) = (limit("created[gte]", 0), limit("created[lte]", i64::MAX));
    let is_between = |payment: &&Payment| (from..=to).contains(&seconds(payment.at));
    of_account(bank, account).filter(is_between).map(intent).collect()
}

fn searched(bank: &Inner, account: &str, query: &HashMap<String, String>) -> Vec<Value> {
    let (now, query) = (bank.now(), &query["query"]);
    let is_meant =
        |payment: &&Payment| query.contains(&payment.key.to_string()) && now.since(payment.at) > SEARCH_LAGS;
    of_account(bank, account).filter(is_meant).map(intent).collect()
}

fn intent(payment: &Payment) -> Value {
    let (status, capturable) = match payment.standing {
        Standing::Refused | Standing::Expired => ("requires_payment_method", 0),
        Standing::Undecided => ("processing", 0),
        Standing::Waiting { .. } => ("requires_action", 0),
        Standing::Reserved => ("requires_capture", payment.amount),
        Standing::Taken => ("succeeded", 0),
        Standing::Released => ("canceled", 0),
    };
    let error = (status == "requires_payment_method").then(|| refused(payment, false));
    let boleto = payment.waits_until().map(|until| {
        json!({
            "type": "boleto_display_details",
            "boleto_display_details": { "expires_at": seconds(until), "number": LINE },
        })
    });
    json!({
        "id": payment.id, "object": "payment_intent", "status": status, "currency": "brl",
        "amount": payment.amount, "amount_capturable": capturable, "amount_received": payment.taken,
        "created": seconds(payment.at), "last_payment_error": error, "next_action": boleto,
        "latest_charge": format!("ch_{}", payment.id), "metadata": payment.metadata,
    })
}

fn refused(payment: &Payment, is_answer: bool) -> Value {
    let mut error = json!({
        "type": "card_error", "code": "card_declined", "decline_code": "insufficient_funds",
        "message": "Your card has insufficient funds.",
    });
    if is_answer {
        error["payment_intent"] = intent(payment);
    }
    error
}

fn refund_shown(payment: &Payment, refund: &Refund) -> Value {
    let status = match refund.state {
        RefundState::UnderWay => "pending",
        RefundState::Done => "succeeded",
        RefundState::Failed => "failed",
    };
    json!({
        "id": refund.id, "object": "refund", "status": status, "currency": "brl", "amount": refund.amount,
        "payment_intent": payment.id,
        "metadata": { "regente_object_id": payment.object_id.to_string(), "regente_key": refund.reference },
    })
}

fn dispute_shown(payment: &Payment, case: &Case) -> Value {
    let status = match case.state {
        CaseState::Open => "needs_response",
        CaseState::Won => "won",
        CaseState::Lost => "lost",
    };
    json!({
        "id": case.id, "object": "dispute", "status": status, "currency": "brl", "amount": case.amount,
        "payment_intent": payment.id, "metadata": {},
    })
}

fn list(data: Vec<Value>) -> Value {
    json!({ "object": "list", "has_more": false, "data": data })
}

fn invalid(code: &str) -> Told {
    (400, json!({ "error": { "type": "invalid_request_error", "code": code, "message": code } }))
}

fn missing() -> Told {
    (404, json!({ "error": { "type": "invalid_request_error", "code": "resource_missing" } }))
}

fn seconds(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(1000)
}

/// The events that tell of it.
pub(super) fn events(payment: &Payment, news: &News, number: u64, at: Timestamp) -> Vec<Value> {
    let (kind, object, caused_by) = match news {
        News::Refused => ("payment_intent.payment_failed", intent(payment), None),
        News::Authorized if payment.standing == Standing::Reserved => {
            ("payment_intent.amount_capturable_updated", intent(payment), None)
        }
        News::Authorized | News::Captured | News::Paid => ("payment_intent.succeeded", intent(payment), None),
        News::Waits => ("payment_intent.requires_action", intent(payment), None),
        News::Expired => ("payment_intent.payment_failed", intent(payment), None),
        News::Released { by } => ("payment_intent.canceled", intent(payment), by.clone()),
        News::Refunded(refund) => {
            let refund = &payment.refunds[*refund];
            let kind = if refund.state == RefundState::Failed { "refund.failed" } else { "refund.updated" };
            (kind, refund_shown(payment, refund), None)
        }
        News::CaseOpened(case) => {
            ("charge.dispute.created", dispute_shown(payment, &payment.cases[*case]), None)
        }
        News::CaseEnded(case) => {
            ("charge.dispute.closed", dispute_shown(payment, &payment.cases[*case]), None)
        }
        // It knows neither.
        News::CaptureFailed(_) | News::CaptureRetracted(_) | News::Retracted | News::ReleaseFailed { .. } => {
            return Vec::new();
        }
    };
    vec![json!({
        "id": format!("evt_{number}"), "object": "event", "type": kind, "created": seconds(at),
        "request": { "id": null, "idempotency_key": caused_by }, "data": { "object": object },
    })]
}

/// The header with the signature, made now.
pub(super) fn signed(notice: &Notice, secret: &str, now: Timestamp) -> (&'static str, String) {
    let (seconds, body) = (seconds(now), &notice.body);
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let signature = hex::encode(hmac::sign(&key, format!("{seconds}.{body}").as_bytes()).as_ref());
    ("Stripe-Signature", format!("t={seconds},v1={signature}"))
}
