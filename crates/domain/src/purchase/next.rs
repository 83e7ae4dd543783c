//! Decides the next step of a purchase from the purchase and its charges: a pure function, called after every step,
//! so that another worker can continue where one stopped.

use std::time::Duration;

use crate::charge::ChargeState;
use crate::charge::analysis::Standing;
use crate::decline::DeclinedCode;
use crate::time::Timestamp;

use super::{Change, Noted, Phase, Purchase, Slot, UNDO_WAITS, UndoCause, Undoing};

/// How long to wait before looking again at a charge with an unknown outcome.
const LOOK_AGAIN_AFTER: Duration = Duration::from_secs(5);

/// The charge of one card, as last read.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The state of its charge; `None` before there is one.
    pub state: Option<ChargeState>,
    /// Why it was refused.
    pub declined_code: Option<DeclinedCode>,
    /// Where the analysis of its risk stands.
    pub standing: Standing,
    /// Whether its undoing was just refused.
    pub is_undoing_refused: bool,
    /// Whether probing of its provider has ended without an outcome.
    pub is_unanswered: bool,
}

impl Seen {
    /// Whether it holds nothing that could be given back.
    pub(super) const fn holds_nothing(&self) -> bool {
        match self.state {
            None
            | Some(
                ChargeState::Failed { .. }
                | ChargeState::ChargedBack { .. }
                | ChargeState::Canceled { .. }
                | ChargeState::Voided { .. },
            ) => true,
            Some(
                ChargeState::Processing
                | ChargeState::AwaitingPayer { .. }
                | ChargeState::PreAuthorized { .. }
                | ChargeState::CapturePending { .. }
                | ChargeState::Authorized { .. }
                | ChargeState::RefundPending { .. }
                | ChargeState::RefundAccepted { .. },
            ) => false,
        }
    }
}

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Reserve this card.
    Authorize(usize),
    /// Capture this card.
    Capture(usize),
    /// Void or refund this card.
    Undo(usize),
    /// Record this change.
    Note(Change),
    /// Look again at this time.
    Wait(Timestamp),
    /// Nothing is under way.
    Rest,
}

/// What is left to do for a card that is being undone.
enum Undone {
    Entirely,
    Note(Change),
    ToDo,
    Refused,
    Unknown,
    Unanswered,
}

impl Purchase {
    /// The next step. `seen` has an element for each card.
    pub fn next(&self, seen: &[Seen], now: Timestamp) -> Next {
        match self.phase {
            Phase::Authorizing { until } => self.next_to_authorize(seen, until, now),
            Phase::PreAuthorized { until } if now >= until => Next::Note(Change::Expired),
            Phase::PreAuthorized { until } => Next::Wait(until),
            Phase::Capturing { until } => self.next_to_capture(seen, until, now),
            Phase::Undoing(undoing) => self.next_to_undo(seen, undoing, now),
            Phase::Failed if self.has_news(seen) => Next::Note(Change::Resumed),
            Phase::Paid | Phase::Failed | Phase::Cancelled => Next::Rest,
        }
    }

