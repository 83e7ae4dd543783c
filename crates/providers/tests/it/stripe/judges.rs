//! Stories against servers that are not ours (`tests/judges/stripe`): localstripe, which has payments, and
//! stripe-stateful-mock, which has charges and idempotency keys. Faults happen on the way to them.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::authentication::{LiabilityShift, Purpose};
use regente_domain::decline::DeclinedCode;
use regente_domain::time::Timestamp;
use regente_providers::authentication::{Proof, ThreeDSecure};
use regente_providers::outcome::{Answer, Approval, Finding, Instructions, Probe, UnknownReason};
use regente_providers::provider::Providers;
use regente_providers::request::{
    Authorization, Call, FollowUp, Inquiry, Operation, OperationKind, Verification,
};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;

use super::loopback::{Loopback, Reply};
use super::{APPROVED, AUTHORIZATION, VOID, call, currency, inquiry, providers};
use crate::support::{self, approved, authorization, card, declined, key};

/// A card that is refused.
const REFUSED: &str = "4000000000000341";
/// A card whose issuer wants to ask the cardholder.
const CHALLENGED: &str = "4000002500003155";

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// Where the judges are. Installs them once.
pub(super) fn installed() -> &'static Path {
    static INSTALLED: LazyLock<PathBuf> = LazyLock::new(|| {
        let install = Command::new(folder("scripts/judges/stripe")).stdout(Stdio::null()).status().unwrap();
        assert!(install.success(), "the judges of STRIPE are not there, and cannot be installed");
        folder("target/judges/stripe")
    });
    &INSTALLED
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judge {
    Localstripe,
    StatefulMock,
}

/// A judge that runs, which ends with it.
struct Running {
    address: SocketAddr,
    _child: Child,
    _folder: tempfile::TempDir,
}

impl Judge {
    async fn start(self) -> Running {
        let installed = installed().canonicalize().unwrap();
        let mut command = match self {
            Self::Localstripe => {
                let mut python = tokio::process::Command::new(installed.join("python/bin/python"));
                python.arg("-B").arg(installed.join("localstripe_server.py"));
                python
            }
            Self::StatefulMock => {
                let mut node = tokio::process::Command::new("node");
                node.arg(installed.join("stateful_mock.mjs"));
                node
            }
        };
        // localstripe keeps its objects in a file of the temporary folder.
        let folder = tempfile::tempdir().unwrap();
        command.current_dir(folder.path()).env("TMPDIR", folder.path());
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = loop {
            let line = lines.next_line().await.unwrap().expect("the judge has ended");
            // The mock logs before it.
            if let Ok(port) = line.trim().parse::<u16>() {
                break port;
            }
        };
        Running { address: ([127, 0, 0, 1], port).into(), _child: child, _folder: folder }
    }
}

/// The adapter in front of a judge, with faults on the way to it.
async fn judged(judge: Judge, faults: impl IntoIterator<Item = Reply>) -> (Providers, Loopback, Running) {
    let running = judge.start().await;
    let way = Loopback::before(running.address, faults).await;
    (providers(way.url()), way, running)
}

fn charged(number: u128, card: &str, capture: CaptureMode) -> Call {
    call(number, Operation::Authorize(Authorization { capture, ..authorization(card, Some("123")) }))
}

fn follow_up(of: &Approval, amount: i64) -> FollowUp {
    FollowUp { transaction_id: of.transaction_id.clone(), ..support::follow_up(key(AUTHORIZATION), amount) }
}

fn void(number: u128, of: &Approval, amount: i64) -> Call {
    call(number, Operation::Void(follow_up(of, amount)))
}

fn capture(number: u128, of: &Approval, amount: i64) -> Call {
    call(number, Operation::Capture(follow_up(of, amount)))
}

