//! The face of `PAGARME_V5`: orders with one charge, operations on the charge, and notifications with a password.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use regente_domain::time::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use super::books::{Capture, CaseState, Face, Means, Payment, RefundState, Standing};
use super::faults::{Fault, Operation};
use super::news::News;
use super::{Inner, Said, Told, text, whole};

/// How long the list of orders does not show what is new.
const LIST_LAGS: Duration = Duration::from_secs(5 * 60);
/// The line of a boleto.
const LINE: &str = "34191.10121 34567.880058 71234.570001 6 16670000012345";
/// What is entered at the webhook.
pub const WEBHOOK: (&str, &str) = ("regente", "a secret");

pub(super) fn account(said: &Said) -> String {
    let sent = said.headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let pair = STANDARD.decode(sent.trim_start_matches("Basic ")).unwrap_or_default();
    String::from_utf8_lossy(&pair).trim_end_matches(':').to_owned()
}

pub(super) fn operation(said: &Said) -> Option<Operation> {
    match said.method.as_str() {
        // The question without effect.
        "GET" if said.path == "/charges" => None,
        "GET" => Some(Operation::Read),
        "POST" if said.path == "/orders" => Some(Operation::Authorize),
        "POST" => Some(Operation::Capture),
        _ => Some(Operation::Void),
    }
}

pub(super) fn answer(bank: &mut Inner, account: &str, said: &Said, fault: Fault) -> Told {
    let path: Vec<&str> = said.path.trim_start_matches('/').split('/').collect();
    match (said.method.as_str(), path.as_slice()) {
        ("GET", ["charges"]) => (200, json!({ "data": [] })),
        ("POST", ["orders"]) => order(bank, account, &said.json(), fault),
        ("GET", ["orders"]) => (200, json!({ "data": listed(bank, account, &said.query["code"]) })),
        (method, ["charges", id, rest @ ..]) => {
            let Some(place) = bank.books.find(id) else { return no(404) };
            match (method, rest) {
                ("GET", []) => (200, charge(&bank.books.payments[place], bank.now())),
                ("PATCH", ["metadata"]) => mark(bank, place, &said.json()),
                ("POST", ["capture"]) => capture(bank, place, &said.json()),
                ("DELETE", []) => cancel(bank, place, &said.json()),
                _ => no(404),
            }
        }
        _ => no(404),
    }
}

fn order(bank: &mut Inner, account: &str, sent: &Value, fault: Fault) -> Told {
    let (now, code) = (bank.now(), text(&sent["code"]));
    let (object_id, key) = code.split_at(code.len() / 2);
    let long = |text: &str| Uuid::from_slice(&URL_SAFE_NO_PAD.decode(text).unwrap()).unwrap();
    let payment = &sent["payments"][0];
    let (means, until) = match text(&payment["payment_method"]) {
        "pix" => {
            let seconds = whole(&payment["pix"]["expires_in"]);
            (Means::Pix, Some(now + Duration::from_secs(seconds.unsigned_abs())))
        }
        // It can be paid until the end of its day, and a little longer.
        "boleto" => (Means::Boleto, Timestamp::parse(text(&payment["boleto"]["due_at"]))),
        _ => (Means::Card, None),
    };
    let payment = Payment {
        id: format!("ch_{}", bank.number()),
        face: Face::PagarmeV5,
        account: account.to_owned(),
        object_id: long(object_id),
        key: long(key),
        reference: code.to_owned(),
        means,
        at: now,
        amount: whole(&payment["amount"]),
        standing: Standing::Refused,
        is_captured_at_once: payment["credit_card"]["operation_type"] != "auth_only",
        taken: 0,
        captured_by: None,
        refunds: Vec::new(),
        cases: Vec::new(),
        metadata: serde_json::Map::new(),
        denied_until: None,
        is_retracted: false,
        added: 0,
        is_paid_twice: false,
        last: "",
    };
    let place = bank.begin(payment, until, fault);
    (200, order_of(&bank.books.payments[place], now))
}

