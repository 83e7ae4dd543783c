//! What every fault means for every operation: the table of `docs/providers/pagarme_v5.md`. Whatever the network does,
//! nothing is done twice and nothing is guessed.

use std::time::Duration;

use regente_domain::decline::DeclinedCode;
use regente_domain::payment_type::PaymentType;
use regente_providers::outcome::{Answer, Finding, Probe, UnknownReason};
use regente_providers::provider::Providers;

use super::judge::{Fault, Front, Judge, providers};
use super::stories::{
    SOON, authorize, capture, follow_up, id_of, key, no_complaint, probe, reserving, void, void_later,
};
use super::*;
use crate::support::{approved, declined};

const LOST: Answer = Answer::Unknown(UnknownReason::ConnectionLost);
const FAILED: Answer = Answer::Unknown(UnknownReason::ProviderFailed);
/// From when on an absence proves something.
const LATER: Duration = Duration::from_secs(30 * 60);

async fn start() -> (Judge, Front, Providers) {
    let judge = Judge::start();
    let front = Front::before(&judge).await;
    let providers = front.providers();
    (judge, front, providers)
}

#[tokio::test]
async fn an_authorization_that_was_done_and_not_answered_is_found() {
    let (judge, front, providers) = start().await;
    for (fault, answer) in [
        (Fault::CutAfter, LOST),
        (Fault::StatusAfter(500), FAILED),
        (Fault::StatusAfter(503), FAILED),
        (Fault::StatusAfter(504), FAILED),
        (Fault::StatusAfter(408), FAILED),
        (Fault::StatusAfter(409), FAILED),
        (Fault::StatusAfter(412), FAILED),
        (Fault::PageAfter(400), FAILED),
        (Fault::PageAfter(403), FAILED),
        (Fault::PageAfter(429), FAILED),
        (Fault::Garbage, Answer::Unknown(UnknownReason::Unreadable)),
    ] {
        judge.does("reset").await;
        front.next(&[fault]);
        assert_eq!(authorize(&providers, card_authorization("123")).await, answer, "{fault:?}");
        let found = probe(&providers, None, SOON).await;
        assert!(matches!(found, Probe::Found(Finding::Approved(_))), "{fault:?}: {found:?}");
        assert_eq!(judge.effects().await, (1, 0, 0));
        no_complaint(&judge).await;
    }
}

#[tokio::test]
async fn an_authorization_that_never_arrived_is_absent_only_after_half_an_hour() {
    let (judge, front, providers) = start().await;
    for (fault, answer) in [
        (Fault::CutBefore, LOST),
        (Fault::Status(502), FAILED),
        (Fault::Status(409), FAILED),
        (Fault::Page(403), FAILED),
    ] {
        judge.does("reset").await;
        front.next(&[fault]);
        assert_eq!(authorize(&providers, card_authorization("123")).await, answer, "{fault:?}");
        assert_eq!(probe(&providers, None, SOON).await, Probe::Unknown);
        assert_eq!(probe(&providers, None, LATER - Duration::from_millis(1)).await, Probe::Unknown);
        assert_eq!(probe(&providers, None, LATER).await, Probe::Absent);
        assert_eq!(judge.effects().await, (0, 0, 0));
    }
}

#[tokio::test]
async fn an_order_that_the_search_shows_late_is_not_absent_before() {
    let (judge, front, providers) = start().await;
    front.next(&[Fault::CutAfter]);
    assert_eq!(authorize(&providers, card_authorization("123")).await, LOST);
    judge.does("hide").await;
    assert_eq!(probe(&providers, None, SOON).await, Probe::Unknown);
    judge.does("show").await;
    assert!(matches!(probe(&providers, None, SOON).await, Probe::Found(_)));
}

#[tokio::test]
async fn a_probe_that_is_not_answered_tells_nothing() {
    let (_judge, front, providers) = start().await;
    let charge = id_of(authorize(&providers, card_authorization("123")).await);
    for fault in [
        Fault::CutBefore,
        Fault::Status(500),
        Fault::Status(401),
        Fault::Status(404),
        Fault::Status(429),
        Fault::Page(200),
        Fault::Page(403),
        Fault::Page(404),
        Fault::Garbage,
    ] {
        for reference in [None, Some(charge.as_str())] {
            front.next(&[fault]);
            assert_eq!(probe(&providers, reference, LATER).await, Probe::Unknown, "{fault:?}");
        }
    }
    assert_eq!(probe(&providers, Some("ch_unknown"), LATER).await, Probe::Unknown, "it had an id");
}

#[tokio::test]
async fn an_authorization_that_hangs_is_cut_at_its_deadline() {
    let (_judge, front, providers) = start().await;
    front.next(&[Fault::Hang]);
    let answering = tokio::spawn(async move { authorize(&providers, card_authorization("123")).await });
    front.arrived().await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(46)).await;
    assert_eq!(answering.await.unwrap(), Answer::Unknown(UnknownReason::TimedOut));
}