    fn cards<'a>(&'a self, seen: &'a [Seen]) -> impl Iterator<Item = (usize, &'a Slot, &'a Seen)> {
        self.slots.iter().zip(seen).enumerate().map(|(index, (slot, seen))| (index, slot, seen))
    }

    fn next_to_authorize(&self, seen: &[Seen], until: Timestamp, now: Timestamp) -> Next {
        for (index, slot, seen) in self.cards(seen) {
            let waiting = if now >= until {
                Next::Note(Change::Abandoned)
            } else {
                Next::Wait(until.min(now + LOOK_AGAIN_AFTER))
            };
            match (slot.noted, &seen.state) {
                (Noted::Reserved, _) => {}
                (Noted::Nothing, _) if now >= until => return Next::Note(Change::Abandoned),
                (Noted::Nothing, _) => return Next::Authorize(index),
                (_, Some(ChargeState::PreAuthorized { .. } | ChargeState::Authorized { .. })) => {
                    return match seen.standing {
                        Standing::Free => Next::Note(Change::SlotReserved(index)),
                        Standing::Undecided => waiting,
                        // Nobody looks at single cards of a purchase: it is all or nothing.
                        Standing::Held(_) => Next::Note(Change::SlotRefused(index, seen.declined_code)),
                    };
                }
                (
                    _,
                    Some(
                        ChargeState::Processing
                        | ChargeState::AwaitingPayer { .. }
                        | ChargeState::CapturePending { .. }
                        | ChargeState::RefundPending { .. }
                        | ChargeState::RefundAccepted { .. },
                    )
                    | None,
                ) => return waiting,
                (
                    _,
                    Some(
                        ChargeState::Failed { .. }
                        | ChargeState::Canceled { .. }
                        | ChargeState::Voided { .. }
                        | ChargeState::ChargedBack { .. },
                    ),
                ) => return Next::Note(Change::SlotRefused(index, seen.declined_code)),
            }
        }
        Next::Note(Change::AllReserved)
    }

    fn next_to_capture(&self, seen: &[Seen], until: Timestamp, now: Timestamp) -> Next {
        for (index, _, seen) in self.cards(seen) {
            match &seen.state {
                Some(ChargeState::Authorized { .. }) => {}
                Some(
                    ChargeState::PreAuthorized { .. }
                    | ChargeState::Processing
                    | ChargeState::AwaitingPayer { .. }
                    | ChargeState::CapturePending { .. }
                    | ChargeState::RefundPending { .. }
                    | ChargeState::RefundAccepted { .. },
                )
                | None
                    if now >= until =>
                {
                    return Next::Note(Change::Abandoned);
                }
                Some(ChargeState::PreAuthorized { .. }) => return Next::Capture(index),
                Some(
                    ChargeState::Processing
                    | ChargeState::AwaitingPayer { .. }
                    | ChargeState::CapturePending { .. }
                    | ChargeState::RefundPending { .. }
                    | ChargeState::RefundAccepted { .. },
                )
                | None => return Next::Wait(until.min(now + LOOK_AGAIN_AFTER)),
                Some(
                    ChargeState::Failed { .. }
                    | ChargeState::Canceled { .. }
                    | ChargeState::Voided { .. }
                    | ChargeState::ChargedBack { .. },
                ) => return Next::Note(Change::CaptureFailed(index)),
            }
        }
        Next::Note(Change::AllCaptured)
    }

    /// Tries every card before it waits for any. An undoing that the merchant requested stops at the first refusal,
    /// as long as nothing was given back.
    fn next_to_undo(&self, seen: &[Seen], undoing: Undoing, now: Timestamp) -> Next {
        let (mut to_do, mut to_give_up) = (None, None);
        let (mut refused, mut unknown, mut unanswered, mut given_back) = (false, false, false, false);
        for (index, slot, seen) in self.cards(seen) {
            match undone(index, slot, seen, undoing.cause) {
                Undone::Entirely => given_back |= is_given_back(slot, seen, undoing.cause),
                Undone::Note(change) => return Next::Note(change),
                Undone::ToDo => to_do = to_do.or(Some(index)),
                Undone::Refused => {
                    refused = true;
                    to_give_up = to_give_up.or((slot.noted != Noted::GivenUp).then_some(index));
                }
                Undone::Unknown => unknown = true,
                Undone::Unanswered => unanswered = true,
            }
        }
        let is_requested = matches!(undoing.cause, UndoCause::VoidRequested | UndoCause::RefundRequested);
        let is_last_refusal = undoing.failures >= UNDO_WAITS.len();
        match to_do {
            _ if refused && is_requested && !given_back && !unknown && !unanswered => {
                Next::Note(Change::UndoingRefused)
            }
            _ if now < undoing.next_at && (to_do.is_some() || refused || unknown) => {
                Next::Wait(undoing.next_at)
            }
            Some(index) => Next::Undo(index),
            // Do not give up while the outcome of another card is being probed.
            None if unknown && (!refused || is_last_refusal) => Next::Note(Change::UndoingUnknown),
            None if refused => Next::Note(match to_give_up.filter(|_| is_last_refusal) {
                Some(index) => Change::SlotGivenUp(index),
                None => Change::UndoingFailed,
            }),
            None if unanswered => Next::Note(Change::UndoingUnanswered),
            None => Next::Note(match undoing.cause {
                UndoCause::Failure => Change::RolledBack,
                UndoCause::VoidRequested | UndoCause::Expired => Change::AllReleased,
                UndoCause::RefundRequested => Change::AllRefunded,
            }),
        }
    }

    /// Whether the outcome of a card became known after the undoing was given up. A card that its provider refused to
    /// the end does not count.
    fn has_news(&self, seen: &[Seen]) -> bool {
        self.cards(seen).any(|(_, slot, seen)| {
            let is_awaited = match slot.noted {
                Noted::Begun | Noted::Reserved | Noted::RefundRequested => true,
                Noted::Nothing | Noted::Refused | Noted::GivenUp | Noted::Released => false,
            };
            let is_known = matches!(
                seen.state,
                Some(
                    ChargeState::PreAuthorized { .. }
                        | ChargeState::Authorized { .. }
                        | ChargeState::Canceled { .. }
                        | ChargeState::Voided { .. }
                )
            );
            is_awaited && is_known
        })
    }
}

