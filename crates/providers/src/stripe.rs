//! The adapter of provider type `STRIPE` (`docs/providers/stripe.md`): cards and boletos by PaymentIntents, with card numbers
//! from server to server. Here are the steps of each operation; what is sent is in `ask`, what an answer means in `tell`.

use std::time::Duration;

use http::{HeaderName, Method};
use regente_domain::decline::{Decline, DeclinedCode, Retry};
use regente_domain::provider_type::ProviderType;
use reqwest::Url;
use uuid::Uuid;

pub mod ask;
mod currency;
mod declines;
mod notification;
pub mod tell;
mod wire;

use crate::http_client::{HttpClient, Incoming, NoResponse, Outgoing};
use crate::notification::{Authentic, Notification, NotificationRefusal, NotificationRequest, ProviderEvent};
use crate::outcome::{Answer, Finding, Probe, UnknownReason};
use crate::provider::{Adapter, BoxFuture, CredentialsCheck, CredentialsRefusal, Provider};
use crate::request::{Authorization, Call, Credentials, FollowUp, Inquiry, Mode, Operation, OperationKind};
use ask::{Ask, Listed};
use tell::Failure;
use wire::{IntentStatus, List, PaymentIntent, Refund, SetupIntent, member};

/// The provider's address.
const ADDRESS: &str = "https://api.stripe.com/";
/// The version of the interface that `ask` and `wire` are written for. Without it the account's own would count.
const VERSION: &str = "2026-10-28.endive";
const VERSION_HEADER: HeaderName = HeaderName::from_static("stripe-version");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The member of the credentials with the API key.
const SECRET_KEY: &str = "secretKey";

/// A payment asks the issuer, who may take half a minute.
const AUTHORIZATION_TIME_MAX: Duration = Duration::from_secs(35);
/// A capture may be followed by a look at the payment.
const CAPTURE_TIME_MAX: Duration = Duration::from_secs(30);
/// A void looks at the payment and its refunds first.
const VOID_TIME_MAX: Duration = Duration::from_secs(35);
/// A probe may read several pages.
const PROBE_TIME_MAX: Duration = Duration::from_secs(20);
/// From when on a payment that is not found does not exist: the search lags behind by an hour at most, and a request is
/// not under way for longer than that.
pub const ABSENCE_PROVES_AFTER: Duration = Duration::from_secs(2 * 60 * 60);
/// Most pages of a list that a probe reads.
const PAGES_MAX: usize = 5;

/// The adapter, at the provider's address or another one (`base`).
pub fn adapter(http: HttpClient, base: Option<Url>) -> Adapter {
    // The constant is an address.
    let base = base.or_else(|| Url::parse(ADDRESS).ok());
    (ProviderType::Stripe, Box::new(Stripe { http, base }))
}

struct Stripe {
    http: HttpClient,
    base: Option<Url>,
}

/// Why a step of an operation ends it.
enum Stop {
    NoResponse(NoResponse),
    Failure(Failure),
}

impl From<NoResponse> for Stop {
    fn from(no_response: NoResponse) -> Self {
        Self::NoResponse(no_response)
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// For captures and voids.
impl From<Stop> for Answer {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::NoResponse(no_response) => no_response.into(),
            Stop::Failure(failure) => failure.until_sent_again(),
        }
    }
}

impl Stripe {
    async fn send(&self, ask: Ask, credentials: &Credentials) -> Result<Incoming, NoResponse> {
        let Ask { step, method, path, idempotency_key, members } = ask;
        let Some(mut url) = self.base.clone() else { return Err(NoResponse::NotSent) };
        url.set_path(&format!("{}{path}", url.path().trim_end_matches('/')));
        let request = if method == Method::GET {
            url.query_pairs_mut()
                .extend_pairs(members.pairs().iter().map(|(name, value)| (name, value.as_str())));
            Outgoing::get(ProviderType::Stripe, step, url)
        } else {
            Outgoing::new(ProviderType::Stripe, step, method, url).form(members.pairs().iter())
        };
        let request = request
            .header(VERSION_HEADER, VERSION)
            .bearer(credentials.expose(SECRET_KEY).unwrap_or_default());
        let request = match idempotency_key {
            Some(key) => request.header(IDEMPOTENCY_KEY, &key),
            None => request,
        };
        self.http.send(request).await
    }

    async fn authorize(&self, call: &Call, authorization: &Authorization) -> Answer {
        let ask = match ask::authorization(call, authorization) {
            Ok(ask) => ask,
            Err(decline) => return Answer::Declined(decline),
        };
        let answer = match self.send(ask, &call.credentials).await {
            Ok(answer) => answer,
            Err(no_response) => return no_response.into(),
        };
        let told = tell::object(&answer);
        match &told {
            Ok(intent) if lacks_shift(intent) => match self.undo(call.key, intent, &call.credentials).await {
                Some(decline) => Answer::Declined(decline),
                None => Answer::Unknown(UnknownReason::ProviderFailed),
            },
            Ok(_) | Err(_) => tell::authorized(told),
        }
    }

