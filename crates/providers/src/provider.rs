//! What every provider has, and the one door to all of them. What a provider can do is data in the domain
//! (`provider_type`), not code here.

use std::collections::HashMap;
use std::pin::Pin;
use std::time::Duration;

use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::provider_type::ProviderType;
use tokio::time::timeout;

use crate::outcome::{Answer, Probe, UnknownReason};
use crate::request::{Call, Inquiry, OperationKind};
use crate::sandbox::{Books, Sandbox};

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

    /// The books of a simulator that keeps them in this process; a real provider shows nobody its own.
    fn books(&self) -> Option<Books> {
        None
    }
}

/// The adapters that this build has.
pub struct Providers {
    adapters: HashMap<ProviderType, Box<dyn Provider>>,
}

impl Providers {
    /// Every adapter, with the simulator as configured.
    pub fn new(sandbox: Sandbox) -> Self {
        Self::with([(ProviderType::Sandbox, Box::new(sandbox) as Box<dyn Provider>)])
    }

    /// These adapters and no others.
    pub fn with(adapters: impl IntoIterator<Item = (ProviderType, Box<dyn Provider>)>) -> Self {
        Self { adapters: adapters.into_iter().collect() }
    }

    /// The books of the simulator, where this process keeps them.
    pub fn sandbox_books(&self) -> Option<Books> {
        self.adapters.get(&ProviderType::Sandbox).and_then(|sandbox| sandbox.books())
    }

    /// How long such an operation may take at a provider of this type. What has no adapter answers at once.
    pub fn deadline(&self, provider_type: ProviderType, operation: OperationKind) -> Duration {
        self.adapters.get(&provider_type).map_or(Duration::ZERO, |provider| provider.deadline(operation))
    }

    /// Calls the provider and waits no longer than its deadline. Dropping the future does not undo the call: to
    /// survive a caller that goes away, it must run in a task of its own.
    pub fn call(&self, call: Call) -> impl Future<Output = Answer> + Send + '_ {
        let provider_type = call.provider_type;
        // The adapter's future has the call: ours would hold it once more.
        let answering = self.adapters.get(&provider_type).map(|provider| {
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
        let Some(provider) = self.adapters.get(&inquiry.provider_type) else {
            return Probe::Absent;
        };
        match timeout(provider.probe_deadline(), provider.probe(inquiry)).await {
            Ok(probe) => probe,
            Err(_elapsed) => Probe::Unknown,
        }
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
