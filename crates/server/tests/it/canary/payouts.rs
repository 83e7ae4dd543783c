//! Where the money of receivers goes is never stored in the clear: the bank account of the account itself and that of a seller go through
//! everything that is done with payouts, prepayments and files for a bank, and a payer through receipts. The test then searches all
//! values, files, the log and the simulator's log for them.

use std::collections::BTreeSet;
use std::time::Duration;

use regente::admin::{PayoutsAnswer, PayoutsTask};
use regente_domain::local_day;
use regente_engine::payouts::returned::Run;
use regente_engine::settings::Settings;
use regente_providers::sandbox::TransactionLog;
use regente_store::testing::TestDatabase;
use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::bodies::payers::{described, pix_body};
use crate::support::canary::places::{Disk, Log};
use crate::support::canary::search::texts_in;
use crate::support::cnab240::{answered, company};
use crate::support::payouts::{
    BATCHES, ORDERS, all_of_it, bank_account, card_payment, listed, operator, own, pix_payment, transfers,
};
use crate::support::plans;
use crate::support::prepayments::{self, PUBLISHED, RECEIVABLES, commit, everything_of, read, simulated};
use crate::support::read::text;
use crate::support::receipts::{RECEIPT, file, issued, text_of};
use crate::support::sellers::{changed, made};
use crate::support::splits::seller_body;

/// What must be nowhere; files for a bank have names in upper case.
const PERSONAL: [&str; 17] = [
    // Where the account itself is paid.
    "Zulmira Catingueira",
    "ZULMIRA CATINGUEIRA",
    "81562734008",
    "7700112231",
    "chave-da-zulmira",
    // Where a seller is paid, at first and later.
    "Gumercindo Araticum",
    "GUMERCINDO ARATICUM",
    "90631825703",
    "6600998871",
    "6600998877",
    // Who pays, by a file.
    "Sumauma Pagamentos",
    "SUMAUMA PAGAMENTOS",
    "445566778",
    // A payer, of whom receipts have the name and a part of the document.
    "Valdomira Quixabeira",
    "39053344705",
    "533.447",
    "valdomira",
];

/// What is there, and why it may be.
const IN_THE_CLEAR: [(&str, &str); 4] = [
    ("the account does not exist", "what a bank says of a payment that has failed names nobody"),
    ("AN receiver", "the codes of its files and their meanings do not either"),
    ("Standard", "an operator names a plan, and every key of the account may read it"),
    ("refund_receipt", "the types of documents are words of the interface; their files are sealed"),
];

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[tokio::test]
async fn no_receiver_rests_anywhere_on_sqlite() {
    no_receiver_rests_anywhere(TestDatabase::fresh_sqlite()).await;
}

#[tokio::test]
async fn no_receiver_rests_anywhere_on_postgres() {
    no_receiver_rests_anywhere(TestDatabase::fresh_postgres().await).await;
}

async fn no_receiver_rests_anywhere(database: TestDatabase) {
    let log = Log::listen();
    let books = tempfile::tempdir().unwrap();
    let disk = Disk::of(&database);
    let app = TestApp::on(database, Settings::default()).await;
    // A busy machine syncs the transaction log slowly.
    let app = app.with_sandbox_deadline(Duration::from_secs(5)).await;
    let app = app.with_books(TransactionLog::file(&books.path().join("books.db")).unwrap()).await;
    plans::make(&app.app, app.client_id(), &plans::standard()).await;
    the_account_has_a_bank_account(&app).await;
    let merchant = app.merchant_with(json!([own()])).await;
    let seller = seller(&app, &merchant).await;
    a_receipt_names_a_payer(&app, &merchant).await;
    they_are_paid(&app, &merchant, &seller).await;
    let app = app.without_bank().await;
    they_are_paid_by_a_file(&app, &merchant, &seller).await;

    let values = disk.values();
    for (said, why) in IN_THE_CLEAR {
        assert!(!texts_in(&[said], &values).is_empty(), "{said} is not there: {why}");
    }
    let mut places = vec![("the tables".to_owned(), values), ("the log".to_owned(), log.raw.bytes())];
    places.extend(disk.files().into_iter().map(|(path, bytes)| (path.display().to_string(), bytes)));
    let books = Disk::Sqlite(books.path().to_owned()).files();
    places.extend(books.into_iter().map(|(path, bytes)| (path.display().to_string(), bytes)));
    for (place, bytes) in &places {
        assert_eq!(texts_in(&PERSONAL, bytes), [""; 0], "in {place}");
    }
}

