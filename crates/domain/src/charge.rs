//! A charge: one payment attempt of a buyer, tried at one or more providers. This module holds its facts and its
//! transitions; [`next`] decides the next step. Each call to a provider is an [`attempt::TransactionRequest`].

pub mod analysis;
pub mod attempt;
pub mod authentication;
pub mod elsewhere;
mod ended;
mod follow_up;
pub mod foreseen;
mod found;
pub mod instructions;
mod late;
mod method;
mod next;
mod paid;
mod parts;
pub mod reconciliation;
pub mod refunds;
pub mod reservation;
pub mod reversal;
mod revoked;
pub mod sent;
mod simulated;
mod state;
mod step;
mod taken_back;
pub mod timeline;
pub(crate) mod words;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::capture_mode::CaptureMode;
use crate::currency::Currency;
use crate::id::{
    ChargeId, ClientId, CustomerId, Id, MerchantId, PurchaseId, SessionId, SubscriptionId,
    TransactionRequestId, of,
};
use crate::money::Amount;
use crate::provider_type::ProviderType;
use crate::routing::explanation::{Explanation, Stopped};
use crate::routing::{self, Hop};
use crate::split::Split;
use crate::time::{Timestamp, later_of};
use crate::vendor::NamedVendor;

use analysis::{Progress, Screening};
use attempt::{Asks, RequestPosition, RequestType, TransactionRequest};
use authentication::Authentication;
pub use ended::{Ended, OrphanVoid, Says};
pub use follow_up::{FollowUpKind, FollowUpRefusal, Held, OpenOperation, approved_authorization};
pub use found::{BUYER_IS_GONE, GoesBack, NewId, Taken};
pub use late::{is_same_transfer, is_unnamed, payments, refused_voids};
pub use method::*;
pub use next::{EXPIRES_AFTER, Finish, Means, Next, expiry};
pub use paid::PaidOtherwise;
pub use parts::Parts;
pub(crate) use revoked::is_taken_back;
pub use revoked::{AfterRevoking, FailedCapture, failed_capture};
pub use simulated::{SimulatedStatus, Staging, StatusRefusal};
pub use state::{ChargeState, SECURITY_CODE_HELD_FOR, SecurityCode, StateFacts, StateName};
pub use step::{Misstep, Step};
pub use taken_back::{AfterTakingBack, TakenBack};
pub use words::{ChargeEvent, ChargeStatus, Recurrence};

/// The texts and references of a charge; no decision depends on them.
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

impl References {
    /// Without the texts and objects that callers fill as they like, and which may name a person.
    #[must_use]
    pub fn without_free_text(&self) -> Self {
        Self {
            description: None,
            statement_descriptor: self.statement_descriptor.clone(),
            provider_reference_key: self.provider_reference_key.clone(),
            flow_metadata: None,
            app_info: None,
        }
    }
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
    /// The alias that answers to public keys show instead of the buyer (`docs/interface/customers.md#aliases`).
    pub customer_alias: Option<Id<of::CustomerAlias>>,
    /// The merchant's own reference; not unique.
    pub order_id: Option<String>,
    /// The purchase that it is one card of.
    pub purchase_id: Option<PurchaseId>,
    /// The session that it pays.
    pub session_id: Option<SessionId>,
    /// The subscription of which it is an attempt to charge a cycle.
    pub subscription_id: Option<SubscriptionId>,
    /// In whose name it is taken. Boxed, since few charges have one.
    pub vendor: Option<Box<NamedVendor>>,
    /// How it is paid, with its source.
    pub method: PaymentMethod,
    /// What the merchant keeps: falls with each refund.
    pub amount: Amount,
    /// What was charged; never changes.
    pub original_amount: Amount,
    /// What its payer has paid, if that is another amount.
    pub paid_otherwise: Option<PaidOtherwise>,
    /// The currency of both amounts.
    pub currency: Currency,
    /// Whether an authorization captures at once.
    pub capture: CaptureMode,
    /// Texts and references. They never change, so that its versions share them.
    pub references: Arc<References>,
    /// The state and its facts.
    pub state: ChargeState,
    /// What it demands of the authentication of its cardholder. Boxed, since few charges have it.
    pub authentication: Option<Box<Authentication>>,
    /// What the merchant's anti-fraud provider has to do with it. Boxed, since few charges have one.
    pub screening: Option<Box<Screening>>,
    /// How it is divided among sellers. Boxed, since few charges are.
    pub split: Option<Box<Split>>,
    /// The route that was chosen, and why.
    pub explanation: Explanation,
    /// The place in the route of the provider that was asked last, or will be asked first.
    pub position: usize,
    /// Number of transaction requests of this version of the charge.
    pub requests: i64,
    /// Top-level members of the stored document that this release does not know; kept unchanged.
    pub unknown_members: Map<String, Value>,
    /// Grows by one with each change; every write checks it.
    pub version: i64,
    /// When it last changed; always grows.
    pub updated_at: Timestamp,
}

