//! The adapter of provider type `STRIPE` (`docs/providers/stripe.md`): cards and boletos by PaymentIntents, with card numbers
//! from server to server. The steps of each operation are in `operations` and `look_up`; what is sent is in `ask`, what an
//! answer means in `tell`.

use std::time::Duration;

use futures_util::future::BoxFuture;
use http::{HeaderName, Method, StatusCode};
use regente_domain::card::{CardNumber, Cvv, Expiry};
use regente_domain::provider_type::ProviderType;
use reqwest::Url;
use serde::de::DeserializeOwned;

pub mod ask;
mod currency;
mod declines;
mod look_up;
mod notification;
mod operations;
pub mod tell;
mod wire;

use crate::http_client::{HttpClient, Incoming, NoResponse, Outgoing};
use crate::notification::{Authentic, Notification, NotificationRefusal, NotificationRequest, ProviderEvent};
use crate::outcome::{Answer, Probe};
use crate::provider::{Adapter, CredentialsCheck, CredentialsRefusal, NotRefused, Provider};
use crate::request::{Call, CardDetails, Credentials, Inquiry, Mode, Operation, OperationKind};
use ask::Ask;
pub use look_up::ABSENCE_PROVES_AFTER;
use operations::Stop;

/// The provider's address.
const ADDRESS: &str = "https://api.stripe.com/";
/// The version of the interface that `ask` and `wire` are written for. Without it the account's own would count.
const VERSION: &str = "2026-10-28.endive";
const VERSION_HEADER: HeaderName = HeaderName::from_static("stripe-version");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The member of the credentials with the API key.
const SECRET_KEY: &str = "secretKey";

/// The card that every test environment of the provider approves.
const TEST_CARD: &str = "4242424242424242";

/// A payment asks the issuer, who may take half a minute.
const AUTHORIZATION_TIME_MAX: Duration = Duration::from_secs(35);
/// A capture may be followed by a look at the payment.
const CAPTURE_TIME_MAX: Duration = Duration::from_secs(30);
/// A void looks at the payment and its refunds first.
const VOID_TIME_MAX: Duration = Duration::from_secs(35);
/// A probe may read several pages.
const PROBE_TIME_MAX: Duration = Duration::from_secs(20);
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

    async fn read<T: DeserializeOwned>(&self, ask: Ask, credentials: &Credentials) -> Result<T, Stop> {
        Ok(tell::object(&self.send(ask, credentials).await?)?)
    }
}

/// Whether the key is of the other environment: a sandbox moves no money, and production takes no play money.
fn is_of_other_mode(credentials: &Credentials, mode: Mode) -> bool {
    let key = credentials.expose(SECRET_KEY).unwrap_or_default();
    let is_for_tests = ["sk_test_", "rk_test_"].iter().any(|prefix| key.starts_with(prefix));
    match mode {
        Mode::Sandbox => !is_for_tests,
        Mode::Production => is_for_tests,
    }
}

impl Provider for Stripe {
    fn call(&self, call: Call) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            if is_of_other_mode(&call.credentials, call.mode) {
                return match call.operation {
                    Operation::Authorize(_) | Operation::VerifyCard(_) => {
                        Answer::Declined(declines::credentials())
                    }
                    // An earlier repetition may have been sent with the key before this one.
                    Operation::Capture(_) | Operation::Void(_) => Answer::NotSent,
                };
            }
            match &call.operation {
                Operation::Authorize(authorization) => self.authorize(&call, authorization).await,
                Operation::VerifyCard(verification) => self.verify(&call, verification).await,
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

    fn test_card(&self) -> Option<CardDetails> {
        Some(CardDetails {
            number: CardNumber::parse(TEST_CARD).ok()?,
            holder_name: "TEST".to_owned(),
            expiry: Expiry::parse("12/2049")?,
            cvv: Cvv::parse("123"),
        })
    }

    fn authenticate(&self, request: &NotificationRequest<'_>) -> Result<Authentic, NotificationRefusal> {
        notification::authenticate(request)
    }

    fn events(&self, notification: &Notification<'_>) -> Result<Vec<ProviderEvent>, NotificationRefusal> {
        notification::events(notification)
    }

    fn check_credentials(
        &self,
        check: CredentialsCheck,
    ) -> BoxFuture<'_, Result<NotRefused, CredentialsRefusal>> {
        Box::pin(async move {
            let refused = |problem| Err(CredentialsRefusal { member: SECRET_KEY, problem });
            if is_of_other_mode(&check.credentials, check.mode) {
                return match check.mode {
                    Mode::Sandbox => refused("must be a test key of the provider"),
                    Mode::Production => refused("must be a live key of the provider"),
                };
            }
            match self.send(ask::balance(), &check.credentials).await {
                Ok(answer) if answer.status == StatusCode::UNAUTHORIZED => {
                    refused("is not accepted by the provider")
                }
                // A restricted key may be good for payments alone.
                Ok(answer) => Ok(NotRefused::told_by(answer.status)),
                Err(_) => Ok(NotRefused::NotReached),
            }
        })
    }
}
