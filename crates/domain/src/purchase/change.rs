//! Applies changes to a purchase: each makes the next version and its history entries
//! (`docs/interface/purchases.md#history`).

use std::time::Duration;

use serde::Serialize;

use crate::capture_mode::CaptureMode;
use crate::charge::ChargeStatus;
use crate::decline::DeclinedCode;
use crate::id::ChargeId;
use crate::time::{Timestamp, later_of};

use super::{
    Action, Milestone, Noted, Phase, Purchase, PurchaseStatus, RESERVED_FOR, RESULT_WITHIN, Reserved,
    UndoCause, Undoing,
};

/// Waits between tries of an undoing: short at first, then from five minutes up to a day. The last refusal alerts the
/// operator; an unknown outcome is awaited as long as the provider is probed.
pub const UNDO_WAITS: [Duration; 12] = {
    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }
    [
        seconds(5),
        seconds(30),
        seconds(300),
        seconds(600),
        seconds(1_200),
        seconds(2_400),
        seconds(4_800),
        seconds(9_600),
        seconds(19_200),
        seconds(38_400),
        seconds(76_800),
        seconds(86_400),
    ]
};

/// After this many looks at an unknown outcome, the history records a failed undoing. A refusal is recorded at once.
const UNKNOWN_LOOKS_MAX: usize = 3;

/// Something that happened to a purchase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The charge of a card began, with this id.
    SlotBegun(usize, ChargeId),
    /// A card is reserved.
    SlotReserved(usize),
    /// A card was refused.
    SlotRefused(usize, Option<DeclinedCode>),
    /// Every card is reserved.
    AllReserved,
    /// There was no result in time.
    Abandoned,
    /// The merchant requested the capture.
    CaptureRequested,
    /// A card could not be captured.
    CaptureFailed(usize),
    /// Every card was captured.
    AllCaptured,
    /// The refund of a card was requested.
    SlotRefundRequested(usize),
    /// The reservation of a card was released, or its money refunded.
    SlotReleased(usize),
    /// Everything was given back after a failure.
    RolledBack,
    /// The merchant requested a void of the reservations.
    VoidRequested,
    /// The reservations were not captured in time.
    Expired,
    /// Every reservation was released.
    AllReleased,
    /// The merchant requested a refund.
    RefundRequested,
    /// Everything was refunded.
    AllRefunded,
    /// A provider refused before anything was given back.
    UndoingRefused,
    /// A provider refused after something was given back.
    UndoingFailed,
    /// The outcome of an undoing is unknown, and the provider is being probed.
    UndoingUnknown,
    /// The outcome of an undoing is unknown, and probing has ended.
    UndoingUnanswered,
    /// The next refusal of a provider ends the undoing of this card.
    SlotGivenUp(usize),
    /// The outcome of a card became known after the undoing was given up.
    Resumed,
}

/// A purchase after a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advance {
    /// The next version.
    pub purchase: Purchase,
    /// New history entries.
    pub entries: Vec<NewEntry>,
    /// Whether the entry in [`Purchase::reserved`] has changed.
    pub amends_reserved: bool,
    /// Whether the undoing was given up.
    pub gave_up: bool,
}

/// A history entry. It never holds card data, metadata, fraud analysis or addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEntry {
    /// Its index.
    pub ordinal: i64,
    /// What it marks.
    pub milestone: Milestone,
    /// The actions; the first is the main one.
    pub actions: Vec<Action>,
    /// The differences.
    pub changes: Changes,
}

/// The differences of a history entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// The status of the purchase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<StatusChange>,
    /// The card that changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot: Option<SlotChange>,
}

/// A status before and after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StatusChange {
    /// The former status; absent at the beginning.
    pub from: Option<&'static str>,
    /// The new status.
    pub to: &'static str,
}

/// The differences of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SlotChange {
    /// Its index among the cards, from 0.
    pub index: usize,
    /// Its charge.
    pub charge_id: Option<ChargeId>,
    /// The status of the charge.
    pub status: StatusChange,
}

