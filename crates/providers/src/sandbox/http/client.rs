//! The HTTP client of the simulator: a SANDBOX adapter without a log of its own. Any answer that is not for exactly
//! this call is unknown, because an earlier repetition may have had an effect.

use std::time::Duration;

use futures_util::future::BoxFuture;
use regente_domain::problems::Problems;
use regente_domain::provider_type::ProviderType;
use regente_domain::routing::Narrowed;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use thiserror::Error;
use uuid::Uuid;
use zeroize::Zeroizing;

use super::views::{EntryView, HOLDINGS_LIMIT_MAX, HoldingPage};
use super::wire::{
    AnswerMessage, AssessedMessage, CallMessage, CardholderAnswerMessage, CardholderMessage, ErrorMessage,
    InquiryMessage, ProbeMessage, RiskMessage, SellerAnswerMessage, SellerMessage, StagedAnswer,
    StagedMessage,
};
use crate::anti_fraud::{
    Analysis, AnalysisFailure, AnalysisInquiry, AntiFraud, AntiFraudAdapter, Feeding, Verdict,
};
use crate::notification::{Authentic, Notification, NotificationRefusal, NotificationRequest, ProviderEvent};
use crate::outcome::{Answer, Probe, UnknownReason};
use crate::provider::{Adapter, Provider};
use crate::request::{Call, CardDetails, Inquiry, OperationKind};
use crate::sandbox::{
    Assessed, CardholderAnswer, CardholderBooks, CardholderQuestion, Entry, Holding, Options, RiskQuestion,
    SellerQuestion, notification, rules, silence,
};
use crate::seller::{SellerAnswer, SellerCall};
use crate::staged::{StageRefusal, StagedEvent};

/// An idle connection is closed after this long, before the simulator closes it.
const IDLE_CONNECTION_MAX: Duration = Duration::from_secs(10);
/// Longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The simulator's address and key; they come from the server's configuration only.
#[derive(Clone)]
pub struct RemoteOptions {
    /// `http://host:port`.
    pub url: String,
    /// The secret shared with the simulator, where it has one.
    pub key: Option<Zeroizing<String>>,
    /// How long a caller waits for a call or a probe.
    pub deadline: Duration,
}

/// A simulator in another process.
#[derive(Clone)]
pub struct RemoteSandbox {
    http: Client,
    base: Url,
    authorization: Option<HeaderValue>,
    deadline: Duration,
}

/// Why a request to a simulator in another process failed.
#[derive(Debug, Error)]
pub enum RemoteError {
    /// The address is not `http://host:port`.
    #[error("the address of the simulator must be http://host:port")]
    Address,
    /// The key cannot be sent in an HTTP header.
    #[error("the key of the simulator must be printable ASCII")]
    Key,
    /// The connection failed or broke.
    #[error("the simulator cannot be reached")]
    Connection(#[source] reqwest::Error),
    /// The simulator answered with an error.
    #[error("the simulator answered {status}: {code}: {message}")]
    Refused {
        /// HTTP status.
        status: StatusCode,
        /// Error code, for programs.
        code: String,
        /// Error message, for people.
        message: String,
    },
    /// The answer is not readable or is about another request.
    #[error("the answer of the simulator cannot be read")]
    Answer,
}

impl RemoteSandbox {
    /// Creates a client of the simulator at this address; sends nothing yet.
    pub fn new(options: RemoteOptions) -> Result<Self, RemoteError> {
        let base = address(&options.url)?;
        let bearer = |key: Zeroizing<String>| {
            let text = Zeroizing::new(format!("Bearer {}", *key));
            let mut value = HeaderValue::from_str(&text).map_err(|_| RemoteError::Key)?;
            value.set_sensitive(true);
            Ok(value)
        };
        let http = Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .pool_idle_timeout(IDLE_CONNECTION_MAX);
        // Plain HTTP needs no certificate authorities.
        let http = if base.scheme() == "http" { http.tls_certs_only([]) } else { http };
        let http = http.build().map_err(RemoteError::Connection)?;
        let authorization = options.key.map(bearer).transpose()?;
        Ok(Self { http, base, authorization, deadline: options.deadline })
    }

    /// The client as the adapter of its provider type.
    pub fn into_adapter(self) -> Adapter {
        (ProviderType::Sandbox, Box::new(self))
    }

    /// The client as the adapter of the platform's own provider, which the simulator stands in for.
    pub fn platform_adapter(&self) -> Adapter {
        (ProviderType::Platform, Box::new(self.clone()))
    }

    /// The client as the adapter of the simulator of risk analysis.
    pub fn anti_fraud_adapter(&self) -> AntiFraudAdapter {
        (ProviderType::SandboxAntifraud, Box::new(self.clone()))
    }

