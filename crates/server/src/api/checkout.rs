//! `/pay/{sessionId}`: the page at which a buyer pays a session, and what it asks while they pay (`docs/checkout.md`).
//! Whoever has the link may pay; the page brings the key of the session along, which opens nothing else.

mod card;
pub mod colours;
mod human;
mod live;
mod page;
mod read;
mod script;
mod texts;
mod view;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use axum::routing::get;
use regente_engine::error::Error;

pub(super) use self::script::{RETURNED_SCRIPT, SCRIPT};

use self::page::Visitor;
use self::read::OpenedPage;
use self::view::{Checkout, Ended, Shop};
use super::buyer_page::Language;
use super::documents::write_page;
use super::path::Path;
use crate::access::{Access, guard};
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::peer::PeerAddress;

/// The most characters of `Accept` that a bank is told.
const ACCEPT_CHARS_MAX: usize = 255;

/// The query of a browser that has no instructions of a session at which no payment can begin.
const WITHOUT_INSTRUCTIONS: &str = "ended=1";

/// The pages that browsers of buyers come to. No other program calls them, so that the document does not describe them.
pub(super) fn for_browsers() -> Router<App> {
    Router::new().route("/pay/{id}", get(show)).route("/pay/{id}/returned", get(returned).post(returned))
}

/// The scripts of the pages.
pub(super) fn scripts() -> Router<App> {
    Router::new()
        .route(&SCRIPT.path, get(async |headers: HeaderMap| SCRIPT.answer(&headers)))
        .route(&RETURNED_SCRIPT.path, get(async |headers: HeaderMap| RETURNED_SCRIPT.answer(&headers)))
}

/// What a page asks: what becomes of a payment is told to the key of the session alone.
pub(super) fn of_the_session() -> Router<App> {
    Router::new()
        .route("/pay/{id}/status", get(live::status))
        .route("/pay/{id}/events", get(live::events))
        .route("/pay/{id}/challenge", get(human::challenge))
        .route_layer(guard(Access::Buyer))
}

/// Shows the page, or why the session cannot be paid.
async fn show(
    State(app): State<App>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let visitor = Visitor::of(&app, &request);
    let query = request.uri().query().unwrap_or_default();
    let asks_for_end = query.split('&').any(|pair| pair == WITHOUT_INSTRUCTIONS);
    let Some(found) = read::find(&app, &id).await? else {
        return ended(Ended::Unknown, None, visitor).await;
    };
    let (why, shop) = match found {
        OpenedPage::Open(checkout) => return paying(app, checkout, visitor).await,
        OpenedPage::Instructed(why, checkout) if asks_for_end => (why, Box::new(checkout.shop)),
        OpenedPage::Instructed(_, checkout) => return paying(app, checkout, visitor).await,
        OpenedPage::Card(view) => {
            return Ok(write_page(move || card::taking_card(&view, &app, &visitor)).await??);
        }
        OpenedPage::Ended(why, shop) => (why, shop),
    };
    ended(why, Some(shop), visitor).await
}

/// Writes the page of a session that cannot be paid.
async fn ended(why: Ended, shop: Option<Box<Shop>>, visitor: Visitor) -> Result<Response, ApiError> {
    Ok(write_page(move || page::ended(why, shop.as_deref(), &visitor)).await??)
}

/// Writes the page at which a session is paid: a large one, which is compressed for each browser.
async fn paying(app: App, checkout: Box<Checkout>, visitor: Visitor) -> Result<Response, ApiError> {
    Ok(write_page(move || page::paying(&checkout, &app, &visitor)).await??)
}

/// Where the bank of a card leads the frame of a challenge back to.
async fn returned(
    State(app): State<App>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let is_id = id.parse::<uuid::Uuid>().is_ok();
    match is_id {
        true => Ok(page::returned(&id, &Visitor::of(&app, &request))?),
        false => Err(Error::NotFound.into()),
    }
}

impl Visitor {
    fn of(app: &App, request: &Request) -> Self {
        let PeerAddress(address) = app.limits.proxies.peer_of(request);
        let headers = request.headers();
        let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or("*/*");
        Self {
            language: Language::asked(headers, request.uri().query()),
            address,
            accept: accept.chars().take(ACCEPT_CHARS_MAX).collect(),
            takes_gzip: crate::http::files::takes_gzip(headers),
        }
    }
}