impl Advance {
    /// The first version of a purchase, with its first history entries.
    pub fn created(purchase: Purchase) -> Self {
        let mut step = Self { purchase, entries: Vec::new(), amends_reserved: false, gave_up: false };
        let status = StatusChange { from: None, to: step.purchase.status().word() };
        let changes = Changes { status: Some(status), slot: None };
        step.entry(Milestone::Created, &[Action::StatusChanged], changes);
        step
    }

    fn entry(&mut self, milestone: Milestone, actions: &[Action], changes: Changes) {
        let ordinal = self.purchase.entries;
        self.entries.push(NewEntry { ordinal, milestone, actions: actions.to_vec(), changes });
        self.purchase.entries += 1;
    }

    fn mark(&mut self, milestone: Milestone, actions: &[Action]) {
        self.entry(milestone, actions, Changes::default());
    }

    /// Adds an entry that changes the status of the purchase.
    fn end(&mut self, milestone: Milestone, actions: &[Action], before: PurchaseStatus, phase: Phase) {
        self.purchase.phase = phase;
        let status = StatusChange { from: Some(before.word()), to: self.purchase.status().word() };
        let changed = status.from != Some(status.to);
        self.entry(milestone, actions, Changes { status: changed.then_some(status), slot: None });
    }

    fn slot(
        &mut self,
        index: usize,
        milestone: Milestone,
        actions: &[Action],
        from: ChargeStatus,
        to: ChargeStatus,
    ) {
        let charge_id = self.purchase.slots.get(index).and_then(|slot| slot.charge_id);
        let status = StatusChange { from: Some(from.word()), to: to.word() };
        let slot = SlotChange { index, charge_id, status };
        self.entry(milestone, actions, Changes { status: None, slot: Some(slot) });
    }

    fn note(&mut self, index: usize, noted: Noted) {
        if let Some(slot) = self.purchase.slots.get_mut(index) {
            slot.noted = noted;
        }
    }

    /// Adds an action to the entry of the reservation.
    fn amend_reserved(&mut self, action: Action) {
        if let Some(reserved) = &mut self.purchase.reserved {
            reserved.actions.push(action);
            self.amends_reserved = true;
        }
    }
}

