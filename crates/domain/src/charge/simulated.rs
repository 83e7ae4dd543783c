//! Sets the status of a sandbox charge by hand, without asking a provider (`docs/interface/sandbox.md#status`).

use crate::charge::attempt::{Outcome, Reported, RequestGroup, RequestType, TransactionRequest};
use crate::money::Amount;
use crate::payment_type::PaymentType;
use crate::time::Timestamp;
use crate::words::words;

use super::{Charge, ChargeEvent, ChargeState, ChargeStatus, FollowUpKind, PaymentSource, Transition};

words! {
    /// What a tester may set as the status of a charge.
    #[schema(as = SettableStatus)]
    SimulatedStatus {
        /// The payment was approved.
        Authorized = "authorized",
        /// It was refunded in full.
        Voided = "voided",
        /// The cardholder's bank reversed it.
        ChargedBack = "charged_back",
        /// A refund is under way; only for Pix.
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

/// The next thing that a tester has happen at the provider of a charge, so that the charge gets a status and the
/// provider's books agree with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Staging {
    /// The charge has the status.
    Reached,
    /// Nothing happens at the provider: [`Charge::simulate`] sets the status.
    ByHand,
    /// The payer pays.
    Payment,
    /// The provider withdraws the instructions.
    Withdrawal,
    /// The reservation is captured.
    Capture,
    /// The charge is voided in full.
    Void,
    /// The provider has carried out the refund that it had accepted.
    Refund,
    /// The provider refuses the refund that it had accepted.
    RefundRefusal,
    /// The payer's bank takes the payment back.
    ChargeBack,
    /// The payer's bank takes the payment back, which the provider cannot refund.
    TakenBack,
}

impl Staging {
    /// What `requests` say has happened last, apart from the first `known` of them.
    pub fn last_of(requests: &[TransactionRequest], known: i64) -> Option<Self> {
        let is_refused = |request: &TransactionRequest| matches!(request.outcome, Outcome::Declined(_));
        let of = |request: &TransactionRequest| match request.request_type.group() {
            RequestGroup::Authorization(_) if is_refused(request) => Some(Self::Withdrawal),
            RequestGroup::Authorization(_) => Some(Self::Payment),
            RequestGroup::FollowUp(FollowUpKind::Capture) => Some(Self::Capture),
            RequestGroup::FollowUp(FollowUpKind::Void) => {
                let follows = requests.iter().find(|earlier| request.follows == Some(earlier.id));
                match follows.map(|earlier| &earlier.outcome) {
                    Some(Outcome::Accepted(_)) if is_refused(request) => Some(Self::RefundRefusal),
                    Some(Outcome::Accepted(_)) => Some(Self::Refund),
                    Some(
                        Outcome::Open
                        | Outcome::Pending(_)
                        | Outcome::Approved(_)
                        | Outcome::Declined(_)
                        | Outcome::NoEffect(_)
                        | Outcome::Analysed(_),
                    )
                    | None => Some(Self::Void),
                }
            }
            RequestGroup::Reversal(Reported::ChargeBack) => Some(Self::ChargeBack),
            RequestGroup::Reversal(Reported::Dispute | Reported::DisputeClosed | Reported::RevertVoid)
            | RequestGroup::CardCheck
            | RequestGroup::Authentication(_)
            | RequestGroup::Risk(_) => None,
        };
        requests.iter().rev().filter(|request| request.ordinal >= known).find_map(of)
    }
}

impl SimulatedStatus {
    /// The statuses that can be set on a charge of this payment type (`docs/interface/sandbox.md#status`).
    const fn settable(payment_type: PaymentType) -> &'static [Self] {
        use SimulatedStatus::{Authorized, ChargedBack, Failed, RefundPending, Voided};
        match payment_type {
            PaymentType::Credit
            | PaymentType::Debit
            | PaymentType::Voucher
            | PaymentType::Boleto
            | PaymentType::Nupay
            | PaymentType::Picpay
            | PaymentType::ApplePay
            | PaymentType::ClickToPay => &[Authorized, Voided, ChargedBack, Failed],
            PaymentType::Pix => &[Authorized, Voided, ChargedBack, Failed, RefundPending],
            PaymentType::Drip => &[Authorized, Voided, Failed],
        }
    }

    /// Whether the status can be set on a charge of this payment type.
    pub fn is_for(self, payment_type: PaymentType) -> bool {
        Self::settable(payment_type).contains(&self)
    }
}

/// Why a status cannot be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusRefusal {
    /// A call to a provider is under way.
    UnderWay(ChargeStatus),
    /// The state is final.
    Final(ChargeStatus),
    /// Not for this payment type, or not without the provider.
    NotForPaymentType,
}

