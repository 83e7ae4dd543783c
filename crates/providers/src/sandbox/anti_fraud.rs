//! SANDBOX_ANTIFRAUD: the simulator of risk analysis. The last digit of the buyer's document decides
//! (`docs/interface/sandbox.md#risk-analysis`). Its log is that of the simulator; it holds nothing of the buyer.

use std::time::Duration;

use futures_util::future::BoxFuture;
use regente_domain::charge::ChargeStatus;
use regente_domain::currency::Currency;
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};
use uuid::Uuid;

use super::delivery::{Delivery, Lost, received};
use super::draws::{Draws, MILLION};
use super::faults::{Occasion, Then};
use super::transaction_log::{Analysed, AnalysisEntry, TransactionLogError};
use super::{Plans, Sandbox, overrides, spoil};
use crate::anti_fraud::{
    Analysis, AnalysisFailure, AnalysisInquiry, AntiFraud, AntiFraudAdapter, Feeding, Verdict,
};
use crate::outcome::UnknownReason;
use crate::request::TestOverrides;

/// The score of an approval and of a reproval.
const APPROVED_SCORE: u8 = 85;
const REPROVED_SCORE: u8 = 97;
/// Share of time-outs among the analyses that fail.
const TIMED_OUT_PPM: u32 = MILLION / 2;

/// A question to the simulator of risk analysis, with the parts that it uses.
#[derive(Debug)]
pub struct RiskQuestion {
    /// Our key of the analysis or feeding.
    pub key: Uuid,
    /// When it is asked, by the caller's clock.
    pub at: Timestamp,
    /// Simulator overrides of this request.
    pub test_overrides: Option<TestOverrides>,
    /// What is asked.
    pub asks: RiskAsks,
}

/// What the simulator of risk analysis is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum RiskAsks {
    /// To analyse a charge.
    Analyse {
        /// When the verdict comes.
        product: Product,
        /// The last digit of `customer.identity`, if it ends in one.
        identity_digit: Option<u8>,
        /// The amount in minor units.
        amount: i64,
        /// ISO 4217 currency of `amount`.
        currency: Currency,
    },
    /// The verdict on an earlier analysis.
    Verdict,
    /// To take note of a charge that was not analysed.
    Feed {
        /// How it ended.
        status: ChargeStatus,
    },
}

/// `productType` of the provider's options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Product {
    /// The verdict is in the answer.
    Sync,
    /// The verdict comes later.
    Async,
}

/// The simulator's answer about a risk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Assessed {
    /// To an analysis, or to the question for its verdict.
    Verdict(Verdict),
    /// To a feeding.
    Noted,
    /// There is no answer to the question.
    Failed(AnalysisFailure),
}

impl Assessed {
    /// As the answer to an analysis.
    pub(in crate::sandbox) fn verdict(self) -> Verdict {
        match self {
            Self::Verdict(verdict) => verdict,
            Self::Failed(failure) => Verdict::Failed(failure),
            Self::Noted => Verdict::Failed(AnalysisFailure::reported("unexpected_answer")),
        }
    }

    /// As the answer to the question for a verdict.
    pub(in crate::sandbox) fn told(self) -> Result<Verdict, AnalysisFailure> {
        match self {
            Self::Verdict(verdict) => Ok(verdict),
            Self::Failed(failure) => Err(failure),
            Self::Noted => Err(AnalysisFailure::reported("unexpected_answer")),
        }
    }

    /// As the answer to a feeding.
    pub(in crate::sandbox) fn noted(self) -> Result<(), AnalysisFailure> {
        match self {
            Self::Noted => Ok(()),
            Self::Failed(failure) => Err(failure),
            Self::Verdict(_) => Err(AnalysisFailure::reported("unexpected_answer")),
        }
    }
}

impl Lost for Assessed {
    fn lost(reason: UnknownReason) -> Self {
        Self::Failed(AnalysisFailure::of(reason))
    }
}

impl From<Analysis> for RiskQuestion {
    fn from(analysis: Analysis) -> Self {
        let asks = RiskAsks::Analyse {
            product: Product::of(&analysis.analyst.options),
            identity_digit: identity_digit(&analysis.fraud_analysis),
            amount: analysis.amount.minor_units(),
            currency: analysis.currency,
        };
        Self { key: analysis.key, at: analysis.at, test_overrides: analysis.analyst.test_overrides, asks }
    }
}

impl From<AnalysisInquiry> for RiskQuestion {
    fn from(inquiry: AnalysisInquiry) -> Self {
        let AnalysisInquiry { key, sent_at: at, analyst, .. } = inquiry;
        Self { key, at, test_overrides: analyst.test_overrides, asks: RiskAsks::Verdict }
    }
}

impl From<Feeding> for RiskQuestion {
    fn from(feeding: Feeding) -> Self {
        let Feeding { key, at, analyst, status, .. } = feeding;
        Self { key, at, test_overrides: analyst.test_overrides, asks: RiskAsks::Feed { status } }
    }
}

impl Product {
    fn of(options: &Map<String, Value>) -> Self {
        match options.get("productType").and_then(Value::as_str) {
            Some("ASYNC") => Self::Async,
            Some(_) | None => Self::Sync,
        }
    }
}

