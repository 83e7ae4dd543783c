//! What is ordered, and by whom.

use regente_domain::actor::Actor;
use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::References;
use regente_domain::currency::Currency;
use regente_domain::id::{ClientId, CustomerId, MerchantId, PurchaseId, SessionId, SubscriptionId, TokenId};
use regente_domain::money::Amount;
use regente_domain::payment_type::PaymentType;
use regente_domain::purchase::Purchase;
use regente_domain::session::Session;
use regente_domain::split::SplitRule;
use regente_domain::vendor::NamedVendor;
use regente_providers::authentication::ThreeDSecure;
use regente_store::sealed::Sealed;
use serde_json::{Map, Value};

use super::method::{CardMethod, PayerMethod, WalletMethod};
use super::source::{OrderedCard, OrderedPayer};
use crate::app::App;
use crate::audit::Openings;
use crate::authentication::THREE_D_SECURE;
use crate::caller::{Caller, RequestId};
use crate::card_data::wallets::Wallet;
use crate::customers::ResolvedCustomer;
use crate::idempotency::Key;
use crate::subscriptions::begin::AttemptOrder;

/// A charge that is wanted: its members are right, and what they name may not be there.
pub struct ChargeOrder {
    /// What it is part of.
    pub origin: Origin,
    /// The merchant.
    pub merchant_id: MerchantId,
    /// The amount to charge.
    pub amount: Amount,
    /// The currency of the amount.
    pub currency: Currency,
    /// Whether the amount is captured at once.
    pub capture: CaptureMode,
    /// The merchant's reference.
    pub order_id: Option<String>,
    /// The buyer.
    pub buyer: Option<Buyer>,
    /// How it is paid, and with what.
    pub paid_by: PaidBy,
    /// The authentication of the cardholder; [`Self::authenticated`] sets it.
    pub authentication: Option<Box<ThreeDSecure>>,
    /// How it is divided among sellers, without ids.
    pub split_rules: Vec<SplitRule>,
    /// Statement text, description and references.
    pub references: References,
    /// In whose name it is taken.
    pub vendor: Option<Box<NamedVendor>>,
    /// Personal data that is sealed: fraud analysis, the buyer of a voucher, what a wallet has handed out.
    pub private: Map<String, Value>,
}

impl ChargeOrder {
    /// The same order, whose cardholder is authenticated.
    #[must_use]
    pub fn authenticated(mut self, data: Box<ThreeDSecure>) -> Self {
        let sealed = serde_json::to_value(&data).ok();
        self.private.extend(sealed.map(|sealed| (THREE_D_SECURE.to_owned(), sealed)));
        self.authentication = Some(data);
        self
    }
}

/// What a charge is part of.
pub enum Origin {
    /// Nothing: it was asked for by itself.
    Request,
    /// It pays this session.
    Session(Box<Session>),
    /// It is one card of a purchase.
    Purchase(Box<PurchaseSlot>),
    /// It is an attempt to charge a cycle of a subscription.
    Subscription(Box<AttemptOrder>),
}

impl Origin {
    /// The session that it pays.
    pub(super) fn session(&self) -> Option<&Session> {
        match self {
            Self::Session(session) => Some(session),
            Self::Request | Self::Purchase(_) | Self::Subscription(_) => None,
        }
    }

    pub(super) fn session_id(&self) -> Option<SessionId> {
        self.session().map(|session| session.id)
    }

    pub(super) fn purchase_id(&self) -> Option<PurchaseId> {
        match self {
            Self::Purchase(slot) => Some(slot.purchase.id),
            Self::Request | Self::Session(_) | Self::Subscription(_) => None,
        }
    }

    pub(super) fn subscription_id(&self) -> Option<SubscriptionId> {
        match self {
            Self::Subscription(attempt) => Some(attempt.subscription_id()),
            Self::Request | Self::Session(_) | Self::Purchase(_) => None,
        }
    }
}

/// One card of a purchase.
pub struct PurchaseSlot {
    /// The purchase. If it has another version when the charge begins, no charge begins.
    pub purchase: Purchase,
    /// Which of its cards.
    pub index: usize,
    /// The sealed data of the purchase once the charge has used up the security code: without the id of its token.
    pub without_code: Option<Sealed>,
}

/// The buyer of a charge.
#[derive(Clone, Copy, Debug)]
pub enum Buyer {
    /// A customer, or an alias of one.
    Named(CustomerId),
    /// A customer who was found before.
    Found(ResolvedCustomer),
}

/// How a charge is paid, and with what.
pub enum PaidBy {
    /// With a card.
    Card(CardMethod, OrderedCard),
    /// By a payer who follows the instructions of a provider.
    Payer(PayerMethod, OrderedPayer),
    /// With what a wallet has handed out.
    Wallet(WalletMethod, Wallet),
}

impl PaidBy {
    /// The word of the interface.
    pub const fn payment_type(&self) -> PaymentType {
        match self {
            Self::Card(method, _) => method.payment_type(),
            Self::Payer(method, _) => method.payment_type(),
            Self::Wallet(method, _) => method.payment_type(),
        }
    }

    /// Number of installments, 1 where there are none.
    pub const fn installments(&self) -> u8 {
        match self {
            Self::Card(method, _) => method.installments(),
            Self::Payer(..) => 1,
            Self::Wallet(method, _) => method.installments(),
        }
    }

    /// The card token, when the source is one.
    pub const fn token_id(&self) -> Option<TokenId> {
        match self {
            Self::Card(_, card) => card.token_id(),
            Self::Payer(..) | Self::Wallet(..) => None,
        }
    }
}

/// Who places an order.
pub enum PlacedBy {
    /// A request.
    Request(Box<Requester>),
    /// A job.
    Job {
        /// Of this account.
        client_id: ClientId,
        /// Its kind.
        kind: &'static str,
    },
}

/// A request that places an order.
pub struct Requester {
    /// Whose key it has.
    pub caller: Caller,
    /// Its id.
    pub request_id: RequestId,
    /// Its idempotency key.
    pub key: Option<Key>,
    /// `X-Sandbox-Seed`.
    pub simulator_seed: Option<String>,
}

impl PlacedBy {
    /// The account.
    pub(super) const fn client_id(&self) -> ClientId {
        match self {
            Self::Request(requester) => requester.caller.client_id,
            Self::Job { client_id, .. } => *client_id,
        }
    }

    /// The author of the charge.
    pub(super) fn actor(&self) -> Actor {
        match self {
            Self::Request(requester) => requester.caller.actor(),
            Self::Job { kind, .. } => Actor::Job(kind),
        }
    }

    /// Whether the order comes from a page, with a key that everybody can read there.
    pub(super) const fn is_public(&self) -> bool {
        match self {
            Self::Request(requester) => requester.caller.is_public_key(),
            Self::Job { .. } => false,
        }
    }

    /// The seed of the simulator's random decisions.
    pub(super) fn simulator_seed(&self) -> Option<String> {
        match self {
            Self::Request(requester) => requester.simulator_seed.clone(),
            Self::Job { .. } => None,
        }
    }

    /// The records of the card numbers that are opened for it; none so far.
    pub(super) fn openings(&self, app: &App) -> Openings {
        match self {
            Self::Request(requester) => Openings::of(app, &requester.caller, &requester.request_id),
            Self::Job { client_id, .. } => Openings::by(app, *client_id, self.actor(), None),
        }
    }
}