/// A probe without an id, of a call that was made now: judges have no other clock.
#[expect(clippy::disallowed_methods, reason = "the judges keep the machine's time")]
fn asked_now(number: u128) -> Inquiry {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let now = Timestamp::from_millis(i64::try_from(now).unwrap());
    Inquiry { sent_at: now, at: now, ..inquiry(OperationKind::Authorization, number, None) }
}

const BOTH: [Judge; 2] = [Judge::Localstripe, Judge::StatefulMock];

#[tokio::test]
async fn money_is_taken_and_given_back_in_parts() {
    for judge in BOTH {
        let (providers, way, _running) = judged(judge, []).await;
        let taken = approved(providers.call(charged(AUTHORIZATION, APPROVED, CaptureMode::Automatic)).await);
        let first = approved(providers.call(void(2, &taken, 400)).await);
        // Sent again, it is the same refund.
        assert_eq!(approved(providers.call(void(2, &taken, 400)).await), first);
        let second = approved(providers.call(void(3, &taken, 1_100)).await);
        assert_ne!(first, second);
        let refund = |line: &String| line == "POST /v1/refunds";
        assert_eq!(way.lines().iter().filter(|line| refund(line)).count(), 2, "{judge:?}");
    }
}

#[tokio::test]
async fn a_reservation_is_captured_in_part() {
    for judge in BOTH {
        let (providers, _way, _running) = judged(judge, []).await;
        let reserved = approved(providers.call(charged(AUTHORIZATION, APPROVED, CaptureMode::Manual)).await);
        let captured = approved(providers.call(capture(2, &reserved, 1_000)).await);
        assert_eq!(captured.transaction_id, reserved.transaction_id, "{judge:?}");
        approved(providers.call(void(3, &reserved, 1_000)).await);
    }
}

#[tokio::test]
async fn a_reservation_is_released() {
    for judge in BOTH {
        let (providers, way, _running) = judged(judge, []).await;
        let reserved = approved(providers.call(charged(AUTHORIZATION, APPROVED, CaptureMode::Manual)).await);
        approved(providers.call(void(2, &reserved, 1_500)).await);
        // Again, in vain.
        approved(providers.call(void(2, &reserved, 1_500)).await);
        assert_eq!(way.lines().iter().filter(|line| line.ends_with("/cancel")).count(), 1, "{judge:?}");
    }
}

#[tokio::test]
async fn the_mock_refuses_as_issuers_do() {
    let (providers, _way, _running) = judged(Judge::StatefulMock, []).await;
    for (number, card, code, word) in [
        (1, "4000000000000002", DeclinedCode::Generic, "generic_decline"),
        (2, "4000000000009995", DeclinedCode::InsufficientFunds, "insufficient_funds"),
        (3, "4100000000000019", DeclinedCode::FraudSuspect, "fraudulent"),
        (4, "4000000000000127", DeclinedCode::InvalidCvv, "incorrect_cvc"),
        (5, "4000000000000069", DeclinedCode::ExpiredCard, "expired_card"),
        (6, "4000000000000119", DeclinedCode::TryAgain, "processing_error"),
        (7, "4000000000004293", DeclinedCode::TryAgain, "rate_limit"),
    ] {
        let decline = declined(providers.call(charged(number, card, CaptureMode::Automatic)).await);
        assert_eq!((decline.code, decline.network_denied_reason.as_deref()), (code, Some(word)));
    }
    let answer = providers.call(charged(8, "4000000000005001", CaptureMode::Automatic)).await;
    assert_eq!(answer, Answer::Unknown(UnknownReason::ProviderFailed));
}

#[tokio::test]
async fn the_mock_takes_a_key_once() {
    let faults = [Reply::LoseAnswer, Reply::Forward, Reply::Repeat];
    let (providers, _way, _running) = judged(Judge::StatefulMock, faults).await;
    let charge = || charged(AUTHORIZATION, APPROVED, CaptureMode::Automatic);
    assert_eq!(providers.call(charge()).await, Answer::Unknown(UnknownReason::ConnectionLost));
    let first = approved(providers.call(charge()).await);
    assert_eq!(approved(providers.call(charge()).await), first);
    // Another request with the same key is not carried out.
    let other = charged(AUTHORIZATION, APPROVED, CaptureMode::Manual);
    assert_eq!(providers.call(other).await, Answer::Unknown(UnknownReason::ProviderFailed));
}

