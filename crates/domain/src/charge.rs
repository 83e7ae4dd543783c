//! A charge: one payment attempt of a buyer, tried at one or more providers. This module holds its facts and its
//! transitions; what is to be done next is decided in [`next`]. Each call to a provider is a
//! [`attempt::TransactionRequest`].

pub mod attempt;
pub mod explanation;
mod follow_up;
pub mod instructions;
mod late;
mod method;
mod next;
pub mod reconciliation;
pub mod reservation;
mod simulated;
mod state;
pub mod timeline;
pub(crate) mod words;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::currency::Currency;
use crate::id::{ChargeId, ClientId, CustomerId, Id, MerchantId, PurchaseId, TransactionRequestId, of};
use crate::money::Amount;
use crate::provider_type::ProviderType;
use crate::routing::{self, Hop};
use crate::time::Timestamp;

use attempt::{Asks, Place, RequestType, TransactionRequest};
use explanation::{Explanation, Stopped};
pub use follow_up::{FollowUpKind, FollowUpRefusal, Held, OpenOperation, approved_authorization, followed};
pub use method::{CardSource, Credit, INSTALLMENTS_MAX, PaymentMethod, Voucher};
pub use next::{EXPIRES_AFTER, Finish, Means, Next, expiry};
pub use simulated::{SimulatedStatus, StatusRefusal};
pub use state::{ChargeState, SECURITY_CODE_HELD_FOR, SecurityCode, StateFacts, StateName};
pub use words::{CaptureMode, ChargeEvent, ChargeStatus, PaymentType, Recurrence};

/// The texts and references of a charge that nothing is decided by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct References {
    /// Free text of the merchant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Text on the buyer's statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement_descriptor: Option<String>,
    /// Reference handed to the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_reference_key: Option<String>,
    /// `paymentFlow.metadata`, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_metadata: Option<Value>,
    /// `appInfo`, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app_info: Option<Value>,
}

/// A charge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// Its id; the time of creation is the id's own.
    pub id: ChargeId,
    /// The account it belongs to.
    pub client_id: ClientId,
    /// The merchant whose providers process it.
    pub merchant_id: MerchantId,
    /// The buyer.
    pub customer_id: Option<CustomerId>,
    /// What stands for the buyer in answers to public keys, when one was given (`docs/interface/customers.md#aliases`).
    pub customer_alias: Option<Id<of::CustomerAlias>>,
    /// The merchant's own reference; not unique.
    pub order_id: Option<String>,
    /// The purchase that it is one card of.
    pub purchase_id: Option<PurchaseId>,
    /// How it is paid, and with what.
    pub method: PaymentMethod,
    /// What the merchant still keeps: falls with each refund.
    pub amount: Amount,
    /// What was charged; never changes.
    pub original_amount: Amount,
    /// The currency of both amounts.
    pub currency: Currency,
    /// Whether an authorization captures at once.
    pub capture: CaptureMode,
    /// Texts and references.
    pub references: References,
    /// The state and its facts.
    pub state: ChargeState,
    /// Why the charge went the way it went: the route that was chosen for it.
    pub explanation: Explanation,
    /// The place in the route of the provider that was asked last, or is asked first.
    pub position: usize,
    /// How many transaction requests belong to this version of the charge.
    pub requests: i64,
    /// Top-level members of the stored document that this release does not know; kept as they are.
    pub unknown_members: Map<String, Value>,
    /// Counts the changes; every write is guarded by it.
    pub version: i64,
    /// When it changed last; always grows.
    pub updated_at: Timestamp,
}

/// A transition that the state does not allow: the charge is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotPending(pub ChargeStatus);

/// A charge after a change, and what the merchant is told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The charge after the change.
    pub charge: Charge,
    /// The event that announces it, when there is one (`docs/interface/charges.md#states`).
    pub announces: Option<ChargeEvent>,
}

impl Charge {
    /// Whether an authorization captures at once: only credit cards can be reserved
    /// (`docs/interface/charges.md#payment-methods`).
    pub const fn capture_in_effect(&self) -> CaptureMode {
        self.method.payment_type().capture(self.capture)
    }

    /// The type of a request that authorizes it.
    pub const fn authorization_type(&self) -> RequestType {
        match self.capture_in_effect() {
            CaptureMode::Automatic => RequestType::Authorization,
            CaptureMode::Manual => RequestType::PreAuthorization,
        }
    }

    /// The charge with its route, at the first provider.
    #[must_use]
    pub fn routed(self, explanation: Explanation) -> Self {
        let position = routing::first(&explanation).map_or(0, |hop| hop.position);
        Self { explanation, position, ..self }
    }

    /// The newest request of this version of the charge, about to be sent.
    pub const fn begin_request(
        &self,
        id: TransactionRequestId,
        asks: Asks,
        now: Timestamp,
    ) -> TransactionRequest {
        let place =
            Place { client_id: self.client_id, object_id: self.id.uuid(), ordinal: self.requests - 1 };
        TransactionRequest::begin(id, place, asks, now)
    }

