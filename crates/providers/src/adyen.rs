//! The adapter of `ADYEN` (Checkout API v71, `docs/providers/adyen.md`). Payments are answered at once; captures, refunds and
//! cancellations are received, and notifications tell their result. Nothing can be asked about a payment, but for its
//! cardholder who came back from an authentication. Here are the address, the headers and the order of steps.

use std::time::Duration;

use futures_util::future::BoxFuture;
use http::HeaderName;
use regente_domain::card::{CardNumber, Cvv, Expiry};
use regente_domain::provider_type::ProviderType;
use reqwest::Url;

use crate::http_client::{HttpClient, Outgoing};
use crate::notification::{Authentic, Notification, NotificationRefusal, NotificationRequest, ProviderEvent};
use crate::outcome::{Answer, Probe, UnknownReason};
use crate::provider::{Adapter, CredentialsCheck, CredentialsRefusal, NotRefused, Provider};
use crate::request::{Call, CardDetails, Credentials, Inquiry, Mode, OperationKind};
use ask::AdyenRequest;

pub mod ask;
pub mod currency;
pub mod declines;
mod notification;
pub mod reference;
pub mod tell;
mod wire;

/// The address of the test environment.
const TEST: &str = "https://checkout-test.adyen.com/v71";
/// The end of the host of the live environment, after the merchant's prefix.
const LIVE_HOST_END: &str = "-checkout-live.adyenpayments.com";
/// Longest prefix: it begins a label of a host name, which has 63 characters at most.
const LIVE_PREFIX_CHARS_MAX: usize = 63 - "-checkout-live".len();
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// How long the answer to a payment is waited for: the issuer, and perhaps a second acquirer, are asked meanwhile.
const PAYMENT_TIME_MAX: Duration = Duration::from_secs(45);
/// How long any other answer is waited for.
const TIME_MAX: Duration = Duration::from_secs(20);

/// How long the provider remembers a key at least.
const KEY_LIFE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The adapter. `base` takes the place of the test environment's address, with its path.
pub fn adapter(http: HttpClient, base: Option<Url>) -> Adapter {
    (ProviderType::Adyen, Box::new(Adyen { http, base }))
}

struct Adyen {
    http: HttpClient,
    base: Option<Url>,
}

impl Adyen {
    async fn carry_out(&self, call: Call) -> Answer {
        if is_forgotten(&call) {
            tracing::error!(
                alert = "idempotency_key_forgotten", provider = %ProviderType::Adyen.code(), key = %call.key,
                "the provider remembers the key of a capture or void no longer, so it is not sent again: look at the \
                 provider whether it was carried out"
            );
            return Answer::Unknown(UnknownReason::ProviderFailed);
        }
        let (outgoing, expects) = match ask::asked(&call) {
            Ok(mut asked) => {
                let expects = std::mem::replace(&mut asked.expects, ask::Expects::Receipt);
                (self.outgoing(&call.credentials, call.mode, &asked), expects)
            }
            Err(decline) => return Answer::Declined(decline),
        };
        // The card is not needed any more.
        drop(call);
        let Some(outgoing) = outgoing else {
            return match expects {
                // An earlier repetition may have been sent with the prefix before this one.
                ask::Expects::Receipt => Answer::NotSent,
                ask::Expects::Card { .. } | ask::Expects::Pix { .. } | ask::Expects::Boleto(_) => {
                    Answer::Declined(declines::no_access("not_sent", "liveUrlPrefix is no prefix"))
                }
            };
        };
        match self.http.send(outgoing).await {
            Ok(incoming) => tell::answer(&expects, &incoming),
            Err(no_response) => no_response.into(),
        }
    }

    async fn ask_after(&self, inquiry: Inquiry) -> Probe {
        let outgoing = ask::returned(&inquiry)
            .and_then(|asked| self.outgoing(&inquiry.credentials, inquiry.mode, &asked));
        let Some(outgoing) = outgoing else { return Probe::Unknown };
        match self.http.send(outgoing).await {
            Ok(incoming) => tell::found(&inquiry, &incoming),
            Err(no_response) => no_response.into(),
        }
    }

