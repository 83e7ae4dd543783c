//! Accounts that may have receivables paid early, and the receivables that they have.

use axum::http::Method;
use regente::admin::{Answer, Command, PrepaymentRow, PrepaymentTask, run};
use regente::config::Config;
use regente_domain::id::ClientId;
use regente_domain::percentage::Percentage;
use regente_domain::prepayment::Rates;
use regente_domain::time::Timestamp;
use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::bodies::{APPROVED, Charge};
use crate::support::client::{Client, Reply};
use crate::support::payouts::own;
use crate::support::read::text;
use crate::support::splits::seller_body;

pub const PREPAYMENT: &str = "/v1/subacquirer/prepayment";
pub const RECEIVABLES: &str = "/v1/subacquirer/prepayment/receivables";

/// A Tuesday on which 30 days later is Corpus Christi, a Thursday: what is captured on it is settled on Friday 2026-06-05, 30 days after
/// what is accepted on it is paid.
pub const TUESDAY: &str = "2026-05-05T12:00:00Z";
/// The day on which that is paid.
pub const PAID_ON: &str = "2026-05-06";
/// When it is settled.
pub const SETTLED_ON: &str = "2026-06-05";

/// The rates of the published example.
pub const PUBLISHED: PrepaymentTask = PrepaymentTask::Enable(Rates {
    monthly_rate: Percentage::from_hundredths(150),
    markup: Percentage::from_hundredths(200),
});

/// An operator does this about the prepayment of an account.
pub async fn operator(app: &TestApp, client_id: ClientId, task: PrepaymentTask) -> PrepaymentRow {
    match run(&app.app, &Config::default(), Command::Prepayment { client_id, task }).await {
        Ok(Answer::Prepayment(row)) => row,
        Ok(_) => panic!("another answer"),
        Err(error) => panic!("{error}"),
    }
}

/// Time passes until this moment, and everything is done that falls due on the way.
pub async fn travel(app: &TestApp, to: &str) {
    let to = Timestamp::parse(to).unwrap();
    app.later(to.since(app.clock.deployment())).await;
    app.run_jobs().await;
}

/// An account that is enabled at the rates of the published example, on [`TUESDAY`], with a merchant of the platform's own provider.
pub async fn enabled(app: &TestApp) -> String {
    operator(app, app.client_id(), PUBLISHED).await;
    travel(app, TUESDAY).await;
    merchant_of(app, &app.client).await
}

/// A merchant whose only provider is the platform's own.
pub async fn merchant_of(app: &TestApp, client: &Client) -> String {
    let body = json!({ "mcc": "5812", "providers": [own()] });
    let made = app.call(client, Method::POST, "/v1/merchants", &[], Some(&body)).await.expect(201);
    text(&made["id"]).to_owned()
}

/// A seller of the merchant whom the bank pays at once.
pub async fn seller_of(app: &TestApp, merchant: &str, number: u32) -> Value {
    seller_with(app, merchant, number, "4921").await
}

/// A seller of the merchant with this account number, whose last digit says what becomes of transfers.
pub async fn seller_with(app: &TestApp, merchant: &str, number: u32, account: &str) -> Value {
    let seller = app.post("/v1/sellers", &seller_body(merchant, number, account)).await.expect(201);
    app.run_jobs().await;
    let seller = app.get(&format!("/v1/sellers/{}", text(&seller["id"]))).await.expect(200);
    assert_eq!(seller["status"], "active", "{seller:#}");
    seller
}

/// A charge of the account itself that is captured now; its id.
pub async fn captured(app: &TestApp, client: &Client, merchant: &str, amount: i64) -> String {
    charged(app, client, Charge::by_card(merchant, APPROVED).amount(amount)).await
}

/// A charge all of which belongs to a seller; its id.
pub async fn captured_for(app: &TestApp, merchant: &str, seller: &Value, amount: i64) -> String {
    let rules = json!([{ "sellerId": seller["id"], "percentage": 100 }]);
    charged(app, &app.client, Charge::by_card(merchant, APPROVED).amount(amount).with("splitRules", rules))
        .await
}

async fn charged(app: &TestApp, client: &Client, charge: Charge) -> String {
    let made = app.call(client, Method::POST, "/v1/charges", &[], Some(&charge.body())).await.expect(201);
    assert_eq!(
        (&made["status"], &made["responsibleProviderType"]),
        (&json!("authorized"), &json!("PLATFORM")),
        "{made:#}"
    );
    app.run_jobs().await;
    text(&made["id"]).to_owned()
}

/// An offer.
pub async fn simulated(app: &TestApp, body: &Value) -> Value {
    app.post(PREPAYMENT, body).await.expect(201)
}

/// All that is settled until far in the future.
pub fn everything() -> Value {
    json!({ "endDate": "2099-12-31" })
}

/// The same of a seller.
pub fn everything_of(seller: &Value) -> Value {
    json!({ "endDate": "2099-12-31", "sellerId": seller["id"] })
}

pub async fn read(app: &TestApp, prepayment: &Value) -> Value {
    app.get(&format!("{PREPAYMENT}/{}", text(&prepayment["id"]))).await.expect(200)
}

pub async fn commit(app: &TestApp, prepayment: &Value) -> Reply {
    app.post(&commit_path(prepayment), &json!({})).await
}

pub fn commit_path(prepayment: &Value) -> String {
    format!("{PREPAYMENT}/{}/commit", text(&prepayment["id"]))
}

/// It is refused with this status and sentence, in the error body of prepayments.
pub fn denied(reply: &Reply, status: u16, message: &str) {
    let body = json!({ "code": format!("I-{status}"), "networkDeniedMessage": message });
    assert_eq!((reply.status.as_u16(), reply.json()), (status, body));
}

pub const CHANGED: &str = "the receivables have changed since the simulation";
pub const NOT_PENDING: &str = "the prepayment is not pending any more";
pub const EXPIRED: &str = "the prepayment has expired";
pub const NOTHING: &str = "no receivables available for the period";