fn listed(bank: &Inner, account: &str, code: &str) -> Vec<Value> {
    let now = bank.now();
    let is_meant = |payment: &&Payment| {
        payment.account == account && payment.reference == code && now.since(payment.at) > LIST_LAGS
    };
    bank.books.payments.iter().filter(is_meant).map(|payment| order_of(payment, now)).collect()
}

fn mark(bank: &mut Inner, place: usize, sent: &Value) -> Told {
    let now = bank.now();
    let payment = &mut bank.books.payments[place];
    payment.metadata = sent["metadata"].as_object().unwrap().clone();
    (200, charge(payment, now))
}

fn capture(bank: &mut Inner, place: usize, sent: &Value) -> Told {
    let now = bank.now();
    let payment = &mut bank.books.payments[place];
    let reference = text(&sent["operation_reference"]).to_owned();
    let by = Capture { id: String::new(), reference, at: now, fails: false };
    if payment.capture(whole(&sent["amount"]), by).is_err() {
        return no(412);
    }
    payment.last = "captured";
    let told = (200, charge(payment, now));
    bank.tell(place, News::Captured);
    told
}

/// What is reserved, or waits for its payer, is released as a whole; of what was taken any part is given back. A payer of a
/// Pix gets it later.
fn cancel(bank: &mut Inner, place: usize, sent: &Value) -> Told {
    let (now, amount) = (bank.now(), whole(&sent["amount"]));
    let id = format!("tran_{}", bank.number());
    let payment = &mut bank.books.payments[place];
    let news = match payment.standing {
        Standing::Reserved | Standing::Waiting { .. } if amount < payment.amount => return no(412),
        Standing::Reserved | Standing::Waiting { .. } => {
            payment.release().unwrap();
            payment.last = "voided";
            News::Released { by: None }
        }
        Standing::Taken => {
            let state = match payment.means {
                Means::Card => RefundState::Done,
                Means::Pix => RefundState::UnderWay,
                // It asks for the account of the payer.
                Means::Boleto => return no(412),
            };
            let reference = text(&sent["operation_reference"]).to_owned();
            if payment.under_way() > 0 || payment.refund(id, reference, amount, state).is_err() {
                return no(412);
            }
            payment.last = match state {
                RefundState::UnderWay => "pending_refund",
                RefundState::Done | RefundState::Failed => "partial_refunded",
            };
            News::Refunded(payment.refunds.len() - 1)
        }
        Standing::Undecided | Standing::Refused | Standing::Expired | Standing::Released => return no(412),
    };
    let told = (200, charge(payment, now));
    bank.tell(place, news);
    told
}

fn no(status: u16) -> Told {
    (status, json!({ "message": "The request is invalid.", "errors": {} }))
}

fn order_of(payment: &Payment, now: Timestamp) -> Value {
    let charge = charge(payment, now);
    json!({
        "id": format!("or_{}", payment.id), "code": payment.reference, "amount": payment.amount, "currency": "BRL",
        "closed": true, "status": charge["status"], "charges": [charge],
    })
}

