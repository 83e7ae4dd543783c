//! What follows an authorization at the simulator: captures, voids and refunds, each once, and never more money than
//! there is.

use regente_domain::currency::Currency;
use regente_domain::decline::DeclinedCode;
use regente_domain::money::Amount;
use regente_domain::split::Bears;
use regente_providers::division::{Division, SellerPart};
use regente_providers::outcome::{Answer, Finding, Probe};
use regente_providers::request::{Authorization, FollowUp, Operation};
use regente_providers::sandbox::{Holding, Holdings, Record, TransactionLog};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::support::{
    APPROVED, approved, authorization, call, capture, charge, declined, follow_up, inquiry, key, providers,
    reservation, verification, void,
};
use crate::transaction_log::both;

/// authorized, reserved, captured, refunded, released
async fn amounts(log: &TransactionLog, authorization_key: Uuid) -> [i64; 5] {
    let Holding { authorized, reserved, captured, refunded, released, charged_back: _, currency } =
        log.holding(authorization_key).await.unwrap().unwrap();
    assert_eq!(currency, Currency::BRL);
    [authorized, reserved, captured, refunded, released].map(|amount| amount.minor_units())
}

#[track_caller]
fn refused(answer: Answer, code: DeclinedCode, reason: &str) {
    let decline = declined(answer);
    assert_eq!((decline.code, decline.network_denied_reason.as_deref()), (code, Some(reason)));
    assert!(!decline.retryable);
}

#[tokio::test]
async fn a_reservation_is_captured_once_and_the_rest_is_released() {
    let (_folder, both) = both();
    for log in both {
        let providers = providers(&log);
        approved(providers.call(reservation(key(1), APPROVED, Some("560"))).await);
        assert_eq!(amounts(&log, key(1)).await, [1500, 1500, 0, 0, 0]);

        let answer = providers.call(capture(key(2), key(1), 1501)).await;
        refused(answer, DeclinedCode::InvalidAmount, "sandbox more than reserved");
        let first = approved(providers.call(capture(key(3), key(1), 1000)).await);
        assert!(first.transaction_id.is_some());
        assert_eq!(amounts(&log, key(1)).await, [1500, 0, 1000, 0, 500]);
        let answer = providers.call(capture(key(4), key(1), 500)).await;
        refused(answer, DeclinedCode::TransactionNotAllowed, "sandbox nothing reserved");

        assert_eq!(approved(providers.call(capture(key(3), key(1), 1000)).await), first, "the same key");
        assert_eq!(amounts(&log, key(1)).await, [1500, 0, 1000, 0, 500]);
        assert_eq!(log.effects().await.unwrap(), 1);
    }
}

#[tokio::test]
async fn what_a_partial_void_released_cannot_be_captured() {
    let (_folder, both) = both();
    for log in both {
        let providers = providers(&log);
        approved(providers.call(reservation(key(1), APPROVED, Some("560"))).await);
        approved(providers.call(void(key(2), key(1), 500)).await);
        assert_eq!(amounts(&log, key(1)).await, [1500, 1000, 0, 0, 500]);
        let answer = providers.call(capture(key(3), key(1), 1001)).await;
        refused(answer, DeclinedCode::InvalidAmount, "sandbox more than reserved");
        approved(providers.call(capture(key(4), key(1), 800)).await);
        assert_eq!(amounts(&log, key(1)).await, [1500, 0, 800, 0, 700]);
        approved(providers.call(void(key(5), key(1), 300)).await);
        assert_eq!(amounts(&log, key(1)).await, [1500, 0, 800, 300, 700]);
    }
}

#[tokio::test]
async fn a_reservation_that_was_released_leaves_nothing_to_do() {
    let (_folder, both) = both();
    for log in both {
        let providers = providers(&log);
        approved(providers.call(reservation(key(1), APPROVED, Some("560"))).await);
        approved(providers.call(void(key(2), key(1), 1500)).await);
        assert_eq!(amounts(&log, key(1)).await, [1500, 0, 0, 0, 1500]);
        let answer = providers.call(capture(key(3), key(1), 1)).await;
        refused(answer, DeclinedCode::TransactionNotAllowed, "sandbox nothing reserved");
        let answer = providers.call(void(key(4), key(1), 1)).await;
        refused(answer, DeclinedCode::InvalidAmount, "sandbox more than taken");
    }
}

