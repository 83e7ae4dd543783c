//! `PLATFORM`, the operator's own processor: the messages of the simulator in another process, over HTTPS, with the
//! [details](crate::sandbox::http::CallMessage::with_details) that a processor needs. It promises what the simulator does: a
//! key has one effect, and a key that it has not seen when it is asked for never has any
//! (`docs/own-provider.md`).

use std::time::Duration;

use futures_util::future::BoxFuture;
use regente_domain::decline::{Decline, DeclinedCode, Reason};
use regente_domain::provider_type::ProviderType;
use reqwest::{StatusCode, Url};
use zeroize::Zeroizing;

use crate::http_client::{HttpClient, Incoming, NoResponse, Outgoing};
use crate::notification::{Authentic, Notification, NotificationRefusal, NotificationRequest, ProviderEvent};
use crate::outcome::{Answer, Probe, UnknownReason};
use crate::provider::{Adapter, Provider};
use crate::request::{Call, CardDetails, Inquiry, OperationKind};
use crate::sandbox::http::{
    AnswerMessage, CallMessage, InquiryMessage, ProbeMessage, SellerAnswerMessage, SellerMessage,
};
use crate::sandbox::{notification, rules};
use crate::seller::{SellerAnswer, SellerCall};

/// Where the processor is; from the server's configuration only.
#[derive(Clone)]
pub struct OwnProviderOptions {
    /// Its address: `/v1/calls`, `/v1/probes` and `/v1/sellers` are below.
    pub url: Url,
    /// The secret shared with it, where it has one.
    pub key: Option<Zeroizing<String>>,
    /// How long a caller waits for a call or a probe.
    pub deadline: Duration,
}

struct OwnProvider {
    http: HttpClient,
    options: OwnProviderOptions,
}

/// The adapter.
pub fn adapter(http: HttpClient, options: OwnProviderOptions) -> Adapter {
    (ProviderType::Platform, Box::new(OwnProvider { http, options }))
}

impl OwnProvider {
    fn request(&self, step: &'static str, path: [&str; 2]) -> Outgoing {
        let mut url = self.options.url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        let request = Outgoing::post(ProviderType::Platform, step, url);
        match &self.options.key {
            Some(key) => request.bearer(key),
            None => request,
        }
    }

    async fn send(&self, call: Call) -> Answer {
        let (key, kind) = (call.key, call.operation.kind());
        let request = self.request("calls", ["v1", "calls"]).json(&CallMessage::with_details(&call));
        // The card is not kept while the answer is awaited.
        drop(call);
        match self.http.send(request).await {
            Ok(answered) => told(&answered, key, kind),
            Err(no_response) => no_response.into(),
        }
    }

    async fn look(&self, inquiry: Inquiry) -> Probe {
        let request = self.request("probes", ["v1", "probes"]).json(&InquiryMessage::of(&inquiry));
        let answered: Result<Incoming, NoResponse> = self.http.send(request).await;
        let message = answered.ok().filter(|answered| answered.status == StatusCode::OK);
        match message.and_then(|answered| answered.json::<ProbeMessage>()) {
            Some(answer) if answer.key == inquiry.key => answer.found.map_or(Probe::Absent, Probe::Found),
            Some(_) | None => Probe::Unknown,
        }
    }

    async fn ask(&self, call: SellerCall) -> SellerAnswer {
        let key = call.key;
        let request = self.request("sellers", ["v1", "sellers"]).json(&SellerMessage::with_details(call));
        let answered = self.http.send(request).await.ok();
        let message = answered.filter(|answered| answered.status == StatusCode::OK);
        match message.and_then(|answered| answered.json::<SellerAnswerMessage>()) {
            Some(answer) if answer.key == key => answer.seller.into(),
            Some(_) | None => SellerAnswer::Unanswered,
        }
    }
}

/// What an answer to a call means. A processor that refuses whoever asks, or asks them to wait, has not looked at the call;
/// a capture or void may all the same have been carried out at an earlier try.
fn told(answered: &Incoming, key: uuid::Uuid, kind: OperationKind) -> Answer {
    let is_first = match kind {
        OperationKind::Authorization | OperationKind::ZeroDollar => true,
        OperationKind::Capture | OperationKind::Void => false,
    };
    match answered.status {
        StatusCode::OK => match answered.json::<AnswerMessage>() {
            Some(answer) if answer.key == key => answer.answer.into(),
            Some(_) | None => Answer::Unknown(UnknownReason::Unreadable),
        },
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN if is_first => {
            Answer::Declined(Decline::from_reason(Reason::InvalidCredentials))
        }
        StatusCode::TOO_MANY_REQUESTS if is_first => Answer::Declined(Decline::of(DeclinedCode::TryAgain)),
        _ => Answer::Unknown(UnknownReason::ProviderFailed),
    }
}

impl Provider for OwnProvider {
    fn call(&self, call: Call) -> BoxFuture<'_, Answer> {
        Box::pin(self.send(call))
    }

    fn probe(&self, inquiry: Inquiry) -> BoxFuture<'_, Probe> {
        Box::pin(self.look(inquiry))
    }

    fn ask_about_seller(&self, call: SellerCall) -> BoxFuture<'_, SellerAnswer> {
        Box::pin(self.ask(call))
    }

    fn deadline(&self, _: OperationKind) -> Duration {
        self.options.deadline
    }

    fn probe_deadline(&self) -> Duration {
        self.options.deadline
    }

    fn wants_buyer(&self) -> bool {
        true
    }

    fn test_card(&self) -> Option<CardDetails> {
        rules::test_card()
    }

    fn authenticate(&self, request: &NotificationRequest<'_>) -> Result<Authentic, NotificationRefusal> {
        notification::authenticate(request)
    }

    fn events(&self, stored: &Notification<'_>) -> Result<Vec<ProviderEvent>, NotificationRefusal> {
        notification::events(stored)
    }
}