/// An operator sets it, and is shown it.
async fn the_account_has_a_bank_account(app: &TestApp) {
    let mut account = bank_account("7700112231");
    account["holderName"] = json!("Zulmira Catingueira");
    account["holderDocument"] = json!("81562734008");
    account["pixKey"] = json!("chave-da-zulmira");
    let members = account.as_object().unwrap();
    operator(app, PayoutsTask::SetAccount(None, members.clone())).await.unwrap();
    let mut wrong = members.clone();
    wrong.remove("holderName");
    let refused = operator(app, PayoutsTask::SetAccount(None, wrong)).await.unwrap_err();
    assert!(texts_in(&PERSONAL, refused.as_bytes()).is_empty(), "{refused}");
    let shown = operator(app, PayoutsTask::ShowAccount(None)).await.unwrap();
    let PayoutsAnswer::Account { account: Some(row), .. } = shown else { panic!("another answer") };
    assert_eq!((row.holder.as_str(), row.last_digits.as_str()), ("Zulmira Catingueira", "2231"));
}

async fn seller(app: &TestApp, merchant: &str) -> Value {
    let mut body = seller_body(merchant, 1, "6600998871");
    body["owner"]["name"] = json!("Gumercindo Araticum");
    body["owner"]["document"]["number"] = json!("90631825703");
    body["bankAccount"]["holderName"] = json!("Gumercindo Araticum");
    body["bankAccount"]["holderDocument"] = json!("90631825703");
    made(app, &body).await
}

async fn a_receipt_names_a_payer(app: &TestApp, merchant: &str) {
    let payer = json!({
        "name": "Valdomira Quixabeira", "phoneNumber": "11987651234", "email": "valdomira@example.com",
        "document": { "type": "cpf", "number": "39053344705" },
    });
    let charge = app.post("/v1/charges", &pix_body(merchant, described(payer))).await.expect(201);
    let path = format!("/v1/charges/{}", text(&charge["id"]));
    app.post(&path, &json!({ "status": "authorized" })).await.expect(200);
    app.post(&format!("{path}/void"), &json!({})).await.expect(201);
    app.post(&path, &json!({ "status": "voided" })).await.expect(200);
    let receipt = issued(app, &charge, RECEIPT).await;
    let said = text_of(&file(app, &receipt).await);
    assert!(said.contains("Valdomira Quixabeira"), "{said}");
}

/// The bank pays both, and a prepayment; then it refuses the other account of the seller.
async fn they_are_paid(app: &TestApp, merchant: &str, seller: &Value) {
    let id = text(&seller["id"]);
    prepayments::operator(app, app.client_id(), PUBLISHED).await;
    card_payment(app, merchant, 10_000, 2, Some(all_of_it(id))).await;
    for rules in [None, Some(all_of_it(id))] {
        pix_payment(app, merchant, 1_000, rules).await;
    }
    app.run_jobs().await;
    app.get(&format!("{RECEIVABLES}?sellerId={id}")).await.expect(200);
    let offer = simulated(app, &everything_of(seller)).await;
    commit(app, &offer).await.expect(200);
    app.later(2 * DAY).await;
    assert_eq!(read(app, &offer).await["status"], "paid");
    changed(app, seller, &json!({ "bankAccount": { "accountNumber": "6600998877" } })).await;
    pix_payment(app, merchant, 1_000, Some(all_of_it(id))).await;
    app.later(2 * DAY).await;
    let failed = listed(app, BATCHES, "status=failed").await;
    assert_eq!(failed[0]["error"]["reason"], "the account does not exist");
    let digits: BTreeSet<_> = transfers(app).await.into_values().map(|sent| sent.last_digit).collect();
    assert_eq!(digits, [Some('1'), Some('7')].into(), "the bank knows an account by its last digit alone");
}

/// An operator pays them by a file, and the bank refuses both.
async fn they_are_paid_by_a_file(app: &TestApp, merchant: &str, seller: &Value) {
    for rules in [None, Some(all_of_it(text(&seller["id"])))] {
        pix_payment(app, merchant, 1_000, rules).await;
    }
    app.later(5 * DAY).await;
    let mut about = company();
    about["name"] = json!("Sumauma Pagamentos");
    about["account"] = json!("445566778");
    let task = PayoutsTask::Export {
        company: about.as_object().unwrap().clone(),
        day: local_day::day_of(app.clock.deployment()),
        again: false,
    };
    let Ok(PayoutsAnswer::Exported(file)) = operator(app, task).await else { panic!("another answer") };
    let written = file.text.unwrap();
    for said in
        ["ZULMIRA CATINGUEIRA", "GUMERCINDO ARATICUM", "SUMAUMA PAGAMENTOS", "7700112231", "6600998877"]
    {
        assert!(written.contains(said), "{said} is not in {written}");
    }
    let text = answered(&written, |_| ("000", "AN", 0));
    operator(app, PayoutsTask::ImportReturn { text, run: Run::Real }).await.unwrap();
    for task in [PayoutsTask::Pending, PayoutsTask::Report] {
        operator(app, task).await.unwrap();
    }
    for path in [BATCHES, ORDERS] {
        let shown = json!(listed(app, path, "").await).to_string();
        assert_eq!(texts_in(&PERSONAL, shown.as_bytes()), [""; 0], "in {path}");
    }
}
