//! Receivers of the platform's own provider: what they are due, what they were paid, and whether every cent is accounted for.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::civil::Date;
use regente::admin::{Answer, Command, PayoutsAnswer, PayoutsCommand, PayoutsTask, run};
use regente::config::Config;
use regente_domain::local_day::day_of;

use regente_domain::seller::data::BankAccount;
use regente_domain::time::Timestamp;
use regente_domain::wire;
use regente_engine::audit::Author;
use regente_engine::error::Error;
use regente_engine::payouts::account;
use regente_engine::payouts::statement::{self, ReceiverStatement};
use regente_store::simulated_transfers::SimulatedTransfer;
use serde_json::{Value, json};

use crate::support::agreement::ledger_is_right;
use crate::support::app::TestApp;
use crate::support::bodies::payers::{described, jose, pix_body};
use crate::support::bodies::{APPROVED, Charge};
use crate::support::notifications::API_KEY;
use crate::support::plans;
use crate::support::read::text;
use crate::support::sellers::made;
use crate::support::splits::seller_body;

pub const ORDERS: &str = "/v1/payouts/orders";
pub const BATCHES: &str = "/v1/payouts/payment-batches";
const PER_PAGE: usize = 100;

/// The platform's own provider, in a registration.
pub fn own() -> Value {
    json!({ "name": "Own", "priority": 1, "credentials": { "type": "PLATFORM", "apiKey": API_KEY } })
}

/// A plan for everybody: 3 % and 39 cents of a card after 30 days, 1 % of a Pix on the next day.
pub async fn plan(app: &TestApp) {
    let plan = json!({
        "name": "Standard",
        "policies": [{ "paymentMethod": "credit", "payoutTermDays": 30, "payoutRecurrence": "daily" }],
        "fees": [
            { "paymentMethod": "credit", "percentage": 3, "fixedAmount": 39 },
            { "paymentMethod": "pix", "percentage": 1 }
        ]
    });
    plans::make_default(&app.app, app.client_id(), &plan).await;
}

/// The bank account of somebody, with this number: its last digit says what the bank does.
pub fn bank_account(number: &str) -> Value {
    json!({ "holderName": "Rita Lima", "holderDocument": "36243319067", "bank": "077", "branchNumber": "492",
        "accountNumber": number, "type": "conta_corrente" })
}

/// The account itself is paid to a bank account with this number.
pub async fn paid_to(app: &TestApp, number: &str) {
    set_account(app, None, number).await.unwrap();
}

/// An operator says to which bank account a seller that is deleted is paid, or the account itself.
pub async fn set_account(app: &TestApp, seller: Option<&str>, number: &str) -> Result<(), Error> {
    let account: BankAccount = wire::read(bank_account(number).as_object().unwrap().clone()).unwrap();
    let receiver = seller.map(|id| id.parse().unwrap());
    account::set(&app.app, &Author::operator(app.client_id()), receiver, &account).await
}

/// A merchant with the own provider alone, terms, and a bank account of the account itself that works.
pub async fn platform(app: &TestApp) -> String {
    plan(app).await;
    paid_to(app, "1000").await;
    app.merchant_with(json!([own()])).await
}

/// A seller of the merchant with this number of a bank account; each `number` is another person.
pub async fn seller(app: &TestApp, merchant: &str, number: u32, account: &str) -> String {
    text(&made(app, &seller_body(merchant, number, account)).await["id"]).to_owned()
}

/// From now on the bank account of a seller has this number.
pub async fn moves_to(app: &TestApp, seller: &str, number: &str) {
    let changed = json!({ "bankAccount": bank_account(number) });
    app.patch(&format!("/v1/sellers/{seller}"), &changed).await.expect(200);
}

/// An operator does this about the payouts of the account.
pub async fn operator(app: &TestApp, task: PayoutsTask) -> Result<PayoutsAnswer, String> {
    let command = Command::Payouts(PayoutsCommand { client_id: Some(app.client_id()), task });
    match run(&app.app, &Config::default(), command).await {
        Ok(Answer::Payouts(answer)) => Ok(answer),
        Ok(_) => panic!("another answer"),
        Err(error) => Err(error.to_string()),
    }
}

/// All of a charge is this seller's.
pub fn all_of_it(seller: &str) -> Value {
    json!([{ "sellerId": seller, "percentage": 100 }])
}

/// A captured card payment that is divided so, in installments; returns its id.
pub async fn card_payment(
    app: &TestApp,
    merchant: &str,
    amount: i64,
    installments: u8,
    rules: Option<Value>,
) -> String {
    let mut body = Charge::by_card(merchant, APPROVED).amount(amount).body();
    body["paymentMethod"]["installments"] = json!(installments);
    if let Some(rules) = rules {
        body["splitRules"] = rules;
    }
    let charge = app.post("/v1/charges", &body).await.expect(201);
    assert_eq!(
        (&charge["status"], &charge["responsibleProviderType"]),
        (&json!("authorized"), &json!("PLATFORM"))
    );
    text(&charge["id"]).to_owned()
}

/// A Pix that is paid at once; returns its id.
pub async fn pix_payment(app: &TestApp, merchant: &str, amount: i64, rules: Option<Value>) -> String {
    let mut body = pix_body(merchant, described(jose()));
    body["amount"] = json!(amount);
    if let Some(rules) = rules {
        body["splitRules"] = rules;
    }
    let charge = app.post("/v1/charges", &body).await.expect(201);
    let id = text(&charge["id"]).to_owned();
    let paid = json!({ "status": "authorized" });
    assert_eq!(app.post(&format!("/v1/charges/{id}"), &paid).await.expect(200)["status"], "authorized");
    id
}

