//! The changes of a purchase. Each makes the next version and says what the history gets
//! (`docs/interface/purchases.md#history`).

use std::time::Duration;

use serde::Serialize;

use crate::charge::{CaptureMode, ChargeStatus, later_of};
use crate::decline::DeclinedCode;
use crate::id::ChargeId;
use crate::time::Timestamp;

use super::{
    Action, Milestone, Noted, Phase, Purchase, PurchaseStatus, RESERVED_FOR, RESULT_WITHIN, Reserved,
    UndoCause, Undoing,
};

/// Waits between one try to give back and the next: soon first, then every five minutes and less and less often up to a
/// day. After the last refusal the operator is alerted; an outcome that is not known is waited for as long as somebody
/// asks the provider for it.
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

/// So many looks at an outcome that is not known, and the history says that giving back did not succeed. A refusal
/// says so at once.
const UNKNOWN_LOOKS_MAX: usize = 3;

/// Something that happened to a purchase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The charge of a card begins, with this id.
    SlotBegun(usize, ChargeId),
    /// A card is reserved.
    SlotReserved(usize),
    /// A card was refused.
    SlotRefused(usize, Option<DeclinedCode>),
    /// Every card is reserved.
    AllReserved,
    /// There was no result in time.
    Abandoned,
    /// The merchant asks for the money.
    CaptureRequested,
    /// A card was not captured.
    CaptureFailed(usize),
    /// Every card was charged.
    AllCaptured,
    /// What was taken from a card is to be given back.
    SlotRefundRequested(usize),
    /// A card has its reservation back, or its money.
    SlotReleased(usize),
    /// Everything was given back after a failure.
    RolledBack,
    /// The merchant asks to release what is reserved.
    VoidRequested,
    /// Nobody captured it in time.
    Expired,
    /// Everything was released.
    AllReleased,
    /// The merchant asks to give the money back.
    RefundRequested,
    /// Everything was given back.
    AllRefunded,
    /// A provider refused to give back, and nothing was given back yet.
    UndoingRefused,
    /// A provider refused to give back.
    UndoingFailed,
    /// What became of giving back is not known, and somebody asks for it.
    UndoingUnknown,
    /// What became of giving back is not known, and nobody asks any more.
    UndoingUnanswered,
    /// Giving this card back is given up with the next refusal of a provider.
    SlotGivenUp(usize),
    /// What became of a card came to light after giving back had been given up.
    Resumed,
}

/// A purchase after a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advance {
    /// The purchase.
    pub purchase: Purchase,
    /// What the history gets.
    pub entries: Vec<NewEntry>,
    /// Whether the entry in [`Purchase::reserved`] has changed.
    pub amends_reserved: bool,
    /// Whether giving back was given up.
    pub gave_up: bool,
}

/// An entry of the history. No card data, no metadata, no fraud analysis, no address is ever part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEntry {
    /// Its place.
    pub ordinal: i64,
    /// What it marks.
    pub milestone: Milestone,
    /// What was done; the first one is the main one.
    pub actions: Vec<Action>,
    /// What is different.
    pub changes: Changes,
}

/// What is different.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// The status of the purchase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<StatusChange>,
    /// A card.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot: Option<SlotChange>,
}

/// A status before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StatusChange {
    /// Before; nothing at the beginning.
    pub from: Option<&'static str>,
    /// After.
    pub to: &'static str,
}

/// What is different about a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SlotChange {
    /// Its place among the cards, from 0.
    pub index: usize,
    /// Its charge.
    pub charge_id: Option<ChargeId>,
    /// The status of the charge.
    pub status: StatusChange,
}

impl Advance {
    /// The first version of a purchase, with what the history begins with.
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

    /// An entry at which the purchase gets another status.
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

    /// Notes on the entry of the reservation what is done with it.
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

/// Why something is not given back yet.
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

    /// Begins anew to give back. That the purchase has failed was said before.
    fn resume(&mut self, now: Timestamp) {
        self.mark(Milestone::RollbackStarted, &[]);
        for slot in &mut self.purchase.slots {
            // The provider is asked once more; what it holds is taken note of again.
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
        // That it has failed was said already when giving back did not succeed at first.
        if before.undoing().is_some_and(|undoing| undoing.is_troubled) {
            self.purchase.phase = Phase::Failed;
        } else {
            self.end(Milestone::Failed, &[Action::StatusChanged], status, Phase::Failed);
        }
    }

    /// Nothing was undone: where the merchant asked for it, the purchase is what it was before.
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
            // What was not given back is still the merchant's, who may ask again.
            let phase = match undoing.cause {
                UndoCause::RefundRequested => Phase::Paid,
                UndoCause::Failure | UndoCause::VoidRequested | UndoCause::Expired => Phase::Failed,
            };
            self.end(Milestone::ReconciliationFailed, &[], before.status(), phase);
        }
    }
}

impl Purchase {
    /// How giving back goes, while something is given back.
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