    /// Takes a payment back for which the issuer is not liable; `None` while that is not certain.
    async fn undo(&self, key: Uuid, intent: &PaymentIntent, credentials: &Credentials) -> Option<Decline> {
        let decline = Decline { transaction_id: Some(intent.id.clone()), ..declines::no_shift() };
        if intent.status == IntentStatus::RequiresCapture {
            let ask = ask::cancellation(ask::undoing_key(key), &intent.id);
            let answer = self.send(ask, credentials).await.ok()?;
            let canceled = tell::cancellation(tell::object(&answer));
            return matches!(canceled, Answer::Approved(_)).then_some(decline);
        }
        let answer = self.send(ask::undoing_refund(key, &intent.id), credentials).await.ok()?;
        match tell::object::<Refund>(&answer) {
            Ok(_) => Some(decline),
            Err(failure) => failure.is_refunded().then_some(decline),
        }
    }

    async fn capture(&self, call: &Call, follow_up: &FollowUp) -> Answer {
        let intent = match self.intent_of(follow_up, &call.credentials).await {
            Ok(Some(intent)) => intent,
            Ok(None) => return Answer::Unknown(UnknownReason::ProviderFailed),
            Err(stop) => return stop.into(),
        };
        let ask = match ask::capture(call, follow_up, &intent) {
            Ok(ask) => ask,
            Err(decline) => return Answer::Declined(decline),
        };
        let failure = match self.send(ask, &call.credentials).await {
            Ok(answer) => match tell::object::<PaymentIntent>(&answer) {
                Ok(captured) => match tell::captured(&captured, call.key) {
                    Some(finding) => return finding.into(),
                    None => Failure::Unknown(UnknownReason::ProviderFailed),
                },
                Err(failure) => failure,
            },
            Err(no_response) => return no_response.into(),
        };
        // The provider repeats a fault for as long as it knows the key, which it forgets after a day; then it refuses a
        // capture that was made. Only the payment tells what was done.
        if failure.may_hide_success() {
            let now = self.read::<PaymentIntent>(ask::intent(&intent), &call.credentials).await;
            if let Some(finding) = now.ok().and_then(|now| tell::captured(&now, call.key)) {
                return finding.into();
            }
        }
        failure.until_sent_again()
    }

    /// Releases what is reserved, or gives back what was taken: the payment tells which of them it is.
    async fn void(&self, call: &Call, follow_up: &FollowUp) -> Answer {
        let found = async {
            let Some(id) = self.intent_of(follow_up, &call.credentials).await? else { return Ok(None) };
            self.read::<PaymentIntent>(ask::intent(&id), &call.credentials).await.map(Some)
        };
        let intent = match found.await {
            Ok(Some(intent)) => intent,
            Ok(None) => return Answer::Unknown(UnknownReason::ProviderFailed),
            Err(stop) => return stop.into(),
        };
        match intent.status {
            IntentStatus::Canceled => Answer::Approved(tell::approval(&intent)),
            IntentStatus::Succeeded => self.refund(call, follow_up, &intent.id).await,
            IntentStatus::RequiresCapture if is_part(follow_up, &intent) => Answer::Declined(declines::own(
                DeclinedCode::TransactionNotAllowed,
                "reservation_cannot_be_lowered",
                Retry::No,
            )),
            IntentStatus::RequiresCapture
            | IntentStatus::RequiresPaymentMethod
            | IntentStatus::RequiresConfirmation
            | IntentStatus::RequiresAction => {
                let ask = ask::cancellation(call.key.to_string(), &intent.id);
                match self.send(ask, &call.credentials).await {
                    Ok(answer) => tell::cancellation(tell::object(&answer)),
                    Err(no_response) => no_response.into(),
                }
            }
            IntentStatus::Processing | IntentStatus::Other => Answer::Unknown(UnknownReason::ProviderFailed),
        }
    }

    /// Gives money back, once: a refund that an earlier call has made is found by its key, also when the provider has
    /// forgotten that as an idempotency key.
    async fn refund(&self, call: &Call, follow_up: &FollowUp, intent: &str) -> Answer {
        let made: List<Refund> = match self.read(ask::refunds_of(intent), &call.credentials).await {
            Ok(made) => made,
            Err(stop) => return stop.into(),
        };
        let is_ours = |refund: &&Refund| refund.metadata.uuid(member::KEY) == Some(call.key);
        if let Some(refund) = made.data.iter().find(is_ours) {
            return tell::refund_asked_for(refund);
        }
        if made.has_more {
            return Answer::Unknown(UnknownReason::ProviderFailed);
        }
        let ask = match ask::refund(call, follow_up, intent) {
            Ok(ask) => ask,
            Err(decline) => return Answer::Declined(decline),
        };
        match self.send(ask, &call.credentials).await {
            Ok(answer) => tell::refund(&answer),
            Err(no_response) => no_response.into(),
        }
    }

