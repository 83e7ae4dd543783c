//! Captures and voids a charge after its authorization. An operation is opened before the provider is called and
//! settled when the outcome is known; at most one is open.

use serde::{Deserialize, Serialize};

use crate::money::Amount;
use crate::payment_type::PaymentType;
use crate::provider_type::ProviderType;
use crate::split::{Misfit, ReturnRefusal, SellerReturn, Split};
use crate::time::Timestamp;

use super::attempt::{Outcome, RequestType, TransactionRequest};
use super::{Charge, ChargeEvent, ChargeState, ChargeStatus, NotPending, StateName, Transition};

/// A follow-up of an authorization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FollowUpKind {
    /// Capture the reservation, or a part of it; the rest is released.
    Capture,
    /// Release the reservation or refund the capture, in full or in part.
    Void,
}

impl FollowUpKind {
    /// The type of its transaction request.
    pub const fn request_type(self) -> RequestType {
        match self {
            Self::Capture => RequestType::Capture,
            Self::Void => RequestType::Void,
        }
    }

    /// The past participle for messages: "captured", "voided".
    pub const fn participle(self) -> &'static str {
        match self {
            Self::Capture => "captured",
            Self::Void => "voided",
        }
    }
}

/// What the provider holds of the buyer's money.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// A reservation.
    Reserved,
    /// A reservation that was not announced: the analysis of the charge led to the operation at once.
    JustReserved,
    /// Captured money.
    Taken,
}

/// A follow-up with an unknown outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenOperation {
    /// The index of its transaction request among those of the charge.
    pub ordinal: i64,
    /// The amount of the operation, in minor units.
    pub amount: Amount,
    /// What the provider held before.
    pub before: Held,
}

/// Why a follow-up is refused before the provider is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FollowUpRefusal {
    /// Another operation is under way, or the authorization itself is.
    UnderWay(ChargeStatus),
    /// The state does not allow it.
    State(FollowUpKind, ChargeStatus),
    /// The amount is more than is left.
    AmountAbove {
        /// What is left, in minor units.
        rest: Amount,
    },
    /// The provider supports only the full amount.
    PartNotPossible(FollowUpKind, ProviderType),
    /// The provider cannot refund this payment type.
    NotPossible(FollowUpKind, PaymentType),
    /// What would be captured cannot be divided among the sellers.
    Split(Misfit),
    /// The sellers cannot give back what the caller says; a charge without a split has none.
    Return(ReturnRefusal),
}

impl Charge {
    /// Opens a capture or void of `amount`, or of everything when it is absent. Its transaction request has the index
    /// [`OpenOperation::ordinal`].
    ///
    /// # Errors
    /// What [`FollowUpRefusal`] says.
    pub fn open(
        &self,
        operation: FollowUpKind,
        amount: Option<Amount>,
        now: Timestamp,
    ) -> Result<(Self, OpenOperation), FollowUpRefusal> {
        self.open_giving_back(operation, amount, &[], now)
    }

    /// Opens a void in which the sellers give back what is `given`, and the others the rest; nothing given is a capture, or
    /// a void in which each gives back in proportion to what they have.
    ///
    /// # Errors
    /// What [`FollowUpRefusal`] says.
    pub fn open_giving_back(
        &self,
        operation: FollowUpKind,
        amount: Option<Amount>,
        given: &[SellerReturn],
        now: Timestamp,
    ) -> Result<(Self, OpenOperation), FollowUpRefusal> {
        let (responsible, before) = self.holder(operation)?;
        let asked = amount.unwrap_or(self.amount);
        if asked > self.amount {
            return Err(FollowUpRefusal::AmountAbove { rest: self.amount });
        }
        self.must_be_able(operation, before, asked < self.amount, responsible)?;
        let split = self.split_during(operation, asked, given)?;
        let open = OpenOperation { ordinal: self.requests, amount: asked, before };
        let opened = self.opened(operation, responsible, open, now);
        Ok((Self { split, ..opened }, open))
    }

