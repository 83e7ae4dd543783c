//! What the simulator answered is in its file, also when its process is killed the moment after.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use regente_providers::outcome::Answer;
use regente_providers::sandbox::TransactionLog;

use crate::support::{APPROVED, charge, key, providers};

/// Tells the child process where its log is.
const LOG_FILE: &str = "REGENTE_TEST_SANDBOX_LOG";
/// What the child writes before each number that it has acknowledged.
const ACKNOWLEDGED: &str = "acknowledged ";

#[tokio::test]
async fn an_answer_survives_kill_9() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sandbox.db");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::child_that_is_killed", "--ignored", "--nocapture"])
        .env(LOG_FILE, &path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let acknowledged: Vec<u128> =
        lines.filter_map(|line| line.unwrap().split_once(ACKNOWLEDGED)?.1.parse().ok()).take(20).collect();
    child.kill().unwrap();
    child.wait().unwrap();

    assert_eq!(acknowledged.len(), 20);
    let log = TransactionLog::file(&path).unwrap();
    for number in acknowledged {
        assert!(log.find(key(number)).await.unwrap().is_some(), "{number} was answered and is lost");
    }
}

#[tokio::test]
#[ignore = "runs as the child of an_answer_survives_kill_9"]
async fn child_that_is_killed() {
    let log = TransactionLog::file(&PathBuf::from(std::env::var_os(LOG_FILE).unwrap())).unwrap();
    let providers = providers(&log);
    for number in 0.. {
        let answer = providers.call(charge(key(number), APPROVED, Some("560"))).await;
        assert!(matches!(answer, Answer::Approved(_)));
        writeln!(std::io::stdout(), "{ACKNOWLEDGED}{number}").unwrap();
    }
}
