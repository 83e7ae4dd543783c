//! Risk analysis: the requests to anti-fraud providers, their verdicts, and the registry of their adapters. The domain
//! decides whether a charge is analysed and what follows a verdict.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::future::BoxFuture;
use regente_domain::charge::{ChargeStatus, PaymentMethod};
use regente_domain::currency::Currency;
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};
use tokio::time::timeout;
use uuid::Uuid;

use crate::outcome::UnknownReason;
use crate::request::{Credentials, Instrument, Mode, TestOverrides};

/// The adapter of one type of anti-fraud provider.
pub trait AntiFraud: Send + Sync {
    /// Analyses a charge once per key; a repetition with the same key returns the same verdict. A provider that decides
    /// later answers [`Verdict::Pending`].
    fn analyse(&self, analysis: Analysis) -> BoxFuture<'_, Verdict>;

    /// The verdict of an analysis that was pending; an error when the provider does not tell.
    fn result(&self, inquiry: AnalysisInquiry) -> BoxFuture<'_, Result<Verdict, AnalysisFailure>>;

    /// Takes note of a charge that ended without an analysis, once per key.
    fn feed(&self, feeding: Feeding) -> BoxFuture<'_, Result<(), AnalysisFailure>>;

    /// How long a caller waits for each of them.
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

/// A charge that ended without an analysis.
#[derive(Debug)]
pub struct Feeding {
    /// Our key of the feeding, the same on every repetition.
    pub key: Uuid,
    /// When it is sent, by the caller's clock.
    pub at: Timestamp,
    /// The provider that is told.
    pub analyst: Analyst,
    /// How the charge ended.
    pub status: ChargeStatus,
    /// What the merchant keeps, in minor units.
    pub amount: Amount,
    /// ISO 4217 currency of `amount`.
    pub currency: Currency,
    /// How the buyer pays.
    pub method: PaymentMethod,
    /// The merchant's own reference.
    pub order_id: Option<String>,
    /// `fraudAnalysis`, as the merchant sent it; empty when it sent none.
    pub fraud_analysis: Map<String, Value>,
}

/// The result of an analysis. Only `Approved` and `Reproved` decide about the charge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

impl AnalysisFailure {
    /// An error that the provider reported.
    pub fn reported(reason: &str) -> Self {
        Self::Provider { reason: reason.to_owned(), message: "The analysis failed".to_owned() }
    }

    /// A call that brought no answer.
    pub fn of(reason: UnknownReason) -> Self {
        match reason {
            UnknownReason::TimedOut => Self::TimedOut,
            UnknownReason::ConnectionLost => Self::reported("connection_lost"),
            UnknownReason::ProviderFailed | UnknownReason::Unreadable => Self::reported("processing_error"),
        }
    }
}

/// An adapter and the provider type that it serves.
pub type AntiFraudAdapter = (ProviderType, Box<dyn AntiFraud>);

/// The anti-fraud adapters of this build, by provider type.
pub struct AntiFraudProviders(HashMap<ProviderType, Box<dyn AntiFraud>>);

impl AntiFraudProviders {
    /// Registers exactly these adapters.
    pub fn with(adapters: impl IntoIterator<Item = AntiFraudAdapter>) -> Self {
        Self(adapters.into_iter().collect())
    }

    /// Requests an analysis and waits no longer than the provider's deadline.
    pub async fn analyse(&self, analysis: Analysis) -> Verdict {
        let asked = self.within_deadline(analysis.analyst.provider_type, |adapter| adapter.analyse(analysis));
        asked.await.unwrap_or_else(Verdict::Failed)
    }

    /// Requests the result of a pending analysis and waits no longer than the provider's deadline.
    ///
    /// # Errors
    /// [`AnalysisFailure`]: the provider has not told whether there is a verdict.
    pub async fn result(&self, inquiry: AnalysisInquiry) -> Result<Verdict, AnalysisFailure> {
        let asked = self.within_deadline(inquiry.analyst.provider_type, |adapter| adapter.result(inquiry));
        asked.await.flatten()
    }

    /// Tells the provider of a charge that it did not analyse and waits no longer than its deadline.
    ///
    /// # Errors
    /// [`AnalysisFailure`]: the provider may not know of the charge.
    pub async fn feed(&self, feeding: Feeding) -> Result<(), AnalysisFailure> {
        let asked = self.within_deadline(feeding.analyst.provider_type, |adapter| adapter.feed(feeding));
        asked.await.flatten()
    }

    /// How long an analysis may take at a provider of this type; zero without an adapter.
    pub fn deadline(&self, provider_type: ProviderType) -> Duration {
        self.0.get(&provider_type).map_or(Duration::ZERO, |adapter| adapter.deadline())
    }

    async fn within_deadline<'a, T>(
        &'a self,
        provider_type: ProviderType,
        question: impl FnOnce(&'a dyn AntiFraud) -> BoxFuture<'a, T>,
    ) -> Result<T, AnalysisFailure> {
        let Some(adapter) = self.0.get(&provider_type) else {
            return Err(AnalysisFailure::NoAdapter);
        };
        timeout(adapter.deadline(), question(adapter.as_ref()))
            .await
            .map_err(|_elapsed| AnalysisFailure::TimedOut)
    }
}