    fn split_during(
        &self,
        operation: FollowUpKind,
        amount: Amount,
        given: &[SellerReturn],
    ) -> Result<Option<Box<Split>>, FollowUpRefusal> {
        let Some(split) = self.split.as_deref() else {
            return match given {
                [] => Ok(None),
                [_, ..] => Err(FollowUpRefusal::Return(ReturnRefusal::Seller(0))),
            };
        };
        let during = match operation {
            FollowUpKind::Capture => {
                split.fit_capture(amount).map_err(FollowUpRefusal::Split)?;
                split.clone()
            }
            FollowUpKind::Void => {
                let returns = split.returns(self.amount, self.original_amount, amount, given);
                split.returning(returns.map_err(FollowUpRefusal::Return)?)
            }
        };
        Ok(Some(Box::new(during)))
    }

    /// Opens the capture or void that the verdict on a reservation leads to, before the reservation was announced.
    ///
    /// # Errors
    /// [`NotPending`] when the charge is not under way.
    pub fn open_at_once(
        &self,
        operation: FollowUpKind,
        responsible: ProviderType,
        now: Timestamp,
    ) -> Result<(Self, OpenOperation), NotPending> {
        self.must_be_pending()?;
        let open = OpenOperation { ordinal: self.requests, amount: self.amount, before: Held::JustReserved };
        let opened = self.opened(operation, responsible, open, now);
        // All of it is captured or given back, so all the shares are.
        let split = self.split_during(operation, self.amount, &[]).unwrap_or_else(|_| self.split.clone());
        Ok((Self { split, ..opened }, open))
    }

    /// The charge after a capture or void that was carried out without being opened. Whoever had nothing to say in it bears
    /// their part.
    pub(super) fn carried_out(
        &self,
        operation: FollowUpKind,
        responsible: ProviderType,
        before: Held,
        amount: Amount,
        now: Timestamp,
    ) -> Option<Transition> {
        let open = OpenOperation { ordinal: self.requests, amount, before };
        let state = match operation {
            FollowUpKind::Capture => ChargeState::CapturePending { responsible, open },
            FollowUpKind::Void => ChargeState::RefundPending { responsible, open },
        };
        let split = self.split_during(operation, amount, &[]).unwrap_or_else(|_| self.split.clone());
        Self { state, split, ..self.clone() }.settle(now)
    }

    fn opened(
        &self,
        operation: FollowUpKind,
        responsible: ProviderType,
        open: OpenOperation,
        now: Timestamp,
    ) -> Self {
        let state = match operation {
            FollowUpKind::Capture => ChargeState::CapturePending { responsible, open },
            FollowUpKind::Void => ChargeState::RefundPending { responsible, open },
        };
        self.moved(state, now).with_one_more_request()
    }

    /// Why a charge without an authorization cannot be captured or voided.
    pub const fn no_authorization(&self, operation: FollowUpKind) -> FollowUpRefusal {
        let status = self.state.status();
        match self.state.name() {
            StateName::Processing => FollowUpRefusal::UnderWay(status),
            StateName::AwaitingPayer
            | StateName::RefundAccepted
            | StateName::PreAuthorized
            | StateName::CapturePending
            | StateName::Authorized
            | StateName::RefundPending
            | StateName::Failed
            | StateName::Canceled
            | StateName::Voided
            | StateName::ChargedBack => FollowUpRefusal::State(operation, status),
        }
    }

    /// Whether its provider can give back what it holds: a reservation always, a boleto never.
    pub fn can_be_given_back(&self) -> bool {
        let refunds = |provider: ProviderType| provider.capabilities().can_refund(self.method.payment_type());
        matches!(self.state, ChargeState::PreAuthorized { .. })
            || self.state.responsible().is_none_or(refunds)
    }

