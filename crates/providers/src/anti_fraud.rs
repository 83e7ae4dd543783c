//! Risk analysis: the requests to anti-fraud providers, their verdicts, and the registry of their adapters. The domain
//! decides whether a charge is analysed and what follows a verdict.

use std::collections::HashMap;
use std::time::Duration;

use regente_domain::charge::PaymentMethod;
use regente_domain::currency::Currency;
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use serde_json::{Map, Number, Value};
use tokio::time::timeout;
use uuid::Uuid;

use crate::provider::BoxFuture;
use crate::request::{Credentials, Instrument, Mode, TestOverrides};

/// The adapter of one type of anti-fraud provider.
pub trait AntiFraud: Send + Sync {
    /// Analyses a charge once per key; a repetition with the same key returns the same verdict. A provider that decides
    /// later answers [`Verdict::Pending`].
    fn analyse(&self, analysis: Analysis) -> BoxFuture<'_, Verdict>;

    /// The verdict of an analysis that was pending.
    fn result(&self, inquiry: AnalysisInquiry) -> BoxFuture<'_, Verdict>;

    /// How long a caller waits for [`Self::analyse`] and for [`Self::result`].
    fn deadline(&self) -> Duration;
}

/// The anti-fraud provider that a merchant has registered.
#[derive(Debug)]
pub struct Analyst {
    /// Which adapter serves it.
    pub provider_type: ProviderType,
    /// The merchant's credentials at the provider.
    pub credentials: Credentials,
    /// `providers[].options`, as registered; they name the product.
    pub options: Map<String, Value>,
    /// The provider's environment that is called.
    pub mode: Mode,
    /// Simulator overrides of this request.
    pub test_overrides: Option<TestOverrides>,
}

/// A request to analyse the risk of a charge.
#[derive(Debug)]
pub struct Analysis {
    /// Our key of the analysis, the same on every repetition.
    pub key: Uuid,
    /// When the analysis is requested, by the caller's clock.
    pub at: Timestamp,
    /// The provider that analyses.
    pub analyst: Analyst,
    /// The charged amount, in minor units.
    pub amount: Amount,
    /// ISO 4217 currency of `amount`.
    pub currency: Currency,
    /// How the buyer pays.
    pub method: PaymentMethod,
    /// The merchant's own reference.
    pub order_id: Option<String>,
    /// What is charged, in the clear.
    pub instrument: Instrument,
    /// `fraudAnalysis`, as the merchant sent it.
    pub fraud_analysis: Map<String, Value>,
}

/// A request for the result of a pending analysis.
#[derive(Debug)]
pub struct AnalysisInquiry {
    /// The key of the analysis.
    pub key: Uuid,
    /// The provider's own id of the analysis, when it gave one.
    pub reference: Option<String>,
    /// When the analysis was requested, by the caller's clock.
    pub sent_at: Timestamp,
    /// The provider that analyses.
    pub analyst: Analyst,
}

/// The result of an analysis. Only `Approved` and `Reproved` decide about the charge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The risk is acceptable.
    Approved {
        /// On the provider's own scale.
        score: Option<Number>,
    },
    /// The risk is too high.
    Reproved {
        /// On the provider's own scale.
        score: Option<Number>,
    },
    /// The provider decides later.
    Pending {
        /// The provider's own id of the analysis.
        reference: Option<String>,
    },
    /// The analysis ended without a verdict.
    Failed(AnalysisFailure),
}

/// Why an analysis ended without a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnalysisFailure {
    /// The provider did not answer within its deadline.
    TimedOut,
    /// This build has no adapter for the provider type.
    NoAdapter,
    /// The provider could not be reached, or it reported an error.
    Provider {
        /// Error code, for programs.
        reason: String,
        /// Error message, for people.
        message: String,
    },
}

/// The anti-fraud adapters of this build, by provider type.
pub struct AntiFraudProviders(HashMap<ProviderType, Box<dyn AntiFraud>>);

impl AntiFraudProviders {
    /// Registers exactly these adapters.
    pub fn with(adapters: impl IntoIterator<Item = (ProviderType, Box<dyn AntiFraud>)>) -> Self {
        Self(adapters.into_iter().collect())
    }

    /// Requests an analysis and waits no longer than the provider's deadline.
    pub async fn analyse(&self, analysis: Analysis) -> Verdict {
        self.ask(analysis.analyst.provider_type, |adapter| adapter.analyse(analysis)).await
    }

    /// Requests the result of a pending analysis and waits no longer than the provider's deadline.
    pub async fn result(&self, inquiry: AnalysisInquiry) -> Verdict {
        self.ask(inquiry.analyst.provider_type, |adapter| adapter.result(inquiry)).await
    }

    async fn ask<'a>(
        &'a self,
        provider_type: ProviderType,
        question: impl FnOnce(&'a dyn AntiFraud) -> BoxFuture<'a, Verdict>,
    ) -> Verdict {
        let Some(adapter) = self.0.get(&provider_type) else {
            return Verdict::Failed(AnalysisFailure::NoAdapter);
        };
        match timeout(adapter.deadline(), question(adapter.as_ref())).await {
            Ok(verdict) => verdict,
            Err(_elapsed) => Verdict::Failed(AnalysisFailure::TimedOut),
        }
    }
}
