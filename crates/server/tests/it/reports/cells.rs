//! Cells: what each column shows, what a spreadsheet must not compute, and who is erased.

use std::collections::{BTreeSet, HashMap};

use regente_domain::report::{Column, ReportLanguage, ReportType};
use serde_json::{Value, json};

use crate::support::anti_fraud::{APPROVED_RISK, analysing};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::{address, nupay_body};
use crate::support::bodies::{APPROVED, BLOCKED, Charge, charge_body};
use crate::support::charges::{capture, charged, read as charge_now, single_merchant};
use crate::support::customers::erase;
use crate::support::payers::{PAYS, happens};
use crate::support::providers::sandbox;
use crate::support::read::text;
use crate::support::reports::{column, file, made, records, report_body};
use crate::support::sessions::{by_card, create, pay, session_body};
use crate::support::time::MINUTE;

stories! {
    each_column_shows_what_a_charge_has,
    no_spreadsheet_computes_a_cell,
    of_an_erased_person_the_cells_are_empty,
    a_history_tells_of_each_call,
    a_history_names_the_flow_that_each_charge_took,
    amounts_have_the_decimals_of_their_currency,
}

/// Columns for which this release keeps nothing.
const EMPTY: [&str; 2] = ["transaction__idempotency_key", "token__created_at"];

/// Columns of what the simulator does not answer.
const NOT_SIMULATED: [&str; 1] = ["transaction_request__response_code"];

async fn each_column_shows_what_a_charge_has(app: TestApp) {
    let app = app.reachable().await;
    various(&app).await;
    let earlier = [
        "customer__client_id",
        "customer__customer_adress_id",
        "transaction_source__card_id",
        "transaction__client_id",
        "transaction_request__created_at",
        "transaction_request__payment_method",
        "transaction_request__provider_id",
    ];
    for (report_type, word) in
        [(ReportType::Transactions, "transactions"), (ReportType::TransactionsHistory, "transactionsHistory")]
    {
        let keys: Vec<&str> = Column::of(report_type).map(Column::key).chain(earlier).collect();
        let report = made(&app, &report_body(word, json!(keys)), &[]).await;
        let records = records(&app, &report).await;
        let mut filled = BTreeSet::new();
        for record in &records {
            filled.extend(record.iter().filter(|(_, cell)| !cell.is_empty()).map(|(title, _)| title.clone()));
        }
        let title = |key: &str| Column::parse(key).unwrap().title(ReportLanguage::En);
        let missing: Vec<&str> = keys.into_iter().filter(|key| !filled.contains(&title(key))).collect();
        let missing: BTreeSet<&str> = missing.into_iter().collect();
        let expected: BTreeSet<&str> = EMPTY
            .into_iter()
            .chain(NOT_SIMULATED)
            .filter(|key| Column::parse(key).unwrap().fits(report_type))
            .collect();
        assert_eq!(missing, expected, "of {word}");
    }
}

/// Charges that have between them whatever a report can show.
async fn various(app: &TestApp) {
    let merchant = app
        .post(
            "/v1/merchants",
            &json!({ "mcc": "5812", "name": "Loja Centro", "providers": [sandbox("Main", 1)] }),
        )
        .await
        .expect(201);
    flow(app, &merchant).await;
    let merchant = text(&merchant["id"]);
    let customer = customer(app, "Maria").await;
    let mut home = address();
    home["complement"] = json!("Apto 1");
    app.patch(&format!("/v1/customers/{customer}"), &json!({ "address": home })).await.expect(200);
    let card = app.card(APPROVED).await;
    app.post(&format!("/v1/customers/{customer}/cards"), &json!({ "cardId": card })).await.expect(204);
    let mut body = Charge::by_source(merchant, json!({ "sourceType": "customer", "customerId": customer }))
        .with("orderId", "order-1")
        .with("description", "Two shoes")
        .with("statementDescriptor", "LOJA")
        .with("paymentFlow", json!({ "metadata": { "campaign": "spring" } }))
        .body();
    body["paymentMethod"]["recurrence"] = json!("initial");
    charged(app, &body).await;
    charged(app, &Charge::by_card(merchant, BLOCKED).body()).await;
    let place = json!({ "street": "Rua B", "number": "2", "complement": "Fundos", "zipCode": "1", "city": "Rio",
        "state": "RJ", "district": "Leblon", "country": "BR" });
    let analysed = json!({ "customer": { "name": "Ana", "identity": APPROVED_RISK, "email": "ana@example.com", "phone": "21",
        "billingAddress": place, "deliveryAddress": place } });
    let risky = analysing(app, &json!({})).await;
    charged(app, &Charge::by_card(&risky, APPROVED).with("fraudAnalysis", analysed).body()).await;
    let wallet = charged(app, &nupay_body(merchant)).await;
    happens(app, &wallet, 0, PAYS).await;
    app.later(10 * MINUTE).await;
    let session = create(app, &session_body(merchant)).await;
    pay(app, &session, &by_card(APPROVED)).await.expect(201);
}