#[tokio::test]
async fn what_was_taken_is_given_back_in_parts_and_never_more() {
    let (_folder, both) = both();
    for log in both {
        let providers = providers(&log);
        approved(providers.call(charge(key(1), APPROVED, Some("560"))).await);
        assert_eq!(amounts(&log, key(1)).await, [1500, 0, 1500, 0, 0]);
        let answer = providers.call(capture(key(2), key(1), 1500)).await;
        refused(answer, DeclinedCode::TransactionNotAllowed, "sandbox nothing reserved");
        for number in 3..6 {
            approved(providers.call(void(key(number), key(1), 400)).await);
            approved(providers.call(void(key(number), key(1), 400)).await);
        }
        assert_eq!(amounts(&log, key(1)).await, [1500, 0, 1500, 1200, 0]);
        let answer = providers.call(void(key(6), key(1), 400)).await;
        refused(answer, DeclinedCode::InvalidAmount, "sandbox more than taken");
        approved(providers.call(void(key(7), key(1), 300)).await);
        assert_eq!(amounts(&log, key(1)).await, [1500, 0, 1500, 1500, 0]);
        assert_eq!(log.holding(key(1)).await.unwrap().unwrap().kept().minor_units(), 0);
    }
}

#[tokio::test]
async fn only_an_approved_authorization_can_be_followed() {
    let (_folder, both) = both();
    for log in both {
        let providers = providers(&log);
        declined(providers.call(charge(key(1), APPROVED, Some("561"))).await);
        approved(providers.call(verification(key(2), APPROVED, Some("560"))).await);
        providers.probe(inquiry(key(3))).await;
        let mut next = 10;
        for authorization_key in [key(1), key(2), key(3), key(4)] {
            for follow in [capture, void] {
                next += 1;
                let answer = providers.call(follow(key(next), authorization_key, 100)).await;
                refused(answer, DeclinedCode::TransactionNotAllowed, "sandbox no such authorization");
            }
            assert_eq!(log.holding(authorization_key).await.unwrap(), None);
        }
    }
}

#[tokio::test]
async fn a_follow_up_names_the_currency_and_an_amount() {
    let log = TransactionLog::memory();
    let providers = providers(&log);
    approved(providers.call(charge(key(1), APPROVED, Some("560"))).await);
    let dollars = FollowUp { currency: Currency::parse("USD").unwrap(), ..follow_up(key(1), 100) };
    let answer = providers.call(call(key(2), Operation::Void(dollars))).await;
    refused(answer, DeclinedCode::TransactionNotAllowed, "sandbox other currency");
    refused(providers.call(void(key(3), key(1), 0)).await, DeclinedCode::InvalidAmount, "sandbox no amount");
}