fn identity_digit(fraud_analysis: &Map<String, Value>) -> Option<u8> {
    let identity = fraud_analysis.get("customer")?.get("identity")?;
    let text = match identity {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    let last = text.trim_end().chars().next_back()?;
    last.to_digit(10).and_then(|digit| u8::try_from(digit).ok())
}

impl Sandbox {
    /// The simulator of risk analysis as the adapter of its provider type.
    pub fn anti_fraud_adapter(&self) -> AntiFraudAdapter {
        (ProviderType::SandboxAntifraud, Box::new(self.clone()))
    }

    /// Answers a question about a risk and returns how the answer is delivered.
    pub async fn assess(&self, question: &RiskQuestion) -> Delivery<Assessed> {
        let test_overrides = question.test_overrides.as_ref();
        // The charge was checked for faults that cannot be read.
        let plans = Plans::read(&Map::new(), test_overrides).unwrap_or_default();
        let draws = Draws::new(&self.seed, overrides::seed(test_overrides), question.key);
        match self.fault(&plans, &Occasion::analysis(question), &draws) {
            Some(Then::Decline(decline)) => {
                let (reason, message) = (decline.code.code().to_owned(), decline.message);
                Delivery::Whole(Assessed::Failed(AnalysisFailure::Provider { reason, message }))
            }
            fault => spoil(fault, || Box::pin(self.look_into(question, &draws))).await,
        }
    }

    async fn look_into(&self, question: &RiskQuestion, draws: &Draws) -> Delivery<Assessed> {
        let RiskQuestion { key, at, ref asks, .. } = *question;
        let entry = |record| AnalysisEntry { key, at, record };
        let assessed = match asks {
            RiskAsks::Analyse { product, identity_digit, .. } => {
                let verdict = judge(*identity_digit, draws);
                let answer = match product {
                    Product::Sync => verdict.clone(),
                    Product::Async => Verdict::Pending { reference: Some(key.to_string()) },
                };
                self.transaction_log().assess(entry(Analysed::Analysis { answer, verdict })).await.map(
                    |entry| match entry.record {
                        Analysed::Analysis { answer, .. } => Assessed::Verdict(answer),
                        Analysed::Feeding { .. } => Assessed::Noted,
                    },
                )
            }
            RiskAsks::Verdict => self.transaction_log().analysis(key).await.map(|found| {
                match found.map(|entry| entry.record) {
                    Some(Analysed::Analysis { verdict, .. }) => Assessed::Verdict(verdict),
                    Some(Analysed::Feeding { .. }) => Assessed::Noted,
                    None => Assessed::Failed(AnalysisFailure::reported("unknown_analysis")),
                }
            }),
            RiskAsks::Feed { status } => {
                let record = Analysed::Feeding { status: *status };
                self.transaction_log().assess(entry(record)).await.map(|_| Assessed::Noted)
            }
        };
        assessed.map_or_else(|error| failed(&error), Delivery::Whole)
    }
}

fn failed(error: &TransactionLogError) -> Delivery<Assessed> {
    tracing::error!(%error, "the simulator cannot use its log of risk analyses");
    Delivery::ServerError
}

fn judge(identity_digit: Option<u8>, draws: &Draws) -> Verdict {
    match identity_digit {
        Some(0) => Verdict::Pending { reference: Some(draws.call_key().to_string()) },
        Some(1) => Verdict::Approved { score: Some(Number::from(APPROVED_SCORE)) },
        Some(2) if draws.happens("analysis times out", TIMED_OUT_PPM) => {
            Verdict::Failed(AnalysisFailure::TimedOut)
        }
        Some(2) => Verdict::Failed(AnalysisFailure::reported("processing_error")),
        Some(_) | None => Verdict::Reproved { score: Some(Number::from(REPROVED_SCORE)) },
    }
}

impl AntiFraud for Sandbox {
    fn analyse(&self, analysis: Analysis) -> BoxFuture<'_, Verdict> {
        let question = RiskQuestion::from(analysis);
        Box::pin(async move { received(self.assess(&question).await).await.verdict() })
    }

    fn result(&self, inquiry: AnalysisInquiry) -> BoxFuture<'_, Result<Verdict, AnalysisFailure>> {
        let question = RiskQuestion::from(inquiry);
        Box::pin(async move { received(self.assess(&question).await).await.told() })
    }

    fn feed(&self, feeding: Feeding) -> BoxFuture<'_, Result<(), AnalysisFailure>> {
        let question = RiskQuestion::from(feeding);
        Box::pin(async move { received(self.assess(&question).await).await.noted() })
    }

    fn deadline(&self) -> Duration {
        self.deadline
    }
}

impl RiskQuestion {
    /// The analysed amount.
    pub(super) fn amount(&self) -> Option<Amount> {
        match &self.asks {
            RiskAsks::Analyse { amount, .. } => Amount::new(*amount),
            RiskAsks::Verdict | RiskAsks::Feed { .. } => None,
        }
    }

    /// The currency of the analysed amount.
    pub(super) const fn currency(&self) -> Option<Currency> {
        match &self.asks {
            RiskAsks::Analyse { currency, .. } => Some(*currency),
            RiskAsks::Verdict | RiskAsks::Feed { .. } => None,
        }
    }

    /// The last digit of the buyer's document.
    pub(super) const fn identity_digit(&self) -> Option<u8> {
        match &self.asks {
            RiskAsks::Analyse { identity_digit, .. } => *identity_digit,
            RiskAsks::Verdict | RiskAsks::Feed { .. } => None,
        }
    }
}
