//! The simulator's transaction log: one effect for each key, probes that prove, files that last.

use std::path::Path;

use regente_domain::decline::DeclinedCode;
use regente_domain::money::Amount;
use regente_providers::outcome::{Answer, Finding, Probe, UnknownReason};
use regente_providers::request::OperationKind;
use regente_providers::sandbox::{Record, TransactionLog, TransactionLogError, overrides};
use serde_json::json;
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::support::{
    APPROVED, TIMED_OUT, approved, at, charge, declined, inquiry, key, object, providers, verification,
};

/// Every test runs on both kinds.
pub(crate) fn both() -> (TempDir, [TransactionLog; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let file = TransactionLog::file(&folder.path().join("sandbox.db")).unwrap();
    (folder, [TransactionLog::memory(), file])
}

#[tokio::test]
async fn an_entry_says_what_happened() {
    let (_folder, both) = both();
    for log in both {
        let providers = providers(&log);
        let approval = approved(providers.call(charge(key(1), APPROVED, Some("560"))).await);
        let decline = declined(providers.call(verification(key(2), APPROVED, Some("561"))).await);
        providers.probe(inquiry(key(3))).await;

        let entries = log.entries().await.unwrap();
        assert_eq!(entries.iter().map(|entry| entry.key).collect::<Vec<_>>(), [key(1), key(2), key(3)]);
        assert!(entries.iter().all(|entry| entry.at == at()));
        let Record::Answered(charged) = &entries[0].record else { panic!("{entries:?}") };
        assert_eq!(charged.deed.word(), OperationKind::Authorization.word());
        assert_eq!(charged.amount.minor_units(), 1500);
        assert_eq!(charged.currency.code(), "BRL");
        assert_eq!(charged.deed.card().unwrap().last_four, "4124");
        assert_eq!(charged.finding, Finding::Approved(approval));
        let Record::Answered(verified) = &entries[1].record else { panic!("{entries:?}") };
        assert_eq!(verified.deed.word(), OperationKind::ZeroDollar.word());
        assert_eq!(verified.amount, Amount::ZERO);
        assert_eq!(verified.deed.card(), charged.deed.card(), "the same card is recognised");
        assert_eq!(verified.finding, Finding::Declined(decline));
        assert_eq!(entries[2].record, Record::ProbedBeforeArrival);
        assert_eq!(log.find(key(1)).await.unwrap().as_ref(), Some(&entries[0]));
        assert_eq!(log.find(key(4)).await.unwrap(), None);
        assert_eq!(log.effects().await.unwrap(), 1);
    }
}

#[tokio::test]
async fn a_repeated_key_gets_the_first_answer_and_has_no_second_effect() {
    let (_folder, both) = both();
    for log in both {
        let providers = providers(&log);
        let first = providers.call(charge(key(1), APPROVED, Some("560"))).await;
        assert_eq!(providers.call(charge(key(1), APPROVED, Some("560"))).await, first);

        // Meanwhile the plan says that everything fails, and then that nothing is answered: what happened stays.
        let mut again = charge(key(1), APPROVED, Some("560"));
        again.options = object(json!({ "faults": [{ "then": "try_again" }] }));
        assert_eq!(providers.call(again).await, first);
        assert_eq!(providers.call(charge(key(1), TIMED_OUT, None)).await, first);

        let refused = providers.call(charge(key(2), APPROVED, Some("561"))).await;
        assert_eq!(providers.call(charge(key(2), APPROVED, Some("560"))).await, refused);
        assert_eq!(log.effects().await.unwrap(), 1);
        assert_eq!(log.entries().await.unwrap().len(), 2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_at_once_with_one_key_have_one_effect() {
    let (_folder, both) = both();
    for log in both {
        let mut tasks = JoinSet::new();
        for number in 0..64 {
            // Different seeds: each would give the payment another id.
            let mut call = charge(key(1), APPROVED, Some("560"));
            call.test_overrides = overrides(call.mode, Some(number.to_string()), None);
            let providers = providers(&log);
            tasks.spawn(async move { providers.call(call).await });
        }
        let answers = tasks.join_all().await;
        approved(answers[0].clone());
        assert!(answers.iter().all(|answer| *answer == answers[0]));
        assert_eq!(log.effects().await.unwrap(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_at_once_with_keys_of_their_own_are_all_written_down() {
    const CALLS: u128 = 600;
    let (_folder, both) = both();
    for log in both {
        let mut tasks = JoinSet::new();
        for number in 0..CALLS {
            let providers = providers(&log);
            tasks.spawn(async move { providers.call(charge(key(number), APPROVED, Some("560"))).await });
        }
        tasks.join_all().await.into_iter().for_each(|answer| drop(approved(answer)));
        for number in 0..CALLS {
            assert!(log.find(key(number)).await.unwrap().is_some());
        }
        assert_eq!(log.effects().await.unwrap(), 600);
    }
}

#[tokio::test]
async fn a_probe_finds_what_was_answered() {
    let (_folder, both) = both();
    for log in both {
        let providers = providers(&log);
        let approval = approved(providers.call(charge(key(1), APPROVED, Some("560"))).await);
        let decline = declined(providers.call(charge(key(2), APPROVED, Some("561"))).await);
        for _ in 0..2 {
            let found = providers.probe(inquiry(key(1))).await;
            assert_eq!(found, Probe::Found(Finding::Approved(approval.clone())));
            let found = providers.probe(inquiry(key(2))).await;
            assert_eq!(found, Probe::Found(Finding::Declined(decline.clone())));
        }
    }
}

#[tokio::test]
async fn a_key_that_a_probe_did_not_find_is_refused_when_it_arrives_late() {
    let (_folder, both) = both();
    for log in both {
        let providers = providers(&log);
        for _ in 0..2 {
            assert_eq!(providers.probe(inquiry(key(1))).await, Probe::Absent);
        }
        for number in [APPROVED, TIMED_OUT] {
            let decline = declined(providers.call(charge(key(1), number, None)).await);
            assert_eq!(decline.code, DeclinedCode::TryAgain);
            assert_eq!(decline.network_denied_reason.as_deref(), Some("probed before it arrived"));
        }
        assert_eq!(providers.probe(inquiry(key(1))).await, Probe::Absent, "still");
        assert_eq!(log.effects().await.unwrap(), 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_probe_and_a_call_at_the_same_time_agree() {
    let (_folder, both) = both();
    for log in both {
        for number in 0..100 {
            let (one, other) = (providers(&log), providers(&log));
            let calling =
                tokio::spawn(async move { one.call(charge(key(number), APPROVED, Some("560"))).await });
            let probing = tokio::spawn(async move { other.probe(inquiry(key(number))).await });
            match (calling.await.unwrap(), probing.await.unwrap()) {
                (Answer::Approved(answered), Probe::Found(Finding::Approved(found))) => {
                    assert_eq!(answered, found);
                }
                (Answer::Declined(_), Probe::Absent) => {}
                (answer, probe) => panic!("{answer:?} and {probe:?}"),
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_timed_out_is_proved_absent() {
    let log = TransactionLog::memory();
    let providers = providers(&log);
    let answer = providers.call(charge(key(1), TIMED_OUT, Some("600"))).await;
    assert_eq!(answer, Answer::Unknown(UnknownReason::TimedOut));
    assert!(log.entries().await.unwrap().is_empty());
    assert_eq!(providers.probe(inquiry(key(1))).await, Probe::Absent);
    assert_eq!(log.effects().await.unwrap(), 0);
}

#[tokio::test]
async fn a_file_keeps_its_entries_when_it_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sandbox.db");
    let before = {
        let log = TransactionLog::file(&path).unwrap();
        let providers = providers(&log);
        providers.call(charge(key(1), APPROVED, Some("560"))).await;
        providers.call(charge(key(2), APPROVED, Some("561"))).await;
        providers.probe(inquiry(key(3))).await;
        log.entries().await.unwrap()
    };
    let log = TransactionLog::file(&path).unwrap();
    assert_eq!(log.entries().await.unwrap(), before);
    let late = declined(providers(&log).call(charge(key(3), APPROVED, Some("560"))).await);
    assert_eq!(late.network_denied_reason.as_deref(), Some("probed before it arrived"));
}

#[tokio::test]
async fn no_card_number_and_no_security_code_is_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let log = TransactionLog::file(&folder.path().join("sandbox.db")).unwrap();
    let providers = providers(&log);
    let (approved_cvv, refused_cvv) = ("8370", "8371");
    approved(providers.call(charge(key(1), APPROVED, Some(approved_cvv))).await);
    declined(providers.call(charge(key(2), "371511430434941", Some(refused_cvv))).await);
    approved(providers.call(verification(key(3), APPROVED, Some(approved_cvv))).await);

    let bytes = all_bytes(folder.path());
    assert!(contains(&bytes, b"4124"), "the last four digits are there, so the search finds things");
    for secret in
        [APPROVED, "371511430434941", approved_cvv, refused_cvv, &APPROVED[..8], "JOAO", "sandbox-secret"]
    {
        assert!(!contains(&bytes, secret.as_bytes()), "{secret} is in the file");
    }
}

#[tokio::test]
async fn a_log_that_cannot_be_written_leaves_the_outcome_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sandbox.db");
    let log = TransactionLog::file(&path).unwrap();
    let providers = providers(&log);
    rusqlite::Connection::open(&path).unwrap().execute_batch("ALTER TABLE entries RENAME TO away").unwrap();
    let answer = providers.call(charge(key(1), APPROVED, Some("560"))).await;
    assert_eq!(answer, Answer::Unknown(UnknownReason::ProviderFailed));
    assert_eq!(providers.probe(inquiry(key(1))).await, Probe::Unknown);

    // It goes on by itself when the file can be used again, and nothing had happened.
    rusqlite::Connection::open(&path).unwrap().execute_batch("ALTER TABLE away RENAME TO entries").unwrap();
    assert_eq!(providers.probe(inquiry(key(1))).await, Probe::Absent);
}

#[tokio::test]
async fn a_file_that_is_something_else_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("product.db");
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE charges (id BLOB); PRAGMA user_version = 1").unwrap();
    assert!(matches!(TransactionLog::file(&path), Err(TransactionLogError::NotALog)));
    let tables: i64 = other.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
    assert_eq!(tables, 1);

    let path = folder.path().join("sandbox.db");
    drop(TransactionLog::file(&path).unwrap());
    let is_format = |format: i64| {
        rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", format).unwrap();
    };
    for before in [2, 3] {
        is_format(before);
        assert!(TransactionLog::file(&path).is_ok(), "format {before} is read");
    }
    is_format(5);
    assert!(matches!(
        TransactionLog::file(&path),
        Err(TransactionLogError::Format { found: 5, expected: 4 })
    ));
}

fn all_bytes(folder: &Path) -> Vec<u8> {
    let files = std::fs::read_dir(folder).unwrap();
    files.flat_map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
