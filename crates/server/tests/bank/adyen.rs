//! The face of `ADYEN`: payments are answered at once; captures, cancellations and refunds are received, carried out later
//! and told by signed notifications. Nothing can be read.

use std::time::Duration;

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regente_domain::time::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use super::books::{CaseState, Face, Means, Payment, RefundState, Standing};
use super::faults::{Dice, Fault, Operation};
use super::news::{News, OfCapture, ToDo};
use super::{Inner, Said, Told, text, whole};

/// The key of the webhook.
pub const WEBHOOK_KEY: [u8; 32] = [0x44; 32];
/// The line of a boleto.
const LINE: &str = "34191.10121 34567.880058 71234.570001 6 16670000012345";
/// How long after its day a boleto may be paid.
const BOLETO_PAID_LATE: Duration = Duration::from_secs(12 * 60 * 60);

pub(super) fn account(said: &Said) -> String {
    said.headers.get("x-api-key").and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

pub(super) fn operation(said: &Said) -> Option<Operation> {
    match said.path.as_str() {
        "/paymentMethods" => None,
        "/payments" => Some(Operation::Authorize),
        path if path.ends_with("/captures") => Some(Operation::Capture),
        _ => Some(Operation::Void),
    }
}

pub(super) fn answer(bank: &mut Inner, account: &str, said: &Said, fault: Fault) -> Told {
    let path: Vec<&str> = said.path.trim_start_matches('/').split('/').collect();
    let sent = said.json();
    match path.as_slice() {
        ["paymentMethods"] => (200, json!({ "paymentMethods": [] })),
        ["payments"] => pay(bank, account, &sent, fault),
        ["cancels"] => {
            let of = text(&sent["paymentReference"]);
            let place = bank.books.payments.iter().position(|payment| payment.reference == of);
            match place {
                Some(place) => received(bank, place, "cancels", &sent, fault),
                None => invalid(),
            }
        }
        ["payments", id, what] => match bank.books.find(id) {
            Some(place) => received(bank, place, what, &sent, fault),
            None => invalid(),
        },
        _ => (404, json!({})),
    }
}

fn pay(bank: &mut Inner, account: &str, sent: &Value, fault: Fault) -> Told {
    let (now, reference) = (bank.now(), text(&sent["reference"]).to_owned());
    let mut parts = reference.splitn(3, '-').map(|part| Uuid::try_parse(part).unwrap_or_default());
    let until = |name: &str| Timestamp::parse(text(&sent[name]));
    let (means, until) = match text(&sent["paymentMethod"]["type"]) {
        "pix" => (Means::Pix, until("sessionValidity")),
        "boletobancario" => (Means::Boleto, until("deliverAt").map(|at| at + BOLETO_PAID_LATE)),
        _ => (Means::Card, None),
    };
    let payment = Payment {
        id: format!("PSP{}", bank.number()),
        face: Face::Adyen,
        account: account.to_owned(),
        object_id: parts.next().unwrap(),
        key: parts.next().unwrap(),
        reference: reference.clone(),
        means,
        at: now,
        amount: whole(&sent["amount"]["value"]),
        standing: Standing::Refused,
        is_captured_at_once: sent["additionalData"]["manualCapture"] != "true",
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
    let payment = &bank.books.payments[place];
    let mut told = json!({ "pspReference": payment.id, "merchantReference": payment.reference });
    match payment.standing {
        Standing::Refused => {
            told["resultCode"] = json!("Refused");
            (told["refusalReason"], told["refusalReasonCode"]) = (json!("Not enough balance"), json!("12"));
        }
        Standing::Waiting { until } if payment.means == Means::Pix => {
            told["resultCode"] = json!("Pending");
            told["action"] = json!({
                "type": "qrCode", "paymentMethodType": "pix", "expiresAt": until.to_string(),
                "qrCodeData": format!("00020126580014br.gov.bcb.pix{}", payment.id),
            });
        }
        Standing::Waiting { .. } => {
            told["resultCode"] = json!("PresentToShopper");
            told["action"] =
                json!({ "type": "voucher", "paymentMethodType": "boletobancario_itau", "reference": LINE });
        }
        Standing::Undecided
        | Standing::Expired
        | Standing::Reserved
        | Standing::Taken
        | Standing::Released => told["resultCode"] = json!("Authorised"),
    }
    (200, told)
}

fn received(bank: &mut Inner, place: usize, what: &str, sent: &Value, fault: Fault) -> Told {
    let (id, reference) = (format!("MOD{}", bank.number()), text(&sent["reference"]).to_owned());
    let amount = || whole(&sent["amount"]["value"]);
    let told = json!({ "status": "received", "pspReference": id, "reference": reference });
    bank.to_do.push(match what {
        "captures" => {
            ToDo::Capture { place, id, reference, amount: amount(), fails: fault == Fault::Retracts }
        }
        "refunds" => ToDo::Refund { place, id, reference, amount: amount() },
        _ => ToDo::Release { place, id, reference },
    });
    (201, told)
}

fn invalid() -> Told {
    (
        422,
        json!({ "status": 422, "errorCode": "167", "message": "Original pspReference required for this operation" }),
    )
}

/// The notifications that tell of it.
pub(super) fn events(payment: &Payment, news: &News, at: Timestamp) -> Vec<Value> {
    let (own, original) = ((payment.id.clone(), String::new()), payment.id.clone());
    let named = |id: &str| (id.to_owned(), original.clone());
    let of_payment = payment.reference.as_str();
    let mut more = json!({});
    let ((psp, original), code, success, reference, amount) = match news {
        News::Refused => (own, "AUTHORISATION", false, of_payment, payment.amount),
        News::Authorized => (own, "AUTHORISATION", true, of_payment, payment.amount),
        News::Paid => (own, "AUTHORISATION", true, of_payment, payment.taken),
        News::Expired => (own, "OFFER_CLOSED", true, of_payment, payment.amount),
        News::Captured => {
            let by = payment.captured_by.as_ref().unwrap();
            (named(&by.id), "CAPTURE", true, by.reference.as_str(), payment.taken)
        }
        News::CaptureFailed(OfCapture { id, reference, amount }) => {
            (named(id), "CAPTURE", false, reference.as_str(), *amount)
        }
        News::CaptureRetracted(OfCapture { id, reference, amount }) => {
            (named(id), "CAPTURE_FAILED", true, reference.as_str(), *amount)
        }
        News::Retracted => (own, "AUTHORISATION", false, of_payment, payment.amount),
        News::Released { by } => {
            let by = by.as_deref().unwrap();
            (named(&format!("CAN{}", payment.id)), "CANCELLATION", true, by, payment.amount)
        }
        News::ReleaseFailed { id, reference } => {
            (named(id), "CANCELLATION", false, reference.as_str(), payment.amount)
        }
        News::Refunded(refund) => {
            let refund = &payment.refunds[*refund];
            let success = refund.state == RefundState::Done;
            (named(&refund.id), "REFUND", success, refund.reference.as_str(), refund.amount)
        }
        News::CaseOpened(case) => {
            let case = &payment.cases[*case];
            more["defendable"] = json!("true");
            (named(&case.id), "NOTIFICATION_OF_CHARGEBACK", true, of_payment, case.amount)
        }
        News::CaseEnded(case) => {
            let case = &payment.cases[*case];
            let code = match case.state {
                // Another word of the same code, sum and case would be signed alike, and is taken for its repetition.
                CaseState::Won if case.ends > 2 => "PREARBITRATION_WON",
                CaseState::Won => "CHARGEBACK_REVERSED",
                CaseState::Lost if case.ends > 1 => "SECOND_CHARGEBACK",
                CaseState::Open | CaseState::Lost => "CHARGEBACK",
            };
            // What begins a case names it always.
            let names_itself = code != "CHARGEBACK" && payment.names_itself_alone();
            let name = if names_itself { own } else { named(&case.id) };
            (name, code, true, of_payment, case.amount)
        }
        // The answer has told it.
        News::Waits => return Vec::new(),
    };
    let signed = format!("{psp}:{original}:{MERCHANT}:{reference}:{amount}:BRL:{code}:{success}");
    let key = hmac::Key::new(hmac::HMAC_SHA256, &WEBHOOK_KEY);
    more["hmacSignature"] = json!(STANDARD.encode(hmac::sign(&key, signed.as_bytes()).as_ref()));
    let item = json!({
        "eventCode": code, "success": success.to_string(), "pspReference": psp, "originalReference": original,
        "merchantAccountCode": MERCHANT, "merchantReference": reference, "eventDate": at.to_string(),
        "amount": { "currency": "BRL", "value": amount }, "reason": "", "additionalData": more,
        "paymentMethod": match payment.means {
            Means::Card => "visa",
            Means::Pix => "pix",
            Means::Boleto => "boletobancario",
        },
    });
    vec![json!({ "live": "false", "notificationItems": [{ "NotificationRequestItem": item }] })]
}

/// The same with whatever the signature does not cover changed at random.
pub(super) fn altered(body: &Value, dice: &mut Dice) -> Value {
    let mut body = body.clone();
    body["live"] = json!("true");
    let item = &mut body["notificationItems"][0]["NotificationRequestItem"];
    item["reason"] = json!(dice.pick(&["", "FRAUD", "Expired Card", "0: approved"]));
    item["paymentMethod"] = json!(dice.pick(&["visa", "pix", "boletobancario"]));
    item["operations"] = json!(["CANCEL", "CAPTURE", "REFUND"]);
    for (name, text) in [
        ("defendable", "false"),
        ("refusalReasonRaw", "05 : Do not honor"),
        ("merchantAdviceCode", "03"),
        ("authCode", "000000"),
        ("acquirerReference", "another"),
        ("modification.action", "refund"),
        ("authorisedAmountValue", "1"),
        ("totalFraudScore", "100"),
    ] {
        if dice.one_in(2) {
            item["additionalData"][name] = json!(text);
        }
    }
    // Of two ends of a case the later one counts, and so does a refusal that is later than the approval: by this date, which
    // nothing else could stand for.
    let (code, is_refusal) = (text(&item["eventCode"]), item["success"] == "false");
    let is_dated = code.contains("CHARGEBACK") || code.contains("ARBITRATION") || is_refusal;
    if !is_dated {
        item["eventDate"] = json!(dice.pick(&["2001-01-01T00:00:00Z", "2099-12-31T23:59:59+14:00"]));
    }
    body
}

/// The merchant account.
pub const MERCHANT: &str = "Shop";
