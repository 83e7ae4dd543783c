//! Parses a request and begins its charge. The memory for that is freed here: while a provider is called, a request
//! holds only what its answer needs.

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use regente_domain::id::TokenId;
use regente_engine::audit::Openings;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::calls::in_flight::Flow;
use regente_engine::card_data::FundingSource;
use regente_engine::document_links::Addresses;
use regente_engine::error::Error;
use regente_engine::flows::charge::{self, Created, Ran};
use regente_engine::flows::session;
use regente_engine::flows::session::opened::Opened;
use regente_engine::idempotency::{Finished, Plan, unless_overtaken};

use super::coming_back::must_be_registered;
use super::of_session::{self, Sender};
use super::view::{ChargeView, Private};
use super::{prepare, replay, request};
use crate::api::fields::Body;
use crate::api::idempotency::{self, KeyLookup};
use crate::app::App;
use crate::http::card_testing::{Attempt, TriedCard};
use crate::http::error::ApiError;
use crate::http::headers::sandbox_seed;
use crate::http::limits::read_bytes;
use crate::http::peer::PeerAddress;
use crate::human_check::{Operation, must_pass};

/// A parsed request.
pub(super) enum Begun {
    /// It was answered before.
    Answered(Response),
    /// Its charge was begun.
    Running(Box<Running>),
}

/// Parses a request, and begins its charge unless it was answered before. The charge pays the session, if there is one.
pub(super) async fn begin(
    app: App,
    caller: Caller,
    request: Request,
    session: Option<Box<Opened>>,
) -> Result<Begun, ApiError> {
    let headers = request.headers().clone();
    let request_id = request.extensions().get::<RequestId>().cloned().unwrap_or_else(|| RequestId::new(""));
    let peer = request.extensions().get().copied().unwrap_or(PeerAddress::NO_SOCKET);
    // The whole body, so that the connection can carry the next request whatever the result.
    let bytes = read_bytes(request).await?;
    let attempt = app.limiters.card_testing.begin(&caller, peer)?;
    // Before parsing and lookups: a refusal for overload must be cheap and not wait for the database.
    let admission = app.store.admit(caller.client_id)?;
    let body = Body::parse(&bytes)?;
    let (route, request) = match &session {
        None => ("POST /v1/charges".into(), body.read(|fields| request::read(fields, app.settings.mode))?),
        Some(opened) => {
            let sender = Sender { caller: &caller, headers: &headers, peer };
            (of_session::route(&opened.session), of_session::read(opened, &body, &sender, &app.settings)?)
        }
    };
    let (token_id, payment_type) = (request.paid.token_id(), request.paid.payment_type());
    let seed = sandbox_seed(&headers)?;
    let claim = match idempotency::presume_new(&app, &caller, &headers, &route, &body).await? {
        KeyLookup::New(claim) => claim,
        KeyLookup::Answered(finished) => return replayed(&app, &caller, finished, token_id).await,
    };
    let private = request.private.clone();
    let openings = Openings::of(&app, &caller, &request_id);
    let prepared = async {
        let session = session.as_deref().map(|opened| &opened.session);
        if let Some(session) = session {
            session::must_take(session, payment_type, app.clock.of(caller.client_id))?;
        }
        must_be_registered(&app, &caller, session, &request).await?;
        if let Some(session) = session {
            must_pass(&*app.human_check, &app, (&caller, &headers), session, Operation::Charge).await?;
        }
        Ok::<_, ApiError>(
            prepare::prepare(&app, &caller, &request_id, request, claim.clone(), openings, seed).await?,
        )
    };
    let new = match unless_overtaken(&app, claim.as_ref(), prepared.await).await? {
        Plan::Own(new) => Box::new(new),
        Plan::Overtaken(finished) => return replayed(&app, &caller, finished, token_id).await,
    };
    let tried = tried_card(&new.source);
    if let Some(tried) = tried {
        attempt.tries(tried)?;
    }
    let creating = charge::create(app.engine.clone(), new, admission);
    // The flow of a charge that is not counted holds no memory for that.
    let flow = match (session.is_some(), tried.filter(|_| attempt.is_counted())) {
        (true, tried) => app.in_flight.run(of_session::counted(app.engine.clone(), attempt, tried, creating)),
        (false, Some(tried)) => app.in_flight.run(counted(attempt, tried, creating)),
        (false, None) => app.in_flight.run(creating),
    };
    Ok(Begun::Running(Box::new(Running { flow, app, caller, private, token_id })))
}

/// The card that the charge tries, if it is paid with one.
fn tried_card(source: &FundingSource) -> Option<TriedCard> {
    match source {
        FundingSource::NewCard(new) => Some(TriedCard::from(&new.card)),
        FundingSource::StoredCard { found, .. } => Some(TriedCard::from(&found.stored.card)),
        FundingSource::Payer(_) | FundingSource::Wallet(_) => None,
    }
}

/// Counts the card if it is refused. It does so within the flow: a caller who hangs up is counted, too.
pub(super) async fn counted(
    attempt: Attempt,
    tried: TriedCard,
    creating: impl Future<Output = Result<Created, Error>>,
) -> Result<Created, Error> {
    let created = creating.await;
    if let Ok(Created::Ran(ran)) = &created {
        attempt.ended(tried, ran.requests.last());
    }
    created
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
                let addresses = Addresses::of(&app, &charge).await?;
                let view =
                    ChargeView::of(&charge, &private, &addresses, &requests, &caller).echoing(token_id);
                Ok((StatusCode::CREATED, axum::Json(view)).into_response())
            }
        }
    }
}