/// A flow of a merchant that sends whatever comes to its provider.
async fn flow(app: &TestApp, merchant: &Value) -> Value {
    let root = json!([{ "rule": "provider", "id": merchant["providers"][0]["id"] }]);
    let body = json!({ "merchantId": merchant["id"], "paymentMethod": "credit",
        "flow": { "version": "0.0.0", "root": root } });
    app.post("/v1/flows", &body).await.expect(201)
}

async fn customer(app: &TestApp, name: &str) -> String {
    let body = json!({ "name": name, "email": "maria@example.com", "phoneNumber": "+5521999990000",
        "document": { "type": "cpf", "number": "72912053013" } });
    text(&app.post("/v1/customers", &body).await.expect(201)["id"]).to_owned()
}

async fn no_spreadsheet_computes_a_cell(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let texts = ["=1+1", "+5", "-2", "@SUM(A1)", "\tx", "\rx", "a=1", "two\nlines, \"quoted\"", "ação"];
    for described in texts {
        charged(&app, &Charge::by_card(&merchant, APPROVED).with("description", described).body()).await;
    }
    let report = made(&app, &report_body("transactions", json!("transaction__description")), &[]).await;
    let cells: Vec<String> = records(&app, &report)
        .await
        .into_iter()
        .map(|mut record| record.remove("Transaction Description").unwrap())
        .collect();
    assert_eq!(
        cells,
        ["'=1+1", "'+5", "'-2", "'@SUM(A1)", "'\tx", "'\rx", "a=1", "two\nlines, \"quoted\"", "ação"]
    );
}

async fn of_an_erased_person_the_cells_are_empty(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let customer = customer(&app, "=Maria").await;
    let card = app.card(APPROVED).await;
    app.post(&format!("/v1/customers/{customer}/cards"), &json!({ "cardId": card })).await.expect(204);
    let source = json!({ "sourceType": "customer", "customerId": customer });
    let charge =
        charged(&app, &Charge::by_source(&merchant, source).with("description", "for Maria").body()).await;
    let body = report_body("transactions", json!("all"));
    let record = only(&app, &body).await;
    let shown = |record: &HashMap<String, String>| {
        [
            "Transaction Id",
            "Transaction Amount",
            "Customer Id",
            "Customer Name",
            "Customer Email",
            "Customer Phone Number",
            "Customer Document Number",
            "Card Number",
            "Card Holder Name",
            "Card Brand Brand",
            "Transaction Description",
        ]
        .map(|title| record[title].clone())
    };
    let id = text(&charge["id"]);
    assert_eq!(
        shown(&record),
        [
            id,
            "1.50",
            &customer,
            "'=Maria",
            "maria@example.com",
            "'+5521999990000",
            "72912053013",
            "491674******4124",
            "JOAO DA SILVA",
            "Visa",
            "for Maria"
        ]
    );
    let before = made(&app, &body, &[]).await;
    let harmless = made(&app, &report_body("transactions", json!("transaction__id")), &[]).await;
    erase(&app, &customer).await;
    // What was made before shows them: it is gone.
    file(&app, &before, 1).await.expect(410);
    assert_eq!(file(&app, &harmless, 1).await.status, 200);
    let record = only(&app, &body).await;
    assert_eq!(shown(&record), [id, "1.50", &customer, "", "", "", "", "", "", "", ""]);
}