    /// The provider's id of the payment that a capture or void is about.
    async fn intent_of(
        &self,
        follow_up: &FollowUp,
        credentials: &Credentials,
    ) -> Result<Option<String>, Stop> {
        if let Some(id) = &follow_up.transaction_id {
            return Ok(Some(id.clone()));
        }
        let found: List<PaymentIntent> =
            self.read(ask::search(follow_up.authorization_key), credentials).await?;
        let of_key =
            |intent: &PaymentIntent| intent.metadata.uuid(member::KEY) == Some(follow_up.authorization_key);
        Ok(found.data.into_iter().find(of_key).map(|intent| intent.id))
    }

    async fn read<T: serde::de::DeserializeOwned>(
        &self,
        ask: Ask,
        credentials: &Credentials,
    ) -> Result<T, Stop> {
        Ok(tell::object(&self.send(ask, credentials).await?)?)
    }

    async fn look_up(&self, inquiry: &Inquiry) -> Probe {
        let credentials = &inquiry.credentials;
        let reference = inquiry.reference.as_deref();
        match (inquiry.operation, reference) {
            (OperationKind::Authorization, Some(id)) => {
                match self.read::<PaymentIntent>(ask::intent(id), credentials).await {
                    Ok(intent) => self.authorization_found(inquiry, &intent).await,
                    Err(_) => Probe::Unknown,
                }
            }
            (OperationKind::Authorization, None) => self.authorization_by_key(inquiry).await,
            (OperationKind::ZeroDollar, Some(id)) => {
                match self.send(ask::setup_intent(id), credentials).await {
                    Ok(answer) => tell::check_found(&answer),
                    Err(no_response) => no_response.into(),
                }
            }
            (OperationKind::ZeroDollar, None) => self.check_by_key(inquiry).await,
            (OperationKind::Capture, Some(id)) => {
                let intent = self.read::<PaymentIntent>(ask::intent(id), credentials).await;
                tell::probed(intent.ok().and_then(|intent| tell::captured(&intent, inquiry.key)))
            }
            (OperationKind::Void, Some(id)) => match self.send(ask::refund_by_id(id), credentials).await {
                Ok(answer) => tell::refund_found(&answer),
                Err(no_response) => no_response.into(),
            },
            // They are sent again instead.
            (OperationKind::Capture | OperationKind::Void, None) => Probe::Unknown,
        }
    }

    async fn authorization_found(&self, inquiry: &Inquiry, intent: &PaymentIntent) -> Probe {
        if lacks_shift(intent) {
            let undone = self.undo(inquiry.key, intent, &inquiry.credentials).await;
            return tell::probed(undone.map(Finding::Declined));
        }
        tell::probed(tell::finding(intent))
    }

    /// The list shows a payment at once, but not for ever on its first pages; the search finds every one, but later.
    async fn authorization_by_key(&self, inquiry: &Inquiry) -> Probe {
        let key_of = |intent: &PaymentIntent| intent.metadata.uuid(member::KEY);
        let listed =
            self.listed::<PaymentIntent>(inquiry, Listed::PaymentIntents, key_of, |intent| &intent.id).await;
        if let Looked::Found(intent) = &listed {
            return self.authorization_found(inquiry, intent).await;
        }
        let found = self.read::<List<PaymentIntent>>(ask::search(inquiry.key), &inquiry.credentials).await;
        let found =
            found.map(|found| found.data.into_iter().find(|intent| key_of(intent) == Some(inquiry.key)));
        match (found, listed) {
            // The search may show an earlier state.
            (Ok(Some(found)), _) => match self.read(ask::intent(&found.id), &inquiry.credentials).await {
                Ok(intent) => self.authorization_found(inquiry, &intent).await,
                Err(_) => Probe::Unknown,
            },
            (Ok(None), _) | (Err(_), Looked::Nowhere) => absent(inquiry),
            (Err(_), Looked::Found(_) | Looked::NotEverywhere) => Probe::Unknown,
        }
    }

    async fn check_by_key(&self, inquiry: &Inquiry) -> Probe {
        let key_of = |setup: &SetupIntent| setup.metadata.uuid(member::KEY);
        match self.listed::<SetupIntent>(inquiry, Listed::SetupIntents, key_of, |setup| &setup.id).await {
            Looked::Found(setup) => tell::probed(tell::checked(&setup)),
            Looked::Nowhere => absent(inquiry),
            Looked::NotEverywhere => Probe::Unknown,
        }
    }

