//! Sessions of which clients pay some in each life of the service, and what each must be in the end.

use std::collections::HashMap;
use std::fmt;

use serde_json::{Value, json};

use super::clients::EXPIRES_IN_SECONDS;
use super::dice::Dice;
use crate::Outcome;
use crate::place::Account;
use crate::service::Service;

/// Sessions that are made before each kill.
const OF_A_ROUND: usize = 6;
/// Sessions on a page of the list.
const PAGE: usize = 100;
/// The simulator refuses to give 991 back; less than that is left of less.
const AMOUNTS: std::ops::Range<u64> = 1..980;

/// What its buyers need of a session.
#[derive(Clone)]
pub(super) struct ForSale {
    pub(super) id: String,
    pub(super) public_key: String,
    pub(super) methods: Vec<String>,
}

/// Makes the sessions of a round: paid once, several times, or as often as clients like.
pub(super) async fn make(
    service: &Service,
    account: &Account,
    merchants: &[String],
    dice: &mut Dice,
) -> Outcome<Vec<ForSale>> {
    let mut made = Vec::new();
    for _ in 0..OF_A_ROUND {
        let max_payments = dice.pick(&[Value::Null, Value::Null, json!(1), json!(4), json!(-1)]).clone();
        let mut methods = vec![json!({ "paymentType": "credit", "installments": 1 })];
        if max_payments != 4 {
            methods.push(json!({ "paymentType": "pix", "expiresIn": EXPIRES_IN_SECONDS }));
        }
        let body = json!({
            "merchantId": dice.pick(merchants), "amount": dice.price(AMOUNTS), "capture": dice.one_in(2),
            "orderId": format!("session {}", dice.next()), "maxPayments": max_payments, "paymentMethods": methods,
            "items": [{ "name": "Shoe", "unitPrice": 1, "quantity": 1 }],
        });
        let session = service.post(account, "/v1/sessions", &body).await?;
        let text = |name: &str| session[name].as_str().unwrap_or_default().to_owned();
        let methods = methods.iter().filter_map(|method| method["paymentType"].as_str());
        made.push(ForSale {
            id: text("id"),
            public_key: text("publicKey"),
            methods: methods.map(str::to_owned).collect(),
        });
    }
    Ok(made)
}

/// All sessions of an account.
#[derive(Default)]
pub(super) struct Examined {
    sessions: usize,
    payments: i64,
    /// The sessions that do not say what their charges say, or hold more payments than they may.
    pub(super) differences: Vec<String>,
}

impl fmt::Display for Examined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, paid {} times; each agrees with its charges", self.sessions, self.payments)
    }
}

/// Compares sessions with their charges. `charges` are those of the account, which have the references of their sessions.
pub(super) async fn examine(
    get: impl AsyncFn(String) -> Outcome<Value>,
    charges: &HashMap<String, Value>,
) -> Outcome<Examined> {
    let mut by_reference: HashMap<&str, Vec<&Value>> = HashMap::new();
    for charge in charges.values() {
        by_reference.entry(charge["orderId"].as_str().unwrap_or_default()).or_default().push(charge);
    }
    let mut examined = Examined::default();
    for page in 1.. {
        let found = get(format!("/v1/sessions?limit={PAGE}&page={page}")).await?;
        let sessions = found["items"].as_array().ok_or("no items")?;
        for session in sessions {
            let reference = session["orderId"].as_str().unwrap_or_default();
            let charges = by_reference.get(reference).map(Vec::as_slice).unwrap_or_default();
            examined.sessions += 1;
            examined.payments += session["multiplePayments"]["paymentCount"].as_i64().unwrap_or_default();
            if !agrees(session, charges) {
                examined
                    .differences
                    .push(format!("the session {session} has the charges {}", json!(charges)));
            }
        }
        if sessions.len() < PAGE {
            break;
        }
    }
    Ok(examined)
}

fn agrees(session: &Value, charges: &[&Value]) -> bool {
    let payments = &session["multiplePayments"];
    let number = |name: &str| payments[name].as_i64();
    let (Some(paid), Some(pending)) = (number("paymentCount"), number("pendingCount")) else { return false };
    let is_held = |charge: &&Value| {
        matches!(charge["status"].as_str(), Some("authorized" | "pre_authorized" | "charged_back"))
    };
    // What was paid too little waits for its merchant, unless a client has accepted it.
    let (short, whole): (Vec<&Value>, Vec<&Value>) =
        charges.iter().copied().filter(is_held).partition(|charge| is_underpaid(charge));
    let short = i64::try_from(short.len()).unwrap_or(i64::MAX);
    let (given_back_later, firm): (Vec<&Value>, Vec<&Value>) = whole.into_iter().partition(|charge| {
        // A payment too many, perhaps, whose void was refused or had to wait for a client's: that is looked at in an hour.
        let requests = charge["transactionRequests"].as_array().into_iter().flatten();
        requests.into_iter().any(|told| matches!(told["requestType"].as_str(), Some("void" | "capture")))
    });
    let firm = i64::try_from(firm.len()).unwrap_or(i64::MAX);
    let is_anything_held = firm > 0 || short > 0 || !given_back_later.is_empty();
    let limit = match number("maxPayments") {
        None => 1,
        Some(-1) => i64::MAX,
        Some(limit) => limit,
    };
    let is_single = payments["allow"] == false;
    let status_agrees = match session["status"].as_str() {
        Some("created") => !is_single || (paid == 0 && firm == 0),
        Some("paid") => is_single && paid == 1 && is_anything_held,
        Some("voided") => paid > 0 && firm == 0,
        _ => false,
    };
    pending <= short && paid <= limit && firm <= paid && status_agrees
}

/// Whether the payment that settled it was of less than was charged.
fn is_underpaid(charge: &Value) -> bool {
    let requests = charge["transactionRequests"].as_array().into_iter().flatten().rev();
    let mut paid =
        requests.filter(|told| told["requestType"] == "authorization" && told["requestStatus"] == "success");
    paid.next().is_some_and(|first| first["requestStatusReason"] == "underpaid")
}
