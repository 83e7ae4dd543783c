//! Risk analysis: what an anti-fraud provider is asked about a charge, its verdicts, and the one door to all of its
//! adapters. Whether a charge is analysed, and what follows a verdict, never lives here.

use std::collections::HashMap;
use std::time::Duration;

use regente_domain::charge::PaymentType;
use regente_domain::currency::Currency;
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use serde_json::{Map, Number, Value};
use tokio::time::timeout;
use uuid::Uuid;

use crate::provider::BoxFuture;
use crate::request::{CardDetails, Credentials, Mode, TestOverrides};

/// The adapter of one type of anti-fraud provider.
pub trait AntiFraud: Send + Sync {
    /// Analyses a charge once, however often it is asked with the same key. A product that decides later answers
    /// [`Verdict::Pending`].
    fn analyse(&self, analysis: Analysis) -> BoxFuture<'_, Verdict>;

    /// The verdict of an analysis that was pending.
    fn result(&self, inquiry: AnalysisInquiry) -> BoxFuture<'_, Verdict>;

    /// How long a caller waits for either.
    fn deadline(&self) -> Duration;
}

/// An anti-fraud provider of the merchant.
#[derive(Debug)]
pub struct Analyst {
    /// Which adapter serves it.
    pub provider_type: ProviderType,
    /// How the merchant is known to the provider.
    pub credentials: Credentials,
    /// `providers[].options`, as registered: the product among them.
    pub options: Map<String, Value>,
    /// Which of the provider's environments is meant.
    pub mode: Mode,
    /// What a tester asks of a test provider for this request.
    pub test_overrides: Option<TestOverrides>,
}

/// A charge whose risk is to be analysed.
#[derive(Debug)]
pub struct Analysis {
    /// Our own key of the analysis: the same on every repetition.
    pub key: Uuid,
    /// When it is asked for, by the caller's clock.
    pub at: Timestamp,
    /// Who analyses.
    pub analyst: Analyst,
    /// How much is charged, in minor units.
    pub amount: Amount,
    /// In which currency.
    pub currency: Currency,
    /// How the buyer pays.
    pub payment_type: PaymentType,
    /// Number of installments, 1 for a single payment.
    pub installments: u8,
    /// The merchant's own reference.
    pub order_id: Option<String>,
    /// The card, where the buyer pays with one.
    pub card: Option<CardDetails>,
    /// `fraudAnalysis`, as the merchant sent it.
    pub fraud_analysis: Map<String, Value>,
}

/// The question how a pending analysis ended.
#[derive(Debug)]
pub struct AnalysisInquiry {
    /// The key of the analysis.
    pub key: Uuid,
    /// The provider's own id of it, when it gave one.
    pub reference: Option<String>,
    /// When the analysis was asked for, by the caller's clock.
    pub sent_at: Timestamp,
    /// Who analyses.
    pub analyst: Analyst,
}

/// What an analysis says. Only the first two decide anything.
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
    /// The verdict comes later.
    Pending {
        /// The provider's own id of the analysis.
        reference: Option<String>,
    },
    /// There is no verdict.
    Failed(AnalysisFailure),
}

/// Why there is no verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnalysisFailure {
    /// None came within the provider's deadline.
    TimedOut,
    /// This build cannot speak with providers of this type.
    NoAdapter,
    /// The provider could not be reached, or failed, and says so in its own words.
    Provider {
        /// A word for programs.
        reason: String,
        /// A sentence for people.
        message: String,
    },
}

/// The adapters of risk analysis that this build has.
pub struct AntiFraudProviders(HashMap<ProviderType, Box<dyn AntiFraud>>);

impl AntiFraudProviders {
    /// These adapters and no others.
    pub fn with(adapters: impl IntoIterator<Item = (ProviderType, Box<dyn AntiFraud>)>) -> Self {
        Self(adapters.into_iter().collect())
    }

    /// Has a charge analysed, and waits no longer than the provider's deadline.
    pub async fn analyse(&self, analysis: Analysis) -> Verdict {
        self.ask(analysis.analyst.provider_type, |adapter| adapter.analyse(analysis)).await
    }

    /// Asks how a pending analysis ended, and waits no longer than the provider's deadline.
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
