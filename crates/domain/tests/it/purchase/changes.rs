//! What each change makes of a purchase, and what the history gets (`docs/interface/purchases.md#history`).

use std::time::Duration;

use regente_domain::capture_mode::CaptureMode;
use regente_domain::decline::DeclinedCode;
use regente_domain::purchase::{
    Action, Advance, Change, Milestone, Noted, Phase, Purchase, PurchaseStatus, RESERVED_FOR, RESULT_WITHIN,
    UNDO_WAITS, UndoCause, Undoing,
};

use super::{NOW, accepted, charge_id, purchase, told, troubled, undoing};

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn in_phase(phase: Phase) -> Purchase {
    purchase(phase, Noted::Reserved, CaptureMode::Manual)
}

fn undoing_for(cause: UndoCause) -> Purchase {
    in_phase(Phase::Undoing(undoing(cause)))
}

/// The phase after a change, and what is told.
#[track_caller]
fn becomes(step: &Advance, phase: Phase, entries: &[(Milestone, &[Action])]) {
    assert_eq!(step.purchase.phase, phase);
    let expected: Vec<_> =
        entries.iter().map(|(milestone, actions)| (*milestone, actions.to_vec())).collect();
    assert_eq!(told(step), expected);
}

#[test]
fn it_begins_with_created() {
    let step = accepted(&[100, 200, 300], CaptureMode::Manual);
    becomes(
        &step,
        Phase::Authorizing { until: NOW + RESULT_WITHIN },
        &[(Milestone::Created, &[Action::StatusChanged])],
    );
    assert_eq!((step.purchase.version, step.purchase.entries), (1, 1));
    assert_eq!(step.purchase.status(), PurchaseStatus::Pending);
    let status = step.entries[0].changes.status.unwrap();
    assert_eq!((status.from, status.to), (None, "pending"));
}

#[test]
fn the_charge_of_a_card_is_written_with_its_beginning() {
    let before = accepted(&[100, 200], CaptureMode::Manual).purchase;
    let step = before.apply(Change::SlotBegun(1, charge_id(1)), NOW);
    becomes(&step, before.phase, &[]);
    assert_eq!(
        (step.purchase.slots[1].charge_id, step.purchase.slots[1].noted),
        (Some(charge_id(1)), Noted::Begun)
    );
    let step = step.purchase.apply(Change::SlotReserved(1), NOW);
    becomes(&step, before.phase, &[(Milestone::SlotAuthorized, &[])]);
    let slot = step.entries[0].changes.slot.unwrap();
    assert_eq!((slot.index, slot.charge_id), (1, Some(charge_id(1))));
    assert_eq!((slot.status.from, slot.status.to), (Some("pending"), "pre_authorized"));
}

#[test]
fn every_card_reserved_is_one_milestone_in_both_modes() {
    let authorizing = Phase::Authorizing { until: NOW + RESULT_WITHIN };
    let later = NOW + MINUTE;
    let manual = purchase(authorizing, Noted::Reserved, CaptureMode::Manual);
    let step = manual.apply(Change::AllReserved, later);
    let until = later + RESERVED_FOR;
    becomes(&step, Phase::PreAuthorized { until }, &[(Milestone::PreAuthorized, &[Action::StatusChanged])]);
    assert_eq!(step.purchase.reserved.unwrap().ordinal, step.entries[0].ordinal);
    let automatic = purchase(authorizing, Noted::Reserved, CaptureMode::Automatic);
    let step = automatic.apply(Change::AllReserved, later);
    let until = later + RESULT_WITHIN;
    becomes(&step, Phase::Capturing { until }, &[(Milestone::PreAuthorized, &[Action::CaptureRequested])]);
}