impl Purchase {
    /// The purchase after `change`.
    pub fn apply(&self, change: Change, now: Timestamp) -> Advance {
        let purchase =
            Self { version: self.version + 1, updated_at: later_of(now, self.updated_at), ..self.clone() };
        let mut step = Advance { purchase, entries: Vec::new(), amends_reserved: false, gave_up: false };
        let before = self.status();
        match change {
            Change::SlotBegun(index, charge_id) => {
                if let Some(slot) = step.purchase.slots.get_mut(index) {
                    slot.charge_id = Some(charge_id);
                    slot.noted = Noted::Begun;
                }
            }
            Change::SlotReserved(index) => {
                step.note(index, Noted::Reserved);
                let (from, to) = (ChargeStatus::Pending, ChargeStatus::PreAuthorized);
                step.slot(index, Milestone::SlotAuthorized, &[], from, to);
            }
            Change::SlotRefused(index, declined_code) => {
                if let Some(slot) = step.purchase.slots.get_mut(index) {
                    slot.noted = Noted::Refused;
                    slot.declined_code = declined_code;
                }
                step.roll_back(&[], now);
            }
            Change::AllReserved => step.all_reserved(now),
            Change::Abandoned => {
                step.mark(Milestone::Abandoned, &[]);
                step.roll_back(&[], now);
            }
            Change::CaptureRequested => {
                step.amend_reserved(Action::CaptureRequested);
                step.purchase.phase = Phase::Capturing { until: now + RESULT_WITHIN };
            }
            Change::CaptureFailed(_) => step.roll_back(&[Action::CaptureFailed], now),
            Change::AllCaptured => {
                let actions = [Action::CaptureCompleted, Action::StatusChanged];
                step.end(Milestone::Paid, &actions, before, Phase::Paid);
            }
            Change::SlotRefundRequested(index) => {
                step.note(index, Noted::RefundRequested);
                let (from, to) = (ChargeStatus::Authorized, ChargeStatus::RefundPending);
                step.slot(index, Milestone::RefundRequested, &[Action::RefundRequested], from, to);
            }
            Change::SlotReleased(index) => step.slot_released(index),
            Change::RolledBack => step.rolled_back(self, before),
            Change::VoidRequested => {
                step.amend_reserved(Action::VoidRequested);
                step.undo(UndoCause::VoidRequested, now);
            }
            Change::Expired => {
                step.mark(Milestone::Abandoned, &[]);
                step.undo(UndoCause::Expired, now);
            }
            Change::AllReleased => {
                let is_requested =
                    self.undoing().is_some_and(|undoing| undoing.cause == UndoCause::VoidRequested);
                let main = if is_requested { vec![Action::VoidCompleted] } else { Vec::new() };
                let actions = [main, vec![Action::StatusChanged]].concat();
                step.end(Milestone::Cancelled, &actions, before, Phase::Cancelled);
            }
            Change::RefundRequested => {
                step.mark(Milestone::RefundRequested, &[Action::RefundRequested]);
                step.undo(UndoCause::RefundRequested, now);
            }
            Change::AllRefunded => {
                let actions = [Action::RefundCompleted, Action::StatusChanged];
                step.end(Milestone::RefundCompleted, &actions, before, Phase::Cancelled);
            }
            Change::UndoingRefused => step.undoing_refused(self, now),
            Change::UndoingFailed => step.undoing_troubled(self, Trouble::Refused, now),
            Change::UndoingUnknown => step.undoing_troubled(self, Trouble::Unknown, now),
            Change::UndoingUnanswered => step.undoing_troubled(self, Trouble::Unanswered, now),
            Change::SlotGivenUp(index) => step.note(index, Noted::GivenUp),
            Change::Resumed => step.resume(now),
        }
        step
    }
}

/// Why an undoing has not succeeded yet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trouble {
    Refused,
    Unknown,
    Unanswered,
}

impl Advance {
    fn undo(&mut self, cause: UndoCause, now: Timestamp) {
        self.purchase.phase =
            Phase::Undoing(Undoing { cause, failures: 0, looks: 0, next_at: now, is_troubled: false });
    }

    /// Starts the undoing again. The failure of the purchase is already recorded.
    fn resume(&mut self, now: Timestamp) {
        self.mark(Milestone::RollbackStarted, &[]);
        for slot in &mut self.purchase.slots {
            // The provider is asked once more, so its outcome is recorded again.
            if slot.noted == Noted::GivenUp {
                slot.noted = Noted::Reserved;
            }
        }
        let (cause, is_troubled) = (UndoCause::Failure, true);
        self.purchase.phase =
            Phase::Undoing(Undoing { cause, failures: 0, looks: 0, next_at: now, is_troubled });
    }

    fn roll_back(&mut self, actions: &[Action], now: Timestamp) {
        self.mark(Milestone::RollbackStarted, actions);
        self.undo(UndoCause::Failure, now);
    }

    fn all_reserved(&mut self, now: Timestamp) {
        let until = now + RESERVED_FOR;
        let (phase, action) = match self.purchase.capture {
            CaptureMode::Manual => (Phase::PreAuthorized { until }, Action::StatusChanged),
            CaptureMode::Automatic => {
                (Phase::Capturing { until: now + RESULT_WITHIN }, Action::CaptureRequested)
            }
        };
        self.purchase.reserved =
            Some(Reserved { ordinal: self.purchase.entries, actions: vec![action], until });
        self.mark(Milestone::PreAuthorized, &[action]);
        self.purchase.phase = phase;
    }

