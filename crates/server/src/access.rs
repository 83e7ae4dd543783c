//! Authenticates the caller and checks what it may call, in front of every route (`docs/interface/auth.md#gate`).
//!
//! Ownership of records is not checked here: every query carries the caller's client, so a record of another client is
//! not found.

mod credentials;
mod keys;
pub mod permissions;

use std::convert::Infallible;

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, Method};
use axum::response::{IntoResponse, Response};
use axum::routing::Route;
use regente_domain::problems::Problems;
use regente_domain::scope::{Scope, Scopes};
use regente_engine::caller::{Authority, Caller};
pub use regente_engine::credentials::digest;
use tower::layer::layer_fn;
use tower::{Layer, Service, service_fn};

pub use keys::{
    AccessError, NewClient, NewSecretKey, SecretKey, create_client, create_secret_key, revoke_secret_key,
    secret_keys, set_client_status, set_document_check_digits, set_prepayment,
};

use crate::app::App;
use crate::http::error::ApiError;
use crate::http::headers::{DryRun, dry_run};
use crate::http::peer::PeerAddress;
use crate::http::rates::RateKey;

/// What a route demands of its caller (`docs/interface/auth.md#routes`). A secret key may call every route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A client token with this scope.
    Scope(Scope),
    /// A client token with every scope: a list that shows people or payments (`docs/interface/auth.md#routes`).
    ListOf(Scope),
    /// A session key, or a client token with the scope `sessions`: what a buyer needs to pay a session. The route sees to
    /// it that a session key reaches its own session alone.
    Buyer,
    /// A secret key; every public key is refused (`docs/interface/auth.md#routes`).
    SecretKeyOnly,
}

impl Access {
    fn is_open_to(self, caller: &Caller) -> bool {
        match (&caller.authority, self) {
            (Authority::SecretKey, _) => true,
            // What a member may is said by the operation, not by the group of routes.
            (Authority::Member { .. }, _) => false,
            (Authority::SessionKey { .. }, Self::Buyer) => true,
            (Authority::SessionKey { .. }, Self::Scope(_) | Self::ListOf(_) | Self::SecretKeyOnly) => false,
            (Authority::ClientToken { .. }, Self::SecretKeyOnly) => false,
            (Authority::ClientToken { scopes, .. }, Self::Buyer) => scopes.contains(Scope::Sessions),
            (Authority::ClientToken { scopes, .. }, Self::Scope(scope)) => scopes.contains(scope),
            (Authority::ClientToken { scopes, .. }, Self::ListOf(_)) => match scopes {
                Scopes::All => true,
                Scopes::Some(_) => false,
            },
        }
    }
}

/// The gate in front of a route. It adds the [`Caller`] and the [`PeerAddress`] to the request and makes sure that
/// the vault's keys are recent enough to seal with. It answers 401 when the client is unknown, 403 when the key is
/// refused (`docs/interface/auth.md#gate`), 429 when a key or an address asks too often, 503 when the database cannot
/// be read.
pub fn guard(access: Access) -> impl Layer<Route, Service: Gate> + Clone + Send + Sync + 'static {
    layer_fn(move |route: Route| {
        service_fn(move |mut request: Request| {
            let (app, mut route) = (App::of(&request), route.clone());
            async move {
                let peer = app.limits.proxies.peer_of(&request);
                let let_in = match member_of(&request) {
                    Some(member) => {
                        let is_open = is_open_to(&request, &member);
                        let_member_in(&app, is_open, member).await
                    }
                    // Boxed: otherwise every request holds the memory of the key lookup until it is answered.
                    None => Box::pin(let_in(&app, access, request.headers(), peer)).await,
                };
                match let_in {
                    Ok(caller) => {
                        if let Err(problems) = tries_only_charges(&request, &caller) {
                            return Ok(ApiError::from(problems).into_response());
                        }
                        request.extensions_mut().insert(caller);
                        request.extensions_mut().insert(peer);
                        route.call(request).await
                    }
                    Err(error) => Ok(error.into_response()),
                }
            }
        })
    })
}

/// What a layer in front of a route makes of it.
pub trait Gate:
    Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone + Send + Sync + 'static
{
}

impl<S> Gate for S where
    S: Service<Request, Response = Response, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// Refuses to carry out what the caller only wants to try: a new charge is all that can be tried
/// (`docs/interface/charges.md#dry-run`).
fn tries_only_charges(request: &Request, caller: &Caller) -> Result<(), Problems> {
    match dry_run(request.headers())? {
        DryRun::No => Ok(()),
        DryRun::Yes if caller.is_public_key() => {
            Err(Problems::one("X-Dry-Run", "must not be sent with a public key"))
        }
        DryRun::Yes if request.method() == Method::POST && request.uri().path() == "/v1/charges" => Ok(()),
        DryRun::Yes => Err(Problems::one("X-Dry-Run", "must be absent: only POST /v1/charges can be tried")),
    }
}

/// The member in whose name the dashboard calls, in this process. A request of the network carries headers, and no caller.
fn member_of(request: &Request) -> Option<Caller> {
    let caller = request.extensions().get::<Caller>()?;
    match caller.authority {
        Authority::Member { .. } => Some(caller.clone()),
        Authority::SecretKey | Authority::ClientToken { .. } | Authority::SessionKey { .. } => None,
    }
}

fn is_open_to(request: &Request, member: &Caller) -> bool {
    let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let needed = permissions::needed_for(request.method(), route);
    match member.authority {
        Authority::Member { role, .. } => needed.is_some_and(|permission| role.may(permission)),
        Authority::SecretKey | Authority::ClientToken { .. } | Authority::SessionKey { .. } => false,
    }
}

async fn let_member_in(app: &App, is_open: bool, caller: Caller) -> Result<Caller, ApiError> {
    if !is_open {
        return Err(ApiError::Forbidden);
    }
    app.vault.keep_current().await?;
    Ok(caller)
}

async fn let_in(
    app: &App,
    access: Access,
    headers: &HeaderMap,
    peer: PeerAddress,
) -> Result<Caller, ApiError> {
    let caller = credentials::authenticate(app, headers, peer).await?;
    if !access.is_open_to(&caller) {
        return Err(ApiError::Forbidden);
    }
    let is_from_fields = app.fields_origin.as_ref().is_some_and(|fields| fields.sent(headers));
    if is_from_fields && caller.authority == Authority::SecretKey {
        // A page that was given a secret key by mistake: it must not work, or nobody notices.
        return Err(ApiError::Forbidden);
    }
    match caller.authority {
        Authority::SecretKey => {
            app.limiters.secret_keys.check(&RateKey::SecretKey(caller.credential_id.uuid()))?;
        }
        // A key has no such authority.
        Authority::Member { .. } => return Err(ApiError::Forbidden),
        // Everybody can read such a key in a page; buyers of the shop at other addresses go on.
        Authority::ClientToken { .. } | Authority::SessionKey { .. } => {
            app.limiters.pages.check(&RateKey::PublicKeyFrom(caller.credential_id.uuid(), peer.0.into()))?;
        }
    }
    app.vault.keep_current().await?;
    Ok(caller)
}