#[test]
fn every_failure_starts_a_rollback() {
    let until = NOW + RESULT_WITHIN;
    let rollback = Phase::Undoing(undoing(UndoCause::Failure));
    let refused = in_phase(Phase::Authorizing { until })
        .apply(Change::SlotRefused(1, Some(DeclinedCode::InsufficientFunds)), NOW);
    becomes(&refused, rollback, &[(Milestone::RollbackStarted, &[])]);
    assert_eq!(refused.purchase.slots[1].declined_code, Some(DeclinedCode::InsufficientFunds));
    let failed = in_phase(Phase::Capturing { until }).apply(Change::CaptureFailed(1), NOW);
    becomes(&failed, rollback, &[(Milestone::RollbackStarted, &[Action::CaptureFailed])]);
    for phase in [Phase::Authorizing { until }, Phase::Capturing { until }] {
        let abandoned = in_phase(phase).apply(Change::Abandoned, until);
        let at = Undoing { next_at: until, ..undoing(UndoCause::Failure) };
        becomes(
            &abandoned,
            Phase::Undoing(at),
            &[(Milestone::Abandoned, &[]), (Milestone::RollbackStarted, &[])],
        );
    }
}

#[test]
fn every_end_says_so_once() {
    use Action::{CaptureCompleted, RefundCompleted, StatusChanged, VoidCompleted};
    let paid = in_phase(Phase::Capturing { until: NOW + RESULT_WITHIN }).apply(Change::AllCaptured, NOW);
    becomes(&paid, Phase::Paid, &[(Milestone::Paid, &[CaptureCompleted, StatusChanged])]);
    let failed = undoing_for(UndoCause::Failure).apply(Change::RolledBack, NOW);
    becomes(
        &failed,
        Phase::Failed,
        &[(Milestone::RollbackCompleted, &[]), (Milestone::Failed, &[StatusChanged])],
    );
    let failed_before = in_phase(troubled(UndoCause::Failure)).apply(Change::RolledBack, NOW);
    becomes(&failed_before, Phase::Failed, &[(Milestone::RollbackCompleted, &[])]);
    let voided = undoing_for(UndoCause::VoidRequested).apply(Change::AllReleased, NOW);
    becomes(&voided, Phase::Cancelled, &[(Milestone::Cancelled, &[VoidCompleted, StatusChanged])]);
    let expired = undoing_for(UndoCause::Expired).apply(Change::AllReleased, NOW);
    becomes(&expired, Phase::Cancelled, &[(Milestone::Cancelled, &[StatusChanged])]);
    let refunded = undoing_for(UndoCause::RefundRequested).apply(Change::AllRefunded, NOW);
    becomes(&refunded, Phase::Cancelled, &[(Milestone::RefundCompleted, &[RefundCompleted, StatusChanged])]);
}

#[test]
fn what_is_given_back_of_a_card_is_a_release_or_a_refund() {
    let rollback = undoing_for(UndoCause::Failure);
    let step = rollback.apply(Change::SlotReleased(0), NOW);
    becomes(&step, rollback.phase, &[(Milestone::SlotCancelled, &[Action::ChargeCancelled])]);
    let step = rollback.apply(Change::SlotRefundRequested(0), NOW);
    becomes(&step, rollback.phase, &[(Milestone::RefundRequested, &[Action::RefundRequested])]);
    let step = step.purchase.apply(Change::SlotReleased(0), NOW);
    becomes(&step, rollback.phase, &[(Milestone::RefundCompleted, &[Action::RefundCompleted])]);
    assert_eq!(step.purchase.slots[0].noted, Noted::Released);
}

#[test]
fn a_request_that_is_refused_leaves_what_was() {
    let step = undoing_for(UndoCause::VoidRequested).apply(Change::UndoingRefused, NOW);
    becomes(
        &step,
        Phase::PreAuthorized { until: NOW + RESERVED_FOR },
        &[(Milestone::CancelFailed, &[Action::VoidFailed])],
    );
    let step = undoing_for(UndoCause::RefundRequested).apply(Change::UndoingRefused, NOW);
    becomes(&step, Phase::Paid, &[(Milestone::RefundFailed, &[Action::RefundFailed])]);
}

