//! What is next, for every phase and every state of a card's charge.

use std::time::Duration;

use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::ChargeState;
use regente_domain::decline::DeclinedCode;
use regente_domain::purchase::{
    Change, Next, Noted, Phase, Purchase, RESERVED_FOR, RESULT_WITHIN, Seen, UndoCause,
};

use super::{CAUSES, NOW, RESPONSIBLE, SECOND, charge_states, purchase, seen, undoing, unseen};

use Next::{Authorize, Capture, Note, Rest, Undo, Wait};

const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Nothing is held of the other card any more.
fn released() -> Seen {
    seen(ChargeState::Canceled { responsible: RESPONSIBLE })
}

/// For each state of the first card's charge what is next; the second card has `other`.
fn of_each_state(purchase: &Purchase, other: &Seen) -> [Next; 10] {
    charge_states().map(|state| purchase.next(&[seen(state), other.clone()], NOW))
}

#[test]
fn while_the_cards_are_reserved() {
    let until = NOW + RESULT_WITHIN;
    let begun = purchase(Phase::Authorizing { until }, Noted::Begun, CaptureMode::Automatic);
    let wait = Wait(NOW + LOOK_AGAIN);
    let refused = Note(Change::SlotRefused(0, Some(DeclinedCode::Generic)));
    let reserved = Note(Change::SlotReserved(0));
    assert_eq!(
        of_each_state(&begun, &unseen()),
        [wait, wait, reserved, wait, reserved, wait, refused, refused, refused, refused]
    );
    assert_eq!(begun.next(&[unseen(), unseen()], NOW), wait, "its charge is just being written");

    let untouched = purchase(Phase::Authorizing { until }, Noted::Nothing, CaptureMode::Automatic);
    assert_eq!(untouched.next(&[unseen(), unseen()], NOW), Authorize(0));
    let all = purchase(Phase::Authorizing { until }, Noted::Reserved, CaptureMode::Automatic);
    for states in charge_states() {
        // What was noted is not asked again.
        assert_eq!(all.next(&[seen(states.clone()), seen(states)], NOW), Note(Change::AllReserved));
    }
}

#[test]
fn cards_are_reserved_one_after_the_other() {
    let until = NOW + RESULT_WITHIN;
    let mut first = purchase(Phase::Authorizing { until }, Noted::Nothing, CaptureMode::Manual);
    first.slots[0].noted = Noted::Begun;
    let pending = [seen(ChargeState::Processing), unseen()];
    assert_eq!(first.next(&pending, NOW), Wait(NOW + LOOK_AGAIN), "not the second while the first is open");
    first.slots[0].noted = Noted::Reserved;
    assert_eq!(first.next(&pending, NOW), Authorize(1));
}

#[test]
fn without_a_result_in_time_it_is_abandoned() {
    let until = NOW + RESULT_WITHIN;
    for (phase, noted) in [
        (Phase::Authorizing { until }, Noted::Nothing),
        (Phase::Authorizing { until }, Noted::Begun),
        (Phase::Capturing { until }, Noted::Reserved),
    ] {
        let purchase = purchase(phase, noted, CaptureMode::Automatic);
        let pending = [seen(ChargeState::Processing), seen(ChargeState::Processing)];
        assert_eq!(purchase.next(&pending, until), Note(Change::Abandoned), "{phase:?} {noted:?}");
        let waits = match purchase.next(&pending, NOW + (RESULT_WITHIN - SECOND)) {
            Wait(at) => at == until,
            Authorize(0) => noted == Noted::Nothing,
            other @ (Authorize(_) | Capture(_) | Undo(_) | Note(_) | Rest) => panic!("{other:?}"),
        };
        assert!(waits, "a second before, it waits until then at most");
    }
}

#[test]
fn while_they_are_captured() {
    let responsible = RESPONSIBLE;
    let until = NOW + RESULT_WITHIN;
    let capturing = purchase(Phase::Capturing { until }, Noted::Reserved, CaptureMode::Automatic);
    let reserved = seen(ChargeState::PreAuthorized { responsible });
    let wait = Wait(NOW + LOOK_AGAIN);
    let failed = Note(Change::CaptureFailed(0));
    assert_eq!(
        of_each_state(&capturing, &reserved),
        [wait, wait, Capture(0), wait, Capture(1), wait, failed, failed, failed, failed]
    );
    let taken = seen(ChargeState::Authorized { responsible });
    assert_eq!(capturing.next(&[taken.clone(), taken], NOW), Note(Change::AllCaptured));
}

