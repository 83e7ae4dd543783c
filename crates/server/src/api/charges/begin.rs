//! Parses a request and begins its charge. The memory for that is freed here: while a provider is called, a request
//! holds only what its answer needs.

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use regente_domain::id::TokenId;
use regente_engine::caller::Caller;
use regente_engine::calls::in_flight::Flow;
use regente_engine::flows::charge::{self, Created, Ran};
use regente_engine::idempotency::{Finished, Plan, unless_overtaken};

use super::view::{ChargeView, Private};
use super::{prepare, replay, request};
use crate::api::fields::Body;
use crate::api::idempotency::{self, KeyLookup};
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::headers::sandbox_seed;
use crate::http::limits::read_bytes;

/// A parsed request.
pub(super) enum Begun {
    /// It was answered before.
    Answered(Response),
    /// Its charge was begun.
    Running(Box<Running>),
}

/// Parses a request, and begins its charge unless it was answered before.
pub(super) async fn begin(app: App, caller: Caller, request: Request) -> Result<Begun, ApiError> {
    let headers = request.headers().clone();
    // The whole body, so that the connection can carry the next request whatever the result.
    let bytes = read_bytes(request).await?;
    // Before parsing and lookups: a refusal for overload must be cheap and not wait for the database.
    let admission = app.store.admit(caller.client_id)?;
    let body = Body::parse(&bytes)?;
    let request = body.read(|fields| request::read(fields, app.settings.mode))?;
    let token_id = request.source.token_id();
    let seed = sandbox_seed(&headers)?;
    let claim = match idempotency::presume_new(&app, &caller, &headers, "POST /v1/charges", &body).await? {
        KeyLookup::New(claim) => claim,
        KeyLookup::Answered(finished) => return replayed(&app, &caller, finished, token_id).await,
    };
    let private = request.private.clone();
    let prepared = prepare::prepare(&app, &caller, request, claim.clone(), seed).await;
    let new = match unless_overtaken(&app, claim.as_ref(), prepared).await? {
        Plan::Own(new) => Box::new(new),
        Plan::Overtaken(finished) => return replayed(&app, &caller, finished, token_id).await,
    };
    let flow = app.in_flight.run(charge::create(app.engine.clone(), new, admission));
    Ok(Begun::Running(Box::new(Running { flow, app, caller, private, token_id })))
}

async fn replayed(
    app: &App,
    caller: &Caller,
    finished: Finished,
    token_id: Option<TokenId>,
) -> Result<Begun, ApiError> {
    replay(app, caller, finished, token_id).await.map(Begun::Answered)
}

/// A charge under way, and the data for its answer.
pub(super) struct Running {
    flow: Flow<Created>,
    app: App,
    caller: Caller,
    private: Private,
    token_id: Option<TokenId>,
}

impl Running {
    pub(super) async fn answered(self: Box<Self>) -> Result<Response, ApiError> {
        let Self { flow, app, caller, private, token_id } = *self;
        match flow.await? {
            Created::Answered(finished) => Box::pin(replay(&app, &caller, finished, token_id)).await,
            Created::Ran(ran) => {
                let Ran { charge, requests } = *ran;
                let view = ChargeView::of(&charge, &private, &requests, &caller).echoing(token_id);
                Ok((StatusCode::CREATED, axum::Json(view)).into_response())
            }
        }
    }
}