#[tokio::test]
async fn a_lost_refund_is_made_once() {
    for judge in BOTH {
        // The payment, then the two reads and the refund of the first void.
        let faults = [Reply::Forward, Reply::Forward, Reply::Forward, Reply::LoseAnswer];
        let (providers, way, _running) = judged(judge, faults).await;
        let taken = approved(providers.call(charged(AUTHORIZATION, APPROVED, CaptureMode::Automatic)).await);
        let refund = || void(VOID, &taken, 400);
        assert_eq!(providers.call(refund()).await, Answer::Unknown(UnknownReason::ConnectionLost));
        approved(providers.call(refund()).await);
        assert_eq!(way.lines().iter().filter(|line| *line == "POST /v1/refunds").count(), 1, "{judge:?}");
        // The rest is there still.
        approved(providers.call(void(3, &taken, 1_100)).await);
    }
}

#[tokio::test]
async fn a_refund_that_never_arrived_is_made_the_second_time() {
    for judge in BOTH {
        let faults = [Reply::Forward, Reply::Forward, Reply::Forward, Reply::Cut];
        let (providers, _way, _running) = judged(judge, faults).await;
        let taken = approved(providers.call(charged(AUTHORIZATION, APPROVED, CaptureMode::Automatic)).await);
        let refund = || void(VOID, &taken, 400);
        assert_eq!(providers.call(refund()).await, Answer::Unknown(UnknownReason::ConnectionLost));
        approved(providers.call(refund()).await);
    }
}

#[tokio::test]
async fn a_lost_capture_is_found() {
    for judge in BOTH {
        let (providers, _way, _running) = judged(judge, [Reply::Forward, Reply::LoseAnswer]).await;
        let reserved = approved(providers.call(charged(AUTHORIZATION, APPROVED, CaptureMode::Manual)).await);
        let captured = || capture(VOID, &reserved, 1_500);
        assert_eq!(providers.call(captured()).await, Answer::Unknown(UnknownReason::ConnectionLost));
        // localstripe knows no idempotency keys, and refuses: the payment tells.
        approved(providers.call(captured()).await);
        let asked = inquiry(OperationKind::Capture, VOID, reserved.transaction_id.as_deref());
        assert!(matches!(providers.probe(asked).await, Probe::Found(Finding::Approved(_))), "{judge:?}");
    }
}

#[tokio::test]
async fn localstripe_refuses_a_card() {
    let (providers, _way, _running) = judged(Judge::Localstripe, []).await;
    let decline = declined(providers.call(charged(AUTHORIZATION, REFUSED, CaptureMode::Automatic)).await);
    assert_eq!(decline.network_denied_reason.as_deref(), Some("card_declined"));
    // The payment is there, without money.
    let Probe::Found(Finding::Declined(found)) = providers.probe(asked_now(AUTHORIZATION)).await else {
        panic!("not refused")
    };
    assert_eq!(found.code, decline.code);
}

#[tokio::test]
async fn a_lost_authorization_is_found_by_its_key() {
    let (providers, way, _running) = judged(Judge::Localstripe, [Reply::LoseAnswer, Reply::Cut]).await;
    for number in [1, 2] {
        let answer = providers.call(charged(number, APPROVED, CaptureMode::Manual)).await;
        assert_eq!(answer, Answer::Unknown(UnknownReason::ConnectionLost));
    }
    let asked = Inquiry { capture: Some(CaptureMode::Manual), ..asked_now(1) };
    let Probe::Found(Finding::Approved(found)) = providers.probe(asked).await else { panic!("not found") };
    assert_eq!(way.lines().last().map(String::as_str), Some("GET /v1/payment_intents"));
    approved(providers.call(void(3, &found, 1_500)).await);
    // The other one never arrived; it is too early to say so.
    assert_eq!(providers.probe(asked_now(2)).await, Probe::Unknown);
}

