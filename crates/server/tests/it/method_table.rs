//! Every payment method, every operation, and what becomes of it at the simulator: `docs/payment-methods.md`, which this
//! test writes (`make method-table`) and compares.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::{boleto_body, described, jose, nupay_body, pix_body};
use crate::support::bodies::{APPROVED, BLOCKED, charge_body, payers};
use crate::support::client::Reply;
use crate::support::read::text;
use crate::support::three_d_secure;
use crate::support::three_d_secure::FRICTIONLESS;
use crate::support::wallets::{by_apple_pay, by_click_to_pay, open_shop};

stories! {
    the_table_is_what_the_simulator_does,
}

const PATH: &str = "docs/payment-methods.md";
/// Set it to write the table instead of comparing it.
const WRITE: &str = "REGENTE_WRITE_TABLE";

/// Longer than anything waits for its payer, and shorter than a reservation lasts.
const UNPAID_FOR: Duration = Duration::from_hours(24 * 31);

const HEAD: &str = "# Payment methods at the simulator

What each operation makes of a charge of each method, as a test has found it (`make method-table` writes this page anew). A cell
names the charge's status afterwards, and type and status of its newest transaction request; a number is the status of a
refusal. The words are those of [charges](interface/charges.md) and [the sandbox](interface/sandbox.md).
";

/// A payment method as the table charges it.
struct Charged {
    name: &'static str,
    body: fn(&str) -> Value,
    /// A body that the simulator's network declines, where a card decides.
    declined: Option<fn(&str) -> Value>,
}

/// The charges of the table, in its order.
const METHODS: [Charged; 10] = [
    Charged { name: "credit", body: credit, declined: Some(|merchant| charge_body(merchant, BLOCKED)) },
    Charged {
        name: "debit",
        body: debit,
        declined: Some(|merchant| of_type("debit", three_d_secure::hosted_body(merchant, BLOCKED))),
    },
    Charged {
        name: "voucher",
        body: voucher,
        declined: Some(|merchant| of_type("voucher", charge_body(merchant, BLOCKED))),
    },
    Charged { name: "pix", body: |merchant| pix_body(merchant, described(jose())), declined: None },
    Charged { name: "boleto", body: boleto, declined: None },
    Charged { name: "nupay", body: nupay_body, declined: None },
    Charged { name: "drip", body: payers::drip_body, declined: None },
    Charged { name: "picpay", body: payers::picpay_body, declined: None },
    // Each charge has a token of its own.
    Charged { name: APPLE_PAY, body: |merchant| by_apple_pay(merchant, Value::Null), declined: None },
    Charged { name: "click_to_pay", body: by_click_to_pay, declined: None },
];

const APPLE_PAY: &str = "apple_pay";

fn credit(merchant: &str) -> Value {
    charge_body(merchant, APPROVED)
}

fn debit(merchant: &str) -> Value {
    of_type("debit", three_d_secure::hosted_body(merchant, FRICTIONLESS))
}

fn voucher(merchant: &str) -> Value {
    of_type("voucher", charge_body(merchant, APPROVED))
}

/// Due in a week, whatever day it is by then.
fn boleto(merchant: &str) -> Value {
    let mut body = boleto_body(merchant, described(jose()));
    body["paymentMethod"].as_object_mut().unwrap().shift_remove("expiresDate");
    body
}

fn of_type(payment_type: &str, mut body: Value) -> Value {
    body["paymentMethod"] = json!({ "paymentType": payment_type });
    body
}

/// What an operation finds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A new charge: `authorized`, or `pending` until its payer pays.
    New,
    /// A reserved one.
    Reserved,
    /// A paid one.
    Paid,
}

/// An operation on a charge.
#[derive(Clone, Copy)]
enum Operation {
    /// None but its creation.
    Create,
    /// Its creation, with what the simulator declines.
    CreateDeclined,
    /// Its payer does not come.
    LeaveUnpaid,
    Capture(Share),
    Void(Share),
    SetStatus(&'static str),
}

/// How much of the amount an operation is about.
#[derive(Clone, Copy)]
enum Share {
    Whole,
    Part,
    /// The amount that the simulator refuses.
    Refused,
}

struct Table {
    title: &'static str,
    before: Before,
    columns: &'static [(&'static str, Operation)],
}

