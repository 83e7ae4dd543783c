//! Capture and void in every phase, also where they are refused (`docs/interface/purchases.md#capture-and-void`).

use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::ChargeState;
use regente_domain::purchase::{
    Action, Advance, Milestone, Noted, OperationRefusal, Phase, PurchaseStatus, RESERVED_FOR, RESULT_WITHIN,
    UndoCause,
};

use super::{CAUSES, NOW, RESPONSIBLE, both_taken, purchase, seen, told, troubled, undoing};

use CaptureMode::{Automatic, Manual};
use OperationRefusal::{InProgress, IntentMismatch, InvalidState};

/// What an operation of the merchant leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leads {
    Capturing,
    Undoing(UndoCause),
    Refused(OperationRefusal),
}

fn leads(step: Result<Advance, OperationRefusal>) -> Leads {
    match step.map(|step| step.purchase.phase) {
        Err(refusal) => Leads::Refused(refusal),
        Ok(Phase::Capturing { until }) => {
            assert_eq!(until, NOW + RESULT_WITHIN);
            Leads::Capturing
        }
        Ok(Phase::Undoing(undoing)) => Leads::Undoing(undoing.cause),
        Ok(other) => panic!("{other:?}"),
    }
}

/// Every phase with its status, what a capture of `capture: false` leads to, and what a void does.
fn table() -> Vec<(Phase, PurchaseStatus, Leads, Leads)> {
    let until = NOW + RESULT_WITHIN;
    let busy = Leads::Refused(InProgress);
    let over = Leads::Refused(InvalidState);
    let mut rows = vec![
        (Phase::Authorizing { until }, PurchaseStatus::Pending, busy, busy),
        (
            Phase::PreAuthorized { until: NOW + RESERVED_FOR },
            PurchaseStatus::Pending,
            Leads::Capturing,
            Leads::Undoing(UndoCause::VoidRequested),
        ),
        (Phase::Capturing { until }, PurchaseStatus::Pending, busy, busy),
        (Phase::Paid, PurchaseStatus::Paid, over, Leads::Undoing(UndoCause::RefundRequested)),
        (Phase::Failed, PurchaseStatus::Failed, over, over),
        (Phase::Cancelled, PurchaseStatus::Cancelled, over, over),
    ];
    for cause in CAUSES {
        let (status, after_trouble) = match cause {
            UndoCause::Failure => (PurchaseStatus::Pending, (PurchaseStatus::Failed, over)),
            UndoCause::VoidRequested | UndoCause::Expired => {
                (PurchaseStatus::Pending, (PurchaseStatus::Pending, busy))
            }
            UndoCause::RefundRequested => (PurchaseStatus::Paid, (PurchaseStatus::Paid, busy)),
        };
        rows.push((Phase::Undoing(undoing(cause)), status, busy, busy));
        rows.push((troubled(cause), after_trouble.0, after_trouble.1, after_trouble.1));
    }
    rows
}

#[test]
fn in_each_phase_a_request_leads_on_or_is_refused() {
    for (phase, status, captured, voided) in table() {
        let manual = purchase(phase, Noted::Reserved, Manual);
        assert_eq!(manual.status(), status, "{phase:?}");
        assert_eq!(leads(manual.request_capture(NOW)), captured, "capture in {phase:?}");
        assert_eq!(leads(manual.request_void(&both_taken(), NOW)), voided, "void in {phase:?}");
    }
}

#[test]
fn what_captures_by_itself_is_not_captured_by_request() {
    for (phase, status, _, voided) in table() {
        let automatic = purchase(phase, Noted::Reserved, Automatic);
        let refusal = match status {
            PurchaseStatus::Failed | PurchaseStatus::Cancelled => InvalidState,
            PurchaseStatus::Pending | PurchaseStatus::Paid => IntentMismatch,
        };
        assert_eq!(leads(automatic.request_capture(NOW)), Leads::Refused(refusal), "{phase:?}");
        assert_eq!(leads(automatic.request_void(&both_taken(), NOW)), voided, "{phase:?}");
    }
}

#[test]
fn a_request_about_what_is_reserved_is_noted_on_the_entry_of_the_reservation() {
    let reserved = purchase(Phase::PreAuthorized { until: NOW + RESERVED_FOR }, Noted::Reserved, Manual);
    for (step, action) in [
        (reserved.request_capture(NOW), Action::CaptureRequested),
        (reserved.request_void(&both_taken(), NOW), Action::VoidRequested),
    ] {
        let step = step.unwrap();
        assert!(step.amends_reserved && step.entries.is_empty());
        assert_eq!(step.purchase.reserved.unwrap().actions, [Action::StatusChanged, action]);
    }
    let paid = purchase(Phase::Paid, Noted::Reserved, Manual);
    let step = paid.request_void(&both_taken(), NOW).unwrap();
    assert_eq!(told(&step), [(Milestone::RefundRequested, vec![Action::RefundRequested])]);
    assert!(!step.amends_reserved);
}

#[test]
fn what_was_given_back_before_is_no_success_of_a_later_request() {
    let paid = purchase(Phase::Paid, Noted::Reserved, Automatic);
    let voided = seen(ChargeState::Voided { responsible: RESPONSIBLE });
    let [_, taken] = both_taken();
    let step = paid.request_void(&[voided, taken], NOW).unwrap();
    let noted: Vec<Noted> = step.purchase.slots.iter().map(|slot| slot.noted).collect();
    assert_eq!(noted, [Noted::Released, Noted::Reserved]);
}