    fn slot_released(&mut self, index: usize) {
        let noted = self.purchase.slots.get(index).map(|slot| slot.noted);
        self.note(index, Noted::Released);
        match noted {
            Some(Noted::RefundRequested) => {
                let (from, to) = (ChargeStatus::RefundPending, ChargeStatus::Voided);
                self.slot(index, Milestone::RefundCompleted, &[Action::RefundCompleted], from, to);
            }
            Some(
                Noted::Nothing
                | Noted::Begun
                | Noted::Reserved
                | Noted::Refused
                | Noted::GivenUp
                | Noted::Released,
            )
            | None => {
                let (from, to) = (ChargeStatus::PreAuthorized, ChargeStatus::Canceled);
                self.slot(index, Milestone::SlotCancelled, &[Action::ChargeCancelled], from, to);
            }
        }
    }

    fn rolled_back(&mut self, before: &Purchase, status: PurchaseStatus) {
        self.mark(Milestone::RollbackCompleted, &[]);
        // The failure was already recorded at the first refusal.
        if before.undoing().is_some_and(|undoing| undoing.is_troubled) {
            self.purchase.phase = Phase::Failed;
        } else {
            self.end(Milestone::Failed, &[Action::StatusChanged], status, Phase::Failed);
        }
    }

    /// A provider refused and nothing was undone: where the merchant requested it, the purchase returns to its
    /// earlier state.
    fn undoing_refused(&mut self, before: &Purchase, now: Timestamp) {
        match before.undoing().map(|undoing| undoing.cause) {
            Some(UndoCause::VoidRequested) => {
                self.mark(Milestone::CancelFailed, &[Action::VoidFailed]);
                let until = before.reserved.as_ref().map_or(now, |reserved| reserved.until);
                self.purchase.phase = Phase::PreAuthorized { until };
            }
            Some(UndoCause::RefundRequested) => {
                self.mark(Milestone::RefundFailed, &[Action::RefundFailed]);
                self.purchase.phase = Phase::Paid;
            }
            Some(UndoCause::Failure | UndoCause::Expired) | None => {
                self.undoing_troubled(before, Trouble::Refused, now);
            }
        }
    }

    fn undoing_troubled(&mut self, before: &Purchase, trouble: Trouble, now: Timestamp) {
        let Some(undoing) = before.undoing() else { return };
        let Undoing { failures, looks, .. } = undoing;
        let (failures, looks, wait) = match trouble {
            Trouble::Refused => (failures + 1, looks, UNDO_WAITS.get(failures)),
            Trouble::Unknown => (failures, looks + 1, UNDO_WAITS.get(looks).or(UNDO_WAITS.last())),
            Trouble::Unanswered => (failures, looks, None),
        };
        let is_troubled = undoing.is_troubled || trouble != Trouble::Unknown || looks >= UNKNOWN_LOOKS_MAX;
        let next_at = now + wait.copied().unwrap_or_default();
        let phase = Phase::Undoing(Undoing { failures, looks, next_at, is_troubled, ..undoing });
        let (milestone, action) = match undoing.cause {
            UndoCause::Failure => (Milestone::RollbackFailed, Action::VoidFailed),
            UndoCause::VoidRequested | UndoCause::Expired => (Milestone::CancelFailed, Action::VoidFailed),
            UndoCause::RefundRequested => (Milestone::RefundFailed, Action::RefundFailed),
        };
        self.purchase.phase = phase;
        if is_troubled && !undoing.is_troubled {
            self.end(milestone, &[action], before.status(), phase);
        }
        if wait.is_none() {
            self.gave_up = true;
            // The merchant keeps what was not given back, and may request it again.
            let phase = match undoing.cause {
                UndoCause::RefundRequested => Phase::Paid,
                UndoCause::Failure | UndoCause::VoidRequested | UndoCause::Expired => Phase::Failed,
            };
            self.end(Milestone::ReconciliationFailed, &[], before.status(), phase);
        }
    }
}

impl Purchase {
    /// The undoing, while one is under way.
    pub(super) const fn undoing(&self) -> Option<Undoing> {
        match self.phase {
            Phase::Undoing(undoing) => Some(undoing),
            Phase::Authorizing { .. }
            | Phase::PreAuthorized { .. }
            | Phase::Capturing { .. }
            | Phase::Paid
            | Phase::Failed
            | Phase::Cancelled => None,
        }
    }
}
