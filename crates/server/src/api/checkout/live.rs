//! What becomes of a payment while the buyer looks at the page: the session, and the one charge that the page names.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use futures_util::stream;
use regente_domain::charge::ChargeStatus;
use regente_domain::id::ChargeId;
use regente_domain::session::Session;
use regente_engine::caller::Caller;
use regente_engine::clock::MachineTime;
use regente_engine::error::Error;
use regente_engine::idempotency;
use regente_engine::subscriptions::card_links::{self, LinkState, Outstanding};
use regente_store::charges::{self, StoredCharge};
use regente_store::transaction_requests::StoredRequest;
use serde::Serialize;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{sleep, timeout};

use crate::api::charges::view::ChargeView;
use crate::api::charges::{self as charge_views, of_session};
use crate::api::path::Path;
use crate::api::query::Query;
use crate::api::sessions;
use crate::app::App;
use crate::health::Readiness;
use crate::http::error::ApiError;
use crate::http::headers::idempotency_key;
use crate::http::peer::PeerAddress;
use crate::http::streams::{Holder, StreamSlot};

/// The `Retry-After` of whom no stream is left for.
const RETRY_AFTER_FULL: Duration = Duration::from_secs(10);
/// How often the database is asked for a stream.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long nothing is sent before a sign of life is.
const SIGN_OF_LIFE_EVERY: Duration = Duration::from_secs(15);
/// How long a stream lasts; the page opens another one.
const LIFE_MAX: Duration = Duration::from_secs(15 * 60);

/// What the page is told.
#[derive(Serialize)]
struct LiveView {
    session: SessionTold,
    charge: Option<ChargeView>,
    /// Whether the buyer has paid less than was charged, and the shop has not decided what becomes of it.
    underpaid: bool,
    /// Where the session takes a card for a subscription: what has become of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    card: Option<CardTold>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct CardTold {
    /// Whether the subscription has it.
    saved: bool,
    /// What became of the cycle that was not paid.
    outstanding: Outstanding,
}

#[derive(Serialize)]
struct SessionTold {
    status: &'static str,
    /// Whether a buyer may try to pay.
    payable: bool,
}

/// The session of the page, and the charge that this browser has begun.
struct LiveRequest {
    caller: Caller,
    session_id: String,
    charge_id: Option<ChargeId>,
}

/// What is stored.
struct LiveRecords {
    session: Session,
    payable: bool,
    charge: Option<(StoredCharge, Vec<StoredRequest>)>,
    card: Option<CardTold>,
}

/// Tells what has become of the session and of a charge. The charge is named by `charge`, or by the idempotency key that it
/// was begun with: a page that was closed before the answer came knows nothing else.
pub(super) async fn status(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    query: Query,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let asked = LiveRequest::read(&app, caller, id, &query, &headers).await?;
    let told = asked.look(&app).await?.told(&app, &asked.caller).await?;
    Ok(([(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))], Json(told)).into_response())
}

/// Tells the same at once and at each change, until nothing changes any more.
pub(super) async fn events(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(PeerAddress(address)): Extension<PeerAddress>,
    readiness: Option<Extension<Readiness>>,
    Path(id): Path<String>,
    query: Query,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let full = || Error::Unavailable { retry_after: RETRY_AFTER_FULL, cause: None };
    let streams = &app.limiters.streams;
    let place = streams.place().ok_or_else(full)?;
    let of_address = streams.place_of(Holder::Address(address.into())).ok_or_else(full)?;
    let asked = LiveRequest::read(&app, caller, id, &query, &headers).await?;
    // A session that is not there is an answer and no stream.
    let known = asked.look(&app).await?;
    let of_session = streams.place_of(Holder::Session(known.session.id)).ok_or_else(full)?;
    let since = app.clock.machine();
    let readiness = readiness.map(|Extension(it)| it);
    let watch = Watch { app, asked, since, told: None, readiness, _places: (place, of_address, of_session) };
    let alive = KeepAlive::new().interval(SIGN_OF_LIFE_EVERY);
    let mut response = Sse::new(stream::unfold(Some(watch), Watch::next)).keep_alive(alive).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Proxies that gather answers would hold events back.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    Ok(response)
}

impl LiveRequest {
    async fn read(
        app: &App,
        caller: Caller,
        session_id: String,
        query: &Query,
        headers: &HeaderMap,
    ) -> Result<Self, ApiError> {
        let named: Option<ChargeId> = query.read(|parameters| parameters.ids("charge"))?.into_iter().next();
        let charge_id = match (named, idempotency_key(headers)?) {
            (Some(named), _) => Some(named),
            (None, Some(key)) => {
                let session = sessions::find(app, &caller, &session_id).await?;
                let route = of_session::route(&session);
                idempotency::charge_begun_with(app, &caller, &route, key.as_str()).await?
            }
            (None, None) => None,
        };
        Ok(Self { caller, session_id, charge_id })
    }