#[tokio::test]
async fn a_challenge_is_passed_or_failed() {
    let (providers, way, _running) = judged(Judge::Localstripe, []).await;
    for (number, success) in [(1, "true"), (2, "false")] {
        let return_url = "https://regente.example/back".to_owned();
        let data = Box::<ThreeDSecure>::default();
        let proof = Proof::ToDo { purpose: Purpose::Authenticate, data, return_url };
        let authorization = Authorization {
            proof: Some(Box::new(proof)),
            liability_shift: LiabilityShift::NotRequired,
            ..authorization(CHALLENGED, Some("123"))
        };
        let answer = providers.call(call(number, Operation::Authorize(authorization))).await;
        let Answer::Pending(pending) = answer else { panic!("not pending: {answer:?}") };
        let Instructions::HostedChallenge { term_url, .. } = &pending.instructions else {
            panic!("no challenge")
        };
        assert_eq!(term_url, "https://regente.example/back");
        let id = pending.reference.transaction_id.clone().unwrap();
        let asked = || inquiry(OperationKind::Authorization, number, Some(&id));
        assert!(matches!(providers.probe(asked()).await, Probe::Found(Finding::Pending(_))));
        answer_challenge(&way, &id, success).await;
        match (providers.probe(asked()).await, success) {
            (Probe::Found(Finding::Approved(approval)), "true") => {
                assert_eq!(approval.transaction_id.as_deref(), Some(id.as_str()));
            }
            (Probe::Found(Finding::Declined(decline)), "false") => {
                assert_eq!(
                    decline.network_denied_reason.as_deref(),
                    Some("payment_intent_authentication_failure")
                );
            }
            (probe, _) => panic!("{probe:?}"),
        }
    }
}

/// Does what the page of the challenge does.
async fn answer_challenge(way: &Loopback, id: &str, success: &str) {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let url = |path: &str| way.url().join(path).unwrap();
    let path = format!("v1/payment_intents/{id}");
    let payment = http.get(url(&path)).bearer_auth("sk_test_regente").send().await.unwrap();
    let payment: serde_json::Value = payment.json().await.unwrap();
    let form = [("client_secret", payment["client_secret"].as_str().unwrap()), ("success", success)];
    let form = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
    let answer = http
        .post(url(&format!("{path}/_authenticate")))
        .bearer_auth("sk_test_regente")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(form)
        .send()
        .await
        .unwrap();
    assert!(answer.status().is_success());
}

#[tokio::test]
async fn localstripe_checks_cards() {
    let (providers, _way, _running) = judged(Judge::Localstripe, []).await;
    let verification = |number: &str| {
        let card = card(number, Some("123"));
        Operation::VerifyCard(Verification { currency: currency("BRL"), card, merchant_mcc: None })
    };
    approved(providers.call(call(1, verification(APPROVED))).await);
    declined(providers.call(call(2, verification("4000000000000002"))).await);
    declined(providers.call(call(3, verification(CHALLENGED))).await);
}

#[tokio::test]
async fn a_wrong_key_is_refused_by_both() {
    for judge in BOTH {
        let (providers, _way, _running) = judged(judge, []).await;
        let credentials = regente_providers::request::Credentials::new(support::object(
            serde_json::json!({ "secretKey": "wrong" }),
        ));
        let charge = charged(AUTHORIZATION, APPROVED, CaptureMode::Automatic);
        let decline = declined(providers.call(Call { credentials, ..charge }).await);
        assert_eq!(decline.code, DeclinedCode::InvalidMerchant, "{judge:?}");
    }
}
