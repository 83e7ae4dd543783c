//! Typed identifiers. An [`Id`] is a UUID with the type of its owner. The caller passes the UUID; nothing here is
//! random.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

use crate::time::Timestamp;

/// Marker types: one for each thing that has an id.
pub mod of {
    macro_rules! markers {
        ($($(#[$doc:meta])* $name:ident),* $(,)?) => { $($(#[$doc])* #[derive(Debug)] pub enum $name {})* };
    }
    markers! {
        /// An account.
        Client,
        /// A sub-account: an establishment with its providers.
        Merchant,
        /// A payment provider as configured for one merchant.
        Provider,
        /// A buyer.
        Customer,
        /// A customer's alias for public keys (`docs/interface/customers.md#aliases`).
        CustomerAlias,
        /// A stored card.
        Card,
        /// A single-use card or CVV token.
        Token,
        /// A payment attempt.
        Charge,
        /// One call to a provider.
        TransactionRequest,
        /// One order paid with several cards.
        Purchase,
        /// A card of a purchase.
        PurchaseSlot,
        /// An entry of the history of a purchase.
        PurchaseEntry,
        /// A version of a flow.
        Flow,
        /// An order that a buyer pays by a link or in a shop.
        Session,
        /// A business in whose name a payment facilitator takes payments.
        Vendor,
        /// An item of a session.
        SessionItem,
        /// An entry of the history of a session.
        SessionEntry,
        /// Who receives a part of charges.
        Seller,
        /// A file that shows who a seller is.
        SellerDocument,
        /// A review of the registration of a seller.
        RegistrationReview,
        /// The setup of an authentication of a cardholder.
        AuthenticationSetup,
        /// The share of a seller in a charge or session.
        SplitRule,
        /// A rule about what a platform keeps of charges.
        PlatformFeeRule,
        /// What a customer is charged again and again.
        Subscription,
        /// One period of a subscription.
        Cycle,
        /// One attempt to charge a cycle.
        CycleAttempt,
        /// A sales plan of the platform's own provider.
        Plan,
        /// Charges of a period as files.
        Report,
        /// A part of a charge that is due to a receiver.
        PayoutOrder,
        /// What a receiver is paid at once.
        PaymentBatch,
        /// An issue of a document that proves refunds.
        Receipt,
        /// Receivables that are paid early.
        Prepayment,
        /// An event of a charge, purchase, session or webhook.
        Event,
        /// A webhook endpoint.
        Webhook,
        /// The delivery of an event to a webhook.
        Delivery,
        /// A secret key, a client token or a session key.
        Credential,
        /// A person who works with an account in the dashboard.
        Member,
        /// A browser in which a member has signed in.
        SignIn,
        /// A job.
        Job,
        /// The settings of an account or of a merchant for payment links.
        Settings,
        /// The logo in such settings.
        Logo,
        /// An entry of the audit trail.
        Audit,
    }
}

/// The identifier of a `T`, one of the markers in [`of`].
pub struct Id<T> {
    uuid: Uuid,
    of: PhantomData<fn() -> T>,
}

/// Id of an account.
pub type ClientId = Id<of::Client>;
/// Id of a merchant.
pub type MerchantId = Id<of::Merchant>;
/// Id of a provider of a merchant.
pub type ProviderId = Id<of::Provider>;
/// Id of a customer.
pub type CustomerId = Id<of::Customer>;
/// Id of a stored card.
pub type CardId = Id<of::Card>;
/// Id of a token; random (v4), so that it cannot be guessed.
pub type TokenId = Id<of::Token>;
/// Id of a charge.
pub type ChargeId = Id<of::Charge>;
/// Id of a purchase.
pub type PurchaseId = Id<of::Purchase>;
/// Id of a version of a flow.
pub type FlowId = Id<of::Flow>;
/// Id of a session.
pub type SessionId = Id<of::Session>;
/// Id of a seller.
pub type SellerId = Id<of::Seller>;
/// Id of a subscription.
pub type SubscriptionId = Id<of::Subscription>;
/// Id of a cycle of a subscription.
pub type CycleId = Id<of::Cycle>;
/// Id of a sales plan.
pub type PlanId = Id<of::Plan>;
/// Id of a report.
pub type ReportId = Id<of::Report>;
/// Id of a part of a charge that is due to a receiver.
pub type PayoutOrderId = Id<of::PayoutOrder>;
/// Id of what a receiver is paid at once.
pub type PaymentBatchId = Id<of::PaymentBatch>;
/// Id of an issue of a document that proves refunds.
pub type ReceiptId = Id<of::Receipt>;
/// Id of a prepayment.
pub type PrepaymentId = Id<of::Prepayment>;
/// Id of a vendor.
pub type VendorId = Id<of::Vendor>;
/// Id of a file that shows who a seller is.
pub type SellerDocumentId = Id<of::SellerDocument>;
/// Id of a review of the registration of a seller.
pub type RegistrationReviewId = Id<of::RegistrationReview>;
/// Id of the setup of an authentication.
pub type AuthenticationSetupId = Id<of::AuthenticationSetup>;
/// Id of settings for payment links.
pub type SettingsId = Id<of::Settings>;
/// Id of a logo; random (v4), so that it cannot be guessed.
pub type LogoId = Id<of::Logo>;
/// Id of a webhook.
pub type WebhookId = Id<of::Webhook>;
/// Id of a member.
pub type MemberId = Id<of::Member>;
/// Id of a sign-in.
pub type SignInId = Id<of::SignIn>;
/// Id of a delivery.
pub type DeliveryId = Id<of::Delivery>;
/// Id of a transaction request.
pub type TransactionRequestId = Id<of::TransactionRequest>;

impl<T> Id<T> {
    /// Gives a UUID its type.
    pub const fn new(uuid: Uuid) -> Self {
        Self { uuid, of: PhantomData }
    }

    /// The bare UUID.
    pub const fn uuid(self) -> Uuid {
        self.uuid
    }

    /// When the object was created: a version 7 UUID begins with its time in milliseconds (RFC 9562 §5.7). For other
    /// versions, which we do not make, the epoch.
    pub fn created_at(self) -> Timestamp {
        match self.uuid.get_version_num() {
            7 => {
                let bytes = self.uuid.as_bytes();
                let mut millis = [0_u8; 8];
                millis[2..].copy_from_slice(&bytes[..6]);
                Timestamp::from_millis(i64::from_be_bytes(millis))
            }
            _ => Timestamp::EPOCH,
        }
    }

    /// The lowest version 7 id for `at`: every object created from then on sorts at or after it.
    pub fn first_at(at: Timestamp) -> Self {
        let millis = at.as_millis().clamp(0, (1 << 48) - 1);
        let mut bytes = [0_u8; 16];
        bytes[..6].copy_from_slice(&millis.to_be_bytes()[2..]);
        Self::new(Uuid::from_bytes(bytes))
    }
}

impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Id<T> {}
impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.uuid == other.uuid
    }
}
impl<T> Eq for Id<T> {}
impl<T> PartialOrd for Id<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Id<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.uuid.cmp(&other.uuid)
    }
}
impl<T> Hash for Id<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.uuid.hash(state);
    }
}
impl<T> fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.uuid, f)
    }
}
impl<T> fmt::Display for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.uuid, f)
    }
}
impl<T> FromStr for Id<T> {
    type Err = uuid::Error;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Uuid::try_parse(text).map(Self::new)
    }
}
impl<T> Serialize for Id<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.uuid.serialize(serializer)
    }
}
impl<'de, T> Deserialize<'de> for Id<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Uuid::deserialize(deserializer).map(Self::new)
    }
}
