//! What every provider has, and the one door to all of them. What a provider can do is data in the domain
//! (`provider_type`), not code here.

use std::collections::HashMap;
use std::pin::Pin;
use std::time::Duration;

use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::problems::Problems;
use regente_domain::provider_type::{ProviderType, validate_options};
use regente_domain::routing::Narrowed;
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::notification::{NOTIFICATION_BYTES_MAX, NotificationRefusal, NotificationRequest, ProviderEvent};
use crate::outcome::{Answer, Probe, UnknownReason};
use crate::request::{Call, Inquiry, OperationKind};

/// A future that a `dyn` [`Provider`] can return.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The adapter of one provider type.
pub trait Provider: Send + Sync {
    /// Does the operation once, however often it is called with the same key. It may take as long as it likes:
    /// [`Providers`] cuts it at [`Self::deadline`].
    fn call(&self, call: Call) -> BoxFuture<'_, Answer>;

    /// Says what became of the call with this key.
    fn probe(&self, inquiry: Inquiry) -> BoxFuture<'_, Probe>;

    /// How long a caller waits for the answer to such an operation before it counts as unknown.
    fn deadline(&self, operation: OperationKind) -> Duration;

    /// How long a caller waits for the answer to a probe.
    fn probe_deadline(&self) -> Duration;

    /// Authenticates what the provider sent by itself, and reads the events in it.
    fn notification(&self, _: &NotificationRequest<'_>) -> Result<Vec<ProviderEvent>, NotificationRefusal> {
        Err(NotificationRefusal::NotSupported)
    }

    /// Checks the members of a registration's options that only this provider understands, and says what they take
    /// away from what its type can do. `path` is where the options stand in the request.
    fn validate_options(&self, _: &Map<String, Value>, _path: &str) -> Result<Narrowed, Problems> {
        Ok(Narrowed::default())
    }

    /// Whether it counts against the provider's health when this call is not answered. It does not when the call itself
    /// asked a test provider for silence.
    fn silence_counts(&self, _: &Call) -> bool {
        true
    }

    /// `networkDeniedReason` of a request that was not answered and is proved to have had no effect.
    fn unanswered_reason(&self) -> &'static str {
        UNANSWERED
    }
}

/// [`Provider::unanswered_reason`] of a provider that has no word of its own for it.
const UNANSWERED: &str = "timeout";

/// An adapter and the provider type that it serves.
pub type Adapter = (ProviderType, Box<dyn Provider>);

/// The adapters that this build has.
pub struct Providers {
    adapters: HashMap<ProviderType, Box<dyn Provider>>,
}

impl Providers {
    /// These adapters and no others.
    pub fn with(adapters: impl IntoIterator<Item = Adapter>) -> Self {
        Self { adapters: adapters.into_iter().collect() }
    }

    /// How long such an operation may take at a provider of this type. What has no adapter answers at once.
    pub fn deadline(&self, provider_type: ProviderType, operation: OperationKind) -> Duration {
        self.adapter(provider_type).map_or(Duration::ZERO, |provider| provider.deadline(operation))
    }

    /// Calls the provider and waits no longer than its deadline. Dropping the future does not undo the call: to
    /// survive a caller that goes away, it must run in a task of its own.
    pub fn call(&self, call: Call) -> impl Future<Output = Answer> + Send + '_ {
        let provider_type = call.provider_type;
        // The adapter's future has the call: ours would hold it once more.
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

    /// Asks the provider what became of an earlier call, and waits no longer than its deadline.
    pub async fn probe(&self, inquiry: Inquiry) -> Probe {
        // What has no adapter was never sent anything.
        let Some(provider) = self.adapter(inquiry.provider_type) else {
            return Probe::Absent;
        };
        match timeout(provider.probe_deadline(), provider.probe(inquiry)).await {
            Ok(probe) => probe,
            Err(_elapsed) => Probe::Unknown,
        }
    }

    /// Authenticates what a provider of this type sent by itself, and reads the events in it.
    ///
    /// # Errors
    /// Nothing of what was sent may be used: [`NotificationRefusal`] says why.
    pub fn notification(
        &self,
        provider_type: ProviderType,
        request: &NotificationRequest<'_>,
    ) -> Result<Vec<ProviderEvent>, NotificationRefusal> {
        let provider = self.adapter(provider_type).ok_or(NotificationRefusal::NotSupported)?;
        if request.body.len() > NOTIFICATION_BYTES_MAX {
            return Err(NotificationRefusal::TooLong);
        }
        provider.notification(request)
    }

    /// Checks the options sent for a provider and gives the form in which they are stored. `path` is where they stand
    /// in the request, for example `providers.0.options`.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn validate_options(
        &self,
        provider_type: ProviderType,
        options: &Map<String, Value>,
        path: &str,
    ) -> Result<Map<String, Value>, Problems> {
        let mut problems = Problems::new();
        if let Some(provider) = self.adapter(provider_type) {
            // `type` is checked with the form; checked twice, it would be complained of twice.
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

    /// What the stored options of a provider take away from what its type can do. Options that were stored before a
    /// rule was added, and break it, take nothing away.
    pub fn narrowed(&self, provider_type: ProviderType, options: &Map<String, Value>) -> Narrowed {
        let narrowed =
            self.adapter(provider_type).map(|provider| provider.validate_options(options, "options"));
        narrowed.and_then(Result::ok).unwrap_or_default()
    }

    /// Whether it counts against the provider's health when this call is not answered.
    pub fn silence_counts(&self, call: &Call) -> bool {
        self.adapter(call.provider_type).is_none_or(|provider| provider.silence_counts(call))
    }

    /// `networkDeniedReason` of a request that was not answered and is proved to have had no effect.
    pub fn unanswered_reason(&self, provider_type: ProviderType) -> &'static str {
        self.adapter(provider_type).map_or(UNANSWERED, Provider::unanswered_reason)
    }

    fn adapter(&self, provider_type: ProviderType) -> Option<&dyn Provider> {
        self.adapters.get(&provider_type).map(AsRef::as_ref)
    }
}

/// Every code of the closed list may be registered; one without an adapter refuses, and routing goes on
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