    async fn look(&self, app: &App) -> Result<LiveRecords, Error> {
        let session = sessions::find(app, &self.caller, &self.session_id).await?;
        let charge = match self.charge_id {
            Some(id) => charges::find_with_requests(&app.store, session.client_id, id).await?,
            None => None,
        };
        // A charge of another session is none of this page's business.
        let charge = charge.filter(|(stored, _)| stored.charge.session_id == Some(session.id));
        let link = card_links::look(app, &session).await?.map(|link| link.state);
        let payable = match link {
            Some(state) => state == LinkState::Open,
            None => session.takes_buyers(app.clock.of(session.client_id)),
        };
        let card = link.map(|state| match state {
            LinkState::Given(outstanding) => CardTold { saved: true, outstanding },
            LinkState::Open | LinkState::Replaced | LinkState::SubscriptionEnded | LinkState::Closed => {
                CardTold { saved: false, outstanding: Outstanding::None }
            }
        });
        Ok(LiveRecords { session, payable, charge, card })
    }
}

impl LiveRecords {
    async fn told(self, app: &App, caller: &Caller) -> Result<LiveView, Error> {
        let underpaid = self.is_underpaid();
        let charge = match self.charge {
            Some((stored, requests)) => Some(charge_views::view_with(app, caller, &stored, requests).await?),
            None => None,
        };
        let session = SessionTold { status: self.session.status.word(), payable: self.payable };
        Ok(LiveView { session, charge, underpaid, card: self.card })
    }

    /// What changes when anything that the page shows does.
    fn marks(&self) -> Marks {
        let charge = self.charge.as_ref().map(|(stored, _)| stored.charge.version);
        Marks { session: self.session.version, payable: self.payable, charge, card: self.card }
    }

    fn is_underpaid(&self) -> bool {
        self.charge.as_ref().is_some_and(|(stored, _)| stored.charge.is_underpaid())
    }

    /// Whether the page has nothing more to wait for.
    fn is_over(&self) -> bool {
        match self.charge.as_ref().map(|(stored, _)| stored.charge.state.status()) {
            Some(ChargeStatus::Pending) => false,
            Some(ChargeStatus::Authorized) if self.is_underpaid() => false,
            Some(
                ChargeStatus::Authorized
                | ChargeStatus::PreAuthorized
                | ChargeStatus::Failed
                | ChargeStatus::Canceled
                | ChargeStatus::Voided
                | ChargeStatus::ChargedBack
                | ChargeStatus::CapturePending
                | ChargeStatus::RefundPending,
            ) => true,
            None if self.card.is_some_and(|card| card.outstanding == Outstanding::Pending) => false,
            None => !self.payable,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Marks {
    session: i64,
    payable: bool,
    charge: Option<i64>,
    card: Option<CardTold>,
}

/// One stream.
struct Watch {
    app: App,
    asked: LiveRequest,
    since: MachineTime,
    told: Option<Marks>,
    /// Of the process, which a stream must not keep from stopping.
    readiness: Option<Readiness>,
    _places: (OwnedSemaphorePermit, StreamSlot, StreamSlot),
}

impl Watch {
    /// The next event; nothing when the stream ends.
    async fn next(watch: Option<Self>) -> Option<(Result<Event, Infallible>, Option<Self>)> {
        let mut watch = watch?;
        loop {
            if watch.told.is_some() && watch.must_end_soon().await {
                return None;
            }
            // The page asks again after a fault, so the stream only ends.
            let known = watch.asked.look(&watch.app).await.ok()?;
            let marks = known.marks();
            if watch.told == Some(marks) {
                continue;
            }
            watch.told = Some(marks);
            let is_over = known.is_over();
            let told = known.told(&watch.app, &watch.asked.caller).await.ok()?;
            let event = Event::default().json_data(&told).ok()?;
            return Some((Ok(event), (!is_over).then_some(watch)));
        }
    }

    /// Waits for the next look, unless the stream has lasted long enough or the process stops.
    async fn must_end_soon(&self) -> bool {
        match &self.readiness {
            Some(readiness) if timeout(LOOK_EVERY, readiness.drained()).await.is_ok() => return true,
            Some(_) => {}
            None => sleep(LOOK_EVERY).await,
        }
        self.app.clock.machine().since(self.since) >= LIFE_MAX
    }
}