    /// The provider that the operation goes to, and what it holds.
    fn holder(&self, operation: FollowUpKind) -> Result<(ProviderType, Held), FollowUpRefusal> {
        let status = self.state.status();
        match (&self.state, operation) {
            (
                ChargeState::Processing
                | ChargeState::CapturePending { .. }
                | ChargeState::RefundPending { .. },
                _,
            ) => Err(FollowUpRefusal::UnderWay(status)),
            (ChargeState::PreAuthorized { responsible }, _) => Ok((*responsible, Held::Reserved)),
            (ChargeState::Authorized { responsible }, FollowUpKind::Void) => Ok((*responsible, Held::Taken)),
            (ChargeState::Authorized { .. }, FollowUpKind::Capture)
            | (
                ChargeState::RefundAccepted { .. }
                | ChargeState::AwaitingPayer { .. }
                | ChargeState::Failed { .. }
                | ChargeState::Canceled { .. }
                | ChargeState::Voided { .. }
                | ChargeState::ChargedBack { .. },
                _,
            ) => Err(FollowUpRefusal::State(operation, status)),
        }
    }

    fn must_be_able(
        &self,
        operation: FollowUpKind,
        held: Held,
        is_part: bool,
        responsible: ProviderType,
    ) -> Result<(), FollowUpRefusal> {
        let (can, payment_type) = (responsible.capabilities(), self.method.payment_type());
        let (whole, part) = match (operation, held) {
            (FollowUpKind::Capture, _) => (true, can.can_capture_part(payment_type)),
            // A provider that captures in part can lower a reservation.
            (FollowUpKind::Void, Held::Reserved | Held::JustReserved) => {
                (true, can.can_capture_part(payment_type))
            }
            (FollowUpKind::Void, Held::Taken) => {
                (can.can_refund(payment_type), can.can_refund_part(payment_type))
            }
        };
        match (whole, part) {
            (false, _) => Err(FollowUpRefusal::NotPossible(operation, payment_type)),
            (true, false) if is_part => Err(FollowUpRefusal::PartNotPossible(operation, responsible)),
            (true, _) => Ok(()),
        }
    }

    /// The provider carried out the open operation. `None` when none is open.
    pub fn settle(&self, now: Timestamp) -> Option<Transition> {
        match &self.state {
            ChargeState::CapturePending { responsible, open } => {
                let state = ChargeState::Authorized { responsible: *responsible };
                let mut captured = self.transition(state, Some(ChargeEvent::Authorized), now);
                captured.charge = captured.charge.with_captured(open.amount);
                Some(captured)
            }
            ChargeState::RefundPending { responsible, open }
            | ChargeState::RefundAccepted { responsible, open } => {
                let responsible = *responsible;
                // `open` refused amounts above the rest, and the amount does not change while an operation is open.
                let rest = self.amount.minus(open.amount).unwrap_or(Amount::ZERO);
                let (state, announces) = match (open.before, rest == Amount::ZERO) {
                    (Held::Reserved | Held::JustReserved, true) => {
                        (ChargeState::Canceled { responsible }, Some(ChargeEvent::Canceled))
                    }
                    // A lowered reservation is not announced (`docs/interface/charges.md#states`).
                    (Held::Reserved | Held::JustReserved, false) => {
                        (ChargeState::PreAuthorized { responsible }, None)
                    }
                    (Held::Taken, true) => (ChargeState::Voided { responsible }, Some(ChargeEvent::Voided)),
                    (Held::Taken, false) => {
                        (ChargeState::Authorized { responsible }, Some(ChargeEvent::Voided))
                    }
                };
                let mut given_back = self.transition(state, announces, now);
                given_back.charge = given_back.charge.with_given_back(rest, open.ordinal);
                Some(given_back)
            }
            ChargeState::Processing
            | ChargeState::AwaitingPayer { .. }
            | ChargeState::PreAuthorized { .. }
            | ChargeState::Authorized { .. }
            | ChargeState::Failed { .. }
            | ChargeState::Canceled { .. }
            | ChargeState::Voided { .. }
            | ChargeState::ChargedBack { .. } => None,
        }
    }

