//! A provider behind a fuse: the process may stop before it is called, and before its answer is read.

use std::time::Duration;

use futures_util::future::BoxFuture;
use regente_domain::problems::Problems;
use regente_domain::routing::Narrowed;
use regente_providers::notification::{
    Authentic, Notification, NotificationRefusal, NotificationRequest, ProviderEvent,
};
use regente_providers::outcome::{Answer, Probe};
use regente_providers::provider::{Adapter, CredentialsCheck, CredentialsRefusal, NotRefused, Provider};
use regente_providers::request::{Call, CardDetails, Inquiry, OperationKind};
use regente_providers::seller::{SellerAnswer, SellerCall};
use regente_store::testing::Fuse;
use serde_json::{Map, Value};

struct Fused {
    provider: Box<dyn Provider>,
    fuse: Fuse,
}

/// The adapter with the fuse around its calls and probes.
pub fn fused((provider_type, provider): Adapter, fuse: &Fuse) -> Adapter {
    (provider_type, Box::new(Fused { provider, fuse: fuse.clone() }))
}

impl Provider for Fused {
    fn call(&self, call: Call) -> BoxFuture<'_, Answer> {
        Box::pin(async {
            self.fuse.step().await;
            let answer = self.provider.call(call).await;
            self.fuse.step().await;
            answer
        })
    }

    fn probe(&self, inquiry: Inquiry) -> BoxFuture<'_, Probe> {
        Box::pin(async {
            self.fuse.step().await;
            let probe = self.provider.probe(inquiry).await;
            self.fuse.step().await;
            probe
        })
    }

    fn ask_about_seller(&self, call: SellerCall) -> BoxFuture<'_, SellerAnswer> {
        Box::pin(async {
            self.fuse.step().await;
            let answer = self.provider.ask_about_seller(call).await;
            self.fuse.step().await;
            answer
        })
    }

    fn can_be_asked(&self) -> bool {
        self.provider.can_be_asked()
    }

    fn seller_deadline(&self) -> Duration {
        self.provider.seller_deadline()
    }

    fn deadline(&self, operation: OperationKind) -> Duration {
        self.provider.deadline(operation)
    }

    fn probe_deadline(&self) -> Duration {
        self.provider.probe_deadline()
    }

    fn authenticate(&self, request: &NotificationRequest<'_>) -> Result<Authentic, NotificationRefusal> {
        self.provider.authenticate(request)
    }

    fn events(&self, notification: &Notification<'_>) -> Result<Vec<ProviderEvent>, NotificationRefusal> {
        self.provider.events(notification)
    }

    fn validate_options(&self, options: &Map<String, Value>, path: &str) -> Result<Narrowed, Problems> {
        self.provider.validate_options(options, path)
    }

    fn wants_buyer(&self) -> bool {
        self.provider.wants_buyer()
    }

    fn check_credentials(
        &self,
        check: CredentialsCheck,
    ) -> BoxFuture<'_, Result<NotRefused, CredentialsRefusal>> {
        self.provider.check_credentials(check)
    }

    fn test_card(&self) -> Option<CardDetails> {
        self.provider.test_card()
    }

    fn notifies_of_answers(&self) -> bool {
        self.provider.notifies_of_answers()
    }

    fn silence_counts(&self, call: &Call) -> bool {
        self.provider.silence_counts(call)
    }

    fn unanswered_reason(&self) -> &'static str {
        self.provider.unanswered_reason()
    }
}
