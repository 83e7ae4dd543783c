//! The pages of the simulated 3DS server, `/3ds/collect` and `/3ds/step-up`: only where payments are simulated, any other
//! deployment has no such pages (`docs/interface/sandbox.md#3-d-secure`). A browser brings a token, which the simulator
//! has signed, or the form of a payment provider.

mod html;

use axum::Router;
use axum::body::Body as HttpBody;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use axum::routing::get;
use regente_engine::error::Error;
use regente_providers::sandbox::{Challenge, Decision, NotAChallenge, SimulatedServer};
use url::form_urlencoded;

use self::html::{Language, Page};
use super::charges::authentication::come_back;
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::limits::read_bytes;

/// The answers of a cardholder, as the buttons send them.
const DECISIONS: [(&str, Decision); 2] = [("approve", Decision::Approve), ("refuse", Decision::Refuse)];

/// The routes that browsers of buyers come to, without credentials. No program calls them, so that the document does not
/// describe them.
pub(super) fn for_browsers() -> Router<App> {
    Router::new()
        .route("/v1/charges/{id}/3ds-authorization", get(come_back).post(come_back))
        .route("/3ds/collect", get(collect).post(collect))
        .route("/3ds/step-up", get(step_up).post(step_up))
}

/// Collects nothing, and tells the page around it that it is done.
async fn collect(State(app): State<App>, request: Request) -> Result<Response, ApiError> {
    let server = server(&app)?.clone();
    let language = Language::of(request.headers());
    let form = Form::read(request).await?;
    let is_setup = form.get("JWT").is_some_and(|token| server.is_setup(token, app.clock.deployment()));
    Ok(if is_setup {
        answer(StatusCode::OK, &Page::collected(language))
    } else {
        answer(StatusCode::BAD_REQUEST, &Page::not_good(language))
    })
}

/// Shows the challenge; with the cardholder's decision, notes it and leads the browser back.
async fn step_up(State(app): State<App>, request: Request) -> Result<Response, ApiError> {
    let server = server(&app)?.clone();
    let language = Language::of(request.headers());
    let is_post = request.method() == Method::POST;
    let form = Form::read(request).await?;
    let now = app.clock.deployment();
    let challenge = match (form.get("JWT"), form.get("MD"), form.get("PaReq"), form.get("TermUrl")) {
        (Some(token), ..) => server.challenge(token, now),
        (None, Some(md), Some(pa_req), Some(term_url)) => server.hosted_challenge(md, pa_req, term_url),
        (None, ..) => Err(NotAChallenge),
    };
    let Ok(challenge) = challenge else {
        return Ok(answer(StatusCode::BAD_REQUEST, &Page::not_good(language)));
    };
    let asked = form.get("decision");
    let decision = DECISIONS.iter().find(|(word, _)| Some(*word) == asked).map(|(_, decision)| *decision);
    let Some(decision) = decision.filter(|_| is_post) else {
        return Ok(answer(StatusCode::OK, &Page::challenge(language, &challenge, &form.hidden())));
    };
    Ok(match server.decide(challenge.key, decision, now).await {
        true => answer(StatusCode::OK, &Page::decided(language, &challenge)),
        false => answer(StatusCode::BAD_REQUEST, &Page::not_good(language)),
    })
}

fn server(app: &App) -> Result<&SimulatedServer, Error> {
    app.challenges.as_ref().ok_or(Error::NotFound)
}

/// The fields of a form, from the query of a GET or the body of a POST.
struct Form(Vec<(String, String)>);

impl Form {
    async fn read(request: Request) -> Result<Self, ApiError> {
        let bytes = match *request.method() {
            Method::POST => read_bytes(request).await?,
            _ => request.uri().query().unwrap_or_default().to_owned().into_bytes().into(),
        };
        Ok(Self(form_urlencoded::parse(&bytes).into_owned().collect()))
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The fields that the buttons send along.
    fn hidden(&self) -> Vec<(&str, &str)> {
        let names = ["JWT", "MD", "PaReq", "TermUrl"];
        names.iter().filter_map(|name| self.get(name).map(|value| (*name, value))).collect()
    }
}

fn answer(status: StatusCode, page: &Page) -> Response {
    let mut response = Response::new(HttpBody::from(page.html.clone()));
    *response.status_mut() = status;
    let headers: &mut HeaderMap = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Ok(policy) = HeaderValue::from_str(&page.policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

impl Page {
    /// The challenge with its buttons.
    fn challenge(language: Language, challenge: &Challenge, hidden: &[(&str, &str)]) -> Self {
        Self::asking(language, &html::amount_of(challenge), challenge.merchant.as_deref(), hidden)
    }

    /// The way back to the merchant.
    fn decided(language: Language, challenge: &Challenge) -> Self {
        Self::leading_to(language, &challenge.return_url)
    }
}
