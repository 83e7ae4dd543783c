//! The trait that every provider adapter implements, and the registry of adapters. Capabilities of providers are data
//! in the domain (`provider_type`).

use std::collections::HashMap;
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::StatusCode;
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::problems::Problems;
use regente_domain::provider_type::{ProviderType, validate_options};
use regente_domain::routing::Narrowed;
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::notification::{
    Authentic, NOTIFICATION_BYTES_MAX, Notification, NotificationRefusal, NotificationRequest, ProviderEvent,
};
use crate::outcome::{Answer, Probe, UnknownReason};
use crate::request::{Call, CardDetails, Credentials, Inquiry, Mode, OperationKind};
use crate::seller::{SellerAnswer, SellerCall};
use crate::staged::{StageRefusal, StagedEvent};

/// The adapter of one provider type.
pub trait Provider: Send + Sync {
    /// Carries the operation out once per key, however often it is called. It has no time limit of its own:
    /// [`Providers`] cancels it at [`Self::deadline`].
    fn call(&self, call: Call) -> BoxFuture<'_, Answer>;

    /// Reports the outcome of the call with this key.
    fn probe(&self, inquiry: Inquiry) -> BoxFuture<'_, Probe>;

    /// Whether a probe tells of a call at any time, also of one that was answered long ago.
    fn can_be_asked(&self) -> bool {
        true
    }

    /// Makes happen what a tester stages; only at a simulator.
    fn stage(&self, _: StagedEvent) -> BoxFuture<'_, Result<(), StageRefusal>> {
        Box::pin(async { Err(StageRefusal::NoSimulator) })
    }

    /// How long a caller waits for this operation before its outcome counts as unknown.
    fn deadline(&self, operation: OperationKind) -> Duration;

    /// How long a caller waits for the answer to a probe.
    fn probe_deadline(&self) -> Duration;

    /// Authenticates a notification over the bytes of its body, in constant time.
    fn authenticate(&self, _: &NotificationRequest<'_>) -> Result<Authentic, NotificationRefusal> {
        Err(NotificationRefusal::NotSupported)
    }

    /// Reads the events of a notification that was authentic when it arrived.
    fn events(&self, _: &Notification<'_>) -> Result<Vec<ProviderEvent>, NotificationRefusal> {
        Err(NotificationRefusal::NotSupported)
    }

    /// Checks the options that are specific to this provider and returns the capabilities that they remove. `path` is
    /// where the options are in the request.
    fn validate_options(&self, _: &Map<String, Value>, _path: &str) -> Result<Narrowed, Problems> {
        Ok(Narrowed::default())
    }

    /// Whether an authorization of a card is to carry the customer of the charge.
    fn wants_buyer(&self) -> bool {
        false
    }

    /// Checks the credentials by a call that has no effect, when a merchant registers them.
    fn check_credentials(
        &self,
        _: CredentialsCheck,
    ) -> BoxFuture<'_, Result<NotRefused, CredentialsRefusal>> {
        Box::pin(async { Ok(NotRefused::NotAsked) })
    }

    /// Registers a seller, tells of its changes or asks how it stands; once per key, however often it is called.
    fn ask_about_seller(&self, _: SellerCall) -> BoxFuture<'_, SellerAnswer> {
        Box::pin(async { SellerAnswer::NotSupported })
    }

    /// How long a caller waits for the answer to a question about a seller.
    fn seller_deadline(&self) -> Duration {
        self.probe_deadline()
    }

    /// A card that the provider's test environment approves.
    fn test_card(&self) -> Option<CardDetails> {
        None
    }

    /// Whether the provider notifies of a card's authorization that it has answered.
    fn notifies_of_answers(&self) -> bool {
        true
    }

    /// Whether an unanswered call counts against the provider in its circuit. It does not when the call itself asked a
    /// test provider not to answer.
    fn silence_counts(&self, _: &Call) -> bool {
        true
    }

    /// `networkDeniedReason` of a request that was not answered and that a probe proved to have had no effect.
    fn unanswered_reason(&self) -> &'static str {
        UNANSWERED
    }
}

/// Credentials that a merchant registers.
#[derive(Debug)]
pub struct CredentialsCheck {
    /// The credentials, in the clear.
    pub credentials: Credentials,
    /// `providers[].options`, as they will be registered.
    pub options: Map<String, Value>,
    /// The provider's environment that is asked.
    pub mode: Mode,
}