    /// The log entry of one key.
    pub async fn entry(&self, key: Uuid) -> Result<Option<Entry>, RemoteError> {
        match self.ask::<EntryView>(self.http.get(self.url(&format!("v1/entries/{key}")))).await {
            Ok(view) => view.understand().map(|stored| Some(stored.entry)).ok_or(RemoteError::Answer),
            Err(RemoteError::Refused { status: StatusCode::NOT_FOUND, code, .. }) if code == "no_entry" => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The holdings of all authorizations, ordered by key.
    pub async fn holdings(&self) -> Result<Vec<(Uuid, Holding)>, RemoteError> {
        let mut holdings = Vec::new();
        let mut after: Option<Uuid> = None;
        loop {
            let mut url = self.url("v1/balances");
            url.query_pairs_mut().append_pair("limit", &HOLDINGS_LIMIT_MAX.to_string());
            if let Some(after) = after {
                url.query_pairs_mut().append_pair("after", &after.to_string());
            }
            let page: HoldingPage = self.ask(self.http.get(url)).await?;
            for item in &page.items {
                holdings.push(item.understand().ok_or(RemoteError::Answer)?);
            }
            // The keys of pages only grow; a page that leads back is the last one.
            match page.next.filter(|next| after.is_none_or(|after| *next > after)) {
                Some(next) => after = Some(next),
                None => return Ok(holdings),
            }
        }
    }

    async fn send_call(&self, call: &Call) -> Result<Answer, RemoteError> {
        let answer: AnswerMessage = self.post("v1/calls", &CallMessage::of(call)).await?;
        // The second copy of a duplicated answer may still be on the connection that this call uses.
        if answer.key == call.key { Ok(answer.answer.into()) } else { Err(RemoteError::Answer) }
    }

    async fn send_inquiry(&self, inquiry: &Inquiry) -> Result<Probe, RemoteError> {
        let answer: ProbeMessage = self.post("v1/probes", &InquiryMessage::of(inquiry)).await?;
        if answer.key == inquiry.key {
            Ok(answer.found.map_or(Probe::Absent, Probe::Found))
        } else {
            Err(RemoteError::Answer)
        }
    }

    async fn send_question(&self, question: &RiskQuestion) -> Assessed {
        match self.post::<AssessedMessage>("v1/analyses", &RiskMessage::of(question)).await {
            Ok(answer) if answer.key == question.key => answer.assessed,
            Ok(_) => Assessed::Failed(AnalysisFailure::of(RemoteError::Answer.reason())),
            Err(error) => {
                tracing::warn!(
                    key = %question.key, error = %Chain(&error),
                    "the simulator did not answer a question about a risk"
                );
                Assessed::Failed(AnalysisFailure::of(error.reason()))
            }
        }
    }

    async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        message: &impl Serialize,
    ) -> Result<T, RemoteError> {
        self.ask(self.http.post(self.url(path)).json(message)).await
    }

    async fn ask<T: DeserializeOwned>(&self, mut request: RequestBuilder) -> Result<T, RemoteError> {
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let response = request.send().await.map_err(RemoteError::Connection)?;
        let status = response.status();
        let body = body(response).await?;
        if status == StatusCode::OK {
            return serde_json::from_slice(&body).map_err(|_| RemoteError::Answer);
        }
        let error = serde_json::from_slice(&body).unwrap_or_else(|_| ErrorMessage {
            code: "no_reason".to_owned(),
            message: "it gives no reason that can be read".to_owned(),
        });
        Err(RemoteError::Refused { status, code: error.code, message: error.message })
    }

    fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(path);
        url
    }
}

/// Parses the address of a simulator: `http://host:port`, with nothing else.
pub fn address(url: &str) -> Result<Url, RemoteError> {
    let url = Url::parse(url).map_err(|_| RemoteError::Address)?;
    let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    let is_anonymous = url.username().is_empty() && url.password().is_none();
    if url.scheme() == "http" && url.has_host() && is_bare && is_anonymous {
        Ok(url)
    } else {
        Err(RemoteError::Address)
    }
}

async fn body(mut response: Response) -> Result<Vec<u8>, RemoteError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(RemoteError::Connection)? {
        body.extend_from_slice(&chunk);
        if body.len() > ANSWER_BYTES_MAX {
            return Err(RemoteError::Answer);
        }
    }
    Ok(body)
}

impl RemoteError {
    fn reason(&self) -> UnknownReason {
        match self {
            Self::Connection(_) => UnknownReason::ConnectionLost,
            Self::Address | Self::Key | Self::Refused { .. } => UnknownReason::ProviderFailed,
            Self::Answer => UnknownReason::Unreadable,
        }
    }
}

