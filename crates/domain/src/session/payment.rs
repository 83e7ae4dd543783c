//! What the charges of a session make of it. A charge is counted once for each state that it reaches: the session keeps
//! the numbers, and each payment the state in which it was counted last. So it does not matter how often, or in which
//! order, somebody counts.

use serde_json::{Value, json};

use super::cards::CardRefused;
use super::change::Draft;
use super::{Advance, Capacity, Session, SessionAction, SessionStatus};
use crate::charge::{Charge, ChargeState, Held};
use crate::time::Timestamp;
use crate::webhook::EventName;
use crate::words::words;

words! {
    /// Where a payment of a session stands.
    PaymentState {
        /// A provider is being asked, or its answer is not known.
        Authorizing = "authorizing",
        /// The buyer has instructions and has not paid.
        Pending = "pending",
        /// The buyer has paid.
        Paid = "paid",
        /// The buyer has paid less than the amount, and the merchant has not decided what becomes of it.
        Underpaid = "underpaid",
        /// The buyer was refused or did not pay.
        Ended = "ended",
        /// The buyer has paid, and got everything back.
        Returned = "returned",
        /// The buyer has paid what could not be paid any more: it never counts, and is given back where that is possible.
        Surplus = "surplus",
    }
}

impl PaymentState {
    /// Where the payment by this charge stands.
    pub const fn of(charge: &Charge) -> Self {
        match &charge.state {
            ChargeState::Processing => Self::Authorizing,
            ChargeState::AwaitingPayer { .. } => Self::Pending,
            // The analysis of its risk has not let it pass; nobody was told that it was reserved.
            ChargeState::CapturePending { open, .. } | ChargeState::RefundPending { open, .. }
                if matches!(open.before, Held::JustReserved) =>
            {
                Self::Authorizing
            }
            ChargeState::Authorized { .. }
            | ChargeState::RefundPending { .. }
            | ChargeState::RefundAccepted { .. }
                if charge.is_underpaid() =>
            {
                Self::Underpaid
            }
            ChargeState::ChargedBack { .. } if charge.is_underpaid() => Self::Ended,
            ChargeState::PreAuthorized { .. }
            | ChargeState::CapturePending { .. }
            | ChargeState::Authorized { .. }
            | ChargeState::RefundPending { .. }
            | ChargeState::RefundAccepted { .. }
            | ChargeState::ChargedBack { .. } => Self::Paid,
            ChargeState::Failed { .. } => Self::Ended,
            ChargeState::Canceled { .. } | ChargeState::Voided { .. } => Self::Returned,
        }
    }
}

/// Whether a payment was ever made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// It was.
    Yes,
    /// It was not.
    Never,
}

/// A payment of a session as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionPayment {
    /// Where its charge stands.
    pub state: PaymentState,
    /// Whether the buyer has ever paid.
    pub made: Made,
    /// Where it stood when it was counted last.
    pub counted: PaymentState,
}

/// A session after a payment was counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The change of the session.
    pub advance: Advance,
    /// Where the payment stood.
    pub counted: PaymentState,
}

impl Session {
    /// Counts a payment; `None` when it was counted as it stands. A payment that is counted as
    /// [`PaymentState::Surplus`] must be given back, if its provider can.
    pub fn count(
        &self,
        payment: SessionPayment,
        charge: &Charge,
        refused: CardRefused,
        now: Timestamp,
    ) -> Option<Counted> {
        use PaymentState as State;
        let to = match (payment.state, payment.made) {
            (State::Returned, Made::Never) => State::Ended,
            (state, _) => state,
        };
        let mut draft = Draft::of(self, now);
        let counted = match (payment.counted, to) {
            (State::Surplus, _) | (_, State::Surplus) => return None,
            // What waits for its merchant is given back once its session is canceled.
            (State::Underpaid, State::Underpaid) if self.status != SessionStatus::Canceled => return None,
            (State::Underpaid, State::Underpaid) => {
                draft.leave(State::Underpaid);
                draft.surplus(charge, now)
            }
            (from, to) if from == to => return None,
            (State::Paid, State::Returned) => draft.give_back(),
            (State::Returned, State::Paid) => draft.keep_after_all(),
            // Its provider has refused it after all.
            (State::Paid, State::Ended) => {
                draft.give_back();
                State::Ended
            }
            (State::Paid, State::Authorizing | State::Pending | State::Underpaid)
            | (State::Returned, State::Authorizing | State::Pending | State::Underpaid | State::Ended) => {
                return None;
            }
            (from, State::Authorizing) => {
                draft.leave(from);
                draft.session.tally.authorizing += 1;
                State::Authorizing
            }
            (from, State::Pending) => {
                draft.leave(from);
                draft.session.tally.pending += 1;
                draft.note(&[SessionAction::PaymentPending], response(charge, now));
                State::Pending
            }
            (from, State::Underpaid) => {
                draft.leave(from);
                draft.take_less(charge, now)
            }
            (from, State::Ended) => {
                draft.leave(from);
                draft.end(from, charge, refused, now);
                State::Ended
            }
            (from, State::Paid) => {
                draft.leave(from);
                draft.take(charge, now)
            }
            (from, State::Returned) => {
                draft.leave(from);
                match draft.take(charge, now) == State::Surplus {
                    true => State::Surplus,
                    false => draft.give_back(),
                }
            }
        };
        Some(Counted { advance: draft.done(), counted })
    }
}