/// What is known of credentials that are not refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotRefused {
    /// The provider has answered a call with them.
    Accepted,
    /// The provider was not reached, or did not answer in time: nothing is known.
    NotReached,
    /// The provider answered that it fails, or that it is asked too often: nothing is known.
    NotTold,
    /// The adapter has no call for that.
    NotAsked,
}

impl NotRefused {
    /// What an answer with this status tells that refuses nothing.
    pub fn told_by(status: StatusCode) -> Self {
        match status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            true => Self::NotTold,
            false => Self::Accepted,
        }
    }
}

/// Why credentials are not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialsRefusal {
    /// The member of `credentials` that is wrong.
    pub member: &'static str,
    /// What is wrong with it, for people: `is not accepted by the provider`.
    pub problem: &'static str,
}

/// [`Provider::unanswered_reason`] of a provider that defines none.
const UNANSWERED: &str = "timeout";

/// An adapter and the provider type that it serves.
pub type Adapter = (ProviderType, Box<dyn Provider>);

/// The provider adapters of this build, by provider type.
pub struct Providers {
    adapters: HashMap<ProviderType, Box<dyn Provider>>,
}

impl Providers {
    /// Registers exactly these adapters.
    pub fn with(adapters: impl IntoIterator<Item = Adapter>) -> Self {
        Self { adapters: adapters.into_iter().collect() }
    }

    /// How long this operation may take at a provider of this type; zero without an adapter.
    pub fn deadline(&self, provider_type: ProviderType, operation: OperationKind) -> Duration {
        self.adapter(provider_type).map_or(Duration::ZERO, |provider| provider.deadline(operation))
    }