    /// The provider refused the open operation: the charge returns to its earlier state. `None` when none is open.
    pub fn withdraw(&self, now: Timestamp) -> Option<Transition> {
        let (responsible, open) = (self.state.responsible()?, self.state.open_operation()?);
        let (state, announces) = match open.before {
            Held::Reserved => (ChargeState::PreAuthorized { responsible }, None),
            Held::JustReserved => {
                (ChargeState::PreAuthorized { responsible }, Some(ChargeEvent::PreAuthorized))
            }
            Held::Taken => (ChargeState::Authorized { responsible }, None),
        };
        let withdrawn = self.transition(state, announces, now);
        let split = withdrawn.charge.split.as_ref().map(|split| Box::new(split.withdrawn()));
        Some(Transition { charge: Self { split, ..withdrawn.charge }, ..withdrawn })
    }

    /// The provider has accepted the open capture or void and reports its result later. `None` when none is open.
    pub fn accept(&self, now: Timestamp) -> Option<Transition> {
        let (responsible, open) = (self.state.responsible()?, *self.state.open_operation()?);
        // Nothing is taken until the result of a capture is known.
        if self.state.name() == StateName::CapturePending {
            return Some(self.transition(self.state.clone(), None, now));
        }
        let state = ChargeState::RefundAccepted { responsible, open };
        Some(self.transition(state, Some(ChargeEvent::RefundPending), now))
    }

    /// The event announced while the outcome of the open operation is unknown.
    pub const fn announced_while_open(&self) -> Option<ChargeEvent> {
        match &self.state {
            ChargeState::RefundPending { open: OpenOperation { before: Held::Taken, .. }, .. } => {
                Some(ChargeEvent::RefundPending)
            }
            ChargeState::RefundPending {
                open: OpenOperation { before: Held::Reserved | Held::JustReserved, .. },
                ..
            }
            | ChargeState::RefundAccepted { .. }
            | ChargeState::CapturePending { .. }
            | ChargeState::Processing
            | ChargeState::AwaitingPayer { .. }
            | ChargeState::PreAuthorized { .. }
            | ChargeState::Authorized { .. }
            | ChargeState::Failed { .. }
            | ChargeState::Canceled { .. }
            | ChargeState::Voided { .. }
            | ChargeState::ChargedBack { .. } => None,
        }
    }

    /// Whether `request` belongs to the open operation of the charge.
    pub fn has_open(&self, request: &TransactionRequest) -> bool {
        self.state.open_operation().is_some_and(|open| open.ordinal == request.ordinal)
    }
}

/// The authorization that a capture or void refers to: the first approved one, since what a payer paid once more is
/// given back by itself. An authorization set by a tester has no provider id and counts only when there is no other.
pub fn approved_authorization(requests: &[TransactionRequest]) -> Option<&TransactionRequest> {
    let approved = |request: &&TransactionRequest| {
        request.request_type.is_authorization() && matches!(request.outcome, Outcome::Approved(_))
    };
    let by_provider = |request: &&TransactionRequest| request.transaction_id().is_some();
    let of_provider = requests.iter().filter(approved).find(by_provider);
    of_provider.or_else(|| requests.iter().rev().find(approved))
}

impl Charge {
    /// The authorization that `request`, a capture or void, refers to. Requests of earlier releases do not name it: the
    /// open operation of the charge refers to the approved authorization, and any other request is a void of the only
    /// one that was recorded as refused or without effect. If several were, there is no telling which one it undoes.
    pub fn followed<'a>(
        &self,
        requests: &'a [TransactionRequest],
        request: &TransactionRequest,
    ) -> Option<&'a TransactionRequest> {
        if let Some(id) = request.follows {
            return requests.iter().find(|earlier| earlier.id == id);
        }
        if self.has_open(request) {
            return approved_authorization(requests);
        }
        let mut denied = requests.iter().filter(|request| {
            request.request_type.is_authorization()
                && matches!(request.outcome, Outcome::NoEffect(_) | Outcome::Declined(_))
        });
        denied.next().filter(|_| denied.next().is_none())
    }
}