/// Whether this undoing, not an earlier operation, gave a card back. A refund does not record single cards, only
/// those that held nothing when it was requested.
fn is_given_back(slot: &Slot, seen: &Seen, cause: UndoCause) -> bool {
    match cause {
        UndoCause::Failure | UndoCause::VoidRequested | UndoCause::Expired => slot.noted == Noted::Released,
        UndoCause::RefundRequested => {
            let is_back =
                matches!(seen.state, Some(ChargeState::Canceled { .. } | ChargeState::Voided { .. }));
            is_back && slot.noted != Noted::Released
        }
    }
}

fn undone(index: usize, slot: &Slot, seen: &Seen, cause: UndoCause) -> Undone {
    match &seen.state {
        None | Some(ChargeState::Failed { .. } | ChargeState::ChargedBack { .. }) => Undone::Entirely,
        Some(ChargeState::Canceled { .. } | ChargeState::Voided { .. }) => match (slot.noted, cause) {
            (Noted::Released, _) | (_, UndoCause::RefundRequested) => Undone::Entirely,
            (
                Noted::Nothing
                | Noted::Begun
                | Noted::Reserved
                | Noted::Refused
                | Noted::RefundRequested
                | Noted::GivenUp,
                UndoCause::Failure | UndoCause::VoidRequested | UndoCause::Expired,
            ) => Undone::Note(Change::SlotReleased(index)),
        },
        Some(
            ChargeState::Processing
            | ChargeState::AwaitingPayer { .. }
            | ChargeState::CapturePending { .. }
            | ChargeState::RefundPending { .. }
            | ChargeState::RefundAccepted { .. },
        ) => match seen.is_unanswered {
            true => Undone::Unanswered,
            false => Undone::Unknown,
        },
        Some(ChargeState::PreAuthorized { .. } | ChargeState::Authorized { .. })
            if seen.is_undoing_refused =>
        {
            Undone::Refused
        }
        Some(ChargeState::PreAuthorized { .. }) => Undone::ToDo,
        Some(ChargeState::Authorized { .. }) => match (slot.noted, cause) {
            (Noted::RefundRequested, _) | (_, UndoCause::RefundRequested) => Undone::ToDo,
            (
                Noted::Nothing
                | Noted::Begun
                | Noted::Reserved
                | Noted::Refused
                | Noted::GivenUp
                | Noted::Released,
                UndoCause::Failure | UndoCause::VoidRequested | UndoCause::Expired,
            ) => Undone::Note(Change::SlotRefundRequested(index)),
        },
    }
}
