//! The simulator behind a wire and a fuse: the process may stop before a call is sent, and before its answer is read.

use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::BoxFuture;
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::problems::Problems;
use regente_domain::routing::Narrowed;
use regente_providers::anti_fraud::{
    Analysis, AnalysisFailure, AnalysisInquiry, AntiFraud, Feeding, Verdict,
};
use regente_providers::notification::{
    Authentic, Notification, NotificationRefusal, NotificationRequest, ProviderEvent,
};
use regente_providers::outcome::{Answer, Probe};
use regente_providers::provider::Provider;
use regente_providers::request::{Call, CardDetails, Inquiry, OperationKind};
use regente_providers::sandbox::{CardholderAnswer, CardholderBooks, CardholderQuestion, Sandbox};
use regente_providers::seller::{SellerAnswer, SellerCall};
use regente_providers::staged::{StageRefusal, StagedEvent};
use regente_store::testing::Fuse;
use serde_json::{Map, Value};

use crate::support::wire::{REFUSED, Wire};

/// The simulator behind a wire and a fuse: the process may stop before a call is sent, and before its answer is read.
#[derive(Clone)]
pub struct Wired {
    pub sandbox: Sandbox,
    pub wire: Wire,
    pub fuse: Fuse,
}

impl Provider for Wired {
    fn call(&self, call: Call) -> BoxFuture<'_, Answer> {
        Box::pin(async {
            self.fuse.step().await;
            self.wire.carry(&call).await;
            let is_authorization = call.operation.kind() == OperationKind::Authorization;
            let answer = match self.wire.payers().take_up(Box::new(call)) {
                Ok(answer) => answer,
                Err(call) => self.sandbox.call(*call).await,
            };
            self.fuse.step().await;
            if is_authorization && self.wire.0.is_contradictory.load(Ordering::SeqCst) {
                let transaction_id = Some(REFUSED.to_owned());
                return Answer::Declined(Decline { transaction_id, ..Decline::of(DeclinedCode::StolenCard) });
            }
            answer
        })
    }

    fn probe(&self, inquiry: Inquiry) -> BoxFuture<'_, Probe> {
        Box::pin(async {
            self.fuse.step().await;
            if self.wire.0.is_forgetful.load(Ordering::SeqCst) {
                return Probe::Absent;
            }
            let probe = match self.wire.payers().finding(inquiry.key) {
                Some(finding) => Probe::Found(finding),
                None => self.sandbox.probe(inquiry).await,
            };
            self.wire.carry_back_an_answer().await;
            self.fuse.step().await;
            probe
        })
    }

    fn ask_about_seller(&self, call: SellerCall) -> BoxFuture<'_, SellerAnswer> {
        Box::pin(async {
            self.fuse.step().await;
            let answer = self.sandbox.ask_about_seller(call).await;
            self.fuse.step().await;
            answer
        })
    }

    fn stage(&self, event: StagedEvent) -> BoxFuture<'_, Result<(), StageRefusal>> {
        Box::pin(self.sandbox.stage(event))
    }

    fn deadline(&self, operation: OperationKind) -> Duration {
        Provider::deadline(&self.sandbox, operation)
    }

    fn probe_deadline(&self) -> Duration {
        self.sandbox.probe_deadline()
    }

    fn authenticate(&self, request: &NotificationRequest<'_>) -> Result<Authentic, NotificationRefusal> {
        self.sandbox.authenticate(request)
    }

    fn events(&self, notification: &Notification<'_>) -> Result<Vec<ProviderEvent>, NotificationRefusal> {
        self.sandbox.events(notification)
    }

    fn validate_options(&self, options: &Map<String, Value>, path: &str) -> Result<Narrowed, Problems> {
        self.sandbox.validate_options(options, path)
    }

    fn test_card(&self) -> Option<CardDetails> {
        self.sandbox.test_card()
    }

    fn notifies_of_answers(&self) -> bool {
        self.sandbox.notifies_of_answers()
    }

    fn silence_counts(&self, call: &Call) -> bool {
        self.sandbox.silence_counts(call)
    }

    fn unanswered_reason(&self) -> &'static str {
        self.sandbox.unanswered_reason()
    }
}

/// The simulator's log of authentications behind the same wire and fuse.
pub struct WiredBooks {
    pub sandbox: Sandbox,
    pub wire: Wire,
    pub fuse: Fuse,
}

impl CardholderBooks for WiredBooks {
    fn ask(&self, question: CardholderQuestion) -> BoxFuture<'_, CardholderAnswer> {
        Box::pin(async move {
            self.wire.0.questions_of_3ds.fetch_add(1, Ordering::SeqCst);
            self.fuse.step().await;
            if self.wire.0.is_server_down.load(Ordering::SeqCst) {
                return CardholderAnswer::Unavailable;
            }
            let answer = self.sandbox.ask(question).await;
            self.fuse.step().await;
            answer
        })
    }

    fn answers_within(&self) -> Duration {
        self.sandbox.answers_within()
    }
}

impl AntiFraud for Wired {
    fn analyse(&self, analysis: Analysis) -> BoxFuture<'_, Verdict> {
        Box::pin(async {
            self.fuse.step().await;
            let verdict = self.sandbox.analyse(analysis).await;
            self.fuse.step().await;
            verdict
        })
    }

    fn result(&self, inquiry: AnalysisInquiry) -> BoxFuture<'_, Result<Verdict, AnalysisFailure>> {
        Box::pin(async {
            self.fuse.step().await;
            let verdict = self.sandbox.result(inquiry).await;
            self.fuse.step().await;
            verdict
        })
    }

    fn feed(&self, feeding: Feeding) -> BoxFuture<'_, Result<(), AnalysisFailure>> {
        Box::pin(async {
            self.fuse.step().await;
            let fed = self.sandbox.feed(feeding).await;
            self.fuse.step().await;
            fed
        })
    }

    fn deadline(&self) -> Duration {
        AntiFraud::deadline(&self.sandbox)
    }
}
