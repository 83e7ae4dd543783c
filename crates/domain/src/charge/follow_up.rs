//! What is done with a charge after its authorization: capture and void (`docs/interface/charges.md#states`). An
//! operation is opened before the provider is asked and settled when the outcome is known; one is open at a time.

use serde::{Deserialize, Serialize};

use crate::money::Amount;
use crate::provider_type::ProviderType;
use crate::time::Timestamp;

use super::attempt::RequestType;
use super::{Charge, ChargeEvent, ChargeState, ChargeStatus, PaymentType, Transition};

/// An operation on a charge that was authorized.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Take what is reserved, or a part of it; the rest is released.
    Capture,
    /// Release what is reserved, or give back what was taken, or a part of it.
    Void,
}

impl Operation {
    /// The type of its transaction request.
    pub const fn request_type(self) -> RequestType {
        match self {
            Self::Capture => RequestType::Capture,
            Self::Void => RequestType::Void,
        }
    }

    /// What was done, for messages.
    pub const fn participle(self) -> &'static str {
        match self {
            Self::Capture => "captured",
            Self::Void => "voided",
        }
    }
}

/// What the provider has of the buyer's money.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// A reservation.
    Reserved,
    /// The money.
    Taken,
}

/// An operation whose outcome is not known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenOperation {
    /// The place of its transaction request among those of the charge.
    pub ordinal: i64,
    /// How much it is about, in minor units.
    pub amount: Amount,
    /// What the provider had before.
    pub before: Held,
}

/// Why an operation cannot even be tried. The provider is not asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FollowUpRefusal {
    /// Another operation is under way, or the authorization itself is.
    UnderWay(ChargeStatus),
    /// The state does not allow it.
    State(Operation, ChargeStatus),
    /// More than there is.
    AmountAbove {
        /// What there is, in minor units.
        rest: Amount,
    },
    /// The provider does it in full or not at all.
    PartNotPossible(Operation, ProviderType),
    /// The provider cannot give this kind of payment back.
    NotPossible(Operation, PaymentType),
}

impl Charge {
    /// Opens a capture or void of `amount`, of everything when it is absent. The transaction request of the operation
    /// stands at [`OpenOperation::ordinal`].
    ///
    /// # Errors
    /// What [`FollowUpRefusal`] says.
    pub fn open(
        &self,
        operation: Operation,
        amount: Option<Amount>,
        now: Timestamp,
    ) -> Result<(Self, OpenOperation), FollowUpRefusal> {
        let (responsible, before) = self.holder(operation)?;
        let asked = amount.unwrap_or(self.amount);
        if asked > self.amount {
            return Err(FollowUpRefusal::AmountAbove { rest: self.amount });
        }
        self.must_be_able(operation, before, asked < self.amount, responsible)?;
        let open = OpenOperation { ordinal: self.requests, amount: asked, before };
        let state = match operation {
            Operation::Capture => ChargeState::CapturePending { responsible, open },
            Operation::Void => ChargeState::RefundPending { responsible, open },
        };
        Ok((Self { requests: self.requests + 1, ..self.moved(state, now) }, open))
    }

    /// The provider that holds what the operation is about.
    fn holder(&self, operation: Operation) -> Result<(ProviderType, Held), FollowUpRefusal> {
        let status = self.state.status();
        match (&self.state, operation) {
            (
                ChargeState::Pending | ChargeState::CapturePending { .. } | ChargeState::RefundPending { .. },
                _,
            ) => Err(FollowUpRefusal::UnderWay(status)),
            (ChargeState::PreAuthorized { responsible }, _) => Ok((*responsible, Held::Reserved)),
            (ChargeState::Authorized { responsible }, Operation::Void) => Ok((*responsible, Held::Taken)),
            (ChargeState::Authorized { .. }, Operation::Capture)
            | (
                ChargeState::Failed { .. }
                | ChargeState::Canceled { .. }
                | ChargeState::Voided { .. }
                | ChargeState::ChargedBack { .. },
                _,
            ) => Err(FollowUpRefusal::State(operation, status)),
        }
    }

