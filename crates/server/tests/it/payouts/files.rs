//! Who pays by hand: a file for the bank, and what its return decides. No bank is connected.

use std::time::Duration;

use jiff::civil::{Date, date};
use regente::admin::{ExportedRow, PayoutsAnswer, PayoutsTask, ReturnRow};
use regente_domain::cnab240::name::name_of;
use regente_domain::id::PaymentBatchId;
use regente_engine::payouts::returned::{Became, Run};
use regente_engine::payouts::transfers::{self, Next};
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::cnab240::{answered, columns, company, payments};
use crate::support::payouts::{
    BATCHES, adds_up, all_of_it, listed, operator, pix_payment, platform, seller, statements_add_up,
};
use crate::support::read::text;
use crate::support::sellers::{changed, deleted};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// The day after the payments, on which they are due.
const TUESDAY: Date = date(2026, 3, 24);
const WEDNESDAY: Date = date(2026, 3, 25);

stories! {
    a_file_pays_what_is_pending_once,
    the_return_file_decides_once,
    what_a_return_file_does_not_say_clearly_decides_nothing,
    a_returned_payment_is_paid_again_under_another_name,
    what_is_in_a_file_waits_for_its_bank,
    who_may_not_be_paid_is_in_no_file,
    a_bank_that_is_connected_takes_no_files,
}

/// Three sellers are due 9.90, 19.80 and 29.70 on Tuesday, and their batches are pending.
async fn pending(app: TestApp) -> TestApp {
    let app = app.without_bank().await;
    let merchant = platform(&app).await;
    for number in 1..=3 {
        let seller = seller(&app, &merchant, number, &format!("492{number}")).await;
        pix_payment(&app, &merchant, i64::from(number) * 1_000, Some(all_of_it(&seller))).await;
    }
    app.later(Duration::from_secs(18 * 60 * 60)).await;
    assert_eq!(statuses(&app).await, [(990, "pending"), (1_980, "pending"), (2_970, "pending")].map(owned));
    app
}

fn owned((amount, status): (i64, &str)) -> (i64, String) {
    (amount, status.to_owned())
}

/// What batches pay, and where they stand, in the order of the amounts.
async fn statuses(app: &TestApp) -> Vec<(i64, String)> {
    let batches = listed(app, BATCHES, "").await;
    batches.iter().for_each(adds_up);
    let told = |batch: &Value| (batch["finalBalance"].as_i64().unwrap(), text(&batch["status"]).to_owned());
    let mut found: Vec<_> = batches.iter().map(told).collect();
    found.sort();
    found
}

pub(super) async fn exported_on(app: &TestApp, day: Date, again: bool) -> Result<ExportedRow, String> {
    let company = company().as_object().unwrap().clone();
    match operator(app, PayoutsTask::Export { company, day, again }).await? {
        PayoutsAnswer::Exported(row) => Ok(row),
        PayoutsAnswer::Pending { .. }
        | PayoutsAnswer::Account { .. }
        | PayoutsAnswer::Decided { .. }
        | PayoutsAnswer::Returned(_)
        | PayoutsAnswer::Report(_) => panic!("another answer"),
    }
}

/// The text of the file that pays on Tuesday.
async fn exported(app: &TestApp) -> String {
    exported_on(app, TUESDAY, false).await.unwrap().text.unwrap()
}

pub(super) async fn imported(app: &TestApp, text: &str, run: Run) -> Result<ReturnRow, String> {
    match operator(app, PayoutsTask::ImportReturn { text: text.to_owned(), run }).await? {
        PayoutsAnswer::Returned(row) => Ok(row),
        PayoutsAnswer::Pending { .. }
        | PayoutsAnswer::Account { .. }
        | PayoutsAnswer::Decided { .. }
        | PayoutsAnswer::Exported(_)
        | PayoutsAnswer::Report(_) => panic!("another answer"),
    }
}

/// What became of the payments of a file, in the order of the amounts that it has.
pub(super) fn became(row: &ReturnRow) -> Vec<Became> {
    let mut outcomes: Vec<_> = row.outcomes.iter().collect();
    outcomes.sort_by_key(|outcome| outcome.amount);
    outcomes.into_iter().map(|outcome| outcome.became.clone()).collect()
}

pub(super) fn already(status: &str) -> Became {
    Became::Already { status: status.to_owned() }
}

fn undecided(why: &str) -> Became {
    Became::Undecided { why: why.to_owned() }
}

/// One is paid, one is refused, and one is paid later.
const ONE_OF_EACH: fn(i64) -> (&'static str, &'static str, i64) = |amount| match amount {
    990 => ("000", "00", 990),
    1_980 => ("000", "AN", 0),
    _ => ("000", "BD", 0),
};
const NO_SUCH_ACCOUNT: &str = "AN receiver's account or its check digit is invalid";