/// The state does not allow the transition: the charge is already decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotPending(pub ChargeStatus);

/// A charge after a change, with the event to announce.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The charge after the change.
    pub charge: Charge,
    /// The event to announce, if any (`docs/interface/charges.md#states`).
    pub announces: Option<ChargeEvent>,
}

impl Charge {
    /// A charge that nobody has been asked about yet. What only some charges have is absent.
    pub fn new(
        id: ChargeId,
        client_id: ClientId,
        merchant_id: MerchantId,
        method: PaymentMethod,
        (amount, currency): (Amount, Currency),
        capture: CaptureMode,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            client_id,
            merchant_id,
            customer_id: None,
            customer_alias: None,
            order_id: None,
            purchase_id: None,
            session_id: None,
            subscription_id: None,
            vendor: None,
            method,
            amount,
            original_amount: amount,
            paid_otherwise: None,
            currency,
            capture,
            references: Arc::default(),
            state: ChargeState::Processing,
            authentication: None,
            screening: None,
            split: None,
            explanation: Explanation::default(),
            position: 0,
            requests: 1,
            unknown_members: Map::new(),
            version: 1,
            updated_at: now,
        }
    }

    /// The capture mode in effect: only credit cards can be reserved (`docs/interface/charges.md#payment-methods`), and
    /// an analysed charge is reserved alone until a verdict allows more.
    pub fn capture_in_effect(&self) -> CaptureMode {
        let asked = match &self.screening {
            Some(screening) if screening.rules.is_some() && screening.progress != Progress::Cleared => {
                CaptureMode::Manual
            }
            Some(_) | None => self.capture,
        };
        self.method.payment_type().capture(asked)
    }

    /// The type of a request that authorizes the charge.
    pub fn authorization_type(&self) -> RequestType {
        match self.capture_in_effect() {
            CaptureMode::Automatic => RequestType::Authorization,
            CaptureMode::Manual => RequestType::PreAuthorization,
        }
    }

    /// Sets the route and starts at its first provider.
    #[must_use]
    pub fn routed(self, explanation: Explanation) -> Self {
        let position = routing::first(&explanation).map_or(0, |hop| hop.position);
        Self { explanation, position, ..self }
    }

    /// The newest request of this version of the charge, before it is sent.
    pub const fn begin_request(
        &self,
        id: TransactionRequestId,
        asks: Asks,
        now: Timestamp,
    ) -> TransactionRequest {
        let place = RequestPosition {
            client_id: self.client_id,
            object_id: self.id.uuid(),
            ordinal: self.requests - 1,
        };
        TransactionRequest::begin(id, place, asks, now)
    }

    /// The authorization to send to a provider of the route.
    pub fn authorization_at(&self, hop: Hop) -> Asks {
        Asks {
            provider_id: hop.provider_id,
            provider_type: hop.provider_type,
            request_type: self.authorization_type(),
            amount: self.amount,
            follows: None,
        }
    }

    /// A provider approved the charge: it becomes authorized, or reserved when it is captured later. Also applies
    /// when the payer pays after the charge expired, because money that was paid counts. `amount` is what was paid.
    ///
    /// # Errors
    /// [`NotPending`] when the charge has ended otherwise.
    pub fn approve(
        &self,
        responsible: ProviderType,
        amount: Amount,
        now: Timestamp,
    ) -> Result<Transition, NotPending> {
        let (state, event) = match self.capture_in_effect() {
            CaptureMode::Automatic => (ChargeState::Authorized { responsible }, ChargeEvent::Authorized),
            CaptureMode::Manual => (ChargeState::PreAuthorized { responsible }, ChargeEvent::PreAuthorized),
        };
        if !self.takes_late_payment() {
            self.must_be_pending()?;
        }
        let mut approved = self.transition(state, Some(event), now);
        approved.charge.explanation.stopped = None;
        approved.charge.amount = amount;
        // A reservation is what its capture makes of it.
        if matches!(approved.charge.state, ChargeState::Authorized { .. }) {
            approved.charge.paid_otherwise = PaidOtherwise::of(amount, self.original_amount);
        }
        Ok(approved)
    }

    /// The charge ends without an approval.
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
        let mut ended = match self.method.unapproved(stopped) {
            Unapproved::Failed => {
                self.transition(ChargeState::Failed { responsible }, Some(ChargeEvent::Failed), now)
            }
            Unapproved::Canceled => {
                let state = ChargeState::Canceled { responsible };
                let mut canceled = self.transition(state, Some(ChargeEvent::Canceled), now);
                canceled.charge.amount = Amount::ZERO;
                canceled
            }
        };
        ended.charge.explanation.stopped = Some(stopped);
        Ok(ended)
    }

    /// Adds a transaction request to the provider at `hop`, after `requests`.
    ///
    /// # Errors
    /// [`NotPending`] when the charge has ended.
    pub fn try_next(
        &self,
        requests: &[TransactionRequest],
        hop: Hop,
        now: Timestamp,
    ) -> Result<Transition, NotPending> {
        self.must_be_pending()?;
        let next = self.moved(ChargeState::Processing, now).with_one_more_request().cleared_by(requests);
        Ok(Transition { charge: Self { position: hop.position, ..next }, announces: None })
    }

    /// The provider has issued instructions for the payer. The event is announced now, unless it was when the charge was
    /// accepted.
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
        let announces = (!self.method.is_announced_when_accepted()).then_some(ChargeEvent::Pending);
        Ok(self.transition(state, announces, now))
    }

    /// The same charge, with one more transaction request counted.
    #[must_use]
    pub fn with_one_more_request(self) -> Self {
        Self { requests: self.requests + 1, ..self }
    }

    /// Without the texts and objects that callers fill as they like, and which may name a person.
    #[must_use]
    pub fn without_free_text(&self) -> Self {
        let method = self.method.clone().without_free_text();
        Self { method, references: Arc::new(self.references.without_free_text()), ..self.clone() }
    }

    /// Whether a payment that comes late makes it good. What the merchant was told is canceled stays so.
    pub const fn takes_late_payment(&self) -> bool {
        self.ended_unpaid() && matches!(self.state, ChargeState::Failed { .. })
    }

    /// Whether it ended because its payer was not waited for any longer.
    pub const fn ended_unpaid(&self) -> bool {
        matches!(self.state, ChargeState::Failed { .. } | ChargeState::Canceled { .. })
            && matches!(self.explanation.stopped, Some(Stopped::Expired | Stopped::Withdrawn))
    }

    const fn must_be_pending(&self) -> Result<(), NotPending> {
        match self.state {
            ChargeState::Processing | ChargeState::AwaitingPayer { .. } => Ok(()),
            ChargeState::PreAuthorized { .. }
            | ChargeState::CapturePending { .. }
            | ChargeState::Authorized { .. }
            | ChargeState::RefundPending { .. }
            | ChargeState::RefundAccepted { .. }
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

    /// The next version, in this state, with the event to announce.
    fn transition(&self, state: ChargeState, announces: Option<ChargeEvent>, now: Timestamp) -> Transition {
        Transition { charge: self.moved(state, now), announces }
    }
}