impl Provider for RemoteSandbox {
    fn call(&self, call: Call) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            match self.send_call(&call).await {
                Ok(answer) => answer,
                Err(error) => {
                    tracing::warn!(key = %call.key, error = %Chain(&error), "the simulator did not answer a call");
                    Answer::Unknown(error.reason())
                }
            }
        })
    }

    fn probe(&self, inquiry: Inquiry) -> BoxFuture<'_, Probe> {
        Box::pin(async move {
            match self.send_inquiry(&inquiry).await {
                Ok(probe) => probe,
                Err(error) => {
                    tracing::warn!(key = %inquiry.key, error = %Chain(&error), "the simulator did not answer a probe");
                    Probe::Unknown
                }
            }
        })
    }

    fn stage(&self, event: StagedEvent) -> BoxFuture<'_, Result<(), StageRefusal>> {
        Box::pin(async move {
            match self.post::<StagedAnswer>("v1/staged", &StagedMessage::of(&event)).await {
                Ok(answer) if answer.staged == event.key => Ok(()),
                Err(RemoteError::Refused { status: StatusCode::CONFLICT, .. }) => {
                    Err(StageRefusal::NothingWaits)
                }
                Ok(_) => Err(StageRefusal::Unanswered),
                Err(error) => {
                    tracing::warn!(key = %event.key, error = %Chain(&error), "the simulator staged nothing");
                    Err(StageRefusal::Unanswered)
                }
            }
        })
    }

    fn ask_about_seller(&self, call: SellerCall) -> BoxFuture<'_, SellerAnswer> {
        let question = SellerQuestion::from(call);
        Box::pin(async move {
            match self.post::<SellerAnswerMessage>("v1/sellers", &SellerMessage::of(&question)).await {
                Ok(answer) if answer.key == question.key => answer.seller.into(),
                Ok(_) => SellerAnswer::Unanswered,
                Err(error) => {
                    tracing::warn!(
                        key = %question.key, error = %Chain(&error),
                        "the simulator did not answer a question about a seller"
                    );
                    SellerAnswer::Unanswered
                }
            }
        })
    }

    fn test_card(&self) -> Option<CardDetails> {
        rules::test_card()
    }

    fn notifies_of_answers(&self) -> bool {
        false
    }

    fn deadline(&self, _: OperationKind) -> Duration {
        self.deadline
    }

    fn probe_deadline(&self) -> Duration {
        self.deadline
    }

    fn authenticate(&self, request: &NotificationRequest<'_>) -> Result<Authentic, NotificationRefusal> {
        notification::authenticate(request)
    }

    fn events(&self, notification: &Notification<'_>) -> Result<Vec<ProviderEvent>, NotificationRefusal> {
        notification::events(notification)
    }

    fn validate_options(&self, options: &Map<String, Value>, path: &str) -> Result<Narrowed, Problems> {
        Options::parse(options, path).map(|options| options.supports)
    }

    fn silence_counts(&self, call: &Call) -> bool {
        !silence::may_have_been_asked_for(call)
    }

    fn unanswered_reason(&self) -> &'static str {
        silence::UNANSWERED
    }
}

impl CardholderBooks for RemoteSandbox {
    fn ask(&self, question: CardholderQuestion) -> BoxFuture<'_, CardholderAnswer> {
        Box::pin(async move {
            let message = CardholderMessage::of(&question);
            match self.post::<CardholderAnswerMessage>("v1/authentications", &message).await {
                Ok(answer) if answer.key == question.key => answer.cardholder,
                Ok(_) => CardholderAnswer::Unavailable,
                Err(error) => {
                    tracing::warn!(
                        key = %question.key, error = %Chain(&error),
                        "the simulator did not answer a question about a cardholder"
                    );
                    CardholderAnswer::Unavailable
                }
            }
        })
    }

    fn answers_within(&self) -> Duration {
        self.deadline
    }
}

impl AntiFraud for RemoteSandbox {
    fn analyse(&self, analysis: Analysis) -> BoxFuture<'_, Verdict> {
        let question = RiskQuestion::from(analysis);
        Box::pin(async move { self.send_question(&question).await.verdict() })
    }

    fn result(&self, inquiry: AnalysisInquiry) -> BoxFuture<'_, Result<Verdict, AnalysisFailure>> {
        let question = RiskQuestion::from(inquiry);
        Box::pin(async move { self.send_question(&question).await.told() })
    }

    fn feed(&self, feeding: Feeding) -> BoxFuture<'_, Result<(), AnalysisFailure>> {
        let question = RiskQuestion::from(feeding);
        Box::pin(async move { self.send_question(&question).await.noted() })
    }

    fn deadline(&self) -> Duration {
        self.deadline
    }
}

/// Displays an error with its causes.
struct Chain<'a>(&'a RemoteError);

impl std::fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)?;
        let mut next = std::error::Error::source(self.0);
        while let Some(cause) = next {
            write!(f, ": {cause}")?;
            next = cause.source();
        }
        Ok(())
    }
}