async fn a_file_pays_what_is_pending_once(app: TestApp) {
    let app = pending(app).await;
    let past = exported_on(&app, date(2026, 3, 23), false).await;
    assert_eq!(past.unwrap_err(), "2026-03-23 is past");
    let file = exported_on(&app, TUESDAY, false).await.unwrap();
    assert_eq!((file.number, file.amount, file.batches.len()), (Some(1), 5_940, 3));
    assert_eq!((file.left_out.len(), file.in_a_file, file.more), (0, 0, false));
    let text_of = file.text.unwrap();
    let mut paid: Vec<(i64, String)> = Vec::new();
    for line in payments(&text_of) {
        paid.push((columns(line, 120, 15).parse().unwrap(), columns(line, 74, 20).to_owned()));
        assert_eq!(columns(line, 94, 8), "24032026");
    }
    let batches = listed(&app, BATCHES, "").await;
    let mut expected: Vec<(i64, String)> = Vec::new();
    for batch in &batches {
        let id: PaymentBatchId = text(&batch["id"]).parse().unwrap();
        expected.push((batch["finalBalance"].as_i64().unwrap(), name_of(id)));
    }
    paid.sort();
    expected.sort();
    assert_eq!(paid, expected);

    // What is in a file is in no other one, unless the operator says so: then under the same names.
    let second = exported_on(&app, TUESDAY, false).await.unwrap();
    assert_eq!((second.text, second.number, second.in_a_file), (None, None, 3));
    let again = exported_on(&app, TUESDAY, true).await.unwrap();
    assert_eq!(again.number, Some(2));
    assert_eq!(payments(&again.text.unwrap()), payments(&text_of));
    statements_add_up(&app).await;
}

async fn the_return_file_decides_once(app: TestApp) {
    let app = pending(app).await;
    let file = answered(&exported(&app).await, ONE_OF_EACH);
    let expected = [Became::Paid, Became::Failed { reason: NO_SUCH_ACCOUNT.to_owned() }, Became::Scheduled];
    let dry = imported(&app, &file, Run::Dry).await.unwrap();
    assert_eq!((became(&dry), dry.is_open()), (expected.to_vec(), false));
    assert_eq!(statuses(&app).await, [(990, "pending"), (1_980, "pending"), (2_970, "pending")].map(owned));

    let real = imported(&app, &file, Run::Real).await.unwrap();
    assert_eq!(became(&real), expected);
    let decided = listed(&app, BATCHES, "").await;
    assert_eq!(statuses(&app).await, [(990, "paid"), (1_980, "failed"), (2_970, "pending")].map(owned));
    let failed = decided.iter().find(|batch| batch["status"] == "failed").unwrap();
    assert_eq!(failed["error"], json!({ "reason": NO_SUCH_ACCOUNT }));
    statements_add_up(&app).await;

    let second = imported(&app, &file, Run::Real).await.unwrap();
    assert_eq!(became(&second), [already("paid"), already("failed"), Became::Scheduled]);
    assert_eq!(listed(&app, BATCHES, "").await, decided);
    // A file that says the opposite is somebody's to look at.
    let opposite = answered(&file, |amount| match amount {
        990 => ("000", "AN", 0),
        _ => ("000", "00", amount),
    });
    let told = imported(&app, &opposite, Run::Dry).await.unwrap();
    let expected = [
        undecided("the payment batch is paid, and the file says that it was refused"),
        undecided("the payment batch is failed, and the file says that it was paid"),
        Became::Paid,
    ];
    assert_eq!((became(&told), told.is_open()), (expected.to_vec(), true));

    // What was refused is in the batch of the next business day, and in its file; what the bank pays later is not.
    app.later(DAY).await;
    let next = exported_on(&app, WEDNESDAY, false).await.unwrap();
    assert_eq!((next.number, next.amount, next.batches.len(), next.in_a_file), (Some(2), 1_980, 1, 1));
    statements_add_up(&app).await;
}