#[tokio::test]
async fn what_was_not_sent_has_no_effect() {
    // Nobody listens on a port that was just given back.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let nobody = providers(port);
    assert_eq!(authorize(&nobody, card_authorization("123")).await, Answer::NotSent);
    assert_eq!(capture(&nobody, 1, Some("ch_1"), 1500).await, Answer::NotSent);
    assert_eq!(void(&nobody, 1, Some("ch_1"), 1500).await, Answer::NotSent);
    assert_eq!(probe(&nobody, None, LATER).await, Probe::Unknown);
}

#[tokio::test]
async fn too_many_requests_refuse_an_authorization_and_delay_what_follows() {
    let (judge, front, providers) = start().await;
    front.next(&[Fault::Status(429)]);
    let decline = declined(authorize(&providers, reserving("123")).await);
    assert_eq!((decline.code, decline.retryable), (DeclinedCode::TryAgain, true));
    let charge = id_of(authorize(&providers, reserving("123")).await);
    front.next(&[Fault::Status(429)]);
    assert_eq!(capture(&providers, 1, Some(&charge), 1500).await, FAILED);
    approved(capture(&providers, 1, Some(&charge), 1500).await);
    front.next(&[Fault::None, Fault::None, Fault::Status(429)]);
    assert_eq!(void(&providers, 2, Some(&charge), 1500).await, FAILED);
    approved(void(&providers, 2, Some(&charge), 1500).await);
    assert_eq!(judge.effects().await, (1, 1, 1));
}

#[tokio::test]
async fn a_request_that_arrives_twice_is_done_once() {
    let (judge, front, providers) = start().await;
    front.next(&[Fault::Twice]);
    let charge = id_of(authorize(&providers, reserving("123")).await);
    front.next(&[Fault::Twice]);
    approved(capture(&providers, 1, Some(&charge), 1500).await);
    front.next(&[Fault::Twice; 3]);
    approved(void(&providers, 2, Some(&charge), 400).await);
    assert_eq!(judge.effects().await, (1, 1, 1));
    no_complaint(&judge).await;
}

/// What can happen to a capture, or to any of the steps of a void, and what the first call then knows.
const AFTER: [Fault; 6] = [
    Fault::CutAfter,
    Fault::StatusAfter(500),
    Fault::StatusAfter(409),
    Fault::StatusAfter(401),
    Fault::PageAfter(400),
    Fault::Garbage,
];
const BEFORE: [Fault; 5] =
    [Fault::CutBefore, Fault::Status(503), Fault::Status(409), Fault::Status(403), Fault::Page(422)];

#[tokio::test]
async fn a_capture_that_is_not_answered_is_sent_again_and_done_once() {
    let (judge, front, providers) = start().await;
    for fault in AFTER.into_iter().chain(BEFORE) {
        judge.does("reset").await;
        let charge = id_of(authorize(&providers, reserving("123")).await);
        front.next(&[fault]);
        let answer = capture(&providers, 1, Some(&charge), 700).await;
        assert!(matches!(answer, Answer::Unknown(_)), "{fault:?}: {answer:?}");
        approved(capture(&providers, 1, Some(&charge), 700).await);
        assert_eq!(judge.effects().await, (1, 1, 0), "{fault:?}");
        no_complaint(&judge).await;
    }
}

#[tokio::test]
async fn a_capture_is_known_by_the_charge_when_its_key_is_forgotten() {
    let (judge, front, providers) = start().await;
    let charge = id_of(authorize(&providers, reserving("123")).await);
    front.next(&[Fault::CutAfter]);
    assert_eq!(capture(&providers, 1, Some(&charge), 700).await, LOST);
    judge.does("forget").await;
    approved(capture(&providers, 1, Some(&charge), 700).await);
    assert_eq!(judge.effects().await, (1, 1, 0));
    // Of another amount it is not ours.
    assert_eq!(capture(&providers, 2, Some(&charge), 600).await, FAILED);
    // The charge cannot be read after the refusal.
    front.next(&[Fault::None, Fault::CutBefore]);
    assert_eq!(capture(&providers, 3, Some(&charge), 700).await, FAILED);
}

