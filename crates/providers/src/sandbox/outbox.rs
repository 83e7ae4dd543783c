//! The simulator's outbox: notifications that wait to be sent to the service that made the calls. It is in memory: what
//! a crash loses, a probe finds, as with any provider whose notification never arrives.

use std::time::Duration;

use regente_domain::time::Timestamp;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, StatusCode};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use super::notification::{SIGNATURE_HEADER, SigningKey};
use crate::request::Call;

/// Most notifications that wait; further ones are never sent.
const WAITING_MAX: usize = 10_000;
/// Most notifications that are under way at once.
const UNDER_WAY_MAX: usize = 256;
/// How long the service has for its answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// The waits after attempts that were not answered with 2xx; after the last one the notification is dropped.
const WAITS: [Duration; 6] = [
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(2 * 60),
    Duration::from_secs(10 * 60),
    Duration::from_secs(60 * 60),
];

/// Where notifications about one payment go, and what signs them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Recipient {
    /// The address of the registered provider at the service that made the call.
    pub url: String,
    /// The charge or card that the call named.
    pub object_id: Uuid,
    /// Signs for this registration.
    pub signing_key: SigningKey,
}

impl Recipient {
    /// The recipient of notifications about a call, if it names one and its registration has a key to sign with.
    pub fn of(call: &Call) -> Option<Self> {
        let url = call.notify.as_ref()?.to_string();
        Some(Self { url, object_id: call.object_id, signing_key: SigningKey::of(&call.credentials)? })
    }
}

/// A notification that waits to be sent.
#[derive(Clone, Debug)]
pub struct Notice {
    /// Where it goes.
    pub url: String,
    /// The body.
    pub body: Vec<u8>,
    /// How long it waits before it is sent.
    pub delay: Duration,
    signing_key: SigningKey,
    is_forged: bool,
}

/// Whether a notification is signed by the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signature {
    /// It is.
    Genuine,
    /// Somebody else has signed it.
    Forged,
}

impl Notice {
    pub(super) fn new(to: &Recipient, body: Vec<u8>, delay: Duration, signature: Signature) -> Self {
        let (url, signing_key) = (to.url.clone(), to.signing_key.clone());
        Self { url, body, delay, signing_key, is_forged: signature == Signature::Forged }
    }

    /// The value of [`SIGNATURE_HEADER`] when it is sent at `at`.
    pub fn signature(&self, at: Timestamp) -> String {
        if self.is_forged {
            // The time is covered by the signature, so a signature for another body is as wrong as any.
            return self.signing_key.sign(at, b"");
        }
        self.signing_key.sign(at, &self.body)
    }
}

/// The side of the outbox that the simulator writes to.
#[derive(Clone, Debug)]
pub(super) struct Letterbox(mpsc::Sender<Notice>);

impl Letterbox {
    pub(super) fn post(&self, notice: Notice) {
        if self.0.try_send(notice).is_err() {
            tracing::warn!("a notification of the simulator is lost: too many wait, or nobody sends them");
        }
    }
}

/// The notifications that wait, oldest first.
#[derive(Debug)]
pub struct Outbox(mpsc::Receiver<Notice>);

pub(super) fn outbox() -> (Letterbox, Outbox) {
    let (sender, receiver) = mpsc::channel(WAITING_MAX);
    (Letterbox(sender), Outbox(receiver))
}

impl Outbox {
    /// Takes what waits, whatever its delay.
    pub fn take(&mut self) -> Vec<Notice> {
        std::iter::from_fn(|| self.0.try_recv().ok()).collect()
    }

    /// Sends what waits, each until it is answered with 2xx or the waits are over. Ends with the simulator. `now` is the
    /// time that signatures name.
    pub async fn run(mut self, now: impl Fn() -> Timestamp + Clone + Send + Sync + 'static) {
        let mut clients = Clients::default();
        let mut under_way = JoinSet::new();
        while let Some(notice) = self.0.recv().await {
            if under_way.len() >= UNDER_WAY_MAX {
                let _ = under_way.join_next().await;
            }
            match clients.of(&notice.url) {
                Ok(http) => drop(under_way.spawn(deliver(http, now.clone(), notice))),
                Err(error) => tracing::error!(%error, "the simulator cannot send a notification"),
            }
            while under_way.try_join_next().is_some() {}
        }
        while under_way.join_next().await.is_some() {}
    }
}

/// The clients that send, made when they are needed. The addresses come from the calls of the service alone, never from
/// its users, so they may be on this machine.
#[derive(Default)]
struct Clients {
    plain: Option<Client>,
    encrypted: Option<Client>,
}

impl Clients {
    fn of(&mut self, url: &str) -> reqwest::Result<Client> {
        let builder = Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
        let (place, builder) = if url.starts_with("https:") {
            (&mut self.encrypted, builder)
        } else {
            // Plain HTTP needs no certificate authorities.
            (&mut self.plain, builder.tls_certs_only([]))
        };
        if let Some(client) = place {
            return Ok(client.clone());
        }
        let client = builder.build()?;
        *place = Some(client.clone());
        Ok(client)
    }
}

async fn deliver(http: Client, now: impl Fn() -> Timestamp, notice: Notice) {
    sleep(notice.delay).await;
    for wait in WAITS {
        match timeout(ANSWER_WITHIN, send(&http, now(), &notice)).await {
            Ok(Ok(status)) if status.is_success() => return,
            // The service refuses it for good: what is forged stays forged.
            Ok(Ok(StatusCode::UNAUTHORIZED | StatusCode::NOT_FOUND)) => return,
            Ok(Ok(_) | Err(_)) | Err(_) => sleep(wait).await,
        }
    }
    tracing::warn!("a notification of the simulator was not taken; a probe finds its outcome");
}

async fn send(http: &Client, at: Timestamp, notice: &Notice) -> reqwest::Result<StatusCode> {
    let request = http
        .post(&notice.url)
        .header(CONTENT_TYPE, "application/json")
        .header(SIGNATURE_HEADER, notice.signature(at))
        .body(notice.body.clone());
    Ok(request.send().await?.status())
}