fn charge(payment: &Payment, now: Timestamp) -> Value {
    let is_denied = payment.denied_until.is_some_and(|until| now < until);
    let is_gone = payment.taken > 0 && payment.refunded() == payment.taken;
    let is_back = payment.cases.iter().any(|case| case.state == CaseState::Lost);
    let (status, last) = match payment.standing {
        Standing::Refused => ("failed", "not_authorized"),
        Standing::Expired => ("failed", "failed"),
        Standing::Undecided | Standing::Reserved => ("pending", "authorized_pending_capture"),
        Standing::Waiting { .. } if payment.means == Means::Pix => ("pending", "waiting_payment"),
        Standing::Waiting { .. } => ("pending", "generated"),
        Standing::Taken if is_back => ("chargedback", payment.last),
        Standing::Taken if is_gone => ("canceled", "refunded"),
        Standing::Taken if payment.taken < payment.amount && payment.means != Means::Card => {
            ("underpaid", payment.last)
        }
        Standing::Taken if payment.taken > payment.amount => ("overpaid", payment.last),
        Standing::Taken => ("paid", payment.last),
        Standing::Released if payment.is_retracted => ("failed", "not_authorized"),
        Standing::Released => ("canceled", "voided"),
    };
    let (status, last) = if is_denied { ("failed", "with_error") } else { (status, last) };
    let is_voided = payment.standing == Standing::Released && !payment.is_retracted;
    let canceled = if is_voided { payment.amount } else { payment.refunded() };
    let mut transaction = json!({
        "id": format!("tran_{}", payment.id), "status": last, "amount": payment.amount,
        "success": !matches!(last, "not_authorized" | "failed" | "with_error"),
        "gateway_response": { "code": if is_denied { "504" } else { "200" } },
    });
    if let Some(until) = payment.waits_until() {
        let (name, code, when) = match payment.means {
            Means::Pix => {
                ("qr_code", format!("00020101021226880014br.gov.bcb.pix{}", payment.id), "expires_at")
            }
            Means::Card | Means::Boleto => ("line", LINE.to_owned(), "due_at"),
        };
        (transaction[name], transaction[when]) = (json!(code), json!(until.to_string()));
        (transaction["bank"], transaction["nosso_numero"]) = (json!("341"), json!("12345678"));
    } else if payment.standing == Standing::Refused && !is_denied {
        transaction["acquirer_return_code"] = json!("51");
    } else if payment.standing == Standing::Released && payment.is_retracted {
        transaction["antifraud_response"] = json!({ "status": "reproved", "return_code": "R1" });
    } else if !is_denied && payment.standing != Standing::Expired {
        transaction["acquirer_return_code"] = json!("00");
    }
    let mut charge = json!({
        "id": payment.id, "code": payment.reference, "amount": payment.amount, "status": status, "currency": "BRL",
        "payment_method": match payment.means {
            Means::Card => "credit_card",
            Means::Pix => "pix",
            Means::Boleto => "boleto",
        },
        "metadata": payment.metadata, "last_transaction": transaction,
    });
    if payment.taken > 0 && !is_denied {
        charge["paid_amount"] = json!(payment.taken);
    }
    if canceled > 0 {
        charge["canceled_amount"] = json!(canceled);
    }
    charge
}

/// The notifications that tell of it.
pub(super) fn events(payment: &Payment, news: &News, number: u64, at: Timestamp) -> Vec<Value> {
    let kind = match news {
        News::Refused | News::Expired => "charge.payment_failed",
        News::Authorized if payment.standing == Standing::Reserved => "charge.pending",
        News::Authorized | News::Captured => "charge.paid",
        News::Paid if payment.taken < payment.amount => "charge.underpaid",
        News::Paid if payment.taken > payment.amount => "charge.overpaid",
        News::Paid => "charge.paid",
        News::Waits => "charge.pending",
        News::Released { .. } => "charge.refunded",
        News::Refunded(refund) if payment.refunds[*refund].state == RefundState::Done => {
            if payment.refunded() == payment.taken { "charge.refunded" } else { "charge.partial_canceled" }
        }
        News::CaseEnded(case) if payment.cases[*case].state == CaseState::Lost => "charge.chargedback",
        News::Retracted => "charge.antifraud_reproved",
        // It says nothing of these.
        News::Refunded(_)
        | News::CaseOpened(_)
        | News::CaseEnded(_)
        | News::CaptureFailed(_)
        | News::CaptureRetracted(_)
        | News::ReleaseFailed { .. } => return Vec::new(),
    };
    let mut data = charge(payment, at);
    data["order"] = json!({ "id": format!("or_{}", payment.id), "code": payment.reference });
    vec![json!({ "id": format!("hook_{number}"), "type": kind, "created_at": at.to_string(), "data": data })]
}

pub(super) fn signed((user, password): (&str, &str)) -> (&'static str, String) {
    ("Authorization", format!("Basic {}", STANDARD.encode(format!("{user}:{password}"))))
}