    fn must_be_able(
        &self,
        operation: Operation,
        held: Held,
        is_part: bool,
        responsible: ProviderType,
    ) -> Result<(), FollowUpRefusal> {
        let can = responsible.capabilities();
        let (whole, part) = match (operation, held) {
            (Operation::Capture, _) => (true, can.can_capture_part(self.payment_type)),
            // A reservation that can be captured in part can be lowered.
            (Operation::Void, Held::Reserved) => (true, can.can_capture_part(self.payment_type)),
            (Operation::Void, Held::Taken) => {
                (can.can_refund(self.payment_type), can.can_refund_part(self.payment_type))
            }
        };
        match (whole, part) {
            (false, _) => Err(FollowUpRefusal::NotPossible(operation, self.payment_type)),
            (true, false) if is_part => Err(FollowUpRefusal::PartNotPossible(operation, responsible)),
            (true, _) => Ok(()),
        }
    }

    /// The provider did what is open. `None` when nothing is.
    pub fn settle(&self, now: Timestamp) -> Option<Transition> {
        match &self.state {
            ChargeState::CapturePending { responsible, open } => {
                let state = ChargeState::Authorized { responsible: *responsible };
                let mut captured = self.transition(state, Some(ChargeEvent::Authorized), now);
                captured.charge.amount = open.amount;
                Some(captured)
            }
            ChargeState::RefundPending { responsible, open } => {
                let responsible = *responsible;
                // More than there is was not let in, and the amount does not move while something is open.
                let rest = self.amount.minus(open.amount).unwrap_or(Amount::ZERO);
                let (state, announces) = match (open.before, rest == Amount::ZERO) {
                    (Held::Reserved, true) => {
                        (ChargeState::Canceled { responsible }, Some(ChargeEvent::Canceled))
                    }
                    // Nobody is told of a reservation that became smaller (`docs/interface/charges.md#states`).
                    (Held::Reserved, false) => (ChargeState::PreAuthorized { responsible }, None),
                    (Held::Taken, true) => (ChargeState::Voided { responsible }, Some(ChargeEvent::Voided)),
                    (Held::Taken, false) => {
                        (ChargeState::Authorized { responsible }, Some(ChargeEvent::Voided))
                    }
                };
                let mut given_back = self.transition(state, announces, now);
                given_back.charge.amount = rest;
                Some(given_back)
            }
            ChargeState::Pending
            | ChargeState::PreAuthorized { .. }
            | ChargeState::Authorized { .. }
            | ChargeState::Failed { .. }
            | ChargeState::Canceled { .. }
            | ChargeState::Voided { .. }
            | ChargeState::ChargedBack { .. } => None,
        }
    }

    /// The provider refused what is open: the charge is what it was before. `None` when nothing is open.
    pub fn withdraw(&self, now: Timestamp) -> Option<Transition> {
        let (responsible, open) = (self.state.responsible()?, self.state.open_operation()?);
        let state = match open.before {
            Held::Reserved => ChargeState::PreAuthorized { responsible },
            Held::Taken => ChargeState::Authorized { responsible },
        };
        Some(self.transition(state, None, now))
    }

    /// What is announced when the outcome of the open operation does not come at once.
    pub const fn announced_while_open(&self) -> Option<ChargeEvent> {
        match &self.state {
            ChargeState::RefundPending { open: OpenOperation { before: Held::Taken, .. }, .. } => {
                Some(ChargeEvent::RefundPending)
            }
            ChargeState::RefundPending { open: OpenOperation { before: Held::Reserved, .. }, .. }
            | ChargeState::CapturePending { .. }
            | ChargeState::Pending
            | ChargeState::PreAuthorized { .. }
            | ChargeState::Authorized { .. }
            | ChargeState::Failed { .. }
            | ChargeState::Canceled { .. }
            | ChargeState::Voided { .. }
            | ChargeState::ChargedBack { .. } => None,
        }
    }
}