const TABLES: [Table; 5] = [
    Table {
        title: "New charges, `capture: true`",
        before: Before::New,
        columns: &[
            ("created", Operation::Create),
            ("declined", Operation::CreateDeclined),
            ("not paid in time", Operation::LeaveUnpaid),
        ],
    },
    Table {
        title: "New charges, `capture: false`",
        before: Before::Reserved,
        columns: &[
            ("created", Operation::Create),
            ("captured", Operation::Capture(Share::Whole)),
            ("captured in part", Operation::Capture(Share::Part)),
            ("capture of 991", Operation::Capture(Share::Refused)),
            ("voided", Operation::Void(Share::Whole)),
            ("voided in part", Operation::Void(Share::Part)),
            ("void of 991", Operation::Void(Share::Refused)),
        ],
    },
    Table {
        title: "Paid charges",
        before: Before::Paid,
        columns: &[
            ("captured", Operation::Capture(Share::Whole)),
            ("voided", Operation::Void(Share::Whole)),
            ("voided in part", Operation::Void(Share::Part)),
            ("void of 991", Operation::Void(Share::Refused)),
        ],
    },
    Table { title: "New charges, status by hand", before: Before::New, columns: &STATUSES },
    Table { title: "Paid charges, status by hand", before: Before::Paid, columns: &STATUSES },
];

const STATUSES: [(&str, Operation); 5] = [
    ("`authorized`", Operation::SetStatus("authorized")),
    ("`voided`", Operation::SetStatus("voided")),
    ("`charged_back`", Operation::SetStatus("charged_back")),
    ("`refund_pending`", Operation::SetStatus("refund_pending")),
    ("`failed`", Operation::SetStatus("failed")),
];

async fn the_table_is_what_the_simulator_does(app: TestApp) {
    let (app, _) = open_shop(app.reachable().await).await;
    let merchant = three_d_secure::merchant(&app).await;
    let mut page = HEAD.to_owned();
    for table in &TABLES {
        let names: Vec<&str> = table.columns.iter().map(|(name, _)| *name).collect();
        let rule = "|---".repeat(names.len() + 1);
        write!(page, "\n## {}\n\n| method | {} |\n{rule}|\n", table.title, names.join(" | ")).unwrap();
        for method in &METHODS {
            write!(page, "| `{}` |", method.name).unwrap();
            for (_, operation) in table.columns {
                write!(page, " {} |", cell(&app, &merchant, method, table.before, *operation).await).unwrap();
            }
            page.push('\n');
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PATH);
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == page, "{PATH} is stale: run `make method-table`\n{page}");
}

/// What becomes of a charge of this method.
async fn cell(
    app: &TestApp,
    merchant: &str,
    method: &Charged,
    before: Before,
    operation: Operation,
) -> String {
    let mut body = match (operation, method.declined) {
        (Operation::CreateDeclined, None) => return "–".to_owned(),
        (Operation::CreateDeclined, Some(declined)) => declined(merchant),
        _ => (method.body)(merchant),
    };
    body["capture"] = json!(before != Before::Reserved);
    if let Operation::Capture(Share::Refused) | Operation::Void(Share::Refused) = operation {
        body["amount"] = json!(991);
    }
    if method.name == APPLE_PAY {
        let amount = body["amount"].as_u64().unwrap();
        body["paymentSource"]["paymentData"] = app.shop().token(app, amount);
    }
    let mut charge = app.post("/v1/charges", &body).await.expect(201);
    let path = format!("/v1/charges/{}", text(&charge["id"]));
    if before == Before::Paid && charge["status"] == "pending" {
        charge = app.post(&path, &json!({ "status": "authorized" })).await.expect(200);
    }
    let share = |share| match share {
        Share::Whole | Share::Refused => json!({}),
        Share::Part => json!({ "amount": 50 }),
    };
    match operation {
        Operation::Create | Operation::CreateDeclined => shown(&charge),
        Operation::LeaveUnpaid if charge["status"] != "pending" => "–".to_owned(),
        Operation::LeaveUnpaid => {
            app.later(UNPAID_FOR).await;
            shown(&app.get(&path).await.expect(200))
        }
        Operation::Capture(amount) => became(app.post(&format!("{path}/capture"), &share(amount)).await),
        Operation::Void(amount) => became(app.post(&format!("{path}/void"), &share(amount)).await),
        Operation::SetStatus(status) => became(app.post(&path, &json!({ "status": status })).await),
    }
}

fn became(reply: Reply) -> String {
    if reply.status.is_success() { shown(&reply.json()) } else { reply.status.as_u16().to_string() }
}

/// The status, and the newest request.
fn shown(charge: &Value) -> String {
    let newest = &charge["transactionRequests"][0];
    let word = |value: &Value| text(value).to_owned();
    format!(
        "`{}`, `{}` {}",
        word(&charge["status"]),
        word(&newest["requestType"]),
        word(&newest["requestStatus"])
    )
}
