//! The door to risk analysis: its deadline, pending verdicts, types without an adapter.

use std::time::Duration;

use futures_util::future::BoxFuture;
use regente_domain::currency::Currency;
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_providers::anti_fraud::{
    Analysis, AnalysisFailure, AnalysisInquiry, Analyst, AntiFraud, AntiFraudProviders, Feeding, Verdict,
};
use regente_providers::request::{Credentials, Instrument, Mode};
use serde_json::{Map, Number, json};
use tokio::time::{Instant, sleep};

use crate::support::{APPROVED, at, card, credit, key, object};

const DEADLINE: Duration = Duration::from_secs(3);

/// Answers `PENDING` after `delay`, and approves when it is asked again.
struct Later {
    delay: Duration,
}

impl AntiFraud for Later {
    fn analyse(&self, analysis: Analysis) -> BoxFuture<'_, Verdict> {
        Box::pin(async move {
            sleep(self.delay).await;
            Verdict::Pending { reference: analysis.order_id }
        })
    }

    fn result(&self, inquiry: AnalysisInquiry) -> BoxFuture<'_, Result<Verdict, AnalysisFailure>> {
        let known = inquiry.reference.as_deref() == Some("order 1");
        Box::pin(async move {
            sleep(self.delay).await;
            Ok(if known { approved() } else { Verdict::Reproved { score: None } })
        })
    }

    fn feed(&self, _: Feeding) -> BoxFuture<'_, Result<(), AnalysisFailure>> {
        Box::pin(async { Ok(()) })
    }

    fn deadline(&self) -> Duration {
        DEADLINE
    }
}

fn approved() -> Verdict {
    Verdict::Approved { score: Some(Number::from(12)) }
}

fn providers(delay: Duration) -> AntiFraudProviders {
    AntiFraudProviders::with([(ProviderType::Clearsale, Box::new(Later { delay }) as Box<dyn AntiFraud>)])
}

fn analyst(provider_type: ProviderType) -> Analyst {
    Analyst {
        provider_type,
        credentials: Credentials::new(object(json!({ "token": "analyst-secret" }))),
        options: object(json!({ "type": "ANTIFRAUD", "productType": "ASYNC" })),
        mode: Mode::Sandbox,
        test_overrides: None,
    }
}

fn analysis(provider_type: ProviderType) -> Analysis {
    Analysis {
        key: key(1),
        at: at(),
        analyst: analyst(provider_type),
        amount: Amount::new(1500).unwrap(),
        currency: Currency::BRL,
        method: credit(1),
        order_id: Some("order 1".to_owned()),
        instrument: Instrument::Card(card(APPROVED, None)),
        fraud_analysis: Map::new(),
    }
}

fn inquiry(reference: Option<String>) -> AnalysisInquiry {
    AnalysisInquiry { key: key(1), reference, sent_at: at(), analyst: analyst(ProviderType::Clearsale) }
}

#[tokio::test(start_paused = true)]
async fn a_product_that_decides_later_is_asked_again() {
    let providers = providers(DEADLINE - Duration::from_millis(1));
    let Verdict::Pending { reference } = providers.analyse(analysis(ProviderType::Clearsale)).await else {
        panic!("not pending")
    };
    assert_eq!(providers.result(inquiry(reference)).await, Ok(approved()));
    assert_eq!(providers.result(inquiry(None)).await, Ok(Verdict::Reproved { score: None }));
}

#[tokio::test(start_paused = true)]
async fn a_verdict_that_does_not_come_in_time_is_a_failure() {
    let providers = providers(Duration::from_secs(60));
    let begin = Instant::now();
    let verdict = providers.analyse(analysis(ProviderType::Clearsale)).await;
    assert_eq!(verdict, Verdict::Failed(AnalysisFailure::TimedOut));
    assert_eq!(begin.elapsed(), DEADLINE);
    assert_eq!(providers.result(inquiry(None)).await, Err(AnalysisFailure::TimedOut), "it may still come");
    assert_eq!(begin.elapsed(), DEADLINE * 2);
}

#[tokio::test]
async fn a_type_without_an_adapter_has_no_verdict() {
    let verdict = providers(Duration::ZERO).analyse(analysis(ProviderType::Konduto)).await;
    assert_eq!(verdict, Verdict::Failed(AnalysisFailure::NoAdapter));
}

#[test]
fn an_analysis_prints_no_secret() {
    let printed = format!("{:?}", analysis(ProviderType::Clearsale));
    for secret in [APPROVED, "JOAO", "analyst-secret"] {
        assert!(!printed.contains(secret), "{secret} in {printed}");
    }
}
