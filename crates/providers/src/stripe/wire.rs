//! What the provider answers and sends, as far as it is used. Unknown members are ignored, and words that are not listed
//! are read as `Other`: interfaces of other versions have more of them.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use uuid::Uuid;

/// Members of `metadata` that lead back to the call.
pub(super) mod member {
    /// The charge or card of the call.
    pub(in crate::stripe) const OBJECT_ID: &str = "regente_object_id";
    /// The key of the call.
    pub(in crate::stripe) const KEY: &str = "regente_key";
    /// The key of the capture.
    pub(in crate::stripe) const CAPTURE_KEY: &str = "regente_capture_key";
    /// The key of the authorization that a refund undoes.
    pub(in crate::stripe) const UNDONE_KEY: &str = "regente_undone_key";
    /// [`REQUIRED`] when the charge goes on only with the shift of liability.
    pub(in crate::stripe) const LIABILITY_SHIFT: &str = "regente_liability_shift";
    /// See [`LIABILITY_SHIFT`].
    pub(in crate::stripe) const REQUIRED: &str = "required";
}

/// `metadata`, which other systems of the merchant fill as they like.
#[derive(Default, Deserialize)]
#[serde(transparent)]
pub(super) struct Metadata(Value);

impl Metadata {
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    pub(super) fn uuid(&self, name: &str) -> Option<Uuid> {
        self.text(name)?.parse().ok()
    }

    /// Whether an authorization was made only for the shift of liability.
    pub(super) fn requires_shift(&self) -> bool {
        self.text(member::LIABILITY_SHIFT) == Some(member::REQUIRED)
    }
}

/// A reference, or what it refers to.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Expandable<T> {
    Whole(Box<T>),
    Reference(IgnoredAny),
}

impl<T> Expandable<T> {
    pub(super) fn whole(&self) -> Option<&T> {
        match self {
            Self::Whole(whole) => Some(whole),
            Self::Reference(_) => None,
        }
    }
}

#[derive(Deserialize)]
pub(super) struct PaymentIntent {
    pub(super) id: String,
    pub(super) status: IntentStatus,
    pub(super) amount: i64,
    #[serde(default)]
    pub(super) amount_capturable: Option<i64>,
    #[serde(default)]
    pub(super) amount_received: Option<i64>,
    #[serde(default)]
    pub(super) capture_method: Option<CaptureMethod>,
    pub(super) currency: String,
    #[serde(default)]
    pub(super) latest_charge: Option<Expandable<Charge>>,
    #[serde(default)]
    pub(super) last_payment_error: Option<Box<ApiError>>,
    #[serde(default)]
    pub(super) next_action: Option<NextAction>,
    #[serde(default)]
    pub(super) metadata: Metadata,
}

impl PaymentIntent {
    pub(super) fn charge(&self) -> Option<&Charge> {
        self.latest_charge.as_ref().and_then(Expandable::whole)
    }