    /// What a provider of the route is asked.
    pub const fn authorization_at(&self, hop: Hop) -> Asks {
        Asks {
            provider_id: hop.provider_id,
            provider_type: hop.provider_type,
            request_type: self.authorization_type(),
            amount: self.amount,
            follows: None,
        }
    }

    /// The provider took the charge: authorized, or reserved when it is captured later. Also when the payer pays after
    /// the charge was ended for not being paid in time: what was paid counts.
    ///
    /// # Errors
    /// [`NotPending`] when the charge has ended otherwise.
    pub fn approve(&self, responsible: ProviderType, now: Timestamp) -> Result<Transition, NotPending> {
        let (state, event) = match self.capture_in_effect() {
            CaptureMode::Automatic => (ChargeState::Authorized { responsible }, ChargeEvent::Authorized),
            CaptureMode::Manual => (ChargeState::PreAuthorized { responsible }, ChargeEvent::PreAuthorized),
        };
        if !self.has_expired() {
            self.must_be_pending()?;
        }
        let mut approved = self.transition(state, Some(event), now);
        approved.charge.explanation.stopped = None;
        Ok(approved)
    }

    /// The charge ends without a provider that takes it.
    ///
    /// # Errors
    /// [`NotPending`] when it has ended already.
    pub fn fail(
        &self,
        responsible: ProviderType,
        stopped: Stopped,
        now: Timestamp,
    ) -> Result<Transition, NotPending> {
        self.must_be_pending()?;
        let mut failed = self.transition(ChargeState::Failed { responsible }, Some(ChargeEvent::Failed), now);
        failed.charge.explanation.stopped = Some(stopped);
        Ok(failed)
    }

    /// The provider at `hop` is asked: one more transaction request.
    ///
    /// # Errors
    /// [`NotPending`] when the charge has ended.
    pub fn try_next(&self, hop: Hop, now: Timestamp) -> Result<Transition, NotPending> {
        self.must_be_pending()?;
        let next = self.moved(ChargeState::Processing, now).with_one_more_request();
        Ok(Transition { charge: Self { position: hop.position, ..next }, announces: None })
    }

    /// The provider has given the payer something to do. Only now is there something to tell of it.
    ///
    /// # Errors
    /// [`NotPending`] when the charge is not waiting for a provider's answer.
    pub fn await_payer(
        &self,
        responsible: ProviderType,
        security_code: SecurityCode,
        now: Timestamp,
    ) -> Result<Transition, NotPending> {
        self.must_be_pending()?;
        let state = ChargeState::AwaitingPayer { responsible, security_code };
        Ok(self.transition(state, Some(ChargeEvent::Pending), now))
    }

    /// The same charge with one more transaction request.
    #[must_use]
    pub fn with_one_more_request(self) -> Self {
        Self { requests: self.requests + 1, ..self }
    }

    /// A provider took what this charge had ended without: one more request gives it back. The charge stays what it is.
    pub fn void_orphan(&self, now: Timestamp) -> Self {
        self.moved(self.state.clone(), now).with_one_more_request()
    }

    /// What [`Self::void_orphan`] asked for was done, and the merchant is told.
    pub fn confirm_orphan_voided(&self, now: Timestamp) -> Transition {
        self.transition(self.state.clone(), Some(ChargeEvent::ProbeVoid), now)
    }

    /// Whether it ended because the payer did not pay in time.
    pub const fn has_expired(&self) -> bool {
        matches!(self.state, ChargeState::Failed { .. })
            && matches!(self.explanation.stopped, Some(Stopped::Expired))
    }

    const fn must_be_pending(&self) -> Result<(), NotPending> {
        match self.state {
            ChargeState::Processing | ChargeState::AwaitingPayer { .. } => Ok(()),
            ChargeState::PreAuthorized { .. }
            | ChargeState::CapturePending { .. }
            | ChargeState::Authorized { .. }
            | ChargeState::RefundPending { .. }
            | ChargeState::Failed { .. }
            | ChargeState::Canceled { .. }
            | ChargeState::Voided { .. }
            | ChargeState::ChargedBack { .. } => Err(NotPending(self.state.status())),
        }
    }

    /// The next version, in this state.
    fn moved(&self, state: ChargeState, now: Timestamp) -> Self {
        Self { state, version: self.version + 1, updated_at: later_of(now, self.updated_at), ..self.clone() }
    }

    /// The next version, in this state, and what it announces.
    fn transition(&self, state: ChargeState, announces: Option<ChargeEvent>, now: Timestamp) -> Transition {
        Transition { charge: self.moved(state, now), announces }
    }
}

/// `updated_at` grows with every change, also when the clock jumps back.
pub fn later_of(now: Timestamp, before: Timestamp) -> Timestamp {
    if now > before { now } else { Timestamp::from_millis(before.as_millis() + 1) }
}
