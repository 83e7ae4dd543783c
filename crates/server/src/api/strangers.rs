//! The one door for callers without a key: pages, documents, scripts. An address that asks too often waits, and longer if most
//! of what it names by links does not exist, like one with wrong keys. A person is told so by a page.

mod busy;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::Route;
use tower::layer::layer_fn;
use tower::{Layer, Service, service_fn};

use self::busy::Person;
pub(super) use self::busy::accepts_html;
use crate::access::Gate;
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::peer::PeerAddress;
use crate::http::rates::{Network, RateKey};

/// What is behind the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behind {
    /// What only a link tells: to name what does not exist is to guess.
    Links,
    /// What everybody knows the address of.
    Pages,
    /// Files that never change, of which a page loads several.
    Files,
}

/// The door in front of a route.
pub(super) fn door(behind: Behind) -> impl Layer<Route, Service: Gate> + Clone + Send + Sync + 'static {
    layer_fn(move |route: Route| {
        service_fn(move |request: Request| {
            let (app, mut route) = (App::of(&request), route.clone());
            async move {
                let PeerAddress(address) = app.limits.proxies.peer_of(&request);
                let (address, person) = (Network::from(address), Person::of(&request));
                let response = match behind.let_in(&app, address) {
                    Ok(()) => {
                        let response = route.call(request).await?;
                        behind.note(&app, address, response.status());
                        response
                    }
                    Err(refused) => refused.into_response(),
                };
                Ok(match person {
                    Some(person) => person.shown(response),
                    None => response,
                })
            }
        })
    })
}

impl Behind {
    /// Counts the request.
    fn let_in(self, app: &App, address: Network) -> Result<(), ApiError> {
        match self {
            Self::Links => {
                app.limiters.strangers.check(&RateKey::Authentication(address))?;
                app.limiters.pages.check(&RateKey::Page(address))
            }
            Self::Pages => app.limiters.pages.check(&RateKey::Page(address)),
            Self::Files => app.limiters.files.check(&RateKey::Page(address)),
        }
    }

    /// Counts a guess.
    fn note(self, app: &App, address: Network, answered: StatusCode) {
        match self {
            Self::Links if matches!(answered, StatusCode::NOT_FOUND | StatusCode::FORBIDDEN) => {
                app.limiters.strangers.fail(&RateKey::Authentication(address));
            }
            Self::Links | Self::Pages | Self::Files => {}
        }
    }
}