/// The next business day.
pub fn next_payday(app: &TestApp) -> Date {
    app.app.settings.calendar.after(day_of(app.clock.deployment()))
}

/// Goes to 06:00 in São Paulo on a day, `YYYY-MM-DD`, and an hour beyond. What falls due on the way is done there, so that the steps of
/// the way are few.
pub async fn on_payday(app: &TestApp, day: &str) {
    const HOUR: Duration = Duration::from_secs(60 * 60);
    app.run_jobs().await;
    let payday = Timestamp::parse(&format!("{day}T09:00:00Z")).unwrap();
    app.clock.set(payday.max(app.clock.deployment()));
    app.run_jobs().await;
    app.later(HOUR).await;
}

/// Everything that a list has, oldest first.
pub async fn listed(app: &TestApp, path: &str, filter: &str) -> Vec<Value> {
    let mut all = Vec::new();
    for page in 1.. {
        let at = format!("{path}?order=asc&limit={PER_PAGE}&page={page}&{filter}");
        let found = app.get(&at).await.expect(200);
        let items = found["items"].as_array().unwrap();
        all.extend(items.iter().cloned());
        if items.len() < PER_PAGE {
            assert_eq!(found["meta"]["totalItems"], json!(all.len()), "{at}");
            break;
        }
    }
    all
}

/// `available` and `receivable` of a seller, or of the account itself.
pub async fn balance(app: &TestApp, seller: Option<&str>) -> (i64, i64) {
    let filter = seller.map_or_else(String::new, |seller| format!("?sellerId={seller}"));
    let shown = app.get(&format!("/v1/payouts/balance{filter}")).await.expect(200);
    (shown["available"].as_i64().unwrap(), shown["receivable"].as_i64().unwrap())
}

/// The transfers that the bank has, by the id of the batch.
pub async fn transfers(app: &TestApp) -> BTreeMap<String, SimulatedTransfer> {
    let taken = app.bank().transfers(app.client_id()).await.unwrap();
    taken.into_iter().map(|transfer| (transfer.id.to_string(), transfer)).collect()
}

/// What became of the money of each receiver adds up, and the ledger says the same. Returns the statements.
pub async fn statements_add_up(app: &TestApp) -> Vec<ReceiverStatement> {
    ledger_is_right(app).await;
    let lines = statement::of(&app.app, app.client_id()).await.unwrap();
    for line in &lines {
        assert!(line.adds_up() && line.equals_ledger(), "{line:#?}");
    }
    lines
}

/// The statements add up, and the bank has paid what is paid: each batch once. Returns the statements.
pub async fn every_cent_is_accounted_for(app: &TestApp) -> Vec<ReceiverStatement> {
    let lines = statements_add_up(app).await;
    let transfers = transfers(app).await;
    let paid = listed(app, BATCHES, "status=paid").await;
    for batch in &paid {
        let transfer = transfers.get(text(&batch["id"])).expect("a batch that is paid has a transfer");
        assert_eq!(json!(transfer.amount.minor_units()), batch["finalBalance"], "{batch:#}");
    }
    let sum: i64 = paid.iter().map(|batch| batch["finalBalance"].as_i64().unwrap()).sum();
    assert_eq!(sum, lines.iter().map(|line| line.paid).sum::<i64>());
    for batch in listed(app, BATCHES, "").await {
        adds_up(&batch);
    }
    lines
}

/// The bank was sent each transfer once, by the name of the batch that it pays.
pub async fn each_transfer_was_sent_once(app: &TestApp) {
    let batches = listed(app, BATCHES, "").await;
    let of_batches: BTreeMap<&str, &Value> =
        batches.iter().map(|batch| (text(&batch["id"]), &batch["finalBalance"])).collect();
    for (name, transfer) in transfers(app).await {
        let pays = json!(transfer.amount.minor_units());
        assert_eq!((of_batches.get(name.as_str()), transfer.sent), (Some(&&pays), 1), "{transfer:?}");
    }
}

/// The batches that were made since a day have the orders that they are made of, and those that have failed have none: no order is paid
/// twice.
pub async fn batches_are_their_orders(app: &TestApp, since: &str) {
    for batch in listed(app, BATCHES, &format!("startDate={since}")).await {
        let orders = listed(app, &format!("{BATCHES}/{}/orders", text(&batch["id"])), "").await;
        if batch["status"] == "failed" {
            assert!(orders.is_empty(), "{batch:#} {orders:#?}");
            continue;
        }
        let sum = |order_type: &str| -> i64 {
            let of_type = orders.iter().filter(|order| order["type"] == order_type);
            of_type.map(|order| order["grossAmount"].as_i64().unwrap()).sum()
        };
        let fees: i64 = orders.iter().map(|order| order["totalFeeAmount"].as_i64().unwrap()).sum();
        let made_of = [sum("authorization"), -sum("void"), -sum("charge_back"), fees];
        let figures = ["amount", "refundAmount", "debitAdjustmentAmount", "feeAmount"];
        assert_eq!(made_of, figures.map(|name| batch[name].as_i64().unwrap()), "{batch:#} {orders:#?}");
    }
}

/// The published arithmetic of a batch.
pub fn adds_up(batch: &Value) {
    let of = |name: &str| batch[name].as_i64().unwrap();
    let sum = of("amount") - of("totalFeeAmount") - of("balanceAmount") + of("creditAmount")
        - of("refundAmount")
        - of("debitAdjustmentAmount")
        + of("creditAdjustmentAmount")
        - of("withdrawalFeeAmount");
    assert_eq!(sum, of("finalBalance"), "{batch:#}");
    assert!(of("feeAmount") <= of("totalFeeAmount"), "{batch:#}");
}