    async fn listed<T: serde::de::DeserializeOwned>(
        &self,
        inquiry: &Inquiry,
        of: Listed,
        key_of: impl Fn(&T) -> Option<Uuid>,
        id_of: impl Fn(&T) -> &str,
    ) -> Looked<T> {
        let mut after: Option<String> = None;
        for _ in 0..PAGES_MAX {
            let ask = ask::made_about(inquiry, of, after.as_deref());
            let Ok(page) = self.read::<List<T>>(ask, &inquiry.credentials).await else { break };
            after = page.data.last().map(|last| id_of(last).to_owned());
            if let Some(found) = page.data.into_iter().find(|object| key_of(object) == Some(inquiry.key)) {
                return Looked::Found(found);
            }
            if !page.has_more {
                return Looked::Nowhere;
            }
        }
        Looked::NotEverywhere
    }
}

/// What a list shows of a key.
enum Looked<T> {
    Found(T),
    /// The whole list was read.
    Nowhere,
    /// The list is too long, or cannot be read.
    NotEverywhere,
}

fn absent(inquiry: &Inquiry) -> Probe {
    if inquiry.at.since(inquiry.sent_at) < ABSENCE_PROVES_AFTER { Probe::Unknown } else { Probe::Absent }
}

/// Whether money was taken or reserved without the shift of liability that the charge demands.
fn lacks_shift(intent: &PaymentIntent) -> bool {
    let is_taken = matches!(intent.status, IntentStatus::Succeeded | IntentStatus::RequiresCapture);
    is_taken && intent.metadata.requires_shift() && tell::shifts_liability(intent) != Some(true)
}

/// Whether less is to be released than is reserved.
fn is_part(follow_up: &FollowUp, intent: &PaymentIntent) -> bool {
    let reserved = intent.amount_capturable.unwrap_or(intent.amount);
    currency::received(reserved, &intent.currency).is_some_and(|reserved| follow_up.amount < reserved)
}

/// Whether the key is of the other environment: a sandbox moves no money, and production takes no play money.
fn is_of_other_mode(credentials: &Credentials, mode: Mode) -> bool {
    let key = credentials.expose(SECRET_KEY).unwrap_or_default();
    let wrong = match mode {
        Mode::Sandbox => ["sk_live_", "rk_live_"],
        Mode::Production => ["sk_test_", "rk_test_"],
    };
    wrong.iter().any(|prefix| key.starts_with(prefix))
}

impl Provider for Stripe {
    fn call(&self, call: Call) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            if is_of_other_mode(&call.credentials, call.mode) {
                return Answer::Declined(declines::credentials());
            }
            match &call.operation {
                Operation::Authorize(authorization) => self.authorize(&call, authorization).await,
                Operation::VerifyCard(verification) => {
                    match self.send(ask::verification(&call, verification), &call.credentials).await {
                        Ok(answer) => tell::verification(&answer),
                        Err(no_response) => no_response.into(),
                    }
                }
                Operation::Capture(follow_up) => self.capture(&call, follow_up).await,
                Operation::Void(follow_up) => self.void(&call, follow_up).await,
            }
        })
    }

    fn probe(&self, inquiry: Inquiry) -> BoxFuture<'_, Probe> {
        Box::pin(async move { self.look_up(&inquiry).await })
    }

    fn deadline(&self, operation: OperationKind) -> Duration {
        match operation {
            OperationKind::Authorization | OperationKind::ZeroDollar => AUTHORIZATION_TIME_MAX,
            OperationKind::Capture => CAPTURE_TIME_MAX,
            OperationKind::Void => VOID_TIME_MAX,
        }
    }

    fn probe_deadline(&self) -> Duration {
        PROBE_TIME_MAX
    }

    fn wants_buyer(&self) -> bool {
        true
    }

    fn authenticate(&self, request: &NotificationRequest<'_>) -> Result<Authentic, NotificationRefusal> {
        notification::authenticate(request)
    }

    fn events(&self, notification: &Notification<'_>) -> Result<Vec<ProviderEvent>, NotificationRefusal> {
        notification::events(notification)
    }

    fn check_credentials(&self, check: CredentialsCheck) -> BoxFuture<'_, Result<(), CredentialsRefusal>> {
        Box::pin(async move {
            let refused = |problem| Err(CredentialsRefusal { member: SECRET_KEY, problem });
            if is_of_other_mode(&check.credentials, check.mode) {
                return match check.mode {
                    Mode::Sandbox => refused("must be a test key of the provider"),
                    Mode::Production => refused("must be a live key of the provider"),
                };
            }
            match self.send(ask::balance(), &check.credentials).await {
                Ok(answer) if answer.status == http::StatusCode::UNAUTHORIZED => {
                    refused("is not accepted by the provider")
                }
                // A restricted key may be good for payments alone.
                Ok(_) | Err(_) => Ok(()),
            }
        })
    }
}
