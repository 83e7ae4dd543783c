//! What is next about a charge that is analysed, as a table of what its requests say.

use regente_domain::charge::analysis::{
    Analysed, Consequence, Failure, Feeding, Progress, Rules, Screening, Standing, Timing, Verdict,
};
use regente_domain::charge::{Held, approved_authorization};
use serde_json::json;

use super::*;

const RISK: ProviderType = ProviderType::SandboxAntifraud;

fn rules(timing: Timing) -> Rules {
    Rules {
        timing,
        on_approved: Consequence::Capture,
        on_reproved: Consequence::Void,
        on_error: Consequence::Keep,
    }
}

fn analysed_charge(rules: Rules) -> Charge {
    let screening = Screening {
        provider_id: id(300),
        provider_type: RISK,
        rules: Some(rules),
        progress: Progress::NotAnalysed,
        feeding: Feeding::NotWanted,
    };
    Charge { screening: Some(Box::new(screening)), ..charge() }
}

fn reproved() -> Verdict {
    Verdict::Reproved { score: None, decline: None }
}

fn no_verdict() -> Verdict {
    let (reason, message) = ("timeout".to_owned(), "late".to_owned());
    Verdict::Failed { failure: Failure::Unanswered, reason, message }
}

fn analysis(n: u128, charge: &Charge, verdict: Option<Verdict>) -> TransactionRequest {
    let analysed = |verdict| Outcome::Analysed(Box::new(Analysed { reference: None, verdict }));
    request(n, charge.analysis().unwrap(), verdict.map_or(Outcome::Open, analysed))
}

fn follow_up(kind: FollowUpKind) -> Next {
    Next::FollowUp { kind, at: SANDBOX }
}

#[test]
fn a_verdict_on_a_reservation_leads_to_its_capture_or_void() {
    let charge = analysed_charge(rules(Timing::AfterReservation));
    let reserved = authorization(0, approved());
    let done = Next::Finish(Finish::Approved { by: SANDBOX, amount: charge.amount });
    let next = |charge: &Charge, verdict| {
        let requests = [reserved.clone(), analysis(1, charge, verdict)];
        charge.next(&requests, AT_ONCE, NOW)
    };
    assert_eq!(charge.next(&[], AT_ONCE, NOW), Next::Authorize(hop(0)));
    assert_eq!(charge.next(std::slice::from_ref(&reserved), AT_ONCE, NOW), Next::Analyse);
    assert_eq!(next(&charge, None), Next::AwaitOutcome);
    let approved = Some(Verdict::Approved { score: None });
    assert_eq!(next(&charge, approved.clone()), follow_up(FollowUpKind::Capture));
    assert_eq!(next(&charge, Some(reproved())), follow_up(FollowUpKind::Void));
    assert_eq!(next(&charge, Some(no_verdict())), done);
    assert_eq!(next(&charge, Some(Verdict::Pending)), done);
    let manual = Charge { capture: CaptureMode::Manual, ..charge };
    assert_eq!(next(&manual, approved), done, "the caller wants to capture by itself");
    assert_eq!(next(&manual, Some(reproved())), follow_up(FollowUpKind::Void));
}

#[test]
fn a_verdict_before_the_charge_lets_it_go_on_or_ends_it() {
    let ended = |stopped| Next::Finish(Finish::Failed { by: RISK, stopped });
    let gone = Means::Incomplete(Stopped::Interrupted);
    for (on_error, expected) in [
        (Consequence::Keep, Next::Authorize(hop(0))),
        (Consequence::Capture, Next::Authorize(hop(0))),
        (Consequence::Void, ended(Stopped::AnalysisFailed)),
    ] {
        let charge = analysed_charge(Rules { on_error, ..rules(Timing::BeforeCharge) });
        assert_eq!(charge.next(&[], AT_ONCE, NOW), Next::Analyse);
        let next = |verdict, means| charge.next(&[analysis(0, &charge, verdict)], means, NOW);
        assert_eq!(next(None, AT_ONCE), Next::AwaitOutcome);
        let approved = Some(Verdict::Approved { score: None });
        assert_eq!(next(approved.clone(), AT_ONCE), Next::Authorize(hop(0)));
        assert_eq!(next(approved, gone), ended(Stopped::Interrupted), "the security code is gone");
        assert_eq!(next(Some(Verdict::Pending), AT_ONCE), Next::Authorize(hop(0)));
        assert_eq!(next(Some(reproved()), AT_ONCE), ended(Stopped::Reproved));
        assert_eq!(next(Some(reproved()), gone), ended(Stopped::Reproved));
        assert_eq!(next(Some(no_verdict()), AT_ONCE), expected);
    }
}

