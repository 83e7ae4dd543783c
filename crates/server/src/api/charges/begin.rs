//! Reads a request and orders its charge. The memory for that is freed here: while a provider is called, a request holds only
//! what its answer needs.

use axum::extract::Request;
use axum::http::HeaderMap;
use axum::response::Response;
use regente_domain::id::TokenId;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::charges::create::{Created, Ran};
use regente_engine::charges::{self, PlacedBy, Requester};
use regente_engine::document_links::Addresses;
use regente_engine::idempotency::created;
use regente_engine::sessions::opened::Opened;

use super::guard::AtTheDoor;
use super::of_session::{self, Sender};
use super::view::{ChargeView, Private};
use super::{replay, request};
use crate::api::fields::Body;
use crate::api::idempotency::{json_response, key_of};
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::headers::sandbox_seed;
use crate::http::limits::read_bytes;
use crate::http::peer::PeerAddress;
use crate::human_check::Operation;

/// The route of a new charge. Its idempotency keys belong to it: a dry run under another one would draw otherwise.
pub(super) const ROUTE: &str = "POST /v1/charges";

/// A charge that is ordered, and the data for its answer.
pub(super) struct Ordered<F> {
    placing: F,
    app: App,
    caller: Caller,
    private: Private,
    token_id: Option<TokenId>,
}

/// Reads a request, and orders its charge. The charge pays the session, if there is one.
pub(super) async fn begin(
    app: App,
    caller: Caller,
    mut request: Request,
    session: Option<Box<Opened>>,
) -> Result<Box<Ordered<impl Future<Output = Result<Created, ApiError>>>>, ApiError> {
    let headers = std::mem::take(request.headers_mut());
    let request_id = request.extensions().get::<RequestId>().cloned().unwrap_or_else(|| RequestId::new(""));
    let peer = request.extensions().get().copied().unwrap_or(PeerAddress::NO_SOCKET);
    // The whole body, so that the connection can carry the next request whatever the result.
    let bytes = read_bytes(request).await?;
    let attempt = app.limiters.card_testing.begin(&caller, peer)?;
    // Before parsing and lookups: a refusal for overload must be cheap and not wait for the database.
    let admission = app.store.admit(caller.client_id)?;
    let body = Body::parse(&bytes)?;
    let (route, order) = match session {
        None => (ROUTE.to_owned(), request::read(&body, app.settings.mode)?),
        Some(opened) => {
            let route = of_session::route(&opened.session);
            let sender = Sender { caller: &caller, headers: &headers, peer };
            (route, of_session::read(*opened, &body, &sender, &app.settings)?)
        }
    };
    let (token_id, private) = (order.paid_by.token_id(), order.private.clone());
    let by = requester(&caller, request_id, (&headers, route), &body)?;
    let guard = AtTheDoor {
        app: app.clone(),
        caller: caller.clone(),
        headers,
        attempt,
        operation: Operation::Charge,
    };
    let by = PlacedBy::Request(Box::new(by));
    let placing = charges::place(app.engine.clone(), order, by, admission, guard);
    Ok(Box::new(Ordered { placing, app, caller, private, token_id }))
}

/// Who orders a charge, with the key of the request on its route.
pub(super) fn requester(
    caller: &Caller,
    request_id: RequestId,
    (headers, route): (&HeaderMap, String),
    body: &Body,
) -> Result<Requester, ApiError> {
    let simulator_seed = sandbox_seed(headers)?;
    let key = key_of(headers, route, body)?;
    Ok(Requester { caller: caller.clone(), request_id, key, simulator_seed })
}

impl<F: Future<Output = Result<Created, ApiError>>> Ordered<F> {
    /// The answer, once the charge was made.
    pub(super) async fn answered(self: Box<Self>) -> Result<Response, ApiError> {
        let Self { placing, app, caller, private, token_id } = *self;
        match placing.await? {
            Created::Answered(finished) => Box::pin(replay(&app, &caller, finished, token_id)).await,
            Created::Ran(ran) => {
                let Ran { charge, requests } = *ran;
                let addresses = Addresses::of(&app, &charge).await?;
                let view =
                    ChargeView::of(&charge, &private, &addresses, &requests, &caller).echoing(token_id);
                // Not `axum::Json`, which writes each token of the answer through a growing buffer of its own.
                json_response(created(&view)?)
            }
        }
    }
}