    async fn check(&self, check: CredentialsCheck) -> Result<NotRefused, CredentialsRefusal> {
        let CredentialsCheck { credentials, mode, options: _ } = check;
        if !notification::has_valid_key(&credentials) {
            let problem = "must have 64 hexadecimal digits";
            return Err(CredentialsRefusal { member: "webhookHmacKey", problem });
        }
        let Some(outgoing) = self.outgoing(&credentials, mode, &ask::payment_methods(&credentials)) else {
            let problem = "must be the prefix of the live addresses, without a scheme";
            return Err(CredentialsRefusal { member: "liveUrlPrefix", problem });
        };
        match self.http.send(outgoing).await {
            Ok(incoming) => tell::credentials(&incoming),
            Err(_no_response) => Ok(NotRefused::NotReached),
        }
    }

    /// The request; `None` when the prefix of the live address is none.
    fn outgoing(&self, credentials: &Credentials, mode: Mode, asked: &AdyenRequest<'_>) -> Option<Outgoing> {
        let mut url = self.address(credentials, mode)?;
        url.path_segments_mut().ok()?.pop_if_empty().extend(&asked.path);
        let outgoing = Outgoing::post(ProviderType::Adyen, asked.step, url)
            .secret_header(API_KEY, credentials.expose("apiKey").unwrap_or_default())
            .json(&asked.body);
        Some(match asked.idempotency_key {
            Some(key) => outgoing.header(IDEMPOTENCY_KEY, &key.to_string()),
            None => outgoing,
        })
    }

    fn address(&self, credentials: &Credentials, mode: Mode) -> Option<Url> {
        match (mode, &self.base) {
            (Mode::Sandbox, Some(base)) => Some(base.clone()),
            (Mode::Sandbox, None) => Url::parse(TEST).ok(),
            (Mode::Production, _) => live(credentials.expose("liveUrlPrefix").unwrap_or_default()),
        }
    }
}

/// Whether the provider would take a capture or void that it may have carried out for another one.
fn is_forgotten(call: &Call) -> bool {
    match call.operation.kind() {
        OperationKind::Authorization | OperationKind::ZeroDollar => false,
        OperationKind::Capture | OperationKind::Void => call.at + TIME_MAX >= call.begun_at + KEY_LIFE,
    }
}

/// The address of the live environment. The prefix may come with the rest of the host, and with nothing else: it names
/// no other host.
fn live(prefix: &str) -> Option<Url> {
    let prefix = prefix.trim();
    let prefix = prefix.strip_suffix(LIVE_HOST_END).unwrap_or(prefix);
    let is_prefix = (1..=LIVE_PREFIX_CHARS_MAX).contains(&prefix.len())
        && prefix.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !prefix.starts_with('-');
    is_prefix.then(|| Url::parse(&format!("https://{prefix}{LIVE_HOST_END}/checkout/v71")).ok()).flatten()
}

impl Provider for Adyen {
    fn call(&self, call: Call) -> BoxFuture<'_, Answer> {
        Box::pin(self.carry_out(call))
    }

    fn probe(&self, inquiry: Inquiry) -> BoxFuture<'_, Probe> {
        Box::pin(self.ask_after(inquiry))
    }

    /// It tells of a payment alone while the payer's browser comes back, and of nothing else.
    fn can_be_asked(&self) -> bool {
        false
    }

    fn deadline(&self, operation: OperationKind) -> Duration {
        match operation {
            OperationKind::Authorization | OperationKind::ZeroDollar => PAYMENT_TIME_MAX,
            OperationKind::Capture | OperationKind::Void => TIME_MAX,
        }
    }

    fn probe_deadline(&self) -> Duration {
        TIME_MAX
    }

    fn authenticate(&self, request: &NotificationRequest<'_>) -> Result<Authentic, NotificationRefusal> {
        notification::authenticate(request)
    }

    fn events(&self, notification: &Notification<'_>) -> Result<Vec<ProviderEvent>, NotificationRefusal> {
        notification::events(notification)
    }

    fn wants_buyer(&self) -> bool {
        true
    }

    fn test_card(&self) -> Option<CardDetails> {
        Some(CardDetails {
            number: CardNumber::parse("4111111111111111").ok()?,
            holder_name: "TEST".to_owned(),
            expiry: Expiry::parse("03/2030")?,
            cvv: Cvv::parse("737"),
        })
    }

    fn check_credentials(
        &self,
        check: CredentialsCheck,
    ) -> BoxFuture<'_, Result<NotRefused, CredentialsRefusal>> {
        Box::pin(self.check(check))
    }
}
