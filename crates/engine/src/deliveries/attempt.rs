//! Runs one attempt of a delivery: the delivery worker has recorded its beginning; this module sends it and records its
//! end.
//!
//! If the process dies in between, the attempt counts as lost at the time recorded with its beginning, and another
//! attempt follows: delivery is at least once.

use std::time::Duration;

use bytes::Bytes;
use regente_domain::time::Timestamp;
use regente_domain::webhook::schedule::{JITTER_PER_MILLE, wait_after};
use regente_domain::webhook::{DeliveryStatus, Failure, Version};
use regente_store::deliveries::{self, Attempt, Begun, Delivery, DueDelivery};
use regente_store::webhooks::{self, Webhook};
use regente_store::{Batch, Commit};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};

use super::keys::Signer;
use super::{loss, payload, signature};
use crate::app::App;
use crate::error::Error;
use crate::metrics;
use crate::outbound::{NoAnswer, Received, RetryAfter};

/// The `User-Agent` of deliveries.
const PRODUCT: &str = concat!("Regente/", env!("CARGO_PKG_VERSION"));

/// The result of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Went {
    /// The endpoint accepted the delivery.
    Well,
    /// The attempt failed.
    Badly,
}

/// Sends one delivery and records the result.
pub(super) async fn run(
    app: &App,
    webhook: &Webhook,
    signer: Option<&Signer>,
    due: &DueDelivery,
    begun: Begun,
) -> Result<Went, Error> {
    let delivery = &due.delivery;
    let (began_at, started) = (app.clock.of(delivery.client_id), app.clock.machine());
    let answer = match message(app, signer, due, began_at).await {
        Ok((headers, body)) => {
            let answer_max = answer_max(app, delivery);
            app.outbound.post(&webhook.endpoint, headers, body, answer_max).await.map_err(failure)
        }
        Err(error) => {
            tracing::error!(
                delivery = %delivery.id, webhook = %webhook.id, error = &error as &dyn std::error::Error,
                "a delivery cannot be built or signed"
            );
            Err(Failure::NotSent)
        }
    };
    let duration = app.clock.machine().since(started);
    let (attempt, asked_for) = attempt(began_at, duration, answer);
    metrics::delivery_attempt(attempt.failure, duration);
    end(app, webhook, delivery, begun, &attempt, asked_for).await
}

/// The headers and body to send.
async fn message(
    app: &App,
    signer: Option<&Signer>,
    due: &DueDelivery,
    now: Timestamp,
) -> Result<(HeaderMap, Bytes), Error> {
    let body = payload::body(app, due).await?;
    let signer = signer.ok_or_else(|| Error::internal("the key of the webhook cannot be opened"))?;
    Ok((headers(&due.delivery, signer, now, &body)?, Bytes::from(body)))
}

/// The lost attempt of a delivery whose process died, if there was one.
pub(super) fn interrupted(delivery: &Delivery) -> Option<Attempt> {
    let (began_at, lost_at) = (delivery.began_at?, delivery.due_at?);
    let failure = Some(Failure::Interrupted);
    Some(Attempt { began_at, duration: lost_at.since(began_at), http_status: None, failure, answer: None })
}

/// How long an attempt waits for the response.
pub(super) fn answer_max(app: &App, delivery: &Delivery) -> Duration {
    let settings = &app.settings.webhooks;
    if delivery.tries == 0 { settings.first_answer_max } else { settings.retry_answer_max }
}

fn attempt(
    began_at: Timestamp,
    duration: Duration,
    answer: Result<Received, Failure>,
) -> (Attempt, Option<RetryAfter>) {
    let without_answer =
        |failure| Attempt { began_at, duration, http_status: None, failure: Some(failure), answer: None };
    match answer {
        Ok(Received { status, retry_after, beginning }) => {
            let failure = (!matches!(status, 200 | 201)).then_some(Failure::UnexpectedStatus);
            let answer = Some(beginning);
            (Attempt { began_at, duration, http_status: Some(status), failure, answer }, retry_after)
        }
        Err(failure) => (without_answer(failure), None),
    }
}

fn failure(no_answer: NoAnswer) -> Failure {
    match no_answer {
        NoAnswer::Refused => Failure::AddressRefused,
        NoAnswer::Broken => Failure::ConnectionFailed,
        NoAnswer::TimedOut => Failure::TimedOut,
    }
}

async fn end(
    app: &App,
    webhook: &Webhook,
    delivery: &Delivery,
    begun: Begun,
    attempt: &Attempt,
    asked_for: Option<RetryAfter>,
) -> Result<Went, Error> {
    let now = app.clock.of(delivery.client_id);
    let mut batch = Batch::new(delivery.client_id);
    if attempt.failure.is_none() {
        deliveries::end_attempt(&mut batch, delivery, begun, attempt, DeliveryStatus::Delivered, None);
        webhooks::took(&mut batch, webhook);
        return apply(app, batch).await.map(|_| Went::Well);
    }
    let waits = app.settings.webhooks.waits(delivery.api_version);
    let drawn = u32::try_from(app.chance.below(u64::from(2 * JITTER_PER_MILLE) + 1)).unwrap_or(0);
    let asked_for = asked_for.map(|asked_for| asked_for.wait(now));
    let wait = wait_after(waits, delivery.tries + 1, asked_for, drawn);
    match wait {
        Some(wait) => {
            let due_at = Some(now + wait);
            deliveries::end_attempt(&mut batch, delivery, begun, attempt, DeliveryStatus::Pending, due_at);
        }
        None => {
            deliveries::end_attempt(&mut batch, delivery, begun, attempt, DeliveryStatus::Lost, None);
            webhooks::lost(&mut batch, webhook);
        }
    }
    match (apply(app, batch).await?, wait) {
        (Commit::Applied, None) => loss::tell(app, webhook, delivery).await?,
        // A refusal means that the attempt counted as lost meanwhile or the webhook was deleted; there is nothing to
        // add.
        (Commit::Applied, Some(_)) | (Commit::Refused(_) | Commit::Unknown, _) => {}
    }
    Ok(Went::Badly)
}

pub(super) async fn apply(app: &App, batch: Batch) -> Result<Commit, Error> {
    let _admission = app.store.admit_waiting().await?;
    Ok(app.store.apply(batch).await?)
}

/// The headers, signed with the time of this attempt: receivers refuse old times.
pub(super) fn headers(
    delivery: &Delivery,
    signer: &Signer,
    now: Timestamp,
    body: &[u8],
) -> Result<HeaderMap, Error> {
    let id = delivery.event_id.uuid();
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/plain, */*"));
    headers.insert(USER_AGENT, HeaderValue::from_static(PRODUCT));
    let key = HeaderValue::try_from(id.to_string()).map_err(Error::internal)?;
    headers.insert(HeaderName::from_static("x-idempotency-key"), key);
    match delivery.api_version {
        // Receivers of version 1.0 know no signature.
        Version::V1_0 => {}
        Version::V1_1 => {
            for (name, value) in signature::headers(id, now, body, &signer.key, signer.next.as_ref()) {
                let value = HeaderValue::try_from(value).map_err(Error::internal)?;
                headers.insert(HeaderName::from_static(name), value);
            }
        }
    }
    Ok(headers)
}