async fn what_a_return_file_does_not_say_clearly_decides_nothing(app: TestApp) {
    let app = pending(app).await;
    let before = listed(&app, BATCHES, "").await;
    let written = exported(&app).await;
    // Less is paid than was asked for, a code is not known, and nothing is said.
    let file = answered(&written, |amount| match amount {
        990 => ("000", "00", 989),
        1_980 => ("000", "QQ", 0),
        _ => ("000", "  ", 0),
    });
    let told = imported(&app, &file, Run::Real).await.unwrap();
    let expected = [
        Became::Differs { expected: 990, found: 989 },
        undecided("the code QQ is not one of a transfer"),
        undecided("it has no code that decides"),
    ];
    assert_eq!((became(&told), told.is_open()), (expected.to_vec(), true));

    // Of a transfer that is not ours nothing is known.
    let first = before.iter().find(|batch| batch["finalBalance"] == 990).unwrap();
    let name = name_of(text(&first["id"]).parse().unwrap());
    let file = answered(&written, ONE_OF_EACH);
    for (other, why) in [
        ("06EPNZP50M0000000000", "no payment batch has this name"),
        ("INVOICE 7           ", "it has no name of ours"),
    ] {
        let told = imported(&app, &file.replace(&name, other), Run::Dry).await.unwrap();
        assert_eq!(became(&told)[0], undecided(why));
    }
    // A file that is not whole decides nothing at all.
    let cut = &file[..file.len() - 242];
    assert_eq!(
        imported(&app, cut, Run::Real).await.unwrap_err(),
        "the file decides nothing: its end is missing"
    );
    let no_return = imported(&app, &written, Run::Real).await.unwrap_err();
    assert!(no_return.contains("does not begin like a return file"), "{no_return}");
    assert_eq!(statuses(&app).await, [(990, "pending"), (1_980, "pending"), (2_970, "pending")].map(owned));
    statements_add_up(&app).await;
}

async fn a_returned_payment_is_paid_again_under_another_name(app: TestApp) {
    let app = pending(app).await;
    let written = exported(&app).await;
    imported(&app, &answered(&written, |amount| ("000", "00", amount)), Run::Real).await.unwrap();
    assert_eq!(statuses(&app).await, [(990, "paid"), (1_980, "paid"), (2_970, "paid")].map(owned));
    let back = answered(&written, |amount| match amount {
        990 => ("333", "AN", 0),
        _ => ("000", "00", amount),
    });
    for expected in [
        Became::Failed { reason: format!("33 returned by the clearing house; {NO_SUCH_ACCOUNT}") },
        already("failed"),
    ] {
        let told = imported(&app, &back, Run::Real).await.unwrap();
        assert_eq!(became(&told), [expected, already("paid"), already("paid")]);
    }
    statements_add_up(&app).await;
    app.later(DAY).await;
    let next = exported_on(&app, WEDNESDAY, false).await.unwrap().text.unwrap();
    let (first, again) = (payments(&written), payments(&next));
    assert_eq!((again.len(), columns(again[0], 120, 15)), (1, "000000000000990"));
    assert!(first.iter().all(|line| columns(line, 74, 20) != columns(again[0], 74, 20)));
    statements_add_up(&app).await;
}

async fn what_is_in_a_file_waits_for_its_bank(app: TestApp) {
    let app = pending(app).await;
    exported(&app).await;
    // A bank is connected, which does not have what is in the file, and the sellers are gone with their bank accounts.
    let app = app.with_bank().await;
    for seller in app.get("/v1/sellers").await.expect(200)["items"].as_array().unwrap() {
        deleted(&app, seller).await;
    }
    for batch in listed(&app, BATCHES, "").await {
        let id: PaymentBatchId = text(&batch["id"]).parse().unwrap();
        let next = transfers::drive(&app.app, app.client_id(), id).await.unwrap();
        assert!(matches!(next, Next::At(_)), "{next:?}");
        let orders = listed(&app, &format!("{BATCHES}/{id}/orders"), "").await;
        assert_eq!(orders.len(), 1, "they are in no other batch: {batch:#}");
    }
    assert_eq!(statuses(&app).await, [(990, "pending"), (1_980, "pending"), (2_970, "pending")].map(owned));
    statements_add_up(&app).await;
}

async fn who_may_not_be_paid_is_in_no_file(app: TestApp) {
    let app = pending(app).await;
    let sellers = app.get("/v1/sellers").await.expect(200);
    changed(&app, &sellers["items"][0], &json!({ "status": "inactive" })).await;
    let file = exported_on(&app, TUESDAY, false).await.unwrap();
    assert_eq!((file.batches.len(), file.left_out.len()), (2, 1));
    assert_eq!(file.left_out[0].why, "the receiver may not be paid now");
    statements_add_up(&app).await;
}

async fn a_bank_that_is_connected_takes_no_files(app: TestApp) {
    let refused = "a bank is connected, and pays by itself";
    assert_eq!(exported_on(&app, TUESDAY, false).await.unwrap_err(), refused);
    let app = pending(app).await;
    let file = answered(&exported(&app).await, ONE_OF_EACH);
    let mut wrong = company();
    wrong["branch"] = json!("123456");
    let task = PayoutsTask::Export { company: wrong.as_object().unwrap().clone(), day: TUESDAY, again: true };
    let why = operator(&app, task).await.unwrap_err();
    assert_eq!(why, "of the company, the branch must have at most 5 digits and one check digit");
    let app = app.with_bank().await;
    assert_eq!(imported(&app, &file, Run::Real).await.unwrap_err(), refused);
}