#[tokio::test]
async fn the_amount_991_is_refused() {
    let log = TransactionLog::memory();
    let providers = providers(&log);
    approved(providers.call(reservation(key(1), APPROVED, Some("560"))).await);
    for follow in [capture, void] {
        let answer = providers.call(follow(key(2), key(1), 991)).await;
        refused(answer, DeclinedCode::InvalidAmount, "sandbox refused amount");
    }
    assert_eq!(amounts(&log, key(1)).await, [1500, 1500, 0, 0, 0]);
    approved(providers.call(capture(key(3), key(1), 990)).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_refunds_at_once_give_back_no_more_than_was_taken() {
    let (_folder, both) = both();
    for log in both {
        approved(providers(&log).call(charge(key(1), APPROVED, Some("560"))).await);
        let mut tasks = JoinSet::new();
        for number in 2..42 {
            let providers = providers(&log);
            tasks.spawn(async move { providers.call(void(key(number), key(1), 100)).await });
        }
        let answers = tasks.join_all().await;
        let given = answers.iter().filter(|answer| matches!(answer, Answer::Approved(_))).count();
        assert_eq!(given, 15);
        assert_eq!(amounts(&log, key(1)).await, [1500, 0, 1500, 1500, 0]);
    }
}

#[tokio::test]
async fn a_follow_up_is_probed_like_any_call() {
    let log = TransactionLog::memory();
    let providers = providers(&log);
    approved(providers.call(reservation(key(1), APPROVED, Some("560"))).await);
    let captured = approved(providers.call(capture(key(2), key(1), 700)).await);
    assert_eq!(providers.probe(inquiry(key(2))).await, Probe::Found(Finding::Approved(captured)));

    assert_eq!(providers.probe(inquiry(key(3))).await, Probe::Absent);
    let late = declined(providers.call(void(key(3), key(1), 700)).await);
    assert_eq!(late.network_denied_reason.as_deref(), Some("probed before it arrived"));
    assert_eq!(amounts(&log, key(1)).await, [1500, 0, 700, 0, 800]);
}

#[tokio::test]
async fn the_holdings_of_all_entries_say_what_each_holding_says() {
    let (_folder, both) = both();
    for log in both {
        let providers = providers(&log);
        approved(providers.call(reservation(key(1), APPROVED, Some("560"))).await);
        approved(providers.call(charge(key(2), APPROVED, Some("560"))).await);
        declined(providers.call(charge(key(3), APPROVED, Some("561"))).await);
        approved(providers.call(void(key(4), key(2), 600)).await);
        approved(providers.call(capture(key(5), key(1), 1200)).await);
        approved(providers.call(void(key(6), key(1), 200)).await);

        let entries = log.entries().await.unwrap();
        let holdings = Holdings::of(&entries);
        assert_eq!(holdings.iter().map(|(key, _)| key).collect::<Vec<_>>(), [key(1), key(2)]);
        for (key, of_all) in holdings.iter() {
            assert_eq!(log.holding(key).await.unwrap(), Some(of_all));
        }
        assert_eq!(amounts(&log, key(1)).await, [1500, 0, 1200, 200, 300]);
        assert_eq!(amounts(&log, key(2)).await, [1500, 0, 1500, 600, 0]);
        let follow_up = &entries[3];
        assert_eq!(follow_up.authorization_key(), Some(key(2)));
        assert!(follow_up.answered().unwrap().deed.card().is_none());
    }
}

#[tokio::test]
async fn what_is_divided_fits_and_names_sellers_who_are_known() {
    let (_folder, both) = both();
    for log in both {
        let providers = providers(&log);
        let division = |rest: i64| {
            let part = SellerPart {
                registration: key(9),
                recipient: None,
                amount: Amount::new(100).unwrap(),
                bears: Bears::default(),
            };
            Some(Box::new(Division { sellers: vec![part], rest: Amount::new(rest).unwrap() }))
        };
        let divided =
            |rest| Authorization { division: division(rest), ..authorization(APPROVED, Some("560")) };
        for (number, rest, code, reason) in [
            (1, 1401, DeclinedCode::InvalidAmount, "sandbox split does not fit"),
            (2, 1400, DeclinedCode::TransactionNotAllowed, "sandbox no such seller"),
        ] {
            let answer = providers.call(call(key(number), Operation::Authorize(divided(rest)))).await;
            refused(answer, code, reason);
        }
        // What a seller gives back is taken from them wherever they stand.
        approved(providers.call(charge(key(3), APPROVED, Some("560"))).await);
        let back = |rest| FollowUp { division: division(rest), ..follow_up(key(3), 500) };
        let answer = providers.call(call(key(4), Operation::Void(back(401)))).await;
        refused(answer, DeclinedCode::InvalidAmount, "sandbox split does not fit");
        approved(providers.call(call(key(5), Operation::Void(back(400)))).await);
        let logged = log.find(key(5)).await.unwrap().unwrap();
        assert_eq!(logged.answered().unwrap().division, division(400));
        assert_eq!(log.find(key(3)).await.unwrap().unwrap().answered().unwrap().division, None);
    }
}

/// The statements that made the log of the release before.
const FORMAT_1: &str = "
CREATE TABLE entries (
    sequence INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, at INTEGER NOT NULL, operation TEXT, amount INTEGER,
    currency TEXT, card_hash BLOB, card_last_four TEXT, finding TEXT,
    CHECK ((operation IS NULL) = (finding IS NULL))
) STRICT;
PRAGMA application_id = 1396854616;
PRAGMA user_version = 1";

#[tokio::test]
async fn a_log_of_the_release_before_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sandbox.db");
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch(FORMAT_1).unwrap();
    let row = "INSERT INTO entries (key, at, operation, amount, currency, card_hash, card_last_four, finding)
        VALUES (?1, 5, 'authorization', 1500, 'BRL', x'01', '4124', ?2), (?3, 6, NULL, NULL, NULL, NULL, NULL, NULL)";
    let approval = serde_json::json!({ "approved": { "transaction_id": "t" } }).to_string();
    old.execute(row, rusqlite::params![key(1).as_bytes(), approval, key(2).as_bytes()]).unwrap();
    drop(old);

    for _ in 0..2 {
        let log = TransactionLog::file(&path).unwrap();
        assert_eq!(log.find(key(2)).await.unwrap().unwrap().record, Record::ProbedBeforeArrival);
        assert_eq!(log.effects().await.unwrap(), 1);
        approved(providers(&log).call(void(key(3), key(1), 500)).await);
        assert_eq!(amounts(&log, key(1)).await, [1500, 0, 1500, 500, 0]);
    }
}