#[test]
fn only_a_verdict_before_the_charge_allows_more_than_a_reservation() {
    let capture = |on_error, timing, verdict| {
        let charge = analysed_charge(Rules { on_error, ..rules(timing) });
        assert_eq!(charge.capture_in_effect(), CaptureMode::Manual, "nothing is known yet");
        let requests = [analysis(0, &charge, Some(verdict))];
        charge.try_next(&requests, hop(0), NOW).unwrap().charge.capture_in_effect()
    };
    let (before, after) = (Timing::BeforeCharge, Timing::AfterReservation);
    let approved = || Verdict::Approved { score: None };
    assert_eq!(capture(Consequence::Keep, before, approved()), CaptureMode::Automatic);
    assert_eq!(capture(Consequence::Capture, before, no_verdict()), CaptureMode::Automatic);
    assert_eq!(capture(Consequence::Keep, before, no_verdict()), CaptureMode::Manual);
    assert_eq!(capture(Consequence::Keep, before, Verdict::Pending), CaptureMode::Manual);
    assert_eq!(capture(Consequence::Keep, after, approved()), CaptureMode::Manual);
}

#[test]
fn a_refused_follow_up_announces_the_reservation() {
    let charge = analysed_charge(rules(Timing::AfterReservation));
    let (opened, open) = charge.open_at_once(FollowUpKind::Void, SANDBOX, NOW).unwrap();
    assert_eq!((open.ordinal, open.before), (1, Held::JustReserved));
    let refused = opened.withdraw(NOW).unwrap();
    assert_eq!(refused.announces, Some(ChargeEvent::PreAuthorized));
    assert_eq!(refused.charge.state, ChargeState::PreAuthorized { responsible: SANDBOX });
    let done = opened.settle(NOW).unwrap();
    assert_eq!((done.announces, done.charge.amount), (Some(ChargeEvent::Canceled), Amount::ZERO));
    assert!(done.charge.open_at_once(FollowUpKind::Void, SANDBOX, NOW).is_err(), "it has ended");
}

#[test]
fn a_later_verdict_counts_while_the_charge_is_reserved() {
    let charge = analysed_charge(rules(Timing::AfterReservation));
    let reserved = charge.approve(SANDBOX, charge.amount, NOW).unwrap().charge;
    assert_eq!(reserved.follow_up_after(&reproved()), Some(FollowUpKind::Void));
    assert_eq!(reserved.follow_up_after(&no_verdict()), None);
    let (opened, _) = reserved.open(FollowUpKind::Capture, None, NOW).unwrap();
    assert_eq!(opened.follow_up_after(&reproved()), None, "the merchant captures it");
    let captured = opened.settle(NOW).unwrap().charge;
    assert_eq!(captured.follow_up_after(&reproved()), None);
    let requests = [authorization(0, approved()), analysis(1, &charge, Some(Verdict::Pending))];
    assert_eq!(reserved.standing(&requests), Standing::Undecided);
    assert!(approved_authorization(&requests).is_some());
}

#[test]
fn rules_are_read_from_stored_options() {
    let read = |options: serde_json::Value| Rules::of(options.as_object().unwrap());
    let nothing = read(json!({ "type": "ANTIFRAUD" }));
    let keep = Consequence::Keep;
    let none =
        Rules { timing: Timing::AfterReservation, on_approved: keep, on_reproved: keep, on_error: keep };
    assert_eq!(nothing, none);
    let all = read(json!({ "captureOnApproved": true, "refundOnReproved": true, "runBeforeCharge": true }));
    assert_eq!(all, rules(Timing::BeforeCharge));
    let error = |name: &str| read(json!({ (name): true })).on_error;
    assert_eq!(error("captureOnError"), Consequence::Capture);
    assert_eq!(error("refundOnError"), Consequence::Void);
}