impl Charge {
    /// What happens next at the provider so that the charge gets this status. `before` is what has happened last.
    ///
    /// # Errors
    /// What [`StatusRefusal`] says.
    pub fn stage(&self, status: SimulatedStatus, before: Option<Staging>) -> Result<Staging, StatusRefusal> {
        use SimulatedStatus as To;
        if !status.is_for(self.method.payment_type()) {
            return Err(StatusRefusal::NotForPaymentType);
        }
        let shown = self.state.status();
        let pays_by_himself = match self.method.source() {
            PaymentSource::Payer(_) => true,
            PaymentSource::Card(_) | PaymentSource::Wallet => false,
        };
        match (&self.state, status) {
            // A cardholder answers a challenge; no tester answers it for them.
            (ChargeState::AwaitingPayer { .. }, _) if !pays_by_himself => Err(StatusRefusal::UnderWay(shown)),
            (ChargeState::AwaitingPayer { .. }, To::Failed) => Ok(Staging::Withdrawal),
            (
                ChargeState::AwaitingPayer { .. },
                To::Authorized | To::Voided | To::RefundPending | To::ChargedBack,
            ) => Ok(Staging::Payment),
            (
                ChargeState::Failed { .. },
                To::Authorized | To::Voided | To::RefundPending | To::ChargedBack,
            ) if pays_by_himself && self.takes_late_payment() => Ok(Staging::Payment),
            (ChargeState::Failed { .. }, To::Failed) if before.is_some() => Ok(Staging::Reached),
            (
                ChargeState::PreAuthorized { .. },
                To::Authorized | To::Voided | To::RefundPending | To::ChargedBack,
            ) if before.is_none() => Ok(Staging::Capture),
            // A card that is authorized already is authorized once more, by hand: a tester sees the event again.
            (ChargeState::Authorized { .. }, To::Authorized) if before.is_none() && !pays_by_himself => {
                Ok(Staging::ByHand)
            }
            (ChargeState::Authorized { .. }, To::Authorized) => Ok(Staging::Reached),
            (ChargeState::Authorized { .. }, To::Voided) if before == Some(Staging::Refund) => {
                Ok(Staging::Reached)
            }
            (ChargeState::Authorized { responsible }, To::Voided | To::RefundPending)
                if before != Some(Staging::Void)
                    && responsible.capabilities().can_refund(self.method.payment_type()) =>
            {
                Ok(Staging::Void)
            }
            (ChargeState::Authorized { .. }, To::ChargedBack) => Ok(Staging::ChargeBack),
            (ChargeState::ChargedBack { .. }, To::ChargedBack) if before == Some(Staging::ChargeBack) => {
                Ok(Staging::Reached)
            }
            (ChargeState::Authorized { .. }, To::Voided)
                if self.method.boleto().is_some()
                    && before.is_none_or(|before| before == Staging::Payment) =>
            {
                Ok(Staging::TakenBack)
            }
            (ChargeState::RefundAccepted { .. }, To::Voided) => Ok(Staging::Refund),
            (ChargeState::RefundAccepted { .. }, To::Authorized) => Ok(Staging::RefundRefusal),
            (ChargeState::RefundAccepted { .. }, To::RefundPending) => Ok(Staging::Reached),
            (ChargeState::Voided { .. }, To::Voided) if before.is_some() => Ok(Staging::Reached),
            (
                ChargeState::Processing
                | ChargeState::CapturePending { .. }
                | ChargeState::RefundPending { .. }
                | ChargeState::RefundAccepted { .. },
                _,
            ) => Err(StatusRefusal::UnderWay(shown)),
            (
                ChargeState::Canceled { .. } | ChargeState::Voided { .. } | ChargeState::ChargedBack { .. },
                _,
            ) => Err(StatusRefusal::Final(shown)),
            (
                ChargeState::PreAuthorized { .. }
                | ChargeState::Authorized { .. }
                | ChargeState::Failed { .. },
                _,
            ) => Ok(Staging::ByHand),
        }
    }

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
                (ChargeState::ChargedBack { responsible, lost: None }, ChargeEvent::ChargedBack, self.amount)
            }
            // Only what a provider has accepted is under way (`docs/interface/sandbox.md#status`).
            SimulatedStatus::RefundPending => return Err(StatusRefusal::NotForPaymentType),
        };
        let simulated = self.transition(state, Some(event), now);
        let charge = if amount == self.amount {
            simulated.charge
        } else {
            simulated.charge.with_given_back(amount, self.requests)
        };
        Ok(Transition { charge: charge.with_one_more_request(), announces: simulated.announces })
    }
}