#[test]
fn while_something_is_given_back() {
    let end = |cause| {
        Note(match cause {
            UndoCause::Failure => Change::RolledBack,
            UndoCause::VoidRequested | UndoCause::Expired => Change::AllReleased,
            UndoCause::RefundRequested => Change::AllRefunded,
        })
    };
    for cause in CAUSES {
        let mut undoing = purchase(Phase::Undoing(undoing(cause)), Noted::Reserved, CaptureMode::Manual);
        undoing.slots[1].noted = Noted::Released;
        let unknown = Note(Change::UndoingUnknown);
        // A refund is told as a whole; a rollback tells of each card.
        let (taken, given_back) = match cause {
            UndoCause::RefundRequested => (Undo(0), end(cause)),
            UndoCause::Failure | UndoCause::VoidRequested | UndoCause::Expired => {
                (Note(Change::SlotRefundRequested(0)), Note(Change::SlotReleased(0)))
            }
        };
        assert_eq!(
            of_each_state(&undoing, &released()),
            [
                unknown,
                unknown,
                Undo(0),
                unknown,
                taken,
                unknown,
                end(cause),
                given_back,
                given_back,
                end(cause),
            ],
            "{cause:?}"
        );
    }
}

#[test]
fn a_request_that_is_refused_at_once_changes_nothing() {
    let responsible = RESPONSIBLE;
    let reserved = seen(ChargeState::PreAuthorized { responsible });
    let refused = Seen { is_undoing_refused: true, ..reserved.clone() };
    for cause in CAUSES {
        let undoing = purchase(Phase::Undoing(undoing(cause)), Noted::Reserved, CaptureMode::Manual);
        let next = undoing.next(&[refused.clone(), reserved.clone()], NOW);
        let is_requested = matches!(cause, UndoCause::VoidRequested | UndoCause::RefundRequested);
        // Nobody may refuse what must be given back: the other card is given back all the same.
        assert_eq!(next, if is_requested { Note(Change::UndoingRefused) } else { Undo(1) }, "{cause:?}");
        let next = undoing.next(&[refused.clone(), refused.clone()], NOW);
        let expected = if is_requested { Change::UndoingRefused } else { Change::UndoingFailed };
        assert_eq!(next, Note(expected), "{cause:?}");
    }
    let mut begun =
        purchase(Phase::Undoing(undoing(UndoCause::VoidRequested)), Noted::Reserved, CaptureMode::Manual);
    begun.slots[0].noted = Noted::Released;
    assert_eq!(
        begun.next(&[released(), refused], NOW),
        Note(Change::UndoingFailed),
        "what has been given back in part goes on"
    );
}

#[test]
fn giving_back_waits_for_its_turn() {
    let reserved = seen(ChargeState::PreAuthorized { responsible: RESPONSIBLE });
    for cause in CAUSES {
        let later = undoing(cause);
        let later = Phase::Undoing(regente_domain::purchase::Undoing { next_at: NOW + SECOND, ..later });
        let waiting = purchase(later, Noted::Reserved, CaptureMode::Manual);
        let both = [reserved.clone(), reserved.clone()];
        assert_eq!(waiting.next(&both, NOW), Wait(NOW + SECOND), "{cause:?}");
        assert_eq!(waiting.next(&both, NOW + SECOND), Undo(0), "{cause:?}");
    }
}

#[test]
fn what_is_reserved_is_released_after_seven_days_and_what_has_ended_rests() {
    let until = NOW + RESERVED_FOR;
    let reserved = purchase(Phase::PreAuthorized { until }, Noted::Reserved, CaptureMode::Manual);
    assert_eq!(RESERVED_FOR, Duration::from_secs(7 * 24 * 60 * 60));
    for state in charge_states() {
        let both = [seen(state.clone()), seen(state)];
        assert_eq!(reserved.next(&both, NOW), Wait(until));
        assert_eq!(reserved.next(&both, until), Note(Change::Expired));
        for phase in [Phase::Paid, Phase::Failed, Phase::Cancelled] {
            let ended = purchase(phase, Noted::Released, CaptureMode::Manual);
            assert_eq!(ended.next(&both, until), Rest, "{phase:?}");
        }
    }
}

#[test]
fn what_comes_to_light_of_a_card_that_is_awaited_begins_anew() {
    let responsible = RESPONSIBLE;
    let is_news = |state: &ChargeState| match state {
        ChargeState::PreAuthorized { .. }
        | ChargeState::Authorized { .. }
        | ChargeState::Canceled { .. }
        | ChargeState::Voided { .. } => true,
        ChargeState::Processing
        | ChargeState::AwaitingPayer { .. }
        | ChargeState::CapturePending { .. }
        | ChargeState::RefundPending { .. }
        | ChargeState::RefundAccepted { .. }
        | ChargeState::Failed { .. }
        | ChargeState::ChargedBack { .. } => false,
    };
    for (noted, is_awaited) in [
        (Noted::Nothing, false),
        (Noted::Begun, true),
        (Noted::Reserved, true),
        (Noted::Refused, false),
        (Noted::RefundRequested, true),
        (Noted::GivenUp, false),
        (Noted::Released, false),
    ] {
        let mut failed = purchase(Phase::Failed, Noted::Released, CaptureMode::Automatic);
        failed.slots[0].noted = noted;
        for state in charge_states() {
            let expected = if is_awaited && is_news(&state) { Note(Change::Resumed) } else { Rest };
            let other = seen(ChargeState::Canceled { responsible });
            assert_eq!(failed.next(&[seen(state.clone()), other], NOW), expected, "{noted:?} {state:?}");
        }
    }
}