/// What is tried, how often, and what the history says meanwhile.
fn give_up(cause: UndoCause, change: Change) -> (Vec<Duration>, Vec<Milestone>, Phase) {
    let (mut purchase, mut waits, mut milestones) = (undoing_for(cause), Vec::new(), Vec::new());
    let mut now = NOW;
    loop {
        let step = purchase.apply(change, now);
        milestones.extend(step.entries.iter().map(|entry| entry.milestone));
        purchase = step.purchase;
        match purchase.phase {
            Phase::Undoing(undoing) => {
                assert!(!step.gave_up);
                waits.push(undoing.next_at.since(now));
                now = undoing.next_at;
            }
            phase @ (Phase::Authorizing { .. }
            | Phase::PreAuthorized { .. }
            | Phase::Capturing { .. }
            | Phase::Paid
            | Phase::Failed
            | Phase::Cancelled) => {
                assert!(step.gave_up, "the operator is told");
                return (waits, milestones, phase);
            }
        }
    }
}

#[test]
fn giving_back_is_tried_more_and_more_seldom_and_given_up_after_a_day() {
    assert!(UNDO_WAITS.is_sorted());
    assert_eq!(UNDO_WAITS[2], 5 * MINUTE, "every five minutes");
    assert_eq!(UNDO_WAITS.last(), Some(&DAY), "then less and less often, up to a day");
    for (cause, milestone, end) in [
        (UndoCause::Failure, Milestone::RollbackFailed, Phase::Failed),
        (UndoCause::VoidRequested, Milestone::CancelFailed, Phase::Failed),
        (UndoCause::Expired, Milestone::CancelFailed, Phase::Failed),
        (UndoCause::RefundRequested, Milestone::RefundFailed, Phase::Paid),
    ] {
        let (waits, milestones, phase) = give_up(cause, Change::UndoingFailed);
        assert_eq!(waits, UNDO_WAITS, "{cause:?}");
        assert_eq!(milestones, [milestone, Milestone::ReconciliationFailed], "{cause:?}");
        assert_eq!(phase, end, "{cause:?}");
        // Nobody asks any more: there is nothing to wait for.
        let (waits, milestones, phase) = give_up(cause, Change::UndoingUnanswered);
        assert_eq!(waits, [], "{cause:?}");
        assert_eq!(milestones, [milestone, Milestone::ReconciliationFailed], "{cause:?}");
        assert_eq!(phase, end, "{cause:?}");
    }
}

#[test]
fn what_somebody_asks_for_is_never_given_up() {
    let (mut purchase, mut now) = (undoing_for(UndoCause::Failure), NOW);
    for look in 0..2 * UNDO_WAITS.len() {
        let step = purchase.apply(Change::UndoingUnknown, now);
        assert!(!step.gave_up);
        purchase = step.purchase;
        let Phase::Undoing(undoing) = purchase.phase else { panic!("{:?}", purchase.phase) };
        assert_eq!(undoing.next_at.since(now), UNDO_WAITS[look.min(UNDO_WAITS.len() - 1)]);
        assert_eq!(undoing.failures, 0, "it is no refusal");
        now = undoing.next_at;
    }
}

#[test]
fn what_is_not_known_is_no_failure_at_first() {
    let first = undoing_for(UndoCause::Failure).apply(Change::UndoingUnknown, NOW);
    assert_eq!((told(&first), first.purchase.status()), (Vec::new(), PurchaseStatus::Pending));
    let second = first.purchase.apply(Change::UndoingUnknown, NOW);
    assert_eq!(told(&second), Vec::new());
    let third = second.purchase.apply(Change::UndoingUnknown, NOW);
    assert_eq!(told(&third), [(Milestone::RollbackFailed, vec![Action::VoidFailed])]);
    assert_eq!(third.purchase.status(), PurchaseStatus::Failed);
    let refused = undoing_for(UndoCause::Failure).apply(Change::UndoingFailed, NOW);
    assert_eq!(told(&refused), [(Milestone::RollbackFailed, vec![Action::VoidFailed])]);
}