#[tokio::test]
async fn a_refund_that_is_not_answered_is_sent_again_and_done_once() {
    // The steps: the charge is read, it is marked, the refund is sent.
    let steps = [vec![], vec![Fault::None], vec![Fault::None, Fault::None]];
    let (judge, front, providers) = start().await;
    for before in steps {
        for fault in AFTER.into_iter().chain(BEFORE) {
            judge.does("reset").await;
            let charge = id_of(authorize(&providers, card_authorization("123")).await);
            approved(void(&providers, 1, Some(&charge), 400).await);
            let mut faults = before.clone();
            faults.push(fault);
            front.next(&faults);
            let refused_mark =
                before.len() == 1 && matches!(fault, Fault::Status(403) | Fault::StatusAfter(401));
            let answer = void(&providers, 2, Some(&charge), 400).await;
            let is_known = match refused_mark {
                // A mark that is refused is not set, so nothing of the refund was ever sent.
                true => matches!(answer, Answer::Declined(_)),
                false => matches!(answer, Answer::Unknown(_)),
            };
            assert!(is_known, "{faults:?}: {answer:?}");
            approved(void_later(&providers, 2, Some(&charge), 400).await);
            assert_eq!(judge.effects().await, (1, 0, 2), "{faults:?}");
            no_complaint(&judge).await;
        }
    }
}

#[tokio::test]
async fn a_refund_is_known_by_its_mark_when_its_key_is_forgotten() {
    let (judge, front, providers) = start().await;
    let charge = id_of(authorize(&providers, card_authorization("123")).await);
    approved(void(&providers, 1, Some(&charge), 400).await);
    front.next(&[Fault::None, Fault::None, Fault::CutAfter]);
    assert_eq!(void(&providers, 2, Some(&charge), 400).await, LOST);
    judge.does("forget").await;
    // A day later the provider would do it again.
    approved(void_later(&providers, 2, Some(&charge), 400).await);
    assert_eq!(judge.effects().await, (1, 0, 2));
    approved(void(&providers, 3, Some(&charge), 400).await);
    assert_eq!(judge.effects().await, (1, 0, 3));
    no_complaint(&judge).await;
}

#[tokio::test]
async fn a_charge_that_cannot_be_marked_is_canceled_as_a_whole_and_not_in_part() {
    let (judge, front, providers) = start().await;
    let charge = id_of(authorize(&providers, card_authorization("123")).await);
    front.next(&[Fault::None, Fault::Status(422)]);
    declined(void(&providers, 1, Some(&charge), 400).await);
    assert_eq!(judge.effects().await, (1, 0, 0));
    front.next(&[Fault::None, Fault::Status(422)]);
    approved(void(&providers, 2, Some(&charge), 1500).await);
    approved(void(&providers, 2, Some(&charge), 1500).await);
    assert_eq!(judge.effects().await, (1, 0, 1));
}

#[tokio::test]
async fn a_refund_that_the_provider_refuses_is_refused_only_when_it_was_never_sent() {
    let (judge, front, providers) = start().await;
    let charge = id_of(authorize(&providers, card_authorization("123")).await);
    front.next(&[Fault::None, Fault::None, Fault::Status(412)]);
    let decline = declined(void(&providers, 1, Some(&charge), 400).await);
    assert_eq!(decline.network_denied_reason.as_deref(), Some("http 412"));
    front.next(&[Fault::None, Fault::None, Fault::CutBefore]);
    assert_eq!(void(&providers, 2, Some(&charge), 400).await, LOST);
    assert_eq!(void(&providers, 2, Some(&charge), 400).await, FAILED, "the first one may still run");
    assert_eq!(judge.effects().await, (1, 0, 0), "so it is not sent again at once");
    front.next(&[Fault::None, Fault::Status(412)]);
    assert_eq!(
        void_later(&providers, 2, Some(&charge), 400).await,
        FAILED,
        "what was sent may still be on its way"
    );
    approved(void_later(&providers, 2, Some(&charge), 400).await);
    assert_eq!(judge.effects().await, (1, 0, 1));
}

#[tokio::test]
async fn what_follows_an_unanswered_authorization_finds_it_by_its_code() {
    let (judge, front, providers) = start().await;
    front.next(&[Fault::CutAfter]);
    assert_eq!(authorize(&providers, reserving("123")).await, LOST);
    judge.does("hide").await;
    assert_eq!(void(&providers, 1, None, 1500).await, FAILED, "it may be shown later");
    assert_eq!(capture(&providers, 2, None, 1500).await, FAILED);
    judge.does("show").await;
    approved(void(&providers, 1, None, 1500).await);
    assert_eq!(judge.effects().await, (1, 0, 1));
    // An id that is not a charge's is not used.
    let follow_up = follow_up(Some("tran_7"), 1500, PaymentType::Credit);
    approved(providers.call(call(key(1), Operation::Void(follow_up))).await);
}

#[tokio::test]
async fn a_notification_may_come_before_the_answer() {
    let (judge, front, providers) = start().await;
    front.next(&[Fault::CutAfter]);
    assert_eq!(authorize(&providers, card_authorization("123")).await, LOST);
    let told = judge.notifications().await;
    let [event, _] = super::notifications::events_of(&told[0]).unwrap().try_into().unwrap();
    let regente_providers::notification::EventKind::Outcome(finding) = event.what else { panic!() };
    assert_eq!(probe(&providers, None, SOON).await, Probe::Found(finding), "both say the same");
}
