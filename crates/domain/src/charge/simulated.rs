//! Sets the status of a sandbox charge by hand, without asking a provider (`docs/interface/sandbox.md#status`).

use crate::charge::attempt::RequestType;
use crate::money::Amount;
use crate::time::Timestamp;

use super::words::words;
use super::{Charge, ChargeEvent, ChargeState, ChargeStatus, Transition};

words! {
    /// `status` of `POST /v1/charges/{id}` (`docs/interface/sandbox.md#status`).
    SimulatedStatus {
        /// The payment was approved.
        Authorized = "authorized",
        /// It was refunded in full.
        Voided = "voided",
        /// The cardholder's bank reversed it.
        ChargedBack = "charged_back",
        /// A refund is under way; not for cards.
        RefundPending = "refund_pending",
        /// Refused.
        Failed = "failed",
    }
}

impl SimulatedStatus {
    /// The type of the transaction request that records it.
    pub const fn request_type(self) -> RequestType {
        match self {
            Self::Authorized | Self::Failed => RequestType::Authorization,
            Self::Voided | Self::RefundPending => RequestType::Void,
            Self::ChargedBack => RequestType::ChargeBack,
        }
    }
}

/// Why a status cannot be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusRefusal {
    /// A call to a provider is under way.
    UnderWay(ChargeStatus),
    /// The state is final.
    Final(ChargeStatus),
    /// Not for this payment type.
    NotForPaymentType,
}

impl Charge {
    /// Sets the status without asking a provider; one more transaction request records it.
    ///
    /// # Errors
    /// What [`StatusRefusal`] says.
    pub fn simulate(&self, status: SimulatedStatus, now: Timestamp) -> Result<Transition, StatusRefusal> {
        let before = self.state.status();
        let responsible = match &self.state {
            ChargeState::Processing
            | ChargeState::AwaitingPayer { .. }
            | ChargeState::CapturePending { .. }
            | ChargeState::RefundPending { .. }
            | ChargeState::RefundAccepted { .. } => {
                return Err(StatusRefusal::UnderWay(before));
            }
            ChargeState::Canceled { .. } | ChargeState::Voided { .. } | ChargeState::ChargedBack { .. } => {
                return Err(StatusRefusal::Final(before));
            }
            ChargeState::PreAuthorized { responsible }
            | ChargeState::Authorized { responsible }
            | ChargeState::Failed { responsible } => *responsible,
        };
        let (state, event, amount) = match status {
            SimulatedStatus::Authorized => {
                (ChargeState::Authorized { responsible }, ChargeEvent::Authorized, self.amount)
            }
            SimulatedStatus::Failed => {
                (ChargeState::Failed { responsible }, ChargeEvent::Failed, self.amount)
            }
            SimulatedStatus::Voided => {
                (ChargeState::Voided { responsible }, ChargeEvent::Voided, Amount::ZERO)
            }
            SimulatedStatus::ChargedBack => {
                (ChargeState::ChargedBack { responsible }, ChargeEvent::ChargedBack, self.amount)
            }
            // Card refunds finish at once (`docs/interface/sandbox.md#status`).
            SimulatedStatus::RefundPending => return Err(StatusRefusal::NotForPaymentType),
        };
        let mut simulated = self.transition(state, Some(event), now);
        simulated.charge.amount = amount;
        Ok(Transition { charge: simulated.charge.with_one_more_request(), ..simulated })
    }
}