    pub(super) fn card(&self) -> Option<&CardOfCharge> {
        self.charge()?.payment_method_details.as_ref()?.card.as_ref()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum IntentStatus {
    RequiresPaymentMethod,
    RequiresConfirmation,
    RequiresAction,
    Processing,
    RequiresCapture,
    Canceled,
    Succeeded,
    #[serde(other)]
    Other,
}

/// Who takes the money of a payment.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CaptureMethod {
    Manual,
    /// The provider: `automatic`, `automatic_async`.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
pub(super) struct NextAction {
    #[serde(default)]
    pub(super) redirect_to_url: Option<RedirectToUrl>,
    #[serde(default)]
    pub(super) boleto_display_details: Option<BoletoDetails>,
}

#[derive(Deserialize)]
pub(super) struct RedirectToUrl {
    pub(super) url: Option<String>,
    #[serde(default)]
    pub(super) return_url: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct BoletoDetails {
    #[serde(default)]
    pub(super) expires_at: Option<i64>,
    #[serde(default)]
    pub(super) hosted_voucher_url: Option<String>,
    #[serde(default)]
    pub(super) number: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Charge {
    #[serde(default)]
    pub(super) outcome: Option<ChargeOutcome>,
    #[serde(default)]
    pub(super) payment_method_details: Option<PaymentMethodDetails>,
    /// Only interfaces before 2022-11-15 send them.
    #[serde(default)]
    pub(super) refunds: Option<List<Refund>>,
}

#[derive(Deserialize)]
pub(super) struct ChargeOutcome {
    #[serde(default)]
    pub(super) network_status: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct PaymentMethodDetails {
    #[serde(default)]
    pub(super) card: Option<CardOfCharge>,
}

#[derive(Deserialize)]
pub(super) struct CardOfCharge {
    #[serde(default)]
    pub(super) authorization_code: Option<String>,
    #[serde(default)]
    pub(super) network_transaction_id: Option<String>,
    #[serde(default)]
    pub(super) three_d_secure: Option<ThreeDSecureOfCharge>,
}

#[derive(Deserialize)]
pub(super) struct ThreeDSecureOfCharge {
    #[serde(default)]
    pub(super) result: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct SetupIntent {
    pub(super) id: String,
    pub(super) status: IntentStatus,
    #[serde(default)]
    pub(super) last_setup_error: Option<Box<ApiError>>,
    #[serde(default)]
    pub(super) metadata: Metadata,
}

#[derive(Deserialize)]
pub(super) struct Refund {
    pub(super) id: String,
    pub(super) amount: i64,
    pub(super) currency: String,
    #[serde(default)]
    pub(super) status: Option<RefundStatus>,
    #[serde(default)]
    pub(super) payment_intent: Option<String>,
    #[serde(default)]
    pub(super) metadata: Metadata,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RefundStatus {
    Pending,
    RequiresAction,
    Succeeded,
    Failed,
    Canceled,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
pub(super) struct Dispute {
    pub(super) id: String,
    pub(super) amount: i64,
    pub(super) currency: String,
    pub(super) status: DisputeStatus,
    #[serde(default)]
    pub(super) payment_intent: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum DisputeStatus {
    Won,
    Lost,
    /// An inquiry ended without becoming a dispute.
    WarningClosed,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
pub(super) struct List<T> {
    /// What is no list of the provider has none.
    #[serde(rename = "object")]
    _kind: ListKind,
    pub(super) data: Vec<T>,
    #[serde(default)]
    pub(super) has_more: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ListKind {
    List,
    SearchResult,
}

#[derive(Deserialize)]
pub(super) struct ErrorBody {
    pub(super) error: ApiError,
}

/// An error of a request, or of an attempt to pay.
#[derive(Deserialize)]
pub(super) struct ApiError {
    #[serde(default, rename = "type")]
    pub(super) kind: Option<ErrorKind>,
    #[serde(default)]
    pub(super) code: Option<String>,
    #[serde(default)]
    pub(super) decline_code: Option<String>,
    #[serde(default)]
    pub(super) advice_code: Option<String>,
    #[serde(default)]
    pub(super) message: Option<String>,
    #[serde(default)]
    pub(super) param: Option<String>,
    #[serde(default)]
    pub(super) payment_intent: Option<Box<PaymentIntent>>,
    #[serde(default)]
    pub(super) setup_intent: Option<Box<SetupIntent>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ErrorKind {
    ApiError,
    CardError,
    IdempotencyError,
    InvalidRequestError,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
pub(super) struct Event {
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// Seconds since 1970.
    pub(super) created: i64,
    pub(super) data: EventData,
    #[serde(default)]
    pub(super) request: Option<Value>,
}

impl Event {
    /// The key of the call that caused it; `None` when another system, a person or the provider has caused it.
    pub(super) fn caused_by(&self) -> Option<Uuid> {
        self.request.as_ref()?.get("idempotency_key")?.as_str()?.parse().ok()
    }
}

#[derive(Deserialize)]
pub(super) struct EventData {
    pub(super) object: Value,
}
