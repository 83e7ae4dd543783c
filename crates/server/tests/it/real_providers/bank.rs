//! A provider that keeps books: it stands for `STRIPE`, takes each idempotency key once, and shows what it has done.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::elsewhere::Said;
use super::{SUCCEEDED, body};

/// The path of payments.
const PAYMENTS: &str = "/stripe/v1/payment_intents";
const REFUNDS: &str = "/stripe/v1/refunds";

/// Clones share the books.
#[derive(Clone, Default)]
pub struct Bank(Arc<Mutex<Books>>);

#[derive(Default)]
struct Books {
    payments: Vec<Value>,
    refunds: Vec<Value>,
    /// What was answered to each key.
    answers: HashMap<String, Value>,
}

/// The money of one charge, in minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    pub payments: usize,
    pub reserved: i64,
    pub kept: i64,
}

impl Bank {
    /// The answer to a request; `None` to what it does not know.
    pub fn answer(&self, said: &Said) -> Option<(u16, Value)> {
        let mut books = self.0.lock().unwrap();
        let key = said.headers.get("idempotency-key").map(|key| key.to_str().unwrap().to_owned());
        let known = key.as_ref().and_then(|key| books.answers.get(&format!("{} {key}", said.path)));
        if let Some(known) = known {
            return Some((200, known.clone()));
        }
        let answer = match (said.method.as_str(), said.path.as_str()) {
            ("POST", PAYMENTS) => books.pay(&said.form()),
            // The search lags behind: it never finds what is new.
            ("GET", path) if path == format!("{PAYMENTS}/search") => list(&[]),
            ("GET", PAYMENTS) => list(&books.payments),
            ("POST", REFUNDS) => books.refund(&said.form()),
            ("GET", REFUNDS) => {
                let of_payment =
                    |refund: &&Value| refund["payment_intent"] == said.query()["payment_intent"].as_str();
                list(&books.refunds.iter().filter(of_payment).cloned().collect::<Vec<_>>())
            }
            (method, path) => {
                let (id, what) = path.strip_prefix(PAYMENTS)?.strip_prefix('/').map(split)?;
                let payment = books.payments.iter_mut().find(|payment| payment["id"] == id)?;
                match (method, what) {
                    ("GET", "") => {}
                    ("POST", "capture") => capture(payment, &said.form()),
                    ("POST", "cancel") => payment["status"] = json!("canceled"),
                    _ => return None,
                }
                payment.clone()
            }
        };
        if let Some(key) = key {
            books.answers.insert(format!("{} {key}", said.path), answer.clone());
        }
        Some((200, answer))
    }

    /// What it holds for a charge.
    pub fn held(&self, charge_id: &str) -> Held {
        let books = self.0.lock().unwrap();
        let of_charge = |payment: &&Value| payment["metadata"]["regente_object_id"] == charge_id;
        let mut held = Held::default();
        for payment in books.payments.iter().filter(of_charge) {
            let of_payment = |refund: &&Value| refund["payment_intent"] == payment["id"];
            let refunded: i64 =
                books.refunds.iter().filter(of_payment).map(|refund| number(&refund["amount"])).sum();
            held.payments += 1;
            match payment["status"].as_str().unwrap() {
                "requires_capture" => held.reserved += number(&payment["amount"]),
                "succeeded" => held.kept += number(&payment["amount_received"]) - refunded,
                _ => {}
            }
        }
        held
    }
}

impl Books {
    fn pay(&mut self, form: &HashMap<String, String>) -> Value {
        let amount: i64 = form["amount"].parse().unwrap();
        let is_reserved = form.get("capture_method").is_some_and(|method| method == "manual");
        let mut payment = body(SUCCEEDED);
        payment["id"] = json!(format!("pi_{}", self.payments.len()));
        payment["amount"] = json!(amount);
        payment["status"] = json!(if is_reserved { "requires_capture" } else { "succeeded" });
        payment["amount_received"] = json!(if is_reserved { 0 } else { amount });
        payment["metadata"] = metadata(form);
        self.payments.push(payment.clone());
        payment
    }

    fn refund(&mut self, form: &HashMap<String, String>) -> Value {
        let refund = json!({
            "id": format!("re_{}", self.refunds.len()), "object": "refund", "status": "succeeded", "currency": "brl",
            "amount": form["amount"].parse::<i64>().unwrap(), "payment_intent": form["payment_intent"],
            "metadata": metadata(form),
        });
        self.refunds.push(refund.clone());
        refund
    }
}

fn capture(payment: &mut Value, form: &HashMap<String, String>) {
    payment["status"] = json!("succeeded");
    payment["amount_received"] = json!(form["amount_to_capture"].parse::<i64>().unwrap());
    payment["metadata"]["regente_capture_key"] = json!(form["metadata[regente_capture_key]"]);
}

fn metadata(form: &HashMap<String, String>) -> Value {
    let member = |name: &str| form.get(&format!("metadata[{name}]"));
    json!({ "regente_object_id": member("regente_object_id"), "regente_key": member("regente_key") })
}

fn list(data: &[Value]) -> Value {
    json!({ "object": "list", "has_more": false, "data": data })
}

fn split(path: &str) -> (&str, &str) {
    path.split_once('/').unwrap_or((path, ""))
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap()
}