impl Draft {
    fn leave(&mut self, from: PaymentState) {
        match from {
            PaymentState::Authorizing => self.session.tally.authorizing -= 1,
            PaymentState::Pending | PaymentState::Underpaid => self.session.tally.pending -= 1,
            PaymentState::Paid | PaymentState::Ended | PaymentState::Returned | PaymentState::Surplus => {}
        }
    }

    fn end(&mut self, from: PaymentState, charge: &Charge, refused: CardRefused, now: Timestamp) {
        // What its merchant has canceled did not expire.
        let is_canceled = self.session.status == SessionStatus::Canceled;
        match from == PaymentState::Pending && refused == CardRefused::No && !is_canceled {
            true => self.note(&[SessionAction::PaymentExpired], response(charge, now)),
            false => self.note(&[], response(charge, now)),
        }
    }

    /// A buyer has paid: the payment counts, or is one too many.
    fn take(&mut self, charge: &Charge, now: Timestamp) -> PaymentState {
        if !self.has_room() {
            return self.surplus(charge, now);
        }
        self.session.tally.paid += 1;
        match self.session.capacity {
            Capacity::One => {
                self.session.status = SessionStatus::Paid;
                self.announces.push(EventName::SessionPaid);
                self.note(&[SessionAction::PaymentSucceeded], response(charge, now));
            }
            Capacity::Many(limit) => {
                self.note(&[SessionAction::PaymentSucceeded], response(charge, now));
                let (paid, limit) = (self.session.tally.paid, i64::from(limit));
                if paid >= limit && self.session.is_active {
                    let context = json!({ "maxPayments": limit, "paymentCount": paid });
                    let diff = json!({ "reason": "expired by max payments", "maxPaymentsContext": context });
                    self.switch_off(SessionAction::ExpiredByMaxPayments, diff);
                }
            }
            Capacity::Unlimited => self.note(&[SessionAction::PaymentSucceeded], response(charge, now)),
        }
        PaymentState::Paid
    }

    /// A buyer has paid less than the amount: the payment waits for the merchant, who accepts it or gives it back, or is
    /// one too many.
    fn take_less(&mut self, charge: &Charge, now: Timestamp) -> PaymentState {
        if !self.has_room() {
            return self.surplus(charge, now);
        }
        self.session.tally.pending += 1;
        let mut diff = response(charge, now);
        // The actions are a closed list: the payment is pending, and the reason says why.
        diff["reason"] =
            "underpaid: the charge is captured to accept what was paid, or voided to give it back".into();
        self.note(&[SessionAction::PaymentPending], diff);
        PaymentState::Underpaid
    }

    fn has_room(&self) -> bool {
        self.session.status == SessionStatus::Created
            && self.session.capacity.limit().is_none_or(|limit| self.session.tally.paid < limit)
    }

    fn surplus(&mut self, charge: &Charge, now: Timestamp) -> PaymentState {
        let mut diff = response(charge, now);
        let reason = match charge.can_be_given_back() {
            true => "the session takes no further payment: it is given back",
            false => "the session takes no further payment: its provider cannot give it back",
        };
        diff["reason"] = reason.into();
        self.note(&[], diff);
        PaymentState::Surplus
    }

    /// What a buyer has paid was given back in full.
    fn give_back(&mut self) -> PaymentState {
        self.session.tally.returned += 1;
        let is_over = match self.session.status {
            SessionStatus::Paid => true,
            // It can be paid no more; while it can, the next buyer may come.
            SessionStatus::Created => self.session.is_over_limit(),
            SessionStatus::Canceled | SessionStatus::Voided => false,
        };
        if is_over && self.session.tally.returned >= self.session.tally.paid {
            self.move_to(SessionStatus::Voided, EventName::SessionVoided);
        }
        PaymentState::Returned
    }

    /// The provider has taken the refund back.
    fn keep_after_all(&mut self) -> PaymentState {
        self.session.tally.returned -= 1;
        if self.session.status == SessionStatus::Voided {
            match self.session.capacity {
                Capacity::One => self.move_to(SessionStatus::Paid, EventName::SessionPaid),
                Capacity::Many(_) | Capacity::Unlimited => {}
            }
        }
        PaymentState::Paid
    }
}

/// The entry of the history for a charge.
fn response(charge: &Charge, now: Timestamp) -> Value {
    let told = json!({
        "chargeId": charge.id, "status": charge.state.status().word(), "amount": charge.paid_amount(),
    });
    json!({ "changes": { "response": { "from": null, "to": told } }, "updatedAt": now })
}