    /// Calls the provider and waits no longer than its deadline. Dropping the future does not undo the call; to survive
    /// a caller that hangs up, run it in its own task. Without an adapter the call is declined: a call that may have been
    /// sent before must not come here then ([`Self::has_adapter`]).
    pub fn call(&self, call: Call) -> impl Future<Output = Answer> + Send + '_ {
        let provider_type = call.provider_type;
        // The adapter's future owns the call; capturing it here as well would store it twice.
        let answering = self.adapter(provider_type).map(|provider| {
            let deadline = provider.deadline(call.operation.kind());
            (deadline, provider.call(call))
        });
        async move {
            let Some((deadline, answering)) = answering else {
                return Answer::Declined(no_adapter(provider_type));
            };
            match timeout(deadline, answering).await {
                Ok(answer) => answer,
                Err(_elapsed) => Answer::Unknown(UnknownReason::TimedOut),
            }
        }
    }

    /// Probes an earlier call and waits no longer than the provider's deadline.
    pub async fn probe(&self, inquiry: Inquiry) -> Probe {
        // Another release, which has the adapter, may have sent the call.
        let Some(provider) = self.adapter(inquiry.provider_type) else {
            return Probe::Unknown;
        };
        match timeout(provider.probe_deadline(), provider.probe(inquiry)).await {
            Ok(probe) => probe,
            Err(_elapsed) => Probe::Unknown,
        }
    }

    /// Makes happen what a tester stages at the simulator of this type.
    ///
    /// # Errors
    /// What [`StageRefusal`] says.
    pub async fn stage(&self, provider_type: ProviderType, event: StagedEvent) -> Result<(), StageRefusal> {
        let provider = self.adapter(provider_type).ok_or(StageRefusal::NoSimulator)?;
        let staged = timeout(provider.probe_deadline(), provider.stage(event)).await;
        staged.unwrap_or(Err(StageRefusal::Unanswered))
    }

    /// Authenticates a notification of a provider of this type.
    ///
    /// # Errors
    /// [`NotificationRefusal`]: the notification is rejected, and nothing of it is stored.
    pub fn authenticate(
        &self,
        provider_type: ProviderType,
        request: &NotificationRequest<'_>,
    ) -> Result<Authentic, NotificationRefusal> {
        let provider = self.adapter(provider_type).ok_or(NotificationRefusal::NotSupported)?;
        if request.body.len() > NOTIFICATION_BYTES_MAX {
            return Err(NotificationRefusal::TooLong);
        }
        provider.authenticate(request)
    }

    /// Reads the events of a stored notification of a provider of this type.
    ///
    /// # Errors
    /// [`NotificationRefusal`]: this release does not understand the notification.
    pub fn events(
        &self,
        provider_type: ProviderType,
        notification: &Notification<'_>,
    ) -> Result<Vec<ProviderEvent>, NotificationRefusal> {
        self.adapter(provider_type).ok_or(NotificationRefusal::NotSupported)?.events(notification)
    }

    /// Checks the options of a provider and returns the form in which they are stored. `path` is where they are in the
    /// request, for example `providers.0.options`.
    ///
    /// # Errors
    /// All problems of the options.
    pub fn validate_options(
        &self,
        provider_type: ProviderType,
        options: &Map<String, Value>,
        path: &str,
    ) -> Result<Map<String, Value>, Problems> {
        let mut problems = Problems::new();
        if let Some(provider) = self.adapter(provider_type) {
            // The shared schema has checked `type` already; a second check would report the same problem twice.
            let mut own = options.clone();
            own.shift_remove("type");
            problems.extend(provider.validate_options(&own, path).err().unwrap_or_default());
        }
        match validate_options(provider_type, options, path) {
            Ok(stored) => problems.into_result().map(|()| stored),
            Err(of_form) => {
                problems.extend(of_form);
                Err(problems)
            }
        }
    }

    /// The capabilities that the stored options of a provider remove. Stored options that break a newer rule remove
    /// none.
    pub fn narrowed(&self, provider_type: ProviderType, options: &Map<String, Value>) -> Narrowed {
        let narrowed =
            self.adapter(provider_type).map(|provider| provider.validate_options(options, "options"));
        narrowed.and_then(Result::ok).unwrap_or_default()
    }

    /// Whether an authorization of a card at a provider of this type is to carry the customer of the charge.
    pub fn wants_buyer(&self, provider_type: ProviderType) -> bool {
        self.adapter(provider_type).is_some_and(Provider::wants_buyer)
    }

    /// Checks credentials that a merchant registers. A provider that does not answer in time refuses none.
    ///
    /// # Errors
    /// [`CredentialsRefusal`]: the provider does not know them.
    pub async fn check_credentials(
        &self,
        provider_type: ProviderType,
        check: CredentialsCheck,
    ) -> Result<NotRefused, CredentialsRefusal> {
        let Some(provider) = self.adapter(provider_type) else { return Ok(NotRefused::NotAsked) };
        let checked = timeout(provider.probe_deadline(), provider.check_credentials(check)).await;
        checked.unwrap_or(Ok(NotRefused::NotReached))
    }

    /// A card that the test environment of this provider type approves, if one is known.
    pub fn test_card(&self, provider_type: ProviderType) -> Option<CardDetails> {
        self.adapter(provider_type)?.test_card()
    }

    /// Whether a provider of this type notifies of a card's authorization that it has answered.
    pub fn notifies_of_answers(&self, provider_type: ProviderType) -> bool {
        self.adapter(provider_type).is_some_and(Provider::notifies_of_answers)
    }

    /// Whether an unanswered call counts against the provider in its circuit.
    pub fn silence_counts(&self, call: &Call) -> bool {
        self.adapter(call.provider_type).is_none_or(|provider| provider.silence_counts(call))
    }

    /// `networkDeniedReason` of a request that was not answered and that a probe proved to have had no effect.
    pub fn unanswered_reason(&self, provider_type: ProviderType) -> &'static str {
        self.adapter(provider_type).map_or(UNANSWERED, Provider::unanswered_reason)
    }

    /// Whether a probe tells of a call at any time.
    pub fn can_be_asked(&self, provider_type: ProviderType) -> bool {
        self.adapter(provider_type).is_some_and(Provider::can_be_asked)
    }

    /// Whether this build has an adapter for the provider type.
    pub fn has_adapter(&self, provider_type: ProviderType) -> bool {
        self.adapters.contains_key(&provider_type)
    }

    pub(crate) fn adapter(&self, provider_type: ProviderType) -> Option<&dyn Provider> {
        self.adapters.get(&provider_type).map(AsRef::as_ref)
    }

    /// Asks a provider about a seller and waits no longer than its deadline.
    pub async fn ask_about_seller(&self, call: SellerCall) -> SellerAnswer {
        let Some(provider) = self.adapter(call.provider_type) else { return SellerAnswer::NotSupported };
        match timeout(provider.seller_deadline(), provider.ask_about_seller(call)).await {
            Ok(answer) => answer,
            Err(_elapsed) => SellerAnswer::Unanswered,
        }
    }
}

/// Any provider type can be registered; one without an adapter declines, and routing goes on to the next provider
/// (`docs/interface/provider-types.md#adapters`).
fn no_adapter(provider_type: ProviderType) -> Decline {
    let decline = Decline::of(DeclinedCode::InvalidMerchant);
    Decline {
        retryable: true,
        network_denied_reason: Some(format!("no adapter for {}", provider_type.code())),
        network_denied_message: Some(decline.message.clone()),
        ..decline
    }
}