/// The only record of a new report.
async fn only(app: &TestApp, body: &Value) -> HashMap<String, String> {
    let mut records = records(app, &made(app, body, &[]).await).await;
    assert_eq!(records.len(), 1);
    records.remove(0)
}

async fn a_history_tells_of_each_call(app: TestApp) {
    let merchant = app.fallback_merchant().await;
    let reserved = charged(&app, &Charge::by_card(&merchant, APPROVED).amount(1500).reserved().body()).await;
    capture(&app, text(&reserved["id"]), json!({ "amount": 1000 })).await.expect(201);
    let charge = charge_now(&app, &reserved).await;
    let keys = json!([
        "transaction_request__request_type",
        "transaction_request__request_status",
        "transaction_request__amount",
        "provider_error__declined_code",
        "provider_error__retryable",
        "transaction__status",
        "transaction__amount",
        "transaction__original_amount",
        "transaction__responsible_provider_id",
        "transaction_request__authorization_code",
        "transaction_request__idempotency_key"
    ]);
    let report = made(&app, &report_body("transactionsHistory", keys), &[]).await;
    let records = records(&app, &report).await;
    let requests: Vec<&Value> = charge["transactionRequests"].as_array().unwrap().iter().rev().collect();
    assert_eq!((records.len(), requests.len()), (3, 3));
    let amounts = ["15.00", "15.00", "10.00"];
    for ((record, request), amount) in records.iter().zip(&requests).zip(amounts) {
        let cell = |title: &str| record[&format!("Transaction Request {title}")].as_str();
        assert_eq!(cell("Request Type"), text(&request["requestType"]));
        assert_eq!(cell("Request Status"), text(&request["requestStatus"]));
        assert_eq!(cell("Amount"), amount);
        assert_eq!(cell("Authorization Code"), request["authorizationCode"].as_str().unwrap_or_default());
        assert_eq!(cell("Idempotency Key"), request["idempotencyKey"].as_str().unwrap_or_default());
        assert_eq!(
            record["Provider Error Declined Code"],
            request["providerError"]["declinedCode"].as_str().unwrap_or_default()
        );
        // The charge is the same in each of them.
        assert_eq!((&*record["Transaction Status"], &*record["Transaction Amount"]), ("authorized", "10.00"));
        assert_eq!(record["Transaction Original Amount"], "15.00");
        assert_eq!(record["Transaction Responsible Provider Id"], text(&requests[2]["providerId"]));
    }
    assert_eq!(
        (&*records[0]["Provider Error Declined Code"], &*records[0]["Provider Error Retryable"]),
        ("try_again", "true")
    );
}

async fn a_history_names_the_flow_that_each_charge_took(app: TestApp) {
    let merchant = app
        .post("/v1/merchants", &json!({ "mcc": "5812", "providers": [sandbox("Main", 1)] }))
        .await
        .expect(201);
    let body = charge_body(text(&merchant["id"]), APPROVED);
    charged(&app, &body).await;
    let first = flow(&app, &merchant).await;
    charged(&app, &body).await;
    let second = flow(&app, &merchant).await;
    charged(&app, &body).await;
    let body = report_body("transactionsHistory", json!("transaction__payment_flow_id"));
    let shown = column(&app, &made(&app, &body, &[]).await, "Transaction Payment Flow Id").await;
    assert_eq!(shown, ["", text(&first["id"]), text(&second["id"])]);
}

async fn amounts_have_the_decimals_of_their_currency(app: TestApp) {
    let merchant = single_merchant(&app).await;
    for currency in ["BRL", "JPY", "USD"] {
        charged(&app, &Charge::by_card(&merchant, APPROVED).amount(1205).with("currency", currency).body())
            .await;
    }
    let report = made(
        &app,
        &report_body("transactions", json!(["transaction__amount", "transaction__currency"])),
        &[],
    )
    .await;
    let records = records(&app, &report).await;
    let shown: Vec<_> = records
        .iter()
        .map(|record| (&*record["Transaction Currency"], &*record["Transaction Amount"]))
        .collect();
    assert_eq!(shown, [("BRL", "12.05"), ("JPY", "1205"), ("USD", "12.05")]);
}
