//! One attempt to hand a delivery over: begun in the database, sent, ended in the database with what becomes of it.
//!
//! If the process dies in between, the attempt counts as lost at the time that its beginning names, and another one
//! follows: at least once, and twice when the endpoint had taken the first.

use std::time::Duration;

use bytes::Bytes;
use regente_domain::time::Timestamp;
use regente_domain::webhook::{DeliveryStatus, Failure, JITTER_PER_MILLE, Version, wait_after};
use regente_store::deliveries::{self, Attempt, Delivery, DueDelivery};
use regente_store::webhooks::{self, KeyPair, Webhook};
use regente_store::{Batch, Commit};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};

use super::signature::{self, SigningKey};
use super::{loss, payload};
use crate::api::error::ApiError;
use crate::app::App;
use crate::metrics;
use crate::outbound::{NoAnswer, Received};
use crate::vault::{Binding, Purpose};

/// How long after the longest answer an attempt counts as lost with its process.
const LOST_GRACE: Duration = Duration::from_secs(30);
/// The product token of deliveries.
const PRODUCT: &str = concat!("Regente/", env!("CARGO_PKG_VERSION"));

/// How an attempt went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Went {
    /// The endpoint took it.
    Well,
    /// It did not.
    Badly,
    /// Another worker had begun it.
    Elsewhere,
}

/// Hands one delivery over.
pub(super) async fn run(app: &App, webhook: &Webhook, due: &DueDelivery) -> Result<Went, ApiError> {
    let delivery = &due.delivery;
    let began_at = app.clock.now();
    let answer_max = answer_max(app, delivery);
    let lost_at = began_at + answer_max + LOST_GRACE;
    let mut batch = Batch::new(delivery.client_id);
    deliveries::begin_attempt(&mut batch, delivery, began_at, lost_at);
    if apply(app, batch).await? != Commit::Applied {
        return Ok(Went::Elsewhere);
    }
    let body = payload::body(delivery, &due.snapshot).map_err(ApiError::internal)?;
    let headers = headers(app, webhook, delivery, &body).await?;
    let started = app.clock.machine();
    let answer = app.outbound.post(&webhook.endpoint, headers, Bytes::from(body), answer_max).await;
    let duration = app.clock.machine().since(started);
    let (attempt, asked_for) = attempt(began_at, duration, answer, app.clock.now());
    metrics::delivery_attempt(attempt.failure, duration);
    end(app, webhook, delivery, &attempt, asked_for, lost_at).await
}

/// How long this attempt waits for its answer.
fn answer_max(app: &App, delivery: &Delivery) -> Duration {
    let settings = &app.settings.webhooks;
    if delivery.tries == 0 { settings.first_answer_max } else { settings.retry_answer_max }
}

fn attempt(
    began_at: Timestamp,
    duration: Duration,
    answer: Result<Received, NoAnswer>,
    now: Timestamp,
) -> (Attempt, Option<Duration>) {
    let without_answer =
        |failure| Attempt { began_at, duration, http_status: None, failure: Some(failure), answer: None };
    match answer {
        Ok(Received { status, retry_after, beginning }) => {
            let failure = (!matches!(status, 200 | 201)).then_some(Failure::UnexpectedStatus);
            let answer = Some(beginning);
            let asked_for = retry_after.map(|retry_after| retry_after.from(now));
            (Attempt { began_at, duration, http_status: Some(status), failure, answer }, asked_for)
        }
        Err(NoAnswer::Refused) => (without_answer(Failure::AddressRefused), None),
        Err(NoAnswer::Broken) => (without_answer(Failure::ConnectionFailed), None),
        Err(NoAnswer::TimedOut) => (without_answer(Failure::TimedOut), None),
    }
}

async fn end(
    app: &App,
    webhook: &Webhook,
    delivery: &Delivery,
    attempt: &Attempt,
    asked_for: Option<Duration>,
    lost_at: Timestamp,
) -> Result<Went, ApiError> {
    let now = app.clock.now();
    let mut batch = Batch::new(delivery.client_id);
    if attempt.failure.is_none() {
        deliveries::end_attempt(&mut batch, delivery, attempt, lost_at, DeliveryStatus::Delivered, None);
        webhooks::took(&mut batch, webhook);
        return apply(app, batch).await.map(|_| Went::Well);
    }
    let waits = app.settings.webhooks.waits(delivery.api_version);
    let drawn = u32::try_from(app.chance.below(u64::from(2 * JITTER_PER_MILLE) + 1)).unwrap_or(0);
    let wait = wait_after(waits, delivery.tries + 1, asked_for, drawn);
    match wait {
        Some(wait) => {
            let due_at = Some(now + wait);
            deliveries::end_attempt(&mut batch, delivery, attempt, lost_at, DeliveryStatus::Pending, due_at);
        }
        None => {
            deliveries::end_attempt(&mut batch, delivery, attempt, lost_at, DeliveryStatus::Lost, None);
            webhooks::lost(&mut batch, webhook);
        }
    }
    match (apply(app, batch).await?, wait) {
        (Commit::Applied, None) => loss::tell(app, webhook, delivery).await?,
        // Refused: the attempt counted as lost meanwhile, or the webhook was deleted. Nothing is to be added.
        (Commit::Applied, Some(_)) | (Commit::Refused(_) | Commit::Unknown, _) => {}
    }
    Ok(Went::Badly)
}

pub(super) async fn apply(app: &App, batch: Batch) -> Result<Commit, ApiError> {
    let _admission = app.store.admit_waiting().await?;
    Ok(app.store.apply(batch).await?)
}

/// Signed with the time of this attempt: receivers refuse old dates.
async fn headers(
    app: &App,
    webhook: &Webhook,
    delivery: &Delivery,
    body: &[u8],
) -> Result<HeaderMap, ApiError> {
    let id = delivery.event_id.uuid();
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/plain, */*"));
    headers.insert(USER_AGENT, HeaderValue::from_static(PRODUCT));
    let key = HeaderValue::try_from(id.to_string()).map_err(ApiError::internal)?;
    headers.insert(HeaderName::from_static("x-idempotency-key"), key);
    match delivery.api_version {
        // Receivers of the former version know no signature.
        Version::V1_0 => {}
        Version::V1_1 => {
            let now = app.clock.now();
            let (key, next) = keys(app, webhook, now).await?;
            for (name, value) in signature::headers(id, now, body, &key, next.as_ref()) {
                let value = HeaderValue::try_from(value).map_err(ApiError::internal)?;
                headers.insert(HeaderName::from_static(name), value);
            }
        }
    }
    Ok(headers)
}

/// The key that signs now, and while it is being replaced the one that follows.
async fn keys(
    app: &App,
    webhook: &Webhook,
    now: Timestamp,
) -> Result<(SigningKey, Option<SigningKey>), ApiError> {
    match &webhook.next_key {
        None => Ok((open(app, webhook, &webhook.key, Purpose::WebhookKey).await?, None)),
        Some(next) if next.at <= now => {
            Ok((open(app, webhook, &next.key, Purpose::NextWebhookKey).await?, None))
        }
        Some(next) => Ok((
            open(app, webhook, &webhook.key, Purpose::WebhookKey).await?,
            Some(open(app, webhook, &next.key, Purpose::NextWebhookKey).await?),
        )),
    }
}

async fn open(app: &App, webhook: &Webhook, key: &KeyPair, purpose: Purpose) -> Result<SigningKey, ApiError> {
    let binding = Binding::new(purpose, webhook.client_id, webhook.id.uuid());
    let seed = app.vault.open(binding, &key.private).await?;
    SigningKey::from_seed(&seed).map_err(ApiError::internal)
}
